"""The drivers with the face of ADBC's `dbapi` modules: results as Arrow, tables from Arrow.

    from rowferry import adbc

    with adbc.connect("mysql://app:secret@localhost/shop") as connection, connection.cursor() as cursor:
        cursor.execute("SELECT name, credit FROM customers")
        table = cursor.fetch_arrow_table()
        cursor.adbc_ingest("copy_of_customers", table, mode="replace")
        connection.commit()

The names are those of `adbc_driver_manager.dbapi` (https://arrow.apache.org/adbc/), so that pandas' `read_sql` and
`to_sql`, polars' `read_database` and programs for other ADBC drivers take these connections. There is no C driver
underneath: statements run on `rowferry.mysql` and `rowferry.informix`, whose parameters they take (`%s` and `?`).
What ADBC has and these cannot do is refused with `NotSupportedError`. Needs pyarrow.
"""

from __future__ import annotations

import abc
import fnmatch
import importlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, Literal

from ._base.reading import DRIVERS
from ._core import __version__
from .exceptions import (
    DatabaseError,
    DataError,
    Error,
    IntegrityError,
    InterfaceError,
    InternalError,
    NotSupportedError,
    OperationalError,
    ProgrammingError,
    Warning,
)

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = [
    "Connection",
    "Cursor",
    "DataError",
    "DatabaseError",
    "Error",
    "IntegrityError",
    "InterfaceError",
    "InternalError",
    "NotSupportedError",
    "OperationalError",
    "ProgrammingError",
    "Warning",
    "apilevel",
    "connect",
    "paramstyle",
    "threadsafety",
]

apilevel: Final = "2.0"
threadsafety: Final = 1
#: That of MySQL connections; Informix's take `?` as well.
paramstyle: Final = "format"

Mode = Literal["append", "create", "replace", "create_append"]
Depth = Literal["all", "catalogs", "db_schemas", "tables", "columns"]

#: Rows that are sent in one piece by `adbc_ingest`.
_BATCH = 10_000

if TYPE_CHECKING:
    _Base = object
else:
    try:
        # pandas asks whether a connection is one of these.
        from adbc_driver_manager.dbapi import Connection as _Base
    except ImportError:
        _Base = object


def _pyarrow() -> Any:
    try:
        return importlib.import_module("pyarrow")
    except ImportError as error:
        raise NotSupportedError("rowferry.adbc needs pyarrow: pip install pyarrow") from error


class _Kind(abc.ABC):
    """What one kind of database has that others have not."""

    name: str
    marker: str
    quote: str

    @abc.abstractmethod
    def open(self, uri: str, options: Mapping[str, Any]) -> Any:
        """A connection of the driver, without autocommit."""

    def cursor(self, connection: Any) -> Any:
        """A cursor whose rows become Arrow as cheaply as they can."""
        return connection.cursor()

    @abc.abstractmethod
    def type_of(self, pyarrow: Any, of: Any) -> str:
        """The column type for an Arrow type.

        Raises:
            NotSupportedError: there is none that holds all of its values.
        """

    def quoted(self, name: str) -> str:
        """An identifier."""
        return self.quote + name.replace(self.quote, self.quote * 2) + self.quote

    def table(self, name: str, schema: str | None) -> str:
        """A table's name, in its schema if one is named."""
        return self.quoted(name) if schema is None else f"{self.quoted(schema)}.{self.quoted(name)}"

    @abc.abstractmethod
    def exists(self, name: str, schema: str | None) -> tuple[str, tuple[str, ...]]:
        """The query that has a row if a table is there."""

    @abc.abstractmethod
    def place(self) -> tuple[str, str]:
        """The queries for the current catalog and schema."""

    @abc.abstractmethod
    def objects(self) -> str:
        """The query for all columns: catalog, schema, table, its type, column, place from 1, type, nullable."""


class _MySQL(_Kind):
    name = "MySQL"
    marker = "%s"
    quote = "`"

    def open(self, uri: str, options: Mapping[str, Any]) -> Any:
        from . import mysql

        return mysql.connect(uri, **options)

    def cursor(self, connection: Any) -> Any:
        from .mysql import cursors

        return connection.cursor(cursors.SSCursor)

    def type_of(self, pyarrow: Any, of: Any) -> str:
        types = pyarrow.types
        if types.is_unsigned_integer(of):
            return f"{_MYSQL_INTEGERS[of.bit_width]} UNSIGNED"
        if types.is_signed_integer(of):
            return _MYSQL_INTEGERS[of.bit_width]
        if types.is_decimal(of) and of.precision <= 65 and 0 <= of.scale <= 30:
            return f"DECIMAL({of.precision}, {of.scale})"
        for fits, name in (
            (types.is_boolean, "BOOLEAN"),
            (types.is_float32, "FLOAT"),
            (types.is_float64, "DOUBLE"),
            (_is_text(types), "LONGTEXT"),
            (_is_binary(types), "LONGBLOB"),
            (types.is_date, "DATE"),
            (types.is_time, "TIME(6)"),
            (types.is_timestamp, "DATETIME(6)"),
        ):
            if fits(of):
                return name
        raise NotSupportedError(f"MySQL has no type for Arrow's {of}")

    def exists(self, name: str, schema: str | None) -> tuple[str, tuple[str, ...]]:
        sql = "SELECT 1 FROM information_schema.TABLES WHERE TABLE_NAME = %s AND TABLE_SCHEMA = "
        return (sql + "DATABASE()", (name,)) if schema is None else (sql + "%s", (name, schema))

    def place(self) -> tuple[str, str]:
        return "SELECT DATABASE()", "SELECT ''"

    def objects(self) -> str:
        # A database is a catalog; there are no schemas in it.
        return (
            "SELECT c.TABLE_SCHEMA, '', c.TABLE_NAME, t.TABLE_TYPE, c.COLUMN_NAME, c.ORDINAL_POSITION, c.COLUMN_TYPE,"
            " c.IS_NULLABLE = 'YES' FROM information_schema.COLUMNS c JOIN information_schema.TABLES t"
            " ON t.TABLE_SCHEMA = c.TABLE_SCHEMA AND t.TABLE_NAME = c.TABLE_NAME ORDER BY 1, 2, 3, 6"
        )


class _Informix(_Kind):
    name = "Informix"
    marker = "?"
    quote = '"'

    def open(self, uri: str, options: Mapping[str, Any]) -> Any:
        from . import informix

        given = {"client_locale": "en_US.utf8", "env": {"DELIMIDENT": "y"}}
        return informix.connect(uri, **{**given, **options})

    def type_of(self, pyarrow: Any, of: Any) -> str:
        types = pyarrow.types
        if types.is_integer(of):
            # The least value of each width means NULL: an unsigned one goes into the next.
            return _INFORMIX_INTEGERS[of.bit_width * (2 if types.is_unsigned_integer(of) else 1)]
        if types.is_decimal(of) and of.precision <= 32 and 0 <= of.scale <= of.precision:
            return f"DECIMAL({of.precision}, {of.scale})"
        for fits, name in (
            (types.is_boolean, "BOOLEAN"),
            (types.is_float32, "SMALLFLOAT"),
            (types.is_float64, "FLOAT"),
            (_is_text(types), "LVARCHAR(32739)"),
            (_is_binary(types), "BYTE"),
            (types.is_date, "DATE"),
            (types.is_time, "DATETIME HOUR TO FRACTION(5)"),
            (types.is_timestamp, "DATETIME YEAR TO FRACTION(5)"),
        ):
            if fits(of):
                return name
        raise NotSupportedError(f"Informix has no type for Arrow's {of}")

    def exists(self, name: str, schema: str | None) -> tuple[str, tuple[str, ...]]:
        sql = "SELECT 1 FROM systables WHERE tabname = ?"
        return (sql, (name,)) if schema is None else (sql + " AND owner = ?", (name, schema))

    def place(self) -> tuple[str, str]:
        one = "FROM systables WHERE tabid = 1"
        return f"SELECT DBINFO('dbname') {one}", f"SELECT USER {one}"

    def objects(self) -> str:
        return (
            "SELECT DBINFO('dbname'), t.owner, t.tabname, CASE t.tabtype WHEN 'V' THEN 'VIEW' ELSE 'BASE TABLE' END,"
            " c.colname, c.colno, MOD(c.coltype, 256), MOD(c.coltype, 512) < 256"
            " FROM systables t JOIN syscolumns c ON c.tabid = t.tabid"
            " WHERE t.tabid >= 100 AND t.tabtype IN ('T', 'V') ORDER BY 1, 2, 3, 6"
        )


_MYSQL_INTEGERS = {8: "TINYINT", 16: "SMALLINT", 32: "INT", 64: "BIGINT"}
_INFORMIX_INTEGERS = {8: "SMALLINT", 16: "SMALLINT", 32: "INTEGER", 64: "BIGINT", 128: "DECIMAL(20, 0)"}
#: By their drivers.
_KINDS: dict[str, type[_Kind]] = {"mysql": _MySQL, "informix": _Informix}


def _is_text(types: Any) -> Any:
    return lambda of: types.is_string(of) or types.is_large_string(of) or types.is_null(of)


def _is_binary(types: Any) -> Any:
    return lambda of: types.is_binary(of) or types.is_large_binary(of) or types.is_fixed_size_binary(of)


def connect(uri: str, *, autocommit: bool = False, **options: Any) -> Connection:
    """Connect to `mysql://…`, `mariadb://…`, `informix://…` or `gbase8s://…`.

    Args:
        uri: where; percent-encode what is special in it. Behind `?` stand parameters of the driver's `connect`.
        autocommit: whether each statement is a transaction.
        options: further parameters of `rowferry.mysql.connect` or `rowferry.informix.connect`.

    Raises:
        NotSupportedError: another kind of URL, or pyarrow is not there.
        OperationalError: the server is not reached, or does not let us in.
    """
    scheme = uri.partition("://")[0].lower()
    if scheme not in DRIVERS:
        raise NotSupportedError(f"`{scheme}://` is not one of {', '.join(f'{name}://' for name in DRIVERS)}")
    _pyarrow()
    made = _KINDS[DRIVERS[scheme]]()
    connection = made.open(uri, options)
    if autocommit:
        connection.autocommit(True) if callable(connection.autocommit) else setattr(connection, "autocommit", True)
    return Connection(made, connection)


class Connection(_Base):
    """A session with a server, as ADBC's `dbapi.Connection`. Made by `connect`. One thread at a time."""

    Warning = Warning
    Error = Error
    InterfaceError = InterfaceError
    DatabaseError = DatabaseError
    DataError = DataError
    OperationalError = OperationalError
    IntegrityError = IntegrityError
    InternalError = InternalError
    ProgrammingError = ProgrammingError
    NotSupportedError = NotSupportedError

    def __init__(self, kind: _Kind, connection: Any) -> None:
        self._kind = kind
        self._driver = connection
        self._closed = False

    def cursor(self) -> Cursor:
        """A cursor. On MySQL its rows come as they are fetched: fetch or close it before another runs a statement."""
        return Cursor(self, self._kind.cursor(self._driver))

    def execute(self, operation: str, parameters: Any = None) -> Cursor:
        """A new cursor that has run a statement."""
        cursor = self.cursor()
        cursor.execute(operation, parameters)
        return cursor

    def commit(self) -> None:
        """End the transaction; its changes stay."""
        self._driver.commit()

    def rollback(self) -> None:
        """End the transaction; its changes are gone."""
        self._driver.rollback()

    def close(self) -> None:
        """Close it; what is not committed is gone."""
        if not self._closed:
            self._closed = True
            self._driver.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def __del__(self) -> None:
        # The driver's own connection says that it was not closed.
        pass

    def _rows(self, sql: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        with self._driver.cursor() as cursor:
            cursor.execute(sql, tuple(parameters)) if parameters else cursor.execute(sql)
            return list(cursor.fetchall())

    @property
    def adbc_current_catalog(self) -> str:
        """The database that is open."""
        return str(self._rows(self._kind.place()[0])[0][0] or "").strip()

    @property
    def adbc_current_db_schema(self) -> str:
        """Informix: the user, who owns what it makes. MySQL: empty, as a database has no schemas."""
        return str(self._rows(self._kind.place()[1])[0][0] or "").strip()

    def adbc_get_info(self) -> dict[str | int, Any]:
        """Names and versions of the server and of this driver."""
        pyarrow = _pyarrow()
        version = getattr(self._driver, "server_version", None)
        return {
            "vendor_name": self._kind.name,
            "vendor_version": str(version() if callable(version) else version),
            "driver_name": "rowferry",
            "driver_version": __version__,
            "driver_arrow_version": pyarrow.__version__,
        }

    def adbc_get_table_types(self) -> list[str]:
        """What `adbc_get_objects` tells tables apart by."""
        return ["BASE TABLE", "VIEW"]

    def adbc_get_table_schema(
        self, table_name: str, *, catalog_filter: str | None = None, db_schema_filter: str | None = None
    ) -> Any:
        """The `pyarrow.Schema` of a table's columns.

        Raises:
            ProgrammingError: there is no such table.
        """
        place = catalog_filter if isinstance(self._kind, _MySQL) else db_schema_filter
        with self.cursor() as cursor:
            cursor.execute(f"SELECT * FROM {self._kind.table(table_name, place or None)} WHERE 1 = 0")
            return cursor.fetch_arrow_table().schema

    def adbc_get_objects(
        self,
        *,
        depth: Depth = "all",
        catalog_filter: str | None = None,
        db_schema_filter: str | None = None,
        table_name_filter: str | None = None,
        table_types_filter: list[str] | None = None,
        column_name_filter: str | None = None,
    ) -> Any:
        """Catalogs, schemas, tables and columns, nested, as a `pyarrow.RecordBatchReader`; filters are LIKE patterns.

        Constraints are not told.
        """
        pyarrow = _pyarrow()
        if depth not in ("all", "catalogs", "db_schemas", "tables", "columns"):
            raise ProgrammingError(f"depth is `{depth}`")
        catalogs: dict[str, dict[str, dict[str, dict[str, Any]]]] = {}
        for row in self._rows(self._kind.objects()):
            catalog, schema, table = (str(cell or "").strip() for cell in row[:3])
            kept = (
                (catalog, catalog_filter),
                (schema, db_schema_filter),
                (table, table_name_filter),
            )
            if not all(_is_like(name, pattern) for name, pattern in kept):
                continue
            if table_types_filter is not None and row[3] not in table_types_filter:
                continue
            tables = catalogs.setdefault(catalog, {}).setdefault(schema, {})
            known = tables.setdefault(table, {"table_name": table, "table_type": row[3], "table_columns": []})
            if _is_like(str(row[4]), column_name_filter):
                known["table_columns"].append(
                    {
                        "column_name": str(row[4]),
                        "ordinal_position": int(row[5]),
                        "xdbc_type_name": str(row[6]),
                        "xdbc_nullable": int(bool(row[7])),
                    }
                )

        def of_table(table: dict[str, Any]) -> dict[str, Any]:
            return table if depth in ("all", "columns") else {**table, "table_columns": None}

        def of_schema(name: str, tables: dict[str, dict[str, Any]]) -> dict[str, Any]:
            told = None if depth == "db_schemas" else [of_table(table) for table in tables.values()]
            return {"db_schema_name": name, "db_schema_tables": told}

        def of_catalog(name: str, schemas: dict[str, dict[str, dict[str, Any]]]) -> dict[str, Any]:
            told = None if depth == "catalogs" else [of_schema(key, tables) for key, tables in schemas.items()]
            return {"catalog_name": name, "catalog_db_schemas": told}

        shape = _objects_schema(pyarrow)
        found = [of_catalog(name, schemas) for name, schemas in catalogs.items()]
        return pyarrow.Table.from_pylist(found, schema=shape).to_reader()

    def adbc_clone(self) -> Connection:
        """Not there: `connect` anew."""
        raise NotSupportedError("a connection is not cloned: connect anew")

    def adbc_cancel(self) -> None:
        """Stop the statement that another thread runs.

        Raises:
            NotSupportedError: this kind of connection cannot be stopped so.
        """
        cancel = getattr(self._driver, "cancel", None)
        if cancel is None:
            raise NotSupportedError("a statement of this connection is not stopped from outside")
        cancel()

    @property
    def adbc_connection(self) -> Any:
        """Not there: no C driver is underneath."""
        raise NotSupportedError("there is no C driver underneath")

    @property
    def adbc_database(self) -> Any:
        """Not there: no C driver is underneath."""
        raise NotSupportedError("there is no C driver underneath")

    def adbc_get_statistics(self, **filters: Any) -> Any:
        """Not there."""
        raise NotSupportedError("statistics are not told")

    def adbc_get_statistic_names(self) -> Any:
        """Not there."""
        raise NotSupportedError("statistics are not told")


class Cursor:
    """Runs statements, as ADBC's `dbapi.Cursor`. Made by `Connection.cursor`."""

    arraysize = 1

    def __init__(self, connection: Connection, cursor: Any) -> None:
        self._connection = connection
        self._driver = cursor

    @property
    def connection(self) -> Connection:
        """The connection that made it."""
        return self._connection

    @property
    def description(self) -> Any:
        """The columns of the result, as PEP 249 has them; None without one."""
        return self._driver.description

    @property
    def rowcount(self) -> int:
        """Rows changed, or of the result where that is known; else -1."""
        return int(self._driver.rowcount)

    def execute(self, operation: str, parameters: Any = None) -> Self:
        """Run a statement, with parameters as the driver takes them, or with one row of an Arrow batch."""
        if parameters is not None and hasattr(parameters, "to_pylist"):
            rows = _rows_of(parameters)
            if len(rows) != 1:
                raise ProgrammingError(f"a statement is run with one row; this batch has {len(rows)}: see executemany")
            parameters = rows[0]
        if parameters is None:
            self._driver.execute(operation)
        else:
            self._driver.execute(operation, parameters)
        return self

    def executemany(self, operation: str, parameters: Any) -> None:
        """Run a statement with each row: of an Arrow batch or table, or of a sequence."""
        rows = _rows_of(parameters) if hasattr(parameters, "to_pylist") else parameters
        self._driver.executemany(operation, rows)

    def fetchone(self) -> tuple[Any, ...] | None:
        """The next row; None behind the last."""
        return self._driver.fetchone()  # type: ignore[no-any-return]

    def fetchmany(self, size: int | None = None) -> list[tuple[Any, ...]]:
        """The next rows."""
        return list(self._driver.fetchmany(self.arraysize if size is None else size))

    def fetchall(self) -> list[tuple[Any, ...]]:
        """The rows that are left."""
        return list(self._driver.fetchall())

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        while (row := self.fetchone()) is not None:
            yield row

    def fetch_arrow_table(self) -> Any:
        """The rows that are left, as a `pyarrow.Table`."""
        return self._driver.fetch_arrow_table()

    fetchallarrow = fetch_arrow_table

    def fetch_record_batch(self) -> Any:
        """The rows that are left, as a `pyarrow.RecordBatchReader` that reads as it goes."""
        pyarrow = _pyarrow()
        batches = (pyarrow.record_batch(batch) for batch in self._driver.fetch_record_batches())
        first = next(batches)
        return pyarrow.RecordBatchReader.from_batches(first.schema, _chained(first, batches))

    def fetch_arrow(self) -> Any:
        """The rows that are left, as an object with `__arrow_c_stream__`."""
        return self.fetch_record_batch()

    def fetch_df(self) -> Any:
        """The rows that are left, as a `pandas.DataFrame`."""
        return self.fetch_arrow_table().to_pandas()

    def fetch_polars(self) -> Any:
        """The rows that are left, as a `polars.DataFrame`."""
        return importlib.import_module("polars").from_arrow(self.fetch_arrow_table())

    def adbc_ingest(
        self,
        table_name: str,
        data: Any,
        mode: Mode = "create",
        *,
        catalog_name: str | None = None,
        db_schema_name: str | None = None,
        temporary: bool = False,
    ) -> int:
        """Put the rows of Arrow data into a table; how many there were.

        Args:
            table_name: the table, as it is: names are quoted.
            data: a `pyarrow` table, batch or reader, or what has `__arrow_c_stream__` or `__arrow_c_array__`.
            mode: `create` a table (an error if it is there), `append` to one that is there, `replace` it,
                `create_append`: make it if it is not there.
            catalog_name: MySQL: the database. Informix: refused.
            db_schema_name: Informix: the owner. MySQL: refused.
            temporary: make a temporary table.

        Raises:
            NotSupportedError: a type that the database has not, or the wrong kind of schema.
            ProgrammingError: the table is there, or is not.
            DataError: a value that its column does not hold.
        """
        pyarrow, kind = _pyarrow(), self._connection._kind
        if mode not in ("append", "create", "replace", "create_append"):
            raise ProgrammingError(f"mode is `{mode}`: append, create, replace or create_append")
        schema = self._schema(catalog_name, db_schema_name)
        reader = _reader(pyarrow, data)
        columns = [_plain(pyarrow, field) for field in reader.schema]
        types = [kind.type_of(pyarrow, field.type) for field in columns]
        table = kind.table(table_name, schema)
        run = self._driver.execute
        there = False
        if mode in ("replace", "create_append") and not temporary:
            there = bool(self._connection._rows(*kind.exists(table_name, schema)))
        if mode == "replace" and there:
            run(f"DROP TABLE {table}")
        if mode in ("create", "replace") or (mode == "create_append" and not there):
            named = ", ".join(f"{kind.quoted(field.name)} {ty}" for field, ty in zip(columns, types, strict=True))
            word = "TEMPORARY" if isinstance(kind, _MySQL) else "TEMP"
            run(f"CREATE {word + ' ' if temporary else ''}TABLE {table} ({named})")
        names = ", ".join(kind.quoted(field.name) for field in columns)
        markers = ", ".join([kind.marker] * len(columns))
        insert = f"INSERT INTO {table} ({names}) VALUES ({markers})"
        count = 0
        for batch in reader:
            for start in range(0, batch.num_rows, _BATCH):
                rows = _rows_of(_cast(pyarrow, batch.slice(start, _BATCH), columns))
                self._driver.executemany(insert, rows)
                count += len(rows)
        return count

    def _schema(self, catalog: str | None, schema: str | None) -> str | None:
        of_catalog = isinstance(self._connection._kind, _MySQL)
        wrong, word = (schema, "db_schema_name") if of_catalog else (catalog, "catalog_name")
        if wrong:
            raise NotSupportedError(f"{self._connection._kind.name} has no {word}")
        return (catalog if of_catalog else schema) or None

    def adbc_execute_schema(self, operation: str, parameters: Any = None) -> Any:
        """Not there: run it, or ask `Connection.adbc_get_table_schema`."""
        raise NotSupportedError("a query is not described without being run")

    def adbc_execute_partitions(self, operation: str, parameters: Any = None) -> Any:
        """Not there: see `rowferry.mysql.read_partitioned`."""
        raise NotSupportedError("results have no partitions: rowferry.mysql.read_partitioned reads tables by parts")

    def adbc_read_partition(self, partition: bytes) -> None:
        """Not there."""
        raise NotSupportedError("results have no partitions")

    def adbc_prepare(self, operation: str) -> Any:
        """Not there: statements are prepared by the driver when they are run."""
        raise NotSupportedError("statements are prepared when they are run")

    def adbc_cancel(self) -> None:
        """Stop the statement that another thread runs."""
        self._connection.adbc_cancel()

    def setinputsizes(self, sizes: Sequence[Any]) -> None:
        """Nothing, as PEP 249 allows."""

    def setoutputsize(self, size: int, column: int | None = None) -> None:
        """Nothing, as PEP 249 allows."""

    def close(self) -> None:
        """Close it; rows that were not fetched are given up."""
        self._driver.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


def _chained(first: Any, rest: Iterator[Any]) -> Iterator[Any]:
    yield first
    yield from rest


def _reader(pyarrow: Any, data: Any) -> Any:
    """The batches of Arrow data."""
    if isinstance(data, pyarrow.RecordBatchReader):
        return data
    if isinstance(data, pyarrow.RecordBatch):
        return pyarrow.Table.from_batches([data]).to_reader()
    if hasattr(data, "__arrow_c_stream__"):
        return pyarrow.RecordBatchReader.from_stream(data)
    if hasattr(data, "__arrow_c_array__"):
        return pyarrow.Table.from_batches([pyarrow.record_batch(data)]).to_reader()
    raise ProgrammingError(f"`{type(data).__name__}` is no Arrow data")


def _plain(pyarrow: Any, field: Any) -> Any:
    """A column without a dictionary; moments without a zone, in UTC, and no finer than microseconds."""
    ty = field.type.value_type if pyarrow.types.is_dictionary(field.type) else field.type
    if pyarrow.types.is_timestamp(ty):
        ty = pyarrow.timestamp("us")
    elif pyarrow.types.is_time64(ty):
        ty = pyarrow.time64("us")
    return field.with_type(ty)


def _cast(pyarrow: Any, batch: Any, columns: Iterable[Any]) -> Any:
    arrays = []
    for array, field in zip(batch.columns, columns, strict=True):
        try:
            arrays.append(array if array.type == field.type else array.cast(field.type))
        except pyarrow.ArrowInvalid as error:
            raise DataError(f"column {field.name}: {error}") from error
    return pyarrow.RecordBatch.from_arrays(arrays, names=[field.name for field in columns])


def _rows_of(data: Any) -> list[tuple[Any, ...]]:
    """The rows of an Arrow batch or table."""
    return list(zip(*(column.to_pylist() for column in data.columns), strict=True)) if data.num_columns else []


def _is_like(name: str, pattern: str | None) -> bool:
    """Whether a name fits a pattern of LIKE."""
    if pattern is None:
        return True
    shell = re.sub(r"([*?[])", r"[\1]", pattern).replace("%", "*").replace("_", "?")
    return fnmatch.fnmatchcase(name, shell)


def _objects_schema(pyarrow: Any) -> Any:
    """What `adbc_get_objects` answers, by ADBC's specification; what nobody tells here is null."""
    pa = pyarrow
    usage = pa.struct([(f"fk_{name}", pa.string()) for name in ("catalog", "db_schema", "table", "column_name")])
    constraint = pa.struct(
        [
            ("constraint_name", pa.string()),
            ("constraint_type", pa.string()),
            ("constraint_column_names", pa.list_(pa.string())),
            ("constraint_column_usage", pa.list_(usage)),
        ]
    )
    column = pa.struct(
        [
            ("column_name", pa.string()),
            ("ordinal_position", pa.int32()),
            ("remarks", pa.string()),
            ("xdbc_data_type", pa.int16()),
            ("xdbc_type_name", pa.string()),
            ("xdbc_column_size", pa.int32()),
            ("xdbc_decimal_digits", pa.int16()),
            ("xdbc_num_prec_radix", pa.int16()),
            ("xdbc_nullable", pa.int16()),
            ("xdbc_column_def", pa.string()),
            ("xdbc_sql_data_type", pa.int16()),
            ("xdbc_datetime_sub", pa.int16()),
            ("xdbc_char_octet_length", pa.int32()),
            ("xdbc_is_nullable", pa.string()),
            ("xdbc_scope_catalog", pa.string()),
            ("xdbc_scope_schema", pa.string()),
            ("xdbc_scope_table", pa.string()),
            ("xdbc_is_autoincrement", pa.bool_()),
            ("xdbc_is_generatedcolumn", pa.bool_()),
        ]
    )
    table = pa.struct(
        [
            ("table_name", pa.string()),
            ("table_type", pa.string()),
            ("table_columns", pa.list_(column)),
            ("table_constraints", pa.list_(constraint)),
        ]
    )
    schema = pa.struct([("db_schema_name", pa.string()), ("db_schema_tables", pa.list_(table))])
    return pa.schema([("catalog_name", pa.string()), ("catalog_db_schemas", pa.list_(schema))])
