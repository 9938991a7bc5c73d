"""The pool for threads; the one for tasks is the same logic, and tested with the rest of asyncio."""

from __future__ import annotations

import threading
import time
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


def test_a_lost_connection_is_replaced_up_to_minsize(server: MySQLServer) -> None:
    with mysql.create_pool(minsize=2, maxsize=3, **server.dsn) as pool:
        with pool.connection() as connection:
            connection.close()
        with pool.connection(), pool.connection():
            # One of them may be the new one, which is opened by another thread.
            pass
        deadline = time.monotonic() + 60
        while pool.freesize < 2:
            assert time.monotonic() < deadline, pool.statistics()
            threading.Event().wait(0.01)


def test_wait_closed_wants_close_first(mariadb: MySQLServer) -> None:
    with mysql.create_pool(minsize=0, **mariadb.dsn) as pool, pytest.raises(RuntimeError, match="called after close"):
        pool.wait_closed()


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


def test_hooks_see_each_lending_and_their_errors_have_an_owner(mariadb: MySQLServer) -> None:
    seen: list[str] = []

    def acquired(connection: mysql.Connection) -> None:
        seen.append("acquired")
        if len(seen) > 4:
            raise ValueError("not today")
        connection.query("SET @tenant = 7")

    def released(connection: mysql.Connection) -> None:
        seen.append("released")
        if len(seen) == 4:
            raise ValueError("not clean")

    with mysql.create_pool(maxsize=1, on_acquire=acquired, on_release=released, **mariadb.dsn) as pool:
        for _ in range(2):
            with pool.connection() as connection, connection.cursor() as cursor:
                cursor.execute("SELECT @tenant")
                assert cursor.fetchone() == (7,)
        assert seen == ["acquired", "released"] * 2
        # The second came back with an error of the hook: it is replaced.
        assert pool.statistics().broken == 1
        with pytest.raises(ValueError, match="not today"):
            pool.acquire()
        assert (pool.size, pool.statistics().lent) == (0, 0)


@pytest.mark.parametrize(("minsize", "maxsize"), [(1, 0), (0, 0), (5, 4), (-1, 1), (0, -3)])
def test_impossible_sizes_are_refused(mariadb: MySQLServer, minsize: int, maxsize: int) -> None:
    with pytest.raises(ValueError, match=r"maxsize|sizing"):
        mysql.create_pool(minsize=minsize, maxsize=maxsize, **mariadb.dsn)


def test_a_pool_without_limit(mariadb: MySQLServer) -> None:
    with mysql.create_pool(maxsize=None, **mariadb.dsn) as pool:
        held = [pool.acquire() for _ in range(15)]
        assert (pool.maxsize, pool.size) == (None, 15)
        for connection in held:
            pool.release(connection)


def test_an_end_that_the_kernel_has_seen_is_noticed_without_asking(mariadb: MySQLServer) -> None:
    with mysql.create_pool(minsize=1, maxsize=1, **mariadb.dsn) as pool:
        with pool.connection() as connection:
            number = connection.thread_id()
        with mysql.connect(**mariadb.dsn) as killer, killer.cursor() as cursor:
            killer.kill(number)
            while cursor.execute("SELECT 1 FROM information_schema.processlist WHERE id = %s", (number,)):
                pass
        for _ in range(3):
            with pool.connection() as connection:
                assert connection.thread_id() != number
                connection.ping()
        assert pool.statistics().broken == 1


def test_idle_connections_and_old_ones_are_retired(mariadb: MySQLServer) -> None:
    with mysql.create_pool(minsize=1, maxsize=4, idle_timeout=0.05, **mariadb.dsn) as pool:
        held = [pool.acquire() for _ in range(4)]
        for connection in held:
            pool.release(connection)
        parted = threading.Event()
        for _ in range(200):
            if pool.size == 1:
                break
            parted.wait(0.05)
        assert pool.size == 1
        assert pool.statistics().retired == 3
    with mysql.create_pool(minsize=0, maxsize=1, pool_recycle=0, **mariadb.dsn) as pool:
        numbers = []
        for _ in range(3):
            with pool.connection() as connection:
                numbers.append(connection.thread_id())
        assert len(set(numbers)) == 3


@pytest.mark.parametrize("options", [{"ssl": True}, {"compress": True}, {"stmt_cache_size": 8}], ids=str)
def test_healthy_connections_are_kept(tls_server: MySQLServer, options: dict[str, object]) -> None:
    with mysql.create_pool(minsize=1, maxsize=1, **tls_server.dsn, **options) as pool:
        for number in range(5):
            with pool.connection() as connection, connection.cursor() as cursor:
                cursor.execute("SELECT %s", (number,))
                assert cursor.fetchall() == ((number,),)
        statistics = pool.statistics()
        assert (statistics.opened, statistics.broken, statistics.retired) == (1, 0, 0)


def test_healthy_connections_under_tls_are_kept_by_mysql(mysql9: MySQLServer) -> None:
    with mysql.create_pool(minsize=1, maxsize=1, ssl=True, **mysql9.dsn) as pool:
        for _ in range(5):
            with pool.connection() as connection:
                assert connection.query("SELECT 1") == 1
        assert pool.statistics().opened == 1
