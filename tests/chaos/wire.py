"""A wire with faults between a client and a server: bytes are cut off, held back, delayed, split or garbled."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from dataclasses import dataclass
from types import TracebackType
from typing import Literal

Kind = Literal["none", "cut", "silent", "split", "delay", "garble"]


@dataclass(frozen=True)
class Fault:
    """What happens to the bytes of one side, `client` or `server`.

    `cut`: the connection ends after `at` bytes; `silent`: nothing more passes after them; `split`: bytes pass in pieces
    of `at`; `delay`: each piece comes `at` milliseconds later; `garble`: the byte at `at` is changed by `change`.
    """

    kind: Kind = "none"
    side: Literal["client", "server"] = "server"
    at: int = 0
    change: int = 1


class FaultyWire:
    """`with FaultyWire(server, fault) as wire: connect(port=wire.port)`. One connection."""

    def __init__(self, upstream: tuple[str, int], fault: Fault) -> None:
        self._upstream = upstream
        self._fault = fault
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        #: Where each piece that arrived ends, in bytes from the beginning, by side: about one group of messages each.
        self.ends: dict[str, list[int]] = {"client": [0], "server": [0]}
        #: Everything that arrived, by side.
        self.seen: dict[str, bytearray] = {"client": bytearray(), "server": bytearray()}
        self._sockets: list[socket.socket] = []
        self._threads = [threading.Thread(target=self._accept, daemon=True)]

    def __enter__(self) -> FaultyWire:
        self._threads[0].start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
    ) -> None:
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._threads[0].join(20)
        self._listener.close()
        self._hang_up()
        for thread in self._threads[1:]:
            thread.join(20)
            assert not thread.is_alive()
        for end in self._sockets:
            end.close()

    def _hang_up(self) -> None:
        for end in self._sockets:
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def _accept(self) -> None:
        try:
            client, _ = self._listener.accept()
        except OSError:
            return
        server = socket.create_connection(self._upstream)
        for end in (client, server):
            end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._sockets += [client, server]
        for side, source, sink in (("client", client, server), ("server", server, client)):
            thread = threading.Thread(target=self._relay, args=(side, source, sink), daemon=True)
            self._threads.append(thread)
            thread.start()

    def _relay(self, side: str, source: socket.socket, sink: socket.socket) -> None:
        fault = self._fault if self._fault.side == side else Fault()
        passed = 0
        with contextlib.suppress(OSError):
            while data := bytearray(source.recv(65536)):
                start, passed = passed, passed + len(data)
                self.ends[side].append(passed)
                self.seen[side] += data
                if fault.kind in ("cut", "silent") and passed > fault.at:
                    sink.sendall(data[: max(fault.at - start, 0)])
                    if fault.kind == "cut":
                        break
                    while source.recv(65536):
                        pass
                    break
                if fault.kind == "garble" and start <= fault.at < passed:
                    data[fault.at - start] = (data[fault.at - start] + fault.change) % 256
                if fault.kind == "delay":
                    time.sleep(fault.at / 1000)
                step = fault.at if fault.kind == "split" else len(data)
                for piece in range(0, len(data), step):
                    sink.sendall(data[piece : piece + step])
        # One side's end is the other's, too.
        self._hang_up()
