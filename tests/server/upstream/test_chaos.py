"""The server behind, or ours, is killed amid changes: what was acknowledged is there, and nothing is there twice."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
import time
from collections.abc import Callable
from typing import Any

import psycopg
import pymysql
import pytest
from rowferry import informix
from rowferry.informix import exceptions

from tests.servers.postgres import PostgreSQL
from tests.servers.rowferry import Rowferry

_OURS = "WHERE application_name ^@ 'rowferry: '"
#: Clients that write at once.
WRITERS = 4

#: What makes a client of a host and a port.
Connect = Callable[[str, int], tuple[Any, str]]


def connect_informix(host: str, port: int) -> tuple[Any, str]:
    """A client, and how it says a parameter."""
    return informix.connect(f"informix://ada@{host}:{port}/store"), "?"


def connect_mysql(host: str, port: int) -> tuple[Any, str]:
    """A client, and how it says a parameter."""
    return pymysql.connect(host=host, port=port, user="ada", database="store"), "%s"


def write(connect: Connect, place: tuple[str, int], writer: int, said: list[int], stop: threading.Event) -> None:
    """Inserts rows, each a transaction of two, and notes those that were acknowledged."""
    number = writer
    while not stop.is_set():
        with contextlib.suppress(exceptions.Error, pymysql.err.Error), contextlib.ExitStack() as stack:
            connection, value = connect(*place)
            stack.enter_context(contextlib.closing(connection))
            cursor = connection.cursor()
            while not stop.is_set():
                number += WRITERS
                cursor.execute(f"insert into kept values ({value}, {value})", (number, 1))
                cursor.execute(f"insert into kept values ({value}, {value})", (number, 2))
                connection.commit()
                said.append(number)
        time.sleep(0.05)


def _connect(words: str) -> psycopg.Connection:
    """A connection, once the server has recovered."""
    until = time.monotonic() + 60
    while True:
        try:
            return psycopg.connect(words, autocommit=True)
        except psycopg.OperationalError:
            if time.monotonic() > until:
                raise
            time.sleep(0.1)


@pytest.mark.parametrize("door", ["informix", "mysql"])
def test_nothing_acknowledged_is_lost(door: str) -> None:
    connect: Connect = connect_informix if door == "informix" else connect_mysql
    with PostgreSQL.start(tcp=True) as postgres:
        with psycopg.connect(postgres.dsn, autocommit=True) as connection:
            connection.execute("CREATE DATABASE store")
        behind = psycopg.conninfo.make_conninfo(postgres.dsn, dbname="store")
        with psycopg.connect(behind, autocommit=True) as connection:
            connection.execute("CREATE TABLE kept (number int, part int)")
        url = f"postgresql://rowferry@127.0.0.1:{postgres.port}/store"
        said: list[list[int]] = [[] for _ in range(WRITERS)]
        stop = threading.Event()
        server = Rowferry.start(url, postgres=False, informix=True, mysql=True, args=("--install",))
        try:
            there = server.informix if door == "informix" else server.mysql
            assert there is not None
            writers = [
                threading.Thread(target=write, args=(connect, there, at, said[at], stop)) for at in range(WRITERS)
            ]
            for writer in writers:
                writer.start()
            for round_ in range(4):
                time.sleep(1.0)
                with _connect(behind) as connection:
                    pids = connection.execute("SELECT pid FROM pg_stat_activity " + _OURS).fetchall()
                if round_ % 2:
                    # One kill -9 of a server process makes PostgreSQL end all of them, and recover.
                    os.kill(pids[0][0], signal.SIGKILL)
                else:
                    with _connect(behind) as connection:
                        connection.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity " + _OURS)
                # They go on with new connections.
                before = sum(map(len, said))
                until = time.monotonic() + 60
                while sum(map(len, said)) < before + 4 * WRITERS and time.monotonic() < until:
                    time.sleep(0.1)
                assert sum(map(len, said)) >= before + 4 * WRITERS
            os.kill(server.pid, signal.SIGKILL)
            stop.set()
            for writer in writers:
                writer.join(60)
                assert not writer.is_alive()
        finally:
            stop.set()
            server.process.kill()
        time.sleep(0.5)
        with _connect(behind) as connection:
            parts = dict(connection.execute("SELECT number, count(*) FROM kept GROUP BY number").fetchall())
        assert all(count == 2 for count in parts.values())
        lost = [number for numbers in said for number in numbers if number not in parts]
        assert not lost
        # At most what was under way when the end came is there without having been acknowledged.
        assert len(parts) - sum(map(len, said)) <= WRITERS * 5
