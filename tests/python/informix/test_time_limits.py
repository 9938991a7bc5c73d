"""Servers that take nothing, and what a fork may not do: a usable connection or a closed one."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from typing import Any

import pytest
from rowferry import informix
from rowferry.informix import aio

from tests.python.mysql.relay import Relay
from tests.servers.rowferry import Rowferry

LARGE = b"x" * 60_000_000


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rowferry]:
    with Rowferry.start(tmp_path_factory.mktemp("limits") / "app.db", postgres=False, informix=True) as server:
        yield server


def at(server: Rowferry, **more: Any) -> dict[str, Any]:
    assert server.informix is not None
    host, port = server.informix
    return {"host": host, "port": port, "user": "a", "database": server.dbname, "autocommit": True, **more}


def test_a_server_that_takes_nothing_ends_in_a_write_time_out(server: Rowferry) -> None:
    where = at(server, write_timeout=0.3)
    insert = "INSERT INTO taken_slowly VALUES (?)"
    with informix.connect(**at(server)) as connection:
        connection.execute("CREATE TABLE taken_slowly (content BYTE)")

    async def main() -> None:
        with Relay(where["host"], where["port"]) as relay:
            connection = await aio.connect(**{**where, "port": relay.port})
            # Once it is described, the values are sent at once.
            await connection.execute(insert, (b"small",))
            relay.stop_reading()
            with pytest.raises(informix.OperationalError, match="timed out while writing"):
                await connection.execute(insert, (LARGE,))
            assert connection.closed

    asyncio.run(asyncio.wait_for(main(), 60))
    with Relay(where["host"], where["port"]) as relay:
        connection = informix.connect(**{**where, "port": relay.port})
        connection.execute(insert, (b"small",))
        relay.stop_reading()
        with pytest.raises(informix.OperationalError, match="timed out while writing"):
            connection.execute(insert, (LARGE,))
        assert connection.closed


def test_a_forked_child_leaves_its_parents_connections_alone(server: Rowferry) -> None:
    with (
        informix.connect(**at(server)) as connection,
        informix.create_pool(min_size=1, max_size=2, **at(server)) as pool,
    ):
        child = os.fork()
        if child == 0:
            status = 1
            try:
                try:
                    connection.execute("SELECT 1 FROM systables WHERE tabid = 1")
                except informix.OperationalError as error:
                    assert "forked" in str(error)
                    assert connection.closed
                    connection.close()
                    # A pool goes on with connections of its own.
                    with pool.connection() as own:
                        assert own.execute("SELECT 2 FROM systables WHERE tabid = 1").fetchall() == [(2,)]
                    pool.close()
                    status = 0
            finally:
                os._exit(status)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        assert connection.execute("SELECT 3 FROM systables WHERE tabid = 1").fetchall() == [(3,)]
        with pool.connection() as lent:
            assert lent.execute("SELECT 4 FROM systables WHERE tabid = 1").fetchall() == [(4,)]


def test_a_forked_child_leaves_its_parents_event_loop_alone(server: Rowferry) -> None:
    async def main() -> None:
        async with aio.connect(**at(server)) as connection:
            child = os.fork()
            if child == 0:
                # What the collector does to a connection that nobody closed.
                connection._abort()
                os._exit(0 if connection.closed else 1)
            _, status = await asyncio.to_thread(os.waitpid, child, 0)
            assert os.waitstatus_to_exitcode(status) == 0
            for number in range(3):
                cursor = await connection.execute("SELECT 3 FROM systables WHERE tabid = 1")
                assert await cursor.fetchall() == [(3,)], number

    asyncio.run(asyncio.wait_for(main(), 30))
