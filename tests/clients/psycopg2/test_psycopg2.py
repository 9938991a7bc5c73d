"""psycopg2: the simple protocol, values written into the statement by the client."""

from __future__ import annotations

import contextlib
from datetime import date, datetime
from decimal import Decimal

import psycopg2
import psycopg2.errors
import pytest

from tests.servers.rowferry import Rowferry


def test_literals_of_every_kind(served: Rowferry) -> None:
    with contextlib.closing(psycopg2.connect(served.postgres_dsn)) as connection, connection.cursor() as cursor:
        cursor.execute("CREATE TABLE t (i integer, b boolean, n numeric(10,2), s text, d date, ts timestamp, by bytea)")
        row = (
            -7,
            True,
            Decimal("12.50"),
            "O'Brien \\ Zürich",
            date(2026, 2, 28),
            datetime(2026, 2, 28, 1, 2, 3),
            b"\0x",
        )
        cursor.execute("INSERT INTO t VALUES (%s, %s, %s, %s, %s, %s, %s)", row)
        cursor.execute("SELECT * FROM t WHERE s = %s AND n = %s", (row[3], row[2]))
        (found,) = cursor.fetchall()
        assert (*found[:6], bytes(found[6])) == row
        connection.commit()


def test_error_has_its_class(served: Rowferry) -> None:
    with contextlib.closing(psycopg2.connect(served.postgres_dsn)) as connection, connection.cursor() as cursor:
        with pytest.raises(psycopg2.errors.UndefinedTable):
            cursor.execute("SELECT * FROM nosuch")
        with pytest.raises(psycopg2.errors.InFailedSqlTransaction):
            cursor.execute("SELECT 1")
        connection.rollback()
        cursor.execute("SELECT 1")
        assert cursor.fetchall() == [(1,)]


def test_join_over_the_store(store: Rowferry) -> None:
    with contextlib.closing(psycopg2.connect(store.postgres_dsn)) as connection, connection.cursor() as cursor:
        cursor.execute(
            "SELECT o.status, count(*) FROM orders o JOIN customers c USING (customer_id) "
            "WHERE c.active AND o.placed_at >= %s GROUP BY 1 ORDER BY 1",
            (datetime(2025, 6, 1),),
        )
        assert [row[0] for row in cursor.fetchall()] == ["cancelled", "open", "paid", "shipped"]
