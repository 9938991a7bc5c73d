"""Run what SQLAlchemy asks of every dialect on ours for Informix, against the Informix door.

    .venv/bin/python -m tests.clients.sqlalchemy_informix.run [--driver rowferry_async] [--write] [-- PYTEST ARGUMENTS]

The suite is part of the library (`sqlalchemy.testing.suite`). `plugin.py` says which of its requirements Informix
fulfils, and why not the others; `floor.json` how many tests must pass, and why those under `lost` do not. `--write`
makes the floor what was measured, and keeps its reasons.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import re
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from tests.clients import suite
from tests.python.informix.server import LOCALE, serve
from tests.servers.rowferry import Rowferry

FLOOR = Path(__file__).with_name("floor.json")
DRIVERS = ("rowferry", "rowferry_async")
#: Some forty seconds for each dialect, with a binary for debugging.
SECONDS = 600
_ROOT = Path(__file__).resolve().parents[3]
_FILES = {
    "conftest.py": """
import pytest

pytest.register_assert_rewrite("sqlalchemy.testing.assertions")
from sqlalchemy.testing.plugin.pytestplugin import *
from tests.clients.sqlalchemy_informix.plugin import *
""",
    "test_suite.py": "from sqlalchemy.testing.suite import *\n",
    "setup.cfg": """[sqla_testing]
requirement_cls=tests.clients.sqlalchemy_informix.plugin:Requirements
profile_file=profiles.txt
""",
}


def run(server: Rowferry, driver: str, arguments: Sequence[str] = ()) -> suite.Result:
    """Run the suite with one of the dialects."""
    assert server.informix is not None
    host, port = server.informix
    url = f"informix+{driver}://{host}:{port}/{server.dbname}?client_locale={LOCALE}"
    with tempfile.TemporaryDirectory(prefix="rf-suite-") as scratch:
        # Outside of this repository, whose settings pytest would take otherwise.
        for name, text in _FILES.items():
            Path(scratch, name).write_text(text)
        path = {"PYTHONPATH": os.pathsep.join(filter(None, (str(_ROOT), os.environ.get("PYTHONPATH"))))}
        chosen = ["-o", "addopts=", "--dburi", url, "test_suite.py", *arguments]
        result = suite.run(Path(scratch), chosen, path, seconds=SECONDS)
    named = (result.passed, result.failed, result.skipped, result.hung)
    passed, failed, skipped, hung = (frozenset(_plain(name) for name in names) for names in named)
    return dataclasses.replace(result, passed=passed, failed=failed, skipped=skipped, hung=hung)


def _plain(name: str) -> str:
    """A test's name without the driver and the server's version, which the suite puts into it."""
    return re.sub(r"_informix\+\w+(?=::)", "", name.removeprefix("test_suite."))


def main() -> int:
    """Print the counts; 1 when the result is below its floor."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--driver", default=DRIVERS[0], choices=DRIVERS)
    parser.add_argument("--write", action="store_true", help="make what was measured the floor")
    parser.add_argument("pytest", nargs="*", help="further arguments for pytest")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory, serve(Path(directory) / "app.db") as server:
        result = run(server, given.driver, given.pytest)
    print(f"informix+{given.driver}: {result}")
    if given.write:
        known = suite.floor(FLOOR)["lost"] if FLOOR.exists() else {}
        lost = {name: known.get(name, "") for name in sorted(result.failed)}
        FLOOR.write_text(json.dumps({"passed": len(result.passed), "lost": lost}, indent=1, ensure_ascii=False) + "\n")
        return 0
    lacks = suite.below(result, FLOOR)
    print("\n".join(lacks))
    return 1 if lacks else 0


if __name__ == "__main__":
    sys.exit(main())
