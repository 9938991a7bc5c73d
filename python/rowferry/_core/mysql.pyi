"""The MySQL driver's half in Rust. Private: use `rowferry.mysql`."""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Any

from ..mysql._settings import Settings
from ..mysql.err import Error
from . import ArrowBatch

def decimal_from_text(text: bytes) -> Decimal:
    """An exact number as rows have it, from its spelling: for tests of the ways to make one."""

def escape_bytes(bytes: bytes, no_backslash_escapes: bool = False) -> bytes:
    """Bytes of a literal with what would end it escaped."""

def event_types() -> dict[str, int]:
    """The type codes of the binary log's events by name."""

def normalise_gtids(text: str, is_mariadb: bool) -> str:
    """A set of GTIDs, or MariaDB's position, as the server would print it; `ProgrammingError` when it is none."""

class GtidSet:
    """A set of MySQL's transactions: `GtidSet("uuid:1-5:7")`."""

    def __init__(self, text: str = "") -> None: ...
    def __bool__(self) -> bool: ...
    def __contains__(self, other: GtidSet | str, /) -> bool:
        """Whether all transactions of `other` are in this set."""
    def __or__(self, other: GtidSet | str, /) -> GtidSet:
        """The union."""

class GtidPosition:
    """The last transaction of each of MariaDB's domains: `GtidPosition("0-1-100")`."""

    def __init__(self, text: str = "") -> None: ...
    def __contains__(self, other: GtidPosition | str, /) -> bool:
        """Whether the position is at or behind `other`."""

class BinlogRows:
    """The rows of an event of the binary log, decoded when they are asked for."""

    def __len__(self) -> int: ...
    def images(self, after: bool, as_dict: bool = True) -> list[Any]:
        """The rows of one side of the change."""
    def json_diffs(self) -> list[dict[str, tuple[Any, ...]]]:
        """For each row a dict of the JSON columns that the log tells the changes of."""
    def pairs(self, as_dict: bool = True) -> list[Any]:
        """Pairs of rows, before and after the change."""
    def peers(self) -> list[dict[str, Any]]:
        """Rows as python-mysql-replication and asyncmy have them."""
    def present(self, after: bool) -> tuple[str, ...]:
        """The names of the columns that are there."""

class BinlogToArrow:
    """Collects the rows of one table's events into batches."""

    def __init__(self, with_change: bool) -> None: ...
    @property
    def rows(self) -> int:
        """How many rows wait to be taken."""
    def append(self, rows: BinlogRows, after: bool | None = None) -> ArrowBatch | None:
        """Append rows. A batch comes back when the table's shape has changed: it has the rows before these."""
    def take(self) -> ArrowBatch | None:
        """The rows that were appended, as a batch; None when there are none."""
    def take_all(self) -> ArrowBatch | None:
        """The same; a batch without rows when there are none."""

class BinlogReader:
    """The state of a stream of the binary log; outlives its connections."""

    def __init__(
        self,
        *,
        event_types: bytes | None,
        only_tables: list[str],
        only_schemas: list[str],
        ignored_tables: list[str],
        ignored_schemas: list[str],
        zero_dates: str,
        describes: bool,
    ) -> None: ...
    @property
    def gtid_set(self) -> str | None:
        """The transactions that were handed out as a whole; None when that is not known."""
    @property
    def in_transaction(self) -> bool:
        """True while a transaction is handed out."""
    @property
    def is_at_end(self) -> bool:
        """True when the server has sent all of its log and all of it is handed out."""
    @property
    def position(self) -> tuple[str, int]:
        """File and offset behind the last event that was handed out."""
    @property
    def safe_position(self) -> tuple[str, int]:
        """File and offset behind the last whole transaction."""
    @property
    def waiting(self) -> int:
        """Packets that came and wait."""
    def begin(self, file: str, offset: int, is_mariadb: bool, gtids: str | None = None) -> None:
        """Where to begin: before the first connection."""
    def connected(self, *, checksums: bool, semi_sync: bool, codecs: dict[int, str | None], utc_offset: int) -> None:
        """A connection stands."""
    def describe(self, schema: str, table: str, columns: list[dict[str, Any]] | None) -> None:
        """What information_schema says of a table."""
    def next_event(self) -> Any:
        """The next event; None when packets must come first; database and table when that is to be described."""

def tab_separated(rows: Iterable[Sequence[Any]]) -> bytes:
    """Rows as lines that LOAD DATA reads: values apart by tabs, what would be misread escaped, NULL as `\\N`."""

class QueryResult:
    """One result of a statement."""

    @property
    def rows(self) -> Sequence[Any] | None:
        """All rows; None for results without rows, and for rows that are still to be fetched."""
    @property
    def description(self) -> tuple[Any, ...] | None:
        """PEP 249's description; None for results without rows."""
    @property
    def fields(self) -> list[Any] | None:
        """The columns as objects with `name` and `type_code`; None for results without rows."""
    @property
    def affected_rows(self) -> int:
        """Rows inserted, changed or deleted."""
    @property
    def insert_id(self) -> int:
        """The first number that AUTO_INCREMENT gave out, 0 when none."""
    @property
    def warning_count(self) -> int:
        """How many warnings SHOW WARNINGS would list."""
    @property
    def server_status(self) -> int:
        """The server's status flags."""
    @property
    def is_out_parameters(self) -> bool:
        """True when the row holds a procedure's OUT and INOUT parameters: the statement was prepared."""
    @property
    def info(self) -> str:
        """What the server adds for people."""
    @property
    def more(self) -> bool:
        """Another result follows on the wire: only for results that are fetched bit by bit."""
    @property
    def next(self) -> QueryResult | None:
        """The next result of the same statement."""
    @property
    def error(self) -> Error | None:
        """What the server refused after this result."""

class Prepared:
    """A statement that the server has prepared, or will at its first execution."""

    @property
    def is_prepared(self) -> bool:
        """True once the server has prepared it."""
    @property
    def params(self) -> int:
        """How many `?` there are; 0 as long as nobody knows."""

class RowsToArrow:
    """Collects rows of one result, tuples or dicts, into columns."""

    def __init__(self, result: QueryResult) -> None: ...
    def append(self, row: Any) -> None:
        """Append a row."""
    def take(self) -> ArrowBatch:
        """The rows that were appended, as a batch."""

class _Common:
    @property
    def auth_plugin(self) -> str:
        """The plugin that let us in."""
    @property
    def codec(self) -> str | None:
        """Python's name of the character set that statements are in; None for UTF-8."""
    @property
    def connection_id(self) -> int:
        """What KILL takes."""
    @property
    def is_clean(self) -> bool:
        """True when the connection can be used and nothing is left of its last use: no answer, no transaction."""
    @property
    def is_quiet(self) -> bool:
        """True when the connection can be used as far as the kernel knows; asks nobody."""
    @property
    def is_open(self) -> bool:
        """True while the connection can be used."""
    @property
    def is_streaming(self) -> bool:
        """True while rows of a stream, or results behind it, are still on the wire."""
    @property
    def schema(self) -> str | None:
        """The default database, as far as the server has told; None when it has not."""
    @property
    def session_state(self) -> tuple[str | None, dict[str, str], str | None, str | None, str | None]:
        """What the server has told of changes: database, variables, GTIDs, transaction's state and characteristics."""
    @property
    def server_status(self) -> int:
        """The server's status flags."""
    @property
    def server_version(self) -> str:
        """The server's version."""
    @property
    def tls_description(self) -> str | None:
        """The TLS version and cipher; None in plain text."""
    @property
    def tracks_session(self) -> bool:
        """True when the server tells of changes of session state."""
    def abort(self) -> None:
        """Close without a word."""
    def forget(self, prepared: Prepared) -> None:
        """Forget a prepared statement. The message travels with the next request."""
    def literal(self, value: Any) -> bytes:
        """The SQL literal of a value."""
    def mogrify(self, sql: str | bytes, args: Any = None) -> bytes:
        """SQL with `args` filled in, as it would be sent."""
    def mogrify_many(self, sql: str | bytes, rows: Iterable[Any]) -> bytes:
        """SQL with the list of values of an INSERT repeated for each of `rows`; of others, that of the last row."""
    @property
    def stream_warnings(self) -> int:
        """How many warnings the server counted for the stream that ended last."""
    def question_marks(self, sql: str | bytes) -> bytes | None:
        """SQL with `?` for each `%s`; None when it has other placeholders, or some inside quotes."""
    def set_attributes(self, attributes: dict[str, Any]) -> None:
        """Send these named values with every later statement."""
    def statement(self, sql: str | bytes) -> Prepared | None:
        """A statement with `?` for each `%s`, which its first execution prepares; None when that cannot be."""

class Wire(_Common):
    """A connection whose operations block the calling thread; other threads run meanwhile."""

    def __init__(self, settings: Settings) -> None: ...
    def dump_binlog(self, request: Any, reader: BinlogReader) -> None:
        """Ask for the binary log and take what comes first."""
    def end_stream(self, most: int, patience: float) -> None:
        """Leave nothing of a stream on the wire: what is not read away within `most` bytes of rows and `patience`
        seconds is ended on the server, if it only reads."""

    def begin_file(self, sql: str | bytes, args: Any = None) -> bytes | QueryResult:
        """Run a LOAD DATA LOCAL whose file is pushed; answers the name that the server asks for."""
    def drain(self, most: int | None = None) -> bool:
        """Read and drop what is still to come; False when `most` bytes of rows were dropped and more is to come."""
    def end_file(self) -> QueryResult:
        """End the pushed file and answer the statement's result."""
    def execute(self, prepared: Prepared, args: Iterable[Any] | None = None, as_dict: bool = False) -> QueryResult:
        """Run a prepared statement."""
    def execute_each(self, prepared: Prepared, rows: Iterable[Any], window: int, as_dict: bool = False) -> QueryResult:
        """Run a prepared statement for each of `rows`; up to `window` executions are on their way at a time."""
    def execute_many(self, sql: str | bytes, rows: Iterable[Any], most: int, as_dict: bool = False) -> QueryResult:
        """Run SQL for each of `rows`. Requests are at most `most` bytes long, unless a single row is longer."""
    def fetch(self, most: int) -> Sequence[Any]:
        """Up to `most` rows of the stream, at least one unless it has ended."""
    def fetch_arrow(self, most: int) -> ArrowBatch | None:
        """Up to `most` rows of the stream, by columns; None behind the last."""
    def interrupt(self) -> None:
        """End `listen_binlog`, under way in another thread, within half a second; the connection is then lost."""
    def listen_binlog(self, reader: BinlogReader) -> None:
        """Wait for packets of the binary log, which go to `reader`."""
    def login(self, socket: int | None = None) -> None:
        """Open the socket, or take over the descriptor of one that is connected, and log in."""
    def next_stream(self, as_dict: bool) -> QueryResult:
        """Go on to the result behind a stream."""
    def open_stream(self, sql: str | bytes, args: Any = None, as_dict: bool = False) -> QueryResult:
        """Run SQL and answer the head of its first result; rows are fetched by `fetch`."""
    def ping(self) -> QueryResult:
        """Ask whether the server is there."""
    def prepare(self, sql: str | bytes) -> Prepared:
        """Prepare a statement with `?` for values."""
    def push_file(self, piece: bytes) -> None:
        """Send a piece of the file that is pushed."""
    def query(self, sql: str | bytes, args: Any = None, as_dict: bool = False) -> QueryResult:
        """Run SQL, with `args` filled in, and answer its first result."""
    def quit(self) -> None:
        """Say good bye and close."""
    def register_replica(self, server_id: int, host: str, port: int) -> QueryResult:
        """Introduce us as a replica."""
    def reset(self) -> QueryResult:
        """Forget all session state but the login."""
    def change_user(self, settings: Settings) -> None:
        """Log in again on the same connection."""
    def select_database(self, name: str) -> QueryResult:
        """Change the default database."""
    def set_up(self, statements: Iterable[str | bytes], reset: bool = False) -> None:
        """Send statements whose rows do not matter, all in one write; before them COM_RESET_CONNECTION if `reset`."""

class AsyncWire(_Common):
    """A connection as an asyncio protocol. Operations answer futures of the loop; otherwise as `Wire`."""

    def __init__(self, settings: Settings, event_loop: asyncio.AbstractEventLoop) -> None: ...
    @property
    def is_busy(self) -> bool:
        """True while an answer is awaited."""
    @property
    def may_end_stream(self) -> bool:
        """True when nothing is lost by ending the stream's statement on the server."""

    def begin_file(self, sql: str | bytes, args: Any = None) -> asyncio.Future[bytes | QueryResult]: ...
    def buffer_updated(self, count: int) -> None: ...
    def change_user(self, settings: Settings) -> asyncio.Future[None]: ...
    def connection_lost(self, cause: Exception | None) -> None: ...
    def connection_made(self, transport: asyncio.BaseTransport) -> None: ...
    def detach(self) -> asyncio.Future[Any] | None:
        """Take whoever waits off the operation under way, which goes on: `drain` reads its answer away."""
    def drain(self, most: int | None = None) -> asyncio.Future[bool]: ...
    def dump_binlog(self, request: Any, reader: BinlogReader) -> asyncio.Future[None]: ...
    def end_file(self) -> asyncio.Future[QueryResult]: ...
    def eof_received(self) -> None: ...
    def execute(
        self, prepared: Prepared, args: Iterable[Any] | None = None, as_dict: bool = False
    ) -> asyncio.Future[QueryResult]: ...
    def execute_each(
        self, prepared: Prepared, rows: Iterable[Any], window: int, as_dict: bool = False
    ) -> asyncio.Future[QueryResult]: ...
    def execute_many(
        self, sql: str | bytes, rows: Iterable[Any], most: int, as_dict: bool = False
    ) -> asyncio.Future[QueryResult]: ...
    def fetch(self, most: int) -> asyncio.Future[Sequence[Any]]: ...
    def fetch_arrow(self, most: int) -> asyncio.Future[ArrowBatch | None]: ...
    def get_buffer(self, _sizehint: int) -> memoryview: ...
    def listen_binlog(self, reader: BinlogReader) -> asyncio.Future[None]: ...
    def login(self) -> asyncio.Future[None]: ...
    def next_stream(self, as_dict: bool) -> asyncio.Future[QueryResult]: ...
    def open_stream(self, sql: str | bytes, args: Any = None, as_dict: bool = False) -> asyncio.Future[QueryResult]: ...
    def overdue_error(self) -> Error:
        """The exception for an operation that `query_timeout` has ended."""
    def pause_writing(self) -> None: ...
    def ping(self) -> asyncio.Future[QueryResult]: ...
    def prepare(self, sql: str | bytes) -> asyncio.Future[Prepared]: ...
    def push_file(self, piece: bytes) -> asyncio.Future[None]: ...
    def query(
        self, sql: str | bytes, args: Sequence[Any] | Mapping[str, Any] | Any = None, as_dict: bool = False
    ) -> asyncio.Future[QueryResult]: ...
    def quit(self) -> asyncio.Future[None]: ...
    def register_replica(self, server_id: int, host: str, port: int) -> asyncio.Future[QueryResult]: ...
    def reset(self) -> asyncio.Future[QueryResult]: ...
    def resume_writing(self) -> None: ...
    def select_database(self, name: str) -> asyncio.Future[QueryResult]: ...
    def set_up(self, statements: Iterable[str | bytes], reset: bool = False) -> asyncio.Future[None]: ...
    def stuck(self, waiting: int) -> None: ...
    def timed_out(self) -> None: ...
