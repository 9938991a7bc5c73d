"""Run Django's own suite, which its source distribution carries, on the PostgreSQL door.

    .venv/bin/python -m tests.clients.django.run [--reference HOST:PORT] [--write] [--part] [--why] [MODULES]

Nothing of the suite is committed or changed: it is fetched by its hash, and its runner makes its databases as on any
server. `floor.json` says how many tests must pass and which do not, `floor_part.json` the same of a part; `--write`
makes it what was measured. With `--reference` the suite also runs on a real PostgreSQL, as `postgres`, and what passes
only there is printed.
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
from pathlib import Path

from tests.clients import suite
from tests.clients.mysql_drivers import sources
from tests.servers.rowferry import Rowferry

FLOOR = Path(__file__).with_name("floor.json")
PART_FLOOR = Path(__file__).with_name("floor_part.json")
SOURCE = sources.Sdist(
    "Django",
    "5.2.19",
    "ad03d8abc51dbff95ebf34b27123cf0c26a3b62db7ba0cd520783686362533d1",
    ("django/", "tests/"),
)
#: What of it is about a database. Two tests are lost: `test_order_by_index` of `postgres_tests` asks for the order in
#: which PostgreSQL's sort leaves three NULLs, and `test_foreign_data_wrapper` of `inspectdb` wants the extension
#: `file_fdw`, which reads the server's files: there is no foreign data here.
MODULES = (
    "basic lookup aggregation annotations transactions expressions introspection bulk_create update delete "
    "get_or_create select_for_update db_functions many_to_many many_to_one ordering queries migrations schema "
    "model_fields constraints indexes inspectdb postgres_tests"
).split()
#: What runs in a minute.
PART = "basic introspection bulk_create get_or_create transactions constraints".split()
SECONDS = 3600


def run(
    host: str, port: int, user: str, modules: Sequence[str], engine: str = "django.db.backends.postgresql"
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
        told = {"RF_HOST": host, "RF_PORT": str(port), "RF_USER": user, "RF_RESULTS": str(results), "RF_ENGINE": engine}
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


def on_rowferry(modules: Sequence[str]) -> tuple[suite.Result, dict[str, str]]:
    """The suite on a new server."""
    with tempfile.TemporaryDirectory() as directory:
        more = Path(directory) / "more"
        more.mkdir()
        with Rowferry.start(Path(directory) / "app.db", args=["--databases", str(more)]) as server:
            host, port = server.postgres or ("", 0)
            return run(host, port, "django", modules)


def main() -> int:
    """Print the counts; 1 when the result is below its floor."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--reference", metavar="HOST:PORT", help="a PostgreSQL 15 to compare with")
    parser.add_argument("--write", action="store_true", help="make what was measured the floor")
    parser.add_argument("--part", action="store_true", help="run only what the repository's own tests run")
    parser.add_argument("--why", action="store_true", help="print why tests fail")
    parser.add_argument("modules", nargs="*", help="modules of the suite in place of those about a database")
    given = parser.parse_args()
    floor = PART_FLOOR if given.part else FLOOR
    modules = given.modules or (PART if given.part else MODULES)
    theirs = None
    if given.reference:
        host, _, port = given.reference.rpartition(":")
        theirs, _ = run(host, int(port), "postgres", modules)
    ours, why = on_rowferry(modules)
    print(f"Django {SOURCE.version} on rowferry: {ours}")
    if theirs is not None:
        print(f"Django {SOURCE.version} on PostgreSQL: {theirs}")
        for name in sorted(theirs.passed - ours.passed):
            print(f"lost: {name}")
    if given.why:
        for name in sorted(ours.failed):
            print(f"{name}\n    {why.get(name, '')[:300]}")
    if given.write:
        suite.write(floor, ours, theirs.passed if theirs is not None else None)
        return 0
    lacks = suite.below(ours, floor)
    print("\n".join(lacks))
    return 1 if lacks else 0


if __name__ == "__main__":
    sys.exit(main())
