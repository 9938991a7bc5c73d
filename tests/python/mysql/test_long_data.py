"""Long values of prepared statements: sent in pieces before the execution, from memory, files and iterators."""

from __future__ import annotations

import asyncio
import hashlib
import io
import resource
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from rowferry import mysql
from rowferry.mysql import aio

from tests.servers.mysql import MySQLServer

from .recorder import Recorder

Connect = Callable[..., mysql.Connection]

MEBIBYTE = 1 << 20
EXECUTE, SEND_LONG_DATA, RESET = 0x17, 0x18, 0x1A


@pytest.fixture
def connection(connect: Connect) -> mysql.Connection:
    connection = connect(autocommit=True, stmt_cache_size=100)
    connection.query("CREATE TEMPORARY TABLE long_values (id INT PRIMARY KEY, b LONGBLOB, t LONGTEXT, n INT)")
    return connection


def insert(connection: mysql.Connection, *values: Any) -> None:
    with connection.cursor() as cursor:
        cursor.execute("INSERT INTO long_values VALUES (%s, %s, %s, %s)", values)


def summary(connection: mysql.Connection) -> Any:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT id, SHA2(b, 256), LENGTH(b), SHA2(t, 256), CHAR_LENGTH(t), n FROM long_values ORDER BY id"
        )
        return cursor.fetchall()


def expected(number: int, data: bytes, text: str, n: int) -> Any:
    return (
        number,
        hashlib.sha256(data).hexdigest(),
        len(data),
        hashlib.sha256(text.encode()).hexdigest(),
        len(text),
        n,
    )


BYTES = bytes(range(256)) * 4096 * 3 + b"end"
TEXT = "Grüße ✓ 😀\n" * 150_000


def test_long_values_arrive_whole(connection: mysql.Connection) -> None:
    insert(connection, 1, BYTES, TEXT, 7)
    insert(connection, 2, bytearray(BYTES), "short", 8)
    insert(connection, 3, memoryview(BYTES), TEXT, 9)
    insert(connection, 4, b"short", "short", 10)
    insert(connection, 5, BYTES[:MEBIBYTE], "x" * (MEBIBYTE - 1), None)
    assert summary(connection) == (
        expected(1, BYTES, TEXT, 7),
        expected(2, BYTES, "short", 8),
        expected(3, BYTES, TEXT, 9),
        expected(4, b"short", "short", 10),
        (*expected(5, BYTES[:MEBIBYTE], "x" * (MEBIBYTE - 1), 0)[:5], None),
    )
    with connection.cursor() as cursor:
        cursor.execute("SELECT t FROM long_values WHERE t = %s AND b = %s", (TEXT, BYTES))
        assert cursor.fetchall() == ((TEXT,), (TEXT,))


def test_files_and_iterators_are_read_piece_by_piece(connection: mysql.Connection, tmp_path: Path) -> None:
    path = tmp_path / "data"
    path.write_bytes(BYTES)
    with path.open("rb") as file, io.StringIO(TEXT) as text:
        insert(connection, 1, file, text, 7)
    pieces = (BYTES[at : at + 700_001] for at in range(0, len(BYTES), 700_001))
    insert(connection, 2, pieces, iter(TEXT), 8)
    insert(connection, 3, io.BytesIO(), io.StringIO(), 9)
    insert(connection, 4, iter([b"", bytearray(b"a"), memoryview(b"b"), b""]), iter(["é", ""]), 10)
    insert(connection, 5, iter(()), None, 11)
    assert summary(connection) == (
        expected(1, BYTES, TEXT, 7),
        expected(2, BYTES, TEXT, 8),
        expected(3, b"", "", 9),
        expected(4, b"ab", "é", 10),
        (*expected(5, b"", "", 11)[:3], None, None, 11),
    )


def test_text_is_sent_in_the_connections_character_set(connect: Connect) -> None:
    connection = connect(charset="latin1", stmt_cache_size=10)
    text = "é" * 2 * MEBIBYTE
    with connection.cursor() as cursor:
        for value in (text, io.StringIO(text)):
            cursor.execute("SELECT CHAR_LENGTH(%s), 1", (value,))
            assert cursor.fetchall() == ((2 * MEBIBYTE, 1),)
        connection.query("CREATE TEMPORARY TABLE documents (d JSON)")
        cursor.execute("INSERT INTO documents VALUES (%s)", ('["' + text + '"]',))
        cursor.execute("SELECT CHAR_LENGTH(d), LOCATE('é', d) FROM documents")
        assert cursor.fetchone() == (2 * MEBIBYTE + 4, 3)


def test_a_stream_costs_no_memory(connection: mysql.Connection) -> None:
    # More than a packet, and than what the test may use.
    piece = b"x" * 100_000

    def pieces() -> Iterator[bytes]:
        for _ in range(300):
            yield piece

    with connection.cursor() as cursor:
        cursor.execute("SELECT @@max_allowed_packet")
        limit = cursor.fetchone()[0]
    count = min(300, limit // len(piece) - 1)
    insert(connection, 0, b"", "", 0)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    insert(connection, 1, (piece for _ in range(count)), "", 0)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 4_000
    assert summary(connection)[1][2] == count * len(piece)


def test_values_of_more_than_a_packet_in_all(server: MySQLServer, connect: Connect) -> None:
    connection = connect(autocommit=True)
    with connection.cursor() as cursor:
        cursor.execute("SELECT @@max_allowed_packet")
        limit = cursor.fetchone()[0]
    if limit > 32 * MEBIBYTE:
        connection.query(f"SET GLOBAL max_allowed_packet = {16 * MEBIBYTE}")
    try:
        small = connect(autocommit=True, stmt_cache_size=10)
        value = b"y" * (10 * MEBIBYTE)
        with small.cursor() as cursor:
            cursor.execute("SELECT LENGTH(%s) + LENGTH(%s) + LENGTH(%s)", (value, value, value))
            assert cursor.fetchall() == ((30 * MEBIBYTE,),)
            # Longer than the server takes: its error, then all is well again.
            for _ in range(2):
                with pytest.raises(mysql.Error, match="mysql_send_long_data"):
                    cursor.execute("SELECT LENGTH(%s) AS much", (value * 2,))
                cursor.execute("SELECT LENGTH(%s) AS much", (value,))
                assert cursor.fetchall() == ((10 * MEBIBYTE,),)
                cursor.execute("SELECT LENGTH(%s) AS much", (b"abc",))
                assert cursor.fetchall() == ((3,),)
    finally:
        connection.query(f"SET GLOBAL max_allowed_packet = {limit}")


def failing() -> Iterator[bytes]:
    yield b"first" * 100_000
    raise ZeroDivisionError("amid the value")


@pytest.mark.parametrize(
    ("stream", "error"),
    [
        (failing, ZeroDivisionError),
        (lambda: iter([b"bytes" * 100_000, "text"]), mysql.ProgrammingError),
        (lambda: iter([b"bytes" * 100_000, 7]), TypeError),
        (lambda: iter([7]), TypeError),
    ],
)
def test_a_stream_that_fails_leaves_the_connection_usable(
    connection: mysql.Connection, stream: Callable[[], Any], error: type[Exception]
) -> None:
    for number in (1, 2):
        with pytest.raises(error):
            insert(connection, number, stream(), "lost", 0)
        # Nothing of the pieces is left: not in this statement, not in another.
        insert(connection, number, b"kept", "text", number)
    assert [(row[0], row[2], row[5]) for row in summary(connection)] == [(1, 4, 1), (2, 4, 2)]


def test_an_execution_that_fails_forgets_its_pieces(connection: mysql.Connection) -> None:
    insert(connection, 1, BYTES, TEXT, 1)
    for _ in range(2):
        with pytest.raises(mysql.IntegrityError):
            insert(connection, 1, BYTES, TEXT, 2)
    insert(connection, 2, b"kept", "text", 3)
    assert [(row[0], row[2], row[5]) for row in summary(connection)] == [(1, len(BYTES), 1), (2, 4, 3)]


def test_pieces_are_small_and_go_before_the_execution(server: MySQLServer) -> None:
    with Recorder(server.host, server.port) as recorder:
        dsn = {**server.dsn, "port": recorder.port, "ssl_mode": "DISABLED"}
        with mysql.connect(**dsn) as connection, connection.prepare("SELECT LENGTH(?)") as statement:
            recorder.written.clear()
            assert statement.execute((b"z" * MEBIBYTE,)).rows == ((MEBIBYTE,),)
            written = b"".join(recorder.written)
    codes, sizes, at = [], [], 0
    while at < len(written):
        size = int.from_bytes(written[at : at + 3], "little")
        codes.append(written[at + 4])
        sizes.append(size)
        at += 4 + size
    assert codes == [SEND_LONG_DATA] * 4 + [EXECUTE]
    assert max(sizes) == 256 * 1024 + 7


def test_a_cancelled_stream_leaves_nothing_behind(server: MySQLServer) -> None:
    async def main() -> None:
        async with aio.connect(**server.dsn, autocommit=True, stmt_cache_size=10) as connection:
            query = "SELECT LENGTH(%s), %s"
            async with connection.cursor() as cursor:
                await cursor.execute(query, (b"abc", 0))
                for number in range(5):
                    # The transport is full after a few pieces, and the task waits.
                    endless = (b"x" * 200_000 for _ in range(60))
                    task = asyncio.ensure_future(cursor.execute(query, (endless, number)))
                    for _ in range(number):
                        await asyncio.sleep(0)
                    task.cancel()
                    try:
                        await task
                    except asyncio.CancelledError:
                        pass
                    await cursor.execute(query, (b"abc", number))
                    assert await cursor.fetchall() == ((3, number),)

    asyncio.run(asyncio.wait_for(main(), 60))


def test_asyncio_sends_pieces_as_the_transport_takes_them(server: MySQLServer) -> None:
    async def main() -> None:
        async with aio.connect(**server.dsn, autocommit=True) as connection:
            statement = await connection.prepare("SELECT LENGTH(?), SHA2(?, 256) = SHA2(?, 256), ?")
            for value in (BYTES * 3, memoryview(BYTES * 3), io.BytesIO(BYTES * 3)):
                pieces = (BYTES for _ in range(3))
                result = await statement.execute((value, pieces, BYTES * 3, "behind"))
                assert result.rows == ((3 * len(BYTES), 1, "behind"),)

    asyncio.run(asyncio.wait_for(main(), 60))


def test_only_prepared_statements_take_streams(connect: Connect) -> None:
    with connect().cursor() as cursor:
        with pytest.raises(mysql.ProgrammingError, match="BytesIO"):
            cursor.execute("SELECT %s", (io.BytesIO(b"x"),))
