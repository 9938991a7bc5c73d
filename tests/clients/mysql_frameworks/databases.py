"""A database for each test, and its URL in SQLAlchemy's spelling."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from rowferry import mysql
from sqlalchemy import URL

from tests.servers.mysql import MySQLServer


@contextlib.contextmanager
def new_database(server: MySQLServer, name: str) -> Iterator[str]:
    """Make the database `name` anew, and drop it at the end."""
    with mysql.connect(**server.dsn, autocommit=True) as connection, connection.cursor() as cursor:
        cursor.execute(f"DROP DATABASE IF EXISTS {name}")
        cursor.execute(f"CREATE DATABASE {name} CHARACTER SET utf8mb4")
        try:
            yield name
        finally:
            cursor.execute(f"DROP DATABASE {name}")


def url_of(server: MySQLServer, database: str, driver: str = "mysql+rowferry") -> URL:
    """Where SQLAlchemy finds the database."""
    return URL.create(driver, server.user, server.password, server.host, server.port, database)
