"""`rowferry query --format parquet` and `--format arrow`: types, values and files, read back by others."""

from __future__ import annotations

import contextlib
import datetime
import io
import os
import pty
import shutil
import signal
import sqlite3
import subprocess
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import polars
import psycopg
import pyarrow
import pyarrow.feather
import pyarrow.ipc
import pyarrow.parquet
import pytest

from tests.servers.mysql import MySQLServer
from tests.servers.postgres import PostgreSQL
from tests.servers.rowferry import Rowferry, find_rowferry

FORMS = ["parquet", "arrow"]


def query(place: str | Path, sql: str, *arguments: str | Path) -> subprocess.CompletedProcess[bytes]:
    command = [find_rowferry(), "query", place, sql, *arguments]
    return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=120)


def read(form: str, data: bytes) -> pyarrow.Table:
    """What pyarrow reads of a file's bytes."""
    if form == "parquet":
        return pyarrow.parquet.read_table(io.BytesIO(data))
    return pyarrow.ipc.open_file(data).read_all()


def table(place: str | Path, sql: str, form: str, *arguments: str) -> pyarrow.Table:
    """What a query answers."""
    done = query(place, sql, "--format", form, *arguments)
    assert done.returncode == 0, done.stderr.decode()
    assert done.stderr == b""
    return read(form, done.stdout)


def refused(place: str | Path, sql: str, *arguments: str | Path, form: str = "parquet") -> str:
    """What is said of a query that fails."""
    done = query(place, sql, "--format", form, *arguments)
    assert done.returncode == 1, done.stdout
    return done.stderr.decode()


UTC = datetime.UTC
MICROS = pyarrow.timestamp("us")
TIME = pyarrow.time64("us")
#: For files and PostgreSQL: the type in SQL, a value in SQL, the Arrow type, the value in Python.
POSTGRES: list[tuple[str, str, pyarrow.DataType, Any]] = [
    ("boolean", "true", pyarrow.bool_(), True),
    ("smallint", "-32768", pyarrow.int16(), -32768),
    ("integer", "2147483647", pyarrow.int32(), 2147483647),
    ("bigint", "-9223372036854775808", pyarrow.int64(), -(2**63)),
    ("oid", "4294967295", pyarrow.uint32(), 2**32 - 1),
    ("real", "1.1", pyarrow.float32(), 1.10000002384185791015625),
    ("double precision", "0.1", pyarrow.float64(), 0.1),
    ("double precision", "-Infinity", pyarrow.float64(), float("-inf")),
    ("numeric(10,2)", "-12345678.90", pyarrow.decimal128(10, 2), Decimal("-12345678.90")),
    ("numeric(38,0)", "9" * 38, pyarrow.decimal128(38, 0), Decimal("9" * 38)),
    ("numeric(60,30)", "1." + "2" * 30, pyarrow.string(), "1." + "2" * 30),
    ("numeric(3,5)", "0.00123", pyarrow.decimal128(5, 5), Decimal("0.00123")),
    ("numeric(3,-2)", "12300", pyarrow.decimal128(5, 0), Decimal(12300)),
    ("numeric", "1234567890.0123456789", pyarrow.string(), "1234567890.0123456789"),
    ("numeric(100,2)", "5.00", pyarrow.string(), "5.00"),
    ("text", 'Søren, "q"\n', pyarrow.string(), 'Søren, "q"\n'),
    ("text", "", pyarrow.string(), ""),
    ("varchar(5)", "abc", pyarrow.string(), "abc"),
    ("char(5)", "abc", pyarrow.string(), "abc  "),
    ("bytea", "\\x00ff27", pyarrow.binary(), b"\x00\xff'"),
    ("bytea", "", pyarrow.binary(), b""),
    ("date", "2024-02-29", pyarrow.date32(), datetime.date(2024, 2, 29)),
    ("time", "23:59:59.999999", TIME, datetime.time(23, 59, 59, 999999)),
    ("time(0)", "01:02:03", TIME, datetime.time(1, 2, 3)),
    ("timetz", "10:00:00+02", pyarrow.string(), "10:00:00+02"),
    ("timestamp", "1969-12-31 23:59:59.5", MICROS, datetime.datetime(1969, 12, 31, 23, 59, 59, 500000)),
    (
        "timestamptz",
        "2024-01-02 03:04:05.000006+05:30",
        pyarrow.timestamp("us", "UTC"),
        datetime.datetime(2024, 1, 1, 21, 34, 5, 6, UTC),
    ),
    ("interval", "1 mon 2 days 03:00:00", pyarrow.string(), "1 mon 2 days 03:00:00"),
    (
        "uuid",
        "6ba7b810-9dad-11d1-80b4-00c04fd430c8",
        pyarrow.string(),
        "6ba7b810-9dad-11d1-80b4-00c04fd430c8",
    ),
    ("json", '{"b": 1.0,  "a": null}', pyarrow.string(), '{"b": 1.0,  "a": null}'),
    ("jsonb", '{"b": 1.0,  "a": null}', pyarrow.string(), '{"a": null, "b": 1.0}'),
    ("inet", "10.0.0.1/8", pyarrow.string(), "10.0.0.1/8"),
    ("integer[]", "{1,NULL,-3}", pyarrow.list_(pyarrow.int32()), [1, None, -3]),
    ("integer[]", "{}", pyarrow.list_(pyarrow.int32()), []),
    ("text[]", '{"a,b","say \\"hi\\"",NULL,"NULL",""}', pyarrow.list_(pyarrow.string()), None),
    ("numeric(10,2)[]", "{1.5,-2}", pyarrow.list_(pyarrow.decimal128(10, 2)), [Decimal("1.50"), Decimal("-2.00")]),
    ("numeric[]", "{1.5,2}", pyarrow.list_(pyarrow.string()), ["1.5", "2"]),
    ("boolean[]", "{t,f}", pyarrow.list_(pyarrow.bool_()), [True, False]),
    ("bytea[]", '{"\\\\x00ff"}', pyarrow.list_(pyarrow.binary()), [b"\x00\xff"]),
    ("date[]", "{2024-02-29}", pyarrow.list_(pyarrow.date32()), [datetime.date(2024, 2, 29)]),
    (
        "timestamptz[]",
        '{"2024-01-02 03:04:05+00"}',
        pyarrow.list_(pyarrow.timestamp("us", "UTC")),
        [datetime.datetime(2024, 1, 2, 3, 4, 5, tzinfo=UTC)],
    ),
    ("interval[]", '{"1 day"}', pyarrow.string(), '{"1 day"}'),
]
POSTGRES_VALUES = [value if ty != "text[]" else ["a,b", 'say "hi"', None, "NULL", ""] for ty, _, _, value in POSTGRES]


def element_of(data_type: pyarrow.DataType) -> pyarrow.DataType:
    """The type without the name of a list's element."""
    if pyarrow.types.is_list(data_type):
        return pyarrow.list_(data_type.value_type)
    return data_type


@pytest.fixture(scope="module")
def postgres() -> Iterator[PostgreSQL]:
    with PostgreSQL.start(tcp=True) as server:
        yield server


@pytest.fixture(params=["postgresql", "door", "file"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """A file, a server, and ours, each with nothing in it."""
    if request.param == "postgresql":
        server = request.getfixturevalue("postgres")
        with psycopg.connect(server.dsn, autocommit=True) as connection:
            connection.execute("drop schema public cascade; create schema public")
            # What values are does not hang on what somebody has set.
            connection.execute("alter role current_user set datestyle = 'German, DMY'")
            connection.execute("alter role current_user set bytea_output = 'escape'")
            connection.execute("alter role current_user set extra_float_digits = 0")
            connection.execute("alter role current_user set timezone = 'Asia/Kolkata'")
        yield server.dsn
    elif request.param == "file":
        path = tmp_path / "app.db"
        sqlite3.connect(path).close()
        yield str(path)
    else:
        served: Rowferry = request.getfixturevalue("served")
        yield served.postgres_dsn


def run(place: str, sql: str) -> None:
    done = query(place, sql)
    assert done.returncode == 0, done.stderr.decode()


@pytest.mark.parametrize("form", FORMS)
def test_every_type_of_postgresql(place: str, form: str) -> None:
    columns = ", ".join(f"c{at} {ty}" for at, (ty, *_) in enumerate(POSTGRES))
    quoted = ", ".join("'" + text.replace("'", "''") + "'" for _, text, _, _ in POSTGRES)
    nulls = ", ".join("NULL" for _ in POSTGRES)
    run(place, f"CREATE TABLE kinds (n integer, {columns})")
    run(place, f"INSERT INTO kinds VALUES (1, {quoted}), (2, {nulls})")
    found = table(place, "SELECT * FROM kinds ORDER BY n", form)
    first, second = found.drop_columns("n").to_pylist()
    for at, (ty, _, arrow, _) in enumerate(POSTGRES):
        assert element_of(found.schema.field(f"c{at}").type) == arrow, ty
        assert first[f"c{at}"] == POSTGRES_VALUES[at], ty
        assert second[f"c{at}"] is None, ty


@pytest.mark.parametrize("form", FORMS)
def test_not_a_number_is_one_of_floats(place: str, form: str) -> None:
    run(place, "CREATE TABLE f (a double precision, b real)")
    run(place, "INSERT INTO f VALUES ('NaN', 'NaN')")
    (row,) = table(place, "SELECT * FROM f", form).to_pylist()
    assert row["a"] != row["a"] and row["b"] != row["b"]


@pytest.mark.parametrize(
    ("ty", "value", "words"),
    [
        ("numeric(10,2)", "NaN", "`NaN` is no decimal(10,2)"),
        ("date", "infinity", "`infinity` is no date"),
        ("timestamp", "-infinity", "`-infinity` is no date and time"),
        ("time", "24:00:00", "`24:00:00` is no time of a day"),
        ("integer[]", "{{1,2},{3,4}}", "more than one dimension"),
    ],
)
def test_a_value_that_does_not_fit_names_row_and_column(
    place: str, ty: str, value: str, words: str, tmp_path: Path
) -> None:
    run(place, f'CREATE TABLE t (n integer, "odd one" {ty})')
    run(place, f"INSERT INTO t VALUES (1, NULL), (2, '{value}')")
    path = tmp_path / "out.parquet"
    said = refused(place, "SELECT * FROM t ORDER BY n", "-o", path)
    assert f"row 2, column `odd one`: {words}" in said or f"row 2, column `odd one`: the array has {words}" in said
    assert not any("out.parquet" in name for name in os.listdir(tmp_path))
    # Its text can be had.
    found = table(place, 'SELECT "odd one"::text AS t FROM t ORDER BY n', "parquet")
    assert found.column("t").to_pylist() == [None, value]


def test_days_before_christ(place: str) -> None:
    found = table(place, "SELECT '0044-03-15 BC'::date AS d, '10000-01-01'::date AS e", "arrow")
    # The year 44 before Christ is the year -43; 10,000 years have 24 days of leap years in each hundred, and some more.
    assert found.column("d").cast(pyarrow.int32()).to_pylist() == [-735160]
    assert found.column("e").cast(pyarrow.int32()).to_pylist() == [2932897]


@pytest.mark.parametrize("form", FORMS)
def test_no_rows_have_columns_all_the_same(place: str, form: str) -> None:
    found = table(place, "SELECT 1::smallint AS a, 'x'::text AS b, 1.5::numeric(4,1) AS c WHERE false", form)
    assert found.num_rows == 0
    assert found.schema.names == ["a", "b", "c"]
    assert found.schema.types == [pyarrow.int16(), pyarrow.string(), pyarrow.decimal128(4, 1)]


@pytest.mark.parametrize("form", FORMS)
def test_many_rows_for_everybody(place: str, form: str, tmp_path: Path) -> None:
    path = tmp_path / f"many.{form}"
    sql = "SELECT g::int AS n, 'row ' || g AS t, (g / 4.0)::numeric(12,2) AS p FROM generate_series(1, 100000) AS s(g)"
    # The ending of the file's name is a form, too.
    done = query(place, sql, "-o", path)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert os.listdir(tmp_path).count(path.name) == 1 and not list(tmp_path.glob(".*"))
    found = pyarrow.parquet.read_table(path) if form == "parquet" else pyarrow.feather.read_table(path)
    assert found.column("n").to_pylist() == list(range(1, 100_001))
    assert found.column("t").to_pylist() == [f"row {n}" for n in range(1, 100_001)]
    assert found.column("p").to_pylist()[:3] == [Decimal("0.25"), Decimal("0.50"), Decimal("0.75")]
    frame = polars.read_parquet(path) if form == "parquet" else polars.read_ipc(path)
    assert frame.select(polars.col("n").cast(int).sum(), polars.col("p").sum()).row(0) == (
        5000050000,
        Decimal("1250012500.00"),
    )
    if form == "parquet":
        with duckdb.connect() as connection:
            asked = f"SELECT count(*), sum(n), sum(p), max(t) FROM '{path}'"
            assert connection.execute(asked).fetchone() == (
                100000,
                5000050000,
                Decimal("1250012500.00"),
                "row 99999",
            )


def test_values_of_parameters(place: str) -> None:
    found = table(place, "SELECT $1::int AS a, $2::text AS b", "arrow", "-p", "7", "-p", "NIL", "--param-null", "NIL")
    assert found.to_pylist() == [{"a": 7, "b": None}]


def test_columns_of_one_name_are_numbered(place: str) -> None:
    found = table(place, "SELECT 1 AS a, 2 AS a, 3 AS a_2", "parquet")
    assert len(set(found.schema.names)) == 3
    assert list(found.to_pylist()[0].values()) == [1, 2, 3]


def test_changes_are_made_with_their_rows_or_not_at_all(place: str) -> None:
    run(place, "CREATE TABLE t (n integer, d date)")
    found = table(place, "INSERT INTO t VALUES (1, '2024-01-01'), (2, NULL) RETURNING n, d", "parquet")
    assert found.to_pylist() == [{"n": 1, "d": datetime.date(2024, 1, 1)}, {"n": 2, "d": None}]
    refused(place, "INSERT INTO t VALUES (3, 'infinity') RETURNING n, d")
    # Neither is one without rows run, of which there would be nothing to write.
    assert "answers no rows" in refused(place, "DELETE FROM t")
    assert "answers no rows" in refused(place, "CREATE TABLE other (n integer)")
    assert table(place, "SELECT count(*) AS n FROM t", "parquet").to_pylist() == [{"n": 2}]
    assert b"other" in query(place, "SELECT * FROM other").stderr


def test_what_is_not_one_statement_is_refused(place: str) -> None:
    for sql in ("SELECT 1; SELECT 2", "", " -- nothing", ";"):
        assert "one statement" in refused(place, sql), sql
    assert table(place, "SELECT 'a;b' AS t; -- and that is all", "parquet").to_pylist() == [{"t": "a;b"}]


def test_failures_of_the_database_are_told_as_ever(place: str, tmp_path: Path) -> None:
    path = tmp_path / "out.arrow"
    path.write_bytes(b"before")
    assert "42P01" in refused(place, "SELECT * FROM nosuch", "-o", path, form="arrow")
    assert "22012" in refused(place, "SELECT 1 / (g - 90000) FROM generate_series(1, 100000) s(g)", "-o", path)
    # What was there is there.
    assert path.read_bytes() == b"before" and not list(tmp_path.glob(".*"))


def test_what_lies_in_a_file_need_not_be_of_its_columns_type(tmp_path: Path) -> None:
    path = tmp_path / "app.db"
    sqlite3.connect(path).close()
    run(str(path), "CREATE TABLE t (a integer, b smallint, c text)")
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute("INSERT INTO t VALUES (1, 2, 'x'), ('seven', 3, 'y'), (4, 70000, 'z'), (5, 6, x'ff')")
        connection.commit()
    assert table(path, "SELECT a, b, c FROM t WHERE a = 1", "parquet").to_pylist() == [{"a": 1, "b": 2, "c": "x"}]
    assert "row 2, column `a`" in refused(path, "SELECT a FROM t")
    assert "row 3, column `b`: `70000` is no integer of 16 bits" in refused(path, "SELECT b FROM t")


#: For MySQL and MariaDB, as above.
MYSQL: list[tuple[str, str, pyarrow.DataType, Any]] = [
    ("TINYINT", "-128", pyarrow.int8(), -128),
    ("TINYINT UNSIGNED", "255", pyarrow.uint8(), 255),
    ("SMALLINT", "-32768", pyarrow.int16(), -32768),
    ("SMALLINT UNSIGNED", "65535", pyarrow.uint16(), 65535),
    ("MEDIUMINT", "-8388608", pyarrow.int32(), -8388608),
    ("INT", "-2147483648", pyarrow.int32(), -(2**31)),
    ("INT UNSIGNED", "4294967295", pyarrow.uint32(), 2**32 - 1),
    ("BIGINT", "-9223372036854775808", pyarrow.int64(), -(2**63)),
    ("BIGINT UNSIGNED", "18446744073709551615", pyarrow.uint64(), 2**64 - 1),
    ("YEAR", "2024", pyarrow.int16(), 2024),
    # All digits that a single has.
    ("FLOAT", "16777215", pyarrow.float32(), 16777215.0),
    ("DOUBLE", "0.1", pyarrow.float64(), 0.1),
    ("DECIMAL(10,2)", "-12345678.90", pyarrow.decimal128(10, 2), Decimal("-12345678.90")),
    ("DECIMAL(10,2) UNSIGNED", "0.05", pyarrow.decimal128(10, 2), Decimal("0.05")),
    ("DECIMAL(60,30)", "1.5", pyarrow.string(), "1.5" + "0" * 29),
    ("DECIMAL(9,0)", "-123456789", pyarrow.decimal128(9, 0), Decimal(-123456789)),
    ("CHAR(5)", "'ab'", pyarrow.string(), "ab"),
    ("VARCHAR(20)", "'Søren'", pyarrow.string(), "Søren"),
    ("TEXT", "''", pyarrow.string(), ""),
    ("BINARY(3)", "x'4100ff'", pyarrow.binary(), b"A\x00\xff"),
    ("VARBINARY(9)", "'abc'", pyarrow.binary(), b"abc"),
    ("BLOB", "x'00'", pyarrow.binary(), b"\x00"),
    ("BIT(9)", "b'101'", pyarrow.binary(), b"\x00\x05"),
    ("ENUM('a','b')", "'b'", pyarrow.string(), "b"),
    ("SET('a','b')", "'a,b'", pyarrow.string(), "a,b"),
    ("JSON", """'{"a": 1}'""", pyarrow.string(), '{"a": 1}'),
    ("DATE", "'2024-02-29'", pyarrow.date32(), datetime.date(2024, 2, 29)),
    ("DATETIME(6)", "'1969-12-31 23:59:59.5'", MICROS, datetime.datetime(1969, 12, 31, 23, 59, 59, 500000)),
    ("DATETIME", "'2024-01-02 00:00:00'", MICROS, datetime.datetime(2024, 1, 2)),
    ("TIMESTAMP(3) NULL", "'2024-01-02 03:04:05.123'", MICROS, datetime.datetime(2024, 1, 2, 3, 4, 5, 123000)),
    ("TIME(6)", "'-838:59:58.5'", pyarrow.duration("us"), -datetime.timedelta(hours=838, minutes=59, seconds=58.5)),
]


@pytest.fixture
def mysql(server: MySQLServer) -> str:
    return f"mysql://{server.user}:{server.password}@{server.host}:{server.port}/{server.database}"


@pytest.mark.parametrize("form", FORMS)
def test_every_type_of_mysql(mysql: str, form: str) -> None:
    columns = ", ".join(f"c{at} {ty}" for at, (ty, *_) in enumerate(MYSQL))
    run(mysql, "DROP TABLE IF EXISTS kinds")
    run(mysql, f"CREATE TABLE kinds (n int, {columns})")
    run(mysql, f"INSERT INTO kinds VALUES (1, {', '.join(text for _, text, _, _ in MYSQL)})")
    run(mysql, "INSERT INTO kinds (n) VALUES (2)")
    found = table(mysql, "SELECT * FROM kinds ORDER BY n", form)
    first, second = found.drop_columns("n").to_pylist()
    for at, (ty, _, arrow, value) in enumerate(MYSQL):
        assert found.schema.field(f"c{at}").type == arrow, ty
        assert first[f"c{at}"] == value, ty
        assert second[f"c{at}"] is None, ty
    run(mysql, "DROP TABLE kinds")


@pytest.mark.on("mariadb")
def test_mysql_refuses_what_has_no_rows_before_it_is_run(mysql: str) -> None:
    run(mysql, "DROP TABLE IF EXISTS kept")
    run(mysql, "CREATE TABLE kept (n int, d date)")
    run(mysql, "SET sql_mode = ''; INSERT INTO kept VALUES (1, '0000-00-00')")
    assert "answers no rows" in refused(mysql, "DELETE FROM kept")
    assert "answers no rows" in refused(mysql, "DROP TABLE kept")
    assert "one statement" in refused(mysql, "DELETE FROM kept; SELECT 1")
    assert "row 1, column `d`: `0000-00-00` is no date" in refused(mysql, "SELECT n, d FROM kept")
    assert "1146" in refused(mysql, "SELECT * FROM nosuch")
    found = table(mysql, "SELECT n, ? AS t FROM kept WHERE n = ?", "parquet", "-p", "it's", "-p", "1")
    assert found.to_pylist() == [{"n": 1, "t": "it's"}]
    assert "parameters" in refused(mysql, "SELECT ?")
    # MariaDB has INSERT … RETURNING; what cannot be written is undone.
    refused(mysql, "INSERT INTO kept VALUES (2, NULL) RETURNING n, CAST('0000-00-00' AS date)")
    assert table(mysql, "SELECT count(*) AS n FROM kept", "arrow").to_pylist() == [{"n": 1}]
    run(mysql, "DROP TABLE kept")


@pytest.mark.on("mariadb")
def test_many_rows_of_mysql(mysql: str) -> None:
    found = table(mysql, "SELECT seq AS n, concat('row ', seq) AS t FROM seq_1_to_100000", "parquet")
    assert found.column("n").to_pylist() == list(range(1, 100_001))
    assert found.column("t").to_pylist() == [f"row {n}" for n in range(1, 100_001)]


#: For Informix, as above.
INFORMIX: list[tuple[str, str, pyarrow.DataType, Any]] = [
    ("SMALLINT", "-32767", pyarrow.int16(), -32767),
    ("INTEGER", "2147483647", pyarrow.int32(), 2147483647),
    ("BIGINT", "9223372036854775807", pyarrow.int64(), 2**63 - 1),
    ("INT8", "-9223372036854775807", pyarrow.int64(), -(2**63) + 1),
    ("FLOAT", "0.1", pyarrow.float64(), 0.1),
    ("SMALLFLOAT", "1.1", pyarrow.float32(), 1.10000002384185791015625),
    ("DECIMAL(10,2)", "-12345678.90", pyarrow.decimal128(10, 2), Decimal("-12345678.90")),
    ("MONEY(8,2)", "12.5", pyarrow.decimal128(8, 2), Decimal("12.50")),
    ("DECIMAL(8)", "1.25", pyarrow.string(), "1.25"),
    ("CHAR(5)", "'ab'", pyarrow.string(), "ab"),
    ("VARCHAR(20)", "'Søren '", pyarrow.string(), "Søren "),
    ("LVARCHAR(300)", "'x,y'", pyarrow.string(), "x,y"),
    ("BOOLEAN", "'t'", pyarrow.bool_(), True),
    ("DATE", "MDY(2,29,2024)", pyarrow.date32(), datetime.date(2024, 2, 29)),
    (
        "DATETIME YEAR TO FRACTION(5)",
        "DATETIME (2024-01-02 03:04:05.12345) YEAR TO FRACTION(5)",
        MICROS,
        datetime.datetime(2024, 1, 2, 3, 4, 5, 123450),
    ),
    (
        "DATETIME YEAR TO MINUTE",
        "DATETIME (2024-01-02 03:04) YEAR TO MINUTE",
        MICROS,
        datetime.datetime(2024, 1, 2, 3, 4),
    ),
    ("DATETIME HOUR TO SECOND", "DATETIME (23:59:58) HOUR TO SECOND", TIME, datetime.time(23, 59, 58)),
    ("DATETIME YEAR TO DAY", "DATETIME (2024-02-29) YEAR TO DAY", pyarrow.date32(), datetime.date(2024, 2, 29)),
    ("DATETIME MONTH TO DAY", "DATETIME (02-28) MONTH TO DAY", pyarrow.string(), "02-28"),
]


@pytest.mark.parametrize("form", FORMS)
def test_every_type_of_informix(tmp_path: Path, form: str) -> None:
    with Rowferry.start(tmp_path / "store.db", informix=True) as server:
        assert server.informix is not None
        host, port = server.informix
        place = f"informix://informix:in4mix@{host}:{port}/{server.dbname}?client_locale=en_US.utf8"
        columns = ", ".join(f"c{at} {ty}" for at, (ty, *_) in enumerate(INFORMIX))
        run(place, f"CREATE TABLE kinds (n INTEGER, {columns})")
        run(place, f"INSERT INTO kinds VALUES (1, {', '.join(text for _, text, _, _ in INFORMIX)})")
        run(place, "INSERT INTO kinds (n) VALUES (2)")
        found = table(place, "SELECT * FROM kinds ORDER BY n", form)
        first, second = found.drop_columns("n").to_pylist()
        for at, (ty, _, arrow, value) in enumerate(INFORMIX):
            assert found.schema.field(f"c{at}").type == arrow, ty
            assert first[f"c{at}"] == value, ty
            assert second[f"c{at}"] is None, ty
        assert "answers no rows" in refused(place, "DELETE FROM kinds")
        assert "one statement" in refused(place, "DELETE FROM kinds; SELECT * FROM kinds")
        chosen = table(place, "SELECT n FROM kinds WHERE n > ? ORDER BY n", form, "-p", "0")
        assert chosen.to_pylist() == [{"n": 1}, {"n": 2}]
        assert table(place, "SELECT n FROM kinds WHERE n > 5", form).num_rows == 0


def test_many_rows_of_informix(tmp_path: Path) -> None:
    with Rowferry.start(tmp_path / "store.db", informix=True) as server:
        assert server.informix is not None
        host, port = server.informix
        place = f"informix://informix:in4mix@{host}:{port}/{server.dbname}"
        run(place, "CREATE TABLE many (n INTEGER, t VARCHAR(20))")
        run(server.postgres_dsn, "INSERT INTO many SELECT g, 'row ' || g FROM generate_series(1, 100000) g")
        found = table(place, "SELECT n, t FROM many ORDER BY n", "parquet")
        assert found.column("n").to_pylist() == list(range(1, 100_001))
        assert found.column("t").to_pylist() == [f"row {n}" for n in range(1, 100_001)]


@pytest.mark.parametrize("form", FORMS)
def test_bytes_and_texts_of_informix_are_whole(tmp_path: Path, form: str) -> None:
    with Rowferry.start(tmp_path / "store.db", informix=True) as server:
        assert server.informix is not None
        host, port = server.informix
        place = f"informix://informix:in4mix@{host}:{port}/{server.dbname}?client_locale=en_US.utf8"
        run(place, "CREATE TABLE lobs (n INTEGER, b BYTE, t TEXT)")
        with psycopg.connect(server.postgres_dsn, autocommit=True) as connection:
            data = (1, b"\x00\xff" * 5000, "ü" * 5000)
            connection.execute("INSERT INTO lobs VALUES (%s, %s, %s), (2, NULL, NULL)", data)
        found = table(place, "SELECT * FROM lobs ORDER BY n", form)
        assert found.to_pylist() == [
            {"n": 1, "b": b"\x00\xff" * 5000, "t": "ü" * 5000},
            {"n": 2, "b": None, "t": None},
        ]


def test_bytes_are_not_written_to_a_terminal(tmp_path: Path) -> None:
    path = tmp_path / "app.db"
    sqlite3.connect(path).close()
    leader, follower = pty.openpty()
    try:
        command = [find_rowferry(), "query", path, "SELECT 1", "--format", "parquet"]
        done = subprocess.run(command, stdout=follower, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, timeout=60)
    finally:
        os.close(follower)
        os.close(leader)
    assert done.returncode == 2
    assert b"terminal" in done.stderr and b"-o PATH" in done.stderr


@pytest.mark.parametrize("option", [["--null", "x"], ["-x"]])
def test_options_of_tables_are_refused(tmp_path: Path, option: list[str]) -> None:
    path = tmp_path / "app.db"
    sqlite3.connect(path).close()
    done = query(path, "SELECT 1", "--format", "arrow", *option)
    assert done.returncode == 2 and b"for tables" in done.stderr


@pytest.mark.parametrize(
    ("name", "begins"),
    [
        ("a.csv", b"a\r\n"),
        ("a.json", b"["),
        ("a.jsonl", b'{"a"'),
        ("a.md", b"| a |"),
        ("a.feather", b"ARROW1"),
        ("a", "┌"),
    ],
)
def test_the_ending_of_a_name_is_a_form(tmp_path: Path, name: str, begins: bytes | str) -> None:
    path = tmp_path / "app.db"
    sqlite3.connect(path).close()
    done = query(path, "SELECT 1 AS a", "-o", tmp_path / name)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    begins = begins.encode() if isinstance(begins, str) else begins
    assert (tmp_path / name).read_bytes().startswith(begins)
    # What is said counts more.
    done = query(path, "SELECT 1 AS a", "--csv", "-o", tmp_path / name)
    assert (tmp_path / name).read_bytes() == b"a\r\n1\r\n"


def test_an_interrupted_statement_leaves_no_file(tmp_path: Path, store_file: Path) -> None:
    file = Path(shutil.copy(store_file, tmp_path / "store.db"))
    path = tmp_path / "out" / "many.parquet"
    path.parent.mkdir()
    sql = "SELECT a, b FROM generate_series(1, 100000) a, generate_series(1, 100000) b"
    process = subprocess.Popen([find_rowferry(), "query", file, sql, "-o", path], stdin=subprocess.DEVNULL)
    try:
        # It has begun when it writes.
        while process.poll() is None and not any(found.stat().st_size for found in path.parent.glob(".*")):
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(0.05)
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == -signal.SIGINT
    finally:
        process.kill()
        process.wait()
    assert list(path.parent.iterdir()) == []


def test_a_file_that_is_replaced_keeps_its_permissions_and_its_link(tmp_path: Path) -> None:
    database = tmp_path / "app.db"
    sqlite3.connect(database).close()
    path = tmp_path / "private.csv"
    path.write_text("before")
    path.chmod(0o600)
    link = tmp_path / "link.csv"
    link.symlink_to(path)
    done = query(database, "SELECT 1 AS a", "-o", link)
    assert done.returncode == 0, done.stderr
    assert link.is_symlink() and path.read_bytes() == b"a\r\n1\r\n"
    assert path.stat().st_mode & 0o777 == 0o600
    # A device is written as it is.
    assert query(database, "SELECT 1 AS a", "-o", "/dev/null").returncode == 0
    assert Path("/dev/null").is_char_device()
