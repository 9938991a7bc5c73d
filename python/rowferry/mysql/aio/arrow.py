"""Rows as Arrow record batches and tables."""

from __future__ import annotations

import importlib
from collections.abc import AsyncIterator, Sequence
from typing import TYPE_CHECKING, Any

from ..._core import ArrowBatch, ArrowBatches
from ..._core.mysql import QueryResult, RowsToArrow
from .. import err

if TYPE_CHECKING:
    from .connection import AsyncConnection

__all__ = ["AsyncArrowRows", "AsyncArrowStream", "import_pyarrow"]

#: Rows of a batch within a table.
_TABLE_BATCH = 131_072


class AsyncArrowRows:
    """What a cursor does with rows for Arrow. Here they are in memory already, as Python objects."""

    _result: QueryResult | None
    _rows: Sequence[Any] | None
    _position: int

    async def fetch_record_batches(self, size: int = 65_536) -> AsyncIterator[ArrowBatch]:
        """The rows that are left, in Arrow record batches of `size` rows; the last has fewer.

        A batch has `num_rows`, `num_columns`, `column_names`, and the methods of the Arrow PyCapsule interface:
        `pyarrow.record_batch(batch)`, `polars.DataFrame(batch)` and others take it. No Arrow library is needed here.
        Without any rows there is one empty batch, for its columns. Batches may end earlier when they hold long values.

        An unbuffered cursor (`SSCursor`) makes batches straight from the wire, for half of what rows cost or less, and
        holds one at a time; other cursors have made rows already, which are turned into batches.
        """
        if size < 1:
            raise err.ProgrammingError("a record batch has at least one row")
        empty = True
        while (batch := await self._next_batch(size)) is not None:
            empty = False
            yield batch
        if empty:
            yield self._empty_batch()

    async def fetch_arrow_table(self) -> Any:
        """The rows that are left, as a `pyarrow.Table`. Needs pyarrow; `fetch_record_batches` does not."""
        pyarrow = import_pyarrow()
        batches = []
        while (batch := await self._next_batch(_TABLE_BATCH)) is not None:
            batches.append(batch)
        return pyarrow.table(ArrowBatches(batches or [self._empty_batch()]))

    def _described(self) -> QueryResult:
        result = self._result
        if result is None or result.description is None:
            raise err.ProgrammingError("there are no rows to fetch: the last statement returned none")
        return result

    def _empty_batch(self) -> ArrowBatch:
        return RowsToArrow(self._described()).take()

    async def _next_batch(self, size: int) -> ArrowBatch | None:
        """The next rows, at most `size`; None behind the last."""
        result = self._described()
        rows = (self._rows or ())[self._position : self._position + size]
        self._position += len(rows)
        return _batch_of(result, rows) if rows else None


class AsyncArrowStream(AsyncArrowRows):
    """The same for rows that are still on the wire."""

    _batch: Sequence[Any]
    _at: int
    _ended: bool

    if TYPE_CHECKING:

        def _on_wire(self) -> AsyncConnection:
            """The connection, while the stream on it is this cursor's."""

    async def _next_batch(self, size: int) -> ArrowBatch | None:
        result = self._described()
        waiting = self._batch[self._at : self._at + size]
        if waiting:
            # Rows that were fetched along with those that somebody took as rows.
            self._at += len(waiting)
            self._position += len(waiting)
            return _batch_of(result, waiting)
        if self._ended:
            return None
        connection = self._on_wire()
        try:
            batch = await connection.wire.fetch_arrow(size)
        except Exception:
            # Of the batch nothing is left; what is behind it is not handed out as if nothing had happened.
            self._ended = True
            raise
        except BaseException:
            await connection.give_up()
            raise
        if batch is None:
            self._ended = True
            return None
        self._position += batch.num_rows
        return batch


def _batch_of(result: QueryResult, rows: Sequence[Any]) -> ArrowBatch:
    columns = RowsToArrow(result)
    for row in rows:
        columns.append(row)
    return columns.take()


def import_pyarrow() -> Any:
    """pyarrow; an `InterfaceError` that says what to install where there is none."""
    try:
        return importlib.import_module("pyarrow")
    except ImportError:
        raise err.InterfaceError(
            "a table needs pyarrow: `pip install pyarrow`. Without it, fetch_record_batches has batches that polars, "
            "DuckDB and others read through the Arrow PyCapsule interface"
        ) from None
