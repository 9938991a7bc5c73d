"""asyncmy: the fastest asyncio driver for MySQL so far, in Cython."""

from __future__ import annotations

from importlib import metadata
from typing import Any, ClassVar

import asyncmy

from .base import Address, AsyncPeer


class Asyncmy(AsyncPeer):
    """Text protocol, its default."""

    options: ClassVar[dict[str, Any]] = {}

    def version(self) -> str:
        extra = "".join(f", {name}={value}" for name, value in self.options.items())
        return f"asyncmy {metadata.version('asyncmy')}, {self.loop_name}{extra}"

    async def connect_async(self, address: Address) -> None:
        self.connection = await asyncmy.connect(**address, **self.options)

    async def close_async(self) -> None:
        await self.connection.ensure_closed()


class AsyncmyCached(Asyncmy):
    """Prepared statements through its statement cache."""

    options: ClassVar[dict[str, Any]] = {"stmt_cache_size": 128}


class AsyncmyUvloop(Asyncmy):
    """Text protocol on uvloop."""

    uvloop = True
