"""Running the command line, and files for it."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import subprocess
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import psycopg
import pytest
from rowferry import mysql

from tests.servers.mariadb import MariaDB
from tests.servers.postgres import PostgreSQL
from tests.servers.rowferry import Rowferry, find_rowferry


def rowferry(
    *arguments: str | Path, stdin: str = "", env: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Runs a subcommand to its end."""
    return subprocess.run(
        [find_rowferry(), *arguments],
        input=stdin,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=120,
        env={**os.environ, **(env or {})},
    )


def sqlite(path: Path, *statements: str) -> list[tuple[object, ...]]:
    """What the last of these statements answers, on the file itself."""
    with contextlib.closing(sqlite3.connect(path, timeout=20)) as connection:
        rows: list[tuple[object, ...]] = []
        for statement in statements:
            rows = connection.execute(statement).fetchall()
        connection.commit()
        return rows


@pytest.fixture
def serve() -> Iterator[Callable[..., Rowferry]]:
    """Starts servers that end with the test."""
    with contextlib.ExitStack() as stack:
        yield lambda path, **options: stack.enter_context(Rowferry.start(path, **options))


@pytest.fixture(scope="module")
def postgres() -> Iterator[PostgreSQL]:
    with PostgreSQL.start(tcp=True) as server:
        yield server


@pytest.fixture
def database(postgres: PostgreSQL) -> Iterator[Callable[[], str]]:
    """Makes empty databases on a real PostgreSQL, by their URLs."""
    made: list[str] = []

    def make() -> str:
        name = f"copy{len(made)}"
        with psycopg.connect(postgres.dsn, autocommit=True) as connection:
            connection.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")
            connection.execute(f"CREATE DATABASE {name}")
        made.append(name)
        return f"{postgres.dsn.rpartition('/')[0]}/{name}"

    yield make
    with psycopg.connect(postgres.dsn, autocommit=True) as connection:
        for name in made:
            connection.execute(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture
def mysql_url(mariadb: MariaDB) -> Iterator[str]:
    """An empty database of MariaDB's, by its URL."""
    with mysql.connect(**mariadb.dsn, autocommit=True) as connection, connection.cursor() as cursor:
        cursor.execute("DROP DATABASE IF EXISTS copied")
        cursor.execute("CREATE DATABASE copied CHARACTER SET utf8mb4")
        yield f"mysql://{mariadb.user}:{mariadb.password}@{mariadb.host}:{mariadb.port}/copied"
        cursor.execute("DROP DATABASE copied")


@pytest.fixture
def door(tmp_path: Path) -> Iterator[Rowferry]:
    """An empty database behind our Informix door."""
    with Rowferry.start(tmp_path / "door.db", informix=True) as server:
        yield server
