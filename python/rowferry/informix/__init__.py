"""Informix driver, PEP 249, without any client of the vendor's: instead of informix-driver and IfxPy.

    from rowferry import informix

    with informix.connect("informix://app:secret@localhost:9088/shop?server=informix") as connection:
        with connection.cursor() as cursor:
            cursor.execute("SELECT name FROM customers WHERE id = ?", (7,))
            print(cursor.fetchone())

`rowferry.informix.aio` is the same for asyncio.
"""

from __future__ import annotations

import datetime
import sys
from typing import TYPE_CHECKING

from .._base.later import later
from .._core import __version__
from ..exceptions import (
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
    UnsupportedType,
    Warning,
)
from . import rows
from ._capabilities import ServerCapabilities
from ._composites import CollectionValue, RowValue
from ._isolation import IsolationLevel
from ._lists import In
from ._values import BlobLocator, ClobLocator, IntervalYM
from .connections import Connection, connect
from .cursors import Cursor
from .rows import Row
from .transactions import Savepoint, Transaction

if TYPE_CHECKING:
    from .partitions import partition_statements, read_partitioned, stream_partitioned
    from .pool import ConnectionPool, PoolStatistics, create_pool
else:
    # Not every program needs these.
    __getattr__ = later(
        __name__,
        {
            "ConnectionPool": "pool",
            "PoolStatistics": "pool",
            "create_pool": "pool",
            "partition_statements": "partitions",
            "read_partitioned": "partitions",
            "stream_partitioned": "partitions",
        },
    )

__all__ = [
    "BINARY",
    "DATETIME",
    "NUMBER",
    "ROWID",
    "STRING",
    "BatchError",
    "Binary",
    "BlobLocator",
    "ClobLocator",
    "CollectionValue",
    "Connection",
    "ConnectionPool",
    "Cursor",
    "DataError",
    "DatabaseError",
    "Date",
    "DateFromTicks",
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
    "PoolClosedError",
    "PoolStatistics",
    "PoolTimeout",
    "PoolTimeoutError",
    "ProgrammingError",
    "Row",
    "RowValue",
    "Savepoint",
    "ServerCapabilities",
    "Time",
    "TimeFromTicks",
    "Timestamp",
    "TimestampFromTicks",
    "Transaction",
    "UnsupportedType",
    "Warning",
    "__version__",
    "apilevel",
    "connect",
    "create_pool",
    "install_as_informix_db",
    "paramstyle",
    "partition_statements",
    "read_partitioned",
    "rows",
    "stream_partitioned",
    "threadsafety",
]

#: As informix-driver calls them.
PoolClosedError, PoolTimeoutError = PoolClosed, PoolTimeout


#: PEP 249, version 2.
apilevel = "2.0"
#: Threads may share the module and connections, whose operations they take in turns. Transactions they share, too.
threadsafety = 2
#: `:1`; `?` and `:name` work, too.
paramstyle = "numeric"


class _TypeSet(frozenset[int]):
    """Type codes that are equal to each of their kind, as PEP 249 wants it."""

    def __eq__(self, other: object) -> bool:
        return other in self if isinstance(other, int) else super().__eq__(other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return super().__hash__()


#: CHAR, VARCHAR, NCHAR, NVARCHAR, LVARCHAR, TEXT, CLOB.
STRING = _TypeSet([0, 12, 13, 15, 16, 40, 43])
#: BYTE, BLOB.
BINARY = _TypeSet([11, 41])
#: Integers, DECIMAL, MONEY, floating point.
NUMBER = _TypeSet([1, 2, 3, 4, 5, 6, 8, 17, 18, 52, 53])
#: DATE, DATETIME.
DATETIME = _TypeSet([7, 10])
#: SERIAL, SERIAL8, BIGSERIAL.
ROWID = _TypeSet([6, 18, 53])

Binary = bytes
Date = datetime.date
Time = datetime.time
Timestamp = datetime.datetime


def DateFromTicks(ticks: float) -> datetime.date:
    """The local date of a Unix time."""
    return datetime.date.fromtimestamp(ticks)


def TimeFromTicks(ticks: float) -> datetime.time:
    """The local time of day of a Unix time."""
    return datetime.datetime.fromtimestamp(ticks).time()


def TimestampFromTicks(ticks: float) -> datetime.datetime:
    """The local date and time of a Unix time."""
    return datetime.datetime.fromtimestamp(ticks)


def install_as_informix_db() -> None:
    """Let `import informix_db` find this module from now on, wherever it is imported: nothing else need change."""
    from . import aio, connections, converters, cursors, exceptions, pool

    sys.modules["informix_db"] = sys.modules[__name__]
    for module in (aio, connections, converters, cursors, exceptions, pool, rows):
        sys.modules[f"informix_db.{module.__name__.rpartition('.')[2]}"] = module
