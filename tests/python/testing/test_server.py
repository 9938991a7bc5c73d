"""Servers for tests, by hand: fresh databases, templates, and nothing that stays."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from rowferry import informix
from rowferry.testing import Database, Server, ServerFailed


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with Server.start() as server:
        yield server


def migrate(database: Database) -> None:
    with psycopg.connect(database.url) as connection:
        connection.execute("CREATE TABLE orders (id serial PRIMARY KEY, city text NOT NULL)")
        connection.execute("INSERT INTO orders (city) VALUES ('Oslo'), ('Bergen')")


def cities(database: Database) -> list[str]:
    with psycopg.connect(**database.parameters) as connection:
        return [city for (city,) in connection.execute("SELECT city FROM orders ORDER BY id")]


def test_a_database_is_empty_and_goes_away(server: Server) -> None:
    with server.database() as database, psycopg.connect(database.url) as connection:
        connection.execute("CREATE TABLE t (a int)")
        assert database.path.exists()
    assert not database.path.exists()
    with server.database() as another, psycopg.connect(another.url) as connection:
        assert connection.execute("SELECT to_regclass('t')").fetchone() == (None,)


def test_each_copy_of_a_template_is_its_own(server: Server) -> None:
    template = server.template(migrate)
    with server.database(template) as one, server.database(template) as other:
        with psycopg.connect(one.url) as connection:
            connection.execute("INSERT INTO orders (city) VALUES ('Tromsø')")
        assert cities(one) == ["Oslo", "Bergen", "Tromsø"]
        assert cities(other) == ["Oslo", "Bergen"]
        with sqlite3.connect(one.path) as file:
            assert file.execute("SELECT count(*) FROM orders").fetchone() == (3,)
        file.close()


def test_a_template_may_be_filled_by_a_coroutine(server: Server) -> None:
    async def prepare(database: Database) -> None:
        connection = await psycopg.AsyncConnection.connect(database.url, autocommit=True)
        await connection.execute("CREATE TABLE orders (id int, city text)")
        await connection.execute("INSERT INTO orders VALUES (1, 'Narvik')")
        await connection.close()

    with server.database(server.template(prepare)) as database:
        assert cities(database) == ["Narvik"]


def test_connections_that_were_left_open_are_no_hindrance(server: Server) -> None:
    left = []

    def prepare(database: Database) -> None:
        migrate(database)
        left.append(psycopg.connect(database.url))

    template = server.template(prepare)
    with server.database(template) as database:
        left.append(psycopg.connect(database.url))
        left[-1].execute("INSERT INTO orders (city) VALUES ('Hamar')")
    for connection in left:
        with pytest.raises(psycopg.OperationalError):
            connection.execute("SELECT 1")
        connection.close()


def test_what_fails_while_a_template_is_filled_is_told(server: Server) -> None:
    def prepare(database: Database) -> None:
        with psycopg.connect(database.url) as connection:
            connection.execute("SELECT * FROM missing")

    with pytest.raises(psycopg.errors.UndefinedTable, match="missing"):
        server.template(prepare)


def test_informix_clients_are_served_too(server: Server) -> None:
    def prepare(database: Database) -> None:
        with informix.connect(**database.informix_parameters) as connection:
            connection.cursor().execute("CREATE TABLE orders (id SERIAL PRIMARY KEY, city VARCHAR(20))")
            connection.cursor().execute("INSERT INTO orders VALUES (0, 'Drammen')")
            connection.commit()

    with server.database(server.template(prepare)) as database:
        with informix.connect(database.informix_url) as connection:
            cursor = connection.cursor()
            cursor.execute("SELECT id, city FROM orders")
            assert cursor.fetchall() == [(1, "Drammen")]
        assert cities(database) == ["Drammen"]


def test_names_are_what_they_are(server: Server) -> None:
    database = server.create('My "test" 1')
    with psycopg.connect(database.url) as connection:
        assert connection.execute("SELECT current_database()").fetchone() == ('My "test" 1',)
    assert database.path.exists()
    with pytest.raises(ServerFailed, match="already exists"):
        server.create('My "test" 1')
    server.drop(database)


def test_threads_share_a_server(server: Server) -> None:
    template = server.template(migrate)
    found: list[list[str]] = []

    def work() -> None:
        for _ in range(5):
            with server.database(template) as database:
                found.append(cities(database))

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [["Oslo", "Bergen"]] * 30


def test_a_server_that_cannot_start_says_why() -> None:
    with pytest.raises(ServerFailed, match="--no-such-option"):
        Server.start(options=["--no-such-option"])


def test_a_server_that_has_gone_says_so() -> None:
    with Server.start() as server:
        os.kill(server.pid, signal.SIGKILL)
        for _ in range(200):
            try:
                server.create("late")
            except ServerFailed:
                break
            time.sleep(0.01)
        with pytest.raises(ServerFailed):
            server.create("later")


def test_nothing_stays() -> None:
    with Server.start() as server:
        pid, home = server.pid, server.create("kept").path.parents[1]
        assert home.exists()
    assert not home.exists()
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_the_server_ends_with_a_process_that_is_killed(tmp_path: Path) -> None:
    """Its files stay in that case: nobody is left to remove them."""
    program = (
        "import time; from pathlib import Path; from rowferry.testing import Server; "
        f"server = Server.start(directory=Path({str(tmp_path)!r})); print(server.pid, flush=True); time.sleep(600)"
    )
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        pid = int(process.stdout.readline())
        process.kill()
    until = time.monotonic() + 60
    while time.monotonic() < until and _is_running(pid):
        time.sleep(0.02)
    assert not _is_running(pid)


def _is_running(pid: int) -> bool:
    try:
        # A process that nobody has asked for its end is gone, too.
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_many_cold_starts_at_once() -> None:
    outcomes: list[object] = []

    def start() -> None:
        with Server.start() as server, server.database(server.template(migrate)) as database:
            outcomes.append(cities(database))

    threads = [threading.Thread(target=start) for _ in range(24)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert outcomes == [["Oslo", "Bergen"]] * 24
