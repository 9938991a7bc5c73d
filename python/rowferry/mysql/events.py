"""Events of the binary log, as `rowferry.mysql.replication` hands them out.

The classes are named as in python-mysql-replication and asyncmy. Each has the parts of the event's header first.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from .._core import ArrowBatch
from .._core.mysql import BinlogRows, BinlogToArrow, GtidPosition, GtidSet, event_types

__all__ = [
    "ABSENT",
    "AnonymousGtidEvent",
    "BinLogEvent",
    "DeleteRowsEvent",
    "FormatDescriptionEvent",
    "GtidEvent",
    "GtidPosition",
    "GtidSet",
    "HeartbeatLogEvent",
    "IncidentEvent",
    "IntvarEvent",
    "JsonDiff",
    "MariadbAnnotateRowsEvent",
    "MariadbBinLogCheckPointEvent",
    "MariadbGtidEvent",
    "MariadbGtidListEvent",
    "PartialJson",
    "PartialUpdateRowsEvent",
    "PreviousGtidsEvent",
    "QueryEvent",
    "RandEvent",
    "RotateEvent",
    "RowsEvent",
    "RowsQueryLogEvent",
    "StopEvent",
    "TableColumn",
    "TableInfo",
    "TableMapEvent",
    "UnknownEvent",
    "UpdateRowsEvent",
    "UserVarEvent",
    "WriteRowsEvent",
    "XAPrepareEvent",
    "XidEvent",
    "type_codes",
]

_CODES: dict[str, int] = event_types()
_NAMES = {code: name for name, code in _CODES.items()}


def _codes(*names: str) -> tuple[int, ...]:
    return tuple(_CODES[name] for name in names)


class _Absent(enum.Enum):
    """What stands in a row for a column that is not in its image."""

    ABSENT = enum.auto()

    def __repr__(self) -> str:
        return "ABSENT"

    def __bool__(self) -> bool:
        return False


#: Stands in tuples for columns that the log leaves out (`binlog_row_image=MINIMAL` or `NOBLOB`). It is not NULL.
ABSENT = _Absent.ABSENT


@dataclass(frozen=True, slots=True)
class JsonDiff:
    """A change of a JSON document."""

    #: `replace`, `insert` or `remove`.
    operation: str
    #: Where, as `$.member[0]`.
    path: str
    #: The new value as JSON text; None for `remove`.
    value: str | None


@dataclass(frozen=True, slots=True)
class PartialJson:
    """Stands for a JSON document of which only the changes are known, since the image before the change is left out."""

    diffs: tuple[JsonDiff, ...]


@dataclass(frozen=True, slots=True)
class TableColumn:
    """A column, as far as the log (or information_schema) tells."""

    #: `UNKNOWN_COL0` and so on where it is not known.
    name: str
    #: See `constants.FIELD_TYPE`; the codes 17 to 19 are TIMESTAMP, DATETIME and TIME as they are stored.
    type_code: int
    #: The type's own number, such as the length of a VARCHAR in bytes.
    metadata: int
    nullable: bool
    is_unsigned: bool | None
    #: The collation's number; 63 for bytes.
    collation: int | None
    #: Of ENUM and SET.
    members: Sequence[str] | None
    is_primary: bool | None
    is_invisible: bool | None
    geometry_type: int | None
    dimensions: int | None


@dataclass(frozen=True, slots=True)
class TableInfo:
    """The table that rows are about."""

    table_id: int
    schema: str
    table: str
    columns: tuple[TableColumn, ...]
    #: Names; None where the log does not tell.
    primary_key: tuple[str, ...] | None


@dataclass(slots=True)
class BinLogEvent:
    """What every event has."""

    #: The type codes that become this class.
    EVENT_TYPES: ClassVar[tuple[int, ...]] = ()

    #: Seconds since 1970, when the statement began.
    timestamp: int
    event_type: int
    #: The server where the change was made.
    server_id: int
    #: Bytes, header and checksum included.
    event_size: int
    #: Where the next event begins in the file, modulo 4 GiB; 0 for events that stand in no file.
    log_pos: int
    flags: int

    @property
    def event_type_name(self) -> str:
        """The type in the server's words."""
        return _NAMES.get(self.event_type, f"UNKNOWN_{self.event_type}")


@dataclass(slots=True)
class UnknownEvent(BinLogEvent):
    """An event without a class of its own; its body as it is."""

    body: bytes = b""


@dataclass(slots=True)
class FormatDescriptionEvent(BinLogEvent):
    """The head of a file."""

    EVENT_TYPES: ClassVar[tuple[int, ...]] = _codes("FORMAT_DESCRIPTION")

    binlog_version: int
    mysql_version_str: str
    created: int
    #: `NONE` or `CRC32`.
    checksum: str


@dataclass(slots=True)
class RotateEvent(BinLogEvent):
    """The log goes on in another file. Also the first event of every connection."""

    EVENT_TYPES: ClassVar[tuple[int, ...]] = _codes("ROTATE")

    next_binlog: str
    position: int


@dataclass(slots=True)
class StopEvent(BinLogEvent):
    """The server was stopped."""

    EVENT_TYPES: ClassVar[tuple[int, ...]] = _codes("STOP")


@dataclass(slots=True)
class HeartbeatLogEvent(BinLogEvent):
    """Nothing happened. Handed out only when asked for."""

    EVENT_TYPES: ClassVar[tuple[int, ...]] = _codes("HEARTBEAT", "HEARTBEAT_V2")

    #: The file that the server writes.
    ident: str
    position: int


@dataclass(slots=True)
class QueryEvent(BinLogEvent):
    """A statement: BEGIN, COMMIT of non-transactional changes, or one that changes definitions."""

    EVENT_TYPES: ClassVar[tuple[int, ...]] = _codes("QUERY", "QUERY_COMPRESSED")

    schema: str
    query: str
    #: The connection that ran it.
    thread_id: int
    #: Seconds.
    execution_time: int
    #: What its client was answered; 0 when all was well.
    error_code: int
    #: The session's state, as the server codes it.
    status_variables: bytes


@dataclass(slots=True)
class XidEvent(BinLogEvent):
    """Commit of a transaction."""

    EVENT_TYPES: ClassVar[tuple[int, ...]] = _codes("XID")

    xid: int


@dataclass(slots=True)
class XAPrepareEvent(BinLogEvent):
    """An XA transaction was prepared."""

    EVENT_TYPES: ClassVar[tuple[int, ...]] = _codes("XA_PREPARE")

    one_phase: bool
    format_id: int
    gtrid: bytes
    bqual: bytes


@dataclass(slots=True)
class GtidEvent(BinLogEvent):
    """A transaction of MySQL begins."""

    EVENT_TYPES: ClassVar[tuple[int, ...]] = _codes("GTID", "GTID_TAGGED")

    #: The UUID of the server that made it.
    uuid: str
    #: Empty for none; MySQL 8.3.
    tag: str
    number: int
    last_committed: int
    sequence_number: int
    #: Microseconds since 1970 of its commit on this server; 0 when the server does not tell.
    immediate_commit_timestamp: int
    #: The same where it was made.
    original_commit_timestamp: int
    #: Bytes of all its events, 0 when the server does not tell.
    transaction_length: int
    #: As 80036 for 8.0.36.
    immediate_server_version: int
    original_server_version: int

    @property
    def gtid(self) -> str:
        """`uuid:number` or `uuid:tag:number`."""
        return f"{self.uuid}:{self.tag}:{self.number}" if self.tag else f"{self.uuid}:{self.number}"


@dataclass(slots=True)
class AnonymousGtidEvent(GtidEvent):
    """A transaction of a MySQL server without GTIDs begins."""

    EVENT_TYPES: ClassVar[tuple[int, ...]] = _codes("ANONYMOUS_GTID")


@dataclass(slots=True)
class PreviousGtidsEvent(BinLogEvent):
    """The transactions in all files before this one."""

    EVENT_TYPES: ClassVar[tuple[int, ...]] = _codes("PREVIOUS_GTIDS")

    gtid_set: str


@dataclass(slots=True)
class MariadbGtidEvent(BinLogEvent):
    """A transaction of MariaDB begins."""

    EVENT_TYPES: ClassVar[tuple[int, ...]] = _codes("MARIADB_GTID")

    domain_id: int
    sequence: int
    gtid_flags: int
    #: Transactions with the same number were committed together; 0 for none.
    commit_id: int
    #: A statement that changes definitions follows.
    is_ddl: bool

    @property
    def gtid(self) -> str:
        """`domain-server-sequence`."""
        return f"{self.domain_id}-{self.server_id}-{self.sequence}"


@dataclass(slots=True)
class MariadbGtidListEvent(BinLogEvent):
    """The last transaction of each domain before this file."""

    EVENT_TYPES: ClassVar[tuple[int, ...]] = _codes("MARIADB_GTID_LIST")

    gtid_list: str


@dataclass(slots=True)
class MariadbBinLogCheckPointEvent(BinLogEvent):
    """The oldest file that a crash recovery of MariaDB would need."""

    EVENT_TYPES: ClassVar[tuple[int, ...]] = _codes("BINLOG_CHECKPOINT")

    filename: str


@dataclass(slots=True)
class RowsQueryLogEvent(BinLogEvent):
    """The text of the statement that changed the rows that follow (MySQL, `binlog_rows_query_log_events=ON`)."""

    EVENT_TYPES: ClassVar[tuple[int, ...]] = _codes("ROWS_QUERY")

    query: str


@dataclass(slots=True)
class MariadbAnnotateRowsEvent(BinLogEvent):
    """The text of the statement that changed the rows that follow (MariaDB)."""

    EVENT_TYPES: ClassVar[tuple[int, ...]] = _codes("ANNOTATE_ROWS")

    sql_statement: str


@dataclass(slots=True)
class IntvarEvent(BinLogEvent):
    """`LAST_INSERT_ID()` (1) or the next AUTO_INCREMENT (2) of the statement that follows."""

    EVENT_TYPES: ClassVar[tuple[int, ...]] = _codes("INTVAR")

    type: int
    value: int


@dataclass(slots=True)
class RandEvent(BinLogEvent):
    """The seeds of `RAND()` in the statement that follows."""

    EVENT_TYPES: ClassVar[tuple[int, ...]] = _codes("RAND")

    seed1: int
    seed2: int


@dataclass(slots=True)
class UserVarEvent(BinLogEvent):
    """A user variable of the statement that follows."""

    EVENT_TYPES: ClassVar[tuple[int, ...]] = _codes("USER_VAR")

    name: str
    value: Any


@dataclass(slots=True)
class IncidentEvent(BinLogEvent):
    """Something is missing in the log; 1 means that events were lost."""

    EVENT_TYPES: ClassVar[tuple[int, ...]] = _codes("INCIDENT")

    number: int
    message: str


@dataclass(slots=True)
class TableMapEvent(BinLogEvent):
    """The table that rows behind this event will be about."""

    EVENT_TYPES: ClassVar[tuple[int, ...]] = _codes("TABLE_MAP")

    info: TableInfo

    @property
    def schema(self) -> str:
        """The database."""
        return self.info.schema

    @property
    def table(self) -> str:
        """The table's name."""
        return self.info.table

    @property
    def columns(self) -> tuple[TableColumn, ...]:
        """The columns, in the table's order."""
        return self.info.columns


@dataclass(slots=True)
class RowsEvent(BinLogEvent):
    """Rows of one table. They are decoded when they are asked for.

    Iteration yields pairs of dicts: the row before and after the change, None where there is none. Columns that the log
    leaves out are missing in dicts, and `ABSENT` in tuples.
    """

    info: TableInfo
    rows_flags: int
    _images: BinlogRows = field(repr=False)
    _rows: list[dict[str, Any]] | None = field(default=None, init=False, repr=False, compare=False)

    @property
    def schema(self) -> str:
        """The database."""
        return self.info.schema

    @property
    def table(self) -> str:
        """The table's name."""
        return self.info.table

    @property
    def columns(self) -> tuple[TableColumn, ...]:
        """The columns, in the table's order."""
        return self.info.columns

    @property
    def primary_key(self) -> tuple[str, ...] | None:
        """The names of the primary key's columns; None where the log does not tell."""
        return self.info.primary_key

    @property
    def ends_statement(self) -> bool:
        """True for the last rows of a statement."""
        return bool(self.rows_flags & 1)

    @property
    def rows(self) -> list[dict[str, Any]]:
        """As python-mysql-replication and asyncmy have them: `{"values": {…}}`, of updates
        `{"before_values": {…}, "after_values": {…}}`."""
        rows = self._rows
        if rows is None:
            rows = self._rows = self._images.peers()
        return rows

    def __iter__(self) -> Iterator[tuple[dict[str, Any] | None, dict[str, Any] | None]]:
        return iter(self._images.pairs())

    def __len__(self) -> int:
        return len(self._images)

    def before(self) -> list[dict[str, Any]]:
        """The rows before the change; none of inserted ones."""
        return self._images.images(False)

    def after(self) -> list[dict[str, Any]]:
        """The rows after the change; none of deleted ones."""
        return self._images.images(True)

    def before_tuples(self) -> list[tuple[Any, ...]]:
        """The rows before the change as tuples, in the order of `columns`: the fastest form."""
        return self._images.images(False, False)

    def after_tuples(self) -> list[tuple[Any, ...]]:
        """The rows after the change as tuples, in the order of `columns`: the fastest form."""
        return self._images.images(True, False)

    def to_arrow(self, *, after: bool | None = None) -> ArrowBatch:
        """The rows as an Arrow record batch, with the types of a SELECT: after the change, of deleted ones before it.

        `after` chooses one side. Columns that the log leaves out are NULL there.
        """
        columns = BinlogToArrow(False)
        columns.append(self._images, after)
        batch = columns.take_all()
        if batch is None:
            raise AssertionError("columns that were appended to make a batch")
        return batch

    def present(self, *, after: bool) -> tuple[str, ...]:
        """The names of the columns that are in the images of that side."""
        return self._images.present(after)


@dataclass(slots=True)
class WriteRowsEvent(RowsEvent):
    """Rows were inserted."""

    EVENT_TYPES: ClassVar[tuple[int, ...]] = _codes(
        "WRITE_ROWS", "WRITE_ROWS_V1", "WRITE_ROWS_COMPRESSED", "WRITE_ROWS_COMPRESSED_V1"
    )


@dataclass(slots=True)
class UpdateRowsEvent(RowsEvent):
    """Rows were changed."""

    EVENT_TYPES: ClassVar[tuple[int, ...]] = _codes(
        "UPDATE_ROWS", "UPDATE_ROWS_V1", "UPDATE_ROWS_COMPRESSED", "UPDATE_ROWS_COMPRESSED_V1"
    )


@dataclass(slots=True)
class PartialUpdateRowsEvent(UpdateRowsEvent):
    """Rows were changed; of JSON documents the log has their changes only (`binlog_row_value_options=PARTIAL_JSON`).

    The documents after the change are put together from those before; where these are left out, `PartialJson` stands.
    """

    EVENT_TYPES: ClassVar[tuple[int, ...]] = _codes("PARTIAL_UPDATE_ROWS")

    def json_diffs(self) -> list[dict[str, tuple[JsonDiff, ...]]]:
        """For each row, the changes of each document of which the log has changes."""
        return self._images.json_diffs()


@dataclass(slots=True)
class DeleteRowsEvent(RowsEvent):
    """Rows were deleted."""

    EVENT_TYPES: ClassVar[tuple[int, ...]] = _codes(
        "DELETE_ROWS", "DELETE_ROWS_V1", "DELETE_ROWS_COMPRESSED", "DELETE_ROWS_COMPRESSED_V1"
    )


RowsEvent.EVENT_TYPES = (
    WriteRowsEvent.EVENT_TYPES
    + UpdateRowsEvent.EVENT_TYPES
    + PartialUpdateRowsEvent.EVENT_TYPES
    + DeleteRowsEvent.EVENT_TYPES
)
# Who asks for updates wants them all.
UpdateRowsEvent.EVENT_TYPES += PartialUpdateRowsEvent.EVENT_TYPES


def type_codes(events: Iterable[type[BinLogEvent] | int]) -> set[int]:
    """The type codes of event classes; codes themselves are taken, too."""
    codes: set[int] = set()
    for event in events:
        if isinstance(event, int):
            codes.add(event)
            continue
        if not event.EVENT_TYPES:
            named = {code for cls in _classes() for code in cls.EVENT_TYPES}
            codes |= set(range(256)) if event is BinLogEvent else set(range(256)) - named
        codes.update(event.EVENT_TYPES)
    return codes


def _classes() -> list[type[BinLogEvent]]:
    found: list[type[BinLogEvent]] = []
    waiting: list[type[BinLogEvent]] = [BinLogEvent]
    while waiting:
        cls = waiting.pop()
        found.append(cls)
        waiting.extend(cls.__subclasses__())
    return found
