"""Databases by name, and rows changed through cursors: our driver and our door, the blocking colour."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from rowferry import informix

from tests.servers.rowferry import Rowferry


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rowferry]:
    directory = tmp_path_factory.mktemp("databases")
    (directory / "more").mkdir()
    args = ("--databases", str(directory / "more"))
    with Rowferry.start(directory / "first.db", postgres=False, informix=True, args=args) as running:
        yield running


def connect(server: Rowferry, database: str = "first") -> Any:
    assert server.informix is not None
    host, port = server.informix
    return contextlib.closing(
        informix.connect(
            host=host, port=port, user="u", password="p", database=database, server="informix", autocommit=True
        )
    )


def one(connection: Any, sql: str) -> Any:
    cursor = connection.cursor()
    cursor.execute(sql)
    row = cursor.fetchone()
    cursor.close()
    return row and row[0]


def code(failure: pytest.ExceptionInfo[informix.Error]) -> int | None:
    return failure.value.sqlcode


def test_a_database_is_made_opened_by_name_and_dropped(server: Rowferry) -> None:
    with connect(server, "sysmaster") as first:
        first.cursor().execute("CREATE DATABASE made WITH LOG")
        first.cursor().execute("CREATE TABLE t (a INT)")
        first.cursor().execute("INSERT INTO t VALUES (1)")
        with connect(server, "made") as second:
            assert one(second, "SELECT a FROM t") == 1
            with pytest.raises(informix.Error) as used:
                first.cursor().execute("DROP DATABASE made")
            assert code(used) == -425
        with pytest.raises(informix.Error) as again:
            first.cursor().execute("CREATE DATABASE made")
        assert code(again) == -330
    file = server.database.parent / "more" / "made.db"
    with contextlib.closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True)) as natural:
        assert natural.execute("SELECT a FROM t").fetchone() == (1,)
    with connect(server) as first:
        first.cursor().execute("DROP DATABASE made")
    assert not file.exists()
    with pytest.raises(informix.Error) as gone, connect(server, "made"):
        pass
    assert code(gone) == -329


def test_a_name_never_leaves_the_directory(server: Rowferry) -> None:
    with connect(server) as connection:
        for name in ("../outside", "a/b", "x" * 129):
            with pytest.raises(informix.Error):
                connection.cursor().execute(f"CREATE DATABASE '{name}'")
    assert [path.name for path in server.database.parent.parent.glob("**/outside*")] == []


def test_without_the_option_nothing_is_made(tmp_path: Path) -> None:
    with Rowferry.start(tmp_path / "only.db", postgres=False, informix=True) as server:
        with connect(server, "only") as connection, pytest.raises(informix.Error, match="--databases"):
            connection.cursor().execute("CREATE DATABASE other")


def test_transactions_are_what_the_database_was_made_with(server: Rowferry) -> None:
    with connect(server) as connection:
        connection.cursor().execute("CREATE DATABASE unlogged")
        connection.cursor().execute("CREATE TABLE t (a INT)")
        with pytest.raises(informix.Error) as refused:
            connection.cursor().execute("BEGIN WORK")
        assert code(refused) == -256
    with connect(server) as connection:
        rows = connection.cursor()
        rows.execute(
            "SELECT name, is_logging FROM sysmaster:sysdatabases WHERE name IN ('unlogged', 'first') ORDER BY name"
        )
        assert [tuple(row) for row in rows.fetchall()] == [("first", 1), ("unlogged", 0)]


def test_rollback_to_a_savepoint_as_a_statement_keeps_what_came_before(server: Rowferry) -> None:
    with connect(server) as connection:
        for sql in (
            "CREATE TABLE kept (a INT)",
            "BEGIN WORK",
            "INSERT INTO kept VALUES (1)",
            "SAVEPOINT s",
            "INSERT INTO kept VALUES (2)",
            "ROLLBACK WORK TO SAVEPOINT s",
            "COMMIT WORK",
        ):
            connection.cursor().execute(sql)
        assert one(connection, "SELECT SUM(a) FROM kept") == 1


def test_several_statements_of_one_text_run_in_order(server: Rowferry) -> None:
    with connect(server) as connection:
        connection.cursor().execute(
            "CREATE TABLE several (a INT); INSERT INTO several VALUES (1); UPDATE several SET a = a + 1"
        )
        assert one(connection, "SELECT a FROM several") == 2
        with pytest.raises(informix.Error):
            connection.cursor().execute("INSERT INTO several VALUES (3); INSERT INTO nosuch VALUES (1)")
        assert one(connection, "SELECT COUNT(*) FROM several") == 2


def test_tables_of_other_databases_are_read_and_changed(server: Rowferry) -> None:
    with connect(server) as connection:
        for sql in (
            "CREATE DATABASE beside WITH LOG",
            "CREATE TABLE item (id SERIAL, name CHAR(8), price DECIMAL(8,2))",
            "INSERT INTO item (name, price) VALUES ('bolt', 1.5)",
        ):
            connection.cursor().execute(sql)
    with connect(server) as connection:
        connection.cursor().execute("CREATE TABLE mine (item INT, amount INT)")
        connection.cursor().execute("INSERT INTO mine VALUES (1, 4)")
        cursor = connection.cursor()
        cursor.execute("SELECT i.*, i.price * m.amount total FROM mine m, beside:item i WHERE i.id = m.item")
        assert [column[0] for column in cursor.description] == ["id", "name", "price", "total"]
        assert [str(value) for value in cursor.fetchone()] == ["1", "bolt", "1.50", "6.00"]
        cursor.executemany("INSERT INTO beside:item (name, price) VALUES (?, ?)", [("nut", 1), ("pin", 2)])
        assert one(connection, "SELECT SUM(price) FROM beside:item") == 4.5
        assert one(connection, "SELECT COUNT(*) FROM beside@informix:u.item") == 3
        with pytest.raises(informix.Error) as elsewhere:
            cursor.execute("SELECT * FROM beside@faraway:item")
        assert code(elsewhere) == -908
    with connect(server) as connection:
        connection.cursor().execute("DROP DATABASE beside")
