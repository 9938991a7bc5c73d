# Made from python/rowferry/mysql/aio/pool.py by tools/async_to_sync.py: change that file instead.
"""A pool of connections."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from types import TracebackType
from typing import TYPE_CHECKING, Any

from .._base.options import refuse_unknown
from .._base.pool import BasePool, PoolStatistics
from .._core.mysql import Wire
from . import err
from ._checks import check_parameters
from ._settings import PARAMETERS
from .connections import Connection

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._options import PoolOptions

__all__ = ["ConnectionPool", "PoolStatistics", "create_pool"]

#: Called with a connection; under asyncio it may answer something to await.
Hook = Callable[[Connection], Any]

#: A connection that is asked whether it is there, or cleaned, gets this long, in seconds.
CARE_LIMIT = 10.0


class ConnectionPool(BasePool[Connection]):
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

    def acquire(self, *, timeout: float | None = None) -> Connection:
        """Lend a connection, until `release`.

        Waits at most `timeout` seconds (by default the pool's own), then raises `PoolTimeout`, which tells who
        holds the connections.
        """
        return self._acquire(self._timeout if timeout is None else timeout)

    def connection(self, *, timeout: float | None = None) -> AbstractContextManager[Connection]:
        """`with pool.connection() as connection` lends a connection for the block.

        What the block has not committed is rolled back at its end.
        """
        return _Loan(self, self._timeout if timeout is None else timeout)

    @property
    def echo(self) -> bool:
        """True when statements of the connections are logged."""
        return bool(self._connect_kwargs.get("echo", False))

    # -- what the logic of pools asks for ----------------------------------------------------------------------------

    def _connect(self) -> Connection:
        connection = Connection(defer_connect=True, **self._connect_kwargs).connect()
        if self._on_connect is not None:
            try:
                _call(self._on_connect, connection)
            except BaseException:
                connection._abort()
                raise
        return connection

    def _is_open(self, connection: Connection) -> bool:
        wire = connection._wire
        return wire is not None and wire.is_quiet and not connection.misplaced

    def _is_clean(self, connection: Connection) -> bool:
        """True when nothing is left of the last use."""
        wire = connection._wire
        return wire is None or not wire.is_open or (wire.is_clean and not self._reset)

    def _before_lending(self, connection: Connection) -> None:
        if self._on_acquire is not None:
            _call(self._on_acquire, connection)

    def _check(self, connection: Connection) -> None:
        connection.ping()

    def _clean(self, connection: Connection) -> None:
        if self._on_release is None and self._is_clean(connection):
            return
        self._tidy(connection)

    def _tidy(self, connection: Connection) -> None:
        if _is_amid(connection.wire):
            connection.give_up()
        if connection.open and self._on_release is not None:
            try:
                _call(self._on_release, connection)
            except Exception as error:
                raise err.OperationalError(f"on_release failed: {error!r}") from error
        if connection.open and self._reset:
            connection.reset()
        elif connection.open and connection.get_transaction_status():
            connection.rollback()

    def _part(self, connection: Connection) -> None:
        wire, connection._wire = connection._wire, None
        if wire is not None:
            if _is_amid(wire):
                wire.abort()
            else:
                with contextlib.suppress(err.Error):
                    # Said without waiting for it.
                    wire.quit()

    def _cut(self, connection: Connection) -> None:
        connection._abort()

    # -- end ---------------------------------------------------------------------------------------------------------

    def __enter__(self) -> ConnectionPool:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()


def _is_amid(wire: Wire) -> bool:
    """True while an answer, or the rest of one, is on the wire."""
    return wire.is_streaming


class _Loan(AbstractContextManager[Connection]):
    """A connection for a block."""

    __slots__ = ("_connection", "_pool", "_timeout")

    def __init__(self, pool: ConnectionPool, timeout: float | None) -> None:
        self._pool = pool
        self._timeout = timeout
        self._connection: Connection | None = None

    def __enter__(self) -> Connection:
        self._connection = self._pool._acquire(self._timeout)
        return self._connection

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
    ) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            self._pool.release(connection)


def _call(hook: Hook, connection: Connection) -> None:
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
) -> ConnectionPool:
    # The pool itself refuses impossible sizes, with a ValueError as its peers do.
    sizes = {"minsize", "maxsize"} if isinstance(minsize, int) else {"maxsize"}
    check_parameters({name: value for name, value in locals().items() if name not in sizes})
    refuse_unknown("create_pool", kwargs, PARAMETERS.union(_OF_POOL))
    if maxsize == 0:
        raise ValueError("maxsize=0 is refused: a pool without limit is maxsize=None")
    return ConnectionPool(
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


def create_pool(minsize: int = 1, maxsize: int | None = 10, **kwargs: Unpack[PoolOptions]) -> ConnectionPool:
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
