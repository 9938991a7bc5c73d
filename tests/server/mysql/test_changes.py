"""What clients are told of rows that they change: numbers, counts, words, and whom a lock keeps out."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pymysql
import pytest
from pymysql.constants import CLIENT

from tests.servers.rowferry import Rowferry


def connect(server: Rowferry, **more: Any) -> pymysql.Connection[Any]:
    assert server.mysql is not None
    host, port = server.mysql
    return pymysql.connect(host=host, port=port, user="ada", database="app", autocommit=True, **more)


@pytest.fixture
def cursor(server: Rowferry) -> Iterator[Any]:
    with connect(server) as connection, connection.cursor() as cursor:
        yield cursor


def refused(cursor: Any, sql: str) -> tuple[int, str]:
    with pytest.raises(pymysql.err.MySQLError) as failure:
        cursor.execute(sql)
    number, words = failure.value.args
    return number, words


def test_numbers_behind_an_upsert_are_those_of_its_rows(cursor: Any, table: str) -> None:
    """As on MySQL 9.7."""
    cursor.execute(f"CREATE TABLE {table} (id INT AUTO_INCREMENT PRIMARY KEY, e VARCHAR(9) UNIQUE, n INT)")

    def told(sql: str) -> tuple[int, int, int]:
        count = cursor.execute(sql.format(table))
        number = cursor.lastrowid
        cursor.execute("SELECT LAST_INSERT_ID()")
        return count, number, cursor.fetchone()[0]

    upsert = "INSERT INTO {} (e, n) VALUES %s ON DUPLICATE KEY UPDATE n = VALUES(n)"
    assert told("INSERT INTO {} (e) VALUES ('a'), ('b')") == (2, 1, 1)
    assert told(upsert % "('b', 1)") == (2, 2, 1)
    # It stays as it is.
    assert told(upsert % "('b', 1)") == (0, 0, 1)
    count, number, last = told(upsert % "('a', 2), ('c', 2)")
    cursor.execute(f"SELECT id FROM {table} WHERE e = 'c'")
    assert (count, number) == (3, last) == (3, cursor.fetchone()[0])
    assert told("REPLACE INTO {} (id, e) VALUES (2, 'b')") == (2, 2, last)
    assert told("INSERT INTO {} (id, e) VALUES (50, 'd')") == (1, 50, last)
    assert told("INSERT INTO {} (id, e) VALUES (7, 'd') ON DUPLICATE KEY UPDATE n = 3") == (2, 50, last)


def test_rows_that_are_found_are_not_all_changed(server: Rowferry, table: str) -> None:
    with connect(server, client_flag=CLIENT.FOUND_ROWS) as connection, connection.cursor() as cursor:
        cursor.execute(f"CREATE TABLE {table} (id INT PRIMARY KEY, n INT)")
        cursor.execute(f"INSERT INTO {table} VALUES (1, 1), (2, 2)")
        assert connection._result.message[1:] == b"Records: 2  Duplicates: 0  Warnings: 0"
        assert cursor.execute(f"UPDATE {table} SET n = 1") == 2
        assert connection._result.message[1:] == b"Rows matched: 2  Changed: 1  Warnings: 0"
        cursor.execute(f"REPLACE INTO {table} VALUES (1, 5), (3, 3)")
        assert connection._result.message[1:] == b"Records: 2  Duplicates: 1  Warnings: 0"


@pytest.mark.parametrize(
    ("values", "told"),
    [
        ("(w) VALUES ('abc'), ('abcd')", (1406, "Data too long for column 'w' at row 2")),
        ("(i) VALUES (300)", (1264, "Out of range value for column 'i' at row 1")),
        ("(i) VALUES ('x')", (1366, "Incorrect integer value: 'x' for column 'i' at row 1")),
        ("(r) VALUES ('c')", (1265, "Data truncated for column 'r' at row 1")),
        ("(d) VALUES ('2024-13-01')", (1292, "Incorrect date value: '2024-13-01' for column 'd' at row 1")),
        ("(x) VALUES ('y')", (1366, "Incorrect DOUBLE value: 'y' for column 'x' at row 1")),
    ],
)
def test_a_value_that_does_not_fit_is_told_with_its_column(
    cursor: Any, table: str, values: str, told: tuple[int, str]
) -> None:
    cursor.execute(f"CREATE TABLE {table} (i TINYINT, w VARCHAR(3), r ENUM('a', 'b'), d DATE, x DOUBLE)")
    assert refused(cursor, f"INSERT INTO {table} {values}") == told
    cursor.execute(f"SELECT COUNT(*) FROM {table}")
    assert cursor.fetchone() == (0,)


def test_a_broken_key_is_told_as_innodb_does(cursor: Any, table: str) -> None:
    cursor.execute(f"CREATE TABLE {table} (id INT PRIMARY KEY)")
    key = f"CONSTRAINT {table}_k FOREIGN KEY (p) REFERENCES {table} (id) ON DELETE CASCADE"
    cursor.execute(f"CREATE TABLE {table}_c (p INT, {key})")
    words = f"CONSTRAINT `{table}_k` FOREIGN KEY (`p`) REFERENCES `{table}` (`id`) ON DELETE CASCADE)"
    fails = f"a foreign key constraint fails (`app`.`{table}_c`, {words}"
    assert refused(cursor, f"INSERT INTO {table}_c VALUES (1)") == (1452, f"Cannot add or update a child row: {fails}")
    cursor.execute(f"DROP TABLE {table}_c")


def test_columns_of_a_join_are_told_by_their_aliases(cursor: Any, table: str) -> None:
    cursor.execute(f"CREATE TABLE {table} (id INT PRIMARY KEY)")
    cursor.execute(f"SELECT a.id, b.id, s.x FROM {table} a, {table} b, (SELECT id AS x FROM {table}) s")
    fields = [(field.table_name, field.org_table, field.name) for field in cursor._result.fields]
    assert fields == [("a", table, "id"), ("b", table, "id"), ("s", table, "x")]


@pytest.mark.parametrize("query", ["SELECT COUNT(*) FROM {} FOR UPDATE", "SELECT DISTINCT n FROM {} FOR SHARE"])
def test_tables_of_grouped_rows_are_locked(server: Rowferry, cursor: Any, table: str, query: str) -> None:
    cursor.execute(f"CREATE TABLE {table} (id INT PRIMARY KEY, n INT)")
    cursor.execute(f"INSERT INTO {table} VALUES (1, 1)")
    with connect(server) as other, other.cursor() as second:
        second.execute("SET innodb_lock_wait_timeout = 1")
        cursor.execute("BEGIN")
        cursor.execute(query.format(table))
        assert refused(second, f"UPDATE {table} SET n = 2")[0] == 1205
        # Who only reads is kept out by nobody.
        assert second.execute(f"SELECT * FROM {table}") == 1
        cursor.execute("COMMIT")
        assert second.execute(f"UPDATE {table} SET n = 2") == 1


@pytest.mark.parametrize("type_", ["serial", "bigserial", "int GENERATED BY DEFAULT AS IDENTITY"])
def test_a_column_that_numbers_itself_for_postgres_does_so_here(tmp_path: Path, type_: str) -> None:
    """What PostgreSQL's programs have made is filled by MySQL's, whose ORMs ask for the number of their new row."""
    with Rowferry.start(tmp_path / "app.db", postgres=True, mysql=True) as server:
        with psycopg.connect(server.postgres_dsn, autocommit=True) as postgres:
            postgres.execute(f"CREATE TABLE things (id {type_} PRIMARY KEY, name text)")
            with connect(server) as connection, connection.cursor() as cursor:
                numbers = []
                for row in ("(name) VALUES ('a')", "VALUES (NULL, 'b'), (0, 'c')", "VALUES (DEFAULT, 'd')"):
                    cursor.execute(f"INSERT INTO things {row}")
                    told = cursor.lastrowid
                    cursor.execute("SELECT LAST_INSERT_ID()")
                    assert cursor.fetchone() == (told,)
                    numbers.append(told)
                assert numbers == [1, 2, 4]
                cursor.execute("SHOW COLUMNS FROM things LIKE 'id'")
                assert cursor.fetchone()[3:] == ("PRI", None, "auto_increment")
                cursor.execute("SHOW CREATE TABLE things")
                words = cursor.fetchone()[1]
                assert "NOT NULL AUTO_INCREMENT," in words and "AUTO_INCREMENT=5 " in words
            row = postgres.execute("INSERT INTO things (name) VALUES ('e') RETURNING id").fetchone()
            assert row == (5,)


def test_a_value_is_a_routines_variable_rather_than_a_column(cursor: Any, table: str) -> None:
    """VALUES see columns, but a parameter of that name comes first."""
    cursor.execute(f"CREATE TABLE {table} (id INT PRIMARY KEY, n INT DEFAULT 7, twice INT)")
    cursor.execute(
        f"CREATE PROCEDURE {table}_add(id INT, n INT) INSERT INTO {table} (id, n, twice) VALUES (id, n, n * 2)"
    )
    cursor.execute(f"CALL {table}_add(1, 21)")
    cursor.execute(f"DROP PROCEDURE {table}_add")
    cursor.execute(f"INSERT INTO {table} (id, twice) VALUES (id + 2, n)")
    cursor.execute(f"SELECT * FROM {table} ORDER BY id")
    assert cursor.fetchall() == ((1, 21, 42), (2, 7, 7))
