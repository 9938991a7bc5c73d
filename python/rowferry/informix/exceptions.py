"""The exceptions, under the name that informix-driver gives their module."""

from __future__ import annotations

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

__all__ = [
    "BatchError",
    "DataError",
    "DatabaseError",
    "Error",
    "IntegrityError",
    "InterfaceError",
    "InternalError",
    "NotSupportedError",
    "OperationalError",
    "PoolClosed",
    "PoolTimeout",
    "ProgrammingError",
    "UnsupportedType",
    "Warning",
]
