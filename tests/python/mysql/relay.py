"""A TCP relay that can hold bytes back and cut the wire, for faults that a healthy server does not show."""

from __future__ import annotations

import contextlib
import socket
import threading
from types import TracebackType


class Relay:
    """Passes bytes between its clients and a server; `cut_after` bytes of answers it closes both sides.

    `refuse_tls` closes the connection when the client asks for TLS, as some proxies do.
    """

    def __init__(self, host: str, port: int, *, cut_after: int | None = None, refuse_tls: bool = False) -> None:
        self._server = (host, port)
        self._cut_after = cut_after
        self._refuse_tls = refuse_tls
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self._sockets: list[socket.socket] = []
        self._silent = threading.Event()
        self._stopped = threading.Event()
        self._over = threading.Event()
        self._acceptor = threading.Thread(target=self._accept, daemon=True)
        self._acceptor.start()

    def silence(self) -> None:
        """From now on nothing is passed on, but the connections stay open."""
        self._silent.set()

    def stop_reading(self) -> None:
        """From now on nothing is taken from anybody, until the end of the test."""
        self._stopped.set()

    def cut(self) -> None:
        """Close every connection now."""
        for sock in self._sockets:
            with contextlib.suppress(OSError):
                sock.shutdown(socket.SHUT_RDWR)
            sock.close()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            server = socket.create_connection(self._server)
            self._sockets += [client, server]
            threading.Thread(target=self._pass, args=(client, server, None), daemon=True).start()
            threading.Thread(target=self._pass, args=(server, client, self._cut_after), daemon=True).start()

    def _pass(self, source: socket.socket, sink: socket.socket, most: int | None) -> None:
        passed = 0
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                if self._stopped.is_set():
                    self._over.wait(60)
                    break
                if self._silent.is_set():
                    continue
                # The request for TLS is a login packet of exactly 32 bytes.
                if self._refuse_tls and most is None and data[:4] == b"\x20\0\0\x01":
                    break
                if most is not None and passed + len(data) >= most:
                    sink.sendall(data[: most - passed])
                    break
                sink.sendall(data)
                passed += len(data)
        for sock in (source, sink):
            with contextlib.suppress(OSError):
                sock.shutdown(socket.SHUT_RDWR)

    def __enter__(self) -> Relay:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._over.set()
        # Closing alone would not wake the thread that waits in accept().
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._acceptor.join(30)
        self._listener.close()
        self.cut()
