# Made from python/rowferry/mysql/aio/partitions.py by tools/async_to_sync.py: change that file instead.
"""One query over several connections at once, cut into ranges of a column."""

from __future__ import annotations

import contextlib
import queue
import threading
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack
from typing import Any

from .._core import ArrowBatch, ArrowBatches
from . import _ranges, err
from ._cancel import kill_query
from .arrow import import_pyarrow
from .connections import Connection, connect
from .cursors import SSCursor
from .pool import ConnectionPool

__all__ = ["read_partitioned", "stream_partitioned"]

#: A pool, or what `connect` takes: a dict of parameters or a URL.
Source = ConnectionPool | Mapping[str, Any] | str


def read_partitioned(
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
    with contextlib.closing(
        _read(source, query, args, on, partitions, quantiles, consistent, rows, 131_072)
    ) as batches:
        for number, batch in batches:
            parts.setdefault(number, []).append(batch)
    ordered = [batch for _, part in sorted(parts.items()) for batch in part]
    if pyarrow is None:
        return [row for batch in ordered for row in batch]
    return pyarrow.table(ArrowBatches(ordered))


def stream_partitioned(
    source: Source,
    query: str,
    args: Any = None,
    *,
    on: str,
    partitions: int = 4,
    size: int = 65_536,
    quantiles: bool = False,
    consistent: bool = False,
) -> Iterator[ArrowBatch]:
    """As `read_partitioned`, but batches of `size` rows as they come, in no order; about two wait for each connection.

    There is at least one batch, were it empty, for its columns. Leaving the loop early ends all statements.
    """
    with contextlib.closing(_read(source, query, args, on, partitions, quantiles, consistent, False, size)) as batches:
        for _, batch in batches:
            yield batch


def _lend(source: Source) -> AbstractContextManager[Connection]:
    if isinstance(source, ConnectionPool):
        return source.connection()
    return connect(source) if isinstance(source, str) else connect(**source)


def _read(
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
    if consistent and isinstance(source, ConnectionPool) and partitions > (source.maxsize or partitions):
        raise err.ProgrammingError(f"the pool has {source.maxsize} connections; a snapshot needs {partitions} at once")
    with ExitStack() as stack:
        count = partitions if consistent else 1
        lent = [stack.enter_context(_lend(source)) for _ in range(count)]
        if consistent:
            _freeze(lent)
        statements = _cut(lent[0], query, args, on, partitions, quantiles)
        with contextlib.closing(_Readers(source, lent, statements, rows, size).run()) as batches:
            for item in batches:
                if isinstance(item, BaseException):
                    raise item
                yield item


def _freeze(connections: list[Connection]) -> None:
    """Begin a transaction on each, all with the same view of the data."""
    begin = "START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY"
    for connection in connections:
        # A view that is kept needs this level, whatever the session's is.
        connection.query("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
    keeper = Connection(connections[0].settings).connect()
    try:
        try:
            keeper.query("FLUSH TABLES WITH READ LOCK")
        except err.DatabaseError as error:
            if error.errno == 1227:
                message = f"`consistent` needs the privilege RELOAD: {error}"
                raise err.OperationalError(error.errno, message, errno=error.errno) from error
            raise
        for connection in connections:
            connection.query(begin)
    finally:
        # The lock ends with its connection.
        keeper.ensure_closed()


def _cut(connection: Connection, query: str, args: Any, on: str, partitions: int, quantiles: bool) -> list[bytes]:
    """The statement of each partition."""
    # Values in the query may be bytes of no character set: here, a character is a byte.
    on = on.encode(connection.settings.encoding or "utf-8").decode("latin-1")

    def literal(value: Any) -> str:
        return connection.wire.literal(value).decode("latin-1")

    with connection.cursor() as cursor:
        query = cursor.mogrify_bytes(query, args).decode("latin-1")
        cuts: list[Any] = []
        if partitions > 1 and not quantiles:
            cursor.execute(_ranges.extremes(query, on).encode("latin-1"))
            low, high = cursor.fetchone() or (None, None)
            if low is None:
                partitions = 1
            elif _ranges.can_interpolate(low) and _ranges.can_interpolate(high):
                cuts = _ranges.cuts_between(low, high, partitions)
                partitions = 1
        if partitions > 1:
            cursor.execute(_ranges.quantiles(query, on, partitions).encode("latin-1"))
            # The least of all begins no range of its own.
            cuts = list(dict.fromkeys(row[0] for row in (cursor.fetchall())[1:]))
    return [statement.encode("latin-1") for statement in _ranges.statements(query, on, cuts, literal)]


class _Readers:
    """Each reads a statement, and puts what it gets into one queue."""

    def __init__(self, source: Source, lent: list[Connection], statements: list[bytes], rows: bool, size: int) -> None:
        self._source = source
        #: Connections that the statements in the same places must use; others are lent.
        self._lent = lent
        self._statements = statements
        self._rows = rows
        self._size = size
        self._stopped = False
        #: Connections that may be waiting for the server, by their numbers there.
        self._active: dict[int, Connection] = {}
        self._queue: queue.Queue[Any] = queue.Queue(len(statements))

    def _read(self, number: int) -> None:
        """Read one range, on a connection of its own."""
        if number < len(self._lent):
            self._read_on(number, self._lent[number])
        else:
            with _lend(self._source) as connection:
                self._read_on(number, connection)

    def _read_on(self, number: int, connection: Connection) -> None:
        active = connection.thread_id()
        self._active[active] = connection
        try:
            with connection.cursor(SSCursor) as cursor:
                assert isinstance(cursor, SSCursor)
                if self._stopped:
                    return
                cursor.execute(self._statements[number])
                empty = True
                while not self._stopped:
                    batch: Any
                    if self._rows:
                        batch = cursor.fetchmany(self._size)
                    else:
                        batch = cursor._next_batch(self._size)
                    if not batch:
                        break
                    empty = False
                    self._queue.put((number, batch))
                if empty and number == 0 and not self._rows and not self._stopped:
                    # Without any row there are columns.
                    self._queue.put((number, cursor._empty_batch()))
        finally:
            self._active.pop(active, None)

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
