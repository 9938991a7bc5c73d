"""What psql shows of errors and notices; tests/clients/psql has the rest."""

from __future__ import annotations

import subprocess

import pytest

from tests.servers.rowferry import Rowferry

SCHEMA = """
create table customers (id integer primary key, name varchar(40) not null, email text unique);
create table orders (
    id integer primary key,
    customer_id integer not null references customers (id),
    placed timestamptz default now(),
    total numeric(10,2) check (total >= 0)
);
create index orders_placed_idx on orders (placed);
create view totals as select customer_id, sum(total) as total from orders group by customer_id;
insert into customers values (1, 'Ada', 'ada@example.org'), (2, 'Bob', null);
insert into orders values (1, 1, '2026-01-02 03:04:05+00', 10.50), (2, 1, '2026-01-03 00:00:00+00', 1.25);
"""


def psql(server: Rowferry, commands: str, *options: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["psql", "-X", *options, server.postgres_dsn],
        input=commands,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.fixture(scope="module")
def store(server: Rowferry) -> Rowferry:
    made = psql(server, SCHEMA, "-q", "-v", "ON_ERROR_STOP=1")
    assert (made.returncode, made.stderr) == (0, "")
    return server


@pytest.mark.parametrize(
    ("sql", "sqlstate", "pointed"),
    [
        ("select nämé, absent from orders;", "42703", "nämé"),
        ("select id, absent from orders;", "42703", "absent"),
        ("select 1\n  from nowhere;", "42P01", "nowhere"),
        ("select id from orders wher id = 1;", "42601", "id = 1"),
        ("select upperr('x');", "42883", "upperr"),
        ("select 'ä', 1 + 'x';", "22P02", "'x'"),
    ],
)
def test_the_caret_points_at_the_fault(store: Rowferry, sql: str, sqlstate: str, pointed: str) -> None:
    result = psql(store, f"\\set VERBOSITY verbose\n{sql}\n")
    message, line, caret = result.stderr.splitlines()[:3]
    assert f"ERROR:  {sqlstate}:" in message
    assert line[caret.index("^") :].startswith(pointed)


def test_notices_and_tags(store: Rowferry) -> None:
    result = psql(store, "drop table if exists absent;\nbegin;\nupdate orders set total = total;\nrollback;\n")
    assert 'NOTICE:  table "absent" does not exist, skipping' in result.stderr
    assert result.stdout.splitlines() == ["DROP TABLE", "BEGIN", "UPDATE 2", "ROLLBACK"]


def test_foreign_keys_are_described_on_both_sides(store: Rowferry) -> None:
    here, there = psql(store, "\\d orders\n"), psql(store, "\\d customers\n")
    assert "FOREIGN KEY (customer_id) REFERENCES customers(id)" in here.stdout
    assert 'TABLE "orders" CONSTRAINT "orders_customer_id_fkey" FOREIGN KEY' in there.stdout
