"""Cancelled operations: the connection answers the next question rightly or is closed, and nothing is left behind."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from typing import Any

import pytest
from rowferry import mysql
from rowferry.mysql import aio
from rowferry.mysql.aio import SSCursor

from tests.python.cancelling import cancel_after, descriptors, steps, wait_until
from tests.servers.mariadb import MariaDB
from tests.servers.mysql import MySQLServer

Operation = Callable[[aio.Connection, int], Awaitable[Any]]


def run(main: Coroutine[Any, Any, None]) -> None:
    asyncio.run(asyncio.wait_for(main, 100))


@pytest.fixture(params=["patient", "impatient"])
def patience(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether statements may end by themselves, as nearly all do, or are killed at once."""
    if request.param == "impatient":
        monkeypatch.setattr("rowferry.mysql.aio._cancel.PATIENCE", 0)


@pytest.fixture(scope="module")
def tables(mariadb: MariaDB) -> Iterator[MariaDB]:
    with mysql.connect(**mariadb.dsn, autocommit=True) as connection, connection.cursor() as cursor:
        cursor.execute("CREATE TABLE cancelled (n INT, t VARCHAR(100)) ENGINE=InnoDB")
        cursor.execute("CREATE TABLE pairs (n INT) ENGINE=InnoDB")
        cursor.execute("CREATE PROCEDURE two_results(n INT) BEGIN SELECT n, seq FROM seq_1_to_50; SELECT n + 1; END")
        yield mariadb
        cursor.execute("DROP TABLE cancelled, pairs")
        cursor.execute("DROP PROCEDURE two_results")


async def query(connection: aio.Connection, number: int) -> None:
    async with connection.cursor() as cursor:
        await cursor.execute("SELECT %s, seq FROM seq_1_to_3000", (number,))
        assert await cursor.fetchall() == tuple((number, n + 1) for n in range(3000))


async def prepared(connection: aio.Connection, number: int) -> None:
    async with await connection.prepare("SELECT ?, seq FROM seq_1_to_200") as statement:
        for at in range(2):
            assert (await statement.execute((number + at,))).rows == tuple((number + at, n + 1) for n in range(200))


async def cached(connection: aio.Connection, number: int) -> None:
    async with connection.cursor() as cursor:
        # A new statement in half of the rounds, a known one in the others.
        for at in range(2):
            await cursor.execute(f"SELECT %s, {number // 2}", (number + at,))
            assert await cursor.fetchall() == ((number + at, number // 2),)


async def stream(connection: aio.Connection, number: int) -> None:
    async with connection.cursor(SSCursor) as cursor:
        await cursor.execute("SELECT %s, seq FROM seq_1_to_20000", (number,))
        assert await cursor.fetchmany(700) == [(number, n + 1) for n in range(700)]


async def whole_stream(connection: aio.Connection, number: int) -> None:
    async with connection.cursor(SSCursor) as cursor:
        await cursor.execute("SELECT %s, seq FROM seq_1_to_2000; SELECT %s", (number, number))
        count = 0
        async for row in cursor:
            count += 1
            assert row == (number, count)
        assert count == 2000
        assert await cursor.nextset()
        assert await cursor.fetchone() == (number,)


async def insert_many(connection: aio.Connection, number: int) -> None:
    async with connection.cursor() as cursor:
        rows = [(n, "x" * 50) for n in range(3000)]
        assert await cursor.executemany("INSERT INTO cancelled VALUES (%s, %s)", rows) == 3000
    await connection.rollback()


async def update_many(connection: aio.Connection, number: int) -> None:
    async with connection.cursor() as cursor:
        await cursor.executemany("UPDATE cancelled SET n = %s WHERE t = %s", [(n, "none") for n in range(20)])


async def call(connection: aio.Connection, number: int) -> None:
    async with connection.cursor() as cursor:
        await cursor.callproc("two_results", (number,))
        assert await cursor.fetchall() == tuple((number, n + 1) for n in range(50))
        assert await cursor.nextset()
        assert await cursor.fetchall() == ((number + 1,),)


async def commands(connection: aio.Connection, number: int) -> None:
    await connection.ping()
    await connection.begin()
    await connection.commit()
    await connection.select_db(connection.db)
    await connection.autocommit(number % 2 == 0)
    await connection.reset()


async def fail(connection: aio.Connection, number: int) -> None:
    async with connection.cursor() as cursor:
        with pytest.raises(aio.ProgrammingError):
            await cursor.execute("SELECT nothing FROM nowhere")


async def long_request(connection: aio.Connection, number: int) -> None:
    async with connection.cursor() as cursor:
        await cursor.execute("SELECT LENGTH(%s), %s", ("x" * 3_000_000, number))
        assert await cursor.fetchall() == ((3_000_000, number),)


async def load(connection: aio.Connection, number: int) -> None:
    async with connection.cursor() as cursor:
        rows = ((n, "x" * 90) for n in range(5000))
        assert await cursor.load_rows("cancelled", rows) == 5000
    await connection.rollback()


OPERATIONS = [
    query,
    prepared,
    cached,
    stream,
    whole_stream,
    insert_many,
    update_many,
    call,
    commands,
    fail,
    long_request,
    load,
]


async def assert_usable(connection: aio.Connection, number: int) -> None:
    """A question whose answer no other question has."""
    async with connection.cursor() as cursor:
        await cursor.execute("SELECT %s, 'probe'", (-number,))
        assert await cursor.fetchall() == ((-number, "probe"),)


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda f: f.__name__)
def test_an_operation_cancelled_at_any_step_leaves_the_connection_usable(tables: MariaDB, operation: Operation) -> None:
    options = {**tables.dsn, "stmt_cache_size": 8 if operation is cached else 0, "local_infile": operation is load}

    async def main() -> None:
        connection = await aio.connect(**options)
        number = kept = 0
        first = connection.thread_id()
        for step in steps():
            cancelled = await cancel_after(step, operation(connection, number))
            number += 1
            if not connection.open:
                connection = await aio.connect(**options)
            await assert_usable(connection, number)
            await connection.rollback()
            kept += connection.thread_id() == first
            if not cancelled:
                break
        assert number > 3
        # Nothing here lasts long enough to cost a connection, but for an upload that nobody goes on with and what
        # a kill meets while the session is made anew.
        assert kept == number or operation in (load, commands)
        assert kept > 0
        await connection.ensure_closed()

    run(main())


@pytest.mark.parametrize("compress", ["zlib", False])
def test_answers_under_tls_and_compression(tls_server: MariaDB, compress: Any) -> None:
    async def main() -> None:
        async with aio.connect(**tls_server.dsn, ssl=True, compress=compress) as connection:
            for number, step in enumerate(steps()):
                cancelled = await cancel_after(step, query(connection, number))
                assert connection.open
                await assert_usable(connection, number)
                if not cancelled:
                    break

    run(main())


def test_what_a_cancelled_commit_left_is_whole_or_nothing(tables: MariaDB) -> None:
    async def main() -> None:
        async with aio.connect(**tables.dsn) as connection, aio.connect(**tables.dsn, autocommit=True) as watcher:

            async def pair(number: int) -> None:
                await connection.begin()
                await connection.query(f"INSERT INTO pairs VALUES ({number})")
                await connection.query(f"INSERT INTO pairs VALUES ({number})")
                await connection.commit()

            async with watcher.cursor() as cursor:
                for number, step in enumerate(steps()):
                    cancelled = await cancel_after(step, pair(number))
                    await connection.rollback()
                    await cursor.execute("SELECT COUNT(*) FROM pairs WHERE n = %s", (number,))
                    assert await cursor.fetchone() in ((0,), (2,))
                    if not cancelled:
                        break

    run(main())


def sessions(server: MySQLServer) -> int:
    """How many connections the server has, this one not counted."""
    with mysql.connect(**server.dsn) as connection, connection.cursor() as cursor:
        cursor.execute("SHOW STATUS LIKE 'Threads_connected'")
        return int(cursor.fetchone()[1]) - 1


@pytest.mark.parametrize("way", ["plain", "tls", "sha2 over tls", "sha2 under rsa", "parsec", "reset"])
def test_connecting_cancelled_at_any_step_leaves_no_socket(request: pytest.FixtureRequest, way: str) -> None:
    name = {"tls": "tls_server", "parsec": "mariadb11"}.get(way, "mysql9" if "sha2" in way else "mariadb")
    server: MySQLServer = request.getfixturevalue(name)
    options: dict[str, Any] = dict(server.dsn)
    admin = mysql.connect(**server.dsn, autocommit=True)
    if way == "tls":
        options["ssl"] = True
    elif way == "sha2 under rsa":
        options["ssl_mode"] = "DISABLED"
    elif way == "parsec":
        with contextlib.suppress(mysql.OperationalError):
            admin.query("INSTALL SONAME 'auth_parsec'")
        admin.query("CREATE OR REPLACE USER cancelled@'%' IDENTIFIED VIA parsec USING PASSWORD('secret')")
        options.update(user="cancelled", password="secret", database=None)
    elif way == "reset":
        options["init_command"] = "SET @set = 1; SELECT SLEEP(0)"

    async def connect() -> None:
        await (await aio.connect(**options)).ensure_closed()

    async def main() -> None:
        await connect()
        before, connections, tasks = descriptors(), sessions(server), len(asyncio.all_tasks())
        for step in steps():
            if "sha2" in way:
                # Nobody is remembered: the password is asked for in full.
                admin.query("FLUSH PRIVILEGES")
            if not await cancel_after(step, connect()):
                break
        await wait_until(lambda: descriptors() <= before, "sockets of cancelled connections are closed")
        await wait_until(lambda: sessions(server) <= connections, "the server's sessions end")
        assert len(asyncio.all_tasks()) == tasks

    try:
        run(main())
    finally:
        if way == "parsec":
            admin.query("DROP USER cancelled@'%'")
        admin.close()


@pytest.mark.parametrize("options", [{}, {"pre_ping": True}, {"reset_on_release": True, "minsize": 0}], ids=str)
def test_borrowing_cancelled_at_any_step_leaks_nothing(tables: MariaDB, options: dict[str, Any]) -> None:
    async def main() -> None:
        async with aio.create_pool(**{"minsize": 1, "maxsize": 2, **options}, **tables.dsn) as pool:

            async def borrow(number: int) -> None:
                async with pool.acquire() as connection:
                    await connection.begin()
                    await connection.query(f"INSERT INTO pairs VALUES ({-1 - number})")

            held = None
            for number, step in enumerate(steps()):
                if number % 3 == 0:
                    # Only one is left.
                    held = await pool.acquire()
                cancelled = await cancel_after(step, borrow(number))
                if held is not None:
                    await pool.release(held)
                    held = None
                async with pool.acquire(timeout=10) as one, pool.acquire(timeout=10) as two:
                    assert pool.statistics().lent == 2
                    for connection in (one, two):
                        assert not connection.get_transaction_status()
                        await assert_usable(connection, number)
                if not cancelled:
                    break
            assert pool.statistics().lent == 0
            assert pool.size <= 2
            assert not pool.holders()

    run(main())
    with mysql.connect(**tables.dsn) as connection, connection.cursor() as cursor:
        cursor.execute("SELECT COUNT(*) FROM pairs WHERE n < 0")
        assert cursor.fetchone() == (0,)


def test_ten_thousand_cancelled_acquires(mariadb: MariaDB) -> None:
    async def main() -> None:
        async with aio.create_pool(minsize=2, maxsize=2, **mariadb.dsn) as pool:
            before = descriptors()
            for round in range(100):
                held = [await pool.acquire(), await pool.acquire()]
                tasks = [asyncio.ensure_future(take(pool)) for _ in range(100)]
                await asyncio.sleep(0)
                assert pool.statistics().waiting == 100
                # Some are cancelled while they wait, some in the step in which they are given a connection.
                for task in tasks[: round % 100]:
                    task.cancel()
                for connection in held:
                    await pool.release(connection)
                for task in tasks:
                    task.cancel()
                await asyncio.wait(tasks, timeout=30)
                for task in tasks:
                    assert task.done()
                    if not task.cancelled():
                        await pool.release(task.result())
                statistics = pool.statistics()
                assert (statistics.lent, statistics.waiting, statistics.size, statistics.idle) == (0, 0, 2, 2)
            assert pool.statistics().opened == 2
            assert descriptors() <= before
            async with pool.acquire() as connection:
                await assert_usable(connection, 1)

    async def take(pool: aio.Pool) -> aio.Connection:
        return await pool.acquire()

    run(main())


def test_a_kill_never_hits_the_next_statement(server: MySQLServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rowferry.mysql.aio._cancel.PATIENCE", 0)
    sql = "SELECT COUNT(*), SLEEP(%s) FROM information_schema.character_sets"

    async def work(number: int) -> None:
        async with aio.connect(**server.dsn) as connection, connection.cursor() as cursor:
            first = connection.thread_id()
            for round in range(60):
                # Over at about the time at which the kill comes.
                task = asyncio.ensure_future(cursor.execute(sql, (0.0001 * (round % 20),)))
                for _ in range(1 + (number + round) % 7):
                    await asyncio.sleep(0)
                task.cancel()
                await asyncio.wait((task,), timeout=30)
                assert task.done()
                # A late kill would end this one with 1317.
                for at in range(3):
                    await cursor.execute("SELECT SLEEP(0), %s, %s", (round, at))
                    assert await cursor.fetchall() == ((0, round, at),)
            assert connection.thread_id() == first

    async def main() -> None:
        await asyncio.gather(*(work(number) for number in range(8)))

    run(main())


def test_a_cancelled_statement_does_not_run_on(server: MySQLServer) -> None:
    async def main() -> None:
        async with aio.connect(**server.dsn) as connection, connection.cursor() as cursor:
            for number in range(3):
                with pytest.raises(asyncio.TimeoutError):
                    await asyncio.wait_for(cursor.execute(f"SELECT SLEEP(50), 'runs on {number}'"), 0.05)
                assert connection.open
                await assert_usable(connection, number)
                await cursor.execute(
                    "SELECT COUNT(*) FROM information_schema.processlist WHERE info LIKE 'SELECT SLEEP(50), %'"
                )
                assert await cursor.fetchone() == (0,)

    run(main())


def test_what_is_not_over_in_time_costs_the_connection(mariadb: MariaDB, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rowferry.mysql.aio._cancel.CANCEL_GRACE", 0.1)

    async def deaf(*_: Any) -> None:
        """A server on which nothing can be killed."""

    monkeypatch.setattr("rowferry.mysql.aio._cancel.kill_query", deaf)

    async def main() -> None:
        connection = await aio.connect(**mariadb.dsn)
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(connection.query("SELECT SLEEP(2), 'deaf'"), 0.05)
        assert not connection.open
        with pytest.raises(aio.InterfaceError, match="closed"):
            await connection.query("SELECT 1")

    run(main())


def test_a_second_cancel_does_not_wait(mariadb: MariaDB) -> None:
    async def main() -> None:
        for step in range(1, 40, 3):
            connection = await aio.connect(**mariadb.dsn)
            task = asyncio.ensure_future(connection.query("SELECT SLEEP(1)"))
            await asyncio.sleep(0.001)
            task.cancel()
            for _ in range(step):
                await asyncio.sleep(0)
            task.cancel()
            await asyncio.wait((task,), timeout=0.9)
            assert task.cancelled()
            if connection.open:
                await assert_usable(connection, step)
            await connection.ensure_closed()

    run(main())


def test_a_task_that_is_destroyed_amid_an_operation_closes_its_connection(mariadb: MariaDB) -> None:
    async def main() -> None:
        connection = await aio.connect(**mariadb.dsn)
        coroutine = connection.query("SELECT SLEEP(20)")
        coroutine.send(None)
        # As the collector does it to a task that nobody kept.
        coroutine.close()
        assert not connection.open

    run(main())
