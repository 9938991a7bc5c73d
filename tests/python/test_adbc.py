"""`rowferry.adbc`: Arrow out of and into MariaDB and the Informix door, by itself, by pandas and by polars."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from datetime import date, datetime, time, timedelta, timezone
from decimal import Decimal
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pandas
import polars
import pyarrow as pa
import pytest
from rowferry import adbc

from tests.servers.mariadb import MariaDB
from tests.servers.rowferry import Rowferry

MYSQL = "mysql"
INFORMIX = "informix"


@pytest.fixture(params=[MYSQL, INFORMIX])
def uri(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    if request.param == MYSQL:
        server: MariaDB = request.getfixturevalue("mariadb")
        yield f"mysql://{quote(server.user)}:{quote(server.password)}@{server.host}:{server.port}/{server.database}"
        return
    with Rowferry.start(tmp_path / "store.db", postgres=False, informix=True) as served:
        assert served.informix is not None
        host, port = served.informix
        yield f"informix://informix:in4mix@{host}:{port}/store?server=informix"


@pytest.fixture
def connection(uri: str) -> Iterator[adbc.Connection]:
    with adbc.connect(uri) as connection:
        with contextlib.suppress(adbc.Error), connection.cursor() as cursor:
            cursor.execute("DROP TABLE taken")
            connection.commit()
        connection.rollback()
        yield connection
        connection.rollback()
        with contextlib.suppress(adbc.Error), connection.cursor() as cursor:
            cursor.execute("DROP TABLE taken")
            connection.commit()


def is_mysql(connection: adbc.Connection) -> bool:
    return connection.adbc_get_info()["vendor_name"] == "MySQL"


def table(connection: adbc.Connection, sql: str, parameters: Any = None) -> pa.Table:
    with connection.cursor() as cursor:
        return cursor.execute(sql, parameters).fetch_arrow_table()


ROWS = pa.table(
    {
        "id": pa.array([1, 2, 3], pa.int32()),
        "big": pa.array([2**62, None, -(2**62)], pa.int64()),
        "small": pa.array([255, 0, None], pa.uint8()),
        "price": pa.array([Decimal("12.50"), None, Decimal("-0.01")], pa.decimal128(10, 2)),
        "weight": pa.array([0.5, None, -1e100], pa.float64()),
        "name": pa.array(['it\'s "q" \\ ?', "Zoë €", None], pa.string()),
        "kind": pa.array(["a", "b", "a"], pa.dictionary(pa.int8(), pa.string())),
        "day": pa.array([date(2026, 2, 28), None, date(1999, 12, 31)], pa.date32()),
        "at": pa.array(
            [datetime(2026, 1, 2, 3, 4, 5, 120000, timezone.utc), None, datetime(2000, 1, 1, tzinfo=timezone.utc)],
            pa.timestamp("us", "UTC"),
        ),
        "of_day": pa.array([time(23, 59, 59), None, time(0)], pa.time32("s")),
        "done": pa.array([True, False, None], pa.bool_()),
    }
)


def plain(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Values as they come back of either database: moments in UTC without a zone, times of day as spans or times."""

    def value(of: Any) -> Any:
        if isinstance(of, datetime):
            return of.astimezone(timezone.utc).replace(tzinfo=None) if of.tzinfo else of
        if isinstance(of, timedelta):
            return (datetime(2000, 1, 1) + of).time()
        return int(of) if isinstance(of, bool) else of

    return [{key: value(cell) for key, cell in row.items()} for row in rows]


def test_what_goes_in_comes_out(connection: adbc.Connection) -> None:
    with connection.cursor() as cursor:
        assert cursor.adbc_ingest("taken", ROWS) == 3
    connection.commit()
    found = table(connection, "SELECT * FROM taken ORDER BY id")
    assert plain(found.to_pylist()) == plain(ROWS.to_pylist())
    assert found.schema.field("price").type in (pa.decimal128(10, 2), pa.decimal256(10, 2))


def test_modes_of_taking_rows_in(connection: adbc.Connection) -> None:
    one = ROWS.slice(0, 1)

    def count() -> int:
        with connection.cursor() as cursor:
            row = cursor.execute("SELECT COUNT(*) FROM taken").fetchone()
            assert row is not None
            return int(row[0])

    with connection.cursor() as cursor, pytest.raises(adbc.Error):
        cursor.adbc_ingest("taken", one, mode="append")
    connection.rollback()
    for mode, expected in (("create_append", 1), ("append", 2), ("create_append", 3), ("replace", 1)):
        with connection.cursor() as cursor:
            assert cursor.adbc_ingest("taken", one, mode=mode) == 1  # type: ignore[arg-type]
        connection.commit()
        assert count() == expected, mode
    with connection.cursor() as cursor, pytest.raises(adbc.Error):
        cursor.adbc_ingest("taken", one)
    connection.rollback()
    assert count() == 1
    with connection.cursor() as cursor, pytest.raises(adbc.ProgrammingError, match="mode"):
        cursor.adbc_ingest("taken", one, mode="merge")  # type: ignore[arg-type]
    for data in (one.to_reader(), one.to_batches()[0], polars.DataFrame({"id": [7, 8]})):
        with connection.cursor() as cursor:
            cursor.adbc_ingest("taken", data, mode="append")
    connection.commit()
    assert count() == 5


def test_what_has_no_type_is_refused_by_name(connection: adbc.Connection) -> None:
    with connection.cursor() as cursor, pytest.raises(adbc.NotSupportedError, match="list<"):
        cursor.adbc_ingest("taken", pa.table({"x": pa.array([[1]])}))
    fine = pa.table({"at": pa.array([1], pa.timestamp("ns"))})
    with connection.cursor() as cursor, pytest.raises(adbc.DataError, match="column at"):
        cursor.adbc_ingest("taken", fine)
    connection.rollback()
    other = {"db_schema_name": "x"} if is_mysql(connection) else {"catalog_name": "x"}
    with connection.cursor() as cursor, pytest.raises(adbc.NotSupportedError):
        cursor.adbc_ingest("taken", ROWS, **other)  # type: ignore[arg-type]
    for act in (connection.adbc_clone, connection.adbc_get_statistics, lambda: connection.adbc_connection):
        with pytest.raises(adbc.NotSupportedError):
            act()
    with pytest.raises(adbc.NotSupportedError, match="mysql://"):
        adbc.connect("sqlite:///x")


def test_rows_come_by_batches_or_by_rows(connection: adbc.Connection) -> None:
    marker = "%s" if is_mysql(connection) else "?"
    with connection.cursor() as cursor:
        cursor.adbc_ingest("taken", pa.table({"n": pa.array(range(70_000), pa.int32())}))
    with connection.cursor() as cursor:
        reader = cursor.execute(f"SELECT n FROM taken WHERE n >= {marker} ORDER BY n", (10,)).fetch_record_batch()
        first = reader.read_next_batch()
        assert first.num_rows < 69_990 and first.column(0)[0].as_py() == 10
        assert first.num_rows + sum(batch.num_rows for batch in reader) == 69_990
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT n FROM taken WHERE n < {marker} ORDER BY n", pa.table({"x": [3]}))
        assert cursor.fetchone() == (0,) and cursor.fetchmany(1) == [(1,)] and cursor.fetchall() == [(2,)]
    with connection.cursor() as cursor:
        cursor.executemany(f"INSERT INTO taken VALUES ({marker})", pa.table({"n": [-1, -2]}))
    assert table(connection, "SELECT n FROM taken WHERE n < 0 ORDER BY n").to_pydict() == {"n": [-2, -1]}
    assert connection.execute("SELECT n FROM taken WHERE n = 5").fetch_df().to_dict("list") == {"n": [5]}


def test_catalogs_schemas_tables_and_columns_are_told(connection: adbc.Connection) -> None:
    with connection.cursor() as cursor:
        cursor.adbc_ingest("taken", ROWS)
    connection.commit()
    (catalog,) = connection.adbc_get_objects(table_name_filter="tak_n").read_all().to_pylist()
    assert catalog["catalog_name"] == connection.adbc_current_catalog
    (schema,) = catalog["catalog_db_schemas"]
    assert schema["db_schema_name"] == connection.adbc_current_db_schema
    (found,) = schema["db_schema_tables"]
    assert (found["table_name"], found["table_type"]) == ("taken", "BASE TABLE")
    assert [column["column_name"] for column in found["table_columns"]] == ROWS.column_names
    tables = connection.adbc_get_objects(depth="tables", table_name_filter="none").read_all()
    assert tables.num_rows == 0
    (catalog,) = connection.adbc_get_objects(depth="catalogs", table_name_filter="taken").read_all().to_pylist()
    assert catalog["catalog_db_schemas"] is None
    assert connection.adbc_get_table_schema("taken").names == ROWS.column_names
    with pytest.raises(adbc.Error):
        connection.adbc_get_table_schema("none")
    assert connection.adbc_get_info()["driver_name"] == "rowferry"


def test_pandas_reads_and_writes(connection: adbc.Connection) -> None:
    frame = pandas.DataFrame({"id": [1, 2], "name": ["a", None], "price": [1.5, 2.25]})
    assert frame.to_sql("taken", connection, index=False) == 2
    back = pandas.read_sql("SELECT id, name, price FROM taken ORDER BY id", connection)
    assert back["price"].tolist() == [1.5, 2.25] and back["name"].isna().tolist() == [False, True]
    assert frame.to_sql("taken", connection, index=False, if_exists="append") == 2
    with pytest.raises(ValueError, match="exists"):
        frame.to_sql("taken", connection, index=False)
    assert len(pandas.read_sql("SELECT * FROM taken", connection)) == 4


def test_polars_reads(connection: adbc.Connection) -> None:
    with connection.cursor() as cursor:
        cursor.adbc_ingest("taken", ROWS)
    frame = polars.read_database("SELECT id, name FROM taken ORDER BY id", connection)
    assert frame["id"].to_list() == [1, 2, 3] and frame["name"][1] == "Zoë €"
