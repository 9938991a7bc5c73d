"""Run Django's own suite, which its source distribution carries, on the PostgreSQL door.

    .venv/bin/python -m tests.clients.django.run [--reference HOST:PORT] [--write] [--part] [--why] [MODULES]

Nothing of the suite is committed or changed: it is fetched by its hash, and its runner makes its databases as on any
server. `floor.json` says how many tests must pass and why others do not, `floor_part.json` the same of a part;
`--write` makes it what was measured. With `--reference` the suite also runs on a real server, and what passes only
there is printed. The other doors' runs, `tests.clients.django_informix.run` and `tests.clients.django_mysql.run`, are
this one with another `Door`.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.clients import suite
from tests.clients.mysql_drivers import sources
from tests.servers.rowferry import Rowferry

SOURCE = sources.Sdist(
    "Django",
    "5.2.19",
    "ad03d8abc51dbff95ebf34b27123cf0c26a3b62db7ba0cd520783686362533d1",
    ("django/", "tests/"),
)
#: What of it is about a database, whichever it is.
MODULES = (
    "basic lookup aggregation annotations transactions expressions introspection bulk_create update delete "
    "get_or_create select_for_update db_functions many_to_many many_to_one ordering queries migrations schema "
    "model_fields constraints indexes inspectdb"
).split()
#: What runs in a minute.
PART = "basic introspection bulk_create get_or_create transactions constraints".split()
SECONDS = 3600


@dataclass(frozen=True)
class Door:
    """One of the server's doors, and with what Django comes in."""

    name: str
    #: The backend.
    engine: str
    #: Where its floors are.
    folder: Path
    modules: Sequence[str] = tuple(MODULES)
    user: str = "django"
    #: Who asks a real server.
    reference: str = "postgres"

    def floor(self, *, part: bool) -> Path:
        """What must pass."""
        return self.folder / ("floor_part.json" if part else "floor.json")

    def run(self, modules: Sequence[str]) -> tuple[suite.Result, dict[str, str]]:
        """The suite on a new server of ours."""
        with tempfile.TemporaryDirectory() as directory:
            more = Path(directory) / "more"
            more.mkdir()
            asked = {door: door == self.name for door in ("postgres", "informix", "mysql")}
            args = ["--databases", str(more)]
            with Rowferry.start(Path(directory) / "app.db", **asked, args=args) as server:
                host, port = getattr(server, self.name) or ("", 0)
                return run(host, port, self.user, modules, self.engine)


def run(
    host: str, port: int, user: str, modules: Sequence[str], engine: str, password: str = ""
) -> tuple[suite.Result, dict[str, str]]:
    """What became of the tests on a server, and why they fail; `sources.Unavailable` without a package index."""
    with tempfile.TemporaryDirectory(prefix="rf-suite-") as scratch:
        # Its processes write beside it.
        copy = Path(scratch) / "suite"
        shutil.copytree(sources.unpack((SOURCE,)), copy)
        shutil.copy(Path(__file__).with_name("suite_settings.py"), copy / "tests")
        results = Path(scratch) / "results.json"
        inherited = {
            name: value for name, value in os.environ.items() if not name.startswith(("PYTEST", "PG", "DJANGO"))
        }
        told = {"RF_HOST": host, "RF_PORT": str(port), "RF_USER": user, "RF_PASSWORD": password}
        told |= {"RF_RESULTS": str(results), "RF_ENGINE": engine}
        path = os.pathsep.join(filter(None, (str(copy), os.environ.get("PYTHONPATH"))))
        command = [sys.executable, "runtests.py", "--settings=suite_settings", "--parallel=1", "--noinput", *modules]
        done = subprocess.run(
            command,
            cwd=copy / "tests",
            env={**inherited, **told, "PYTHONPATH": path, "PYTHONWARNINGS": "ignore"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            timeout=SECONDS,
        )
        if not results.exists():
            raise RuntimeError(f"the suite ended with {done.returncode} and no results:\n{done.stdout[-4000:]}")
        told_of = json.loads(results.read_text())
    of = {what: frozenset(name for name, became in told_of["became"].items() if became == what) for what in _BECAME}
    why: dict[str, str] = told_of["why"]
    hung = frozenset(name for name, reason in why.items() if "statement timeout" in reason)
    return suite.Result(of["passed"], of["failed"], of["skipped"], hung, done.stdout), why


_BECAME = ("passed", "failed", "skipped")


def main(door: Door) -> int:
    """Print the counts; 1 when the result is below its floor."""
    about = sys.modules["__main__"].__doc__
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--reference", metavar="[USER:PASSWORD@]HOST:PORT", help="a real server to compare with")
    parser.add_argument("--write", action="store_true", help="make what was measured the floor")
    parser.add_argument("--part", action="store_true", help="run only what the repository's own tests run")
    parser.add_argument("--why", action="store_true", help="print why tests fail")
    parser.add_argument("modules", nargs="*", help="modules of the suite in place of those about a database")
    given = parser.parse_args()
    floor = door.floor(part=given.part)
    modules = given.modules or (PART if given.part else door.modules)
    theirs = None
    if given.reference:
        who, _, where = given.reference.rpartition("@")
        user, _, password = who.partition(":")
        host, _, port = where.rpartition(":")
        theirs, _ = run(host, int(port), user or door.reference, modules, door.engine, password)
    ours, why = door.run(modules)
    print(f"Django {SOURCE.version} on the door {door.name}: {ours}")
    if theirs is not None:
        print(f"Django {SOURCE.version} on the reference: {theirs}")
        for name in sorted(theirs.passed - ours.passed):
            print(f"lost: {name}")
    if given.why:
        for name in sorted(ours.failed):
            print(f"{name}\n    {why.get(name, '')[:300]}")
    if given.write:
        suite.write(floor, ours, theirs.passed if theirs is not None else None, why)
        return 0
    lacks = suite.below(ours, floor)
    print("\n".join(lacks))
    return 1 if lacks else 0


POSTGRES = Door(
    "postgres", "django.db.backends.postgresql", Path(__file__).parent, modules=(*MODULES, "postgres_tests")
)

if __name__ == "__main__":
    sys.exit(main(POSTGRES))
