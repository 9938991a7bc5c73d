"""Streams of the binary log against three real servers: where they begin and go on, cuts, filters, what events say."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Awaitable, Iterable, Iterator
from decimal import Decimal
from typing import Any, TypeVar

import pytest
from rowferry import mysql
from rowferry.mysql import err, events
from rowferry.mysql.aio import replication as aio_replication
from rowferry.mysql.events import ABSENT, GtidSet
from rowferry.mysql.replication import BinLogStream, binlog_stream

from tests.python.mysql.binlog import log_server
from tests.python.mysql.relay import Relay
from tests.servers.mysql import MySQLServer

T = TypeVar("T")
TIMEOUT = 40


@pytest.fixture(scope="module", params=["mariadb", "mariadb11", "mysql9"])
def source(request: pytest.FixtureRequest) -> Iterator[MySQLServer]:
    with log_server(request.param, ["--binlog-row-metadata=FULL"]) as server:
        yield server


@pytest.fixture
def cursor(source: MySQLServer) -> Iterator[mysql.cursors.Cursor]:
    with mysql.connect(**source.dsn, autocommit=True) as connection:
        yield connection.cursor()


def is_mariadb(source: MySQLServer) -> bool:
    return "mariadb" in source.version.lower()


def run(work: Awaitable[T]) -> T:
    async def bounded() -> T:
        return await asyncio.wait_for(work, TIMEOUT)

    return asyncio.run(bounded())


def fresh(cursor: mysql.cursors.Cursor, columns: str = "id INT PRIMARY KEY, name VARCHAR(50)") -> None:
    cursor.execute("DROP TABLE IF EXISTS t")
    cursor.execute(f"CREATE TABLE t ({columns})")


def now(source: MySQLServer, **options: Any) -> Any:
    with binlog_stream(**source.dsn, **options) as stream:
        return stream.gtid_set if options.get("gtid") else stream.position


def read(source: MySQLServer, **options: Any) -> list[Any]:
    return list(binlog_stream(**{**source.dsn, **options}, blocking=False))


def inserted(found: Iterable[Any]) -> list[Any]:
    return [row for event in found if isinstance(event, events.WriteRowsEvent) for row in event.after_tuples()]


def test_rows_before_and_after(source: MySQLServer, cursor: mysql.cursors.Cursor) -> None:
    fresh(cursor)
    start = now(source)
    cursor.execute("INSERT INTO t VALUES (1, 'eins'), (2, NULL)")
    cursor.execute("UPDATE t SET name = 'zwei' WHERE id = 2")
    cursor.execute("DELETE FROM t WHERE id = 1")
    rows = [event for event in read(source, start=start) if isinstance(event, events.RowsEvent)]
    one, two, three = rows
    assert (one.schema, one.table, len(one)) == (source.database, "t", 2)
    assert [column.name for column in one.columns] == ["id", "name"]
    assert one.primary_key == ("id",)
    assert list(one) == [(None, {"id": 1, "name": "eins"}), (None, {"id": 2, "name": None})]
    assert one.rows == [{"values": {"id": 1, "name": "eins"}}, {"values": {"id": 2, "name": None}}]
    assert list(two) == [({"id": 2, "name": None}, {"id": 2, "name": "zwei"})]
    assert two.rows == [{"before_values": {"id": 2, "name": None}, "after_values": {"id": 2, "name": "zwei"}}]
    assert (two.before_tuples(), two.after_tuples()) == ([(2, None)], [(2, "zwei")])
    assert (three.before(), three.after()) == ([{"id": 1, "name": "eins"}], [])
    assert three.ends_statement and three.timestamp > 1_700_000_000


def test_positions_of_both_kinds_go_on_where_they_were_taken(source: MySQLServer, cursor: mysql.cursors.Cursor) -> None:
    fresh(cursor)
    start, gtid = now(source), now(source, gtid=True)
    for number in range(20):
        if number == 10:
            cursor.execute("FLUSH BINARY LOGS")
        cursor.execute(f"INSERT INTO t VALUES ({number}, 'x')")
    for by_gtid in (False, True):
        place = {"gtid": gtid} if by_gtid else {"start": start}
        seen: list[int] = []
        for turn in range(7):
            with binlog_stream(
                **source.dsn, **place, blocking=False, events=[events.XidEvent, events.RowsEvent]
            ) as stream:
                for event in stream:
                    if isinstance(event, events.RowsEvent):
                        seen += [row[0] for row in event.after_tuples()]
                    elif len(seen) > turn * 3:
                        break
                place = {"gtid": stream.gtid_set} if by_gtid else {"start": stream.position}
        seen += [row[0] for row in inserted(read(source, **place))]
        assert seen == list(range(20))


def test_the_oldest_log_is_the_first(source: MySQLServer) -> None:
    found = read(source, start="first")
    assert isinstance(found[0], events.RotateEvent) and found[0].next_binlog == "log.000001"
    assert isinstance(found[1], events.FormatDescriptionEvent) and found[1].checksum == "CRC32"
    texts = [event.query for event in found if isinstance(event, events.QueryEvent)]
    assert any(text.startswith("CREATE USER") for text in texts)


def test_gtids_are_tracked(source: MySQLServer, cursor: mysql.cursors.Cursor) -> None:
    fresh(cursor)
    before = now(source, gtid=True)
    cursor.execute("INSERT INTO t VALUES (1, 'x')")
    cursor.execute("INSERT INTO t VALUES (2, 'x')")
    stream = binlog_stream(**source.dsn, gtid=before, blocking=False)
    numbers = []
    for event in stream:
        if isinstance(event, (events.GtidEvent, events.MariadbGtidEvent)):
            numbers.append(event.gtid)
            assert stream.in_transaction
    assert len(numbers) == 2
    if is_mariadb(source):
        cursor.execute("SELECT @@gtid_binlog_pos")
        assert stream.gtid_set == numbers[-1] == cursor.fetchone()[0]
    else:
        cursor.execute("SELECT @@gtid_executed")
        executed = GtidSet(cursor.fetchone()[0])
        assert executed == GtidSet(stream.gtid_set or "")
        assert numbers[0] in executed and numbers[0] not in GtidSet(before)
        assert GtidSet(before) | ",".join(numbers) == executed


def test_tags_and_domains_of_gtids(source: MySQLServer, cursor: mysql.cursors.Cursor) -> None:
    if is_mariadb(source):
        cursor.execute("SET SESSION gtid_domain_id = 7")
        fresh(cursor)
        before = now(source, gtid=True)
        cursor.execute("INSERT INTO t VALUES (1, 'x')")
        cursor.execute("SET SESSION gtid_domain_id = 0")
        cursor.execute("INSERT INTO t VALUES (2, 'x')")
        found = [event for event in read(source, gtid=before) if isinstance(event, events.MariadbGtidEvent)]
        assert [event.domain_id for event in found] == [7, 0]
        return
    fresh(cursor)
    before = now(source, gtid=True)
    cursor.execute("SET gtid_next = 'AUTOMATIC:some_tag'")
    cursor.execute("INSERT INTO t VALUES (1, 'x')")
    cursor.execute("SET gtid_next = 'AUTOMATIC'")
    cursor.execute("INSERT INTO t VALUES (2, 'x')")
    stream = binlog_stream(**source.dsn, gtid=before, blocking=False)
    found = [event for event in stream if isinstance(event, events.GtidEvent)]
    assert [event.tag for event in found] == ["some_tag", ""]
    assert found[0].transaction_length > 0 and found[0].immediate_server_version >= 80300
    assert abs(found[0].immediate_commit_timestamp / 1e6 - found[0].timestamp) < 100
    assert ":some_tag:1" in (stream.gtid_set or "")
    # The server takes the set with tags as we write it, and its own file's head is read back.
    cursor.execute("FLUSH BINARY LOGS")
    cursor.execute("INSERT INTO t VALUES (3, 'x')")
    assert inserted(read(source, gtid=stream.gtid_set)) == [(3, "x")]
    heads = [event for event in read(source, start="file") if isinstance(event, events.PreviousGtidsEvent)]
    assert heads[0].gtid_set == stream.gtid_set


def test_tables_and_events_are_filtered(source: MySQLServer, cursor: mysql.cursors.Cursor) -> None:
    fresh(cursor)
    cursor.execute("CREATE TABLE IF NOT EXISTS other (id INT)")
    start = now(source)
    cursor.execute("INSERT INTO t VALUES (1, 'x')")
    cursor.execute("INSERT INTO other VALUES (1)")
    cursor.execute("UPDATE t SET name = 'y'")

    def tables(**options: Any) -> list[str]:
        return [event.table for event in read(source, start=start, **options) if isinstance(event, events.RowsEvent)]

    assert tables() == ["t", "other", "t"]
    assert tables(only_tables=["t"]) == ["t", "t"]
    assert tables(only_tables=[f"{source.database}.other"]) == ["other"]
    assert tables(ignored_tables=["t"]) == ["other"]
    assert tables(only_schemas=["nowhere"]) == tables(ignored_schemas=[source.database]) == []
    assert tables(events=[events.UpdateRowsEvent]) == ["t"]
    assert tables(ignored_events=[events.WriteRowsEvent]) == ["t"]
    kinds = {type(event) for event in read(source, start=start, events=[events.XidEvent])}
    assert kinds == {events.XidEvent}


def test_absent_columns_are_marked(source: MySQLServer, cursor: mysql.cursors.Cursor) -> None:
    fresh(cursor, "id INT PRIMARY KEY, a INT, b VARCHAR(10), c BLOB")
    cursor.execute("SET SESSION binlog_row_image = 'MINIMAL'")
    start = now(source)
    cursor.execute("INSERT INTO t (id, b) VALUES (1, 'x')")
    cursor.execute("UPDATE t SET a = 5 WHERE id = 1")
    cursor.execute("SET SESSION binlog_row_image = 'NOBLOB'")
    cursor.execute("UPDATE t SET a = NULL WHERE id = 1")
    cursor.execute("DELETE FROM t")
    write, update, second, delete = (
        event for event in read(source, start=start) if isinstance(event, events.RowsEvent)
    )
    assert write.after_tuples() == [(1, ABSENT, "x", ABSENT)]
    assert list(update) == [({"id": 1}, {"a": 5})]
    assert update.present(after=True) == ("a",) and update.present(after=False) == ("id",)
    assert update.after_tuples() == [(ABSENT, 5, ABSENT, ABSENT)]
    assert list(second) == [({"id": 1, "a": 5, "b": "x"}, {"id": 1, "a": None, "b": "x"})]
    assert delete.before() == [{"id": 1, "a": None, "b": "x"}]
    assert repr(ABSENT) == "ABSENT" and not ABSENT


def test_definitions_change_between_rows(source: MySQLServer, cursor: mysql.cursors.Cursor) -> None:
    fresh(cursor, "id INT PRIMARY KEY")
    start = now(source)
    cursor.execute("INSERT INTO t VALUES (1)")
    cursor.execute("ALTER TABLE t ADD COLUMN name VARCHAR(10) DEFAULT 'd' FIRST")
    cursor.execute("INSERT INTO t VALUES ('a', 2)")
    cursor.execute("ALTER TABLE t DROP COLUMN id, ADD COLUMN n DECIMAL(5,2)")
    cursor.execute("INSERT INTO t VALUES ('b', 1.5)")
    cursor.execute("DROP TABLE t")
    found = read(source, start=start)
    rows = [row for event in found if isinstance(event, events.RowsEvent) for row in event.after()]
    assert rows == [{"id": 1}, {"name": "a", "id": 2}, {"name": "b", "n": Decimal("1.50")}]
    statements = [event.query for event in found if isinstance(event, events.QueryEvent)]
    assert [text.split()[0] for text in statements if text != "BEGIN"] == ["ALTER", "ALTER", "DROP"]


def test_names_come_from_information_schema_when_the_log_has_none(
    source: MySQLServer, cursor: mysql.cursors.Cursor
) -> None:
    cursor.execute("SET GLOBAL binlog_row_metadata = 'MINIMAL'")
    try:
        fresh(cursor, "id INT UNSIGNED PRIMARY KEY, e ENUM('x','y'), s VARCHAR(10) CHARACTER SET latin1")
        start = now(source)
        cursor.execute("INSERT INTO t VALUES (4000000000, 'y', 'ä')")
        cursor.execute("ALTER TABLE t ADD COLUMN more INT")
        cursor.execute("INSERT INTO t VALUES (1, 'x', 'ö', 2)")
    finally:
        cursor.execute("SET GLOBAL binlog_row_metadata = 'FULL'")
    first, second = (event for event in read(source, start=start) if isinstance(event, events.RowsEvent))
    # The table has another shape by now: its names are not guessed, and its values are what the log says.
    assert list(first.after()[0]) == ["UNKNOWN_COL0", "UNKNOWN_COL1", "UNKNOWN_COL2"]
    assert second.after() == [{"id": 1, "e": "x", "s": "ö", "more": 2}]
    plain = read(source, start=start, describe_tables=False)
    assert inserted(plain)[0] == (4000000000, 2, "ä")


def test_what_the_server_says_of_statements(source: MySQLServer, cursor: mysql.cursors.Cursor) -> None:
    fresh(cursor, "id INT AUTO_INCREMENT PRIMARY KEY, v VARCHAR(50), r DOUBLE")
    cursor.execute("SET SESSION binlog_format = 'STATEMENT'")
    start = now(source)
    cursor.execute("SET @a = 'ä', @n = 12.50, @i = -7, @d = 1.5e0, @z = NULL")
    cursor.execute("INSERT INTO t (v, r) VALUES (CONCAT(@a, @n, @i, @d, IFNULL(@z, '')), RAND())")
    cursor.execute("SET SESSION binlog_format = 'ROW'")
    found = read(source, start=start)
    variables = {event.name: event.value for event in found if isinstance(event, events.UserVarEvent)}
    assert variables == {"a": "ä", "n": Decimal("12.50"), "i": -7, "d": 1.5, "z": None}
    assert [event.type for event in found if isinstance(event, events.IntvarEvent)] == [2]
    assert next(event for event in found if isinstance(event, events.RandEvent)).seed1 > 0
    assert [event.query for event in found if isinstance(event, events.QueryEvent)][-1].startswith(("INSERT", "COMMIT"))


def test_the_statement_of_rows(source: MySQLServer, cursor: mysql.cursors.Cursor) -> None:
    fresh(cursor)
    if not is_mariadb(source):
        cursor.execute("SET SESSION binlog_rows_query_log_events = ON")
    start = now(source)
    cursor.execute("INSERT INTO t VALUES (1, 'ä')")
    found = read(source, start=start)
    told = [
        event.sql_statement if isinstance(event, events.MariadbAnnotateRowsEvent) else event.query
        for event in found
        if isinstance(event, (events.MariadbAnnotateRowsEvent, events.RowsQueryLogEvent))
    ]
    assert told == ["INSERT INTO t VALUES (1, 'ä')"]


def test_xa_transactions(source: MySQLServer, cursor: mysql.cursors.Cursor) -> None:
    fresh(cursor)
    start = now(source)
    cursor.execute("XA START 'g','b',7")
    cursor.execute("INSERT INTO t VALUES (1, 'x')")
    cursor.execute("XA END 'g','b',7")
    cursor.execute("XA PREPARE 'g','b',7")
    middle = now(source)
    cursor.execute("XA COMMIT 'g','b',7")
    stream = binlog_stream(**source.dsn, start=start, blocking=False)
    found, places = [], []
    for event in stream:
        found.append(event)
        places.append(stream.position)
    (prepared,) = [event for event in found if isinstance(event, events.XAPrepareEvent)]
    assert (prepared.gtrid, prepared.bqual, prepared.format_id, prepared.one_phase) == (b"g", b"b", 7, False)
    assert middle in places and inserted(found) == [(1, "x")]
    assert not stream.in_transaction and stream.position == now(source)


def test_large_events(source: MySQLServer, cursor: mysql.cursors.Cursor) -> None:
    fresh(cursor, "id INT PRIMARY KEY, b LONGBLOB, tail INT")
    start = now(source)
    for size in (16_777_215 - 60, 16_777_215, 17_000_000, 34_000_000):
        cursor.execute(f"INSERT INTO t VALUES ({size}, REPEAT('x', {size}), 5)")
    rows = inserted(read(source, start=start))
    assert [(size, len(value), value[-1:], tail) for size, value, tail in rows] == [
        (size, size, b"x", 5) for size in (16_777_215 - 60, 16_777_215, 17_000_000, 34_000_000)
    ]


def test_compressed_logs(source: MySQLServer, cursor: mysql.cursors.Cursor) -> None:
    fresh(cursor)
    start = now(source)
    if is_mariadb(source):
        cursor.execute("SET GLOBAL log_bin_compress = ON")
        cursor.execute("SET GLOBAL log_bin_compress_min_len = 10")
    else:
        cursor.execute("SET SESSION binlog_transaction_compression = ON")
    try:
        values = ", ".join(f"({number}, '{'abc' * 10}')" for number in range(1000))
        cursor.execute(f"INSERT INTO t VALUES {values}")
        cursor.execute("UPDATE t SET name = CONCAT('changed', id)")
        cursor.execute(
            "ALTER TABLE t COMMENT 'a statement that is long enough to be compressed, compressed, compressed'"
        )
        cursor.execute("DELETE FROM t WHERE id >= 500")
    finally:
        if is_mariadb(source):
            cursor.execute("SET GLOBAL log_bin_compress = OFF")
    stream = binlog_stream(**source.dsn, start=start, blocking=False)
    found = list(stream)
    assert inserted(found) == [(number, "abc" * 10) for number in range(1000)]
    changed = [row for event in found if isinstance(event, events.UpdateRowsEvent) for row in event.after_tuples()]
    assert changed == [(number, f"changed{number}") for number in range(1000)]
    deleted = [row for event in found if isinstance(event, events.DeleteRowsEvent) for row in event.before_tuples()]
    assert [row[0] for row in deleted] == list(range(500, 1000))
    assert any(
        event.query.startswith("ALTER TABLE t COMMENT") for event in found if isinstance(event, events.QueryEvent)
    )
    assert stream.position == now(source)
    names = {event.event_type_name for event in found}
    if is_mariadb(source):
        assert {"QUERY_COMPRESSED", "WRITE_ROWS_COMPRESSED_V1", "UPDATE_ROWS_COMPRESSED_V1"} <= names


def test_parts_of_json_documents(source: MySQLServer, cursor: mysql.cursors.Cursor) -> None:
    fresh(cursor, "id INT PRIMARY KEY, a JSON, b JSON, c VARCHAR(10)")
    if is_mariadb(source):
        start = now(source)
        cursor.execute("""INSERT INTO t VALUES (1, '{"a" :  1}', NULL, 'x')""")
        assert inserted(read(source, start=start)) == [(1, '{"a" :  1}', None, "x")]
        return
    cursor.execute("SET SESSION binlog_row_value_options = 'PARTIAL_JSON'")
    long = "x" * 200
    cursor.execute(
        "INSERT INTO t VALUES (1, %s, %s, 'c'), (2, NULL, '[]', 'c')",
        (f'{{"k": "{long}", "list": [1, 2, {{"deep": 1}}], "gone": 1}}', f'{{"same": "{long}"}}'),
    )
    start = now(source)
    cursor.execute("UPDATE t SET a = JSON_SET(a, '$.list[2].deep', 'neu', '$.added', JSON_ARRAY(1.5, NULL))")
    cursor.execute("UPDATE t SET a = JSON_REMOVE(a, '$.gone', '$.list[0]'), c = 'd'")
    cursor.execute("UPDATE t SET a = JSON_REPLACE(a, '$.k', 'short'), b = JSON_SET(b, '$.same', 1) WHERE id = 1")
    cursor.execute("SET SESSION binlog_row_image = 'MINIMAL'")
    cursor.execute("UPDATE t SET a = JSON_SET(a, '$.list', 7) WHERE id = 1")
    cursor.execute("SELECT a, b FROM t WHERE id = 1")
    last = cursor.fetchone()
    found = [event for event in read(source, start=start) if isinstance(event, events.PartialUpdateRowsEvent)]
    assert len(found) == 4
    first = found[0].after_tuples()
    added = '"list": [1, 2, {"deep": "neu"}], "added": [1.5, null]'
    assert first[0] == (1, f'{{"k": "{long}", "gone": 1, {added}}}', f'{{"same": "{long}"}}', "c")
    assert found[0].json_diffs()[0]["a"] == (
        events.JsonDiff("replace", "$.list[2].deep", '"neu"'),
        events.JsonDiff("insert", "$.added", "[1.5, null]"),
    )
    assert found[0].before()[0]["a"] == f'{{"k": "{long}", "gone": 1, "list": [1, 2, {{"deep": 1}}]}}'
    assert [diff.operation for diff in found[1].json_diffs()[0]["a"]] == ["remove", "remove"]
    assert found[2].after_tuples()[0][1:3] == (
        '{"k": "short", "list": [2, {"deep": "neu"}], "added": [1.5, null]}',
        '{"same": 1}',
    )
    # Without the document before, the changes stand for it.
    assert found[3].after() == [{"a": events.PartialJson((events.JsonDiff("replace", "$.list", "7"),))}]
    assert last == ('{"k": "short", "list": 7, "added": [1.5, null]}', '{"same": 1}')


# -- cuts --------------------------------------------------------------------------------------------------------------


def kill(source: MySQLServer, connection_id: int | None) -> None:
    with mysql.connect(**source.dsn) as connection, contextlib.suppress(err.Error):
        connection.kill(connection_id or 0)


@pytest.mark.parametrize("by_gtid", [False, True])
def test_a_killed_stream_goes_on_without_loss_or_repetition(
    source: MySQLServer, cursor: mysql.cursors.Cursor, by_gtid: bool
) -> None:
    fresh(cursor)
    place = {"gtid": now(source, gtid=True)} if by_gtid else {"start": now(source)}
    # Each transaction has rows in several events: cuts fall inside of them.
    for number in range(0, 60, 6):
        cursor.execute("BEGIN")
        for more in range(6):
            cursor.execute(f"INSERT INTO t VALUES ({number + more}, 'x')")
        cursor.execute("COMMIT")

    async def read_on() -> tuple[list[int], int]:
        seen: list[int] = []
        async with aio_replication.binlog_stream(**source.dsn, **place) as stream:
            async for event in stream:
                if isinstance(event, events.RowsEvent):
                    seen += [row[0] for row in event.after_tuples()]
                    if len(seen) % 7 == 0:
                        # The reader's buffer goes with the connection.
                        await asyncio.to_thread(kill, source, stream.connection_id)
                        stream._drop_connection()
                if len(seen) == 60 and isinstance(event, events.XidEvent):
                    return seen, stream.reconnects
        raise AssertionError("the stream has ended")

    seen, reconnects = run(read_on())
    assert seen == list(range(60)) and reconnects >= 5


def test_a_stream_that_is_killed_while_it_waits(source: MySQLServer, cursor: mysql.cursors.Cursor) -> None:
    fresh(cursor)

    async def read_on() -> list[Any]:
        seen: list[Any] = []
        async with aio_replication.binlog_stream(**source.dsn, events=[events.RowsEvent]) as stream:
            for number in range(3):
                waiting = asyncio.ensure_future(stream.__anext__())
                await asyncio.sleep(0)
                await asyncio.to_thread(kill, source, stream.connection_id)
                await asyncio.to_thread(cursor.execute, f"INSERT INTO t VALUES ({number}, 'x')")
                event: Any = await waiting
                seen += event.after_tuples()
            assert stream.reconnects == 3
        return seen

    assert run(read_on()) == [(0, "x"), (1, "x"), (2, "x")]


def test_a_server_that_is_killed_and_comes_back(tmp_path: Any) -> None:
    with log_server("mariadb", ["--sync-binlog=1", "--innodb-flush-log-at-trx-commit=1"]) as server:
        with mysql.connect(**server.dsn, autocommit=True) as connection:
            fresh(connection.cursor())
            start = now(server)
            connection.query("INSERT INTO t VALUES (1, 'before')")

        async def read_on() -> list[Any]:
            seen: list[Any] = []
            async with aio_replication.binlog_stream(**server.dsn, start=start) as stream:
                async for event in stream:
                    if isinstance(event, events.RowsEvent):
                        seen += event.after_tuples()
                    if isinstance(event, events.XidEvent) and len(seen) == 1:
                        await asyncio.to_thread(server.restart)
                        with mysql.connect(**server.dsn, autocommit=True) as connection:
                            connection.query("INSERT INTO t VALUES (2, 'after')")
                    if len(seen) == 2:
                        assert stream.reconnects >= 1
                        return seen
            raise AssertionError("the stream has ended")

        assert run(read_on()) == [(1, "before"), (2, "after")]


def test_without_resume_a_cut_is_an_error(source: MySQLServer) -> None:
    with Relay("127.0.0.1", source.port) as relay:
        stream = binlog_stream(**{**source.dsn, "port": relay.port}, resume=False)
        next(stream)
        relay.cut()
        with pytest.raises(err.OperationalError) as raised:
            list(stream)
        assert raised.value.errno in (2006, 2013)
        assert stream.closed and list(stream) == []


def test_several_hosts(source: MySQLServer, cursor: mysql.cursors.Cursor) -> None:
    fresh(cursor)
    place = now(source, gtid=True)
    cursor.execute("INSERT INTO t VALUES (1, 'x')")
    with Relay("127.0.0.1", source.port) as relay:
        hosts = [f"127.0.0.1:{relay.port}", f"127.0.0.1:{source.port}"]
        dsn = {key: value for key, value in source.dsn.items() if key not in ("host", "port")}
        with binlog_stream(hosts, **dsn, gtid=place) as stream:
            seen: list[Any] = []
            for event in stream:
                if isinstance(event, events.RowsEvent):
                    seen += event.after_tuples()
                    if len(seen) == 1:
                        relay.cut()
                        relay._listener.close()
                        cursor.execute("INSERT INTO t VALUES (2, 'y')")
                    else:
                        break
            assert seen == [(1, "x"), (2, "y")]


def test_a_silent_server_is_noticed_by_its_heartbeats(source: MySQLServer) -> None:
    async def wait() -> str:
        with Relay("127.0.0.1", source.port) as relay:
            dsn = {**source.dsn, "port": relay.port}
            async with aio_replication.binlog_stream(
                **dsn, resume=False, heartbeat=0.2, events=[events.HeartbeatLogEvent]
            ) as stream:
                heard = [await stream.__anext__() for _ in range(3)]
                assert all(isinstance(event, events.HeartbeatLogEvent) for event in heard)
                relay.silence()
                with pytest.raises(err.OperationalError) as raised:
                    async for _ in stream:
                        pass
                return str(raised.value)

    assert "timed out" in run(wait())


class Damage(Relay):
    """Changes one byte of a row on its way."""

    def _pass(self, source: Any, sink: Any, most: int | None) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                sink.sendall(data.replace(b"fragile", b"fragilX"))
        for sock in (source, sink):
            with contextlib.suppress(OSError):
                sock.shutdown(2)


def test_damage_on_the_way_is_found(source: MySQLServer, cursor: mysql.cursors.Cursor) -> None:
    fresh(cursor)
    start = now(source)
    cursor.execute("INSERT INTO t VALUES (1, 'whole')")
    place = now(source)
    cursor.execute("INSERT INTO t VALUES (2, 'fragile')")
    with Damage("127.0.0.1", source.port) as relay:
        stream = binlog_stream(
            **{**source.dsn, "port": relay.port},
            start=start,
            blocking=False,
            ssl_disabled=True,
            events=[events.RowsEvent],
        )
        assert next(stream).after_tuples() == [(1, "whole")]
        with pytest.raises(err.OperationalError, match=r"checksum of the (WRITE|ANNOTATE)_ROWS") as raised:
            next(stream)
        assert raised.value.errno == 2027
        assert stream.position == place


def test_cancelled_waits_lose_nothing(source: MySQLServer, cursor: mysql.cursors.Cursor) -> None:
    fresh(cursor)

    async def read_on() -> list[int]:
        seen: list[int] = []
        async with aio_replication.binlog_stream(**source.dsn, events=[events.RowsEvent]) as stream:

            async def write() -> None:
                for number in range(100):
                    await asyncio.to_thread(cursor.execute, f"INSERT INTO t VALUES ({number}, 'x')")

            writing = asyncio.ensure_future(write())
            while len(seen) < 100:
                with contextlib.suppress(asyncio.TimeoutError):
                    event: Any = await asyncio.wait_for(stream.__anext__(), 0.003)
                    seen += [row[0] for row in event.after_tuples()]
            await writing
        return seen

    assert run(read_on()) == list(range(100))


def test_close_ends_a_stream_at_once(source: MySQLServer) -> None:
    async def close_while_waiting() -> int:
        stream = aio_replication.binlog_stream(**source.dsn)
        await stream.connect()

        began = asyncio.Event()

        async def consume() -> int:
            count = 0
            async for _ in stream:
                began.set()
                count += 1
            return count

        consuming = asyncio.ensure_future(consume())
        # It goes on until it has to wait.
        await began.wait()
        await stream.close()
        return await consuming

    assert run(close_while_waiting()) >= 1
    stream = binlog_stream(**source.dsn)
    stream.connect()
    seen: list[Any] = []
    thread = threading.Thread(target=lambda: seen.extend(stream))
    thread.start()
    # It waits once it has handed out what begins every stream.
    while thread.is_alive() and not seen:
        pass
    stream.close()
    thread.join(TIMEOUT)
    assert not thread.is_alive()


def test_mistakes_are_told(source: MySQLServer) -> None:
    with pytest.raises(err.Error, match=r"1236|[Cc]ould not find"):
        read(source, start=("nolog.000001", 4))
    with pytest.raises(err.InterfaceError, match="server_id"):
        binlog_stream(**source.dsn, server_id=0)
    with pytest.raises(err.InterfaceError, match="two ways"):
        binlog_stream(**source.dsn, start=("x", 4), gtid="")
    with pytest.raises(err.ProgrammingError, match="GTID"):
        read(source, gtid="nonsense")
    with pytest.raises(err.NotSupportedError, match="4 GiB"):
        read(source, start=("log.000001", 1 << 33))
    with pytest.raises(err.NotSupportedError, match="time_zone"):
        binlog_stream(**source.dsn, time_zone="Europe/Berlin")


def test_a_server_without_a_log_is_told(mariadb: MySQLServer) -> None:
    with pytest.raises(err.NotSupportedError, match="log_bin"):
        read(mariadb)


def test_timestamps_in_another_zone(source: MySQLServer, cursor: mysql.cursors.Cursor) -> None:
    fresh(cursor, "id TIMESTAMP(3) NULL, d DATETIME")
    cursor.execute("SET time_zone = '+05:30'")
    start = now(source)
    cursor.execute("INSERT INTO t VALUES ('2024-02-29 01:02:03.5', '2024-02-29 01:02:03'), (NULL, NULL)")
    cursor.execute("SELECT * FROM t")
    expected = list(cursor.fetchall())
    assert inserted(read(source, start=start, time_zone="+05:30")) == expected
    assert inserted(read(source, start=start))[0][0] != expected[0][0]


def test_parameters_of_asyncmy(source: MySQLServer, cursor: mysql.cursors.Cursor) -> None:
    fresh(cursor)
    place = now(source)
    cursor.execute("INSERT INTO t VALUES (1, 'x')")
    with mysql.connect(**source.dsn) as connection, mysql.connect(**source.dsn) as control:
        stream = BinLogStream(
            connection,
            control,
            7001,
            master_log_file=place.file,
            master_log_position=place.offset,
            resume_stream=True,
            blocking=False,
            only_events=[events.WriteRowsEvent],
            only_tables=["t"],
        )
        (event,) = stream
        assert isinstance(event, events.WriteRowsEvent)
        assert event.rows == [{"values": {"id": 1, "name": "x"}}]


def test_fetch_answers_what_has_come(source: MySQLServer, cursor: mysql.cursors.Cursor) -> None:
    fresh(cursor)
    start = now(source)
    for number in range(10):
        cursor.execute(f"INSERT INTO t VALUES ({number}, 'x')")
    with binlog_stream(**source.dsn, start=start, blocking=False, events=[events.RowsEvent]) as stream:
        seen: list[Any] = []
        while batch := stream.fetch(4):
            assert 1 <= len(batch) <= 4
            seen += inserted(batch)
    assert [row[0] for row in seen] == list(range(10))


def test_rows_as_arrow(source: MySQLServer, cursor: mysql.cursors.Cursor) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    kinds = [
        "INT UNSIGNED",
        "DECIMAL(10,2)",
        "DOUBLE",
        "FLOAT",
        "DATE",
        "DATETIME(3)",
        "TIME(3)",
        "YEAR",
        "BIT(12)",
        "ENUM('x','ö')",
        "SET('x','ö')",
        "VARCHAR(20) CHARACTER SET latin1",
        "VARBINARY(20)",
        "BINARY(4)",
        "JSON",
        "BIGINT",
    ]
    spelled = ", ".join(f"c{at} {kind}" for at, kind in enumerate(kinds))
    fresh(cursor, f"id INT PRIMARY KEY, {spelled}")
    start = now(source)
    cursor.execute(
        "INSERT INTO t VALUES (1, 4000000000, -1.5, 0.1, 0.1, '2024-02-29', '2024-02-29 01:02:03.5', '-26:00:00.25',"
        " 2024, b'101010101010', 'ö', 'x,ö', 'ä', x'00ff', 'ab', '[1, \"ä\"]', -7)"
    )
    cursor.execute("INSERT INTO t (id) VALUES (2)")
    with mysql.connect(**source.dsn, cursorclass=mysql.cursors.SSCursor) as connection:
        streaming = connection.cursor()
        streaming.execute("SELECT * FROM t ORDER BY id")
        expected = streaming.fetch_arrow_table()
    cursor.execute("UPDATE t SET c0 = 1 WHERE id = 2")
    cursor.execute("DELETE FROM t WHERE id = 1")
    cursor.execute("ALTER TABLE t DROP COLUMN c1")
    cursor.execute("INSERT INTO t (id, c0) VALUES (3, 3)")
    writes = [event for event in read(source, start=start) if isinstance(event, events.WriteRowsEvent)]
    batches = [pyarrow.record_batch(event.to_arrow()) for event in writes]
    found = pyarrow.Table.from_batches(batches[:2])
    assert found.schema == expected.schema
    assert found.to_pydict() == expected.to_pydict()
    stream = binlog_stream(**source.dsn, start=start, blocking=False)
    tables = [pyarrow.record_batch(batch) for batch in stream.arrow_batches("t")]
    assert [batch.column("_change").to_pylist() for batch in tables] == [
        ["insert"] * 2 + ["update", "delete"],
        ["insert"],
    ]
    assert [batch.column("c0").to_pylist() for batch in tables] == [[4000000000, None, 1, 4000000000], [3]]
    small = binlog_stream(**source.dsn, start=start, blocking=False).arrow_batches(
        f"{source.database}.t", size=2, change_column=False
    )
    assert [batch.num_rows for batch in small] == [2, 2, 1]

    async def first() -> int:
        async with aio_replication.binlog_stream(**source.dsn, start=start) as stream:
            async for batch in stream.arrow_batches("t"):
                return batch.num_rows
        return 0

    # What has come is not held back until the batch is full.
    assert run(first()) == 4


def test_semi_synchronous_replication_is_acknowledged() -> None:
    with log_server("mariadb", ["--rpl-semi-sync-master-timeout=30000"]) as server:
        with mysql.connect(**server.dsn, autocommit=True) as connection, connection.cursor() as cursor:
            fresh(cursor)
            cursor.execute("SET GLOBAL rpl_semi_sync_master_enabled = ON")
            stream = binlog_stream(**server.dsn, semi_sync=True, events=[events.RowsEvent])
            stream.connect()
            seen: list[Any] = []
            reading = threading.Thread(target=lambda: seen.extend(event.after_tuples()[0] for event in stream))
            reading.start()
            counts = []
            for number in range(21):
                cursor.execute("SHOW STATUS LIKE 'Rpl_semi_sync_master_%_tx'")
                counts.append(dict(cursor.fetchall()))
                if number < 20:
                    cursor.execute(f"INSERT INTO t VALUES ({number}, 'x')")
            stream.close()
            reading.join(TIMEOUT)
    # Each commit waited for us, and none until its time-out.
    acknowledged = [int(count["Rpl_semi_sync_master_yes_tx"]) for count in counts]
    assert acknowledged == list(range(acknowledged[0], acknowledged[0] + 21))
    assert counts[0]["Rpl_semi_sync_master_no_tx"] == counts[-1]["Rpl_semi_sync_master_no_tx"]
    assert [row[0] for row in seen] == list(range(20))


def test_an_encrypted_log_is_decrypted_by_its_server(tmp_path: Any) -> None:
    keys = tmp_path / "keys"
    keys.write_text("1;770A8A65DA156D24EE2A093277530142\n")
    encrypted = [
        "--plugin-load-add=file_key_management",
        f"--file-key-management-filename={keys}",
        "--encrypt-binlog=ON",
    ]
    with log_server("mariadb", encrypted) as server:
        with mysql.connect(**server.dsn, autocommit=True) as connection, connection.cursor() as cursor:
            fresh(cursor)
            start = now(server)
            cursor.execute("INSERT INTO t VALUES (1, 'secret')")
        assert inserted(read(server, start=start)) == inserted(read(server, start="first")) == [(1, "secret")]
        assert b"secret" not in (server.directory / "data" / "log.000001").read_bytes()


def test_another_thread_may_look_at_a_stream(source: MySQLServer, cursor: mysql.cursors.Cursor) -> None:
    fresh(cursor)
    start = now(source)
    for begin in range(0, 4000, 500):
        cursor.execute("INSERT INTO t VALUES " + ", ".join(f"({number}, 'x')" for number in range(begin, begin + 500)))
    stream = binlog_stream(**source.dsn, start=start, blocking=False)
    seen: list[Any] = []
    reading = threading.Thread(target=lambda: seen.extend(inserted(stream)))
    reading.start()
    places = [stream.event_position]
    while reading.is_alive():
        if stream.event_position != places[-1]:
            places.append(stream.event_position)
    reading.join(TIMEOUT)
    assert len(seen) == 4000 and places == sorted(places)
