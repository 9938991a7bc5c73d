"""One query over several connections at once, cut into ranges of a column."""

from __future__ import annotations

import asyncio
import contextlib
import queue
import threading
from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from typing import Any

from ..._core import ArrowBatch, ArrowBatches
from .. import _ranges, err
from ._cancel import kill_query
from .arrow import import_pyarrow
from .connection import AsyncConnection, connect
from .cursors import AsyncSSCursor
from .pool import AsyncConnectionPool

__all__ = ["read_partitioned", "stream_partitioned"]

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
    parts: dict[int, list[Any]] = {}
    async with contextlib.aclosing(
        _read(source, query, args, on, partitions, quantiles, consistent, rows, 131_072)
    ) as batches:
        async for number, batch in batches:
            parts.setdefault(number, []).append(batch)
    ordered = [batch for _, part in sorted(parts.items()) for batch in part]
    if pyarrow is None:
        return [row for batch in ordered for row in batch]
    return pyarrow.table(ArrowBatches(ordered))


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
    if partitions < 1 or size < 1:
        raise err.ProgrammingError("there is at least one partition, and at least one row in a batch")
    if consistent and isinstance(source, AsyncConnectionPool) and partitions > (source.maxsize or partitions):
        raise err.ProgrammingError(f"the pool has {source.maxsize} connections; a snapshot needs {partitions} at once")
    async with AsyncExitStack() as stack:
        count = partitions if consistent else 1
        lent = [await stack.enter_async_context(_lend(source)) for _ in range(count)]
        if consistent:
            await _freeze(lent)
        statements = await _cut(lent[0], query, args, on, partitions, quantiles)
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


async def _cut(
    connection: AsyncConnection, query: str, args: Any, on: str, partitions: int, quantiles: bool
) -> list[bytes]:
    """The statement of each partition."""
    # Values in the query may be bytes of no character set: here, a character is a byte.
    on = on.encode(connection.settings.encoding or "utf-8").decode("latin-1")

    def literal(value: Any) -> str:
        return connection.wire.literal(value).decode("latin-1")

    async with connection.cursor() as cursor:
        query = cursor.mogrify_bytes(query, args).decode("latin-1")
        cuts: list[Any] = []
        if partitions > 1 and not quantiles:
            await cursor.execute(_ranges.extremes(query, on).encode("latin-1"))
            low, high = await cursor.fetchone() or (None, None)
            if low is None:
                partitions = 1
            elif _ranges.can_interpolate(low) and _ranges.can_interpolate(high):
                cuts = _ranges.cuts_between(low, high, partitions)
                partitions = 1
        if partitions > 1:
            await cursor.execute(_ranges.quantiles(query, on, partitions).encode("latin-1"))
            # The least of all begins no range of its own.
            cuts = list(dict.fromkeys(row[0] for row in (await cursor.fetchall())[1:]))
    return [statement.encode("latin-1") for statement in _ranges.statements(query, on, cuts, literal)]


class _Readers:
    """Each reads a statement, and puts what it gets into one queue."""

    def __init__(
        self, source: Source, lent: list[AsyncConnection], statements: list[bytes], rows: bool, size: int
    ) -> None:
        self._source = source
        #: Connections that the statements in the same places must use; others are lent.
        self._lent = lent
        self._statements = statements
        self._rows = rows
        self._size = size
        self._stopped = False
        #: Connections that may be waiting for the server, by their numbers there.
        self._active: dict[int, AsyncConnection] = {}
        if True:  # ASYNC
            self._queue: asyncio.Queue[Any] = asyncio.Queue(len(statements))
        else:
            self._queue: queue.Queue[Any] = queue.Queue(len(statements))  # type: ignore[no-redef]

    async def _read(self, number: int) -> None:
        """Read one range, on a connection of its own."""
        if number < len(self._lent):
            await self._read_on(number, self._lent[number])
        else:
            async with _lend(self._source) as connection:
                await self._read_on(number, connection)

    async def _read_on(self, number: int, connection: AsyncConnection) -> None:
        active = connection.thread_id()
        self._active[active] = connection
        try:
            async with connection.cursor(AsyncSSCursor) as cursor:
                assert isinstance(cursor, AsyncSSCursor)
                if self._stopped:
                    return
                await cursor.execute(self._statements[number])
                empty = True
                while not self._stopped:
                    batch: Any
                    if self._rows:
                        batch = await cursor.fetchmany(self._size)
                    else:
                        batch = await cursor._next_batch(self._size)
                    if not batch:
                        break
                    empty = False
                    await self._queue.put((number, batch))
                if empty and number == 0 and not self._rows and not self._stopped:
                    # Without any row there are columns.
                    await self._queue.put((number, cursor._empty_batch()))
        finally:
            self._active.pop(active, None)

    if True:  # ASYNC

        async def run(self) -> Any:
            """What all of them read, as it comes; an exception in place of what one of them could not read."""
            tasks = [asyncio.ensure_future(self._report(number)) for number in range(len(self._statements))]
            try:
                left = len(tasks)
                while left:
                    item = await self._queue.get()
                    if item is None:
                        left -= 1
                    else:
                        yield item
            finally:
                for task in tasks:
                    task.cancel()
                # A cancelled reader ends its statement on the server, within a bound.
                await asyncio.gather(*tasks, return_exceptions=True)

        async def _report(self, number: int) -> None:
            try:
                await self._read(number)
            except Exception as failure:
                await self._queue.put(failure)
            else:
                await self._queue.put(None)

    else:

        def run(self) -> Any:
            """What all of them read, as it comes; an exception in place of what one of them could not read."""
            threads = [
                threading.Thread(target=self._report, args=(number,), name=f"rowferry partition {number}", daemon=True)
                for number in range(len(self._statements))
            ]
            left = 0
            try:
                for thread in threads:
                    thread.start()
                    left += 1
                while left:
                    item = self._queue.get()
                    left -= item is None or isinstance(item, BaseException)
                    if item is not None:
                        yield item
            finally:
                self._stopped = True
                wait = 0.0
                while left:
                    # Whoever waits to put a batch is let go, and whoever waits for the server is told to stop: again
                    # and again, as a statement may begin behind the word that was to end it.
                    try:
                        item = self._queue.get(timeout=wait)
                        left -= item is None or isinstance(item, BaseException)
                    except queue.Empty:
                        wait = 1.0
                        for number, connection in list(self._active.items()):
                            kill_query(connection.settings, number)
                for thread in threads:
                    if thread.ident is not None:
                        thread.join()

        def _report(self, number: int) -> None:
            try:
                self._read(number)
            except BaseException as failure:
                self._queue.put(failure)
            else:
                self._queue.put(None)
