r"""Ask what frameworks and tools ask of the catalogs, over the schema that psql's \d family is asked about.

python -m tests.clients.introspection            ask us, compare with answers.txt; 1 when it is not as known
python -m tests.clients.introspection --record   ask a PostgreSQL 15, write answers.txt

An answer begins with the names of its columns and their types. Object ids of what users made are another's.
"""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import psycopg
from psycopg import pq

from tests.clients import recorded
from tests.clients.psql.describe.__main__ import ask, make
from tests.servers.postgres import PostgreSQL
from tests.servers.rowferry import Rowferry

#: PostgreSQL's own comments go, but that on the schema public.
_NO_COMMENTS = (
    "set allow_system_table_mods = on; delete from pg_description where objoid <> 2200; delete from pg_shdescription"
)
_HERE = Path(__file__).parent
_ANSWERS = _HERE / "answers.txt"
#: Ids below it are PostgreSQL's own.
_FIRST_OF_USERS = 16384
_BREAK = str.maketrans({"\n": "⏎", "\t": " "})


@dataclass(frozen=True)
class Query:
    """A query and the texts of its parameters."""

    name: str
    sql: str
    parameters: tuple[str, ...]

    @property
    def ordered(self) -> bool:
        """Whether the whole answer is ordered."""
        return "order by" in self.sql.rpartition(")")[2].lower()


def queries() -> list[Query]:
    """Those of queries.sql."""
    found = []
    for name, text in recorded.answers((_HERE / "queries.sql").read_text().replace("-- == ", "== ")).items():
        parameters = re.findall(r"^-- \$\d = (.*)$", text, re.MULTILINE)
        sql = "\n".join(line for line in text.splitlines() if not line.startswith("--"))
        found.append(Query(name, sql.strip(), tuple(parameters)))
    return found


def _shown(value: bytes | None) -> str:
    if value is None:
        return "∅"
    text = value.decode().translate(_BREAK)
    return "(oid)" if text.isdigit() and _FIRST_OF_USERS <= int(text) < 1_000_000 else text


def answer(connection: psycopg.Connection, query: Query) -> list[str]:
    """The lines of an answer: columns with their types, then the rows; or the error."""
    values = [parameter.encode() for parameter in query.parameters]
    result = connection.pgconn.exec_params(query.sql.encode(), values)
    if result.status != pq.ExecStatus.TUPLES_OK:
        fields = (pq.DiagnosticField.SQLSTATE, pq.DiagnosticField.MESSAGE_PRIMARY)
        return ["error " + " ".join((result.error_field(field) or b"").decode() for field in fields)]
    columns = range(result.nfields)
    head = " | ".join(f"{(result.fname(at) or b'').decode()} {result.ftype(at)}" for at in columns)
    rows = [" | ".join(_shown(result.get_value(row, at)) for at in columns) for row in range(result.ntuples)]
    return [head, *(rows if query.ordered else sorted(rows))]


def answers(dsn: str) -> dict[str, list[str]]:
    """Every answer of a server, by the name of its query."""
    with psycopg.connect(dsn, autocommit=True) as connection:
        return {query.name: answer(connection, query) for query in queries()}


def differing(dsn: str) -> recorded.Differing:
    """The queries whose answers differ, with both answers."""
    theirs = {name: text.splitlines() for name, text in recorded.answers(_ANSWERS.read_text()).items()}
    ours = answers(dsn)
    return {name: (theirs.get(name, []), said) for name, said in ours.items() if theirs.get(name) != said}


def reasons() -> dict[str, str]:
    """Why an answer differs, by the name of its query."""
    return recorded.reasons(_HERE / "differences.txt")


def record() -> None:
    """Ask a PostgreSQL of our own."""
    with PostgreSQL.start() as server:
        ask(server.dsn, "create database store template template0")
        dsn = server.dsn.replace("/postgres?", "/store?")
        ask(dsn, _NO_COMMENTS)
        make(dsn)
        said = answers(dsn)
    _ANSWERS.write_text(
        "".join(f"== {name}\n" + "".join(f"{line}\n" for line in lines) for name, lines in said.items())
    )


def main() -> int:
    """Compare, or record."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--record", action="store_true", help="ask PostgreSQL and write down what it says")
    if parser.parse_args().record:
        record()
        return 0
    with (
        tempfile.TemporaryDirectory() as directory,
        Rowferry.start(Path(directory) / "store.db", args=["--durability", "off"]) as server,
    ):
        make(server.postgres_dsn)
        found = differing(server.postgres_dsn)
    return recorded.report(found, reasons(), len(queries()))


if __name__ == "__main__":
    sys.exit(main())
