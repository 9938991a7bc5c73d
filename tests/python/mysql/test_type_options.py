"""What the options of `connect` make of values, in both colours and by both protocols; parameters of rarer types."""

from __future__ import annotations

import array
import asyncio
import datetime
import enum
import ipaddress
import json
import re
import uuid
import zoneinfo
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy
import pandas
import pyarrow
import pytest
from rowferry import mysql
from rowferry.mysql import aio
from rowferry.mysql.constants import FIELD_TYPE

from tests.servers.mysql import MySQL, MySQLServer

Rows = Callable[..., list[tuple[Any, ...]]]
UTC = datetime.timezone.utc
BERLIN = zoneinfo.ZoneInfo("Europe/Berlin")


@pytest.fixture(params=["sync", "asyncio"])
def rows(request: pytest.FixtureRequest, server: MySQLServer) -> Rows:
    """Run statements on a new connection; answer the rows of the last, which both protocols must agree on."""

    def blocking(*statements: str, args: Any = None, **options: Any) -> list[tuple[Any, ...]]:
        with mysql.connect(**server.dsn, **options) as connection, connection.cursor() as cursor:
            for statement in statements[:-1]:
                cursor.execute(statement)
            cursor.execute(statements[-1], args)
            by_text = list(cursor.fetchall())
            prepared = connection.prepare(statements[-1].replace("%s", "?"))
            assert list(prepared.execute(args or ()).rows or ()) == by_text
            return by_text

    async def coroutine(statements: tuple[str, ...], args: Any, options: Any) -> list[tuple[Any, ...]]:
        async with aio.connect(**server.dsn, **options) as connection, connection.cursor() as cursor:
            for statement in statements[:-1]:
                await cursor.execute(statement)
            await cursor.execute(statements[-1], args)
            by_text = list(await cursor.fetchall())
            prepared = await connection.prepare(statements[-1].replace("%s", "?"))
            assert list((await prepared.execute(args or ())).rows or ()) == by_text
            return by_text

    def asynchronous(*statements: str, args: Any = None, **options: Any) -> list[tuple[Any, ...]]:
        return asyncio.run(coroutine(statements, args, options))

    return blocking if request.param == "sync" else asynchronous


JSON_TABLE = "CREATE TEMPORARY TABLE j (n INT, j JSON, t VARCHAR(20))"


def test_json_is_decoded_and_encoded_on_request(rows: Rows, connect: Callable[..., mysql.Connection]) -> None:
    fill = """INSERT INTO j VALUES (1, '{"a": [1, null, "é"]}', '{"b": 1}'), (2, NULL, 'x'), (3, '[]', 'y')"""
    sql = "SELECT j, t, n FROM j ORDER BY n"
    decoded = [({"a": [1, None, "é"]}, '{"b": 1}', 1), (None, "x", 2), ([], "y", 3)]
    assert rows(JSON_TABLE, fill, sql, json=True) == decoded
    assert rows(JSON_TABLE, fill, sql, json=json) == decoded
    assert rows(JSON_TABLE, fill, sql, json=lambda text: type(text))[0][0] is str
    assert rows(JSON_TABLE, fill, sql)[2] == ("[]", "y", 3)
    exact = rows(
        JSON_TABLE, "INSERT INTO j VALUES (1, '1.10', '')", sql, json=lambda t: json.loads(t, parse_float=Decimal)
    )
    assert exact[0][0] == Decimal("1.1")
    connection = connect(json=True)
    with connection.cursor() as cursor:
        cursor.execute(JSON_TABLE)
        insert = connection.prepare("INSERT INTO j VALUES (?, ?, ?)")
        values: list[Any] = [{"a": [1, "it's \\ é"]}, [1, {"b": None}], []]
        for n, value in enumerate(values):
            cursor.execute("INSERT INTO j VALUES (%s, %s, %s)", (n, value, "behind"))
            insert.execute((n, value, "behind"))
        cursor.executemany(
            "INSERT INTO j VALUES (%s, %s, %s)", [(n, value, "behind") for n, value in enumerate(values)]
        )
        cursor.execute("SELECT j, t FROM j ORDER BY n")
        assert list(cursor.fetchall()) == [(value, "behind") for value in values for _ in range(3)]
        # Tuples are still lists of SQL.
        cursor.execute("SELECT COUNT(*) FROM j WHERE n IN %s", ((0, 1),))
        assert cursor.fetchone() == (6,)


def test_json_in_other_character_sets(rows: Rows, connect: Callable[..., mysql.Connection]) -> None:
    fill = """INSERT INTO j VALUES (1, '["é"]', 'é')"""
    sql = "SELECT j, t, n FROM j"
    for charset in ("latin1", "utf8mb4"):
        assert rows(JSON_TABLE, fill, sql, charset=charset, json=True) == [(["é"], "é", 1)]
        assert rows(JSON_TABLE, fill, sql, charset=charset) == [('["é"]', "é", 1)]
        with connect(charset=charset).cursor(mysql.cursors.SSCursor) as cursor:
            cursor.execute(JSON_TABLE)
            cursor.execute(fill)
            cursor.execute(sql)
            assert cursor.fetch_arrow_table().to_pylist() == [{"j": '["é"]', "t": "é", "n": 1}]


def test_bits_are_numbers_or_truths_on_request(rows: Rows) -> None:
    make = "CREATE TEMPORARY TABLE b (n INT, one BIT(1), many BIT(12), t VARCHAR(9))"
    fill = "INSERT INTO b VALUES (1, b'1', b'111111111111', 'x'), (2, b'0', b'0', 'y'), (3, NULL, NULL, 'z')"
    sql = "SELECT one, many, t FROM b ORDER BY n"
    assert rows(make, fill, sql) == [(b"\1", b"\x0f\xff", "x"), (b"\0", b"\0\0", "y"), (None, None, "z")]
    assert rows(make, fill, sql, bit="int") == [(1, 4095, "x"), (0, 0, "y"), (None, None, "z")]
    assert rows(make, fill, sql, bit="bool") == [(True, 4095, "x"), (False, 0, "y"), (None, None, "z")]


def test_sets_are_sets_on_request(rows: Rows) -> None:
    make = "CREATE TEMPORARY TABLE s (n INT, s SET('a','b','c'), e ENUM('a,b'), t VARCHAR(9))"
    fill = "INSERT INTO s VALUES (1, 'a,c', 'a,b', 'x,y'), (2, '', NULL, ''), (3, NULL, NULL, NULL)"
    sql = "SELECT s, e, t FROM s ORDER BY n"
    assert rows(make, fill, sql, set="set") == [({"a", "c"}, "a,b", "x,y"), (set(), None, ""), (None, None, None)]
    assert rows(make, fill, sql)[0] == ("a,c", "a,b", "x,y")
    assert rows(make, fill, "SELECT n FROM s WHERE s = %s", args=({"b"},), set="set") == []
    make = "CREATE TEMPORARY TABLE s (n INT, s SET('a','b','c'))"
    fill = "INSERT INTO s VALUES (1, 'a'), (2, 'b')"
    assert rows(make, fill, "SELECT n FROM s WHERE s = %s", args=(frozenset("b"),), set="set") == [(2,)]


@pytest.mark.on("mariadb", "mariadb11")
def test_uuids_are_uuids_on_request(rows: Rows) -> None:
    identifier = uuid.UUID("123e4567-e89b-12d3-a456-426655440000")
    make = "CREATE TEMPORARY TABLE u (u UUID, t VARCHAR(40))"
    fill = f"INSERT INTO u VALUES ('{identifier}', '{identifier}')"
    assert rows(make, fill, "SELECT u, t FROM u", uuid="uuid") == [(identifier, str(identifier))]
    assert rows(make, fill, "SELECT u, t FROM u") == [(str(identifier), str(identifier))]
    assert rows(make, fill, "SELECT t FROM u WHERE u = %s", args=(identifier,)) == [(str(identifier),)]


@pytest.mark.on("mysql9")
def test_vectors_are_lists_or_arrays_on_request(rows: Rows) -> None:
    make = "CREATE TEMPORARY TABLE w (n INT, v VECTOR(3), t VARCHAR(9))"
    fill = "INSERT INTO w VALUES (1, STRING_TO_VECTOR('[1,-0.5,3]'), 'x'), (2, NULL, 'y')"
    sql = "SELECT v, t FROM w ORDER BY n"
    assert rows(make, fill, sql, vector="list") == [([1.0, -0.5, 3.0], "x"), (None, "y")]
    assert rows(make, fill, sql, vector="array") == [(array.array("f", [1.0, -0.5, 3.0]), "x"), (None, "y")]
    assert rows(make, fill, sql) == [(array.array("f", [1.0, -0.5, 3.0]).tobytes(), "x"), (None, "y")]


@pytest.mark.on("mariadb11", "mysql9")
def test_vectors_go_as_arrays(connect: Callable[..., mysql.Connection], server: MySQLServer) -> None:
    connection = connect(vector="list")
    spell = "VECTOR_TO_STRING(v)" if isinstance(server, MySQL) else "Vec_ToText(v)"
    with connection.cursor() as cursor:
        cursor.execute("CREATE TEMPORARY TABLE w (n INT, v VECTOR(2), t VARCHAR(9))")
        insert = connection.prepare("INSERT INTO w VALUES (?, ?, 'z')")
        singles = array.array("f", [1.5, -2.0])
        vectors = (singles, array.array("d", singles), numpy.array([1.5, -2], "f4"), numpy.array([1.5, -2], "f8"))
        for n, value in enumerate(vectors):
            cursor.execute("INSERT INTO w VALUES (%s, %s, 'z')", (n, value))
            insert.execute((n, value))
        cursor.execute(f"SELECT DISTINCT {spell}, t FROM w")
        ((spelled, behind),) = cursor.fetchall()
        assert ([float(part) for part in spelled.strip("[]").split(",")], behind) == ([1.5, -2.0], "z")


@pytest.mark.on("mysql9")
def test_vectors_in_arrow(connect: Callable[..., mysql.Connection]) -> None:
    for kind in (mysql.cursors.SSCursor, mysql.cursors.Cursor):
        for vector in ("bytes", "list", "array"):
            with connect(vector=vector).cursor(kind) as cursor:
                cursor.execute("CREATE TEMPORARY TABLE w (n INT, v VECTOR(2))")
                cursor.execute("INSERT INTO w VALUES (1, STRING_TO_VECTOR('[1.5,-2]')), (2, NULL)")
                cursor.execute("SELECT v, n FROM w ORDER BY n")
                table = cursor.fetch_arrow_table()
                assert pyarrow.types.is_fixed_size_list(table.schema.field("v").type)
                assert table.to_pydict() == {"v": [[1.5, -2.0], None], "n": [1, 2]}


def test_bits_and_aware_moments_in_arrow(connect: Callable[..., mysql.Connection]) -> None:
    for kind in (mysql.cursors.SSCursor, mysql.cursors.Cursor):
        with connect(bit="bool", tz="Europe/Berlin").cursor(kind) as cursor:
            cursor.execute("CREATE TEMPORARY TABLE b (one BIT(1), many BIT(12), m TIMESTAMP(3) NULL, d DATETIME)")
            cursor.execute("INSERT INTO b VALUES (b'1', b'111', '2026-07-01 12:00:00.5', '2026-07-01')")
            cursor.execute("SELECT * FROM b")
            table = cursor.fetch_arrow_table()
            assert table.schema.types == [
                pyarrow.bool_(),
                pyarrow.uint64(),
                pyarrow.timestamp("us", "Europe/Berlin"),
                pyarrow.timestamp("us"),
            ]
            assert table.to_pylist() == [
                {
                    "one": True,
                    "many": 7,
                    "m": datetime.datetime(2026, 7, 1, 14, 0, 0, 500000, BERLIN),
                    "d": datetime.datetime(2026, 7, 1),
                }
            ]


MOMENTS = "CREATE TEMPORARY TABLE m (n INT, s TIMESTAMP(6) NULL, d DATETIME(6), t VARCHAR(9))"


def test_timestamps_are_aware_on_request(rows: Rows) -> None:
    fill = "INSERT INTO m VALUES (1, '2026-10-25 00:30:00.5', '2026-10-25 00:30:00.5', 'x'), (2, NULL, NULL, 'y')"
    sql = "SELECT s, d, t FROM m ORDER BY n"
    moment = datetime.datetime(2026, 10, 25, 0, 30, 0, 500000)
    for tz in ("UTC", UTC, "Europe/Berlin", BERLIN, datetime.timezone(datetime.timedelta(hours=-3))):
        ((aware, naive, behind), nulls) = rows(MOMENTS, fill, sql, tz=tz)
        assert (naive, behind, nulls) == (moment, "x", (None, None, "y"))
        # Python holds no two datetimes equal when one of them is in an hour that its clocks show twice.
        assert aware.astimezone(UTC) == moment.replace(tzinfo=UTC)
        assert aware.utcoffset() == moment.replace(tzinfo=UTC).astimezone(aware.tzinfo).utcoffset()
    # Both of the hours that Berlin's clocks show twice.
    later = "INSERT INTO m VALUES (1, '2026-10-25 01:30:00', NULL, 'x')"
    ((twice, _, _),) = rows(MOMENTS, later, sql, tz=BERLIN)
    assert (twice.hour, twice.fold) == (2, 1)
    ((plain, _, _), _) = rows(MOMENTS, fill, sql)
    assert plain.tzinfo is None


def test_aware_parameters_are_converted_and_never_cut_silently(connect: Callable[..., mysql.Connection]) -> None:
    aware = datetime.datetime(2026, 7, 1, 12, 0, 0, 5, BERLIN)
    for options, clock in [
        ({"tz": "UTC"}, "2026-07-01 10:00:00.000005"),
        ({"tz": "America/New_York"}, "2026-07-01 10:00:00.000005"),
        ({"time_zone": "+05:30"}, "2026-07-01 15:30:00.000005"),
        ({"time_zone": "-03:00"}, "2026-07-01 07:00:00.000005"),
    ]:
        connection = connect(**options)
        with connection.cursor() as cursor:
            cursor.execute(MOMENTS)
            cursor.execute("INSERT INTO m VALUES (1, %s, %s, 'z')", (aware, aware))
            connection.prepare("INSERT INTO m VALUES (1, ?, ?, 'z')").execute((aware, aware))
            cursor.executemany("INSERT INTO m VALUES (%s, %s, %s, 'z')", [(1, aware, aware), (1, aware, aware)])
            cursor.execute("SELECT DISTINCT CONCAT(s), CONCAT(d), UNIX_TIMESTAMP(s), t FROM m")
            ((stamp, moment, seconds, behind),) = cursor.fetchall()
            assert (stamp, moment, behind) == (clock, clock, "z")
            assert float(seconds) == pytest.approx(aware.timestamp())
    connection = connect()
    with connection.cursor() as cursor:
        # As the other drivers do it, but not silently.
        with pytest.warns(RuntimeWarning, match="time zone of a datetime was cut off"):
            cursor.execute("SELECT CONCAT(%s)", (aware,))
        assert cursor.fetchone() == ("2026-07-01 12:00:00.000005",)
        with pytest.warns(RuntimeWarning, match="connect with `tz`"):
            connection.prepare("SELECT ?").execute((aware,))
        with pytest.raises(mysql.ProgrammingError, match="time of day with a time zone"):
            cursor.execute("SELECT %s", (datetime.time(1, tzinfo=UTC),))
        cursor.execute("SELECT 1")
        assert cursor.fetchall() == ((1,),)


def test_options_that_make_no_sense_are_refused(server: MySQLServer) -> None:
    for options, message in [
        ({"bit": "number"}, "`bit` is one of 'bytes', 'int', 'bool'"),
        ({"set": "list"}, "`set` is one of"),
        ({"uuid": "int"}, "`uuid` is one of"),
        ({"vector": "numpy"}, "`vector` is one of"),
        ({"json": "yes"}, "`json` takes"),
        ({"tz": "Europe/Nowhere"}, "`tz` is no time zone"),
        ({"tz": "UTC", "time_zone": "+02:00"}, "leave `time_zone` out"),
    ]:
        with pytest.raises(mysql.InterfaceError, match=message):
            mysql.connect(**server.dsn, **options)
    mysql.connect(**server.dsn, tz="UTC", time_zone="+00:00").close()


class Colour(enum.Enum):
    RED = "red"
    BLUE = 3


class Number(enum.IntEnum):
    SEVEN = 7


PARAMETERS: list[tuple[Any, Any]] = [
    (Colour.RED, "red"),
    (Colour.BLUE, 3),
    (Number.SEVEN, 7),
    (True, 1),
    (bytearray(b"a\0b"), b"a\0b"),
    (memoryview(b"abcd")[::2], b"ac"),
    (numpy.int64(-5), -5),
    (numpy.uint64(2**64 - 1), 2**64 - 1),
    (numpy.int8(3), 3),
    (numpy.float64(0.1), 0.1),
    (numpy.float32(0.5), 0.5),
    (numpy.bool_(True), 1),
    (numpy.str_("é"), "é"),
    (numpy.bytes_(b"\xff"), b"\xff"),
    (ipaddress.ip_address("192.0.2.1"), "192.0.2.1"),
    (ipaddress.ip_address("2001:db8::1"), "2001:db8::1"),
    (uuid.UUID(int=7), "00000000-0000-0000-0000-000000000007"),
    (2**64, Decimal(2**64)),
    (-(2**63) - 1, Decimal(-(2**63) - 1)),
    (Decimal("1E+3"), Decimal(1000)),
    (Decimal("-1.5E-7"), Decimal("-0.00000015")),
    (5e-324, 5e-324),
    (pandas.NaT, None),
    (numpy.datetime64("NaT"), None),
]


def shown(value: object) -> str:
    """A name for a test that is the same in every process."""
    return re.sub(r" at 0x[0-9a-f]+", "", repr(value))


@pytest.mark.parametrize(("given", "expected"), PARAMETERS, ids=[shown(given) for given, _ in PARAMETERS])
def test_parameters_of_rarer_types(connection: mysql.Connection, given: Any, expected: Any) -> None:
    # MySQL takes any parameter that is selected as such for text.
    shape = "CAST({} AS BINARY)" if isinstance(expected, bytes) else "{}"
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {shape.format('%s')}, 'z'", (given,))
        assert cursor.fetchone() == (expected, "z")
        ((value, behind),) = connection.prepare(f"SELECT {shape.format('?')}, 'z'").execute((given,)).rows or ()
        assert (value, behind) == (expected, "z")


def test_moments_of_numpy_and_pandas(connection: mysql.Connection) -> None:
    moment = datetime.datetime(2026, 11, 21, 1, 2, 3, 456789)
    with connection.cursor() as cursor:
        for value in (
            moment,
            pandas.Timestamp(moment),
            numpy.datetime64(moment),
            numpy.datetime64("2026-11-21T01:02:03.456789123"),
        ):
            cursor.execute("SELECT CONCAT(%s), 'z'", (value,))
            assert cursor.fetchone() == ("2026-11-21 01:02:03.456789", "z")
        for span in (datetime.timedelta(days=-2, microseconds=5), numpy.timedelta64(-2 * 86_400_000_000 + 5, "us")):
            cursor.execute("SELECT CONCAT(%s)", (span,))
            assert cursor.fetchone() == ("-47:59:59.999995",)
        cursor.execute("SELECT CONCAT(%s)", (numpy.datetime64("2026-11-21"),))
        assert cursor.fetchone() == ("2026-11-21 00:00:00",)


@pytest.mark.parametrize(
    "value",
    [float("inf"), float("-inf"), float("nan"), Decimal("NaN"), Decimal("Infinity"), numpy.float64("nan"), 1j],
    ids=repr,
)
def test_what_has_no_number_is_refused(connection: mysql.Connection, value: Any) -> None:
    with connection.cursor() as cursor:
        with pytest.raises(mysql.ProgrammingError):
            cursor.execute("SELECT %s", (value,))
        with pytest.raises(mysql.ProgrammingError):
            connection.prepare("SELECT ?").execute((value,))
        with pytest.raises(mysql.ProgrammingError):
            cursor.executemany("INSERT INTO nowhere VALUES (%s)", [(1,), (value,)])
        cursor.execute("SELECT 1")
        assert cursor.fetchall() == ((1,),)


@pytest.mark.parametrize(
    "value", [object(), Fraction(1, 3), numpy.zeros((2, 2)), numpy.array(["a"]), range(3)], ids=shown
)
def test_unknown_types_are_named(connection: mysql.Connection, value: Any) -> None:
    name = type(value).__name__
    with connection.cursor() as cursor, pytest.raises(mysql.ProgrammingError, match=rf"{name}.*cannot be sent"):
        cursor.execute("SELECT %s", (value,))
    with pytest.raises(mysql.ProgrammingError, match=rf"{name}.*cannot be sent"):
        connection.prepare("SELECT ?").execute((value,))


def test_the_callers_converters_come_first(rows: Rows) -> None:
    conv = {**mysql.converters.conversions, FIELD_TYPE.BIT: len, FIELD_TYPE.TIMESTAMP: None}
    make = "CREATE TEMPORARY TABLE c (b BIT(12), s TIMESTAMP NULL, j JSON)"
    fill = "INSERT INTO c VALUES (b'1', '2026-07-01 10:00:00', '[1]')"
    assert rows(make, fill, "SELECT * FROM c", conv=conv, bit="int", tz="UTC", json=True) == [
        (2, "2026-07-01 10:00:00", [1])
    ]


@pytest.mark.parametrize("zero_dates", ["text", "none", "error"])
def test_zero_and_partial_dates(connect: Callable[..., mysql.Connection], zero_dates: str) -> None:
    zeros = ("0000-00-00", "2020-00-00", "2020-02-00", "2021-02-29", "0000-01-01")
    connection = connect(sql_mode="ALLOW_INVALID_DATES", zero_dates=zero_dates, tz="UTC")
    with connection.cursor() as cursor:
        cursor.execute("CREATE TEMPORARY TABLE d (n INT, a DATE, z VARCHAR(9), b DATETIME(2))")
        for n, zero in enumerate(zeros):
            cursor.execute(f"INSERT INTO d VALUES ({n}, '{zero}', 'z', '{zero} 01:02:03.45')")
        for n, zero in enumerate(zeros):
            sql = f"SELECT a, z, b FROM d WHERE n = {n}"
            prepared = connection.prepare(sql)
            if zero_dates == "error":
                with pytest.raises(mysql.DataError, match=zero):
                    cursor.execute(sql)
                with pytest.raises(mysql.DataError, match=zero):
                    prepared.execute()
                continue
            expected = (zero, "z", f"{zero} 01:02:03.45") if zero_dates == "text" else (None, "z", None)
            cursor.execute(sql)
            assert cursor.fetchall() == (expected,)
            assert prepared.execute().rows == (expected,)
