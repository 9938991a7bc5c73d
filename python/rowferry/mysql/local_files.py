# Made from python/rowferry/mysql/aio/local_files.py by tools/async_to_sync.py: change that file instead.
"""LOAD DATA LOCAL with content out of Python."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from .._core.mysql import QueryResult
from . import err
from ._cancel import kill_query
from ._local_data import (
    columns_statement,
    load_statement,
    pieces_of,
    row_pieces,
)
from .constants import FIELD_TYPE

if TYPE_CHECKING:
    from .connections import Connection

__all__ = ["LocalFiles"]

_NOT_ALLOWED = "sending local data must be allowed when connecting: connect(local_infile=True)"


class LocalFiles:
    """What a cursor does with content for LOAD DATA LOCAL."""

    _statement: tuple[Any, Any, bool] | None

    if TYPE_CHECKING:

        @property
        def connection(self) -> Connection: ...

        def _take(self, result: QueryResult) -> int: ...

        def _finish(self) -> None: ...

    def load_data(self, query: str, source: Any, args: Any = None) -> int:
        """Run a `LOAD DATA LOCAL INFILE 'any name' INTO TABLE …` whose content is `source`; answer the number of rows.

        `source` is bytes or text, a `pathlib.Path`, a file object, or an iterable (with asyncio also an asynchronous
        one) of bytes or texts; text is sent in the connection's character set. It is read as the server takes it, and
        held in memory in small pieces only. The connection must allow it: `connect(local_infile=True)`.

        When `source` raises, the statement is killed on the server, and the exception goes on. Tables without
        transactions keep the rows that had arrived.
        """
        encoding = self.connection.settings.encoding or "utf-8"
        return self._load(query, args, _pieces(source, encoding))

    def load_rows(self, table: str, rows: Iterable[Sequence[Any]], columns: Sequence[str] = ()) -> int:
        """Load rows of Python values into a table by LOAD DATA LOCAL; answer the number of rows.

        `columns` are the names of the table's columns in the order of the values, by default all. `rows` is an iterable
        (with asyncio also an asynchronous one). Values are those that `execute` takes, but for lists. The fastest way
        in; but as with every LOAD DATA LOCAL the server turns what does not fit into warnings (`show_warnings`), where
        an INSERT fails, and skips rows that are there already.
        """
        years = self._years(table, columns)
        return self._load(load_statement(table, columns), None, _row_pieces(rows, years))

    def _years(self, table: str, columns: Sequence[str]) -> list[int]:
        """The places of YEAR columns, where a 0 is spelled in a way of its own; none when we may not read the table."""
        self._finish()
        if self.connection.settings.local_files is None:
            return []
        try:
            self.connection.query(columns_statement(table, columns))
        except err.DatabaseError:
            # LOAD DATA will say what is wrong, if anything is.
            return []
        result = self.connection.last_result
        described = () if result is None else result.description or ()
        return [at for at, column in enumerate(described) if column[1] == FIELD_TYPE.YEAR]

    def _load(self, query: str, args: Any, pieces: Iterator[bytes]) -> int:
        connection = self.connection
        self._finish()
        if connection.settings.local_files is None:
            raise err.NotSupportedError(_NOT_ALLOWED)
        wire = connection.wire
        self._statement = (query, args, False)
        try:
            begun = wire.begin_file(query, args)
            if isinstance(begun, QueryResult):
                return self._take(begun)
            for piece in pieces:
                wire.push_file(piece)
            return self._take(wire.end_file())
        except Exception as failure:
            if wire.is_open and wire.is_streaming:
                self._leave(failure)
            elif isinstance(failure, err.Error):
                failure.sql = query
            raise
        except BaseException:
            connection.give_up()
            raise

    def _leave(self, failure: Exception) -> None:
        """The content ends in `failure`: have the server undo the statement."""
        connection = self.connection
        wire = connection.wire
        try:
            if kill_query(connection.settings, wire.connection_id):
                # The server looks whether it was killed before each row, but not at the end of the file.
                wire.push_file(b"\n")
            result = wire.end_file()
        except err.Error:
            return
        except BaseException:
            connection.give_up()
            raise
        if result.affected_rows and hasattr(failure, "add_note"):
            failure.add_note(f"the server has loaded {result.affected_rows} rows of what came before")


_pieces = pieces_of
_row_pieces = row_pieces
