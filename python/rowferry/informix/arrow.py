# Made from python/rowferry/informix/aio/arrow.py by tools/async_to_sync.py: change that file instead.
"""Rows as Arrow record batches and tables, made from the wire without a Python object per cell."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from .. import exceptions as err
from .._core import ArrowBatch, ArrowBatches
from .._core.informix import QueryResult, RowsToArrow

if TYPE_CHECKING:
    from .connections import Connection

__all__ = ["ArrowRows"]

#: Rows of a batch within a table.
_TABLE_BATCH = 131_072


class ArrowRows:
    """What a cursor does with rows for Arrow.

    Rows that were fetched for Arrow, but not taken yet, are still there for `fetchone` and its kin: `_raw_at` is the
    place of the next row in the raw rows of `_result`, while it is not None.
    """

    connection: Connection
    _result: QueryResult | None
    _rows: list[tuple[Any, ...]]
    _first: int
    _at: int
    _rowcount: int
    _description: tuple[Any, ...] | None
    _scrollable: bool
    _raw_at: int | None = None

    def fetch_record_batches(self, size: int = 65_536) -> Iterator[ArrowBatch]:
        """The rows that are left, in Arrow record batches of `size` rows; the last has fewer.

        A batch has `num_rows`, `num_columns`, `column_names`, and the methods of the Arrow PyCapsule interface:
        `pyarrow.record_batch(batch)`, `polars.DataFrame(batch)` and others take it. No Arrow library is needed here.
        Without any rows there is one empty batch, for its columns. Batches may end earlier when they hold long values.
        """
        if size < 1:
            raise err.ProgrammingError("a record batch has at least one row")
        empty = True
        while (batch := self._next_batch(size)) is not None:
            empty = False
            yield batch
        if empty:
            yield self._empty_batch()

    def fetch_arrow_table(self) -> Any:
        """The rows that are left, as a `pyarrow.Table`. Needs pyarrow; `fetch_record_batches` does not."""
        try:
            pyarrow = importlib.import_module("pyarrow")
        except ImportError:
            raise err.InterfaceError(
                "fetch_arrow_table needs pyarrow: `pip install pyarrow`. Without it, fetch_record_batches has batches "
                "that polars, DuckDB and others read through the Arrow PyCapsule interface"
            ) from None
        batches = []
        while (batch := self._next_batch(_TABLE_BATCH)) is not None:
            batches.append(batch)
        return pyarrow.table(ArrowBatches(batches or [self._empty_batch()]))

    def _check_arrow(self) -> None:
        if self._description is None:
            raise err.ProgrammingError("there are no rows to fetch: the last statement returned none")
        if self._scrollable:
            raise err.NotSupportedError("Arrow needs a cursor that runs forwards only: open it without scrollable=True")

    def _empty_batch(self) -> ArrowBatch:
        if self._result is None:
            raise err.ProgrammingError("the rows of this statement are lost: a fetch has failed")
        return RowsToArrow(self._result).take()

    def _next_batch(self, size: int) -> ArrowBatch | None:
        """The next rows, at most `size`; None behind the last."""
        self._check_arrow()
        result = self._result
        if result is None:
            return None
        at = self._at if self._raw_at is None else self._raw_at
        rows = RowsToArrow(result)
        while True:
            try:
                at += rows.append(result, at, size - rows.rows)
            except err.OperationalError:
                # The bytes were no rows: nothing behind them can be understood.
                self.connection.abort_on_wire()
                raise
            self._raw_at = at
            if rows.rows >= size or at < result.raw_rows or not result.more:
                break
            # Whatever happens to the fetch: it is not asked for twice.
            self._result = None
            following = self.connection.fetch_raw_on_wire(result)
            self._first += result.raw_rows
            self._result = result = following
            self._rows = []
            self._raw_at = at = 0
            if not following.more:
                self._rowcount = following.count
        return rows.take() if rows.rows else None

    def _rows_from_raw(self) -> None:
        """Goes on with rows as objects."""
        if self._raw_at is not None and self._result is not None:
            self._rows = self._result.decoded() or []
            self._at = self._raw_at
        self._raw_at = None
