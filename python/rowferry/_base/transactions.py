# Made from python/rowferry/_base/aio/transactions.py by tools/async_to_sync.py: change that file instead.
"""Transactions and savepoints as blocks. What they do, the connection knows."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from contextlib import AbstractContextManager
from types import TracebackType
from typing import Any

__all__ = ["Savepoint", "Transaction"]

_numbers = itertools.count(1)


class Savepoint(AbstractContextManager["Savepoint"]):
    """A part of a transaction that can be undone by itself. Made by `Connection.savepoint`."""

    def __init__(self, connection: Any, name: str | None) -> None:
        #: The name that the server knows.
        self.name = name or f"rowferry_{next(_numbers)}"
        self._connection = connection

    def __enter__(self) -> Savepoint:
        if not self._connection.in_transaction:
            self._connection.begin()
        self._connection.set_savepoint(self.name)
        return self

    def rollback(self) -> None:
        """Undo what was done since the savepoint, which stays."""
        self._connection.rollback_to_savepoint(self.name)

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if kind is None:
            self._connection.release_savepoint(self.name)
        elif _can_go_on(self._connection):
            self.rollback()
            self._connection.release_savepoint(self.name)


class Transaction(AbstractContextManager["Transaction"]):
    """A transaction as a block. Made by `Connection.transaction`; `begin` says how one of its own begins."""

    def __init__(self, connection: Any, begin: Callable[[], Any]) -> None:
        self._connection = connection
        self._begin = begin
        self._savepoint: Savepoint | None = None

    def __enter__(self) -> Transaction:
        connection = self._connection
        if connection.in_transaction:
            self._savepoint = Savepoint(connection, None)
            self._savepoint.__enter__()
        else:
            self._begin()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
    ) -> None:
        savepoint, self._savepoint = self._savepoint, None
        if savepoint is not None:
            savepoint.__exit__(kind, value, traceback)
        elif kind is None:
            self._connection.commit()
        elif _can_go_on(self._connection):
            self._connection.rollback()


def _can_go_on(connection: Any) -> bool:
    """False when the transaction went away with its connection, or by a statement of the block."""
    wire = connection._wire
    return wire is not None and wire.is_open and bool(connection.in_transaction)
