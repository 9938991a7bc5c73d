"""Time-outs of statements, and what a fork or a second thread may not do: a usable connection or a closed one."""

from __future__ import annotations

import asyncio
import os
import signal
import threading
import time
from typing import Any

import pytest
from rowferry import mysql
from rowferry.mysql import aio
from rowferry.mysql.aio import SSCursor

from tests.servers.mariadb import MariaDB
from tests.servers.mysql import MySQLServer

from .relay import Relay

#: MySQL's number for a statement that a limit has ended.
OVERDUE = 3024


def running(server: MySQLServer, text: str) -> list[Any]:
    """Connections that run a statement with `text` in it."""
    with mysql.connect(**server.dsn) as connection, connection.cursor() as cursor:
        cursor.execute("SELECT id, info FROM information_schema.processlist WHERE info LIKE %s", (f"%{text}%",))
        return [row for row in cursor.fetchall() if "processlist" not in row[1]]


def test_a_statement_beyond_query_timeout_is_ended_on_the_server(server: MySQLServer) -> None:
    with mysql.connect(**server.dsn, query_timeout=0.2) as connection, connection.cursor() as cursor:
        number = connection.thread_id()
        for round in range(3):
            with pytest.raises(mysql.OperationalError, match="query_timeout") as caught:
                cursor.execute(f"SELECT SLEEP(30), 'limited {round}'")
            assert caught.value.errno == OVERDUE
            assert running(server, "limited") == []
            cursor.execute("SELECT %s", (round,))
            assert cursor.fetchall() == ((round,),)
        assert connection.thread_id() == number


def test_a_statement_beyond_query_timeout_is_ended_under_asyncio(server: MySQLServer) -> None:
    async def main() -> None:
        async with aio.connect(**server.dsn, query_timeout=0.1, stmt_cache_size=4) as connection:
            number = connection.thread_id()
            async with connection.cursor() as cursor:
                for round in range(3):
                    with pytest.raises(aio.OperationalError, match="query_timeout") as caught:
                        await cursor.execute("SELECT SLEEP(%s), 'limited'", (30,))
                    assert caught.value.errno == OVERDUE
                    assert running(server, "limited") == []
                    await cursor.execute("SELECT %s", (round,))
                    assert await cursor.fetchall() == ((round,),)
            assert connection.thread_id() == number

    asyncio.run(asyncio.wait_for(main(), 60))


@pytest.mark.parametrize("colour", ["blocking", "asyncio"])
def test_query_timeout_ends_answers_without_end(mariadb: MariaDB, colour: str) -> None:
    endless = "SELECT seq, REPEAT('x', 500) FROM seq_1_to_100000000"

    async def main() -> None:
        async with aio.connect(**mariadb.dsn, query_timeout=0.1) as connection:
            with pytest.raises(aio.OperationalError, match="query_timeout"):
                await connection.query(endless)
            assert await connection.query("SELECT 7") == 1

    if colour == "asyncio":
        asyncio.run(asyncio.wait_for(main(), 60))
        return
    with mysql.connect(**mariadb.dsn, query_timeout=0.1) as connection:
        with pytest.raises(mysql.OperationalError, match="query_timeout"):
            connection.query(endless)
        assert connection.query("SELECT 7") == 1


def test_query_timeout_bounds_each_wait_of_a_stream(mariadb: MariaDB) -> None:
    slow = "SELECT seq, IF(seq > 2000, SLEEP(20), 0), REPEAT('x', 100) FROM seq_1_to_3000"

    async def main() -> None:
        async with aio.connect(**mariadb.dsn, query_timeout=0.2) as connection:
            cursor = connection.cursor(SSCursor)
            await cursor.execute(slow)
            assert (await cursor.fetchone())[0] == 1
            with pytest.raises(aio.OperationalError, match="query_timeout"):
                while await cursor.fetchone():
                    pass
            await cursor.close()
            assert await connection.query("SELECT 7") == 1

    asyncio.run(asyncio.wait_for(main(), 60))


def test_a_cancel_during_the_ending_of_an_overdue_statement(mariadb: MariaDB) -> None:
    async def main() -> None:
        async with aio.connect(**mariadb.dsn, query_timeout=0.05) as connection:
            for steps in range(60):
                task = asyncio.ensure_future(connection.query("SELECT SLEEP(30), 'twice ended'"))
                await asyncio.sleep(0.05)
                for _ in range(steps):
                    await asyncio.sleep(0)
                task.cancel()
                done, _ = await asyncio.wait((task,), timeout=10)
                assert done
                if not task.cancelled():
                    assert isinstance(task.exception(), aio.OperationalError)
                if not connection.open:
                    await connection.connect()
                assert await connection.query("SELECT 1") == 1

    asyncio.run(asyncio.wait_for(main(), 60))
    assert running(mariadb, "twice ended") == []


def test_silence_is_limited_and_not_how_long_an_answer_takes(mariadb: MariaDB) -> None:
    # Rows come every 50 ms or so, in all for longer than the limit.
    trickle = "SELECT seq, SLEEP(0.05), REPEAT('x', 20000) FROM seq_1_to_10"

    async def main() -> None:
        async with aio.connect(**mariadb.dsn, read_timeout=0.3) as connection:
            assert await connection.query(trickle) == 10
            with pytest.raises(aio.OperationalError, match="timed out while reading"):
                await connection.query("SELECT SLEEP(20)")
            assert not connection.open

    asyncio.run(asyncio.wait_for(main(), 60))
    with mysql.connect(**mariadb.dsn, read_timeout=0.3) as connection:
        assert connection.query(trickle) == 10
        with pytest.raises(mysql.OperationalError, match="timed out while reading"):
            connection.query("SELECT SLEEP(20)")
        assert not connection.open


def test_a_server_that_takes_nothing_ends_in_a_write_time_out(mariadb: MariaDB) -> None:
    long = "SELECT '" + "x" * 60_000_000 + "'"

    async def main() -> None:
        with Relay(mariadb.host, mariadb.port) as relay:
            options = {**mariadb.dsn, "port": relay.port, "ssl_mode": "DISABLED"}
            connection = await aio.connect(**options, write_timeout=0.2)
            relay.stop_reading()
            with pytest.raises(aio.OperationalError, match="timed out while writing"):
                await connection.query(long)
            assert not connection.open

    asyncio.run(asyncio.wait_for(main(), 60))
    with Relay(mariadb.host, mariadb.port) as relay:
        connection = mysql.connect(**{**mariadb.dsn, "port": relay.port, "ssl_mode": "DISABLED"}, write_timeout=0.2)
        relay.stop_reading()
        with pytest.raises(mysql.OperationalError, match="timed out while writing"):
            connection.query(long)
        assert not connection.open


def test_a_forked_child_leaves_its_parents_connections_alone(mariadb: MariaDB) -> None:
    with (
        mysql.connect(**mariadb.dsn) as connection,
        mysql.create_pool(minsize=1, maxsize=2, **mariadb.dsn) as pool,
        connection.cursor() as cursor,
    ):
        child = os.fork()
        if child == 0:
            status = 1
            try:
                try:
                    connection.query("SELECT 1")
                except mysql.OperationalError as error:
                    assert error.errno == 2006 and "forked" in str(error)
                    assert not connection.open
                    connection.close()
                    # A pool goes on with connections of its own.
                    with pool.connection() as own:
                        assert own.query("SELECT 2") == 1
                    pool.close()
                    status = 0
            finally:
                os._exit(status)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        cursor.execute("SELECT 3")
        assert cursor.fetchall() == ((3,),)
        with pool.connection() as lent:
            assert lent.query("SELECT 4") == 1


def test_a_forked_child_leaves_its_parents_event_loop_alone(mariadb: MariaDB) -> None:
    async def main() -> None:
        async with aio.connect(**mariadb.dsn) as connection:
            child = os.fork()
            if child == 0:
                # What the collector does to a connection that nobody closed.
                connection._abort()
                os._exit(0 if not connection.open else 1)
            _, status = await asyncio.to_thread(os.waitpid, child, 0)
            assert os.waitstatus_to_exitcode(status) == 0
            for _ in range(3):
                assert await connection.query("SELECT 3") == 1

    asyncio.run(asyncio.wait_for(main(), 30))


def test_threads_that_share_a_connection_get_an_error_or_their_own_rows(mariadb: MariaDB) -> None:
    with mysql.connect(**mariadb.dsn) as connection:
        wrong: list[object] = []
        refused: list[str] = []

        def work(number: int) -> None:
            cursor = connection.cursor()
            for round in range(200):
                try:
                    cursor.execute("SELECT %s FROM seq_1_to_50", (1000 * number + round,))
                    rows = cursor.fetchall()
                    if rows != ((1000 * number + round,),) * 50:
                        wrong.append(rows)
                except mysql.InterfaceError as error:
                    refused.append(str(error))

        threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        assert wrong == []
        assert all("another operation is under way" in text for text in refused)
        assert connection.query("SELECT 1") == 1


def test_ctrl_c_ends_a_blocking_statement_on_the_server(mariadb: MariaDB) -> None:
    connection = mysql.connect(**mariadb.dsn)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:

        def interrupt() -> None:
            while not running(mariadb, "interrupted by hand"):
                pass
            os.kill(os.getpid(), signal.SIGINT)

        watcher = threading.Thread(target=interrupt)
        watcher.start()
        with pytest.raises(KeyboardInterrupt):
            connection.query("SELECT SLEEP(50), 'interrupted by hand'")
        watcher.join(30)
    finally:
        signal.signal(signal.SIGINT, before)
    assert not connection.open
    # It would sleep for most of a minute; that it was told to stop takes the server a moment to notice.
    soon = time.monotonic() + 10
    while running(mariadb, "interrupted by hand") and time.monotonic() < soon:
        time.sleep(0.05)
    assert running(mariadb, "interrupted by hand") == []
