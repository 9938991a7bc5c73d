"""What is counted of tables, indexes and databases, where PostgreSQL's planner or clock decide what it would answer."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any

import psycopg
import pytest

from tests.servers.rowferry import Rowferry

from .conftest import wait_until

SCANS = """select seq_scan, seq_tup_read, idx_scan, idx_tup_fetch, n_tup_ins, n_tup_upd, n_tup_del
           from pg_stat_user_tables where relname = %s"""


@pytest.fixture
def connection(start: Callable[..., Rowferry]) -> Iterator[psycopg.Connection]:
    server = start("--durability", "off")
    with psycopg.connect(server.postgres_dsn, autocommit=True) as connection:
        connection.execute("create table t (a integer primary key, b text unique, c integer)")
        connection.execute("create index t_c on t (c)")
        connection.execute("insert into t select g, 'x' || g, g % 10 from generate_series(1, 100) g")
        yield connection


def one(connection: psycopg.Connection, query: str, *params: object) -> tuple[Any, ...]:
    row = connection.execute(query, params).fetchone()  # type: ignore[arg-type]
    assert row is not None
    return row


def test_scans_are_those_of_the_plan(connection: psycopg.Connection) -> None:
    for _ in range(3):
        connection.execute("select * from t where a + 0 = 5").fetchall()
    for key in range(1, 8):
        connection.execute("select b from t where a = %s", [key]).fetchall()
    connection.execute("select a from t where b = 'x5'").fetchall()
    connection.execute("update t set b = 'y' where c = 3 and a = 3")
    connection.execute("delete from t where a = 4")
    assert one(connection, SCANS, "t") == (3, 300, 10, None, 100, 1, 1)
    indexes = connection.execute(
        "select indexrelname, idx_scan, idx_tup_read from pg_stat_user_indexes where relname = 't' order by 1"
    )
    assert indexes.fetchall() == [("t_b_key", 1, None), ("t_c", 0, 0), ("t_pkey", 9, None)]


def test_a_scan_that_stops_early_has_read_what_it_has_read(connection: psycopg.Connection) -> None:
    connection.execute("select * from t limit 7").fetchall()
    assert one(connection, SCANS, "t")[:2] == (1, 7)


def test_steps_of_two_scans_are_nobodys(connection: psycopg.Connection) -> None:
    connection.execute("create table u as select a from t")
    connection.execute("select pg_stat_reset()")
    connection.execute("select * from t, u where t.c + 0 = 1 and u.a + 0 = 1").fetchall()
    assert one(connection, SCANS, "t")[:2] == (1, 0)
    assert one(connection, SCANS, "u")[:2] == (1, 0)


def test_others_see_what_a_session_has_done(connection: psycopg.Connection) -> None:
    dsn = connection.info.dsn
    with psycopg.connect(dsn, autocommit=True) as other:
        other.execute("select count(b || c) from t where a + 0 > 1").fetchall()
        other.execute("insert into t values (1000, 'of the other')")
        assert one(connection, SCANS, "t") == (1, 100, 0, 0, 101, 0, 0)
        other.execute("begin")
        other.execute("insert into t values (1001, 'not yet')")
        assert one(connection, SCANS, "t")[4] == 101
        other.execute("commit")
        assert one(connection, SCANS, "t")[4] == 102
        other.execute("select count(b || c) from t where a + 0 > 1").fetchall()
    # What a session leaves is there when it is gone.
    wait_until(lambda: one(connection, "select count(*) from pg_stat_activity") == (1,), "the other session is over")
    assert one(connection, SCANS, "t") == (2, 202, 0, 0, 102, 0, 0)


def test_more_statements_than_a_session_keeps(connection: psycopg.Connection) -> None:
    connection.execute("set plan_cache_mode = force_custom_plan")
    for number in range(700):
        connection.execute(f"select {number}, t.* from t where a + 0 = {number}").fetchall()  # type: ignore[arg-type]
    assert one(connection, SCANS, "t")[:2] == (700, 70_000)


def test_a_change_that_had_to_wait_is_counted_once(connection: psycopg.Connection) -> None:
    with psycopg.connect(connection.info.dsn) as holder:
        holder.execute("select * from t where a = 5 for update").fetchall()
        done = threading.Event()

        def change() -> None:
            with psycopg.connect(connection.info.dsn, autocommit=True) as waiter:
                waiter.execute("update t set c = 99 where a between 1 and 9")
            done.set()

        thread = threading.Thread(target=change)
        thread.start()
        wait_until(
            lambda: one(connection, "select count(*) from pg_stat_activity where wait_event_type = 'Lock'") == (1,),
            "the change waits",
        )
        holder.commit()
        thread.join()
    assert one(connection, SCANS, "t")[4:] == (100, 9, 0)


def test_transactions_and_times_of_a_database(start: Callable[..., Rowferry]) -> None:
    counts = """select xact_commit, xact_rollback, sessions, numbackends, blks_hit > 0, active_time >= 100,
                idle_in_transaction_time < 100, session_time > 100
                from pg_stat_database where datname = current_database()"""
    server = start("--durability", "off")
    with psycopg.connect(server.postgres_dsn, autocommit=True) as connection:
        connection.execute("create table t (a integer)")
        connection.execute("insert into t values (1)")
        connection.execute("select * from t").fetchall()
        with pytest.raises(psycopg.errors.UndefinedTable):
            connection.execute("select * from nowhere")
        with pytest.raises(psycopg.errors.DivisionByZero):
            connection.execute("select 1 / a from (values (0)) v(a)")
        connection.execute("begin")
        connection.execute("insert into t values (2)")
        connection.execute("insert into t values (3)")
        connection.execute("commit")
        connection.execute("begin")
        connection.execute("rollback")
        connection.execute("select pg_sleep(0.15)")
        assert one(connection, counts) == (5, 3, 1, 1, True, True, True, True)


def test_deadlocks_are_counted(connection: psycopg.Connection) -> None:
    connection.execute("set deadlock_timeout = '10ms'")
    with psycopg.connect(connection.info.dsn) as other:
        connection.execute("begin")
        connection.execute("select pg_advisory_xact_lock(1)")
        other.execute("select pg_advisory_xact_lock(2)")

        def cross() -> None:
            try:
                other.execute("select pg_advisory_xact_lock(1)")
            except psycopg.errors.DeadlockDetected:
                pass

        thread = threading.Thread(target=cross)
        thread.start()
        try:
            connection.execute("select pg_advisory_xact_lock(2)")
        except psycopg.errors.DeadlockDetected:
            pass
        connection.execute("rollback")
        thread.join()
    assert one(connection, "select deadlocks from pg_stat_database where datname = current_database()") == (1,)


def test_counting_can_be_switched_off(connection: psycopg.Connection) -> None:
    connection.execute("select pg_stat_reset()")
    connection.execute("set track_counts = off")
    connection.execute("insert into t values (500)")
    connection.execute("select * from t").fetchall()
    connection.execute("reset track_counts")
    assert one(connection, SCANS, "t") == (0, 0, 0, 0, 0, 0, 0)
    connection.execute("insert into t values (501)")
    assert one(connection, SCANS, "t")[4] == 1


def test_scans_of_the_open_transaction(connection: psycopg.Connection) -> None:
    asked = "select seq_scan, seq_tup_read, idx_scan from pg_stat_xact_user_tables where relname = 't'"
    connection.execute("select * from t").fetchall()
    assert one(connection, asked) == (0, 0, 0)
    connection.execute("select * from t").fetchall()
    connection.execute("begin")
    assert one(connection, asked) == (0, 0, 0)
    connection.execute("select * from t").fetchall()
    connection.execute("select * from t where a = 1").fetchall()
    assert one(connection, asked) == (1, 100, 1)
    connection.execute("commit")
    assert one(connection, asked) == (0, 0, 0)
    assert one(connection, SCANS, "t")[:3] == (3, 300, 1)


def told(connection: psycopg.Connection, like: str) -> list[tuple[Any, ...]]:
    """Statements that `pg_stat_statements` tells of: text, calls, rows."""
    query = """select query, calls, rows from pg_stat_statements
               where query like %s and query not like '%%pg_stat%%' order by query collate "C" """
    return connection.execute(query, [like]).fetchall()


def test_texts_that_share_a_plan_are_one_statement(connection: psycopg.Connection) -> None:
    connection.execute("create extension pg_stat_statements")
    simple = psycopg.ClientCursor(connection)
    for key in range(1, 6):
        simple.execute("select 'word', b from t where a = %s and c < %s", [key, 7]).fetchall()
    for key in range(1, 4):
        connection.execute("select b from t where a = %s", [key]).fetchall()
    assert told(connection, "%from t where%") == [
        ("select $1, b from t where a = $2 and c < $3", 5, 5),
        ("select b from t where a = $1", 3, 3),
    ]
    ids = "select count(distinct queryid) from pg_stat_statements where query like %s"
    assert one(connection, ids, "%from t where%") == (2,)


def test_portals_are_timed_while_they_are_asked(connection: psycopg.Connection) -> None:
    connection.execute("create extension pg_stat_statements")
    with connection.transaction():
        with psycopg.ServerCursor(connection, "rows") as cursor:
            cursor.execute("select b from t")
            cursor.fetchmany(3)
            connection.execute("select pg_sleep(0.2)")
            cursor.fetchmany(4)
    times = "select calls, rows, {} from pg_stat_statements where query like %s"
    assert one(connection, times.format("total_exec_time < 100"), "FETCH FORWARD 3 %") == (1, 3, True)
    assert one(connection, times.format("mean_exec_time >= 200"), "select pg_sleep($1)") == (1, 1, True)


def test_statements_of_the_pages_cache(connection: psycopg.Connection) -> None:
    connection.execute("create extension pg_stat_statements")
    connection.execute("insert into t select g, 'z' || g from generate_series(1000, 3000) g")
    connection.execute("select * from t").fetchall()
    pages = """select shared_blks_hit > 0, shared_blks_written > 10, wal_records = shared_blks_written,
                      wal_bytes > 40000
               from pg_stat_statements where query like %s"""
    assert one(connection, pages, "insert into t%") == (True, True, True, True)
    assert one(connection, pages, "select * from t")[:3] == (True, False, True)


def test_progress_of_a_copy(connection: psycopg.Connection) -> None:
    progress = """select relid::regclass::text, command, type, bytes_processed, bytes_total,
                         tuples_processed, tuples_excluded
                  from pg_stat_progress_copy"""
    assert connection.execute(progress).fetchall() == []
    with psycopg.connect(connection.info.dsn, autocommit=True) as other:
        other.pgconn.exec_(b"copy t from stdin where a > 1002")
        other.pgconn.put_copy_data(b"1001\tx\t1\n1002\ty\t2\n1003\tz\t3\n")
        other.pgconn.put_copy_data(b"1004\tw\t")
        other.pgconn.flush()
        wait_until(lambda: one(connection, progress)[3:4] == (34,), "its data have come")
        assert one(connection, progress) == ("t", "COPY FROM", "PIPE", 34, 0, 1, 2)
        other.pgconn.put_copy_data(b"4\n")
        other.pgconn.put_copy_end()
        while other.pgconn.get_result() is not None:
            pass
        assert connection.execute(progress).fetchall() == []
