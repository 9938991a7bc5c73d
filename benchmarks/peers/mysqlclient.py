"""mysqlclient: the C client library behind a thin module."""

from __future__ import annotations

from importlib import metadata

import MySQLdb

from .base import Address, DbapiPeer


class MySQLClient(DbapiPeer):
    """The driver as Django uses it."""

    def version(self) -> str:
        return f"mysqlclient {metadata.version('mysqlclient')}, client library {MySQLdb.get_client_info()}"

    def connect(self, address: Address) -> None:
        self.connection = MySQLdb.connect(**address, charset="utf8mb4")
