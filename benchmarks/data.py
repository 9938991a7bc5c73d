"""The tables that scenarios read: rows from arithmetic alone, so that every target holds the same."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any

#: Rows of `bench_rows`, behind the PostgreSQL and Informix doors and in PostgreSQL itself.
NARROW_ROWS = 10_000
#: Rows of `bench_wide`, in MariaDB.
WIDE_ROWS = 50_000

NARROW_TABLE = """\
CREATE TABLE bench_rows (
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


def narrow_rows() -> Iterator[tuple[Any, ...]]:
    """`bench_rows`, with amounts as `Decimal` and times as `datetime`."""
    for number in range(1, NARROW_ROWS + 1):
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
