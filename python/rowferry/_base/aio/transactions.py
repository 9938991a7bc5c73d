"""Transactions and savepoints as blocks. What they do, the connection knows."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from types import TracebackType
from typing import Any

__all__ = ["AsyncSavepoint", "AsyncTransaction"]

_numbers = itertools.count(1)


class AsyncSavepoint(AbstractAsyncContextManager["AsyncSavepoint"]):
    """A part of a transaction that can be undone by itself. Made by `Connection.savepoint`."""

    def __init__(self, connection: Any, name: str | None) -> None:
        #: The name that the server knows.
        self.name = name or f"rowferry_{next(_numbers)}"
        self._connection = connection

    async def __aenter__(self) -> AsyncSavepoint:
        if not self._connection.in_transaction:
            await self._connection.begin()
        await self._connection.set_savepoint(self.name)
        return self

    async def rollback(self) -> None:
        """Undo what was done since the savepoint, which stays."""
        await self._connection.rollback_to_savepoint(self.name)

    async def __aexit__(
        self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if kind is None:
            await self._connection.release_savepoint(self.name)
        elif _can_go_on(self._connection):
            await self.rollback()
            await self._connection.release_savepoint(self.name)


class AsyncTransaction(AbstractAsyncContextManager["AsyncTransaction"]):
    """A transaction as a block. Made by `Connection.transaction`; `begin` says how one of its own begins."""

    def __init__(self, connection: Any, begin: Callable[[], Any]) -> None:
        self._connection = connection
        self._begin = begin
        self._savepoint: AsyncSavepoint | None = None

    async def __aenter__(self) -> AsyncTransaction:
        connection = self._connection
        if connection.in_transaction:
            self._savepoint = AsyncSavepoint(connection, None)
            await self._savepoint.__aenter__()
        else:
            await self._begin()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
    ) -> None:
        savepoint, self._savepoint = self._savepoint, None
        if savepoint is not None:
            await savepoint.__aexit__(kind, value, traceback)
        elif kind is None:
            await self._connection.commit()
        elif _can_go_on(self._connection):
            await self._connection.rollback()


def _can_go_on(connection: Any) -> bool:
    """False when the transaction went away with its connection, or by a statement of the block."""
    wire = connection._wire
    return wire is not None and wire.is_open and bool(connection.in_transaction)
