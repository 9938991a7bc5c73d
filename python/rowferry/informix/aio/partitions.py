"""One query over several connections at once, cut into ranges of a column."""

from __future__ import annotations

import contextlib
import importlib
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any

from ... import exceptions as err
from ..._base import ranges
from ..._base.aio.partitions import TABLE_BATCH, AsyncReaders, check, cuts_of, gathered
from ..._core import ArrowBatch
from .._literals import literal, name
from .connection import AsyncConnection, connect
from .cursors import AsyncCursor
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
    rows: bool = False,
) -> Any:
    """Run a query over several connections at once and answer a `pyarrow.Table`, or with `rows` a list of tuples.

    The query becomes a derived table, of which each connection reads a range of the column `on`: numbers, days, moments
    and durations are cut into ranges of equal width; texts, times of a day, and with `quantiles` all, into parts with
    equally many rows, which costs the server a sort. Rows where the column is NULL come with the first range. The
    result is in the order of the ranges; inside a range, and inside the query, it is as the server likes.

    `source` is a pool, or the parameters of `connect` (a dict or a URL). Each connection sees what its isolation level
    shows it when it reads: what others commit meanwhile may be in one range and not in another.

    The first error ends the others on the server and is raised.
    """
    pyarrow = None
    if not rows:
        try:
            pyarrow = importlib.import_module("pyarrow")
        except ImportError:
            raise err.InterfaceError(
                "read_partitioned needs pyarrow: `pip install pyarrow`; with rows=True it does not"
            ) from None
    async with contextlib.aclosing(_read(source, query, args, on, partitions, quantiles, rows, TABLE_BATCH)) as batches:
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
) -> AsyncIterator[ArrowBatch]:
    """As `read_partitioned`, but batches of `size` rows as they come, in no order; about two wait for each connection.

    There is at least one batch, were it empty, for its columns. Leaving the loop early ends all statements.
    """
    async with contextlib.aclosing(_read(source, query, args, on, partitions, quantiles, False, size)) as batches:
        async for _, batch in batches:
            yield batch


async def partition_statements(
    source: Source, query: str, args: Any = None, *, on: str, partitions: int = 4, quantiles: bool = False
) -> list[str]:
    """The statements that `read_partitioned` would run, for engines that run them elsewhere, as Spark does.

    Each takes the same `args` as the query.
    """
    check(partitions, 1)
    async with _lend(source) as connection:
        return await _statements(connection, query, args, on, partitions, quantiles)


def _lend(source: Source) -> AbstractAsyncContextManager[AsyncConnection]:
    if isinstance(source, AsyncConnectionPool):
        return source.connection()
    return connect(source) if isinstance(source, str) else connect(**source)


async def _read(
    source: Source, query: str, args: Any, on: str, partitions: int, quantiles: bool, rows: bool, size: int
) -> Any:
    """Batches, or with `rows` lists of rows, with the number of their range."""
    check(partitions, size)
    async with _lend(source) as connection:
        statements = await _statements(connection, query, args, on, partitions, quantiles)
        readers = _Readers(source, [connection], statements, args, rows, size)
        async with contextlib.aclosing(readers.run()) as batches:
            async for item in batches:
                if isinstance(item, BaseException):
                    raise item
                yield item


async def _statements(
    connection: AsyncConnection, query: str, args: Any, on: str, partitions: int, quantiles: bool
) -> list[str]:
    """The statement of each partition."""
    column = name(on)
    async with connection.cursor() as cursor:

        async def ask(sql: str) -> Sequence[Any]:
            await cursor.execute(sql, args)
            return await cursor.fetchall()

        cuts = await cuts_of(ask, query, column, partitions, quantiles)
    return ranges.statements(query, column, cuts, literal)


class _Readers(AsyncReaders):
    def __init__(
        self,
        source: Source,
        lent: Sequence[AsyncConnection],
        statements: Sequence[str],
        args: Any,
        rows: bool,
        size: int,
    ) -> None:
        super().__init__(lent, len(statements), rows, size)
        self._source = source
        self._statements = statements
        self._args = args

    def _lend(self) -> AbstractAsyncContextManager[AsyncConnection]:
        return _lend(self._source)

    def _cursor(self, connection: AsyncConnection) -> AbstractAsyncContextManager[Any]:
        return connection.cursor()

    async def _begin(self, cursor: AsyncCursor, number: int) -> None:
        await cursor.execute(self._statements[number], self._args)

    async def _stop(self, connection: AsyncConnection) -> None:
        connection.interrupt()
