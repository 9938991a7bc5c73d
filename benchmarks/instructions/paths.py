"""The hot paths: what is done, by whom, and which end is counted."""

from __future__ import annotations

import asyncio
import io
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from .. import data

#: Does the work once; as many operations as the path says.
Work = Callable[[], object]
Address = dict[str, Any]

#: Rows of the table that is read.
ROWS = 1_000
_COLUMNS = "id, name, city, amount, quantity, placed_at"
_POINT = f"SELECT {_COLUMNS} FROM hot WHERE id = "
_ALL = f"SELECT {_COLUMNS} FROM hot ORDER BY id"
_TIMES = 200


@dataclass(frozen=True)
class HotPath:
    """One kind of work."""

    name: str
    #: Opens a connection to the address and yields the work.
    open: Callable[[Address], Any]
    #: What the count is divided by.
    operations: int
    #: Who is at the other end: `postgres`, `informix`, `mariadb`, or `behind`, Informix's door in front of PostgreSQL.
    server: str
    #: Whose instructions count: those of our server, or else those of the Python process with our driver.
    counts_server: bool


def _ids(times: int = _TIMES) -> list[int]:
    return [number * 37 % ROWS + 1 for number in range(times)]


@contextmanager
def _point_prepared(address: Address) -> Iterator[Work]:
    import psycopg

    with psycopg.connect(address["dsn"], autocommit=True) as connection, connection.cursor(binary=True) as cursor:

        def work() -> None:
            for number in _ids():
                cursor.execute(_POINT + "%s", (number,), prepare=True)
                cursor.fetchall()

        yield work


@contextmanager
def _point_literal(address: Address) -> Iterator[Work]:
    import psycopg2

    connection = psycopg2.connect(address["dsn"])
    connection.autocommit = True
    cursor = connection.cursor()

    def work() -> None:
        for number in _ids():
            cursor.execute(_POINT + "%s", (number,))
            cursor.fetchall()

    yield work
    connection.close()


def _reading(*, binary: bool) -> Callable[[Address], Any]:
    @contextmanager
    def opened(address: Address) -> Iterator[Work]:
        import psycopg

        with (
            psycopg.connect(address["dsn"], autocommit=True) as connection,
            connection.cursor(binary=binary) as cursor,
        ):
            yield lambda: cursor.execute(_ALL, prepare=True).fetchall()

    return opened


@contextmanager
def _update_prepared(address: Address) -> Iterator[Work]:
    import psycopg

    sql = "UPDATE hot SET quantity = quantity + 1 WHERE id = %s"
    with psycopg.connect(address["dsn"]) as connection, connection.cursor() as cursor:

        def work() -> None:
            for number in _ids():
                cursor.execute(sql, (number,), prepare=True)
            connection.rollback()

        yield work


def _psycopg(address: Address) -> Any:
    import psycopg

    return psycopg.connect(address["dsn"])


def _informix(address: Address) -> Any:
    from rowferry import informix

    return informix.connect(**address)


def _mysql(address: Address) -> Any:
    from rowferry import mysql

    return mysql.connect(**address, ssl_mode="disabled", autocommit=False)


def _points(connect: Callable[[Address], Any], mark: str) -> Callable[[Address], Any]:
    """A row by its key, with a driver's placeholder."""

    @contextmanager
    def opened(address: Address) -> Iterator[Work]:
        with connect(address) as connection:
            cursor = connection.cursor()

            def work() -> None:
                for number in _ids():
                    cursor.execute(_POINT + mark, (number,))
                    cursor.fetchall()

            yield work

    return opened


@contextmanager
def _informix_connecting(address: Address) -> Iterator[Work]:
    def work() -> None:
        for _ in range(_TIMES):
            _informix(address).close()

    yield work


def _rows(connect: Callable[[Address], Any]) -> Callable[[Address], Any]:
    """All rows."""

    @contextmanager
    def opened(address: Address) -> Iterator[Work]:
        with connect(address) as connection:
            cursor = connection.cursor()

            def work() -> None:
                cursor.execute(_ALL)
                cursor.fetchall()

            yield work

    return opened


def _executemany(connect: Callable[[Address], Any]) -> Callable[[Address], Any]:
    """Rows that are written, and taken back."""
    sql = "INSERT INTO hot_written VALUES (%s, %s, %s, %s, %s)"
    rows = data.written_rows(ROWS)

    @contextmanager
    def opened(address: Address) -> Iterator[Work]:
        with connect(address) as connection:
            cursor = connection.cursor()

            def work() -> None:
                cursor.executemany(sql, rows)
                connection.rollback()

            yield work

    return opened


@contextmanager
def _copy_in(address: Address) -> Iterator[Work]:
    import psycopg2

    lines = "".join(
        "\t".join("\\N" if value is None else str(value) for value in row) + "\n" for row in data.written_rows(ROWS)
    )
    connection = psycopg2.connect(address["dsn"])
    cursor = connection.cursor()

    def work() -> None:
        cursor.copy_expert("COPY hot_written FROM STDIN", io.StringIO(lines))
        connection.rollback()

    yield work
    connection.close()


@contextmanager
def _copy_out(address: Address) -> Iterator[Work]:
    import psycopg2

    connection = psycopg2.connect(address["dsn"])
    cursor = connection.cursor()
    yield lambda: cursor.copy_expert("COPY hot TO STDOUT", io.StringIO())
    connection.close()


@contextmanager
def _grouping(address: Address) -> Iterator[Work]:
    import psycopg

    sql = "SELECT city, count(*), sum(amount), avg(amount) FROM hot GROUP BY city ORDER BY city"
    with psycopg.connect(address["dsn"], autocommit=True) as connection, connection.cursor() as cursor:
        yield lambda: cursor.execute(sql, prepare=True).fetchall()


@contextmanager
def _mysql_point_asyncio(address: Address) -> Iterator[Work]:
    from rowferry.mysql import aio

    with asyncio.Runner() as runner:
        connection = runner.run(aio.connect(**address, ssl_mode="disabled"))

        async def points() -> None:
            async with connection.cursor() as cursor:
                for number in _ids():
                    await cursor.execute(_POINT + "%s", (number,))
                    await cursor.fetchall()

        yield lambda: runner.run(points())
        runner.run(connection.ensure_closed())


#: By name, in the order in which they are counted.
PATHS = {
    path.name: path
    for path in (
        HotPath("pg_point_prepared", _point_prepared, _TIMES, "postgres", True),
        HotPath("pg_point_literal", _point_literal, _TIMES, "postgres", True),
        HotPath("pg_rows_text", _reading(binary=False), ROWS, "postgres", True),
        HotPath("pg_rows_binary", _reading(binary=True), ROWS, "postgres", True),
        HotPath("pg_update_prepared", _update_prepared, _TIMES, "postgres", True),
        HotPath("pg_executemany", _executemany(_psycopg), ROWS, "postgres", True),
        HotPath("pg_copy_in", _copy_in, ROWS, "postgres", True),
        HotPath("pg_copy_out", _copy_out, ROWS, "postgres", True),
        HotPath("pg_grouping", _grouping, ROWS, "postgres", True),
        HotPath("informix_point", _points(_informix, "?"), _TIMES, "informix", True),
        HotPath("informix_rows", _rows(_informix), ROWS, "informix", True),
        HotPath("informix_connect", _informix_connecting, _TIMES, "informix", True),
        HotPath("informix_driver_connect", _informix_connecting, _TIMES, "informix", False),
        HotPath("informix_driver_point", _points(_informix, "?"), _TIMES, "informix", False),
        HotPath("informix_driver_rows", _rows(_informix), ROWS, "informix", False),
        HotPath("behind_informix_point", _points(_informix, "?"), _TIMES, "behind", True),
        HotPath("mysql_driver_point", _points(_mysql, "%s"), _TIMES, "mariadb", False),
        HotPath("mysql_driver_point_asyncio", _mysql_point_asyncio, _TIMES, "mariadb", False),
        HotPath("mysql_driver_rows", _rows(_mysql), ROWS, "mariadb", False),
        HotPath("mysql_driver_executemany", _executemany(_mysql), ROWS, "mariadb", False),
    )
}
