"""psycopg 3: text and binary, prepared statements, pipelines, errors, transactions."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from datetime import date, datetime, timezone
from decimal import Decimal
from typing import Any

import psycopg
import pytest
from psycopg import errors
from psycopg.types.json import Json

from tests.servers.rowferry import Rowferry


@pytest.fixture
def connection(served: Rowferry) -> Iterator[psycopg.Connection[Any]]:
    with psycopg.connect(served.postgres_dsn) as connection:
        yield connection


VALUES = [
    ("boolean", True),
    ("smallint", -32768),
    ("integer", 2147483647),
    ("bigint", -9223372036854775808),
    ("real", 1.5),
    ("double precision", 0.1),
    ("numeric(12,3)", Decimal("-123456789.125")),
    ("numeric", Decimal("12345678901234567890123456789012345678.0000000001")),
    ("text", "Grüße 🌻 'quoted' \\ back"),
    ("varchar(20)", ""),
    ("bytea", b"\x00\xff\\'"),
    ("date", date(1, 1, 1)),
    ("timestamp", datetime(2026, 2, 28, 23, 59, 59, 123456)),
    ("timestamptz", datetime(2026, 2, 28, 23, 59, 59, 120000, tzinfo=timezone.utc)),
    ("uuid", uuid.UUID("12345678-1234-5678-1234-567812345678")),
]


@pytest.mark.parametrize("binary", [False, True], ids=["text", "binary"])
@pytest.mark.parametrize(("declared", "value"), VALUES, ids=[declared for declared, _ in VALUES])
def test_every_type_travels_both_ways(
    connection: psycopg.Connection[Any], declared: str, value: Any, binary: bool
) -> None:
    connection.execute(f"CREATE TABLE t (v {declared}, behind integer)")
    mark = "%b" if binary else "%t"
    with connection.cursor(binary=binary) as cursor:
        cursor.execute(f"INSERT INTO t VALUES ({mark}, 17), (NULL, 18)", (value,))
        cursor.execute("SELECT v, behind FROM t ORDER BY behind")
        assert cursor.fetchall() == [(value, 17), (None, 18)]
        cursor.execute(f"SELECT behind FROM t WHERE v = {mark}", (value,))
        assert cursor.fetchall() == [(17,)]


def test_json_travels_both_ways(connection: psycopg.Connection[Any]) -> None:
    connection.execute("CREATE TABLE t (v json)")
    connection.execute("INSERT INTO t VALUES (%s)", (Json({"a": [1, None, "ü"]}),))
    assert connection.execute("SELECT v FROM t").fetchone() == ({"a": [1, None, "ü"]},)


def test_columns_are_described_with_no_rows(connection: psycopg.Connection[Any]) -> None:
    cursor = connection.execute("SELECT 1 AS i, 'x'::text AS t, 1.5 AS n, now() AS ts, NULL AS u WHERE false")
    assert cursor.description is not None
    assert [(column.name, column.type_code) for column in cursor.description] == [
        ("i", 23),
        ("t", 25),
        ("n", 1700),
        ("ts", 1184),
        ("u", 25),
    ]


def test_repeated_statement_is_prepared_and_stays_right(connection: psycopg.Connection[Any]) -> None:
    connection.execute("CREATE TABLE t (id integer PRIMARY KEY, name text)")
    with connection.cursor() as cursor:
        cursor.executemany("INSERT INTO t VALUES (%s, %s)", [(number, f"n{number}") for number in range(50)])
    for number in range(50):
        row = connection.execute("SELECT name FROM t WHERE id = %s", (number,)).fetchone()
        assert row == (f"n{number}",)


def test_pipeline_recovers_behind_an_error(connection: psycopg.Connection[Any]) -> None:
    connection.execute("CREATE TABLE t (id integer PRIMARY KEY)")
    connection.commit()
    connection.autocommit = True
    with pytest.raises(errors.UniqueViolation), connection.pipeline():
        connection.execute("INSERT INTO t VALUES (1)")
        connection.execute("INSERT INTO t VALUES (1)")
        connection.execute("INSERT INTO t VALUES (2)")
    assert connection.execute("SELECT 1").fetchone() == (1,)


@pytest.mark.parametrize(
    ("sql", "error"),
    [
        ("SELECT * FROM nosuch", errors.UndefinedTable),
        ("SELECT nosuch FROM t", errors.UndefinedColumn),
        ("SELEC 1", errors.SyntaxError),
        ("SELECT nosuch(1)", errors.UndefinedFunction),
        ("INSERT INTO t VALUES (1, 'again')", errors.UniqueViolation),
        ("INSERT INTO t VALUES (2, NULL)", errors.NotNullViolation),
        ("INSERT INTO t VALUES (2, 'far too long')", errors.StringDataRightTruncation),
        ("INSERT INTO t VALUES (-1, 'x')", errors.CheckViolation),
        ("SELECT 1/0", errors.DivisionByZero),
        ("SELECT 2147483647 + 1", errors.NumericValueOutOfRange),
        ("SELECT 'x'::integer", errors.InvalidTextRepresentation),
        ("CREATE TABLE t (x integer)", errors.DuplicateTable),
    ],
)
def test_failure_has_its_class_and_aborts_the_transaction(
    connection: psycopg.Connection[Any], sql: str, error: type[Exception]
) -> None:
    connection.execute("CREATE TABLE t (id integer PRIMARY KEY CHECK (id > 0), name varchar(5) NOT NULL)")
    connection.execute("INSERT INTO t VALUES (1, 'one')")
    connection.commit()
    with pytest.raises(error):
        connection.execute(sql)
    with pytest.raises(errors.InFailedSqlTransaction):
        connection.execute("SELECT 1")
    connection.rollback()
    assert connection.execute("SELECT count(*) FROM t").fetchone() == (1,)


def test_constraint_is_named(connection: psycopg.Connection[Any]) -> None:
    connection.execute("CREATE TABLE t (id integer PRIMARY KEY)")
    connection.execute("INSERT INTO t VALUES (1)")
    with pytest.raises(errors.UniqueViolation) as caught:
        connection.execute("INSERT INTO t VALUES (1)")
    assert caught.value.diag.constraint_name == "t_pkey"
    assert caught.value.diag.table_name == "t"


def test_savepoints(connection: psycopg.Connection[Any]) -> None:
    connection.execute("CREATE TABLE t (id integer PRIMARY KEY)")
    with connection.transaction():
        connection.execute("INSERT INTO t VALUES (1)")
        with pytest.raises(errors.UniqueViolation), connection.transaction():
            connection.execute("INSERT INTO t VALUES (1)")
        connection.execute("INSERT INTO t VALUES (2)")
    assert connection.execute("SELECT count(*) FROM t").fetchone() == (2,)


def test_ddl_is_rolled_back(connection: psycopg.Connection[Any]) -> None:
    connection.execute("CREATE TABLE t (id integer)")
    connection.rollback()
    with pytest.raises(errors.UndefinedTable):
        connection.execute("SELECT * FROM t")


def test_returning_and_on_conflict(connection: psycopg.Connection[Any]) -> None:
    connection.execute("CREATE TABLE t (id integer PRIMARY KEY, n integer NOT NULL)")
    upsert = "INSERT INTO t VALUES (%s, 1) ON CONFLICT (id) DO UPDATE SET n = t.n + 1 RETURNING id, n"
    assert connection.execute(upsert, (7,)).fetchall() == [(7, 1)]
    assert connection.execute(upsert, (7,)).fetchall() == [(7, 2)]


def test_lost_client_rolls_back(served: Rowferry) -> None:
    with psycopg.connect(served.postgres_dsn, autocommit=True) as connection:
        connection.execute("CREATE TABLE t (id integer)")
    lost = psycopg.connect(served.postgres_dsn)
    lost.execute("INSERT INTO t VALUES (1)")
    lost.pgconn.finish()
    with psycopg.connect(served.postgres_dsn) as connection:
        # Waits for the write lock until the server has noticed.
        connection.execute("INSERT INTO t VALUES (2)")
        assert connection.execute("SELECT id FROM t").fetchall() == [(2,)]


def test_rows_stream_in_order(connection: psycopg.Connection[Any]) -> None:
    rows = connection.execute("SELECT i, i * 2 FROM generate_series(1, 20000) AS g(i)").fetchall()
    assert len(rows) == 20_000
    assert rows[-1] == (20_000, 40_000)


def test_users_prove_their_password(tmp_path: Any) -> None:
    with Rowferry.start(tmp_path / "app.db", args=["--user", "ada:pencil"]) as server:
        assert server.postgres is not None
        host, port = server.postgres
        with psycopg.connect(host=host, port=port, user="ada", password="pencil", dbname="app") as connection:
            assert connection.execute("SELECT current_user").fetchone() == ("ada",)
        for user, password in (("ada", "wrong"), ("eve", "pencil")):
            with pytest.raises(psycopg.OperationalError, match="password authentication failed"):
                psycopg.connect(host=host, port=port, user=user, password=password, dbname="app")
