"""Results as MySQLdb's connections hand them out: `connection.query(sql)`, then `connection.store_result()`."""

from __future__ import annotations

from typing import Any

from .._core.mysql import QueryResult

__all__ = ["StoredResult"]


class StoredResult:
    """The rows of the last query. Made by `Connection.store_result`."""

    def __init__(self, source: QueryResult) -> None:
        if not isinstance(source, QueryResult):
            raise TypeError("results are made by `store_result`")
        self._rows = source.rows or ()
        self._description = source.description or ()
        self._at = 0

    def describe(self) -> tuple[Any, ...]:
        """A tuple of seven for each column, as PEP 249 has it."""
        return self._description

    def num_fields(self) -> int:
        """How many columns there are."""
        return len(self._description)

    def num_rows(self) -> int:
        """How many rows there are."""
        return len(self._rows)

    def data_seek(self, row: int) -> None:
        """Go on from this row, counted from 0."""
        self._at = row

    def fetch_row(self, maxrows: int = 1, how: int = 0) -> tuple[Any, ...]:
        """The next rows, all that are left with `maxrows=0`. With `how=1` as dicts, by the names of their columns."""
        end = self._at + maxrows if maxrows else len(self._rows)
        rows = self._rows[self._at : end]
        self._at += len(rows)
        if not how:
            return tuple(rows)
        names = [column[0] for column in self._description]
        return tuple(dict(zip(names, row, strict=True)) for row in rows)
