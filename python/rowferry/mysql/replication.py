# Made from python/rowferry/mysql/aio/replication.py by tools/async_to_sync.py: change that file instead.
"""The binary log as a stream of events: `with binlog_stream(...) as stream: async for event in stream: ...`."""

from __future__ import annotations

import contextlib
import random
import re
import uuid
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any, NamedTuple

from .._base.records import replace
from .._base.waiting import Waiter
from .._core import ArrowBatch
from .._core.mysql import BinlogReader, BinlogToArrow, normalise_gtids
from . import err
from ._charsets import charset_by_name
from ._settings import Settings, settings_from
from .connections import Connection
from .constants import CR
from .events import BinLogEvent, HeartbeatLogEvent, RowsEvent, type_codes

__all__ = ["BinLogStream", "BinlogStream", "LogPosition", "binlog_stream"]

#: A server is taken for dead when not even a heartbeat came for so many of its periods.
_MISSED_HEARTBEATS = 2.5
#: Errors after which the stream connects again: the connection or the server was lost, shut down, killed, or is full.
_CUT = frozenset(
    (
        CR.CR_CONNECTION_ERROR,
        CR.CR_CONN_HOST_ERROR,
        CR.CR_SERVER_GONE_ERROR,
        CR.CR_SERVER_LOST,
        CR.CR_UNKNOWN_HOST,
        1040,  # too many connections
        1053,  # shutdown in progress
        1129,  # host blocked
        1158,
        1159,
        1160,
        1161,  # packets that were not read or written in time
        1317,  # interrupted
        1927,  # killed
        3168,  # a server that is starting
    )
)
# "Could not find first log file", "purged", "same server id", and everything else that asking again does not mend.
_FIRST_DELAY = 0.1
_LONGEST_DELAY = 30.0

# Python's codecs for character sets that no connection can use, and so are not in the other table.
_WIDE = {
    "ucs2": "utf_16_be",
    "utf16": "utf_16_be",
    "utf16le": "utf_16_le",
    "utf32": "utf_32_be",
    "macroman": "mac_roman",
    "macce": "mac_latin2",
    "hp8": "hp_roman8",
}


class LogPosition(NamedTuple):
    """A place in the log."""

    file: str
    offset: int

    def __str__(self) -> str:
        return f"{self.file}:{self.offset}"


@dataclass
class _Dump:
    """What the server is asked for; the Rust half reads the attributes by these names."""

    server_id: int
    file: str
    offset: int
    gtids: str | None
    blocking: bool


class BinlogStream:
    """Events of a server's binary log. Made by `binlog_stream`, whose parameters are explained there."""

    def __init__(
        self,
        settings: Settings,
        *,
        start: tuple[str, int] | str | None = None,
        gtid: str | bool | None = None,
        server_id: int | None = None,
        blocking: bool = True,
        resume: bool = True,
        retry_for: float | None = None,
        heartbeat: float | None = 10.0,
        events: Iterable[type[BinLogEvent] | int] | None = None,
        ignored_events: Iterable[type[BinLogEvent] | int] = (),
        only_tables: Iterable[str] = (),
        only_schemas: Iterable[str] = (),
        ignored_tables: Iterable[str] = (),
        ignored_schemas: Iterable[str] = (),
        describe_tables: bool = True,
        gtid_strict_mode: bool = False,
        semi_sync: bool = False,
        report_host: str = "",
        report_port: int = 0,
        replica_uuid: str | None = None,
    ) -> None:
        if server_id is not None and not 0 < server_id < 1 << 32:
            raise err.InterfaceError(f"`server_id` is 1 to 4294967295, not {server_id}")
        if start is not None and gtid is not None:
            raise err.InterfaceError("`start` and `gtid` are two ways to say where to begin: give one of them")
        if isinstance(start, str) and start not in ("first", "file", "now"):
            raise err.InterfaceError(f"`start` is (file, offset), `first`, `file` or `now`, not {start!r}")
        if heartbeat is not None and not 0.001 <= heartbeat <= 4294967:
            raise err.InterfaceError(f"`heartbeat` is 0.001 to 4294967 seconds, or None, not {heartbeat}")
        self._utc_offset = _utc_offset(settings.time_zone)
        silence = heartbeat * _MISSED_HEARTBEATS + 1.0 if heartbeat is not None else settings.read_timeout
        #: How the stream connects; its read time-out is what notices a server that went silent.
        self.settings = replace(
            settings,
            read_timeout=silence,
            query_timeout=None,
            autocommit=None,
            time_zone=None,
            decoders=None,
            raw=False,
        )
        self._side_settings = replace(settings, query_timeout=None, autocommit=None, decoders=None, raw=False)
        #: Our number among the server's replicas.
        self.server_id = server_id if server_id is not None else random.randrange(1 << 31, 1 << 32)
        self._uuid = replica_uuid or str(uuid.uuid4())
        self._start = start
        self._gtid = gtid
        self._blocking = blocking
        self._resume = resume
        self._retry_for = retry_for
        self._heartbeat = heartbeat
        self._strict = gtid_strict_mode
        self._semi_sync = semi_sync
        self._report = (report_host, report_port)
        if events is None:
            wanted = set(range(256)) - type_codes([HeartbeatLogEvent])
        else:
            wanted = type_codes(events)
        wanted -= type_codes(ignored_events)
        self._reader = BinlogReader(
            event_types=bytes(sorted(wanted)),
            only_tables=list(only_tables),
            only_schemas=list(only_schemas),
            ignored_tables=list(ignored_tables),
            ignored_schemas=list(ignored_schemas),
            zero_dates=settings.zero_dates,
            describes=describe_tables,
        )
        self._connection: Connection | None = None
        self._side: Connection | None = None
        self._listening: Any = None
        self._begun = False
        self._by_gtid = False
        self._is_mariadb = False
        self._closed = False
        self._pause: Waiter[None] | None = None
        #: How often the stream has connected again.
        self.reconnects = 0

    # -- what is known -----------------------------------------------------------------------------------------------

    @property
    def position(self) -> LogPosition:
        """Behind the last transaction that was handed out as a whole: what to store, and to give as `start` later."""
        return LogPosition(*self._reader.safe_position)

    @property
    def event_position(self) -> LogPosition:
        """Behind the last event that was handed out; maybe inside of a transaction."""
        return LogPosition(*self._reader.position)

    @property
    def gtid_set(self) -> str | None:
        """The transactions that were handed out as a whole: what to store, and to give as `gtid` later.

        Of MySQL a set, of MariaDB a position. Begun at a file's position, None until the log has told which
        transactions stand before it.
        """
        return self._reader.gtid_set

    @property
    def in_transaction(self) -> bool:
        """True when the last event was one inside of a transaction."""
        return self._reader.in_transaction

    @property
    def is_mariadb(self) -> bool:
        """True when the server is MariaDB; known once the stream has connected."""
        return self._is_mariadb

    @property
    def closed(self) -> bool:
        """True once the stream has ended."""
        return self._closed

    @property
    def connection_id(self) -> int | None:
        """What `KILL` takes; None while the stream is not connected."""
        connection = self._connection
        return connection.thread_id() if connection is not None and connection.open else None

    # -- life --------------------------------------------------------------------------------------------------------

    def __enter__(self) -> BinlogStream:
        self.connect()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def connect(self) -> None:
        """Connect and ask for the log. Iteration does it, too; with several hosts, the first that answers serves."""
        if self._closed:
            raise err.InterfaceError(0, "the stream is closed")
        if self._connection is None:
            self._connect()

    def close(self) -> None:
        """End the stream at once; iteration that is under way stops."""
        self._closed = True
        if self._pause is not None:
            self._pause.grant(None)
        connection, self._connection = self._connection, None
        side, self._side = self._side, None
        if connection is not None:
            _abort(connection)
        if side is not None:
            _abort(side)

    def __iter__(self) -> BinlogStream:
        return self

    def __next__(self) -> BinLogEvent:
        event = self._next()
        if event is None:
            raise StopIteration
        return event

    def _next(self, wait: bool = True) -> BinLogEvent | None:
        """The next event; None when the stream has ended or, without `wait`, when none has come yet."""
        reader = self._reader
        while not self._closed:
            try:
                if self._connection is None:
                    self._connect()
                event: Any = reader.next_event()
                if event is None:
                    if not reader.is_at_end:
                        if not wait:
                            return None
                        self._listen()
                    elif self._blocking:
                        # A server that leaves may say so as if its log were over.
                        raise _lost("the server has ended the stream")
                    else:
                        self.close()
                    continue
                if event.__class__ is tuple:
                    self._describe(*event)
                    continue
            except err.Error as failure:
                if self._closed:
                    return None
                if self._resume and self._begun and failure.errno in _CUT:
                    self._wait_for_server(failure)
                    continue
                self.close()
                raise
            return event  # type: ignore[no-any-return]
        return None

    def fetch(self, most: int = 1000) -> list[BinLogEvent]:
        """Up to `most` events that have come; at least one, unless the stream has ended. Waits for the first only."""
        events: list[BinLogEvent] = []
        while len(events) < most:
            event = self._next(wait=not events)
            if event is None:
                break
            events.append(event)
        return events

    def arrow_batches(self, table: str, *, size: int = 65_536, change_column: bool = True) -> Iterator[ArrowBatch]:
        """The rows of one table (`table` or `database.table`) in Arrow record batches of about `size` rows.

        The first column, `_change`, is `insert`, `update` or `delete`; the others are the table's, with the types of a
        SELECT: after the change, of deleted rows before it. A batch ends early when nothing more waits, so that rows
        are not held back, and when the table has changed. Everything else in the log is passed over.
        """
        schema, _, name = table.rpartition(".")
        columns = BinlogToArrow(change_column)
        while True:
            event = self._next(wait=not columns.rows)
            batch = None
            if event is None:
                batch = columns.take()
                if batch is None:
                    return
            elif isinstance(event, RowsEvent) and event.table == name and schema in ("", event.schema):
                batch = columns.append(event._images)
            if batch is not None:
                yield batch
            if columns.rows >= size:
                batch = columns.take()
                if batch is not None:
                    yield batch

    # -- the connection ----------------------------------------------------------------------------------------------

    def _listen(self) -> None:
        """Wait for packets. When the wait is cancelled, what comes stays in the reader for the next one."""
        connection = self._connection
        if connection is None:
            return
        connection.wire.listen_binlog(self._reader)

    def _wait_for_server(self, failure: err.Error) -> None:
        """The stream was cut: connect again, with longer and longer pauses."""
        delay, waited = _FIRST_DELAY, 0.0
        while not self._closed:
            self._drop_connection()
            try:
                self._connect()
                return
            except err.Error as again:
                if self._closed:
                    return
                if again.errno not in _CUT or (self._retry_for is not None and waited >= self._retry_for):
                    self.close()
                    raise again from failure
            pause = delay * random.uniform(0.5, 1.0)
            self._pause = Waiter()
            try:
                self._pause.wait(pause)
            finally:
                self._pause = None
            waited += pause
            delay = min(delay * 2, _LONGEST_DELAY)

    def _drop_connection(self) -> None:
        self._listening = None
        connection, self._connection = self._connection, None
        if connection is not None:
            _abort(connection)

    def _connect(self) -> None:
        self._drop_connection()
        connection = Connection(self.settings)
        try:
            connection.connect()
            self._ask(connection)
        except BaseException:
            _abort(connection)
            raise
        if self._closed:
            _abort(connection)
            return
        self._connection = connection

    def _ask(self, connection: Connection) -> None:
        """Introduce us, and ask for the log."""
        self._is_mariadb = "mariadb" in connection.server_version.lower()
        log_bin, checksum = _row(connection, "SELECT @@global.log_bin, @@global.binlog_checksum")
        if not log_bin:
            raise err.NotSupportedError("binary logging is off on this server: it was started without `log_bin`")
        collations = self._codecs(connection)
        assignments = ["@master_binlog_checksum = @@global.binlog_checksum"]
        assignments.append("@source_binlog_checksum = @@global.binlog_checksum")
        if self._heartbeat is not None:
            nanoseconds = int(self._heartbeat * 1_000_000_000)
            assignments += [f"@master_heartbeat_period = {nanoseconds}", f"@source_heartbeat_period = {nanoseconds}"]
        assignments += [f"@slave_uuid = '{self._uuid}'", f"@replica_uuid = '{self._uuid}'"]
        if self._semi_sync:
            assignments += ["@rpl_semi_sync_slave = 1", "@rpl_semi_sync_replica = 1"]
        if not self._begun:
            self._begin(connection)
        reader = self._reader
        gtids = reader.gtid_set or "" if self._by_gtid else None
        file, offset = reader.safe_position
        if self._is_mariadb:
            # 4: we know GTIDs and whatever stands in place of events that a replica does not know.
            assignments.append("@mariadb_slave_capability = 4")
            if gtids is not None:
                assignments.append(f"@slave_connect_state = '{gtids}'")
                assignments.append(f"@slave_gtid_strict_mode = {int(self._strict)}")
                assignments.append("@slave_gtid_ignore_duplicates = 0")
                file, offset = "", 4
        connection.query("SET " + ", ".join(assignments))
        wire = connection.wire
        wire.register_replica(self.server_id, *self._report)
        reader.connected(
            checksums=str(checksum).upper() == "CRC32",
            semi_sync=self._semi_sync,
            codecs=collations,
            utc_offset=self._utc_offset,
        )
        dump = _Dump(self.server_id, file, offset, None if self._is_mariadb else gtids, self._blocking)
        if self._begun:
            self.reconnects += 1
        self._begun = True
        wire.dump_binlog(dump, reader)

    def _begin(self, connection: Connection) -> None:
        """Find out where to begin."""
        file, offset = "", 4
        gtids: str | None = None
        if isinstance(self._start, tuple):
            file, offset = self._start
        elif self._start != "first" and not isinstance(self._gtid, str):
            file, offset, gtids = self._end_of_log(connection)
            if self._start == "file":
                offset, gtids = 4, None
            if not gtids and self._gtid and not self._is_mariadb:
                raise err.NotSupportedError("the server has no GTIDs: `gtid_mode` is OFF")
        if isinstance(self._gtid, str):
            gtids = normalise_gtids(self._gtid, self._is_mariadb)
        self._by_gtid = bool(self._gtid) or isinstance(self._gtid, str)
        if self._by_gtid:
            file, offset = "", 4
        elif self._is_mariadb and isinstance(self._start, tuple) and file:
            with contextlib.suppress(err.Error):
                (gtids,) = _row(connection, "SELECT BINLOG_GTID_POS(%s, %s)", file, offset)
        self._reader.begin(file, offset, self._is_mariadb, gtids)

    def _end_of_log(self, connection: Connection) -> tuple[str, int, str | None]:
        """File, offset and GTIDs at this moment."""
        statements = ["SHOW BINARY LOG STATUS", "SHOW MASTER STATUS"]
        if self._is_mariadb:
            statements.reverse()
        for statement in statements:
            try:
                row = _row(connection, statement)
                break
            except err.ProgrammingError:
                # Each of the two is unknown to some versions.
                continue
        else:
            raise err.NotSupportedError("the server does not tell where its binary log ends")
        file, offset = str(row[0]), int(row[1])
        if not self._is_mariadb:
            return file, offset, re.sub(r"\s", "", str(row[4])) if len(row) > 4 else None
        (gtids,) = _row(connection, "SELECT BINLOG_GTID_POS(%s, %s)", file, offset)
        return file, offset, gtids

    def _codecs(self, connection: Connection) -> dict[int, str | None]:
        """Python's codec of each collation that this server knows; None for UTF-8."""
        sources = ["information_schema.COLLATIONS"]
        if self._is_mariadb:
            # Collations of MariaDB 10.10 and later have a number for each character set, in this table only.
            sources.insert(0, "information_schema.COLLATION_CHARACTER_SET_APPLICABILITY")
        rows: Sequence[Any] = ()
        for source in sources:
            try:
                connection.query(f"SELECT ID, CHARACTER_SET_NAME FROM {source} WHERE ID IS NOT NULL")
            except err.Error as failure:
                if failure.errno in _CUT:
                    raise
                continue
            result = connection.last_result
            rows = result.rows if result is not None and result.rows is not None else ()
            break
        codecs: dict[int, str | None] = {}
        for number, charset in rows:
            with contextlib.suppress(ValueError):
                codecs[int(number)] = _WIDE.get(charset) or charset_by_name(charset).codec
        return codecs

    def _describe(self, schema: str, table: str) -> None:
        """Ask information_schema what the log does not tell."""
        side = self._side
        try:
            if side is None or not side.open:
                side = self._side = Connection(self._side_settings)
                side.connect()
            columns = _described(side, schema, table)
        except BaseException:
            self._side = None
            if side is not None:
                _abort(side)
            raise
        self._reader.describe(schema, table, columns or None)


def _abort(connection: Connection) -> None:
    wire = connection._wire
    # Another thread may be waiting on it; that one closes it.
    with contextlib.suppress(err.Error):
        connection._abort()
    if wire is not None:
        wire.interrupt()


def _lost(message: str) -> err.OperationalError:
    return err.OperationalError(CR.CR_SERVER_LOST, message, errno=CR.CR_SERVER_LOST)


def _utc_offset(time_zone: str | None) -> int:
    """Seconds that TIMESTAMPs are shown later than UTC."""
    if time_zone is None or time_zone.upper() == "UTC":
        return 0
    found = re.fullmatch(r"([+-])(\d{1,2}):(\d{2})", time_zone)
    if found is None:
        raise err.NotSupportedError(
            f"`time_zone` of a stream is `UTC` or an offset such as `+02:00`, not {time_zone!r}: the log has its "
            "TIMESTAMPs in UTC, and only the server knows its named zones"
        )
    seconds = int(found[2]) * 3600 + int(found[3]) * 60
    return -seconds if found[1] == "-" else seconds


def _row(connection: Connection, sql: str, *args: Any) -> Sequence[Any]:
    if args:
        sql = sql % tuple(connection.literal(value) for value in args)
    connection.query(sql)
    result = connection.last_result
    if result is None or not result.rows:
        raise err.NotSupportedError(f"the server answers nothing to `{sql}`")
    return result.rows[0]  # type: ignore[no-any-return]


_COLUMNS_SQL = (
    "SELECT c.COLUMN_NAME, c.DATA_TYPE, c.COLUMN_TYPE, c.COLLATION_NAME FROM information_schema.COLUMNS c"
    " WHERE c.TABLE_SCHEMA = %s AND c.TABLE_NAME = %s ORDER BY c.ORDINAL_POSITION"
)


def _described(connection: Connection, schema: str, table: str) -> list[dict[str, Any]]:
    sql = _COLUMNS_SQL % (connection.literal(schema), connection.literal(table))
    connection.query(sql)
    result = connection.last_result
    rows = result.rows if result is not None and result.rows is not None else ()
    columns = []
    numbers: dict[str, int] = {}
    for name, data_type, column_type, collation in rows:
        if collation is not None and collation not in numbers:
            numbers[collation] = _collation_number(connection, collation)
        kind = str(data_type).lower()
        is_list = kind in ("enum", "set")
        columns.append(
            {
                "name": str(name),
                "data_type": kind,
                "is_unsigned": "unsigned" in str(column_type).lower().rpartition(")")[2],
                "collation": numbers[collation] if collation is not None else 63,
                "members": _members(str(column_type)) if is_list else None,
            }
        )
    return columns


def _collation_number(connection: Connection, collation: str) -> int:
    """The number of a collation, or of another one of its character set: only the set matters."""
    charset = collation.split("_")[0]
    sql = f"SELECT MIN(ID) FROM information_schema.COLLATIONS WHERE CHARACTER_SET_NAME = {connection.literal(charset)}"
    (number,) = _row(connection, sql)
    return int(number) if number is not None else 63


def _members(column_type: str) -> list[str]:
    """The members of `enum('a','b''c')`."""
    return [member.replace("''", "'") for member in re.findall(r"'((?:[^']|'')*)'", column_type)]


def binlog_stream(
    *args: Any,
    start: tuple[str, int] | str | None = None,
    gtid: str | bool | None = None,
    server_id: int | None = None,
    blocking: bool = True,
    resume: bool = True,
    retry_for: float | None = None,
    heartbeat: float | None = 10.0,
    events: Iterable[type[BinLogEvent] | int] | None = None,
    ignored_events: Iterable[type[BinLogEvent] | int] = (),
    only_tables: Iterable[str] = (),
    only_schemas: Iterable[str] = (),
    ignored_tables: Iterable[str] = (),
    ignored_schemas: Iterable[str] = (),
    describe_tables: bool = True,
    gtid_strict_mode: bool = False,
    semi_sync: bool = False,
    report_host: str = "",
    report_port: int = 0,
    replica_uuid: str | None = None,
    **parameters: Any,
) -> BinlogStream:
    """Read the binary log of a server. Enter it by `async with`, iterate over it by `async for`.

    Where to begin: `start` is a (file, offset), `first` for the oldest that the server has, `file` for the beginning of
    the newest file, or `now` (the default);
    `gtid` is a MySQL GTID set (everything beyond it comes) or a MariaDB position (`0-1-100`), or True for now.
    `blocking=False` ends at the end of the log.

    `resume`: connect again after a cut, with pauses of up to 30 s, for `retry_for` seconds (None: for ever), and go on
    behind the last event that was handed out. `heartbeat`: seconds of silence after which the server says that it is
    there; after two and a half of them the connection is taken for cut.

    `events`, `ignored_events`: classes of `rowferry.mysql.events`. `only_tables` and `ignored_tables` take `table` and
    `database.table`. `describe_tables`: ask information_schema for what the log leaves out about columns.
    `gtid_strict_mode` is MariaDB's. `semi_sync`: acknowledge transactions, where the server waits for that.
    `server_id` (random by default) must be unlike that of every other replica.

    Everything else goes to `connect`, several hosts among it. The user needs REPLICATION SLAVE, and for `now`
    REPLICATION CLIENT (MariaDB: BINLOG MONITOR).
    """
    return BinlogStream(
        settings_from(*args, **parameters),
        start=start,
        gtid=gtid,
        server_id=server_id,
        blocking=blocking,
        resume=resume,
        retry_for=retry_for,
        heartbeat=heartbeat,
        events=events,
        ignored_events=ignored_events,
        only_tables=only_tables,
        only_schemas=only_schemas,
        ignored_tables=ignored_tables,
        ignored_schemas=ignored_schemas,
        describe_tables=describe_tables,
        gtid_strict_mode=gtid_strict_mode,
        semi_sync=semi_sync,
        report_host=report_host,
        report_port=report_port,
        replica_uuid=replica_uuid,
    )


class BinLogStream(BinlogStream):
    """A stream with the parameters of asyncmy's `BinLogStream`: connections, of which only the settings are used."""

    def __init__(
        self,
        connection: Connection,
        ctl_connection: Connection | None = None,
        server_id: int = 0,
        slave_uuid: str | None = None,
        slave_heartbeat: float | None = None,
        report_slave: str | Sequence[Any] | dict[str, Any] | None = None,
        master_log_file: str | None = None,
        master_log_position: int | None = None,
        master_auto_position: Iterable[Any] | str | None = None,
        resume_stream: bool = False,
        blocking: bool = False,
        skip_to_timestamp: int | None = None,
        only_events: Iterable[type[BinLogEvent]] | None = None,
        ignored_events: Iterable[type[BinLogEvent]] | None = None,
        filter_non_implemented_events: bool = True,
        only_tables: Iterable[str] | None = None,
        ignored_tables: Iterable[str] | None = None,
        only_schemas: Iterable[str] | None = None,
        ignored_schemas: Iterable[str] | None = None,
        freeze_schema: bool = False,
    ) -> None:
        start: tuple[str, int] | str | None = None
        gtid: str | None = None
        if master_auto_position is not None:
            gtids = master_auto_position
            gtid = gtids if isinstance(gtids, str) else ",".join(str(each) for each in gtids)
        elif resume_stream:
            start = "now" if master_log_file is None else (master_log_file, master_log_position or 4)
        else:
            # Theirs begin at the beginning of the file, unless told to resume.
            start = "file" if master_log_file is None else (master_log_file, 4)
        report = report_slave if isinstance(report_slave, dict) else {}
        host = report_slave if isinstance(report_slave, str) else report.get("hostname", "")
        super().__init__(
            connection.settings,
            start=start,
            gtid=gtid,
            server_id=server_id or None,
            blocking=blocking,
            resume=False,
            heartbeat=slave_heartbeat if slave_heartbeat is not None else 10.0,
            events=only_events,
            ignored_events=ignored_events or (),
            only_tables=only_tables or (),
            only_schemas=only_schemas or (),
            ignored_tables=ignored_tables or (),
            ignored_schemas=ignored_schemas or (),
            describe_tables=not freeze_schema,
            report_host=str(host),
            report_port=int(report.get("port", 0)),
            replica_uuid=slave_uuid,
        )
        self._skip_to_timestamp = skip_to_timestamp

    def _next(self, wait: bool = True) -> BinLogEvent | None:
        while True:
            event = super()._next(wait)
            if event is None or self._skip_to_timestamp is None or event.timestamp >= self._skip_to_timestamp:
                return event
