"""Run Django's own suite with our backend for Informix, on the Informix door.

    .venv/bin/python -m tests.clients.django_informix.run [--write] [--part] [--why] [MODULES]

`features.py` of the backend says what Informix lacks, with its reasons, and Django skips what rests on it. `floor.json`
says how many tests of the same modules as on the PostgreSQL door must pass, and why others do not; `floor_part.json`
the same of what the repository's own tests run.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from tests.clients import suite
from tests.clients.django import run as django
from tests.servers.rowferry import Rowferry

FLOOR = Path(__file__).with_name("floor.json")
PART_FLOOR = Path(__file__).with_name("floor_part.json")
MODULES = [module for module in django.MODULES if module != "postgres_tests"]
PART = django.PART


def on_rowferry(modules: Sequence[str]) -> tuple[suite.Result, dict[str, str]]:
    """The suite on a new server."""
    with tempfile.TemporaryDirectory() as directory:
        more = Path(directory) / "more"
        more.mkdir()
        args = ["--informix", "127.0.0.1:0", "--databases", str(more)]
        with Rowferry.start(Path(directory) / "app.db", postgres=False, args=args) as server:
            host, port = server.informix or ("", 0)
            return django.run(host, port, "django", modules, "rowferry.django.informix")


def main() -> int:
    """Print the counts; 1 when the result is below its floor."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="make what was measured the floor")
    parser.add_argument("--part", action="store_true", help="run only what the repository's own tests run")
    parser.add_argument("--why", action="store_true", help="print why tests fail")
    parser.add_argument("modules", nargs="*", help="modules of the suite in place of those about a database")
    given = parser.parse_args()
    floor = PART_FLOOR if given.part else FLOOR
    result, why = on_rowferry(given.modules or (PART if given.part else MODULES))
    print(f"Django {django.SOURCE.version} on Informix: {result}")
    if given.why:
        for name in sorted(result.failed):
            print(f"{name}\n    {why.get(name, '')[:300]}")
    if given.write:
        known = suite.floor(floor)["lost"] if floor.exists() else {}
        lost = {name: known.get(name) or why.get(name, "")[:160] for name in sorted(result.failed)}
        floor.write_text(json.dumps({"passed": len(result.passed), "lost": lost}, indent=1, ensure_ascii=False) + "\n")
        return 0
    lacks = suite.below(result, floor)
    print("\n".join(lacks))
    return 1 if lacks else 0


if __name__ == "__main__":
    sys.exit(main())
