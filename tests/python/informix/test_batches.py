"""`executemany`: bounded memory, rows that fail, and which."""

from __future__ import annotations

import pickle
import socket
import threading
import tracemalloc
from collections.abc import Iterator
from typing import Any

import pytest
from rowferry import informix

from tests.python.informix.replay import EOT, Driver, Replay


@pytest.fixture
def unique(connect: Any, table: str) -> tuple[Any, str]:
    """A connection, and a table with a unique number, in which 1000 is taken."""
    connection = connect()
    connection.execute(f"CREATE TABLE {table} (n INT UNIQUE, v VARCHAR(20))")
    connection.execute(f"INSERT INTO {table} VALUES (1000, 'taken')")
    connection.commit()
    return connection, table


def rows(count: int, **replaced: Any) -> list[tuple[Any, str]]:
    """Rows of which those at these places (`at_7=…`) have another number."""
    made = [(n, "v" * (n % 20)) for n in range(count)]
    for place, value in replaced.items():
        made[int(place[3:])] = (value, "bad")
    return made


@pytest.mark.parametrize("failing", [0, 1, 417, 599])
def test_the_first_failure_ends_a_batch(unique: tuple[Any, str], failing: int) -> None:
    connection, table = unique
    cursor = connection.cursor()
    with pytest.raises(informix.IntegrityError) as caught:
        cursor.executemany(f"INSERT INTO {table} VALUES (?, ?)", rows(600, **{f"at_{failing}": 1000}))
    assert caught.value.row == failing
    assert caught.value.sql is not None
    # The answers are not out of step: this statement gets its own.
    assert cursor.execute(f"SELECT n FROM {table} WHERE n < 1000 ORDER BY n").fetchall() == [
        (n,) for n in range(failing)
    ]


@pytest.mark.parametrize("failing", [0, 1, 417, 599])
def test_a_value_that_cannot_be_sent_ends_a_batch(unique: tuple[Any, str], failing: int) -> None:
    connection, table = unique
    cursor = connection.cursor()
    with pytest.raises(informix.ProgrammingError) as caught:
        cursor.executemany(f"INSERT INTO {table} VALUES (?, ?)", rows(600, **{f"at_{failing}": object()}))
    assert caught.value.row == failing
    assert cursor.execute(f"SELECT COUNT(*) FROM {table}").fetchone() == (failing + 1,)


def test_a_batch_goes_on_when_it_is_told_to(unique: tuple[Any, str]) -> None:
    connection, table = unique
    cursor = connection.cursor()
    bad = {0: 1000, 1: object(), 2: 1000, 417: 1000, 418: object(), 1900: object(), 1999: 1000}
    values = rows(2000, at_1000=-1, **{f"at_{place}": value for place, value in bad.items()})
    with pytest.raises(informix.BatchError) as caught:
        cursor.executemany(f"INSERT INTO {table} VALUES (?, ?)", values, on_error="continue")
    error = caught.value
    assert [one.row for one in error.errors] == sorted(bad)
    for one in error.errors:
        kind = informix.IntegrityError if bad[one.row] == 1000 else informix.UnsupportedType
        assert type(one) is kind
        assert one.sql is not None
    assert error.rowcount == cursor.rowcount == 2000 - len(bad)
    assert error.complete
    assert error.row == 0
    assert "7 rows have failed" in str(error)
    assert [one.row for one in pickle.loads(pickle.dumps(error)).errors] == sorted(bad)
    connection.commit()
    expected = {n for n, _ in values if isinstance(n, int) and n != 1000} | {1000}
    assert {n for (n,) in cursor.execute(f"SELECT n FROM {table}").fetchall()} == expected


def test_a_batch_without_failures_raises_nothing(unique: tuple[Any, str]) -> None:
    connection, table = unique
    cursor = connection.cursor()
    cursor.executemany(f"INSERT INTO {table} VALUES (?, ?)", rows(900), on_error="continue")
    assert cursor.rowcount == 900
    cursor.executemany(f"INSERT INTO {table} VALUES (?, ?)", [], on_error="continue")
    assert cursor.rowcount == 0
    with pytest.raises(informix.ProgrammingError, match="on_error"):
        cursor.executemany(f"INSERT INTO {table} VALUES (?, ?)", [], on_error="perhaps")


def test_a_batch_gives_up_after_too_many_failures(unique: tuple[Any, str]) -> None:
    connection, table = unique
    cursor = connection.cursor()
    taken = 0

    def values() -> Iterator[tuple[int, str]]:
        nonlocal taken
        for _ in range(1_000_000):
            taken += 1
            yield 1000, "x"

    with pytest.raises(informix.BatchError) as caught:
        cursor.executemany(f"INSERT INTO {table} VALUES (?, ?)", values(), on_error="continue", max_errors=10)
    assert not caught.value.complete
    assert "ended early" in str(caught.value)
    # What was on its way when the eleventh failure came back, and no more.
    assert taken < 20_000
    assert connection.execute(f"SELECT COUNT(*) FROM {table}").fetchone() == (1,)


def test_an_iterator_that_fails_ends_a_batch_in_any_case(unique: tuple[Any, str]) -> None:
    connection, table = unique

    def values() -> Iterator[tuple[int, str]]:
        yield from rows(50)
        raise LookupError("no more")

    for on_error in ("stop", "continue"):
        with pytest.raises(LookupError):
            connection.cursor().executemany(f"INSERT INTO {table} VALUES (?, ?)", values(), on_error=on_error)
        assert connection.execute(f"SELECT COUNT(*) FROM {table}").fetchone() == (51,)
        connection.rollback()


def test_a_long_batch_holds_neither_requests_nor_replies(unique: tuple[Any, str]) -> None:
    connection, table = unique
    cursor = connection.cursor()
    cursor.executemany(f"UPDATE {table} SET v = ? WHERE n = ?", [("x", -1)])
    count, highest = 0, 0

    def values() -> Iterator[tuple[str, int]]:
        nonlocal count, highest
        for _ in range(100_000):
            count += 1
            if count % 1000 == 0:
                highest = max(highest, _resident())
            yield "y" * 20, -1

    tracemalloc.start()
    try:
        before = _resident()
        cursor.executemany(f"UPDATE {table} SET v = ? WHERE n = ?", values())
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert count == 100_000
    # Requests are 40 bytes and more, replies 30: held, they would be 7 MB in our memory, and more in Python's.
    assert peak < 1_000_000
    assert highest - before < 4 * 1024 * 1024


def _resident() -> int:
    """Bytes of memory that this process holds."""
    with open("/proc/self/statm") as statm:
        return int(statm.read().split()[1]) * 4096


@pytest.mark.parametrize("on_error", ["stop", "continue"])
def test_a_batch_larger_than_every_buffer_does_not_stall(driver: Driver, on_error: str) -> None:
    """The server answers each row at length before it reads the next, and its buffers are small."""
    with _Stubborn() as server, driver.connect(port=server.port, autocommit=True) as connection:
        cursor = connection.cursor()
        cursor.executemany("INSERT INTO t VALUES (?)", [("x" * TEXT,)] * 6, on_error=on_error)
        assert cursor.rowcount == 6


TEXT = 400_000


class _Stubborn(Replay):
    """Answers every execution with as many bytes as it has, without reading on meanwhile."""

    def _converse(self, connection: socket.socket) -> None:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 16_384)
        for reply in self.opening:
            if not connection.recv(65536):
                return
            connection.sendall(reply)
        done = bytes.fromhex("000f 0000 00000001 00000101 00000000")
        noise = bytes.fromhex("0063 0001 0001 0000") * (TEXT // 8)
        waiting = b""
        while data := connection.recv(65536):
            waiting += data
            if waiting.startswith(b"\x00\x38"):
                connection.sendall(b"\x00\x38")
                return
            if waiting.startswith(b"\x00\x02"):
                # PREPARE: an INSERT without any column.
                connection.sendall(bytes.fromhex("0008 0006 0000 00000000 0000 0000 00000000") + done + EOT)
                waiting = b""
            while waiting.startswith(b"\x00\x04") and len(waiting) >= 8:
                is_row = waiting[4:6] == b"\x00\x05"
                # ID; BIND of one LVARCHAR without owner and name; EXECUTE; EOT.
                end = 4 + 4 + 10 + 4 + TEXT + 2 + 2 if is_row else 8
                if len(waiting) < end:
                    break
                request, waiting = waiting[:end], waiting[end:]
                assert request.endswith(EOT)
                connection.sendall(noise + done + EOT if is_row else EOT)


def test_threads_and_batches_take_turns(unique: tuple[Any, str]) -> None:
    connection, table = unique
    if connection._loop is not None:
        connection.cursor().executemany(f"INSERT INTO {table} VALUES (?, ?)", rows(10))
        return
    started = threading.Barrier(2, timeout=10)

    def insert(first: int) -> None:
        started.wait()
        connection.cursor().executemany(f"INSERT INTO {table} VALUES (?, ?)", [(first + n, "x") for n in range(500)])

    threads = [threading.Thread(target=insert, args=(10_000 * place,)) for place in (1, 2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert connection.execute(f"SELECT COUNT(*) FROM {table}").fetchone() == (1001,)
