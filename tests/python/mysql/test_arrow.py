"""Rows as Arrow record batches and tables: both colours, from the wire and from memory, read by pyarrow and polars."""

from __future__ import annotations

import asyncio
import datetime as dt
import sys
from collections.abc import Callable, Iterator
from decimal import Decimal
from typing import Any

import polars
import pyarrow as pa
import pytest
from rowferry import mysql
from rowferry.mysql import aio

from tests.servers.mysql import MySQLServer

#: Declaration, Arrow type, values as Arrow's Python has them.
TYPES: list[tuple[str, pa.DataType, list[Any]]] = [
    ("TINYINT", pa.int8(), [-128, 0, 127]),
    ("TINYINT UNSIGNED", pa.uint8(), [0, 255]),
    ("BOOL", pa.int8(), [1, 0]),
    ("SMALLINT", pa.int16(), [-32768, 32767]),
    ("SMALLINT UNSIGNED", pa.uint16(), [65535]),
    ("MEDIUMINT", pa.int32(), [-8388608, 8388607]),
    ("MEDIUMINT UNSIGNED", pa.uint32(), [16777215]),
    ("INT", pa.int32(), [-(2**31), 2**31 - 1]),
    ("INT UNSIGNED", pa.uint32(), [2**32 - 1]),
    ("BIGINT", pa.int64(), [-(2**63), 2**63 - 1]),
    ("BIGINT UNSIGNED", pa.uint64(), [0, 2**63, 2**64 - 1]),
    ("INT(8) ZEROFILL", pa.uint32(), [42]),
    ("YEAR", pa.int16(), [1901, 2155]),
    ("DOUBLE", pa.float64(), [0.0, -0.5, 0.1, 1e300, 5e-324, 1.7976931348623157e308]),
    ("FLOAT", pa.float32(), [-1.5, 16384.0, 0.25]),
    ("DECIMAL(10,2)", pa.decimal128(10, 2), [Decimal("0.00"), Decimal("-0.05"), Decimal("12345678.90")]),
    ("DECIMAL(10,2) UNSIGNED", pa.decimal128(10, 2), [Decimal("0.01"), Decimal("99999999.99")]),
    ("DECIMAL(19,0)", pa.decimal128(19, 0), [Decimal("9999999999999999999"), Decimal("-9999999999999999999")]),
    ("DECIMAL(38,30)", pa.decimal128(38, 30), [Decimal("-12345678." + "9" * 30), Decimal("0." + "0" * 29 + "1")]),
    ("DECIMAL(65,30)", pa.decimal256(65, 30), [Decimal("9" * 35 + "." + "9" * 30), Decimal("-1." + "0" * 30)]),
    ("DECIMAL(65,0)", pa.decimal256(65, 0), [Decimal("-" + "9" * 65), Decimal(7)]),
    ("DATE", pa.date32(), [dt.date(1, 1, 1), dt.date(2024, 2, 29), dt.date(9999, 12, 31)]),
    ("DATETIME", pa.timestamp("us"), [dt.datetime(2026, 11, 21, 23, 59, 59), dt.datetime(1000, 1, 1)]),
    ("DATETIME(6)", pa.timestamp("us"), [dt.datetime(9999, 12, 31, 23, 59, 59, 999999)]),
    ("DATETIME(3)", pa.timestamp("us"), [dt.datetime(2026, 11, 21, 1, 2, 3, 120000)]),
    ("TIMESTAMP(6) NULL", pa.timestamp("us"), [dt.datetime(2026, 11, 21, 1, 2, 3, 500000)]),
    ("TIME", pa.duration("us"), [dt.timedelta(0), -dt.timedelta(hours=838, minutes=59, seconds=59)]),
    ("TIME(6)", pa.duration("us"), [-dt.timedelta(microseconds=1), dt.timedelta(days=2, microseconds=500000)]),
    ("CHAR(10)", pa.string(), ["", "äöü€", "😀"]),
    ("VARCHAR(300)", pa.string(), ["", "x" * 251, "ä" * 300]),
    ("MEDIUMTEXT", pa.string(), ["é" * 70000]),
    ("BINARY(4)", pa.binary(), [b"\0\xff'\\"]),
    ("VARBINARY(300)", pa.binary(), [b"", bytes(range(256))]),
    ("LONGBLOB", pa.binary(), [bytes(range(256)) * 300]),
    ("BIT(12)", pa.binary(), [b"\x0f\xff"]),
    ("ENUM('a','é')", pa.string(), ["a", "é"]),
    ("SET('a','b','c')", pa.string(), ["", "a,c"]),
    ("JSON", pa.string(), ['{"a": [1, null, "é"]}']),
]

Fetch = Callable[..., list[Any]]


@pytest.fixture(params=["sync", "asyncio"])
def fetch(request: pytest.FixtureRequest, server: MySQLServer) -> Fetch:
    """Run SQL on a new connection; answer the record batches, as pyarrow has them."""

    def blocking(kind: str, sql: str, args: Any = None, size: int = 65_536, **options: Any) -> list[Any]:
        with mysql.connect(**server.dsn, **options) as connection:
            with connection.cursor(getattr(mysql.cursors, kind)) as cursor:
                cursor.execute(sql, args)
                return [pa.record_batch(batch) for batch in cursor.fetch_record_batches(size)]

    async def coroutine(kind: str, sql: str, args: Any, size: int, options: Any) -> list[Any]:
        async with aio.connect(**server.dsn, **options) as connection:
            async with connection.cursor(getattr(aio, kind)) as cursor:
                await cursor.execute(sql, args)
                return [pa.record_batch(batch) async for batch in cursor.fetch_record_batches(size)]

    def asynchronous(kind: str, sql: str, args: Any = None, size: int = 65_536, **options: Any) -> list[Any]:
        return asyncio.run(coroutine(kind, sql, args, size, options))

    return blocking if request.param == "sync" else asynchronous


@pytest.fixture(scope="module")
def every(server: MySQLServer) -> Iterator[str]:
    """A table with every type: each value beside NULL, a column of text behind each."""
    columns = ", ".join(f"a{at} {declaration}, z{at} VARCHAR(10)" for at, (declaration, _, _) in enumerate(TYPES))
    height = max(len(values) for _, _, values in TYPES)
    with mysql.connect(**server.dsn, autocommit=True) as connection, connection.cursor() as cursor:
        cursor.execute("DROP TABLE IF EXISTS every_type")
        cursor.execute(f"CREATE TABLE every_type (n INT NOT NULL, {columns}) CHARACTER SET utf8mb4")
        for n in range(height + 1):
            row: list[Any] = [n]
            for at, (_, _, values) in enumerate(TYPES):
                row += [values[n] if n < len(values) else None, f"z{at}"]
            cursor.execute(f"INSERT INTO every_type VALUES ({', '.join(['%s'] * len(row))})", row)
        yield "SELECT * FROM every_type ORDER BY n"
        cursor.execute("DROP TABLE every_type")


@pytest.fixture(scope="module")
def many(server: MySQLServer) -> Iterator[str]:
    """5,000 rows."""
    with mysql.connect(**server.dsn, autocommit=True) as connection, connection.cursor() as cursor:
        cursor.execute("DROP TABLE IF EXISTS many_rows")
        cursor.execute("CREATE TABLE many_rows (n INT, t VARCHAR(30))")
        cursor.executemany("INSERT INTO many_rows VALUES (%s, %s)", [(n, f"row {n}") for n in range(5000)])
        yield "SELECT n, t FROM many_rows ORDER BY n"
        cursor.execute("DROP TABLE many_rows")


@pytest.mark.parametrize("kind", ["SSCursor", "Cursor", "DictCursor", "SSDictCursor"])
def test_every_type_has_its_arrow_type(fetch: Fetch, every: str, kind: str) -> None:
    (batch,) = fetch(kind, every)
    table = pa.table(batch)
    height = len(table)
    for at, (declaration, kind_of_arrow, values) in enumerate(TYPES):
        column = table.column(f"a{at}")
        if declaration != "JSON":
            assert column.to_pylist() == values + [None] * (height - len(values)), declaration
        assert column.type == kind_of_arrow, declaration
        # A wrong width would show in the neighbour.
        assert table.column(f"z{at}").to_pylist() == [f"z{at}"] * height, declaration
    assert table.column("n").to_pylist() == list(range(height))


def test_batches_have_the_size_asked_for(fetch: Fetch, many: str) -> None:
    for kind in ("SSCursor", "Cursor"):
        for size in (1000, 777, 5000, 65536):
            batches = fetch(kind, many, None, size)
            sizes = [batch.num_rows for batch in batches]
            assert sizes == [size] * (5000 // size) + ([5000 % size] if 5000 % size else [])
            table = pa.Table.from_batches(batches)
            assert table.column("n").to_pylist() == list(range(5000))
            assert table.column("t")[4999].as_py() == "row 4999"


def test_without_rows_there_are_columns(fetch: Fetch, many: str) -> None:
    for kind in ("SSCursor", "Cursor"):
        (batch,) = fetch(kind, "SELECT n, t FROM many_rows WHERE n < %s", (0,))
        assert batch.num_rows == 0
        assert batch.schema == pa.schema([("n", pa.int32()), ("t", pa.string())])


def test_rows_and_batches_take_turns(connection: mysql.Connection, many: str) -> None:
    for kind in (mysql.cursors.Cursor, mysql.cursors.SSCursor):
        with connection.cursor(kind) as cursor:
            cursor.execute(many)
            assert list(cursor.fetchmany(3)) == [(n, f"row {n}") for n in range(3)]
            assert cursor.fetchone() == (3, "row 3")
            batches = cursor.fetch_record_batches(1000)
            first = pa.record_batch(next(iter(batches)))
            assert first.column("n")[0].as_py() == 4
            taken = 4 + first.num_rows
            assert cursor.rownumber == taken
            assert cursor.fetchone() == (taken, f"row {taken}")
            table = cursor.fetch_arrow_table()
            assert table.column("n").to_pylist() == list(range(taken + 1, 5000))
            assert cursor.fetchone() is None
            assert cursor.fetch_arrow_table().num_rows == 0


def test_the_connection_goes_on_behind_an_unfinished_stream(connection: mysql.Connection, many: str) -> None:
    cursor = connection.cursor(mysql.cursors.SSCursor)
    cursor.execute(many)
    next(iter(cursor.fetch_record_batches(10)))
    cursor.close()
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")
        assert cursor.fetchall() == ((1,),)


def test_results_behind_results(connection: mysql.Connection) -> None:
    with connection.cursor(mysql.cursors.SSCursor) as cursor:
        cursor.execute("SELECT 1 AS a; SELECT 'x' AS b")
        assert cursor.fetch_arrow_table().to_pylist() == [{"a": 1}]
        assert cursor.nextset()
        assert cursor.fetch_arrow_table().to_pylist() == [{"b": "x"}]
        assert not cursor.nextset()


@pytest.mark.parametrize("kind", ["SSCursor", "Cursor"])
def test_zero_dates_are_what_the_caller_chose(connect: Callable[..., mysql.Connection], kind: str) -> None:
    for zero_dates in ("text", "none", "error"):
        connection = connect(sql_mode="", zero_dates=zero_dates)
        with connection.cursor(getattr(mysql.cursors, kind)) as cursor:
            cursor.execute("CREATE TEMPORARY TABLE d (a DATE, b DATETIME(3), c DATE, n INT)")
            cursor.execute("INSERT INTO d VALUES ('0000-00-00', '0000-00-00', '2020-02-00', 1)")
            if zero_dates == "error":
                with pytest.raises(mysql.DataError, match="0000-00-00"):
                    cursor.execute("SELECT * FROM d")
                    cursor.fetch_arrow_table()
            else:
                cursor.execute("SELECT * FROM d")
                assert cursor.fetch_arrow_table().to_pylist() == [{"a": None, "b": None, "c": None, "n": 1}]
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
            assert cursor.fetchall() == ((1,),)


@pytest.mark.parametrize("charset", ["latin1", "gbk", "utf8mb4"])
def test_text_of_every_character_set_becomes_utf8(fetch: Fetch, charset: str) -> None:
    text = {"latin1": "é€", "gbk": "誠", "utf8mb4": "😀"}[charset]
    for kind in ("SSCursor", "Cursor"):
        (batch,) = fetch(kind, "SELECT %s AS t, 7 AS n", (text,), charset=charset)
        assert batch.to_pylist() == [{"t": text, "n": 7}]


def test_text_that_is_no_utf8_is_an_error(connection: mysql.Connection) -> None:
    with connection.cursor(mysql.cursors.SSCursor) as cursor:
        # A change that the server does not tell of.
        cursor.execute("SET session_track_system_variables = ''")
        cursor.execute("SET character_set_results = latin1")
        cursor.execute("SELECT 'é' AS t, 1 AS n")
        with pytest.raises(mysql.DataError, match="column `t`"):
            cursor.fetch_arrow_table()
        assert cursor.fetchone() is None
        cursor.execute("SET character_set_results = utf8mb4")
        cursor.execute("SELECT 'é' AS t, 1 AS n")
        assert cursor.fetch_arrow_table().to_pylist() == [{"t": "é", "n": 1}]


def test_other_libraries_read_batches_through_the_capsules(connection: mysql.Connection, many: str) -> None:
    with connection.cursor(mysql.cursors.SSCursor) as cursor:
        cursor.execute(f"{many} LIMIT 10")
        (batch,) = list(cursor.fetch_record_batches())
    assert polars.DataFrame(batch).rows() == [(n, f"row {n}") for n in range(10)]
    assert repr(batch) == "<ArrowBatch of 10 rows: n, t>"
    for _ in range(3):
        assert pa.table(batch).num_rows == 10
    assert pa.table(batch).to_pandas()["n"].tolist() == list(range(10))


def test_says_what_to_install(connection: mysql.Connection, monkeypatch: pytest.MonkeyPatch) -> None:
    with connection.cursor(mysql.cursors.SSCursor) as cursor:
        cursor.execute("SELECT 1 AS n")
        with monkeypatch.context() as patch:
            patch.setitem(sys.modules, "pyarrow", None)
            with pytest.raises(mysql.InterfaceError, match="pip install pyarrow"):
                cursor.fetch_arrow_table()
        assert cursor.fetchall() == [(1,)]


def test_refuses_what_has_no_rows(connection: mysql.Connection) -> None:
    for kind in (mysql.cursors.Cursor, mysql.cursors.SSCursor):
        with connection.cursor(kind) as cursor:
            with pytest.raises(mysql.ProgrammingError, match="no rows to fetch"):
                cursor.fetch_arrow_table()
            cursor.execute("DO 1")
            with pytest.raises(mysql.ProgrammingError, match="no rows to fetch"):
                cursor.fetch_arrow_table()
            cursor.execute("SELECT 1")
            with pytest.raises(mysql.ProgrammingError, match="at least one row"):
                list(cursor.fetch_record_batches(0))


def test_a_long_row_is_read_in_several_packets(fetch: Fetch) -> None:
    (batch,) = fetch("SSCursor", "SELECT REPEAT('x', 17000000) AS t, 7 AS n")
    assert len(batch.column("t")[0].as_py()) == 17_000_000
    assert batch.column("n")[0].as_py() == 7


def test_a_cancelled_fetch_leaves_a_usable_connection(server: MySQLServer) -> None:
    async def main() -> None:
        async with aio.connect(**server.dsn) as connection:
            cursor = connection.cursor(aio.SSCursor)
            # So much that the server cannot have sent it all, and a row that does not come.
            await cursor.execute("SELECT seq, REPEAT('x', 1000), SLEEP(IF(seq = 900, 30, 0)) AS s FROM seq_1_to_1000")
            task = asyncio.ensure_future(cursor.fetch_arrow_table())
            await asyncio.sleep(0)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            await cursor.close()
            if connection.open:
                async with connection.cursor() as cursor:
                    await cursor.execute("SELECT 1")
                    assert await cursor.fetchall() == ((1,),)

    asyncio.run(asyncio.wait_for(main(), 60))
