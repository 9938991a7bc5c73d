"""Transactions as PostgreSQL means them, and what survives."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator
from typing import Any

import psycopg
import pytest

from tests.servers.rowferry import Rowferry

from .conftest import wait_until

Connection = psycopg.Connection[Any]


@pytest.fixture
def connect(server: Rowferry) -> Iterator[Callable[..., Connection]]:
    connections: list[Connection] = []

    def connect(**options: Any) -> Connection:
        connections.append(psycopg.connect(server.postgres_dsn, **options))
        return connections[-1]

    with psycopg.connect(server.postgres_dsn, autocommit=True) as setup:
        setup.execute("drop table if exists t")
        setup.execute("create table t (id integer primary key, name text not null unique, n integer check (n > 0))")
    yield connect
    for connection in connections:
        connection.close()


def ids(connection: Connection) -> list[int]:
    return [row[0] for row in connection.execute("select id from t order by id")]


def test_rollback_to_savepoint_keeps_what_was_before(connect: Callable[..., Connection]) -> None:
    connection = connect()
    with connection.transaction():
        connection.execute("insert into t values (50, 'a')")
        with pytest.raises(psycopg.errors.UniqueViolation), connection.transaction():
            connection.execute("insert into t values (51, 'b')")
            connection.execute("insert into t values (50, 'c')")
        connection.execute("insert into t values (52, 'd')")
    assert ids(connection) == [50, 52]


def test_savepoints_nest(connect: Callable[..., Connection]) -> None:
    connection = connect(autocommit=True)
    for sql in (
        "begin", "insert into t values (1, '1')", "savepoint a", "insert into t values (2, '2')", "savepoint b",
        "insert into t values (3, '3')", "rollback to b", "insert into t values (4, '4')", "release b",
        "rollback to a", "insert into t values (5, '5')", "commit",
    ):  # fmt: skip
        connection.execute(sql)
    assert ids(connection) == [1, 5]


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("insert 1; insert 2", [1, 2]),
        ("insert 1; select 1/0", []),
        ("begin; insert 1; commit; insert 2; select 1/0", [1]),
        ("begin; insert 1; rollback; insert 2; select 1/0", []),
        ("begin; insert 1; rollback; insert 2", [2]),
        ("insert 1; commit; insert 2; select 1/0", [1]),
        ("insert 1; rollback; insert 2", [2]),
        ("insert 1; begin; insert 2; rollback", []),
        ("insert 1; begin; insert 2; select 1/0; commit", []),
        ("insert 1; savepoint a; insert 2", []),
        ("insert 1; commit and chain; insert 2", []),
        ("insert 1; rollback and chain; insert 2", []),
        ("begin; insert 1; commit and chain; insert 2; rollback; insert 3; select 1/0", [1]),
        ("begin; insert 1; savepoint a; insert 2; rollback to a; commit", [1]),
        ("begin; begin; insert 1; commit; commit; insert 2", [1, 2]),
    ],
)
def test_a_text_of_several_statements(connect: Callable[..., Connection], text: str, kept: list[int]) -> None:
    connection = connect(autocommit=True)
    text = text.replace("insert ", "insert into t select i, i, 1 from (values (")
    statements = [part + ")) v(i)" if part.strip().startswith("insert") else part for part in text.split(";")]
    connection.pgconn.exec_(";".join(statements).encode())
    connection.pgconn.exec_(b"rollback")
    assert ids(connection) == kept


def test_what_set_config_set_outlives_a_later_error(connect: Callable[..., Connection]) -> None:
    connection = connect(autocommit=True)

    def name() -> str:
        return str(connection.execute("show application_name").fetchone()[0])  # type: ignore[index]

    connection.execute("select set_config('application_name', 'kept', false)")
    with pytest.raises(psycopg.errors.DivisionByZero):
        connection.execute("select 1 / 0")
    assert name() == "kept"
    with pytest.raises(psycopg.errors.DivisionByZero):
        connection.execute("select set_config('application_name', 'lost', false), 1 / (n - 1) from (values (1)) v(n)")
    assert name() == "kept"
    connection.execute("select set_config('application_name', 'brief', true)")
    assert name() == "kept"


def test_commit_of_a_failed_transaction_rolls_back(connect: Callable[..., Connection]) -> None:
    connection = connect(autocommit=True)
    connection.execute("begin")
    connection.execute("insert into t values (1, 'a')")
    with pytest.raises(psycopg.errors.UndefinedTable):
        connection.execute("select * from nowhere")
    with pytest.raises(psycopg.errors.InFailedSqlTransaction):
        connection.execute("select 1")
    assert connection.execute("commit").statusmessage == "ROLLBACK"
    assert ids(connection) == []


@pytest.mark.parametrize(
    ("sql", "error", "table", "column", "constraint"),
    [
        ("insert into t values (1, 'x')", psycopg.errors.UniqueViolation, "t", None, "t_pkey"),
        ("insert into t values (2, 'a')", psycopg.errors.UniqueViolation, "t", None, "t_name_key"),
        ("insert into t values (2, null)", psycopg.errors.NotNullViolation, "t", "name", None),
        ("insert into t values (2, 'b', 0)", psycopg.errors.CheckViolation, "t", None, "t_n_check"),
        ("select absent from t", psycopg.errors.UndefinedColumn, None, None, None),
        ("select 1/0", psycopg.errors.DivisionByZero, None, None, None),
        ("create table t (a int)", psycopg.errors.DuplicateTable, None, None, None),
        ("selec 1", psycopg.errors.SyntaxError, None, None, None),
    ],
)
def test_errors_have_their_class_and_their_fields(
    connect: Callable[..., Connection],
    sql: str,
    error: type[Exception],
    table: str | None,
    column: str | None,
    constraint: str | None,
) -> None:
    connection = connect(autocommit=True)
    connection.execute("insert into t values (1, 'a')")
    with pytest.raises(error) as failure:
        connection.execute(sql)  # type: ignore[arg-type]
    diagnosis = failure.value.diag  # type: ignore[attr-defined]
    assert (diagnosis.table_name, diagnosis.column_name, diagnosis.constraint_name) == (table, column, constraint)
    assert ids(connection) == [1]


def test_a_lost_client_is_rolled_back_and_its_lock_is_free(connect: Callable[..., Connection]) -> None:
    lost, other = connect(), connect(autocommit=True)
    lost.execute("insert into t values (1, 'a')")
    os.close(lost.fileno())
    other.execute("insert into t values (1, 'b')")
    assert ids(other) == [1]
    lost.pgconn.finish()


def test_a_second_writer_waits_its_turn(connect: Callable[..., Connection]) -> None:
    first, second = connect(), connect()
    first.execute("insert into t values (1, 'a')")
    done = threading.Event()

    def write() -> None:
        second.execute("insert into t values (2, 'b')")
        second.commit()
        done.set()

    writer = threading.Thread(target=write)
    writer.start()
    # Readers are not in its way, and it sees nothing of the other until that commits.
    assert ids(connect()) == []
    first.commit()
    assert done.wait(20)
    writer.join()
    assert ids(connect()) == [1, 2]


def test_pipelines_fail_as_a_whole(connect: Callable[..., Connection]) -> None:
    connection = connect(autocommit=True)
    with pytest.raises(psycopg.errors.UniqueViolation), connection.pipeline():
        connection.execute("insert into t values (%s, %s)", [1, "a"])
        connection.execute("insert into t values (%s, %s)", [1, "b"])
        connection.execute("insert into t values (%s, %s)", [2, "c"])
    assert ids(connection) == []
    with connection.pipeline():
        for number in range(100):
            connection.execute("insert into t values (%s, %s)", [number, str(number)])
    assert ids(connection) == list(range(100))


def test_executemany(connect: Callable[..., Connection]) -> None:
    connection = connect()
    with connection.cursor() as cursor:
        cursor.executemany("insert into t values (%s, %s)", [(n, str(n)) for n in range(1_000)])
        assert cursor.rowcount == 1_000
        sql = "insert into t (id, name) values (%s, %s) returning id"
        cursor.executemany(sql, [(n, str(n)) for n in range(2_000, 2_003)], returning=True)
        got = [cursor.fetchall()]
        while cursor.nextset():
            got.append(cursor.fetchall())
        assert got == [[(2_000,)], [(2_001,)], [(2_002,)]]
    connection.commit()
    assert len(ids(connection)) == 1_003


def test_no_acknowledged_transaction_is_lost_when_the_server_is_killed(start: Callable[..., Rowferry]) -> None:
    server = start("--durability", "full")
    with psycopg.connect(server.postgres_dsn, autocommit=True) as setup:
        setup.execute("create table acked (writer integer, n integer, primary key (writer, n))")
    acknowledged: dict[int, int] = {}
    for _ in range(3):

        def write(writer: int, server: Rowferry = server) -> None:
            try:
                with psycopg.connect(server.postgres_dsn, autocommit=writer == 0) as connection:
                    n = acknowledged.get(writer, 0)
                    while True:
                        n += 1
                        connection.execute("insert into acked values (%s, %s)", [writer, n])
                        if writer:
                            connection.commit()
                        acknowledged[writer] = n
            except psycopg.OperationalError:
                pass

        before = sum(acknowledged.values())
        writers = [threading.Thread(target=write, args=[writer]) for writer in range(3)]
        for thread in writers:
            thread.start()
        open_transaction = psycopg.connect(server.postgres_dsn)
        wait_until(lambda before=before: sum(acknowledged.values()) > before + 150, "acknowledged transactions")
        os.kill(server.pid, signal.SIGKILL)
        for thread in writers:
            thread.join(20)
            assert not thread.is_alive()
        open_transaction.close()
        server.process.kill()
        server = start("--durability", "full", database=server.database)
        with psycopg.connect(server.postgres_dsn, autocommit=True) as check:
            for writer, last in acknowledged.items():
                sql = "select count(*), max(n) from acked where writer = %s"
                count, highest = check.execute(sql, [writer]).fetchone()  # type: ignore[misc]
                # One more may have been committed whose acknowledgement did not arrive; nothing is missing.
                assert count == highest and last <= highest <= last + 1
                acknowledged[writer] = highest
