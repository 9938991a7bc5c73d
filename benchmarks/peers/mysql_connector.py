"""MySQL Connector/Python with its C extension.

The extension brings an OpenSSL of its own, newer than Debian 12's, and cannot be loaded once Python's `ssl` has loaded
the system's; the harness starts its worker so that it comes first.
"""

from __future__ import annotations

from typing import Any

import mysql.connector

from .base import Address, Unsupported
from .mysql_base import MySQLPeer


class MySQLConnector(MySQLPeer):
    """The C extension; its pure Python code is never measured in its place."""

    def version(self) -> str:
        return f"mysql-connector-python {mysql.connector.__version__}, C extension"

    def open(self, address: Address, *, autocommit: bool = False) -> Any:
        if not mysql.connector.HAVE_CEXT:
            raise Unsupported("mysql-connector-python's C extension cannot be loaded")
        parameters = dict(address)
        ca = parameters.pop("ca", None)
        secrecy = {"ssl_disabled": True} if ca is None else {"ssl_ca": ca}
        connection = mysql.connector.connect(**parameters, **secrecy, use_pure=False, autocommit=autocommit)
        return connection
