"""A relay between driver and server that takes capabilities away from both, so that older servers can be played.

A capability is active when both sides have it. The relay cuts the client's offer before the server sees it, and the
server's answer before the client does.
"""

from __future__ import annotations

import contextlib
import socket
import threading
from types import TracebackType

#: What servers answered, by version.
SERVERS = {
    "15": bytes.fromhex("bdbe9ffe7fb7ffefff"),
    "14.10": bytes.fromhex("bdbe9ffe7fb7ffeff8"),
    "12.10": bytes.fromhex("bdbe9ffe7fb7ffeff0"),
}
_PROTOCOLS = b"\x00\x7e"


def without(*bits: int) -> bytes:
    """The mask of version 15 without these bits."""
    mask = bytearray(SERVERS["15"])
    for bit in bits:
        mask[bit // 8] &= ~(0x80 >> bit % 8)
    return bytes(mask)


class MaskRelay:
    """Listens on a free port and relays to `address`, with `mask` over the capabilities of both sides."""

    def __init__(self, address: tuple[str, int], mask: bytes) -> None:
        self._address = address
        self._mask = mask
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self._sockets: list[socket.socket] = []
        self._threads = [threading.Thread(target=self._serve, daemon=True)]

    def __enter__(self) -> MaskRelay:
        self._threads[0].start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
    ) -> None:
        for end in [self._listener, *self._sockets]:
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()
        for thread in self._threads:
            thread.join(10)

    def _serve(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                server = socket.create_connection(self._address, 10)
                self._sockets += [client, server]
                for source, sink in ((client, server), (server, client)):
                    thread = threading.Thread(target=self._pump, args=(source, sink), daemon=True)
                    self._threads.append(thread)
                    thread.start()

    def _pump(self, source: socket.socket, sink: socket.socket) -> None:
        """The login packet first, whose length it says itself; then the mask; then whatever comes."""
        with contextlib.suppress(OSError, EOFError):
            login = self._take(source, 2)
            sink.sendall(login + self._take(source, int.from_bytes(login, "big") - 2))
            head = self._take(source, 4)
            if head[:2] == _PROTOCOLS:
                offer = self._take(source, int.from_bytes(head[2:], "big"))
                head += bytes(mine & theirs for mine, theirs in zip(offer, self._mask, strict=False))
                head += offer[len(self._mask) :]
            sink.sendall(head)
            while chunk := source.recv(65536):
                sink.sendall(chunk)
        with contextlib.suppress(OSError):
            sink.shutdown(socket.SHUT_WR)

    @staticmethod
    def _take(source: socket.socket, count: int) -> bytes:
        taken = b""
        while len(taken) < count:
            chunk = source.recv(count - len(taken))
            if not chunk:
                raise EOFError
            taken += chunk
        return taken
