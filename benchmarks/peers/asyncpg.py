"""asyncpg: its own protocol implementation in Cython, prepared statements and binary format throughout."""

from __future__ import annotations

from collections.abc import Sequence

import asyncpg

from .base import Address, AsyncPeer, Row


class Asyncpg(AsyncPeer):
    """The driver on asyncio's own loop; its statement cache is on, as by default."""

    mark = "${}"

    def version(self) -> str:
        return f"asyncpg {asyncpg.__version__}, {self.loop_name}"

    async def connect_async(self, address: Address) -> None:
        self.connection = await asyncpg.connect(address["dsn"])

    async def close_async(self) -> None:
        await self.connection.close()

    async def select_async(self, sql: str, parameters: Sequence[Row]) -> list[list[Row]]:
        return [await self.connection.fetch(sql, *row) for row in parameters]

    async def write_async(self, sql: str, rows: Sequence[Row]) -> None:
        async with self.connection.transaction():
            await self.connection.executemany(sql, rows)

    def write_each(self, sql: str, rows: Sequence[Row]) -> None:
        async def run() -> None:
            async with self.connection.transaction():
                for row in rows:
                    await self.connection.execute(sql, *row)

        self._runner.run(run())

    def write_alone(self, sql: str, rows: Sequence[Row]) -> None:
        async def run() -> None:
            for row in rows:
                await self.connection.execute(sql, *row)

        self._runner.run(run())

    def connect_each(self, address: Address, count: int) -> None:
        async def run() -> None:
            for _ in range(count):
                await (await asyncpg.connect(address["dsn"])).close()

        self._runner.run(run())

    async def execute_async(self, sql: str) -> None:
        await self.connection.execute(sql)
