"""A pool of connections."""

from __future__ import annotations

import asyncio
import contextlib
import sys
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from types import TracebackType
from typing import Any

from ..._base.aio.pool import AsyncBasePool, PoolStatistics
from ..._base.awaitable import Entering
from ..._core.mysql import AsyncWire
from .. import err
from .connection import AsyncConnection, _make

__all__ = ["AsyncConnectionPool", "PoolStatistics", "create_pool"]

ASYNC = True

#: A connection that is asked whether it is there, or cleaned, gets this long, in seconds.
CARE_LIMIT = 10.0


class AsyncConnectionPool(AsyncBasePool[AsyncConnection]):
    """Connections that are lent and given back. Made by `create_pool`, which explains the parameters.

    A connection that comes back with an open transaction is rolled back, one with rows on the wire is drained, a broken
    one is replaced. Whoever waits longest is served first.
    """

    def __init__(
        self,
        connect_kwargs: dict[str, Any],
        on_connect: Callable[[AsyncConnection], Any] | None,
        reset_on_release: bool,
        **sizes: Any,
    ) -> None:
        super().__init__(**sizes)
        self._connect_kwargs = connect_kwargs
        self._on_connect = on_connect
        self._reset = reset_on_release

    # -- what is known -----------------------------------------------------------------------------------------------

    @property
    def minsize(self) -> int:
        """How many connections are opened at the start."""
        return self._min_size

    @property
    def maxsize(self) -> int | None:
        """The most connections at a time; None without limit."""
        return None if self._max_size == sys.maxsize else self._max_size

    @property
    def freesize(self) -> int:
        """How many connections wait to be lent."""
        return self.idle_count

    # -- lending -----------------------------------------------------------------------------------------------------

    if ASYNC:

        def acquire(self, *, timeout: float | None = None) -> Entering[AsyncConnection]:
            """Lend a connection: `await pool.acquire()`, or `async with pool.acquire() as connection`.

            Waits at most `timeout` seconds (by default the pool's own), then raises `PoolTimeout`, which tells who
            holds the connections. If the caller is cancelled, at any moment, none is lent.
            """
            return Entering(self._acquire(self._timeout if timeout is None else timeout), self.release)

        def release(  # type: ignore[override]
            self, connection: AsyncConnection, *, broken: bool = False
        ) -> Awaitable[None]:
            """Take a connection back. Need not be awaited: what has to be cleaned up is done in the background then."""
            taking = super().release(connection, broken=broken)
            if broken or self._is_clean(connection):
                # Ends without waiting for anything.
                with contextlib.suppress(StopIteration):
                    taking.send(None)
                done = asyncio.get_running_loop().create_future()
                done.set_result(None)
                return done
            return asyncio.get_running_loop().create_task(taking)

    else:

        def acquire(self, *, timeout: float | None = None) -> AsyncConnection:
            """Lend a connection, until `release`.

            Waits at most `timeout` seconds (by default the pool's own), then raises `PoolTimeout`, which tells who
            holds the connections.
            """
            return self._acquire(self._timeout if timeout is None else timeout)

    def connection(self, *, timeout: float | None = None) -> AbstractAsyncContextManager[AsyncConnection]:
        """`async with pool.connection() as connection` lends a connection for the block.

        What the block has not committed is rolled back at its end.
        """
        return _Loan(self, self._timeout if timeout is None else timeout)

    # -- what the logic of pools asks for ----------------------------------------------------------------------------

    async def _connect(self) -> AsyncConnection:
        connection = await _make(**self._connect_kwargs).connect()
        if self._on_connect is not None:
            try:
                if ASYNC:
                    answer = self._on_connect(connection)
                    if answer is not None:
                        await answer
                else:
                    self._on_connect(connection)
            except BaseException:
                connection._abort()
                raise
        return connection

    def _is_open(self, connection: AsyncConnection) -> bool:
        return connection.open

    def _is_clean(self, connection: AsyncConnection) -> bool:
        """True when nothing is left of the last use."""
        if not connection.open:
            return True
        return not (self._reset or _is_amid(connection.wire) or connection.get_transaction_status())

    async def _check(self, connection: AsyncConnection) -> None:
        if ASYNC:
            try:
                await asyncio.wait_for(connection.ping(), CARE_LIMIT)
            except asyncio.TimeoutError:
                raise err.OperationalError(f"no answer within {CARE_LIMIT:g} s") from None
        else:
            connection.ping()

    async def _clean(self, connection: AsyncConnection) -> None:
        if self._is_clean(connection):
            return
        if ASYNC:
            try:
                await asyncio.wait_for(self._tidy(connection), CARE_LIMIT)
            except asyncio.TimeoutError:
                raise err.OperationalError(f"not clean within {CARE_LIMIT:g} s") from None
        else:
            self._tidy(connection)

    async def _tidy(self, connection: AsyncConnection) -> None:
        if _is_amid(connection.wire):
            await connection.give_up()
        if connection.open and self._reset:
            await connection.reset()
        elif connection.open and connection.get_transaction_status():
            await connection.rollback()

    def _part(self, connection: AsyncConnection) -> None:
        wire, connection._wire = connection._wire, None
        if wire is not None:
            if _is_amid(wire):
                wire.abort()
            else:
                with contextlib.suppress(err.Error):
                    # Said without waiting for it.
                    wire.quit()

    def _cut(self, connection: AsyncConnection) -> None:
        connection._abort()

    # -- end ---------------------------------------------------------------------------------------------------------

    if ASYNC:

        async def clear(self) -> None:  # type: ignore[override]
            """Close the connections that wait; those lent are replaced when they come back."""
            super().clear()
            await asyncio.sleep(0)

        def close(self) -> None:  # type: ignore[override]
            """Lend nothing any more. Connections are closed as they come back; `wait_closed` waits for that."""
            self._enter()
            self._shut()

        def terminate(self) -> None:  # type: ignore[override]
            """Close, and cut the connections that are lent, too."""
            self.close()
            for connection in list(self._lent):
                self._cut(connection)
                with contextlib.suppress(err.InterfaceError):
                    self.release(connection, broken=True)

        async def __aenter__(self) -> AsyncConnectionPool:
            return self

        async def __aexit__(
            self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
        ) -> None:
            await _leave(self)

    else:

        def __enter__(self) -> AsyncConnectionPool:
            return self

        def __exit__(
            self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
        ) -> None:
            self.close()


def _is_amid(wire: AsyncWire) -> bool:
    """True while an answer, or the rest of one, is on the wire."""
    if ASYNC:
        return wire.is_busy or wire.is_streaming
    else:
        return wire.is_streaming


class _Loan(AbstractAsyncContextManager[AsyncConnection]):
    """A connection for a block."""

    __slots__ = ("_connection", "_pool", "_timeout")

    def __init__(self, pool: AsyncConnectionPool, timeout: float | None) -> None:
        self._pool = pool
        self._timeout = timeout
        self._connection: AsyncConnection | None = None

    async def __aenter__(self) -> AsyncConnection:
        self._connection = await self._pool._acquire(self._timeout)
        return self._connection

    async def __aexit__(
        self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
    ) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            await self._pool.release(connection)


def _pool(
    minsize: int,
    maxsize: int,
    *,
    pool_recycle: float = -1,
    acquire_timeout: float | None = 30.0,
    idle_timeout: float | None = None,
    pre_ping: bool | float = False,
    reset_on_release: bool = False,
    on_connect: Callable[[AsyncConnection], Any] | None = None,
    **kwargs: Any,
) -> AsyncConnectionPool:
    return AsyncConnectionPool(
        kwargs,
        on_connect,
        reset_on_release,
        min_size=minsize,
        max_size=maxsize or sys.maxsize,
        acquire_timeout=acquire_timeout,
        max_lifetime=None if pool_recycle < 0 else pool_recycle,
        idle_timeout=idle_timeout,
        check_after=None if pre_ping is False else 0.0 if pre_ping is True else pre_ping,
    )


if ASYNC:

    async def _leave(pool: AsyncConnectionPool) -> None:
        pool.close()
        await pool.wait_closed()

    def create_pool(minsize: int = 1, maxsize: int = 10, **kwargs: Any) -> Entering[AsyncConnectionPool]:
        """A pool: `await create_pool(...)`, or `async with create_pool(...) as pool`.

        The parameters are those of `rowferry.mysql.create_pool`; `on_connect` may be a coroutine function.
        """
        return Entering(_create(minsize, maxsize, kwargs), _leave)

    async def _create(minsize: int, maxsize: int, kwargs: dict[str, Any]) -> AsyncConnectionPool:
        pool = _pool(minsize, maxsize, **kwargs)
        await pool._open_first()
        return pool

else:

    def create_pool(minsize: int = 1, maxsize: int = 10, **kwargs: Any) -> AsyncConnectionPool:
        """A pool of connections, for threads. Everything that is not listed here goes to `connect`.

        `minsize`: connections opened now; by default 1. `maxsize`: the most at a time; by default 10, 0 without limit.
        `acquire_timeout`: seconds to wait for a connection to become free; by default 30, None waits for ever.
        `pool_recycle`: a connection older than so many seconds, or somewhat younger, is replaced; by default -1, never.
        `idle_timeout`: seconds after which an idle connection beyond `minsize` is closed; by default None, never.
        `pre_ping`: ask the server before each lending; a number asks only after so many idle seconds. By default off.
        `reset_on_release`: clear all session state at each return (COM_RESET_CONNECTION); by default only an open
        transaction is rolled back.
        `on_connect`: called with each new connection.
        """
        pool = _pool(minsize, maxsize, **kwargs)
        pool._open_first()
        return pool
