"""Prepared statements."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any

from ..._core.mysql import Prepared, QueryResult
from .. import err

if TYPE_CHECKING:
    from .connection import AsyncConnection

__all__ = ["AsyncPreparedStatement"]


class AsyncPreparedStatement:
    """A statement that the server has prepared; made by `AsyncConnection.prepare`."""

    def __init__(self, connection: AsyncConnection, prepared: Prepared) -> None:
        self._connection = connection
        self._prepared: Prepared | None = prepared

    @property
    def parameter_count(self) -> int:
        """How many `?` there are."""
        return 0 if self._prepared is None else self._prepared.params

    async def execute(self, args: Sequence[Any] = (), *, as_dict: bool = False) -> QueryResult:
        """Run the statement. The result has `rows`, `affected_rows`, `insert_id` and `description`."""
        if self._prepared is None:
            raise err.ProgrammingError("the statement is closed")
        try:
            return await self._connection.wire.execute(self._prepared, args, as_dict)
        except Exception:
            raise
        except BaseException:
            await self._connection.give_up()
            raise

    async def executemany(
        self, rows: Iterable[Sequence[Any]], *, window: int = 64, as_dict: bool = False
    ) -> QueryResult:
        """Run the statement for each of `rows`, which are taken as they are needed; one result for all.

        Up to `window` executions are on their way at a time. At the first that fails no further one is sent, but those
        behind it that are on their way are executed as well: in a transaction, roll back; with `window=1` there are
        none. The error has the row's index (`row`). `cursor.executemany` stops at the failing row and is faster where
        it sends many rows in a request; this is for statements that shall be prepared.
        """
        if self._prepared is None:
            raise err.ProgrammingError("the statement is closed")
        try:
            return await self._connection.wire.execute_each(self._prepared, rows, window, as_dict)
        except Exception:
            raise
        except BaseException:
            await self._connection.give_up()
            raise

    async def close(self) -> None:
        """Have the server forget the statement."""
        prepared, self._prepared = self._prepared, None
        if prepared is not None and self._connection.open:
            self._connection.wire.forget(prepared)

    async def __aenter__(self) -> AsyncPreparedStatement:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.close()
