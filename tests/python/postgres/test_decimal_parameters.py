"""A decimal that comes as a parameter lies in the file as the same literal does."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from decimal import Decimal
from typing import Any

import psycopg
import pytest

from tests.servers.rowferry import Rowferry

TYPES = ["numeric(10,2)", "numeric(15,0)", "numeric(4,4)", "numeric(30,10)", "numeric"]
VALUES = (
    "0 -0 0.0 1 1.5 -1.50 1.555 -1.005 0.1 0.12345 99.9 12345678.9 99999999.99 99999999.994 99999999.995 1e2 1e-3 "
    "123456789012345 1234567890123456 -12345678901234567890.12345 0.00000000000000000001 NaN Infinity"
).split()


def put(cursor: psycopg.Cursor[Any], sql: str, parameters: tuple[object, ...]) -> str | None:
    try:
        cursor.execute(sql, parameters)
    except psycopg.Error as error:
        return f"{error.sqlstate} {error.diag.message_primary}"
    return None


@pytest.mark.parametrize("ty", TYPES)
@pytest.mark.parametrize("mark", ["%t", "%b"])
def test_what_is_stored_and_refused(server: Rowferry, ty: str, mark: str) -> None:
    with psycopg.connect(server.postgres_dsn, autocommit=True) as connection, connection.cursor() as cursor:
        cursor.execute("drop table if exists d")
        cursor.execute(f"create table d (id integer primary key, literal {ty}, inserted {ty}, updated {ty})")
        for number, value in enumerate([*VALUES, None]):
            literal = "null" if value is None else f"'{value}'" if value.isalpha() else value
            decimal = None if value is None else Decimal(value)
            told = put(cursor, f"insert into d (id, literal) values ({number}, {literal})", ())
            told_of_insert = put(cursor, f"insert into d (id, inserted) values ({-number - 1}, {mark})", (decimal,))
            assert told_of_insert == told, value
            if told is not None:
                continue
            cursor.execute(f"update d set inserted = {mark}, updated = {mark} where id = {number}", (decimal, decimal))
            cursor.execute(f"select literal::text, inserted::text, updated::text from d where id = {number}")
            row = cursor.fetchone()
            assert row is not None
            assert len(set(row)) == 1, value
    columns = ", ".join(f"typeof({name}), {name}" for name in ("literal", "inserted", "updated"))
    with closing(sqlite3.connect(f"file:{server.database}?mode=ro", uri=True)) as file:
        stored = file.execute(f"select {columns} from d where id >= 0").fetchall()
    # The numbers below 1 fit everywhere.
    assert len(stored) >= 8
    for class_of_literal, literal, *others in stored:
        assert others == [class_of_literal, literal] * 2
