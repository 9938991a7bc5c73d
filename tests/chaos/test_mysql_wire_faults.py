"""The MySQL driver, both colours, with a bad wire before a real server, at every packet of a long conversation.

Whatever happens, an operation ends as it would have, or in an error of the driver; nothing hangs; a row is never
another than the server's, unless its own bytes were changed.
"""

from __future__ import annotations

import asyncio
import inspect
import random
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from rowferry import mysql
from rowferry.mysql import aio

from tests.chaos.talks import SILENCE, Rows, Talk, assert_honest, both, places, run_all, spread
from tests.chaos.wire import Fault, FaultyWire
from tests.servers.certificates import make_certificates
from tests.servers.mariadb import MariaDB

#: What cannot be said of a wire that was cut: only this.
LOST = (2003, 2006, 2013, 2026)
#: Ways to speak: each is a conversation of its own.
WAYS: dict[str, dict[str, Any]] = {
    "plain": {},
    "cached": {"stmt_cache_size": 16},
    "zlib": {"compress": "zlib"},
    "tls": {"ssl": True},
}


async def settle(value: Any) -> Any:
    """What a call answers, in both colours."""
    return await value if inspect.isawaitable(value) else value


async def select(connection: Any) -> Rows:
    cursor = connection.cursor()
    sql = "SELECT n, t, d, b, REPEAT(t, 40), n FROM numbers WHERE n >= %s ORDER BY n"
    await settle(cursor.execute(sql, (4,)))
    first = [await settle(cursor.fetchone()), *await settle(cursor.fetchmany(3))]
    return first + list(await settle(cursor.fetchall()))


async def prepared(connection: Any) -> Rows:
    rows: Rows = []
    statement = await settle(connection.prepare("SELECT n, t, d, b, ? FROM numbers WHERE n < ? ORDER BY n"))
    for count in (3, 6):
        rows += list((await settle(statement.execute((Decimal("1.50"), count)))).rows)
    await settle(statement.close())
    return rows


async def stream(connection: Any) -> Rows:
    asynchronous = isinstance(connection, aio.Connection)
    cursor = connection.cursor(aio.SSCursor if asynchronous else mysql.cursors.SSCursor)
    await settle(cursor.execute("SELECT n, t, b FROM numbers ORDER BY n"))
    rows = [await settle(cursor.fetchone()), *await settle(cursor.fetchmany(4))]
    rows += await settle(cursor.fetchall())
    # One that is not read to its end.
    await settle(cursor.execute("SELECT t, n FROM numbers ORDER BY n"))
    rows.append(await settle(cursor.fetchone()))
    await settle(cursor.close())
    return rows


async def insert(connection: Any) -> Rows:
    cursor = connection.cursor()
    await settle(cursor.execute("INSERT INTO written VALUES (%s, %s)", (1, "x" * 3000)))
    return [(cursor.rowcount,)]


async def insert_many(connection: Any) -> Rows:
    cursor = connection.cursor()
    rows = [(n, "y" * (n % 40)) for n in range(10, 110)]
    await settle(cursor.executemany("INSERT INTO written VALUES (%s, %s)", rows))
    return [(cursor.rowcount,)]


async def update_many(connection: Any) -> Rows:
    cursor = connection.cursor()
    await settle(cursor.executemany("UPDATE written SET t = %s WHERE n = %s", [("z", n) for n in range(10, 16)]))
    return [(cursor.rowcount,)]


async def load(connection: Any) -> Rows:
    cursor = connection.cursor()
    await settle(cursor.load_rows("written", [(n, "loaded") for n in range(200, 260)]))
    lines = (f"{n}\tfrom lines\n" for n in range(300, 330))
    await settle(cursor.load_data("LOAD DATA LOCAL INFILE 'lines' INTO TABLE written", lines))
    await settle(cursor.execute("SELECT COUNT(*), MAX(t) FROM written WHERE n >= 200"))
    rows = list(await settle(cursor.fetchall()))
    await settle(cursor.execute("DELETE FROM written WHERE n >= 200"))
    return rows


async def refused(connection: Any) -> Rows:
    codes: Rows = []
    for sql in ("INSERT INTO written VALUES (1, 'again')", "SELECT nothing FROM nowhere", "SELEC"):
        try:
            await settle(connection.query(sql))
        except mysql.Error as error:
            if error.sqlstate is None:
                raise
            codes.append((error.errno, error.sqlstate))
    return codes


async def several(connection: Any) -> Rows:
    cursor = connection.cursor()
    await settle(cursor.execute("SELECT 1; SELECT n, t FROM numbers WHERE n < 3; DO 0; SELECT 'last', NULL"))
    rows = list(await settle(cursor.fetchall()))
    while await settle(cursor.nextset()):
        rows += list(await settle(cursor.fetchall()))
    return rows


async def long_cell(connection: Any) -> Rows:
    cursor = connection.cursor()
    await settle(cursor.execute("SELECT REPEAT('long', 20000), LENGTH(%s), 7", ("q" * 70_000,)))
    return list(await settle(cursor.fetchall()))


async def transaction(connection: Any) -> Rows:
    await settle(connection.begin())
    await settle(connection.query("INSERT INTO written VALUES (1000, 'gone')"))
    await settle(connection.rollback())
    cursor = connection.cursor()
    await settle(cursor.execute("SELECT COUNT(*), 'x' FROM written"))
    return list(await settle(cursor.fetchall()))


async def tables(connection: Any) -> Rows:
    await settle(connection.query("CREATE TEMPORARY TABLE written (n INT PRIMARY KEY, t TEXT)"))
    return []


async def commands(connection: Any) -> Rows:
    await settle(connection.ping())
    await settle(connection.select_db("rowferry"))
    await settle(connection.reset())
    return []


STEPS: list[tuple[str, Callable[[Any], Awaitable[Rows]]]] = [
    ("tables", tables),
    ("select", select),
    ("prepared", prepared),
    ("stream", stream),
    ("insert", insert),
    ("many", insert_many),
    ("updates", update_many),
    ("load", load),
    ("refused", refused),
    ("several", several),
    ("long", long_cell),
    ("transaction", transaction),
    ("commands", commands),
    ("select again", select),
]


def finish(coroutine: Coroutine[Any, Any, None]) -> None:
    """Run what never waits: in the blocking colour, nothing does."""
    try:
        coroutine.send(None)
    except StopIteration:
        return
    raise AssertionError("a blocking operation waits for an event loop")


def converse(server: MariaDB, way: str, colour: str, fault: Fault, timeout: float = 20) -> Talk:
    """Have the conversation over a wire with this fault. Anything but an error of the driver gets out."""
    talk = Talk()

    async def main() -> None:
        asynchronous = colour == "asyncio"
        with FaultyWire((server.host, server.port), fault) as wire:
            options = {**server.dsn, "port": wire.port, "ssl_mode": "DISABLED" if way != "tls" else None, **WAYS[way]}
            options.update(connect_timeout=timeout, read_timeout=timeout, write_timeout=timeout)
            options.update(autocommit=True, local_infile=True)
            connection: Any
            try:
                connection = await aio.connect(**options) if asynchronous else mysql.connect(**options)
            except mysql.Error as error:
                talk.error = error
                return
            try:
                for name, step in STEPS:
                    talk.steps[name] = await step(connection)
                await settle(connection.ensure_closed())
            except mysql.Error as error:
                talk.error = error
                usable = connection.open
                connection._abort()
                # What goes on after an error was answered in whole; the wire said nothing wrong.
                assert not usable or error.sqlstate is not None or fault.kind == "garble", repr(error)
            talk.ends, talk.seen = wire.ends, wire.seen

    if colour == "asyncio":
        asyncio.run(main())
    else:
        finish(main())
    return talk


@pytest.fixture(scope="module")
def faulty(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MariaDB]:
    certificates = make_certificates(tmp_path_factory.mktemp("certificates"))
    with MariaDB.start([f"--ssl-{name}={certificates[name]}" for name in ("ca", "cert", "key")]) as server:
        with mysql.connect(**server.dsn, autocommit=True) as connection, connection.cursor() as cursor:
            cursor.execute("CREATE TABLE numbers (n INT PRIMARY KEY, t VARCHAR(40), d DATETIME(6), b DECIMAL(10,2))")
            cursor.executemany(
                "INSERT INTO numbers VALUES (%s, %s, %s, %s)",
                [
                    (n, None if n == 5 else "té" * (n % 9), f"2026-11-{n + 1:02} 01:02:03.000{n:03}", Decimal(n) / 4)
                    for n in range(12)
                ],
            )
        yield server


@pytest.fixture(scope="module", params=list(WAYS))
def way(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def clean(faulty: MariaDB, way: str) -> Talk:
    """The conversation over a good wire."""
    talk = converse(faulty, way, "blocking", Fault())
    assert talk.error is None and list(talk.steps) == [name for name, _ in STEPS]
    assert talk.steps["refused"] == [(1062, "23000"), (1146, "42S02"), (1064, "42000")]
    assert talk.steps["transaction"] == [(101, "x")]
    assert len(talk.steps["select"]) == 8 and len(talk.steps["stream"]) == 13
    assert talk.steps["long"] == [("long" * 20000, 70_000, 7)]
    assert converse(faulty, way, "asyncio", Fault()).steps == talk.steps
    return talk


def packets(talk: Talk, side: str) -> list[int]:
    """Where each packet ends, as far as they can be seen; in their cipher they cannot."""
    ends, seen = [0], talk.seen[side]
    while ends[-1] + 4 <= len(seen):
        ends.append(ends[-1] + 4 + int.from_bytes(seen[ends[-1] : ends[-1] + 3], "little"))
    return ends if ends[-1] == len(seen) else talk.ends[side]


def run(server: MariaDB, way: str, cases: list[tuple[str, Fault]], *more: float) -> list[Talk]:
    return run_all(converse, [(server, way, *case) for case in cases], *more)


@pytest.mark.parametrize("side", ["client", "server"])
def test_a_wire_cut_anywhere_ends_in_an_error(faulty: MariaDB, way: str, clean: Talk, side: Any) -> None:
    ends = packets(clean, side)
    whole = way == "plain"
    found = places(ends, inside=False) if whole else spread(places(ends, inside=False), 40)
    found += spread(places(ends, inside=True), 60 if whole else 20)
    cases = both([Fault("cut", side, at) for at in found])
    assert len(cases) > (100 if whole and side == "server" else 20)
    last = clean.ends[side][-3]
    for case, talk in zip(cases, run(faulty, way, cases), strict=True):
        assert_honest(talk, clean, case)
        # After the last answer there is nothing to be missed.
        assert talk.error is not None or case[1].at >= last, case
        assert talk.error is None or talk.error.errno in LOST, (case, talk.error)
        assert talk.error is None or isinstance(talk.error, mysql.OperationalError), case


@pytest.mark.parametrize("side", ["client", "server"])
def test_silence_anywhere_ends_in_a_time_out(faulty: MariaDB, way: str, clean: Talk, side: Any) -> None:
    found = places(packets(clean, side), inside=False)
    cases = spread(both([Fault("silent", side, at) for at in found]), 30 if way == "plain" else 10)
    last = clean.ends[side][-3]
    for case, talk in zip(cases, run(faulty, way, cases, SILENCE), strict=True):
        assert_honest(talk, clean, case)
        assert talk.error is not None or case[1].at >= last, case
        # A streaming cursor that is closed amid its rows does not raise: the next operation tells of the loss.
        told = talk.error is None or "timed out" in str(talk.error) or talk.error.errno == 2006
        assert told, (case, talk.error)


@pytest.mark.parametrize(
    "fault",
    [
        Fault("split", "server", 1),
        Fault("split", "client", 1),
        Fault("split", "server", 7),
        Fault("split", "client", 5),
        Fault("delay", "server", 2),
        Fault("delay", "client", 2),
    ],
    ids=lambda fault: f"{fault.kind}-{fault.side}-{fault.at}",
)
def test_pieces_and_delays_change_nothing(faulty: MariaDB, way: str, clean: Talk, fault: Fault) -> None:
    for talk in run(faulty, way, [("blocking", fault), ("asyncio", fault)]):
        assert talk.error is None
        assert talk.steps == clean.steps


@pytest.mark.parametrize("side", ["client", "server"])
def test_garbled_bytes_end_in_an_error_of_the_driver_or_go_on(
    faulty: MariaDB, way: str, clean: Talk, side: Any
) -> None:
    """Which rows are right is looked at where every byte can be told apart: crates/wire-mysql/tests/fuzz.rs."""
    seeded = random.Random(2026)
    last = clean.ends[side][-1]
    faults = [Fault("garble", side, seeded.randrange(last), seeded.randrange(1, 256)) for _ in range(25)]
    # Lengths, numbers and first bytes of packets.
    heads = spread(packets(clean, side)[:-1], 12)
    faults += [Fault("garble", side, at + byte, seeded.randrange(1, 256)) for at in heads for byte in (0, 2, 3, 4)]
    talks = run(faulty, way, both(faults), SILENCE)
    assert sum(talk.error is not None for talk in talks) > 20
    if way == "tls":
        # What is changed is noticed, always, but for a record's minor version, which means nothing (RFC 8446, 5.1). A
        # handshake's signatures are now one byte longer and now one shorter, so heads are not quite in one place.
        void = {start + byte for start in packets(clean, side) for byte in range(6)}
        told = [fault.at < last - 100 and fault.at not in void for fault in faults]
        assert all(talk.error is not None for talk, tells in zip(talks, told, strict=True) if tells)
    again = converse(faulty, way, "blocking", Fault())
    assert again.error is None and again.steps == clean.steps


def test_the_server_is_back_at_rest(faulty: MariaDB) -> None:
    def count() -> int:
        threads = Path(f"/proc/{faulty.pid}/task")
        return len(list(threads.iterdir()))

    with mysql.connect(**faulty.dsn, autocommit=True) as connection, connection.cursor() as cursor:
        for _ in range(2000):
            cursor.execute("SELECT info FROM information_schema.processlist WHERE user = %s", (faulty.user,))
            if cursor.fetchall() == (("SELECT info FROM information_schema.processlist WHERE user = 'rowferry'",),):
                break
        else:
            pytest.fail("the server still has sessions of lost connections")
    assert count() < 60
