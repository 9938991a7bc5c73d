"""The tables that scenarios read: rows from arithmetic alone, so that every target holds the same."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any

#: Rows of `bench_rows`, behind the PostgreSQL and Informix doors and in PostgreSQL itself.
NARROW_ROWS = 10_000
#: Rows of `bench_many`, which is `bench_rows` and goes on.
MANY_ROWS = 100_000
#: Rows of `bench_wide`, in MariaDB.
WIDE_ROWS = 50_000

#: `{table}` is `bench_rows` or `bench_many`.
NARROW_TABLE = """\
CREATE TABLE {table} (
    id        integer NOT NULL PRIMARY KEY,
    name      varchar(40) NOT NULL,
    city      varchar(40),
    amount    numeric(10,2) NOT NULL,
    quantity  integer NOT NULL,
    placed_at timestamp NOT NULL
)"""

#: Empty; scenarios that write fill it. `{timestamp}` is the server's word for a moment without zone.
WRITTEN_TABLE = """\
CREATE TABLE bench_written (
    id        integer NOT NULL PRIMARY KEY,
    name      varchar(40) NOT NULL,
    amount    numeric(10,2) NOT NULL,
    quantity  integer,
    placed_at {timestamp} NOT NULL
)"""

WIDE_TABLE = """\
CREATE TABLE bench_wide (
    id       int NOT NULL PRIMARY KEY,
    quantity int NOT NULL,
    serial   bigint NOT NULL,
    price    decimal(12,2) NOT NULL,
    ratio    double NOT NULL,
    name     varchar(20) NOT NULL,
    comment  varchar(80) NULL,
    day      date NOT NULL,
    placed   datetime NOT NULL
) CHARACTER SET utf8mb4"""

_EPOCH = datetime(2025, 1, 1)


def narrow_rows(count: int = NARROW_ROWS) -> Iterator[tuple[Any, ...]]:
    """`bench_rows`, with amounts as `Decimal` and times as `datetime`."""
    for number in range(1, count + 1):
        yield (
            number,
            f"Customer {number:05}",
            None if number % 17 == 0 else f"City {number % 211}",
            Decimal(number * 37 % 1_000_000) / 100,
            number * 13 % 10_000,
            _EPOCH + timedelta(seconds=number * 3_607),
        )


def wide_rows() -> Iterator[tuple[Any, ...]]:
    """`bench_wide`: three integers, a decimal, a double, two strings, a date and a datetime."""
    for number in range(1, WIDE_ROWS + 1):
        yield (
            number,
            number * 31 % 100_000,
            number * 1_000_003_000_037,
            Decimal(number * 7_919 % 100_000_000) / 100,
            number / 8,
            f"name-{number:012}",
            None if number % 11 == 0 else f"A comment of some forty characters, {number:06}",
            date(2020, 1, 1) + timedelta(days=number % 2_000),
            _EPOCH + timedelta(seconds=number * 61),
        )


#: Arrays of each size in `bench_arrays`.
ARRAY_ROWS = 200
ARRAY_TABLE = "CREATE TABLE {table} (id integer NOT NULL PRIMARY KEY, numbers integer[] NOT NULL)"


def array_rows(size: int, count: int, start: int = 0) -> list[tuple[int, list[int]]]:
    """Numbers behind `start`, each with an array of `size` integers."""
    return [(start + row, [row * 7_919 + at * 31 for at in range(size)]) for row in range(1, count + 1)]


def written_rows(count: int) -> list[tuple[Any, ...]]:
    """The first `count` rows for `bench_written`."""
    return [
        (
            number,
            f"Written {number:07}",
            Decimal(number * 41 % 1_000_000) / 100,
            None if number % 19 == 0 else number * 3,
            _EPOCH + timedelta(seconds=number * 77),
        )
        for number in range(1, count + 1)
    ]


@dataclass(frozen=True)
class CellType:
    """A type of Informix whose cells are measured alone, in the table `cells_NAME` of `CELL_COLUMNS` columns."""

    name: str
    declaration: str
    make: Callable[[int], Any]

    @property
    def table(self) -> str:
        """The table with cells of this type."""
        return f"cells_{self.name}"

    @property
    def columns(self) -> list[str]:
        """The names of its columns."""
        return [f"c{number}" for number in range(1, CELL_COLUMNS + 1)]

    def rows(self) -> Iterator[tuple[Any, ...]]:
        """The rows of the table; one in 13 cells is NULL."""
        for row in range(CELL_ROWS):
            numbers = range(row * CELL_COLUMNS + 1, (row + 1) * CELL_COLUMNS + 1)
            yield tuple(None if number % 13 == 0 else self.make(number) for number in numbers)


@dataclass(frozen=True)
class TypedTable:
    """A table of MySQL's with `WIDE_ROWS` rows and `TYPED_COLUMNS` columns of one type."""

    name: str
    declaration: str
    make: Callable[[int], Any]

    @property
    def table(self) -> str:
        """Its name."""
        return f"typed_{self.name}"

    @property
    def columns(self) -> list[str]:
        """The names of its columns."""
        return [f"c{number}" for number in range(1, TYPED_COLUMNS + 1)]

    def rows(self) -> Iterator[tuple[Any, ...]]:
        """The rows of the table."""
        for row in range(WIDE_ROWS):
            yield tuple(self.make(row * TYPED_COLUMNS + number) for number in range(1, TYPED_COLUMNS + 1))


TYPED_COLUMNS = 4

TYPED_TABLES = (
    TypedTable("int", "int", lambda n: n * 7_919 - 50_000_000),
    TypedTable("varchar", "varchar(60) CHARACTER SET utf8mb4", lambda n: f"Some text of a row {n:08}"),
    TypedTable("datetime", "datetime", lambda n: _EPOCH + timedelta(seconds=n * 61)),
    TypedTable("decimal", "decimal(12,2)", lambda n: Decimal(n * 7_919 % 10_000_000_000) / 100),
    TypedTable("double", "double", lambda n: n / 8),
    TypedTable("blob", "blob", lambda n: bytes((n + at) % 256 for at in range(40))),
    TypedTable(
        "json", "json", lambda n: f'{{"id": {n}, "name": "Customer {n % 1_000}", "tags": ["a", "b"], "rate": {n / 8}}}'
    ),
)

CELL_ROWS = 2_000
CELL_COLUMNS = 8

CELL_TYPES = (
    CellType("smallint", "smallint", lambda n: n % 32_000 - 16_000),
    CellType("integer", "integer", lambda n: n * 7_919 - 50_000_000),
    CellType("bigint", "bigint", lambda n: n * 1_000_003_000_037),
    CellType("int8", "int8", lambda n: n * 1_000_003_000_037),
    CellType("smallfloat", "smallfloat", lambda n: n / 8),
    CellType("float", "float", lambda n: n / 8),
    CellType("decimal_10_2", "decimal(10,2)", lambda n: Decimal(n * 7_919 % 100_000_000) / 100),
    CellType("decimal_32_8", "decimal(32,8)", lambda n: Decimal(n * 10**20 + n * 7_919) / 10**8),
    CellType("money", "money(16,2)", lambda n: Decimal(n * 7_919 % 100_000_000) / 100),
    CellType("char_20", "char(20)", lambda n: f"Text {n:08}"),
    CellType("varchar_40", "varchar(40)", lambda n: f"Some text of a row {n:08}"),
    CellType("nvarchar_40", "nvarchar(40)", lambda n: f"Some text of a row {n:08}"),
    CellType("lvarchar_500", "lvarchar(500)", lambda n: f"A longer text, the length of a sentence perhaps, {n:08}"),
    CellType("boolean", "boolean", lambda n: n % 2 == 0),
    CellType("date", "date", lambda n: date(2020, 1, 1) + timedelta(days=n % 2_000)),
    CellType("datetime", "datetime year to second", lambda n: _EPOCH + timedelta(seconds=n * 61)),
    CellType(
        "datetime_fraction",
        "datetime year to fraction(5)",
        lambda n: _EPOCH + timedelta(seconds=n * 61, microseconds=n % 100_000 * 10),
    ),
    CellType("datetime_time", "datetime hour to second", lambda n: time(n // 3_600 % 23 + 1, n // 60 % 60, n % 60)),
    CellType("interval", "interval day(5) to second", lambda n: timedelta(seconds=n * 3_607)),
)

#: Bytes of a BYTE and characters of a TEXT value.
LOB_BYTES = 1_000_000
LOB_TABLE = "CREATE TABLE {table} (id integer NOT NULL PRIMARY KEY, picture byte, document text)"


def lob_rows(count: int) -> list[tuple[Any, ...]]:
    """Rows for the tables of `LOB_TABLE`: a number, bytes of every value, and text."""
    picture = bytes(range(256)) * (LOB_BYTES // 256)
    document = "Sphinx of black quartz, judge my vow. "
    document *= LOB_BYTES // len(document)
    return [(number, picture, document) for number in range(1, count + 1)]
