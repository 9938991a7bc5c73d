"""Informix driver for asyncio, without threads.

    from rowferry.informix import aio

    async with aio.connect("informix://app:secret@localhost:9088/shop") as connection:
        cursor = await connection.execute("SELECT name FROM customers WHERE id = ?", (7,))
        print(await cursor.fetchone())

`rowferry.informix` is the same, blocking.
"""

from __future__ import annotations

from ...exceptions import (
    BatchError,
    DatabaseError,
    DataError,
    Error,
    IntegrityError,
    InterfaceError,
    InternalError,
    NotSupportedError,
    OperationalError,
    PoolClosed,
    PoolTimeout,
    ProgrammingError,
    Warning,
)
from .._capabilities import ServerCapabilities
from .._isolation import IsolationLevel
from .._lists import In
from .._values import BlobLocator, ClobLocator, IntervalYM
from ..rows import Row
from .connection import AsyncConnection, connect
from .cursors import AsyncCursor
from .partitions import partition_statements, read_partitioned, stream_partitioned
from .pool import AsyncConnectionPool, PoolStatistics, create_pool
from .transactions import AsyncSavepoint, AsyncTransaction

__all__ = [
    "AsyncConnection",
    "AsyncConnectionPool",
    "AsyncCursor",
    "AsyncSavepoint",
    "AsyncTransaction",
    "BatchError",
    "BlobLocator",
    "ClobLocator",
    "DataError",
    "DatabaseError",
    "Error",
    "In",
    "IntegrityError",
    "InterfaceError",
    "InternalError",
    "IntervalYM",
    "IsolationLevel",
    "NotSupportedError",
    "OperationalError",
    "PoolClosed",
    "PoolStatistics",
    "PoolTimeout",
    "ProgrammingError",
    "Row",
    "ServerCapabilities",
    "Warning",
    "connect",
    "create_pool",
    "partition_statements",
    "read_partitioned",
    "stream_partitioned",
]
