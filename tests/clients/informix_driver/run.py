"""Run informix-driver's own integration suite against `rowferry serve`, and hold the count of passes to a floor.

    .venv/bin/python -m tests.clients.informix_driver.run [--driver theirs|ours] [--server HOST:PORT] [--verbose]
                                                          [PYTEST ARGUMENTS]

With `--driver theirs`, which is the default, the suite tests our server. With `--driver ours` its `import informix_db`
finds `rowferry.informix` (by `alias/`), so that it tests our driver, too.

The suite comes out of the sdist on PyPI and stays in `.cache`; nothing of it is committed. `floor.json` and
`floor_ours.json` say how many tests must pass, and why the others do not: raise the number when more do.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tarfile
import tempfile
import xml.etree.ElementTree as ElementTree
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from rowferry.informix._settings import settings_for

from tests.python.informix.server import target
from tests.servers.rowferry import Rowferry

VERSION = "2026.9.3"

_HERE = Path(__file__).resolve().parent
_CACHE = _HERE.parents[2] / ".cache" / "informix-driver"
#: The whole suite takes about a minute; a hang in it must end, in seconds.
_PATIENCE = 900


@dataclass(frozen=True)
class Result:
    """What became of each test, by its name."""

    passed: list[str]
    failed: list[str]
    skipped: list[str]
    output: str

    @property
    def total(self) -> int:
        """How many tests there were."""
        return len(self.passed) + len(self.failed) + len(self.skipped)


def _floor_file(driver: str) -> Path:
    return _HERE / ("floor.json" if driver == "theirs" else "floor_ours.json")


def floor(driver: str = "theirs") -> int:
    """How many tests must pass with informix-driver itself (`theirs`), or with our driver under its name (`ours`)."""
    number: int = json.loads(_floor_file(driver).read_text())["passed"]
    return number


def sources() -> Path:
    """The extracted sdist, fetched on first use."""
    directory = _CACHE / f"informix_driver-{VERSION}"
    if not (directory / "tests").is_dir():
        _CACHE.mkdir(parents=True, exist_ok=True)
        subprocess.run(
            [
                *(sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--disable-pip-version-check"),
                *("--no-binary", "informix-driver", "--dest", str(_CACHE), f"informix-driver=={VERSION}"),
            ],
            check=True,
            stdin=subprocess.DEVNULL,
            timeout=300,
        )
        with tarfile.open(_CACHE / f"informix_driver-{VERSION}.tar.gz") as archive:
            # By hand, since Debian 12's Python has no filters for archives: plain files below the directory, no more.
            for member in archive:
                target = (_CACHE / member.name).resolve()
                content = archive.extractfile(member) if member.isfile() else None
                if content is not None and directory.resolve() in target.parents:
                    target.parent.mkdir(parents=True, exist_ok=True)
                    target.write_bytes(content.read())
    return directory


def run(
    host: str,
    port: int,
    arguments: Sequence[str] = (),
    *,
    driver: str = "theirs",
    environment: Mapping[str, str] | None = None,
) -> Result:
    """Run the suite against the server at `host:port`; extra `arguments` go to pytest.

    `driver` is what `import informix_db` finds; `environment` holds more of the suite's `IFX_` variables.
    """
    ours = driver == "ours"
    with tempfile.TemporaryDirectory(prefix="rf-informix-driver-") as scratch:
        report = Path(scratch) / "report.xml"
        inherited = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST", "IFX"))}
        done = subprocess.run(
            [
                *(
                    sys.executable,
                    "-m",
                    "pytest",
                    "-m",
                    "integration and not benchmark",
                    "-q",
                    "--tb=short",
                    "-p",
                    "no:cacheprovider",
                ),
                *("--timeout=60", f"--junitxml={report}"),
                # They import the decoders of informix-driver.
                *(("--ignore=tests/benchmarks",) if ours else ()),
                *arguments,
            ],
            cwd=sources(),
            env={
                **inherited,
                **({"PYTHONPATH": os.pathsep.join((str(_HERE / "alias"), *sys.path))} if ours else {}),
                **(environment or {}),
                "IFX_HOST": host,
                "IFX_PORT": str(port),
            },
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            timeout=_PATIENCE,
        )
        if not report.exists():
            raise RuntimeError(f"pytest ended with {done.returncode} and no report:\n{done.stdout[-4000:]}")
        return _read(report, done.stdout)


def _read(report: Path, output: str) -> Result:
    passed, failed, skipped = [], [], []
    for case in ElementTree.parse(report).getroot().iter("testcase"):
        name = f"{case.get('classname', '').removeprefix('tests.')}::{case.get('name')}"
        kinds = {child.tag for child in case}
        if kinds & {"failure", "error"}:
            failed.append(name)
        elif "skipped" in kinds:
            skipped.append(name)
        else:
            passed.append(name)
    return Result(passed, failed, skipped, output)


def run_against_rowferry(arguments: Sequence[str] = (), *, driver: str = "theirs") -> Result:
    """Serve a new, empty database and run the suite against it, with informix-driver or with our driver."""
    with tempfile.TemporaryDirectory(prefix="rf-informix-driver-") as directory:
        # The suite's own user; it also tries a wrong password.
        users = ("--user", "informix:in4mix")
        with Rowferry.start(Path(directory) / "testdb.db", postgres=False, informix=True, args=users) as server:
            assert server.informix is not None
            # Text of the served database is UTF-8, as one of the suite's tests asks for.
            environment = {"IFX_UTF8_DATABASE": server.dbname}
            return run(*server.informix, arguments, driver=driver, environment=environment)


def run_live(arguments: Sequence[str] = (), *, driver: str = "theirs") -> Result:
    """Run the suite in a new database at `INFORMIX_URL`, which is dropped at the end."""
    with target() as live:
        settings = settings_for(live.url)
        environment = {
            "IFX_USER": settings.user.decode(),
            "IFX_PASSWORD": settings.password.decode(),
            "IFX_SERVER": settings.server.decode(),
            # Where it creates tables. Otherwise it makes `testdb`, and leaves it there.
            "IFX_LOGGED_DATABASE": live.database,
            "IFX_UTF8_DATABASE": live.database,
        }
        return run(settings.host, settings.port, arguments, driver=driver, environment=environment)


def main() -> int:
    """Print the counts; 1 when fewer tests pass than the floor asks."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--server", metavar="HOST:PORT", help="a server that is running already, instead of ours")
    parser.add_argument("--live", action="store_true", help="the server of INFORMIX_URL, in a database of its own")
    parser.add_argument("--driver", choices=("theirs", "ours"), default="theirs", help="what is imported")
    parser.add_argument("--verbose", action="store_true", help="print pytest's whole output")
    known, rest = parser.parse_known_args()
    if known.live:
        result = run_live(rest, driver=known.driver)
    elif known.server:
        host, _, port = known.server.rpartition(":")
        result = run(host, int(port), rest, driver=known.driver)
    else:
        result = run_against_rowferry(rest, driver=known.driver)
    if known.verbose:
        print(result.output)
    for name in result.failed:
        print(f"failed  {name}")
    expected = floor(known.driver)
    name = f"suite of informix-driver {VERSION}, {known.driver}"
    print(
        f"{name}: {len(result.passed)} passed, {len(result.failed)} failed, "
        f"{len(result.skipped)} skipped of {result.total}; the floor is {expected}"
    )
    if rest:
        return 0
    if len(result.passed) > expected:
        print(f"hint: raise `passed` in {_floor_file(known.driver).relative_to(_HERE.parents[2])}")
    # A live server may lack what a test needs, a UTF-8 database for one; ours has it all.
    excused = len(result.skipped) if known.live or known.server else 0
    return 0 if len(result.passed) + excused >= expected else 1


if __name__ == "__main__":
    sys.exit(main())
