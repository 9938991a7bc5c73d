"""Every function, operator and cast over stored values that fit no type, as another program may have written them.

What comes of them is either a value or an error that says so; never an error of our own making (XX000), never a
closed connection.
"""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from tests.servers.rowferry import Rowferry

pytestmark = pytest.mark.timeout(600)

TYPES = [
    "bit(3)", "bit varying", "boolean", "box", "bytea", "char(4)", "cidr", "circle", "date", "daterange",
    "double precision", "inet", "int4multirange", "int4range", "integer", "bigint", "integer[]", "interval", "json",
    "jsonb", "jsonpath", "line", "lseg", "macaddr", "macaddr8", "money", "name", "numeric", "numeric(10,2)",
    "numeric[]", "nummultirange", "numrange", "oid", "path", "pg_lsn", "point", "polygon", "real", "text", "text[]",
    "tid", "time", "timestamp", "timestamptz", "timetz", "tstzrange", "uuid", "varchar(5)", "xid8",
]  # fmt: skip

ODD: list[Any] = [
    "é€x", "", "99999999999999999999999999", "{", "é-1", "2024-13-45", "{é}", "(é,é)", "\x00", b"\xff\xfe", 1.5e300,
    -9223372036854775808, 9223372036854775807, "{1,{2}}", "[-5:-9]={1}", "10000-01-01 00:00:00", "-é",
]  # fmt: skip

# Arguments beside the odd one, by their type.
PLAIN = {
    "boolean": "true", "integer": "1", "bigint": "1::bigint", "smallint": "1::smallint", "text": "'a'::text",
    "real": "1::real", "double precision": "1::float8", "numeric": "1::numeric", "date": "date '2020-01-01'",
    "timestamp without time zone": "timestamp '2020-01-01'", "interval": "interval '1 day'", "bit": "b'101'",
    "timestamp with time zone": "timestamptz '2020-01-01'", "jsonb": "'{}'::jsonb", "json": "'{}'::json",
}  # fmt: skip

# Of the odd values each function, operator and cast gets one in so many, by turns.
TURNS = 3

# They repeat their arguments, wait, or read the server's state.
LONG = {"repeat", "lpad", "rpad", "generate_series"}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rowferry]:
    path = tmp_path_factory.mktemp("odd") / "app.db"
    with Rowferry.start(path) as server, psycopg.connect(server.postgres_dsn) as connection:
        for number, name in enumerate(TYPES):
            connection.execute(f"CREATE TABLE t{number} (n integer PRIMARY KEY, v {name})")  # type: ignore[arg-type]
    write(path)
    with Rowferry.start(path) as server:
        yield server


def write(path: Path) -> None:
    with contextlib.closing(sqlite3.connect(path)) as connection:
        for number in range(len(TYPES)):
            connection.executemany(f"INSERT INTO t{number} VALUES (?, ?)", enumerate(ODD))
        connection.commit()


@pytest.fixture
def postgres(server: Rowferry) -> Iterator[psycopg.Connection[Any]]:
    with psycopg.connect(server.postgres_dsn, autocommit=True) as connection:
        connection.execute("SET statement_timeout = '20s'")
        yield connection


def tables(connection: psycopg.Connection[Any]) -> dict[str, int]:
    """The tables, by the name that PostgreSQL has for the type of their values."""
    found: dict[str, int] = {}
    query = """
        SELECT format_type(atttypid, NULL) FROM pg_attribute WHERE attrelid = %s::regclass AND attname = 'v'
    """
    for number in range(len(TYPES)):
        row = connection.execute(query, [f"t{number}"]).fetchone()
        assert row is not None
        found.setdefault(row[0], number)
    assert len(found) >= len(TYPES) - 1
    return found


def failures(connection: psycopg.Connection[Any], statements: Iterable[str]) -> list[str]:
    found = []
    count = 0
    for statement in statements:
        count += 1
        try:
            connection.execute(statement)  # type: ignore[arg-type]
        except psycopg.Error as error:
            # What is looked up by a number that nothing has is PostgreSQL's XX000, too.
            if error.sqlstate in (None, "XX000", "57014") and "cache lookup failed" not in str(error):
                found.append(f"{statement}: {error.sqlstate} {error}")
            if connection.closed:
                break
    assert count > 1000
    return found


def test_functions(postgres: psycopg.Connection[Any]) -> None:
    known = tables(postgres)

    def calls() -> Iterator[str]:
        query = """
            SELECT proname, ARRAY(SELECT format_type(a, NULL) FROM unnest(proargtypes::oid[]) AS a)
            FROM pg_proc WHERE prokind = 'f'
        """
        for turn, (name, types) in enumerate(postgres.execute(query).fetchall()):
            if name in LONG or name.startswith("pg_") or not all(ty in known or ty in PLAIN for ty in types):
                continue
            for place, own in enumerate(types):
                if own not in known:
                    continue
                others = [
                    PLAIN.get(ty) or f"(SELECT v FROM t{known[ty]} WHERE n = o.n)" for ty in types
                ]  # fmt: skip
                arguments = ", ".join([*others[:place], "o.v", *others[place + 1 :]])
                for row in range(turn % TURNS, len(ODD), TURNS):
                    yield f'SELECT "{name}"({arguments}) FROM t{known[own]} AS o WHERE n = {row}'

    found = failures(postgres, calls())
    assert not found, "\n".join(found)


def test_operators(postgres: psycopg.Connection[Any]) -> None:
    known = tables(postgres)

    def uses() -> Iterator[str]:
        query = """
            SELECT oprname, format_type(oprleft, NULL), format_type(oprright, NULL) FROM pg_operator WHERE oprleft <> 0
        """
        for turn, (name, left, right) in enumerate(postgres.execute(query).fetchall()):
            if left in known and right in known:
                for row in range(turn % TURNS, len(ODD), TURNS):
                    yield (
                        f"SELECT l.v OPERATOR(pg_catalog.{name}) r.v FROM t{known[left]} AS l, t{known[right]} AS r "
                        f"WHERE l.n = {row} AND r.n = {row * 7 % len(ODD)}"
                    )

    found = failures(postgres, uses())
    assert not found, "\n".join(found)


def test_casts_and_order(postgres: psycopg.Connection[Any]) -> None:
    def uses() -> Iterator[str]:
        for number in range(len(TYPES)):
            for turn, target in enumerate(TYPES):
                for row in range(turn % TURNS, len(ODD), TURNS):
                    yield f"SELECT v::{target} FROM t{number} WHERE n = {row}"
            yield f"SELECT v FROM t{number} ORDER BY v"
            yield f"SELECT DISTINCT v FROM t{number}"
            yield f"SELECT min(v), max(v) FROM t{number}"
            yield f"SELECT array_agg(v) FROM t{number}"
            yield f"SELECT json_agg(v) FROM t{number}"
            yield f"SELECT count(*) FROM t{number} AS a JOIN t{number} AS b USING (v)"

    found = failures(postgres, uses())
    assert not found, "\n".join(found)
