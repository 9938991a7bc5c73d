"""Python's own sqlite3 module on the same file: no wire, no server, the floor for every door."""

from __future__ import annotations

import sqlite3

from .base import Address, DbapiPeer


class Sqlite(DbapiPeer):
    """In-process. Dates stay text and numerics floating point here, so it also makes cheaper objects than a driver."""

    mark = "?"

    def version(self) -> str:
        return f"sqlite3 {sqlite3.sqlite_version}, in-process"

    def connect(self, address: Address) -> None:
        self.connection = sqlite3.connect(address["path"], isolation_level=None)
