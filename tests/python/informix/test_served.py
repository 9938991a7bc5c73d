"""The driver against `rowferry serve --informix` on a SQLite file, both colours."""

from __future__ import annotations

import asyncio
import datetime as dt
import sqlite3
import threading
import time
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from rowferry import informix
from rowferry.informix import aio

from tests.python.informix.replay import Driver
from tests.servers.rowferry import Rowferry


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rowferry]:
    """One server for the module; each test makes tables of its own."""
    file = tmp_path_factory.mktemp("informix") / "app.db"
    with Rowferry.start(file, postgres=False, informix=True) as server:
        yield server


VALUES: dict[str, list[Any]] = {
    "smallint": [0, 1, -1, 32767, -32767],
    "int": [0, 2147483647, -2147483647],
    "bigint": [0, 2**63 - 1, -(2**63) + 1, 2**31, -(2**31)],
    "int8": [0, 2**62, -(2**62), 123456789012, -123456789012],
    "float": [0.0, 1.5, -2.25, 1e300, 1e-300],
    "smallfloat": [0.0, 1.5, -2.25],
    "decimal(10,2)": [Decimal("0.00"), Decimal("-1234.56"), Decimal("99999999.99"), Decimal("0.01")],
    "decimal(32,2)": [Decimal("999999999999999999999999999999.99"), Decimal("-0.01")],
    "decimal(16)": [Decimal("3.14159"), Decimal("-1E-20"), Decimal("1234567890123456")],
    "money(8,2)": [Decimal("9.99"), Decimal("-999999.99")],
    "varchar(40)": ["abc", "", "a", "it's", "größe € 漢字", "x" * 40],
    "char(10)": ["chr", "0123456789"],
    "nchar(5)": ["nch"],
    "lvarchar(500)": ["PackageRoot", "", "y" * 499],
    "boolean": [True, False],
    "date": [dt.date(1899, 12, 31), dt.date(1, 1, 1), dt.date(9999, 12, 31), dt.date(2000, 2, 29)],
    "datetime year to second": [dt.datetime(2026, 1, 2, 3, 4, 5), dt.datetime(1, 1, 1)],
    "datetime year to fraction(5)": [dt.datetime(2026, 1, 2, 3, 4, 5, 123450), dt.datetime(2026, 1, 2)],
    "datetime hour to second": [dt.time(0, 0), dt.time(23, 59, 59)],
    "interval day(3) to second": [dt.timedelta(days=3, seconds=3661), dt.timedelta(days=-999), dt.timedelta(0)],
    "interval year to month": [informix.IntervalYM(14), informix.IntervalYM(-14), informix.IntervalYM(0)],
}


@pytest.mark.parametrize("declared", VALUES)
def test_values_come_back_between_other_columns(connect: Any, table: str, declared: str) -> None:
    connection = connect(autocommit=True)
    connection.execute(f"CREATE TABLE {table} (head INT, v {declared}, tail INT)")
    values = [*VALUES[declared], None]
    rows = [(place, value, -place) for place, value in enumerate(values)]
    cursor = connection.cursor()
    cursor.executemany(f"INSERT INTO {table} VALUES (?, ?, ?)", rows)
    assert cursor.rowcount == len(rows)
    # Another column behind the value each time, so that a wrong width shows.
    for columns in (("head", "v", "tail"), ("v", "head", "tail"), ("tail", "head", "v"), ("v", "v", "tail")):
        cursor.execute(f"SELECT {', '.join(columns)} FROM {table} ORDER BY head")
        named = [dict(zip(("head", "v", "tail"), row, strict=True)) for row in rows]
        got = cursor.fetchall()
        assert got == [tuple(row[column] for column in columns) for row in named]
        assert [type(row[columns.index("v")]) for row in got] == [type(value) for value in values]


def test_byte_and_text_columns(connect: Any, table: str) -> None:
    connection = connect(autocommit=True, fetch_bytes=1000)
    connection.execute(f"CREATE TABLE {table} (n INT, b BYTE, m INT, t TEXT, tail INT)")
    rows = [(n, bytes([n % 256]) * n * 97, -n, None, 7 * n) for n in range(1, 40)] + [(40, b"", 0, None, 0)]
    connection.cursor().executemany(f"INSERT INTO {table} VALUES (?, ?, ?, ?, ?)", rows)
    connection.execute(f"INSERT INTO {table} VALUES (?, ?, ?, ?, ?)", (41, None, 1, "größe" * 300, 2))
    query = f"SELECT n, b, m, t, tail FROM {table} ORDER BY n"
    assert connection.execute(query).fetchall() == [*rows, (41, None, 1, "größe" * 300, 2)]
    # Left in the middle, and run again.
    assert connection.execute(query).fetchone() == rows[0]
    assert connection.execute(query).fetchmany(2) == rows[:2]


def test_the_file_holds_what_was_sent(driver: Driver, server: Rowferry, table: str) -> None:
    assert server.informix is not None
    host, port = server.informix
    url = f"informix://{host}:{port}/{server.dbname}?client_locale=en_US.utf8"
    connection = driver.connect(url, autocommit=True)
    connection.execute(f"CREATE TABLE {table} (i INT, v VARCHAR(20), d DATE, n DECIMAL(8,2))")
    connection.execute(f"INSERT INTO {table} VALUES (?, ?, ?, ?)", (7, "größe", dt.date(2026, 1, 2), Decimal("-1.50")))
    with sqlite3.connect(f"file:{server.database}?mode=ro", uri=True) as file:
        assert file.execute(f"SELECT i, v, d, n FROM {table}").fetchall() == [(7, "größe", "2026-01-02", -1.5)]
    file.close()
    connection.close()


def test_transactions(connect: Any, table: str) -> None:
    connection, other = connect(), connect(autocommit=True)
    count = f"SELECT COUNT(*) FROM {table}"
    connection.execute(f"CREATE TABLE {table} (id SERIAL, v INT)")
    connection.commit()
    cursor = connection.execute(f"INSERT INTO {table} (v) VALUES (:1)", (5,))
    assert cursor.lastrowid == 1 and connection.in_transaction
    assert other.execute(count).fetchone() == (0,)
    connection.rollback()
    assert not connection.in_transaction
    connection.execute(f"INSERT INTO {table} (v) VALUES (?)", (6,))
    connection.commit()
    connection.commit()
    assert other.execute(count).fetchone() == (1,)
    # What the user types is noticed.
    other.execute("BEGIN WORK")
    assert other.in_transaction
    other.execute(f"DELETE FROM {table}")
    other.execute("ROLLBACK WORK")
    assert not other.in_transaction
    assert other.execute(count).fetchone() == (1,)
    connection.execute(f"INSERT INTO {table} (v) VALUES (7)")
    connection.set_savepoint("here")
    connection.execute(f"INSERT INTO {table} (v) VALUES (8)")
    connection.rollback_to_savepoint("here")
    connection.commit()
    assert other.execute(count).fetchone() == (2,)


def test_many_rows_are_fetched_in_batches_by_several_cursors(connect: Any, table: str) -> None:
    connection = connect(fetch_bytes=4096)
    connection.execute(f"CREATE TABLE {table} (n INT, t VARCHAR(30))")
    rows = [(n, f"row {n}") for n in range(5000)]
    connection.cursor().executemany(f"INSERT INTO {table} VALUES (:n, :t)", ({"n": n, "t": t} for n, t in rows))
    query = f"SELECT n, t FROM {table} ORDER BY n"
    cursors = [connection.execute(query) for _ in range(3)]
    assert [cursor.rowcount for cursor in cursors] == [-1, -1, -1]
    got: list[list[Any]] = [[], [], []]
    while any(len(part) < len(rows) for part in got):
        for cursor, part in zip(cursors, got, strict=True):
            part.extend(cursor.fetchmany(700))
    assert got == [rows, rows, rows]
    assert [cursor.fetchone() for cursor in cursors] == [None] * 3
    assert cursors[0].rowcount == 5000
    # One that is let go in the middle does no harm.
    abandoned = connection.execute(query)
    assert abandoned.fetchone() == rows[0]
    del abandoned
    assert connection.execute(query).fetchall() == rows
    connection.rollback()


@pytest.mark.parametrize("failing", [0, 1, 1_000, 2_999])
def test_a_batch_stops_at_the_row_that_fails(connect: Any, table: str, failing: int) -> None:
    connection = connect()
    connection.execute(f"CREATE TABLE {table} (n INT PRIMARY KEY)")
    values = list(range(3000))
    values[failing] = -1
    connection.execute(f"INSERT INTO {table} VALUES (-1)")
    cursor = connection.cursor()
    with pytest.raises(informix.IntegrityError) as caught:
        cursor.executemany(f"INSERT INTO {table} VALUES (?)", ((value,) for value in values))
    assert caught.value.row == failing
    count = connection.execute(f"SELECT COUNT(*) FROM {table} WHERE n >= 0").fetchone()
    assert count == (failing,)
    # A value that cannot be sent: the same, and it is told which.
    more: list[Any] = [(10_000 + n,) for n in range(3000)]
    more[failing] = (object(),)
    with pytest.raises(informix.ProgrammingError) as refused:
        cursor.executemany(f"INSERT INTO {table} VALUES (?)", more)
    assert refused.value.row == failing
    count = connection.execute(f"SELECT COUNT(*) FROM {table} WHERE n >= 10000").fetchone()
    assert count == (failing,)
    connection.rollback()


def test_errors_leave_the_connection_usable(connect: Any, table: str) -> None:
    connection = connect()
    connection.execute(f"CREATE TABLE {table} (n INT PRIMARY KEY, t VARCHAR(5) NOT NULL)")
    for sql, parameters, error, code in [
        ("SELEKT 1", None, informix.ProgrammingError, -201),
        ("SELECT * FROM nosuch_table", None, informix.ProgrammingError, -206),
        (f"SELECT nosuch FROM {table}", None, informix.ProgrammingError, -217),
        (f"INSERT INTO {table} VALUES (?, ?)", (1, None), informix.IntegrityError, -391),
    ] * 30:
        with pytest.raises(error) as caught:
            connection.execute(sql, parameters)
        assert caught.value.sqlcode == code
        assert caught.value.sql == sql
    connection.execute(f"INSERT INTO {table} VALUES (1, 'a')")
    assert connection.execute(f"SELECT n, t FROM {table}").fetchall() == [(1, "a")]
    connection.rollback()


def test_a_kept_statement_follows_changes_of_its_table(connect: Any, table: str) -> None:
    connection, other = connect(autocommit=True), connect(autocommit=True)
    other.execute(f"CREATE TABLE {table} (a INT)")
    other.execute(f"INSERT INTO {table} VALUES (1)")
    query, insert = f"SELECT * FROM {table}", f"INSERT INTO {table} (a) VALUES (?)"
    assert connection.execute(query).fetchall() == [(1,)]
    connection.execute(insert, (2,))
    # Under its feet, by another session.
    other.execute(f"ALTER TABLE {table} ADD (b VARCHAR(10))")
    assert connection.execute(query).fetchall() == [(1, None), (2, None)]
    connection.execute(insert, (3,))
    other.execute(f"DROP TABLE {table}")
    other.execute(f"CREATE TABLE {table} (c VARCHAR(10))")
    other.execute(f"INSERT INTO {table} VALUES ('new')")
    assert connection.execute(query).fetchall() == [("new",)]
    with pytest.raises(informix.ProgrammingError) as caught:
        connection.execute(insert, (4,))
    assert caught.value.sqlcode == -217


def test_queries_go_on_after_another_session_has_changed_the_schema(connect: Any, table: str) -> None:
    connection, other = connect(autocommit=True), connect(autocommit=True)
    connection.execute(f"CREATE TABLE {table} (a INT)")
    connection.execute(f"CREATE TABLE {table}_more (a INT)")
    catalog = f"SELECT tabname FROM systables WHERE tabname MATCHES '{table}*' ORDER BY tabname"
    assert connection.execute(catalog).fetchall() == [(table,), (f"{table}_more",)]
    other.execute(f"DROP TABLE {table}_more")
    for _ in range(2):
        assert connection.execute(f"SELECT a FROM {table}").fetchall() == []
        assert connection.execute(catalog).fetchall() == [(table,)]


def test_row_factories_and_scrolling(connect: Any, table: str) -> None:
    connection = connect(autocommit=True)
    connection.execute(f"CREATE TABLE {table} (n INT, name VARCHAR(10))")
    connection.cursor().executemany(f"INSERT INTO {table} VALUES (?, ?)", [(n, f"n{n}") for n in range(10)])
    query = f"SELECT n, name FROM {table} ORDER BY n"
    connection.row_factory = informix.Row
    row = connection.execute(query).fetchone()
    assert (row.n, row["name"], row[1], row._asdict()) == (0, "n0", "n0", {"n": 0, "name": "n0"})
    connection.row_factory = dict
    assert connection.execute(query).fetchmany(2) == [{"n": 0, "name": "n0"}, {"n": 1, "name": "n1"}]
    connection.row_factory = None
    cursor = connection.cursor(scrollable=True)
    cursor.execute(query)
    assert cursor.fetch_last() == (9, "n9")
    assert cursor.fetch_first() == (0, "n0")
    assert cursor.fetch_absolute(4) == (4, "n4")
    assert cursor.fetch_relative(2) == (6, "n6")
    assert cursor.fetch_prior() == (5, "n5")
    assert cursor.fetch_absolute(-1) == (9, "n9")
    assert cursor.fetch_absolute(99) is None
    assert len(cursor.fetchall()) == 0
    # From behind the last row.
    assert cursor.fetch_prior() == (9, "n9")
    assert cursor.fetch_prior() == (8, "n8")
    cursor.scroll(3, "absolute")
    assert cursor.fetchone() == (3, "n3")
    with pytest.raises(IndexError):
        cursor.scroll(100)


def test_a_transaction_that_was_not_committed_is_rolled_back_at_close(connect: Any, table: str) -> None:
    connection, other = connect(), connect(autocommit=True)
    other.execute(f"CREATE TABLE {table} (n INT)")
    connection.execute(f"INSERT INTO {table} VALUES (1)")
    connection.close()
    assert other.execute(f"SELECT COUNT(*) FROM {table}").fetchone() == (0,)


#: Runs for hours unless somebody stops it.
ENDLESS = "SELECT COUNT(*) FROM {0} a, {0} b, {0} c, {0} d, {0} e WHERE a.n + b.n + c.n + d.n + e.n < 0"


def fill(connection: Any, table: str) -> str:
    connection.execute(f"CREATE TABLE {table} (n INT)")
    connection.cursor().executemany(f"INSERT INTO {table} VALUES (?)", [(n,) for n in range(200)])
    return ENDLESS.format(table)


def test_another_thread_interrupts_a_statement(server: Rowferry, table: str) -> None:
    assert server.informix is not None
    host, port = server.informix
    with informix.connect(host, port, user="a", database=server.dbname, autocommit=True, read_timeout=60) as connection:
        endless = fill(connection, table)
        stop = threading.Event()

        def interrupt() -> None:
            # Again and again: the statement may not have begun yet.
            while not stop.wait(0.05):
                connection.interrupt()

        thread = threading.Thread(target=interrupt)
        thread.start()
        try:
            with pytest.raises(informix.OperationalError) as caught:
                connection.execute(endless)
        finally:
            stop.set()
            thread.join()
        assert (caught.value.sqlcode, caught.value.isamcode) == (-213, -157)
        assert connection.execute(f"SELECT COUNT(*) FROM {table}").fetchone() == (200,)


def test_a_cancelled_task_stops_the_statement_and_keeps_the_connection(server: Rowferry, table: str) -> None:
    assert server.informix is not None
    host, port = server.informix

    async def main() -> None:
        async with aio.connect(host, port, user="a", database=server.dbname, autocommit=True) as connection:
            await connection.execute(f"CREATE TABLE {table} (n INT)")
            await connection.cursor().executemany(f"INSERT INTO {table} VALUES (?)", [(n,) for n in range(200)])
            for wait in (0.0, 0.05, 0.2):
                began = time.monotonic()
                with pytest.raises(asyncio.TimeoutError):
                    await asyncio.wait_for(connection.execute(ENDLESS.format(table)), wait)
                assert time.monotonic() - began < 30
                assert not connection.closed
                cursor = await connection.execute(f"SELECT COUNT(*) FROM {table}")
                assert await cursor.fetchone() == (200,)

    asyncio.run(main())


def test_a_second_operation_on_a_busy_connection_is_refused(server: Rowferry, table: str) -> None:
    assert server.informix is not None
    host, port = server.informix

    async def main() -> None:
        async with aio.connect(host, port, user="a", database=server.dbname, autocommit=True) as connection:
            await connection.execute(f"CREATE TABLE {table} (n INT)")
            first = asyncio.ensure_future(connection.execute(f"SELECT COUNT(*) FROM {table}"))
            await asyncio.sleep(0)
            with pytest.raises(informix.InterfaceError, match="another operation"):
                await connection.execute(f"SELECT COUNT(*) FROM {table}")
            assert await (await first).fetchone()

    asyncio.run(main())


def test_a_connection_that_is_dropped_warns_and_is_closed(server: Rowferry) -> None:
    assert server.informix is not None
    host, port = server.informix
    connection = informix.connect(host, port, user="a", database=server.dbname)
    with pytest.warns(ResourceWarning, match="unclosed connection"):
        del connection


def test_a_file_that_somebody_else_made_is_served(tmp_path: Path, driver: Driver) -> None:
    path = tmp_path / "theirs.db"
    with sqlite3.connect(path) as file:
        file.execute("CREATE TABLE person (id INTEGER PRIMARY KEY, name TEXT, born DATE)")
        file.execute("INSERT INTO person VALUES (1, 'Ada', '1815-12-10')")
    file.close()
    with Rowferry.start(path, postgres=False, informix=True) as server:
        assert server.informix is not None
        host, port = server.informix
        with driver.connect(host=host, port=port, database="theirs") as connection:
            assert connection.execute("SELECT id, name, born FROM person").fetchall() == [
                (1, "Ada", dt.date(1815, 12, 10))
            ]
