"""asyncpg: prepared statements and the binary format throughout, types looked up in the catalog."""

from __future__ import annotations

import asyncio
import uuid
from datetime import date, datetime, timezone
from decimal import Decimal
from typing import Any

import asyncpg
import pytest

from tests.servers.rowferry import Rowferry


def test_every_type_travels_both_ways(served: Rowferry) -> None:
    async def converse() -> None:
        connection = await asyncpg.connect(served.postgres_dsn)
        try:
            values: dict[str, Any] = {
                "boolean": False,
                "smallint": -32768,
                "integer": 2147483647,
                "bigint": -9223372036854775808,
                "double precision": 0.1,
                "numeric(12,3)": Decimal("-123456789.125"),
                "text": "Grüße 🌻",
                "bytea": b"\x00\xff",
                "date": date(2026, 2, 28),
                "timestamp": datetime(2026, 2, 28, 23, 59, 59, 123456),
                "timestamptz": datetime(2026, 2, 28, 23, 59, 59, tzinfo=timezone.utc),
                "uuid": uuid.UUID("12345678-1234-5678-1234-567812345678"),
            }
            columns = ", ".join(f"c{number} {declared}" for number, declared in enumerate(values))
            await connection.execute(f"CREATE TABLE t ({columns})")
            marks = ", ".join(f"${number}" for number in range(1, len(values) + 1))
            await connection.execute(f"INSERT INTO t VALUES ({marks})", *values.values())
            assert list(await connection.fetchrow("SELECT * FROM t")) == list(values.values())
        finally:
            await connection.close()

    asyncio.run(converse())


def test_executemany_transactions_and_errors(served: Rowferry) -> None:
    async def converse() -> None:
        connection = await asyncpg.connect(served.postgres_dsn)
        try:
            await connection.execute("CREATE TABLE t (id integer PRIMARY KEY, name text)")
            await connection.executemany(
                "INSERT INTO t VALUES ($1, $2)", [(number, f"n{number}") for number in range(500)]
            )
            assert await connection.fetchval("SELECT count(*) FROM t") == 500
            with pytest.raises(asyncpg.UniqueViolationError):
                async with connection.transaction():
                    await connection.execute("INSERT INTO t VALUES (1000, 'x')")
                    await connection.execute("INSERT INTO t VALUES (1, 'x')")
            assert await connection.fetchval("SELECT max(id) FROM t") == 499
        finally:
            await connection.close()

    asyncio.run(converse())


def test_errors_of_preparing_come_at_once_and_ddl_is_noticed(served: Rowferry) -> None:
    async def converse() -> None:
        connection = await asyncpg.connect(served.postgres_dsn, timeout=60)
        try:
            for sql, error in [
                ("SELECT nosuch", asyncpg.UndefinedColumnError),
                ("LISTEN a; SELECT 1", asyncpg.PostgresSyntaxError),
                ("SELECT * FROM nosuch", asyncpg.UndefinedTableError),
            ]:
                with pytest.raises(error):
                    await connection.fetch(sql, timeout=60)
                with pytest.raises(error):
                    await connection.prepare(sql, timeout=60)
            await connection.execute("CREATE TABLE t (id integer)")
            await connection.execute("INSERT INTO t VALUES (1)")
            assert [tuple(row) for row in await connection.fetch("SELECT * FROM t")] == [(1,)]
            await connection.execute("ALTER TABLE t ADD COLUMN name text DEFAULT 'x'")
            assert [tuple(row) for row in await connection.fetch("SELECT * FROM t", timeout=60)] == [(1, "x")]
        finally:
            await connection.close()

    asyncio.run(converse())


def test_cancelled_query_leaves_the_connection_usable(served: Rowferry) -> None:
    async def converse() -> None:
        connection = await asyncpg.connect(served.postgres_dsn)
        try:
            endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"
            with pytest.raises(asyncio.TimeoutError):
                await connection.fetchval(endless, timeout=0.5)
            assert await connection.fetchval("SELECT 1") == 1
        finally:
            await connection.close()

    asyncio.run(converse())


def test_listeners_are_called_while_the_connection_is_idle(served: Rowferry) -> None:
    async def converse() -> None:
        listener, teller = await asyncpg.connect(served.postgres_dsn), await asyncpg.connect(served.postgres_dsn)
        try:
            heard: asyncio.Queue[tuple[int, str, str]] = asyncio.Queue()
            await listener.add_listener(
                "jobs", lambda _, pid, channel, payload: heard.put_nowait((pid, channel, payload))
            )
            await teller.execute("SELECT pg_notify($1, $2)", "jobs", "one")
            async with teller.transaction():
                await teller.execute("NOTIFY jobs, 'two'")
            told = [await asyncio.wait_for(heard.get(), 60) for _ in range(2)]
            pid = teller.get_server_pid()
            assert told == [(pid, "jobs", "one"), (pid, "jobs", "two")]
            await listener.reset()
            assert await listener.fetch("SELECT pg_listening_channels()") == []
        finally:
            await listener.close()
            await teller.close()

    asyncio.run(converse())
