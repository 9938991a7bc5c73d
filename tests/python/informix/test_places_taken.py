"""A server that was known a moment ago is gone, and another one listens there: the driver connects again by itself."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from rowferry import exceptions as err
from rowferry import informix
from rowferry.informix import aio

from .server import serve

#: The program's name by which our door says that it takes groups ahead, and one as long that says nothing.
KNOWN, UNKNOWN = b"rowferry, takes groups ahead", b"another server of this size."


class OtherServer:
    """One at a port that says nothing of groups ahead, made of our door.

    With `is_strict`, it ends a connection that sends more than a login before it is answered, without a word.
    """

    def __init__(self, port: int, upstream: tuple[str, int], *, is_strict: bool) -> None:
        self._upstream, self._is_strict = upstream, is_strict
        #: Connections, and how many of them sent more with the login.
        self.connections = self.early = 0
        self._listener = socket.create_server(("127.0.0.1", port))
        self._threads = [threading.Thread(target=self._accept, daemon=True)]
        self._threads[0].start()

    def close(self) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for thread in self._threads:
            thread.join(30)

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                self.connections += 1
                self._threads.append(threading.Thread(target=self._serve, args=(client,), daemon=True))
                self._threads[-1].start()

    def _serve(self, client: socket.socket) -> None:
        with client, socket.create_connection(self._upstream, timeout=30) as server:
            client.settimeout(30)
            login = b""
            # The first two bytes are the length of the login.
            while len(login) < 2 or len(login) < int.from_bytes(login[:2], "big"):
                login += client.recv(65536)
            is_early = len(login) > int.from_bytes(login[:2], "big")
            self.early += is_early
            if is_early and self._is_strict:
                return
            server.sendall(login)
            answer = server.recv(65536)
            assert KNOWN in answer
            client.sendall(answer.replace(KNOWN, UNKNOWN))
            up = threading.Thread(target=self._pass, args=(client, server), daemon=True)
            up.start()
            self._pass(server, client)
            up.join(30)

    @staticmethod
    def _pass(source: socket.socket, sink: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                sink.sendall(data)
        with contextlib.suppress(OSError):
            sink.shutdown(socket.SHUT_WR)


@pytest.fixture(params=[False, True], ids=["answers", "closes"])
def taken(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[str, OtherServer]]:
    """A URL whose server was known to take groups ahead, and who listens there now."""
    with serve(tmp_path / "app.db") as other:
        assert other.informix is not None
        with serve(tmp_path / "app.db") as server:
            assert server.informix is not None
            port = server.informix[1]
            url = f"informix://127.0.0.1:{port}/app"
            informix.connect(url).close()
        relay = OtherServer(port, other.informix, is_strict=request.param)
        try:
            yield url, relay
        finally:
            relay.close()


def told(relay: OtherServer) -> tuple[int, int]:
    return relay.connections, relay.early


def test_a_connection_is_opened_again_by_itself(taken: tuple[str, OtherServer]) -> None:
    url, relay = taken
    for attempts in (2, 3):
        with informix.connect(url) as connection:
            assert connection.execute("SELECT tabid FROM systables WHERE tabid = 1").fetchall() == [(1,)]
        # What is known no more is not tried again.
        assert told(relay) == (attempts, 1)


def test_an_asyncio_connection_is_opened_again_by_itself(taken: tuple[str, OtherServer]) -> None:
    url, relay = taken

    async def go() -> None:
        async with await aio.connect(url, connect_timeout=30) as connection:
            cursor = await connection.execute("SELECT tabid FROM systables WHERE tabid = 1")
            assert await cursor.fetchall() == [(1,)]

    asyncio.run(go())
    assert told(relay) == (2, 1)


def test_a_pool_opens_its_connections_again_by_itself(taken: tuple[str, OtherServer]) -> None:
    url, relay = taken
    with informix.create_pool(url, min_size=1, max_size=1) as pool, pool.connection() as connection:
        assert connection.execute("SELECT tabid FROM systables WHERE tabid = 1").fetchall() == [(1,)]
    assert told(relay) == (2, 1)


def test_the_second_attempt_is_the_last(tmp_path: Path) -> None:
    with serve(tmp_path / "app.db") as server:
        assert server.informix is not None
        port = server.informix[1]
        informix.connect(f"informix://127.0.0.1:{port}/app").close()
    with socket.create_server(("127.0.0.1", port)) as listener:
        connections = 0

        def end_them() -> None:
            nonlocal connections
            with contextlib.suppress(OSError):
                while True:
                    client, _ = listener.accept()
                    connections += 1
                    client.recv(65536)
                    client.close()

        thread = threading.Thread(target=end_them, daemon=True)
        thread.start()
        with pytest.raises(err.OperationalError, match=r"without an answer to the login|connection lost"):
            informix.connect(f"informix://127.0.0.1:{port}/app")
        listener.shutdown(socket.SHUT_RDWR)
        thread.join(30)
        assert connections == 2
