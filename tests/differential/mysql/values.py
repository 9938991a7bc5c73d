# ruff: noqa: E501 - tables of values
"""The types of generated columns and the families that expressions are of, with the values that they take."""

from __future__ import annotations

import dataclasses
from random import Random

from tests.differential.tree import Node

#: Of each family of types constants: whatever the family's smallest column takes, and what only wider ones do.
CONSTANTS: dict[str, tuple[str, ...]] = {
    "int": ("0", "1", "2", "3", "-1", "-7", "10", "100", "NULL"),
    "uint": ("0", "1", "7", "200", "18446744073709551615", "9223372036854775808"),
    "dec": ("0.00", "1.50", "-2.25", "10.0", "0.005", "99.99", "-0.5", "123456789012.123"),
    "real": ("0e0", "1.5e0", "-2.5e0", "1e3", "3e-2", "1e20"),
    "str": (
        "''",
        "'a'",
        "'A'",
        "'abc'",
        "'b'",
        "'10'",
        "'2x'",
        "' a'",
        "'a '",
        "'ä'",
        "'x,y'",
        "'%a_'",
        "'-3.5'",
        "'hello world'",
        "'2024-02-29'",
        "NULL",
    ),
    "bin": ("x''", "x'61'", "x'00ff'", "_binary'abc'", "x'3130'"),
    "date": ("DATE'2024-02-29'", "DATE'1999-12-31'", "DATE'2020-06-15'", "DATE'1970-01-01'"),
    "time": ("TIME'00:00:00'", "TIME'12:34:56'", "TIME'-01:30:00'", "TIME'100:00:00.5'", "TIME'23:59:59'"),
    "datetime": (
        "TIMESTAMP'2024-02-29 12:34:56'",
        "TIMESTAMP'1999-12-31 23:59:59.999'",
        "TIMESTAMP'2020-06-15 00:00:00'",
    ),
    "json": (
        'CAST(\'{"a": 1, "b": [1, 2, null]}\' AS JSON)',
        'CAST(\'[1, "x", {"k": true}]\' AS JSON)',
        "CAST('3' AS JSON)",
        "CAST('\"abc\"' AS JSON)",
        "CAST('null' AS JSON)",
    ),
    "bool": ("TRUE", "FALSE", "NULL"),
}
#: What constants of other families stand for columns' families that have none of their own.
_STAND_IN = {"year": "int", "enum": "str", "set": "str", "bit": "int"}


@dataclasses.dataclass(frozen=True)
class Kind:
    """A column's type: its family, values that it keeps, whether equal values look alike."""

    family: str
    values: tuple[str, ...]
    exact: bool = True


def _kind(family: str, *values: str, exact: bool = True) -> Kind:
    return Kind(family, values, exact)


_TEXTS = ("''", "'a'", "'A'", "'abc'", "'ABC'", "'b'", "'10'", "'1.5x'", "'ä'", "'zz'", "'a b'", "'x%'")
COLUMNS: dict[str, Kind] = {
    "TINYINT": _kind("int", "0", "1", "-1", "127", "-128", "10"),
    "SMALLINT UNSIGNED": _kind("uint", "0", "1", "65535", "300"),
    "MEDIUMINT": _kind("int", "0", "5", "-8388608", "8388607"),
    "INT": _kind("int", "0", "1", "2", "3", "-4", "2147483647", "-2147483648", "77"),
    "INT UNSIGNED": _kind("uint", "0", "1", "2", "4294967295", "50"),
    "BIGINT": _kind("int", "0", "1", "-5", "9223372036854775807", "-9223372036854775808", "1000"),
    "BIGINT UNSIGNED": _kind("uint", "0", "1", "18446744073709551615", "9223372036854775808", "12"),
    "DECIMAL(10,2)": _kind("dec", "0", "1.50", "-2.25", "99999999.99", "-99999999.99", "10"),
    "DECIMAL(30,10)": _kind("dec", "0", "0.0000000001", "-12345678901234567890.0123456789", "7.5"),
    "DECIMAL(5,0)": _kind("dec", "0", "1", "-99999", "12"),
    "FLOAT": _kind("real", "0", "1.5", "-2.25", "1e10", "0.5"),
    "DOUBLE": _kind("real", "0", "1.5", "-2.25", "1e100", "0.1", "3"),
    "DATE": _kind("date", "'2024-02-29'", "'1999-12-31'", "'2020-06-15'", "'1000-01-01'", "'9999-12-31'"),
    "TIME": _kind("time", "'00:00:00'", "'12:34:56'", "'-01:30:00'", "'838:59:59'", "'-838:59:59'"),
    "TIME(3)": _kind("time", "'00:00:00'", "'12:34:56.789'", "'-00:00:00.001'"),
    "DATETIME": _kind("datetime", "'2024-02-29 12:34:56'", "'1999-12-31 23:59:59'", "'1000-01-01 00:00:00'", "'2020-06-15 00:00:00'"),
    "DATETIME(6)": _kind("datetime", "'2024-02-29 12:34:56.123456'", "'2020-06-15 08:00:00'", "'9999-12-31 23:59:59'"),
    "TIMESTAMP": _kind("datetime", "'2024-02-29 12:34:56'", "'1970-01-01 00:00:01'", "'2020-06-15 00:00:00'"),
    "TIMESTAMP(3)": _kind("datetime", "'2024-02-29 12:34:56.5'", "'2020-06-15 08:00:00.123'"),
    "YEAR": _kind("year", "1999", "2024", "2155", "1901"),
    "CHAR(5)": _kind("str", *_TEXTS, exact=False),
    "VARCHAR(20)": _kind("str", *_TEXTS, "'a '", "' a'", exact=False),
    "VARCHAR(20) COLLATE utf8mb4_bin": _kind("str", *_TEXTS),
    "VARCHAR(20) COLLATE utf8mb4_0900_as_cs": _kind("str", *_TEXTS),
    "VARCHAR(10) COLLATE utf8mb4_general_ci": _kind("str", *_TEXTS, exact=False),
    "TEXT": _kind("str", *_TEXTS, "'" + "long" * 30 + "'", exact=False),
    "BINARY(4)": _kind("bin", "'a'", "x'00ff'", "'abcd'", "x'00000000'"),
    "VARBINARY(10)": _kind("bin", "''", "'a'", "x'00ff'", "'10'"),
    "BLOB": _kind("bin", "''", "'abc'", "x'ff00'"),
    "ENUM('x','y','zz','10')": _kind("enum", "'x'", "'y'", "'zz'", "'10'"),
    "SET('a','b','c')": _kind("set", "''", "'a'", "'a,c'", "'a,b,c'", "'b'"),
    "BIT(1)": _kind("bit", "b'0'", "b'1'"),
    "BIT(10)": _kind("bit", "b'0'", "b'1111111111'", "b'101'"),
    "JSON": _kind("json", "'{\"a\": 1, \"b\": [1, 2, 3]}'", "'[1, 2, \"x\"]'", "'\"abc\"'", "'12'", "'null'", "'{}'", "'{\"a\": {\"b\": \"c\"}}'", exact=False),
}  # fmt: skip
FAMILIES = (*CONSTANTS, *_STAND_IN)
#: Families that a slot stands for.
GROUPS: dict[str, tuple[str, ...]] = {
    "num": ("int", "int", "uint", "dec", "real"),
    "moment": ("date", "datetime", "datetime"),
    "any": ("int", "uint", "dec", "real", "str", "str", "bin", "date", "time", "datetime", "year", "enum", "set", "bit", "json"),
    "plain": ("int", "uint", "dec", "real", "str", "str", "date", "time", "datetime", "year"),
}  # fmt: skip


def constant(random: Random, family: str) -> Node:
    """A constant of a family."""
    text = random.choice(CONSTANTS[_STAND_IN.get(family, family)])
    value = None
    if text != "NULL" and family in ("str", "enum", "set"):
        value = text[1:-1]
    return Node([text], type=family, value=value)
