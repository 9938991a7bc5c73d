"""informix-driver: pure Python SQLI, imported as `informix_db`."""

from __future__ import annotations

from importlib import metadata

import informix_db

from .base import Address, DbapiPeer


class InformixDriver(DbapiPeer):
    """The driver as its README uses it."""

    mark = "?"

    def version(self) -> str:
        return f"informix-driver {metadata.version('informix-driver')}"

    def connect(self, address: Address) -> None:
        self.connection = informix_db.connect(**address)
