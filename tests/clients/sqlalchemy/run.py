"""Run SQLAlchemy's own suite of a dialect, which its source distribution carries, on the door that speaks it.

    .venv/bin/python -m tests.clients.sqlalchemy.run [--dialect postgresql|mysql] [--driver psycopg] [--write]
        [--reference HOST:PORT/DATABASE | mysql | mariadb | mariadb11] [--part | --suite] [--behind]
        [-- PYTEST ARGUMENTS]

Nothing of the suite is committed: it is fetched by its hash, and runs with the library beside it. `floor.json` says how
many tests must pass on the PostgreSQL door, and which do not, `floor_part.json` the same of a part, `floor_suite.json`
of what SQLAlchemy asks of all dialects (`--suite`), with any driver; those that begin with `mysql_` say it of the MySQL
door, and with `mysql_behind_` of that in front of a PostgreSQL server (`--behind`). `--write` makes a floor what was
measured, and keeps its reasons. With `--reference` the suite also runs on a real server, and what passes only there is
printed: on a PostgreSQL as `postgres`, in a database that holds nothing else, or on a MySQL or MariaDB that is started
for it.
"""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import re
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import psycopg
from rowferry import mysql

from tests.clients import suite
from tests.clients.mysql_drivers import sources
from tests.servers.mariadb import MariaDB, MariaDB11
from tests.servers.mysql import MySQL, MySQLServer
from tests.servers.mysql_door import MySQLDoor, MySQLDoorBehind
from tests.servers.rowferry import Rowferry

SOURCE = sources.Sdist(
    "SQLAlchemy",
    "2.0.52",
    "5e2d46356ac2ccb7d268ab6c2319ac6a2b42f1b8d5fd8bd3d46855cd82abee97",
    ("lib/", "test/", "setup.cfg", "pyproject.toml"),
)
#: A few minutes on two cores.
SECONDS = 3600
#: What SQLAlchemy asks of every dialect, its own and others'.
SUITE = ("test/dialect/test_suite.py",)
_HERE = Path(__file__).parent
_MYSQL: dict[str, type[MySQLServer]] = {"mysql": MySQL, "mariadb": MariaDB, "mariadb11": MariaDB11}


@dataclasses.dataclass(frozen=True)
class Dialect:
    """A dialect of SQLAlchemy's, and the door and the servers that speak it."""

    name: str
    driver: str
    #: What runs in half a minute, where the whole takes longer.
    part: tuple[str, ...]
    #: Makes of a server's URL what README.unittests.rst asks for.
    prepare: Callable[[str], None]
    #: A door over a new file: its URL.
    door: Callable[[], contextlib.AbstractContextManager[str]]
    #: A real server, by its word on the command line: its URL.
    reference: Callable[[str], contextlib.AbstractContextManager[str]]

    @property
    def tests(self) -> str:
        """Where the dialect's own tests are."""
        return f"test/dialect/{self.name}"

    def floor(self, kind: str = "", *, behind: bool = False) -> Path:
        """The floor of all, of the `part` or of the `suite`, and `behind` in front of a PostgreSQL server."""
        door = ([] if self.name == "postgresql" else [self.name]) + (["behind"] if behind else [])
        words = [*door, "floor", *([kind] if kind else [])]
        return _HERE / f"{'_'.join(words)}.json"


def _prepare_postgres(url: str) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        for kind, name in (
            ("SCHEMA", "test_schema"),
            ("SCHEMA", "test_schema_2"),
            ("EXTENSION", "hstore"),
            ("EXTENSION", "citext"),
        ):
            connection.execute(f"CREATE {kind} IF NOT EXISTS {name}")


def _prepare_mysql(url: str) -> None:
    with mysql.connect(url) as connection:
        for name in ("test_schema", "test_schema_2"):
            connection.query(f"CREATE DATABASE IF NOT EXISTS {name} CHARACTER SET utf8mb4")


@contextlib.contextmanager
def _postgres_door() -> Iterator[str]:
    with tempfile.TemporaryDirectory() as directory, Rowferry.start(Path(directory) / "app.db") as server:
        yield server.postgres_dsn


@contextlib.contextmanager
def _postgres(address: str) -> Iterator[str]:
    yield f"postgresql://postgres@{address}"


def _mysql_url(server: MySQLServer | MySQLDoor) -> str:
    password = f":{server.password}" if server.password else ""
    return f"mysql://{server.user}{password}@{server.host}:{server.port}/{server.database}"


@contextlib.contextmanager
def _mysql_door() -> Iterator[str]:
    with MySQLDoor.start() as server:
        yield _mysql_url(server)


@contextlib.contextmanager
def _mysql_door_behind() -> Iterator[str]:
    with MySQLDoorBehind.start() as server:
        yield _mysql_url(server)


@contextlib.contextmanager
def _mysql(kind: str) -> Iterator[str]:
    with _MYSQL[kind].start(["--character-set-server=utf8mb4", "--log-bin-trust-function-creators=1"]) as server:
        yield _mysql_url(server)


DIALECTS = {
    dialect.name: dialect
    for dialect in (
        Dialect(
            "postgresql",
            "psycopg2",
            tuple(f"test/dialect/postgresql/test_{name}.py" for name in ("reflection", "on_conflict", "query")),
            _prepare_postgres,
            _postgres_door,
            _postgres,
        ),
        Dialect("mysql", "pymysql", (), _prepare_mysql, _mysql_door, _mysql),
    )
}
POSTGRES = DIALECTS["postgresql"]
MYSQL = DIALECTS["mysql"]


def run(dialect: Dialect, url: str, driver: str = "", arguments: Sequence[str] = ()) -> suite.Result:
    """Run the suite on a server; `sources.Unavailable` where it cannot be fetched."""
    dialect.prepare(url)
    with tempfile.TemporaryDirectory(prefix="rf-suite-") as scratch:
        # Outside this repository, whose settings pytest would take otherwise.
        copy = Path(scratch) / "suite"
        shutil.copytree(sources.unpack((SOURCE,)), copy)
        chosen = [] if any(word.startswith("test/") for word in arguments) else [dialect.tests]
        url = url.replace(f"{dialect.name}:", f"{dialect.name}+{driver or dialect.driver}:")
        if not re.search(r"//\w+:", url):
            # Some tests take the URL to pieces, of which a password is one; nobody asks for it.
            url = url.replace("@", ":unused@")
        # Its own settings end a run after some failures.
        options = ["-o", "addopts=", "--dburi", url]
        environment = {"PYTHONPATH": str(copy / "lib")}
        result = suite.run(copy, [*chosen, *options, *arguments], environment, seconds=SECONDS, asyncio=True)
        named = (result.passed, result.failed, result.skipped, result.hung)
        passed, failed, skipped, hung = (frozenset(_plain(dialect, name) for name in names) for names in named)
        return dataclasses.replace(result, passed=passed, failed=failed, skipped=skipped, hung=hung)


def _plain(dialect: Dialect, name: str) -> str:
    """A test's name without the driver and the server's version, which the suite puts into it."""
    name = name.removeprefix(f"test.dialect.{dialect.name}.")
    return re.sub(rf"_(?:{dialect.name}|mariadb)\+\w+(?=::)", "", name)


def main() -> int:
    """Print the counts; 1 when the result is below its floor."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dialect", choices=DIALECTS, default="postgresql", help="whose suite, and which door")
    parser.add_argument("--driver", default="", help="psycopg2, psycopg or asyncpg; pymysql")
    parser.add_argument("--reference", metavar="SERVER", help="a real server to compare with")
    parser.add_argument("--write", action="store_true", help="make what was measured the floor")
    parser.add_argument("--part", action="store_true", help="run only what the repository's own tests run")
    parser.add_argument("--suite", action="store_true", help="run the suite of all dialects instead")
    parser.add_argument("--behind", action="store_true", help="MySQL's door in front of a PostgreSQL server")
    parser.add_argument("--why", action="store_true", help="print pytest's whole output")
    parser.add_argument("pytest", nargs="*", help="further arguments for pytest")
    given = parser.parse_args()
    dialect = DIALECTS[given.dialect]
    if given.behind and dialect is not MYSQL:
        parser.error("--behind is about MySQL's door")
    kind = "suite" if given.suite else "part" if given.part and dialect.part else ""
    floor = dialect.floor(kind, behind=given.behind)
    given.pytest += SUITE if given.suite else dialect.part if given.part else ()
    theirs = None
    if given.reference:
        with dialect.reference(given.reference) as url:
            theirs = run(dialect, url, given.driver, given.pytest)
            if given.why:
                print(theirs.output)
    with _mysql_door_behind() if given.behind else dialect.door() as url:
        ours = run(dialect, url, given.driver, given.pytest)
    if given.why:
        print(ours.output)
    print(f"SQLAlchemy {SOURCE.version} on rowferry: {ours}")
    if theirs is not None:
        print(f"SQLAlchemy {SOURCE.version} on {given.reference}: {theirs}")
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
