"""A PostgreSQL server, and ours in front of it."""

from __future__ import annotations

import os
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import psycopg
import pytest
from rowferry import informix

from tests.servers.availability import not_tested
from tests.servers.postgres import PostgreSQL, find_postgres
from tests.servers.rowferry import Rowferry

#: Which of `VERSIONS` stands behind in all tests of this folder; by default, the one that is installed.
ANOTHER_VERSION = "ROWFERRY_TEST_POSTGRES"


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgreSQL]:
    """A PostgreSQL server on TCP."""
    version = os.environ.get(ANOTHER_VERSION)
    if version is None and find_postgres() is None:
        not_tested("the server in front of PostgreSQL", "PostgreSQL's server is not installed")
    with PostgreSQL.start(tcp=True, version=int(version) if version else None) as server:
        yield server


@dataclass
class Front:
    """Ours, and the database behind it."""

    server: Rowferry
    #: The database behind, for psycopg.
    behind: str

    @property
    def url(self) -> str:
        """Where Informix's clients find it."""
        assert self.server.informix is not None
        host, port = self.server.informix
        return f"informix://ada@{host}:{port}/{self.server.dbname}"

    def connect(self, **options: object) -> informix.Connection:
        """A connection of ours to it."""
        return informix.connect(self.url, **options)  # type: ignore[arg-type]

    def ask(self, sql: str, *params: object) -> list[tuple[object, ...]]:
        """What the server behind itself says."""
        with psycopg.connect(self.behind, autocommit=True) as connection:
            cursor = connection.execute(sql, params)  # type: ignore[arg-type]
            return cursor.fetchall() if cursor.description else []


def make_database(postgres: PostgreSQL, name: str | None = None) -> tuple[str, str]:
    """A new, empty database: its URL for ours, and psycopg's words for it."""
    name = name or f"d{uuid.uuid4().hex[:12]}"
    with psycopg.connect(postgres.dsn, autocommit=True) as connection:
        connection.execute(
            f"CREATE DATABASE \"{name}\" TEMPLATE template0 LC_CTYPE 'C.UTF-8' LC_COLLATE 'C'"  # type: ignore[arg-type]
        )
    url = f"postgresql://rowferry@127.0.0.1:{postgres.port}/{name}"
    return url, psycopg.conninfo.make_conninfo(postgres.dsn, dbname=name)


@pytest.fixture(scope="session")
def start_front(postgres: PostgreSQL) -> Callable[..., Front]:
    """Starts a server in front of a new database; `schema` is run there before."""

    def start(schema: str = "", *, beside: Path | None = None, args: tuple[str, ...] = ()) -> Front:
        url, behind = make_database(postgres)
        if schema:
            with psycopg.connect(behind, autocommit=True) as connection:
                connection.execute(schema)  # type: ignore[arg-type]
        kept = ("--beside", str(beside)) if beside else ()
        server = Rowferry.start(url, postgres=False, informix=True, args=(*kept, *args))
        return Front(server, behind)

    return start


SCHEMA = """
CREATE TABLE customer (
    id serial PRIMARY KEY, name varchar(40) NOT NULL, credit numeric(12,2) DEFAULT 0, since date, note text,
    active boolean, seen timestamp, data bytea);
CREATE TABLE orders (id bigint PRIMARY KEY, customer_id int REFERENCES customer, total numeric(10,2), kind char(3));
CREATE VIEW rich AS SELECT id, name, credit FROM customer WHERE credit > 100;
INSERT INTO customer (name, credit, since, note, active, seen, data)
    SELECT 'c' || i, i * 1.5, date '2024-01-01' + i, repeat('x', i % 20), i % 2 = 0,
           timestamp '2024-01-01 10:00' + i * interval '1 minute', decode('00ff', 'hex')
    FROM generate_series(1, 100) i;
INSERT INTO orders SELECT i, i % 100 + 1, i * 2.25, 'abc' FROM generate_series(1, 500) i;
"""


@pytest.fixture
def front(start_front: Callable[..., Front]) -> Iterator[Front]:
    """Ours in front of a database with customers and orders."""
    started = start_front(SCHEMA)
    with started.server:
        yield started
