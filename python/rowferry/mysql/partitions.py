# Made from python/rowferry/mysql/aio/partitions.py by tools/async_to_sync.py: change that file instead.
"""One query over several connections at once, cut into ranges of a column."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack
from typing import Any

from .._base import ranges
from .._base.partitions import TABLE_BATCH, Readers, check, cuts_of, gathered
from .._core import ArrowBatch
from . import err
from ._cancel import kill_query
from .arrow import import_pyarrow
from .connections import Connection, connect
from .cursors import SSCursor
from .pool import ConnectionPool

__all__ = ["partition_statements", "read_partitioned", "stream_partitioned"]

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
    with contextlib.closing(
        _read(source, query, args, on, partitions, quantiles, consistent, rows, TABLE_BATCH)
    ) as batches:
        return gathered(batches, pyarrow)


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


def partition_statements(
    source: Source, query: str, args: Any = None, *, on: str, partitions: int = 4, quantiles: bool = False
) -> list[bytes]:
    """The statements that `read_partitioned` would run, for engines that run them elsewhere, as Spark does.

    Each has its values in it, and is for `cursor.execute` of a connection with the same character set.
    """
    check(partitions, 1)
    with _lend(source) as connection:
        return _statements(connection, query, args, on, partitions, quantiles)


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
    check(partitions, size)
    if consistent and isinstance(source, ConnectionPool) and partitions > (source.maxsize or partitions):
        raise err.ProgrammingError(f"the pool has {source.maxsize} connections; a snapshot needs {partitions} at once")
    with ExitStack() as stack:
        count = partitions if consistent else 1
        lent = [stack.enter_context(_lend(source)) for _ in range(count)]
        if consistent:
            _freeze(lent)
        statements = _statements(lent[0], query, args, on, partitions, quantiles)
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


def _statements(
    connection: Connection, query: str, args: Any, on: str, partitions: int, quantiles: bool
) -> list[bytes]:
    """The statement of each partition."""
    # Values in the query may be bytes of no character set: here, a character is a byte.
    on = on.encode(connection.settings.encoding or "utf-8").decode("latin-1")
    column = "`" + on.replace("`", "``") + "`"

    def literal(value: Any) -> str:
        return connection.wire.literal(value).decode("latin-1")

    with connection.cursor() as cursor:

        def ask(sql: str) -> Sequence[Any]:
            cursor.execute(sql.encode("latin-1"))
            return cursor.fetchall()

        query = cursor.mogrify_bytes(query, args).decode("latin-1")
        cuts = cuts_of(ask, query, column, partitions, quantiles)
    return [statement.encode("latin-1") for statement in ranges.statements(query, column, cuts, literal)]


class _Readers(Readers):
    def __init__(
        self, source: Source, lent: Sequence[Connection], statements: Sequence[bytes], rows: bool, size: int
    ) -> None:
        super().__init__(lent, len(statements), rows, size)
        self._source = source
        self._statements = statements

    def _lend(self) -> AbstractContextManager[Connection]:
        return _lend(self._source)

    def _cursor(self, connection: Connection) -> AbstractContextManager[Any]:
        return connection.cursor(SSCursor)

    def _begin(self, cursor: SSCursor, number: int) -> None:
        cursor.execute(self._statements[number])

    def _stop(self, connection: Connection) -> None:
        # One that is closed has nothing to be ended.
        with contextlib.suppress(err.Error):
            kill_query(connection.settings, connection.thread_id())
