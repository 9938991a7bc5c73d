"""What pools and drivers do between and around statements."""

from __future__ import annotations

import asyncio

import asyncpg
import psycopg
import pytest

from tests.servers.rowferry import Rowferry


@pytest.mark.parametrize(
    "sql", ["select pg_advisory_unlock_all()", "close all", "unlisten *", "reset all", "discard all"]
)
def test_clearing_a_session(server: Rowferry, sql: str) -> None:
    with psycopg.connect(server.postgres_dsn, autocommit=True) as connection:
        connection.execute(sql)
        assert connection.execute("select 1").fetchone() == (1,)


def test_asyncpg_pool(server: Rowferry) -> None:
    async def one(pool: asyncpg.Pool, number: int) -> int:
        async with pool.acquire() as connection, connection.transaction():
            return int(await connection.fetchval("select $1::int", number))

    async def run() -> None:
        async with asyncpg.create_pool(server.postgres_dsn, min_size=1, max_size=3) as pool:
            assert await asyncio.gather(*[one(pool, number) for number in range(20)]) == list(range(20))

    asyncio.run(run())


def test_asyncpg_cursors_batches_and_timeouts(server: Rowferry) -> None:
    endless = "with recursive t(n) as (select 1 union all select n % 1000 + 1 from t) select count(*) from t"

    async def run() -> None:
        connection = await asyncpg.connect(server.postgres_dsn)
        try:
            await connection.execute("create table batch (id int primary key, words text[], at timestamptz)")
            rows = [(number, ["a", None, "b,c"], None) for number in range(100)]
            await connection.executemany("insert into batch values ($1, $2, $3)", rows)
            async with connection.transaction():
                got = [tuple(row) async for row in connection.cursor("select * from batch order by id", prefetch=7)]
            assert got == rows
            more = [(number, ["x"], None) for number in range(100, 110)]
            result = await connection.copy_records_to_table("batch", records=more, columns=["id", "words", "at"])
            assert result == "COPY 10"
            with pytest.raises(asyncio.TimeoutError):
                await connection.execute(endless, timeout=0.2)
            assert await connection.fetchval("select count(*) from batch") == 110
        finally:
            await connection.close()

    asyncio.run(run())
