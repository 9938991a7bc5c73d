"""PostgreSQL's own clients through ours: their conversation is with the server behind."""

from __future__ import annotations

import subprocess
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest

from tests.servers.postgres import PostgreSQL
from tests.servers.rowferry import Rowferry

from .conftest import make_database


@pytest.fixture
def through(postgres: PostgreSQL) -> Iterator[str]:
    """The conversation's words for psycopg, through ours."""
    url, _behind = make_database(postgres)
    with Rowferry.start(url, informix=True) as server:
        assert server.postgres is not None
        host, port = server.postgres
        yield f"host={host} port={port} user=rowferry dbname={server.dbname}"


def test_a_conversation_is_passed_on(through: str) -> None:
    with psycopg.connect(through, autocommit=True) as connection:
        connection.execute("CREATE TABLE t AS SELECT i, repeat('x', 100) AS v FROM generate_series(1, 20000) i")
        with connection.cursor() as cursor, cursor.copy("COPY t TO STDOUT") as copy:
            assert sum(len(piece) for piece in copy) > 2_000_000
        with connection.cursor() as cursor, cursor.copy("COPY t FROM STDIN") as copy:
            for at in range(20000):
                copy.write_row((at, "y" * 100))
        assert connection.execute("SELECT count(*) FROM t").fetchone() == (40000,)
        with connection.pipeline():
            cursors = [connection.execute("SELECT %s::int, repeat('z', 1000)", (at,)) for at in range(2000)]
            assert [cursor.fetchone()[0] for cursor in cursors] == list(range(2000))  # type: ignore[index]


def test_what_both_sides_say_at_once_does_not_stand_still(through: str) -> None:
    """A client that sends megabytes while it reads megabytes."""
    with psycopg.connect(through, autocommit=True) as connection:
        long = "x" * 10_000
        with connection.pipeline():
            cursors = [connection.execute("SELECT %s::text || %s::text", (long, long)) for _ in range(1000)]
        assert all(len(cursor.fetchone()[0]) == 20_000 for cursor in cursors)  # type: ignore[index]


def test_a_cancellation_reaches_the_server(through: str) -> None:
    with psycopg.connect(through, autocommit=True) as connection:
        timer = threading.Timer(0.3, connection.cancel)
        timer.start()
        with pytest.raises(psycopg.errors.QueryCanceled):
            connection.execute("SELECT pg_sleep(60)")
        assert connection.execute("SELECT 1").fetchone() == (1,)


def test_psql_and_many_at_once(through: str) -> None:
    done = subprocess.run(
        ["psql", through, "-XAt", "-c", "SELECT current_database() <> ''"], capture_output=True, text=True, check=True
    )
    assert done.stdout == "t\n"

    def ask(at: int) -> int:
        with psycopg.connect(through) as connection:
            return connection.execute("SELECT sum(i) FROM generate_series(1, %s) i", (at,)).fetchone()[0]  # type: ignore[index]

    with ThreadPoolExecutor(16) as pool:
        assert list(pool.map(ask, range(1, 65))) == [at * (at + 1) // 2 for at in range(1, 65)]


def test_a_server_that_is_gone_is_told(start_front: Callable[..., object]) -> None:
    own = PostgreSQL.start(tcp=True)
    url = f"postgresql://rowferry@127.0.0.1:{own.port}/postgres"
    with Rowferry.start(url, informix=True) as server:
        assert server.postgres is not None
        host, port = server.postgres
        words = f"host={host} port={port} user=rowferry dbname=postgres"
        with psycopg.connect(words) as connection:
            assert connection.execute("SELECT 1").fetchone() == (1,)
            own.stop()
            with pytest.raises(psycopg.OperationalError):
                connection.execute("SELECT 1")
        with pytest.raises(psycopg.OperationalError, match="could not connect to the server behind"):
            psycopg.connect(words)
