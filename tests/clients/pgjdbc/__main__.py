r"""Ask pgjdbc for every answer of its DatabaseMetaData, over the schema that psql's \d family is asked about.

python -m tests.clients.pgjdbc            ask us, compare with answers.txt; 1 when it is not as known
python -m tests.clients.pgjdbc --record postgresql://rowferry@127.0.0.1:5432/postgres
                                          ask an empty PostgreSQL 15 as its superuser, write answers.txt

The driver comes from Maven's repository and is used as it is. Object ids in names of functions and the server's own
address and version are not compared.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.clients import recorded
from tests.clients.jdbc.build import Failed
from tests.clients.psql.describe.__main__ import ask, make
from tests.servers.rowferry import Rowferry

_HERE = Path(__file__).parent
_OUTPUT = _HERE.parents[2] / ".cache" / "pgjdbc"
_ANSWERS = _HERE / "answers.txt"
VERSION = "42.7.4"
_DRIVER = f"org.postgresql:postgresql:{VERSION}"


def build() -> str:
    """Compile, fetch the driver; the class path."""
    jar = _OUTPUT / f"postgresql-{VERSION}.jar"
    commands = [["javac", "-d", str(_OUTPUT), str(_HERE / "Metadata.java")]]
    if not jar.exists():
        copy = "org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy"
        options = [f"-Dartifact={_DRIVER}", f"-DoutputDirectory={_OUTPUT}"]
        commands.append(["mvn", "--quiet", "--batch-mode", copy, *options])
    _OUTPUT.mkdir(parents=True, exist_ok=True)
    for command in commands:
        done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=600)
        if done.returncode != 0:
            raise Failed(f"`{command[0]}` failed:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return f"{_OUTPUT}:{jar}"


def answers(dsn: str) -> str:
    """What the driver says of a database, by calls."""
    url = "jdbc:" + dsn.replace("postgresql://rowferry@", "postgresql://").split("?", maxsplit=1)[0]
    done = subprocess.run(
        ["java", "-XX:TieredStopAtLevel=1", "-cp", build(), "Metadata", f"{url}?user=rowferry"],
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        timeout=300,
    )
    if done.returncode != 0:
        raise Failed(f"the Java program ended with {done.returncode}:\n{done.stderr[-3000:]}")
    return done.stdout


def lines(text: str) -> dict[str, list[str]]:
    """Lines by calls; object ids behind names of functions are another's."""
    return {call: re.sub(r"_\d{5,}\b", "_OID", said).splitlines() for call, said in recorded.answers(text).items()}


def differing(dsn: str) -> recorded.Differing:
    """The calls whose answers differ, with both answers."""
    theirs, ours = lines(_ANSWERS.read_text()), lines(answers(dsn))
    return {call: (said, ours.get(call, [])) for call, said in theirs.items() if ours.get(call) != said}


def reasons() -> dict[str, str]:
    """Why an answer differs, by call."""
    return recorded.reasons(_HERE / "differences.txt")


def record(dsn: str) -> None:
    """Ask a PostgreSQL; the driver knows no Unix sockets."""
    ask(dsn, "create database store template template0")
    dsn = dsn.rsplit("/", 1)[0] + "/store"
    ask(dsn, "set allow_system_table_mods = on; delete from pg_description; delete from pg_shdescription")
    make(dsn)
    _ANSWERS.write_text(answers(dsn))


def main() -> int:
    """Compare, or record."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--record", metavar="URL", help="ask this empty PostgreSQL, and write down what it says")
    url = parser.parse_args().record
    if url:
        record(url)
        return 0
    with (
        tempfile.TemporaryDirectory() as directory,
        Rowferry.start(Path(directory) / "store.db", args=["--durability", "off"]) as server,
    ):
        make(server.postgres_dsn)
        found = differing(server.postgres_dsn)
    return recorded.report(found, reasons(), len(lines(_ANSWERS.read_text())))


if __name__ == "__main__":
    sys.exit(main())
