"""Peers: one adapter per driver, all with the same few verbs. `PEERS` maps a name to `module:class`.

A name without a class is a module whose `command()` starts a worker of its own, for drivers that are not Python's.

Adapters are imported in their worker process only, so that a driver which is not installed concerns nobody else.
"""

from __future__ import annotations

import importlib

from .base import Peer

PEERS: dict[str, str] = {
    "aiomysql": "aiomysql:AioMySQL",
    "asyncmy": "asyncmy:Asyncmy",
    "asyncmy-cached": "asyncmy:AsyncmyCached",
    "asyncmy-cached-uvloop": "asyncmy:AsyncmyCachedUvloop",
    "asyncmy-prepared": "asyncmy:AsyncmyPrepared",
    "asyncmy-prepared-uvloop": "asyncmy:AsyncmyPreparedUvloop",
    "asyncmy-uvloop": "asyncmy:AsyncmyUvloop",
    "asyncpg": "asyncpg:Asyncpg",
    "drain-binary": "drain:DrainBinary",
    "drain-text": "drain:DrainText",
    "ibm-jdbc": "jdbc.build",
    "informix-driver": "informix_driver:InformixDriver",
    "informix-driver.aio": "informix_driver:InformixDriverAio",
    "mariadb": "mariadb:MariaDBConnector",
    "mariadb-binary": "mariadb:MariaDBConnectorBinary",
    "mysql-connector": "mysql_connector:MySQLConnector",
    "mysqlclient": "mysqlclient:MySQLClient",
    "psycopg2": "psycopg2:Psycopg2",
    "psycopg3": "psycopg3:Psycopg3",
    "psycopg3-binary": "psycopg3:Psycopg3Binary",
    "pymysql": "pymysql:PyMySQL",
    "rowferry.informix": "rowferry_informix:RowferryInformix",
    "rowferry.informix.aio": "rowferry_informix:RowferryInformixAio",
    "rowferry.informix.aio-uvloop": "rowferry_informix:RowferryInformixAioUvloop",
    "rowferry.mysql": "rowferry_mysql:RowferryMySQL",
    "rowferry.mysql-cached": "rowferry_mysql:RowferryMySQLCached",
    "rowferry.mysql-prepared": "rowferry_mysql:RowferryMySQLPrepared",
    "rowferry.mysql-tuples": "rowferry_mysql:RowferryMySQLTuples",
    "rowferry.mysql-tuples-to-arrow": "rowferry_mysql:RowferryMySQLTuplesToArrow",
    "rowferry.mysql.aio": "rowferry_mysql:RowferryMySQLAio",
    "rowferry.mysql.aio-cached": "rowferry_mysql:RowferryMySQLAioCached",
    "rowferry.mysql.aio-cached-uvloop": "rowferry_mysql:RowferryMySQLAioCachedUvloop",
    "rowferry.mysql.aio-prepared": "rowferry_mysql:RowferryMySQLAioPrepared",
    "rowferry.mysql.aio-uvloop": "rowferry_mysql:RowferryMySQLAioUvloop",
    "sqlite3": "sqlite:Sqlite",
}

#: Modules that must be imported before anything else in a worker: see the peer.
FIRST = {"mysql-connector": "_mysql_connector"}


def command(name: str) -> list[str] | None:
    """What starts the worker of a peer that is no Python; None for all others. Raises `ImportError` when it cannot."""
    module, _, attribute = PEERS[name].partition(":")
    if attribute:
        return None
    found: list[str] = importlib.import_module(f".{module}", __package__).command()
    return found


def first(name: str) -> str | None:
    """The module that the worker of a peer must import before anything else."""
    return FIRST.get(name)


def load(name: str) -> Peer:
    """Make the peer called `name`; raises `ImportError` when its driver is not installed."""
    module, _, attribute = PEERS[name].partition(":")
    peer: Peer = getattr(importlib.import_module(f".{module}", __package__), attribute)()
    return peer
