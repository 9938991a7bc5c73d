"""Tools for tables of data at the PostgreSQL door: connectorx, polars, pandas, DuckDB's ATTACH, reading and writing."""

from __future__ import annotations

import datetime
from decimal import Decimal
from typing import Any

import connectorx
import duckdb
import pandas
import polars
import pytest
import sqlalchemy
from duckdb_extensions import import_extension

from tests.servers.rowferry import Rowferry

# connectorx makes frames by a function that pandas would rather have replaced.
pytestmark = pytest.mark.filterwarnings("ignore:make_block is deprecated")

ROWS = {
    "id": [1, 2, 3],
    "label": ["bolt", None, "nüt"],
    "weight": [1.5, 2.5, None],
    "made": [datetime.date(2024, 2, 29), None, datetime.date(1999, 12, 31)],
    "seen": [datetime.datetime(2024, 1, 2, 3, 4, 5, 6), None, datetime.datetime(1970, 1, 1)],
    "good": [True, False, None],
}


def sqlalchemy_url(server: Rowferry) -> str:
    return server.postgres_dsn.replace("postgresql://", "postgresql+psycopg2://")


@pytest.mark.parametrize("protocol", ["binary", "csv", "cursor", "simple"])
def test_connectorx_reads(store: Rowferry, protocol: str) -> None:
    url = f"{store.postgres_dsn}?sslmode=disable"
    query = "SELECT order_id, placed_at, status, gift, note FROM orders ORDER BY order_id"
    found = connectorx.read_sql(url, query, protocol=protocol)
    expected = pandas.read_sql(query, sqlalchemy.create_engine(sqlalchemy_url(store)))
    assert len(found) == len(expected) > 1000
    for column in ("order_id", "placed_at", "status"):
        assert found[column].tolist() == expected[column].tolist()


def test_connectorx_reads_by_parts(store: Rowferry) -> None:
    url = f"{store.postgres_dsn}?sslmode=disable"
    query = "SELECT * FROM orders"
    table = connectorx.read_sql(url, query, partition_on="order_id", partition_num=3, return_type="arrow")
    assert table.num_rows == connectorx.read_sql(url, query).shape[0]


@pytest.mark.parametrize("engine", ["adbc", "sqlalchemy"])
def test_polars_writes_and_reads(served: Rowferry, engine: Any) -> None:
    frame = polars.DataFrame(ROWS)
    place = served.postgres_dsn if engine == "adbc" else sqlalchemy_url(served)
    assert frame.write_database("item", place, engine=engine, if_table_exists="replace") == 3
    frame.write_database("item", place, engine=engine, if_table_exists="append")
    query = "SELECT * FROM item ORDER BY id"
    for reader in ("adbc", "connectorx"):
        url = served.postgres_dsn if reader == "adbc" else f"{served.postgres_dsn}?sslmode=disable"
        found = polars.read_database_uri(query, url, engine=reader)
        assert found.rows() == [row for row in frame.rows() for _ in range(2)], reader


def test_pandas_writes_and_reads(served: Rowferry) -> None:
    engine = sqlalchemy.create_engine(sqlalchemy_url(served))
    frame = pandas.DataFrame({"id": [1, 2], "label": ["bolt", None], "weight": [1.5, None]})
    frame.to_sql("item", engine, index=False)
    frame.to_sql("item", engine, index=False, if_exists="append", method="multi")
    found = pandas.read_sql_table("item", engine)
    pandas.testing.assert_frame_equal(found, pandas.concat([frame, frame], ignore_index=True))
    engine.dispose()


@pytest.fixture
def duck(store: Rowferry) -> Any:
    """DuckDB with the door attached as `pg`."""
    import_extension("postgres_scanner")
    assert store.postgres is not None
    host, port = store.postgres
    with duckdb.connect() as connection:
        connection.execute("LOAD postgres_scanner")
        connection.execute(f"ATTACH 'host={host} port={port} user=ada dbname={store.dbname}' AS pg (TYPE postgres)")
        yield connection
        connection.execute("DROP TABLE IF EXISTS pg.duck")


def test_duckdb_reads_by_ranges_of_pages(duck: duckdb.DuckDBPyConnection, store: Rowferry) -> None:
    engine = sqlalchemy.create_engine(sqlalchemy_url(store))
    expected = pandas.read_sql("SELECT status, count(*) AS n FROM orders GROUP BY status ORDER BY status", engine)
    found = duck.execute("SELECT status, count(*) FROM pg.orders GROUP BY status ORDER BY status").fetchall()
    assert found == list(expected.itertuples(index=False, name=None))
    joined = "SELECT count(*) FROM pg.orders o JOIN pg.customers c USING (customer_id) WHERE o.order_id < 100"
    assert duck.execute(joined).fetchone() == (99,)
    # Pages are read in parallel, in transactions that see one snapshot.
    duck.execute("SET pg_pages_per_task = 1")
    assert duck.execute("SELECT count(*) FROM pg.orders").fetchone() == (int(expected["n"].sum()),)
    assert duck.execute("SELECT * FROM postgres_query('pg', 'SELECT 41 + 1')").fetchone() == (42,)


def test_duckdb_writes(duck: duckdb.DuckDBPyConnection) -> None:
    duck.execute(
        "CREATE TABLE pg.duck AS SELECT i AS id, 'v' || i AS v, i * 1.5::DECIMAL(10, 2) AS p, "
        "DATE '2024-01-01' + i::INT AS d, TIMESTAMP '2024-01-02 03:04:05.678' AS t, i % 2 = 0 AS b, [i, i + 1] AS l "
        "FROM range(5000) r(i)"
    )
    assert duck.execute("SELECT count(*), sum(p), max(d), max(t), count(*) FILTER (b) FROM pg.duck").fetchone() == (
        5000,
        Decimal("18746250.00"),
        datetime.date(2037, 9, 8),
        datetime.datetime(2024, 1, 2, 3, 4, 5, 678000),
        2500,
    )
    assert duck.execute("SELECT l FROM pg.duck WHERE id = 7").fetchone() == ([7, 8],)
    # Rows are found by their ctid.
    duck.execute("UPDATE pg.duck SET v = 'z' WHERE id < 10")
    duck.execute("DELETE FROM pg.duck WHERE id >= 4000")
    assert duck.execute("SELECT count(*), count(*) FILTER (v = 'z') FROM pg.duck").fetchone() == (4000, 10)
    duck.execute("BEGIN")
    duck.execute("INSERT INTO pg.duck (id) VALUES (99999)")
    assert duck.execute("SELECT count(*) FROM pg.duck WHERE id = 99999").fetchone() == (1,)
    duck.execute("ROLLBACK")
    assert duck.execute("SELECT count(*) FROM pg.duck WHERE id = 99999").fetchone() == (0,)
