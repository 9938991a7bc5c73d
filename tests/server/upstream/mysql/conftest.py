"""Servers for MySQL's clients."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
import pytest

from tests.servers.postgres import PostgreSQL
from tests.servers.rowferry import Rowferry

from ..conftest import SCHEMA, make_database
from .front import MySQLFront


@pytest.fixture(scope="session")
def start(postgres: PostgreSQL) -> Callable[..., MySQLFront]:
    def start(schema: str = "", *, beside: Path | None = None, args: tuple[str, ...] = ()) -> MySQLFront:
        url, behind = make_database(postgres)
        if schema:
            with psycopg.connect(behind, autocommit=True) as connection:
                connection.execute(schema)  # type: ignore[arg-type]
        kept = ("--beside", str(beside)) if beside else ()
        server = Rowferry.start(url, mysql=True, informix=True, args=("--install", *kept, *args))
        return MySQLFront(server, behind, postgres.port)

    return start


@pytest.fixture
def front(start: Callable[..., MySQLFront], tmp_path: Path) -> Iterator[MySQLFront]:
    started = start(SCHEMA, beside=tmp_path / "beside.db")
    with started.server:
        yield started
