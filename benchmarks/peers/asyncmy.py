"""asyncmy: the fastest asyncio driver for MySQL so far, in Cython; each of its ways to run a statement."""

from __future__ import annotations

import ssl
from collections.abc import Sequence
from importlib import metadata
from typing import Any, ClassVar

import asyncmy

from .base import Address, Row, Unsupported
from .mysql_base import MySQLAioPeer


class Asyncmy(MySQLAioPeer):
    """Text protocol, its default."""

    options: ClassVar[dict[str, Any]] = {}

    def version(self) -> str:
        extra = "".join(f", {name}={value}" for name, value in self.options.items())
        return f"asyncmy {metadata.version('asyncmy')}, {self.loop_name}{extra}"

    async def open_async(self, address: Address) -> Any:
        return await asyncmy.connect(**self._parameters(address), **self.options)

    async def make_pool(self, address: Address, size: int) -> Any:
        return await asyncmy.create_pool(
            minsize=size, maxsize=size, autocommit=True, **self._parameters(address), **self.options
        )

    _context: ssl.SSLContext | None = None

    def _parameters(self, address: Address) -> dict[str, Any]:
        parameters = dict(address)
        ca = parameters.pop("ca", None)
        if ca is not None:
            # Made once, as a careful user would.
            self._context = self._context or ssl.create_default_context(cafile=ca)
            parameters["ssl"] = self._context
        return parameters


class AsyncmyCached(Asyncmy):
    """Prepared statements through its statement cache, and MariaDB's bulk execution with it."""

    options: ClassVar[dict[str, Any]] = {"stmt_cache_size": 128}


class AsyncmyUvloop(Asyncmy):
    """Text protocol on uvloop."""

    uvloop = True


class AsyncmyCachedUvloop(AsyncmyCached):
    """Prepared statements through its statement cache, on uvloop."""

    uvloop = True


class AsyncmyPrepared(Asyncmy):
    """Statements that are prepared by hand; rows come with the result, `executemany` is `execute_bulk`."""

    mark = "?"

    def version(self) -> str:
        return f"{super().version()}, prepare()"

    async def select_async(self, sql: str, parameters: Sequence[Row]) -> list[list[Row]]:
        statement = await self.connection.prepare(sql)
        results = []
        for row in parameters:
            results.append((await statement.execute(row)).rows)
        await statement.close()
        return results

    async def write_async(self, sql: str, rows: Sequence[Row]) -> None:
        statement = await self.connection.prepare(sql)
        await statement.execute_bulk(rows)
        await statement.close()
        await self.connection.commit()

    def select_pooled(self, sql: str, parameters: Sequence[Row], width: int) -> list[list[Row]]:
        raise Unsupported("a pool's statements are prepared by stmt_cache_size")

    def select_connecting(self, sql: str, parameters: Sequence[Row], width: int) -> list[list[Row]]:
        raise Unsupported("a pool's statements are prepared by stmt_cache_size")


class AsyncmyPreparedUvloop(AsyncmyPrepared):
    """The same on uvloop."""

    uvloop = True
