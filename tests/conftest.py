"""Fixtures that every Python test may ask for: real servers, started once and stopped at the end."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.servers import debian_sid
from tests.servers.mariadb import MariaDB, MariaDB11
from tests.servers.mysql import MySQL
from tests.servers.rowferry import Rowferry, find_rowferry, socket_directory


@pytest.fixture(scope="session")
def mariadb() -> Iterator[MariaDB]:
    """One MariaDB server for the whole session; make tables of your own in `server.database`."""
    with MariaDB.start() as server:
        yield server


@pytest.fixture(scope="session")
def mariadb11() -> Iterator[MariaDB11]:
    """One MariaDB 11.8 for the whole session; skips where it cannot be downloaded."""
    try:
        server = MariaDB11.start()
    except debian_sid.Unavailable as reason:
        pytest.skip(f"NOT TESTED against MariaDB 11.8: {reason}")
    with server:
        yield server


@pytest.fixture(scope="session")
def mysql9() -> Iterator[MySQL]:
    """One MySQL 9.7 for the whole session; skips where it cannot be downloaded."""
    try:
        server = MySQL.start()
    except debian_sid.Unavailable as reason:
        pytest.skip(f"NOT TESTED against MySQL 9.7: {reason}")
    with server:
        yield server


@pytest.fixture(scope="session")
def store_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample store as `rowferry demo --create` makes it; do not change it."""
    path = tmp_path_factory.mktemp("store") / "store.db"
    subprocess.run([find_rowferry(), "demo", "--create", path], check=True, capture_output=True, timeout=60)
    return path


@pytest.fixture(scope="session")
def store(store_file: Path) -> Iterator[Rowferry]:
    """The sample store, served over TCP and a unix socket; do not change its tables."""
    with socket_directory() as directory, Rowferry.start(store_file, unix_dir=directory) as server:
        yield server


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Rowferry]:
    """A new, empty database, served to PostgreSQL clients for one test."""
    with Rowferry.start(tmp_path / "app.db") as server:
        yield server
