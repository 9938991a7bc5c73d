"""PyMySQL: pure Python."""

from __future__ import annotations

import pymysql

from .base import Address, DbapiPeer


class PyMySQL(DbapiPeer):
    """Without TLS, as every other peer here: it would try by default."""

    def version(self) -> str:
        return f"PyMySQL {pymysql.__version__}"

    def connect(self, address: Address) -> None:
        self.connection = pymysql.connect(**address, ssl_disabled=True)
