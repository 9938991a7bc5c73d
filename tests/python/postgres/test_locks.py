"""Locks by object: tables, rows, advisory keys; who waits for whom, and what ends a wait.

What is expected here is what PostgreSQL 15 does with the same statements.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import psycopg
import pytest
from psycopg import errors

from tests.servers.rowferry import Rowferry

from .conftest import wait_until

Connect = Callable[..., psycopg.Connection[Any]]


@pytest.fixture
def connect(server: Rowferry) -> Iterator[Connect]:
    connections: list[psycopg.Connection[Any]] = []

    def connect() -> psycopg.Connection[Any]:
        connections.append(psycopg.connect(server.postgres_dsn, autocommit=True))
        return connections[-1]

    yield connect
    for connection in connections:
        connection.close()


@pytest.fixture
def jobs(connect: Connect) -> psycopg.Connection[Any]:
    connection = connect()
    connection.execute("drop table if exists jobs cascade; drop table if exists other")
    connection.execute("create table jobs (id int primary key, state text not null default 'new', key int unique)")
    connection.execute("create table other (id int primary key)")
    connection.execute("insert into jobs select g, 'new', g from generate_series(1, 5) g")
    return connection


@pytest.fixture
def background() -> Iterator[Callable[..., Future[Any]]]:
    """Run a statement on a connection in a thread of its own; the future has its rows or its error."""
    with ThreadPoolExecutor(8) as pool:

        def run(connection: psycopg.Connection[Any], sql: str) -> Future[Any]:
            def rows() -> Any:
                cursor = connection.execute(sql)  # type: ignore[call-overload]
                return cursor.fetchall() if cursor.description else cursor.rowcount

            return pool.submit(rows)

        yield run


def is_blocked(connection: psycopg.Connection[Any], other: psycopg.Connection[Any]) -> bool:
    row = connection.execute("select pg_blocking_pids(%s)", (other.info.backend_pid,)).fetchone()
    return bool(row and row[0])


def rows(connection: psycopg.Connection[Any], sql: str) -> list[Any]:
    return connection.execute(sql).fetchall()  # type: ignore[call-overload]


FIRST = "select id from jobs where state = 'new' order by id limit 1 for update"


def test_nowait_fails_and_skip_locked_goes_on(jobs: psycopg.Connection[Any], connect: Connect) -> None:
    other = connect()
    jobs.execute("begin")
    assert rows(jobs, FIRST) == [(1,)]
    with pytest.raises(errors.LockNotAvailable, match='could not obtain lock on row in relation "jobs"'):
        other.execute(FIRST + " nowait")
    assert rows(other, FIRST + " skip locked") == [(2,)]
    assert rows(other, "select id from jobs order by id desc offset 3 for share skip locked") == [(2,)]
    # What only reads does not wait, nor does another table's writer.
    assert rows(other, "select count(*) from jobs") == [(5,)]
    other.execute("insert into other values (1)")
    other.execute("set lock_timeout = '50ms'")
    for sql in (
        FIRST,
        "update jobs set state = 'x' where id = 1",
        "delete from jobs",
        "select 1 from jobs for key share",
    ):
        with pytest.raises(errors.LockNotAvailable, match="canceling statement due to lock timeout"):
            other.execute(sql)
    assert other.execute("update jobs set state = 'x' where id = 2").rowcount == 1
    jobs.execute("commit")
    assert other.execute("update jobs set state = 'x' where id = 1").rowcount == 1


def test_a_subquery_skips_what_others_have_locked(jobs: psycopg.Connection[Any], connect: Connect) -> None:
    other = connect()
    jobs.execute("begin")
    jobs.execute(FIRST)
    taken = "update jobs set state = 'taken' where id = (select id from jobs where state = 'new' order by id limit 1 \
             for update skip locked) returning id"
    assert rows(other, taken) == [(2,)]
    assert rows(other, taken) == [(3,)]
    jobs.execute("rollback")
    assert rows(other, taken) == [(1,)]


def test_changed_rows_are_locked_though_their_changes_cannot_be_seen(
    jobs: psycopg.Connection[Any], connect: Connect
) -> None:
    other = connect()
    jobs.execute("begin")
    jobs.execute("update jobs set state = 'x' where id < 3")
    jobs.execute("delete from jobs where id = 4")
    assert rows(other, "select id from jobs order by id for update skip locked") == [(3,), (5,)]
    # A change of what is no key leaves FOR KEY SHARE its row.
    assert rows(other, "select id from jobs order by id for key share skip locked") == [(1,), (2,), (3,), (5,)]
    jobs.execute("update jobs set key = 10 where id = 1")
    assert rows(other, "select id from jobs order by id for key share skip locked") == [(2,), (3,), (5,)]
    jobs.execute("rollback")
    assert len(rows(other, "select id from jobs for update nowait")) == 5


def test_after_a_wait_the_row_is_read_again(
    jobs: psycopg.Connection[Any], connect: Connect, background: Callable[..., Future[Any]]
) -> None:
    other = connect()
    jobs.execute("begin")
    jobs.execute("update jobs set state = 'done' where id = 1")
    waiting = background(other, "select id, state from jobs where id < 3 and state = 'new' order by id for update")
    wait_until(lambda: is_blocked(jobs, other), "the other waits")
    jobs.execute("commit")
    assert waiting.result(20) == [(2, "new")]


def test_an_update_that_waited_sees_what_was_committed(
    jobs: psycopg.Connection[Any], connect: Connect, background: Callable[..., Future[Any]]
) -> None:
    other = connect()
    jobs.execute("begin")
    jobs.execute("select 1 from jobs where id = 1 for update")
    waiting = background(other, "update jobs set key = key + 100 where id = 1")
    wait_until(lambda: is_blocked(jobs, other), "the other waits")
    # Whoever waits for a row has given the write lock up meanwhile.
    jobs.execute("update jobs set key = 50 where id = 1")
    jobs.execute("commit")
    assert waiting.result(20) == 1
    assert rows(jobs, "select key from jobs where id = 1") == [(150,)]


def test_repeatable_read_does_not_lock_what_has_changed_since(jobs: psycopg.Connection[Any], connect: Connect) -> None:
    other = connect()
    jobs.execute("begin isolation level repeatable read")
    jobs.execute("select * from jobs")
    other.execute("update jobs set state = 'x' where id = 1")
    with pytest.raises(errors.SerializationFailure, match="could not serialize access due to concurrent update"):
        jobs.execute("select 1 from jobs where id = 1 for update")
    jobs.execute("rollback")


@pytest.mark.parametrize(
    ("sql", "state", "message"),
    [
        ("select 1 for update of x", "42P01", 'relation "x" in FOR UPDATE clause not found in FROM clause'),
        ("select distinct state from jobs for share", "0A000", "FOR SHARE is not allowed with DISTINCT clause"),
        ("select count(*) from jobs for update", "0A000", "FOR UPDATE is not allowed with aggregate functions"),
        ("select id from jobs group by id for update", "0A000", "FOR UPDATE is not allowed with GROUP BY clause"),
        (
            "select 1 from jobs union select 2 for no key update",
            "0A000",
            "FOR NO KEY UPDATE is not allowed with UNION/INTERSECT/EXCEPT",
        ),
        (
            "select 1 from jobs left join other o using (id) for update",
            "0A000",
            "FOR UPDATE cannot be applied to the nullable side of an outer join",
        ),
        ("lock table jobs", "25P01", "LOCK TABLE can only be used in transaction blocks"),
    ],
)
def test_what_cannot_be_locked(jobs: psycopg.Connection[Any], sql: str, state: str, message: str) -> None:
    with pytest.raises(psycopg.Error) as caught:
        jobs.execute(sql)  # type: ignore[call-overload]
    assert caught.value.sqlstate == state
    assert caught.value.diag.message_primary == message


def test_rows_of_views_and_subqueries_are_locked(jobs: psycopg.Connection[Any], connect: Connect) -> None:
    other = connect()
    jobs.execute("create or replace view new_jobs as select id, state from jobs where state = 'new'")
    jobs.execute("begin")
    assert rows(jobs, "select id from new_jobs where id = 1 for update") == [(1,)]
    assert rows(jobs, "select s.id from (select id from jobs) s where id = 2 for update") == [(2,)]
    assert rows(jobs, "select j.id from jobs j join other o on true for update of j") == []
    assert (1,) not in rows(other, "select id from jobs order by id for update skip locked")
    jobs.execute("rollback")


def test_lock_table(jobs: psycopg.Connection[Any], connect: Connect) -> None:
    other = connect()
    other.execute("set lock_timeout = '50ms'")
    jobs.execute("begin")
    jobs.execute("lock table jobs in share mode")
    assert rows(other, "select count(*) from jobs") == [(5,)]
    with pytest.raises(errors.LockNotAvailable):
        other.execute("insert into jobs (id) values (6)")
    with pytest.raises(errors.LockNotAvailable):
        other.execute("drop table jobs")
    other.execute("insert into other values (1)")
    other.execute("begin")
    with pytest.raises(errors.LockNotAvailable, match='could not obtain lock on relation "jobs"'):
        other.execute("lock table jobs in row exclusive mode nowait")
    other.execute("rollback")
    jobs.execute("commit")
    # It was a promise for the transaction: nothing is kept.
    other.execute("insert into jobs (id) values (6)")
    jobs.execute("begin; lock table jobs")
    with pytest.raises(errors.LockNotAvailable):
        other.execute("select * from jobs")
    jobs.execute("rollback")


def test_a_reader_in_a_transaction_keeps_ddl_out(jobs: psycopg.Connection[Any], connect: Connect) -> None:
    other = connect()
    other.execute("set lock_timeout = '50ms'")
    jobs.execute("begin")
    jobs.execute("select * from jobs")
    for sql in ("alter table jobs add column x int", "drop table jobs", "truncate jobs"):
        with pytest.raises(errors.LockNotAvailable):
            other.execute(sql)  # type: ignore[call-overload]
    jobs.execute("commit")
    other.execute("alter table jobs add column x int")


def test_what_a_savepoint_locked_is_free_behind_it(jobs: psycopg.Connection[Any], connect: Connect) -> None:
    other = connect()
    jobs.execute("begin")
    jobs.execute("select 1 from jobs where id = 1 for update")
    jobs.execute("savepoint a")
    jobs.execute("select 1 from jobs where id = 2 for update")
    jobs.execute("rollback to a")
    assert rows(other, "select id from jobs order by id limit 2 for update skip locked") == [(2,), (3,)]
    jobs.execute("rollback")


def test_an_error_frees_what_its_transaction_has_locked(jobs: psycopg.Connection[Any], connect: Connect) -> None:
    other = connect()
    jobs.execute("begin")
    jobs.execute("update jobs set state = 'x'")
    with pytest.raises(errors.DivisionByZero):
        jobs.execute("select 1 / 0")
    assert other.execute("update jobs set state = 'y'").rowcount == 5
    jobs.execute("rollback")


def test_a_deadlock_is_found(
    jobs: psycopg.Connection[Any], connect: Connect, background: Callable[..., Future[Any]]
) -> None:
    other = connect()
    for connection in (jobs, other):
        connection.execute("set deadlock_timeout = '50ms'")
        connection.execute("begin")
    jobs.execute("select 1 from jobs where id = 1 for update")
    other.execute("select 1 from jobs where id = 2 for update")
    waiting = [
        background(jobs, "select 1 from jobs where id = 2 for update"),
        background(other, "select 1 from jobs where id = 1 for update"),
    ]
    found = [future.exception(20) for future in waiting]
    victims = [error for error in found if error]
    assert len(victims) == 1
    error = victims[0]
    assert isinstance(error, errors.DeadlockDetected)
    pids = {jobs.info.backend_pid, other.info.backend_pid}
    detail = error.diag.message_detail or ""
    assert all(f"Process {pid} waits for ShareLock on transaction " in detail for pid in pids)
    for connection in (jobs, other):
        connection.execute("rollback")


def test_a_deadlock_with_the_write_lock_is_found(
    jobs: psycopg.Connection[Any], connect: Connect, background: Callable[..., Future[Any]]
) -> None:
    other = connect()
    for connection in (jobs, other):
        connection.execute("set deadlock_timeout = '50ms'")
        connection.execute("begin")
    jobs.execute("select pg_advisory_xact_lock(77)")
    other.execute("insert into other values (5)")
    waiting = [background(other, "select pg_advisory_xact_lock(77)"), background(jobs, "update jobs set state = 'x'")]
    assert sum(isinstance(future.exception(20), errors.DeadlockDetected) for future in waiting) == 1
    for connection in (jobs, other):
        connection.execute("rollback")


def test_advisory_locks(jobs: psycopg.Connection[Any], connect: Connect) -> None:
    other = connect()
    notices: list[str] = []
    jobs.add_notice_handler(lambda notice: notices.append(f"{notice.severity} {notice.message_primary}"))
    assert rows(jobs, "select pg_try_advisory_lock(1), pg_try_advisory_lock(0, 1), pg_try_advisory_lock_shared(2)") == [
        (True, True, True)
    ]
    assert rows(
        other,
        "select pg_try_advisory_lock(1), pg_try_advisory_lock(0, 1), pg_try_advisory_lock_shared(2),"
        " pg_try_advisory_lock(2), pg_try_advisory_lock(4294967297)",
    ) == [(False, False, True, False, True)]
    found = rows(
        jobs,
        f"select classid, objid, objsubid, mode, granted from pg_locks where locktype = 'advisory'"
        f" and pid = {jobs.info.backend_pid} order by 2, 3",
    )
    assert found == [
        (0, 1, 1, "ExclusiveLock", True),
        (0, 1, 2, "ExclusiveLock", True),
        (0, 2, 1, "ShareLock", True),
    ]
    assert rows(jobs, "select pg_advisory_unlock(1), pg_advisory_unlock(1), pg_advisory_unlock_shared(9)") == [
        (True, False, False)
    ]
    assert notices == [
        "WARNING you don't own a lock of type ExclusiveLock",
        "WARNING you don't own a lock of type ShareLock",
    ]
    jobs.execute("begin; select pg_advisory_xact_lock(8)")
    assert rows(other, "select pg_try_advisory_xact_lock(8)") == [(False,)]
    jobs.execute("commit")
    assert rows(other, "select pg_try_advisory_xact_lock(8), pg_try_advisory_lock(1)") == [(True, True)]
    # Outside a transaction a transaction's lock goes with its statement.
    assert rows(jobs, "select pg_try_advisory_xact_lock(8)") == [(True,)]
    jobs.execute("select pg_advisory_unlock_all()")
    assert rows(other, "select pg_try_advisory_lock(0, 1)") == [(True,)]
    other.close()
    wait_until(lambda: rows(jobs, "select pg_try_advisory_lock(1)") == [(True,)], "the session's locks are free")


def test_transactions_have_numbers_of_their_own(jobs: psycopg.Connection[Any]) -> None:
    one, two = (rows(jobs, "select txid_current()")[0][0] for _ in range(2))
    assert two > one
    jobs.execute("begin")
    assert rows(jobs, "select txid_current_if_assigned()") == [(None,)]
    three = int(rows(jobs, "select pg_current_xact_id()")[0][0])
    assert three > two and rows(jobs, "select txid_current()") == [(three,)]
    assert rows(jobs, f"select txid_status({three})") == [("in progress",)]
    jobs.execute("rollback")
    assert rows(jobs, f"select txid_status({three}), txid_status({two})") == [("aborted", "committed")]
    with pytest.raises(errors.InvalidParameterValue, match=r"transaction ID \d+ is in the future"):
        jobs.execute(f"select txid_status({three + 1000})")  # type: ignore[call-overload]


def test_an_idle_holder_can_be_ended(jobs: psycopg.Connection[Any], connect: Connect) -> None:
    other = connect()
    other.execute("begin")
    other.execute("update jobs set state = 'x'")
    assert rows(jobs, f"select pg_terminate_backend({other.info.backend_pid}, 20000)") == [(True,)]
    assert jobs.execute("update jobs set state = 'y' where state = 'new'").rowcount == 5
    with pytest.raises(errors.AdminShutdown, match="terminating connection due to administrator command"):
        other.execute("select 1")
    assert other.closed
    notices: list[str] = []
    jobs.add_notice_handler(lambda notice: notices.append(str(notice.message_primary)))
    assert rows(jobs, "select pg_terminate_backend(999999), pg_cancel_backend(999999)") == [(False, False)]
    assert notices == ["PID 999999 is not a PostgreSQL backend process"] * 2


def test_a_waiting_session_can_be_cancelled_and_ended(
    jobs: psycopg.Connection[Any], connect: Connect, background: Callable[..., Future[Any]]
) -> None:
    other = connect()
    jobs.execute("begin")
    jobs.execute("select 1 from jobs for update")
    pid = other.info.backend_pid
    waiting = background(other, "update jobs set state = 'x'")
    wait_until(lambda: is_blocked(jobs, other), "the other waits")
    assert rows(jobs, f"select wait_event_type, wait_event, state from pg_stat_activity where pid = {pid}") == [
        ("Lock", "transactionid", "active")
    ]
    jobs.execute(f"select pg_cancel_backend({pid})")  # type: ignore[call-overload]
    assert isinstance(waiting.exception(20), errors.QueryCanceled)
    waiting = background(other, "select 1 from jobs for update")
    wait_until(lambda: is_blocked(jobs, other), "the other waits")
    jobs.execute(f"select pg_terminate_backend({pid})")  # type: ignore[call-overload]
    assert isinstance(waiting.exception(20), errors.AdminShutdown)
    jobs.execute("rollback")


@pytest.mark.parametrize(
    ("setting", "transaction", "error"),
    [
        ("idle_in_transaction_session_timeout", True, errors.IdleInTransactionSessionTimeout),
        ("idle_session_timeout", False, errors.IdleSessionTimeout),
        ("transaction_timeout", True, errors.TransactionTimeout),
    ],
)
def test_silence_has_an_end(
    jobs: psycopg.Connection[Any], connect: Connect, setting: str, transaction: bool, error: type[psycopg.Error]
) -> None:
    other = connect()
    other.execute(f"set {setting} = '100ms'")  # type: ignore[call-overload]
    if transaction:
        other.execute("begin")
        other.execute("update jobs set state = 'x'")
    pid = other.info.backend_pid
    gone = f"select 1 from pg_stat_activity where pid = {pid}"
    wait_until(lambda: not rows(jobs, gone), "the session ends")
    assert jobs.execute("update jobs set state = 'y' where state = 'new'").rowcount == 5
    with pytest.raises(error):
        other.execute("select 1")


def test_a_transaction_that_takes_too_long_is_ended_amid_a_statement(connect: Connect) -> None:
    connection = connect()
    connection.execute("set transaction_timeout = '100ms'")
    with pytest.raises(errors.TransactionTimeout, match="terminating connection due to transaction timeout"):
        connection.execute("select pg_sleep(60)")
    assert connection.closed


def test_a_client_that_goes_away_amid_a_statement_frees_its_locks(
    jobs: psycopg.Connection[Any], connect: Connect
) -> None:
    other = connect()
    other.execute("set client_connection_check_interval = '50ms'")
    other.execute("begin")
    other.execute("update jobs set state = 'x'")
    pid = other.info.backend_pid
    other.pgconn.send_query(b"select pg_sleep(600)")
    busy = f"select 1 from pg_stat_activity where pid = {pid} and query like '%pg_sleep%' and state = 'active'"
    wait_until(lambda: rows(jobs, busy), "the statement runs")
    other.pgconn.finish()
    assert jobs.execute("update jobs set state = 'y' where state = 'new'").rowcount == 5


def test_sessions_that_come_go_and_crash_leave_nothing_locked(
    jobs: psycopg.Connection[Any], connect: Connect, server: Rowferry
) -> None:
    """Eight clients lock, change, deadlock and leave without goodbye; then everything is free."""
    import random

    def work(seed: int) -> None:
        chance = random.Random(seed)
        for _ in range(6):
            with psycopg.connect(server.postgres_dsn, autocommit=True) as connection:
                connection.execute("set lock_timeout = '100ms'; set deadlock_timeout = '20ms'")
                try:
                    connection.execute("begin")
                    for _ in range(3):
                        row = chance.randint(1, 5)
                        connection.execute(
                            chance.choice(
                                [
                                    f"select 1 from jobs where id = {row} for update",
                                    f"select 1 from jobs where id = {row} for share",
                                    f"update jobs set state = 'x{seed}' where id = {row}",
                                    f"select pg_advisory_lock({row})",
                                    "lock table other in exclusive mode",
                                    "select id from jobs for update skip locked",
                                ]
                            )
                        )
                    match chance.randint(0, 2):
                        case 0:
                            connection.execute("commit")
                        case 1:
                            connection.execute("rollback")
                        case _:
                            connection.pgconn.finish()
                except (errors.LockNotAvailable, errors.DeadlockDetected):
                    pass

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    others = f"select 1 from pg_stat_activity where pid <> {jobs.info.backend_pid}"
    wait_until(lambda: not rows(jobs, others), "all sessions are gone")
    assert rows(jobs, f"select * from pg_locks where pid <> {jobs.info.backend_pid}") == []
    assert len(rows(jobs, "select id from jobs for update nowait")) == 5
    jobs.execute("begin; lock table jobs nowait; lock table other nowait; update jobs set state = 'z'; commit")


def test_a_sequence_waits_for_no_writer(jobs: psycopg.Connection[Any], connect: Connect) -> None:
    other = connect()
    jobs.execute("drop sequence if exists numbers; create sequence numbers")
    jobs.execute("begin; insert into other values (1)")
    other.execute("set lock_timeout = '50ms'")
    assert rows(other, "select nextval('numbers')") == [(1,)]
    other.execute("begin isolation level repeatable read")
    assert rows(other, "select nextval('numbers'), count(*) from jobs") == [(2, 5)]
    other.execute("rollback")
    assert rows(jobs, "select nextval('numbers')") == [(3,)]
    jobs.execute("rollback")
    assert rows(other, "select nextval('numbers')") == [(4,)]
    other.execute("begin read only")
    with pytest.raises(errors.ReadOnlySqlTransaction, match=r"cannot execute nextval\(\) in a read-only transaction"):
        other.execute("select nextval('numbers')")
    other.execute("rollback")


def test_numbers_that_were_given_are_not_given_after_a_restart(start: Callable[..., Rowferry]) -> None:
    server = start()
    with psycopg.connect(server.postgres_dsn, autocommit=True) as one, psycopg.connect(server.postgres_dsn) as two:
        one.execute("create sequence numbers; create table t (n int)")
        two.execute("insert into t values (1)")
        assert rows(one, "select nextval('numbers')") == [(1,)]
        assert rows(two, "select nextval('numbers')") == [(2,)]
        two.rollback()
        assert rows(one, "select 1") == [(1,)]
        server.process.kill()
    again = start(database=server.database)
    with psycopg.connect(again.postgres_dsn) as one:
        assert rows(one, "select nextval('numbers')") == [(3,)]
