"""Rows that SQLite allows and that fit no type, through both doors."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from rowferry import informix

from tests.servers.rowferry import Rowferry

MIXED = [(1, 5), (2, 1.5), (3, "text"), (4, b"bytes"), (5, b"\xff\x00"), (6, None)]
SHOWN = ["5", "1.5", "text", "bytes", r"\xff00", None]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rowferry]:
    path = tmp_path_factory.mktemp("odd") / "app.db"
    make(path)
    with Rowferry.start(path, informix=True) as server:
        yield server


def make(path: Path) -> None:
    connection = sqlite3.connect(path)
    connection.executescript(
        """
        CREATE TABLE untyped (n INTEGER PRIMARY KEY, v);
        CREATE TABLE strict_any (n INTEGER PRIMARY KEY, v ANY) STRICT;
        CREATE TABLE plain (n INTEGER PRIMARY KEY, v TEXT);
        CREATE VIEW counted AS SELECT v, length(v) AS size, n * 1.5 AS half FROM untyped WHERE n = 3;
        CREATE TABLE bad (rowid_is_elsewhere TEXT, v TEXT, b BLOB);
        INSERT INTO bad (rowid, v, b) VALUES (41, 'good', NULL), (42, CAST(x'61ff62' AS TEXT), CAST(x'61ff62' AS TEXT));
        CREATE TABLE numbers (n INTEGER PRIMARY KEY, v INTEGER);
        INSERT INTO numbers VALUES (1, 5), (8, 'eight');
        CREATE TABLE nul (v TEXT);
        INSERT INTO nul (rowid, v) VALUES (7, CAST(x'610062' AS TEXT));
        CREATE TABLE narrow (n INTEGER PRIMARY KEY, v VARCHAR(3));
        INSERT INTO narrow VALUES (1, 'abc'), (2, 'abc  '), (9, 'abcd');
        CREATE TABLE kanji (n INTEGER PRIMARY KEY, v TEXT);
        INSERT INTO kanji VALUES (1, 'plain'), (3, '漢');
        """
    )
    for table in ("untyped", "strict_any", "plain"):
        connection.executemany(f"INSERT INTO {table} VALUES (?, ?)", MIXED)
    connection.commit()
    connection.close()


@pytest.fixture
def postgres(server: Rowferry) -> Iterator[psycopg.Connection[Any]]:
    with psycopg.connect(server.postgres_dsn, autocommit=True) as connection:
        yield connection


def connect_informix(server: Rowferry, **more: Any) -> Any:
    assert server.informix is not None
    host, port = server.informix
    return informix.connect(host=host, port=port, database=server.dbname, **more)


@pytest.mark.parametrize("table", ["untyped", "strict_any", "plain"])
def test_values_are_served_one_by_one(server: Rowferry, postgres: psycopg.Connection[Any], table: str) -> None:
    for binary in (False, True):
        cursor = postgres.cursor(binary=binary)
        assert [v for (v,) in cursor.execute(f"SELECT v FROM {table} ORDER BY n")] == SHOWN
    with postgres.cursor() as cursor, cursor.copy(f"COPY (SELECT v FROM {table} ORDER BY n) TO STDOUT") as copy:
        copy.set_types(["text"])
        assert [v for (v,) in copy.rows()] == SHOWN
    connection = connect_informix(server)
    assert [v for (_, v) in connection.execute(f"SELECT n, v FROM {table} ORDER BY n").fetchall()] == SHOWN
    connection.close()


def test_a_view_without_types(server: Rowferry, postgres: psycopg.Connection[Any]) -> None:
    assert postgres.execute("SELECT v, size, half FROM counted").fetchone() == ("text", "4", "4.5")
    connection = connect_informix(server)
    assert tuple(connection.execute("SELECT v, size, half FROM counted").fetchone()) == ("text", "4", "4.5")
    connection.close()


@pytest.mark.parametrize(
    ("table", "rowid", "shown"),
    [("bad", 42, "0xff"), ("nul", 7, "0x00")],
)
def test_bad_text_is_an_error_that_says_where(
    server: Rowferry, postgres: psycopg.Connection[Any], table: str, rowid: int, shown: str
) -> None:
    place = f'table "{table}", column "v", rowid {rowid}'
    for binary in (False, True):
        with pytest.raises(psycopg.errors.CharacterNotInRepertoire) as caught:
            postgres.cursor(binary=binary).execute(f"SELECT v FROM {table}")
        assert shown in str(caught.value)
        assert place in (caught.value.diag.message_detail or "")
        assert (caught.value.diag.table_name, caught.value.diag.column_name) == (table, "v")
    for form in ("TEXT", "CSV", "BINARY"):
        with (
            pytest.raises(psycopg.errors.CharacterNotInRepertoire) as caught,
            postgres.cursor() as cursor,
            cursor.copy(f"COPY {table} (v) TO STDOUT (FORMAT {form})") as copy,
        ):
            list(copy)
        assert place in (caught.value.diag.message_detail or "")
    connection = connect_informix(server)
    with pytest.raises(informix.Error, match=place):
        connection.execute(f"SELECT v FROM {table}").fetchall()
    connection.close()


def test_a_value_of_another_type_is_an_error_that_says_where(postgres: psycopg.Connection[Any]) -> None:
    with pytest.raises(psycopg.errors.DataCorrupted) as caught:
        postgres.execute("SELECT v FROM numbers")
    assert 'table "numbers", column "v", rowid 8' in (caught.value.diag.message_detail or "")


def test_text_in_a_column_of_bytes_is_its_bytes(postgres: psycopg.Connection[Any]) -> None:
    for binary in (False, True):
        found = postgres.cursor(binary=binary).execute("SELECT b FROM bad ORDER BY rowid_is_elsewhere, v IS NULL")
        assert b"a\xffb" in [b for (b,) in found]


def test_a_text_longer_than_its_column_is_not_cut(server: Rowferry, postgres: psycopg.Connection[Any]) -> None:
    assert postgres.execute("SELECT v FROM narrow WHERE n = 9").fetchone() == ("abcd",)
    connection = connect_informix(server)
    assert [v for (v,) in connection.execute("SELECT v FROM narrow WHERE n < 9 ORDER BY n").fetchall()] == ["abc"] * 2
    with pytest.raises(informix.Error, match=r'table "narrow", column "v", rowid 9 .*LVARCHAR'):
        connection.execute("SELECT v FROM narrow ORDER BY n").fetchall()
    found = connection.execute("SELECT CAST(v AS LVARCHAR) FROM narrow WHERE n = 9").fetchone()
    assert tuple(found) == ("abcd",)
    connection.close()


def test_text_outside_the_clients_code_set_says_where_and_what_helps(server: Rowferry) -> None:
    connection = connect_informix(server)
    with pytest.raises(informix.Error, match=r'table "kanji", column "v", rowid 3 .*CLIENT_LOCALE=en_US.utf8'):
        connection.execute("SELECT v FROM kanji ORDER BY n").fetchall()
    connection.close()
    connection = connect_informix(server, client_locale="en_US.utf8")
    assert [v for (v,) in connection.execute("SELECT v FROM kanji ORDER BY n").fetchall()] == ["plain", "漢"]
    connection.close()
