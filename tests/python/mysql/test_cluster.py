"""Several servers: a cluster of Galera's that loses a node under load, and servers that read only."""

from __future__ import annotations

import asyncio
import random
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest
from rowferry import mysql
from rowferry.mysql import aio

from tests.servers.availability import not_tested
from tests.servers.galera import PROVIDER, Cluster
from tests.servers.mysql import MySQLServer

ACCOUNTS = 20
EACH = 1000
#: What a client may be told when the node it speaks with is killed, or has just lost the others: not reached, gone,
#: lost, not ready; a deadlock, as Galera calls what another node has changed meanwhile, and a lock waited for.
CUT = {2003, 2006, 2013, 2055, 1047, 1205, 1213}


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    if not PROVIDER.exists():
        not_tested("Galera", f"{PROVIDER} is not there")
    started = Cluster.start(
        "CREATE TABLE account (id INT PRIMARY KEY, balance INT NOT NULL)",
        "INSERT INTO account VALUES " + ", ".join(f"({n}, {EACH})" for n in range(ACCOUNTS)),
        "CREATE TABLE transfer (client INT, number INT, PRIMARY KEY (client, number))",
    )
    with started:
        yield started


def options(cluster: Cluster) -> dict[str, Any]:
    node = cluster.nodes[0]
    return {"user": node.user, "password": node.password, "database": node.database, "connect_timeout": 5}


class Clients:
    """Moves money about, and keeps book: of what was acknowledged, and of what was unknown when it was cut."""

    def __init__(self) -> None:
        self.acknowledged: set[tuple[int, int]] = set()
        self.unknown: set[tuple[int, int]] = set()
        self.errors: list[BaseException] = []
        self.last = 0.0
        self.stop = False

    def move(self, pool: Any, client: int) -> None:
        chance = random.Random(client)
        number = 0
        while not self.stop:
            number += 1
            key, committing = (client, number), False
            source, target = chance.sample(range(ACCOUNTS), 2)
            try:
                with pool.connection() as connection, connection.cursor() as cursor:
                    cursor.execute("UPDATE account SET balance = balance - 1 WHERE id = %s", (source,))
                    cursor.execute("UPDATE account SET balance = balance + 1 WHERE id = %s", (target,))
                    cursor.execute("INSERT INTO transfer VALUES (%s, %s)", key)
                    cursor.execute("SELECT SUM(balance) FROM account")
                    assert cursor.fetchone() == (ACCOUNTS * EACH,), "a sum that never was"
                    committing = True
                    connection.commit()
                    self.acknowledged.add(key)
                    self.last = time.monotonic()
            except mysql.Error as error:
                if error.errno not in CUT:
                    self.errors.append(error)
                    return
                if committing:
                    self.unknown.add(key)
                time.sleep(0.05)
            except BaseException as error:
                self.errors.append(error)
                return


def settled(cluster: Cluster, number: int) -> tuple[int, set[tuple[int, int]]]:
    """The sum of all accounts and the transfers, as a node has them."""
    with mysql.connect(**{**cluster.nodes[number].dsn, "init_command": "SET wsrep_sync_wait = 1"}) as connection:
        with connection.cursor() as cursor:
            cursor.execute("SELECT SUM(balance) FROM account")
            (total,) = cursor.fetchone() or (None,)
            cursor.execute("SELECT client, number FROM transfer")
            return int(total), set(cursor.fetchall())  # type: ignore[call-overload]


@pytest.mark.timeout(240)
@pytest.mark.parametrize("balanced", [False, True])
def test_a_killed_node_costs_its_transactions_and_nothing_else(cluster: Cluster, balanced: bool) -> None:
    clients = Clients()
    sizes = {"maxsize": 4, "load_balance_hosts": balanced}
    with mysql.create_pool(host=cluster.hosts, **sizes, **options(cluster)) as pool:
        threads = [threading.Thread(target=clients.move, args=(pool, number)) for number in range(4)]
        for thread in threads:
            thread.start()
        time.sleep(3)
        assert len(clients.acknowledged) > 20
        killed = time.monotonic()
        cluster.kill(0)
        until = killed + 60
        while clients.last < killed + 10 and time.monotonic() < until and not clients.errors:
            time.sleep(0.1)
        clients.stop = True
        for thread in threads:
            thread.join(60)
            assert not thread.is_alive(), "a client hangs"
    assert not clients.errors
    assert clients.last > killed + 10, "nobody goes on at the other nodes"
    for number in (1, 2):
        total, kept = settled(cluster, number)
        assert total == ACCOUNTS * EACH
        # What was acknowledged is there; beside it nothing but what nobody could know of.
        assert clients.acknowledged <= kept
        assert kept <= clients.acknowledged | clients.unknown


@pytest.mark.timeout(240)
def test_asyncio_goes_on_at_another_node(cluster: Cluster) -> None:
    async def main() -> int:
        after = 0
        async with aio.create_pool(host=cluster.hosts, maxsize=3, **options(cluster)) as pool:
            killed = 0.0
            until = time.monotonic() + 60
            while after < 20 and time.monotonic() < until:
                try:
                    async with pool.acquire() as connection, connection.cursor() as cursor:
                        await cursor.execute("SELECT SUM(balance) FROM account")
                        assert await cursor.fetchone() == (ACCOUNTS * EACH,)
                    after += bool(killed)
                    if not killed:
                        cluster.kill(0)
                        killed = time.monotonic()
                except mysql.Error as error:
                    assert error.errno in CUT
                    await asyncio.sleep(0.05)
        return after

    assert asyncio.run(main()) == 20


@pytest.mark.timeout(240)
def test_a_node_that_has_lost_the_others_is_left(cluster: Cluster) -> None:
    hosts, told = cluster.hosts, options(cluster)
    with mysql.create_pool(host=hosts, maxsize=1, **told) as pool:
        with pool.connection() as connection:
            assert connection.port == cluster.nodes[0].port
        # Nodes that are killed at once leave the third without a majority.
        cluster.kill(1)
        cluster.kill(2)
        until = time.monotonic() + 30
        while time.monotonic() < until:
            with pool.connection() as connection, connection.cursor() as cursor:
                try:
                    cursor.execute("SELECT * FROM account")
                except mysql.OperationalError as error:
                    assert error.errno == 1047
                    break
                connection.rollback()
            time.sleep(0.2)
        else:
            pytest.fail("the node goes on alone")
        broken = pool.statistics().broken
        with pytest.raises(mysql.OperationalError, match=r"any MySQL server .*WSREP has not yet prepared"):
            pool.acquire()
        assert pool.statistics().broken == broken
    # Alone in the list it is what it is.
    with mysql.connect(host=hosts[0], **told) as connection, connection.cursor() as cursor:
        cursor.execute("SHOW STATUS LIKE 'wsrep_ready'")
        assert cursor.fetchone() == ("wsrep_ready", "OFF")


@pytest.fixture(scope="module")
def pair(server: MySQLServer) -> Iterator[tuple[MySQLServer, MySQLServer]]:
    """A server to write to, and one that reads only, as a replica does."""
    with type(server).start(["--read-only"]) as replica:
        with mysql.connect(**replica.dsn, autocommit=True) as connection, connection.cursor() as cursor:
            cursor.execute("DROP USER IF EXISTS plain@'%', plain@localhost, plain@'127.0.0.1'")
            cursor.execute("CREATE USER plain@'%' IDENTIFIED BY 'secret'")
            cursor.execute("GRANT SELECT, INSERT, CREATE ON rowferry.* TO plain@'%'")
            cursor.execute("CREATE TABLE rowferry.readings (n INT)")
        yield server, replica


def place(server: MySQLServer) -> str:
    return f"{server.host}:{server.port}"


@pytest.mark.parametrize(
    ("attrs", "order", "found"),
    [
        ("any", "replica first", "replica"),
        ("read-write", "replica first", "primary"),
        ("read-write", "primary first", "primary"),
        ("read-only", "primary first", "replica"),
        ("prefer-standby", "primary first", "replica"),
        ("prefer-standby", "primary alone", "primary"),
        ("prefer-standby", "replica gone", "primary"),
    ],
)
@pytest.mark.parametrize("colour", ["sync", "asyncio"])
def test_the_server_that_is_wanted(
    pair: tuple[MySQLServer, MySQLServer], attrs: str, order: str, found: str, colour: str
) -> None:
    primary, replica = pair
    hosts = {
        "replica first": [place(replica), place(primary)],
        "primary first": [place(primary), place(replica)],
        "primary alone": [place(primary)],
        "replica gone": [place(primary), "127.0.0.1:9"],
    }[order]
    account = {"user": primary.user, "password": primary.password, "target_session_attrs": attrs}

    async def port() -> int:
        async with aio.connect(host=hosts, **account) as connection:
            return int(connection.port)

    if colour == "asyncio":
        assert asyncio.run(port()) == {"replica": replica, "primary": primary}[found].port
        return
    with mysql.connect(host=hosts, **account) as connection:
        assert connection.port == {"replica": replica, "primary": primary}[found].port
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
            assert cursor.fetchone() == (1,)


def test_no_server_is_as_wanted(pair: tuple[MySQLServer, MySQLServer]) -> None:
    primary, replica = pair
    account = {"user": primary.user, "password": primary.password}
    with pytest.raises(mysql.OperationalError, match="it reads only"):
        mysql.connect(host=place(replica), target_session_attrs="read-write", **account)
    with pytest.raises(
        mysql.OperationalError, match=r"Can't connect to any MySQL server \(.*it does not read only.*refused"
    ):
        mysql.connect(host=[place(primary), "127.0.0.1:9"], target_session_attrs="read-only", **account)
    with pytest.raises(
        mysql.InterfaceError, match="is one of any, read-write, read-only, prefer-standby, not `primary`"
    ):
        mysql.connect(host=place(primary), target_session_attrs="primary", **account)


def test_a_pool_leaves_a_server_that_begins_to_read_only(pair: tuple[MySQLServer, MySQLServer]) -> None:
    """As in a planned change of roles: connections of before stay open, and are told."""
    primary, replica = pair
    hosts = [place(replica), place(primary)]
    # One without the right to write all the same.
    with mysql.create_pool(host=hosts, user="plain", password="secret", database="rowferry", maxsize=1) as pool:
        with pool.connection() as connection, connection.cursor() as cursor:
            assert connection.port == replica.port
            left = connection
            with pytest.raises(mysql.OperationalError, match="read-only"):
                cursor.execute("INSERT INTO readings VALUES (1)")
        # It is not lent again; the pool's own thread closes it, and may have opened another in its place already.
        assert pool.statistics().broken == 1
        with pool.connection() as connection:
            assert connection is not left


def test_hosts_take_turns(pair: tuple[MySQLServer, MySQLServer]) -> None:
    primary, replica = pair
    hosts = f"mysql://{primary.user}:{primary.password}@{place(primary)},{place(replica)}/?load_balance_hosts=true"
    ports = set()
    for _ in range(40):
        with mysql.connect(hosts) as connection:
            ports.add(connection.port)
        if len(ports) == 2:
            break
    assert ports == {primary.port, replica.port}
