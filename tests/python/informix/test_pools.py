"""Pools, blocking and asyncio: who gets a connection, in what state, and what happens when something breaks."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import random
import socket
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from rowferry import informix
from rowferry.informix import aio
from rowferry.informix._settings import settings_for

from tests.python.informix.server import Target, serve
from tests.servers.process import free_port
from tests.servers.rowferry import Rowferry


@pytest.fixture
def where(target: Target) -> dict[str, Any]:
    settings = settings_for(target.url)
    known = {"host": settings.host, "port": settings.port, "database": target.database}
    login = {"user": settings.user.decode(), "password": settings.password.decode(), "server": settings.server.decode()}
    return known | login | target.parameters | {"read_timeout": 20, "connect_timeout": 20}


def select_one(connection: informix.Connection) -> Any:
    cursor = connection.cursor()
    cursor.execute("SELECT 1 FROM systables WHERE tabid = 1")
    return cursor.fetchone()


async def select_one_async(connection: aio.AsyncConnection) -> Any:
    cursor = await connection.execute("SELECT 1 FROM systables WHERE tabid = 1")
    return await cursor.fetchone()


# -- sizes -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("least", "most"), [(-1, 1), (0, 0), (3, 2)])
def test_impossible_sizes_are_refused(where: dict[str, Any], least: int, most: int) -> None:
    with pytest.raises(ValueError, match="min_size"):
        informix.create_pool(**where, min_size=least, max_size=most)


def test_a_pool_opens_its_least_size_at_once_and_grows_on_demand(where: dict[str, Any]) -> None:
    with informix.create_pool(**where, min_size=2, max_size=3) as pool:
        assert (pool.size, pool.idle_count) == (2, 2)
        connections = [pool.acquire() for _ in range(3)]
        assert (pool.size, pool.idle_count) == (3, 0)
        for connection in connections:
            assert select_one(connection) == (1,)
            pool.release(connection)
        assert (pool.size, pool.idle_count) == (3, 3)
        statistics = pool.statistics()
        assert (statistics.opened, statistics.acquired, statistics.waited, statistics.lent) == (3, 3, 0, 0)


def test_who_cannot_be_served_in_time_is_told_who_holds_the_connections(where: dict[str, Any]) -> None:
    with informix.create_pool(**where, max_size=1) as pool, pool.connection():
        with pytest.raises(informix.PoolTimeout, match=r"held longest by MainThread .*test_pools\.py:\d+"):
            pool.acquire(timeout=0.05)
        assert pool.statistics().timed_out == 1


def test_who_cannot_be_served_in_time_is_told_which_task_holds_the_connections(where: dict[str, Any]) -> None:
    async def main() -> None:
        asyncio.current_task().set_name("the keeper")  # type: ignore[union-attr]
        async with aio.create_pool(**where, max_size=1) as pool, pool.connection():
            with pytest.raises(aio.PoolTimeout, match=r"held longest by the keeper .*test_pools\.py:\d+"):
                await pool.acquire(timeout=0.05)

    asyncio.run(main())


def test_a_server_that_refuses_is_an_error_and_gives_the_place_back(where: dict[str, Any]) -> None:
    with informix.create_pool(**(where | {"port": free_port()}), max_size=1) as pool:
        for _ in range(3):
            with pytest.raises(informix.OperationalError, match="cannot connect"):
                pool.acquire(timeout=1)
        assert pool.size == 0


# -- the state of what is lent -----------------------------------------------------------------------------------------


def test_what_was_not_committed_is_rolled_back(where: dict[str, Any]) -> None:
    with informix.create_pool(**where, max_size=1) as pool:
        with pool.connection() as connection:
            connection.execute("CREATE TABLE not_committed (a INT)")
            connection.commit()
        with pool.connection() as connection:
            first = connection
            connection.execute("INSERT INTO not_committed VALUES (1)")
            assert connection.in_transaction
        with pool.connection() as connection:
            assert connection is first
            assert not connection.in_transaction
            assert connection.execute("SELECT COUNT(*) FROM not_committed").fetchone()[0] == 0


def test_the_session_is_as_it_was_at_the_beginning(where: dict[str, Any]) -> None:
    with informix.create_pool(**where, max_size=1, isolation_level="cursor stability", lock_wait=3) as pool:
        with pool.connection() as connection:
            first = connection
            connection.set_isolation_level("dirty read")
            connection.lock_wait = None
            connection.autocommit = True
            connection.row_factory = dict
        with pool.connection() as connection:
            assert connection is first
            assert connection.isolation_level is informix.IsolationLevel.CURSOR_STABILITY
            assert connection.lock_wait == 3
            assert connection.autocommit is False
            assert select_one(connection) == (1,)
            # Noticed by the server's answer, not by reading the text.
            connection.execute("{ mine } SET ISOLATION TO DIRTY READ")
            assert connection.isolation_level is None
        with pool.connection() as connection:
            assert connection.isolation_level is informix.IsolationLevel.CURSOR_STABILITY


def test_cursors_of_an_earlier_borrower_are_closed(where: dict[str, Any]) -> None:
    with informix.create_pool(**where, max_size=1, fetch_bytes=4096) as pool:
        with pool.connection() as connection:
            cursor = connection.execute("SELECT a.tabid, a.tabname FROM systables a, systables b")
            assert cursor.fetchone() is not None
        with pool.connection() as connection:
            with pytest.raises(informix.InterfaceError, match="closed"):
                cursor.fetchall()
            assert select_one(connection) == (1,)


def test_a_block_that_fails_gives_a_sound_connection_back(where: dict[str, Any]) -> None:
    with informix.create_pool(**where, max_size=1) as pool:
        with pytest.raises(informix.ProgrammingError), pool.connection() as connection:
            first = connection
            connection.execute("SELECT no_such_column FROM systables")
        with pool.connection() as connection:
            assert connection is first


def test_what_is_given_back_twice_is_refused(where: dict[str, Any]) -> None:
    with informix.create_pool(**where, max_size=1) as pool:
        connection = pool.acquire()
        pool.release(connection)
        with pytest.raises(informix.InterfaceError, match="not lent"):
            pool.release(connection)
        assert (pool.size, pool.idle_count) == (1, 1)


# -- age, and death ----------------------------------------------------------------------------------------------------


def test_a_connection_is_replaced_at_the_end_of_its_life(where: dict[str, Any]) -> None:
    with informix.create_pool(**where, max_size=1, max_lifetime=0) as pool:
        with pool.connection() as first:
            pass
        with pool.connection() as second:
            assert second is not first and first.closed
        assert pool.statistics().retired == 2


def test_idle_connections_beyond_the_least_size_are_closed_in_time(where: dict[str, Any]) -> None:
    with informix.create_pool(**where, min_size=1, max_size=4, idle_timeout=0.05) as pool:
        connections = [pool.acquire() for _ in range(4)]
        gone = threading.Event()
        part = pool._part

        def parted(connection: informix.Connection) -> None:
            part(connection)
            if sum(each.closed for each in connections) == 3:
                gone.set()

        pool._part = parted  # type: ignore[method-assign]
        for connection in connections:
            pool.release(connection)
        assert gone.wait(20)
        assert pool.size == 1


def test_idle_connections_beyond_the_least_size_are_closed_in_time_by_the_event_loop(where: dict[str, Any]) -> None:
    async def main() -> None:
        async with aio.create_pool(**where, min_size=1, max_size=4, idle_timeout=0.05) as pool:
            connections = [await pool.acquire() for _ in range(4)]
            for connection in connections:
                await pool.release(connection)
            await until(lambda: pool.size == 1)

    asyncio.run(main())


def test_a_fresh_connection_is_not_asked_and_one_that_was_idle_is(where: dict[str, Any]) -> None:
    with informix.create_pool(**where, max_size=1, check_after=3600) as pool:
        asked: list[informix.Connection] = []
        pool._check = asked.append  # type: ignore[method-assign, assignment]
        with pool.connection():
            pass
        with pool.connection():
            assert asked == []
        pool._check_after = 0.0
        with pool.connection() as connection:
            assert asked == [connection]


def test_the_server_is_killed_and_started_again_under_a_pool(tmp_path: Path) -> None:
    port = free_port()
    with killed(serve(tmp_path / "app.db", port=port)) as server:
        where = {"host": "127.0.0.1", "port": port, "database": server.dbname, "read_timeout": 20}
        pool = informix.create_pool(**where, min_size=2, max_size=2)
        lent = pool.acquire()
        server.process.kill()
        with pytest.raises(informix.OperationalError):
            select_one(lent)
        pool.release(lent)
        # The idle one is noticed without a round trip; a new one cannot be had.
        with pytest.raises(informix.OperationalError, match="cannot connect"):
            pool.acquire()
        # A thread of the pool's own has tried to replace what was given back broken.
        in_time(lambda: pool.size == 0)
        assert pool.idle_count == 0
    with serve(tmp_path / "app.db", port=port), pool:
        for _ in range(3):
            with pool.connection() as connection:
                assert select_one(connection) == (1,)
        assert pool.statistics().broken == 2


def test_the_server_is_killed_and_started_again_under_an_asyncio_pool(tmp_path: Path) -> None:
    port = free_port()

    async def main() -> None:
        with killed(serve(tmp_path / "app.db", port=port)) as server:
            where = {"host": "127.0.0.1", "port": port, "database": server.dbname, "read_timeout": 20}
            pool = await aio.create_pool(**where, min_size=2, max_size=2)
            lent = await pool.acquire()
            server.process.kill()
            with pytest.raises(aio.OperationalError):
                await select_one_async(lent)
            await pool.release(lent)
            with pytest.raises(aio.OperationalError, match="cannot connect"):
                await pool.acquire()
            # A task of the pool's own has tried to replace what was given back broken.
            await until(lambda: pool.size == 0)
            assert pool.idle_count == 0
        with serve(tmp_path / "app.db", port=port):
            async with pool:
                for _ in range(3):
                    async with pool.connection() as connection:
                        assert await select_one_async(connection) == (1,)

    asyncio.run(main())


def test_a_connection_that_does_not_answer_is_replaced(where: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rowferry.informix.aio.pool.CARE_LIMIT", 0.2)
    monkeypatch.setattr("rowferry.informix.pool.CARE_LIMIT", 0.2)
    with Silent(where["host"], where["port"]) as relay:
        there = where | {"host": "127.0.0.1", "port": relay.port}
        with informix.create_pool(**there, max_size=1, check_after=0) as pool:
            with pool.connection() as first:
                pass
            relay.hold()
            with pool.connection() as second:
                assert second is not first and select_one(second) == (1,)

    async def main() -> None:
        with Silent(where["host"], where["port"]) as relay:
            there = where | {"host": "127.0.0.1", "port": relay.port}
            async with aio.create_pool(**there, max_size=1, check_after=0) as pool:
                async with pool.connection() as first:
                    pass
                relay.hold()
                async with pool.connection() as second:
                    assert second is not first and await select_one_async(second) == (1,)

    asyncio.run(main())


# -- many at once ------------------------------------------------------------------------------------------------------


def test_threads_that_wait_are_served_in_their_order(where: dict[str, Any]) -> None:
    with informix.create_pool(**where, max_size=1) as pool:
        served: list[int] = []

        def work(number: int) -> None:
            with pool.connection():
                served.append(number)

        first = pool.acquire()
        threads = []
        for number in range(8):
            threads.append(threading.Thread(target=work, args=(number,)))
            threads[-1].start()
            in_time(lambda: pool.statistics().waiting == len(threads))
        pool.release(first)
        for thread in threads:
            thread.join(30)
        assert served == list(range(8))


def test_many_threads_share_few_connections(where: dict[str, Any]) -> None:
    with informix.create_pool(**where, max_size=3) as pool:
        failures: list[BaseException] = []

        def work(number: int) -> None:
            try:
                for turn in range(20):
                    with pool.connection() as connection:
                        cursor = connection.cursor()
                        cursor.execute("SELECT FIRST 1 ?::INT FROM systables", (number * 1000 + turn,))
                        assert cursor.fetchone() == (number * 1000 + turn,)
            except BaseException as failure:
                failures.append(failure)

        threads = [threading.Thread(target=work, args=(number,)) for number in range(12)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        assert not failures
        assert pool.size <= 3 and pool.statistics().lent == 0 and pool.statistics().acquired == 240


def test_tasks_that_wait_are_served_in_their_order(where: dict[str, Any]) -> None:
    async def main() -> None:
        async with aio.create_pool(**where, max_size=1) as pool:
            served: list[int] = []

            async def work(number: int) -> None:
                async with pool.connection() as connection:
                    served.append(number)
                    assert await select_one_async(connection) == (1,)

            first = await pool.acquire()
            tasks = [asyncio.create_task(work(number)) for number in range(20)]
            await until(lambda: pool.statistics().waiting == 20)
            await pool.release(first)
            await asyncio.gather(*tasks)
            assert served == list(range(20))

    asyncio.run(main())


def test_ten_thousand_cancelled_acquires_leak_nothing(where: dict[str, Any]) -> None:
    async def main() -> None:
        dice = random.Random(14)
        async with aio.create_pool(**where, max_size=4) as pool:

            async def work() -> None:
                async with pool.connection() as connection:
                    if dice.random() < 0.02:
                        await select_one_async(connection)
                    else:
                        await asyncio.sleep(0)

            for _ in range(100):
                tasks = [asyncio.create_task(work()) for _ in range(100)]
                for task in tasks:
                    # At any moment: before it asks, while it waits, as it is handed a connection, while it has one.
                    if dice.random() < 0.3:
                        await asyncio.sleep(0)
                    task.cancel()
                await asyncio.gather(*tasks, return_exceptions=True)
            statistics = pool.statistics()
            assert (statistics.lent, statistics.waiting) == (0, 0)
            assert statistics.size == statistics.idle <= 4
            connections = [await pool.acquire(timeout=5) for _ in range(4)]
            for connection in connections:
                assert await select_one_async(connection) == (1,)
                await pool.release(connection)

    asyncio.run(main())


def test_who_is_cancelled_at_the_moment_of_success_gets_nothing_and_the_next_does(where: dict[str, Any]) -> None:
    async def main() -> None:
        async with aio.create_pool(**where, max_size=1) as pool:
            held = await pool.acquire()
            unlucky = asyncio.create_task(pool.acquire())
            lucky = asyncio.create_task(pool.acquire())
            await until(lambda: pool.statistics().waiting == 2)
            await pool.release(held)
            # The connection is given to the first, whose task has not run yet.
            assert pool.statistics().waiting == 1
            unlucky.cancel()
            assert await asyncio.wait_for(lucky, 5) is held
            assert unlucky.cancelled()
            await pool.release(held)

    asyncio.run(main())


def test_a_statement_that_is_cancelled_leaves_a_clean_connection_or_none(where: dict[str, Any]) -> None:
    async def main() -> None:
        async with aio.create_pool(**where, max_size=2) as pool:

            async def work() -> None:
                async with pool.connection() as connection:
                    await connection.execute("SELECT COUNT(*) FROM syscolumns a, syscolumns b, syscolumns c, systables")

            for _ in range(5):
                with pytest.raises(asyncio.TimeoutError):
                    await asyncio.wait_for(work(), 0.05)
                async with pool.connection() as connection:
                    assert await select_one_async(connection) == (1,)
            assert pool.statistics().lent == 0

    asyncio.run(main())


# -- the end -----------------------------------------------------------------------------------------------------------


def test_who_waits_is_told_when_the_pool_is_closed(where: dict[str, Any]) -> None:
    pool = informix.create_pool(**where, max_size=1)
    held = pool.acquire()
    told: list[BaseException] = []

    def wait() -> None:
        try:
            pool.acquire()
        except informix.PoolClosed as closed:
            told.append(closed)

    thread = threading.Thread(target=wait)
    thread.start()
    in_time(lambda: pool.statistics().waiting == 1)
    pool.close()
    thread.join(20)
    assert len(told) == 1
    # What is lent is finished in peace.
    assert select_one(held) == (1,)
    with pytest.raises(informix.PoolTimeout, match="MainThread"):
        pool.wait_closed(timeout=0.05)
    pool.release(held)
    pool.wait_closed(timeout=5)
    assert held.closed and pool.size == 0
    with pytest.raises(informix.PoolClosed):
        pool.acquire()


def test_tasks_that_wait_are_told_when_the_pool_is_closed(where: dict[str, Any]) -> None:
    async def main() -> None:
        pool = await aio.create_pool(**where, max_size=1)
        held = await pool.acquire()
        waiting = asyncio.create_task(pool.acquire())
        await until(lambda: pool.statistics().waiting == 1)
        await pool.close()
        with pytest.raises(aio.PoolClosed):
            await waiting
        ended = asyncio.create_task(pool.wait_closed())
        await pool.release(held)
        await asyncio.wait_for(ended, 5)
        assert held.closed

    asyncio.run(main())


def test_a_pool_that_an_event_loop_left_behind_is_collected_in_silence(where: dict[str, Any]) -> None:
    async def main() -> aio.AsyncConnectionPool:
        pool = await aio.create_pool(**where, min_size=2, max_size=2)
        async with pool.connection() as connection:
            assert await select_one_async(connection) == (1,)
        return pool

    pool = asyncio.run(main())
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        del pool
        gc.collect()
    assert {warning.category for warning in caught} <= {ResourceWarning}
    assert len([w for w in caught if "unclosed connection" in str(w.message)]) == 2


def test_a_pool_goes_on_in_another_event_loop_when_the_first_is_gone(where: dict[str, Any]) -> None:
    pool = aio.create_pool(**where, max_size=1)

    async def use() -> None:
        async with pool.connection() as connection:
            assert await select_one_async(connection) == (1,)

    asyncio.run(use())
    asyncio.run(use())
    asyncio.run(pool.close())


@contextlib.contextmanager
def killed(server: Rowferry) -> Iterator[Rowferry]:
    """A server that the test kills."""
    try:
        yield server
    finally:
        server.process.kill()


def in_time(condition: Callable[[], bool]) -> None:
    """Wait until other threads have made the condition true."""
    deadline = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0)


async def until(condition: Callable[[], bool]) -> None:
    """Wait until other tasks have made the condition true."""
    deadline = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < deadline
        await asyncio.sleep(0)


class Silent:
    """A relay that passes everything on until `hold`, and from then on nothing of the connections that it has."""

    def __init__(self, host: str, port: int) -> None:
        self._there = (host, port)
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.port = self._socket.getsockname()[1]
        self._pairs: list[socket.socket] = []
        self._held: set[socket.socket] = set()
        self._thread = threading.Thread(target=self._accept, daemon=True)

    def hold(self) -> None:
        """The connections of now go silent."""
        self._held.update(self._pairs)

    def _accept(self) -> None:
        while True:
            try:
                near, _ = self._socket.accept()
            except OSError:
                return
            far = socket.create_connection(self._there)
            self._pairs += [near, far]
            for source, target in ((near, far), (far, near)):
                threading.Thread(target=self._pass, args=(source, target), daemon=True).start()

    def _pass(self, source: socket.socket, target: socket.socket) -> None:
        try:
            while data := source.recv(65536):
                if source not in self._held:
                    target.sendall(data)
            target.shutdown(socket.SHUT_WR)
        except OSError:
            return

    def __enter__(self) -> Silent:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()
        self._thread.join(5)
        for end in self._pairs:
            end.close()
