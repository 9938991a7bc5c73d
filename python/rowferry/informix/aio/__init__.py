"""Informix driver for asyncio, without threads.

    from rowferry.informix import aio

    async with aio.connect("informix://app:secret@localhost:9088/shop") as connection:
        cursor = await connection.execute("SELECT name FROM customers WHERE id = ?", (7,))
        print(await cursor.fetchone())

`rowferry.informix` is the same, blocking.
"""

from __future__ import annotations

from ...exceptions import (
    DatabaseError,
    DataError,
    Error,
    IntegrityError,
    InterfaceError,
    InternalError,
    NotSupportedError,
    OperationalError,
    ProgrammingError,
    Warning,
)
from .._values import BlobLocator, ClobLocator, IntervalYM
from ..rows import Row
from .connection import AsyncConnection, connect
from .cursors import AsyncCursor

__all__ = [
    "AsyncConnection",
    "AsyncCursor",
    "BlobLocator",
    "ClobLocator",
    "DataError",
    "DatabaseError",
    "Error",
    "IntegrityError",
    "InterfaceError",
    "InternalError",
    "IntervalYM",
    "NotSupportedError",
    "OperationalError",
    "ProgrammingError",
    "Row",
    "Warning",
    "connect",
]
