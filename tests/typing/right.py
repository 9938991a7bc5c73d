"""Programs of users, which every type checker must take. Nobody runs them."""

from __future__ import annotations

from typing import Any

from rowferry import informix, mysql
from rowferry.informix import aio as informix_aio
from rowferry.mysql import aio
from typing_extensions import assert_type


def blocking() -> None:
    with mysql.connect("localhost", "app", "secret", "shop", autocommit=True, ssl_ca="ca.pem") as connection:
        assert_type(connection, mysql.Connection)
        with connection.cursor() as cursor:
            assert_type(cursor.execute("SELECT 1 WHERE 1 = %s", (1,)), int)
            for row in cursor:
                print(row[0])
        with connection.cursor(mysql.cursors.DictCursor) as dicts:
            assert_type(dicts, mysql.cursors.DictCursor)
            assert_type(dicts.fetchone(), dict[str, Any] | None)
            for found in dicts:
                print(found["name"])
        rows = connection.cursor(mysql.cursors.NamedCursor).fetchall()
        print(rows[0]["name"], rows[0].name)
        assert_type(connection.cursor(cursor=mysql.cursors.SSDictCursor), mysql.cursors.SSDictCursor)
    mysql.connect("mysql://app:secret@localhost/shop")
    pool = mysql.create_pool(minsize=1, maxsize=None, host="localhost", pre_ping=5.0, on_connect=print)
    with pool.connection() as lent:
        assert_type(lent, mysql.Connection)
        lent.query("SELECT 1")


async def asynchronous() -> None:
    pool = await aio.create_pool(minsize=1, host="localhost", user="app", stmt_cache_size=100)
    assert_type(pool, aio.AsyncConnectionPool)
    async with pool.acquire() as connection:
        assert_type(connection, aio.AsyncConnection)
        async with connection.cursor(aio.DictCursor) as cursor:
            await cursor.execute("SELECT 1 AS a")
            assert_type(await cursor.fetchone(), dict[str, Any] | None)
            async for row in cursor:
                print(row["a"])
    held = await pool.acquire()
    assert_type(held, aio.AsyncConnection)
    await pool.release(held)
    pool.close()
    await pool.wait_closed()
    async with aio.create_pool(host="localhost") as other:
        assert_type(other, aio.AsyncConnectionPool)
    alone = await aio.connect(host="localhost", db="shop")
    assert_type(alone, aio.AsyncConnection)
    assert_type(await alone.cursor(aio.SSCursor), aio.AsyncSSCursor)
    await alone.ensure_closed()


def blocking_informix() -> None:
    with informix.connect("informix://app:secret@localhost:9088/shop?server=informix", lock_wait=5) as connection:
        assert_type(connection, informix.Connection)
        for row in connection.execute("SELECT name FROM customers WHERE id = ?", (7,)):
            print(row[0])
    with informix.create_pool("localhost", 9088, user="app", max_size=4) as pool, pool.connection() as lent:
        assert_type(lent, informix.Connection)


async def asynchronous_informix() -> None:
    connection = await informix_aio.connect("localhost", user="app", password="secret", database="shop")
    assert_type(connection, informix_aio.AsyncConnection)
    cursor = await connection.execute("SELECT 1 FROM systables")
    async for row in cursor:
        print(row)
    await connection.close()
    pool = await informix_aio.create_pool("localhost", min_size=1)
    async with pool.acquire() as lent:
        assert_type(lent, informix_aio.AsyncConnection)
