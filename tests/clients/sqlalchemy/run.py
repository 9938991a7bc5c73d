"""Run SQLAlchemy's own suite of its PostgreSQL dialect, which its source distribution carries, on the PostgreSQL door.

    .venv/bin/python -m tests.clients.sqlalchemy.run [--driver psycopg] [--reference HOST:PORT/DATABASE] [--write]
        [--part | --suite] [-- PYTEST ARGUMENTS]

Nothing of the suite is committed: it is fetched by its hash, and runs with the library beside it. `floor.json` says how
many tests must pass, and which do not, `floor_part.json` the same of a part, `floor_suite.json` of what SQLAlchemy asks
of all dialects (`--suite`), with any driver; `--write` makes it what was measured. With `--reference` the suite also
runs on a real PostgreSQL, as `postgres`, in a database that holds nothing else, and what passes only there is printed.
"""

from __future__ import annotations

import argparse
import dataclasses
import re
import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import psycopg

from tests.clients import suite
from tests.clients.mysql_drivers import sources
from tests.servers.rowferry import Rowferry

FLOOR = Path(__file__).with_name("floor.json")
#: What runs in half a minute, and its floor.
PART = [f"test/dialect/postgresql/test_{name}.py" for name in ("reflection", "on_conflict", "query")]
PART_FLOOR = Path(__file__).with_name("floor_part.json")
#: What SQLAlchemy asks of every dialect, its own and others'.
SUITE = ["test/dialect/test_suite.py"]
SUITE_FLOOR = Path(__file__).with_name("floor_suite.json")
SOURCE = sources.Sdist(
    "SQLAlchemy",
    "2.0.52",
    "5e2d46356ac2ccb7d268ab6c2319ac6a2b42f1b8d5fd8bd3d46855cd82abee97",
    ("lib/", "test/", "setup.cfg", "pyproject.toml"),
)
#: A few minutes on two cores.
SECONDS = 3600
#: What README.unittests.rst asks of the database.
_PREPARED = (
    "CREATE SCHEMA IF NOT EXISTS test_schema",
    "CREATE SCHEMA IF NOT EXISTS test_schema_2",
    "CREATE EXTENSION IF NOT EXISTS hstore",
    "CREATE EXTENSION IF NOT EXISTS citext",
)
DRIVER = "psycopg2"


def run(dsn: str, driver: str = DRIVER, arguments: Sequence[str] = ()) -> suite.Result:
    """Run the suite on a server; `sources.Unavailable` where it cannot be fetched."""
    with psycopg.connect(dsn, autocommit=True) as connection:
        for statement in _PREPARED:
            connection.execute(statement)
    with tempfile.TemporaryDirectory(prefix="rf-suite-") as scratch:
        # Outside this repository, whose settings pytest would take otherwise.
        copy = Path(scratch) / "suite"
        shutil.copytree(sources.unpack((SOURCE,)), copy)
        chosen = [] if any(word.startswith("test/") for word in arguments) else ["test/dialect/postgresql"]
        # Its own settings end a run after some failures.
        # Some tests take the URL to pieces, of which a password is one; nobody asks for it.
        url = dsn.replace("postgresql:", f"postgresql+{driver}:").replace("@", ":unused@")
        options = ["-o", "addopts=", "--dburi", url]
        environment = {"PYTHONPATH": str(copy / "lib")}
        result = suite.run(copy, [*chosen, *options, *arguments], environment, seconds=SECONDS, asyncio=True)
        named = (result.passed, result.failed, result.skipped, result.hung)
        passed, failed, skipped, hung = (frozenset(_plain(name) for name in names) for names in named)
        return dataclasses.replace(result, passed=passed, failed=failed, skipped=skipped, hung=hung)


def _plain(name: str) -> str:
    """A test's name without the driver and the server's version, which the suite puts into it."""
    return re.sub(r"_postgresql\+\w+(?=::)", "", name.removeprefix("test.dialect.postgresql."))


def main() -> int:
    """Print the counts; 1 when the result is below its floor."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--driver", default=DRIVER, help="psycopg, psycopg2 or asyncpg")
    parser.add_argument("--reference", metavar="HOST:PORT/DATABASE", help="a PostgreSQL 15 to compare with")
    parser.add_argument("--write", action="store_true", help="make what was measured the floor")
    parser.add_argument("--part", action="store_true", help="run only what the repository's own tests run")
    parser.add_argument("--suite", action="store_true", help="run the suite of all dialects instead")
    parser.add_argument("pytest", nargs="*", help="further arguments for pytest")
    given = parser.parse_args()
    floor = SUITE_FLOOR if given.suite else PART_FLOOR if given.part else FLOOR
    given.pytest += SUITE if given.suite else PART if given.part else []
    theirs = None
    if given.reference:
        theirs = run(f"postgresql://postgres@{given.reference}", given.driver, given.pytest)
    with tempfile.TemporaryDirectory() as directory, Rowferry.start(Path(directory) / "app.db") as server:
        ours = run(server.postgres_dsn, given.driver, given.pytest)
    print(f"SQLAlchemy {SOURCE.version} on rowferry: {ours}")
    if theirs is not None:
        print(f"SQLAlchemy {SOURCE.version} on PostgreSQL: {theirs}")
        for name in sorted(theirs.passed - ours.passed):
            print(f"lost: {name}")
    if given.write:
        suite.write(floor, ours, theirs.passed if theirs is not None else None)
        return 0
    lacks = suite.below(ours, floor)
    print("\n".join(lacks))
    return 1 if lacks else 0


if __name__ == "__main__":
    sys.exit(main())
