"""Truncated, oversized and random bytes at the Informix door: the sender is left and nobody else notices."""

from __future__ import annotations

import contextlib
import json
import random
import socket
import sqlite3
import struct
from collections.abc import Callable, Iterator
from pathlib import Path

import informix_db
import pytest

from tests.servers.rowferry import Rowferry

#: How long the server may take to leave a peer that makes no sense, in seconds; its own limits are shorter.
PATIENCE = 20

_VECTORS = Path(__file__).resolve().parents[1] / "vectors" / "sqli.json"


def vector(name: str) -> bytes:
    """The bytes of a golden message."""
    (found,) = [v for v in json.loads(_VECTORS.read_text())["vectors"] if v["name"] == name]
    return bytes.fromhex(found["hex"])


LOGIN = vector("login.request.jdbc15")
#: What follows the login: capabilities, environment, the database, a statement.
PROTOCOLS = bytes.fromhex("007e0009fffc7ffc3c8caa970600000c")
DBOPEN = bytes.fromhex("0024000361707000" + "0000000c")
PREPARE = (
    bytes.fromhex("000200000000002b") + b"SELECT id FROM harmless WHERE id IN (1,2,3)" + bytes.fromhex("00160031000c")
)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rowferry]:
    path = tmp_path_factory.mktemp("hostile") / "app.db"
    with contextlib.closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("CREATE TABLE harmless (id integer PRIMARY KEY)")
        connection.execute("INSERT INTO harmless VALUES (1)")
    with Rowferry.start(path, postgres=False, informix=True, args=["--handshake-timeout", "2"]) as running:
        yield running


def is_well(server: Rowferry) -> None:
    """A decent client gets its answer."""
    assert server.informix is not None
    host, port = server.informix
    connection = informix_db.connect(
        host, port, user="informix", password="in4mix", database=server.dbname, server="informix", read_timeout=PATIENCE
    )
    with contextlib.closing(connection):
        cursor = connection.cursor()
        cursor.execute("SELECT id FROM harmless WHERE id = ?", (1,))
        assert cursor.fetchall() == [(1,)]


def threads(server: Rowferry) -> int:
    return len(list(Path(f"/proc/{server.pid}/task").iterdir()))


def memory_kb(server: Rowferry) -> int:
    for line in Path(f"/proc/{server.pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1])
    raise AssertionError("no VmRSS")


def wait_until(condition: Callable[[], bool], what: str) -> None:
    """Ask again until `condition` holds: threads end a moment after their socket."""
    pause, other = socket.socketpair()
    with contextlib.closing(pause), contextlib.closing(other):
        pause.settimeout(0.05)
        for _ in range(PATIENCE * 20):
            if condition():
                return
            with contextlib.suppress(TimeoutError):
                pause.recv(1)
    pytest.fail(f"not within {PATIENCE} s: {what}")


def send(server: Rowferry, data: bytes, *, hang_up: bool = True) -> bytes:
    """Send, and return everything that came back until the server left."""
    assert server.informix is not None
    with socket.create_connection(server.informix, timeout=PATIENCE) as wire:
        answer = b""
        # The server may leave in the middle of what it cannot take.
        with contextlib.suppress(ConnectionError):
            wire.sendall(data)
            if hang_up:
                wire.shutdown(socket.SHUT_WR)
            while chunk := wire.recv(65536):
                answer += chunk
        return answer


def test_every_cut_of_a_conversation_harms_nobody(server: Rowferry) -> None:
    conversation = LOGIN + PROTOCOLS + DBOPEN + PREPARE
    for end in [*range(0, len(LOGIN), 7), *range(len(LOGIN), len(conversation))]:
        send(server, conversation[:end])
    is_well(server)


@pytest.mark.parametrize(
    "data",
    [
        struct.pack("!HBBH", 0xFFFF, 1, 60, 0),
        struct.pack("!HBBH", 0, 1, 60, 0),
        struct.pack("!HBBH", 5, 1, 60, 0),
        struct.pack("!HBBH", 8, 9, 60, 0) + b"xx",
        LOGIN[:6] + b"\xff" * (len(LOGIN) - 6),
        LOGIN + b"\x7f\xff",
        LOGIN + PROTOCOLS + DBOPEN + bytes.fromhex("000200007fffffff"),
        LOGIN + PROTOCOLS + DBOPEN + bytes.fromhex("00020000ffffffff"),
        LOGIN + PROTOCOLS + DBOPEN + PREPARE + bytes.fromhex("0004000000057fff") + b"\0" * 16,
        LOGIN + PROTOCOLS + DBOPEN + bytes.fromhex("00040063000a000c"),
        b"GET / HTTP/1.1\r\nHost: example.org\r\n\r\n",
    ],
)
def test_nonsense_harms_nobody(server: Rowferry, data: bytes) -> None:
    send(server, data)
    is_well(server)


def test_random_bytes_leave_no_thread_and_no_memory(server: Rowferry) -> None:
    noise = random.Random(17)

    def annoy(times: int) -> None:
        for number in range(times):
            prefix = LOGIN + PROTOCOLS + DBOPEN if number % 2 else b""
            send(server, prefix + noise.randbytes(noise.randrange(1, 4096)))

    annoy(50)
    wait_until(lambda: threads(server) < 20, "threads of lost connections end")
    before_threads, before_memory = threads(server), memory_kb(server)
    annoy(300)
    wait_until(lambda: threads(server) <= before_threads, "threads of lost connections end")
    assert memory_kb(server) - before_memory < 20_000
    is_well(server)


def test_silent_peers_are_left_after_the_handshake_timeout(server: Rowferry) -> None:
    assert server.informix is not None
    before = threads(server)
    peers = [socket.create_connection(server.informix, timeout=PATIENCE) for _ in range(20)]
    try:
        for peer in peers:
            # The end, or an error and the end.
            with contextlib.suppress(ConnectionError):
                while peer.recv(4096):
                    pass
    finally:
        for peer in peers:
            peer.close()
    wait_until(lambda: threads(server) <= before, "threads of silent peers end")
    is_well(server)
