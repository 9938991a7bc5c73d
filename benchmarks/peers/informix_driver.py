"""informix-driver: pure Python SQLI, imported as `informix_db`."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import metadata
from typing import Any

import informix_db
import informix_db.aio

from .base import Address, Row
from .informix_base import InformixAioPeer, InformixPeer


class InformixDriver(InformixPeer):
    """The driver as its README uses it."""

    module = informix_db

    def version(self) -> str:
        return f"informix-driver {metadata.version('informix-driver')}"


class InformixDriverAio(InformixAioPeer):
    """Its asyncio face: the blocking driver on a thread for each connection."""

    def version(self) -> str:
        return f"informix-driver {metadata.version('informix-driver')}, {self.loop_name} and threads"

    async def open_async(self, address: Address) -> Any:
        return await informix_db.aio.connect(**address)

    async def select_async(self, sql: str, parameters: Sequence[Row]) -> list[list[Row]]:
        # Its cursors are no context managers.
        results = []
        cursor = await self.connection.cursor()
        for row in parameters:
            await cursor.execute(sql, row)
            results.append(await cursor.fetchall())
        await cursor.close()
        return results
