"""Answers that are waited for in the place of an event loop that has nothing else to do: nobody may notice."""

from __future__ import annotations

import asyncio
import os
import signal
import threading
import time
from collections.abc import Coroutine
from typing import Any

import pytest
from rowferry.mysql import aio

from tests.servers.mysql import MySQLServer


class CountingLoop(asyncio.SelectorEventLoop):
    """Counts its rounds."""

    rounds = 0

    def _run_once(self) -> None:
        self.rounds += 1
        super()._run_once()  # type: ignore[misc]


def run(main: Coroutine[Any, Any, Any]) -> Any:
    with asyncio.Runner(loop_factory=CountingLoop, debug=False) as runner:
        return runner.run(asyncio.wait_for(main, 60))


def rounds() -> int:
    loop = asyncio.get_running_loop()
    assert isinstance(loop, CountingLoop)
    return loop.rounds


def test_a_lonely_statement_needs_no_round_of_the_loop(server: MySQLServer) -> None:
    async def main() -> None:
        async with aio.connect(**server.dsn) as connection, connection.cursor() as cursor:
            # Whatever other tests have left: after a crowd the loop is used for a while.
            for _ in range(100):
                await cursor.execute("SELECT 1")
            before = rounds()
            for number in range(200):
                await cursor.execute("SELECT %s, REPEAT('x', 100000)", (number,))
                assert (await cursor.fetchone())[0] == number
            # A timer is set, that of `wait_for`: it is waited for, too.
            assert rounds() - before < 40

    run(main())


def test_what_is_ready_runs_while_a_statement_waits(server: MySQLServer) -> None:
    async def main() -> None:
        ran: list[str] = []
        async with aio.connect(**server.dsn) as connection, connection.cursor() as cursor:
            loop = asyncio.get_running_loop()
            loop.call_soon(ran.append, "ready")
            await cursor.execute("SELECT SLEEP(0.2)")
            assert ran == ["ready"]

    run(main())


def test_timers_sockets_and_threads_are_heard_while_a_statement_waits(server: MySQLServer) -> None:
    async def main() -> None:
        loop = asyncio.get_running_loop()
        times: dict[str, float] = {}

        def hear(what: str) -> None:
            times.setdefault(what, loop.time())

        reads, writes = os.pipe()
        loop.add_reader(reads, lambda: (os.read(reads, 1), hear("socket")))
        async with aio.connect(**server.dsn) as connection, connection.cursor() as cursor:
            for _ in range(20):
                await cursor.execute("SELECT 1")
            began = loop.time()
            loop.call_later(0.05, hear, "timer")
            told = threading.Timer(0.15, lambda: loop.call_soon_threadsafe(hear, "thread"))
            written = threading.Timer(0.3, os.write, (writes, b"."))
            told.start()
            written.start()
            # Each comes while the same statement waits; all are heard long before its answer.
            await cursor.execute("SELECT SLEEP(2)")
            ended = loop.time()
        loop.remove_reader(reads)
        os.close(reads)
        os.close(writes)
        assert sorted(times, key=times.__getitem__) == ["timer", "thread", "socket"]
        assert began + 0.05 <= times["timer"] and times["socket"] < ended - 1

    run(main())


def test_a_statement_is_cancelled_by_a_timer_a_task_and_a_signal(server: MySQLServer) -> None:
    async def main() -> None:
        async with aio.connect(**server.dsn) as connection, connection.cursor() as cursor:
            for _ in range(3):
                began = time.monotonic()
                with pytest.raises(asyncio.TimeoutError):
                    await asyncio.wait_for(cursor.execute("SELECT SLEEP(20)"), 0.1)
                assert time.monotonic() - began < 10
                await cursor.execute("SELECT 7")
                assert await cursor.fetchone() == (7,)
            task = asyncio.current_task()
            assert task is not None
            loop = asyncio.get_running_loop()
            loop.add_signal_handler(signal.SIGUSR1, task.cancel)
            threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGUSR1)).start()
            with pytest.raises(asyncio.CancelledError):
                await cursor.execute("SELECT SLEEP(20)")
            assert task.uncancel() == 0
            loop.remove_signal_handler(signal.SIGUSR1)
            await cursor.execute("SELECT 8")
            assert await cursor.fetchone() == (8,)

    run(main())


def test_the_read_time_out_holds(server: MySQLServer) -> None:
    async def main() -> None:
        async with aio.connect(**server.dsn, read_timeout=0.3) as connection, connection.cursor() as cursor:
            for number in range(20):
                await cursor.execute("SELECT %s", (number,))
                assert await cursor.fetchone() == (number,)
            began = time.monotonic()
            with pytest.raises(aio.OperationalError, match="timed out"):
                await cursor.execute("SELECT SLEEP(20)")
            assert time.monotonic() - began < 10

    run(main())


def test_statements_of_many_tasks_overlap(server: MySQLServer) -> None:
    async def main() -> None:
        async with aio.create_pool(**server.dsn, minsize=8, maxsize=8) as pool:

            async def sleep() -> None:
                async with pool.acquire() as connection, connection.cursor() as cursor:
                    await cursor.execute("SELECT SLEEP(0.5)")

            began = time.monotonic()
            await asyncio.gather(*(sleep() for _ in range(8)))
            # One by one it would be four seconds.
            assert time.monotonic() - began < 3

    run(main())


def test_a_server_that_goes_away_is_told(server: MySQLServer) -> None:
    async def main() -> None:
        async with aio.connect(**server.dsn) as helper, helper.cursor() as killer:
            connection = await aio.connect(**server.dsn)
            cursor = connection.cursor()
            await cursor.execute("SELECT CONNECTION_ID()")
            (number,) = await cursor.fetchone()
            await killer.execute(f"KILL {int(number)}")
            with pytest.raises(aio.OperationalError):
                await cursor.execute("SELECT 1")
                await cursor.execute("SELECT 1")
            assert connection.closed

    run(main())
