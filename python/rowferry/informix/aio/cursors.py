"""Cursors: statements, their rows and their effects."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Generator, Iterable
from types import TracebackType
from typing import TYPE_CHECKING, Any

from ... import exceptions as err
from ..._core.informix import QueryResult
from .._files import ClientFiles
from .._values import BlobLocator, ClobLocator
from ..rows import row_builder
from .arrow import AsyncArrowRows

if TYPE_CHECKING:
    from .connection import AsyncConnection

__all__ = ["AsyncCursor"]

#: How many rows of a scroll cursor are asked for at once, at most.
MOST_AHEAD = 64

#: Errors that mean: there is no procedure of this name; it may be a function.
NO_SUCH_PROCEDURE = (-674,)


class AsyncCursor(AsyncArrowRows):
    """Runs statements and holds the rows of the last one.

    Rows come in batches as they are fetched. Several cursors of a connection may have rows left at the same time.
    """

    #: How many rows `fetchmany` answers by default.
    arraysize = 1

    def __init__(
        self,
        connection: AsyncConnection,
        *,
        scrollable: bool = False,
        hold: bool = False,
        name: str | None = None,
    ) -> None:
        #: The connection that made this cursor.
        self.connection = connection
        #: What rows look like; see `rowferry.informix.rows`.
        self.row_factory = connection.row_factory
        #: The name for WHERE CURRENT OF; None for a cursor whose name nobody needs.
        self.name = name
        #: Contents that the server may read by `filetoblob(name, 'client')`, by name: bytes or binary files.
        self.virtual_files: dict[str, Any] = {}
        #: Binary files that the server may write by `lotofile(column, name, 'client')`, by name.
        self.sinks: dict[str, Any] = {}
        #: What the server wrote by `lotofile(column, name, 'client')` without a sink, by the name that it chose.
        self.blob_files: dict[str, bytes] = {}
        self._scrollable = scrollable
        self._hold = hold
        self._files: ClientFiles | None = None
        self._closed = False
        self._result: QueryResult | None = None
        self._rows: list[tuple[Any, ...]] = []
        #: The place of the first of `_rows` among all rows, and of the next row among `_rows`; both from 0.
        self._first = 0
        self._at = 0
        #: A fetch has found no row any more: the cursor stands behind the last.
        self._beyond = False
        #: A fetch has failed, and has cost the cursor.
        self._lost = False
        #: How many rows there are, once that is known.
        self._total: int | None = None
        #: How many rows of a scroll cursor the next fetch asks for.
        self._ahead = 1
        self._build: Callable[[tuple[Any, ...]], Any] | None = None
        self._rowcount = -1
        self._lastrowid: int | None = None
        self._description: tuple[Any, ...] | None = None

    if True:  # ASYNC

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
        result = await self.connection.execute_on_wire(
            operation,
            parameters,
            scroll=self._scrollable,
            hold=self._hold,
            name=self.name,
            files=self._allowed(operation, parameters),
        )
        self._take(result)
        return self

    async def executemany(
        self,
        operation: str,
        seq_of_parameters: Iterable[Any],
        *,
        on_error: str = "stop",
        max_errors: int = 1000,
    ) -> AsyncCursor:
        """Run a statement that returns no rows once for each element of `seq_of_parameters`.

        Executions travel in groups of about 32 kB, whatever their number, so that memory is bounded. When one fails,
        those before it have been carried out and none behind it; the error's `row` tells which one failed, from 0.

        With `on_error="continue"` rows that fail stop no others. When all are done, `BatchError` is raised: its
        `errors` are those of the rows, in their order, each with its `row`; all other rows have been carried out, and
        `rowcount` counts what they did. More than `max_errors` failures end the batch early.
        """
        self._check()
        self._forget()
        if on_error not in ("stop", "continue"):
            raise err.ProgrammingError(f"on_error={on_error!r} is neither 'stop' nor 'continue'")
        go_on = max_errors if on_error == "continue" else None
        files = self._allowed(operation, None)
        result = await self.connection.execute_many_on_wire(operation, seq_of_parameters, go_on=go_on, files=files)
        self._rowcount = result.count
        self._lastrowid = result.serial or None
        if result.errors:
            for error in result.errors:
                error.sql = operation
            raise err.BatchError.of(result.errors, result.count, complete=len(result.errors) <= max_errors)
        return self

    async def callproc(self, procname: str, parameters: Iterable[Any] = ()) -> tuple[Any, ...]:
        """Call a procedure or function, whose values are the rows of the cursor. Answers the parameters."""
        values = tuple(parameters)
        marks = ", ".join("?" * len(values))
        try:
            await self.execute(f"EXECUTE PROCEDURE {procname}({marks})", values)
        except err.Error as error:
            if error.sqlcode not in NO_SUCH_PROCEDURE:
                raise
            await self.execute(f"EXECUTE FUNCTION {procname}({marks})", values)
        return values

    # -- large objects -----------------------------------------------------------------------------------------------

    async def read_blob_column(
        self, select_blob_sql: str, params: Any = (), *, sentinel: str = "/tmp/_informix_db_blob"
    ) -> bytes | None:
        """The contents of the BLOB or CLOB that a SELECT of one column finds; None when there is none, or no row.

        `sentinel` is there for programs written for informix-driver, and does nothing.
        """
        locator = await self._locator(select_blob_sql, params)
        if locator is None:
            return None
        lob = await self.connection.open_lob(locator)
        try:
            contents: bytes = await lob.read()
        finally:
            await lob.close()
        return contents

    async def _locator(self, sql: str, params: Any) -> BlobLocator | ClobLocator | None:
        self._check()
        self._forget()
        self._take(await self.connection.execute_on_wire(sql, params or None, query=True))
        while not self._rows and await self._more():
            pass
        rows = self._rows
        self._forget()
        if not rows or rows[0][0] is None:
            return None
        locator = rows[0][0]
        if not isinstance(locator, (BlobLocator, ClobLocator)):
            raise err.ProgrammingError("this takes a SELECT … FROM … of one BLOB or CLOB column")
        return locator

    async def write_blob_column(
        self,
        sql: str,
        blob_data: Any,
        params: Any = (),
        *,
        sentinel: str = "/tmp/_informix_db_blob_in",
        clob: bool = False,
    ) -> None:
        """Run an INSERT or UPDATE with `blob_data` in the place of its one `BLOB_PLACEHOLDER`.

        `blob_data` is bytes, or a binary file to be read, which is sent piece by piece. `clob` tells that the column is
        a CLOB. `sentinel` is the name under which the server asks for the contents.
        """
        count = sql.count("BLOB_PLACEHOLDER")
        if count != 1:
            raise err.ProgrammingError(
                f"the statement has BLOB_PLACEHOLDER {count} times; it stands exactly once, where the value goes"
            )
        function = "filetoclob" if clob else "filetoblob"
        self.virtual_files[sentinel] = blob_data
        try:
            await self.execute(sql.replace("BLOB_PLACEHOLDER", f"{function}('{sentinel}', 'client')"), params or None)
        finally:
            self.virtual_files.pop(sentinel, None)

    def _allowed(self, operation: Any, parameters: Any) -> ClientFiles:
        """What the server may use of the client's: what was registered, and names that the statement itself has."""
        files = self._files
        if files is None:
            files = self._files = ClientFiles()
        files.sources = self.virtual_files
        files.sinks = self.sinks
        files.received = self.blob_files = {}
        files.mentioned = (operation, parameters)
        return files

    def _take(self, result: QueryResult) -> None:
        self._result = result
        self._description = result.description
        self._lastrowid = result.serial or None
        if result.rows is None:
            self._rowcount = result.count
            return
        self._rows = result.rows
        if self.row_factory is not None:
            self._build = row_builder(self.row_factory, [column[0] for column in self._description or ()])
        self._rowcount = -1 if result.more else result.count

    def _forget(self) -> None:
        """Let go of the last statement's rows, fetched or not."""
        result, self._result = self._result, None
        if result is not None and result.open:
            self.connection.discard_on_wire(result)
        self._beyond = self._lost = False
        self._rows = []
        self._raw_at = None
        self._first = self._at = 0
        self._total = None
        self._ahead = 1
        self._build = None
        self._rowcount = -1
        self._lastrowid = None
        self._description = None

    def _check(self) -> None:
        if self._closed:
            raise err.InterfaceError("the cursor is closed")

    # -- rows --------------------------------------------------------------------------------------------------------

    async def _more(self, most: int | None = None) -> bool:
        """Go on to the rows behind those at hand, `most` of them in a scroll cursor; false when there are none."""
        self._check_result()
        result = self._result
        if result is None or not result.more:
            return False
        following_first = self._first + len(self._rows)
        if self._scrollable:
            if self._total is not None and following_first >= self._total:
                return False
            # A request a row: whoever goes on row by row gets more and more of them at once.
            count = min(self._ahead if most is None else most, MOST_AHEAD)
            self._ahead = min(2 * self._ahead, MOST_AHEAD)
            rows = (await self._scroll_to(following_first + 1, count)).rows or []
            if len(rows) < count:
                self._total = following_first + len(rows)
            if rows:
                self._rows, self._first, self._at = rows, following_first, 0
            return bool(rows)
        # Whatever happens to the fetch: it is not asked for twice, and its cursor is closed.
        self._result, self._lost = None, True
        try:
            following = await self.connection.fetch_on_wire(result, self._files)
        except err.InterfaceError:
            # Nothing was sent.
            self._result, self._lost = result, False
            raise
        self._result, self._lost = following, False
        if following.rows:
            self._rows, self._first, self._at = following.rows, following_first, 0
        if not following.more:
            self._rowcount = following.count
        return bool(following.rows) or following.more

    async def _scroll_to(self, row: int | None, count: int = 1) -> QueryResult:
        """Rows of a scroll cursor, by their numbers from 1; None is the last."""
        self._check_result()
        result = self._result
        if result is None:
            raise err.ProgrammingError("there are no rows to fetch: the last statement returned none")
        self._result, self._lost = None, True
        try:
            rows = await self.connection.scroll_on_wire(result, row, count)
        except err.InterfaceError:
            # Nothing was sent.
            self._result, self._lost = result, False
            raise
        self._result, self._lost = result, False
        return rows

    def _check_result(self) -> None:
        if self._lost:
            raise err.ProgrammingError("the rows of this statement are lost: a fetch has failed")

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
                self._beyond = True
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
                if not await self._more(size - len(rows)):
                    self._beyond = True
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
        while await self._more(MOST_AHEAD):
            rows.extend(self._rows[self._at :])
            self._at = len(self._rows)
        self._beyond = True
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
        """The row of this place, from 0, which becomes the current one; None, and the cursor unmoved, without it."""
        self._check_rows()
        if place < 0 or (self._total is not None and place >= self._total):
            return None
        if not self._scrollable:
            while place >= self._first + len(self._rows):
                if not await self._more():
                    return None
        if self._scrollable and not self._first <= place < self._first + len(self._rows):
            result = await self._scroll_to(place + 1)
            if not result.rows:
                return None
            self._rows, self._first, self._ahead = result.rows, place, 1
        if place < self._first:
            raise err.NotSupportedError(
                "that row has been let go of already: open the cursor with scrollable=True to visit rows in any order"
            )
        self._at = place - self._first + 1
        self._beyond = False
        row = self._rows[self._at - 1]
        return row if self._build is None else self._build(row)

    async def _count(self) -> int:
        """How many rows there are."""
        self._check_rows()
        if self._total is None and self._scrollable:
            self._total = (await self._scroll_to(None)).position
        elif self._total is None:
            here = self._first + self._at
            while await self._more():
                pass
            self._total = self._first + len(self._rows)
            self._at = max(here - self._first, 0)
        return self._total or 0

    async def fetch_first(self) -> Any:
        """The first row; None when there is none."""
        return await self._row_at(0)

    async def fetch_last(self) -> Any:
        """The last row; None when there is none."""
        self._check_rows()
        if not self._scrollable:
            return await self._row_at(await self._count() - 1)
        result = await self._scroll_to(None)
        if not result.rows:
            return None
        self._total = result.position
        self._rows, self._first, self._at, self._ahead = result.rows, result.position - 1, 1, 1
        self._beyond = False
        return self._rows[0] if self._build is None else self._build(self._rows[0])

    async def fetch_prior(self) -> Any:
        """The row before the current one; None, and the cursor before the first, when there is none."""
        self._check_rows()
        place = self._first + self._at - (1 if self._beyond else 2)
        if place < 0:
            await self._rewind()
            return None
        return await self._row_at(place)

    async def fetch_absolute(self, n: int) -> Any:
        """The row of this place, from 0, or from the end when negative: -1 is the last. None when there is none."""
        if n == -1:
            return await self.fetch_last()
        return await self._row_at(n if n >= 0 else await self._count() + n)

    async def fetch_relative(self, n: int) -> Any:
        """The row so many rows on from the current one; None, and the cursor unmoved, when there is none."""
        self._check_rows()
        return await self._row_at(self._first + self._at - 1 + n)

    async def scroll(self, value: int, mode: str = "relative") -> None:
        """Move to another row, by PEP 249.

        `relative` moves by `value` rows; `absolute` lets the next fetch answer the row of this place, from 0.
        `IndexError` beyond the rows.
        """
        self._check_rows()
        if mode not in ("relative", "absolute"):
            raise err.ProgrammingError(f"scroll mode {mode!r} is neither `relative` nor `absolute`")
        place = self._first + self._at + value if mode == "relative" else value
        if place == 0:
            await self._rewind()
        elif place < 0 or await self._row_at(place - 1) is None:
            raise IndexError("scrolled beyond the rows of the cursor")

    async def _rewind(self) -> None:
        """The cursor stands before the first row."""
        self._beyond = False
        if self._first == 0:
            self._at = 0
        elif self._scrollable:
            self._rows, self._first, self._at, self._ahead = [], 0, 0, 1
        else:
            await self._row_at(0)

    @property
    def rownumber(self) -> int | None:
        """The place of the current row, from 0; None before the first fetch."""
        at = self._first + self._at
        return at - 1 if at and self._description is not None else None

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
        if result is not None and result.open:
            self.connection.discard_on_wire(result)

    def setinputsizes(self, sizes: Any) -> None:
        """Nothing: sizes follow from the values."""

    def setoutputsize(self, size: Any, column: Any = None) -> None:
        """Nothing: sizes follow from the values."""
