"""Fixtures that every Python test may ask for: real servers, started once and stopped at the end."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.clients.tours import MySQLServers, Servers
from tests.servers.availability import NOT_TESTED, start_or_skip
from tests.servers.mariadb import MariaDB, MariaDB11
from tests.servers.mysql import MySQL, MySQLServer
from tests.servers.postgres import PostgreSQL
from tests.servers.rowferry import Rowferry, find_rowferry, socket_directory


@pytest.fixture(scope="session")
def mariadb() -> Iterator[MariaDB]:
    """One MariaDB server for the whole session; make tables of your own in `server.database`."""
    with MariaDB.start() as server:
        yield server


@pytest.fixture(scope="session")
def mariadb11() -> Iterator[MariaDB11]:
    """One MariaDB 11.8 for the whole session; skips where it cannot be downloaded."""
    with start_or_skip(MariaDB11, "MariaDB 11.8") as server:
        yield server


@pytest.fixture(scope="session")
def mysql9() -> Iterator[MySQL]:
    """One MySQL 9.7 for the whole session, with MariaDB's `seq_1_to_…`; skips where it cannot be downloaded."""
    with start_or_skip(MySQL, "MySQL 9.7") as server:
        server.make_sequences()
        yield server


@pytest.fixture(scope="session", params=["mariadb", "mariadb11", "mysql9"])
def server(request: pytest.FixtureRequest) -> MySQLServer:
    """Each of MariaDB 10.11, MariaDB 11.8 and MySQL 9.7 in turn; `@pytest.mark.on("mariadb", …)` picks some."""
    return request.getfixturevalue(request.param)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave out a test on servers that it is not for; see `server`."""

    def is_meant(item: pytest.Item) -> bool:
        chosen = item.get_closest_marker("on")
        callspec = getattr(item, "callspec", None)
        return chosen is None or callspec is None or callspec.params.get("server", chosen.args[0]) in chosen.args

    items[:] = filter(is_meant, items)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Of several processes (`-n 2`), those that run tests tell the one that reports which servers were not there."""
    output = getattr(session.config, "workeroutput", None)
    if output is not None:
        output["not_tested"] = dict(NOT_TESTED)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Take over what a process that ran tests tells."""
    NOT_TESTED.update(getattr(node, "workeroutput", {}).get("not_tested", {}))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say loudly what was not there."""
    for name, reason in NOT_TESTED.items():
        terminalreporter.section(f"NOT TESTED with {name}", sep="!", red=True, bold=True)
        terminalreporter.line(reason)


@pytest.fixture(scope="session")
def store_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample store as `rowferry demo --create` makes it; do not change it."""
    path = tmp_path_factory.mktemp("store") / "store.db"
    subprocess.run([find_rowferry(), "demo", "--create", path], check=True, capture_output=True, timeout=60)
    return path


@pytest.fixture(scope="session")
def store(store_file: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rowferry]:
    """A copy of the sample store, served over TCP and a unix socket; do not change its tables."""
    copy = Path(shutil.copy(store_file, tmp_path_factory.mktemp("served")))
    with socket_directory() as directory, Rowferry.start(copy, unix_dir=directory) as server:
        yield server


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Rowferry]:
    """A new, empty database, served to PostgreSQL clients for one test."""
    with Rowferry.start(tmp_path / "app.db") as server:
        yield server


@pytest.fixture(scope="session")
def mysql_tour_servers(mysql9: MySQL, tmp_path_factory: pytest.TempPathFactory) -> MySQLServers:
    """A real MySQL and our door, for tours of clients."""
    return MySQLServers(mysql9, tmp_path_factory.mktemp("tours"))


@pytest.fixture(scope="session")
def tour_servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Servers]:
    """A real PostgreSQL and ours, for tours of clients."""
    with PostgreSQL.start(tcp=True) as postgres:
        yield Servers(postgres, tmp_path_factory.mktemp("tours"))
