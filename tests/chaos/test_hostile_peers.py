"""Truncated, oversized and random messages: the sender gets an error or is left, nobody else notices, nothing stays."""

from __future__ import annotations

import contextlib
import random
import socket
import struct
from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
import pytest

from tests.servers.rowferry import Rowferry

#: How long the server may take to leave a peer that makes no sense, in seconds; its own limits are shorter.
PATIENCE = 20


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rowferry]:
    path = tmp_path_factory.mktemp("hostile") / "app.db"
    with Rowferry.start(path, informix=True, args=["--handshake-timeout", "2"]) as running:
        yield running


def threads(server: Rowferry) -> int:
    return len(list(Path(f"/proc/{server.pid}/task").iterdir()))


def memory_kb(server: Rowferry) -> int:
    for line in Path(f"/proc/{server.pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1])
    raise AssertionError("no VmRSS")


def wait_until(condition: Callable[[], bool], what: str) -> None:
    """Ask again until `condition` holds: threads end a moment after their socket."""
    pause = socket.socketpair()
    with contextlib.closing(pause[0]), contextlib.closing(pause[1]):
        pause[0].settimeout(0.05)
        for _ in range(PATIENCE * 20):
            if condition():
                return
            with contextlib.suppress(TimeoutError):
                pause[0].recv(1)
    pytest.fail(f"{what} within {PATIENCE} s")


def send(address: tuple[str, int], *messages: bytes, hang_up: bool = True) -> bytes:
    """Send, and return everything that came back until the server left."""
    with socket.create_connection(address, timeout=PATIENCE) as wire:
        answer = b""
        # The server may leave in the middle of what it cannot take.
        with contextlib.suppress(ConnectionError):
            for message in messages:
                wire.sendall(message)
            if hang_up:
                wire.shutdown(socket.SHUT_WR)
            while chunk := wire.recv(65536):
                answer += chunk
        return answer


def startup(**parameters: str) -> bytes:
    body = struct.pack("!I", 196608)
    for name, value in {"user": "rowferry", **parameters}.items():
        body += name.encode() + b"\0" + value.encode() + b"\0"
    body += b"\0"
    return struct.pack("!I", len(body) + 4) + body


def message(tag: bytes, body: bytes, length: int | None = None) -> bytes:
    return tag + struct.pack("!i", len(body) + 4 if length is None else length) + body


MALFORMED = {
    "negative length": message(b"Q", b"SELECT 1\0", length=-1),
    "length without itself": message(b"Q", b"", length=3),
    "two gigabytes announced": message(b"Q", b"SELECT 1\0", length=0x7FFFFFFF),
    "unknown tag": message(b"!", b"x"),
    "query without terminator": message(b"Q", b"SELECT 1"),
    "query that is not UTF-8": message(b"Q", b"SELECT '\xff\xfe'\0"),
    "bytes behind the terminator": message(b"Q", b"SELECT 1\0junk"),
    "parse cut short": message(b"P", b"name\0SELECT 1\0\0"),
    "parse with 65535 types": message(b"P", b"\0SELECT 1\0\xff\xff"),
    "bind with a parameter of two gigabytes": message(b"B", b"\0\0\0\0\0\x01\x7f\xff\xff\xff"),
    "bind with 65535 formats": message(b"B", b"\0\0\xff\xff"),
    "bind of an unknown statement": message(b"B", b"\0nosuch\0\0\0\0\0\0\0") + message(b"S", b""),
    "execute of an unknown portal": message(b"E", b"nosuch\0\0\0\0\0") + message(b"S", b""),
    "describe of nothing known": message(b"D", b"?x\0"),
    "copy data out of place": message(b"d", b"data"),
    "password out of place": message(b"p", b"secret\0"),
    "function call": message(b"F", b"\0\0\0\0\0\0\0\0\0\0"),
}


@pytest.mark.parametrize("what", MALFORMED)
def test_malformed_message_is_answered_and_the_server_goes_on(server: Rowferry, what: str) -> None:
    assert server.postgres is not None
    answer = send(server.postgres, startup(), MALFORMED[what])
    assert b"Z\0\0\0\x05I" in answer, "the login itself is fine"
    assert b"SFATAL\0" in answer or b"SERROR\0" in answer
    with psycopg.connect(server.postgres_dsn) as connection:
        assert connection.execute("SELECT 1").fetchone() == (1,)


@pytest.mark.parametrize(
    "packet",
    [
        b"",
        b"\0",
        b"\0\0\0\x04",
        b"\0\0\0\x07\0\x03\0",
        struct.pack("!i", -1) + b"x" * 100,
        struct.pack("!I", 0x7FFFFFFF) + b"x" * 100,
        struct.pack("!II", 8, 0x00020000),
        struct.pack("!II", 8, 196608),
        struct.pack("!II", 12, 196608) + b"user",
        struct.pack("!II", 16, 80877102) + b"\0" * 8,
        b"GET / HTTP/1.1\r\nHost: example.org\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\0" * 100,
    ],
)
def test_malformed_startup_packet_harms_nobody(server: Rowferry, packet: bytes) -> None:
    assert server.postgres is not None
    send(server.postgres, packet)
    with psycopg.connect(server.postgres_dsn) as connection:
        assert connection.execute("SELECT 1").fetchone() == (1,)


def test_every_cut_of_a_conversation_harms_nobody(server: Rowferry) -> None:
    assert server.postgres is not None
    conversation = (
        startup(database="app")
        + message(b"P", b"s\0SELECT $1::integer\0\0\x01\0\0\0\x17")
        + message(b"B", b"\0s\0\0\0\0\x01\0\0\0\x027\x30\0\0")
        + message(b"E", b"\0\0\0\0\0")
        + message(b"S", b"")
    )
    for end in range(len(conversation)):
        send(server.postgres, conversation[:end])
    with psycopg.connect(server.postgres_dsn) as connection:
        assert connection.execute("SELECT 1").fetchone() == (1,)


@pytest.mark.parametrize("door", ["postgres", "informix"])
def test_random_bytes_leave_no_thread_and_no_memory(server: Rowferry, door: str) -> None:
    address = getattr(server, door)
    noise = random.Random(17)
    for _ in range(50):
        send(address, noise.randbytes(noise.randrange(1, 4096)))
    wait_until(lambda: threads(server) < 20, "threads of lost connections ended")
    before_threads, before_memory = threads(server), memory_kb(server)
    for _ in range(300):
        prefix = startup() if door == "postgres" and noise.random() < 0.5 else b""
        send(address, prefix + noise.randbytes(noise.randrange(1, 4096)))
    wait_until(lambda: threads(server) <= before_threads, "threads of lost connections ended")
    assert memory_kb(server) - before_memory < 20_000
    with psycopg.connect(server.postgres_dsn) as connection:
        assert connection.execute("SELECT 1").fetchone() == (1,)


@pytest.mark.parametrize("door", ["postgres", "informix"])
def test_silent_peers_are_left_after_the_handshake_timeout(server: Rowferry, door: str) -> None:
    address = getattr(server, door)
    before = threads(server)
    peers = [socket.create_connection(address, timeout=PATIENCE) for _ in range(20)]
    try:
        for peer in peers:
            # The end, or an error and the end.
            with contextlib.suppress(ConnectionError):
                while peer.recv(4096):
                    pass
    finally:
        for peer in peers:
            peer.close()
    wait_until(lambda: threads(server) <= before, "threads of silent peers ended")


def test_message_that_is_too_long_is_refused_before_it_is_read(tmp_path: Path) -> None:
    with Rowferry.start(tmp_path / "app.db", args=["--max-message", "1"]) as server:
        assert server.postgres is not None
        before = memory_kb(server)
        answer = send(server.postgres, startup(), message(b"Q", b"x" * 65536, length=1 << 30), hang_up=False)
        assert b"SFATAL\0" in answer
        assert memory_kb(server) - before < 20_000
        with psycopg.connect(server.postgres_dsn) as connection:
            assert connection.execute("SELECT 1").fetchone() == (1,)


def test_connection_limit_is_said_and_given_back(tmp_path: Path) -> None:
    with Rowferry.start(tmp_path / "app.db", args=["--max-connections", "3"]) as server:
        with contextlib.ExitStack() as stack:
            for _ in range(3):
                stack.enter_context(contextlib.closing(psycopg.connect(server.postgres_dsn)))
            with pytest.raises(psycopg.OperationalError, match="too many"):
                psycopg.connect(server.postgres_dsn)

        def free() -> bool:
            with contextlib.suppress(psycopg.OperationalError), psycopg.connect(server.postgres_dsn):
                return True
            return False

        wait_until(free, "a place became free")
