"""One query over several connections: every row once, whatever the column; errors end the others."""

from __future__ import annotations

import asyncio
import datetime
import threading
from collections.abc import Callable, Iterator
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from rowferry import mysql
from rowferry._base.ranges import cuts_between, statements
from rowferry.mysql import aio

from tests.servers.mysql import MySQLServer

Read = Callable[..., Any]
ROWS = 2000


@pytest.fixture(params=["sync", "asyncio"])
def colour(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def read(colour: str) -> Read:
    if colour == "sync":
        return mysql.read_partitioned
    return lambda *args, **options: asyncio.run(aio.read_partitioned(*args, **options))


@pytest.fixture
def stream(colour: str) -> Read:
    """All batches of `stream_partitioned`, or the first few."""

    def blocking(*args: Any, most: int = 10**9, **options: Any) -> list[Any]:
        batches = []
        for batch in mysql.stream_partitioned(*args, **options):
            batches.append(batch)
            if len(batches) == most:
                break
        return batches

    async def coroutine(args: Any, most: int, options: Any) -> list[Any]:
        batches = []
        stream = aio.stream_partitioned(*args, **options)
        async for batch in stream:
            batches.append(batch)
            if len(batches) == most:
                break
        await stream.aclose()  # type: ignore[attr-defined]
        return batches

    def asynchronous(*args: Any, most: int = 10**9, **options: Any) -> list[Any]:
        return asyncio.run(coroutine(args, most, options))

    return blocking if colour == "sync" else asynchronous


@pytest.fixture(scope="module")
def table(server: MySQLServer) -> Iterator[str]:
    """Keys of every kind, some of them NULL, one with few values and one skewed."""
    with mysql.connect(**server.dsn, autocommit=True) as connection, connection.cursor() as cursor:
        cursor.execute("DROP TABLE IF EXISTS parted")
        cursor.execute(
            "CREATE TABLE parted (n INT PRIMARY KEY, big BIGINT UNSIGNED, d DECIMAL(30,10), f DOUBLE, day DATE,"
            " moment DATETIME(6), span TIME(3), word VARCHAR(40) COLLATE utf8mb4_unicode_ci, raw VARBINARY(20),"
            " few TINYINT, skewed INT, `odd``name` INT) CHARACTER SET utf8mb4"
        )
        rows = []
        for n in range(ROWS):
            null = n % 50 == 0
            day = datetime.date(1999, 12, 31) + datetime.timedelta(days=n % 700)
            moment = datetime.datetime(2020, 1, 1) + datetime.timedelta(seconds=n * 977, microseconds=n)
            span = datetime.timedelta(seconds=(n - ROWS // 2) * 60, milliseconds=n % 1000)
            values = [
                2**64 - 1 - n * 10**15,
                Decimal(n * 7 - 5000) / 1000,
                n / 7 - 100,
                day,
                moment,
                span,
                f"{'aAbBcCäé'[n % 8]} {n % 90}",
                bytes((n % 256, n // 256)),
                n % 3,
                1 if n % 10 else n,
                n,
            ]
            rows.append((n, *(None if null else value for value in values)))
        cursor.executemany(f"INSERT INTO parted VALUES ({', '.join(['%s'] * 12)})", rows)
        yield "parted"
        cursor.execute("DROP TABLE parted")


COLUMNS = ["n", "big", "d", "f", "day", "moment", "span", "word", "raw", "few", "skewed", "odd`name"]


@pytest.mark.parametrize("on", COLUMNS)
def test_every_row_comes_once(read: Read, server: MySQLServer, table: str, on: str) -> None:
    for options in ({"partitions": 3}, {"partitions": 4, "quantiles": True}):
        read_back = read(server.dsn, f"SELECT * FROM {table}", on=on, **options)
        assert isinstance(read_back, pa.Table)
        assert sorted(read_back.column("n").to_pylist()) == list(range(ROWS))


def test_rows_in_place_of_a_table(read: Read, server: MySQLServer, table: str) -> None:
    # In the order of the ranges; inside of each it is the server's.
    rows = read(server.dsn, f"SELECT n, word FROM {table} WHERE n >= %s AND word LIKE 'a%%'", (100,), on="n", rows=True)
    with mysql.connect(**server.dsn) as connection, connection.cursor() as cursor:
        cursor.execute(f"SELECT n, word FROM {table} WHERE n >= 100 AND word LIKE 'a%'")
        assert sorted(rows) == sorted(cursor.fetchall())
    assert len(rows) > 100


def test_queries_of_every_shape(read: Read, server: MySQLServer, table: str) -> None:
    for query, count in [
        (f"SELECT n, d FROM {table} ORDER BY n LIMIT 10;", 10),
        (f"SELECT n, d FROM {table} -- all of them", ROWS),
        (f"SELECT n, '; -- ' AS t FROM {table} # ;", ROWS),
        (f"SELECT few AS n, COUNT(*) AS c FROM {table} GROUP BY few", 4),
        (f"SELECT n FROM {table} WHERE n < 0", 0),
        (f"SELECT n FROM {table} WHERE n = 7", 1),
        (f"SELECT n, 'é表' AS t, x'ff' AS `é` FROM {table}", ROWS),
        (f"SELECT NULL AS n FROM {table}", ROWS),
        (f"WITH x AS (SELECT n FROM {table}) SELECT n FROM x", ROWS),
        (f"SELECT n FROM {table} WHERE n < 5 UNION ALL SELECT n FROM {table} WHERE n > 1990", 14),
    ]:
        for partitions in (1, 3):
            assert read(server.dsn, query, on="n", partitions=partitions).num_rows == count, query


def test_values_of_every_kind_in_the_query(read: Read, server: MySQLServer) -> None:
    args = (b"\xff\x00'", "é表'", 7)
    rows = read(server.dsn, "SELECT %s AS b, %s AS t, %s AS n", args, on="n", rows=True)
    assert rows == [args]
    # MySQL cannot sort this character of gbk by a window function, whoever asks.
    for charset, text, on in (("latin1", "é", "é"), ("gbk", "誠", "n")):
        rows = read({**server.dsn, "charset": charset}, "SELECT %s AS `é`, 1 AS n", (text,), on=on, rows=True)
        assert rows == [(text, 1)]


def test_batches_as_they_come(stream: Read, server: MySQLServer, table: str) -> None:
    batches = stream(server.dsn, f"SELECT n FROM {table}", on="n", partitions=3, size=100)
    assert max(len(batch) for batch in batches) == 100
    assert sorted(pa.table(pa.Table.from_batches(map(pa.record_batch, batches))).column("n").to_pylist()) == list(
        range(ROWS)
    )
    (empty,) = stream(server.dsn, f"SELECT n FROM {table} WHERE n < 0", on="n")
    assert (len(empty), empty.column_names) == (0, ["n"])


def running(server: MySQLServer, words: str) -> int:
    with mysql.connect(**server.dsn) as connection, connection.cursor() as cursor:
        cursor.execute(
            "SELECT COUNT(*) FROM information_schema.processlist"
            " WHERE info LIKE %s AND info NOT LIKE '%%processlist%%'",
            (f"%{words}%",),
        )
        row = cursor.fetchone()
        assert row is not None
        return int(row[0])


def test_leaving_early_ends_all_statements(stream: Read, server: MySQLServer, table: str) -> None:
    query = f"SELECT a.n, REPEAT('x', 2000) AS left_early FROM {table} a JOIN {table} b"
    (batch,) = stream(server.dsn, query, on="n", partitions=2, size=50, most=1)
    assert len(batch) == 50
    assert running(server, "left_early") == 0
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("rowferry partition")]


def test_the_first_error_ends_the_others(read: Read, server: MySQLServer, table: str) -> None:
    # One range fails when all have begun, another would take minutes.
    query = (
        "SELECT n, CASE n WHEN 2 THEN SLEEP(1) WHEN 3 THEN (SELECT 1 UNION SELECT 2) WHEN 1995 THEN SLEEP(60) END"
        f" AS doomed FROM {table}"
    )
    with pytest.raises(mysql.DatabaseError) as caught:
        read(server.dsn, query, on="n", partitions=2)
    assert caught.value.errno == 1242
    assert running(server, "doomed") == 0


def test_through_a_pool(colour: str, server: MySQLServer, table: str) -> None:
    if colour == "sync":
        with mysql.create_pool(maxsize=2, **server.dsn) as pool:
            for options in ({"partitions": 5}, {"partitions": 2, "consistent": True}):
                assert mysql.read_partitioned(pool, f"SELECT * FROM {table}", on="n", **options).num_rows == ROWS
            with pytest.raises(mysql.ProgrammingError, match="the pool has 2 connections"):
                mysql.read_partitioned(pool, "SELECT 1 AS n", on="n", partitions=3, consistent=True)
            assert pool.freesize == 2
        return

    async def main() -> None:
        async with aio.create_pool(maxsize=2, **server.dsn) as pool:
            for options in ({"partitions": 5}, {"partitions": 2, "consistent": True}):
                found = await aio.read_partitioned(pool, f"SELECT * FROM {table}", on="n", **options)
                assert found.num_rows == ROWS
            with pytest.raises(aio.ProgrammingError, match="the pool has 2 connections"):
                await aio.read_partitioned(pool, "SELECT 1 AS n", on="n", partitions=3, consistent=True)
            assert pool.freesize == 2

    asyncio.run(main())


def test_a_snapshot_sees_one_moment(read: Read, server: MySQLServer) -> None:
    """While another connection moves all amounts from one half of the table to the other, their sum stays."""
    with mysql.connect(**server.dsn, autocommit=True) as writer, writer.cursor() as cursor:
        cursor.execute("DROP TABLE IF EXISTS moved")
        cursor.execute("CREATE TABLE moved (n INT PRIMARY KEY, amount INT)")
        cursor.executemany("INSERT INTO moved VALUES (%s, %s)", [(n, 1) for n in range(100)])
        stop = threading.Event()

        def move() -> None:
            sign = 1
            while not stop.is_set():
                cursor.execute("UPDATE moved SET amount = amount + IF(n < 50, %s, %s)", (sign, -sign))
                sign = -sign

        thread = threading.Thread(target=move)
        thread.start()
        try:
            for _ in range(5):
                rows = read(server.dsn, "SELECT * FROM moved", on="n", partitions=4, consistent=True, rows=True)
                assert (len(rows), sum(amount for _, amount in rows)) == (100, 100)
        finally:
            stop.set()
            thread.join(30)
        cursor.execute("DROP TABLE moved")


def test_a_snapshot_needs_a_privilege(read: Read, server: MySQLServer, table: str) -> None:
    with mysql.connect(**server.dsn, autocommit=True) as connection, connection.cursor() as cursor:
        cursor.execute("DROP USER IF EXISTS reader@localhost, reader@127.0.0.1")
        for host in ("localhost", "127.0.0.1"):
            cursor.execute("CREATE USER reader@%s IDENTIFIED BY 'secret'", (host,))
            cursor.execute(f"GRANT SELECT ON {server.database}.* TO reader@%s", (host,))
        dsn = {**server.dsn, "user": "reader", "password": "secret"}
        with pytest.raises(mysql.OperationalError, match="needs the privilege RELOAD"):
            read(dsn, f"SELECT * FROM {table}", on="n", consistent=True)
        assert read(dsn, f"SELECT * FROM {table}", on="n").num_rows == ROWS
        cursor.execute("DROP USER reader@localhost, reader@127.0.0.1")


def test_what_makes_no_sense_is_refused(read: Read, server: MySQLServer, table: str) -> None:
    with pytest.raises(mysql.ProgrammingError, match="at least one partition"):
        read(server.dsn, "SELECT 1 AS n", on="n", partitions=0)
    with pytest.raises(mysql.DatabaseError):
        read(server.dsn, f"SELECT n FROM {table}", on="nowhere")
    with pytest.raises(mysql.ProgrammingError):
        read(server.dsn, "SELEKT", on="n")


def test_ranges_are_whole_and_apart() -> None:
    assert cuts_between(0, 99, 4) == [24, 49, 74]
    assert cuts_between(0, 1, 8) == []
    assert cuts_between(0, 2, 8) == [1]
    assert cuts_between(5, 5, 3) == []
    assert cuts_between(-(2**63), 2**64 - 1, 2) == [(2**64 - 1 - 2**63) // 2]
    assert cuts_between(datetime.date(1, 1, 1), datetime.date(9999, 12, 31), 2) == [datetime.date(5000, 7, 2)]
    assert statements("SELECT 1 AS n;", "`n`", [], str) == ["SELECT * FROM (\nSELECT 1 AS n\n) AS q"]
    first, middle, last = statements("SELECT 1 AS n", "`n`", [3, 7], str)
    assert first.endswith("WHERE q.`n` < 3 OR q.`n` IS NULL")
    assert middle.endswith("WHERE q.`n` >= 3 AND q.`n` < 7")
    assert last.endswith("WHERE q.`n` >= 7")
