"""Cancelled and interrupted operations: the connection is usable or closed, and no row is ever another's."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from rowferry import informix
from rowferry.informix import aio

from tests.python.cancelling import cancel_after, descriptors, steps, wait_until
from tests.python.informix.relay import HoldingRelay
from tests.servers.rowferry import Rowferry

Operation = Callable[[aio.AsyncConnection], Awaitable[Any]]

ROWS = 400
#: Joins that take far longer than any test.
ENDLESS = "SELECT COUNT(*) FROM numbers a, numbers b, numbers c, numbers d WHERE a.n + b.n + c.n + d.n = -1"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rowferry]:
    file = tmp_path_factory.mktemp("cancel") / "app.db"
    with Rowferry.start(file, postgres=False, informix=True) as server:
        with informix.connect(**at(server)) as connection:
            connection.execute("CREATE TABLE numbers (n INT, t VARCHAR(40), b BYTE)")
            connection.execute("CREATE TABLE written (n INT, t VARCHAR(40))")
            cursor = connection.cursor()
            cursor.executemany("INSERT INTO numbers VALUES (?, ?, NULL)", [(n, f"text {n}") for n in range(ROWS)])
            connection.execute("UPDATE numbers SET b = ? WHERE n < 5", (b"blob" * 2000,))
            connection.commit()
        yield server


def at(server: Rowferry, **more: Any) -> dict[str, Any]:
    assert server.informix is not None
    host, port = server.informix
    return {"host": host, "port": port, "user": "ada", "database": server.dbname, "connect_timeout": 20, **more}


async def assert_usable(connection: aio.AsyncConnection, number: int) -> None:
    """A question whose answer no other question has."""
    cursor = await connection.execute("SELECT n, t FROM numbers WHERE n = ?", (number % ROWS,))
    assert await cursor.fetchall() == [(number % ROWS, f"text {number % ROWS}")]


async def read_rows(connection: aio.AsyncConnection) -> None:
    cursor = await connection.execute("SELECT n, t FROM numbers ORDER BY n")
    assert await cursor.fetchall() == [(n, f"text {n}") for n in range(ROWS)]


async def read_blobs(connection: aio.AsyncConnection) -> None:
    cursor = await connection.execute("SELECT n, b FROM numbers WHERE n < 5 ORDER BY n")
    assert await cursor.fetchall() == [(n, b"blob" * 2000) for n in range(5)]


async def write_many(connection: aio.AsyncConnection) -> None:
    cursor = connection.cursor()
    await cursor.executemany("INSERT INTO written VALUES (?, ?)", ((n, "x" * 40) for n in range(3000)))
    await connection.rollback()


async def commit(connection: aio.AsyncConnection) -> None:
    await connection.execute("INSERT INTO written VALUES (1, 'committed')")
    await connection.commit()


async def fail(connection: aio.AsyncConnection) -> None:
    with pytest.raises(informix.ProgrammingError):
        await connection.execute("SELECT nosuch FROM numbers")


@pytest.mark.parametrize("operation", [read_rows, read_blobs, write_many, commit, fail], ids=lambda f: f.__name__)
def test_an_operation_cancelled_at_any_step_leaves_the_connection_usable(
    server: Rowferry, operation: Operation
) -> None:
    async def main() -> None:
        connection = await aio.connect(**at(server, fetch_bytes=2000))
        number = 0
        for step in steps():
            cancelled = await cancel_after(step, operation(connection))
            if connection.closed:
                connection = await aio.connect(**at(server, fetch_bytes=2000))
            await assert_usable(connection, number)
            await connection.rollback()
            assert not connection.in_transaction
            number += 1
            if not cancelled:
                break
        assert number > 3
        await connection.close()

    asyncio.run(asyncio.wait_for(main(), 100))


def test_what_a_cancelled_commit_left_is_whole_or_nothing(server: Rowferry) -> None:
    async def main() -> None:
        async with aio.connect(**at(server)) as connection, aio.connect(**at(server)) as watcher:
            await connection.execute("CREATE TABLE pairs (n INT)")
            await connection.commit()

            async def pair(number: int) -> None:
                await connection.execute("INSERT INTO pairs VALUES (?)", (number,))
                await connection.execute("INSERT INTO pairs VALUES (?)", (number,))
                await connection.commit()

            for number, step in enumerate(steps()):
                cancelled = await cancel_after(step, pair(number))
                await connection.rollback()
                cursor = await watcher.execute("SELECT COUNT(*) FROM pairs WHERE n = ?", (number,))
                assert await cursor.fetchone() in ((0,), (2,))
                await watcher.rollback()
                if not cancelled:
                    break

    asyncio.run(asyncio.wait_for(main(), 100))


def threads(server: Rowferry) -> int:
    return len(list(Path(f"/proc/{server.pid}/task").iterdir()))


def test_connecting_and_closing_cancelled_at_any_step_leave_no_socket(server: Rowferry) -> None:
    async def connect() -> None:
        await (await aio.connect(**at(server))).close()

    async def main() -> None:
        await connect()
        before, sessions = descriptors(), threads(server)
        for step in steps():
            if not await cancel_after(step, connect()):
                break
        await wait_until(lambda: descriptors() <= before, "sockets of cancelled connections are closed")
        await wait_until(lambda: threads(server) <= sessions, "the server's threads of cancelled connections end")

    asyncio.run(asyncio.wait_for(main(), 100))


def test_answers_cancelled_at_any_byte_are_read_away(server: Rowferry) -> None:
    async def main() -> None:
        assert server.informix is not None
        async with HoldingRelay(*server.informix) as relay:
            through = at(server, port=relay.port, autocommit=True, fetch_bytes=4000)
            async with aio.connect(**through) as connection:
                # The second time it is prepared already.
                await read_rows(connection)
                before = relay.passed
                await read_rows(connection)
                length = relay.passed - before
                assert length > 4000
                for number, count in enumerate([*range(12), *range(12, length, 97), length - 1]):
                    relay.hold_after(count)
                    task = asyncio.ensure_future(read_rows(connection))
                    await asyncio.wait_for(relay.held.wait(), 20)
                    task.cancel()
                    asyncio.get_running_loop().call_later(0.001, relay.release)
                    await asyncio.wait((task,), timeout=30)
                    assert task.cancelled(), count
                    assert not connection.closed
                    await assert_usable(connection, number)

    asyncio.run(asyncio.wait_for(main(), 100))


def test_what_is_not_answered_costs_the_connection(server: Rowferry, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rowferry.informix.aio.connection.CANCEL_GRACE", 0.1)

    async def main() -> None:
        assert server.informix is not None
        async with HoldingRelay(*server.informix) as relay:
            for operation in (read_rows, write_many, commit):
                connection = await aio.connect(**at(server, port=relay.port))
                relay.hold_after(0)
                task = asyncio.ensure_future(operation(connection))
                await asyncio.wait_for(relay.held.wait(), 20)
                task.cancel()
                await asyncio.wait((task,), timeout=30)
                assert task.cancelled() and connection.closed
                with pytest.raises(informix.InterfaceError, match="closed"):
                    await connection.execute("SELECT 1 FROM numbers")
                relay.release()

    asyncio.run(asyncio.wait_for(main(), 100))


def test_a_second_cancel_does_not_wait(server: Rowferry) -> None:
    async def main() -> None:
        assert server.informix is not None
        async with HoldingRelay(*server.informix) as relay:
            connection = await aio.connect(**at(server, port=relay.port))
            relay.hold_after(0)
            task = asyncio.ensure_future(read_rows(connection))
            await asyncio.wait_for(relay.held.wait(), 20)
            task.cancel()
            await asyncio.sleep(0)
            task.cancel()
            await asyncio.wait((task,), timeout=2)
            assert task.cancelled() and connection.closed

    asyncio.run(asyncio.wait_for(main(), 100))


def test_a_time_limit_for_a_statement_keeps_the_connection(server: Rowferry) -> None:
    async def main() -> None:
        async with aio.connect(**at(server, autocommit=True)) as connection:
            for number in range(3):
                with pytest.raises(asyncio.TimeoutError):
                    await asyncio.wait_for(connection.execute(ENDLESS), 0.1)
                assert not connection.closed
                await assert_usable(connection, number)

    asyncio.run(asyncio.wait_for(main(), 100))


def test_a_timer_limits_a_statement_of_the_blocking_driver(server: Rowferry) -> None:
    with informix.connect(**at(server, autocommit=True, read_timeout=60)) as connection:
        for number in range(3):
            timer = threading.Timer(0.2, connection.interrupt)
            timer.start()
            with pytest.raises(informix.OperationalError) as caught:
                connection.execute(ENDLESS)
            timer.join()
            assert caught.value.sqlcode == -213
            assert connection.execute("SELECT n FROM numbers WHERE n = ?", (number,)).fetchall() == [(number,)]


def test_an_interrupt_while_nothing_runs_hits_nothing(server: Rowferry) -> None:
    with informix.connect(**at(server, autocommit=True)) as connection:
        for number in range(20):
            connection.interrupt()
            assert connection.execute("SELECT n FROM numbers WHERE n = ?", (number,)).fetchall() == [(number,)]

    async def main() -> None:
        async with aio.connect(**at(server, autocommit=True)) as connection:
            for number in range(20):
                connection.interrupt()
                await assert_usable(connection, number)

    asyncio.run(main())


def test_silence_is_limited_and_not_how_long_an_answer_takes(server: Rowferry) -> None:
    async def main() -> None:
        assert server.informix is not None
        async with HoldingRelay(*server.informix) as relay:
            async with aio.connect(**at(server, port=relay.port, read_timeout=0.4)) as connection:

                async def trickle() -> None:
                    while True:
                        relay.hold_after(700)
                        await relay.held.wait()
                        await asyncio.sleep(0.1)
                        relay.release()

                slowly = asyncio.ensure_future(trickle())
                began = asyncio.get_running_loop().time()
                await read_rows(connection)
                slowly.cancel()
                # As slow as that, longer than the limit in total.
                assert asyncio.get_running_loop().time() - began > 0.4
                relay.hold_after(0)
                with pytest.raises(informix.OperationalError, match="timed out"):
                    await read_rows(connection)
                assert connection.closed

    asyncio.run(asyncio.wait_for(main(), 100))
