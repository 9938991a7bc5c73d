"""Cells by the short ways of the decoders: equal to what Python makes of the server's text, in both protocols."""

from __future__ import annotations

import gc
import random
import sys
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from rowferry import mysql
from rowferry._core import moments_are_direct

pytestmark = pytest.mark.on("mariadb", "mysql9")


def fetched(connection: mysql.Connection, sql: str) -> list[tuple[object, ...]]:
    """The rows of `sql`, which both protocols must answer alike."""
    with connection.cursor() as cursor:
        cursor.execute(sql)
        rows = list(cursor.fetchall())
    with connection.prepare(sql) as statement:
        assert list(statement.execute().rows) == rows
    return rows


def test_moments_are_those_of_the_standard_library() -> None:
    # On the interpreters that we know, the fast way must not have been given up unnoticed.
    assert moments_are_direct == (sys.implementation.name == "cpython")


def test_integers_of_every_length(connection: mysql.Connection) -> None:
    numbers = [sign * int("9876543210987654321"[:length]) for length in range(1, 19) for sign in (1, -1)]
    numbers += [0, 2**63 - 1, -(2**63), 2**31, -(2**31), 10**18, 10**18 - 1]
    rows = fetched(
        connection, " UNION ALL ".join(f"SELECT {number}, CAST({number} AS CHAR), 'x'" for number in numbers)
    )
    assert [row[0] for row in rows] == numbers
    assert all(str(row[0]) == row[1] and row[2] == "x" for row in rows)
    [row] = fetched(connection, "SELECT 18446744073709551615, CAST(9223372036854775808 AS UNSIGNED), 'x'")
    assert row == (2**64 - 1, 2**63, "x")


@pytest.mark.parametrize("digits, decimals", [(1, 0), (3, 3), (10, 2), (18, 0), (19, 4), (20, 2), (38, 30), (65, 30)])
def test_decimals_of_every_length(connection: mysql.Connection, digits: int, decimals: int) -> None:
    numbers = random.Random(digits)
    spelled = ["0", "-0", "0." + "0" * (decimals - 1) + "1" if decimals else "1"]
    for length in range(1, digits + 1):
        text = "".join(numbers.choices("0123456789", k=length)).zfill(decimals + 1)
        text = text[: len(text) - decimals] + "." + text[len(text) - decimals :] if decimals else text
        if len(text.partition(".")[0].lstrip("0")) <= digits - decimals:
            spelled += [text, "-" + text]
    with connection.cursor() as cursor:
        cursor.execute(
            f"CREATE TEMPORARY TABLE numbers (id int AUTO_INCREMENT PRIMARY KEY, n decimal({digits},{decimals}))"
        )
        cursor.executemany("INSERT INTO numbers (n) VALUES (%s)", [(Decimal(text),) for text in spelled])
    rows = fetched(connection, "SELECT n, CAST(n AS CHAR), n FROM numbers ORDER BY id")
    assert len(rows) == len(spelled)
    for (number, text, again), sent in zip(rows, spelled, strict=True):
        assert number == again == Decimal(str(text)) == Decimal(sent)
        assert isinstance(number, Decimal) and number.as_tuple() == Decimal(str(text)).as_tuple()
        assert hash(number) == hash(Decimal(str(text))) and repr(number) == repr(Decimal(str(text)))


def test_floats_are_the_nearest(connection: mysql.Connection) -> None:
    numbers = random.Random(5)
    floats = [
        0.1,
        -0.1,
        1.5,
        123456.789,
        1e15,
        1e15 + 0.5,
        999999999999999.0,
        9007199254740993.0,
        5e-324,
        1.7976931348623157e308,
    ]
    floats += [round(numbers.uniform(-1e6, 1e6), numbers.randrange(8)) for _ in range(200)]
    floats += [numbers.uniform(-1, 1) * 10 ** numbers.randrange(-300, 300) for _ in range(200)]
    with connection.cursor() as cursor:
        cursor.execute("CREATE TEMPORARY TABLE floats (id int AUTO_INCREMENT PRIMARY KEY, n double)")
        cursor.executemany("INSERT INTO floats (n) VALUES (%s)", [(number,) for number in floats])
    assert [row[0] for row in fetched(connection, "SELECT n, 'x' FROM floats ORDER BY id")] == floats


def test_every_day_and_moment(connection: mysql.Connection) -> None:
    days = [date(1, 1, 1), date(9999, 12, 31), date(2000, 2, 29), date(1900, 2, 28), date(2024, 2, 29)]
    days += [date(2019, 12, 1) + timedelta(days=number) for number in range(900)]
    moments = [
        datetime(day.year, day.month, day.day, number % 24, number % 60, -number % 60)
        for number, day in enumerate(days)
    ]
    fractions = [moment.replace(microsecond=number * 9_973 % 1_000_000) for number, moment in enumerate(moments)]
    with connection.cursor() as cursor:
        cursor.execute(
            "CREATE TEMPORARY TABLE moments (id int AUTO_INCREMENT PRIMARY KEY, d date, at datetime, exact datetime(6))"
        )
        rows = list(zip(days, moments, fractions, strict=True))
        # Years before 100 are two digits to the server's parser of literals, not to its storage.
        cursor.executemany("INSERT INTO moments (d, at, exact) VALUES (%s, %s, %s)", rows)
    found = fetched(
        connection, "SELECT d, at, exact, CAST(d AS CHAR), CAST(exact AS CHAR), 'x' FROM moments ORDER BY id"
    )
    for (day, moment, exact, day_text, exact_text, tail), expected in zip(found, rows, strict=True):
        assert (day, moment, exact, tail) == (*expected, "x")
        assert type(day) is date and type(moment) is datetime
        assert (str(day), hash(day), day.__reduce__()) == (day_text, hash(expected[0]), expected[0].__reduce__())
        assert exact == datetime.fromisoformat(str(exact_text)) and hash(moment) == hash(expected[1])


def test_nulls_anywhere_in_a_wide_row(connection: mysql.Connection) -> None:
    pattern = random.Random(7)
    kinds = ["7", "'text'", "1.5", "DATE '2026-11-21'", "TIMESTAMP '2026-11-21 18:00:00'", "2.5e0"]
    for width in (1, 5, 6, 7, 13, 14, 15, 64):
        is_null = [pattern.random() < 0.4 for _ in range(width)]
        cells = [f"CAST(NULL AS CHAR) c{at}" if null else f"{kinds[at % 6]} c{at}" for at, null in enumerate(is_null)]
        [row] = fetched(connection, "SELECT " + ", ".join(cells))
        assert [cell is None for cell in row] == is_null


@pytest.mark.parametrize("length", [0, 1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 33, 250, 251, 252, 65_535, 65_536])
def test_text_with_a_wide_character_at_any_place(connection: mysql.Connection, length: int) -> None:
    texts = ["a" * length]
    for place in {0, length // 2, max(length - 1, 0)}:
        for wide in "éß漢😀":
            texts.append(texts[0][:place] + wide + texts[0][place + 1 :])
    with connection.cursor() as cursor:
        cursor.execute(
            "CREATE TEMPORARY TABLE texts (id int AUTO_INCREMENT PRIMARY KEY, t longtext) CHARACTER SET utf8mb4"
        )
        cursor.executemany("INSERT INTO texts (t) VALUES (%s)", [(text,) for text in texts])
    rows = fetched(connection, "SELECT t, CHAR_LENGTH(t), 'x' FROM texts ORDER BY id")
    assert rows == [(text, len(text), "x") for text in texts]


@pytest.mark.parametrize("enabled", [True, False])
def test_the_collector_is_as_it_was(connection: mysql.Connection, enabled: bool) -> None:
    was = gc.isenabled()
    (gc.enable if enabled else gc.disable)()
    try:
        fetched(connection, "SELECT seq, 'text' FROM seq_1_to_1000")
        assert gc.isenabled() == enabled
        with connection.cursor(mysql.cursors.SSCursor) as cursor:
            cursor.execute("SELECT seq FROM seq_1_to_1000")
            cursor.fetchmany(10)
            assert gc.isenabled() == enabled
    finally:
        (gc.enable if was else gc.disable)()


def test_rows_are_nothing_to_the_collector(connection: mysql.Connection) -> None:
    rows = fetched(connection, "SELECT seq, 'text', 1.5, DATE '2026-11-21' FROM seq_1_to_10")
    assert not any(gc.is_tracked(row) for row in rows)


@pytest.mark.on("mariadb")
@pytest.mark.parametrize("binary", [False, True])
def test_a_row_costs_an_object_for_each_cell_and_one_for_itself(connection: mysql.Connection, binary: bool) -> None:
    sql = (
        "SELECT seq + 1000000, 'text', seq + 0.25, seq + 0.5e0, DATE '2026-11-21', "
        "TIMESTAMP '2026-11-21 18:00:00' + INTERVAL seq SECOND FROM seq_1_to_5000"
    )
    # Everything that is made once has been made by the first run.
    rows: Any = None
    for _ in range(2):
        rows = None
        if binary:
            with connection.prepare(sql) as statement:
                before = sys.getallocatedblocks()
                rows = statement.execute().rows
                made = sys.getallocatedblocks() - before
        else:
            with connection.cursor() as cursor:
                before = sys.getallocatedblocks()
                cursor.execute(sql)
                rows = cursor.fetchall()
                made = sys.getallocatedblocks() - before
        assert rows is not None and len(rows) == 5000
    # Six for a row: all but the day, which the rows share.
    assert made <= 6 * 5000 + 1000
