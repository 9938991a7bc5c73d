"""Locks at the Informix door: LOCK TABLE, rows of FOR UPDATE, SET LOCK MODE; by the same manager as PostgreSQL's."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from rowferry import informix

from tests.servers.rowferry import Rowferry


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    path = tmp_path_factory.mktemp("locks") / "app.db"
    with Rowferry.start(path, informix=True, args=["--durability", "off"]) as server:
        host, port = server.informix or ("", 0)
        yield f"informix://ada@{host}:{port}/{server.dbname}"


@pytest.fixture
def two(served: str) -> Iterator[tuple[Any, Any]]:
    """Two connections, of which the second does not wait for locks."""
    with informix.connect(served, autocommit=True) as one, informix.connect(served, autocommit=True) as other:
        for table in ("stock", "notes"):
            one.execute(f"drop table if exists {table}")
            one.execute(f"create table {table} (id integer primary key, quantity integer)")
            one.execute(f"insert into {table} values (1, 10)")
            one.execute(f"insert into {table} values (2, 20)")
        other.execute("set lock mode to not wait")
        yield one, other


def code(connection: Any, sql: str) -> tuple[int, int]:
    """The SQL and ISAM codes with which a statement fails."""
    with pytest.raises(informix.Error) as caught:
        connection.execute(sql).fetchall()
    return caught.value.sqlcode, caught.value.isamcode


def test_lock_table_needs_a_transaction_and_keeps_nothing(two: tuple[Any, Any]) -> None:
    one, other = two
    assert code(one, "lock table stock in exclusive mode")[0] == -255
    one.execute("begin work")
    one.execute("update stock set quantity = 11 where id = 1")
    one.execute("commit work")
    other.execute("begin work")
    other.execute("insert into stock values (3, 30)")
    other.execute("rollback work")


def test_lock_table_concerns_its_table(two: tuple[Any, Any]) -> None:
    one, other = two
    one.execute("begin work")
    one.execute("lock table stock in exclusive mode")
    assert other.execute("select count(*) from stock").fetchall() == [(2,)]
    assert code(other, "update stock set quantity = 0") == (-289, -107)
    other.execute("update notes set quantity = 0")
    other.execute("begin work")
    assert code(other, "lock table stock in share mode") == (-289, -107)
    other.execute("rollback work")
    one.execute("commit work")
    other.execute("update stock set quantity = 0")


def test_a_locked_row_is_an_error_or_a_wait(two: tuple[Any, Any]) -> None:
    one, other = two
    one.execute("begin work")
    one.execute("select quantity from stock where id = 1 for update").fetchall()
    other.execute("update notes set quantity = 0")
    assert code(other, "update stock set quantity = 0 where id = 1") == (-244, -107)
    other.execute("update stock set quantity = 0 where id = 2")
    other.execute("begin work")
    assert code(other, "select id from stock where id = 1 for update") == (-244, -107)
    other.execute("set lock mode to wait 1")
    assert code(other, "select id from stock where id = 1 for update") == (-244, -154)
    one.execute("rollback work")
    assert other.execute("select id from stock where id = 1 for update").fetchall() == [(1,)]
    other.execute("rollback work")


def test_who_has_only_read_keeps_nobody_out(two: tuple[Any, Any]) -> None:
    one, other = two
    one.execute("begin work")
    assert one.execute("select count(*) from stock").fetchall() == [(2,)]
    other.execute("alter table stock add (more integer)")
    one.execute("commit work")
