"""A unique index over an expression that SQLite cannot compute: what others who write to the table meet."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from rowferry import informix

from tests.servers.rowferry import Rowferry


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Rowferry]:
    with Rowferry.start(tmp_path / "app.db", informix=True) as server:
        with psycopg.connect(server.postgres_dsn, autocommit=True) as connection:
            connection.execute("create table people (id int primary key, name varchar(20), age int)")
            connection.execute("create unique index people_name on people (lower(name))")
            connection.execute("insert into people values (1, 'Ann', 30)")
        yield server


@pytest.mark.parametrize(
    "write",
    ["INSERT INTO people VALUES (2, 'ANN', 1)", "UPDATE people SET name = 'Bob'", "DELETE FROM people WHERE id = 1"],
)
def test_the_shell_reads_the_table_and_fails_where_a_write_needs_the_key(server: Rowferry, write: str) -> None:
    with contextlib.closing(sqlite3.connect(server.database)) as shell:
        assert shell.execute("SELECT * FROM people WHERE id = 1").fetchall() == [(1, "Ann", 30)]
        with pytest.raises(sqlite3.OperationalError, match="unknown function: rf_lower"):
            shell.execute(write)
        shell.execute("UPDATE people SET age = 31")
        shell.commit()
    with psycopg.connect(server.postgres_dsn) as connection:
        assert connection.execute("select * from people").fetchall() == [(1, "Ann", 31)]


def test_the_shell_writes_again_without_the_index(server: Rowferry) -> None:
    with contextlib.closing(sqlite3.connect(server.database)) as shell:
        shell.execute("DROP INDEX people_name")
        shell.execute("INSERT INTO people VALUES (2, 'ANN', 1)")
        shell.commit()
    with psycopg.connect(server.postgres_dsn, autocommit=True) as connection:
        with pytest.raises(psycopg.errors.UniqueViolation):
            connection.execute("create unique index people_name on people (lower(name))")


def test_rows_that_the_informix_door_writes_are_looked_at(server: Rowferry) -> None:
    assert server.informix is not None
    host, port = server.informix
    with informix.connect(host=host, port=port, database=server.dbname, autocommit=True) as connection:
        cursor = connection.cursor()
        with pytest.raises(informix.IntegrityError):
            cursor.execute("INSERT INTO people VALUES (2, 'ANN', 1)")
        cursor.execute("INSERT INTO people VALUES (2, 'Bob', 1)")
        with pytest.raises(informix.IntegrityError):
            cursor.execute("UPDATE people SET name = 'anN' WHERE id = 2")
        cursor.execute("DELETE FROM people WHERE id = 1")
        cursor.execute("UPDATE people SET name = 'anN' WHERE id = 2")
