"""What MySQLdb's programs import from its C module `_mysql`."""

from __future__ import annotations

from typing import Any

from .._core.mysql import escape_bytes as _escape_bytes
from .connections import Connection as connection
from .connections import connect
from .converters import conversions, escape_item
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
    ProgrammingError,
    Warning,
)
from .results import StoredResult as result

__all__ = [
    "DataError",
    "DatabaseError",
    "Error",
    "IntegrityError",
    "InterfaceError",
    "InternalError",
    "MySQLError",
    "NotSupportedError",
    "OperationalError",
    "ProgrammingError",
    "Warning",
    "connect",
    "connection",
    "debug",
    "escape",
    "escape_string",
    "get_client_info",
    "result",
    "string_literal",
    "version_info",
]

#: The version of mysqlclient that this driver stands in for; Django asks.
version_info = (2, 2, 8, "final", 0)
__version__ = "2.2.8"


def get_client_info() -> str:
    """The version of mysqlclient that this driver stands in for."""
    return __version__


def escape_string(value: str | bytes) -> bytes:
    """Bytes, or text in UTF-8, with what would end a literal escaped; for the ordinary SQL mode."""
    return _escape_bytes(value.encode() if isinstance(value, str) else bytes(value))


def string_literal(value: Any) -> bytes:
    """Bytes, or what `str` makes of the value, as a literal; for the ordinary SQL mode."""
    return b"'" + escape_string(value if isinstance(value, (bytes, str)) else str(value)) + b"'"


def escape(value: Any, mapping: Any = None) -> bytes:
    """The literal of a value, by `mapping` or the ordinary encoders; for the ordinary SQL mode."""
    literal = escape_item(value, None, conversions if mapping is None else mapping)
    return literal.encode() if isinstance(literal, str) else bytes(literal)


def debug(options: str) -> None:
    """Does nothing: there is no C library whose trace could be switched on."""
