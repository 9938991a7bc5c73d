"""ADBC's PostgreSQL driver: Arrow over binary COPY, both ways; what it asks of the catalogs.

`values.txt` holds a type, a value as text, and how it reads on a PostgreSQL 15, on a line; bytes in hexadecimal digits.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import adbc_driver_postgresql.dbapi as adbc
import pyarrow as pa
import pytest

from tests.servers.rowferry import Rowferry

VALUES = [line.split("\t") for line in (Path(__file__).parent / "values.txt").read_text().splitlines()]


@pytest.fixture
def connection(served: Rowferry) -> Iterator[Any]:
    with adbc.connect(served.postgres_dsn) as connection:
        yield connection


def shown(value: Any) -> str:
    return value.hex() if isinstance(value, bytes) else str(value)


def table(connection: Any, sql: str, parameters: Any = None) -> pa.Table:
    with connection.cursor() as cursor:
        cursor.execute(sql, parameters)
        return cursor.fetch_arrow_table()


def rows(connection: Any, sql: str, parameters: Any = None) -> list[tuple[Any, ...]]:
    return [tuple(row.values()) for row in table(connection, sql, parameters).to_pylist()]


def run(connection: Any, *statements: str) -> None:
    with connection.cursor() as cursor:
        for statement in statements:
            cursor.execute(statement)


def test_every_type_reads_as_from_postgresql(connection: Any) -> None:
    for name, text, expected in VALUES:
        # A column behind it would shift if a width were wrong.
        found = rows(connection, f"SELECT '{text}'::{name}, 7 UNION ALL SELECT NULL, 8")
        assert [(shown(value), after) for value, after in found] == [(expected, 7), ("None", 8)], name


def test_arrays_read_as_from_postgresql(connection: Any) -> None:
    for name, text, expected in VALUES:
        ((members, after),) = rows(connection, f"SELECT ARRAY['{text}'::{name}, NULL], 7")
        # The driver knows no arrays of ranges, whose bytes it hands out.
        if isinstance(members, list):
            assert [shown(member) for member in members] == [expected, "None"], name
        assert after == 7


def test_users_types_are_known_to_the_next_connection(served: Rowferry) -> None:
    with adbc.connect(served.postgres_dsn, autocommit=True) as maker:
        run(maker, "CREATE TYPE mood AS ENUM ('sad', 'ok')", "CREATE TYPE pair AS (x int, y text)")
        run(maker, "CREATE TABLE t (m mood, p pair)", "INSERT INTO t VALUES ('ok', (1, 'q'))")
    with adbc.connect(served.postgres_dsn) as reader:
        assert rows(reader, "SELECT * FROM t") == [("ok", {"x": 1, "y": "q"})]


INGESTED = pa.table(
    {
        "b": pa.array([True, None]),
        "i16": pa.array([1, None], pa.int16()),
        "i32": pa.array([-(2**31), None], pa.int32()),
        "i64": pa.array([2**63 - 1, None], pa.int64()),
        "f32": pa.array([1.5, None], pa.float32()),
        "f64": pa.array([-2.5e100, None]),
        "s": pa.array(["Zoë", ""]),
        "bytes": pa.array([b"\0\xff", None]),
        "d": pa.array([date(2024, 2, 29), None]),
        "t": pa.array([time(1, 2, 3, 4), None], pa.time64("us")),
        "ts": pa.array([datetime(2024, 2, 29, 1, 2, 3, 4), None], pa.timestamp("us")),
        "span": pa.array([timedelta(1, 2, 3), None], pa.duration("us")),
        "price": pa.array([Decimal("-12.50"), None], pa.decimal128(10, 2)),
        "ints": pa.array([[1, None], None], pa.list_(pa.int32())),
        "words": pa.array([["a", None], []], pa.list_(pa.string())),
        "word": pa.array(["a", None]).dictionary_encode(),
    }
)


def ingest(connection: Any, name: str, mode: str, **options: Any) -> int:
    with connection.cursor() as cursor:
        count: int = cursor.adbc_ingest(name, INGESTED, mode=mode, **options)
    connection.commit()
    return count


def test_ingest_creates_appends_replaces(connection: Any) -> None:
    assert ingest(connection, "Ingested", "create") == 2
    assert ingest(connection, "Ingested", "append") == 2
    (found, _, again, _) = table(connection, 'SELECT * FROM "Ingested"').to_pylist()
    assert found == again
    given = {**INGESTED.to_pylist()[0], "price": "-12.5", "span": pa.MonthDayNano([0, 0, 86_402_000_003_000])}
    assert found == given
    assert ingest(connection, "Ingested", "replace") == 2
    assert ingest(connection, "Ingested", "create_append") == 2
    assert rows(connection, 'SELECT count(*) AS rows, count(price) AS prices FROM "Ingested"') == [(4, 2)]
    with pytest.raises(adbc.ProgrammingError, match="already exists"):
        ingest(connection, "Ingested", "create")
    connection.rollback()
    run(connection, "CREATE SCHEMA other")
    assert ingest(connection, "t", "create", db_schema_name="other") == 2
    assert rows(connection, "SELECT count(*) FROM other.t") == [(2,)]
    assert ingest(connection, "passing", "create", temporary=True) == 2
    assert rows(connection, "SELECT count(*) FROM pg_temp.passing") == [(2,)]


def test_many_rows_both_ways(connection: Any) -> None:
    many = pa.table({"i": range(50_000), "s": [f"v{n}" for n in range(50_000)]})
    with connection.cursor() as cursor:
        assert cursor.adbc_ingest("many", many, mode="create") == 50_000
    assert table(connection, "SELECT * FROM many ORDER BY i").equals(many)


def objects(connection: Any, depth: str, **filters: str) -> list[dict[str, Any]]:
    (catalog,) = connection.adbc_get_objects(depth=depth, **filters).read_all().to_pylist()
    (schema,) = catalog["catalog_db_schemas"]
    return sorted(schema["db_schema_tables"], key=lambda found: found["table_name"])


def test_objects_and_schemas_of_tables(connection: Any) -> None:
    run(
        connection,
        "CREATE TABLE parent (a int, b text, n numeric(10, 2) NOT NULL UNIQUE, PRIMARY KEY (a, b))",
        "CREATE TABLE kid (id serial, x int, y text, FOREIGN KEY (y, x) REFERENCES parent (b, a), CHECK (x > 0))",
        "CREATE VIEW seen AS SELECT x FROM kid",
    )
    connection.commit()
    found = objects(connection, "all", db_schema_filter="public")
    assert [(each["table_name"], each["table_type"]) for each in found] == [
        ("kid", "table"),
        ("parent", "table"),
        ("seen", "view"),
    ]
    kid, parent, _ = found
    assert [column["column_name"] for column in kid["table_columns"]] == ["id", "x", "y"]
    assert [column["xdbc_type_name"] for column in parent["table_columns"]] == ["int4", "text", "numeric"]
    constraints = {each["constraint_name"]: each for each in kid["table_constraints"] + parent["table_constraints"]}
    assert {name: (each["constraint_type"], each["constraint_column_names"]) for name, each in constraints.items()} == {
        "kid_y_x_fkey": ("FOREIGN KEY", ["x", "y"]),
        "kid_x_check": ("CHECK", ["x"]),
        "parent_pkey": ("PRIMARY KEY", ["a", "b"]),
        "parent_n_key": ("UNIQUE", ["n"]),
    }
    usage = constraints["kid_y_x_fkey"]["constraint_column_usage"]
    assert [(each["fk_table"], each["fk_column_name"]) for each in usage] == [("parent", "a"), ("parent", "b")]
    views = objects(connection, "tables", db_schema_filter="public", table_types_filter=["view"])
    assert [each["table_name"] for each in views] == ["seen"]
    columns = objects(connection, "all", db_schema_filter="public", table_name_filter="k%", column_name_filter="i%")
    assert [[column["column_name"] for column in each["table_columns"]] for each in columns] == [["id"]]
    schema = connection.adbc_get_table_schema("kid", db_schema_filter="public")
    assert (schema.names, schema.types) == (["id", "x", "y"], [pa.int32(), pa.int32(), pa.string()])
    with pytest.raises(adbc.ProgrammingError, match="does not exist"):
        connection.adbc_get_table_schema("nosuch")
    connection.rollback()
    assert (connection.adbc_current_catalog, connection.adbc_current_db_schema) == ("app", "public")


def test_transactions(connection: Any, served: Rowferry) -> None:
    run(connection, "CREATE TABLE t (i int)")
    connection.commit()
    run(connection, "INSERT INTO t VALUES (1)")
    connection.rollback()
    assert rows(connection, "SELECT count(*) FROM t") == [(0,)]
    run(connection, "INSERT INTO t VALUES (1)")
    connection.commit()
    with adbc.connect(served.postgres_dsn, autocommit=True) as other:
        assert rows(other, "SELECT count(*) FROM t") == [(1,)]
    with pytest.raises(adbc.ProgrammingError) as caught:
        rows(connection, "SELECT * FROM nosuch")
    assert caught.value.sqlstate == "42P01"
    connection.rollback()
    with pytest.raises(adbc.Error) as caught:
        rows(connection, "SELECT 1 / (i - 1) FROM t")
    assert caught.value.sqlstate == "22012"
    connection.rollback()


def test_prepared_statements_and_parameters(connection: Any) -> None:
    query = "SELECT $1::int8 + 1, $2::text, $3::date, $4::float8"
    with connection.cursor() as cursor:
        prepared = cursor.adbc_prepare(query)
        assert prepared.types == [pa.int64(), pa.string(), pa.date32(), pa.float64()]
        for given in ((1, "x", date(2024, 1, 1), 2.5), (2, None, None, None)):
            cursor.execute(query, given)
            assert cursor.fetchall() == [(given[0] + 1, *given[1:])]
        cursor.execute("CREATE TEMP TABLE t (i int, s text)")
        cursor.executemany("INSERT INTO t VALUES ($1, $2)", [(1, "a"), (2, None), (3, "c")])
        assert cursor.rowcount == 3
        cursor.execute("UPDATE t SET s = 'z' WHERE i > 1")
        assert cursor.rowcount == 2
        assert rows(connection, "SELECT * FROM t ORDER BY 1") == [(1, "a"), (2, "z"), (3, "z")]
        schema = cursor.adbc_execute_schema("SELECT 1::int2 AS a, now() AS b, '{1}'::int[] AS c")
        assert schema.types[:2] == [pa.int16(), pa.timestamp("us", tz="UTC")]
        assert schema.names == ["a", "b", "c"]


def test_reads_without_copy_and_in_small_batches(connection: Any) -> None:
    with contextlib.closing(connection.cursor()) as cursor:
        cursor.adbc_statement.set_options(**{"adbc.postgresql.use_copy": "false"})
        cursor.execute("SELECT 1 AS a, 'x' AS b, NULL::numeric AS c")
        assert cursor.fetch_arrow_table().to_pylist() == [{"a": 1, "b": "x", "c": None}]
    with contextlib.closing(connection.cursor()) as cursor:
        cursor.adbc_statement.set_options(**{"adbc.postgresql.batch_size_hint_bytes": "1000"})
        cursor.execute("SELECT i FROM generate_series(1, 1000) i")
        batches = list(cursor.fetch_record_batch())
        assert len(batches) > 1
        assert sum(batch.num_rows for batch in batches) == 1000
    assert table(connection, "SELECT 1 AS a WHERE false").schema.names == ["a"]
