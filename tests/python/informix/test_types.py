"""Every type both ways, between other columns, under the capabilities of every server; text in every code set."""

from __future__ import annotations

import datetime as dt
import uuid
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import pytest
from rowferry import informix
from rowferry.informix import CollectionValue, IntervalYM, RowValue

from tests.python.informix.masks import SERVERS, MaskRelay, without
from tests.python.informix.replay import Driver
from tests.servers.rowferry import Rowferry

D = Decimal
DAY = dt.timedelta(days=1)

#: A type, and its values, each with the text that the server has for it (None where it cannot be asked for).
TYPES: dict[str, list[tuple[Any, str | None]]] = {
    "smallint": [(32767, "32767"), (-32767, "-32767"), (0, "0")],
    "integer": [(2147483647, "2147483647"), (-2147483647, "-2147483647"), (0, "0")],
    "bigint": [(2**63 - 1, str(2**63 - 1)), (-(2**63) + 1, str(-(2**63) + 1)), (2**31, "2147483648")],
    "int8": [(2**63 - 1, str(2**63 - 1)), (-(2**63) + 1, str(-(2**63) + 1)), (-(2**32), "-4294967296")],
    "smallfloat": [(1.5, None), (-(2.0**-126), None), (2.0**127, None)],
    "float": [(0.1, None), (-1.7976931348623157e308, None), (5e-324, None)],
    "decimal(8,4)": [(D("123.4500"), "123.4500"), (D("-123.4500"), "-123.4500"), (D("0.0000"), "0.0000")],
    "decimal(9,3)": [(D("999999.999"), "999999.999"), (D("-0.001"), "-0.001"), (D("0.010"), "0.010")],
    "decimal(32,0)": [(D("9" * 32), "9" * 32), (D("-1" + "0" * 31), "-1" + "0" * 31), (D(0), "0")],
    "decimal(32,32)": [(D("0." + "9" * 32), None), (D("-1E-32"), None)],
    "decimal(1,1)": [(D("0.1"), "0.1"), (D("-0.9"), "-0.9")],
    "decimal(16)": [(D("3.14159"), "3.14159"), (D("-1.234567890123456E+20"), None), (D("1E-7"), None)],
    "decimal(32)": [(D("1E-130"), None), (D("-1E+125"), None), (D("0"), "0"), (D("1E+31"), None)],
    "money(10,2)": [(D("99999999.99"), None), (D("-0.01"), None)],
    "char(1)": [("x", "x"), ("", "")],
    "char(7)": [("abc", "abc"), ("abcdefg", "abcdefg"), ("", ""), (" x", " x")],
    "nchar(4)": [("abcd", "abcd"), ("é", "é")],
    "varchar(255)": [("", ""), ("a", "a"), ("ab", "ab"), ("x" * 255, "x" * 255), ("a  ", "a  ")],
    "nvarchar(20)": [("", ""), ("né", "né"), ("abc", "abc")],
    "lvarchar(5000)": [("", ""), ("odd", "odd"), ("even", "even"), ("y" * 4999, "y" * 4999)],
    "boolean": [(True, "t"), (False, "f")],
    "date": [(dt.date(1, 1, 1), None), (dt.date(9999, 12, 31), None), (dt.date(1899, 12, 30), None)],
    "datetime year to year": [(dt.date(1, 1, 1), "0001"), (dt.date(2026, 1, 1), "2026")],
    "datetime year to day": [(dt.date(2024, 2, 29), "2024-02-29"), (dt.date(9999, 12, 31), "9999-12-31")],
    "datetime year to minute": [(dt.datetime(2026, 6, 20, 12, 34), "2026-06-20 12:34")],
    "datetime year to second": [(dt.datetime(2026, 6, 20, 12, 34, 56), "2026-06-20 12:34:56")],
    "datetime year to fraction(1)": [(dt.datetime(2026, 1, 2, 3, 4, 5, 100000), "2026-01-02 03:04:05.1")],
    "datetime year to fraction(5)": [
        (dt.datetime(2026, 1, 2, 3, 4, 5, 123450), "2026-01-02 03:04:05.12345"),
        (dt.datetime(1, 1, 1), "0001-01-01 00:00:00.00000"),
        (dt.datetime(9999, 12, 31, 23, 59, 59, 999990), "9999-12-31 23:59:59.99999"),
    ],
    "datetime hour to minute": [(dt.time(23, 59), "23:59"), (dt.time(0, 0), "00:00")],
    "datetime hour to second": [(dt.time(23, 59, 59), "23:59:59")],
    "datetime hour to fraction(3)": [(dt.time(1, 2, 3, 4000), "01:02:03.004")],
    "interval day(3) to second": [
        (3 * DAY + dt.timedelta(hours=1, minutes=1, seconds=1), "3 01:01:01"),
        (-(999 * DAY) - dt.timedelta(seconds=1), "-999 00:00:01"),
        (dt.timedelta(0), "0 00:00:00"),
    ],
    "interval day(9) to fraction(5)": [
        (999999999 * DAY, None),
        (-dt.timedelta(microseconds=10), "-0 00:00:00.00001"),
    ],
    "interval hour(4) to minute": [(dt.timedelta(hours=1234, minutes=5), "1234:05")],
    "interval second(3) to fraction(2)": [(-dt.timedelta(seconds=999, milliseconds=990), "-999.99")],
    "interval year to month": [
        (IntervalYM(-14), "-1-02"),
        (IntervalYM(9999 * 12 + 11), "9999-11"),
        (IntervalYM(0), "0-00"),
    ],
    "interval month(5) to month": [(IntervalYM(99999), "99999")],
    "byte": [(b"\x00\xff\x80", None), (b"", None), (bytes(range(256)) * 9, None)],
    "text": [("long " * 700, None), ("", None), ("é", None)],
    "row(name varchar(9), age integer)": [
        (RowValue.of("O'Neil", 30), "ROW('O''Neil',30)"),
        (RowValue.of(None, None), None),
    ],
    "set(varchar(9) not null)": [
        (CollectionValue.of("set", ["red", "it's"]), None),
        (CollectionValue.of("set", []), "SET{}"),
    ],
    "multiset(integer not null)": [(CollectionValue.of("multiset", [1, 2, 2]), "MULTISET{1,2,2}")],
    "list(date not null)": [(CollectionValue.of("list", [dt.date(2026, 1, 2)]), "LIST{'2026-01-02'}")],
    "list(row(a decimal(5,2)) not null)": [(CollectionValue.of("list", [RowValue.of(D("1.50"))]), "LIST{ROW(1.50)}")],
    "json": [('{"a": [1, null]}', '{"a": [1, null]}'), ("[]", "[]")],
}
ROWS = max(len(values) for values in TYPES.values())
#: Servers, and bits whose lack changes the bytes.
MASKS = {
    **SERVERS,
    **{f"without {bit}": without(bit) for bit in (13, 50, 52, 54, 62, 63, 69, 70)},
    "without any": without(13, 50, 52, 54, 62, 63, 69, 70),
}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rowferry]:
    """One server for the module."""
    file = tmp_path_factory.mktemp("types") / "app.db"
    with Rowferry.start(file, postgres=False, informix=True) as server:
        yield server


def connect(driver: Driver, server: Rowferry, **parameters: Any) -> Any:
    """A connection of either colour."""
    assert server.informix is not None
    host, port = server.informix
    defaults = {"host": host, "port": port, "database": server.dbname, "client_locale": "en_US.utf8"}
    return driver.connect(**(defaults | {"autocommit": True} | parameters))


def cell(type_name: str, row: int) -> Any:
    """The value of a type in a row; NULL where there are no more, and in the last."""
    values = TYPES[type_name]
    return values[row][0] if row < len(values) else None


def make_tour(connection: Any, table: str) -> None:
    """A table of every type, with a row for each value and one of NULLs."""
    cursor = connection.cursor()
    columns = ", ".join(f"c{at} {name}" for at, name in enumerate(TYPES))
    cursor.execute(f"CREATE TABLE {table} (k INTEGER, {columns})")
    marks = ", ".join("?" * (len(TYPES) + 1))
    for row in range(ROWS + 1):
        cursor.execute(f"INSERT INTO {table} VALUES ({marks})", (row, *(cell(name, row) for name in TYPES)))
        assert cursor.rowcount == 1


@pytest.mark.parametrize("mask", list(MASKS))
def test_every_type_in_every_position_under_every_mask(server: Rowferry, mask: str) -> None:
    """Projections rotate, so that each column stands in front of, and behind, each kind of width."""
    assert server.informix is not None
    driver = Driver("blocking")
    table = "tour_" + "".join(c if c.isalnum() else "_" for c in mask)
    with MaskRelay(server.informix, MASKS[mask]) as relay:
        connection = connect(driver, server, port=relay.port, host="127.0.0.1")
        offered = bytes.fromhex("fffc7ffc3c8caa9706")
        assert connection.server_capabilities == MASKS[mask] or bytes(connection.capabilities) == bytes(
            a & b for a, b in zip(offered, MASKS[mask], strict=True)
        )
        make_tour(connection, table)
        names = list(TYPES)
        cursor = connection.cursor()
        for turn in range(len(names)):
            order = [*range(turn, len(names)), *range(turn)]
            # Every second turn a part of the columns only, so that widths meet in other places, too.
            order = order[:: 1 + turn % 2]
            columns = ", ".join(f"c{at}" for at in order)
            cursor.execute(f"SELECT {columns}, k FROM {table} ORDER BY k")
            for row, values in enumerate(cursor.fetchall()):
                assert values[-1] == row
                for at, value in zip(order, values, strict=False):
                    expected = cell(names[at], row)
                    assert value == expected, (mask, names[at], row)
                    assert type(value) is type(expected), (mask, names[at], row)
        cursor.execute(f"DROP TABLE {table}")
        connection.close()


def test_the_server_has_the_same_values(driver: Driver, server: Rowferry) -> None:
    """Its text for them: a round trip through our own codec alone would not see a mistake made twice."""
    connection = connect(driver, server)
    make_tour(connection, f"said_{driver.colour}")
    cursor = connection.cursor()
    for at, (name, values) in enumerate(TYPES.items()):
        if all(text is None for _, text in values):
            continue
        cursor.execute(f"SELECT c{at}::LVARCHAR(5000) FROM said_{driver.colour} ORDER BY k")
        texts = [row[0] for row in cursor.fetchall()]
        for row, (_, text) in enumerate(values):
            if text is not None:
                assert (texts[row] or "").rstrip() == text.rstrip(), (name, row)
        assert texts[ROWS] is None, name
    connection.close()


def test_parameters_find_the_rows_that_hold_them(driver: Driver, server: Rowferry) -> None:
    """Values are compared by the server as what they are."""
    connection = connect(driver, server)
    make_tour(connection, f"found_{driver.colour}")
    cursor = connection.cursor()
    unordered = ("byte", "text", "json", "row", "set", "multiset", "list")
    for at, (name, values) in enumerate(TYPES.items()):
        if name.startswith(unordered) or name == "smallfloat":
            continue
        for row, (value, _) in enumerate(values):
            cursor.execute(f"SELECT k FROM found_{driver.colour} WHERE c{at} = ?", (value,))
            assert (row,) in cursor.fetchall(), (name, value)
    connection.close()


LOCALES = {
    "en_US.8859-1": "äß÷ÿ",
    "pl_PL.8859-2": "łŻąŘ",
    "ru_RU.8859-5": "Привет",
    "el_GR.8859-7": "αβγ",
    "tr_TR.8859-9": "İışŞ",
    "lt_LT.8859-13": "ąčęŽ",
    "de_DE.8859-15@euro": "10 € Šœ",
    "de_DE.923": "€",
    "cs_CZ.1250": "řžŠ„",
    "ru_RU.1251": "Ёжик",
    "en_US.1252": "“€” ™",
    "ru_RU.koi-8": "Ёж",
    "en_US.utf8": "€ 你好 🚢",
    "en_US.57372": "ẞ",
}


@pytest.mark.parametrize("locale", list(LOCALES))
def test_text_travels_in_the_clients_code_set(driver: Driver, server: Rowferry, locale: str) -> None:
    """Literals, parameters, columns and their names; what another client reads is the same text."""
    text = LOCALES[locale]
    connection = connect(driver, server, client_locale=locale)
    cursor = connection.cursor()
    table = f"t_{driver.colour}_{list(LOCALES).index(locale)}"
    cursor.execute(f"CREATE TABLE {table} (a VARCHAR(60), b CHAR(30), c LVARCHAR, d TEXT, e NCHAR(30))")
    cursor.execute(f"INSERT INTO {table} VALUES ('{text}', ?, ?, ?, ?)", (text, text, text, text))
    other = connect(driver, server)
    for reader in (connection, other):
        cursor = reader.cursor()
        cursor.execute(f"SELECT * FROM {table}")
        assert cursor.fetchall() == [(text,) * 5]
        cursor.execute(f"SELECT b FROM {table} WHERE a = ? AND b = '{text}'", (text,))
        assert cursor.fetchone() == (text,)
        assert cursor.fetch_arrow_table().num_rows == 0
    other.close()
    connection.close()


def test_a_character_that_the_code_set_lacks_is_an_error_at_both_ends(driver: Driver, server: Rowferry) -> None:
    """Never a question mark; the connection goes on."""
    connection = connect(driver, server, client_locale="de_DE.8859-15")
    cursor = connection.cursor()
    table = f"lacks_{driver.colour}"
    cursor.execute(f"CREATE TABLE {table} (a VARCHAR(60))")
    with pytest.raises(informix.DataError, match="你"):
        cursor.execute(f"INSERT INTO {table} VALUES (?)", ("你",))
    other = connect(driver, server)
    other.cursor().execute(f"INSERT INTO {table} VALUES (?)", ("你",))
    with pytest.raises(informix.DatabaseError):
        cursor.execute(f"SELECT a FROM {table}")
        cursor.fetchall()
    cursor.execute(f"SELECT COUNT(*) FROM {table}")
    assert cursor.fetchone() == (1,)
    other.close()
    connection.close()


def test_a_locale_that_the_server_does_not_know_is_refused(driver: Driver, server: Rowferry) -> None:
    """Rather than text read in another code set."""
    with pytest.raises(informix.OperationalError):
        connect(driver, server, client_locale="ja_JP.sjis-s")
    with pytest.raises(informix.InterfaceError, match="nosuch"):
        connect(driver, server, client_locale="en_US.nosuch")


def test_values_beyond_a_type_are_refused(driver: Driver, server: Rowferry) -> None:
    """Rather than stored as something else; the least number of a width means NULL on the wire."""
    connection = connect(driver, server)
    cursor = connection.cursor()
    table = f"beyond_{driver.colour}"
    cursor.execute(
        f"CREATE TABLE {table} (a SMALLINT, b INTEGER, c BIGINT, d DECIMAL(5,2), e INTERVAL DAY(2) TO SECOND, "
        "f LIST(INTEGER NOT NULL), g ROW(x INTEGER), h DATE, i BOOLEAN)"
    )
    for column, value in [
        *(("a", 32768), ("a", -32768), ("b", 2**31), ("b", -(2**31)), ("c", 2**63), ("c", -(2**63))),
        *(("d", D("1000")), ("e", 100 * DAY), ("f", ["x"]), ("f", [None]), ("f", {1}), ("g", RowValue.of(1, 2))),
        *(("h", "2026-02-30"), ("i", "x")),
    ]:
        with pytest.raises(informix.DatabaseError):
            cursor.execute(f"INSERT INTO {table} ({column}) VALUES (?)", (value,))
    for value in (float("nan"), D("NaN"), dt.datetime(2026, 1, 1, tzinfo=dt.timezone.utc), object(), [b"x"]):
        with pytest.raises(informix.DatabaseError):
            cursor.execute(f"INSERT INTO {table} (a) VALUES (?)", (value,))
    cursor.execute(f"SELECT COUNT(*) FROM {table}")
    assert cursor.fetchone() == (0,)
    connection.close()


def test_types_can_have_names(driver: Driver, server: Rowferry) -> None:
    """Named rows, distinct types, in columns, casts and collections; the catalog has them."""
    connection = connect(driver, server)
    cursor = connection.cursor()
    person, dollar, table = (f"{name}_{driver.colour}" for name in ("person", "dollar", "of_names"))
    cursor.execute(f"CREATE ROW TYPE {person} (name VARCHAR(9) NOT NULL, age INTEGER)")
    cursor.execute(f"CREATE DISTINCT TYPE {dollar} AS DECIMAL(8,2)")
    cursor.execute(f"CREATE TABLE {table} (a {person}, b LIST({person} NOT NULL), c {dollar}, d INTEGER)")
    cursor.execute(f"INSERT INTO {table} VALUES (ROW('x', 1)::{person}, LIST{{ROW('y', 2)}}, 12.5::{dollar}, 7)")
    cursor.execute(f"INSERT INTO {table} VALUES (?, ?, ?, ?)", (RowValue.of("z", None), [], D("1"), 8))
    cursor.execute(f"SELECT a, b, c, d, a.name FROM {table} ORDER BY d")
    first, second = cursor.fetchall()
    assert first == (("x", 1), [("y", 2)], D("12.50"), 7, "x")
    assert second == (("z", None), [], D("1.00"), 8, "z")
    assert first[0].fields == ("name", "age")
    with pytest.raises(informix.DatabaseError):
        cursor.execute(f"CREATE ROW TYPE {person} (x INTEGER)")
    with pytest.raises(informix.DatabaseError, match="9628"):
        cursor.execute(f"CREATE TABLE {table}_2 (a nosuch)")
    cursor.execute("SELECT mode, type FROM sysxtdtypes WHERE name IN (?, ?) ORDER BY mode", (person, dollar))
    assert cursor.fetchall() == [("D", 5), ("R", 22)]
    cursor.execute(
        "SELECT fieldname, fieldno, t.type FROM sysattrtypes t, sysxtdtypes x "
        "WHERE t.extended_id = x.extended_id AND x.name = ? ORDER BY fieldno",
        (person,),
    )
    assert cursor.fetchall() == [("name", 1, 13), ("age", 2, 2)]
    cursor.execute(f"DROP ROW TYPE {person} RESTRICT")
    with pytest.raises(informix.DatabaseError, match="692"):
        cursor.execute(f"DROP TYPE {dollar} RESTRICT")
    cursor.execute(f"SELECT a, c FROM {table} WHERE d = 7")
    assert cursor.fetchall() == [(("x", 1), D("12.50"))]
    cursor.execute(f"DROP TABLE {table}")
    cursor.execute(f"DROP TYPE {dollar} RESTRICT")
    connection.close()


#: Source types of DISTINCT types, each with a value, and what the column is to be in `syscolumns`.
SOURCES: list[tuple[str, Any, int]] = [
    ("SMALLINT", 7, 0x0801),
    ("INTEGER", 70000, 0x0802),
    ("BIGINT", 2**40, 0x0834),
    ("INT8", -(2**40), 0x0811),
    ("FLOAT", 0.5, 0x0803),
    ("DECIMAL(8,2)", D("12.50"), 0x0805),
    ("MONEY(8,2)", D("-1.25"), 0x0808),
    ("CHAR(5)", "abc", 0x0800),
    ("VARCHAR(30)", "text", 0x080D),
    ("LVARCHAR(300)", "x" * 260, 0x2828),
    ("DATE", dt.date(2024, 2, 29), 0x0807),
    ("DATETIME YEAR TO SECOND", dt.datetime(2024, 2, 29, 1, 2, 3), 0x080A),
    ("INTERVAL DAY TO SECOND", 3 * DAY + dt.timedelta(seconds=5), 0x080E),
    ("BOOLEAN", True, 0x4829),
    ("ROW(a INTEGER, b VARCHAR(9))", RowValue.of(1, "b"), 0x0816),
]


def test_values_of_distinct_types(driver: Driver, server: Rowferry) -> None:
    """Each source type both ways, as a parameter and as a column between others; the catalog tells what it is."""
    connection = connect(driver, server)
    cursor = connection.cursor()
    names = [f"own_{at}_{driver.colour}" for at in range(len(SOURCES))]
    for name, (source, _, _) in zip(names, SOURCES, strict=True):
        cursor.execute(f"CREATE DISTINCT TYPE {name} AS {source}")
    table = f"of_own_{driver.colour}"
    columns = ", ".join(f"c{at} {name}, n{at} INTEGER" for at, name in enumerate(names))
    cursor.execute(f"CREATE TABLE {table} (id INTEGER, {columns})")
    values = [value for _, value, _ in SOURCES]
    row: list[Any] = [1]
    for at, value in enumerate(values):
        row += [value, at]
    cursor.execute(f"INSERT INTO {table} VALUES ({', '.join('?' * len(row))})", row)
    cursor.execute(f"INSERT INTO {table} VALUES ({', '.join('?' * len(row))})", [2] + [None] * (len(row) - 1))
    cursor.execute(f"SELECT * FROM {table} ORDER BY id")
    first, second = cursor.fetchall()
    assert list(first[2::2]) == list(range(len(SOURCES)))
    assert list(first[1::2]) == values
    assert second == (2, *[None] * (len(row) - 1))
    for at, value in enumerate(values[:-1]):
        cursor.execute(f"SELECT id FROM {table} WHERE c{at} = ?", (value,))
        assert cursor.fetchall() == [(1,)], SOURCES[at]
    for at, (_, _, code) in enumerate(SOURCES):
        cursor.execute(
            "SELECT coltype, x.name, x.mode FROM syscolumns c, systables t, sysxtdtypes x "
            "WHERE c.tabid = t.tabid AND t.tabname = ? AND c.colname = ? AND c.extended_id = x.extended_id",
            (table, f"c{at}"),
        )
        assert cursor.fetchall() == [(code, names[at], "D")], SOURCES[at]
    cursor.execute(f"DROP TABLE {table}")
    for name in names:
        cursor.execute(f"DROP TYPE {name} RESTRICT")
    connection.close()


def test_casts_of_users(driver: Driver, server: Rowferry) -> None:
    """Implicit ones where parameters and columns meet, explicit ones by name; errors with their codes."""
    connection = connect(driver, server)
    cursor = connection.cursor()
    dollar, yen, exchange, table = (f"{name}_{driver.colour}" for name in ("usd", "jpy", "to_jpy", "prices"))
    cursor.execute(f"CREATE DISTINCT TYPE {dollar} AS DECIMAL(8,2)")
    cursor.execute(f"CREATE DISTINCT TYPE {yen} AS DECIMAL(12,0)")
    cursor.execute(
        f"CREATE FUNCTION {exchange}(given {dollar}) RETURNING {yen}; "
        f"RETURN (given::DECIMAL(8,2) * 150)::{yen}; END FUNCTION"
    )
    cursor.execute(f"CREATE TABLE {table} (id INTEGER, usd {dollar}, jpy {yen})")
    cursor.execute(f"INSERT INTO {table} VALUES (1, ?, ?)", (D("2.00"), D(301)))
    for sql, code in [
        (f"SELECT id FROM {table} WHERE usd < jpy", "674"),
        (f"INSERT INTO {table} (jpy) SELECT usd FROM {table}", "9632"),
        (f"SELECT usd::{yen} FROM {table}", "9634"),
        (f"CREATE CAST ({dollar} AS {yen} WITH nosuch)", "9637"),
        (f"CREATE CAST ({dollar} AS DECIMAL)", "9921"),
        (f"DROP CAST ({dollar} AS {yen})", "9922"),
        (f"CREATE CAST ({dollar} AS DATE)", "9923"),
    ]:
        with pytest.raises(informix.DatabaseError, match=code):
            cursor.execute(sql)
    cursor.execute(f"CREATE IMPLICIT CAST ({dollar} AS {yen} WITH {exchange})")
    cursor.execute(f"SELECT id FROM {table} WHERE usd < jpy")
    assert cursor.fetchall() == [(1,)]
    cursor.execute(f"INSERT INTO {table} (jpy) SELECT usd FROM {table} WHERE usd = ?", (D("2.00"),))
    cursor.execute(f"SELECT jpy, usd::{yen} FROM {table} ORDER BY 1")
    assert cursor.fetchall() == [(D(300), None), (D(301), D(300))]
    cursor.execute(f"EXECUTE FUNCTION {exchange}(?)", (D("1.50"),))
    assert cursor.fetchall() == [(D(225),)]
    cursor.execute("SELECT class, routine_name FROM syscasts WHERE routine_name = ?", (exchange,))
    assert cursor.fetchall() == [("I", exchange)]
    cursor.execute(f"DROP CAST ({dollar} AS {yen})")
    cursor.execute(f"DROP TABLE {table}")
    cursor.execute(f"DROP FUNCTION {exchange}")
    cursor.execute(f"DROP TYPE {dollar} RESTRICT")
    cursor.execute(f"DROP TYPE {yen} RESTRICT")
    connection.close()


def test_a_cast_by_a_routine_with_a_delimited_name(server: Rowferry) -> None:
    assert server.informix is not None
    host, port = server.informix
    where: dict[str, Any] = {"database": server.dbname, "autocommit": True, "env": {"DELIMIDENT": "y"}}
    with informix.connect(host, port, **where) as connection:
        connection.execute("CREATE DISTINCT TYPE metre AS DECIMAL(8,2)")
        connection.execute("CREATE DISTINCT TYPE foot AS DECIMAL(8,2)")
        connection.execute(
            'CREATE FUNCTION "To Feet"(given metre) RETURNING foot; '
            "RETURN (given::DECIMAL(8,2) * 3.28)::foot; END FUNCTION"
        )
        connection.execute('CREATE IMPLICIT CAST (metre AS foot WITH "To Feet")')
        with pytest.raises(informix.NotSupportedError, match="parenthesis"):
            connection.execute('CREATE FUNCTION "f(x)"() RETURNING INT; RETURN 1; END FUNCTION')
        connection.execute(
            "CREATE FUNCTION in_feet(given metre) RETURNING foot; "
            "DEFINE made foot; LET made = given; RETURN made; END FUNCTION"
        )
        connection.execute("CREATE TABLE walls (width metre, height foot)")
        connection.execute("INSERT INTO walls VALUES (?, NULL)", (D("2.00"),))
        connection.execute("UPDATE walls SET height = width")
        found = connection.execute("SELECT height, in_feet(width) FROM walls").fetchall()
        assert found == [(D("6.56"), D("6.56"))]


def test_a_uuid_is_its_text(server: Rowferry) -> None:
    assert server.informix is not None
    host, port = server.informix
    key = uuid.UUID("12345678-1234-5678-1234-567812345678")
    with informix.connect(host, port, database=server.dbname, autocommit=True) as connection:
        connection.execute("CREATE TEMP TABLE keyed (id CHAR(36), n INT)")
        connection.cursor().executemany("INSERT INTO keyed VALUES (?, ?)", [(key, 1), (uuid.UUID(int=0), 2)])
        assert connection.execute("SELECT id, n FROM keyed WHERE id = ?", (key,)).fetchall() == [(str(key), 1)]
