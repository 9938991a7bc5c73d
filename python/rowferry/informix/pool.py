# Made from python/rowferry/informix/aio/pool.py by tools/async_to_sync.py: change that file instead.
"""A pool of connections."""

from __future__ import annotations

from contextlib import AbstractContextManager
from types import TracebackType
from typing import TYPE_CHECKING, Any

from .. import exceptions as err
from .._base.options import refuse_unknown
from .._base.pool import BasePool, PoolStatistics
from ._settings import PARAMETERS, Settings, settings_for
from .connections import Connection

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._options import PoolOptions

__all__ = ["ConnectionPool", "PoolStatistics", "create_pool"]

#: A connection that is asked whether it is there, or cleaned, gets this long, in seconds.
CARE_LIMIT = 5.0


class ConnectionPool(BasePool[Connection]):
    """Connections that are lent and given back. Made by `create_pool`, which explains the parameters.

    A connection comes back rolled back, its cursors closed, with the isolation level, lock mode and autocommit that it
    began with. A broken one is replaced. Whoever waits longest is served first.
    """

    def __init__(self, settings: Settings, **sizes: Any) -> None:
        super().__init__(**sizes)
        self._settings = settings

    # -- lending -----------------------------------------------------------------------------------------------------

    def acquire(self, timeout: float | None = None) -> Connection:
        """Lend a connection, until `release`.

        Waits at most `timeout` seconds (by default the pool's own) for a connection to become free, then raises
        `PoolTimeout`, which tells who holds them.
        """
        return self._acquire(self._timeout if timeout is None else timeout)

    def connection(self, timeout: float | None = None) -> AbstractContextManager[Connection]:
        """`with pool.connection() as connection` lends a connection for the block.

        What the block has not committed is rolled back at its end. A connection that the block has broken is replaced.
        """
        return _Loan(self, self._timeout if timeout is None else timeout)

    # -- what the logic of pools asks for ----------------------------------------------------------------------------

    def _connect(self) -> Connection:
        return Connection(self._settings).connect()

    def _is_open(self, connection: Connection) -> bool:
        wire = connection._wire
        return wire is not None and wire.is_quiet

    def _check(self, connection: Connection) -> None:
        self._care(connection, connection.ping)

    def _clean(self, connection: Connection) -> None:
        if connection.wire.is_busy:
            raise err.InterfaceError("another thread still uses the connection")
        self._care(connection, connection.reset)

    def _care(self, connection: Connection, work: Any) -> None:
        wire, usual = connection.wire, connection.settings.read_timeout
        limited = usual is None or usual > CARE_LIMIT
        if limited:
            wire.limit_reads(CARE_LIMIT)
        work()
        if limited:
            wire.limit_reads(usual)

    def _part(self, connection: Connection) -> None:
        wire, connection._wire = connection._wire, None
        if wire is not None:
            if wire.is_busy:
                wire.abort()
            else:
                wire.quit()

    def _cut(self, connection: Connection) -> None:
        connection._abort()

    # -- life --------------------------------------------------------------------------------------------------------

    def __enter__(self) -> ConnectionPool:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()


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
            # What the server refuses leaves a connection as it was; what has no code of the server's may not.
            lost = isinstance(value, (err.OperationalError, err.InterfaceError)) and value.sqlcode is None
            self._pool.release(connection, broken=lost)


#: What the pool is by default.
_SIZES: dict[str, Any] = {
    "min_size": 0,
    "max_size": 10,
    "acquire_timeout": 30.0,
    "max_lifetime": 3600.0,
    "idle_timeout": 600.0,
    "check_after": 10.0,
}


def _make(host: str | None, port: int | None, options: PoolOptions) -> ConnectionPool:
    refuse_unknown("create_pool", options, PARAMETERS.union(_SIZES))
    sizes = {name: options.get(name, value) for name, value in _SIZES.items()}
    parameters = {name: value for name, value in options.items() if name not in _SIZES}
    return ConnectionPool(settings_for(host, port, **parameters), **sizes)


def create_pool(host: str | None = None, port: int | None = None, **parameters: Unpack[PoolOptions]) -> ConnectionPool:
    """A pool of connections. The parameters are those of `connect`, a URL too, and:

    `min_size`: connections opened now, and kept however long they are idle; by default 0.
    `max_size`: the most connections at a time; by default 10.
    `acquire_timeout`: seconds to wait for a connection to become free; by default 30, None waits for ever.
    `max_lifetime`: seconds after which a connection is replaced, or somewhat before; by default 3600, None never.
    `idle_timeout`: seconds after which an idle connection beyond `min_size` is closed; by default 600, None never.
    `check_after`: a connection that was idle for so many seconds is asked whether it is there before it is lent; by
    default 10, 0 asks always, None never. One whose server has hung up is noticed without asking.
    """
    pool = _make(host, port, parameters)
    pool._open_first()
    return pool
