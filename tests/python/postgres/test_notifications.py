"""LISTEN and NOTIFY between the sessions of a server."""

from __future__ import annotations

import concurrent.futures
import contextlib
import selectors
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from typing import Any

import psycopg
import pytest

from tests.servers.rowferry import Rowferry

from .wire import FLUSH, SYNC, Wire, bind, close, execute, parse, query, startup

Start = Callable[..., Rowferry]
Connection = psycopg.Connection[tuple[Any, ...]]

#: Long enough for any machine; what is to come comes at once.
SECONDS = 30


def connect(server: Rowferry, **options: Any) -> Connection:
    return psycopg.connect(server.postgres_dsn, autocommit=True, **options)


@pytest.fixture
def listener(server: Rowferry) -> Iterator[Connection]:
    with closing(connect(server)) as connection:
        yield connection


@pytest.fixture
def teller(server: Rowferry) -> Iterator[Connection]:
    with closing(connect(server)) as connection:
        yield connection


def heard(connection: Connection, count: int) -> list[tuple[str, str]]:
    """So many notifications or more, waited for without a word to the server."""
    found = connection.notifies(timeout=SECONDS, stop_after=count)
    return [(told.channel, told.payload) for told in found]


def heard_until(connection: Connection, teller: Connection, channel: str = "a") -> list[str]:
    """The payloads up to one that is sent now: what is not among them was not sent."""
    teller.execute(f"NOTIFY {channel}, 'the end'")
    payloads: list[str] = []
    for told in connection.notifies(timeout=SECONDS):
        if told.payload == "the end":
            return payloads
        payloads.append(told.payload)
    raise AssertionError(f"the end has not come, after {payloads}")


def test_an_idle_session_is_told_at_once_and_by_whom(listener: Connection, teller: Connection) -> None:
    listener.execute('LISTEN a; LISTEN "Ä b"')
    teller.execute("NOTIFY a")
    teller.execute("NOTIFY \"Ä b\", 'ü'")
    teller.execute("NOTIFY b, 'not heard'")
    teller.execute("SELECT pg_notify('a', number::text) FROM generate_series(1, 3) number")
    assert heard(listener, 5) == [("a", ""), ("Ä b", "ü"), ("a", "1"), ("a", "2"), ("a", "3")]
    teller.execute("NOTIFY a")
    (told,) = listener.notifies(timeout=SECONDS, stop_after=1)
    assert told.pid == teller.info.backend_pid


def test_a_transaction_tells_at_its_commit_what_it_has_not_undone(listener: Connection, teller: Connection) -> None:
    listener.execute("LISTEN a")
    teller.execute("BEGIN")
    teller.execute("NOTIFY a, 'one'")
    teller.execute("SAVEPOINT s")
    teller.execute("NOTIFY a, 'undone'")
    teller.execute("ROLLBACK TO s")
    teller.execute("NOTIFY a, 'two'")
    teller.execute("NOTIFY a, 'one'")
    with closing(psycopg.connect(listener.info.dsn, autocommit=True)) as other:
        assert heard_until(listener, other) == [], "before the commit"
    teller.execute("COMMIT")
    assert heard_until(listener, teller) == ["one", "two"]
    teller.execute("BEGIN")
    teller.execute("NOTIFY a, 'never'")
    teller.execute("ROLLBACK")
    with pytest.raises(psycopg.errors.DivisionByZero):
        teller.execute("SELECT pg_notify('a', (1 / (3 - number))::text) FROM generate_series(1, 5) number")
    with pytest.raises(psycopg.errors.DivisionByZero):
        teller.execute("NOTIFY a, 'of the same text'; SELECT 1 / 0")
    assert heard_until(listener, teller) == []


def test_a_failed_commit_tells_nothing(listener: Connection, teller: Connection) -> None:
    listener.execute("LISTEN a")
    teller.execute("CREATE TABLE owners (id integer PRIMARY KEY)")
    teller.execute("CREATE TABLE owned (owner integer REFERENCES owners DEFERRABLE INITIALLY DEFERRED)")
    teller.execute("BEGIN; INSERT INTO owned VALUES (1); NOTIFY a, 'never'")
    with pytest.raises(psycopg.errors.ForeignKeyViolation):
        teller.execute("COMMIT")
    assert heard_until(listener, teller) == []


def test_a_session_in_a_transaction_is_told_at_its_end(listener: Connection, teller: Connection) -> None:
    listener.execute("LISTEN a")
    with listener.transaction():
        assert listener.execute("SELECT 1").fetchone() == (1,)
        teller.execute("NOTIFY a, 'x'")
        assert listener.execute("SELECT 2").fetchone() == (2,)
        assert [*listener.notifies(timeout=0)] == []
    assert heard(listener, 1) == [("a", "x")]


def test_own_notifications_come_before_the_command_is_over(listener: Connection) -> None:
    listener.execute("BEGIN; LISTEN a; NOTIFY a, 'in the same transaction'; COMMIT")
    assert [told.payload for told in listener.notifies(timeout=0)] == ["in the same transaction"]
    listener.execute("NOTIFY a, 'alone'", prepare=True)
    assert [told.payload for told in listener.notifies(timeout=0)] == ["alone"]


def test_listen_and_unlisten_take_effect_at_commit(listener: Connection, teller: Connection) -> None:
    channels = "SELECT * FROM pg_listening_channels()"
    with listener.transaction():
        listener.execute("LISTEN b")
        listener.execute("LISTEN a")
        assert listener.execute(channels).fetchall() == []
    assert listener.execute(channels).fetchall() == [("b",), ("a",)]
    with pytest.raises(ZeroDivisionError), listener.transaction():
        listener.execute("UNLISTEN *")
        raise ZeroDivisionError
    assert listener.execute(channels).fetchall() == [("b",), ("a",)]
    listener.execute("UNLISTEN b")
    teller.execute("NOTIFY b, 'not heard'")
    assert heard_until(listener, teller) == []
    listener.execute("DISCARD ALL")
    assert listener.execute(channels).fetchall() == []


def test_triggers_and_blocks_notify(listener: Connection, teller: Connection) -> None:
    listener.execute("LISTEN a")
    teller.execute(
        """CREATE TABLE jobs (id integer PRIMARY KEY);
        CREATE FUNCTION announce() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN PERFORM pg_notify('a', new.id::text); RETURN new; END $$;
        CREATE TRIGGER announce AFTER INSERT ON jobs FOR EACH ROW EXECUTE FUNCTION announce()"""
    )
    teller.execute("INSERT INTO jobs VALUES (1), (2)")
    with pytest.raises(psycopg.errors.UniqueViolation):
        teller.execute("INSERT INTO jobs VALUES (3), (1)")
    teller.execute(
        """DO $$ BEGIN
            NOTIFY a, 'a block';
            BEGIN NOTIFY a, 'undone'; RAISE EXCEPTION 'x'; EXCEPTION WHEN OTHERS THEN NULL; END;
        END $$"""
    )
    assert heard_until(listener, teller) == ["1", "2", "a block"]
    # What is told of can be read.
    teller.execute("INSERT INTO jobs VALUES (4)")
    assert heard(listener, 1) == [("a", "4")]
    assert listener.execute("SELECT count(*) FROM jobs WHERE id = 4").fetchone() == (1,)


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("SELECT pg_notify('', 'x')", "channel name cannot be empty"),
        ("SELECT pg_notify(NULL, 'x')", "channel name cannot be empty"),
        ("SELECT pg_notify(repeat('x', 64), 'x')", "channel name too long"),
        ("SELECT pg_notify('x', repeat('x', 8000))", "payload string too long"),
        (f"NOTIFY x, '{'x' * 8000}'", "payload string too long"),
    ],
)
def test_names_and_payloads_have_limits(teller: Connection, statement: str, message: str) -> None:
    with pytest.raises(psycopg.errors.InvalidParameterValue, match=f"^{message}$"):
        teller.execute(statement)


def test_notifications_stay_out_of_copy_and_pipelines(listener: Connection, teller: Connection) -> None:
    listener.execute("LISTEN a")
    listener.execute("CREATE TEMP TABLE lines (line text)")
    with listener.cursor() as cursor, cursor.copy("COPY lines FROM STDIN") as copy:
        copy.write("one\n")
        teller.execute("NOTIFY a, 'during COPY'")
        copy.write("two\n")
    assert listener.execute("SELECT count(*) FROM lines").fetchone() == (2,)
    with listener.pipeline() as pipeline:
        first = listener.execute("SELECT 1")
        pipeline.sync()
        teller.execute("NOTIFY a, 'during a pipeline'")
        second = listener.execute("SELECT 2")
        assert (first.fetchone(), second.fetchone()) == ((1,), (2,))
    assert sorted(heard_until(listener, teller)) == ["during COPY", "during a pipeline"]


def test_what_is_no_command_does_not_keep_notifications_back(server: Rowferry, teller: Connection) -> None:
    assert server.postgres is not None
    with Wire.open(server.postgres) as wire:
        assert wire.ask(query("LISTEN a")) == "C Z:I"
        wire.send(FLUSH, close("S", "nothing"), FLUSH)
        assert wire.receive().tag == "3"
        teller.execute("NOTIFY a, 'x'")
        told = wire.receive()
        assert (told.tag, told.body) == ("A", teller.info.backend_pid.to_bytes(4, "big") + b"a\0x\0")
        # A command that has begun does.
        wire.send(parse("SELECT 1"), FLUSH)
        assert wire.receive().tag == "1"
        teller.execute("NOTIFY a, 'y'")
        assert wire.ask(bind(), execute(), SYNC) == "2 D C A Z:I"


def test_tells_through_tls(start: Start) -> None:
    server = start("--tls", "--user", "ada:secret")
    secret = {"user": "ada", "password": "secret", "sslmode": "require"}
    with closing(connect(server, **secret)) as listener, closing(connect(server, **secret)) as teller:
        assert listener.pgconn.ssl_in_use
        listener.execute("LISTEN a")
        for number in range(100):
            teller.execute("SELECT pg_notify('a', %s)", [str(number)])
            if number % 10 == 0:
                assert listener.execute("SELECT %s", [number]).fetchone() == (number,)
        assert heard_until(listener, teller) == [str(number) for number in range(100)]


def test_a_listener_that_takes_nothing_makes_the_commit_fail(start: Start) -> None:
    server = start("--durability", "off")
    fill = "SELECT count(pg_notify('a', repeat('x', 7000) || number)) FROM generate_series(1, 2000) number"
    with closing(connect(server)) as listener, closing(connect(server)) as teller:
        listener.execute("LISTEN a")
        teller.execute("CREATE TABLE filled (times integer)")
        with listener.transaction():
            listener.execute("SELECT 1")
            with pytest.raises(psycopg.errors.ProgramLimitExceeded, match="too many notifications in the NOTIFY queue"):
                for times in range(10):
                    with teller.transaction():
                        teller.execute("INSERT INTO filled VALUES (%s)", [times])
                        teller.execute(fill)
            rows = teller.execute("SELECT count(*) FROM filled").fetchone()
            assert rows is not None and 1 <= rows[0] < 10, "the transaction that could not tell was rolled back"
            used = teller.execute("SELECT pg_notification_queue_usage()").fetchone()
            assert used is not None and 0.5 < used[0] <= 1
        assert len(heard(listener, 2000 * rows[0])) == 2000 * rows[0]
        assert teller.execute("SELECT pg_notification_queue_usage()").fetchone() == (0,)
        teller.execute("NOTIFY a, 'again'")
        assert heard(listener, 1) == [("a", "again")]


def test_many_sessions_hear_everything_once_and_in_the_same_order(server: Rowferry) -> None:
    listeners, tellers, each = 24, 8, 40

    def tell(name: int) -> None:
        with closing(connect(server)) as teller:
            for number in range(each):
                if number % 2:
                    teller.execute("SELECT pg_notify('many', %s)", [f"{name}.{number}"])
                else:
                    with teller.transaction():
                        teller.execute("INSERT INTO told VALUES (%s)", [f"{name}.{number}"])
                        teller.execute("SELECT pg_notify('many', %s)", [f"{name}.{number}"])

    def listen(connection: Connection, busy: bool) -> list[str]:
        payloads: list[str] = []
        while len(payloads) < tellers * each:
            if busy:
                connection.execute("SELECT 1")
                payloads += [told.payload for told in connection.notifies(timeout=0)]
            else:
                found = [payload for _, payload in heard(connection, 1)]
                assert found, f"only {len(payloads)} have come"
                payloads += found
        return payloads

    with closing(connect(server)) as connection:
        connection.execute("CREATE TABLE told (payload text)")
    connections = [connect(server) for _ in range(listeners)]
    for connection in connections:
        connection.execute("LISTEN many")
    with concurrent.futures.ThreadPoolExecutor(listeners + tellers) as pool:
        listening = [pool.submit(listen, connection, at % 6 == 0) for at, connection in enumerate(connections)]
        telling = [pool.submit(tell, name) for name in range(tellers)]
        for future in telling:
            future.result()
        orders = [future.result(timeout=120) for future in listening]
    for connection in connections:
        connection.close()
    assert sorted(orders[0]) == sorted(f"{name}.{number}" for name in range(tellers) for number in range(each))
    assert all(order == orders[0] for order in orders)
    for name in range(tellers):
        assert [payload for payload in orders[0] if payload.startswith(f"{name}.")] == [
            f"{name}.{number}" for number in range(each)
        ]


def test_1200_listeners_hear_of_everything_in_order(start: Start) -> None:
    """200 of them ask something all the time, the others wait."""
    rounds = 20
    server = start("--durability", "off", "--max-connections", "1300", before=["prlimit", "--nofile=10000"])
    with contextlib.closing(Crowd(server, idle=1_000, busy=200)) as crowd, closing(connect(server)) as teller:
        for number in range(rounds):
            teller.execute("SELECT pg_notify('crowd', %s), pg_notify('crowd', %s)", [f"{number}", f"{number} again"])
        crowd.wait_for(2 * rounds, SECONDS * 2)
        expected = [word for number in range(rounds) for word in (f"{number}", f"{number} again")]
        assert all(member.heard == expected for member in crowd.members)
        assert all(member.answers > 1 for member in crowd.members if member.busy)


class Member:
    """One of a crowd: what it has heard, and the statements that were answered."""

    def __init__(self, server: Rowferry, busy: bool) -> None:
        assert server.postgres
        self.busy = busy
        self.heard: list[str] = []
        self.answers = 0
        self._received = b""
        self.socket = socket.create_connection(server.postgres, timeout=SECONDS)
        self.socket.sendall(startup(user="rowferry", database=server.dbname) + query("LISTEN crowd"))
        while self.answers < 2:
            self.take()

    def take(self) -> None:
        """Read what has come; who is busy asks again when it has its answer."""
        self._received += self.socket.recv(65536) or _closed()
        while len(self._received) >= 5:
            end = 1 + int.from_bytes(self._received[1:5], "big")
            if len(self._received) < end:
                break
            tag, body, self._received = self._received[:1], self._received[5:end], self._received[end:]
            if tag == b"A":
                self.heard.append(body[4:].split(b"\0")[1].decode())
            elif tag == b"Z":
                self.answers += 1
                if self.busy and self.answers > 1:
                    self.socket.sendall(query("SELECT 1"))


def _closed() -> bytes:
    raise AssertionError("the server has closed the connection")


class Crowd:
    """Many listeners, looked after by one thread."""

    def __init__(self, server: Rowferry, *, idle: int, busy: int) -> None:
        self.selector = selectors.DefaultSelector()
        self.members = [Member(server, busy=number < busy) for number in range(idle + busy)]
        for member in self.members:
            self.selector.register(member.socket, selectors.EVENT_READ, member)

    def wait_for(self, count: int, seconds: float) -> None:
        """Until everybody has heard so much."""
        deadline = time.monotonic() + seconds
        while any(len(member.heard) < count for member in self.members):
            for key, _ in self.selector.select(timeout=1):
                key.data.take()
            assert time.monotonic() < deadline, f"{sum(len(m.heard) < count for m in self.members)} have not heard all"

    def close(self) -> None:
        """Leave, all of them."""
        self.selector.close()
        for member in self.members:
            member.socket.close()
