"""A server that answers with recorded bytes, and drivers of both colours behind one blocking face."""

from __future__ import annotations

import asyncio
import inspect
import json
import re
import socket
import threading
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

from rowferry import informix
from rowferry.informix import aio

_FILE = Path(__file__).parents[2] / "vectors" / "sqli.json"
VECTORS: dict[str, dict[str, Any]] = {vector["name"]: vector for vector in json.loads(_FILE.read_text())["vectors"]}


def vector(name: str) -> bytes:
    """The bytes of a golden vector."""
    return bytes.fromhex(VECTORS[name]["hex"])


EOT = b"\x00\x0c"
#: The mask of a 12.10 server: no 64-bit widths, as the vectors of informix-driver have none.
NARROW = bytes.fromhex("007e0009bdbe9ffe7fb7ffeff000000c")
WIDE = vector("protocols.jdbc15.reply")
_CLEANUP = re.compile(rb"\x00\x04..\x00[\x0a\x0b]\x00\x0c", re.DOTALL)


class Replay:
    """Accepts one connection after the other and answers each request with the next of `replies`.

    The login and the opening of the database are answered by themselves, unless `opening` gives other answers: to the
    login packet, to the capabilities, to the environment with the database. Closing of cursors and release of
    statements are always answered. When `replies` run out, the connection is closed.
    """

    def __init__(self, replies: Sequence[bytes] = (), opening: Sequence[bytes] = (), mask: bytes = NARROW) -> None:
        self.replies = list(replies)
        self.opening = [vector("login.accept"), mask, EOT + vector("dbopen.32.reply")]
        if mask == WIDE:
            self.opening[2] = EOT + vector("dbopen.reply")
        self.opening[: len(opening)] = opening
        #: What the client sent after the opening, without clean-up.
        self.requests: list[bytes] = []
        self.closed_cursors = 0
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._socket.getsockname()[1]
        self._thread = threading.Thread(target=self._serve, daemon=True)

    def __enter__(self) -> Replay:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()
        self._thread.join(5)

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            with connection:
                connection.settimeout(10)
                try:
                    self._converse(connection)
                except OSError:
                    continue

    def _converse(self, connection: socket.socket) -> None:
        for reply in self.opening:
            if not connection.recv(65536):
                return
            connection.sendall(reply)
        replies = list(self.replies)
        while True:
            request = connection.recv(1 << 20)
            while _CLEANUP.match(request):
                self.closed_cursors += request[5] == 0x0A
                request = request[8:]
                connection.sendall(EOT)
            if request == b"\x00\x38":
                connection.sendall(b"\x00\x38")
                return
            if not request or not replies:
                return
            self.requests.append(request)
            connection.sendall(replies.pop(0))


class Blocking:
    """An object whose coroutines are run to their end by `loop`."""

    def __init__(self, target: Any, loop: asyncio.AbstractEventLoop | None) -> None:
        object.__setattr__(self, "_target", target)
        object.__setattr__(self, "_loop", loop)

    def _settle(self, value: Any) -> Any:
        if self._loop is not None and inspect.isawaitable(value) and not isinstance(value, aio.AsyncCursor):

            async def wait() -> Any:
                return await value

            value = self._loop.run_until_complete(wait())
        if self._loop is not None and inspect.isasyncgen(value):
            value = self._steps(value)
        if isinstance(value, (aio.AsyncCursor, aio.AsyncConnection, informix.Cursor, informix.Connection)):
            return Blocking(value, self._loop)
        return value

    def _steps(self, values: Any) -> Any:
        """An asynchronous generator, one step at a time."""
        nothing = object()

        async def step() -> Any:
            return await anext(values, nothing)

        assert self._loop is not None
        while (value := self._loop.run_until_complete(step())) is not nothing:
            yield value

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._target, name)
        if not callable(value):
            return self._settle(value)
        return lambda *args, **keywords: self._settle(value(*args, **keywords))

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self._target, name, value)

    def __enter__(self) -> Blocking:
        return self

    def __exit__(self, *_: object) -> None:
        self._settle(self._target.close())


class Driver:
    """`rowferry.informix`, or `rowferry.informix.aio` behind the same face."""

    def __init__(self, colour: str) -> None:
        self.colour = colour
        self.loop = asyncio.new_event_loop() if colour == "asyncio" else None

    def connect(self, *args: Any, **parameters: Any) -> Any:
        """A connection."""
        module: Any = informix if self.loop is None else aio
        defaults = {"connect_timeout": 10, "read_timeout": 10}
        if not args:
            defaults |= {"host": "127.0.0.1", "user": "informix", "password": "in4mix", "database": "testdb"}
        return Blocking(module, self.loop).connect(*args, **(defaults | parameters))

    def close(self) -> None:
        """End the event loop."""
        if self.loop is not None:
            self.loop.run_until_complete(asyncio.sleep(0))
            self.loop.close()
