"""Killing the server with -9 in the middle of writes loses nothing that it has acknowledged."""

from __future__ import annotations

import contextlib
import sqlite3
import threading
from pathlib import Path

import psycopg
import pytest

from tests.servers.rowferry import Rowferry

#: How many clients write at the same time.
WRITERS = 3


@pytest.mark.parametrize("round_number", range(3))
def test_killed_server_loses_no_acknowledged_transaction(tmp_path: Path, round_number: int) -> None:
    file = tmp_path / "app.db"
    server = Rowferry.start(file, args=["--durability", "full"])
    with psycopg.connect(server.postgres_dsn, autocommit=True) as connection:
        connection.execute("CREATE TABLE written (id integer PRIMARY KEY, half integer NOT NULL)")
    acknowledged: list[list[int]] = [[] for _ in range(WRITERS)]
    enough = threading.Event()

    def write(writer: int) -> None:
        with contextlib.suppress(psycopg.OperationalError), psycopg.connect(server.postgres_dsn) as connection:
            number = writer
            while True:
                # Two rows in one transaction: half of it must never be seen.
                connection.execute("INSERT INTO written VALUES (%s, 1)", (2 * number,))
                connection.execute("INSERT INTO written VALUES (%s, 2)", (2 * number + 1,))
                connection.commit()
                acknowledged[writer].append(number)
                number += WRITERS
                if sum(map(len, acknowledged)) >= 100 * (round_number + 1):
                    enough.set()

    threads = [threading.Thread(target=write, args=(writer,)) for writer in range(WRITERS)]
    for thread in threads:
        thread.start()
    assert enough.wait(60), "the writers made no progress"
    server.process.kill()
    for thread in threads:
        thread.join(30)
        assert not thread.is_alive()

    with Rowferry.start(file) as again, psycopg.connect(again.postgres_dsn) as connection:
        found = {row[0] for row in connection.execute("SELECT id FROM written")}
    lost = [number for numbers in acknowledged for number in numbers if not {2 * number, 2 * number + 1} <= found]
    assert lost == []
    halves = [number for number in found if number ^ 1 not in found]
    assert halves == []
    with contextlib.closing(sqlite3.connect(file)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
