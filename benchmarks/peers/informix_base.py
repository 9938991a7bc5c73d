"""What the blocking and the asyncio drivers for Informix have in common: both have the API of `informix_db`."""

from __future__ import annotations

import abc
import asyncio
from collections.abc import Sequence
from types import ModuleType
from typing import Any

from .base import Address, AsyncPeer, DbapiPeer, Row, Unsupported


class InformixPeer(DbapiPeer):
    """A blocking driver for Informix; subclasses name its module."""

    mark = "?"
    module: ModuleType
    _pool: Any = None

    def connect(self, address: Address) -> None:
        self.connection = self.module.connect(**address)
        self._autocommit: Any = None
        self._address = address

    def close(self) -> None:
        for opened in (self._pool, self._autocommit, self.connection):
            if opened is not None:
                opened.close()

    def write_autocommit(self, sql: str, rows: Sequence[Row]) -> None:
        if self._autocommit is None:
            self._autocommit = self.module.connect(**self._address, autocommit=True)
        cursor = self._autocommit.cursor()
        cursor.executemany(sql, rows)
        cursor.close()

    def connect_each(self, address: Address, count: int) -> None:
        for _ in range(count):
            self.module.connect(**address).close()

    def acquire_each(self, address: Address, count: int) -> None:
        if not hasattr(self.module, "create_pool"):
            raise Unsupported("the driver has no pool")
        if self._pool is None:
            self._pool = self.module.create_pool(**address, min_size=1, max_size=1)
        pool = self._pool
        for _ in range(count):
            pool.release(pool.acquire())

    def select_arrow(self, sql: str, parameters: Sequence[Row]) -> list[Any]:
        import pyarrow

        tables = []
        cursor = self.connection.cursor()
        for row in parameters:
            cursor.execute(sql, row)
            if hasattr(cursor, "fetch_arrow_table"):
                table = cursor.fetch_arrow_table()
                tables.append(table if isinstance(table, pyarrow.Table) else pyarrow.table(table))
            else:
                # What users of a driver without Arrow do.
                names = [column[0] for column in cursor.description]
                columns = zip(*cursor.fetchall(), strict=True)
                tables.append(pyarrow.table(dict(zip(names, map(list, columns), strict=True))))
        cursor.close()
        return tables


class InformixAioPeer(AsyncPeer, abc.ABC):
    """An asyncio driver for Informix; subclasses say how to connect and how to get a cursor."""

    mark = "?"
    _connections: tuple[Any, ...] = ()

    @abc.abstractmethod
    async def open_async(self, address: Address) -> Any:
        """A new connection."""

    async def connect_async(self, address: Address) -> None:
        self.connection = await self.open_async(address)
        self._address = address

    async def close_async(self) -> None:
        for connection in (*self._connections, self.connection):
            await connection.close()

    def connect_each(self, address: Address, count: int) -> None:
        async def run() -> None:
            for _ in range(count):
                await (await self.open_async(address)).close()

        self._runner.run(run())

    def select_concurrently(self, sql: str, parameters: Sequence[Row], width: int) -> list[list[Row]]:
        return self._runner.run(self._select_concurrently(sql, parameters, width))

    async def _select_concurrently(self, sql: str, parameters: Sequence[Row], width: int) -> list[list[Row]]:
        if len(self._connections) < width:
            self._connections = tuple([await self.open_async(self._address) for _ in range(width)])
        results: list[list[Row]] = [[] for _ in parameters]
        work = iter(enumerate(parameters))

        async def consume(connection: Any) -> None:
            cursor = await connection.cursor()
            for at, row in work:
                await cursor.execute(sql, row)
                results[at] = await cursor.fetchall()
            await cursor.close()

        await asyncio.gather(*map(consume, self._connections[:width]))
        return results
