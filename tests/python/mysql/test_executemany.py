"""`executemany`: few requests, the same outcome as a statement for each row, and errors that name their row."""

from __future__ import annotations

import asyncio
import datetime
import decimal
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from rowferry import mysql
from rowferry.mysql import aio

from tests.servers.mysql import MySQLServer

Connect = Callable[..., mysql.Connection]


@pytest.fixture(autouse=True)
def table(connection: mysql.Connection) -> None:
    connection.query("CREATE TEMPORARY TABLE m (id INT PRIMARY KEY, a VARCHAR(1000), b INT DEFAULT 7)")


@pytest.fixture
def cursor(connection: mysql.Connection) -> mysql.cursors.Cursor:
    return connection.cursor()


def everything(cursor: mysql.cursors.Cursor) -> Any:
    cursor.execute("SELECT * FROM m ORDER BY id")
    return cursor.fetchall()


def ids(cursor: mysql.cursors.Cursor) -> list[int]:
    cursor.execute("SELECT id FROM m ORDER BY id")
    return [row[0] for row in cursor.fetchall()]


def requests(cursor: mysql.cursors.Cursor, name: str = "Questions") -> int:
    counter = cursor.connection.cursor()
    counter.execute(f"SHOW SESSION STATUS LIKE '{name}'")
    row = counter.fetchone()
    assert row is not None
    return int(row[1])


def test_many_rows_in_few_requests(cursor: mysql.cursors.Cursor) -> None:
    before = requests(cursor)
    rows = [(number, f"text '{number}' \\ %s", number * 2) for number in range(10_000)]
    assert cursor.executemany("INSERT INTO m (id, a, b) VALUES (%s, %s, %s)", rows) == 10_000
    assert requests(cursor) - before < 20
    assert (cursor.rowcount, cursor.warning_count) == (10_000, 0)
    assert everything(cursor) == tuple(rows)


@pytest.mark.on("mariadb", "mariadb11")
def test_mariadb_executes_in_bulk(cursor: mysql.cursors.Cursor) -> None:
    before = requests(cursor, "Com_stmt_execute")
    cursor.executemany("INSERT INTO m (id) VALUES (%s)", [(number,) for number in range(100)])
    assert requests(cursor, "Com_stmt_execute") - before == 1
    # Prepared on the way, and forgotten.
    cursor.execute("SHOW SESSION STATUS LIKE 'Prepared_stmt_count'")
    assert requests(cursor, "Com_stmt_close") == requests(cursor, "Com_stmt_prepare")


def test_everything_that_may_stand_around_the_values(cursor: mysql.cursors.Cursor) -> None:
    sql = "INSERT INTO m (id, a) VALUES (%s, CONCAT('(', %s, '),%%')) ON DUPLICATE KEY UPDATE"
    sql += " a = VALUES(a), b = 100%%7"
    assert cursor.executemany(sql, [(1, "x"), (2, "y")]) == 2
    cursor.executemany(sql, [(2, "z"), (3, "w")])
    cursor.executemany("REPLACE /* values (%%s) */ m VALUES (%(id)s, %(a)s, 1);", [{"id": 4, "a": "v"}] * 2)
    assert everything(cursor) == ((1, "(x),%", 7), (2, "(z),%", 2), (3, "(w),%", 7), (4, "v", 1))


@pytest.mark.on("mysql9")
def test_an_alias_of_the_new_row(cursor: mysql.cursors.Cursor) -> None:
    sql = "INSERT INTO m (id, b) VALUES (%s, %s) AS new ON DUPLICATE KEY UPDATE b = m.b + new.b"
    assert cursor.executemany(sql, [(1, 1), (2, 2), (1, 10)]) == 4
    assert everything(cursor) == ((1, None, 11), (2, None, 2))


@pytest.mark.on("mariadb", "mariadb11")
def test_rows_that_an_insert_returns_are_collected(cursor: mysql.cursors.Cursor) -> None:
    rows = [(number, "x" * 100) for number in range(5_000)]
    cursor.executemany("INSERT INTO m (id, a) VALUES (%s, %s) RETURNING id, b", rows)
    assert cursor.fetchall() == tuple((number, 7) for number in range(5_000))


def test_statements_that_are_no_insert(cursor: mysql.cursors.Cursor) -> None:
    cursor.executemany("INSERT INTO m (id) VALUES (%s)", [(1,), (2,), (3,)])
    assert cursor.executemany("UPDATE m SET a = %s WHERE id = %s", [("x", 1), ("y", 2), ("z", 9)]) == 2
    assert cursor.executemany("UPDATE m SET a = %s WHERE id = %s; -- done", [("x'", 1), ("y;", 2)]) == 2
    assert cursor.executemany("UPDATE m SET a = %s WHERE id = %s # end", [("x", 1), ("y", 2)]) == 2
    assert cursor.executemany("INSERT INTO m (id, a) SELECT %s, %s FROM DUAL", [(4, "x"), (5, "y")]) == 2
    assert cursor.executemany("INSERT INTO m SET id = %s", [(8,), (9,)]) == 2
    sql = "INSERT INTO m (id) VALUES (%s) ON DUPLICATE KEY UPDATE b = %s"
    assert cursor.executemany(sql, [(1, 8), (6, 0)]) == 3
    assert cursor.executemany("DELETE FROM m WHERE id = %s", [(1,), (2,), (70,)]) == 2
    # What only text can carry.
    assert cursor.executemany("DELETE FROM m WHERE id IN %s", [([8, 9],), ((70,),)]) == 2
    assert everything(cursor) == ((3, None, 7), (4, "x", 7), (5, "y", 7), (6, None, 7))


def test_a_statement_of_any_other_kind(cursor: mysql.cursors.Cursor) -> None:
    cursor.executemany("SET @a = %s", [(1,), (2,)])
    cursor.execute("SELECT @a")
    assert cursor.fetchone() == (2,)
    cursor.executemany("SELECT %s + 1 AS n", [(1,), (2,), (3,)])
    assert cursor.fetchall() == ((2,), (3,), (4,))
    assert cursor.executemany("INSERT INTO m (id) VALUES (%s); DELETE FROM m WHERE id = %s", [(1, 2), (3, 1)]) == 3
    assert ids(cursor) == [3]


def test_requests_stay_within_the_limit(cursor: mysql.cursors.Cursor) -> None:
    cursor.max_stmt_length = 2000
    before = requests(cursor)
    rows = [(number, "x" * 900) for number in range(10)]
    assert cursor.executemany("INSERT INTO m (id, a) VALUES (%s, %s)", rows) == 10
    assert 5 <= requests(cursor) - before <= 8
    # A single row may be longer than the limit.
    cursor.max_stmt_length = 10
    assert cursor.executemany("INSERT INTO m (id, a) VALUES (%s, %s)", [(20, "y"), (21, "z")]) == 2


def test_a_column_of_many_types(cursor: mysql.cursors.Cursor) -> None:
    values: list[Any] = [1, None, 2.5, decimal.Decimal("3.25"), 2**63, -5, True, "six", b"seven", 8]
    values += [datetime.date(2026, 11, 21), datetime.datetime(2026, 11, 21, 18, 0, 5), datetime.timedelta(hours=30)]
    values += [9, 0.5] * 20
    assert cursor.executemany("INSERT INTO m (id, a) VALUES (%s, %s)", list(enumerate(values))) == len(values)
    together = everything(cursor)
    cursor.execute("DELETE FROM m")
    for row in enumerate(values):
        cursor.execute("INSERT INTO m (id, a) VALUES (%s, %s)", row)
    assert together == everything(cursor)


def test_values_of_every_type_arrive(cursor: mysql.cursors.Cursor) -> None:
    cursor.execute(
        "CREATE TEMPORARY TABLE v (id INT, i BIGINT, u BIGINT UNSIGNED, f DOUBLE, n DECIMAL(20, 5), s VARCHAR(50),"
        " x BLOB, d DATE, t DATETIME(6), z TIME(6), tail INT)"
    )
    rows = [
        (
            number,
            None if number % 3 == 0 else -(2**63) + number,
            2**64 - 1 - number,
            number / 7,
            decimal.Decimal(number) / 8,
            "schöne Grüße 🌍 '" * (number % 3),
            bytes(range(256)) * (number % 2),
            datetime.date(2026, 1, 1) + datetime.timedelta(number),
            datetime.datetime(2026, 1, 1, 2, 3, 4, number),
            datetime.timedelta(hours=-number, microseconds=number),
            number,
        )
        for number in range(500)
    ]
    marks = ", ".join(["%s"] * 11)
    assert cursor.executemany(f"INSERT INTO v VALUES ({marks})", rows) == 500
    cursor.execute("SELECT * FROM v ORDER BY id")
    assert cursor.fetchall() == tuple((*row[:4], row[4], *row[5:]) for row in rows)


def test_functions_of_the_caller_for_types(connect: Connect) -> None:
    class Celsius(float):
        pass

    conv = {**mysql.converters.conversions, Celsius: lambda value, mapping: f"'{float(value):.1f} °C'"}
    cursor = connect(conv=conv).cursor()
    cursor.execute("CREATE TEMPORARY TABLE m (id INT PRIMARY KEY, a VARCHAR(1000), b INT DEFAULT 7)")
    cursor.executemany("INSERT INTO m (id, a) VALUES (%s, %s)", [(1, Celsius(20)), (2, "x")])
    assert everything(cursor) == ((1, "20.0 °C", 7), (2, "x", 7))


def test_rows_are_taken_as_they_are_needed(cursor: mysql.cursors.Cursor) -> None:
    taken = 0

    def rows() -> Iterator[tuple[int, str]]:
        nonlocal taken
        for number in range(100_000):
            taken += 1
            yield number if number < 5000 else 0, "x" * 100

    with pytest.raises(mysql.IntegrityError):
        cursor.executemany("INSERT INTO m (id, a) VALUES (%s, %s)", rows())
    assert taken < 20_000


def test_an_error_of_the_rows_themselves_is_raised_behind_the_rows_before(cursor: mysql.cursors.Cursor) -> None:
    def rows() -> Iterator[tuple[int]]:
        yield from ((number,) for number in range(3))
        raise LookupError("no more")

    for sql in ["INSERT INTO m (id) VALUES (%s)", "INSERT INTO m (id) SELECT %s + 10 FROM DUAL"]:
        with pytest.raises(LookupError, match="no more"):
            cursor.executemany(sql, rows())
    assert ids(cursor) == [0, 1, 2, 10, 11, 12]


def test_a_row_that_cannot_be_sent_is_named(cursor: mysql.cursors.Cursor) -> None:
    for sql in ["INSERT INTO m (id) VALUES (%s)", "INSERT INTO m SET id = %s"]:
        for bad in [(3, 4), (), (object(),), {"id": 3}]:
            with pytest.raises(mysql.ProgrammingError) as caught:
                cursor.executemany(sql, [(1,), (2,), bad, (5,)])
            assert (caught.value.row, caught.value.sql) == (2, sql)
            assert ids(cursor) == [1, 2]
            cursor.execute("DELETE FROM m")
    assert cursor.executemany("INSERT INTO m (id) VALUES (%s)", []) == 0
    assert cursor.executemany("INSERT INTO m (id) VALUES (%s)", None) is None  # type: ignore[arg-type]


@pytest.mark.parametrize("bad", [0, 1, 499, 999])
def test_an_update_stops_at_the_first_error_and_names_its_row(cursor: mysql.cursors.Cursor, bad: int) -> None:
    cursor.executemany("INSERT INTO m (id, b) VALUES (%s, 0)", [(number,) for number in range(1000)])
    values = [("x" * 1001 if number == bad else "y", number) for number in range(1000)]
    with pytest.raises(mysql.DataError) as caught:
        cursor.executemany("UPDATE m SET a = %s WHERE id = %s", values)
    assert caught.value.row == bad
    cursor.execute("SELECT COUNT(*), MAX(id) FROM m WHERE a = 'y'")
    assert cursor.fetchone() == (bad, bad - 1 if bad else None)
    # The connection is where it was.
    assert cursor.executemany("DELETE FROM m WHERE id = %s", [(1,), (2,)]) == 2


@pytest.mark.parametrize("bad", [1, 700, 4999])
def test_an_insert_that_fails_names_the_row_where_the_server_does(cursor: mysql.cursors.Cursor, bad: int) -> None:
    rows = [(number, "x" * (1001 if number == bad else 10)) for number in range(5000)]
    with pytest.raises(mysql.DataError) as caught:
        cursor.executemany("INSERT INTO m (id, a) VALUES (%s, %s)", rows)
    assert caught.value.row == bad
    # Requests before the failing one have been executed, the failing one and those behind it have not.
    kept = ids(cursor)
    assert kept == list(range(len(kept))) and len(kept) <= bad


def test_a_table_that_is_not_there(cursor: mysql.cursors.Cursor) -> None:
    for sql in ["INSERT INTO nowhere VALUES (%s)", "UPDATE nowhere SET a = %s", "SELECT %s FROM nowhere"]:
        with pytest.raises(mysql.ProgrammingError) as caught:
            cursor.executemany(sql, [(1,), (2,)])
        assert caught.value.errno == 1146
    assert cursor.executemany("INSERT INTO m (id) VALUES (%s)", [(1,)]) == 1


def test_a_failed_preparation_never_runs_the_statement_before_it(connect: Connect) -> None:
    connection = connect()
    connection.query("CREATE TEMPORARY TABLE m (id INT PRIMARY KEY)")
    with connection.prepare("INSERT INTO m VALUES (?)") as statement:
        statement.execute((1,))
        with pytest.raises(mysql.ProgrammingError):
            connection.cursor().executemany("INSERT INTO nowhere VALUES (%s)", [(2,), (3,)])
        statement.execute((4,))
    assert ids(connection.cursor()) == [1, 4]


def test_a_row_beyond_the_servers_packets_is_refused_before_it_is_sent(
    connection: mysql.Connection, connect: Connect
) -> None:
    admin = connection.cursor()
    admin.execute("SELECT @@GLOBAL.max_allowed_packet")
    ((usual,),) = admin.fetchall()
    limit = 1024 * 1024
    admin.execute("SET GLOBAL max_allowed_packet = %s", (limit,))
    try:
        small = connect()
    finally:
        admin.execute("SET GLOBAL max_allowed_packet = %s", (usual,))
    cursor = small.cursor()
    cursor.execute("CREATE TEMPORARY TABLE m (id INT PRIMARY KEY, a LONGTEXT)")
    for sql in ["INSERT INTO m (id, a) VALUES (%s, %s)", "INSERT INTO m (id, a) SELECT %s, %s FROM DUAL"]:
        # The largest that the server takes, whatever stands around the value.
        room = limit - len(sql) - 60
        assert cursor.executemany(sql, [(1, "x" * room), (2, "y" * room), (3, "z")]) == 3
        cursor.execute("DELETE FROM m")
        with pytest.raises(mysql.OperationalError, match="max_allowed_packet") as caught:
            cursor.executemany(sql, [(1, "x"), (2, "y" * limit), (3, "z")])
        assert (caught.value.row, caught.value.errno) == (1, 1153)
        assert ids(cursor) == [1]
        cursor.execute("DELETE FROM m")


def test_the_number_of_the_last_request_is_lastrowid(cursor: mysql.cursors.Cursor) -> None:
    cursor.execute("CREATE TEMPORARY TABLE n (id INT PRIMARY KEY AUTO_INCREMENT, a INT)")
    cursor.executemany("INSERT INTO n (a) VALUES (%s)", [(1,), (2,), (3,)])
    assert cursor.lastrowid == 1
    cursor.executemany("INSERT INTO n SET a = %s", [(4,), (5,)])
    assert cursor.lastrowid is not None and cursor.lastrowid >= 4


def test_warnings_are_counted(cursor: mysql.cursors.Cursor) -> None:
    cursor.execute("SET sql_mode = ''")
    cursor.executemany("INSERT INTO m (id, b) VALUES (%s, %s)", [(1, "x"), (2, 3), (4, "y")])
    assert cursor.warning_count > 0


def test_dict_and_unbuffered_cursors(connection: mysql.Connection) -> None:
    for kind in (mysql.cursors.DictCursor, mysql.cursors.SSCursor, mysql.cursors.SSDictCursor):
        with connection.cursor(kind) as cursor:
            cursor.execute("DELETE FROM m")
            assert cursor.executemany("INSERT INTO m (id) VALUES (%s)", [(1,), (2,)]) == 2
            assert (cursor.rowcount, cursor.description) == (2, None)
            cursor.execute("SELECT id FROM m")
            assert len(cursor.fetchall()) == 2


def test_sql_modes_and_character_sets(connect: Connect) -> None:
    text = "back\\slash 'quote' ;"
    for options in [{"sql_mode": "NO_BACKSLASH_ESCAPES"}, {"charset": "latin1"}, {"charset": "gbk"}]:
        cursor = connect(**options).cursor()
        cursor.execute("CREATE TEMPORARY TABLE m (id INT PRIMARY KEY, a VARCHAR(100)) CHARACTER SET utf8mb4")
        cursor.executemany("INSERT INTO m VALUES (%s, %s)", [(1, text), (2, "x")])
        cursor.executemany("UPDATE m SET a = CONCAT(a, %s) WHERE id = %s", [(text, 1), (text, 2)])
        assert everything(cursor) == ((1, text * 2), (2, "x" + text))


def test_asyncio_does_the_same(server: MySQLServer) -> None:
    async def main() -> None:
        async with aio.connect(**server.dsn) as connection, connection.cursor() as cursor:
            await cursor.execute("CREATE TEMPORARY TABLE m (id INT PRIMARY KEY, a VARCHAR(1000))")
            rows = ((number, "x" * 200) for number in range(20_000))
            assert await cursor.executemany("INSERT INTO m VALUES (%s, %s)", rows) == 20_000
            with pytest.raises(mysql.DataError) as caught:
                values = [("y" * (1001 if number == 300 else 5), number) for number in range(1000)]
                await cursor.executemany("UPDATE m SET a = %s WHERE id = %s", values)
            assert caught.value.row == 300
            with pytest.raises(mysql.ProgrammingError) as caught:
                await cursor.executemany("INSERT INTO m VALUES (%s, %s)", [(-1, "x"), (-2,)])
            assert caught.value.row == 1
            await cursor.execute("SELECT COUNT(*), SUM(a = 'yyyyy') FROM m")
            assert await cursor.fetchall() == ((20_001, 300),)

    asyncio.run(main())


def test_a_cancelled_batch_leaves_a_usable_connection(server: MySQLServer) -> None:
    async def main() -> None:
        async with aio.connect(**server.dsn) as connection, connection.cursor() as cursor:
            await cursor.execute("CREATE TEMPORARY TABLE m (id INT PRIMARY KEY, a VARCHAR(1000))")
            begun = asyncio.Event()

            def rows() -> Iterator[tuple[int, str]]:
                for number in range(10_000_000):
                    if number == 5000:
                        begun.set()
                    yield number, "x" * 100

            task = asyncio.create_task(cursor.executemany("INSERT INTO m VALUES (%s, %s)", rows()))
            await asyncio.wait_for(begun.wait(), 30)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await asyncio.wait_for(task, 30)
            await cursor.execute("SELECT COUNT(*) < 10000000 FROM m")
            assert await cursor.fetchone() == (1,)

    asyncio.run(main())


def test_a_generator_cannot_use_the_connection_meanwhile(connection: mysql.Connection) -> None:
    def rows() -> Iterator[tuple[int]]:
        yield (1,)
        connection.query("SELECT 1")

    with pytest.raises(mysql.InterfaceError, match="another operation"):
        connection.cursor().executemany("INSERT INTO m (id) VALUES (%s)", rows())
    connection.query("SELECT 1")


class TestPreparedStatements:
    @pytest.fixture
    def filled(self, connection: mysql.Connection) -> mysql.Connection:
        connection.cursor().executemany("INSERT INTO m (id, b) VALUES (%s, 0)", [(n,) for n in range(1000)])
        return connection

    def test_executions_travel_ahead_of_their_answers(self, filled: mysql.Connection) -> None:
        with filled.prepare("UPDATE m SET a = ?, b = b + 1 WHERE id = ?") as update:
            for window in (1, 2, 64, 5000):
                result = update.executemany((("x" * (number % 7), number) for number in range(1000)), window=window)
                assert result.affected_rows == 1000
            assert update.executemany([]).affected_rows == 0
        cursor = filled.cursor()
        cursor.execute("SELECT MIN(b), MAX(b), SUM(LENGTH(a)) FROM m")
        assert cursor.fetchall() == ((4, 4, 2997),)

    def test_rows_of_all_executions(self, filled: mysql.Connection) -> None:
        with filled.prepare("SELECT id, b FROM m WHERE id BETWEEN ? AND ? ORDER BY id") as select:
            result = select.executemany([(1, 2), (7, 7), (5000, 6000), (990, 2000)], as_dict=True)
        assert [row["id"] for row in result.rows or ()] == [1, 2, 7, *range(990, 1000)]

    @pytest.mark.parametrize("bad", [0, 1, 499, 999])
    def test_a_failing_row_is_named_and_ends_the_sending(self, filled: mysql.Connection, bad: int) -> None:
        values = [("x" * (1001 if number == bad else 1), number) for number in range(1000)]
        cursor = filled.cursor()
        with filled.prepare("UPDATE m SET a = ? WHERE id = ?") as update:
            for window, most in [(1, bad), (64, bad + 63)]:
                with pytest.raises(mysql.DataError) as caught:
                    update.executemany(values, window=window)
                assert caught.value.row == bad
                cursor.execute("SELECT COUNT(a) FROM m")
                ((done,),) = cursor.fetchall()
                assert bad <= done <= most
                cursor.execute("UPDATE m SET a = NULL")

    def test_a_row_that_cannot_be_sent_is_named(self, filled: mysql.Connection) -> None:
        with filled.prepare("UPDATE m SET a = ? WHERE id = ?") as update:
            for bad in [(1,), (object(), 1), (1, 2, 3)]:
                with pytest.raises(mysql.ProgrammingError) as caught:
                    update.executemany([("x", 1), ("y", 2), bad])
                assert caught.value.row == 2
            assert update.executemany([("z", 3)]).affected_rows == 1
        with pytest.raises(mysql.ProgrammingError, match="closed"):
            update.executemany([("z", 3)])
