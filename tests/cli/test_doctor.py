"""`rowferry doctor`: what stands in the way is named, step by step."""

from __future__ import annotations

import contextlib
import json
import socket
import sqlite3
from pathlib import Path

from tests.cli.conftest import rowferry, sqlite
from tests.servers.mariadb import MariaDB
from tests.servers.rowferry import Rowferry

WRONG = 3


def test_what_works_is_told_with_its_times(tmp_path: Path, mariadb: MariaDB) -> None:
    path = tmp_path / "shop.db"
    sqlite(path, "CREATE TABLE item (id INTEGER PRIMARY KEY)")
    with Rowferry.start(path, informix=True) as server:
        assert server.postgres is not None and server.informix is not None
        places = [
            "postgresql://ada@{}:{}/shop".format(*server.postgres),
            "informix://informix:in4mix@{}:{}/shop".format(*server.informix),
            f"mysql://{mariadb.user}:{mariadb.password}@{mariadb.host}:{mariadb.port}/{mariadb.database}",
            str(path),
        ]
        for place in places:
            done = rowferry("doctor", place)
            assert done.returncode == 0, done.stdout + done.stderr
            assert "there and back" in done.stdout and "NO " not in done.stdout
            assert mariadb.password not in done.stdout
            told = json.loads(rowferry("doctor", place, "--json").stdout)
            assert told["works"] and told["steps"][-1]["step"] == "statement"


def test_each_obstacle_has_its_step(tmp_path: Path, mariadb: MariaDB) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
        done = rowferry("doctor", f"postgresql://ada@127.0.0.1:{port}/shop")
        assert done.returncode == WRONG
        assert "NO  port" in done.stdout and f"nothing listens at port {port}" in done.stdout
    done = rowferry("doctor", "mysql://ada@nosuchhost.invalid/shop")
    assert done.returncode == WRONG and "NO  name" in done.stdout
    done = rowferry("doctor", f"mysql://{mariadb.user}:wrong@{mariadb.host}:{mariadb.port}/")
    assert done.returncode == WRONG and "NO  login" in done.stdout and "Access denied" in done.stdout
    done = rowferry("doctor", "postgresql://ada@127.0.0.1/shop?nosuch=1")
    assert done.returncode == WRONG and "NO  URL" in done.stdout and "nosuch" in done.stdout
    # What is spoken at a port is not what was asked for.
    done = rowferry("doctor", f"postgresql://ada@{mariadb.host}:{mariadb.port}/shop?connect_timeout=2")
    assert done.returncode == WRONG and "what listens there is MySQL or MariaDB" in done.stdout
    with Rowferry.start(tmp_path / "shop.db") as server:
        assert server.postgres is not None
        done = rowferry("doctor", "mysql://ada@{}:{}/shop?connect_timeout=2".format(*server.postgres))
        assert done.returncode == WRONG and "PostgreSQL" in done.stdout


def test_files_that_are_none_or_locked(tmp_path: Path) -> None:
    done = rowferry("doctor", str(tmp_path / "none.db"))
    assert done.returncode == WRONG and "NO  file" in done.stdout
    other = tmp_path / "other.db"
    other.write_bytes(b"%PDF-1.7 and much more of that kind")
    assert "does not begin as SQLite" in rowferry("doctor", str(other)).stdout
    path = tmp_path / "shop.db"
    sqlite(path, "CREATE TABLE item (id INTEGER PRIMARY KEY)")
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("BEGIN IMMEDIATE")
        done = rowferry("doctor", str(path))
    assert done.returncode == 0 and "somebody writes it" in done.stdout
