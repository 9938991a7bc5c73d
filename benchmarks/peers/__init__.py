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
    "asyncmy-uvloop": "asyncmy:AsyncmyUvloop",
    "asyncpg": "asyncpg:Asyncpg",
    "ibm-jdbc": "jdbc.build",
    "informix-driver": "informix_driver:InformixDriver",
    "informix-driver.aio": "informix_driver:InformixDriverAio",
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
    "rowferry.mysql.aio": "rowferry_mysql:RowferryMySQLAio",
    "rowferry.mysql.aio-uvloop": "rowferry_mysql:RowferryMySQLAioUvloop",
    "sqlite3": "sqlite:Sqlite",
}


def command(name: str) -> list[str] | None:
    """What starts the worker of a peer that is no Python; None for all others. Raises `ImportError` when it cannot."""
    module, _, attribute = PEERS[name].partition(":")
    if attribute:
        return None
    found: list[str] = importlib.import_module(f".{module}", __package__).command()
    return found


def load(name: str) -> Peer:
    """Make the peer called `name`; raises `ImportError` when its driver is not installed."""
    module, _, attribute = PEERS[name].partition(":")
    peer: Peer = getattr(importlib.import_module(f".{module}", __package__), attribute)()
    return peer
