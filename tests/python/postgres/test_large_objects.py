"""Large objects over the function call message, as libpq speaks it, and in the file."""

from __future__ import annotations

import struct
from collections.abc import Callable

import psycopg
import pytest

from tests.servers.rowferry import Rowferry

from .wire import Wire, message, query

Start = Callable[..., Rowferry]

LO_CREATE, LO_OPEN, LOREAD, LOWRITE, LO_LSEEK64, LO_UNLINK = 715, 952, 954, 955, 3170, 964
UPPER, GENERATE_SERIES, MAX_INT4 = 871, 1067, 2116
INV_READ, INV_WRITE = 0x40000, 0x20000


def call(function: int, *arguments: bytes | None, formats: tuple[int, ...] = (1,), result: int = 1) -> bytes:
    """A FunctionCall: arguments in binary format unless `formats` says otherwise."""
    body = struct.pack(f"!Ih{len(formats)}hh", function, len(formats), *formats, len(arguments))
    for argument in arguments:
        body += struct.pack("!i", -1) if argument is None else struct.pack("!i", len(argument)) + argument
    return message("F", body + struct.pack("!h", result))


def int4(number: int) -> bytes:
    return struct.pack("!i", number)


def answers(wire: Wire, *messages: bytes) -> list[str]:
    """What the server says, a FunctionCallResponse with its value."""
    wire.send(*messages)
    found = wire.ready()
    return [f"V{answer.body!r}" if answer.tag == "V" else str(answer) for answer in found if answer.tag != "S"]


def result(wire: Wire, sent: bytes) -> bytes | None:
    """The value of a FunctionCallResponse."""
    wire.send(sent)
    (answer, _) = wire.ready()
    assert answer.tag == "V", answer
    (length,) = struct.unpack_from("!i", answer.body)
    assert len(answer.body) == 4 + max(length, 0)
    return None if length < 0 else answer.body[4:]


def test_an_object_is_written_and_read_by_function_calls(server: Rowferry) -> None:
    assert server.postgres is not None
    with Wire.open(server.postgres) as wire:
        made = result(wire, call(LO_CREATE, int4(0)))
        assert made is not None and struct.unpack("!I", made)[0] >= 16384
        wire.send(query("begin"))
        wire.ready()
        opened = result(wire, call(LO_OPEN, made, int4(INV_READ | INV_WRITE)))
        assert opened == int4(0)
        assert result(wire, call(LOWRITE, opened, b"some bytes\x00\xff" * 1000)) == int4(12000)
        assert result(wire, call(LO_LSEEK64, opened, struct.pack("!q", 12), int4(0))) == struct.pack("!q", 12)
        assert result(wire, call(LOREAD, opened, int4(14))) == b"some bytes\x00\xffso"
        assert result(wire, call(LOREAD, b"0", b"1", formats=(0,), result=0)) == rb"\x6d"
        wire.send(query("commit"))
        wire.ready()
        assert answers(wire, call(LOREAD, opened, int4(1))) == [
            "E[ERROR 42704 invalid large-object descriptor: 0]",
            "Z:I",
        ]
        assert result(wire, call(LO_UNLINK, made)) == int4(1)


def test_any_function_can_be_called_by_its_number(server: Rowferry) -> None:
    assert server.postgres is not None
    with Wire.open(server.postgres) as wire:
        assert result(wire, call(UPPER, b"abc", formats=(), result=0)) == b"ABC"
        assert result(wire, call(UPPER, None)) is None


@pytest.mark.parametrize(
    ("sent", "told"),
    [
        (call(4_000_000_000), "42883 function with OID 4000000000 does not exist"),
        (call(MAX_INT4, int4(1)), '0A000 cannot call function "max" via fastpath interface'),
        (
            call(GENERATE_SERIES, int4(1), int4(2)),
            '0A000 cannot call function "generate_series" via fastpath interface',
        ),
        (call(UPPER), "08P01 function call message contains 0 arguments but function requires 1"),
        (
            call(UPPER, b"a", formats=(0, 1)),
            "08P01 function call message contains 2 argument formats but 1 arguments",
        ),
        (call(LO_OPEN, b"12345", int4(0)), "22P03 incorrect binary data format in function argument 1"),
        (call(UPPER, b"a", formats=(7,)), "22023 unsupported format code: 7"),
        (call(UPPER, b"a", result=7), "22023 unsupported format code: 7"),
    ],
)
def test_calls_that_cannot_be_are_told_so_and_the_session_goes_on(server: Rowferry, sent: bytes, told: str) -> None:
    assert server.postgres is not None
    with Wire.open(server.postgres) as wire:
        assert answers(wire, sent) == [f"E[ERROR {told}]", "Z:I"]
        assert result(wire, call(UPPER, b"a")) == b"A"
        wire.send(query("begin"))
        wire.ready()
        assert answers(wire, sent)[-1] == "Z:E"
        assert answers(wire, call(UPPER, b"a")) == [
            "E[ERROR 25P02 current transaction is aborted, commands ignored until end of transaction block]",
            "Z:E",
        ]


def test_gaps_take_no_room(start: Start) -> None:
    server = start("--durability", "off")
    with psycopg.connect(server.postgres_dsn) as connection:
        connection.execute("SELECT lo_create(20000)")
        connection.execute("SELECT lo_open(20000, 131072)")
        connection.execute("SELECT lo_truncate64(0, 1000000000000)")
        connection.execute("SELECT lo_lseek64(0, 2000000000000, 0), lowrite(0, 'far')")
        assert connection.execute("SELECT lo_lseek64(0, 0, 2)").fetchone() == (2_000_000_000_003,)
        assert connection.execute("SELECT lo_get(20000, 1999999999998, 10)").fetchone() == (b"\0\0far",)
        with pytest.raises(psycopg.errors.ProgramLimitExceeded, match="large object read request is too large"):
            connection.execute("SELECT lo_get(20000)")
    assert server.database.stat().st_size < 1_000_000


def test_an_object_outlives_the_server(start: Start) -> None:
    server = start()
    with psycopg.connect(server.postgres_dsn, autocommit=True) as connection:
        found = connection.execute("SELECT lo_from_bytea(0, convert_to(repeat('x', 5000), 'UTF8'))").fetchone()
        assert found is not None
        # The tables of objects are none of the user's.
        tables = "SELECT count(*) FROM pg_class WHERE relname LIKE '%large_object%'"
        assert connection.execute(tables).fetchone() == (0,)
    server.stop()
    with psycopg.connect(start().postgres_dsn, autocommit=True) as connection:
        read = "SELECT length(lo_get(%s)), count(*) FROM pg_largeobject WHERE loid = %s"
        assert connection.execute(read, [found[0], found[0]]).fetchone() == (5000, 3)
        made = connection.execute("SELECT lo_creat(-1)").fetchone()
        assert made is not None and made[0] > found[0]
