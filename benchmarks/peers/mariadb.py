"""MariaDB Connector/Python 1.1: the same C client library behind MariaDB's own module."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from typing import Any

import mariadb

from .base import Address
from .mysql_base import MySQLPeer

_NUMBERS = count()


class MariaDBConnector(MySQLPeer):
    """Text protocol for statements without parameters, binary for others: its default."""

    mark = "?"

    def version(self) -> str:
        return f"mariadb {mariadb.__version__}, client library {mariadb.mariadbapi_version}"

    def open(self, address: Address, *, autocommit: bool = False) -> Any:
        return mariadb.connect(**_parameters(address), autocommit=autocommit)

    def make_pool(self, address: Address, size: int) -> Any:
        return mariadb.ConnectionPool(
            pool_name=f"bench{next(_NUMBERS)}",
            pool_size=size,
            pool_reset_connection=False,
            **_parameters(address),
            autocommit=True,
        )

    @contextmanager
    def lent(self, pool: Any) -> Iterator[Any]:
        connection = pool.get_connection()
        try:
            yield connection
        finally:
            connection.close()

    def close_pool(self, pool: Any) -> None:
        pool.close()


class MariaDBConnectorBinary(MariaDBConnector):
    """Prepared statements and the binary protocol for everything."""

    def version(self) -> str:
        return f"{super().version()}, binary=True"

    def open(self, address: Address, *, autocommit: bool = False) -> Any:
        return _Binary(super().open(address, autocommit=autocommit))


class _Binary:
    """A connection whose cursors use the binary protocol."""

    def __init__(self, connection: Any) -> None:
        self._connection = connection

    def cursor(self) -> Any:
        return self._connection.cursor(binary=True)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._connection, name)


def _parameters(address: Address) -> dict[str, Any]:
    parameters = dict(address)
    ca = parameters.pop("ca", None)
    if ca is not None:
        parameters.update(ssl=True, ssl_ca=ca)
    return parameters
