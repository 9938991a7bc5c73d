"""mysqlclient: the C client library behind a thin module."""

from __future__ import annotations

from importlib import metadata
from typing import Any

import MySQLdb

from .base import Address
from .mysql_base import MySQLPeer


class MySQLClient(MySQLPeer):
    """The driver as Django uses it."""

    def version(self) -> str:
        return f"mysqlclient {metadata.version('mysqlclient')}, client library {MySQLdb.get_client_info()}"

    def open(self, address: Address, *, autocommit: bool = False) -> Any:
        parameters = dict(address)
        ca = parameters.pop("ca", None)
        if ca is not None:
            parameters["ssl"] = {"ca": ca}
        return MySQLdb.connect(**parameters, charset="utf8mb4", autocommit=autocommit)
