"""The pool for threads; the one for tasks is the same logic, and tested with the rest of asyncio."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from rowferry import mysql

from tests.servers.mysql import MySQLServer


def test_threads_share_few_connections(server: MySQLServer) -> None:
    with mysql.create_pool(minsize=1, maxsize=3, **server.dsn) as pool:

        def work(number: int) -> tuple[object, ...] | None:
            with pool.connection() as connection, connection.cursor() as cursor:
                assert pool.statistics().lent <= 3
                cursor.execute("SELECT %s", (number,))
                return cursor.fetchone()

        with ThreadPoolExecutor(12) as threads:
            assert list(threads.map(work, range(300))) == [(number,) for number in range(300)]
        statistics = pool.statistics()
        assert (statistics.acquired, statistics.lent) == (300, 0)
        assert 1 <= statistics.opened <= 3
    with pytest.raises(mysql.PoolClosed):
        pool.acquire()


def test_what_was_left_open_is_rolled_back_and_what_broke_is_replaced(server: MySQLServer) -> None:
    with mysql.create_pool(minsize=0, maxsize=1, **server.dsn) as pool:
        with pool.connection() as connection, connection.cursor() as cursor:
            first = connection.thread_id()
            cursor.execute("CREATE TABLE pooled_sync (a INT) ENGINE=InnoDB")
            cursor.execute("INSERT INTO pooled_sync VALUES (1)")
        with pool.connection() as connection, connection.cursor() as cursor:
            assert connection.thread_id() == first
            assert cursor.execute("SELECT * FROM pooled_sync") == 0
            cursor.execute("DROP TABLE pooled_sync")
            # Left behind with rows on the wire.
            stream = connection.cursor(mysql.cursors.SSCursor)
            stream.execute("SELECT seq FROM seq_1_to_100000")
        with pool.connection() as connection, connection.cursor() as cursor:
            cursor.execute("SELECT 5")
            assert cursor.fetchall() == ((5,),)
            second = connection.thread_id()
            with mysql.connect(**server.dsn) as killer:
                killer.kill(second)
            with pytest.raises(mysql.Error):
                connection.ping()
        with pool.connection() as connection:
            assert connection.thread_id() != second
            connection.ping()


def test_waiting_has_an_end_and_tells_who_holds(server: MySQLServer) -> None:
    with mysql.create_pool(maxsize=1, acquire_timeout=0.05, **server.dsn) as pool:
        held = pool.acquire()
        with pytest.raises(mysql.PoolTimeout, match=threading.current_thread().name):
            pool.acquire()
        pool.release(held)
        with pool.connection(timeout=10):
            pass
        with pytest.raises(mysql.InterfaceError, match="not lent"):
            pool.release(held)


def test_hooks_resets_and_pings(server: MySQLServer) -> None:
    greeted: list[int] = []

    def greet(connection: mysql.Connection) -> None:
        greeted.append(connection.thread_id())
        connection.query("SET @greeted = 1")

    options = {"minsize": 1, "maxsize": 1, "reset_on_release": True, "pre_ping": True, "on_connect": greet}
    with mysql.create_pool(**options, **server.dsn) as pool:
        with pool.connection() as connection:
            connection.query("SET @mine = 1")
        with pool.connection() as connection, connection.cursor() as cursor:
            cursor.execute("SELECT @mine")
            assert cursor.fetchone() == (None,)
            number = connection.thread_id()
        with mysql.connect(**server.dsn) as killer:
            killer.kill(number)
        with pool.connection() as connection:
            assert connection.thread_id() != number
    assert len(greeted) == 2
