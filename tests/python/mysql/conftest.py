from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from rowferry import mysql

from tests.servers.certificates import make_certificates
from tests.servers.mariadb import MariaDB
from tests.servers.mysql import MySQLServer


@pytest.fixture
def connect(server: MySQLServer) -> Iterator[Callable[..., mysql.Connection]]:
    """Connect to the server, with further parameters; closed at the end of the test."""
    opened: list[mysql.Connection] = []

    def connect(**options: Any) -> mysql.Connection:
        connection = mysql.connect(**{**server.dsn, **options})
        opened.append(connection)
        return connection

    yield connect
    for connection in opened:
        connection.close()


@pytest.fixture
def connection(connect: Callable[..., mysql.Connection]) -> mysql.Connection:
    return connect()


@pytest.fixture
def cursor(connection: mysql.Connection) -> mysql.cursors.Cursor:
    return connection.cursor()


@pytest.fixture(scope="session")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """PEM files; see `make_certificates`."""
    return make_certificates(tmp_path_factory.mktemp("certificates"))


@pytest.fixture(scope="session")
def tls_server(certificates: dict[str, str]) -> Iterator[MariaDB]:
    """A server that offers TLS."""
    files = [f"--ssl-{name}={certificates[name]}" for name in ("ca", "cert", "key")]
    with MariaDB.start(files) as server:
        yield server
