"""Mistakes of users. Type checkers must find those marked `wrong`, and nothing else. Nobody runs this."""

from __future__ import annotations

from rowferry import informix, mysql
from rowferry.informix import aio as informix_aio
from rowferry.mysql import aio


def blocking() -> None:
    mysql.connect(pasword="secret")  # wrong
    mysql.connect(host="localhost", port="many")  # wrong
    mysql.connect(autocommit="yes")  # wrong
    mysql.create_pool(max_size=3)  # wrong
    mysql.create_pool(host="localhost", minsize="3")  # wrong
    connection = mysql.connect()
    connection.cursor(dict)  # wrong
    print(connection.cursor(mysql.cursors.DictCursor).fetchall()[0].name)  # wrong
    connection.cursor().nosuch()  # wrong
    with mysql.create_pool() as pool:
        pool.acquire().fetchone()  # wrong


async def asynchronous() -> None:
    pool = await aio.create_pool(host="localhost")
    pool.nosuch()  # wrong
    connection = await pool.acquire()
    print(connection.cursor(aio.DictCursor).fetchone()["a"])  # wrong
    row = await connection.cursor(aio.DictCursor).fetchone()
    print(row["a"])  # wrong
    await mysql.create_pool(host="localhost")  # wrong
    await aio.connect(pasword="secret")  # wrong


async def in_informix() -> None:
    informix.connect("localhost", pasword="secret")  # wrong
    informix.create_pool("localhost", maxsize=3)  # wrong
    (await informix_aio.connect("localhost")).nosuch()  # wrong
    informix_aio.connect("localhost", fetch_bytes=None)  # wrong
