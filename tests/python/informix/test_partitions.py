"""One query over several connections: every row once, whatever the column; errors end the others."""

from __future__ import annotations

import asyncio
import datetime
import threading
from collections.abc import Callable, Iterator
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from rowferry import informix
from rowferry.informix import IntervalYM, aio
from rowferry.informix._literals import literal, name

from tests.python.informix.server import Target

Read = Callable[..., Any]
ROWS = 1000


@pytest.fixture(params=["sync", "asyncio"])
def colour(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def read(colour: str) -> Read:
    if colour == "sync":
        return informix.read_partitioned
    return lambda *args, **options: asyncio.run(aio.read_partitioned(*args, **options))


@pytest.fixture
def stream(colour: str) -> Read:
    """All batches of `stream_partitioned`, or the first few."""

    def blocking(*args: Any, most: int = 10**9, **options: Any) -> list[Any]:
        batches = []
        for batch in informix.stream_partitioned(*args, **options):
            batches.append(batch)
            if len(batches) == most:
                break
        return batches

    async def coroutine(args: Any, most: int, options: Any) -> list[Any]:
        batches = []
        stream = aio.stream_partitioned(*args, **options)
        async for batch in stream:
            batches.append(batch)
            if len(batches) == most:
                break
        await stream.aclose()  # type: ignore[attr-defined]
        return batches

    def asynchronous(*args: Any, most: int = 10**9, **options: Any) -> list[Any]:
        return asyncio.run(coroutine(args, most, options))

    return blocking if colour == "sync" else asynchronous


@pytest.fixture(scope="module")
def source(target: Target) -> dict[str, Any]:
    """What `connect` takes, without a password in a URL that somebody may print."""
    return {**target.parameters, "host": target.url, "env": {"DELIMIDENT": "y"}}


@pytest.fixture(scope="module")
def parted(source: dict[str, Any]) -> Iterator[str]:
    """Keys of every kind, some of them NULL, one with few values and one skewed."""
    with informix.connect(**source, autocommit=True) as connection, connection.cursor() as cursor:
        cursor.execute("DROP TABLE IF EXISTS parted")
        cursor.execute(
            "CREATE TABLE parted (n INTEGER PRIMARY KEY, big INT8, d DECIMAL(30,10), f FLOAT, day DATE,"
            " moment DATETIME YEAR TO FRACTION(5), clock DATETIME HOUR TO SECOND,"
            " span INTERVAL DAY(5) TO FRACTION(3), months INTERVAL YEAR(4) TO MONTH, word VARCHAR(40), few SMALLINT,"
            ' skewed INTEGER, "Odd name" INTEGER)'
        )
        rows = []
        for n in range(ROWS):
            null = n % 50 == 0
            values = [
                2**62 - n * 10**13,
                Decimal(n * 7 - 5000) / 1000,
                n / 7 - 100,
                datetime.date(1999, 12, 31) + datetime.timedelta(days=n % 700),
                datetime.datetime(2020, 1, 1) + datetime.timedelta(seconds=n * 977, microseconds=n * 10),
                datetime.time(n % 24, n % 60, n % 59),
                datetime.timedelta(seconds=(n - ROWS // 2) * 60, milliseconds=n % 1000),
                IntervalYM(n - 300),
                f"{'aAbBcC'[n % 6]}'{n % 90}",
                n % 3,
                1 if n % 10 else n,
                n,
            ]
            rows.append((n, *(None if null else value for value in values)))
        cursor.executemany(f"INSERT INTO parted VALUES ({', '.join(['?'] * 13)})", rows)
        yield "parted"
        cursor.execute("DROP TABLE parted")


COLUMNS = "n big d f day moment clock span months word few skewed".split()


@pytest.mark.parametrize("on", [*COLUMNS, "Odd name"])
def test_every_row_comes_once(read: Read, source: dict[str, Any], parted: str, on: str) -> None:
    for options in ({"partitions": 3}, {"partitions": 4, "quantiles": True}):
        read_back = read(source, f"SELECT * FROM {parted}", on=on, **options)
        assert isinstance(read_back, pa.Table)
        assert sorted(read_back.column("n").to_pylist()) == list(range(ROWS))


@pytest.mark.parametrize("on", ["n", "day", "moment", "span", "word", "clock"])
def test_the_query_is_cut(source: dict[str, Any], parted: str, on: str) -> None:
    made = informix.partition_statements(source, f"SELECT * FROM {parted} WHERE n >= ?", (10,), on=on, partitions=4)
    assert len(made) == 4
    with informix.connect(**source) as connection:
        counts = [len(connection.execute(statement, (10,)).fetchall()) for statement in made]
    assert sum(counts) == ROWS - 10
    assert all(count > 100 for count in counts)


def test_rows_in_place_of_a_table(read: Read, source: dict[str, Any], parted: str) -> None:
    # In the order of the ranges; inside of each it is the server's.
    query = f"SELECT n, word FROM {parted} WHERE n >= :least AND word LIKE 'a%'"
    rows = read(source, query, {"least": 100}, on="n", rows=True)
    assert sorted(rows) == [(n, f"a'{n % 90}") for n in range(100, ROWS) if n % 6 == 0 and n % 50]


def test_queries_of_every_shape(read: Read, source: dict[str, Any], parted: str) -> None:
    for query, count in [
        (f"SELECT FIRST 10 n, d FROM {parted} ORDER BY n;", 10),
        (f"SELECT n, d FROM {parted} -- all of them", ROWS),
        (f"SELECT few AS n, COUNT(*) AS c FROM {parted} GROUP BY few", 4),
        (f"SELECT n FROM {parted} WHERE n < 0", 0),
        (f"SELECT n FROM {parted} WHERE n = 7", 1),
        (f"SELECT n FROM {parted} WHERE n < 5 UNION ALL SELECT n FROM {parted} WHERE n > 990", 14),
    ]:
        for partitions in (1, 3):
            assert read(source, query, on="n", partitions=partitions).num_rows == count, query


def test_batches_as_they_come(stream: Read, source: dict[str, Any], parted: str) -> None:
    batches = stream(source, f"SELECT n FROM {parted}", on="n", partitions=3, size=100)
    assert max(len(batch) for batch in batches) == 100
    assert sorted(pa.Table.from_batches(map(pa.record_batch, batches)).column("n").to_pylist()) == list(range(ROWS))
    (empty,) = stream(source, f"SELECT n FROM {parted} WHERE n < 0", on="n")
    assert (len(empty), empty.column_names) == (0, ["n"])


def test_leaving_early_ends_all_statements(stream: Read, source: dict[str, Any], parted: str) -> None:
    # Two gigabytes, which nobody waits for.
    query = f"SELECT a.n, LPAD('x', 2000, 'x') AS x FROM {parted} a, {parted} b"
    (batch,) = stream(source, query, on="n", partitions=2, size=50, most=1)
    assert len(batch) == 50
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("rowferry partition")]


def test_the_first_error_ends_the_others(read: Read, source: dict[str, Any], parted: str) -> None:
    """One range divides by nothing, of the other nobody waits for its gigabyte."""
    query = f"SELECT a.n, 1 / (a.n - 3) AS doomed, LPAD('x', 2000, 'x') AS x FROM {parted} a, {parted} b"
    with pytest.raises(informix.DatabaseError) as caught:
        read(source, query, on="n", partitions=2)
    assert caught.value.sqlcode == -1202


def test_through_a_pool(colour: str, source: dict[str, Any], parted: str) -> None:
    query = f"SELECT * FROM {parted}"
    if colour == "sync":
        with informix.create_pool(max_size=2, **source) as pool:
            assert informix.read_partitioned(pool, query, on="n", partitions=5).num_rows == ROWS
        return

    async def main() -> None:
        async with aio.create_pool(max_size=2, **source) as pool:
            assert (await aio.read_partitioned(pool, query, on="n", partitions=5)).num_rows == ROWS

    asyncio.run(main())


def test_what_makes_no_sense_is_refused(read: Read, source: dict[str, Any], parted: str) -> None:
    with pytest.raises(informix.ProgrammingError, match="at least one partition"):
        read(source, f"SELECT n FROM {parted}", on="n", partitions=0)
    for query, on in ((f"SELECT n FROM {parted}", "nowhere"), ("SELEKT", "n")):
        with pytest.raises(informix.DatabaseError):
            read(source, query, on=on)


def test_values_are_spelled_so_that_no_format_matters() -> None:
    for value, text in [
        (-7, "-7"),
        (Decimal("1E+3"), "1000"),
        (0.1, "0.1e0"),
        (1e300, "1e+300"),
        (True, "'t'"),
        (datetime.date(2026, 11, 29), "MDY(11,29,2026)"),
        (datetime.datetime(1, 2, 3, 4, 5, 6, 789), "DATETIME (0001-02-03 04:05:06.00078) YEAR TO FRACTION(5)"),
        (datetime.time(1, 2, 3), "DATETIME (01:02:03.00000) HOUR TO FRACTION(5)"),
        (datetime.timedelta(seconds=-90061, microseconds=-5), "INTERVAL (-1 01:01:01.00000) DAY(9) TO FRACTION(5)"),
        (IntervalYM(-14), "INTERVAL (-1-02) YEAR(9) TO MONTH"),
        ("it's", "'it''s'"),
    ]:
        assert literal(value) == text
    for value in (b"x", float("nan"), Decimal("Infinity"), None):
        with pytest.raises(informix.ProgrammingError, match="cannot be spelled"):
            literal(value)
    assert [name(column) for column in ("n1_", "Odd name", '1"')] == ["n1_", '"Odd name"', '"1"""']
