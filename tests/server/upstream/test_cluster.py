"""A cluster behind: a table in two parts on two other servers (`postgres_fdw`), Informix's clients in front of it."""

from __future__ import annotations

import contextlib
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import psycopg
import pytest
from rowferry import informix
from rowferry.informix import exceptions

from tests.servers.postgres import PostgreSQL
from tests.servers.rowferry import Rowferry, find_rowferry


@dataclass
class Cluster:
    """The coordinator, its shards, and ours in front."""

    server: Rowferry
    coordinator: PostgreSQL
    shards: list[PostgreSQL]

    def connect(self, **options: object) -> informix.Connection:
        """A client of Informix's."""
        assert self.server.informix is not None
        host, port = self.server.informix
        return informix.connect(f"informix://ada@{host}:{port}/postgres", **options)  # type: ignore[arg-type]


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    with contextlib.ExitStack() as stack:
        coordinator, *shards = (stack.enter_context(PostgreSQL.start(tcp=True)) for _ in range(3))
        for shard in shards:
            with psycopg.connect(shard.dsn, autocommit=True) as connection:
                connection.execute(
                    "CREATE TABLE orders (customer int NOT NULL, number int NOT NULL, total numeric(10,2))"
                )
                connection.execute("CREATE UNIQUE INDEX ON orders (customer, number)")
        with psycopg.connect(coordinator.dsn, autocommit=True) as connection:
            connection.execute("CREATE EXTENSION postgres_fdw")
            connection.execute("CREATE TABLE customer (id int PRIMARY KEY, name varchar(20))")
            connection.execute(
                "CREATE TABLE orders (customer int NOT NULL, number int NOT NULL, total numeric(10,2)) "
                "PARTITION BY HASH (customer)"
            )
            for at, shard in enumerate(shards):
                connection.execute(
                    f"CREATE SERVER s{at} FOREIGN DATA WRAPPER postgres_fdw "  # type: ignore[arg-type]
                    f"OPTIONS (host '127.0.0.1', port '{shard.port}', dbname 'postgres')"
                )
                connection.execute(f"CREATE USER MAPPING FOR rowferry SERVER s{at} OPTIONS (user 'rowferry')")  # type: ignore[arg-type]
                connection.execute(
                    f"CREATE FOREIGN TABLE orders_{at} PARTITION OF orders "  # type: ignore[arg-type]
                    f"FOR VALUES WITH (MODULUS 2, REMAINDER {at}) SERVER s{at} OPTIONS (table_name 'orders')"
                )
        url = f"postgresql://rowferry@127.0.0.1:{coordinator.port}/postgres"
        server = stack.enter_context(Rowferry.start(url, postgres=False, informix=True))
        yield Cluster(server, coordinator, list(shards))


def test_a_table_of_two_servers_is_one(cluster: Cluster) -> None:
    with cluster.connect() as connection:
        cursor = connection.cursor()
        cursor.executemany("insert into customer values (?, ?)", [(at, f"c{at}") for at in range(1, 101)])
        cursor.executemany("insert into orders values (?, ?, ?)", [(at % 100 + 1, at, at) for at in range(1000)])
        connection.commit()
        cursor.execute("select count(*), sum(total) from orders")
        assert cursor.fetchone() == (1000, 499500)
        parts = []
        for shard in cluster.shards:
            with psycopg.connect(shard.dsn) as there:
                parts.append(there.execute("SELECT count(*) FROM orders").fetchone()[0])  # type: ignore[index]
        assert sum(parts) == 1000 and all(parts)
        cursor.execute(
            "select first 2 c.name, count(*), sum(o.total) from customer c, orders o where o.customer = c.id "
            "group by c.name order by 3 desc"
        )
        assert cursor.fetchall() == [("c100", 10, 5490), ("c99", 10, 5480)]
        cursor.execute("update orders set total = total + 1 where number < 10")
        assert cursor.rowcount == 10
        cursor.execute("select customer, number from orders where customer in (1, 2) order by number for update")
        assert len(cursor.fetchall()) == 20
        connection.rollback()
        cursor.execute("select sum(total) from orders")
        assert cursor.fetchone() == (499500,)
        # A constraint is the shards' own.
        with pytest.raises(exceptions.IntegrityError, match="-268"):
            cursor.execute("insert into orders values (1, 0, 1)")
        cursor.execute("select rowid from orders where customer = 1 and number = 0")
        assert cursor.fetchone() == (None,)
        connection.rollback()


def test_a_shard_that_is_gone_is_told(cluster: Cluster) -> None:
    with cluster.connect() as connection:
        cursor = connection.cursor()
        cursor.executemany("insert into orders values (?, ?, ?)", [(at, at, at) for at in range(100)])
        connection.commit()
        cluster.shards[1].process.kill()
        with pytest.raises(exceptions.DatabaseError):
            cursor.execute("update orders set total = 0")
        with contextlib.suppress(exceptions.DatabaseError):
            connection.rollback()
    with cluster.connect() as connection:
        cursor = connection.cursor()
        until = time.monotonic() + 30
        while True:
            with contextlib.suppress(exceptions.DatabaseError):
                cursor.execute("select count(*) from customer")
                assert cursor.fetchone() == (0,)
                break
            connection.rollback()
            assert time.monotonic() < until
    with psycopg.connect(cluster.shards[0].dsn) as there:
        assert there.execute("SELECT count(*) FROM orders WHERE total = 0 AND customer > 0").fetchone() == (0,)


def test_placements_are_refused_where_there_is_no_cluster(tmp_path: Path) -> None:
    def refused(*arguments: str) -> str:
        command = [str(find_rowferry()), "serve", *arguments]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60)
        assert done.returncode != 0
        return done.stderr

    assert "a file has no nodes" in refused(str(tmp_path / "a.db"), "--informix", "127.0.0.1:0", "--place", "a=local")
    with PostgreSQL.start(tcp=True) as server:
        behind = (server.dsn, "--informix", "127.0.0.1:0", "--place")
        assert "CREATE EXTENSION citus" in refused(*behind, "a=reference")
        assert '"a=distributed" is none of' in refused(*behind, "a=distributed")
        assert 'table "a" is placed twice' in refused(*behind, "a=local", "--place", "a=reference")
