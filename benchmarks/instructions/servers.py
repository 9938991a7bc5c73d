"""The ends of a conversation: servers with the table `hot`, and Python processes that work when told to."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

from tests.servers.mariadb import MariaDB
from tests.servers.postgres import PostgreSQL
from tests.servers.rowferry import Rowferry

from .. import data
from .paths import ROWS, Address

_ROOT = Path(__file__).resolve().parents[2]
#: A server under valgrind takes its time to start, in seconds.
_PATIENCE = 120


@contextmanager
def serve(kind: str, directory: Path, before: Sequence[str] = ()) -> Iterator[tuple[Address, int]]:
    """An address of a server of the kind, and its process id; `before` runs the server's command."""
    if kind == "mariadb":
        with MariaDB.start() as mariadb:
            _fill_mariadb(mariadb)
            yield dict(mariadb.dsn), mariadb.pid
        return
    if kind == "behind":
        with _in_front_of_postgres(directory, before) as found:
            yield found
        return
    informix = kind == "informix"
    # Not full: flushing the disk is no instruction of ours, but takes a while.
    words = ("--durability", "normal")
    with Rowferry.start(
        directory / "hot.db",
        postgres=True,
        informix=informix,
        unix_dir=directory,
        args=words,
        before=before,
        timeout=_PATIENCE,
    ) as server:
        _fill_postgres(server.postgres_dsn)
        assert server.postgres is not None
        place = f"host={server.unix_dir}&port={server.postgres[1]}"
        address: Address = {"dsn": f"postgresql://rowferry@/{server.dbname}?{place}"}
        if informix:
            address = _informix_address(server)
        yield address, server.pid


@contextmanager
def _in_front_of_postgres(directory: Path, before: Sequence[str]) -> Iterator[tuple[Address, int]]:
    """The Informix door in front of a real PostgreSQL server, whose own instructions nobody counts."""
    with PostgreSQL.start(tcp=True) as behind:
        _fill_postgres(behind.dsn)
        with Rowferry.start(
            f"postgresql://rowferry@127.0.0.1:{behind.port}/postgres",
            postgres=False,
            informix=True,
            args=("--install", "--beside", str(directory / "beside.db")),
            before=before,
            timeout=_PATIENCE,
        ) as server:
            yield {**_informix_address(server), "autocommit": True}, server.pid


def _informix_address(server: Rowferry) -> Address:
    assert server.informix is not None
    host, port = server.informix
    address: Address = {"host": host, "port": port, "user": "informix", "password": "in4mix"}
    return {**address, "database": server.dbname, "server": "informix"}


def _fill_postgres(dsn: str) -> None:
    import psycopg

    with psycopg.connect(dsn) as connection, connection.cursor() as cursor:
        cursor.execute(data.NARROW_TABLE.format(table="hot"))
        cursor.execute(data.WRITTEN_TABLE.format(timestamp="timestamp").replace("bench_written", "hot_written"))
        cursor.executemany("INSERT INTO hot VALUES (%s, %s, %s, %s, %s, %s)", list(data.narrow_rows(ROWS)))


def _fill_mariadb(server: MariaDB) -> None:
    import pymysql

    with closing(pymysql.connect(**server.dsn, ssl_disabled=True)) as connection, connection.cursor() as cursor:
        cursor.execute(data.NARROW_TABLE.format(table="hot").replace("timestamp", "datetime"))
        cursor.execute(data.WRITTEN_TABLE.format(timestamp="datetime").replace("bench_written", "hot_written"))
        cursor.executemany("INSERT INTO hot VALUES (%s, %s, %s, %s, %s, %s)", list(data.narrow_rows(ROWS)))
        connection.commit()


def _kept(name: str) -> dict[str, str]:
    return {name: os.environ[name]} if name in os.environ else {}


class Worker:
    """A Python process that has a connection open, and does a path's work when told to."""

    def __init__(self, path: str, address: Address, before: Sequence[str] = ()) -> None:
        words = [sys.executable, "-m", "benchmarks.instructions", "--worker", path, json.dumps(address)]
        self._process = subprocess.Popen(
            [*before, *words],
            cwd=_ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            # What is counted must not hang on how strings hash.
            env={**_kept("PYTHONPATH"), "PYTHONHASHSEED": "0", "PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"},
        )
        self._answer()

    @property
    def pid(self) -> int:
        """The process's number."""
        return self._process.pid

    def work(self) -> None:
        """Have the work done once."""
        assert self._process.stdin is not None
        self._process.stdin.write("work\n")
        self._process.stdin.flush()
        self._answer()

    def stop(self) -> None:
        """End the process in order."""
        self._process.communicate(timeout=_PATIENCE)

    def _answer(self) -> None:
        assert self._process.stdout is not None
        if self._process.stdout.readline() != "done\n":
            self._process.kill()
            raise RuntimeError(f"`{' '.join(map(str, self._process.args))}` failed")  # type: ignore[arg-type]
