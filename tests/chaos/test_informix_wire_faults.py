"""The driver, both colours, and our door with a bad wire between them, at every group of a long conversation.

Whatever happens, an operation ends as it would have, or in an error of the driver; nothing hangs; a row is never
another than the server's, unless its own bytes were changed; and the server is back at rest afterwards.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from rowferry import informix

from tests.chaos.talks import SILENCE, Rows, Talk, assert_honest, both, places, run_all, spread
from tests.chaos.wire import Fault, FaultyWire
from tests.python.informix.replay import Driver
from tests.servers.rowferry import Rowferry


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rowferry]:
    file = tmp_path_factory.mktemp("faults") / "app.db"
    with Rowferry.start(file, postgres=False, informix=True, args=["--lock-timeout", "5"]) as server:
        assert server.informix is not None
        host, port = server.informix
        with informix.connect(host, port, user="ada", database="app", autocommit=True) as connection:
            connection.execute("CREATE TABLE numbers (n INT, t VARCHAR(40), d DECIMAL(10,2), c CHAR(7), b BYTE)")
            connection.execute("CREATE TABLE written (n INT, t VARCHAR(40), b BYTE)")
            connection.execute("CREATE TABLE objects (n INT, x BLOB)")
            connection.execute("CREATE UNIQUE INDEX once ON written (n)")
            connection.autocommit = False
            rows = [(n, "text" * (n % 9), n / 4, "fixed") for n in range(200)]
            connection.cursor().executemany("INSERT INTO numbers VALUES (?, ?, ?, ?, NULL)", rows)
            connection.execute("UPDATE numbers SET b = ? WHERE n < 4", (b"blob" * 1500,))
            connection.commit()
        yield server


def select(connection: Any) -> Rows:
    cursor = connection.execute("SELECT n, t, d, c, n FROM numbers WHERE n >= ? ORDER BY n", (50,))
    first: Rows = [cursor.fetchone(), *cursor.fetchmany(20)]
    rest: Rows = cursor.fetchall()
    return first + rest


def select_blobs(connection: Any) -> Rows:
    rows: Rows = connection.execute("SELECT n, b, c FROM numbers WHERE n < 6 ORDER BY n").fetchall()
    return rows


def scroll(connection: Any) -> Rows:
    cursor = connection.cursor(scrollable=True)
    cursor.execute("SELECT n, t FROM numbers ORDER BY n")
    rows = [cursor.fetch_first(), cursor.fetch_last(), cursor.fetch_absolute(7), cursor.fetch_prior()]
    cursor.close()
    return rows


def insert(connection: Any) -> Rows:
    cursor = connection.cursor()
    cursor.execute("INSERT INTO written VALUES (?, ?, ?)", (1, "one", b"\x01" * 3000))
    return [(cursor.rowcount,)]


def insert_many(connection: Any) -> Rows:
    cursor = connection.cursor()
    cursor.executemany("INSERT INTO written VALUES (?, ?, NULL)", ((n, "x" * (n % 40)) for n in range(10, 400)))
    return [(cursor.rowcount,)]


def refused(connection: Any) -> Rows:
    try:
        connection.execute("INSERT INTO written VALUES (?, ?, NULL)", (1, "again"))
    except informix.IntegrityError as error:
        return [(error.sqlcode,)]
    return []


def large_object(connection: Any) -> Rows:
    cursor = connection.cursor()
    cursor.write_blob_column("INSERT INTO objects VALUES (?, BLOB_PLACEHOLDER)", b"smart" * 4000, (1,))
    return [(cursor.read_blob_column("SELECT x FROM objects WHERE n = ?", (1,)),)]


def two_cursors(connection: Any) -> Rows:
    one = connection.execute("SELECT n FROM numbers ORDER BY n")
    two = connection.execute("SELECT t, n FROM numbers WHERE n > 100 ORDER BY n")
    rows: Rows = [one.fetchone(), two.fetchone(), *one.fetchmany(150), *two.fetchall()]
    one.close()
    return rows


def savepoint(connection: Any) -> Rows:
    connection.set_savepoint("here")
    connection.execute("INSERT INTO written VALUES (1000, 'gone', NULL)")
    connection.rollback_to_savepoint("here")
    rows: Rows = connection.execute("SELECT COUNT(*), 'x' FROM written").fetchall()
    return rows


def nothing(what: Callable[[Any], Any]) -> Callable[[Any], Rows]:
    def run(connection: Any) -> Rows:
        what(connection)
        return []

    return run


STEPS: list[tuple[str, Callable[[Any], Rows]]] = [
    ("select", select),
    ("blobs", select_blobs),
    ("scroll", scroll),
    ("two cursors", two_cursors),
    ("insert", insert),
    ("many", insert_many),
    ("refused", refused),
    ("large object", large_object),
    ("savepoint", savepoint),
    ("rollback", nothing(lambda connection: connection.rollback())),
    ("select again", select),
    ("ping", nothing(lambda connection: connection.ping())),
]


def converse(server: Rowferry, colour: str, fault: Fault, read_timeout: float = 20) -> Talk:
    """Have the conversation over a wire with this fault. Anything but an error of the driver gets out."""
    assert server.informix is not None
    talk = Talk()
    driver = Driver(colour)
    try:
        with FaultyWire(server.informix, fault) as wire:
            where = {"port": wire.port, "database": "app", "connect_timeout": read_timeout, "fetch_bytes": 1500}
            try:
                connection = driver.connect(**where, read_timeout=read_timeout, write_timeout=read_timeout)
            except informix.Error as error:
                talk.error = error
                return talk
            try:
                for name, step in STEPS:
                    talk.steps[name] = step(connection)
                connection.close()
            except informix.Error as error:
                talk.error = error
                usable = not connection.closed
                connection._target._abort()
                # What goes on after an error was answered in whole; the wire said nothing wrong.
                assert not usable or error.sqlcode is not None or fault.kind == "garble", repr(error)
            talk.ends = wire.ends
    finally:
        driver.close()
    return talk


@pytest.fixture(scope="module")
def clean(server: Rowferry) -> Talk:
    """The conversation over a good wire."""
    talk = converse(server, "blocking", Fault())
    assert talk.error is None and list(talk.steps) == [name for name, _ in STEPS]
    assert len(talk.steps["select"]) == 150 and talk.steps["refused"][0][0] in (-239, -268)
    assert talk.steps["large object"] == [(b"smart" * 4000,)]
    assert talk.steps["savepoint"] == [(391, "x")]
    return talk


def with_server(server: Rowferry, cases: Sequence[tuple[str, Fault]]) -> list[tuple[Rowferry, str, Fault]]:
    return [(server, *case) for case in cases]


def threads(server: Rowferry) -> int:
    return len(list(Path(f"/proc/{server.pid}/task").iterdir()))


def memory_kb(server: Rowferry) -> int:
    for line in Path(f"/proc/{server.pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1])
    raise AssertionError("no VmRSS")


@pytest.mark.parametrize("side", ["client", "server"])
def test_a_wire_cut_anywhere_ends_in_an_error(server: Rowferry, clean: Talk, side: Any) -> None:
    cases = both([Fault("cut", side, at) for at in places(clean.ends[side], inside=True)])
    assert len(cases) > 150
    for case, talk in zip(cases, run_all(converse, with_server(server, cases)), strict=True):
        assert_honest(talk, clean, case)
        # After the last answer there is nothing to be missed.
        assert talk.error is not None or case[1].at >= clean.ends[side][-3], case
        assert talk.error is None or isinstance(talk.error, (informix.OperationalError, informix.InterfaceError)), case


@pytest.mark.parametrize("side", ["client", "server"])
def test_silence_anywhere_ends_in_a_time_out(server: Rowferry, clean: Talk, side: Any) -> None:
    cases = spread(both([Fault("silent", side, at) for at in places(clean.ends[side], inside=False)]), 60)
    for case, talk in zip(cases, run_all(converse, with_server(server, cases), SILENCE), strict=True):
        assert_honest(talk, clean, case)
        assert talk.error is not None or case[1].at >= clean.ends[side][-3], case
        assert talk.error is None or "timed out" in str(talk.error), (case, talk.error)


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
def test_pieces_and_delays_change_nothing(server: Rowferry, clean: Talk, fault: Fault) -> None:
    for talk in run_all(converse, with_server(server, [("blocking", fault), ("asyncio", fault)])):
        assert talk.error is None
        assert talk.steps == clean.steps


def test_garbled_answers_end_in_an_error_of_the_driver_or_go_on(server: Rowferry, clean: Talk) -> None:
    """Which rows are right is looked at where every byte can be told apart: crates/wire-sqli/tests/faults.rs."""
    seeded = random.Random(2026)
    last = clean.ends["server"][-1]
    faults = [Fault("garble", "server", seeded.randrange(last), seeded.randrange(1, 256)) for _ in range(60)]
    # Tags: the first two bytes of each group.
    faults += [
        Fault("garble", "server", at + 1, seeded.randrange(1, 256)) for at in spread(clean.ends["server"][:-1], 60)
    ]
    talks = run_all(converse, with_server(server, both(faults)), SILENCE)
    assert sum(talk.error is not None for talk in talks) > 20


def test_garbled_requests_harm_nobody_else(server: Rowferry, clean: Talk) -> None:
    seeded = random.Random(11)
    last = clean.ends["client"][-1]
    faults = [Fault("garble", "client", seeded.randrange(last), seeded.randrange(1, 256)) for _ in range(60)]
    faults += [
        Fault("garble", "client", at + 1, seeded.randrange(1, 256)) for at in spread(clean.ends["client"][:-1], 60)
    ]
    talks = run_all(converse, with_server(server, both(faults)), SILENCE)
    assert sum(talk.error is not None for talk in talks) > 20
    again = converse(server, "blocking", Fault())
    assert again.steps["select"] == clean.steps["select"] or "numbers" in repr(again.error)


def test_the_server_is_back_at_rest(server: Rowferry, clean: Talk) -> None:
    def rest(limit: int) -> None:
        deadline = time.monotonic() + 20
        while threads(server) > limit:
            assert time.monotonic() < deadline, f"{threads(server)} threads are left"

    rest(12)
    before_threads, before_memory = threads(server), memory_kb(server)
    cases = both([Fault("cut", "server", at) for at in spread(places(clean.ends["server"], inside=True), 60)])
    run_all(converse, with_server(server, cases))
    rest(before_threads)
    assert memory_kb(server) - before_memory < 30_000
