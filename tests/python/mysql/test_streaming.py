"""Unbuffered cursors that are closed early: the rest is neither pulled in nor waited for."""

from __future__ import annotations

import asyncio
import faulthandler
import resource
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from rowferry import mysql
from rowferry.mysql import aio
from rowferry.mysql.cursors import SSCursor, SSDictCursor

from tests.servers.mysql import MySQLServer

Connect = Callable[..., mysql.Connection]

#: Eight million rows of more than 100 bytes.
MILLIONS = "SELECT a.seq, REPEAT('x', 100) AS filler FROM seq_1_to_2000 a, seq_1_to_2000 b, seq_1_to_2 c"
#: Rows that fill the server's buffers, then silence.
SILENT = "SELECT seq, REPEAT('x', 100000), IF(seq > 50, SLEEP(1000), 0) FROM seq_1_to_1000"


def sent(connection: Any) -> int:
    with connection.cursor(mysql.cursors.Cursor) as cursor:
        cursor.execute("SHOW SESSION STATUS LIKE 'Bytes_sent'")
        return int(cursor.fetchone()[1])


def peak() -> int:
    """The most memory that the process has had, in bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


@pytest.fixture
def alarm() -> Iterator[None]:
    """Ends the process when a test hangs: what it tests is that nothing does."""
    faulthandler.dump_traceback_later(120, exit=True)
    yield
    faulthandler.cancel_dump_traceback_later()


def test_closing_an_unfinished_stream_ends_it_on_the_server(connect: Connect, alarm: None) -> None:
    connection = connect()
    before, memory = sent(connection), peak()
    for _ in range(3):
        with connection.cursor(SSCursor) as cursor:
            cursor.execute(MILLIONS)
            assert [row[1] for row in cursor.fetchmany(3)] == ["x" * 100] * 3
        with connection.cursor() as after:
            after.execute("SELECT 'mine'")
            assert after.fetchall() == (("mine",),)
    # Three times 800 MB would have come.
    assert sent(connection) - before < 3 * 100_000_000
    assert peak() - memory < 100_000_000


def test_closing_a_stream_whose_server_is_silent(connect: Connect, alarm: None) -> None:
    connection = connect()
    number = connection.thread_id()
    cursor = connection.cursor(SSDictCursor)
    cursor.execute(SILENT)
    assert cursor.fetchone()["seq"] == 1
    cursor.close()
    with connection.cursor() as after:
        after.execute("SELECT CONNECTION_ID()")
        assert after.fetchone() == (number,)


def test_a_short_rest_is_read_away_without_a_second_connection(server: MySQLServer, connect: Connect) -> None:
    connection = connect()

    def connections() -> int:
        with connection.cursor() as cursor:
            cursor.execute("SHOW GLOBAL STATUS LIKE 'Connections'")
            return int(cursor.fetchone()[1])

    before = connections()
    for _ in range(5):
        with connection.cursor(SSCursor) as cursor:
            cursor.execute("SELECT seq FROM seq_1_to_1000")
            cursor.fetchone()
    assert connections() == before


def test_an_open_transaction_survives_the_end_of_a_stream(connect: Connect, alarm: None) -> None:
    connection = connect(autocommit=False)
    cursor = connection.cursor()
    cursor.execute("CREATE TABLE IF NOT EXISTS kept (a INT)")
    cursor.execute("DELETE FROM kept")
    cursor.execute("INSERT INTO kept VALUES (1)")
    with connection.cursor(SSCursor) as stream:
        stream.execute(MILLIONS)
        stream.fetchone()
    connection.commit()
    cursor.execute("SELECT a FROM kept")
    assert cursor.fetchall() == ((1,),)
    cursor.execute("DROP TABLE kept")


def test_what_may_change_something_is_read_to_its_end(connect: Connect) -> None:
    connection = connect(autocommit=True)
    cursor = connection.cursor()
    cursor.execute("DROP PROCEDURE IF EXISTS works")
    cursor.execute("CREATE TEMPORARY TABLE worked (a INT)")
    cursor.execute(
        "CREATE PROCEDURE works() BEGIN SELECT seq, REPEAT('x', 1000) FROM seq_1_to_10000;"
        " INSERT INTO worked VALUES (1); END"
    )
    try:
        for statement in (
            "CALL works()",
            "SELECT seq, REPEAT('x', 1000) FROM seq_1_to_10000; INSERT INTO worked VALUES (2)",
        ):
            with connection.cursor(SSCursor) as stream:
                stream.execute(statement)
                stream.fetchone()
        cursor.execute("SELECT a FROM worked ORDER BY a")
        assert cursor.fetchall() == ((1,), (2,))
    finally:
        cursor.execute("DROP PROCEDURE works")


def test_a_cursor_leaves_another_ones_stream_alone(connect: Connect) -> None:
    connection = connect()
    first, second = connection.cursor(SSCursor), connection.cursor(SSCursor)
    first.execute("SELECT seq FROM seq_1_to_3")
    assert first.fetchall() == [(1,), (2,), (3,)]
    second.execute("SELECT seq FROM seq_1_to_1000")
    assert second.fetchone() == (1,)
    first.close()
    assert len(second.fetchall()) == 999
    second.close()


def test_a_cursor_of_a_closed_connection_closes(connect: Connect) -> None:
    connection = connect()
    cursor = connection.cursor(SSCursor)
    cursor.execute(MILLIONS)
    cursor.fetchone()
    connection.close()
    cursor.close()


def test_asyncio_ends_streams_on_the_server_too(server: MySQLServer, alarm: None) -> None:
    async def main() -> None:
        async with aio.connect(**server.dsn) as connection:
            number = connection.thread_id()
            memory = peak()
            for query in (MILLIONS, SILENT, MILLIONS):
                async with connection.cursor(aio.SSCursor) as cursor:
                    await cursor.execute(query)
                    assert await cursor.fetchone() is not None
                async with connection.cursor() as after:
                    await after.execute("SELECT CONNECTION_ID()")
                    assert await after.fetchall() == ((number,),)
            async with connection.cursor() as cursor:
                await cursor.execute("SHOW SESSION STATUS LIKE 'Bytes_sent'")
                row = await cursor.fetchone()
                assert int(row[1]) < 300_000_000
            assert peak() - memory < 100_000_000

    asyncio.run(asyncio.wait_for(main(), 100))
