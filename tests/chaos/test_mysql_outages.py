"""Servers that are killed, restarted or stopped under busy pools; event loops that end before their connections."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import os
import signal
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy
from rowferry import mysql
from rowferry.mysql import aio
from sqlalchemy.ext.asyncio import create_async_engine

from tests.python.cancelling import descriptors, wait_until
from tests.servers.mariadb import MariaDB

#: What an outage is called: not reached, gone, lost, shutting down, killed.
OUTAGE = (2003, 2006, 2013, 1053, 1927)

try:
    import uvloop

    LOOPS: list[Callable[[], asyncio.AbstractEventLoop]] = [asyncio.new_event_loop, uvloop.new_event_loop]
except ImportError:
    LOOPS = [asyncio.new_event_loop]


@pytest.fixture(scope="module")
def killable() -> Iterator[MariaDB]:
    with MariaDB.start() as server:
        yield server


@pytest.fixture
def stopped(killable: MariaDB) -> Iterator[Callable[[], None]]:
    """Stops the server (SIGSTOP) when it is called; it goes on at the end of the test."""

    def stop() -> None:
        os.kill(killable.pid, signal.SIGSTOP)
        # The signal is on its way when `kill` returns: a thread that runs on another processor may still answer.
        tasks = Path(f"/proc/{killable.pid}/task")
        while any((task / "stat").read_text().rpartition(")")[2].split()[0] != "T" for task in tasks.iterdir()):
            time.sleep(0.001)

    yield stop
    os.kill(killable.pid, signal.SIGCONT)


@pytest.fixture(params=LOOPS, ids=lambda loop: loop.__module__.split(".")[0])
def new_loop(request: pytest.FixtureRequest) -> Callable[[], asyncio.AbstractEventLoop]:
    """asyncio's event loops, and uvloop's where it is installed."""
    loop: Callable[[], asyncio.AbstractEventLoop] = request.param
    return loop


def run(main: Any, new_loop: Callable[[], asyncio.AbstractEventLoop] = asyncio.new_event_loop) -> None:
    loop = new_loop()
    try:
        loop.run_until_complete(asyncio.wait_for(main, 60))
    finally:
        loop.close()


def test_a_pool_for_threads_heals_after_its_server_was_killed(killable: MariaDB) -> None:
    wrong: list[object] = []
    errors: list[mysql.Error] = []
    healed = [threading.Event() for _ in range(8)]
    down, over = threading.Event(), threading.Event()
    options = {"minsize": 2, "maxsize": 4, "acquire_timeout": 20, **killable.dsn, "connect_timeout": 5}
    with mysql.create_pool(**options) as pool:

        def work(number: int) -> None:
            round = 0
            while not over.is_set():
                round += 1
                try:
                    with pool.connection() as connection, connection.cursor() as cursor:
                        cursor.execute("SELECT %s, seq FROM seq_1_to_500", (number * 1_000_000 + round,))
                        rows = cursor.fetchall()
                        if rows != tuple((number * 1_000_000 + round, n + 1) for n in range(500)):
                            wrong.append(rows)
                        if down.is_set():
                            healed[number].set()
                except mysql.Error as error:
                    errors.append(error)

        threads = [threading.Thread(target=work, args=(number,)) for number in range(len(healed))]
        for thread in threads:
            thread.start()
        while pool.statistics().acquired < 50:
            pass
        killable.restart()
        down.set()
        assert all(one.wait(30) for one in healed)
        over.set()
        for thread in threads:
            thread.join(30)
            assert not thread.is_alive()
        assert pool.statistics().lent == 0
        assert pool.size <= 4
    assert wrong == []
    assert errors
    assert {error.errno for error in errors} <= set(OUTAGE), {str(error) for error in errors}


def test_a_pool_for_tasks_heals_after_its_server_was_killed(
    killable: MariaDB, new_loop: Callable[[], asyncio.AbstractEventLoop]
) -> None:
    async def main() -> None:
        errors: list[aio.Error] = []
        healed: set[int] = set()
        down = over = False
        busy, well = asyncio.Event(), asyncio.Event()
        options = {"minsize": 2, "maxsize": 4, "acquire_timeout": 20, **killable.dsn, "connect_timeout": 5}
        async with aio.create_pool(**options) as pool:

            async def work(number: int) -> None:
                round = 0
                while not over:
                    round += 1
                    try:
                        async with pool.acquire() as connection, connection.cursor() as cursor:
                            value = number * 1_000_000 + round
                            await cursor.execute("SELECT %s, seq FROM seq_1_to_500", (value,))
                            assert await cursor.fetchall() == tuple((value, n + 1) for n in range(500))
                            if round == 10:
                                busy.set()
                            if down:
                                healed.add(number)
                                if len(healed) == 8:
                                    well.set()
                    except aio.Error as error:
                        errors.append(error)
                        await asyncio.sleep(0)

            tasks = [asyncio.ensure_future(work(number)) for number in range(8)]
            await busy.wait()
            await asyncio.to_thread(killable.restart)
            down = True
            await well.wait()
            over = True
            await asyncio.gather(*tasks)
            assert pool.statistics().lent == 0
        assert errors
        assert {error.errno for error in errors} <= set(OUTAGE), {str(error) for error in errors}

    run(main(), new_loop)


def test_time_outs_fire_when_the_server_is_stopped(killable: MariaDB, stopped: Callable[[], None]) -> None:
    connection = mysql.connect(**killable.dsn, read_timeout=0.3)
    limited = mysql.connect(**killable.dsn, query_timeout=0.2, read_timeout=1, connect_timeout=0.3)
    stopped()
    for lost in (connection, limited):
        with pytest.raises(mysql.OperationalError) as caught:
            lost.query("SELECT 1")
        assert caught.value.errno in (2013, 3024)
        assert not lost.open
    with pytest.raises(mysql.OperationalError) as caught:
        mysql.connect(**killable.dsn, connect_timeout=0.3)
    assert caught.value.errno in (2003, 2013)


def test_time_outs_fire_under_asyncio_when_the_server_is_stopped(
    killable: MariaDB,
    stopped: Callable[[], None],
    new_loop: Callable[[], asyncio.AbstractEventLoop],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("rowferry.mysql.aio._cancel.CANCEL_GRACE", 0.3)
    monkeypatch.setattr("rowferry.mysql.aio.pool.CARE_LIMIT", 0.3)

    async def main() -> None:
        connection = await aio.connect(**killable.dsn, read_timeout=0.3)
        limited = await aio.connect(**killable.dsn, query_timeout=0.2)
        cancelled = await aio.connect(**killable.dsn)
        pool = await aio.create_pool(minsize=1, maxsize=1, pre_ping=True, **killable.dsn, connect_timeout=0.3)
        stopped()
        for lost in (connection, limited):
            with pytest.raises(aio.OperationalError) as caught:
                await lost.query("SELECT 1")
            assert caught.value.errno in (2013, 3024)
            assert not lost.open
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(cancelled.query("SELECT 1"), 0.1)
        assert not cancelled.open
        # The connection does not answer, and a new one cannot be had.
        with pytest.raises(aio.OperationalError) as caught:
            await pool.acquire()
        assert caught.value.errno == 2003
        assert pool.size == 0
        pool.close()
        await pool.wait_closed(5)

    run(main(), new_loop)


def test_a_lost_connection_is_a_disconnect_to_every_loop(
    killable: MariaDB, new_loop: Callable[[], asyncio.AbstractEventLoop]
) -> None:
    """uvloop raises RuntimeError where asyncio raises ConnectionError; to programs it is one error."""

    async def main() -> None:
        async with aio.connect(**killable.dsn) as killer:
            for turns in range(6):
                connection = await aio.connect(**killable.dsn)
                await killer.kill(connection.thread_id())
                # In some of these turns the loop has been told of the end, in others not.
                for _ in range(turns):
                    await asyncio.sleep(0)
                for _ in range(3):
                    with pytest.raises(aio.Error) as caught:
                        await connection.ping()
                        await connection.query("SELECT 1")
                    assert isinstance(caught.value, aio.OperationalError)
                    assert caught.value.errno in OUTAGE
                assert not connection.open

    run(main(), new_loop)


def test_the_pre_ping_of_sqlalchemy_sees_the_end(
    killable: MariaDB, new_loop: Callable[[], asyncio.AbstractEventLoop]
) -> None:
    dsn = killable.dsn
    place = f"{dsn['user']}:{dsn['password']}@{dsn['host']}:{dsn['port']}/{dsn['database']}"

    async def main() -> None:
        engine = create_async_engine(f"mysql+rowferry_async://{place}", pool_pre_ping=True)
        async with engine.connect() as connection:
            number = (await connection.execute(sqlalchemy.text("SELECT CONNECTION_ID()"))).scalar_one()
        async with aio.connect(**dsn) as killer:
            await killer.kill(number)
        async with engine.connect() as connection:
            assert (await connection.execute(sqlalchemy.text("SELECT CONNECTION_ID()"))).scalar_one() != number
        await engine.dispose()

    run(main(), new_loop)
    engine = sqlalchemy.create_engine(f"mysql+rowferry://{place}", pool_pre_ping=True)
    with engine.connect() as connection:
        number = connection.execute(sqlalchemy.text("SELECT CONNECTION_ID()")).scalar_one()
    with mysql.connect(**dsn) as killer:
        killer.kill(number)
    with engine.connect() as connection:
        assert connection.execute(sqlalchemy.text("SELECT CONNECTION_ID()")).scalar_one() != number
    engine.dispose()


@pytest.mark.parametrize("left", ["idle", "busy", "stream", "pool", "transaction"])
def test_what_a_loop_left_behind_is_collected_with_one_warning(
    killable: MariaDB, new_loop: Callable[[], asyncio.AbstractEventLoop], left: str
) -> None:
    kept: list[Any] = []

    async def main() -> None:
        if left == "pool":
            pool = await aio.create_pool(minsize=1, maxsize=1, **killable.dsn)
            kept.append(pool)
            kept.append(await pool.acquire())
            return
        connection = await aio.connect(**killable.dsn)
        kept.append(connection)
        if left == "busy":
            task = asyncio.ensure_future(connection.query("SELECT SLEEP(20)"))
            await asyncio.sleep(0.01)
            # As a loop that is closed amid its work leaves it: the task never runs again.
            kept.append(task)
            asyncio.get_running_loop().call_soon(asyncio.get_running_loop().stop)
            await asyncio.sleep(20)
        elif left == "stream":
            cursor = connection.cursor(aio.SSCursor)
            kept.append(cursor)
            await cursor.execute("SELECT seq FROM seq_1_to_100000")
            await cursor.fetchone()
        elif left == "transaction":
            await connection.begin()

    before = descriptors()
    unraisable: list[Any] = []
    hook, sys.unraisablehook = sys.unraisablehook, unraisable.append
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            loop = new_loop()
            said: list[Any] = []
            loop.set_exception_handler(lambda _, context: said.append(context))
            main_task = loop.create_task(main())
            if left == "busy":
                loop.run_forever()
            else:
                loop.run_until_complete(main_task)
            loop.close()
            del loop, main_task
            gc.collect()
            kept.clear()
            gc.collect()
    finally:
        sys.unraisablehook = hook
    assert unraisable == []
    ours = [str(warning.message) for warning in caught if "rowferry" in str(warning.message) or "Async" in str(warning)]
    # An operation that is destroyed with its task closes its connection; which of the two goes first, nobody knows.
    assert len(ours) == 1 or (left == "busy" and not ours), ours
    assert all(text.startswith("unclosed connection") for text in ours), ours
    # Tasks that are destroyed amid their work are the program's own.
    assert [context for context in said if "Task was destroyed" not in context["message"]] == []
    assert descriptors() <= before


def test_a_connection_is_closed_by_the_collector_while_its_loop_runs(
    killable: MariaDB, new_loop: Callable[[], asyncio.AbstractEventLoop]
) -> None:
    async def main() -> None:
        # libuv keeps a descriptor in reserve from the first connection on.
        await (await aio.connect(**killable.dsn)).ensure_closed()
        before = descriptors()
        connection = await aio.connect(**killable.dsn)
        await connection.ping()
        with pytest.warns(ResourceWarning, match="unclosed connection"):
            del connection
            gc.collect()
        await wait_until(lambda: descriptors() <= before, "the socket is closed")

    run(main(), new_loop)


def test_a_server_that_shuts_down_says_so_to_idle_connections(killable: MariaDB) -> None:
    connection = mysql.connect(**killable.dsn)
    with mysql.create_pool(minsize=1, maxsize=1, **killable.dsn) as pool:
        with pool.connection() as lent:
            number = lent.thread_id()
        killable.restart()
        with pytest.raises(mysql.OperationalError) as caught:
            connection.query("SELECT 1")
        assert caught.value.errno in OUTAGE
        # Without pre_ping: the kernel knows that the connection has ended.
        with pool.connection() as lent:
            assert lent.query("SELECT 1") == 1
            with contextlib.suppress(AssertionError):
                # Numbers begin anew in a new server, so that it may be the same by accident.
                assert lent.thread_id() != number
        assert pool.statistics().broken == 1
