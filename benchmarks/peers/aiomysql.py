"""aiomysql: PyMySQL on asyncio streams."""

from __future__ import annotations

import aiomysql

from .base import Address, AsyncPeer


class AioMySQL(AsyncPeer):
    """The driver as its README uses it."""

    def version(self) -> str:
        return f"aiomysql {aiomysql.__version__}, {self.loop_name}"

    async def connect_async(self, address: Address) -> None:
        self.connection = await aiomysql.connect(
            host=address["host"],
            port=address["port"],
            user=address["user"],
            password=address["password"],
            db=address["database"],
        )

    async def close_async(self) -> None:
        await self.connection.ensure_closed()
