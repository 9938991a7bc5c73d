"""PyMySQL: pure Python."""

from __future__ import annotations

from typing import Any

import pymysql

from .base import Address
from .mysql_base import MySQLPeer


def with_options(address: Address) -> dict[str, Any]:
    """Parameters of `pymysql.connect`: it would try TLS by default."""
    parameters = dict(address)
    ca = parameters.pop("ca", None)
    return {**parameters, "ssl_disabled": True} if ca is None else {**parameters, "ssl_ca": ca}


class PyMySQL(MySQLPeer):
    """The driver as its README uses it."""

    def version(self) -> str:
        return f"PyMySQL {pymysql.__version__}"

    def open(self, address: Address, *, autocommit: bool = False) -> Any:
        return pymysql.connect(**with_options(address), autocommit=autocommit)
