"""What the blocking and the asyncio drivers for MySQL have in common.

A target's address is `user`, `password`, `database` and either `host` and `port` or `unix_socket`; with `ca` (a PEM
file) the connection is to be encrypted, without it nobody uses TLS, whatever the driver's default is.
"""

from __future__ import annotations

import abc
import asyncio
import queue
from collections.abc import AsyncIterator, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from typing import Any

from .base import Address, AsyncPeer, DbapiPeer, Peer, Row


class MySQLPeer(DbapiPeer):
    """A blocking driver; subclasses say how to connect."""

    _address: Address
    _pool: Any = None

    @abc.abstractmethod
    def open(self, address: Address, *, autocommit: bool = False) -> Any:
        """A new connection."""

    def connect(self, address: Address) -> None:
        self._address = address
        self.connection = self.open(address)

    def connect_each(self, address: Address, count: int) -> None:
        for _ in range(count):
            self.open(address).close()

    def make_pool(self, address: Address, size: int) -> Any:
        """A pool of `size` open connections in autocommit mode."""
        pool: queue.SimpleQueue[Any] = queue.SimpleQueue()
        for _ in range(size):
            pool.put(self.open(address, autocommit=True))
        return pool

    @contextmanager
    def lent(self, pool: Any) -> Iterator[Any]:
        """A connection of the pool."""
        connection = pool.get()
        try:
            yield connection
        finally:
            pool.put(connection)

    def close_pool(self, pool: Any) -> None:
        """Close all its connections."""
        while not pool.empty():
            pool.get().close()

    def select_pooled(self, sql: str, parameters: Sequence[Row], width: int) -> list[list[Row]]:
        """In a thread for each connection."""
        if self._pool is None:
            self._pool = self.make_pool(self._address, width)
            self._threads = ThreadPoolExecutor(width)
        return self._select_in_threads(self._pool, self._threads, sql, parameters)

    def select_connecting(self, sql: str, parameters: Sequence[Row], width: int) -> list[list[Row]]:
        with ThreadPoolExecutor(width) as threads:
            pool: queue.SimpleQueue[Any] = queue.SimpleQueue()
            for connection in threads.map(lambda _: self.open(self._address, autocommit=True), range(width)):
                pool.put(connection)
            try:
                return self._select_in_threads(pool, threads, sql, parameters, MySQLPeer)
            finally:
                MySQLPeer.close_pool(self, pool)

    def _select_in_threads(
        self,
        pool: Any,
        threads: ThreadPoolExecutor,
        sql: str,
        parameters: Sequence[Row],
        lender: type[MySQLPeer] | None = None,
    ) -> list[list[Row]]:
        lent = self.lent if lender is None else lambda pool: lender.lent(self, pool)

        def one(row: Row) -> list[Row]:
            with lent(pool) as connection:
                cursor = connection.cursor()
                cursor.execute(sql, row)
                rows: list[Row] = cursor.fetchall()
                cursor.close()
                return rows

        return list(threads.map(one, parameters))

    def select_arrow(self, sql: str, parameters: Sequence[Row]) -> list[Any]:
        import pyarrow

        tables = []
        cursor = self.connection.cursor()
        for row in parameters:
            cursor.execute(sql, row)
            # What users of a driver without Arrow do.
            names = [column[0] for column in cursor.description]
            columns = zip(*cursor.fetchall(), strict=True)
            tables.append(pyarrow.table(dict(zip(names, map(list, columns), strict=True))))
        cursor.close()
        return tables

    def close(self) -> None:
        if self._pool is not None:
            self._threads.shutdown()
            self.close_pool(self._pool)
        self.connection.close()


class MySQLAioPeer(AsyncPeer):
    """An asyncio driver with the API of aiomysql; subclasses say how to connect and how to make a pool."""

    _address: Address
    _pool: Any = None

    @abc.abstractmethod
    async def open_async(self, address: Address) -> Any:
        """A new connection."""

    @abc.abstractmethod
    async def make_pool(self, address: Address, size: int) -> Any:
        """A pool of `size` open connections in autocommit mode."""

    async def connect_async(self, address: Address) -> None:
        self._address = address
        self.connection = await self.open_async(address)

    async def close_async(self) -> None:
        if self._pool is not None:
            self._pool.close()
            await self._pool.wait_closed()
        await self.connection.ensure_closed()

    def connect_each(self, address: Address, count: int) -> None:
        async def run() -> None:
            for _ in range(count):
                await (await self.open_async(address)).ensure_closed()

        self._runner.run(run())

    def select_pooled(self, sql: str, parameters: Sequence[Row], width: int) -> list[list[Row]]:
        """A task for each parameter tuple, all at once."""

        async def run() -> list[list[Row]]:
            if self._pool is None:
                self._pool = await self.make_pool(self._address, width)
            return await self._gather(self._pool, sql, parameters)

        return self._runner.run(run())

    def select_connecting(self, sql: str, parameters: Sequence[Row], width: int) -> list[list[Row]]:
        async def run() -> list[list[Row]]:
            async with AsyncExitStack() as stack:
                pool = await stack.enter_async_context(self._opened_pool(width))
                return await self._gather(pool, sql, parameters)

        return self._runner.run(run())

    @asynccontextmanager
    async def _opened_pool(self, width: int) -> AsyncIterator[Any]:
        pool = await self.make_pool(self._address, width)
        try:
            yield pool
        finally:
            pool.close()
            await pool.wait_closed()

    async def _gather(self, pool: Any, sql: str, parameters: Sequence[Row]) -> list[list[Row]]:
        async def one(row: Row) -> list[Row]:
            async with pool.acquire() as connection, connection.cursor() as cursor:
                await cursor.execute(sql, row)
                rows: list[Row] = await cursor.fetchall()
                return rows

        return await asyncio.gather(*map(one, parameters))


class Drain(Peer):
    """No driver: it sends what a driver sends and only empties the socket. The floor for whoever makes objects."""

    brings_rows = False
