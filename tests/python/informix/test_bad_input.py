"""Whatever a server sends or stops sending: a clear error in bounded time, and never a wrong row."""

from __future__ import annotations

import random
import socket
import threading

import pytest
from rowferry import informix

from tests.python.informix.replay import Driver, Replay, vector

PREPARED = vector("types.prepare_select.informix_driver.reply")
ROWS = vector("types.open_fetch.informix_driver.reply")


def attempt(driver: Driver, server: Replay) -> list[tuple[object, ...]]:
    with driver.connect(port=server.port, autocommit=True, read_timeout=0.3, connect_timeout=0.6) as connection:
        rows: list[tuple[object, ...]] = connection.execute("SELECT * FROM t1").fetchall()
        return rows


def test_truncated_answers_end_in_an_error(driver: Driver) -> None:
    for cut in (1, 2, 7, len(PREPARED) // 2, len(PREPARED) - 2):
        with Replay([PREPARED[:cut]]) as server, pytest.raises(informix.OperationalError, match="timed out"):
            attempt(driver, server)
    for cut in (1, 8, 100, len(ROWS) - 2):
        with Replay([PREPARED, ROWS[:cut]]) as server, pytest.raises(informix.OperationalError, match="timed out"):
            attempt(driver, server)


def test_a_server_that_leaves_is_noticed(driver: Driver) -> None:
    with Replay([PREPARED]) as server, pytest.raises(informix.OperationalError):
        attempt(driver, server)
    with Replay() as server, pytest.raises(informix.OperationalError):
        attempt(driver, server)


def test_truncated_logins_end_in_an_error(driver: Driver) -> None:
    for opening in ([vector("login.accept")[:50]], [vector("login.accept"), b"\x00\x7e\x00"]):
        with Replay(opening=opening) as server, pytest.raises(informix.OperationalError):
            attempt(driver, server)


@pytest.mark.parametrize(
    "reply",
    [
        b"\x00\x00\x00\x00\x00\x00",
        b"\xff" * 64,
        vector("login.request.jdbc15"),
    ],
    ids=["zeros", "ones", "a request"],
)
def test_another_protocol_is_no_login(driver: Driver, reply: bytes) -> None:
    with Replay(opening=[reply]) as server, pytest.raises(informix.Error, match=r"cannot read|timed out"):
        attempt(driver, server)


@pytest.mark.parametrize(
    ("reply", "who"),
    [
        (b"HTTP/1.1 400 Bad Request\r\n\r\n", "speaks HTTP"),
        (b"SSH-2.0-OpenSSH_9.2\r\n", "speaks SSH"),
        (b"\x4a\x00\x00\x00\x0a8.0.36\x00" + bytes(66), "speaks MySQL's protocol"),
        (b"E\x00\x00\x00\x0cSFATAL\x00", "speaks PostgreSQL's protocol"),
        (b"\x15\x03\x01\x00\x02\x02\x46", "wants TLS"),
    ],
    ids=["http", "ssh", "mysql", "postgresql", "tls"],
)
def test_a_stranger_at_the_port_is_named(driver: Driver, reply: bytes, who: str) -> None:
    with Replay(opening=[reply]) as server, pytest.raises(informix.OperationalError, match=who):
        attempt(driver, server)


def test_a_port_that_hangs_up_on_the_login_may_be_another(driver: Driver) -> None:
    def hang_up() -> None:
        connection, _ = listener.accept()
        with connection:
            connection.recv(4096)

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=hang_up)
        thread.start()
        with pytest.raises(informix.OperationalError, match="another protocol"):
            driver.connect(port=listener.getsockname()[1], connect_timeout=20)
        thread.join(20)


def test_oversized_lengths_are_refused_at_once(driver: Driver) -> None:
    tuple_of_2_gb = bytes.fromhex("000e00007fffffff")
    with Replay([PREPARED, tuple_of_2_gb]) as server, pytest.raises(informix.Error, match="length of a row"):
        attempt(driver, server)


def test_a_row_of_the_wrong_width_is_no_row(driver: Driver) -> None:
    prepared = vector("paramquery.prepare.informix_driver.reply")
    for payload in (b"\x00\x00\x00\x01\x03abc\x00\x00\x03", b"\x00\x00\x00\x01\x03abc\x00\x00\x03\x09\x00\x00"):
        pad = b"\x00" * (len(payload) & 1)
        reply = b"\x00\x0e\x00\x00" + len(payload).to_bytes(4, "big") + payload + pad + b"\x00\x0c"
        with Replay([prepared, reply]) as server, pytest.raises(informix.Error, match=r"row (longer|shorter)"):
            attempt(driver, server)


def test_random_answers_end_in_an_error_or_in_rows(driver: Driver) -> None:
    chance = random.Random(20261121)
    for _ in range(60):
        replies = [PREPARED, ROWS]
        which = chance.randrange(2)
        damaged = bytearray(replies[which])
        damaged[chance.randrange(len(damaged))] = chance.randrange(256)
        replies[which] = bytes(damaged)
        with Replay(replies) as server:
            try:
                attempt(driver, server)
            except informix.Error:
                pass
    for length in (1, 10, 1000, 60_000):
        with Replay([chance.randbytes(length)]) as server, pytest.raises(informix.Error):
            attempt(driver, server)
