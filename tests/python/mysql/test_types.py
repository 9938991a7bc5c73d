"""Every type both ways, by text and by the binary protocol, always with a column behind the one under test."""

from __future__ import annotations

import datetime
import json
import pickle
import sys
import time
import uuid
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest
from rowferry import mysql
from rowferry._core import decimals_are_direct
from rowferry.mysql.constants import FIELD_TYPE

delta = datetime.timedelta

# Declaration, and values that must come back as they went.
ROUND_TRIPS: list[tuple[str, list[Any]]] = [
    ("TINYINT", [-128, 0, 127]),
    ("TINYINT UNSIGNED", [0, 255]),
    ("SMALLINT", [-32768, 32767]),
    ("SMALLINT UNSIGNED", [65535]),
    ("MEDIUMINT", [-8388608, 8388607]),
    ("MEDIUMINT UNSIGNED", [16777215]),
    ("INT", [-(2**31), -1, 0, 2**31 - 1]),
    ("INT UNSIGNED", [2**32 - 1]),
    ("BIGINT", [-(2**63), -(10**18), 10**17, 2**63 - 1]),
    ("BIGINT UNSIGNED", [0, 2**63, 2**64 - 1]),
    ("INT(8) ZEROFILL", [42]),
    ("DOUBLE", [0.0, -0.5, 0.1, 1e300, 5e-324, 1.7976931348623157e308]),
    ("FLOAT", [0.1, -1.5, 16384.0, 1.17549e-38]),
    ("FLOAT(10,4)", [0.5, 123.4567]),
    ("DECIMAL(10,2)", [Decimal("0.00"), Decimal("-0.05"), Decimal("12345678.90"), Decimal("100.00")]),
    ("DECIMAL(19,0)", [Decimal("9999999999999999999"), Decimal("-9999999999999999999")]),
    ("DECIMAL(65,30)", [Decimal("12345678901234567890123456789012345.123456789012345678901234567890")]),
    ("DATE", [datetime.date(1, 1, 1), datetime.date(2024, 2, 29), datetime.date(9999, 12, 31)]),
    ("DATETIME", [datetime.datetime(2026, 11, 21, 23, 59, 59), datetime.datetime(2000, 1, 1)]),
    ("DATETIME(6)", [datetime.datetime(2026, 11, 21, 1, 2, 3, 4), datetime.datetime(9999, 12, 31, 23, 59, 59, 999999)]),
    ("DATETIME(3)", [datetime.datetime(2026, 11, 21, 1, 2, 3, 120000)]),
    ("TIMESTAMP(6) NULL", [datetime.datetime(2026, 11, 21, 1, 2, 3, 500000)]),
    ("TIME", [delta(0), delta(hours=838, minutes=59, seconds=59), -delta(hours=838, minutes=59, seconds=59)]),
    ("TIME(6)", [-delta(microseconds=1), delta(days=2, hours=3, microseconds=500000), delta(seconds=1)]),
    ("YEAR", [1901, 2155]),
    ("CHAR(10)", ["", "a", "äöü€", "😀"]),
    ("VARCHAR(300)", ["", "x" * 250, "x" * 251, "ä" * 300, "quote ' \" \\ \0 \n \r \x1a %"]),
    ("TEXT", ["", "x" * 65535]),
    ("MEDIUMTEXT", ["é" * 70000]),
    ("BINARY(4)", [b"\0\xff'\\"]),
    ("VARBINARY(300)", [b"", bytes(range(256))]),
    ("BLOB", [b"\xff\xfe\0'\"\\", b"x" * 65535]),
    ("LONGBLOB", [bytes(range(256)) * 300]),
    ("BIT(1)", [b"\0", b"\1"]),
    ("BIT(12)", [b"\x0f\xff"]),
    ("ENUM('a','é')", ["a", "é"]),
    ("SET('a','b','c')", ["", "a,c"]),
    ("JSON", [json.dumps({"a": [1, None, "é"]}, ensure_ascii=False)]),
]
ROUND_TRIPS_OF_MARIADB: list[tuple[str, list[Any]]] = [
    ("UUID", ["123e4567-e89b-12d3-a456-426655440000"]),
    ("INET6", ["2001:db8::1"]),
]


@pytest.mark.parametrize(("declaration", "values"), ROUND_TRIPS, ids=[declaration for declaration, _ in ROUND_TRIPS])
def test_round_trip_by_text_and_binary(cursor: mysql.cursors.Cursor, declaration: str, values: list[Any]) -> None:
    round_trip(cursor, declaration, values)


@pytest.mark.on("mariadb", "mariadb11")
@pytest.mark.parametrize(("declaration", "values"), ROUND_TRIPS_OF_MARIADB)
def test_round_trip_of_mariadbs_types(cursor: mysql.cursors.Cursor, declaration: str, values: list[Any]) -> None:
    round_trip(cursor, declaration, values)


def round_trip(cursor: mysql.cursors.Cursor, declaration: str, values: list[Any]) -> None:
    """Write each value and NULL by text and binary, and read them back by both."""
    connection = cursor.connection
    cursor.execute(f"CREATE TEMPORARY TABLE v (n INT, a {declaration}, z VARCHAR(10), b {declaration})")
    insert = connection.prepare("INSERT INTO v VALUES (?, ?, ?, ?)")
    rows = []
    for value in [*values, None]:
        for written in (value, None):
            rows.append((len(rows), value, f"z{len(rows)}", written))
            cursor.execute("INSERT INTO v VALUES (%s, %s, %s, %s)", rows[-1])
            rows.append((len(rows), value, f"z{len(rows)}", written))
            insert.execute(rows[-1])
    cursor.execute("SELECT * FROM v ORDER BY n")
    assert cursor.fetchall() == tuple(rows)
    assert connection.prepare("SELECT * FROM v ORDER BY n").execute().rows == tuple(rows)
    # The other way round, so that a wrong width shows in the neighbour.
    rotated = tuple((b, z, a, n) for n, a, z, b in rows)
    cursor.execute("SELECT b, z, a, n FROM v ORDER BY n")
    assert cursor.fetchall() == rotated
    assert connection.prepare("SELECT b, z, a, n FROM v ORDER BY n").execute().rows == rotated
    for value, row in zip([*values, None], rotated[::4], strict=True):
        assert type(row[2]) is type(value)


def test_server_renders_what_it_was_sent(cursor: mysql.cursors.Cursor) -> None:
    # A round trip through our own codec cannot see a symmetric mistake: let the server spell the values.
    values = (
        -5,
        2**63,
        0.1,
        Decimal("-0.50"),
        datetime.datetime(2026, 1, 2, 3, 4, 5, 6),
        datetime.date(2026, 1, 2),
        -delta(days=1, seconds=1),
        datetime.time(1, 2, 3),
        True,
        "é'",
        b"\xe9",
    )
    spelled = (
        "-5",
        "9223372036854775808",
        "0.1",
        "-0.50",
        "2026-01-02 03:04:05.000006",
        "2026-01-02",
        "-24:00:01",
        "01:02:03",
        "1",
        "C3A927",
        "E9",
    )
    casts = ["CONCAT({})"] * 9 + ["HEX({})"] * 2
    text = "SELECT " + ", ".join(cast.format("%s") for cast in casts)
    cursor.execute(text, values)
    assert cursor.fetchone() == spelled
    casts = [
        "CONCAT(CAST({} AS DATETIME(6)))",
        "CONCAT(CAST({} AS DATE))",
        "CONCAT(CAST({} AS TIME))",
        "CONCAT(CAST({} AS TIME))",
    ]
    marked = ["CONCAT(?)"] * 4 + [cast.format("?") for cast in casts] + ["CONCAT(?)", "HEX(?)", "HEX(?)"]
    assert cursor.connection.prepare("SELECT " + ", ".join(marked)).execute(values).rows == (spelled,)


def test_zero_dates_are_what_the_caller_chose(connect: Callable[..., mysql.Connection]) -> None:
    wanted: dict[str, Any] = {
        "text": ("0000-00-00", "0000-00-00 00:00:00.000", "2020-02-00"),
        "none": (None, None, None),
    }
    for zero_dates in ("text", "none", "error"):
        connection = connect(sql_mode="", zero_dates=zero_dates)
        with connection.cursor() as cursor:
            cursor.execute("CREATE TEMPORARY TABLE d (a DATE, b DATETIME(3), c DATE)")
            cursor.execute("INSERT INTO d VALUES ('0000-00-00', '0000-00-00', '2020-02-00')")
            prepared = connection.prepare("SELECT * FROM d")
            if zero_dates == "error":
                with pytest.raises(mysql.DataError, match="no date of the calendar"):
                    cursor.execute("SELECT * FROM d")
                with pytest.raises(mysql.DataError, match="0000-00-00"):
                    prepared.execute()
                cursor.execute("SELECT 1")
                assert cursor.fetchall() == ((1,),)
            else:
                cursor.execute("SELECT * FROM d")
                assert cursor.fetchall() == (wanted[zero_dates],)
                assert prepared.execute().rows == (wanted[zero_dates],)


def test_an_empty_list_is_in_nothing_and_out_of_everything(cursor: mysql.cursors.Cursor) -> None:
    numbers = "SELECT n FROM (SELECT 1 AS n UNION ALL SELECT NULL UNION ALL SELECT 3) AS t WHERE n"
    for empty in ([], (), set()):
        assert cursor.execute(f"{numbers} IN %s", (empty,)) == 0
        assert cursor.execute(f"{numbers} NOT IN %s", (empty,)) == 3


def test_parameters_of_other_types(cursor: mysql.cursors.Cursor) -> None:
    identifier = uuid.uuid4()
    moment = time.struct_time((2026, 11, 21, 10, 20, 30, 0, 0, 0))
    cursor.execute(
        "SELECT %s, %s, %s, %s, 2 IN %s, 5 IN %s, 5 IN %s",
        (identifier, moment, bytearray(b"ab"), memoryview(b"cd"), [1, 2], (), {5}),
    )
    assert cursor.fetchone() == (str(identifier), "2026-11-21 10:20:30", b"ab", b"cd", 1, 0, 1)
    for value, message in [(object(), "object"), (float("nan"), "NaN"), (Decimal("Infinity"), "infinite")]:
        with pytest.raises(mysql.ProgrammingError, match=message):
            cursor.execute("SELECT %s", (value,))
    cursor.execute("SELECT 1")


def test_bytes_behind_an_introducer(cursor: mysql.cursors.Cursor) -> None:
    # Django writes `_binary %s`; the literal must not say it a second time.
    for sql in ("SELECT _binary %s", "SELECT _BINARY\n%s", "SELECT %s AS a_binary", "SELECT 1 a_binary, %s"):
        cursor.execute(sql, (b"\xff'\\",))
        row = cursor.fetchone()
        assert row is not None and row[-1] == b"\xff'\\", sql


def test_geometry_is_bytes(cursor: mysql.cursors.Cursor) -> None:
    cursor.execute("SELECT POINT(1, 2), 7")
    assert cursor.fetchone() == (
        bytes.fromhex("0000000001010000000000000000 00f03f0000000000000040".replace(" ", "")),
        7,
    )


def test_converters_of_the_caller(connect: Callable[..., mysql.Connection]) -> None:
    conv = dict(mysql.converters.conversions)
    conv[FIELD_TYPE.NEWDECIMAL] = float
    conv[FIELD_TYPE.LONG] = conv[FIELD_TYPE.LONGLONG] = lambda text: f"<{text}>"
    conv[FIELD_TYPE.DATE] = None
    conv[complex] = lambda value, mapping: str(value.real)
    connection = connect(conv=conv)
    expected = ((1.5, "<7>", "2020-01-01", None, "x"),)
    sql = "SELECT 1.5, CAST(7 AS SIGNED), DATE'2020-01-01', CAST(NULL AS DECIMAL(5,2)), 'x'"
    with connection.cursor() as cursor:
        cursor.execute(sql)
        assert cursor.fetchall() == expected
        assert connection.prepare(sql).execute().rows == expected
        cursor.execute("SELECT %s", (2 + 0j,))
        assert cursor.fetchone() == (2.0,)


def test_a_failing_converter_costs_the_rows_not_the_connection(connect: Callable[..., mysql.Connection]) -> None:
    def explode(text: str) -> Any:
        raise ValueError(f"no {text}")

    connection = connect(conv={**mysql.converters.conversions, FIELD_TYPE.NEWDECIMAL: explode})
    with connection.cursor() as cursor:
        with pytest.raises(ValueError, match=r"no 1\.5"):
            cursor.execute("SELECT 1.5 FROM seq_1_to_1000")
        cursor.execute("SELECT 1")
        assert cursor.fetchall() == ((1,),)


@pytest.mark.parametrize("charset", ["latin1", "gbk", "sjis", "utf8mb4"])
@pytest.mark.parametrize("sql_mode", ["", "NO_BACKSLASH_ESCAPES"])
def test_literals_are_safe_in_every_character_set_and_mode(
    connect: Callable[..., mysql.Connection], charset: str, sql_mode: str
) -> None:
    connection = connect(charset=charset, sql_mode=sql_mode)
    texts = ["'", "\\", "\\'", "' OR 1=1 -- ", '"', "\n\r\0\x1a", "ab\\", "%s"]
    # Characters whose second byte looks like a backslash or a quote.
    texts += {"latin1": ["é'"], "gbk": ["誠'", "縗'"], "sjis": ["表'", "ソ\\"], "utf8mb4": ["表'", "😀\\"]}[charset]
    assert connection.escape("it's") == ("'it\\'s'" if sql_mode == "" else "'it''s'")
    blobs = [b"\xbf'", b"\xbf\\'", bytes(range(256)), b""]
    with connection.cursor() as cursor:
        for text in texts:
            cursor.execute("SELECT %s, 'behind'", (text,))
            assert cursor.fetchone() == (text, "behind")
        for blob in blobs:
            cursor.execute("SELECT %s, 'behind'", (blob,))
            assert cursor.fetchone() == (blob, "behind")


def test_decimals_are_those_of_the_standard_library(cursor: mysql.cursors.Cursor) -> None:
    # On the interpreters that we know, the fast way must not have been given up unnoticed.
    assert decimals_are_direct == (sys.implementation.name == "cpython" and sys.version_info < (3, 15))
    texts = ["0", "0.00", "-1", "-0.10", "1.5", "100", "0.001", "9999999999999999999", "99999999999999999999.5"]
    cursor.execute("SELECT " + ", ".join(f"CAST('{text}' AS DECIMAL(40,3))" for text in texts))
    row = cursor.fetchone()
    assert row is not None
    for text, value in zip(texts, row, strict=True):
        expected = Decimal(text).quantize(Decimal("0.001"))
        assert (value, str(value), hash(value), value.as_tuple()) == (
            expected,
            str(expected),
            hash(expected),
            expected.as_tuple(),
        )
        assert value * 3 - 1 == expected * 3 - 1
        assert pickle.loads(pickle.dumps(value)) == expected


def test_text_that_is_no_utf8_is_an_error_not_garbage(cursor: mysql.cursors.Cursor) -> None:
    # A change that the server does not tell of.
    cursor.execute("SET session_track_system_variables = ''")
    cursor.execute("SET character_set_results = latin1")
    with pytest.raises(UnicodeDecodeError):
        cursor.execute("SELECT 'é', 1")
    cursor.execute("SET character_set_results = utf8mb4")
    cursor.execute("SELECT 'é', 1")
    assert cursor.fetchall() == (("é", 1),)
