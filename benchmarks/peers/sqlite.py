"""Python's own sqlite3 module on the same file: no wire, no server, the floor for every door."""

from __future__ import annotations

import sqlite3
from datetime import datetime
from decimal import Decimal

from .base import Address, AutocommitPeer


class Sqlite(AutocommitPeer):
    """In-process. Dates stay text and numerics floating point here, so it also makes cheaper objects than a driver."""

    mark = "?"

    def version(self) -> str:
        return f"sqlite3 {sqlite3.sqlite_version}, in-process"

    def connect(self, address: Address) -> None:
        # As design decision D6 stores them.
        sqlite3.register_adapter(Decimal, float)
        sqlite3.register_adapter(datetime, lambda moment: moment.isoformat(" "))
        self.connection = sqlite3.connect(address["path"], isolation_level=None)
