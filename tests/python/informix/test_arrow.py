"""Rows as Arrow record batches and tables, both colours, read by pyarrow and polars."""

from __future__ import annotations

import datetime as dt
import sys
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import polars
import pyarrow as pa
import pytest
from rowferry import informix

from tests.python.informix.replay import Driver
from tests.servers.rowferry import Rowferry

DDL = """CREATE TABLE every (
    id SERIAL, a SMALLINT, b INTEGER, c BIGINT, d INT8, e FLOAT, f SMALLFLOAT, g DECIMAL(9,2), h DECIMAL(16),
    i MONEY(10,2), j CHAR(7), k VARCHAR(20), l LVARCHAR(300), m BOOLEAN, n DATE, o DATETIME YEAR TO FRACTION(5),
    p DATETIME YEAR TO DAY, q DATETIME HOUR TO SECOND, r INTERVAL DAY(5) TO FRACTION(3), s INTERVAL YEAR(4) TO MONTH,
    t ROW(name VARCHAR(20), age INTEGER), u LIST(INTEGER NOT NULL), v TEXT, w BYTE, x NCHAR(3), y NVARCHAR(9),
    z DECIMAL(32,31)
)"""
ROW: tuple[Any, ...] = (
    *(-32767, 2147483647, -(2**63) + 1, 2**62, 1e300, -1.5, Decimal("-1234567.89"), Decimal("1E+30")),
    *(Decimal("0.01"), "ab", "héé", "x" * 299, True, dt.date(1, 1, 1), dt.datetime(9999, 12, 31, 23, 59, 59, 999990)),
    *(
        dt.datetime(2026, 2, 28),
        dt.time(23, 59, 59),
        -dt.timedelta(days=99999, milliseconds=1),
        informix.IntervalYM(-14),
    ),
    *(informix.RowValue.of("O'Neil", None), [1, 2, 3], "a text", b"\x00\xff", "né", "", Decimal("-0." + "1" * 31)),
)
#: What pyarrow makes of the columns, in their order.
TYPES = [
    *(pa.int32(), pa.int16(), pa.int32(), pa.int64(), pa.int64(), pa.float64(), pa.float32(), pa.decimal128(9, 2)),
    *(pa.string(), pa.decimal128(10, 2), pa.string(), pa.string(), pa.string(), pa.bool_(), pa.date32()),
    *(pa.timestamp("us"), pa.date32(), pa.time64("us"), pa.duration("us"), pa.month_day_nano_interval()),
    *(pa.struct([("name", pa.string()), ("age", pa.int64())]), pa.list_(pa.int64()), pa.string(), pa.binary()),
    *(pa.string(), pa.string(), pa.decimal128(32, 31)),
]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rowferry]:
    """A server with a table of every type and one of many rows."""
    file = tmp_path_factory.mktemp("arrow") / "app.db"
    with Rowferry.start(file, postgres=False, informix=True) as server:
        connection = connect(server, informix.connect)
        cursor = connection.cursor()
        cursor.execute(DDL)
        marks = ", ".join("?" * len(ROW))
        cursor.execute(f"INSERT INTO every VALUES (0, {marks})", ROW)
        cursor.execute(f"INSERT INTO every VALUES (0, {marks})", (None,) * len(ROW))
        cursor.execute("CREATE TABLE many (n INTEGER, t VARCHAR(30))")
        cursor.executemany("INSERT INTO many VALUES (?, ?)", [(n, f"row {n}") for n in range(5000)])
        connection.commit()
        connection.close()
        yield server


def connect(server: Rowferry, connect: Any, **parameters: Any) -> Any:
    """A connection to the server."""
    assert server.informix is not None
    host, port = server.informix
    defaults = {"host": host, "port": port, "database": server.dbname, "client_locale": "en_US.utf8"}
    return connect(**(defaults | parameters))


@pytest.fixture
def connection(driver: Driver, server: Rowferry) -> Iterator[Any]:
    """A connection of each colour; small fetches, so that result sets take several."""
    connection = connect(server, driver.connect, fetch_bytes=4096)
    yield connection
    connection.close()


def test_every_type_has_its_arrow_type(connection: Any) -> None:
    """Values and NULLs of every type, beside what the rows say."""
    cursor = connection.cursor()
    cursor.execute("SELECT * FROM every ORDER BY id")
    table = cursor.fetch_arrow_table()
    assert [field.type for field in table.schema] == TYPES
    assert not table.schema.field("id").nullable
    assert table.schema.field("a").nullable
    first, second = table.to_pylist()
    assert [second[name] for name in table.column_names[1:]] == [None] * len(ROW)
    cursor.execute("SELECT * FROM every ORDER BY id")
    expected = list(cursor.fetchone())
    names = table.column_names
    expected[names.index("h")] = "1" + "0" * 30
    expected[names.index("p")] = dt.date(2026, 2, 28)
    expected[names.index("s")] = pa.MonthDayNano([-14, 0, 0])
    expected[names.index("t")] = {"name": "O'Neil", "age": None}
    expected[names.index("u")] = [1, 2, 3]
    assert list(first.values()) == expected


def test_batches_have_the_size_asked_for(connection: Any) -> None:
    """Sizes that meet the fetches of the wire, and such that do not."""
    for size in (1000, 777, 5000, 65536):
        cursor = connection.cursor()
        cursor.execute("SELECT n, t FROM many ORDER BY n")
        batches = list(cursor.fetch_record_batches(size))
        sizes = [batch.num_rows for batch in batches]
        assert sizes == [size] * (5000 // size) + ([5000 % size] if 5000 % size else [])
        table = pa.Table.from_batches([pa.record_batch(batch) for batch in batches])
        assert table.column("n").to_pylist() == list(range(5000))
        assert table.column("t")[4999].as_py() == "row 4999"
        assert cursor.fetchone() is None


def test_rows_and_batches_take_turns(connection: Any) -> None:
    """What was taken as rows is in no batch, and the other way round."""
    cursor = connection.cursor()
    cursor.execute("SELECT n FROM many ORDER BY n")
    assert cursor.fetchmany(3) == [(0,), (1,), (2,)]
    batch = next(iter(cursor.fetch_record_batches(1500)))
    assert pa.record_batch(batch).column(0).to_pylist() == list(range(3, 1503))
    assert cursor.fetchone() == (1503,)
    table = cursor.fetch_arrow_table()
    assert table.column(0).to_pylist() == list(range(1504, 5000))
    assert cursor.fetchall() == []
    cursor.execute("SELECT FIRST 1 n FROM many ORDER BY n")
    assert cursor.fetchall() == [(0,)]


def test_without_rows_there_are_still_columns(connection: Any) -> None:
    """An empty batch, an empty table."""
    cursor = connection.cursor()
    cursor.execute("SELECT n, t FROM many WHERE n < 0")
    assert [(batch.num_rows, batch.column_names) for batch in list(cursor.fetch_record_batches())] == [(0, ["n", "t"])]
    cursor.execute("SELECT n, t FROM many WHERE n < 0")
    assert cursor.fetch_arrow_table().schema.names == ["n", "t"]


def test_other_libraries_read_batches_through_the_capsules(connection: Any) -> None:
    """polars and pyarrow, by `__arrow_c_array__` and `__arrow_c_stream__`; released capsules leak nothing."""
    cursor = connection.cursor()
    cursor.execute("SELECT FIRST 10 n, t FROM many ORDER BY n")
    (batch,) = list(cursor.fetch_record_batches())
    frame = polars.DataFrame(batch)
    assert frame.rows() == [(n, f"row {n}") for n in range(10)]
    assert len(batch) == 10
    assert repr(batch) == "<ArrowBatch of 10 rows: n, t>"
    for _ in range(3):
        assert pa.table(batch).num_rows == 10
        assert pa.array(batch).type == pa.struct([("n", pa.int32()), ("t", pa.string())])
    batch.__arrow_c_stream__()
    batch.__arrow_c_array__()
    assert pa.schema(batch).names == ["n", "t"]


def test_text_of_every_code_set_becomes_utf8(driver: Driver, server: Rowferry) -> None:
    """ISO 8859-1 is converted on the way."""
    connection = connect(server, driver.connect, client_locale="en_US.8859-1")
    cursor = connection.cursor()
    cursor.execute("SELECT k, x, v FROM every WHERE id = 1")
    assert cursor.fetch_arrow_table().to_pylist() == [{"k": "héé", "x": "né", "v": "a text"}]
    connection.close()


def test_says_what_to_install(connection: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without pyarrow there is no table, and the rows are still there."""
    cursor = connection.cursor()
    cursor.execute("SELECT FIRST 2 n FROM many ORDER BY n")
    with monkeypatch.context() as patch:
        patch.setitem(sys.modules, "pyarrow", None)
        with pytest.raises(informix.InterfaceError, match="pip install pyarrow"):
            cursor.fetch_arrow_table()
    assert cursor.fetchall() == [(0,), (1,)]


def test_refuses_what_has_no_rows(connection: Any) -> None:
    """Statements without rows, batches without size."""
    cursor = connection.cursor()
    with pytest.raises(informix.ProgrammingError, match="no rows to fetch"):
        cursor.fetch_arrow_table()
    cursor.execute("SELECT n FROM many")
    with pytest.raises(informix.ProgrammingError, match="at least one row"):
        list(cursor.fetch_record_batches(0))
