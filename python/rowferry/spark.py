"""A data source for Spark 4: tables and queries of MySQL, MariaDB and Informix, and changes of MySQL's binary log.

    from rowferry.spark import RowferryDataSource

    spark.dataSource.register(RowferryDataSource)
    orders = (
        spark.read.format("rowferry")
        .option("url", "mysql://app:secret@db/shop")
        .option("dbtable", "orders")
        .option("partitionColumn", "id")
        .option("numPartitions", 8)
        .load()
    )

Rows go from the wire into Arrow and so into Spark. Each task has a connection of its own, and reads a range of the
column; where the ranges begin is asked of the server. Needs pyspark 4 and pyarrow where the driver and the workers run.

Options, by the names of Spark's JDBC source where it has them:

- `url`: `mysql://…`, `mariadb://…`, `informix://…` or `gbase8s://…`, with parameters of `connect` behind `?`.
- `user`, `password`: instead of those in the URL.
- `dbtable`, a name as SQL has it, or `query`.
- `partitionColumn`: without it one task reads all. `numPartitions`: 4 by default. `quantiles`: `true` for parts with
  equally many rows instead of ranges of equal width.
- `fetchsize`: rows in a batch, 65,536 by default.
- `pushDownPredicate`: `true` sends filters of the query to the server, which leaves out rows that none can want. Spark
  4.1 wants `spark.sql.python.filterPushdown.enabled` for that.

`.schema("id long, total decimal(10,2)")` reads these columns alone. Filters are applied by Spark in any case: texts are
compared as Spark does, whatever the collation.

`spark.readStream` with a `dbtable` of MySQL or MariaDB is a stream of its changes; see `ChangesReader`.
"""

from __future__ import annotations

import datetime
import importlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from ._base.reading import Reading
from .exceptions import DataError, InterfaceError, NotSupportedError

if TYPE_CHECKING:
    DataSource = object
    DataSourceReader = object
    DataSourceStreamReader = object
    InputPartition = object
    StructType = Any
else:
    try:
        from pyspark.sql.datasource import DataSource, DataSourceReader, DataSourceStreamReader, InputPartition
        from pyspark.sql.types import StructType
    except ImportError as error:
        raise ImportError("rowferry.spark needs Spark 4 and pyarrow: pip install 'pyspark>=4' pyarrow") from error

__all__ = ["ChangesReader", "FilteringReader", "RowferryDataSource", "TableReader"]

#: Options by their names in small letters, and how Spark's documentation writes them.
_OPTIONS = {
    name.lower(): name
    for name in (
        "url",
        "user",
        "password",
        "dbtable",
        "query",
        "partitionColumn",
        "numPartitions",
        "quantiles",
        "fetchsize",
        "pushDownPredicate",
        "startingOffset",
    )
}
#: What the JDBC source takes and nobody needs here.
_NEEDLESS = {
    "driver": "there is none",
    "lowerbound": "the server is asked where the column begins",
    "upperbound": "the server is asked where the column ends",
}


@dataclass(frozen=True)
class _Wanted:
    """What the options say."""

    reading: Reading
    table: str | None
    on: str | None
    partitions: int | None
    quantiles: bool
    size: int
    filters: bool
    start: str
    #: Which options there are, by their names in small letters.
    given: frozenset[str]

    @classmethod
    def of(cls, options: Mapping[str, str]) -> _Wanted:
        given = {name.lower(): value for name, value in options.items()}
        # Spark's own, for every source.
        given.pop("path", None)
        for name in given:
            if name in _NEEDLESS:
                raise InterfaceError(f"`{name}` is not needed: {_NEEDLESS[name]}")
            if name not in _OPTIONS:
                raise InterfaceError(f"`{name}` is not one of {', '.join(_OPTIONS.values())}")
        if "url" not in given:
            raise InterfaceError("the option `url` says where the database is: mysql://user:password@host/database")
        account: dict[str, Any] = {name: given[name] for name in ("user", "password") if name in given}
        return cls(
            Reading.of(given["url"], given.get("dbtable"), given.get("query"), account),
            given.get("dbtable"),
            given.get("partitioncolumn"),
            _count(given, "numpartitions", 0) or None,
            _flag(given, "quantiles"),
            _count(given, "fetchsize", 65_536),
            _flag(given, "pushdownpredicate"),
            given.get("startingoffset", "now"),
            frozenset(given),
        )

    def refuse(self, what: str, *names: str) -> None:
        """`InterfaceError` for the first of these options that is given: it would be without effect."""
        for name in names:
            if name in self.given:
                raise InterfaceError(f"`{_OPTIONS[name]}` is nothing for {what}")


def _count(given: Mapping[str, str], name: str, default: int) -> int:
    text = given.get(name)
    if text is None:
        return default
    if not (text.isdecimal() and text.isascii() and 0 < int(text) < 1 << 31):
        raise InterfaceError(f"`{_OPTIONS[name]}` is a number from 1 on, not `{text}`")
    return int(text)


def _flag(given: Mapping[str, str], name: str) -> bool:
    text = given.get(name, "false").lower()
    if text not in ("true", "false"):
        raise InterfaceError(f"`{_OPTIONS[name]}` is true or false, not `{text}`")
    return text == "true"


class RowferryDataSource(DataSource):
    """The source `rowferry`: `spark.dataSource.register(RowferryDataSource)`."""

    def __init__(self, options: Mapping[str, str]) -> None:
        self._wanted = _Wanted.of(options)

    @classmethod
    def name(cls) -> str:
        """`rowferry`."""
        return "rowferry"

    def schema(self) -> StructType:
        """The columns of the table or query."""
        types = importlib.import_module("pyspark.sql.pandas.types")
        made: StructType = types.from_arrow_schema(_plain_schema(self._wanted.reading.schema()), True)
        return made

    def reader(self, schema: StructType) -> TableReader:
        """Reads the columns of `schema`."""
        self._wanted.refuse("what is read once", "startingoffset")
        if self._wanted.on is None:
            self._wanted.refuse("a read without `partitionColumn`", "numpartitions", "quantiles")
        # Spark refuses a reader that takes filters where it was not told to give them.
        return (FilteringReader if self._wanted.filters else TableReader)(self._wanted, schema)

    def streamReader(self, schema: StructType) -> ChangesReader:
        """Reads changes of a table, as rows of `schema`."""
        return ChangesReader(self._wanted, schema)


@dataclass(frozen=True)
class _Part(InputPartition):
    """What one task runs."""

    statement: bytes | str


class TableReader(DataSourceReader):
    """Reads a table or a query in parts."""

    def __init__(self, wanted: _Wanted, schema: StructType) -> None:
        self._wanted = wanted
        self._schema = schema
        self._conditions: list[str] = []

    def partitions(self) -> Sequence[_Part]:
        """A part for each range."""
        wanted = self._wanted
        names = [field.name for field in self._schema.fields]
        # The column of the ranges need not be among those that are wanted.
        columns = names if wanted.on is None or wanted.on in names else [*names, wanted.on]
        reading = wanted.reading.narrowed(columns, self._conditions)
        return [_Part(statement) for statement in reading.statements(wanted.on, wanted.partitions, wanted.quantiles)]

    def read(self, partition: Any) -> Iterator[Any]:
        """The rows of one part."""
        target = _target(self._schema)
        for batch in self._wanted.reading.batches(partition.statement, self._wanted.size):
            if batch.num_rows:
                yield _shaped(batch, target)


class FilteringReader(TableReader):
    """The same, where the server leaves out rows that nobody wants."""

    def pushFilters(self, filters: list[Any]) -> Iterable[Any]:
        """Have the server leave out rows that no filter can want; Spark still applies all of them."""
        reading = self._wanted.reading
        with reading.connect() as connection:
            schema, texts = reading.described(connection)
            for one in filters:
                condition = _condition(one, reading, connection, schema, texts)
                if condition is not None:
                    self._conditions.append(condition)
        return filters


class ChangesReader(DataSourceStreamReader):
    """Reads what changes in a table, from the binary log of MySQL or MariaDB.

    Each row is what an INSERT has made, an UPDATE has left, or a DELETE has removed, in the order of the log. With
    `.schema("_change string, id long, …")` the column `_change` says which: `insert`, `update` or `delete`; without it
    there are the table's columns alone. It begins at `startingOffset`: `now` (the default), `first` for the oldest that
    the server still has, or `FILE:POSITION`. Batches end between transactions. A query that was stopped goes on
    where it was, by Spark's checkpoint.

    The user needs REPLICATION SLAVE, and REPLICATION CLIENT (MariaDB: BINLOG MONITOR); the server a log with
    `binlog_format=ROW`.
    """

    def __init__(self, wanted: _Wanted, schema: StructType) -> None:
        if wanted.reading.driver != "mysql":
            raise NotSupportedError("changes are read from the binary log, which MySQL and MariaDB have")
        if wanted.table is None:
            raise InterfaceError("changes are those of a table: `dbtable`, and no query")
        wanted.refuse("a stream", "partitioncolumn", "numpartitions", "quantiles", "pushdownpredicate")
        self._wanted = wanted
        self._schema = schema

    def _stream(self, start: Any, **options: Any) -> Any:
        replication = importlib.import_module("rowferry.mysql.replication")
        reading = self._wanted.reading
        stream = replication.binlog_stream(
            reading.url, start=start, blocking=False, resume=False, **options, **reading.options
        )
        return stream

    def _place(self, start: Any) -> dict[str, Any]:
        with self._stream(start) as stream:
            position = stream.position
            return {"file": position.file, "position": position.offset}

    def initialOffset(self) -> dict[str, Any]:
        """Where `startingOffset` is."""
        text = self._wanted.start
        if text in ("now", "first"):
            return self._place(text)
        file, colon, position = text.rpartition(":")
        if not (colon and position.isdecimal()):
            raise InterfaceError(f"`startingOffset` is now, first or FILE:POSITION, not `{text}`")
        return {"file": file, "position": int(position)}

    def latestOffset(self) -> dict[str, Any]:
        """Where the log ends."""
        return self._place("now")

    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> Sequence[Any]:
        """One part: a log is read in its order."""
        return [] if _at(start) >= _at(end) else [_Changes(self._table(), start, end)]

    def _table(self) -> str:
        """The table with its database: another one of the server's may have a table of this name."""
        table = _bare(self._wanted.table or "")
        if "." in table:
            return table
        with self._wanted.reading.connect() as connection, connection.cursor() as cursor:
            cursor.execute("SELECT DATABASE()")
            (database,) = cursor.fetchone()
        if database is None:
            raise InterfaceError(f"the URL names no database: say which by `dbtable`, as database.{table}")
        return f"{database}.{table}"

    def read(self, partition: Any) -> Iterator[Any]:
        """The changes between two places of the log."""
        events = importlib.import_module("rowferry.mysql.events")
        pyarrow = importlib.import_module("pyarrow")
        made = importlib.import_module("rowferry._core.mysql").BinlogToArrow(True)
        target, end = _target(self._schema), _at(partition.end)
        start = (partition.start["file"], partition.start["position"])
        with self._stream(start, only_tables=[partition.table]) as stream:
            for event in stream:
                batch = made.append(event._images) if isinstance(event, events.RowsEvent) else None
                if batch is None and made.rows >= self._wanted.size:
                    batch = made.take()
                if batch is not None:
                    yield _shaped(pyarrow.record_batch(batch), target)
                if _at_position(stream.event_position) >= end:
                    break
        batch = made.take()
        if batch is not None:
            yield _shaped(pyarrow.record_batch(batch), target)

    def commit(self, end: dict[str, Any]) -> None:
        """Nothing: the server keeps its log as long as it is told to."""


@dataclass(frozen=True)
class _Changes(InputPartition):
    """A piece of the log, of which the rows of one table matter."""

    table: str
    start: dict[str, Any]
    end: dict[str, Any]


def _at(place: Mapping[str, Any]) -> tuple[int, str, int]:
    """Places of a log in their order: files are numbered, and numbers may gain a digit."""
    file = str(place["file"])
    return len(file), file, int(place["position"])


def _at_position(position: Any) -> tuple[int, str, int]:
    return _at({"file": position.file, "position": position.offset})


def _bare(table: str) -> str:
    """`table` or `database.table` without quotes, as the log has names."""
    return ".".join(part.strip().strip("`") for part in table.split("."))


# -- types and values ------------------------------------------------------------------------------------------------


def _plain_schema(schema: Any) -> Any:
    pyarrow = importlib.import_module("pyarrow")
    return pyarrow.schema([column.with_type(_plain(pyarrow, column.type, of=column.name)) for column in schema])


def _plain(pyarrow: Any, ty: Any, *, of: str) -> Any:
    """The nearest type that Spark has: with a sign, and with 38 digits at most.

    Raises:
        NotSupportedError: there is none.
    """
    types = pyarrow.types
    if types.is_unsigned_integer(ty):
        return {8: pyarrow.int16(), 16: pyarrow.int32(), 32: pyarrow.int64(), 64: pyarrow.decimal128(20, 0)}[
            ty.bit_width
        ]
    if types.is_decimal256(ty):
        if ty.precision > 38:
            return pyarrow.string()
        return pyarrow.decimal128(ty.precision, ty.scale)
    if types.is_time(ty):
        return pyarrow.string()
    if types.is_null(ty):
        return pyarrow.string()
    if types.is_dictionary(ty):
        return _plain(pyarrow, ty.value_type, of=of)
    if types.is_fixed_size_list(ty) or types.is_list(ty):
        return pyarrow.list_(_plain(pyarrow, ty.value_type, of=of))
    if types.is_large_string(ty):
        return pyarrow.string()
    if types.is_large_binary(ty) or types.is_fixed_size_binary(ty):
        return pyarrow.binary()
    if types.is_timestamp(ty):
        return pyarrow.timestamp("us", ty.tz)
    if types.is_interval(ty):
        raise NotSupportedError(f"column {of}: an interval of months has no type here; select it as text")
    return ty


def _target(schema: StructType) -> Any:
    """The Arrow schema of Spark's."""
    types = importlib.import_module("pyspark.sql.pandas.types")
    return types.to_arrow_schema(schema)


def _shaped(batch: Any, target: Any) -> Any:
    """The columns that are wanted, with the types that Spark has for them.

    Raises:
        DataError: a value that its column does not hold, or no such column.
    """
    pyarrow = importlib.import_module("pyarrow")
    columns = []
    for column in target:
        at = batch.schema.get_field_index(column.name)
        if at < 0:
            raise DataError(f"there is no column `{column.name}` among {', '.join(batch.schema.names)}")
        try:
            values = batch.column(at)
            columns.append(values if values.type == column.type else values.cast(column.type))
        except pyarrow.ArrowException as error:
            raise DataError(f"column `{column.name}` as {column.type}: {error}") from error
    return pyarrow.RecordBatch.from_arrays(columns, schema=target)


# -- filters ---------------------------------------------------------------------------------------------------------

_COMPARISONS = {"GreaterThan": ">", "GreaterThanOrEqual": ">=", "LessThan": "<", "LessThanOrEqual": "<="}


def _condition(one: Any, reading: Reading, connection: Any, schema: Any, texts: set[str]) -> str | None:
    """A condition that every row meets which the filter lets through, perhaps others, too; None without one.

    Most collations tell texts apart less finely than Spark does, and sort them in another order: they are compared for
    being equal only. Floating point numbers are not compared at all, as some servers round what they show.
    """
    kind = type(one).__name__
    attribute: tuple[str, ...] = getattr(one, "attribute", ())
    at = schema.get_field_index(attribute[0]) if len(attribute) == 1 else -1
    if at < 0:
        return None
    name = f"q.{reading.name(attribute[0])}"
    if kind in ("IsNull", "IsNotNull"):
        return f"{name} IS {'NOT ' if kind == 'IsNotNull' else ''}NULL"
    values = list(one.value) if kind == "In" else [getattr(one, "value", None)]
    is_text = attribute[0] in texts
    if not values or not all(_is_exact(value, schema.field(at).type, is_text, reading.driver) for value in values):
        return None
    spelled = [reading.literal(connection, value) for value in values]
    if kind in ("EqualTo", "In"):
        return f"{name} IN ({', '.join(spelled)})"
    if kind in _COMPARISONS and not is_text:
        return f"{name} {_COMPARISONS[kind]} {spelled[0]}"
    return None


def _is_exact(value: Any, ty: Any, is_text: bool, driver: str) -> bool:
    """Whether the server compares its column, of an Arrow type, with exactly this value."""
    types = importlib.import_module("pyarrow").types
    if isinstance(value, str):
        return is_text and bool(types.is_string(ty))
    if isinstance(value, (int, Decimal)) and not isinstance(value, bool):
        return bool(types.is_integer(ty) or types.is_decimal(ty))
    if isinstance(value, datetime.datetime):
        # Informix's moments have five digits.
        precise = driver == "mysql" or value.microsecond % 10 == 0
        return bool(types.is_timestamp(ty)) and ty.tz is None and value.tzinfo is None and precise
    return isinstance(value, datetime.date) and bool(types.is_date(ty))
