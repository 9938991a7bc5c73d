"""Run psycopg 3's own suite on the PostgreSQL door.

    ROWFERRY_PSYCOPG=/path/to/psycopg .venv/bin/python -m tests.clients.psycopg.run [--reference DSN] [--write]
                                                                                   [-- PYTEST ARGUMENTS]

ROWFERRY_PSYCOPG is a checkout of https://github.com/psycopg/psycopg at the tag 3.3.4, whose Python implementation is
what runs (it needs a libpq). `floor.json` says how many tests must pass, and which do not; `--write` makes it what was
measured. With `--reference` the suite also runs on a real PostgreSQL, and what passes only there is printed.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from tests.clients import suite
from tests.servers.rowferry import Rowferry

FLOOR = Path(__file__).with_name("floor.json")
#: The version that the floor is of.
VERSION = "3.3.4"
#: Some six minutes on two cores.
SECONDS = 2_400
#: What is not about the server, or about time, or fails now and then wherever it runs.
_LEFT_OUT = ("slow", "timing", "mypy", "dns", "gevent", "subprocess", "flakey")


class Unavailable(Exception):
    """There is no checkout."""


def checkout() -> Path:
    """Where psycopg's repository is."""
    named = os.environ.get("ROWFERRY_PSYCOPG")
    if not named:
        raise Unavailable(f"ROWFERRY_PSYCOPG must name a checkout of psycopg {VERSION}")
    path = Path(named).resolve()
    project = path / "psycopg/pyproject.toml"
    if not project.is_file() or f'version = "{VERSION}"' not in project.read_text():
        raise Unavailable(f"{path} is no checkout of psycopg {VERSION}")
    return path


def run(dsn: str, arguments: Sequence[str] = ()) -> suite.Result:
    """Run the suite on a server; `Unavailable` without a checkout."""
    files = checkout()
    environment = {"PYTHONPATH": str(files / "psycopg"), "PSYCOPG_IMPL": "python"}
    chosen = " and ".join(f"not {marker}" for marker in _LEFT_OUT)
    words = ["tests", "--ignore=tests/pool", "--ignore=tests/crdb", "-m", chosen, f"--test-dsn={dsn}", *arguments]
    return suite.run(files, words, environment, seconds=SECONDS)


def main() -> int:
    """Print the counts; 1 when the result is below its floor."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--reference", metavar="DSN", help="a database of a PostgreSQL 15 to compare with")
    parser.add_argument("--write", action="store_true", help="make what was measured the floor")
    parser.add_argument("pytest", nargs="*", help="further arguments for pytest")
    given = parser.parse_args()
    theirs = run(given.reference, given.pytest) if given.reference else None
    with tempfile.TemporaryDirectory() as directory, Rowferry.start(Path(directory) / "app.db") as server:
        ours = run(server.postgres_dsn, given.pytest)
    print(f"psycopg {VERSION} on rowferry: {ours}")
    if theirs is not None:
        print(f"psycopg {VERSION} on PostgreSQL: {theirs}")
        for name in sorted(theirs.passed - ours.passed):
            print(f"lost: {name}")
    if given.write:
        suite.write(FLOOR, ours, theirs.passed if theirs is not None else None)
        return 0
    lacks = suite.below(ours, FLOOR)
    print("\n".join(lacks))
    return 1 if lacks else 0


if __name__ == "__main__":
    sys.exit(main())
