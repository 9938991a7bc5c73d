"""Tables and queries of MySQL, MariaDB and Informix as data frames of Dask.

    from rowferry.dask import read

    orders = read("mysql://app:secret@db/shop", table="orders", on="id", partitions=8)

Each partition has a connection of its own, and reads a range of the column `on`, from the wire into Arrow and so into
pandas, whose columns are of Arrow's types. Needs dask[dataframe] with pyarrow where the workers run.
"""

from __future__ import annotations

import importlib
from typing import Any

from ._base.reading import Reading

__all__ = ["read"]


def read(
    url: str,
    *,
    table: str | None = None,
    query: str | None = None,
    on: str | None = None,
    partitions: int | None = None,
    quantiles: bool = False,
    **options: Any,
) -> Any:
    """A `dask.dataframe.DataFrame` of a table or a query, which is read when it is computed.

    Args:
        url: `mysql://…`, `mariadb://…`, `informix://…` or `gbase8s://…`.
        table: its name, as SQL has it; or else `query`.
        query: a SELECT.
        on: the column by whose ranges the partitions share the rows; without it there is one partition.
        partitions: how many ranges; 4 by default.
        quantiles: parts with equally many rows instead of ranges of equal width, for which the server sorts.
        options: further parameters of the driver's `connect`.

    Raises:
        ImportError: Dask or pyarrow is not there.
        InterfaceError: neither table nor query, or both, or another kind of URL; partitions without a column.
        Error: what the server says: it is asked for the columns, and where the ranges begin.
    """
    try:
        dataframe = importlib.import_module("dask.dataframe")
    except ImportError as error:
        raise ImportError("rowferry.dask needs Dask and pyarrow: pip install 'dask[dataframe]' pyarrow") from error
    reading = Reading.of(url, table, query, options)
    meta = _frame(reading.schema().empty_table())
    return dataframe.from_map(
        _part, reading.statements(on, partitions, quantiles), reading=reading, meta=meta, label="rowferry"
    )


def _part(statement: bytes | str, reading: Reading) -> Any:
    pyarrow = importlib.import_module("pyarrow")
    return _frame(pyarrow.Table.from_batches(list(reading.batches(statement, 131_072))))


def _frame(table: Any) -> Any:
    """As pandas, with Arrow's own types: integers stay integers where something is NULL, decimals decimals."""
    pandas = importlib.import_module("pandas")
    return table.to_pandas(types_mapper=pandas.ArrowDtype)
