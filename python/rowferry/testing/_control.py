"""As much of PostgreSQL's protocol as making and dropping databases needs: a statement, and whether it failed.

The messages are in PostgreSQL's manual, 55.7. The server is one that we have started, on this machine; it trusts us.
"""

from __future__ import annotations

import socket
import struct

_PROTOCOL = 196608


class Refused(RuntimeError):
    """The server refused a statement; the message is its own."""


class Control:
    """A connection that runs statements without results."""

    def __init__(self, host: str, port: int, database: str, timeout: float) -> None:
        self._socket = socket.create_connection((host, port), timeout)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._input = self._socket.makefile("rb")
        try:
            self._log_in(database)
        except BaseException:
            self.close()
            raise

    def _log_in(self, database: str) -> None:
        words = ("user", "rowferry", "database", database, "application_name", "rowferry.testing")
        body = struct.pack("!i", _PROTOCOL) + b"".join(word.encode() + b"\0" for word in words) + b"\0"
        self._socket.sendall(struct.pack("!i", len(body) + 4) + body)
        self._wait()

    def run(self, sql: str) -> None:
        """Run one statement; raises `Refused`, and `OSError` when the server does not answer."""
        body = sql.encode() + b"\0"
        self._socket.sendall(b"Q" + struct.pack("!i", len(body) + 4) + body)
        self._wait()

    def close(self) -> None:
        """Leave."""
        self._input.close()
        self._socket.close()

    def _wait(self) -> None:
        """Read until the server is ready for the next statement."""
        refusal = None
        while True:
            head = self._input.read(5)
            if len(head) < 5:
                raise ConnectionResetError(refusal or "the server has gone")
            kind, length = head[:1], struct.unpack("!i", head[1:])[0]
            body = self._input.read(length - 4)
            if kind == b"E":
                refusal = _message(body)
            elif kind == b"Z":
                break
        if refusal is not None:
            raise Refused(refusal)


def _message(fields: bytes) -> str:
    """The text of an ErrorResponse."""
    texts = {field[:1]: field[1:].decode(errors="replace") for field in fields.split(b"\0") if field}
    hint = texts.get(b"H")
    return f"{texts.get(b'C')}: {texts.get(b'M')}" + (f" ({hint})" if hint else "")


def quoted(name: str) -> str:
    """A name as SQL has it."""
    return '"' + name.replace('"', '""') + '"'
