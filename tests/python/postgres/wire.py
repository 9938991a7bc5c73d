"""The PostgreSQL protocol by hand, for what no driver would ever send."""

from __future__ import annotations

import socket
import struct
from dataclasses import dataclass
from types import TracebackType

PROTOCOL_3_0 = 3 << 16
PROTOCOL_3_2 = PROTOCOL_3_0 | 2
SSL_REQUEST = 80877103
GSSENC_REQUEST = 80877104
CANCEL_REQUEST = 80877102


def text(value: str) -> bytes:
    """A terminated string."""
    return value.encode() + b"\0"


def message(tag: str, body: bytes = b"") -> bytes:
    """A whole message with a tag."""
    return tag.encode() + struct.pack("!i", len(body) + 4) + body


def startup(version: int = PROTOCOL_3_0, /, **parameters: str) -> bytes:
    """A start-up packet."""
    body = struct.pack("!i", version)
    body += b"".join(text(name) + text(value) for name, value in parameters.items()) + b"\0"
    return struct.pack("!i", len(body) + 4) + body


def request(code: int, rest: bytes = b"") -> bytes:
    """A packet that stands where a start-up packet does: SSLRequest and its kin."""
    return struct.pack("!ii", 8 + len(rest), code) + rest


def query(sql: str) -> bytes:
    return message("Q", text(sql))


def parse(sql: str, name: str = "", types: tuple[int, ...] = ()) -> bytes:
    return message("P", text(name) + text(sql) + struct.pack(f"!h{len(types)}i", len(types), *types))


def bind(*values: bytes | None, portal: str = "", statement: str = "", results: tuple[int, ...] = ()) -> bytes:
    """Text parameters; `results` are the result formats."""
    body = text(portal) + text(statement) + struct.pack("!hh", 0, len(values))
    for value in values:
        body += struct.pack("!i", -1) if value is None else struct.pack("!i", len(value)) + value
    return message("B", body + struct.pack(f"!h{len(results)}h", len(results), *results))


def describe(kind: str, name: str = "") -> bytes:
    return message("D", kind.encode() + text(name))


def execute(portal: str = "", limit: int = 0) -> bytes:
    return message("E", text(portal) + struct.pack("!i", limit))


def close(kind: str, name: str) -> bytes:
    return message("C", kind.encode() + text(name))


SYNC = message("S")
FLUSH = message("H")
TERMINATE = message("X")


@dataclass
class Answer:
    """A message of the server."""

    tag: str
    body: bytes

    @property
    def fields(self) -> dict[str, str]:
        """Of an ErrorResponse or NoticeResponse."""
        assert self.tag in "EN", self
        return {chr(item[0]): item[1:].decode() for item in self.body.split(b"\0") if item}

    @property
    def sqlstate(self) -> str:
        return self.fields["C"]

    @property
    def values(self) -> list[bytes | None]:
        """Of a DataRow."""
        assert self.tag == "D", self
        (count,), at, values = struct.unpack_from("!h", self.body), 2, []
        for _ in range(count):
            (length,) = struct.unpack_from("!i", self.body, at)
            at += 4
            values.append(None if length < 0 else self.body[at : at + length])
            at += max(length, 0)
        assert at == len(self.body), "a row must consume its message exactly"
        return values

    @property
    def command(self) -> str:
        """Of a CommandComplete."""
        assert self.tag == "C", self
        return self.body[:-1].decode()

    @property
    def columns(self) -> list[str]:
        """Of a RowDescription: `name:type:format` of each column."""
        assert self.tag == "T", self
        (count,), at, columns = struct.unpack_from("!h", self.body), 2, []
        for _ in range(count):
            end = self.body.index(b"\0", at)
            _, _, oid, _, _, form = struct.unpack_from("!ihihih", self.body, end + 1)
            columns.append(f"{self.body[at:end].decode()}:{oid}:{form}")
            at = end + 19
        assert at == len(self.body), "columns must consume their message exactly"
        return columns

    def __str__(self) -> str:
        """In one word, for comparisons with what PostgreSQL says."""
        match self.tag:
            case "E" | "N":
                fields = self.fields
                context = f" W={fields['W']}" if "W" in fields else ""
                return f"{self.tag}[{fields['S']} {fields['C']} {fields['M']}{context}]"
            case "D":
                return f"D{self.values}"
            case "T":
                return f"T{self.columns}"
            case "C":
                return f"C[{self.command}]"
            case "Z":
                return f"Z:{self.body.decode()}"
            case tag:
                return tag


class Closed(Exception):
    """The server has closed the connection."""


class Wire:
    """A connection whose every byte is ours."""

    def __init__(self, address: tuple[str, int], timeout: float = 20) -> None:
        self.socket = socket.create_connection(address, timeout=timeout)
        self._pending = b""

    @classmethod
    def open(cls, address: tuple[str, int], **parameters: str) -> Wire:
        """A session that is ready for queries."""
        wire = cls(address)
        wire.send(startup(**{"user": "tester", "database": "app", **parameters}))
        wire.ready()
        return wire

    def send(self, *messages: bytes) -> None:
        self.socket.sendall(b"".join(messages))

    def read(self, count: int) -> bytes:
        while len(self._pending) < count:
            try:
                received = self.socket.recv(65536)
            except ConnectionResetError:
                received = b""
            if not received:
                raise Closed(self._pending)
            self._pending += received
        result, self._pending = self._pending[:count], self._pending[count:]
        return result

    def receive(self) -> Answer:
        tag, length = struct.unpack("!ci", self.read(5))
        return Answer(tag.decode(), self.read(length - 4))

    def until(self, last: str) -> list[Answer]:
        """Everything up to and with the first message whose tag is `last`."""
        answers = [self.receive()]
        while answers[-1].tag != last:
            answers.append(self.receive())
        return answers

    def ready(self) -> list[Answer]:
        """Everything up to ReadyForQuery, and a check that nothing comes behind it."""
        answers = self.until("Z")
        assert self._pending == b"", "bytes behind ReadyForQuery"
        return answers

    def ask(self, *messages: bytes) -> str:
        """Send, and the tags of the answers up to ReadyForQuery, with the transaction status behind: `"1 2 C Z:I"`."""
        self.send(*messages)
        answers = self.ready()
        return " ".join(answer.tag for answer in answers) + ":" + answers[-1].body.decode()

    def rest(self) -> list[Answer]:
        """Everything up to the end of the connection."""
        answers = []
        try:
            while True:
                answers.append(self.receive())
        except Closed as closed:
            assert closed.args[0] == b"", "the server closed in the middle of a message"
            return answers

    def close(self) -> None:
        self.socket.close()

    def __enter__(self) -> Wire:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()
