"""Rows of the binary log have the values that SELECT answers: every type, on three servers, text and binary."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from rowferry import mysql
from rowferry.mysql import events
from rowferry.mysql.replication import binlog_stream

from tests.python.mysql.binlog import log_server
from tests.servers.mysql import MySQLServer

# Column type, and the SQL of values that it is to hold. NULL is added to each.
COMMON = [
    ("TINYINT", "-128 127 0"),
    ("TINYINT UNSIGNED", "255 0"),
    ("SMALLINT", "-32768 32767"),
    ("SMALLINT UNSIGNED", "65535"),
    ("MEDIUMINT", "-8388608 8388607 -1"),
    ("MEDIUMINT UNSIGNED", "16777215"),
    ("INT", "-2147483648 2147483647 -1"),
    ("INT UNSIGNED", "4294967295"),
    ("BIGINT", "-9223372036854775808 9223372036854775807 -1"),
    ("BIGINT UNSIGNED", "18446744073709551615"),
    ("FLOAT", "0.1 -1.5 3.4e38 16777216 0"),
    ("DOUBLE", "0.1 -1e300 1e-300 0"),
    ("DECIMAL(10,2)", "1.5 -0.05 99999999.99 -99999999.99 0"),
    (
        "DECIMAL(65,30)",
        "12345678901234567890123456789012345.123456789012345678901234567890 -1e-30",
    ),
    ("DECIMAL(9,9)", "0.123456789 -0.999999999"),
    ("DECIMAL(5,0)", "-99999 7"),
    ("DECIMAL(20,10) UNSIGNED", "0.5"),
    ("YEAR", "1901 2155 0"),
    ("BIT(1)", "b'1' b'0'"),
    ("BIT(12)", "b'101010101010'"),
    ("BIT(64)", "18446744073709551615"),
    ("DATE", "'2024-02-29' '1000-01-01' '9999-12-31' '0000-00-00'"),
    ("TIME", "'-838:59:59' '838:59:59' '00:00:00' '12:34:56'"),
    ("TIME(1)", "'-00:00:00.5' '10:00:00.9'"),
    ("TIME(3)", "'-23:59:59.999' '-00:00:00.001'"),
    ("TIME(6)", "'-838:59:58.999999' '00:00:00.000001' '-00:00:01.000000'"),
    ("DATETIME", "'2024-02-29 23:59:59' '0000-00-00 00:00:00' '1000-01-01 00:00:00'"),
    ("DATETIME(2)", "'2024-02-29 23:59:59.25'"),
    ("DATETIME(3)", "'2024-02-29 23:59:59.123'"),
    ("DATETIME(6)", "'9999-12-31 23:59:59.999999'"),
    ("TIMESTAMP NULL", "'2024-02-29 23:59:59' '1970-01-01 00:00:01' '2038-01-19 03:14:07' '0000-00-00 00:00:00'"),
    ("TIMESTAMP(1) NULL", "'2024-02-29 23:59:59.5'"),
    ("TIMESTAMP(4) NULL", "'2024-02-29 23:59:59.1234'"),
    ("TIMESTAMP(6) NULL", "'2024-02-29 23:59:59.000001'"),
    ("ENUM('a','b''c','ö')", "'a' 'b''c' 'ö'"),
    ("SET('x','y','ö')", "'' 'x' 'x,ö' 'x,y,ö'"),
    ("CHAR(10)", "'' 'abc' 'Grüße'"),
    ("CHAR(100) CHARACTER SET utf8mb4", "'' '😀' REPEAT('ä',100)"),
    ("CHAR(10) CHARACTER SET latin1", "'Grüße' ''"),
    ("VARCHAR(20) CHARACTER SET latin1", "'Grüße€' '' _latin1&x'80818d8f909d9fa0ff'"),
    ("VARCHAR(20) CHARACTER SET utf8mb4", "'Grüße 😀' 'x  '"),
    ("VARCHAR(300) CHARACTER SET utf8mb4", "REPEAT('ß',300) ''"),
    ("VARCHAR(20) CHARACTER SET utf16", "'Grüße 😀'"),
    ("VARCHAR(20) CHARACTER SET cp1251", "'Привет'"),
    ("VARCHAR(20) CHARACTER SET sjis", "'日本'"),
    ("VARCHAR(20) CHARACTER SET gbk", "'中文'"),
    ("BINARY(8)", "'' 'abc' x'0001000200000000' x'2020'"),
    ("VARBINARY(300)", "'' x'00ff00' REPEAT('z',300)"),
    ("TINYBLOB", "'' x'00ff'"),
    ("BLOB", "x'00ff' REPEAT('b',1000)"),
    ("MEDIUMBLOB", "REPEAT('m',70000)"),
    ("LONGBLOB", "REPEAT('l',70000)"),
    ("TINYTEXT", "'ä'"),
    ("TEXT", "'ä' REPEAT('ß',1000)"),
    ("MEDIUMTEXT CHARACTER SET latin1", "'ä'"),
    ("LONGTEXT", "REPEAT('ä',40000)"),
    ("GEOMETRY", "ST_GeomFromText('POINT(1&2)')"),
    ("POINT", "ST_GeomFromText('POINT(1.5&-2)')"),
    ("JSON", """'{"a":&[1,&-2.5,&null,&true,&"ä\\\\"😀"],&"bb":&{}}' '[]' '1' '"x"' 'null'"""),
]
MARIADB = [
    (
        "UUID",
        "'123e4567-e89b-12d3-a456-426655440000' 'f47ac10b-58cc-4372-a567-0e02b2c3d479'",
    ),
    (
        "UUID",
        "'01890a5d-ac96-774b-bcce-b302099a8057' '1ec9414c-232a-6b00-b3c8-9e6bdeced846'",
    ),
    ("UUID", "'00000000-0000-0000-0000-000000000000' 'ffffffff-ffff-ffff-ffff-ffffffffffff'"),
    ("INET6", "'2001:db8::ff00:42:8329' '::' '::ffff:192.168.0.1' '::1'"),
    ("INET4", "'192.168.0.1' '0.0.0.0'"),
    ("VARCHAR(1000) COMPRESSED", "REPEAT('ä',500) 'short' ''"),
    ("BLOB COMPRESSED", "REPEAT('x',5000) ''"),
    ("TEXT COMPRESSED", "REPEAT('ö',5000)"),
]
MARIADB11 = [("VECTOR(3)", "VEC_FromText('[1,-2.5,0]')")]
MYSQL = [
    ("VECTOR(3)", "TO_VECTOR('[1,-2.5,0]')"),
    (
        "JSON",
        """JSON_OBJECT('dec',&CAST(1.50&AS&DECIMAL(5,2)),&'d',&CAST('2024-02-29'&AS&DATE))
     JSON_OBJECT('t',&CAST('-10:11:12.5'&AS&TIME(6)),&'dt',&CAST('2024-02-29&23:59:59.25'&AS&DATETIME(6)))
     JSON_ARRAY(1e14,&1e15,&1e16,&1.0,&1e-14,&1e-15,&1e-16,&1.5e-16,&0.1,&-0.0,&1234567890123456789012e0)
     JSON_ARRAY(1.7976931348623157e308,&4.9e-324,&0.1e0,&100e0,&-12345.678e0)
     JSON_ARRAY(18446744073709551615,&-9223372036854775808,&65535,&65536,&-32769,&4294967296)
     JSON_OBJECT('bin',&CAST(REPEAT('x',100)&AS&BINARY),&'bit',&b'1010',&'year',&CAST(2024&AS&YEAR))
     JSON_OBJECT('esc',&'a\\n\\t\\r\\b\\\\\\\\"/é\\Z',&REPEAT('k',300),&REPEAT('v',70000))
     (WITH&RECURSIVE&s(n)&AS&{}&SELECT&JSON_ARRAYAGG(a.n*b.n)&FROM&s&a,&s&b&WHERE&b.n<50)
     (WITH&RECURSIVE&s(n)&AS&{}&SELECT&JSON_OBJECTAGG(CONCAT('key',n),&n*1.5e0)&FROM&s)""".replace(
            "{}", "(SELECT&1&UNION&ALL&SELECT&n+1&FROM&s&WHERE&n<800)"
        ),
    ),
    ("VARCHAR(20) CHARACTER SET gb18030", "'中文😀'"),
    ("GEOMETRY SRID 4326", "ST_GeomFromText('POINT(1&2)',&4326)"),
]


@pytest.fixture(scope="module", params=["mariadb", "mariadb11", "mysql9"])
def source(request: pytest.FixtureRequest) -> Iterator[MySQLServer]:
    with log_server(request.param) as server:
        yield server


def columns_of(server: MySQLServer) -> list[tuple[str, list[str]]]:
    columns = list(COMMON)
    if "mariadb" in server.version.lower():
        columns += MARIADB
        if not server.version.startswith("10."):
            columns += MARIADB11
    else:
        columns += MYSQL
    # Values are parted by spaces outside of quotes; & stands for a space within one.
    split = re.compile(r"(?:[^\s']|'(?:[^']|'')*')+").findall
    return [(kind, [value.replace("&", " ") for value in split(values)]) for kind, values in columns]


@pytest.mark.parametrize("metadata", ["MINIMAL", "FULL", "NO_LOG"])
def test_values_are_those_of_select(source: MySQLServer, metadata: str) -> None:
    server = source
    is_mariadb = "mariadb" in server.version.lower()
    if metadata == "NO_LOG" and not is_mariadb:
        metadata = "MINIMAL"
    columns = columns_of(server)
    with mysql.connect(**server.dsn, autocommit=True, time_zone="+00:00", stmt_cache_size=10) as connection:
        cursor = connection.cursor()
        cursor.execute(f"SET GLOBAL binlog_row_metadata = {metadata}")
        cursor.execute("SET sql_mode=''")
        cursor.execute("DROP TABLE IF EXISTS types")
        # A column behind each, so that a wrong width shows, and with a sign or without, so that a wrong place does.
        spelled = ", ".join(
            f"c{at} {kind}, g{at} TINYINT {'UNSIGNED' if at % 3 else ''} NOT NULL DEFAULT {200 if at % 3 else -77}"
            for at, (kind, _) in enumerate(columns)
        )
        cursor.execute(f"CREATE TABLE types (id INT PRIMARY KEY, {spelled}) ROW_FORMAT=DYNAMIC")
        with binlog_stream(**server.dsn) as stream:
            start = stream.position
        for row in range(max(len(values) for _, values in columns)):
            chosen = [(f"c{at}", values[row]) for at, (_, values) in enumerate(columns) if row < len(values)]
            names, literals = zip(*chosen, strict=True)
            cursor.execute(f"INSERT INTO types (id, {', '.join(names)}) VALUES ({row}, {', '.join(literals)})")
        cursor.execute("UPDATE types SET g0 = -78")
        cursor.execute("SELECT * FROM types ORDER BY id")
        names = [column[0] for column in cursor.description]
        text = cursor.fetchall()
        cursor.execute("SELECT * FROM types WHERE id >= %s ORDER BY id", (0,))
        binary = cursor.fetchall()
        cursor.execute("DELETE FROM types")
    inserted: list[Any] = []
    deleted: list[Any] = []
    updated: list[Any] = []
    for event in binlog_stream(**server.dsn, start=start, blocking=False, only_tables=["types"]):
        if isinstance(event, events.WriteRowsEvent):
            inserted += event.after_tuples()
            assert [column.name for column in event.columns] == names
        elif isinstance(event, events.UpdateRowsEvent):
            updated += event.after_tuples()
        elif isinstance(event, events.DeleteRowsEvent):
            deleted += event.before_tuples()
    kinds = ["id", *(kind for kind, _ in columns for _ in range(2))]
    assert len(updated) == len(deleted) == len(text) == len(inserted)
    for found, expected in ((updated, text), (updated, binary), (deleted, text)):
        for one, other in zip(found, expected, strict=True):
            wrong = [
                (kind, mine, theirs)
                for kind, mine, theirs in zip(kinds, one, other, strict=True)
                if (mine, type(mine)) != (theirs, type(theirs))
            ]
            assert not wrong, [(kind, repr(a)[:200], repr(b)[:200]) for kind, a, b in wrong]
