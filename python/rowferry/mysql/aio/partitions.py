"""One query over several connections at once, cut into ranges of a column."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from typing import Any

from ..._base import ranges
from ..._base.aio.partitions import TABLE_BATCH, AsyncReaders, check, cuts_of, gathered
from ..._core import ArrowBatch
from .. import err
from ._cancel import kill_query
from .arrow import import_pyarrow
from .connection import AsyncConnection, connect
from .cursors import AsyncSSCursor
from .pool import AsyncConnectionPool

__all__ = ["partition_statements", "read_partitioned", "stream_partitioned"]

#: A pool, or what `connect` takes: a dict of parameters or a URL.
Source = AsyncConnectionPool | Mapping[str, Any] | str


async def read_partitioned(
    source: Source,
    query: str,
    args: Any = None,
    *,
    on: str,
    partitions: int = 4,
    quantiles: bool = False,
    consistent: bool = False,
    rows: bool = False,
) -> Any:
    """Run a query over several connections at once and answer a `pyarrow.Table`, or with `rows` a list of tuples.

    The query becomes a derived table, of which each connection reads a range of the column `on`: integers, decimals,
    floats, dates, datetimes and times are cut into ranges of equal width; other types, and with `quantiles` all, into
    parts with equally many rows, which costs the server a sort. Rows where the column is NULL come with the first
    range. The result is in the order of the ranges; inside a range, and inside the query, it is as the server likes.

    `source` is a pool, or the parameters of `connect` (a dict or a URL). Without `consistent` each connection sees what
    is committed when it begins. With it all see one moment: their snapshots are taken under `FLUSH TABLES WITH READ
    LOCK`, held for as long as that takes, for which the user needs the privilege RELOAD; `OperationalError` without it.

    The first error ends the others on the server and is raised.
    """
    pyarrow = None if rows else import_pyarrow()
    async with contextlib.aclosing(
        _read(source, query, args, on, partitions, quantiles, consistent, rows, TABLE_BATCH)
    ) as batches:
        return await gathered(batches, pyarrow)


async def stream_partitioned(
    source: Source,
    query: str,
    args: Any = None,
    *,
    on: str,
    partitions: int = 4,
    size: int = 65_536,
    quantiles: bool = False,
    consistent: bool = False,
) -> AsyncIterator[ArrowBatch]:
    """As `read_partitioned`, but batches of `size` rows as they come, in no order; about two wait for each connection.

    There is at least one batch, were it empty, for its columns. Leaving the loop early ends all statements.
    """
    async with contextlib.aclosing(
        _read(source, query, args, on, partitions, quantiles, consistent, False, size)
    ) as batches:
        async for _, batch in batches:
            yield batch


async def partition_statements(
    source: Source, query: str, args: Any = None, *, on: str, partitions: int = 4, quantiles: bool = False
) -> list[bytes]:
    """The statements that `read_partitioned` would run, for engines that run them elsewhere, as Spark does.

    Each has its values in it, and is for `cursor.execute` of a connection with the same character set.
    """
    check(partitions, 1)
    async with _lend(source) as connection:
        return await _statements(connection, query, args, on, partitions, quantiles)


def _lend(source: Source) -> AbstractAsyncContextManager[AsyncConnection]:
    if isinstance(source, AsyncConnectionPool):
        return source.connection()
    return connect(source) if isinstance(source, str) else connect(**source)


async def _read(
    source: Source,
    query: str,
    args: Any,
    on: str,
    partitions: int,
    quantiles: bool,
    consistent: bool,
    rows: bool,
    size: int,
) -> Any:
    """Batches, or with `rows` lists of rows, with the number of their range."""
    check(partitions, size)
    if consistent and isinstance(source, AsyncConnectionPool) and partitions > (source.maxsize or partitions):
        raise err.ProgrammingError(f"the pool has {source.maxsize} connections; a snapshot needs {partitions} at once")
    async with AsyncExitStack() as stack:
        count = partitions if consistent else 1
        lent = [await stack.enter_async_context(_lend(source)) for _ in range(count)]
        if consistent:
            await _freeze(lent)
        statements = await _statements(lent[0], query, args, on, partitions, quantiles)
        async with contextlib.aclosing(_Readers(source, lent, statements, rows, size).run()) as batches:
            async for item in batches:
                if isinstance(item, BaseException):
                    raise item
                yield item


async def _freeze(connections: list[AsyncConnection]) -> None:
    """Begin a transaction on each, all with the same view of the data."""
    begin = "START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY"
    for connection in connections:
        # A view that is kept needs this level, whatever the session's is.
        await connection.query("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
    keeper = await AsyncConnection(connections[0].settings).connect()
    try:
        try:
            await keeper.query("FLUSH TABLES WITH READ LOCK")
        except err.DatabaseError as error:
            if error.errno == 1227:
                message = f"`consistent` needs the privilege RELOAD: {error}"
                raise err.OperationalError(error.errno, message, errno=error.errno) from error
            raise
        for connection in connections:
            await connection.query(begin)
    finally:
        # The lock ends with its connection.
        await keeper.ensure_closed()


async def _statements(
    connection: AsyncConnection, query: str, args: Any, on: str, partitions: int, quantiles: bool
) -> list[bytes]:
    """The statement of each partition."""
    # Values in the query may be bytes of no character set: here, a character is a byte.
    on = on.encode(connection.settings.encoding or "utf-8").decode("latin-1")
    column = "`" + on.replace("`", "``") + "`"

    def literal(value: Any) -> str:
        return connection.wire.literal(value).decode("latin-1")

    async with connection.cursor() as cursor:

        async def ask(sql: str) -> Sequence[Any]:
            await cursor.execute(sql.encode("latin-1"))
            return await cursor.fetchall()

        query = cursor.mogrify_bytes(query, args).decode("latin-1")
        cuts = await cuts_of(ask, query, column, partitions, quantiles)
    return [statement.encode("latin-1") for statement in ranges.statements(query, column, cuts, literal)]


class _Readers(AsyncReaders):
    def __init__(
        self, source: Source, lent: Sequence[AsyncConnection], statements: Sequence[bytes], rows: bool, size: int
    ) -> None:
        super().__init__(lent, len(statements), rows, size)
        self._source = source
        self._statements = statements

    def _lend(self) -> AbstractAsyncContextManager[AsyncConnection]:
        return _lend(self._source)

    def _cursor(self, connection: AsyncConnection) -> AbstractAsyncContextManager[Any]:
        return connection.cursor(AsyncSSCursor)

    async def _begin(self, cursor: AsyncSSCursor, number: int) -> None:
        await cursor.execute(self._statements[number])

    async def _stop(self, connection: AsyncConnection) -> None:
        # One that is closed has nothing to be ended.
        with contextlib.suppress(err.Error):
            await kill_query(connection.settings, connection.thread_id())
