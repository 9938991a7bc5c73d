"""Every type with its extremes, on every server, by both protocols: the server's own rendering is the judge.

A round trip through our own codec cannot see a symmetric mistake. So values get into the tables as SQL that no driver
has touched, come out by text and by binary, and must read as what the server spells; then they go back as parameters of
both kinds, and the server must hold the same bytes three times.
"""

from __future__ import annotations

import datetime
import re
import struct
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest
from rowferry import mysql

from tests.servers.mysql import MySQLServer


def integers(bits: int) -> list[str]:
    return ["0", "1", "-1", "42", str(2 ** (bits - 1) - 1), str(-(2 ** (bits - 1)))]


def naturals(bits: int) -> list[str]:
    return ["0", "1", "42", str(2 ** (bits - 1)), str(2**bits - 1)]


def text(*values: str) -> list[str]:
    return ["''", *(f"CONVERT(x'{value.encode().hex()}' USING utf8mb4)" for value in values)]


def binary(*values: bytes) -> list[str]:
    return ["''", *(f"x'{value.hex()}'" for value in values if value)]


LENGTHS = ("a", "ab" * 125, "x" * 251, "é" * 150)
BLOBS = (b"\0", b"'", b'\\"\n\r\x1a', bytes(range(256))[:250], bytes(range(251)), b"\xff\xfe\xfb")
EVERY = ("mariadb", "mariadb11", "mysql9")
MARIADB = ("mariadb", "mariadb11")

#: Declaration, values as SQL, servers that have the type.
TYPES: list[tuple[str, list[str], tuple[str, ...]]] = [
    *((f"{name}", integers(bits), EVERY) for name, bits in [("TINYINT", 8), ("SMALLINT", 16), ("MEDIUMINT", 24)]),
    *((f"{name}", integers(bits), EVERY) for name, bits in [("INT", 32), ("BIGINT", 64)]),
    *((f"{name} UNSIGNED", naturals(bits), EVERY) for name, bits in [("TINYINT", 8), ("SMALLINT", 16)]),
    *((f"{name} UNSIGNED", naturals(bits), EVERY) for name, bits in [("MEDIUMINT", 24), ("INT", 32), ("BIGINT", 64)]),
    ("INT(8) ZEROFILL", ["0", "7", "12345678", "4294967295"], EVERY),
    ("BIGINT(20) ZEROFILL", ["0", "7", "18446744073709551615"], EVERY),
    ("BOOL", ["TRUE", "FALSE", "2"], EVERY),
    ("DECIMAL(1,0)", ["0", "9", "-9"], EVERY),
    ("DECIMAL(10,2)", ["0", "0.01", "-0.01", "99999999.99", "-99999999.99", "100", "-0.00"], EVERY),
    ("DECIMAL(10,2) UNSIGNED", ["0", "0.01", "99999999.99"], EVERY),
    ("DECIMAL(18,9)", ["123456789.123456789", "-0.000000001"], EVERY),
    ("DECIMAL(19,0)", ["9999999999999999999", "-9999999999999999999"], EVERY),
    ("DECIMAL(20,5)", ["999999999999999.99999", "-0.00001"], EVERY),
    ("DECIMAL(38,10)", ["9999999999999999999999999999.9999999999", "0.0000000001"], EVERY),
    ("DECIMAL(39,0)", ["9" * 39, "-" + "9" * 39], EVERY),
    ("DECIMAL(65,30)", ["9" * 35 + "." + "9" * 30, "-" + "9" * 35 + "." + "9" * 30, "0." + "0" * 29 + "1", "1"], EVERY),
    ("DECIMAL(65,0)", ["9" * 65, "0", "-1"], EVERY),
    ("DECIMAL(30,30)", ["0." + "9" * 30, "-0." + "0" * 29 + "1"], EVERY),
    ("FLOAT", ["0", "0.1", "-1.5", "16384", "1.17549e-38", "3.40282e38", "123456", "1e10"], EVERY),
    ("FLOAT(7,2)", ["0.1", "99999.99", "-12.34", "0"], EVERY),
    ("FLOAT(10,4)", ["0.1", "1234.5678"], EVERY),
    ("DOUBLE", ["0", "0.1", "-0.5", "1e300", "1.7976931348623157e308", "2.2250738585072014e-308", "1e15"], EVERY),
    ("DOUBLE(10,3)", ["0.1", "-1234567.125"], EVERY),
    *((f"BIT({n})", ["b'0'", "b'1'", f"b'{'1' * n}'"], EVERY) for n in (1, 7, 8, 9, 31, 63, 64)),
    ("CHAR(10)", text("a", "äöü€", "😀"), EVERY),
    ("CHAR(1)", text("a"), EVERY),
    ("VARCHAR(500)", text(*LENGTHS, "quote ' \" \\ \0 \n \r \x1a %", "😀" * 60), EVERY),
    ("VARCHAR(500) CHARACTER SET latin1", text("a", "é", "x" * 300), EVERY),
    ("VARCHAR(500) CHARACTER SET ucs2", text("a", "é€", "x" * 300), EVERY),
    ("VARCHAR(500) CHARACTER SET gbk", text("a", "誠"), EVERY),
    ("TINYTEXT", text("a", "x" * 255), EVERY),
    ("TEXT", text(*LENGTHS, "y" * 65535), EVERY),
    ("MEDIUMTEXT", text("é" * 40000), EVERY),
    ("LONGTEXT", text("z" * 70000), EVERY),
    ("BINARY(3)", ["x'000000'", "x'ff0061'"], EVERY),
    ("VARBINARY(300)", binary(*BLOBS), EVERY),
    ("TINYBLOB", binary(*BLOBS), EVERY),
    ("BLOB", binary(*BLOBS, b"\x80" * 65535), EVERY),
    ("MEDIUMBLOB", binary(b"\xfb" * 70000), EVERY),
    ("LONGBLOB", binary(b"\0" * 70000), EVERY),
    ("ENUM('a','é','it''s')", text("a", "é", "it's")[1:], EVERY),
    ("SET('a','b','é')", text("a", "a,b", "a,b,é"), EVERY),
    ("YEAR", ["1901", "2155", "2026", "0"], EVERY),
    ("DATE", ["'0001-01-01'", "'1000-01-01'", "'2024-02-29'", "'9999-12-31'"], EVERY),
    ("DATETIME", ["'1000-01-01 00:00:00'", "'2026-11-21 23:59:59'", "'9999-12-31 23:59:59'"], EVERY),
    *(
        (f"DATETIME({n})", ["'2026-11-21 00:00:00'", f"'2026-01-02 03:04:05.{'123456'[:n]}'"], EVERY)
        for n in range(1, 7)
    ),
    ("TIMESTAMP NULL", ["'1970-01-02 00:00:01'", "'2037-12-31 23:59:59'"], EVERY),
    ("TIMESTAMP(6) NULL", ["'1970-01-02 00:00:00.000001'", "'2037-12-31 23:59:59.999999'"], EVERY),
    ("TIME", ["'00:00:00'", "'23:59:59'", "'24:00:00'", "'838:59:59'", "'-838:59:59'", "'-00:00:01'"], EVERY),
    ("TIME(6)", ["'-00:00:00.000001'", "'25:01:02.5'", "'838:59:58.999999'", "'-100:00:00.1'"], EVERY),
    ("TIME(2)", ["'-00:00:00.01'", "'12:00:00.5'"], EVERY),
    ("POINT", ["ST_GeomFromText('POINT(1 -2.5)')"], EVERY),
    ("LINESTRING", ["ST_GeomFromText('LINESTRING(0 0,1 1,2 3)')"], EVERY),
    ("POLYGON", ["ST_GeomFromText('POLYGON((0 0,4 0,4 4,0 4,0 0))')"], EVERY),
    ("MULTIPOINT", ["ST_GeomFromText('MULTIPOINT(0 0,1 1)')"], EVERY),
    ("GEOMETRYCOLLECTION", ["ST_GeomFromText('GEOMETRYCOLLECTION(POINT(1 1),LINESTRING(0 0,1 1))')"], EVERY),
    ("GEOMETRY", ["ST_GeomFromText('POINT(1 2)')", "ST_GeomFromText('POINT(1 2)', 4326)"], EVERY),
    ("JSON", text('{"a": [1, null, "é"]}', "[]", "1.5", '"x"')[1:], EVERY),
    ("UUID", ["'123e4567-e89b-12d3-a456-426655440000'"], MARIADB),
    ("INET4", ["'0.0.0.0'", "'255.255.255.255'"], ("mariadb", "mariadb11")),
    ("INET6", ["'::'", "'2001:db8::1'", "'::ffff:192.0.2.1'"], MARIADB),
    ("VECTOR(3)", [f"x'{struct.pack('<3f', 1, -0.5, 3e38).hex()}'"], ("mariadb11", "mysql9")),
]


def spelled(value: Any, declaration: str) -> str:
    """The value as the server would spell it: our own words, not the driver's."""
    if isinstance(value, datetime.datetime):
        found = re.search(r"\((\d)\)", declaration)
        digits = int(found.group(1)) if found else 0
        fraction = f".{value.microsecond:06}"[: digits + 1] if digits else ""
        return f"{value:%m-%d %H:%M:%S}{fraction}".join((f"{value.year:04}-", ""))
    if isinstance(value, datetime.timedelta):
        found = re.search(r"\((\d)\)", declaration)
        digits = int(found.group(1)) if found else 0
        total = value // datetime.timedelta(microseconds=1)
        seconds, micros = divmod(abs(total), 1_000_000)
        fraction = f".{micros:06}"[: digits + 1] if digits else ""
        return f"{'-' if total < 0 else ''}{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}{fraction}"
    return f"{value:f}" if isinstance(value, Decimal) else str(value)


def is_what_the_server_says(value: Any, said: str | None, shape: str | None, declaration: str) -> bool:
    if value is None or said is None:
        return value is said
    if isinstance(value, bytes):
        return value.hex().upper() == shape
    if isinstance(value, float):
        return value == float(said)
    if "ZEROFILL" in declaration:
        return int(said) == value and type(value) is int
    if declaration == "YEAR":
        return int(said) == value
    return spelled(value, declaration) == said


#: What Python has for each kind of column.
PYTHON: list[tuple[str, type]] = [
    (r"(TINY|SMALL|MEDIUM|BIG)?INT|BOOL|YEAR", int),
    ("DECIMAL", Decimal),
    ("FLOAT|DOUBLE", float),
    ("BIT|BINARY|VARBINARY|TINYBLOB|BLOB|MEDIUMBLOB|LONGBLOB|VECTOR", bytes),
    ("POINT|LINESTRING|POLYGON|MULTIPOINT|GEOMETRY", bytes),
    (r"DATE$", datetime.date),
    ("DATETIME|TIMESTAMP", datetime.datetime),
    (r"TIME(\(|$)", datetime.timedelta),
]


def python_type(declaration: str) -> type:
    return next((kind for pattern, kind in PYTHON if re.match(pattern, declaration)), str)


@pytest.mark.parametrize(("declaration", "literals", "servers"), TYPES, ids=[declaration for declaration, *_ in TYPES])
def test_both_ways_by_both_protocols(
    connect: Callable[..., mysql.Connection],
    server: MySQLServer,
    declaration: str,
    literals: list[str],
    servers: tuple[str, ...],
) -> None:
    name = {"MariaDB": "mariadb", "MariaDB11": "mariadb11", "MySQL": "mysql9"}[type(server).__name__]
    if name not in servers:
        # The type does not exist there; nothing is left out.
        return
    connection = connect(sql_mode="ALLOW_INVALID_DATES")
    cursor = connection.cursor()
    cursor.execute(f"CREATE TEMPORARY TABLE v (n INT, way INT, a {declaration}, z VARCHAR(10), b {declaration})")
    for n, literal in enumerate([*literals, "NULL"]):
        cursor.execute(f"INSERT INTO v VALUES ({n}, 0, {literal}, 'z{n}', NULL), ({n}, 1, NULL, 'y{n}', {literal})")
    kind = python_type(declaration)
    is_bytes = kind is bytes
    # Bytes are judged by their hexadecimal form, everything else by the text that the server makes of it.
    said = "HEX(a)" if is_bytes else "CONVERT(CONCAT(a) USING utf8mb4)"
    if declaration.startswith("BIT"):
        width = (int(declaration[4:-1]) + 7) // 8 * 2
        said = f"LPAD(HEX(a), {width}, '0')"
    select = f"SELECT a, z, {said}, n FROM v WHERE way = 0 ORDER BY n"
    rotated = "SELECT n, b, z, a FROM v WHERE way = 1 ORDER BY n"
    cursor.execute(select)
    by_text = cursor.fetchall()
    by_binary = connection.prepare(select).execute().rows
    assert by_text == by_binary
    values = []
    for n, (value, z, words, number) in enumerate(by_text):
        assert (z, number) == (f"z{n}", n)
        assert is_what_the_server_says(value, words, words, declaration), (value, words)
        assert value is None or type(value) is kind
        values.append(value)
    assert values[-1] is None
    turned = tuple((n, value, f"y{n}", None) for n, value in enumerate(values))
    cursor.execute(rotated)
    assert cursor.fetchall() == turned
    assert connection.prepare(rotated).execute().rows == turned
    # The way back: by literals, by a prepared statement, and in a batch.
    insert = connection.prepare("INSERT INTO v VALUES (?, ?, ?, ?, ?)")
    batch = []
    for n, value in enumerate(values):
        cursor.execute("INSERT INTO v VALUES (%s, %s, %s, %s, %s)", (n, 2, value, f"z{n}", value))
        insert.execute((n, 3, value, f"z{n}", value))
        batch.append((n, 4, value, f"z{n}", value))
    cursor.executemany("INSERT INTO v VALUES (%s, %s, %s, %s, %s)", batch)
    same = "SELECT n, COUNT(DISTINCT HEX(a)), COUNT(HEX(a)), COUNT(*) FROM v WHERE way <> 1 GROUP BY n ORDER BY n"
    cursor.execute(same)
    known = 0 if values[0] is None else 1
    last = len(values) - 1
    assert cursor.fetchall() == tuple((n, known * (n < last), 4 * (n < last), 4) for n in range(last + 1))
    cursor.execute("SELECT DISTINCT n, z, HEX(a) = HEX(b) FROM v WHERE way >= 2 ORDER BY n")
    assert cursor.fetchall() == tuple((n, f"z{n}", 1 if n < last else None) for n in range(last + 1))
