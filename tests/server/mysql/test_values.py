"""Values and the types that they are told as: what drivers make their objects of."""

from __future__ import annotations

import datetime as dt
import time
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from typing import Any

import pymysql
import pytest
from pymysql.constants import FIELD_TYPE, FLAG
from rowferry import mysql

from tests.servers.rowferry import Rowferry

from .test_drivers import place


@pytest.mark.parametrize(
    ("expression", "value", "kind", "unsigned", "scale"),
    [
        ("1/3*100", Decimal("33.3333"), FIELD_TYPE.NEWDECIMAL, False, 4),
        ("1.50 * 2.5", Decimal("3.750"), FIELD_TYPE.NEWDECIMAL, False, 3),
        ("AVG(n)", Decimal("1.5000"), FIELD_TYPE.NEWDECIMAL, False, 4),
        ("SUM(d)", Decimal("4.00"), FIELD_TYPE.NEWDECIMAL, False, 2),
        ("CAST(5 AS UNSIGNED)", 5, FIELD_TYPE.LONGLONG, True, 0),
        ("~0", 2**64 - 1, FIELD_TYPE.LONGLONG, True, 0),
        ("MAX(u) + 1", 2**32, FIELD_TYPE.LONGLONG, True, 0),
        ("0x41 + 0", 65, FIELD_TYPE.LONGLONG, False, 0),
        ("'10' + 5", 15.0, FIELD_TYPE.DOUBLE, False, 31),
        ("MAX(t)", dt.timedelta(hours=100, milliseconds=500), FIELD_TYPE.TIME, False, 1),
        ("SEC_TO_TIME(-1)", dt.timedelta(seconds=-1), FIELD_TYPE.TIME, False, 6),
    ],
)
def test_expressions_have_mysqls_types(
    server: Rowferry, table: str, expression: str, value: Any, kind: int, unsigned: bool, scale: int
) -> None:
    with pymysql.connect(**place(server)) as connection, connection.cursor() as cursor:
        cursor.execute(f"CREATE TABLE {table} (n INT, d DECIMAL(10,2), u INT UNSIGNED, t TIME(1))")
        cursor.execute(f"INSERT INTO {table} VALUES (1, 1.5, 7, '-1:00:00'), (2, 2.5, 4294967295, '100:00:00.5')")
        cursor.execute(f"SELECT {expression} AS value FROM {table} LIMIT 1")
        (field,) = cursor._result.fields  # type: ignore[union-attr]
        assert (field.type_code, bool(field.flags & FLAG.UNSIGNED), field.scale) == (kind, unsigned, scale)
        assert cursor.fetchall() == ((value,),)


@pytest.mark.parametrize(
    ("query", "certain"),
    [
        (
            "SELECT id, n, id + 1, n + 1, id / 2, -id, id = 1, n IS NULL, NOT id FROM {}",
            "id id+1 -id id=1 nISNULL NOTid",
        ),
        (
            "SELECT COUNT(*), COUNT(n), SUM(id), MAX(id), COALESCE(MAX(n), 0) FROM {}",
            "COUNT(*) COUNT(n) COALESCE(MAX(n),0)",
        ),
        ("SELECT a.id, b.id AS b, b.n FROM {0} a LEFT JOIN {0} b ON b.id = a.n", "id"),
        ("SELECT a.id, b.id AS b FROM {0} a RIGHT JOIN {0} b ON b.id = a.n", "b"),
        ("SELECT q.id, q.c, q.n FROM (SELECT id, n, COUNT(*) AS c FROM {} GROUP BY id, n) q", "id c"),
        ("SELECT id, COUNT(*) AS c FROM {} GROUP BY id WITH ROLLUP", "c"),
        ("SELECT id FROM {0} UNION SELECT n FROM {0}", ""),
        ("SELECT id FROM {0} UNION SELECT 2", "id"),
        (
            "SELECT IF(n, 1, 2) AS a, IFNULL(n, 1) AS b, CASE WHEN n THEN 1 END AS c, 'x' AS d, NULL AS e, NOW() AS f",
            "a b d f",
        ),
        (
            "SELECT ROW_NUMBER() OVER () AS a, LAG(id) OVER () AS b, CONCAT('a', 'b') AS c, LENGTH('a') AS d FROM {}",
            "a d",
        ),
        ("SELECT (SELECT 1) AS a, (SELECT id FROM {0} LIMIT 1) AS b, EXISTS (SELECT 1 FROM {0}) AS c", "a c"),
    ],
)
def test_what_is_never_null_is_told(server: Rowferry, table: str, query: str, certain: str) -> None:
    """Go's and Rust's clients make optional values of what may be NULL, and of nothing else."""
    with pymysql.connect(**place(server)) as connection, connection.cursor() as cursor:
        cursor.execute(f"CREATE TABLE {table} (id INT NOT NULL, n INT)")
        cursor.execute(query.format(table) + ("" if "{" in query else f" FROM {table}"))
        fields = cursor._result.fields  # type: ignore[union-attr]
        found = [field.name.replace(" ", "") for field in fields if field.flags & FLAG.NOT_NULL]
        assert found == certain.split()


@pytest.mark.parametrize(
    ("expression", "kind", "unsigned"),
    [
        ("1 = 1", FIELD_TYPE.LONGLONG, False),
        ("EXISTS (SELECT 1)", FIELD_TYPE.LONGLONG, False),
        ("LAST_INSERT_ID()", FIELD_TYPE.LONGLONG, True),
        ("CRC32('a')", FIELD_TYPE.LONGLONG, True),
        ("ROW_NUMBER() OVER ()", FIELD_TYPE.LONGLONG, True),
        ("@@max_allowed_packet", FIELD_TYPE.LONGLONG, True),
        ("@@autocommit", FIELD_TYPE.LONGLONG, False),
        ("YEAR('2024-01-01')", FIELD_TYPE.YEAR, True),
        ("TIMESTAMPADD(MONTH, 1, DATE '2024-01-31')", FIELD_TYPE.DATE, False),
        ("TIMESTAMPADD(HOUR, 1, DATE '2024-01-31')", FIELD_TYPE.DATETIME, False),
        ("x'00'", FIELD_TYPE.VAR_STRING, False),
    ],
)
def test_what_functions_make_is_of_their_types(server: Rowferry, expression: str, kind: int, unsigned: bool) -> None:
    """Those of Rust read an unsigned number as nothing else."""
    with pymysql.connect(**place(server)) as connection, connection.cursor() as cursor:
        cursor.execute(f"SELECT {expression}")
        (field,) = cursor._result.fields  # type: ignore[union-attr]
        assert (field.type_code, bool(field.flags & FLAG.UNSIGNED)) == (kind, unsigned)


@pytest.mark.parametrize("prepared", [False, True])
def test_all_bits_of_a_bigint_unsigned_come_and_go(server: Rowferry, table: str, prepared: bool) -> None:
    numbers = [0, 1, 2**63 - 1, 2**63, 2**64 - 2, 2**64 - 1]
    driver: Any = mysql if prepared else pymysql
    with driver.connect(**place(server), autocommit=True) as connection, connection.cursor() as cursor:
        cursor.execute(f"CREATE TABLE {table} (id BIGINT UNSIGNED PRIMARY KEY, b BIT(64), KEY (b))")
        cursor.executemany(f"INSERT INTO {table} VALUES (%s, %s)", [(number, number) for number in reversed(numbers)])
        cursor.execute(f"SELECT id FROM {table} ORDER BY id")
        assert [number for (number,) in cursor.fetchall()] == numbers
        for number in numbers:
            cursor.execute(f"SELECT id, b, id - %s FROM {table} WHERE id = %s AND b = %s", (number, number, number))
            assert [tuple(row) for row in cursor.fetchall()] == [(number, number.to_bytes(8, "big"), 0)]
        cursor.execute(f"SELECT COUNT(*), MAX(id), SUM(id) FROM {table} WHERE id >= %s", (2**63,))
        assert [tuple(row) for row in cursor.fetchall()] == [(3, 2**64 - 1, 2**63 + 2**64 - 2 + 2**64 - 1)]
        with pytest.raises(driver.DataError, match="Out of range value") as refused:
            cursor.execute(f"INSERT INTO {table} VALUES (%s, 0)", (Decimal(2**64),))
        assert refused.value.args[0] == 1264


def test_a_bigint_unsigned_is_told_as_one(server: Rowferry, table: str) -> None:
    with pymysql.connect(**place(server), autocommit=True) as connection, connection.cursor() as cursor:
        cursor.execute(f"CREATE TABLE {table} (id BIGINT UNSIGNED, n BIGINT)")
        cursor.execute(f"INSERT INTO {table} VALUES (%s, 1)", (2**64 - 1,))
        for expression in ("id", "MAX(id)", "id - 1 + 1", "COALESCE(id)"):
            cursor.execute(f"SELECT {expression} FROM {table}")
            (field,) = cursor._result.fields  # type: ignore[union-attr]
            assert (field.type_code, bool(field.flags & FLAG.UNSIGNED)) == (FIELD_TYPE.LONGLONG, True), expression
            assert cursor.fetchall() == ((2**64 - 1,),)
        cursor.execute(f"SELECT COALESCE(id, n) FROM {table}")
        assert cursor.fetchall() == ((Decimal(2**64 - 1),),)


def test_a_nul_in_a_text_comes_and_goes(server: Rowferry, table: str) -> None:
    for driver in (pymysql, mysql):
        with driver.connect(**place(server), autocommit=True) as connection, connection.cursor() as cursor:
            cursor.execute(f"CREATE TABLE {table} (v VARCHAR(9) PRIMARY KEY)")
            cursor.execute(f"INSERT INTO {table} VALUES (%s), ('\0')", ("a\0b",))
            cursor.execute(f"SELECT v, CHAR_LENGTH(v) FROM {table} WHERE v = %s", ("a\0b",))
            assert [tuple(row) for row in cursor.fetchall()] == [("a\0b", 3)]
            cursor.execute(f"DROP TABLE {table}")


def test_variables_of_users_keep_their_kind(server: Rowferry) -> None:
    with pymysql.connect(**place(server)) as connection, connection.cursor() as cursor:
        cursor.execute("SET @i := 1, @d = 1.50, @f = 1e0, @b = 0xff, @t = 'x'")
        cursor.execute("SELECT @i, @d, @f, @b, @t, @none")
        assert cursor.fetchone() == (1, Decimal("1.50"), 1.0, b"\xff", "x", None)
        cursor.execute("SET @i = 'text'")
        cursor.execute("SELECT @i, @d, @f, @b, @t, @none")
        assert cursor.fetchone() == ("text", Decimal("1.50"), 1.0, b"\xff", "x", None)


@pytest.mark.parametrize("prepared", [False, True])
def test_times_and_instants_as_parameters(server: Rowferry, table: str, prepared: bool) -> None:
    longest = dt.timedelta(hours=838, minutes=59, seconds=59)
    noon = dt.datetime(2024, 6, 1, 12, 0)
    driver: Any = mysql if prepared else pymysql
    with driver.connect(**place(server)) as connection:
        cursor = connection.cursor()
        cursor.execute(f"CREATE TABLE {table} (id INT PRIMARY KEY, t TIME, at TIMESTAMP NULL, e ENUM('a','b'))")
        cursor.execute("SET time_zone = '+02:00'")
        for row in [(1, longest, noon, 2), (2, -longest, None, "A"), (3, dt.timedelta(0), noon, None)]:
            cursor.execute(f"INSERT INTO {table} VALUES (%s, %s, %s, %s)", row)
        connection.commit()
        cursor.execute(f"SELECT t, at, e FROM {table} ORDER BY t")
        rows = [(-longest, None, "a"), (dt.timedelta(0), noon, None), (longest, noon, "b")]
        assert [tuple(row) for row in cursor.fetchall()] == rows
        cursor.execute(f"SELECT id FROM {table} WHERE at = %s AND t > %s", (noon, dt.timedelta(hours=30)))
        assert [tuple(row) for row in cursor.fetchall()] == [(1,)]
        cursor.execute("SET time_zone = '+00:00'")
        cursor.execute(f"SELECT at FROM {table} WHERE id = %s", (1,))
        assert [tuple(row) for row in cursor.fetchall()] == [(noon - dt.timedelta(hours=2),)]


def test_a_mode_without_backslashes(server: Rowferry) -> None:
    with pymysql.connect(**place(server), sql_mode="NO_BACKSLASH_ESCAPES") as connection, connection.cursor() as cursor:
        cursor.execute(r"SELECT 'a\nb', LENGTH('\\')")
        assert cursor.fetchone() == ("a\\nb", 2)


@pytest.mark.parametrize("text", ["it's", "a\\'b", "\\", "' OR 1 = 1 -- ", 'say "x"'])
def test_clients_know_how_to_write_strings_in_each_mode(server: Rowferry, text: str) -> None:
    with pymysql.connect(**place(server)) as connection, connection.cursor() as cursor:
        for mode in ("NO_BACKSLASH_ESCAPES", "STRICT_TRANS_TABLES"):
            cursor.execute(f"SET sql_mode = '{mode}'")
            cursor.execute("SELECT %s", (text,))
            assert cursor.fetchall() == ((text,),)
    with mysql.connect(**place(server)) as ours, ours.cursor() as cursor:
        cursor.execute("SET sql_mode = 'NO_BACKSLASH_ESCAPES'")
        cursor.execute("SELECT %s", (text,))
        assert cursor.fetchall() == ((text,),)


def test_warnings_and_errors_are_kept_for_who_asks(server: Rowferry, table: str) -> None:
    with pymysql.connect(**place(server)) as connection, connection.cursor() as cursor:
        cursor.execute("DROP TABLE IF EXISTS nobody")
        cursor.execute("SHOW WARNINGS")
        assert cursor.fetchall() == (("Note", 1051, "Unknown table 'app.nobody'"),)
        for statement, code, told in (
            ("SELECT * FROM nobody", 1146, "Table 'app.nobody' doesn't exist"),
            ("DROP TABLE nobody", 1051, "Unknown table 'app.nobody'"),
            ("SELECT nobody.* FROM (SELECT 1 AS a) AS somebody", 1051, "Unknown table 'nobody'"),
        ):
            with pytest.raises(pymysql.Error) as refused:
                cursor.execute(statement)
            assert refused.value.args == (code, told)
        cursor.execute(f"CREATE TABLE {table} (id INT)")
        cursor.execute(f"CREATE TABLE IF NOT EXISTS {table} (id INT)")
        cursor.execute("SHOW WARNINGS")
        assert cursor.fetchall() == (("Note", 1050, f"Table '{table}' already exists"),)
        with pytest.raises(pymysql.ProgrammingError):
            cursor.execute("SELECT * FROM nobody")
        cursor.execute("SHOW ERRORS")
        assert [row[:2] for row in cursor.fetchall()] == [("Error", 1146)]
        cursor.execute("SELECT 1")
        cursor.execute("SHOW WARNINGS")
        assert cursor.fetchall() == ()
        cursor.execute("SELECT CAST('12abc' AS SIGNED), CAST(' 12 ' AS SIGNED)")
        assert cursor.fetchall() == ((12, 12),)
        cursor.execute("SHOW WARNINGS")
        assert cursor.fetchall() == (("Warning", 1292, "Truncated incorrect INTEGER value: '12abc'"),)


def test_without_strict_modes_values_are_cut_to_fit_with_warnings(server: Rowferry, table: str) -> None:
    with pymysql.connect(**place(server), sql_mode="") as connection, connection.cursor() as cursor:
        cursor.execute(f"CREATE TABLE {table} (t TINYINT, v VARCHAR(2), i INT)")
        cursor.execute(f"INSERT INTO {table} VALUES (300, 'abc', '12x')")
        cursor.execute("SHOW WARNINGS")
        assert [row[1] for row in cursor.fetchall()] == [1264, 1265, 1265]
        cursor.execute(f"SELECT * FROM {table}")
        assert cursor.fetchall() == ((127, "ab", 12),)


def test_a_division_by_zero_is_warned_of(server: Rowferry) -> None:
    with pymysql.connect(**place(server)) as connection, connection.cursor() as cursor:
        cursor.execute("SELECT 1/0")
        assert cursor.fetchone() == (None,)
        cursor.execute("SHOW WARNINGS")
        assert [row[1:] for row in cursor.fetchall()] == [(1365, "Division by 0")]


def test_who_says_nothing_for_too_long_is_let_go(server: Rowferry) -> None:
    with pymysql.connect(**place(server)) as connection, connection.cursor() as cursor:
        cursor.execute("SET wait_timeout = 1")
        time.sleep(2.5)
        with pytest.raises(pymysql.OperationalError) as caught:
            cursor.execute("SELECT 1")
        assert caught.value.args[0] in (4031, 2006, 2013)


def test_a_parameter_beyond_63_bits_is_a_whole_number(server: Rowferry) -> None:
    with mysql.connect(**place(server)) as connection, connection.cursor() as cursor:
        cursor.execute("SELECT %s AS a, %s - 1 AS b", (2**64 - 1, 2**64 - 1))
        found = cursor.fetchone()
        assert found is not None
        assert [(type(value), value) for value in found] == [(int, 2**64 - 1), (int, 2**64 - 2)]


def test_a_table_from_a_query_tells_its_rows(server: Rowferry, table: str) -> None:
    with pymysql.connect(**place(server)) as connection, connection.cursor() as cursor:
        assert cursor.execute(f"CREATE TABLE {table} AS SELECT 1 AS n UNION ALL SELECT 2") == 2
        assert cursor.execute(f"SELECT * FROM {table}") == 2


def test_a_lock_by_name_is_waited_for_however_long_rows_are(server: Rowferry) -> None:
    with pymysql.connect(**place(server)) as holder, pymysql.connect(**place(server)) as waiting:
        with holder.cursor() as cursor, waiting.cursor() as other, ThreadPoolExecutor(1) as threads:
            cursor.execute("SELECT GET_LOCK('waited for', 0)")
            other.execute("SET innodb_lock_wait_timeout = 1")
            lock = threads.submit(other.execute, "SELECT GET_LOCK('waited for', -1)")
            time.sleep(1.5)
            assert not lock.done()
            cursor.execute("SELECT RELEASE_LOCK('waited for')")
            lock.result(timeout=10)
            assert other.fetchall() == ((1,),)
