"""Temporary tables: nobody waits for them, and ON COMMIT does what it says."""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
import pytest

from tests.servers.rowferry import Rowferry

Connection = psycopg.Connection[tuple[object, ...]]


@pytest.fixture
def pair(server: Rowferry) -> Iterator[tuple[Connection, Connection]]:
    """A session with an open transaction that has written, and another that gives up after ten seconds."""
    with (
        psycopg.connect(server.postgres_dsn, autocommit=True) as writer,
        psycopg.connect(server.postgres_dsn, autocommit=True) as other,
    ):
        writer.execute("create table kept (a int)")
        other.execute("set lock_timeout = '10s'")
        writer.execute("begin")
        writer.execute("insert into kept values (1)")
        yield writer, other
        writer.execute("rollback")
        other.execute("rollback")
        writer.execute("drop table kept")


def test_temporary_tables_wait_for_no_writer(pair: tuple[Connection, Connection]) -> None:
    _, other = pair
    other.execute("create temp table t (id serial primary key, a int unique)")
    other.execute("insert into t (a) select * from generate_series(1, 3)")
    other.execute("insert into t (a) select a + 10 from kept")
    other.execute("create index on t (a)")
    other.execute("alter table t add b text default 'x'")
    other.execute("create temp table u as select * from t")
    assert other.execute("select id, a, b from u order by id").fetchall() == [(1, 1, "x"), (2, 2, "x"), (3, 3, "x")]
    other.execute("begin")
    other.execute("create temp table v (a int)")
    other.execute("savepoint s")
    other.execute("insert into v values (1)")
    other.execute("rollback to s")
    other.execute("insert into v values (2)")
    other.execute("update t set b = 'y' where a = 2")
    other.execute("delete from t where a = 1")
    other.execute("truncate u")
    assert other.execute("select a from v union all select a from t order by 1").fetchall() == [(2,), (2,), (3,)]
    other.execute("commit")
    assert other.execute("select b from t where a = 2").fetchall() == [("y",)]
    other.execute("begin")
    other.execute("insert into v values (3)")
    other.execute("rollback")
    assert other.execute("select a from v").fetchall() == [(2,)]
    other.execute("drop table t, u, v")


def test_a_transaction_sees_what_others_commit_also_after_it_has_changed_temporary_tables(
    pair: tuple[Connection, Connection],
) -> None:
    writer, other = pair
    other.execute("begin")
    other.execute("create temp table t (a int)")
    other.execute("insert into t values (1)")
    writer.execute("commit")
    writer.execute("begin")
    assert other.execute("select * from kept").fetchall() == [(1,)]
    other.execute("insert into kept values (2)")
    other.execute("commit")
    assert writer.execute("select a from kept order by a").fetchall() == [(1,), (2,)]
    other.execute("drop table t")


def test_a_snapshot_is_kept_over_changes_of_temporary_tables(pair: tuple[Connection, Connection]) -> None:
    writer, other = pair
    other.execute("begin isolation level repeatable read")
    other.execute("create temp table t as select * from kept")
    writer.execute("commit")
    writer.execute("begin")
    assert other.execute("select (select count(*) from kept), (select count(*) from t)").fetchall() == [(0, 0)]
    other.execute("commit")
    other.execute("drop table t")


def test_a_transaction_that_may_only_read_may_change_temporary_rows(server: Rowferry) -> None:
    with psycopg.connect(server.postgres_dsn, autocommit=True) as connection:
        connection.execute("create temp table t (a int)")
        connection.execute("begin read only")
        connection.execute("insert into t values (1)")
        with pytest.raises(psycopg.errors.ReadOnlySqlTransaction, match="cannot execute CREATE TABLE in a read-only"):
            connection.execute("create temp table u (a int)")
        connection.execute("rollback")
        connection.execute("begin read only")
        connection.execute("insert into t values (2)")
        connection.execute("commit")
        assert connection.execute("select a from t").fetchall() == [(2,)]


def test_on_commit_empties_and_drops(server: Rowferry) -> None:
    with psycopg.connect(server.postgres_dsn, autocommit=True) as connection:
        connection.execute("create temp table d (a int) on commit delete rows")
        connection.execute("insert into d values (1)")
        assert connection.execute("select * from d").fetchall() == []
        connection.execute("begin")
        connection.execute("insert into d values (1)")
        connection.execute("create temp table x (a) on commit drop as select 7")
        assert connection.execute("select d.a, x.a from d, x").fetchall() == [(1, 7)]
        connection.execute("commit")
        assert connection.execute("select * from d").fetchall() == []
        with pytest.raises(psycopg.errors.UndefinedTable):
            connection.execute("select * from x")
        connection.execute("create temp table x (a int) on commit drop")
        with pytest.raises(psycopg.errors.UndefinedTable):
            connection.execute("select * from x")
        message = "ON COMMIT can only be used on temporary tables"
        with pytest.raises(psycopg.errors.InvalidTableDefinition, match=message):
            connection.execute("create table y (a int) on commit drop")
        connection.execute("create temp sequence s")
        assert connection.execute("select nextval('s')").fetchall() == [(1,)]
        connection.execute("discard temp")
        with pytest.raises(psycopg.errors.UndefinedTable):
            connection.execute("select * from d")
        with pytest.raises(psycopg.errors.UndefinedTable):
            connection.execute("select nextval('s')")
