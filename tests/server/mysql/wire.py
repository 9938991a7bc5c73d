"""As much of a MySQL client as the drivers do not have: any capability, any command, answers as they came."""

from __future__ import annotations

import socket
import struct
from dataclasses import dataclass, field
from types import TracebackType

PROTOCOL_41 = 0x0200
SECURE_CONNECTION = 0x8000
PLUGIN_AUTH = 0x0008_0000
CONNECT_WITH_DB = 0x0008
MULTI_STATEMENTS = 0x0001_0000
MULTI_RESULTS = 0x0002_0000
SESSION_TRACK = 0x0080_0000
DEPRECATE_EOF = 0x0100_0000
LOCAL_FILES = 0x0080

USUAL = PROTOCOL_41 | SECURE_CONNECTION | PLUGIN_AUTH | MULTI_RESULTS | 0x2001

QUIT, INIT_DB, QUERY, FIELD_LIST, STATISTICS, PROCESS_KILL, PING = 1, 2, 3, 4, 9, 12, 14
CHANGE_USER, PREPARE, EXECUTE, LONG_DATA, CLOSE, RESET_STATEMENT = 17, 22, 23, 24, 25, 26
SET_OPTION, FETCH, RESET = 27, 28, 31

MORE_RESULTS, CURSOR_EXISTS, LAST_ROW_SENT = 0x08, 0x40, 0x80


class ServerError(Exception):
    """An ERR: its number, its SQLSTATE, its text."""

    def __init__(self, payload: bytes) -> None:
        self.code = struct.unpack_from("<H", payload, 1)[0]
        marked = payload[3:4] == b"#"
        self.sqlstate = payload[4:9].decode() if marked else ""
        self.message = payload[9 if marked else 3 :].decode()
        super().__init__(f"{self.code} ({self.sqlstate}): {self.message}")


@dataclass
class Column:
    """The definition of a column."""

    schema: str
    table: str
    name: str
    charset: int
    length: int
    type: int
    flags: int
    decimals: int


@dataclass
class Result:
    """One result: of rows there are payloads."""

    columns: list[Column] = field(default_factory=list)
    rows: list[bytes] = field(default_factory=list)
    affected: int = 0
    insert_id: int = 0
    status: int = 0
    warnings: int = 0
    tail: bytes = b""

    def texts(self) -> list[tuple[bytes | None, ...]]:
        """The rows of the text protocol."""
        told = []
        for row in self.rows:
            cells: list[bytes | None] = []
            at = 0
            while at < len(row):
                if row[at] == 0xFB:
                    cells.append(None)
                    at += 1
                    continue
                length, at = lenenc(row, at)
                cells.append(row[at : at + length])
                at += length
            told.append(tuple(cells))
        return told


def lenenc(data: bytes, at: int) -> tuple[int, int]:
    """A length-encoded integer, and where it ends."""
    first = data[at]
    if first < 0xFB:
        return first, at + 1
    width = {0xFC: 2, 0xFD: 3, 0xFE: 8}[first]
    return int.from_bytes(data[at + 1 : at + 1 + width], "little"), at + 1 + width


class Client:
    """A connection that is in."""

    def __init__(
        self,
        address: tuple[str, int] | str,
        *,
        user: str = "ada",
        database: str = "",
        capabilities: int = USUAL,
        collation: int = 45,
        plugin: str = "caching_sha2_password",
    ) -> None:
        if isinstance(address, str):
            self.socket = socket.socket(socket.AF_UNIX)
            self.socket.settimeout(30)
            self.socket.connect(address)
        else:
            self.socket = socket.create_connection(address, timeout=30)
        self.capabilities = capabilities
        self.sequence = 0
        try:
            self._log_in(user, database, collation, plugin)
        except BaseException:
            self.socket.close()
            raise

    def _log_in(self, user: str, database: str, collation: int, plugin: str) -> None:
        self.greeting = self.read()
        if self.greeting[:1] == b"\xff":
            raise ServerError(self.greeting)
        end = self.greeting.index(b"\0")
        self.version = self.greeting[1:end].decode()
        self.number = struct.unpack_from("<I", self.greeting, end + 1)[0]
        if database:
            self.capabilities |= CONNECT_WITH_DB
        login = struct.pack("<IIB23x", self.capabilities, 1 << 24, collation) + user.encode() + b"\0\0"
        if database:
            login += database.encode() + b"\0"
        if self.capabilities & PLUGIN_AUTH:
            login += plugin.encode() + b"\0"
        self.write(login)
        self.welcome = self.result()

    def __enter__(self) -> Client:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.socket.close()

    def read(self) -> bytes:
        """A packet's payload."""
        head = self._read(4)
        self.sequence = (head[3] + 1) & 0xFF
        length = int.from_bytes(head[:3], "little")
        payload = self._read(length)
        return payload + self.read() if length == 0xFFFFFF else payload

    def _read(self, length: int) -> bytes:
        data = b""
        while len(data) < length:
            piece = self.socket.recv(length - len(data))
            if not piece:
                raise EOFError("the server has hung up")
            data += piece
        return data

    def write(self, payload: bytes) -> None:
        """Sends a payload of less than 16 MB."""
        self.socket.sendall(len(payload).to_bytes(3, "little") + bytes([self.sequence]) + payload)
        self.sequence = (self.sequence + 1) & 0xFF

    def command(self, code: int, argument: bytes = b"") -> None:
        """Sends a command."""
        self.sequence = 0
        self.write(bytes([code]) + argument)

    def ended(self, result: Result, payload: bytes) -> Result:
        """What an OK says."""
        result.affected, at = lenenc(payload, 1)
        result.insert_id, at = lenenc(payload, at)
        result.status, result.warnings = struct.unpack_from("<HH", payload, at)
        result.tail = payload[at + 4 :]
        return result

    def rows_ended(self, result: Result, payload: bytes) -> bool:
        """True when this is the end of rows, and not one of them."""
        if payload[:1] == b"\xff":
            raise ServerError(payload)
        if payload[:1] != b"\xfe" or len(payload) >= 0xFFFFFF:
            return False
        if self.capabilities & DEPRECATE_EOF:
            self.ended(result, payload)
        elif len(payload) < 9:
            result.warnings, result.status = struct.unpack_from("<HH", payload, 1)
        else:
            return False
        return True

    def columns(self, count: int) -> list[Column]:
        """So many definitions."""
        return [self.column(self.read()) for _ in range(count)]

    @staticmethod
    def column(payload: bytes) -> Column:
        """A definition."""
        texts, at = [], 0
        for _ in range(6):
            length, at = lenenc(payload, at)
            texts.append(payload[at : at + length].decode())
            at += length
        charset, length, kind, flags, decimals = struct.unpack_from("<HIBHB", payload, at + 1)
        return Column(texts[1], texts[2], texts[4], charset, length, kind, flags, decimals)

    def result(self) -> Result:
        """One result."""
        payload = self.read()
        result = Result()
        if payload[:1] == b"\xff":
            raise ServerError(payload)
        if payload[:1] == b"\x00":
            return self.ended(result, payload)
        count, _ = lenenc(payload, 0)
        result.columns = self.columns(count)
        if not self.capabilities & DEPRECATE_EOF:
            self.rows_ended(result, self.read())
            if result.status & CURSOR_EXISTS:
                return result
        return self.rows(result)

    def rows(self, result: Result) -> Result:
        """Rows up to their end."""
        while not self.rows_ended(result, payload := self.read()):
            result.rows.append(payload)
        return result

    def results(self) -> list[Result]:
        """All results of a command."""
        results = [self.result()]
        while results[-1].status & MORE_RESULTS:
            results.append(self.result())
        return results

    def query(self, sql: str) -> Result:
        """A query of one result."""
        self.command(QUERY, sql.encode())
        return self.result()

    def prepare(self, sql: str) -> tuple[int, int, list[Column]]:
        """A statement: its number, how many parameters, its columns."""
        self.command(PREPARE, sql.encode())
        payload = self.read()
        if payload[:1] == b"\xff":
            raise ServerError(payload)
        statement, columns, params = struct.unpack_from("<IHH", payload, 1)
        told: list[Column] = []
        for count in (params, columns):
            if count:
                told = self.columns(count)
                if not self.capabilities & DEPRECATE_EOF:
                    assert self.rows_ended(Result(), self.read())
        return statement, params, told if columns else []

    def execute(self, statement: int, values: list[int | str | bytes | None] = [], cursor: int = 0) -> Result:  # noqa: B006
        """Runs a statement."""
        nulls = bytearray((len(values) + 7) // 8)
        types, data = b"", b""
        for at, value in enumerate(values):
            match value:
                case None:
                    nulls[at // 8] |= 1 << at % 8
                    types += b"\x06\0"
                case int():
                    types += b"\x08\0"
                    data += struct.pack("<q", value)
                case str():
                    encoded = value.encode()
                    types += b"\xfd\0"
                    data += bytes([len(encoded)]) + encoded
                case bytes():
                    types += b"\xfb\0"
                    data += bytes([len(value)]) + value
        head = struct.pack("<IBI", statement, cursor, 1)
        self.command(EXECUTE, head + (bytes(nulls) + b"\1" + types + data if values else b""))
        return self.result()
