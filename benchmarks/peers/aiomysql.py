"""aiomysql: PyMySQL on asyncio streams."""

from __future__ import annotations

import ssl
from typing import Any

import aiomysql

from .base import Address
from .mysql_base import MySQLAioPeer


class AioMySQL(MySQLAioPeer):
    """The driver as its README uses it."""

    _context: ssl.SSLContext | None = None

    def version(self) -> str:
        return f"aiomysql {aiomysql.__version__}, {self.loop_name}"

    async def open_async(self, address: Address) -> Any:
        return await aiomysql.connect(**self._parameters(address))

    async def make_pool(self, address: Address, size: int) -> Any:
        return await aiomysql.create_pool(minsize=size, maxsize=size, autocommit=True, **self._parameters(address))

    def _parameters(self, address: Address) -> dict[str, Any]:
        parameters = dict(address)
        parameters["db"] = parameters.pop("database")
        ca = parameters.pop("ca", None)
        if ca is not None:
            self._context = self._context or ssl.create_default_context(cafile=ca)
            parameters["ssl"] = self._context
        return parameters
