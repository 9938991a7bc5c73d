"""PEP 249 exceptions, common to all drivers.

Written in Python so that they pickle and can be subclassed. Every driver raises these classes (or subclasses of them),
so `except rowferry.exceptions.IntegrityError` catches a duplicate key of any database.
"""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from typing import Any

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


class Warning(builtins.Warning):
    """Something noteworthy happened, such as data cut off on insertion. Python's `warnings` take it, too."""


class Error(Exception):
    """Anything that went wrong.

    `errno` is the database's own number, `sqlstate` the five characters of the standard, `sql` the failing statement,
    `row` the index of the failing row of a batch, `rows` the indices among which it is; each is None when unknown.
    `args` is what the driver's users know: for MySQL `(errno, message)`. Informix adds `sqlcode` (the same as `errno`),
    `isamcode`, the `offset` of the error in the statement (from 1) and the name `near` it.
    """

    errno: int | None
    sqlstate: str | None
    sql: str | None
    row: int | None
    rows: range | None = None
    sqlcode: int | None = None
    isamcode: int | None = None
    offset: int | None = None
    near: str | None = None

    def __init__(
        self,
        *args: Any,
        errno: int | None = None,
        sqlstate: str | None = None,
        sql: str | None = None,
        row: int | None = None,
    ) -> None:
        super().__init__(*args)
        self.errno = errno
        self.sqlstate = sqlstate
        self.sql = sql
        self.row = row

    @property
    def isam_code(self) -> int | None:
        """The same as `isamcode`: what the storage below found, 0 for nothing."""
        return self.isamcode

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), self.args, self.__dict__


class InterfaceError(Error):
    """The driver was used wrongly: a closed connection, a busy one."""


class DatabaseError(Error):
    """The database is at fault or refused."""


class DataError(DatabaseError):
    """A value does not fit: out of range, division by zero, too long."""


class OperationalError(DatabaseError):
    """Outside the program's control: connection lost, time-out, deadlock, no memory."""


class IntegrityError(DatabaseError):
    """A constraint would be violated."""


class InternalError(DatabaseError):
    """The database or the driver is in a state that it should not be in."""


class ProgrammingError(DatabaseError):
    """The program is wrong: no such table, a syntax error, too few parameters."""


class UnsupportedType(ProgrammingError, NotImplementedError):
    """The database has no type for a value of this class. Also a `NotImplementedError`, as informix-driver has it."""


class NotSupportedError(DatabaseError):
    """The database or the driver cannot do this."""


class BatchError(DatabaseError):
    """Some rows of a batch that was to go on after failures have failed.

    `errors` are their errors, in the order of the rows, each with its `row`; `rowcount` is what all other rows did. It
    is not `complete` when so many failed that the batch ended early.
    """

    def __init__(
        self, message: str = "", errors: Sequence[Error] = (), rowcount: int = 0, complete: bool = True
    ) -> None:
        super().__init__(message)
        self.errors = tuple(errors)
        self.rowcount = rowcount
        self.complete = complete
        if self.errors:
            first = self.errors[0]
            self.errno, self.row, self.sql = first.errno, first.row, first.sql
            self.sqlcode, self.isamcode = first.sqlcode, first.isamcode

    @classmethod
    def of(cls, errors: Sequence[Error], rowcount: int, *, complete: bool) -> BatchError:
        """The error for rows that have failed."""
        rows = "1 row has" if len(errors) == 1 else f"{len(errors)} rows have"
        end = "" if complete else "; the batch has ended early"
        return cls(f"{rows} failed, first row {errors[0].row}: {errors[0]}{end}", errors, rowcount, complete)


class PoolTimeout(OperationalError):
    """No connection of the pool became free in time."""


class PoolClosed(InterfaceError, RuntimeError):
    """The pool was closed: before the call, or while it waited. Also a `RuntimeError`, as aiomysql raises it."""


class PoolOpen(InterfaceError, RuntimeError):
    """`wait_closed` was called before `close`. Also a `RuntimeError`, as aiomysql raises it."""
