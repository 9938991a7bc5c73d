"""Informix's clients in front of a Citus cluster: what is asked of it, and what it answers.

    python -m tests.clients.citus.run postgresql://user@coordinator/database     a cluster that there is
    python -m tests.clients.citus.run --local                                    three servers of this machine's

The database of the URL must have the extension (`CREATE EXTENSION citus`), and its nodes. Tables whose names begin
with `rf_place_` are made in it and dropped. `--local` needs an installed server that has the extension: no package of
Debian's brings it.
"""

from __future__ import annotations

import argparse
import contextlib
import sys
from collections.abc import Callable, Iterator

import psycopg
from rowferry import informix

from tests.servers.postgres import PostgreSQL
from tests.servers.process import ServerFailed
from tests.servers.rowferry import Rowferry

PLACES = (
    "rf_place_customer=distributed:id",
    "rf_place_orders=distributed:customer",
    "rf_place_country=reference",
    "rf_place_log=local",
    "rf_place_clash=distributed:a",
)

Check = Callable[[informix.Connection, "psycopg.Connection[tuple[object, ...]]"], None]
CHECKS: list[Check] = []


def check(function: Check) -> Check:
    CHECKS.append(function)
    return function


def expect(found: object, wanted: object) -> None:
    """As `assert`, also under -O."""
    if found != wanted:
        raise AssertionError(f"{found!r}, not {wanted!r}")


def refused(connection: informix.Connection, sql: str) -> informix.Error:
    try:
        connection.execute(sql)
    except informix.Error as error:
        return error
    raise AssertionError(f"accepted: {sql}")


@check
def tables_are_placed_when_they_are_made(
    connection: informix.Connection, there: psycopg.Connection[tuple[object, ...]]
) -> None:
    connection.execute("create table rf_place_country (code char(2) primary key, name varchar(30))")
    connection.execute("create table rf_place_customer (id int primary key, country char(2), name varchar(30))")
    connection.execute(
        "create table rf_place_orders (customer int, number int, total decimal(10,2), placed datetime year to second, "
        "primary key (customer, number))"
    )
    connection.execute("create table rf_place_log (id serial primary key, what varchar(40))")
    connection.commit()
    found = there.execute(
        "SELECT logicalrelid::text, partmethod, column_to_column_name(logicalrelid, partkey) FROM pg_dist_partition "
        "WHERE logicalrelid::text LIKE 'rf_place%' ORDER BY 1"
    ).fetchall()
    expect(
        found,
        [("rf_place_country", "n", None), ("rf_place_customer", "h", "id"), ("rf_place_orders", "h", "customer")],
    )
    connection.execute("create table if not exists rf_place_customer (id int primary key)")
    connection.commit()


@check
def rows_are_one_table_wherever_they_lie(
    connection: informix.Connection, there: psycopg.Connection[tuple[object, ...]]
) -> None:
    cursor = connection.cursor()
    cursor.executemany("insert into rf_place_country values (?, ?)", [("DE", "Germany"), ("FR", "France")])
    people = [(at, "DE" if at % 3 else "FR", f"customer {at}") for at in range(1, 201)]
    cursor.executemany("insert into rf_place_customer values (?, ?, ?)", people)
    orders = [(at % 200 + 1, at, at * 1.25, "2026-11-29 12:00:00") for at in range(1000)]
    cursor.executemany("insert into rf_place_orders values (?, ?, ?, ?)", orders)
    connection.commit()
    shards = there.execute(
        "SELECT count(DISTINCT shardid) FROM pg_dist_shard WHERE logicalrelid = 'rf_place_orders'::regclass"
    ).fetchone()
    if shards is None or int(str(shards[0])) < 2:
        raise AssertionError(f"the orders lie in {shards} shards")
    cursor.execute("select count(*), sum(total) from rf_place_orders")
    expect(tuple(map(float, cursor.fetchone() or ())), (1000, 624375))
    cursor.execute(
        "select first 3 k.name, count(*), sum(o.total) from rf_place_orders o, rf_place_customer c, rf_place_country k "
        "where o.customer = c.id and c.country = k.code group by 1 order by 1"
    )
    expect([(name.strip(), count) for name, count, _ in cursor.fetchall()], [("France", 330), ("Germany", 670)])
    cursor.execute("select name from rf_place_customer where id = ?", (77,))
    expect(cursor.fetchall(), [("customer 77",)])


@check
def changes_are_whole_or_nothing(
    connection: informix.Connection, there: psycopg.Connection[tuple[object, ...]]
) -> None:
    cursor = connection.cursor()
    cursor.execute("update rf_place_orders set total = total + 1 where number < 100")
    expect(cursor.rowcount, 100)
    connection.rollback()
    cursor.execute("select sum(total) from rf_place_orders where number < 100")
    expect(float((cursor.fetchone() or (0,))[0]), 6187.5)
    cursor.execute("delete from rf_place_orders where customer = 5")
    connection.commit()
    cursor.execute("select count(*) from rf_place_orders where customer = 5")
    expect(cursor.fetchone(), (0,))
    connection.commit()


@check
def a_key_that_is_taken_is_informixs_error(
    connection: informix.Connection, there: psycopg.Connection[tuple[object, ...]]
) -> None:
    error = refused(connection, "insert into rf_place_customer values (7, 'DE', 'again')")
    expect(error.sqlcode in (-268, -239), True)
    # The transaction goes on.
    connection.execute("insert into rf_place_customer values (1007, 'DE', 'new')")
    connection.rollback()


@check
def what_citus_refuses_says_why(connection: informix.Connection, there: psycopg.Connection[tuple[object, ...]]) -> None:
    for sql, word in (
        ("create table rf_place_clash (a int, b int unique)", "partition column"),
        ("update rf_place_orders set customer = 6 where customer = 7", "partition"),
        ("create unique index rf_place_number on rf_place_orders (number)", "partition column"),
    ):
        error = refused(connection, sql)
        if word not in str(error):
            raise AssertionError(f"{sql}: {error}")
        connection.rollback()
    found = there.execute("SELECT count(*) FROM pg_class WHERE relname = 'rf_place_clash'").fetchone()
    expect(found, (0,))


@check
def a_local_table_stays_here(connection: informix.Connection, there: psycopg.Connection[tuple[object, ...]]) -> None:
    cursor = connection.cursor()
    cursor.execute("insert into rf_place_log values (0, 'first')")
    cursor.execute("select id, what from rf_place_log")
    expect(cursor.fetchall(), [(1, "first")])
    connection.commit()
    found = there.execute(
        "SELECT count(*) FROM pg_dist_partition WHERE logicalrelid = 'rf_place_log'::regclass"
    ).fetchone()
    expect(found, (0,))


@contextlib.contextmanager
def local() -> Iterator[str]:
    """A coordinator and two workers."""
    settings = ("shared_preload_libraries=citus", "wal_level=logical", "citus.node_conninfo=sslmode=disable")
    with contextlib.ExitStack() as stack:
        servers = [stack.enter_context(PostgreSQL.start(tcp=True, settings=settings)) for _ in range(3)]
        for server in servers:
            with psycopg.connect(server.dsn, autocommit=True) as connection:
                connection.execute("CREATE EXTENSION citus")
        coordinator, *workers = servers
        with psycopg.connect(coordinator.dsn, autocommit=True) as connection:
            connection.execute("SELECT citus_set_coordinator_host('127.0.0.1', %s)", (coordinator.port,))
            for worker in workers:
                connection.execute("SELECT citus_add_node('127.0.0.1', %s)", (worker.port,))
        yield coordinator.dsn


def clear(there: psycopg.Connection[tuple[object, ...]]) -> None:
    for table in sorted({place.split("=")[0] for place in PLACES}, reverse=True):
        there.execute(f"DROP TABLE IF EXISTS {table} CASCADE")  # type: ignore[arg-type]


def run(url: str) -> int:
    """The number of checks that failed."""
    failed = 0
    with psycopg.connect(url, autocommit=True) as there:
        row = there.execute("SELECT citus_version()").fetchone()
        nodes = there.execute("SELECT count(*) FROM pg_dist_node WHERE isactive").fetchone()
        print(f"{row[0] if row else '?'}; nodes: {nodes[0] if nodes else '?'}")
        clear(there)
        places = [word for place in PLACES for word in ("--place", place)]
        try:
            with Rowferry.start(url, postgres=False, informix=True, args=places) as server:
                assert server.informix is not None
                host, port = server.informix
                for function in CHECKS:
                    name = function.__name__.replace("_", " ")
                    with informix.connect(f"informix://ada@{host}:{port}/{server.dbname}") as connection:
                        try:
                            function(connection, there)
                            print(f"ok      {name}")
                        except (AssertionError, informix.Error, psycopg.Error) as error:
                            failed += 1
                            print(f"FAILED  {name}: {type(error).__name__}: {error}")
        finally:
            clear(there)
    return failed


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("url", nargs="?", help="the coordinator's database")
    arguments.add_argument("--local", action="store_true", help="start a cluster of three servers")
    given = arguments.parse_args()
    if bool(given.url) == given.local:
        arguments.error("give the coordinator's URL, or --local")
    if given.url:
        return 1 if run(given.url) else 0
    try:
        with local() as url:
            return 1 if run(url) else 0
    except ServerFailed as failure:
        print(failure, file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
