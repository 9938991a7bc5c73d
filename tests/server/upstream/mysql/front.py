"""Ours in front of a PostgreSQL server, for MySQL's clients."""

from __future__ import annotations

from typing import Any

import psycopg
import pymysql
import pytest
from pymysql import err

from tests.servers.rowferry import Rowferry


class MySQLFront:
    """Ours with all doors, and the database behind it."""

    def __init__(self, server: Rowferry, behind: str, port: int | None = None) -> None:
        self.server = server
        self.behind = behind
        #: Where the server behind listens.
        self.port = port

    def connect(self, **options: Any) -> pymysql.connections.Connection[Any]:
        assert self.server.mysql is not None
        host, port = self.server.mysql
        return pymysql.connect(host=host, port=port, user="ada", database=self.server.dbname, **options)

    def ask(self, sql: str) -> list[tuple[Any, ...]]:
        with psycopg.connect(self.behind, autocommit=True) as connection:
            cursor = connection.execute(sql)  # type: ignore[arg-type]
            return cursor.fetchall() if cursor.description else []


def fails(cursor: Any, sql: str, *values: Any) -> tuple[int, str]:
    with pytest.raises(err.Error) as failed:
        cursor.execute(sql, values or None)
    number, message = failed.value.args
    return number, message


def warnings(cursor: Any) -> list[int]:
    cursor.execute("SHOW WARNINGS")
    return [row[1] for row in cursor.fetchall()]
