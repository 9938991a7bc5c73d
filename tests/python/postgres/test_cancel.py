"""Stopping a statement that runs: by the driver, by Ctrl-C in psql, by its time limit."""

from __future__ import annotations

import select
import signal
import subprocess
import threading
from collections.abc import Callable
from typing import Any

import psycopg
import pytest

from tests.servers.rowferry import Rowferry

from . import wire
from .conftest import wait_until
from .wire import Wire

ENDLESS = "with recursive t(n) as (select 1 union all select n % 1000 + 1 from t) select count(*) from t"


@pytest.mark.parametrize("version", ["3.0", "3.2", "latest"])
def test_a_cancel_stops_the_statement_and_leaves_the_session_usable(server: Rowferry, version: str) -> None:
    """By PostgreSQL 18's client library, whose cancel key in 3.2 is eight times as long."""
    choice = {"min_protocol_version": version, "max_protocol_version": version}
    with psycopg.connect(server.postgres_dsn, autocommit=True, **choice) as connection:  # type: ignore[arg-type]
        assert connection.pgconn.full_protocol_version == (30000 if version == "3.0" else 30002)
        stopped = threading.Event()

        def cancel() -> None:
            # Again and again: the first may come before the statement runs, and then stops nothing.
            while not stopped.wait(0.05):
                connection.cancel_safe()

        canceller = threading.Thread(target=cancel)
        canceller.start()
        try:
            with pytest.raises(psycopg.errors.QueryCanceled):
                connection.execute(ENDLESS)
        finally:
            stopped.set()
            canceller.join()
        assert connection.execute("select 42").fetchone() == (42,)


def test_a_cancel_without_a_statement_stops_nothing(server: Rowferry) -> None:
    with psycopg.connect(server.postgres_dsn, autocommit=True) as connection:
        connection.cancel_safe()
        assert connection.execute("select 42").fetchone() == (42,)


def test_a_cancel_aborts_the_transaction(server: Rowferry) -> None:
    with Wire(server.postgres) as session:
        session.send(wire.startup(user="a"))
        key = next(answer.body for answer in session.ready() if answer.tag == "K")
        assert session.ask(wire.query("begin")) == "C Z:T"
        session.send(wire.query(ENDLESS))
        # Again and again: the first may come before the statement runs, and then stops nothing.
        while not select.select([session.socket], [], [], 0.05)[0]:
            with Wire(server.postgres) as canceller:
                canceller.send(wire.request(wire.CANCEL_REQUEST, key))
                assert canceller.rest() == []
        *_, error, ready = session.ready()
        assert (error.sqlstate, ready.body) == ("57014", b"E")


def test_ctrl_c_in_psql(start: Callable[..., Rowferry]) -> None:
    server = start("--log", "debug")
    psql = subprocess.Popen(
        ["psql", "-X", "-v", "ON_ERROR_STOP=0", "-At", server.postgres_dsn],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert psql.stdin is not None
        psql.stdin.write(f"{ENDLESS};\nselect 'still here';\n")
        psql.stdin.flush()
        wait_until(lambda: any("recursive" in line for line in server.process.tail), "the statement at the server")
        psql.send_signal(signal.SIGINT)
        output, errors = psql.communicate(timeout=30)
    finally:
        psql.kill()
    assert "canceling statement due to user request" in errors
    assert output.strip() in ("still here", "")


def test_stopping_the_server_interrupts_what_runs_too_long(start: Callable[..., Rowferry]) -> None:
    server = start("--stop-grace", "0.1", "--log", "debug")
    result: list[Any] = []

    def run() -> None:
        with Wire.open(server.postgres) as session:
            session.send(wire.query(ENDLESS))
            result.extend(session.rest())

    client = threading.Thread(target=run)
    client.start()
    wait_until(lambda: any("recursive" in line for line in server.process.tail), "the statement at the server")
    server.stop()
    client.join(20)
    assert [answer.sqlstate for answer in result if answer.tag == "E"][-1] == "57P01"


def test_statement_timeout(server: Rowferry) -> None:
    with psycopg.connect(server.postgres_dsn, autocommit=True) as connection:
        connection.execute("set statement_timeout = '50ms'")
        with pytest.raises(psycopg.errors.QueryCanceled, match="statement timeout"):
            connection.execute(ENDLESS)
        connection.execute("set statement_timeout = 0")
        assert connection.execute("select 42").fetchone() == (42,)
