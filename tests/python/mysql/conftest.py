from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from rowferry import mysql

from tests.servers.availability import start_or_skip
from tests.servers.certificates import make_certificates
from tests.servers.mariadb import MariaDB, MariaDB11
from tests.servers.mysql import MySQL, MySQLServer


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
        connection.ensure_closed()


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
    with MariaDB.start(_tls(certificates)) as server:
        yield server


@pytest.fixture(scope="session", params=["mariadb", "mariadb11", "mysql9"])
def each_tls_server(request: pytest.FixtureRequest, certificates: dict[str, str]) -> Iterator[MySQLServer]:
    """Each of the servers in turn, with a certificate for `localhost`."""
    if request.param == "mariadb":
        yield request.getfixturevalue("tls_server")
    elif request.param == "mariadb11":
        with start_or_skip(MariaDB11, "MariaDB 11.8", _tls(certificates)) as server:
            yield server
    else:
        with start_or_skip(MySQL, "MySQL 9.7", _tls(certificates)) as server:
            server.make_sequences((20_000,))
            yield server


def _tls(certificates: dict[str, str]) -> list[str]:
    return [f"--ssl-{name}={certificates[name]}" for name in ("ca", "cert", "key")]
