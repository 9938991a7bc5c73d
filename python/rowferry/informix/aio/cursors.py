"""Cursors: statements, their rows and their effects."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Generator, Iterable
from types import TracebackType
from typing import TYPE_CHECKING, Any

from ... import exceptions as err
from ..._core.informix import QueryResult
from ..rows import row_builder
from .arrow import AsyncArrowRows

if TYPE_CHECKING:
    from .connection import AsyncConnection

__all__ = ["AsyncCursor"]

ASYNC = True


class AsyncCursor(AsyncArrowRows):
    """Runs statements and holds the rows of the last one.

    Rows come in batches as they are fetched. Several cursors of a connection may have rows left at the same time.
    """

    #: How many rows `fetchmany` answers by default.
    arraysize = 1

    def __init__(self, connection: AsyncConnection, *, scrollable: bool = False) -> None:
        #: The connection that made this cursor.
        self.connection = connection
        #: What rows look like; see `rowferry.informix.rows`.
        self.row_factory = connection.row_factory
        self._scrollable = scrollable
        self._closed = False
        self._result: QueryResult | None = None
        self._rows: list[tuple[Any, ...]] = []
        self._at = 0
        self._build: Callable[[tuple[Any, ...]], Any] | None = None
        self._rowcount = -1
        self._lastrowid: int | None = None
        self._description: tuple[Any, ...] | None = None

    if ASYNC:

        def __await__(self) -> Generator[Any, Any, AsyncCursor]:
            """`await connection.cursor()` is the cursor, too."""
            return self
            yield

    # -- statements --------------------------------------------------------------------------------------------------

    async def execute(self, operation: str, parameters: Any = None) -> AsyncCursor:
        """Run a statement, with `parameters` for its placeholders.

        Placeholders are `?` or `:1` with a sequence, or `:name` with a mapping. Without parameters the text goes to the
        server as it is. Answers the cursor itself.
        """
        self._check()
        self._forget()
        self._take(await self.connection.execute_on_wire(operation, parameters))
        return self

    async def executemany(self, operation: str, seq_of_parameters: Iterable[Any]) -> AsyncCursor:
        """Run a statement that returns no rows once for each element of `seq_of_parameters`.

        Executions travel in groups of about 32 kB, whatever their number, so that memory is bounded. When one fails,
        those before it have been carried out and none behind it; the error's `row` tells which one failed, from 0.
        """
        self._check()
        self._forget()
        result = await self.connection.execute_many_on_wire(operation, seq_of_parameters)
        self._rowcount = result.count
        self._lastrowid = result.serial or None
        return self

    async def callproc(self, procname: str, parameters: Iterable[Any] = ()) -> tuple[Any, ...]:
        """Call a procedure or function, whose values are the rows of the cursor. Answers the parameters."""
        values = tuple(parameters)
        marks = ", ".join("?" * len(values))
        await self.execute(f"EXECUTE PROCEDURE {procname}({marks})", values)
        return values

    def _take(self, result: QueryResult) -> None:
        self._result = result
        self._description = result.description
        self._lastrowid = result.serial or None
        if result.rows is None:
            self._rowcount = result.count
            return
        self._rows = result.rows
        names = [column[0] for column in result.description or ()]
        self._build = row_builder(self.row_factory, names)
        self._rowcount = -1 if result.more else result.count

    def _forget(self) -> None:
        """Let go of the last statement's rows, fetched or not."""
        result, self._result = self._result, None
        if result is not None and result.more:
            self.connection.discard_on_wire(result)
        self._rows = []
        self._at = 0
        self._raw_at = None
        self._build = None
        self._rowcount = -1
        self._lastrowid = None
        self._description = None

    def _check(self) -> None:
        if self._closed:
            raise err.InterfaceError("the cursor is closed")

    # -- rows --------------------------------------------------------------------------------------------------------

    async def _more(self) -> bool:
        """Fetch the next batch; false when there is none."""
        result = self._result
        if result is None or not result.more:
            return False
        # Whatever happens to the fetch: it is not asked for twice.
        self._result = None
        following = await self.connection.fetch_on_wire(result)
        self._result = following
        if self._scrollable:
            self._rows.extend(following.rows or ())
        else:
            self._rows = following.rows or []
            self._at = 0
        if not following.more:
            self._rowcount = following.count
        return self._at < len(self._rows) or following.more

    def _check_rows(self) -> None:
        self._check()
        if self._description is None:
            raise err.ProgrammingError("there are no rows to fetch: the last statement returned none")
        if self._raw_at is not None:
            self._rows_from_raw()

    async def fetchone(self) -> Any:
        """The next row; None behind the last."""
        self._check_rows()
        while self._at >= len(self._rows):
            if not await self._more():
                return None
        row = self._rows[self._at]
        self._at += 1
        return row if self._build is None else self._build(row)

    async def fetchmany(self, size: int | None = None) -> list[Any]:
        """The next `size` rows (by default `arraysize`), or as many as there are."""
        self._check_rows()
        size = self.arraysize if size is None else size
        rows: list[Any] = []
        while len(rows) < size:
            batch = self._rows[self._at : self._at + size - len(rows)]
            if not batch:
                if not await self._more():
                    break
                continue
            self._at += len(batch)
            rows.extend(batch)
        return rows if self._build is None else [self._build(row) for row in rows]

    async def fetchall(self) -> list[Any]:
        """All rows that are left."""
        self._check_rows()
        rows: list[Any] = self._rows[self._at :] if self._at else list(self._rows)
        self._at = len(self._rows)
        while await self._more():
            rows.extend(self._rows[self._at :])
            self._at = len(self._rows)
        return rows if self._build is None else [self._build(row) for row in rows]

    def __aiter__(self) -> AsyncIterator[Any]:
        return self

    async def __anext__(self) -> Any:
        row = await self.fetchone()
        if row is None:
            raise StopAsyncIteration
        return row

    # -- scrolling ---------------------------------------------------------------------------------------------------

    async def _row_at(self, place: int) -> Any:
        """The row of this place, from 0; when there is none, None, and the cursor at that end."""
        self._check_rows()
        if not self._scrollable:
            raise err.NotSupportedError("open the cursor with scrollable=True to visit its rows in any order")
        while place >= len(self._rows) and await self._more():
            pass
        if not 0 <= place < len(self._rows):
            self._at = 0 if place < 0 else len(self._rows)
            return None
        self._at = place
        return await self.fetchone()

    async def fetch_first(self) -> Any:
        """The first row."""
        return await self._row_at(0)

    async def fetch_last(self) -> Any:
        """The last row."""
        while await self._more():
            pass
        return await self._row_at(len(self._rows) - 1)

    async def fetch_prior(self) -> Any:
        """The row before the current one."""
        return await self._row_at(self._at - 2)

    async def fetch_absolute(self, n: int) -> Any:
        """The row of this number, from 1; from the end when negative."""
        if n < 0:
            while await self._more():
                pass
            return await self._row_at(len(self._rows) + n)
        return await self._row_at(n - 1)

    async def fetch_relative(self, n: int) -> Any:
        """The row so many rows on from the current one."""
        return await self._row_at(self._at - 1 + n)

    async def scroll(self, value: int, mode: str = "relative") -> None:
        """Move to another row, by PEP 249: the next fetch answers the row behind it."""
        if mode not in ("relative", "absolute"):
            raise err.ProgrammingError(f"scroll mode {mode!r} is neither `relative` nor `absolute`")
        place = self._at + value if mode == "relative" else value
        if place < 0 or (place > 0 and await self._row_at(place - 1) is None):
            raise IndexError("scrolled beyond the rows of the cursor")
        self._at = place

    @property
    def rownumber(self) -> int | None:
        """The place of the current row, from 0; None before the first fetch."""
        return self._at - 1 if self._at else None

    # -- what is known -----------------------------------------------------------------------------------------------

    @property
    def description(self) -> tuple[Any, ...] | None:
        """The columns: name, type code, display size, internal size, precision, scale, whether NULL is allowed."""
        return self._description

    @property
    def rowcount(self) -> int:
        """Rows changed, or found; -1 when that is not known (yet)."""
        return self._rowcount

    @property
    def lastrowid(self) -> int | None:
        """The value that a serial column was given by the last INSERT."""
        return self._lastrowid

    @property
    def closed(self) -> bool:
        """True once the cursor was closed."""
        return self._closed

    # -- life --------------------------------------------------------------------------------------------------------

    async def close(self) -> None:
        """Let go of the rows. Nothing is sent before the next operation of the connection."""
        if not self._closed:
            self._forget()
            self._closed = True

    async def __aenter__(self) -> AsyncCursor:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.close()

    def __del__(self) -> None:
        # At any time, also in the middle of an operation: this only makes a note for the next one.
        result = self.__dict__.get("_result")
        if result is not None and result.more:
            self.connection.discard_on_wire(result)

    def setinputsizes(self, sizes: Any) -> None:
        """Nothing: sizes follow from the values."""

    def setoutputsize(self, size: Any, column: Any = None) -> None:
        """Nothing: sizes follow from the values."""
