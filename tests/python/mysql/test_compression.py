"""The compressed protocol, zlib and zstd, blocking and asyncio, over TCP and TLS."""

from __future__ import annotations

import asyncio
import random
from typing import Any

import pytest
from rowferry import mysql
from rowferry.mysql import aio

from tests.servers.mariadb import MariaDB
from tests.servers.mysql import MySQL

#: Text that does not compress, from a fixed seed.
NOISE = random.Random(4).randbytes(300_000).hex()


def talk(options: dict[str, Any]) -> dict[str, int]:
    """Long and short statements and results, in both colours; answers what the server counted."""
    questions: list[tuple[str, Any]] = [
        ("SELECT 1", None),
        ("SELECT %s", ("x" * 5_000_000,)),
        ("SELECT %s", (NOISE,)),
        ("SELECT REPEAT('wide ', 4000000)", None),
    ]

    async def main() -> tuple[list[Any], dict[str, int]]:
        async with aio.connect(**options) as connection, connection.cursor() as cursor:
            answers = []
            for question in questions:
                await cursor.execute(*question)
                answers.append(await cursor.fetchall())
            await cursor.executemany("SELECT %s", [(1,), (2,)])
            statement = await connection.prepare("SELECT ?, ?")
            answers.append(tuple((await statement.execute((5, NOISE))).rows))
            await statement.close()
            with pytest.raises(mysql.ProgrammingError):
                await cursor.execute("SELECT FROM " + "x" * 1000)
            await cursor.execute("SHOW SESSION STATUS LIKE 'Compression%'")
            return answers, dict(await cursor.fetchall())

    with mysql.connect(**options) as connection, connection.cursor() as cursor:
        answers = []
        for question in questions:
            cursor.execute(*question)
            answers.append(cursor.fetchall())
        statement = connection.prepare("SELECT ?, ?")
        answers.append(tuple(statement.execute((5, NOISE)).rows))
        with connection.cursor(mysql.cursors.SSCursor) as stream:
            stream.execute("SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3")
            assert list(stream) == [(1,), (2,), (3,)]
    wide = answers[3][0][0]
    assert answers == [((1,),), (("x" * 5_000_000,),), ((NOISE,),), ((wide,),), ((5, NOISE),)]
    assert wide == "wide " * 4_000_000
    same, status = asyncio.run(main())
    assert same == answers
    return status


@pytest.mark.parametrize("transport", ["tcp", "tls"])
@pytest.mark.parametrize("algorithm", ["zlib", "zstd"])
def test_both_algorithms_on_mysql(mysql9: MySQL, algorithm: str, transport: str) -> None:
    mode = "REQUIRED" if transport == "tls" else "DISABLED"
    status = talk({**mysql9.dsn, "compress": algorithm, "ssl_mode": mode})
    assert status["Compression"] == "ON"
    assert status["Compression_algorithm"] == algorithm


def test_zlib_on_mariadb(mariadb: MariaDB) -> None:
    assert talk({**mariadb.dsn, "compress": "zlib"})["Compression"] == "ON"
    assert talk({**mariadb.dsn, "compress": True})["Compression"] == "ON"
    assert talk(mariadb.dsn)["Compression"] == "OFF"


def test_what_is_missing_or_unknown_says_so(mariadb: MariaDB) -> None:
    with pytest.raises(mysql.NotSupportedError, match="compression"):
        mysql.connect(**mariadb.dsn, compress="zstd")
    mysql.connect(**mariadb.dsn, compress=["zstd", "uncompressed"]).close()
    with pytest.raises(mysql.InterfaceError, match="brotli"):
        mysql.connect(**mariadb.dsn, compress="brotli")
