"""Materialised views: in the file, beside other sessions."""

from __future__ import annotations

import contextlib
import sqlite3
from pathlib import Path

import psycopg
import pytest

from tests.servers.rowferry import Rowferry

SCHEMA = """
create table sale (id int primary key, item text, price numeric(8,2));
insert into sale values (1, 'pen', 2), (2, 'pen', 3), (3, 'ink', 5);
create materialized view sums as select item, sum(price) as total from sale group by item;
create unique index sums_item on sums (item);
create materialized view later as select total from sums with no data;
"""
SUMS = [("ink", "5.00"), ("pen", "5.00")]


def start(path: Path) -> Rowferry:
    return Rowferry.start(path, args=["--durability", "off"])


def sums(dsn: str) -> list[tuple[str, ...]]:
    with psycopg.connect(dsn) as connection:
        return connection.execute("select item, total::text from sums order by 1").fetchall()


def test_the_file_has_a_table_of_the_rows(tmp_path: Path) -> None:
    path = tmp_path / "app.db"
    with start(path) as server, psycopg.connect(server.postgres_dsn, autocommit=True) as connection:
        connection.execute(SCHEMA)
    with contextlib.closing(sqlite3.connect(path)) as connection:
        assert connection.execute("select item, total + 0 from sums order by 1").fetchall() == [("ink", 5), ("pen", 5)]
    with start(path) as server, psycopg.connect(server.postgres_dsn, autocommit=True) as connection:
        assert sums(server.postgres_dsn) == SUMS
        with pytest.raises(psycopg.errors.ObjectNotInPrerequisiteState, match="has not been populated"):
            connection.execute("select * from later")
        connection.execute("insert into sale values (4, 'ink', 1); refresh materialized view sums")
        assert sums(server.postgres_dsn) == [("ink", "6.00"), ("pen", "5.00")]


def test_other_sessions_see_the_rows_of_the_last_commit(tmp_path: Path) -> None:
    with start(tmp_path / "app.db") as server:
        with (
            psycopg.connect(server.postgres_dsn, autocommit=True) as writer,
            psycopg.connect(server.postgres_dsn, autocommit=True) as reader,
        ):
            writer.execute(SCHEMA)
            ask = "select item, total::text from sums order by 1"
            assert reader.execute(ask, prepare=True).fetchall() == SUMS
            with writer.transaction():
                writer.execute("delete from sale where item = 'ink'")
                writer.execute("refresh materialized view concurrently sums")
                assert reader.execute(ask, prepare=True).fetchall() == SUMS
            assert reader.execute(ask, prepare=True).fetchall() == [("pen", "5.00")]
            writer.execute("refresh materialized view sums with no data")
            with pytest.raises(psycopg.errors.ObjectNotInPrerequisiteState):
                reader.execute(ask, prepare=True)
            writer.execute("refresh materialized view sums")
            assert reader.execute(ask, prepare=True).fetchall() == [("pen", "5.00")]
