"""Where the client is, as functions tell it."""

from __future__ import annotations

import psycopg

from tests.servers.rowferry import Rowferry


def test_the_client_is_where_its_socket_is(server: Rowferry) -> None:
    with psycopg.connect(server.postgres_dsn, autocommit=True) as connection:
        row = connection.execute("select host(inet_client_addr()), inet_client_port() between 1 and 65535").fetchone()
        assert row == ("127.0.0.1", True)
        seen = "select host(client_addr), client_port = inet_client_port() from pg_stat_activity"
        assert connection.execute(f"{seen} where pid = pg_backend_pid()").fetchone() == ("127.0.0.1", True)


def test_a_seed_counts_for_its_session_alone(server: Rowferry) -> None:
    with psycopg.connect(server.postgres_dsn, autocommit=True) as one, psycopg.connect(server.postgres_dsn) as other:
        one.execute("select setseed(0.1)")
        other.execute("select random()")
        assert one.execute("select random(), random()").fetchone() == (0.7345507212519062, 0.6402839231277071)
