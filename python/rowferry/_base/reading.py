"""A query of a database's URL, read in parts by processes that share nothing: for Spark, Ray and Dask."""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any

from ..exceptions import InterfaceError
from . import ranges

__all__ = ["DRIVERS", "Reading"]

#: Drivers, by the schemes of their URLs.
DRIVERS = {"mysql": "mysql", "mariadb": "mysql", "informix": "informix", "gbase8s": "informix"}


def _pyarrow() -> Any:
    try:
        return importlib.import_module("pyarrow")
    except ImportError:
        raise InterfaceError("reading in parts needs pyarrow: `pip install pyarrow`") from None


@dataclass(frozen=True)
class Reading:
    """What is read. Goes to other processes as it is, its password with it, which `repr` does not show."""

    url: str = field(repr=False)
    #: A SELECT.
    query: str
    #: Further parameters of the driver's `connect`.
    options: Mapping[str, Any] = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, url: str, table: str | None, query: str | None, options: Mapping[str, Any]) -> Reading:
        """Of a table, whose name is SQL already, or of a query.

        Raises:
            InterfaceError: neither, both, or another kind of URL.
        """
        if (table is None) == (query is None):
            raise InterfaceError("what is read is a table or a query: name one of them")
        scheme = url.partition("://")[0].lower()
        if scheme not in DRIVERS:
            raise InterfaceError(f"`{scheme}://` is not one of {', '.join(f'{name}://' for name in DRIVERS)}")
        return cls(url, f"SELECT * FROM {table}" if query is None else query, options)

    @property
    def driver(self) -> str:
        """`mysql` or `informix`."""
        return DRIVERS[self.url.partition("://")[0].lower()]

    def _module(self, name: str = "") -> Any:
        return importlib.import_module(f"rowferry.{self.driver}{name}")

    def connect(self) -> AbstractContextManager[Any]:
        """A connection."""
        connection: AbstractContextManager[Any] = self._module().connect(self.url, **self.options)
        return connection

    def name(self, column: str) -> str:
        """A column's name, as SQL has it."""
        if self.driver == "mysql":
            return "`" + column.replace("`", "``") + "`"
        return str(self._module("._literals").name(column))

    def literal(self, connection: Any, value: Any) -> str:
        """A value, as SQL has it."""
        return str(connection.literal(value) if self.driver == "mysql" else self._module("._literals").literal(value))

    def narrowed(self, columns: Sequence[str] | None, conditions: Sequence[str]) -> Reading:
        """The same query with some of its columns, and the rows that meet all conditions, which are SQL on `q`."""
        if columns is None and not conditions:
            return self
        chosen = "*" if columns is None else ", ".join(f"q.{self.name(column)}" for column in columns)
        where = f" WHERE {' AND '.join(conditions)}" if conditions else ""
        return Reading(self.url, f"SELECT {chosen} FROM {ranges.derived(self.query)}{where}", self.options)

    def schema(self) -> Any:
        """The `pyarrow.Schema` of the rows; the query is run for none of them."""
        with self.connect() as connection:
            return self.described(connection)[0]

    def described(self, connection: Any) -> tuple[Any, set[str]]:
        """The same, and which columns are texts to the server, too: no JSON, and nothing that is shown as text."""
        _pyarrow()
        with connection.cursor() as cursor:
            cursor.execute(self.narrowed(None, ["1 = 0"]).query)
            texts = {name for name, code, *_ in cursor.description if code == self._module().STRING}
            return cursor.fetch_arrow_table().schema, texts

    def statements(self, on: str | None, partitions: int | None, quantiles: bool) -> list[bytes] | list[str]:
        """A statement for each part: ranges of the column `on`, 4 unless it is said how many; or all of the query.

        Raises:
            InterfaceError: parts are wanted, and no column is named.
        """
        if on is None:
            if partitions not in (None, 1) or quantiles:
                raise InterfaceError("a query is read in parts by ranges of a column: name it")
            return [self.query]
        count = 4 if partitions is None else partitions
        made: list[bytes] | list[str] = self._module().partition_statements(
            {"host": self.url, **self.options}, self.query, on=on, partitions=count, quantiles=quantiles
        )
        return made

    def batches(self, statement: bytes | str, size: int) -> Iterator[Any]:
        """The rows of one of the statements, as `pyarrow.RecordBatch` of up to `size` rows; at least one of them."""
        pyarrow = _pyarrow()
        with self.connect() as connection:
            streaming = (self._module(".cursors").SSCursor,) if self.driver == "mysql" else ()
            with connection.cursor(*streaming) as cursor:
                cursor.execute(statement)
                for batch in cursor.fetch_record_batches(size):
                    yield pyarrow.record_batch(batch)
