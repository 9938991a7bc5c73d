"""Cursors: run a statement, then fetch its rows."""

from __future__ import annotations

import warnings
from collections.abc import AsyncIterator, Generator, Iterable, Iterator, Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, Generic

from ..._base.rows import R, Row, RowFactory, row_builder
from ..._core.mysql import QueryResult
from .. import err
from .._texts import RE_INSERT_VALUES, called_name, quoted_name, variable_name
from ._cancel import end_stream
from .arrow import AsyncArrowRows, AsyncArrowStream
from .local_files import AsyncLocalFiles

if TYPE_CHECKING:
    from typing_extensions import Self

    from .connection import AsyncConnection

__all__ = [
    "RE_INSERT_VALUES",
    "AsyncCursor",
    "AsyncDictCursor",
    "AsyncNamedCursor",
    "AsyncSSCursor",
    "AsyncSSDictCursor",
    "AsyncSSNamedCursor",
    "DictCursorMixin",
]

Args = Sequence[Any] | Mapping[str, Any] | Any | None

#: The beginning is what PyMySQL, aiomysql and asyncmy say.
ROWS_LOST = "Previous unbuffered result was left incomplete: its rows were not all fetched, and the others are lost"

#: What `rowcount` is for rows that are fetched bit by bit: PyMySQL's, aiomysql's and asyncmy's number for "unknown".
UNKNOWN_ROWCOUNT = 2**64 - 1


class AsyncCursor(AsyncArrowRows, AsyncLocalFiles, Generic[R]):
    """Runs statements and keeps all rows of the result in memory.

    `execute` sends `%s` and `%(name)s` filled in with literals; with a statement cache (`stmt_cache_size` of `connect`)
    values travel apart from the text.

    For type checkers a cursor is generic in its rows: `Any` unless its class says, since `row_factory` may change them.
    """

    #: Statements of `executemany` are packed up to this many bytes; a single row may be longer.
    max_stmt_length = 1_024_000

    _as_dict = False

    Warning = err.Warning
    Error = err.Error
    InterfaceError = err.InterfaceError
    DatabaseError = err.DatabaseError
    DataError = err.DataError
    OperationalError = err.OperationalError
    IntegrityError = err.IntegrityError
    InternalError = err.InternalError
    ProgrammingError = err.ProgrammingError
    NotSupportedError = err.NotSupportedError

    #: What rows look like: None for tuples, `Row`, `dict`, or a function from the names of the columns to a function
    #: from a tuple. That of the connection, until the cursor has one of its own.
    row_factory: RowFactory = None

    def __init__(self, connection: AsyncConnection, echo: bool = False) -> None:
        self._connection: AsyncConnection | None = connection
        if self.row_factory is None and connection.row_factory is not None:
            self.row_factory = connection.row_factory
        self._result: QueryResult | None = None
        self._rows: Sequence[Any] | None = None
        self._position = 0
        self._statement: tuple[Any, Any, bool] | None = None
        self._rowcount = -1
        self._lastrowid: int | None = None
        self._called: list[str] | None = None
        #: Empty: what the server warns of is asked for by `show_warnings`.
        self.messages: list[Any] = []
        #: How many rows `fetchmany` answers when it is not told.
        self.arraysize = 1

    # -- PEP 249 attributes ------------------------------------------------------------------------------------------

    @property
    def connection(self) -> AsyncConnection:
        """The connection; `ProgrammingError` once the cursor is closed."""
        if self._connection is None:
            raise err.ProgrammingError("the cursor is closed")
        return self._connection

    @property
    def description(self) -> tuple[Any, ...] | None:
        """A tuple of seven for each column, None when the statement had no rows."""
        return None if self._result is None else self._result.description

    @property
    def rowcount(self) -> int:
        """Rows fetched or changed; -1 before the first statement."""
        return self._rowcount

    @property
    def rownumber(self) -> int | None:
        """The index of the next row."""
        return self._position

    @property
    def lastrowid(self) -> int | None:
        """The first number that AUTO_INCREMENT gave out, 0 when none; None after a statement with rows."""
        return self._lastrowid

    @property
    def warning_count(self) -> int:
        """How many warnings `SHOW WARNINGS` would list."""
        return 0 if self._result is None else self._result.warning_count

    @property
    def _executed(self) -> bytes | None:
        """The last statement as text; Django and others log it."""
        if self._statement is None:
            return None
        query, args, many = self._statement
        return self.connection.wire.mogrify_many(query, args) if many else self.mogrify_bytes(query, args)

    @property
    def _last_executed(self) -> bytes | None:
        # aiomysql's name.
        return self._executed

    @property
    def closed(self) -> bool:
        """True once `close` was called."""
        return self._connection is None

    @property
    def echo(self) -> bool:
        """True when statements are logged."""
        return self.connection.echo

    # -- life --------------------------------------------------------------------------------------------------------

    async def close(self) -> None:
        """Forget the result. Rows that are still on the wire are read and dropped."""
        connection = self._connection
        if connection is None:
            return
        try:
            await self._finish()
        finally:
            self._connection = None
            self._rows = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.close()

    if True:  # ASYNC

        def __await__(self) -> Generator[Any, Any, Self]:
            # aiomysql's users write `await connection.cursor()`.
            return self
            yield

    def setinputsizes(self, *args: Any) -> None:
        """Does nothing; required by PEP 249."""

    def setoutputsizes(self, *args: Any) -> None:
        """Does nothing; required by PEP 249."""

    # -- statements --------------------------------------------------------------------------------------------------

    def mogrify(self, query: str | bytes, args: Args = None) -> str:
        """The statement as `execute` would send it."""
        return self.mogrify_bytes(query, args).decode(self.connection.encoding, "replace")

    def mogrify_bytes(self, query: str | bytes, args: Args = None) -> bytes:
        """The statement as `execute` would send it, in the connection's character set."""
        return self.connection.wire.mogrify(query, args)

    async def execute(
        self, query: str | bytes, args: Args = None, *, attributes: Mapping[str, Any] | None = None
    ) -> int:
        """Run a statement and answer how many rows it found or changed.

        `args` fill in `%s` (a sequence, or a single value) or `%(name)s` (a dict); a literal percent sign is then
        written `%%`. Without `args` the statement goes as it is. `attributes` are query attributes: see
        `query_attributes` of the connection.
        """
        if attributes is not None:
            return await self._execute_with(attributes, query, args)
        connection = self._connection
        if connection is None:
            raise err.ProgrammingError("the cursor is closed")
        self._statement = (query, args, False)
        try:
            if args is not None and connection.caches_statements:
                prepared = connection.cached_statement(query, args)
                if prepared is None:
                    prepared = connection.new_statement(query, args)
                if prepared is not None:
                    values = args
                    if args.__class__ is not tuple and not isinstance(args, (tuple, list, dict)):
                        values = (args,)
                    try:
                        return self._take(await connection.wire.execute(prepared, values, self._as_dict))
                    except err.Error as error:
                        if prepared.is_prepared or not connection.not_prepared(query, error):
                            raise
            result = await connection.wire.query(query, args, self._as_dict)
        except err.Error as error:
            if await connection.make_room(error):
                return await self.execute(query, args)
            self.connection.refused(error, query)
            raise
        except Exception:
            raise
        except BaseException:
            await connection.give_up()
            raise
        return self._take(result)

    async def _execute_with(self, attributes: Mapping[str, Any], query: str | bytes, args: Args) -> int:
        """`execute` with more query attributes than the connection's."""
        wire, standing = self.connection.wire, self.connection.query_attributes
        wire.set_attributes({**standing, **attributes})
        try:
            return await self.execute(query, args)
        finally:
            wire.set_attributes(standing)

    async def executemany(self, query: str, args: Iterable[Any]) -> int | None:
        """Run a statement once for each item of `args` and answer how many rows were changed in all.

        Rows are taken from `args` as they are needed and sent in few requests: by MariaDB's bulk execution, as INSERTs
        of many rows (whatever stands behind the list of values), other statements many in one text. At the first row
        that fails nothing behind it is executed; what was before it has been, but for rows in the same request as an
        INSERT that fails. The error names the row's index (`row`), or the rows that it is among (`rows`).
        """
        if args is None:
            return None
        connection = self.connection
        await self._finish()
        # An iterator cannot be read a second time.
        rows = args if isinstance(args, Sequence) else None
        self._statement = (query, rows, rows is not None)
        most = min(self.max_stmt_length, connection.settings.max_allowed_packet)
        try:
            result = await connection.wire.execute_many(query, args, most, self._as_dict)
        except err.Error as error:
            if await connection.make_room(error):
                return await self.executemany(query, args)
            self.connection.refused(error, query)
            raise
        except Exception:
            raise
        except BaseException:
            await connection.give_up()
            raise
        return self._take(result)

    async def callproc(self, procname: str, args: Sequence[Any] = ()) -> Sequence[Any]:
        """Call a procedure and answer `args`.

        The arguments are also left in the session variables `@_NAME_0` and so on, where OUT and INOUT parameters are
        found after the call: `out_parameters` asks for them. The procedure's results are reached by `fetchall` and
        `nextset`. A name with a dot is a procedure of that name where there is one, otherwise one of another database.
        """
        name = procname
        if "." in name and "`" not in name:
            # Asked apart, so that rows of the procedure are not mistaken for these.
            asking = "SELECT 1 FROM information_schema.routines WHERE routine_schema = DATABASE() AND routine_name = %s"
            await self.connection.query(self.mogrify_bytes(asking, (name,)))
            found = self.connection.last_result
            if found is not None and not found.rows:
                name = called_name(name)
        variables = [variable_name(procname, at) for at in range(len(args))]
        if args:
            assignments = ", ".join(f"{variable.replace('%', '%%')}=%s" for variable in variables)
            await self.connection.query(self.mogrify_bytes(f"SET {assignments}", tuple(args)))
        self._called = variables
        await self.execute(f"CALL {quoted_name(name)}({', '.join(variables)})")
        return args

    async def out_parameters(self) -> tuple[Any, ...]:
        """The arguments of the last `callproc` as the procedure left them, OUT and INOUT changed."""
        if self._called is None:
            raise err.ProgrammingError("callproc() first")
        if not self._called:
            return ()
        connection = self.connection
        last = connection.last_result
        await connection.query(f"SELECT {', '.join(self._called)}")
        found, connection.last_result = connection.last_result, last
        row: tuple[Any, ...] = found.rows[0] if found is not None and found.rows else ()
        return row

    async def show_warnings(self) -> Sequence[Any]:
        """The warnings of the last statement: level, code and message of each. Asks the server."""
        return await self.connection.show_warnings()

    # -- rows --------------------------------------------------------------------------------------------------------

    async def fetchone(self) -> R | None:
        """The next row, None when there is none."""
        rows = self._rows
        position = self._position
        if rows is None:
            self._check_executed()
            return None
        if position >= len(rows):
            return None
        self._position = position + 1
        row: R = rows[position]
        return row

    async def fetchmany(self, size: int | None = None) -> Sequence[R]:
        """The next `size` rows, by default `arraysize`; fewer only at the end."""
        self._check_executed()
        rows, position = self._rows or (), self._position
        end = min(position + (self.arraysize if size is None else size), len(rows))
        self._position = end
        return rows[position:end]

    async def fetchall(self) -> Sequence[R]:
        """All rows that are left."""
        rows = self._rows
        if rows is None:
            self._check_executed()
            return []
        position, self._position = self._position, len(rows)
        return rows[position:] if position else rows

    async def scroll(self, value: int, mode: str = "relative") -> None:
        """Move by `value` rows, or to the row `value` when `mode` is `absolute`; `IndexError` outside the result."""
        self._check_executed()
        if mode == "relative":
            target = self._position + value
        elif mode == "absolute":
            target = value
        else:
            raise err.ProgrammingError(f"unknown scroll mode {mode!r}: expected 'relative' or 'absolute'")
        if not 0 <= target < len(self._rows or ()):
            raise IndexError("out of range")
        self._position = target

    async def nextset(self) -> bool | None:
        """Go on to the next result of the statement; None when there is none."""
        result = self._result
        if result is None:
            return None
        if result.error is not None:
            self._rows, self._position = None, 0
            raise result.error
        if result.next is None:
            return None
        self._take(result.next)
        return True

    if True:  # ASYNC

        def __aiter__(self) -> AsyncIterator[R]:
            return self

        async def __anext__(self) -> R:
            row = await self.fetchone()
            if row is None:
                raise StopAsyncIteration
            return row

    else:

        def __iter__(self) -> Iterator[R]:
            return self

        def __next__(self) -> R:
            row = self.fetchone()
            if row is None:
                raise StopIteration
            return row

    # -- inside ------------------------------------------------------------------------------------------------------

    def _take(self, result: QueryResult) -> int:
        self._result = result
        self._rows = rows = result.rows
        self._position = 0
        if rows is None:
            self._lastrowid = result.insert_id
            self._rowcount = count = result.affected_rows
        else:
            self._lastrowid = None
            self._rowcount = count = len(rows)
            if self._as_dict or self.row_factory is not None:
                self._rows = self._shaped(rows)
        if self._connection is not None:
            self._connection.last_result = result
        return count

    def _shaped(self, rows: Sequence[Any]) -> Sequence[Any]:
        """Rows as `row_factory` has them; dicts in a list, as PyMySQL, aiomysql and asyncmy have them."""
        if self._as_dict:
            return list(rows)
        build = row_builder(self.row_factory, [column[0] for column in self.description or ()])
        return rows if build is None else tuple(build(row) for row in rows)

    def _check_executed(self) -> None:
        if self._result is None:
            raise err.ProgrammingError("execute() first")

    async def _finish(self) -> None:
        """Leave nothing of the last statement on the wire."""
        self._result = None
        self._rows = None


class DictCursorMixin:
    """For cursor classes with rows as dicts: `class Mine(DictCursorMixin, Cursor)`."""

    #: The class of rows; another one is called with what `dict` is.
    dict_type: type = dict
    _as_dict = True

    def _shaped(self, rows: Sequence[Any]) -> Sequence[Any]:
        kind = self.dict_type
        return list(rows) if kind is dict else [kind(row) for row in rows]


class AsyncDictCursor(DictCursorMixin, AsyncCursor[dict[str, Any]]):
    """As `AsyncCursor`, with rows as dicts."""


class AsyncNamedCursor(AsyncCursor[Row]):
    """As `AsyncCursor`, with rows whose values are found by place, by `row["name"]` and by `row.name`."""

    row_factory = Row


class AsyncSSCursor(AsyncArrowStream, AsyncCursor[R]):
    """Fetches rows bit by bit, as they come from the server: memory does not grow with the result.

    Until the last row is fetched, or the cursor is closed, the connection can do nothing else: another statement warns,
    reads the rows away, and this cursor then raises `ProgrammingError`.
    """

    _BATCH = 256

    def __init__(self, connection: AsyncConnection, echo: bool = False) -> None:
        super().__init__(connection, echo)
        self._batch: Sequence[Any] = ()
        self._at = 0
        self._ended = True
        self._warnings = 0

    async def execute(
        self, query: str | bytes, args: Args = None, *, attributes: Mapping[str, Any] | None = None
    ) -> int:
        """Run a statement; answers 2**64 - 1 for statements with rows, whose number nobody knows yet."""
        if attributes is not None:
            return await self._execute_with(attributes, query, args)
        connection = self.connection
        if self._at < len(self._batch) or (not self._ended and self._is_under_way()):
            warnings.warn(ROWS_LOST, stacklevel=2)
        await self._finish()
        self._statement = (query, args, False)
        try:
            result = await connection.wire.open_stream(query, args, self._as_dict)
        except err.Error as error:
            if await connection.make_room(error):
                return await self.execute(query, args)
            self.connection.refused(error, query)
            raise
        except Exception:
            raise
        except BaseException:
            await connection.give_up()
            raise
        return self._begin(result)

    async def fetchone(self) -> R | None:
        """The next row, None when there is none."""
        self._check_executed()
        if self._at >= len(self._batch):
            await self._fetch(self._BATCH)
            if not self._batch:
                return None
        row: R = self._batch[self._at]
        self._at += 1
        self._position += 1
        return row

    async def fetchmany(self, size: int | None = None) -> Sequence[R]:
        """The next `size` rows, by default `arraysize`; fewer only at the end."""
        self._check_executed()
        size = self.arraysize if size is None else size
        rows = list(self._batch[self._at : self._at + size])
        self._at += len(rows)
        while len(rows) < size and not self._ended:
            await self._fetch(size - len(rows))
            rows.extend(self._batch)
            self._at = len(self._batch)
        self._position += len(rows)
        # Django takes an empty tuple for the end.
        return rows or ()

    async def fetchall(self) -> Sequence[R]:
        """All rows that are left, in memory."""
        return list(await self.fetchmany(sys_maxsize))

    if True:  # ASYNC

        async def fetchall_unbuffered(self) -> AsyncIterator[R]:
            """Iterate over the rows that are left."""
            async for row in self:
                yield row

    else:

        def fetchall_unbuffered(self) -> Iterator[R]:
            """Iterate over the rows that are left."""
            return iter(self)

    async def scroll(self, value: int, mode: str = "relative") -> None:
        """Move forward; backward is `NotSupportedError`, because earlier rows are gone."""
        self._check_executed()
        if mode not in ("relative", "absolute"):
            raise err.ProgrammingError(f"unknown scroll mode {mode!r}: expected 'relative' or 'absolute'")
        step = value if mode == "relative" else value - self._position
        if step < 0:
            raise err.NotSupportedError("backward scrolling is not supported by this cursor")
        for _ in range(step):
            await self.fetchone()

    async def nextset(self) -> bool | None:
        """Skip what is left of this result and go on to the next; None when there is none."""
        connection = self.connection
        while not self._ended:
            await self._fetch(self._BATCH)
        if not connection.wire.is_streaming:
            return None
        self._begin(await connection.wire.next_stream(self._as_dict))
        return True

    def _begin(self, result: QueryResult) -> int:
        self._result = result
        self._batch = ()
        self._at = self._position = 0
        self._ended = result.description is None
        self._warnings = result.warning_count
        self._lastrowid = result.insert_id if self._ended else None
        self._rowcount = result.affected_rows if self._ended else UNKNOWN_ROWCOUNT
        self.connection.last_result = result
        return self._rowcount

    def _on_wire(self) -> AsyncConnection:
        """The connection, for more of our rows; `ProgrammingError` when they are not on its wire any more."""
        connection = self.connection
        # The connection may have gone on without us: what is on its wire then is another's.
        if connection.last_result is not self._result:
            self._ended = True
            self._batch = ()
            message = "the rows that were left of this result are gone: the connection has gone on without them"
            raise err.ProgrammingError(message)
        return connection

    async def _fetch(self, most: int) -> None:
        self._at = 0
        if self._ended:
            self._batch = ()
            return
        connection = self._on_wire()
        try:
            batch = await connection.wire.fetch(min(most, self._BATCH))
            self._batch = self._shaped(batch) if self._as_dict or self.row_factory is not None else batch
        except err.Error:
            self._ended = not connection.wire.is_streaming
            self._batch = ()
            raise
        except Exception:
            raise
        except BaseException:
            await connection.give_up()
            raise
        self._ended = not self._batch
        if self._ended:
            self._warnings = connection.wire.stream_warnings

    @property
    def warning_count(self) -> int:
        """How many warnings `SHOW WARNINGS` would list; of rows known once all are fetched."""
        return self._warnings

    def _is_under_way(self) -> bool:
        """True while rows of this cursor are on the wire."""
        connection = self._connection
        # A stream is that of the last result; another cursor's is none of ours.
        if connection is None or self._result is None or self._result is not connection.last_result:
            return False
        return connection.open and connection.wire.is_streaming

    async def _finish(self) -> None:
        connection = self._connection
        if connection is not None and self._is_under_way():
            try:
                await end_stream(connection)
            except Exception:
                raise
            except BaseException:
                await connection.give_up()
                raise
        self._result = None
        self._batch = ()
        self._ended = True


class AsyncSSDictCursor(DictCursorMixin, AsyncSSCursor[dict[str, Any]]):
    """As `AsyncSSCursor`, with rows as dicts."""


class AsyncSSNamedCursor(AsyncSSCursor[Row]):
    """As `AsyncSSCursor`, with rows as `AsyncNamedCursor` has them."""

    row_factory = Row


sys_maxsize = 2**63 - 1


# The names that aiomysql and asyncmy give these classes.
if True:  # ASYNC
    Cursor = AsyncCursor
    DictCursor = AsyncDictCursor
    SSCursor = AsyncSSCursor
    SSDictCursor = AsyncSSDictCursor
    NamedCursor = AsyncNamedCursor
    SSNamedCursor = AsyncSSNamedCursor
