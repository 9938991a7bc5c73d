"""rowferry.mysql, in both colours."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, ClassVar

import rowferry.mysql
import rowferry.mysql.aio
from rowferry._core import __version__

from .base import Address, Row, Unsupported
from .mysql_base import MySQLAioPeer, MySQLPeer

_CACHED = {"stmt_cache_size": 128}


def _parameters(address: Address) -> dict[str, Any]:
    parameters = dict(address)
    ca = parameters.pop("ca", None)
    secrecy = {"ssl_mode": "disabled"} if ca is None else {"ssl_mode": "verify_identity", "ssl_ca": ca}
    return {**parameters, **secrecy}


class RowferryMySQL(MySQLPeer):
    """The blocking driver, text protocol, its default."""

    options: ClassVar[dict[str, Any]] = {}

    def version(self) -> str:
        extra = "".join(f", {name}={value}" for name, value in self.options.items())
        return f"rowferry {__version__}{extra}"

    def open(self, address: Address, *, autocommit: bool = False) -> Any:
        return rowferry.mysql.connect(**_parameters(address), **self.options, autocommit=autocommit)

    def make_pool(self, address: Address, size: int) -> Any:
        return rowferry.mysql.create_pool(
            minsize=size, maxsize=size, autocommit=True, **_parameters(address), **self.options
        )

    @contextmanager
    def lent(self, pool: Any) -> Iterator[Any]:
        with pool.connection() as connection:
            yield connection

    def close_pool(self, pool: Any) -> None:
        pool.close()
        pool.wait_closed()

    def select_arrow(self, sql: str, parameters: Sequence[Row]) -> list[Any]:
        import pyarrow

        tables = []
        # A buffered cursor has made Python's objects by the time that a table is asked for.
        cursor = self.connection.cursor(rowferry.mysql.cursors.SSCursor)
        if not hasattr(cursor, "fetch_arrow_table"):
            raise Unsupported("no Arrow here")
        for row in parameters:
            cursor.execute(sql, row)
            table = cursor.fetch_arrow_table()
            tables.append(table if isinstance(table, pyarrow.Table) else pyarrow.table(table))
        cursor.close()
        return tables


class RowferryMySQLCached(RowferryMySQL):
    """Prepared statements through the statement cache."""

    options: ClassVar[dict[str, Any]] = _CACHED


class RowferryMySQLPrepared(RowferryMySQL):
    """Statements that are prepared by hand; rows come with the result."""

    mark = "?"

    def version(self) -> str:
        return f"{super().version()}, prepare()"

    def select(self, sql: str, parameters: Sequence[Row]) -> list[list[Row]]:
        with self.connection.prepare(sql) as statement:
            return [statement.execute(row).rows for row in parameters]


class RowferryMySQLTuples(RowferryMySQL):
    """Where others make Arrow tables: tuples, and nothing made of them."""

    def select_arrow(self, sql: str, parameters: Sequence[Row]) -> list[Any]:
        return self.select(sql, parameters)


class RowferryMySQLTuplesToArrow(RowferryMySQL):
    """An Arrow table of tuples, as with a driver that has no Arrow."""

    def select_arrow(self, sql: str, parameters: Sequence[Row]) -> list[Any]:
        return MySQLPeer.select_arrow(self, sql, parameters)


class RowferryMySQLAio(MySQLAioPeer):
    """The asyncio driver."""

    options: ClassVar[dict[str, Any]] = {}

    def version(self) -> str:
        extra = "".join(f", {name}={value}" for name, value in self.options.items())
        return f"rowferry {__version__}, {self.loop_name}{extra}"

    async def open_async(self, address: Address) -> Any:
        return await rowferry.mysql.aio.connect(**_parameters(address), **self.options)

    async def make_pool(self, address: Address, size: int) -> Any:
        return await rowferry.mysql.aio.create_pool(
            minsize=size, maxsize=size, autocommit=True, **_parameters(address), **self.options
        )


class RowferryMySQLAioCached(RowferryMySQLAio):
    """Prepared statements through the statement cache."""

    options: ClassVar[dict[str, Any]] = _CACHED


class RowferryMySQLAioPrepared(RowferryMySQLAio):
    """Statements that are prepared by hand; rows come with the result."""

    mark = "?"

    def version(self) -> str:
        return f"{super().version()}, prepare()"

    async def select_async(self, sql: str, parameters: Sequence[Row]) -> list[list[Row]]:
        async with await self.connection.prepare(sql) as statement:
            return [(await statement.execute(row)).rows for row in parameters]


class RowferryMySQLAioUvloop(RowferryMySQLAio):
    """The asyncio driver on uvloop."""

    uvloop = True


class RowferryMySQLAioCachedUvloop(RowferryMySQLAioCached):
    """Prepared statements through the statement cache, on uvloop."""

    uvloop = True
