"""Sessions beside each other: locks, KILL, clients of other kinds, a server behind that is lost."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable

import psycopg
from pymysql import err
from rowferry import informix

from .front import MySQLFront, fails


def test_a_row_is_claimed_by_one(front: MySQLFront) -> None:
    with front.connect(autocommit=True) as connection, connection.cursor() as cursor:
        cursor.execute("CREATE TABLE job (id INT PRIMARY KEY, owner INT)")
        cursor.executemany("INSERT INTO job (id) VALUES (%s)", [(number,) for number in range(60)])

    claimed: list[int] = []

    def claim(owner: int) -> None:
        with front.connect(autocommit=True) as own, own.cursor() as cursor:
            while cursor.execute("UPDATE job SET owner = %s WHERE owner IS NULL ORDER BY id LIMIT 1", (owner,)):
                claimed.append(owner)

    threads = [threading.Thread(target=claim, args=(owner,), daemon=True) for owner in range(1, 5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert len(claimed) == 60
    counted = dict(front.ask("SELECT owner, count(*) FROM job GROUP BY owner"))
    assert counted == {owner: claimed.count(owner) for owner in set(claimed)}


def test_rows_are_locked_as_it_is_said(front: MySQLFront) -> None:
    with front.connect() as one, front.connect() as other:
        first, second = one.cursor(), other.cursor()
        first.execute("CREATE TABLE job (id INT PRIMARY KEY, name VARCHAR(9))")
        first.execute("INSERT INTO job VALUES (1, 'abc'), (2, 'abd'), (3, 'Éx')")
        one.commit()
        first.execute("SELECT id FROM job ORDER BY id LIMIT 1 FOR UPDATE")
        assert first.fetchall() == ((1,),)
        second.execute("SELECT id FROM job ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED")
        assert second.fetchall() == ((2,),)
        assert fails(second, "SELECT id FROM job FOR UPDATE NOWAIT")[0] == 3572
        one.rollback()
        other.rollback()
        for cursor in (first, second):
            cursor.execute("SELECT id FROM job WHERE id = 1 FOR SHARE")
            assert cursor.fetchall() == ((1,),)
        assert fails(second, "SELECT id FROM job WHERE id = 1 FOR UPDATE NOWAIT")[0] == 3572


def test_whoever_waits_for_a_row_gives_up_in_time(front: MySQLFront) -> None:
    with front.connect() as one, front.connect() as two, one.cursor() as first, two.cursor() as second:
        first.execute("UPDATE customer SET credit = 1 WHERE id = 1")
        second.execute("SET innodb_lock_wait_timeout = 1")
        assert fails(second, "UPDATE customer SET credit = 2 WHERE id = 1")[0] == 1205
        one.rollback()
        second.execute("UPDATE customer SET credit = 2 WHERE id = 1")
        first.execute("UPDATE customer SET credit = 1 WHERE id = 2")
        failed: list[int] = []

        def cross() -> None:
            with contextlib.suppress(err.Error):
                try:
                    first.execute("UPDATE customer SET credit = 1 WHERE id = 1")
                except err.Error as error:
                    failed.append(error.args[0])
                    raise

        thread = threading.Thread(target=cross, daemon=True)
        thread.start()
        second.execute("SET innodb_lock_wait_timeout = 20")
        with contextlib.suppress(err.Error):
            try:
                second.execute("UPDATE customer SET credit = 2 WHERE id = 2")
            except err.Error as error:
                failed.append(error.args[0])
                two.rollback()
        if not failed:
            two.rollback()
        thread.join(30)
        assert failed == [1213]


def test_kill_query_reaches_the_server_behind(front: MySQLFront) -> None:
    with front.connect(autocommit=True) as one, front.connect(autocommit=True) as two:
        number = one.thread_id()
        found: list[int] = []

        def ask() -> None:
            with one.cursor() as cursor:
                try:
                    cursor.execute(
                        "SELECT COUNT(*) FROM orders a, orders b, orders c, orders d WHERE a.total < b.total * c.total"
                    )
                except err.Error as error:
                    found.append(error.args[0])

        thread = threading.Thread(target=ask, daemon=True)
        thread.start()
        until = time.monotonic() + 20
        while not front.ask(
            "SELECT 1 FROM pg_stat_activity WHERE state = 'active' AND pid <> pg_backend_pid() "
            "AND query LIKE '%orders%orders%orders%'"
        ):
            assert time.monotonic() < until
            time.sleep(0.05)
        with two.cursor() as cursor:
            cursor.execute(f"KILL QUERY {number}")
        thread.join(30)
        assert found == [1317]
        with one.cursor() as cursor:
            cursor.execute("SELECT COUNT(*) FROM orders")
            assert cursor.fetchone() == (500,)


def test_three_kinds_of_clients_see_the_same_rows(front: MySQLFront) -> None:
    assert front.server.informix is not None
    host, port = front.server.informix
    with (
        front.connect(autocommit=True) as ours,
        informix.connect(f"informix://ada@{host}:{port}/{front.server.dbname}", autocommit=True) as theirs,
        psycopg.connect(front.server.postgres_dsn, autocommit=True) as plain,
    ):
        stop = threading.Event()
        failed: list[BaseException] = []

        def insert(write: Callable[[int], object], first: int) -> None:
            try:
                number = first
                while not stop.is_set():
                    write(number)
                    number += 3
            except BaseException as error:
                failed.append(error)

        with ours.cursor() as cursor:
            cursor.execute("CREATE TABLE meeting (id INT PRIMARY KEY, who VARCHAR(20))")
        mysql_cursor, informix_cursor = ours.cursor(), theirs.cursor()
        writers = [
            threading.Thread(
                target=insert,
                daemon=True,
                args=(lambda n: mysql_cursor.execute(f"INSERT INTO meeting VALUES ({n}, 'mysql')"), 0),
            ),
            threading.Thread(
                target=insert,
                daemon=True,
                args=(lambda n: informix_cursor.execute("insert into meeting values (?, 'informix')", (n,)), 1),
            ),
            threading.Thread(
                target=insert,
                daemon=True,
                args=(lambda n: plain.execute(f"INSERT INTO meeting VALUES ({n}, 'postgres')"), 2),
            ),  # type: ignore[arg-type]
        ]
        for writer in writers:
            writer.start()
        time.sleep(1.5)
        stop.set()
        for writer in writers:
            writer.join(30)
        assert not failed
        with ours.cursor() as cursor:
            cursor.execute("SELECT who, COUNT(*) FROM meeting GROUP BY who ORDER BY who")
            seen = cursor.fetchall()
        assert [who for who, _ in seen] == ["informix", "mysql", "postgres"]
        informix_cursor.execute("select who, count(*) from meeting group by who order by who")
        assert [(who.rstrip(), int(count)) for who, count in informix_cursor.fetchall()] == list(seen)
        assert [
            tuple(row)
            for row in plain.execute('SELECT who, count(*) FROM meeting GROUP BY who ORDER BY who COLLATE "C"')
        ] == list(seen)


def test_a_connection_behind_that_is_lost(front: MySQLFront) -> None:
    with front.connect() as connection, connection.cursor() as cursor:
        cursor.execute("INSERT INTO orders VALUES (1000, 1, 1, 'a')")
        front.ask("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name ^@ 'rowferry: '")
        number, _ = fails(cursor, "SELECT COUNT(*) FROM orders")
        assert number == 2013
        with contextlib.suppress(err.Error):
            connection.rollback()
    with front.connect() as connection, connection.cursor() as cursor:
        cursor.execute("SELECT COUNT(*) FROM orders")
        assert cursor.fetchone() == (500,)
