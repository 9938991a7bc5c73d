"""What a fuzz target begins with, out of the golden vectors and the tests' own statements.

python tools/fuzz_seeds.py TARGET DIRECTORY
"""

from __future__ import annotations

import json
import re
import struct
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
#: Longer ones are cut by libFuzzer anyway.
LONGEST = 4096


def vectors(file: str) -> Iterator[tuple[str, bytes]]:
    """Direction and bytes of the golden vectors."""
    for vector in json.loads((ROOT / "tests/vectors" / file).read_text())["vectors"]:
        yield vector["direction"], bytes.fromhex(vector["hex"])


def statements(pattern: str) -> Iterator[str]:
    """Statements of case files: up to a line `----`, or paragraphs."""
    for path in sorted(ROOT.glob(pattern)):
        for case in re.split(r"\n\s*\n", path.read_text()):
            yield case.partition("\n----")[0].strip()


def message(tag: bytes, body: bytes) -> bytes:
    """A message of PostgreSQL's protocol."""
    return tag + struct.pack("!i", len(body) + 4) + body


def frontend(sql: str) -> Iterator[bytes]:
    """The same statement in the simple and in the extended protocol."""
    text = sql.encode() + b"\0"
    yield message(b"Q", text)
    yield (
        message(b"P", b"s\0" + text + b"\0\0")
        + message(b"D", b"Ss\0")
        + message(b"B", b"p\0s\0\0\0\0\0\0\0")
        + message(b"E", b"p\0\0\0\0\1")
        + message(b"C", b"Pp\0")
        + message(b"S", b"")
    )


POSTGRES = "crates/engine/tests/compiled/*.txt"
OF_MYSQL = (
    b"\x03SELECT 1",
    b"\x03CREATE TABLE t (a INT PRIMARY KEY, b VARCHAR(20)); INSERT INTO t VALUES (1, 'x')",
    b"\x03SELECT * FROM t",
    b"\x03KILL QUERY 1",
    b"\x03LOAD DATA LOCAL INFILE 'x' INTO TABLE t",
    b"\x16SELECT ?",
    b"\x17\1\0\0\0\1\1\0\0\0\0\1\x08\0\1\0\0\0\0\0\0\0",
    b"\x18\1\0\0\0\0\0abc",
    b"\x1c\1\0\0\0\2\0\0\0",
    b"\x04t\0%",
    b"\x0e",
    b"\x1f",
)

OF_POSTGRES = (
    "create table t (a int primary key, b text); insert into t values (1, 'x'), (2, null); select * from t",
    "begin; declare c cursor for select generate_series(1, 9); fetch 3 from c; close c; commit",
    "copy (select 1, 'a') to stdout",
    "prepare p (int) as select $1 + 1; execute p (4); deallocate p",
    "select relname from pg_class order by 1 limit 3",
)


def seeds(target: str) -> Iterator[bytes]:
    """The seeds of a target, in the form that it reads."""
    match target:
        case "pg_sql":
            yield from (sql.encode() for sql in statements(POSTGRES))
        case "informix_sql" | "spl" | "mysql_template":
            pass
        case "wire_pg":
            for sql in OF_POSTGRES:
                for said in frontend(sql):
                    yield b"\1" + said
            yield b"\0" + bytes.fromhex("00000014000300007573657200666f6f0000")
        case "pg_session":
            for sql in (*OF_POSTGRES, "out", "copy t from stdin"):
                for said in frontend(sql):
                    for mode in (b"\0", b"\2"):
                        yield mode + said + message(b"d", b"1\n") + message(b"c", b"") + message(b"X", b"")
        case "pg_door":
            for sql in OF_POSTGRES:
                yield from frontend(sql)
        case "wire_sqli":
            for direction, content in vectors("sqli.json"):
                for role in (0, 1) if direction == "client->server" else (0, 2):
                    yield bytes([role]) + content
        case "informix_session":
            for direction, content in vectors("sqli.json"):
                if direction == "client->server":
                    for mode in (b"\0", b"\1", b"\2"):
                        yield mode + content
        case "informix_door":
            for direction, content in vectors("sqli.json"):
                if direction == "client->server":
                    yield content
        case "mysql_door":
            for command in OF_MYSQL:
                yield len(command).to_bytes(3, "little") + b"\0" + command
        case "wire_mysql":
            for direction, content in vectors("mysql.json"):
                if direction == "server->client":
                    yield b"\0" + content
                    yield b"\2" + content[4:]
                elif direction == "log":
                    yield b"\3" + content
                else:
                    yield b"\1" + content


def main() -> None:
    """Write the seeds that are not there yet."""
    target, directory = sys.argv[1], Path(sys.argv[2])
    for number, seed in enumerate(seeds(target)):
        path = directory / f"seed-{number:04}"
        if 0 < len(seed) <= LONGEST and not path.exists():
            path.write_bytes(seed)


if __name__ == "__main__":
    main()
