# ruff: noqa: E501 - tables of templates
"""The types of generated columns and expressions, with the values that they take."""

from __future__ import annotations

import dataclasses
from random import Random

from tests.differential.tree import Node


@dataclasses.dataclass(frozen=True)
class Kind:
    """A type: `values` are safe in arithmetic, `edges` only where they stand alone; `exact` when equal means alike."""

    values: tuple[str, ...]
    edges: tuple[str, ...] = ()
    exact: bool = True


def _kind(values: str, edges: str = "", *, exact: bool = True) -> Kind:
    return Kind(tuple(values.split("|")), tuple(edges.split("|")) if edges else (), exact)


#: By the name that PostgreSQL's `format_type` or its shorter alias gives.
KINDS = {
    "int": _kind("0|1|2|3|5|7|-1|-4|12|40|100", "2147483647|-2147483648"),
    "smallint": _kind("0|1|2|3|-1|9", "32767|-32768"),
    "bigint": _kind("0|1|2|5|-3|77|1000", "9223372036854775807|-9223372036854775808|4294967296"),
    "numeric": _kind("0|1|2.50|-3.75|10|99.99|0.001|1234567.8", "NaN|1e30|-0.00000000000001|Infinity|1e-20|12345678901234567890.123", exact=False),
    "real": _kind("0|1.5|-2.25|100", "NaN|Infinity|1e38|1e-40|3.4028235e38", exact=False),
    "float8": _kind("0|1.5|-2.25|1e10|0.5|3", "NaN|Infinity|-Infinity|-0|1e308|5e-324|1e-7|123456789012345680", exact=False),
    "bool": _kind("true|false"),
    "text": _kind("a|b|abc|ABC|a€|x y|%_|hello|zz|10|B1|a\\b|", "\U0001f600|A̐|  pad  |" + "long" * 9),
    "varchar": _kind("a|b|abc|Abc|x%|q"),
    "bpchar": _kind("a|b |abc", exact=False),
    "bytea": _kind(r"\x|\x00|\x6162|\xff00ff"),
    "date": _kind("2000-01-01|2024-02-29|1999-12-31|2020-06-15|1970-01-01", "infinity|-infinity|0044-03-15 BC|9999-12-31"),
    "time": _kind("00:00|12:34:56.789|23:59:59.999999|06:30", "24:00"),
    "timetz": _kind("00:00+00|12:34:56+05:30|23:00-08"),
    "timestamp": _kind("2000-01-01 00:00|2024-02-29 12:34:56.789|1999-12-31 23:59:59|2020-06-15 08:00", "infinity|-infinity|290000-12-31 23:59:59|0044-03-15 BC"),
    "timestamptz": _kind("2000-01-01 00:00+00|2024-02-29 12:34:56+05|2020-06-15 08:00-07", "infinity|-infinity|0001-01-01 00:00+00 BC"),
    "interval": _kind("0|1 day|1 mon|-2 days|03:04:05|1 year 2 mons 3 days 04:05:06.7", "-1 mon 1 day -00:00:01|178000000 years", exact=False),
    "uuid": _kind("00000000-0000-0000-0000-000000000001|a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11|ffffffff-ffff-ffff-ffff-ffffffffffff"),
    "jsonb": _kind('{"a": 1}|{"a": {"b": [1, 2, 3]}, "c": null}|[1, "two", null]|"s"|5|null|true|[]|{}|{"k": "v", "a": 2}', exact=False),
    "json": _kind('{"a": 1}|{"a":{"b":[1,2,3]},"c":null}|[1, "two", null]|"s"|null|{"a":1,"a":2}', exact=False),
    "int[]": _kind("{}|{1}|{1,2,3}|{3,NULL,1}|{5,5}", "{{1,2},{3,4}}|[2:3]={7,8}"),
    "text[]": _kind('{}|{a}|{a,b,NULL}|{"x y","",c}|{abc}', '{{a,b},{c,d}}|{"NULL","a\\"b"}'),
    "numeric[]": _kind("{}|{1.5}|{1.5,NULL,2}", exact=False),
    "int4range": _kind("empty|[1,5)|[3,10)|(,4)|[7,)|(,)"),
    "numrange": _kind("empty|[1.5,2.5)|(1,3]|(,0)|[2,)", exact=False),
    "daterange": _kind("empty|[2000-01-01,2000-02-01)|[2020-01-01,)|(,2024-03-01)"),
    "tsrange": _kind('empty|["2000-01-01 00:00","2000-01-02 12:00")|["2020-01-01 00:00",)'),
    "int4multirange": _kind("{}|{[1,3),[5,8)}|{(,2)}|{[7,)}"),
    "int8range": _kind("empty|[1,5)|(,4]|[7,)"),
    "tstzrange": _kind('empty|["2000-01-01 00:00+00","2000-01-02 12:00+05")|["2020-01-01 00:00+00",]|(,)'),
    "nummultirange": _kind("{}|{[1.5,2.5),(3,4]}|{(,0)}", exact=False),
    "datemultirange": _kind("{}|{[2000-01-01,2000-02-01),[2020-01-01,)}|{(,1999-12-31]}"),
    "tsmultirange": _kind('{}|{["2000-01-01 00:00","2000-01-02 12:00")}|{(,)}'),
    "date[]": _kind("{}|{2000-01-01,NULL}|{2024-02-29,1999-12-31}"),
    "timestamp[]": _kind('{}|{"2000-01-01 00:00"}', exact=False),
    "float8[]": _kind("{}|{1.5,NaN,-Infinity}|{0,-0}", exact=False),
    "bool[]": _kind("{}|{t,f,NULL}"),
    "jsonb[]": _kind('{}|{"{\\"a\\": 1}",null,5}', exact=False),
    "jsonpath": _kind("$|$.a|$.*|$[*]|strict $.a|$.a.b[*] ? (@ > 1)|$.** ? (@ == null)|$.a == $x|$.a + 1|-$.*|$.**{1 to last}|$.keyvalue()|$.size()|$.a.type()|$[last]|$[0 to 1]|$.a.double()|exists($.a)|$ ? (@.a == 1).k|$.** ? (@ like_regex \"^T\" flag \"i\")|$[*] ? (@ starts with \"t\")|($.a == 1) is unknown|$.*.ceiling()|$.a / 0|$.datetime()", exact=False),
    "inet": _kind("10.0.0.1|10.0.0.0/8|192.168.1.5/24|::1|fe80::/10"),
    "cidr": _kind("10.0.0.0/8|192.168.1.0/24|::/0"),
    "macaddr": _kind("08:00:2b:01:02:03|ff:ff:ff:ff:ff:ff"),
    "bit(4)": _kind("0000|1010|1111"),
    "varbit": _kind("|1|101010"),
    "money": _kind("0|12.34|-1000", exact=False),
    "point": _kind("(0,0)|(1.5,-2)|(3,4)", exact=False),
    "box": _kind("(2,2),(0,0)|(5,1),(3,-1)", exact=False),
    "circle": _kind("<(0,0),1>|<(2,2),3>", exact=False),
    "lseg": _kind("[(0,0),(1,1)]|[(0,1),(1,0)]", exact=False),
    "tsvector": _kind("'cat':1 'sat':2|'a' 'fat':2A", exact=False),
    "tsquery": _kind("'cat' & 'sat'|'fat' | !'a'", exact=False),
    "name": _kind("abc|pg_class"),
    '"char"': _kind("a|z"),
    "oid": _kind("0|1|4294967295"),
    "pg_lsn": _kind("0/0|16/B374D848"),
}  # fmt: skip

#: The types of columns, the usual ones more often.
COLUMNS = (
    "int int int smallint bigint numeric float8 bool text text varchar date timestamp timestamptz interval time uuid "
    "jsonb int[] text[] int4range daterange numrange bytea inet int4multirange bpchar"
).split()


def plain(type: str, value: str) -> Node:
    """A constant of a type."""
    quoted = "'" + value.replace("'", "''") + "'"
    if type == "int" and value.lstrip("-").isdigit() and int(value) >= 0:
        return Node([value], type=type, value=value)
    return Node([f"{quoted}::{type}"], type=type, value=value)


def constant(random: Random, type: str, *, edges: bool = False, nulls: bool = True) -> Node:
    """A constant of a type, now and then NULL, with `edges` at its ends, too."""
    kind = KINDS[type]
    if nulls and random.random() < 0.06:
        return Node([f"NULL::{type}"], type=type)
    return plain(type, random.choice(kind.values + (kind.edges if edges else ())))
