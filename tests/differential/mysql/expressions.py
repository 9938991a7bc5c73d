# ruff: noqa: E501 - tables of templates
"""Expressions of a family of types, made of templates in which `<family>` stands for an expression of that family.

MySQL takes anything anywhere: now and then a slot holds another family than it names. Quotients of exact numbers are
rounded at once: MySQL 8 works on with digits that it does not show, MySQL 9.7 does not, and we are as MySQL 8 is.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable
from random import Random

from tests.differential.mysql.values import FAMILIES, GROUPS, constant
from tests.differential.tree import Node, Part, expression

_UNITS = ("MICROSECOND", "SECOND", "MINUTE", "HOUR", "DAY", "WEEK", "MONTH", "QUARTER", "YEAR")
_PAIRS = (
    "'1:30' MINUTE_SECOND",
    "'1 2' DAY_HOUR",
    "'2-3' YEAR_MONTH",
    "'1.5' SECOND_MICROSECOND",
    "'1 01:01:01' DAY_SECOND",
    "'-1:1' HOUR_MINUTE",
)

TEMPLATES: dict[str, list[str]] = {
    "int": [
        "(<int> + <int>)", "(<int> - <int>)", "(<int> * <int>)", "(<num> DIV <num>)", "(<int> % <int>)", "MOD(<int>, <int>)", "(-<int>)", "ABS(<int>)",
        "LENGTH(<str>)", "CHAR_LENGTH(<str>)", "BIT_LENGTH(<str>)", "OCTET_LENGTH(<any>)", "ASCII(<str>)", "ORD(<str>)", "LOCATE(<str>, <str>)", "LOCATE(<str>, <str>, <int>)", "INSTR(<str>, <str>)", "POSITION(<str> IN <str>)",
        "FIELD(<str>, <str>, <str>)", "FIELD(<num>, <num>, <num>)", "FIND_IN_SET(<str>, <str>)", "FIND_IN_SET(<str>, <set>)", "SIGN(<num>)", "FLOOR(<num>)", "CEILING(<num>)", "ROUND(<num>)", "ROUND(<int>, <int>)", "TRUNCATE(<int>, -1)",
        "YEAR(<moment>)", "MONTH(<moment>)", "DAY(<moment>)", "HOUR(<time>)", "HOUR(<datetime>)", "MINUTE(<time>)", "SECOND(<datetime>)", "MICROSECOND(<datetime>)", "MICROSECOND(<time>)", "DAYOFWEEK(<moment>)", "WEEKDAY(<moment>)", "DAYOFYEAR(<moment>)",
        "WEEK(<date>)", "WEEK(<date>, 3)", "WEEK(<date>, 1)", "YEARWEEK(<date>)", "YEARWEEK(<date>, 1)", "WEEKOFYEAR(<date>)", "QUARTER(<moment>)", "TO_DAYS(<moment>)", "TO_SECONDS(<moment>)", "DATEDIFF(<moment>, <moment>)",
        "TIMESTAMPDIFF(<unit>, <moment>, <moment>)", "EXTRACT(<unit> FROM <datetime>)", "EXTRACT(DAY_HOUR FROM <datetime>)", "EXTRACT(YEAR_MONTH FROM <date>)", "EXTRACT(HOUR_SECOND FROM <time>)", "TIME_TO_SEC(<time>)", "PERIOD_DIFF(202402, 199912)", "PERIOD_ADD(202402, <int> % 100)",
        "CAST(<any> AS SIGNED)", "CONVERT(<num>, SIGNED)", "CRC32(<str>)", "INTERVAL(<int>, 1, 5, 10)", "STRCMP(<str>, <str>)", "JSON_LENGTH(<json>)", "JSON_DEPTH(<json>)", "REGEXP_INSTR(<str>, 'b')", "REGEXP_INSTR(<str>, '[0-9]+', 1)",
        "(<year> + <int>)", "(<year> - 1)", "(<enum> + 0)", "(<set> + 0)", "(<bit> + 0)", "(<bit> + <int>)", "(<date> + 0)", "(<time> + 0)", "(<datetime> + 0)", "JSON_LENGTH(<json>, '$.b')", "UNIX_TIMESTAMP(<date>)", "BIT_COUNT(<int>)", "INET_ATON('1.2.3.4')", "CAST(<num> AS YEAR)",
    ],
    "uint": ["(<uint> + <uint>)", "(<int> & <int>)", "(<int> | <int>)", "(<int> ^ <int>)", "(<int> << 3)", "(<int> >> 1)", "(~<int>)", "(<uint> & <bit>)", "(<uint> * 2)", "(<uint> DIV 3)", "(<uint> % 7)", "CAST(<any> AS UNSIGNED)", "(<uint> + <int>)", "BIT_COUNT(<uint>)", "(<uint> | <set>)", "ABS(<uint>)"],
    "dec": [
        "(<dec> + <dec>)", "(<dec> - <int>)", "(<dec> * <dec>)", "ROUND(<int> / <int>, 4)", "ROUND(<dec> / 3, 2)", "(<dec> % 3)", "(-<dec>)", "ROUND(<dec>, 1)", "ROUND(<dec>, <int>)", "TRUNCATE(<dec>, 1)", "ABS(<dec>)", "CAST(<any> AS DECIMAL(12,3))", "CAST(<num> AS DECIMAL)", "CONVERT(<str>, DECIMAL(6,2))",
        "(<int> * 1.10)", "MOD(<dec>, <int>)", "UNIX_TIMESTAMP(<datetime>)", "(<dec> + <uint>)", "(<datetime> + 0.5)", "(<time> * 1.0)", "ROUND(<year> / 4, 4)", "ROUND(<dec>)", "FLOOR(<dec>)", "CEIL(<dec>)", "ROUND(TIME_TO_SEC(<time>) / 60, 2)",
    ],
    "real": ["(<real> + <num>)", "(<real> * 2)", "(-<real>)", "ABS(<real>)", "(<str> + 0)", "(<str> * <int>)", "ROUND(<real>, 1)", "SQRT(ABS(<int>))", "CAST(<num> AS DOUBLE)", "CAST(<num> AS FLOAT)", "FLOOR(<real>)", "(<real> / 4)", "(<real> % 3)", "POW(<int> % 10, 2)", "(<json> + 0)", "(<str> / 2)", "(<real> DIV 2)", "TRUNCATE(<real>, 1)", "(<bin> + 0)", "DEGREES(0)", "(-<str>)"],
    "str": [
        "CONCAT(<str>, <str>)", "CONCAT(<any>, <str>)", "CONCAT_WS('-', <any>, <any>, <str>)", "UPPER(<str>)", "LOWER(<str>)", "LEFT(<str>, <int>)", "RIGHT(<str>, 2)", "SUBSTRING(<str>, <int>)", "SUBSTRING(<str>, 2, 3)", "SUBSTR(<str> FROM -2 FOR 1)", "SUBSTRING_INDEX(<str>, 'b', 1)", "SUBSTRING_INDEX(<str>, ',', -1)",
        "REPLACE(<str>, 'a', 'xx')", "REVERSE(<str>)", "REPEAT(<str>, 2)", "LPAD(<str>, 5, '*')", "RPAD(<any>, 6, 'xy')", "TRIM(<str>)", "LTRIM(<str>)", "RTRIM(<str>)", "TRIM(LEADING 'a' FROM <str>)", "TRIM(BOTH 'a' FROM <str>)", "INSERT(<str>, 2, 1, 'ZZ')", "ELT(<int>, <str>, <str>)", "HEX(<any>)", "SPACE(2)", "FORMAT(<num>, 2)", "QUOTE(<str>)",
        "CAST(<any> AS CHAR)", "CAST(<any> AS CHAR(3))", "CONVERT(<any>, CHAR)", "DATE_FORMAT(<moment>, '%Y-%m-%d %H:%i:%s.%f %a %b %j')", "DATE_FORMAT(<date>, '%W %M %e %y %U %u %x %v')", "TIME_FORMAT(<time>, '%H:%i %p')", "DAYNAME(<moment>)", "MONTHNAME(<moment>)", "CONV(<int>, 10, 16)", "BIN(<int>)", "OCT(<int>)", "CHAR(65, 66)", "SOUNDEX(<str>)", "MAKE_SET(<int>, 'a', 'b', 'c')", "EXPORT_SET(<int>, 'Y', 'N', ',', 4)",
        "REGEXP_REPLACE(<str>, '[a-c]', '<$0>')", "REGEXP_SUBSTR(<str>, '[a-z]+')", "JSON_UNQUOTE(JSON_EXTRACT(<json>, '$.a'))", "JSON_TYPE(<json>)", "JSON_UNQUOTE(<json>)", "JSON_VALUE(<json>, '$.a')", "TO_BASE64(<str>)", "CONCAT(<enum>, <set>)", "LOWER(<enum>)", "(<str> COLLATE utf8mb4_bin)", "CONCAT(<year>, <bit> + 0)", "INET_NTOA(<int>)", "JSON_QUOTE(<str>)", "MAKE_SET(3, <str>, <str>)", "CONCAT('', <num>)", "LEFT(<any>, 4)", "UPPER(<num>)", "LPAD(<int>, 4, '0')", "SUBSTRING(<moment>, 1, 7)", "JSON_PRETTY(<json>)", "CHARSET(<any>)", "COLLATION(<str>)",
    ],
    "bin": ["CONCAT(<bin>, <bin>)", "CAST(<any> AS BINARY)", "CAST(<str> AS BINARY(3))", "UNHEX(HEX(<str>))", "UNHEX('6162')", "LEFT(<bin>, 2)", "SUBSTRING(<bin>, 2)", "REVERSE(<bin>)", "(<bin> | <bin>)", "UPPER(<bin>)", "FROM_BASE64('YWJj')", "CONCAT(<bin>, <str>)", "REPLACE(<bin>, 'a', 'b')", "(<bin> & x'0f')", "(~<bin>)", "CHAR(<int>)", "CONVERT(<any>, BINARY)"],
    "bool": [
        "(<bool> AND <bool>)", "(<bool> OR <bool>)", "(NOT <bool>)", "(<bool> XOR <bool>)", "(<bool> IS TRUE)", "(<bool> IS NOT FALSE)", "(<bool> IS UNKNOWN)", "(<any> IS NULL)", "ISNULL(<any>)",
        "(<num> = <num>)", "(<num> < <num>)", "(<num> >= <num>)", "(<num> <> <num>)", "(<any> = <any>)", "(<any> < <any>)", "(<any> <=> <any>)", "(<any> > <any>)", "(<any> <> <any>)", "(<plain> = <plain>)", "(<plain> < <plain>)", "(<plain> >= <plain>)", "(<str> = <str>)", "(<str> < <str>)", "(<str> <=> <str>)", "(<str> = <num>)", "(<date> = <str>)", "(<datetime> > <date>)", "(<date> < <datetime>)", "(<time> > <time>)",
        "(<time> < <datetime>)", "(<int> <=> <uint>)", "(<int> < <uint>)", "(<enum> = <str>)", "(<enum> = <int>)", "(<enum> > <enum>)", "(<set> = <str>)", "(<set> = <int>)", "(<bit> = <int>)", "(<bin> = <str>)", "(<bin> < <bin>)", "(<json> = <json>)", "(<json> < <json>)", "(<json> = <int>)", "(<json> = <str>)", "(<year> = <int>)", "(<year> > <year>)", "(<year> = <str>)",
        "(<str> LIKE 'a%')", "(<str> LIKE <str>)", "(<str> NOT LIKE '%b%')", "(<str> LIKE CONCAT('%', <str>, '%'))", "(<num> LIKE '1%')", "(<date> LIKE '2%')", "(<str> LIKE '|%%' ESCAPE '|')", "(<bin> LIKE 'a%')", "(<enum> LIKE '%z%')", "(<str> REGEXP '^[a-b]')", "(<str> RLIKE 'B')", "(<str> NOT REGEXP 'a|z')", "REGEXP_LIKE(<str>, 'A', 'c')", "REGEXP_LIKE(<any>, '[0-9]')",
        "(<num> BETWEEN <num> AND <num>)", "(<num> NOT BETWEEN <num> AND <num>)", "(<str> BETWEEN <str> AND <str>)", "(<date> BETWEEN <str> AND <date>)", "(<date> BETWEEN '2000-01-01' AND '2024-12-31')", "(<any> BETWEEN <any> AND <any>)", "(<num> IN (<num>, <num>, 3))", "(<num> NOT IN (0, <num>))", "(<str> IN ('a', <str>, 'zz'))", "(<any> IN (<any>, <any>))", "(<int> IN (1, '2', 3.0))", "(<date> IN ('2024-02-29', <date>))", "(<enum> IN ('x', 'zz'))", "(<enum> IN (1, 3))",
        "((<int>, <str>) = (<int>, <str>))", "((<num>, <any>) IN ((1, <any>), (2, <any>)))", "((<int>, <int>) < (<int>, <int>))", "((<int>, <str>) <=> (<int>, NULL))", "JSON_CONTAINS(<json>, '1')", "JSON_CONTAINS_PATH(<json>, 'one', '$.a', '$.z')", "JSON_VALID(<str>)", "JSON_VALID(<any>)", "(<int> MEMBER OF (<json>))", "(<str> MEMBER OF (<json>))", "JSON_OVERLAPS(<json>, <json>)", "(<int> AND <str>)", "(NOT <int>)", "(NOT <str>)", "(<dec> OR <real>)", "(!<bool>)", "(<json> IS NULL)", "JSON_CONTAINS(<json>, <json>)",
    ],
    "date": ["DATE(<moment>)", "DATE(<datetime>)", "(<date> + INTERVAL <int> DAY)", "(<date> - INTERVAL 1 MONTH)", "DATE_ADD(<date>, INTERVAL <int> <unit>)", "LAST_DAY(<moment>)", "MAKEDATE(2024, <int>)", "FROM_DAYS(738000)", "CAST(<moment> AS DATE)", "STR_TO_DATE('2024-05-06', '%Y-%m-%d')", "ADDDATE(<date>, <int>)", "SUBDATE(<date>, 7)", "CAST(<str> AS DATE)", "DATE(<str>)"],
    "time": ["TIME(<datetime>)", "SEC_TO_TIME(<int>)", "MAKETIME(<int>, 5, 7)", "TIMEDIFF(<time>, <time>)", "TIMEDIFF(<datetime>, <datetime>)", "ADDTIME(<time>, '01:00:00')", "SUBTIME(<time>, <time>)", "CAST(<datetime> AS TIME)", "CAST(<str> AS TIME)", "CAST(<num> AS TIME(2))", "(<time> + INTERVAL 5 MINUTE)", "STR_TO_DATE('10:20:30', '%H:%i:%s')", "MAKETIME(<int>, 5, 7.25)", "SEC_TO_TIME(<dec>)", "CAST(<time> AS TIME(1))", "TIME(<str>)"],
    "datetime": ["(<datetime> + INTERVAL <int> <unit>)", "(<datetime> - INTERVAL <int> DAY)", "DATE_SUB(<datetime>, INTERVAL 1 <unit>)", "DATE_ADD(<datetime>, INTERVAL <pair>)", "(<date> + INTERVAL <int> HOUR)", "TIMESTAMP(<date>)", "TIMESTAMP(<date>, <time>)", "TIMESTAMPADD(<unit>, <int>, <moment>)", "CAST(<moment> AS DATETIME)", "CAST(<moment> AS DATETIME(3))", "FROM_UNIXTIME(<int> + 86400)", "FROM_UNIXTIME(1700000000.25)", "ADDTIME(<datetime>, '01:00:00')", "ADDTIME(<datetime>, <time>)", "STR_TO_DATE('2024-05-06 07:08:09', '%Y-%m-%d %H:%i:%s')", "CONVERT_TZ(<datetime>, '+00:00', '+05:30')", "CAST(<str> AS DATETIME)", "(<date> + INTERVAL <pair>)", "SUBTIME(<datetime>, '1:1:1.000002')", "CAST(<date> AS DATETIME(6))"],
    "json": ["JSON_EXTRACT(<json>, '$.a')", "JSON_EXTRACT(<json>, '$[0]', '$.b')", "JSON_ARRAY(<any>, <any>)", "JSON_OBJECT('k', <any>, 'z', <plain>)", "JSON_SET(<json>, '$.n', <plain>)", "JSON_INSERT(<json>, '$.a', <int>)", "JSON_REPLACE(<json>, '$.a', <str>)", "JSON_REMOVE(<json>, '$.a')", "JSON_MERGE_PATCH(<json>, <json>)", "JSON_MERGE_PRESERVE(<json>, <json>)", "JSON_KEYS(<json>)", "JSON_SEARCH(<json>, 'one', 'x')", "JSON_ARRAY_APPEND(<json>, '$', <int>)", "CAST(<plain> AS JSON)", "JSON_ARRAY_INSERT(<json>, '$[0]', <str>)", "JSON_EXTRACT(<json>, '$.*')", "JSON_SEARCH(<json>, 'all', '%')"],
}  # fmt: skip
#: For every family; `<t>` is the family, `<s>` one that it may meet.
ANY = ["COALESCE(<t>, <t>)", "IFNULL(<t>, <t>)", "IF(<bool>, <t>, <t>)", "NULLIF(<t>, <t>)", "CASE WHEN <bool> THEN <t> ELSE <t> END", "CASE WHEN <bool> THEN <t> END", "CASE <int> WHEN 1 THEN <t> WHEN <int> THEN <t> ELSE <t> END", "GREATEST(<t>, <t>)", "LEAST(<t>, <t>)"]  # fmt: skip
#: Of several families at once: what they have in common is MySQL's most intricate rule.
MIXED = ["COALESCE(<s>, <s>)", "IFNULL(<s>, <s>)", "IF(<bool>, <s>, <s>)", "NULLIF(<s>, <s>)", "CASE WHEN <bool> THEN <s> ELSE <s> END", "CASE <s> WHEN <s> THEN <s> ELSE <s> END", "GREATEST(<s>, <s>)", "LEAST(<s>, <s>, <s>)"]  # fmt: skip
_SLOT = re.compile(r"<([a-z]+)>")


@dataclasses.dataclass(frozen=True)
class Seen:
    """A column in sight: how it is written, its family, whether equal values look alike."""

    name: str
    family: str
    exact: bool = True


Scope = list[Seen]


class Expressions:
    """Makes expressions; `subquery` makes one that reads a query, where there may be one."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.subquery: Callable[[str, Scope], Node | None] = lambda family, scope: None

    def make(self, family: str, scope: Scope, depth: int = 2) -> Node:
        """An expression of `family` over the columns of `scope`."""
        random = self.random
        family = self._family(family)
        columns = [column.name for column in scope if column.family == family]
        chance = random.random()
        if depth <= 0 or chance < 0.3 or family not in TEMPLATES:
            if columns and random.random() < 0.85:
                return Node([random.choice(columns)], type=family)
            return constant(random, family)
        if chance < 0.35:
            made = self.subquery(family, scope)
            if made is not None:
                return made
        templates = TEMPLATES[family]
        if random.random() < 0.15:
            templates = ANY if random.random() < 0.6 else MIXED
        return self._fill(random.choice(templates), family, scope, depth)

    def _family(self, family: str) -> str:
        if family in GROUPS:
            family = self.random.choice(GROUPS[family])
        return family if family in FAMILIES else "int"

    def _fill(self, template: str, family: str, scope: Scope, depth: int) -> Node:
        random = self.random
        parts: list[Part] = []
        for index, piece in enumerate(_SLOT.split(template)):
            if index % 2 == 0:
                parts.append(piece)
            elif piece == "unit":
                parts.append(random.choice(_UNITS))
            elif piece == "pair":
                parts.append(random.choice(_PAIRS))
            else:
                wanted = {"t": family, "s": random.choice([family, "plain", "any"])}.get(piece, piece)
                if piece not in ("bool", "json", "t") and random.random() < 0.04:
                    wanted = "plain"
                parts.append(self.make(wanted, scope, depth - 1))
        return expression(family, *[part for part in parts if part != ""])

    def condition(self, scope: Scope, depth: int = 2) -> Node:
        """A condition that a column or two decide."""
        return self.make("bool", scope, depth)

    def whatever(self, scope: Scope, depth: int = 2) -> tuple[str, Node]:
        """An expression of any family, and the family."""
        family = self.random.choice(["int", "uint", "dec", "real", "str", "str", "bin", "bool", "date", "time", "datetime", "json", "enum", "set", "bit", "year"])  # fmt: skip
        return family, self.make(family, scope, depth)
