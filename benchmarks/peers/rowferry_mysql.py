"""rowferry.mysql, in both colours."""

from __future__ import annotations

from importlib import metadata

import rowferry.mysql
import rowferry.mysql.aio

from .base import Address, AsyncPeer, DbapiPeer


class RowferryMySQL(DbapiPeer):
    """The blocking driver."""

    def version(self) -> str:
        return f"rowferry {metadata.version('rowferry')}"

    def connect(self, address: Address) -> None:
        self.connection = rowferry.mysql.connect(**address)


class RowferryMySQLAio(AsyncPeer):
    """The asyncio driver."""

    def version(self) -> str:
        return f"rowferry {metadata.version('rowferry')}, {self.loop_name}"

    async def connect_async(self, address: Address) -> None:
        self.connection = await rowferry.mysql.aio.connect(**address)

    async def close_async(self) -> None:
        await self.connection.close()


class RowferryMySQLAioUvloop(RowferryMySQLAio):
    """The asyncio driver on uvloop."""

    uvloop = True
