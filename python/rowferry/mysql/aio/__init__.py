"""MySQL and MariaDB driver for asyncio: instead of aiomysql and asyncmy.

from rowferry.mysql import aio

async with aio.create_pool(host="localhost", user="app", password="…", database="shop") as pool:
    async with pool.acquire() as connection, connection.cursor() as cursor:
        await cursor.execute("SELECT name FROM customers WHERE id = %s", (7,))
        print(await cursor.fetchone())
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from ..._base.later import later
from .. import constants, converters, err
from .._aliases import install
from ..err import (
    DatabaseError,
    DataError,
    Error,
    IntegrityError,
    InterfaceError,
    InternalError,
    MySQLError,
    NotSupportedError,
    OperationalError,
    PoolClosed,
    PoolTimeout,
    ProgrammingError,
    Warning,
)
from . import connection, cursors, pool
from .connection import AsyncConnection, AsyncPreparedStatement, connect
from .cursors import (
    AsyncCursor,
    AsyncDictCursor,
    AsyncNamedCursor,
    AsyncSSCursor,
    AsyncSSDictCursor,
    AsyncSSNamedCursor,
)
from .pool import AsyncConnectionPool, PoolStatistics, create_pool

Connection = AsyncConnection
Cursor = AsyncCursor
DictCursor = AsyncDictCursor
AsyncPool = Pool = AsyncConnectionPool
SSCursor = AsyncSSCursor
SSDictCursor = AsyncSSDictCursor
NamedCursor = AsyncNamedCursor
SSNamedCursor = AsyncSSNamedCursor
# asyncmy's name of the module.
errors = err

if TYPE_CHECKING:
    from .partitions import partition_statements, read_partitioned, stream_partitioned
    from .replication import binlog_stream
else:
    # Not every program needs these.
    __getattr__ = later(
        __name__,
        {
            "binlog_stream": "replication",
            "partition_statements": "partitions",
            "read_partitioned": "partitions",
            "stream_partitioned": "partitions",
        },
    )


__all__ = [
    "AsyncConnection",
    "AsyncConnectionPool",
    "AsyncCursor",
    "AsyncDictCursor",
    "AsyncPool",
    "AsyncPreparedStatement",
    "AsyncSSCursor",
    "AsyncSSDictCursor",
    "Connection",
    "Cursor",
    "DataError",
    "DatabaseError",
    "DictCursor",
    "Error",
    "IntegrityError",
    "InterfaceError",
    "InternalError",
    "MySQLError",
    "NotSupportedError",
    "OperationalError",
    "Pool",
    "PoolClosed",
    "PoolStatistics",
    "PoolTimeout",
    "ProgrammingError",
    "SSCursor",
    "SSDictCursor",
    "Warning",
    "binlog_stream",
    "connect",
    "connection",
    "constants",
    "converters",
    "create_pool",
    "cursors",
    "err",
    "errors",
    "install_as_aiomysql",
    "install_as_asyncmy",
    "partition_statements",
    "pool",
    "read_partitioned",
    "stream_partitioned",
]


def install_as_asyncmy() -> None:
    """After this, `import asyncmy` answers this module."""
    install("asyncmy", sys.modules[__name__], {"connection": connection, "cursors": cursors, "pool": pool})


def install_as_aiomysql() -> None:
    """After this, `import aiomysql` answers this module, and `import pymysql`, on which it stands, `rowferry.mysql`."""
    from .. import install_as_pymysql

    install_as_pymysql()
    install("aiomysql", sys.modules[__name__], {"connection": connection, "cursors": cursors, "pool": pool})
