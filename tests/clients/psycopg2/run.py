"""Run psycopg2's own suite, which its source distribution carries, on the PostgreSQL door.

    .venv/bin/python -m tests.clients.psycopg2.run [--reference HOST:PORT/DATABASE] [--write] [-- PYTEST ARGUMENTS]

Nothing of the suite is committed: it is fetched by its hash. `floor.json` says how many tests must pass, and which do
not; `--write` makes it what was measured. With `--reference` the suite also runs on a real PostgreSQL, as `postgres`,
and what passes only there is printed.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from tests.clients import suite
from tests.clients.mysql_drivers import sources
from tests.servers.rowferry import Rowferry

FLOOR = Path(__file__).with_name("floor.json")
SOURCE = sources.Sdist(
    "psycopg2", "2.9.13", "d36784fc2dae69523ba4b79c7d1d1b4d6e83e87836874f111262f4db940b16a6", ("tests/",)
)
#: Two tests count milliseconds between rows.
_CHOSEN = "not greedy"
#: Three minutes on two cores.
SECONDS = 900


def run(host: str, port: int, database: str, arguments: Sequence[str] = ()) -> suite.Result:
    """Run the suite on a server; `sources.Unavailable` where it cannot be fetched."""
    environment = {
        "PSYCOPG2_TESTDB": database,
        "PSYCOPG2_TESTDB_HOST": host,
        "PSYCOPG2_TESTDB_PORT": str(port),
        "PSYCOPG2_TESTDB_USER": "postgres",
    }
    with tempfile.TemporaryDirectory(prefix="rf-suite-") as scratch:
        # Outside this repository, whose settings pytest would take otherwise.
        copy = Path(scratch) / "suite"
        shutil.copytree(sources.unpack((SOURCE,)), copy)
        return suite.run(copy, ["tests", "-k", _CHOSEN, *arguments], environment, seconds=SECONDS)


def run_on(server: Rowferry, arguments: Sequence[str] = ()) -> suite.Result:
    """The same on one of ours."""
    assert server.postgres is not None
    return run(*server.postgres, server.dbname, arguments)


def main() -> int:
    """Print the counts; 1 when the result is below its floor."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--reference", metavar="HOST:PORT/DATABASE", help="a PostgreSQL 15 to compare with")
    parser.add_argument("--write", action="store_true", help="make what was measured the floor")
    parser.add_argument("pytest", nargs="*", help="further arguments for pytest")
    given = parser.parse_args()
    theirs = None
    if given.reference:
        address, _, database = given.reference.partition("/")
        host, _, port = address.partition(":")
        theirs = run(host, int(port), database, given.pytest)
    with tempfile.TemporaryDirectory() as directory, Rowferry.start(Path(directory) / "app.db") as server:
        ours = run_on(server, given.pytest)
    print(f"psycopg2 {SOURCE.version} on rowferry: {ours}")
    if theirs is not None:
        print(f"psycopg2 {SOURCE.version} on PostgreSQL: {theirs}")
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
