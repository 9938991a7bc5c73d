"""The asyncio colour: the same conversations, and what only an event loop can do to them."""

from __future__ import annotations

import asyncio
import gc
import sys
import warnings
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

import pytest
from rowferry.mysql import aio
from rowferry.mysql.aio import DictCursor, SSCursor

from tests.servers.mysql import MySQLServer

Main = Callable[[], Coroutine[Any, Any, None]]


def run(main: Main) -> None:
    """On asyncio's loop as it is and in debug mode, and on uvloop where it is installed."""
    for debug in (False, True):
        asyncio.run(asyncio.wait_for(main(), 60), debug=debug)
    try:
        import uvloop
    except ImportError:
        return
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(asyncio.wait_for(main(), 60))


def test_statements_and_rows(server: MySQLServer) -> None:
    async def main() -> None:
        async with aio.connect(**server.dsn) as connection:
            cursor = await connection.cursor()
            assert await cursor.execute("SELECT seq, %s FROM seq_1_to_5", ("é",)) == 5
            assert await cursor.fetchone() == (1, "é")
            assert await cursor.fetchmany(2) == ((2, "é"), (3, "é"))
            assert [row async for row in cursor] == [(4, "é"), (5, "é")]
            assert await cursor.fetchall() == ()
            await cursor.execute("SELECT 1; SELECT 2")
            assert await cursor.nextset() is True
            assert await cursor.fetchall() == ((2,),)
            await cursor.execute("CREATE TEMPORARY TABLE t (a INT)")
            assert await cursor.executemany("INSERT INTO t VALUES (%s)", [(n,) for n in range(10)]) == 10
            with pytest.raises(aio.ProgrammingError) as caught:
                await cursor.execute("SELECT * FROM nowhere")
            assert caught.value.sql == "SELECT * FROM nowhere"
            await cursor.close()
            async with connection.cursor(DictCursor) as cursor:
                await cursor.execute("SELECT 1 AS a")
                assert await cursor.fetchone() == {"a": 1}
            statement = await connection.prepare("SELECT ? * 2")
            assert (await statement.execute((21,))).rows == ((42,),)
            await statement.close()
        assert connection.closed

    run(main)


def test_text_of_many_sizes(server: MySQLServer) -> None:
    async def main() -> None:
        async with aio.connect(**server.dsn) as connection, connection.cursor() as cursor:
            for size in (0, 1, 250, 251, 65535, 65536, 262_144, 1_000_000, 16_777_210, 16_777_215, 17_000_000):
                await cursor.execute("SELECT REPEAT('x', %s), 7, LENGTH(%s)", (size, "y" * size))
                row = await cursor.fetchone()
                assert row[1:] == (7, size)
                assert len(row[0]) == size

    run(main)


def test_unbuffered_rows_do_not_fill_memory(server: MySQLServer) -> None:
    async def main() -> None:
        async with aio.connect(**server.dsn) as connection:
            async with connection.cursor(SSCursor) as cursor:
                await cursor.execute("SELECT seq, REPEAT('x', 1000) FROM seq_1_to_50000")
                assert (await cursor.fetchone())[0] == 1
                # A flood that nobody fetches is stopped at the socket.
                await asyncio.sleep(0.1)
                assert await connection_backlog(server, connection.thread_id())
                assert [row[0] for row in await cursor.fetchmany(300)] == list(range(2, 302))
                count = 301
                async for row in cursor:
                    count += 1
                    assert row[0] == count
                assert count == 50000
                await cursor.execute("SELECT seq FROM seq_1_to_100000")
                await cursor.fetchone()
            async with connection.cursor() as cursor:
                await cursor.execute("SELECT 2")
                assert await cursor.fetchall() == ((2,),)

    run(main)


async def connection_backlog(server: MySQLServer, thread_id: int) -> bool:
    """Whether the server still sends (or waits to send) the rows of this connection."""
    async with aio.connect(**server.dsn) as connection, connection.cursor() as cursor:
        await cursor.execute("SELECT command FROM information_schema.processlist WHERE id = %s", (thread_id,))
        return bool(await cursor.fetchone() == ("Query",))


async def until(condition: Callable[[], bool]) -> None:
    """Wait for what nobody tells; `run` limits it."""
    while not condition():  # noqa: ASYNC110
        await asyncio.sleep(0.01)


async def until_running(server: MySQLServer, text: str) -> None:
    async with aio.connect(**server.dsn) as connection, connection.cursor() as cursor:
        sql = "SELECT 1 FROM information_schema.processlist WHERE info = %s"
        while not await cursor.execute(sql, (text,)):
            pass


async def is_running(server: MySQLServer, text: str) -> bool:
    async with aio.connect(**server.dsn) as connection, connection.cursor() as cursor:
        return bool(await cursor.execute("SELECT 1 FROM information_schema.processlist WHERE info = %s", (text,)))


def test_a_cancelled_query_is_killed_and_the_connection_stays_usable(server: MySQLServer) -> None:
    async def main() -> None:
        async with aio.connect(**server.dsn) as connection, connection.cursor() as cursor:
            thread_id = connection.thread_id()
            for round in range(3):
                sql = f"SELECT SLEEP(50), {round}"
                task = asyncio.create_task(cursor.execute(sql))
                await until_running(server, sql)
                task.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await task
                assert not await is_running(server, sql)
                assert connection.open
                assert connection.thread_id() == thread_id
                await cursor.execute("SELECT %s", (round,))
                assert await cursor.fetchall() == ((round,),)

    run(main)


@pytest.mark.parametrize("operation", ["query", "executemany", "prepare", "stream", "fetch", "commit", "cached"])
def test_cancellation_at_every_moment_never_mixes_answers(server: MySQLServer, operation: str) -> None:
    async def work(connection: aio.Connection, number: int) -> None:
        async with connection.cursor() as cursor:
            if operation == "query":
                await cursor.execute("SELECT %s FROM seq_1_to_3000", (number,))
                assert await cursor.fetchone() == (number,)
            elif operation == "executemany":
                await cursor.execute("CREATE TEMPORARY TABLE IF NOT EXISTS c (a INT)")
                await cursor.executemany("UPDATE c SET a = %s", [(n,) for n in range(20)])
            elif operation == "prepare":
                async with await connection.prepare("SELECT ?") as statement:
                    assert (await statement.execute((number,))).rows == ((number,),)
            elif operation == "cached":
                await cursor.execute("SELECT %s, 1", (number,))
                assert await cursor.fetchall() == ((number, 1),)
            elif operation == "commit":
                await connection.begin()
                await connection.commit()
            else:
                async with connection.cursor(SSCursor) as stream:
                    await stream.execute("SELECT %s FROM seq_1_to_20000", (number,))
                    if operation == "fetch":
                        assert await stream.fetchmany(700) == [(number,)] * 700

    async def main() -> None:
        connection = await aio.connect(**server.dsn, stmt_cache_size=8 if operation == "cached" else 0)
        try:
            for steps in range(25):
                if not connection.open:
                    await connection.connect()
                task = asyncio.create_task(work(connection, steps))
                for _ in range(steps):
                    await asyncio.sleep(0)
                task.cancel()
                await asyncio.wait((task,))
                if not task.cancelled():
                    task.result()
                if connection.open:
                    async with connection.cursor() as cursor:
                        await cursor.execute("SELECT %s", (-steps,))
                        assert await cursor.fetchall() == ((-steps,),)
        finally:
            await connection.ensure_closed()

    run(main)


def test_a_busy_connection_refuses_a_second_operation(server: MySQLServer) -> None:
    async def main() -> None:
        async with aio.connect(**server.dsn) as connection:
            first = asyncio.create_task(connection.query("SELECT SLEEP(0.05)"))
            await asyncio.sleep(0)
            with pytest.raises(aio.InterfaceError, match="another operation"):
                await connection.query("SELECT 1")
            assert await first == 1
            await connection.ping()

    run(main)


def test_collected_after_the_loop_is_closed_in_silence(server: MySQLServer) -> None:
    async def main() -> Any:
        connection = await aio.connect(**server.dsn)
        cursor = await connection.cursor()
        await cursor.execute("SELECT 1")
        return connection, cursor

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        unraisable: list[Any] = []
        hook, sys.unraisablehook = sys.unraisablehook, unraisable.append
        try:
            kept = asyncio.run(main())
            gc.collect()
            del kept
            gc.collect()
        finally:
            sys.unraisablehook = hook
    assert unraisable == []
    assert [str(warning.message).split(" ")[:2] for warning in caught] == [["unclosed", "connection"]]


def test_killed_connections_say_so(server: MySQLServer) -> None:
    async def main() -> None:
        async with aio.connect(**server.dsn) as killer:
            connection = await aio.connect(**server.dsn)
            task = asyncio.create_task(connection.query("SELECT SLEEP(51)"))
            await until_running(server, "SELECT SLEEP(51)")
            await killer.kill(connection.thread_id())
            with pytest.raises(aio.OperationalError) as caught:
                await task
            assert caught.value.errno in (1317, 1927, 2013)
            with pytest.raises(aio.Error):
                await connection.ping()
                await connection.ping()
            assert not connection.open
            await connection.ping(reconnect=True)
            assert connection.open
            await connection.ensure_closed()
            await connection.ensure_closed()

    run(main)


class TestPool:
    def test_lends_at_most_maxsize_and_serves_in_order(self, server: MySQLServer) -> None:
        async def main() -> None:
            async with aio.create_pool(minsize=1, maxsize=3, **server.dsn) as pool:
                assert (pool.size, pool.freesize, pool.minsize, pool.maxsize) == (1, 1, 1, 3)
                order: list[int] = []
                most = 0

                async def work(number: int) -> None:
                    nonlocal most
                    async with pool.acquire() as connection, connection.cursor() as cursor:
                        order.append(number)
                        most = max(most, pool.size)
                        await cursor.execute("SELECT %s", (number,))
                        assert await cursor.fetchone() == (number,)

                await asyncio.gather(*(work(number) for number in range(50)))
                assert most <= 3
                assert pool.size == pool.freesize <= 3
                # The first ones open connections, which takes its time; all others wait in line.
                waited = [number for number in order if number > 2]
                assert waited == sorted(waited)
            assert pool.closed

        run(main)

    def test_waiting_has_an_end_and_tells_who_holds(self, server: MySQLServer) -> None:
        async def main() -> None:
            async with aio.create_pool(maxsize=1, acquire_timeout=0.05, **server.dsn) as pool:
                task = asyncio.current_task()
                assert task is not None
                task.set_name("the-holder")
                async with pool.acquire():
                    with pytest.raises(aio.PoolTimeout, match="the-holder"):
                        await pool.acquire()
                async with pool.acquire(timeout=10):
                    pass

        run(main)

    def test_an_acquire_cancelled_at_any_moment_leaks_nothing(self, server: MySQLServer) -> None:
        async def main() -> None:
            async with aio.create_pool(minsize=1, maxsize=1, **server.dsn) as pool:
                for steps in range(12):
                    held = await pool.acquire()
                    task = asyncio.create_task(take(pool))
                    for _ in range(steps // 2):
                        await asyncio.sleep(0)
                    if steps % 2:
                        await pool.release(held)
                        task.cancel()
                    else:
                        task.cancel()
                        await pool.release(held)
                    await asyncio.wait((task,))
                    if not task.cancelled():
                        await pool.release(task.result())
                    async with pool.acquire(timeout=5):
                        assert pool.size == 1
            async with aio.create_pool(minsize=0, maxsize=1, **server.dsn) as pool:
                for steps in range(0, 40, 3):
                    task = asyncio.create_task(take(pool))
                    for _ in range(steps):
                        await asyncio.sleep(0)
                    task.cancel()
                    await asyncio.wait((task,))
                    if not task.cancelled():
                        await pool.release(task.result())
                    async with pool.acquire(timeout=5):
                        assert pool.size == 1
                    await pool.clear()

        async def take(pool: aio.Pool) -> aio.Connection:
            return await pool.acquire()

        run(main)

    def test_rolls_back_and_replaces_what_is_broken(self, server: MySQLServer) -> None:
        async def main() -> None:
            async with aio.create_pool(minsize=1, maxsize=1, **server.dsn) as pool:
                async with pool.acquire() as connection, connection.cursor() as cursor:
                    first = connection.thread_id()
                    await cursor.execute("CREATE TABLE pooled (a INT) ENGINE=InnoDB")
                    await cursor.execute("INSERT INTO pooled VALUES (1)")
                async with pool.acquire() as connection, connection.cursor() as cursor:
                    assert connection.thread_id() == first
                    assert await cursor.execute("SELECT * FROM pooled") == 0
                    await cursor.execute("DROP TABLE pooled")
                    # Left behind with rows on the wire.
                    stream = connection.cursor(SSCursor)
                    await stream.execute("SELECT seq FROM seq_1_to_100000")
                async with pool.acquire() as connection, connection.cursor() as cursor:
                    await cursor.execute("SELECT 5")
                    assert await cursor.fetchall() == ((5,),)
                    second = connection.thread_id()
                    async with aio.connect(**server.dsn) as killer:
                        await killer.kill(second)
                    with pytest.raises(aio.Error):
                        await connection.ping()
                        await connection.ping()
                async with pool.acquire() as connection:
                    assert connection.thread_id() != second
                    await connection.ping()

        run(main)

    def test_pre_ping_and_recycle(self, server: MySQLServer) -> None:
        async def main() -> None:
            async with aio.create_pool(minsize=1, maxsize=1, pre_ping=True, **server.dsn) as pool:
                async with pool.acquire() as connection:
                    first = connection.thread_id()
                async with aio.connect(**server.dsn) as killer:
                    await killer.kill(first)
                async with pool.acquire() as connection:
                    assert connection.thread_id() != first
                    await connection.ping()
            async with aio.create_pool(minsize=1, maxsize=1, pool_recycle=0, **server.dsn) as pool:
                async with pool.acquire() as connection:
                    first = connection.thread_id()
                async with pool.acquire() as connection:
                    assert connection.thread_id() != first

        run(main)

    def test_reset_on_release(self, server: MySQLServer) -> None:
        async def main() -> None:
            options: dict[str, Any] = {**server.dsn, "init_command": "SET @kept = 1"}
            async with aio.create_pool(minsize=1, maxsize=1, reset_on_release=True, **options) as pool:
                async with pool.acquire() as connection:
                    await connection.query("SET @mine = 1")
                async with pool.acquire() as connection, connection.cursor() as cursor:
                    await cursor.execute("SELECT @mine, @kept")
                    assert await cursor.fetchone() == (None, 1)

        run(main)

    def test_closing(self, server: MySQLServer) -> None:
        async def main() -> None:
            pool = await aio.create_pool(minsize=2, maxsize=2, **server.dsn)
            held = await pool.acquire()
            other = await pool.acquire()
            waiting: Awaitable[Any] = asyncio.ensure_future(pool.acquire())
            await asyncio.sleep(0)
            pool.close()
            with pytest.raises(aio.InterfaceError, match="closed"):
                await waiting
            with pytest.raises(aio.InterfaceError, match="closed"):
                await pool.acquire()
            closed = asyncio.create_task(pool.wait_closed())
            await asyncio.sleep(0)
            assert not closed.done()
            await pool.release(held)
            await pool.release(other)
            await closed
            assert pool.closed
            assert not held.open
            pool = await aio.create_pool(minsize=2, maxsize=2, **server.dsn)
            held = await pool.acquire()
            pool.terminate()
            await pool.wait_closed()
            assert not held.open

        run(main)

    def test_borrowers_of_a_terminated_pool_keep_their_own_exceptions(self, mariadb: MySQLServer) -> None:
        async def main() -> None:
            pool = await aio.create_pool(minsize=1, maxsize=3, **mariadb.dsn)
            with pytest.raises(ValueError, match="the borrower's"):
                async with pool.acquire():
                    pool.terminate()
                    raise ValueError("the borrower's")
            await pool.wait_closed()
            pool = await aio.create_pool(minsize=1, maxsize=3, **mariadb.dsn)
            async with pool.acquire():
                held = await pool.acquire()
                pool.terminate()
            # Once; what is given back twice is not lent.
            await pool.release(held)
            with pytest.raises(aio.InterfaceError, match="not lent"):
                await pool.release(held)

        run(main)

    def test_wait_closed_wants_close_first(self, mariadb: MySQLServer) -> None:
        async def main() -> None:
            async with aio.create_pool(minsize=0, **mariadb.dsn) as pool:
                for kind in (RuntimeError, aio.InterfaceError):
                    with pytest.raises(kind, match="called after close"):
                        await pool.wait_closed()

        run(main)

    def test_a_lost_connection_is_replaced_up_to_minsize(self, server: MySQLServer) -> None:
        async def main() -> None:
            async with aio.create_pool(minsize=2, maxsize=3, **server.dsn) as pool:
                async with pool.acquire() as connection:
                    connection.close()
                await until(lambda: pool.freesize == 2)
                assert (pool.size, pool.statistics().opened) == (2, 3)
                async with pool.acquire() as one, pool.acquire() as other:
                    await one.ping()
                    await other.ping()

        run(main)

    def test_a_block_that_fails_with_connections_in_hand_ends(self, mariadb: MySQLServer) -> None:
        async def main() -> None:
            with pytest.raises(ValueError, match="of the block"):
                async with aio.create_pool(maxsize=2, **mariadb.dsn) as pool:
                    held = await pool.acquire()
                    raise ValueError("of the block")
            assert pool.closed and not held.open
            with pytest.raises(aio.PoolTimeout, match="not all connections came back"):
                async with aio.create_pool(maxsize=2, acquire_timeout=0.05, **mariadb.dsn) as pool:
                    held = await pool.acquire()
            assert not held.open

        run(main)

    def test_hooks_may_be_coroutine_functions(self, mariadb: MySQLServer) -> None:
        seen: list[str] = []

        async def acquired(connection: aio.Connection) -> None:
            await connection.query("SET @tenant = 7")

        async def released(connection: aio.Connection) -> None:
            async with connection.cursor() as cursor:
                await cursor.execute("SELECT @tenant")
                seen.append(str(await cursor.fetchone()))

        async def main() -> None:
            options: dict[str, Any] = {"on_acquire": acquired, "on_release": released, **mariadb.dsn}
            async with aio.create_pool(maxsize=1, **options) as pool:
                for _ in range(2):
                    async with pool.acquire():
                        pass
                await pool.release(await asyncio.create_task(pool.acquire()))
                await pool.release(await asyncio.wait_for(pool.acquire(), 5))
            assert seen == ["(7,)"] * 4
            seen.clear()

        run(main)

    def test_may_be_closed_while_its_loop_does_not_run(self, mariadb: MySQLServer) -> None:
        for end in ("close", "terminate"):
            loop = asyncio.new_event_loop()
            pool = loop.run_until_complete(aio.create_pool(minsize=2, maxsize=2, **mariadb.dsn))
            held = loop.run_until_complete(pool.acquire())
            if end == "close":
                loop.run_until_complete(pool.release(held))
            getattr(pool, end)()
            loop.run_until_complete(asyncio.wait_for(pool.wait_closed(), 10))
            assert pool.size == 0 and not held.open
            loop.close()
