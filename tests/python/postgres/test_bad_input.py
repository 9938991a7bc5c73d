"""Hostile and broken peers: a clear error, a log line, and nothing left behind."""

from __future__ import annotations

import contextlib
import random
import struct
from collections.abc import Callable, Iterator

import pytest

from tests.servers.rowferry import Rowferry

from . import wire
from .conftest import status, wait_until
from .wire import Closed, Wire

NUL = b"\0"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rowferry]:
    path = tmp_path_factory.mktemp("served") / "app.db"
    with Rowferry.start(path, args=["--handshake-timeout", "1", "--max-message", "1"]) as server:
        yield server


@pytest.fixture(autouse=True)
def serves_on_and_keeps_nothing(server: Rowferry) -> Iterator[None]:
    """After each test: the server answers, and the threads of the bad peers are gone."""
    with Wire.open(server.postgres):
        pass
    wait_until(lambda: status(server, "Threads") == base_threads(server), "quiet before the test")
    yield
    with Wire.open(server.postgres) as session:
        assert session.ask(wire.query("select 1")) == "T D C Z:I"
        session.send(wire.TERMINATE)
        assert session.rest() == []
    wait_until(lambda: status(server, "Threads") == base_threads(server), "threads of bad peers are gone")


_base: dict[int, int] = {}


def base_threads(server: Rowferry) -> int:
    """The threads of the server when nobody is connected: measured once, at its quietest."""
    now = status(server, "Threads")
    _base[server.pid] = min(now, _base.get(server.pid, now))
    return _base[server.pid]


STARTUPS = {
    "http": b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "length_zero": struct.pack("!i", 0),
    "length_negative": struct.pack("!i", -1) + b"x" * 100,
    "length_too_short": struct.pack("!i", 7) + b"abc",
    "length_2_gb": struct.pack("!i", 0x7FFFFFFF) + b"x" * 1000,
    "length_one_beyond_limit": struct.pack("!i", 10_001) + b"x" * 9_997,
    "parameter_without_end": struct.pack("!ii", 12, wire.PROTOCOL_3_0) + b"user",
    "parameter_without_value": struct.pack("!ii", 13, wire.PROTOCOL_3_0) + b"user\0",
    "bytes_behind_the_end": struct.pack("!ii", 15, wire.PROTOCOL_3_0) + b"user\0a\0",
    "leftovers": struct.pack("!ii", 18, wire.PROTOCOL_3_0) + b"user\0a\0\0xy",
    "user_is_no_utf8": wire.request(wire.PROTOCOL_3_0, b"user\0\xff\xfe\0\0"),
    "no_user": wire.startup(database="app"),
    "version_1": wire.request(1 << 16),
    "version_7": wire.request(7 << 16, b"user\0a\0\0"),
    "two_thousand_parameters": wire.request(wire.PROTOCOL_3_0, b"a\0b\0" * 2_000 + NUL),
    "ssl_twice": wire.request(wire.SSL_REQUEST),
}


@pytest.mark.parametrize("variant", STARTUPS)
def test_bad_startups_are_refused_with_an_error(server: Rowferry, variant: str) -> None:
    lines = len(server.process.tail)
    with Wire(server.postgres) as peer:
        peer.send(STARTUPS[variant])
        if variant == "ssl_twice":
            assert peer.read(1) == b"N"
            peer.send(STARTUPS[variant])
        answers = peer.rest()
        assert [answer.tag for answer in answers] == ["E"]
        assert answers[0].fields["S"] == "FATAL"
        assert answers[0].sqlstate in ("08P01", "0A000", "28000", "22021")
    wait_until(lambda: len(server.process.tail) != lines or lines == server.process.tail.maxlen, "a log line")


@pytest.mark.parametrize("cut", [0, 1, 3, 4, 8, 20])
def test_peers_that_leave_in_the_middle_of_the_startup(server: Rowferry, cut: int) -> None:
    with Wire(server.postgres) as peer:
        peer.send(wire.startup(user="ada", database="app")[:cut])


def test_a_cancel_request_with_a_wrong_key_gets_no_answer(server: Rowferry) -> None:
    for rest in (struct.pack("!i4s", 1, b"abcd"), struct.pack("!i32s", 1, b"abcd"), struct.pack("!i4s", -1, b"")):
        with Wire(server.postgres) as peer:
            peer.send(wire.request(wire.CANCEL_REQUEST, rest))
            assert peer.rest() == []
    with Wire(server.postgres) as peer:
        peer.send(wire.request(wire.CANCEL_REQUEST, b"\0\0\0\1abc"))
        assert [answer.sqlstate for answer in peer.rest()] == ["08P01"]


# Inside a sound frame: an error, and the session goes on at Sync.
MESSAGES = {
    "parse_without_text": wire.message("P", b"name\0"),
    "parse_without_end": wire.message("P", b"\0select 1"),
    "parse_with_too_many_types": wire.message("P", b"\0select 1\0\xff\xff"),
    "parse_with_leftovers": wire.message("P", b"\0select 1\0\0\0x"),
    "parse_of_no_utf8": wire.message("P", b"\0select '\xff'\0\0\0"),
    "bind_empty": wire.message("B"),
    "bind_with_negative_length": wire.message("B", b"\0\0" + struct.pack("!hhih", 0, 1, -2, 0)),
    "bind_with_length_2_gb": wire.message("B", b"\0\0" + struct.pack("!hhih", 0, 1, 0x7FFFFFFF, 0)),
    "bind_with_count_beyond_frame": wire.message("B", b"\0\0" + struct.pack("!hh", 0, -1)),
    "bind_with_formats_beyond_frame": wire.message("B", b"\0\0" + struct.pack("!h", -1)),
    "describe_of_nothing": wire.message("D"),
    "describe_of_another_kind": wire.message("D", b"X\0"),
    "describe_without_end": wire.message("D", b"Sname"),
    "execute_without_limit": wire.message("E", b"\0"),
    "close_of_another_kind": wire.message("C", b"Q\0"),
    "sync_with_body": wire.message("S", b"x"),
    "copy_fail_without_end": wire.message("f", b"why"),
}


@pytest.mark.parametrize("variant", MESSAGES)
def test_bad_messages_are_errors_and_the_session_goes_on(server: Rowferry, variant: str) -> None:
    with Wire.open(server.postgres) as session:
        session.send(MESSAGES[variant], wire.SYNC)
        error = session.receive()
        assert error.sqlstate in ("08P01", "22021")
        assert error.fields["S"] == "ERROR"
        session.until("Z")
        if variant == "sync_with_body":
            session.ready()
        assert session.ask(wire.query("select 42")) == "T D C Z:I"


def test_a_query_without_end_is_an_error_of_that_query(server: Rowferry) -> None:
    with Wire.open(server.postgres) as session:
        assert session.ask(wire.message("Q", b"select 1")) == "E Z:I"
        assert session.ask(wire.message("Q", b"select 1\0select 2\0")) == "E Z:I"
        assert session.ask(wire.message("F", b"")) == "E Z:I"
        assert session.ask(wire.message("F", struct.pack("!ihhh", 1598, 0, 0, 0))) == "V Z:I"


# A stream whose frames cannot be found any more: an error and the end.
STREAMS = {
    "unknown_tag": b"\x16\x03\x01\x02\x00",
    "zero_tag": b"\0" * 8,
    "length_negative": b"Q" + struct.pack("!i", -1),
    "length_zero": b"Q" + struct.pack("!i", 0),
    "length_three": b"S" + struct.pack("!i", 3),
    "length_2_gb": b"Q" + struct.pack("!i", 0x7FFFFFFF),
    "one_beyond_the_limit": b"Q" + struct.pack("!i", 1024 * 1024 + 1),
    "long_sync": b"S" + struct.pack("!i", 10_001),
    "long_execute": b"E" + struct.pack("!i", 100_000),
    "password": wire.message("p", b"secret\0"),
}


@pytest.mark.parametrize("variant", STREAMS)
def test_broken_streams_end_with_an_error(server: Rowferry, variant: str) -> None:
    with Wire.open(server.postgres) as session:
        session.send(STREAMS[variant])
        answers = session.rest()
        assert [(answer.sqlstate, answer.fields["S"]) for answer in answers] == [("08P01", "FATAL")]


def test_the_longest_message_is_taken(server: Rowferry) -> None:
    sql = b"select 1".ljust(1024 * 1024 - 5) + NUL
    with Wire.open(server.postgres) as session:
        assert session.ask(wire.message("Q", sql)) == "T D C Z:I"


def test_random_bytes(server: Rowferry) -> None:
    generator = random.Random(20261121)
    for _ in range(100):
        with Wire(server.postgres) as peer, contextlib.suppress(Closed, OSError):
            peer.send(generator.randbytes(generator.randrange(1, 400)))
    tags = b"BCDEFHPQSXcdfp"
    for _ in range(100):
        with Wire.open(server.postgres) as session, contextlib.suppress(Closed, OSError):
            for _ in range(generator.randrange(1, 6)):
                body = generator.randbytes(generator.randrange(0, 60))
                session.send(wire.message(chr(generator.choice(tags)), body))
            session.send(wire.SYNC, wire.TERMINATE)
            session.rest()


def test_peers_that_leave_in_the_middle_of_a_message(server: Rowferry) -> None:
    whole = wire.parse("select $1::int", "s") + wire.bind(b"1", statement="s") + wire.execute() + wire.SYNC
    for cut in range(0, len(whole), 5):
        with Wire.open(server.postgres) as session:
            session.send(whole[:cut])


def test_silent_peers_do_not_keep_others_out(server: Rowferry) -> None:
    silent = [Wire(server.postgres) for _ in range(300)]
    try:
        with Wire.open(server.postgres) as session:
            assert session.ask(wire.query("")) == "I Z:I"
        assert status(server, "Threads") < base_threads(server) + 150
        for peer in silent:
            with contextlib.suppress(Closed):
                assert peer.receive().sqlstate == "57014"
    finally:
        for peer in silent:
            peer.close()


def test_a_startup_that_trickles_is_cut(server: Rowferry) -> None:
    packet = wire.startup(user="ada", database="app", application_name="a" * 5_000)
    with Wire(server.postgres, timeout=0.05) as peer:

        def cut() -> bool:
            try:
                peer.send(packet[:1])
                return peer.socket.recv(1000) != b""
            except TimeoutError:
                return False
            except OSError:
                return True

        wait_until(cut, "the end of a start-up that never ends")


def test_memory_does_not_grow_with_bad_peers(server: Rowferry) -> None:
    def round_of_bad_peers() -> None:
        for packet in STARTUPS.values():
            with Wire(server.postgres) as peer, contextlib.suppress(OSError):
                peer.send(packet)
        for stream in (*MESSAGES.values(), *STREAMS.values()):
            with Wire.open(server.postgres) as session, contextlib.suppress(OSError):
                session.send(stream)
        wait_until(lambda: status(server, "Threads") == base_threads(server), "threads are gone")

    for _ in range(2):
        round_of_bad_peers()
    before = status(server, "VmRSS")
    for _ in range(8):
        round_of_bad_peers()
    assert status(server, "VmRSS") - before < 8 * 1024


def test_a_long_message_costs_what_was_sent_of_it(start: Callable[..., Rowferry]) -> None:
    server = start()
    with Wire.open(server.postgres) as session:
        before = status(server, "VmRSS")
        # 100 MiB are announced, a kilobyte comes.
        session.send(b"Q" + struct.pack("!i", 100 * 1024 * 1024) + b"x" * 1024)
        with Wire.open(server.postgres) as other:
            assert other.ask(wire.query("")) == "I Z:I"
        assert status(server, "VmRSS") - before < 8 * 1024


def test_the_error_arrives_while_the_peer_goes_on_sending(server: Rowferry) -> None:
    with Wire(server.postgres) as peer:
        peer.send(b"\0\0\xff\xff" + b"x" * 400_000)
        assert [answer.sqlstate for answer in peer.rest()] == ["08P01"]
