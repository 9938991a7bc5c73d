"""The Informix driver's half in Rust. Private: use `rowferry.informix`."""

import asyncio
from collections.abc import Iterable, Sequence
from typing import Any

from ..exceptions import Error
from ..informix._files import ClientFiles
from ..informix._settings import Settings
from . import ArrowBatch

def codec_of_code_set(name: str) -> str | None:
    """Python's codec for a code set that Informix names, if it is one of those that the core has tables for."""

def parse_composite(raw: bytes, schema: str) -> tuple[tuple[str, ...], tuple[Any, ...], str | None]:
    """The names of the fields, the members, and what was wrong, of the text of a row or collection."""

class QueryResult:
    """What a statement led to: the rows of its first fetch, or what it changed."""

    @property
    def rows(self) -> list[tuple[Any, ...]] | None:
        """The rows; None for statements without rows."""
    @property
    def raw_rows(self) -> int:
        """How many rows it holds as they came, for Arrow."""
    def decoded(self) -> list[tuple[Any, ...]] | None:
        """All rows, those too that were fetched for Arrow."""
    @property
    def description(self) -> tuple[Any, ...] | None:
        """PEP 249's description; None for statements without rows."""
    @property
    def count(self) -> int:
        """Rows changed; for a query, rows delivered so far."""
    @property
    def serial(self) -> int:
        """The value that a serial column was given, 0 when none."""
    @property
    def more(self) -> bool:
        """The cursor may have more rows: `fetch` or `discard` it."""
    @property
    def open(self) -> bool:
        """The cursor is open on the server: `discard` it."""
    @property
    def position(self) -> int:
        """The number of the last row delivered, from 1, by a scroll cursor; else 0."""
    @property
    def errors(self) -> list[Error] | None:
        """What rows of a batch failed with, when it was told to go on."""
    @property
    def statement_type(self) -> int | None:
        """What the statement is, by the server's number."""

class RowsToArrow:
    """Collects rows of one result set into columns."""

    def __new__(cls, result: QueryResult) -> RowsToArrow: ...
    def append(self, result: QueryResult, start: int, limit: int) -> int:
        """Appends at most `limit` rows of `result`, from its row `start`; answers how many."""
    @property
    def rows(self) -> int:
        """How many rows wait to be taken."""
    def take(self) -> ArrowBatch:
        """The rows that were appended, as a batch."""

class Wire:
    """A connection whose operations block the calling thread; other threads run meanwhile."""

    def __init__(self, settings: Settings) -> None: ...
    def login(self) -> str | tuple[int, str] | None:
        """Opens the socket and logs in. Answers None, where the server sends us instead, or a question of PAM."""
    def answer(self, answer: bytes | None = None) -> str | tuple[int, str] | None:
        """Answers a question of PAM, or acknowledges what is none; the outcome is as that of `login`."""
    def execute(
        self,
        sql: str,
        args: Any = None,
        begin: bool = False,
        *,
        scroll: bool = False,
        hold: bool = False,
        name: str | None = None,
        files: ClientFiles | None = None,
        query: bool = False,
    ) -> QueryResult:
        """Runs a statement, in a transaction when `begin` is true. With `query`, one without rows is refused."""
    def execute_many(
        self,
        sql: str,
        rows: Iterable[Any],
        begin: bool = False,
        *,
        go_on: int | None = None,
        files: ClientFiles | None = None,
    ) -> QueryResult:
        """Runs a statement for each row of values, in a transaction when `begin` is true. With `go_on`, so many rows
        may fail."""
    def fetch(self, result: QueryResult, files: ClientFiles | None = None) -> QueryResult:
        """The next rows of a cursor."""
    def fetch_raw(self, result: QueryResult) -> QueryResult:
        """The next rows of a cursor, for `RowsToArrow` alone."""
    def scroll(self, result: QueryResult, row: int | None, count: int = 1) -> QueryResult:
        """Up to `count` rows of a scroll cursor, from this number (from 1) on; None is the last row."""
    def find_routine(self, signature: str) -> tuple[str, int]:
        """The database and the handle of a routine."""
    def call_routine(
        self, signature: str, database: str, handle: int, args: Sequence[Any], begin: bool = False
    ) -> list[Any]:
        """Calls a routine by its handle; what it returns, as a list."""
    def lo_read(self, lofd: int, size: int, offset: int | None = None) -> bytes:
        """Up to `size` bytes of an open smart large object, at its position or from this offset on."""
    def lo_write(self, lofd: int, data: bytes) -> QueryResult:
        """Writes to an open smart large object, at its position. The count is how many bytes were taken."""
    def discard(self, result: QueryResult) -> None:
        """Nobody will fetch from this cursor any more. Harmless at any time."""
    def begin(self) -> QueryResult: ...
    def commit(self) -> QueryResult: ...
    def rollback(self) -> QueryResult: ...
    def set_savepoint(self, name: str) -> QueryResult: ...
    def rollback_to_savepoint(self, name: str) -> QueryResult: ...
    def release_savepoint(self, name: str) -> QueryResult: ...
    def ping(self) -> QueryResult: ...
    def interrupt(self) -> None:
        """Interrupts the statement that another thread waits for; nothing when there is none."""
    def fileno(self) -> int:
        """The number by which the system knows the socket, which is open as long as the connection is."""
    def quit(self) -> None:
        """Says good bye and closes."""
    def abort(self) -> None:
        """Closes without a word."""
    @property
    def is_displaced(self) -> bool:
        """The login has failed by which a server was sent more than one that is not known takes: another may have its
        place."""
    @property
    def is_open(self) -> bool: ...
    @property
    def is_quiet(self) -> bool:
        """True when the connection can be used as far as the kernel knows; asks nobody."""
    @property
    def is_busy(self) -> bool:
        """True while another thread has the connection."""
    def limit_reads(self, seconds: float | None) -> None:
        """From now on an answer is waited for so many seconds, or for ever."""
    @property
    def in_transaction(self) -> bool: ...
    @property
    def is_logged(self) -> bool: ...
    @property
    def is_ansi(self) -> bool: ...
    @property
    def server_version(self) -> str: ...
    @property
    def server_capabilities(self) -> bytes: ...
    @property
    def capabilities(self) -> bytes: ...
    @property
    def tls_description(self) -> str | None: ...

class AsyncWire:
    """A connection as an asyncio protocol. Operations answer futures of the loop."""

    def __init__(self, settings: Settings, event_loop: asyncio.AbstractEventLoop) -> None: ...
    def __new__(cls, settings: Settings, event_loop: asyncio.AbstractEventLoop) -> AsyncWire: ...
    def login(self) -> asyncio.Future[str | tuple[int, str] | None]: ...
    def answer(self, answer: bytes | None = None) -> asyncio.Future[str | tuple[int, str] | None]: ...
    def execute(
        self,
        sql: str,
        args: Any = None,
        begin: bool = False,
        *,
        scroll: bool = False,
        hold: bool = False,
        name: str | None = None,
        files: ClientFiles | None = None,
        query: bool = False,
    ) -> asyncio.Future[QueryResult]: ...
    def execute_many(
        self,
        sql: str,
        rows: Iterable[Any],
        begin: bool = False,
        *,
        go_on: int | None = None,
        files: ClientFiles | None = None,
    ) -> asyncio.Future[QueryResult]: ...
    def fetch(self, result: QueryResult, files: ClientFiles | None = None) -> asyncio.Future[QueryResult]: ...
    def scroll(self, result: QueryResult, row: int | None, count: int = 1) -> asyncio.Future[QueryResult]: ...
    def find_routine(self, signature: str) -> asyncio.Future[tuple[str, int]]: ...
    def call_routine(
        self, signature: str, database: str, handle: int, args: Sequence[Any], begin: bool = False
    ) -> asyncio.Future[list[Any]]: ...
    def lo_read(self, lofd: int, size: int, offset: int | None = None) -> asyncio.Future[bytes]: ...
    def lo_write(self, lofd: int, data: bytes) -> asyncio.Future[QueryResult]: ...
    def fetch_raw(self, result: QueryResult) -> asyncio.Future[QueryResult]: ...
    def discard(self, result: QueryResult) -> None: ...
    def drain(self) -> asyncio.Future[None]:
        """Reads and drops what is still to come of the operation under way."""
    def begin(self) -> asyncio.Future[QueryResult]: ...
    def commit(self) -> asyncio.Future[QueryResult]: ...
    def rollback(self) -> asyncio.Future[QueryResult]: ...
    def set_savepoint(self, name: str) -> asyncio.Future[QueryResult]: ...
    def rollback_to_savepoint(self, name: str) -> asyncio.Future[QueryResult]: ...
    def release_savepoint(self, name: str) -> asyncio.Future[QueryResult]: ...
    def ping(self) -> asyncio.Future[QueryResult]: ...
    def interrupt(self) -> None: ...
    def quit(self) -> asyncio.Future[None]: ...
    def stuck(self, waiting: int) -> None: ...
    def timed_out(self) -> None: ...
    def abort(self) -> None: ...
    @property
    def is_displaced(self) -> bool:
        """The login has failed by which a server was sent more than one that is not known takes: another may have its
        place."""
    @property
    def is_open(self) -> bool: ...
    @property
    def is_quiet(self) -> bool:
        """True when the connection can be used as far as the kernel knows; asks nobody."""
    @property
    def is_busy(self) -> bool: ...
    @property
    def in_transaction(self) -> bool: ...
    @property
    def is_logged(self) -> bool: ...
    @property
    def is_ansi(self) -> bool: ...
    @property
    def server_version(self) -> str: ...
    @property
    def server_capabilities(self) -> bytes: ...
    @property
    def capabilities(self) -> bytes: ...
    @property
    def tls_description(self) -> str | None: ...
