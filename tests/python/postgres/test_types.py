"""Values of every type, both ways, in both formats, through three drivers.

The server renders each value as text, too: a round trip through one codec cannot see a mistake that is symmetric. A
column stands behind the value under test, so that a wrong width shows.
"""

from __future__ import annotations

import asyncio
import datetime as dt
import math
import uuid
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import asyncpg
import psycopg
import pytest

from tests.servers.rowferry import Rowferry

UTC = dt.timezone.utc

# Type, Python value, the server's text.
VALUES: list[tuple[str, Any, str]] = [
    ("boolean", True, "true"),
    ("boolean", False, "false"),
    ("smallint", -32768, "-32768"),
    ("smallint", 32767, "32767"),
    ("integer", 0, "0"),
    ("integer", 2147483647, "2147483647"),
    ("bigint", -9223372036854775808, "-9223372036854775808"),
    ("real", 1.5, "1.5"),
    ("double precision", -0.1, "-0.1"),
    ("double precision", 1e300, "1e+300"),
    ("double precision", math.inf, "Infinity"),
    ("numeric", Decimal("12345678901234.5678"), "12345678901234.5678"),
    ("numeric", Decimal("-0.00000000000000000001"), "-0.00000000000000000001"),
    ("numeric", Decimal("123456789012345678901234567890123456789.5"), "123456789012345678901234567890123456789.5"),
    ("numeric", Decimal("NaN"), "NaN"),
    ("numeric(10,2)", Decimal("1.50"), "1.50"),
    ("numeric(10,2)", Decimal("-99999999.99"), "-99999999.99"),
    ("numeric(30,10)", Decimal("12345678901234567890.0123456789"), "12345678901234567890.0123456789"),
    ("text", "", ""),
    ("text", "naïve 'quoted' \\ back; slash -- 日本 🚢", "naïve 'quoted' \\ back; slash -- 日本 🚢"),
    ("text", "x" * 70_000, "x" * 70_000),
    ("varchar(20)", "odd", "odd"),
    ("char(5)", "ab   ", "ab"),
    ("bytea", b"", "\\x"),
    ("bytea", b"\0\1\xfe\xff", "\\x0001feff"),
    ("date", dt.date(2024, 2, 29), "2024-02-29"),
    ("date", dt.date(1, 1, 1), "0001-01-01"),
    ("date", dt.date(9999, 12, 31), "9999-12-31"),
    ("time", dt.time(23, 59, 59, 999999), "23:59:59.999999"),
    ("time", dt.time(0, 0), "00:00:00"),
    ("timestamp", dt.datetime(2024, 2, 29, 12, 30, 45, 123400), "2024-02-29 12:30:45.1234"),
    ("timestamp", dt.datetime(1999, 12, 31, 23, 59, 59), "1999-12-31 23:59:59"),
    ("timestamptz", dt.datetime(2024, 7, 1, 12, 0, tzinfo=UTC), "2024-07-01 12:00:00+00"),
    ("interval", dt.timedelta(days=3, hours=4, microseconds=5), "3 days 04:00:00.000005"),
    ("interval", dt.timedelta(hours=-1), "-1 days +23:00:00"),
    ("uuid", uuid.UUID("a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"), "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"),
]


def identified(value: Any) -> str:
    return f"{value!r:.30}" if not isinstance(value, str) or len(value) < 60 else "long"


@pytest.fixture(scope="module")
def tables(server: Rowferry) -> dict[str, str]:
    """A table for each type: number, value, and a column behind it."""
    names = {}
    with psycopg.connect(server.postgres_dsn, autocommit=True) as connection:
        for ty in dict.fromkeys(ty for ty, _, _ in VALUES):
            names[ty] = f"v{len(names)}"
            connection.execute(f"create table {names[ty]} (n integer primary key, v {ty}, behind integer)")
    return names


@pytest.fixture(scope="module")
def psycopg3(server: Rowferry) -> Iterator[psycopg.Connection[Any]]:
    with psycopg.connect(server.postgres_dsn, autocommit=True, options="-c timezone=UTC") as connection:
        yield connection


def same(left: Any, right: Any) -> bool:
    if isinstance(left, Decimal) and left.is_nan():
        return isinstance(right, Decimal) and right.is_nan()
    return isinstance(left, type(right)) and left == right


@pytest.mark.parametrize(("ty", "value", "text"), VALUES, ids=identified)
@pytest.mark.parametrize("binary", [False, True], ids=["text", "binary"])
def test_psycopg3(
    psycopg3: psycopg.Connection[Any], tables: dict[str, str], ty: str, value: Any, text: str, binary: bool
) -> None:
    placeholder = "%b" if binary else "%t"
    with psycopg3.cursor(binary=binary) as cursor:
        cursor.execute(f"select {placeholder}::{ty}, 7", [value])
        ((got, behind),) = cursor.fetchall()
        assert same(got, value) and behind == 7
        table = tables[ty]
        cursor.execute(f"delete from {table}")
        cursor.execute(f"insert into {table} values (1, {placeholder}, 7), (2, null, 8)", [value])
        cursor.execute(f"select v, behind, v::text from {table} order by n")
        (got, behind, rendered), nothing = cursor.fetchall()
        assert same(got, value) and behind == 7
        assert rendered == text
        assert nothing == (None, 8, None)


@pytest.mark.parametrize(("ty", "value", "text"), VALUES, ids=identified)
def test_psycopg2(server: Rowferry, tables: dict[str, str], ty: str, value: Any, text: str) -> None:
    import psycopg2.extras

    connection = psycopg2.connect(server.postgres_dsn, options="-c timezone=UTC")
    psycopg2.extras.register_uuid(conn_or_curs=connection)
    try:
        with connection, connection.cursor() as cursor:
            table = tables[ty]
            cursor.execute(f"delete from {table}")
            cursor.execute(f"insert into {table} values (1, %s, 7), (2, null, 8)", [value])
            cursor.execute(f"select v, behind, v::text from {table} order by n")
            (got, behind, rendered), nothing = cursor.fetchall()
            got = bytes(got) if isinstance(got, memoryview) else got
            assert same(got, value) and behind == 7
            assert rendered == text
            assert nothing == (None, 8, None)
    finally:
        connection.close()


def test_asyncpg(server: Rowferry, tables: dict[str, str]) -> None:
    async def run() -> None:
        connection = await asyncpg.connect(server.postgres_dsn, server_settings={"timezone": "UTC"})
        try:
            for ty, value, text in VALUES:
                # asyncpg takes the first and the last date of Python for infinities.
                if value in (dt.date.min, dt.date.max):
                    continue
                table = tables[ty]
                got, behind = await connection.fetchrow(f"select $1::{ty}, 7", value)
                assert same(got, value) and behind == 7, (ty, value)
                await connection.execute(f"delete from {table}")
                await connection.execute(f"insert into {table} values ($1, $2, $3)", 1, value, 7)
                got, behind, rendered = await connection.fetchrow(f"select v, behind, v::text from {table}")
                assert same(got, value) and behind == 7, (ty, value)
                assert rendered == text, (ty, value)
                await connection.execute(f"update {table} set v = $1", None)
                assert await connection.fetchval(f"select v from {table}") is None
        finally:
            await connection.close()

    asyncio.run(run())


@pytest.mark.parametrize("ty", ["json", "jsonb"])
@pytest.mark.parametrize("binary", [False, True], ids=["text", "binary"])
def test_json(psycopg3: psycopg.Connection[Any], ty: str, binary: bool) -> None:
    from psycopg.types.json import Json, Jsonb

    value = {"b": [1, 2.5, None, True], "a": {"text": 'naïve "quoted" \\'}}
    wrapped = Jsonb(value) if ty == "jsonb" else Json(value)
    with psycopg3.cursor(binary=binary) as cursor:
        cursor.execute(f"select %s::{ty}, 7", [wrapped])
        assert cursor.fetchall() == [(value, 7)]


def test_oids_of_expressions_and_of_nothing(psycopg3: psycopg.Connection[Any]) -> None:
    def oids(sql: str) -> list[int]:
        cursor = psycopg3.execute(sql)
        assert cursor.description is not None
        return [column.type_code for column in cursor.description]

    assert oids("select 1, 1.5, 'a', null, true, now(), 1::bigint + 1, count(*), sum(1)") == [
        23, 1700, 25, 25, 16, 1184, 20, 20, 20,
    ]  # fmt: skip
    assert oids("select 1::numeric(10,2), current_date, '1'::bytea, gen_random_uuid() where false") == [
        1700, 1082, 17, 2950,
    ]  # fmt: skip


def test_values_that_do_not_fit_are_refused(psycopg3: psycopg.Connection[Any]) -> None:
    for ty, text, error in [
        ("smallint", "32768", psycopg.errors.NumericValueOutOfRange),
        ("integer", "abc", psycopg.errors.InvalidTextRepresentation),
        ("boolean", "maybe", psycopg.errors.InvalidTextRepresentation),
        ("numeric(4,2)", "100", psycopg.errors.NumericValueOutOfRange),
        ("date", "2023-02-29", psycopg.errors.DatetimeFieldOverflow),
        ("date", "today-ish", psycopg.errors.InvalidDatetimeFormat),
        ("uuid", "1234", psycopg.errors.InvalidTextRepresentation),
        ("json", "{", psycopg.errors.InvalidTextRepresentation),
        ("bytea", "\\xzz", psycopg.errors.InvalidParameterValue),
    ]:
        with pytest.raises(error):
            psycopg3.execute(f"select %s::{ty}", [text])


def test_values_that_do_not_fit_their_column_are_reported_with_their_place(
    server: Rowferry, psycopg3: psycopg.Connection[Any]
) -> None:
    import sqlite3

    psycopg3.execute("create table odd (n integer primary key, v integer)")
    with sqlite3.connect(server.database) as file:
        file.execute("insert into odd values (1, '42'), (2, 'not a number')")
    file.close()
    assert psycopg3.execute("select v from odd where n = 1").fetchall() == [(42,)]
    for binary in (False, True):
        with pytest.raises(psycopg.errors.DataCorrupted) as failure:
            psycopg3.execute("select n, v from odd order by n", binary=binary)
        assert failure.value.diag.column_name == "v"
        assert "row 2" in (failure.value.diag.message_detail or "")
