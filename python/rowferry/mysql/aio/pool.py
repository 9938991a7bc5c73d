"""A pool of connections."""

from __future__ import annotations

import asyncio
import contextlib
import sys
from collections.abc import Awaitable, Callable, Coroutine, Generator, Mapping
from contextlib import AbstractAsyncContextManager
from types import TracebackType
from typing import TYPE_CHECKING, Any

from ..._base.aio.pool import AsyncBasePool, PoolStatistics
from ..._base.awaitable import Entering
from ..._base.limits import Limit
from ..._base.options import refuse_unknown
from ..._core.mysql import AsyncWire
from .. import err
from .._checks import check_parameters
from .._settings import PARAMETERS
from .connection import AsyncConnection

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from .._options import PoolOptions

__all__ = ["AsyncConnectionPool", "PoolStatistics", "create_pool"]

#: Called with a connection; under asyncio it may answer something to await.
Hook = Callable[[AsyncConnection], Any]

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
        reset_on_release: bool,
        hooks: Mapping[str, Hook | None],
        **sizes: Any,
    ) -> None:
        super().__init__(**sizes)
        self._connect_kwargs = connect_kwargs
        self._reset = reset_on_release
        self._on_connect = hooks["on_connect"]
        self._on_acquire = hooks["on_acquire"]
        self._has_rites = self._on_acquire is not None
        self._on_release = hooks["on_release"]

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

    if True:  # ASYNC

        def acquire(self, *, timeout: float | None = None) -> _Loan:
            """Lend a connection: `await pool.acquire()`, or `async with pool.acquire() as connection`.

            Waits at most `timeout` seconds (by default the pool's own), then raises `PoolTimeout`, which tells who
            holds the connections. If the caller is cancelled, at any moment, none is lent.
            """
            return _Loan(self, self._timeout if timeout is None else timeout)

        def release(  # type: ignore[override]
            self, connection: AsyncConnection, *, broken: bool = False
        ) -> Awaitable[None]:
            """Take a connection back. Need not be awaited: what has to be cleaned up is done in the background then."""
            loop = self._loop or asyncio.get_running_loop()
            if not broken and self._give_back_now(connection):
                done = loop.create_future()
                done.set_result(None)
                return done
            taking = self._take_back(connection, broken=broken)
            if broken or (self._on_release is None and self._is_clean(connection)):
                # Ends without waiting for anything.
                with contextlib.suppress(StopIteration):
                    taking.send(None)
                done = loop.create_future()
                done.set_result(None)
                return done
            return loop.create_task(taking)

        def _take_back(self, connection: AsyncConnection, *, broken: bool = False) -> Coroutine[Any, Any, None]:
            return super().release(connection, broken=broken)

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

    @property
    def echo(self) -> bool:
        """True when statements of the connections are logged."""
        return bool(self._connect_kwargs.get("echo", False))

    # -- what the logic of pools asks for ----------------------------------------------------------------------------

    async def _connect(self) -> AsyncConnection:
        connection = await AsyncConnection(defer_connect=True, **self._connect_kwargs).connect()
        if self._on_connect is not None:
            try:
                await _call(self._on_connect, connection)
            except BaseException:
                connection._abort()
                raise
        return connection

    def _is_open(self, connection: AsyncConnection) -> bool:
        wire = connection._wire
        return wire is not None and wire.is_quiet and not connection.misplaced

    def _is_clean(self, connection: AsyncConnection) -> bool:
        """True when nothing is left of the last use."""
        wire = connection._wire
        return wire is None or not wire.is_open or (wire.is_clean and not self._reset)

    async def _before_lending(self, connection: AsyncConnection) -> None:
        if self._on_acquire is not None:
            await _call(self._on_acquire, connection)

    if True:  # ASYNC

        def _is_spotless(self, connection: AsyncConnection) -> bool:
            wire = connection._wire
            return (
                wire is not None
                and wire.is_clean
                and not self._reset
                and self._on_release is None
                and not connection.misplaced
            )

    async def _check(self, connection: AsyncConnection) -> None:
        if True:  # ASYNC
            try:
                async with Limit(CARE_LIMIT):
                    await connection.ping()
            except asyncio.TimeoutError:
                raise err.OperationalError(f"no answer within {CARE_LIMIT:g} s") from None
        else:
            connection.ping()

    async def _clean(self, connection: AsyncConnection) -> None:
        if self._on_release is None and self._is_clean(connection):
            return
        if True:  # ASYNC
            try:
                async with Limit(CARE_LIMIT):
                    await self._tidy(connection)
            except asyncio.TimeoutError:
                raise err.OperationalError(f"not clean within {CARE_LIMIT:g} s") from None
        else:
            self._tidy(connection)

    async def _tidy(self, connection: AsyncConnection) -> None:
        if _is_amid(connection.wire):
            await connection.give_up()
        if connection.open and self._on_release is not None:
            try:
                await _call(self._on_release, connection)
            except Exception as error:
                raise err.OperationalError(f"on_release failed: {error!r}") from error
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

    if True:  # ASYNC

        async def clear(self) -> None:  # type: ignore[override]
            """Close the connections that wait; those lent are replaced when they come back."""
            super().clear()
            await asyncio.sleep(0)

        def close(self) -> None:  # type: ignore[override]
            """Lend nothing any more. Connections are closed as they come back; `wait_closed` waits for that."""
            # Also while the loop does not run, as aiomysql's users do it.
            with contextlib.suppress(RuntimeError):
                asyncio.get_running_loop()
                self._enter()
            self._shut()

        def terminate(self) -> None:  # type: ignore[override]
            """Close, and cut the connections that are lent, too."""
            self.close()
            for connection in list(self._lent):
                self._cut(connection)
                # Ends without waiting for anything.
                with contextlib.suppress(err.InterfaceError, StopIteration):
                    self._take_back(connection, broken=True).send(None)
                self._severed.add(connection)

        async def __aenter__(self) -> AsyncConnectionPool:
            return self

        async def __aexit__(
            self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
        ) -> None:
            await (_leave(self) if kind is None else _abandon(self))

    else:

        def __enter__(self) -> AsyncConnectionPool:
            return self

        def __exit__(
            self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
        ) -> None:
            self.close()


def _is_amid(wire: AsyncWire) -> bool:
    """True while an answer, or the rest of one, is on the wire."""
    if True:  # ASYNC
        return wire.is_busy or wire.is_streaming
    else:
        return wire.is_streaming


if True:  # ASYNC

    class _Loan(Coroutine[Any, Any, AsyncConnection]):
        """A connection, when it is awaited; or for a block."""

        __slots__ = ("_connection", "_coroutine", "_pool", "_timeout")

        _connection: AsyncConnection | None
        _coroutine: Coroutine[Any, Any, AsyncConnection]

        def __init__(self, pool: AsyncConnectionPool, timeout: float | None) -> None:
            self._pool = pool
            self._timeout = timeout

        def __await__(self) -> Generator[Any, Any, AsyncConnection]:
            connection = self._pool._take_now()
            if connection is None:
                connection = yield from self._pool._acquire(self._timeout).__await__()
            return connection

        async def __aenter__(self) -> AsyncConnection:
            connection = self._pool._take_now()
            if connection is None:
                connection = await self._pool._acquire(self._timeout)
            self._connection = connection
            return connection

        async def __aexit__(
            self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
        ) -> None:
            connection, self._connection = self._connection, None
            if connection is not None and not self._pool._give_back_now(connection):
                await self._pool._take_back(connection)

        # As a coroutine, for `create_task` and the like.

        def _itself(self) -> Coroutine[Any, Any, AsyncConnection]:
            try:
                return self._coroutine
            except AttributeError:
                self._coroutine = self._pool._acquire(self._timeout)
                return self._coroutine

        def send(self, value: Any) -> Any:
            return self._itself().send(value)

        def throw(self, *args: Any) -> Any:
            return self._itself().throw(*args)

        def close(self) -> None:
            self._itself().close()

    async def _call(hook: Hook, connection: AsyncConnection) -> None:
        answer = hook(connection)
        if answer is not None:
            await answer

else:

    class _Loan(AbstractAsyncContextManager[AsyncConnection]):  # type: ignore[no-redef]
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

    def _call(hook: Hook, connection: AsyncConnection) -> None:
        hook(connection)


#: What `create_pool` takes and `connect` does not.
_OF_POOL = (
    *("minsize", "maxsize", "pool_recycle", "acquire_timeout", "idle_timeout", "pre_ping", "reset_on_release"),
    *("on_connect", "on_acquire", "on_release"),
)


def _pool(
    minsize: int,
    maxsize: int | None,
    *,
    pool_recycle: float = -1,
    acquire_timeout: float | None = 30.0,
    idle_timeout: float | None = None,
    pre_ping: bool | float = False,
    reset_on_release: bool = False,
    on_connect: Hook | None = None,
    on_acquire: Hook | None = None,
    on_release: Hook | None = None,
    **kwargs: Any,
) -> AsyncConnectionPool:
    # The pool itself refuses impossible sizes, with a ValueError as its peers do.
    sizes = {"minsize", "maxsize"} if isinstance(minsize, int) else {"maxsize"}
    check_parameters({name: value for name, value in locals().items() if name not in sizes})
    refuse_unknown("create_pool", kwargs, PARAMETERS.union(_OF_POOL))
    if maxsize == 0:
        raise ValueError("maxsize=0 is refused: a pool without limit is maxsize=None")
    return AsyncConnectionPool(
        kwargs,
        reset_on_release,
        {"on_connect": on_connect, "on_acquire": on_acquire, "on_release": on_release},
        min_size=minsize,
        max_size=sys.maxsize if maxsize is None else maxsize,
        acquire_timeout=acquire_timeout,
        max_lifetime=None if pool_recycle < 0 else pool_recycle,
        idle_timeout=idle_timeout,
        check_after=None if pre_ping is False else 0.0 if pre_ping is True else pre_ping,
    )


if True:  # ASYNC

    async def _leave(pool: AsyncConnectionPool) -> None:
        pool.close()
        try:
            await pool.wait_closed(pool._timeout)
        except BaseException:
            pool.terminate()
            raise

    async def _abandon(pool: AsyncConnectionPool) -> None:
        # Whoever failed with connections in hand will not give them back.
        pool.terminate()
        await asyncio.sleep(0)

    def create_pool(
        minsize: int = 1, maxsize: int | None = 10, **kwargs: Unpack[PoolOptions]
    ) -> Entering[AsyncConnectionPool]:
        """A pool: `await create_pool(...)`, or `async with create_pool(...) as pool`.

        The parameters are those of `rowferry.mysql.create_pool`; hooks may be coroutine functions. The end of the block
        waits for connections that are lent, as long as `acquire` does, and then raises `PoolTimeout`.
        """
        return Entering(_create(minsize, maxsize, kwargs), _leave, _abandon)

    async def _create(minsize: int, maxsize: int | None, kwargs: PoolOptions) -> AsyncConnectionPool:
        pool = _pool(minsize, maxsize, **kwargs)
        await pool._open_first()
        return pool

else:

    def create_pool(minsize: int = 1, maxsize: int | None = 10, **kwargs: Unpack[PoolOptions]) -> AsyncConnectionPool:
        """A pool of connections, for threads. Everything that is not listed here goes to `connect`.

        `minsize`: connections opened now; by default 1. `maxsize`: the most at a time; by default 10, None: any.
        `acquire_timeout`: seconds to wait for a connection to become free; by default 30, None waits for ever.
        `pool_recycle`: a connection older than so many seconds, or somewhat younger, is replaced; by default -1, never.
        `idle_timeout`: seconds after which an idle connection beyond `minsize` is closed; by default None, never.
        `pre_ping`: ask the server before each lending; a number asks only after so many idle seconds. By default off: a
        connection whose end the kernel has seen is replaced in any case, without asking.
        `reset_on_release`: clear all session state at each return (COM_RESET_CONNECTION); by default only an open
        transaction is rolled back.
        `on_connect`: called with each new connection; `on_acquire`: with each that is about to be lent; `on_release`:
        with each that comes back, before it is rolled back or reset. An error of the first two goes to whoever wanted
        the connection, one of the last costs the connection.
        """
        pool = _pool(minsize, maxsize, **kwargs)
        pool._open_first()
        return pool


# The name that aiomysql and asyncmy give the class.
if True:  # ASYNC
    Pool = AsyncConnectionPool
