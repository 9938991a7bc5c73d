"""A reader that only drains the socket: nothing is decoded, no row is made.

PyMySQL logs in; what the answer's length is, is learnt once by looking at the packets, and then so many bytes are read.
"""

from __future__ import annotations

import socket
import struct
from collections.abc import Sequence
from typing import Any

import pymysql

from .base import Address, Row, Unsupported
from .mysql_base import Drain
from .pymysql import with_options

_QUERY, _PREPARE, _EXECUTE = b"\x03", b"\x16", b"\x17"
_EOF, _ERROR = 0xFE, 0xFF


class DrainText(Drain):
    """The answer of the text protocol."""

    _total: int | None = None

    def version(self) -> str:
        return "a socket, text protocol"

    def connect(self, address: Address) -> None:
        self._connection: Any = pymysql.connect(**with_options(address))
        self._socket: socket.socket = self._connection._sock
        self._space = memoryview(bytearray(1024 * 1024))

    def close(self) -> None:
        self._connection.close()

    def select(self, sql: str, parameters: Sequence[Row]) -> list[list[Row]]:
        if parameters != [()]:
            raise Unsupported("only for statements without parameters")
        if self._total is None:
            self._socket.settimeout(10)
            self._request = self.request(sql)
            self._total = self._learn()
            self._socket.settimeout(None)
            return []
        self._socket.sendall(self._request)
        left = self._total
        receive, space = self._socket.recv_into, self._space
        while left:
            left -= receive(space)
        return []

    def request(self, sql: str) -> bytes:
        """The packet that asks for the rows."""
        return _packet(_QUERY + sql.encode())

    def write(self, sql: str, rows: Sequence[Row]) -> None:
        raise Unsupported("a reader only")

    def execute(self, sql: str) -> None:
        raise Unsupported("a reader only")

    def _learn(self) -> int:
        """The length of the answer, packet by packet."""
        self._socket.sendall(self._request)
        total = ends = 0
        # Columns, their end, rows, their end.
        while ends < 2:
            payload = self._payload()
            total += 4 + len(payload)
            if payload[0] == _ERROR:
                raise RuntimeError(payload[3:].decode(errors="replace"))
            ends += payload[0] == _EOF and len(payload) < 9
        return total

    def _payload(self) -> bytes:
        return self._exactly(int.from_bytes(self._exactly(4)[:3], "little"))

    def _exactly(self, count: int) -> bytes:
        parts = bytearray()
        while len(parts) < count:
            part = self._socket.recv(count - len(parts))
            if not part:
                raise RuntimeError("the server hung up")
            parts += part
        return bytes(parts)


class DrainBinary(DrainText):
    """The answer of the binary protocol."""

    def version(self) -> str:
        return "a socket, binary protocol"

    def request(self, sql: str) -> bytes:
        self._socket.sendall(_packet(_PREPARE + sql.encode()))
        answer = self._payload()
        statement, columns, parameters = struct.unpack_from("<IHH", answer, 1)
        if answer[0] == _ERROR or parameters:
            raise RuntimeError("cannot be prepared")
        for _ in range(columns + 1):
            self._payload()
        return _packet(_EXECUTE + struct.pack("<IBI", statement, 0, 1))


def _packet(payload: bytes) -> bytes:
    return len(payload).to_bytes(3, "little") + b"\0" + payload
