"""rowferry.informix, in both colours."""

from __future__ import annotations

from typing import Any

import rowferry.informix
import rowferry.informix.aio
from rowferry._core import __version__

from .base import Address
from .informix_base import InformixAioPeer, InformixPeer


class RowferryInformix(InformixPeer):
    """The blocking driver."""

    module = rowferry.informix

    def version(self) -> str:
        return f"rowferry {__version__}"


class RowferryInformixAio(InformixAioPeer):
    """The asyncio driver."""

    def version(self) -> str:
        return f"rowferry {__version__}, {self.loop_name}"

    async def open_async(self, address: Address) -> Any:
        return await rowferry.informix.aio.connect(**address)


class RowferryInformixAioUvloop(RowferryInformixAio):
    """The asyncio driver on uvloop."""

    uvloop = True
