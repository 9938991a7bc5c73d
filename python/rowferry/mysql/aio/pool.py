"""A pool of connections."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections import deque
from collections.abc import Awaitable
from types import TracebackType
from typing import Any

from ..._base.awaitable import Entering
from .. import err
from .connection import AsyncConnection, _make

__all__ = ["AsyncPool", "create_pool"]


class _Lent:
    """Who holds a connection, since when."""

    __slots__ = ("since", "task")

    def __init__(self) -> None:
        self.task = asyncio.current_task()
        self.since = time.monotonic()

    def __str__(self) -> str:
        name = self.task.get_name() if self.task is not None else "nobody known"
        return f"{name} for {time.monotonic() - self.since:.1f} s"


class AsyncPool:
    """Connections that are lent and given back. Made by `create_pool`.

    A connection that comes back with an open transaction is rolled back; a broken one is replaced. Who waits longest is
    served first.
    """

    def __init__(
        self,
        minsize: int,
        maxsize: int,
        pool_recycle: float,
        acquire_timeout: float | None,
        pre_ping: bool,
        reset_on_release: bool,
        connect_kwargs: dict[str, Any],
    ) -> None:
        if minsize < 0:
            raise ValueError("minsize must not be negative")
        if maxsize and maxsize < minsize:
            raise ValueError("maxsize must not be less than minsize")
        self._minsize = minsize
        self._maxsize = maxsize
        self._recycle = pool_recycle
        self._timeout = acquire_timeout
        self._pre_ping = pre_ping
        self._reset = reset_on_release
        self._connect_kwargs = connect_kwargs
        self._free: deque[AsyncConnection] = deque()
        self._lent: dict[AsyncConnection, _Lent] = {}
        self._born: dict[AsyncConnection, tuple[float, int]] = {}
        self._opening = 0
        self._waiters: deque[asyncio.Future[AsyncConnection | None]] = deque()
        self._cleaning: set[asyncio.Task[None]] = set()
        self._closing = False
        self._generation = 0
        self._emptied: asyncio.Future[None] | None = None

    # -- what is known -----------------------------------------------------------------------------------------------

    @property
    def minsize(self) -> int:
        """How many connections are opened at the start."""
        return self._minsize

    @property
    def maxsize(self) -> int | None:
        """The most connections at a time; None without limit."""
        return self._maxsize or None

    @property
    def size(self) -> int:
        """How many connections there are, the ones being opened included."""
        return len(self._free) + len(self._lent) + len(self._cleaning) + self._opening

    @property
    def freesize(self) -> int:
        """How many connections wait to be lent."""
        return len(self._free)

    @property
    def closed(self) -> bool:
        """True once `close` was called and all connections are gone."""
        return self._closing and self.size == 0

    # -- lending -----------------------------------------------------------------------------------------------------

    def acquire(self, *, timeout: float | None = None) -> Entering[AsyncConnection]:
        """Lend a connection: `await pool.acquire()`, or `async with pool.acquire() as connection`.

        Waits at most `timeout` seconds (by default the pool's own), then raises `PoolTimeout`, which tells who holds
        the connections. If the caller is cancelled while waiting, no connection is lent.
        """
        return Entering(self._acquire(self._timeout if timeout is None else timeout), self.release)

    async def _acquire(self, timeout: float | None) -> AsyncConnection:
        if self._closing:
            raise err.InterfaceError("the pool is closed")
        # Nobody overtakes those who wait.
        if not self._waiters:
            connection = self._take_free()
            if connection is not None and not self._pre_ping:
                self._lent[connection] = _Lent()
                return connection
            if connection is not None or self._has_room():
                return await self._lend(connection)
        deadline = None if timeout is None else time.monotonic() + timeout
        while True:
            connection = await self._wait(deadline, timeout)
            if connection is not None or self._has_room():
                return await self._lend(connection)

    def _has_room(self) -> bool:
        return not self._maxsize or self.size < self._maxsize

    def _take_free(self) -> AsyncConnection | None:
        while self._free:
            # The one used last is the least likely to have been dropped by the server.
            connection = self._free.pop()
            if self._is_fit(connection):
                return connection
            self._discard(connection)
        return None

    def _is_fit(self, connection: AsyncConnection) -> bool:
        born, generation = self._born[connection]
        too_old = self._recycle >= 0 and time.monotonic() - born > self._recycle
        return connection.open and not too_old and generation == self._generation

    def _discard(self, connection: AsyncConnection) -> None:
        self._born.pop(connection, None)
        connection._abort()

    async def _lend(self, connection: AsyncConnection | None) -> AsyncConnection:
        """Lend `connection`, or a new one; whatever fails, the place in the pool is given on."""
        self._opening += 1
        try:
            if connection is not None and self._pre_ping:
                try:
                    await connection.ping()
                except err.Error:
                    self._discard(connection)
                    connection = None
            if connection is None:
                connection = await self._open()
        except BaseException:
            self._opening -= 1
            if connection is not None:
                self._discard(connection)
            self._wake(None)
            raise
        self._opening -= 1
        self._lent[connection] = _Lent()
        return connection

    async def _open(self) -> AsyncConnection:
        connection = await _make(**self._connect_kwargs).connect()
        self._born[connection] = (time.monotonic(), self._generation)
        return connection

    async def _wait(self, deadline: float | None, timeout: float | None) -> AsyncConnection | None:
        waiter: asyncio.Future[AsyncConnection | None] = asyncio.get_running_loop().create_future()
        self._waiters.append(waiter)
        try:
            left = None if deadline is None else max(0.0, deadline - time.monotonic())
            done, _ = await asyncio.wait((waiter,), timeout=left)
        except BaseException:
            self._withdraw(waiter)
            raise
        if done:
            self._opening -= 1
            return waiter.result()
        self._withdraw(waiter)
        holders = sorted(self._lent.values(), key=lambda lent: lent.since)
        longest = f"; held longest by {', '.join(map(str, holders[:3]))}" if holders else ""
        message = f"no connection became free within {timeout} s: {len(holders)} of {self._maxsize} are lent{longest}"
        raise err.PoolTimeout(message)

    def _withdraw(self, waiter: asyncio.Future[AsyncConnection | None]) -> None:
        """Whoever waits goes away; what was handed to it at the same moment goes on to the next."""
        if waiter.done() and not waiter.cancelled():
            self._opening -= 1
            connection = None if waiter.exception() is not None else waiter.result()
            if connection is not None:
                self._give(connection)
            else:
                self._wake(None)
        else:
            with contextlib.suppress(ValueError):
                self._waiters.remove(waiter)
            waiter.cancel()

    def _wake(self, connection: AsyncConnection | None) -> bool:
        """Hand a connection, or a place for one, to whoever waits longest."""
        while self._waiters and (connection is not None or self._has_room()):
            waiter = self._waiters.popleft()
            if not waiter.done():
                # Keeps the place until the waiter's task runs.
                self._opening += 1
                waiter.set_result(connection)
                return True
        self._check_emptied()
        return False

    def _give(self, connection: AsyncConnection) -> None:
        if self._closing or not self._is_fit(connection):
            self._discard(connection)
            self._wake(None)
        elif not self._wake(connection):
            self._free.append(connection)

    def release(self, connection: AsyncConnection) -> Awaitable[None]:
        """Take a connection back. An open transaction is rolled back. Need not be awaited."""
        finished: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        if self._lent.pop(connection, None) is None:
            raise err.InterfaceError("the connection is not lent by this pool")
        clean = connection.open and not connection.wire.is_busy and not connection.wire.is_streaming
        if connection.open and (not clean or self._reset or connection.get_transaction_status()):
            task = asyncio.get_running_loop().create_task(self._clean(connection))
            self._cleaning.add(task)
            task.add_done_callback(self._cleaning.discard)
            task.add_done_callback(lambda _: self._check_emptied())
            return task
        self._give(connection)
        finished.set_result(None)
        return finished

    async def _clean(self, connection: AsyncConnection) -> None:
        try:
            if connection.wire.is_busy or connection.wire.is_streaming:
                await connection.give_up()
            if connection.open and connection.get_transaction_status():
                await connection.rollback()
            if connection.open and self._reset:
                await connection.reset()
        except err.Error:
            connection._abort()
        except BaseException:
            connection._abort()
            raise
        finally:
            current = asyncio.current_task()
            if current is not None:
                self._cleaning.discard(current)
            self._give(connection)

    # -- end ---------------------------------------------------------------------------------------------------------

    async def clear(self) -> None:
        """Close the connections that wait; those lent are replaced when they come back."""
        self._generation += 1
        while self._free:
            connection = self._free.popleft()
            self._born.pop(connection, None)
            await connection.ensure_closed()

    def close(self) -> None:
        """Lend nothing any more. Connections are closed as they come back; `wait_closed` waits for that."""
        self._closing = True
        while self._free:
            self._discard(self._free.popleft())
        while self._waiters:
            waiter = self._waiters.popleft()
            if not waiter.done():
                self._opening += 1
                waiter.set_exception(err.InterfaceError("the pool was closed"))

    def terminate(self) -> None:
        """Close, and cut the connections that are lent, too."""
        self.close()
        for connection in list(self._lent):
            self._discard(connection)
        self._lent.clear()
        self._check_emptied()

    def _check_emptied(self) -> None:
        if self._emptied is not None and self.size == 0 and not self._emptied.done():
            self._emptied.set_result(None)

    async def wait_closed(self) -> None:
        """Wait until every connection is back and closed. Call `close` first."""
        if not self._closing:
            raise RuntimeError("call close() before wait_closed()")
        while self.size:
            if self._emptied is None or self._emptied.done():
                self._emptied = asyncio.get_running_loop().create_future()
            await asyncio.shield(self._emptied)

    async def __aenter__(self) -> AsyncPool:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()
        await self.wait_closed()


async def _leave(pool: AsyncPool) -> None:
    pool.close()
    await pool.wait_closed()


def create_pool(
    minsize: int = 1,
    maxsize: int = 10,
    *,
    pool_recycle: float = -1,
    acquire_timeout: float | None = 30.0,
    pre_ping: bool = False,
    reset_on_release: bool = False,
    **kwargs: Any,
) -> Entering[AsyncPool]:
    """A pool: `await create_pool(...)`, or `async with create_pool(...) as pool`.

    `minsize` connections are opened now, at most `maxsize` later (0: no limit). A connection older than `pool_recycle`
    seconds is replaced before it is lent (-1: never). `acquire` waits `acquire_timeout` seconds (None: for ever).
    `pre_ping` asks the server before each lending; `reset_on_release` clears all session state at each return.
    Everything else goes to `connect`.
    """
    return Entering(
        _create(minsize, maxsize, pool_recycle, acquire_timeout, pre_ping, reset_on_release, kwargs), _leave
    )


async def _create(
    minsize: int,
    maxsize: int,
    pool_recycle: float,
    acquire_timeout: float | None,
    pre_ping: bool,
    reset_on_release: bool,
    kwargs: dict[str, Any],
) -> AsyncPool:
    pool = AsyncPool(minsize, maxsize, pool_recycle, acquire_timeout, pre_ping, reset_on_release, kwargs)
    try:
        for _ in range(minsize):
            pool._free.append(await pool._open())
    except BaseException:
        pool.terminate()
        raise
    return pool


Pool = AsyncPool
