"""rowferry.mysql, in both colours."""

from __future__ import annotations

from typing import Any, ClassVar

import rowferry.mysql
import rowferry.mysql.aio
from rowferry._core import __version__

from .base import Address, AsyncPeer, DbapiPeer


class RowferryMySQL(DbapiPeer):
    """The blocking driver, text protocol, its default."""

    options: ClassVar[dict[str, Any]] = {}

    def version(self) -> str:
        extra = "".join(f", {name}={value}" for name, value in self.options.items())
        return f"rowferry {__version__}{extra}"

    def connect(self, address: Address) -> None:
        self.connection = rowferry.mysql.connect(**address, **self.options)


class RowferryMySQLCached(RowferryMySQL):
    """Prepared statements through the statement cache."""

    options: ClassVar[dict[str, Any]] = {"stmt_cache_size": 128}


class RowferryMySQLAio(AsyncPeer):
    """The asyncio driver."""

    def version(self) -> str:
        return f"rowferry {__version__}, {self.loop_name}"

    async def connect_async(self, address: Address) -> None:
        self.connection = await rowferry.mysql.aio.connect(**address)

    async def close_async(self) -> None:
        await self.connection.ensure_closed()


class RowferryMySQLAioUvloop(RowferryMySQLAio):
    """The asyncio driver on uvloop."""

    uvloop = True
