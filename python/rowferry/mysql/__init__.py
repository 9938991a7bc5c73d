"""MySQL and MariaDB driver, PEP 249: instead of PyMySQL and mysqlclient.

    from rowferry import mysql

    with mysql.connect(host="localhost", user="app", password="…", database="shop") as connection:
        with connection.cursor() as cursor:
            cursor.execute("SELECT name FROM customers WHERE id = %s", (7,))
            print(cursor.fetchone())

`rowferry.mysql.aio` is the same for asyncio.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from .._base.later import later
from .._base.rows import Row
from . import _mysql, charset, connections, constants, converters, cursors, err, times
from ._aliases import install
from ._isolation import IsolationLevel
from ._mysql import __version__, debug, escape, get_client_info, string_literal, version_info
from .connections import Connection, PreparedStatement, connect
from .constants import FIELD_TYPE
from .converters import escape_string
from .err import (
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
from .times import Date, DateFromTicks, Time, TimeFromTicks, Timestamp, TimestampFromTicks

if TYPE_CHECKING:
    from . import optionfile
    from .partitions import partition_statements, read_partitioned, stream_partitioned
    from .pool import ConnectionPool, PoolStatistics, create_pool
    from .replication import binlog_stream
else:
    # Not every program needs these.
    __getattr__ = later(
        __name__,
        {
            "ConnectionPool": "pool",
            "PoolStatistics": "pool",
            "binlog_stream": "replication",
            "create_pool": "pool",
            "partition_statements": "partitions",
            "read_partitioned": "partitions",
            "stream_partitioned": "partitions",
        },
        ("events", "optionfile"),
    )


__all__ = [
    "BINARY",
    "DATE",
    "DATETIME",
    "FIELD_TYPE",
    "NULL",
    "NUMBER",
    "ROWID",
    "STRING",
    "TIME",
    "TIMESTAMP",
    "VERSION",
    "VERSION_STRING",
    "Binary",
    "Connect",
    "Connection",
    "ConnectionPool",
    "DBAPISet",
    "DataError",
    "DatabaseError",
    "Date",
    "DateFromTicks",
    "Error",
    "IntegrityError",
    "InterfaceError",
    "InternalError",
    "IsolationLevel",
    "MySQLError",
    "NotSupportedError",
    "OperationalError",
    "PoolClosed",
    "PoolStatistics",
    "PoolTimeout",
    "PreparedStatement",
    "ProgrammingError",
    "Row",
    "Time",
    "TimeFromTicks",
    "Timestamp",
    "TimestampFromTicks",
    "Warning",
    "__version__",
    "apilevel",
    "binlog_stream",
    "charset",
    "connect",
    "connections",
    "constants",
    "converters",
    "create_pool",
    "cursors",
    "debug",
    "err",
    "escape",
    "escape_string",
    "get_client_info",
    "install_as_MySQLdb",
    "install_as_pymysql",
    "optionfile",
    "paramstyle",
    "partition_statements",
    "read_partitioned",
    "stream_partitioned",
    "string_literal",
    "thread_safe",
    "threadsafety",
    "times",
    "version_info",
]

#: PEP 249, version 2.
apilevel = "2.0"
#: Threads may share the module, but not connections.
threadsafety = 1
#: `%(name)s`; `%s` works, too.
paramstyle = "pyformat"

Connect = connect


def Binary(value: Any) -> bytes:
    """A value for a binary column: its bytes."""
    return bytes(value)


class DBAPISet(frozenset[int]):
    """A set of type codes that equals each of its members, as PEP 249 compares types."""

    def __eq__(self, other: object) -> bool:
        return super().__eq__(other) if isinstance(other, (frozenset, set)) else other in self

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return super().__hash__()


STRING = DBAPISet([FIELD_TYPE.ENUM, FIELD_TYPE.STRING, FIELD_TYPE.VAR_STRING])
BINARY = DBAPISet([FIELD_TYPE.BLOB, FIELD_TYPE.LONG_BLOB, FIELD_TYPE.MEDIUM_BLOB, FIELD_TYPE.TINY_BLOB])
NUMBER = DBAPISet(
    [
        FIELD_TYPE.DECIMAL,
        FIELD_TYPE.NEWDECIMAL,
        FIELD_TYPE.DOUBLE,
        FIELD_TYPE.FLOAT,
        FIELD_TYPE.INT24,
        FIELD_TYPE.LONG,
        FIELD_TYPE.LONGLONG,
        FIELD_TYPE.TINY,
        FIELD_TYPE.SHORT,
        FIELD_TYPE.YEAR,
    ]
)
DATE = DBAPISet([FIELD_TYPE.DATE, FIELD_TYPE.NEWDATE])
TIME = DBAPISet([FIELD_TYPE.TIME])
TIMESTAMP = DBAPISet([FIELD_TYPE.TIMESTAMP, FIELD_TYPE.DATETIME])
DATETIME = TIMESTAMP
ROWID: DBAPISet = DBAPISet()

#: The version of PyMySQL that this module stands in for; `__version__` and `version_info` are those of mysqlclient.
VERSION = (1, 2, 4, "final")
VERSION_STRING = "1.2.4"
NULL = "NULL"


def thread_safe() -> bool:
    """True: threads may share the module."""
    return True


_PARTS = {"charset": charset, "connections": connections, "cursors": cursors, "times": times}


def install_as_MySQLdb() -> None:
    """After this, `import MySQLdb` answers this module, and `import MySQLdb.cursors` its part, and so on."""
    install("MySQLdb", sys.modules[__name__], {**_PARTS, "_mysql": _mysql, "_exceptions": err, "release": _mysql})


def install_as_pymysql() -> None:
    """After this, `import pymysql` answers this module, and `import pymysql.cursors` its part, and so on."""
    from . import optionfile

    install("pymysql", sys.modules[__name__], {**_PARTS, "optionfile": optionfile})
