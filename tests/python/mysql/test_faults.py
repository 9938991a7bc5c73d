"""Cut wires, silent servers and proxies that refuse TLS: a clear error, never a hang, never another's rows."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import os
import signal
import socket
import subprocess
import sys
import textwrap
import threading

import pytest
from rowferry import mysql
from rowferry.mysql import aio

from tests.servers.mariadb import MariaDB
from tests.servers.mysql import MySQLServer

from .relay import Relay

ANSWER = "SELECT seq, REPEAT('x', 50) FROM seq_1_to_100"


def through(relay: Relay, server: MySQLServer) -> dict[str, object]:
    return {**server.dsn, "port": relay.port, "ssl_mode": "DISABLED"}


def length_of_conversation(server: MySQLServer) -> int:
    """How many bytes a server answers to a login and the query."""
    received = 0
    listener = socket.create_server(("127.0.0.1", 0))

    def count() -> None:
        nonlocal received
        client, _ = listener.accept()
        upstream = socket.create_connection((server.host, server.port))

        def forward() -> None:
            with contextlib.suppress(OSError):
                while data := client.recv(65536):
                    upstream.sendall(data)
                upstream.shutdown(socket.SHUT_WR)

        sender = threading.Thread(target=forward, daemon=True)
        sender.start()
        while data := upstream.recv(65536):
            received += len(data)
            client.sendall(data)
        client.close()
        upstream.close()

    counter = threading.Thread(target=count, daemon=True)
    counter.start()
    options = {**server.dsn, "port": listener.getsockname()[1], "ssl_mode": "DISABLED"}
    with mysql.connect(**options, autocommit=None) as connection:
        connection.query(ANSWER)
    counter.join(30)
    listener.close()
    return received


def test_wire_cut_at_any_offset_of_the_answers(server: MySQLServer) -> None:
    total = length_of_conversation(server)
    assert total > 5000
    for cut in [*range(1, 130, 7), *range(130, total, 401), total - 1]:
        with Relay(server.host, server.port, cut_after=cut) as relay:
            with pytest.raises(mysql.OperationalError) as caught:
                connection = mysql.connect(**through(relay, server), autocommit=None, read_timeout=20)
                try:
                    connection.query(ANSWER)
                finally:
                    assert not connection.open
            assert caught.value.errno == 2013, cut


def test_wire_cut_under_asyncio(server: MySQLServer) -> None:
    async def main() -> None:
        for cut in [1, 50, 100, 300, 1000, 5000]:
            with Relay(server.host, server.port, cut_after=cut) as relay:
                with pytest.raises(aio.OperationalError) as caught:
                    connection = await aio.connect(**through(relay, server), autocommit=None)
                    try:
                        await connection.query(ANSWER)
                    finally:
                        assert not connection.open
                        connection.close()
                assert caught.value.errno == 2013, cut

    asyncio.run(asyncio.wait_for(main(), 60))


def test_a_silent_server_ends_in_a_time_out(server: MySQLServer) -> None:
    with Relay(server.host, server.port) as relay:
        connection = mysql.connect(**through(relay, server), read_timeout=0.2)
        relay.silence()
        with pytest.raises(mysql.OperationalError, match="timed out"):
            connection.query("SELECT 1")
        assert not connection.open
        with pytest.raises(mysql.OperationalError, match="2006"):
            connection.query("SELECT 1")

    async def main() -> None:
        with Relay(server.host, server.port) as relay:
            connection = await aio.connect(**through(relay, server), read_timeout=0.2)
            relay.silence()
            with pytest.raises(aio.OperationalError, match="timed out"):
                await connection.query("SELECT 1")
            assert not connection.open

    asyncio.run(asyncio.wait_for(main(), 30))


def test_a_server_that_never_greets_ends_in_a_time_out() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        options = {"host": "127.0.0.1", "port": listener.getsockname()[1], "user": "x", "connect_timeout": 0.2}
        with pytest.raises(mysql.OperationalError, match="timed out"):
            mysql.connect(**options)

        async def main() -> None:
            with pytest.raises(aio.OperationalError, match="timed out"):
                await aio.connect(**options)

        asyncio.run(asyncio.wait_for(main(), 30))


@pytest.mark.parametrize(
    "greeting",
    [
        b"HTTP/1.1 400 Bad Request\r\n\r\n",
        b"\x05\0\0\0\x09old\0",
        b"\xff\xff\xff\0" + b"\x0a" * 100,
        b"\x01\0\0\x07\x0a",
        bytes(64),
        b"\x17\0\0\0\xff\x10\x04Too many connections",
    ],
)
def test_a_server_that_speaks_something_else(greeting: bytes) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            client, _ = listener.accept()
            client.sendall(greeting)
            client.shutdown(socket.SHUT_WR)
            client.recv(100)
            client.close()

        server = threading.Thread(target=serve, daemon=True)
        server.start()
        with pytest.raises(mysql.Error) as caught:
            mysql.connect(host="127.0.0.1", port=listener.getsockname()[1], user="x", ssl_mode="DISABLED")
        assert caught.value.errno in (1040, 2013, 2014, 2027)
        server.join(30)


def test_proxies_that_refuse_tls_get_plain_text_when_tls_is_only_preferred(tls_server: MariaDB) -> None:
    options = {**tls_server.dsn, "connect_timeout": 20}
    with Relay(tls_server.host, tls_server.port, refuse_tls=True) as relay:
        with mysql.connect(**{**options, "port": relay.port}) as connection:
            assert connection.tls_description is None
        with pytest.raises(mysql.OperationalError):
            mysql.connect(**{**options, "port": relay.port, "ssl": True})


def test_ctrl_c_ends_a_blocking_wait(server: MySQLServer) -> None:
    script = textwrap.dedent(
        """
        import signal, sys
        from rowferry import mysql
        # A test run in the background of a shell inherits an ignored SIGINT.
        signal.signal(signal.SIGINT, signal.default_int_handler)
        connection = mysql.connect(**eval(sys.argv[1]))
        print("ready", flush=True)
        try:
            connection.query("SELECT SLEEP(60)")
        except KeyboardInterrupt:
            print("interrupted", connection.open, flush=True)
        """
    )
    command = [sys.executable, "-c", script, repr(server.dsn)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        with mysql.connect(**server.dsn) as watcher, watcher.cursor() as cursor:
            while not cursor.execute("SELECT 1 FROM information_schema.processlist WHERE info = 'SELECT SLEEP(60)'"):
                pass
        os.kill(process.pid, signal.SIGINT)
        assert process.stdout.readline() == "interrupted False\n"


@pytest.mark.on("mariadb")
def test_nothing_is_left_behind(server: MySQLServer) -> None:
    def conversations() -> None:
        with mysql.connect(**server.dsn) as connection, connection.cursor() as cursor:
            cursor.execute("SELECT seq, REPEAT('x', 100), 1.5, NOW(), NULL FROM seq_1_to_500")
            cursor.fetchall()
            with pytest.raises(mysql.Error):
                cursor.execute("SELEC")
        with pytest.raises(mysql.Error):
            mysql.connect(**{**server.dsn, "password": "wrong"})
        with Relay(server.host, server.port, cut_after=300) as relay, pytest.raises(mysql.Error):
            mysql.connect(**through(relay, server)).query(ANSWER)

        async def main() -> None:
            async with aio.create_pool(**server.dsn) as pool, pool.acquire() as connection:
                await connection.query(ANSWER)
                with pytest.raises(asyncio.TimeoutError):
                    await asyncio.wait_for(connection.query("SELECT SLEEP(9)"), 0.01)
            with pytest.raises(aio.Error):
                await aio.connect(**{**server.dsn, "password": "wrong"})

        asyncio.run(main())

    def left() -> tuple[int, int]:
        gc.collect()
        return len(os.listdir("/proc/self/fd")), len(gc.get_objects())

    for _ in range(3):
        conversations()
    files, objects = left()
    for _ in range(15):
        conversations()
    files_after, objects_after = left()
    assert files_after <= files + 2
    # A leak of one object per conversation would show as dozens.
    assert objects_after - objects < 400


@pytest.mark.on("mariadb")
def test_memory_does_not_grow_with_rows_that_are_dropped(server: MySQLServer) -> None:
    script = textwrap.dedent(
        """
        import resource, sys
        from rowferry import mysql
        with mysql.connect(**eval(sys.argv[1])) as connection:
            cursor = connection.cursor()
            for count in (20, 300):
                for _ in range(count):
                    cursor.execute("SELECT seq, REPEAT('x', 1000), 1.25, NOW(6), TIME'10:00:00' FROM seq_1_to_1000")
                    cursor.fetchall()
                print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
        """
    )
    command = [sys.executable, "-W", "ignore", "-c", script, repr(server.dsn)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=100)
    before, after = map(int, done.stdout.split())
    # 300 results hold 300 MB of text.
    assert after - before < 20_000, "kilobytes"
