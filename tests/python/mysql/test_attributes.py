"""Query attributes: named values that travel with statements."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from decimal import Decimal
from typing import Any

import pytest
from rowferry import mysql
from rowferry.mysql import aio
from rowferry.mysql.cursors import SSCursor

from tests.servers.mysql import MySQL, MySQLServer

Connect = Callable[..., mysql.Connection]

ASK = "SELECT CONVERT(mysql_query_attribute_string(%s) USING utf8mb4)"


@pytest.fixture
def told(mysql9: MySQL) -> Iterator[MySQL]:
    """MySQL with the function that tells an attribute."""
    component = "COMPONENT 'file://component_query_attributes'"
    with mysql.connect(**mysql9.dsn) as connection:
        connection.query(f"INSTALL {component}")
    yield mysql9
    with mysql.connect(**mysql9.dsn) as connection:
        connection.query(f"UNINSTALL {component}")


def attribute(cursor: Any, name: str, **options: Any) -> Any:
    cursor.execute(ASK, (name,), **options)
    return cursor.fetchall()[0][0]


@pytest.mark.parametrize("stmt_cache_size", [0, 10])
@pytest.mark.parametrize("kind", [mysql.cursors.Cursor, SSCursor])
def test_attributes_reach_the_server(told: MySQL, stmt_cache_size: int, kind: type[mysql.cursors.Cursor]) -> None:
    with mysql.connect(**told.dsn, stmt_cache_size=stmt_cache_size) as connection, connection.cursor(kind) as cursor:
        assert attribute(cursor, "trace") is None
        assert attribute(cursor, "trace", attributes={"trace": "4bf92f35", "span": "é"}) == "4bf92f35"
        assert attribute(cursor, "span", attributes={"trace": "4bf92f35", "span": "é"}) == "é"
        # For one statement only.
        assert attribute(cursor, "trace") is None
        connection.query_attributes = {"tenant": "north", "none": None}
        assert attribute(cursor, "tenant") == "north"
        assert attribute(cursor, "none") is None
        assert attribute(cursor, "trace", attributes={"trace": "1", "tenant": "south"}) == "1"
        assert attribute(cursor, "tenant", attributes={"tenant": "south"}) == "south"
        assert attribute(cursor, "tenant") == "north"
        assert connection.query_attributes == {"tenant": "north", "none": None}
        connection.query_attributes = {}
        assert attribute(cursor, "tenant") is None


def test_attributes_beside_many_values(told: MySQL) -> None:
    with mysql.connect(**told.dsn, stmt_cache_size=10) as connection, connection.cursor() as cursor:
        connection.query_attributes = {f"a{n}": n for n in range(20)}
        values = [None if n % 3 == 0 else n for n in range(13)]
        query = "SELECT " + ", ".join(["%s"] * 13) + ", CONVERT(mysql_query_attribute_string('a7') USING utf8mb4)"
        for _ in range(2):
            cursor.execute(query, values)
            (row,) = cursor.fetchall()
            assert row == (*values, "7")


def test_attributes_of_every_type(told: MySQL) -> None:
    with mysql.connect(**told.dsn) as connection, connection.cursor() as cursor:
        for value, text in ((7, "7"), ("x", "x"), (b"y", "y"), (Decimal("1.50"), "1.50")):
            assert attribute(cursor, "a", attributes={"a": value}) == text
        with pytest.raises(mysql.ProgrammingError):
            attribute(cursor, "a", attributes={"a": object()})
        assert attribute(cursor, "a") is None


def test_attributes_stay_after_reset_and_go_with_prepared_statements(told: MySQL) -> None:
    with mysql.connect(**told.dsn) as connection, connection.cursor() as cursor:
        connection.query_attributes = {"tenant": "north"}
        connection.reset()
        assert attribute(cursor, "tenant") == "north"
        with connection.prepare("SELECT CONVERT(mysql_query_attribute_string(?) USING utf8mb4)") as statement:
            assert statement.execute(("tenant",)).rows == (("north",),)
        connection.change_user(told.user, told.password, told.database)
        assert attribute(cursor, "tenant") == "north"
        connection.close()
        connection.connect()
        assert attribute(connection.cursor(), "tenant") == "north"


def test_asyncio_sends_attributes(told: MySQL) -> None:
    async def main() -> None:
        async with aio.connect(**told.dsn) as connection, connection.cursor() as cursor:
            await cursor.execute(ASK, ("trace",), attributes={"trace": "abc"})
            assert await cursor.fetchall() == (("abc",),)
            connection.query_attributes = {"trace": "def"}
            await cursor.execute(ASK, ("trace",))
            assert await cursor.fetchall() == (("def",),)

    asyncio.run(asyncio.wait_for(main(), 60))


@pytest.mark.on("mariadb", "mariadb11")
def test_a_server_that_takes_none_says_so(server: MySQLServer, connect: Connect) -> None:
    connection = connect()
    cursor = connection.cursor()
    with pytest.raises(mysql.NotSupportedError, match="query attributes"):
        cursor.execute("SELECT 1", attributes={"trace": "abc"})
    with pytest.raises(mysql.NotSupportedError, match="query attributes"):
        connection.query_attributes = {"trace": "abc"}
    assert connection.query_attributes == {}
    cursor.execute("SELECT 1", attributes={})
    assert cursor.fetchall() == ((1,),)
