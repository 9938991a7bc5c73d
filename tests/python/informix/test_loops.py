"""The asyncio driver and its event loops: asyncio's own and uvloop, while they run and when they are gone."""

from __future__ import annotations

import asyncio
import gc
import pickle
import warnings
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest
import uvloop
from rowferry import informix
from rowferry.informix import aio

from tests.python.informix.server import Target, serve

#: A question that no server answers in a tenth of a second.
ENDLESS = "SELECT COUNT(*) FROM syscolumns a, syscolumns b, syscolumns c, systables"


@pytest.fixture(params=[asyncio.new_event_loop, uvloop.new_event_loop], ids=["asyncio", "uvloop"])
def run(request: pytest.FixtureRequest) -> Callable[[Coroutine[Any, Any, Any]], Any]:
    """`asyncio.run` on that kind of loop."""

    def run(main: Coroutine[Any, Any, Any]) -> Any:
        loop = request.param()
        try:
            return loop.run_until_complete(main)
        finally:
            loop.run_until_complete(loop.shutdown_asyncgens())
            loop.close()

    return run


def test_statements_rows_and_pools_on_either_loop(run: Any, target: Target) -> None:
    async def main() -> None:
        async with aio.create_pool(target.url, max_size=3, **target.parameters) as pool:

            async def work(number: int) -> int:
                async with pool.connection() as connection:
                    cursor = await connection.execute("SELECT tabid FROM systables WHERE tabid <= ?", (number,))
                    return len([row async for row in cursor])

            assert await asyncio.gather(*(work(number) for number in range(1, 20))) == list(range(1, 20))

    run(main())


def test_a_lost_server_is_the_same_error_on_either_loop(run: Any, tmp_path: Path) -> None:
    async def main() -> None:
        server = serve(tmp_path / "app.db")
        try:
            assert server.informix is not None
            host, port = server.informix
            connection = await aio.connect(host, port, user="a", database="app")
            await connection.execute("SELECT tabid FROM systables")
        finally:
            server.process.kill()
        for _ in range(3):
            with pytest.raises((aio.OperationalError, aio.InterfaceError), match="connection"):
                await connection.ping()
        assert connection.closed
        await connection.close()

    run(main())


def test_a_statement_is_cancelled_on_either_loop_and_the_connection_goes_on(run: Any, target: Target) -> None:
    async def main() -> None:
        async with aio.connect(target.url, **target.parameters) as connection:
            for _ in range(3):
                with pytest.raises(asyncio.TimeoutError):
                    await asyncio.wait_for(
                        connection.execute("SELECT COUNT(*) FROM syscolumns a, syscolumns b, syscolumns c, systables"),
                        0.1,
                    )
                if connection.closed:
                    await connection.connect()
                cursor = await connection.execute("SELECT tabid FROM systables WHERE tabid = 1")
                assert await cursor.fetchall() == [(1,)]

    run(main())


def test_what_a_loop_leaves_behind_warns_once_and_raises_nothing(run: Any, target: Target) -> None:
    async def main() -> tuple[aio.AsyncConnection, aio.AsyncCursor]:
        connection = await aio.connect(target.url, fetch_bytes=2048, **target.parameters)
        cursor = await connection.execute("SELECT a.tabid FROM systables a, systables b")
        assert await cursor.fetchone() is not None
        return connection, cursor

    with warnings.catch_warnings(record=True) as caught:
        # Not as errors: uvloop's `close` warns of its open transports, and would never end.
        warnings.simplefilter("always")
        left = run(main())
        del left
        gc.collect()
    ours = [warning for warning in caught if "unclosed connection" in str(warning.message)]
    assert len(ours) == 1
    assert {warning.category for warning in caught} == {ResourceWarning}


def test_a_connection_can_be_closed_after_its_loop(run: Any, target: Target) -> None:
    async def main() -> aio.AsyncConnection:
        return await aio.connect(target.url, **target.parameters)

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        connection = run(main())
        run(connection.close())
        assert connection.closed
        del connection
        gc.collect()
    assert not [warning for warning in caught if "unclosed connection" in str(warning.message)]


def test_errors_travel_between_processes_with_all_they_know(target: Target) -> None:
    with informix.connect(target.url, **target.parameters) as connection:
        with pytest.raises(informix.ProgrammingError) as refused:
            connection.execute("SELECT a FROM no_such_table")
    error = refused.value
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is type(error) and again.args == error.args and again.__dict__ == error.__dict__
    assert (again.sqlcode, again.isam_code, again.sql) == (-206, -111, "SELECT a FROM no_such_table")
    assert "no_such_table" in str(again)


def test_a_lonely_statement_needs_no_round_of_the_loop(target: Target) -> None:
    class CountingLoop(asyncio.SelectorEventLoop):
        rounds = 0

        def _run_once(self) -> None:
            self.rounds += 1
            super()._run_once()  # type: ignore[misc]

    async def main() -> None:
        loop = asyncio.get_running_loop()
        assert isinstance(loop, CountingLoop)
        async with aio.connect(target.url, **target.parameters) as connection:
            # Whatever other tests have left: after a crowd the loop is used for a while.
            for _ in range(100):
                await connection.ping()
            before = loop.rounds
            for number in range(1, 101):
                cursor = await connection.execute("SELECT tabid FROM systables WHERE tabid = ?", (number % 20 + 1,))
                assert await cursor.fetchall() == [(number % 20 + 1,)]
            assert loop.rounds - before < 50
            # What else is to be done is done while a statement waits.
            heard: list[float] = []
            loop.call_later(0.05, lambda: heard.append(loop.time()))
            with pytest.raises(asyncio.TimeoutError):
                await asyncio.wait_for(connection.execute(ENDLESS), 0.3)
            assert heard

    with asyncio.Runner(loop_factory=CountingLoop, debug=False) as runner:
        runner.run(main())
