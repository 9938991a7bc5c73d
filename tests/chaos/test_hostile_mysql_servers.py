"""A server that lies, floods or falls silent: the driver, both colours, leaves it with an error of its own, in time and
without much memory."""

from __future__ import annotations

import asyncio
import contextlib
import datetime
import decimal
import resource
import socket
import struct
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from types import TracebackType
from typing import Any

import pytest
from rowferry import mysql
from rowferry.mysql import aio

#: How long a driver waits for a server that says nothing, in seconds.
SILENCE = 0.3
#: Autocommit.
OK = b"\x00\x00\x00\x02\x00\x00\x00"
EOF = b"\xfe\x00\x00\x02\x00"


def packet(number: int, payload: bytes) -> bytes:
    """A packet with its header."""
    return len(payload).to_bytes(3, "little") + bytes([number % 256]) + payload


def greeting(plugin: bytes = b"mysql_native_password") -> bytes:
    """That of MySQL 8 without TLS, with the old ends of rows."""
    capabilities = 0x0008A28F | 0x00030000
    return packet(
        0,
        b"\x0a8.0.99\x00\x07\x00\x00\x00abcdefgh\x00"
        + (capabilities & 0xFFFF).to_bytes(2, "little")
        + b"\x2d\x02\x00"
        + (capabilities >> 16).to_bytes(2, "little")
        + b"\x15"
        + bytes(10)
        + b"ijklmnopqrst\x00"
        + plugin
        + b"\x00",
    )


def column(name: bytes = b"c", type_: int = 0xFD, decimals: int = 0) -> bytes:
    """A column, by default of text."""
    names = b"".join(bytes([len(text)]) + text for text in (b"def", b"", b"", b"", name, name))
    return names + b"\x0c\x2d\x00\xff\x00\x00\x00" + bytes([type_]) + b"\x00\x00" + bytes([decimals, 0, 0])


class Liar:
    """Answers the login with `login` (by default OK), and each command with the next of `answers`.

    An answer may be an iterator of pieces, sent until the client leaves. When they run out, the server falls silent.
    """

    def __init__(self, *answers: Any, login: Any = None, hello: bytes | None = None) -> None:
        self._hello = greeting() if hello is None else hello
        self._turns = [packet(2, OK) if login is None else login, *answers]
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        #: What the client sent, without the login.
        self.requests: list[bytes] = []
        self._over = threading.Event()
        self._threads: list[threading.Thread] = []
        self._acceptor = threading.Thread(target=self._accept, daemon=True)

    def __enter__(self) -> Liar:
        self._acceptor.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._over.set()
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._acceptor.join(20)
        self._listener.close()
        for thread in self._threads:
            thread.join(20)
            assert not thread.is_alive()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            thread = threading.Thread(target=self._serve, args=(client,), daemon=True)
            self._threads.append(thread)
            thread.start()

    def _serve(self, client: socket.socket) -> None:
        with client, contextlib.suppress(OSError):
            client.settimeout(20)
            client.sendall(self._hello)
            for number, turn in enumerate(self._turns):
                request = client.recv(1 << 20)
                if not request:
                    return
                if number:
                    self.requests.append(request)
                for piece in [turn] if isinstance(turn, bytes) else turn:
                    client.sendall(piece)
                    if self._over.is_set():
                        return
            while request := client.recv(1 << 20):
                self.requests.append(request)


def endless(piece: Callable[[int], bytes]) -> Iterator[bytes]:
    number = 0
    while True:
        yield piece(number)
        number += 1


class Endless:
    """An answer that begins anew with each client."""

    def __init__(self, piece: Callable[[int], bytes], head: bytes = b"") -> None:
        self._piece, self._head = piece, head

    def __iter__(self) -> Iterator[bytes]:
        if self._head:
            yield self._head
        yield from endless(self._piece)


def memory_kb() -> int:
    """What this process holds now."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() // 1024


def ask(colour: str, liar: Liar, sql: str = "SELECT 1", **options: Any) -> Any:
    """Connect and run a statement; the rows, or the error."""
    where = {"host": "127.0.0.1", "port": liar.port, "user": "u", "password": "p", "autocommit": None}
    limits = {"connect_timeout": SILENCE, "read_timeout": SILENCE, "write_timeout": SILENCE, "ssl_mode": "DISABLED"}
    settings: dict[str, Any] = {**where, **limits, **options}

    async def main() -> Any:
        connection = None
        try:
            connection = await aio.connect(**settings)
            await connection.query(sql)
            assert connection.last_result is not None
            return connection.last_result.rows
        except aio.Error as error:
            assert connection is None or not connection.open or error.sqlstate is not None
            return error
        finally:
            if connection is not None:
                connection.close()

    if colour == "asyncio":
        return asyncio.run(asyncio.wait_for(main(), 30))
    connection = None
    try:
        connection = mysql.connect(**settings)
        connection.query(sql)
        assert connection.last_result is not None
        return connection.last_result.rows
    except mysql.Error as error:
        assert connection is None or not connection.open or error.sqlstate is not None
        return error
    finally:
        if connection is not None:
            connection._abort()


@pytest.fixture(params=["blocking", "asyncio"])
def colour(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def rows(*payloads: bytes, columns: int = 1) -> bytes:
    """A whole answer of text rows."""
    heads = b"".join(packet(2 + at, column()) for at in range(columns))
    answer = packet(1, bytes([columns])) + heads + packet(2 + columns, EOF)
    for at, payload in enumerate(payloads):
        answer += packet(3 + columns + at, payload)
    return answer + packet(3 + columns + len(payloads), EOF)


def test_an_honest_answer_is_understood(colour: str) -> None:
    with Liar(rows(b"\x01x", b"\xfb", b"\x02yz")) as liar:
        assert ask(colour, liar) == (("x",), (None,), ("yz",))


#: Type, what the server says of its decimals, and a value that has more of them: its bytes in the binary protocol.
MORE_DECIMALS = {
    "FLOAT of no decimals": (0x04, 0, struct.pack("<f", 1.5), 1.5),
    "FLOAT below one": (0x04, 0, struct.pack("<f", 0.1), 0.1),
    "FLOAT of many digits": (0x04, 0, struct.pack("<f", 1234567.5), 1234567.5),
    "FLOAT of one decimal": (0x04, 1, struct.pack("<f", -1234.567), -1234.567),
    "FLOAT as it should be": (0x04, 3, struct.pack("<f", 1234.567), 1234.567),
    "FLOAT of any decimals": (0x04, 31, struct.pack("<f", 0.1), 0.1),
    "DOUBLE": (0x05, 0, struct.pack("<d", 1.25), 1.25),
    "DECIMAL": (0xF6, 0, b"\x041.25", decimal.Decimal("1.25")),
    "DATETIME": (
        0x0C,
        0,
        b"\x0b" + struct.pack("<HBBBBBI", 2024, 5, 7, 1, 2, 3, 500_000),
        datetime.datetime(2024, 5, 7, 1, 2, 3, 500_000),
    ),
    "TIME": (0x0B, 0, b"\x0c" + struct.pack("<BIBBBI", 0, 0, 1, 2, 3, 4), datetime.timedelta(0, 3723, 4)),
}


@pytest.mark.parametrize("case", MORE_DECIMALS)
@pytest.mark.parametrize("shape", ["objects", "texts", "arrow"])
def test_prepared_values_keep_the_decimals_that_their_column_denies(shape: str, case: str) -> None:
    type_, decimals, body, value = MORE_DECIMALS[case]
    # The statement has one parameter and one column; its columns are described again with the rows.
    prepared = packet(1, b"\0\1\0\0\0\1\0\1\0\0\0\0") + packet(2, column()) + packet(3, EOF)
    described = column(type_=type_, decimals=decimals)
    prepared += packet(4, described) + packet(5, EOF)
    rows = packet(1, b"\1") + packet(2, described) + packet(3, EOF) + packet(4, b"\0\0" + body) + packet(5, EOF)
    options: dict[str, Any] = {"connect_timeout": 5, "read_timeout": 5, "ssl_mode": "DISABLED", "autocommit": None}
    if shape == "texts":
        # A caller's function knows the text protocol.
        options["conv"] = {**mysql.converters.conversions, type_: str}
    with Liar(prepared, rows) as liar:
        connection = mysql.connect("127.0.0.1", "u", "p", port=liar.port, stmt_cache_size=1, **options)
        try:
            cursor = connection.cursor()
            if shape == "arrow":
                if decimals == 0 and case == "DECIMAL":
                    with pytest.raises(mysql.DataError, match="more digits"):
                        cursor.execute("SELECT %s", (1,))
                        cursor.fetch_arrow_table()
                    return
                cursor.execute("SELECT %s", (1,))
                found = cursor.fetch_arrow_table().column(0)[0].as_py()
                assert found == (pytest.approx(value, rel=1e-7) if isinstance(value, float) else value)
                return
            cursor.execute("SELECT %s", (1,))
            ((found,),) = cursor.fetchall()
        finally:
            connection._abort()
    if shape == "texts" and isinstance(value, float):
        assert float(found) == value
    elif shape == "texts":
        # Python's word for a duration of hours has no zero in front.
        assert found in (str(value).rstrip("0"), f"0{value}")
    else:
        assert (type(found), found) == (type(value), value)


LIES = {
    "number": (rows(b"\x01x").replace(b"\x02\x00\x00\x04\x01x", b"\x02\x00\x00\x09\x01x"), 2014),
    "a cell beyond its row": (rows(b"\x09x"), 2027),
    "a cell of a gigabyte": (rows(b"\xfe\x00\x00\x00\x40\x00\x00\x00\x00x"), 2027),
    "a cell of 2^64 bytes": (rows(b"\xfe" + b"\xff" * 8 + b"x"), 2027),
    "bytes behind the last cell": (rows(b"\x01xyz"), 2027),
    "fewer cells than columns": (rows(b"\x01x", columns=2), 2027),
    "an empty packet": (packet(1, b""), 2027),
    "no column": (packet(1, b"\xfc\x00\x00"), 2027),
    "too many columns": (packet(1, b"\xfd\x01\x00\x01"), 2027),
    "2^64 columns": (packet(1, b"\xfe" + b"\xff" * 8), 2027),
    "a column of nothing": (packet(1, b"\x01") + packet(2, b"\x03def") + packet(3, EOF), 2027),
    "an OK that is cut": (packet(1, b"\x00\x00"), 2027),
    "an error that is cut": (packet(1, b"\xff\x01"), 2027),
    "a count that is none": (packet(1, b"\xff\xff\xff\xff")[:6] + b"\xff\xff", 2027),
}


@pytest.mark.parametrize("lie", LIES)
def test_lies_about_lengths_and_counts_are_noticed(colour: str, lie: str) -> None:
    answer, errno = LIES[lie]
    with Liar(answer) as liar:
        error = ask(colour, liar)
    if lie == "a count that is none":
        # Said as an error of the server's, with a number and no more.
        assert isinstance(error, mysql.Error)
        return
    assert isinstance(error, (mysql.OperationalError, mysql.InternalError)), error
    assert error.errno == errno, error


@pytest.mark.parametrize(
    "promise",
    [
        b"\xff\xff\xff\x01" + b"x" * 100,
        # 64 packets of 16 MiB would be one of a gigabyte.
        packet(1, b"\xfd\xff\xff\x00"),
        packet(1, b"\xfd\x00\x00\x01") + packet(2, column()),
    ],
    ids=["a long packet", "65,535 columns", "65,536 columns"],
)
def test_promises_of_much_take_no_memory(colour: str, promise: bytes) -> None:
    with Liar(promise) as liar:
        before = memory_kb()
        error = ask(colour, liar)
        assert isinstance(error, mysql.OperationalError) and "timed out" in str(error), error
        assert memory_kb() - before < 20_000


def test_65536_columns_are_taken_when_they_come(colour: str) -> None:
    count = 65_536
    answer = packet(1, b"\xfd\x00\x00\x01")
    answer += b"".join(packet(2 + at, column(b"c%d" % at)) for at in range(count))
    answer += packet(2 + count, EOF) + packet(3 + count, b"\x01x" * count) + packet(4 + count, EOF)
    with Liar(answer) as liar:
        assert ask(colour, liar, read_timeout=20) == (("x",) * count,)


LOGINS = {
    "switches": Endless(lambda n: packet(2 + 2 * n, b"\xfemysql_native_password\x00" + b"n" * 20 + b"\x00")),
    "more data": Endless(lambda n: packet(2 + n, b"\x01\x03")),
    "factors": Endless(lambda n: packet(2 + 2 * n, b"\x02mysql_native_password\x00" + b"n" * 20 + b"\x00")),
    "old password": [packet(2, b"\xfe")],
    "a plugin that nobody knows": [packet(2, b"\xfenobody\x00" + b"n" * 20 + b"\x00")],
    "clear text": [packet(2, b"\xfemysql_clear_password\x00\x00")],
    "a key that is none": [packet(2, b"\xfesha256_password\x00" + b"n" * 20 + b"\x00"), packet(4, b"\x01no key")],
    "a row": [packet(2, b"\x05hello")],
    "silence": [b""],
}


@pytest.mark.parametrize("login", LOGINS)
def test_logins_without_end_or_sense_are_left(colour: str, login: str) -> None:
    before = memory_kb()
    hello = greeting(b"caching_sha2_password") if login == "more data" else greeting()
    with Liar(login=LOGINS[login], hello=hello) as liar:
        error = ask(colour, liar)
    assert isinstance(error, mysql.Error), error
    assert memory_kb() - before < 30_000


def test_a_login_that_drips_is_left_in_time(colour: str) -> None:
    over = threading.Event()

    def drip(n: int) -> bytes:
        # Each byte comes before the time-out for silence.
        over.wait(0.05)
        return b"\x01"

    with Liar(hello=b"", login=b"") as liar:
        liar._hello = b"\xff"

        def serve(client: socket.socket) -> None:
            with client, contextlib.suppress(OSError):
                client.settimeout(20)
                client.sendall(b"\xff\xff\x00\x00\x0a")
                for piece in endless(drip):
                    client.sendall(piece)

        liar._serve = serve  # type: ignore[method-assign]
        error = ask(colour, liar)
        assert isinstance(error, mysql.OperationalError), error
        assert "timed out" in str(error)


FLOODS = {
    "rows": Endless(
        lambda n: packet(4 + n, b"\x40" + b"x" * 64), packet(1, b"\x01") + packet(2, column()) + packet(3, EOF)
    ),
    "results": Endless(lambda n: packet(1 + n, b"\x00\x00\x00\x0a\x00\x00\x00")),
}


@pytest.mark.parametrize("flood", FLOODS)
def test_answers_without_end_end_by_the_time_limit(colour: str, flood: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rowferry.mysql.aio._cancel.CANCEL_GRACE", 0.5)
    with Liar(FLOODS[flood]) as liar:
        error = ask(colour, liar, query_timeout=0.2, read_timeout=5)
    # Nobody can end it, so that it costs the connection.
    assert isinstance(error, mysql.OperationalError) and error.errno == 3024, error


def test_a_flood_without_a_question_is_stopped_at_the_socket() -> None:
    async def main() -> None:
        before = memory_kb()
        with Liar(login=Endless(lambda n: b"\xfe" * 65536, packet(2, OK))) as liar:
            where = {"host": "127.0.0.1", "port": liar.port, "user": "u", "password": "p", "ssl_mode": "DISABLED"}
            connection = await aio.connect(**where, autocommit=None)
            await asyncio.sleep(0.3)
            assert memory_kb() - before < 30_000
            with pytest.raises(aio.Error):
                await connection.query("SELECT 1")
            assert not connection.open
            # The transport's end takes a turn of the loop.
            await asyncio.sleep(0.01)

    asyncio.run(asyncio.wait_for(main(), 30))


@pytest.mark.parametrize("options", [{}, {"local_infile": True}], ids=["not allowed", "allowed"])
def test_files_that_nobody_offered_are_not_sent(colour: str, options: dict[str, Any], tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("the secret of this test")
    with Liar(packet(1, b"\xfb" + str(secret).encode()), login=packet(2, OK)) as liar:
        # The answer to a question that has nothing to do with files.
        error = ask(colour, liar, "SELECT 1", **options)
        requests = b"".join(liar.requests)
    assert isinstance(error, mysql.Error), error
    assert b"secret of" not in requests
