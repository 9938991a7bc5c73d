"""A data source for Ray: tables and queries of MySQL, MariaDB and Informix as datasets.

    from rowferry.ray import read

    orders = read("mysql://app:secret@db/shop", table="orders", on="id")

Each task has a connection of its own, and reads a range of the column `on`, from the wire into Arrow and so into
blocks. Needs ray with pyarrow where the driver and the workers run.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ._base.reading import Reading
from .exceptions import InterfaceError

if TYPE_CHECKING:
    Datasource = object
else:
    try:
        from ray.data import Datasource
    except ImportError as error:
        raise ImportError("rowferry.ray needs Ray's datasets and pyarrow: pip install 'ray[data]'") from error

__all__ = ["RowferryDatasource", "read"]


def read(
    url: str,
    *,
    table: str | None = None,
    query: str | None = None,
    on: str | None = None,
    partitions: int | None = None,
    quantiles: bool = False,
    size: int = 65_536,
    **options: Any,
) -> Any:
    """A `ray.data.Dataset` of a table or a query, which is read when the dataset is.

    Args:
        url: `mysql://…`, `mariadb://…`, `informix://…` or `gbase8s://…`.
        table: its name, as SQL has it; or else `query`.
        query: a SELECT.
        on: the column by whose ranges the tasks share the rows; without it one task reads all.
        partitions: how many ranges; None leaves it to Ray.
        quantiles: parts with equally many rows instead of ranges of equal width, for which the server sorts.
        size: rows of a block.
        options: further parameters of the driver's `connect`.

    Raises:
        InterfaceError: neither table nor query, or both, or another kind of URL; partitions without a column.
        Error: what the server says, when it is asked for the columns.
    """
    if on is None and (partitions is not None or quantiles):
        raise InterfaceError("a query is read in parts by ranges of a column: name it by `on`")
    source = RowferryDatasource(Reading.of(url, table, query, options), on, partitions, quantiles, size)
    return importlib.import_module("ray.data").read_datasource(source, override_num_blocks=partitions)


class RowferryDatasource(Datasource):
    """What `read` gives to `ray.data.read_datasource`."""

    def __init__(self, reading: Reading, on: str | None, partitions: int | None, quantiles: bool, size: int) -> None:
        super().__init__()
        self._reading = reading
        self._on = on
        self._partitions = partitions
        self._quantiles = quantiles
        self._size = size
        self._schema = reading.schema()

    def get_name(self) -> str:
        """What Ray shows."""
        return "Rowferry"

    def estimate_inmemory_data_size(self) -> int | None:
        """Unknown: counting would be reading."""
        return None

    def get_read_tasks(
        self, parallelism: int, per_task_row_limit: int | None = None, data_context: Any = None
    ) -> list[Any]:
        """A task for each range."""
        source = importlib.import_module("ray.data.datasource")
        metadata = importlib.import_module("ray.data.block").BlockMetadata(
            num_rows=None, size_bytes=None, input_files=None, exec_stats=None
        )
        count = None if self._on is None else self._partitions or max(parallelism, 1)
        statements = self._reading.statements(self._on, count, self._quantiles)
        return [
            source.ReadTask(
                functools.partial(_tables, self._reading, statement, self._size),
                metadata,
                schema=self._schema,
                per_task_row_limit=per_task_row_limit,
            )
            for statement in statements
        ]


def _tables(reading: Reading, statement: bytes | str, size: int) -> Iterator[Any]:
    pyarrow = importlib.import_module("pyarrow")
    for batch in reading.batches(statement, size):
        yield pyarrow.Table.from_batches([batch])
