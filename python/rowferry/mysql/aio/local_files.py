"""LOAD DATA LOCAL with content out of Python."""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterator, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from ..._core.mysql import QueryResult
from .. import err
from .._local_data import (
    PIECE,
    ROWS,
    as_bytes,
    columns_statement,
    load_statement,
    pieces_of,
    row_pieces,
    slices_of,
    spelled,
)
from ..constants import FIELD_TYPE
from ._cancel import kill_query

if TYPE_CHECKING:
    from .connection import AsyncConnection

__all__ = ["AsyncLocalFiles"]

_NOT_ALLOWED = "sending local data must be allowed when connecting: connect(local_infile=True)"


class AsyncLocalFiles:
    """What a cursor does with content for LOAD DATA LOCAL."""

    _statement: tuple[Any, Any, bool] | None

    if TYPE_CHECKING:

        @property
        def connection(self) -> AsyncConnection: ...

        def _take(self, result: QueryResult) -> int: ...

        async def _finish(self) -> None: ...

    async def load_data(self, query: str, source: Any, args: Any = None) -> int:
        """Run a `LOAD DATA LOCAL INFILE 'any name' INTO TABLE …` whose content is `source`; answer the number of rows.

        `source` is bytes or text, a `pathlib.Path`, a file object, or an iterable (with asyncio also an asynchronous
        one) of bytes or texts; text is sent in the connection's character set. It is read as the server takes it, and
        held in memory in small pieces only. The connection must allow it: `connect(local_infile=True)`.

        When `source` raises, the statement is killed on the server, and the exception goes on. Tables without
        transactions keep the rows that had arrived.
        """
        encoding = self.connection.settings.encoding or "utf-8"
        return await self._load(query, args, _pieces(source, encoding))

    async def load_rows(self, table: str, rows: Iterable[Sequence[Any]], columns: Sequence[str] = ()) -> int:
        """Load rows of Python values into a table by LOAD DATA LOCAL; answer the number of rows.

        `columns` are the names of the table's columns in the order of the values, by default all. `rows` is an iterable
        (with asyncio also an asynchronous one). Values are those that `execute` takes, but for lists. The fastest way
        in; but as with every LOAD DATA LOCAL the server turns what does not fit into warnings (`show_warnings`), where
        an INSERT fails, and skips rows that are there already.
        """
        years = await self._years(table, columns)
        return await self._load(load_statement(table, columns), None, _row_pieces(rows, years))

    async def _years(self, table: str, columns: Sequence[str]) -> list[int]:
        """The places of YEAR columns, where a 0 is spelled in a way of its own; none when we may not read the table."""
        await self._finish()
        if self.connection.settings.local_files is None:
            return []
        try:
            await self.connection.query(columns_statement(table, columns))
        except err.DatabaseError:
            # LOAD DATA will say what is wrong, if anything is.
            return []
        result = self.connection.last_result
        described = () if result is None else result.description or ()
        return [at for at, column in enumerate(described) if column[1] == FIELD_TYPE.YEAR]

    async def _load(self, query: str, args: Any, pieces: AsyncIterator[bytes]) -> int:
        connection = self.connection
        await self._finish()
        if connection.settings.local_files is None:
            raise err.NotSupportedError(_NOT_ALLOWED)
        wire = connection.wire
        self._statement = (query, args, False)
        try:
            begun = await wire.begin_file(query, args)
            if isinstance(begun, QueryResult):
                return self._take(begun)
            async for piece in pieces:
                await wire.push_file(piece)
            return self._take(await wire.end_file())
        except Exception as failure:
            if wire.is_open and wire.is_streaming:
                await self._leave(failure)
            elif isinstance(failure, err.Error):
                failure.sql = query
            raise
        except BaseException:
            await connection.give_up()
            raise

    async def _leave(self, failure: Exception) -> None:
        """The content ends in `failure`: have the server undo the statement."""
        connection = self.connection
        wire = connection.wire
        try:
            if await kill_query(connection.settings, wire.connection_id):
                # The server looks whether it was killed before each row, but not at the end of the file.
                await wire.push_file(b"\n")
            result = await wire.end_file()
        except err.Error:
            return
        except BaseException:
            await connection.give_up()
            raise
        if result.affected_rows and hasattr(failure, "add_note"):
            failure.add_note(f"the server has loaded {result.affected_rows} rows of what came before")


if True:  # ASYNC

    async def _pieces(source: Any, encoding: str) -> AsyncIterator[bytes]:
        if inspect.iscoroutinefunction(getattr(source, "read", None)):
            while piece := await source.read(PIECE):
                for part in slices_of(as_bytes(piece, encoding)):
                    yield part
        elif hasattr(source, "__aiter__"):
            async for piece in source:
                for part in slices_of(as_bytes(piece, encoding)):
                    yield part
        else:
            for part in pieces_of(source, encoding):
                yield part

    async def _row_pieces(rows: Any, years: Sequence[int]) -> AsyncIterator[bytes]:
        if hasattr(rows, "__aiter__"):
            some: list[Any] = []
            done = 0
            async for row in rows:
                some.append(row)
                if len(some) == ROWS:
                    yield spelled(some, done, years)
                    done += len(some)
                    some = []
            yield spelled(some, done, years)
        else:
            for part in row_pieces(rows, years):
                yield part

else:
    _pieces = pieces_of
    _row_pieces = row_pieces
