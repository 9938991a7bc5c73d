"""rowferry.informix, in both colours."""

from __future__ import annotations

import rowferry.informix
import rowferry.informix.aio
from rowferry._core import __version__

from .base import Address, AsyncPeer, DbapiPeer


class RowferryInformix(DbapiPeer):
    """The blocking driver."""

    mark = "?"

    def version(self) -> str:
        return f"rowferry {__version__}"

    def connect(self, address: Address) -> None:
        self.connection = rowferry.informix.connect(**address)


class RowferryInformixAio(AsyncPeer):
    """The asyncio driver."""

    mark = "?"

    def version(self) -> str:
        return f"rowferry {__version__}, {self.loop_name}"

    async def connect_async(self, address: Address) -> None:
        self.connection = await rowferry.informix.aio.connect(**address)

    async def close_async(self) -> None:
        await self.connection.close()
