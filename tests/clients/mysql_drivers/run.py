"""Run the suites of PyMySQL, mysqlclient, aiomysql and asyncmy on real servers, with our driver or with theirs.

    .venv/bin/python -m tests.clients.mysql_drivers.run [SUITE ...] [--driver theirs|ours|both] [--server NAME]
                                                        [--verbose] [-- PYTEST ARGUMENTS]

With `--driver ours`, `import pymysql` finds `rowferry.mysql` (by `plugin/`), and so on. Nothing of the suites is
committed: see `sources.py`. `floor.json` says how many tests must pass, and why the others do not.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rowferry import mysql

from tests.clients.mysql_drivers import sources
from tests.servers.certificates import make_certificates
from tests.servers.mariadb import MariaDB, MariaDB11
from tests.servers.mysql import MySQL
from tests.servers.mysql import MySQLServer as AServer
from tests.servers.mysql_door import MySQLDoor, MySQLDoorBehind

_HERE = Path(__file__).resolve().parent
#: The longest suite takes about a minute; a hang in one must end, in seconds.
_PATIENCE = 600

#: What the suites run on.
MySQLServer = AServer | MySQLDoor

SERVERS: dict[str, type[AServer]] = {"mariadb": MariaDB, "mariadb11": MariaDB11, "mysql": MySQL}


@dataclass
class Preparation:
    """What pytest gets besides the suite."""

    arguments: list[str] = field(default_factory=list)
    environment: dict[str, str] = field(default_factory=dict)


def _pymysql(suite: Path, server: MySQLServer) -> Preparation:
    databases = [
        {
            **(
                {"host": "localhost", "unix_socket": server.unix_socket}
                if server.unix_socket
                else {"host": server.host, "port": server.port}
            ),
            "user": "root",
            "password": "",
            "database": name,
            "use_unicode": True,
            "local_infile": True,
        }
        for name in ("test1", "test2")
    ]
    (suite / "pymysql/tests/databases.json").write_text(json.dumps(databases))
    # What its workflow says.
    return Preparation(["pymysql/tests"], {"ROWFERRY_SUITE": str(suite), "USER": "pymysql_os"})


def _mysqlclient(suite: Path, server: MySQLServer) -> Preparation:
    (suite / "tests/here.cnf").write_text(
        f"[MySQLdb-tests]\nhost = {server.host}\nport = {server.port}\nuser = {server.user}\n"
        f"password = {server.password}\ndatabase = test1\ndefault-character-set = utf8mb4\n"
    )
    # These look for private names, and leave transactions behind that all later ones wait for.
    return Preparation(["tests", "-k", "not executemany_multi"], {"TESTDB": "here.cnf"})


def _aiomysql(suite: Path, server: MySQLServer) -> Preparation:
    addresses = [f"--mysql-address=tcp={server.host}:{server.port}", f"--mysql-unix-socket=unix={server.unix_socket}"]
    # Each test is there for two event loops and two ways to connect: one of the four will do.
    # Of the pool's, some look at its private sets and wait for what ours does not do; tests/python/mysql has our own.
    arguments = ["tests", "--ignore=tests/sa", "--ignore=tests/test_pool.py", *addresses, "-k", "asyncio-tcp"]
    return Preparation(arguments, {"MYSQL_ROOT_PASSWORD": ""})


def _asyncmy(suite: Path, server: MySQLServer) -> Preparation:
    file = suite / "conftest.py"
    text = file.read_text()
    for theirs, ours in (
        ("port=3306", f"port={server.port}"),
        ('user="root"', f'user="{server.user}"'),
        ('"123456"', f'"{server.password}"'),
    ):
        assert theirs in text, theirs
        text = text.replace(theirs, ours)
    file.write_text(text)
    # The suite is written for an older pytest-asyncio, which had one loop for all.
    loops = [f"--override-ini=asyncio_default_{kind}_loop_scope=session" for kind in ("fixture", "test")]
    return Preparation(["tests", *loops])


@dataclass(frozen=True)
class Suite:
    """A driver's own tests."""

    sources: Sequence[sources.Source]
    #: What its imports find when our driver is under test.
    aliases: str
    prepare: Callable[[Path, MySQLServer], Preparation]
    #: What to import to see whether the driver itself is here.
    driver: str


SUITES = {
    "pymysql": Suite(sources.PYMYSQL, "pymysql=rowferry.mysql", _pymysql, "pymysql"),
    "mysqlclient": Suite(sources.MYSQLCLIENT, "MySQLdb=rowferry.mysql", _mysqlclient, "MySQLdb"),
    "aiomysql": Suite(sources.AIOMYSQL, "aiomysql=rowferry.mysql.aio,pymysql=rowferry.mysql", _aiomysql, "aiomysql"),
    "asyncmy": Suite(sources.ASYNCMY, "asyncmy=rowferry.mysql.aio", _asyncmy, "asyncmy"),
}


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


def floor(suite: str) -> dict[str, Any]:
    """What `floor.json` says: how many tests must have `passed`, and `differences` with their reasons."""
    known: dict[str, Any] = json.loads((_HERE / "floor.json").read_text())[suite]
    if isinstance(known["passed"], dict):
        # Another version of the suite, where the first choice cannot be fetched, has another number of tests.
        known["passed"] = known["passed"][sources.unpack(SUITES[suite].sources).name]
    return known


def start(kind: str, scratch: Path) -> MySQLServer:
    """A server as the suites want it: TLS, files of the client."""
    if kind == "rowferry":
        return MySQLDoor.start(["--tls", "--lock-timeout", "3"])
    if kind == "rowferry-postgres":
        return MySQLDoorBehind.start(["--tls", "--lock-timeout", "3"])
    certificates = make_certificates(scratch)
    options = [f"--ssl-{name}={certificates[name]}" for name in ("ca", "cert", "key")]
    return SERVERS[kind].start([*options, "--local-infile=1", "--lock-wait-timeout=3"])


def run(name: str, server: MySQLServer, arguments: Sequence[str] = (), *, driver: str = "ours") -> Result:
    """Run a suite; extra `arguments` go to pytest. Raises `sources.Unavailable` where it cannot be fetched."""
    suite = SUITES[name]
    files = sources.unpack(suite.sources)
    with mysql.connect(**server.dsn) as connection:
        for database in ("test1", "test2"):
            connection.query(f"DROP DATABASE IF EXISTS {database}")
            connection.query(f"CREATE DATABASE {database} CHARACTER SET utf8mb4")
        # For aiomysql's, which logs in over TCP. The door lets everybody in here.
        if not isinstance(server, MySQLDoor):
            connection.query("CREATE USER IF NOT EXISTS root@'127.0.0.1'")
            connection.query("GRANT ALL ON *.* TO root@'127.0.0.1' WITH GRANT OPTION")
    with tempfile.TemporaryDirectory(prefix="rf-suite-") as scratch:
        copy = Path(scratch) / "suite"
        shutil.copytree(files, copy)
        preparation = suite.prepare(copy, server)
        report = Path(scratch) / "report.xml"
        inherited = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST", "MYSQL"))}
        environment: Mapping[str, str] = {
            **inherited,
            **preparation.environment,
            "PYTHONPATH": os.pathsep.join((str(_HERE / "plugin"), *filter(None, [os.environ.get("PYTHONPATH")]))),
            "ROWFERRY_ALIASES": suite.aliases if driver == "ours" else "",
        }
        done = subprocess.run(
            [
                *(sys.executable, "-m", "pytest", "-q", "--tb=short", "-p", "no:cacheprovider", "-p", "no:randomly"),
                *("-p", "driver_alias", "--timeout=60", f"--junitxml={report}"),
                *(f"--rootdir={copy}", "--continue-on-collection-errors", *preparation.arguments, *arguments),
            ],
            cwd=copy,
            env=environment,
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
        module = case.get("classname", "").removeprefix("pymysql.").removeprefix("tests.")
        name = f"{module}::{case.get('name')}"
        kinds = {child.tag for child in case}
        if kinds & {"failure", "error"}:
            failed.append(name)
        elif "skipped" in kinds:
            skipped.append(name)
        else:
            passed.append(name)
    # A test that passes and whose clean-up fails is there twice.
    return Result([name for name in passed if name not in failed], sorted(set(failed)), skipped, output)


def is_here(suite: str) -> bool:
    """Whether the driver itself is installed, so that its own result can be known."""
    done = subprocess.run([sys.executable, "-c", f"import {SUITES[suite].driver}"], capture_output=True, timeout=60)
    return done.returncode == 0


def main() -> int:
    """Print the counts; 1 when something fails that `floor.json` has no reason for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("suites", nargs="*", metavar="SUITE", help=f"of {', '.join(SUITES)}; all by default")
    parser.add_argument("--driver", choices=("theirs", "ours", "both"), default="both", help="what is imported")
    parser.add_argument(
        "--server", choices=[*SERVERS, "rowferry", "rowferry-postgres"], default="mariadb", help="what it talks to"
    )
    parser.add_argument("--verbose", action="store_true", help="print pytest's whole output")
    parser.add_argument("--pytest", default="", metavar="WORDS", help="further arguments for pytest")
    known = parser.parse_args()
    bad = 0
    with (
        tempfile.TemporaryDirectory(prefix="rf-suite-server-") as scratch,
        start(known.server, Path(scratch)) as server,
    ):
        for name in known.suites or SUITES:
            excused = floor(name)["differences"]
            theirs: Result | None = None
            for driver in ("theirs", "ours") if known.driver == "both" else (known.driver,):
                if driver == "theirs" and not is_here(name):
                    print(f"{name}: the driver itself is not installed")
                    continue
                result = run(name, server, known.pytest.split(), driver=driver)
                if driver == "theirs":
                    theirs = result
                if known.verbose:
                    print(result.output)
                for test in result.failed:
                    lost = theirs is not None and driver == "ours" and test in theirs.passed
                    reason = excused.get(test, "") if driver == "ours" else ""
                    bad += driver == "ours" and not reason and (theirs is None or lost)
                    print(f"{'LOST  ' if lost else 'failed'}  {test}  {reason}")
                counts = f"{len(result.passed)} passed, {len(result.failed)} failed, {len(result.skipped)} skipped"
                print(f"suite of {name} on {server.version}, {driver}: {counts} of {result.total}")
                if driver == "ours" and theirs is not None:
                    print(f"  {len(set(result.passed) - set(theirs.passed))} that theirs does not pass")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
