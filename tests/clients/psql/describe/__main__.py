r"""Ask psql's \d family about a schema with an object of every kind.

python -m tests.clients.psql.describe            ask us, compare with answers.txt; 1 when it is not as known
python -m tests.clients.psql.describe --record   ask a PostgreSQL 15, write answers.txt

What PostgreSQL says of its own objects in words (`pg_description`) is its text and not ours: it is taken out before it
is asked. Sizes are those of another storage, and are not compared; nor are blanks.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.clients import recorded
from tests.servers.postgres import PostgreSQL
from tests.servers.rowferry import Rowferry

_HERE = Path(__file__).parent
COMMANDS = [line for line in (_HERE / "commands.txt").read_text().splitlines() if line]
_ANSWERS = _HERE / "answers.txt"
_RULE = re.compile(r"[-+]+$")
_SIZE = re.compile(r"\b\d+ (?:bytes|kB|MB)")


def ask(dsn: str, command: str) -> str:
    """What psql prints for a command."""
    done = subprocess.run(
        ["psql", "--no-psqlrc", "--dbname", dsn, "--command", command],
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        timeout=120,
    )
    return done.stdout + done.stderr


def make(dsn: str) -> None:
    """Make the schema; what is refused is missing in the answers."""
    subprocess.run(
        ["psql", "--no-psqlrc", "--quiet", "--dbname", dsn, "--file", str(_HERE / "schema.sql")],
        capture_output=True,
        stdin=subprocess.DEVNULL,
        timeout=120,
        check=True,
    )


def words(answer: str) -> list[str]:
    """The lines of an answer, without rules, sizes, the marks of broken lines, and with one blank for several."""
    lines = (re.sub(r" +\+?$", "", _SIZE.sub("(size)", line)) for line in answer.splitlines() if not _RULE.match(line))
    return [re.sub(" +", " ", line).strip() for line in lines if line.strip()]


def differing(dsn: str) -> recorded.Differing:
    """The commands whose answers differ, with both answers."""
    theirs = recorded.answers(_ANSWERS.read_text())
    both = {command: (words(theirs[command]), words(ask(dsn, command))) for command in COMMANDS}
    return {command: answers for command, answers in both.items() if answers[0] != answers[1]}


def reasons() -> dict[str, str]:
    """Why an answer differs, by command."""
    return recorded.reasons(_HERE / "differences.txt")


def record() -> None:
    """Ask a PostgreSQL of our own."""
    with PostgreSQL.start() as server:
        ask(server.dsn, "create database store template template0")
        dsn = server.dsn.replace("/postgres?", "/store?")
        ask(dsn, "set allow_system_table_mods = on; delete from pg_description; delete from pg_shdescription")
        make(dsn)
        answers = [f"== {command}\n{ask(dsn, command)}" for command in COMMANDS]
    _ANSWERS.write_text("".join(answers))


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
    return recorded.report(found, reasons(), len(COMMANDS))


if __name__ == "__main__":
    sys.exit(main())
