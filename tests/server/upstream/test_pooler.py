"""pgbouncer between ours and the PostgreSQL server."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pymysql
import pytest
from rowferry import informix

from tests.servers.availability import not_tested
from tests.servers.postgres import PostgreSQL
from tests.servers.process import ServerFailed, free_port
from tests.servers.rowferry import Rowferry

from .conftest import make_database


@contextmanager
def pooler(postgres: PostgreSQL, mode: str, directory: Path) -> Iterator[int]:
    """A pgbouncer in front of a server; the port that it listens at."""
    program = shutil.which("pgbouncer", path=f"{os.environ.get('PATH', '')}:/usr/sbin")
    if program is None:
        not_tested("poolers behind", "pgbouncer is not installed")
    port = free_port()
    settings = directory / "pgbouncer.ini"
    settings.write_text(
        f"[databases]\n* = host=127.0.0.1 port={postgres.port} user=rowferry\n"
        f"[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = {port}\nauth_type = any\npool_mode = {mode}\n"
        f"unix_socket_dir =\nlogfile = {directory / 'log'}\n"
    )
    command = [str(program), str(settings)]
    if os.geteuid() == 0:
        # It does not run as root.
        for place in (directory, *directory.parents):
            if place.stat().st_uid == 0 and place != Path("/"):
                place.chmod(place.stat().st_mode | 0o001)
        directory.chmod(0o777)
        command = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", *command]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + 10
        while True:
            try:
                psycopg.connect(f"host=127.0.0.1 port={port} dbname=postgres user=rowferry").close()
                break
            except psycopg.OperationalError:
                assert process.poll() is None and time.monotonic() < deadline
                time.sleep(0.05)
        yield port
    finally:
        process.terminate()
        process.wait(10)


def test_a_pool_of_sessions_is_like_the_server(postgres: PostgreSQL, tmp_path: Path) -> None:
    database = make_database(postgres)[0].rsplit("/", 1)[1]
    with (
        pooler(postgres, "session", tmp_path) as port,
        Rowferry.start(
            f"postgresql://rowferry@127.0.0.1:{port}/{database}",
            postgres=False,
            informix=True,
            mysql=True,
            args=("--install",),
        ) as server,
    ):
        assert server.informix is not None and server.mysql is not None
        # A connection that has gone back to the pool has nothing of the session that had it.
        for zone in ("+05:00", None, "-03:00", None):
            host, my_port = server.mysql
            with pymysql.connect(host=host, port=my_port, user="ada", database=database) as connection:
                cursor = connection.cursor()
                if zone:
                    cursor.execute(f"SET time_zone = '{zone}', foreign_key_checks = 0")
                cursor.execute("CREATE TABLE IF NOT EXISTS t (id INT PRIMARY KEY, at TIMESTAMP NULL)")
                cursor.execute("REPLACE INTO t VALUES (1, '2024-01-01 12:00:00')")
                connection.commit()
                cursor.execute("SELECT at FROM t WHERE id = 1")
                assert str(cursor.fetchone()[0]) == "2024-01-01 12:00:00"
            host, ifx_port = server.informix
            with informix.connect(f"informix://ada@{host}:{ifx_port}/{database}") as door:
                own = door.cursor()
                for _ in range(2):
                    own.execute("SELECT COUNT(*) FROM t WHERE id = ?", [1])
                    assert own.fetchone() == (1,)


def test_a_pool_of_transactions_is_refused(postgres: PostgreSQL, tmp_path: Path) -> None:
    database = make_database(postgres)[0].rsplit("/", 1)[1]
    with (
        pooler(postgres, "transaction", tmp_path) as port,
        pytest.raises(ServerFailed, match="after each transaction"),
    ):
        Rowferry.start(f"postgresql://rowferry@127.0.0.1:{port}/{database}", postgres=False, informix=True)
