# ruff: noqa: E501 - tables of templates
"""Expressions of a type, made of templates in which `<type>` stands for an expression of that type.

None of them fails, whatever the columns hold: where a statement has several expressions that would fail, PostgreSQL
does not say which fails first. Expressions that may fail stand alone in `calls.py`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from random import Random

from tests.differential.tree import Node, Part, expression
from tests.differential.values import KINDS, constant

TEMPLATES: dict[str, list[str]] = {
    "int": [
        "(<int> + <smallint>)", "(<int> - <int>)", "(<int> % 7)", "(<int> / 3)", "(- <int>)", "length(<text>)",
        "abs(<int> % 1000)", "(<int> & <int>)", "(<int> | 8)", "(<int> # <int>)", "strpos(<text>, <text>)", "cardinality(<int[]>)",
        "array_length(<text[]>, 1)", "(<int[]>)[1]", "(<int[]>)[<int>]", "octet_length(<bytea>)", "ascii(<text>)", "sign(<int>)::int",
        "(<pair>).a", "(<mood> = 'ok')::int", "num_nulls(<int>, <text>, <date>)", "<small>", "<smallint>::int", "array_position(<int[]>, <int>)",
        "lower(<int4range>)", "upper(<int4range>)", "position(<text> in <text>)", "array_ndims(<int[]>)", "extract(isodow from <time> + date '2020-01-01')::int",
        "char_length(<varchar>)", "bit_length(<text>)", "levenshtein_free(<text>)", "jsonb_typeof(<jsonb>) IS NULL::bool::int",
    ],
    "smallint": ["(<smallint> & 3::smallint)", "(<smallint> % 5::smallint)"],
    "bigint": ["(<bigint> & <int>)", "(<int>::bigint * 1000)", "(<bigint> # 5)", "(<bigint> % 11)", "(<int> + 5000000000)"],
    "numeric": [
        "(<int>::numeric + 0.5)", "round(<numeric>, 2)", "(<int> / 4.0)", "<int>::numeric", "trunc(<numeric>, 1)", "abs(<numeric>)",
        "extract(epoch from <interval>)", "extract(year from <date>)", "extract(second from <time>)", "lower(<numrange>)",
        "round(<int> * 1.5)", "floor(<numeric>)", "ceil(<numeric>)", "scale(<numeric>)::numeric", "(- <numeric>)", "<bigint>::numeric",
    ],
    "float8": ["(<int> / 2.0::float8)", "<int>::float8", "<smallint>::float8", "abs(<float8>)", "(- <float8>)", "floor(<float8>)"],
    "bool": [
        "(<bool> AND <bool>)", "(<bool> OR <bool>)", "(NOT <bool>)", "(<int> < <int>)", "(<int> = <int>)", "(<int> >= <bigint>)",
        "(<text> = <text>)", "(<text> < <text>)", "(<text> LIKE 'a%')", "(<text> LIKE '%' || <text> || '%' ESCAPE '!')", "(<text> ILIKE 'A_C')", "(<text> ~ '^[a-b]')",
        "(<text> ~* 'B|z')", "(<text> SIMILAR TO '(a|b)%')", "(<text> NOT LIKE '_')", "starts_with(<text>, <text>)", "(<int> IS NULL)", "(<pair> IS NOT NULL)", "(<pair> IS NULL)",
        "(<text> IS DISTINCT FROM <text>)", "(<int> IS NOT DISTINCT FROM <int>)", "(<bool> IS TRUE)", "(<bool> IS UNKNOWN)", "(<bool> IS NOT FALSE)",
        "(<int> BETWEEN <int> AND <int>)", "(<int> BETWEEN SYMMETRIC <int> AND <int>)", "(<int> IN (1, 2, <int>))", "(<int> NOT IN (0, <int>, 3))", "(<text> IN ('a', <text>))",
        "(<int> = ANY (<int[]>))", "(<int> > ALL (<int[]>))", "(<text> = ANY (<text[]>))", "(<int[]> @> <int[]>)", "(<int[]> && <int[]>)", "(<text[]> <@ <text[]>)",
        "(<int[]> = <int[]>)", "(<text[]> < <text[]>)", "(<jsonb> @> <jsonb>)", "(<jsonb> ? 'a')", "(<jsonb> ?| array['a', 'k'])", "(<jsonb> = <jsonb>)", "(<jsonb> @? '$.a')",
        "(<int4range> @> <int>)", "(<int4range> && <int4range>)", "(<int4range> << <int4range>)", "isempty(<int4range>)", "(<int4range> -|- <int4range>)", "(<daterange> @> <date>)",
        "(<int4multirange> @> <int>)", "(<int4multirange> && <int4range>)", "(<date> < <date>)", "(<date> = <timestamp>)", "(<timestamp> < <timestamptz>)", "(<interval> > <interval>)",
        "(<time> < <time>)", "((<date>, <date>) OVERLAPS (<date>, <date>))", "(<mood> > 'sad')", "(<mood> = <mood>)", "(<uuid> < <uuid>)", "(<bytea> = <bytea>)", "(<inet> << <inet>)", "(<pair> = <pair>)",
        "((<int>, <text>) = (<int>, <text>))", "((<int>, <text>) < (<int>, <text>))", "(ROW(<int>, <int>) IS DISTINCT FROM ROW(<int>, <int>))", "((<int>, <date>) IN ((1, <date>), (2, <date>)))",
        "(<numeric> < <numeric>)", "(<float8> = <float8>)", "(<numeric> <> <int>)", "(<bpchar> = <bpchar>)", "(<varchar> = <text>)", "(<text> ^@ 'a')", "isfinite(<date>)", "(<small> > 1)", "(<pair> < <pair>)",
    ],
    "text": [
        "(<text> || <text>)", "(<text> || <int>)", "upper(<text>)", "lower(<text>)", "initcap(<text>)", "reverse(<text>)", "left(<text>, 2)", "right(<text>, -1)", "substr(<text>, 2, 3)",
        "substring(<text> from '[a-z]+')", "substring(<text> from 2 for 1)", "replace(<text>, 'a', 'xx')", "translate(<text>, 'abc', 'xy')", "lpad(<text>, 5, '*')", "rpad(<text>, 4)", "trim(<text>)", "btrim(<text>, 'ab')",
        "regexp_replace(<text>, '[a-c]', '<\\&>', 'g')", "split_part(<text>, ' ', 1)", "overlay(<text> placing 'Z' from 1 for 1)", "md5(<text>)", "concat(<text>, <int>, <bool>)", "concat_ws('-', <text>, <text>, <int>)", "format('%s|%I|%L', <text>, coalesce(<text>, ''), <text>)",
        "quote_literal(<text>)", "quote_nullable(<text>)", "quote_ident(<text>)", "<int>::text", "<bool>::text", "<date>::text", "<numeric>::text", "<float8>::text", "<timestamp>::text", "<interval>::text", "<jsonb>::text", "<int[]>::text", "<pair>::text", "<mood>::text", "<int4range>::text", "<bytea>::text",
        "(<jsonb> ->> 'a')", "(<jsonb> #>> '{a,b}')", "(<pair>).b", "(<text[]>)[1]", "array_to_string(<text[]>, ',', '?')", "to_char(<date>, 'YYYY-MM-DD Day')", "to_char(<int>, 'S0999')", "to_char(<numeric>, 'FM990.099')", "jsonb_typeof(<jsonb>)", "encode(<bytea>, 'hex')", "<varchar>::text", "(<text> COLLATE \"C\")", "repeat(<text>, 2)", "to_hex(<int>)", "host(<inet>)",
        "ROW(<int>, <text>)::text", "<uuid>::text", "<time>::text", "pg_typeof(<int>)::text", "<bpchar>::text", "<small>::text",
    ],
    "varchar": ["<text>::varchar", "<text>::varchar(2)"],
    "bpchar": ["<text>::char(3)"],
    "date": ["(date '2020-01-01' + <smallint>)", "make_date(2020, 1 + abs(<int> % 12), 5)", "<timestamp>::date", "greatest(<date>, <date>)", "(date '2020-05-05' - <smallint>)"],
    "time": ["<timestamp>::time", "make_time(abs(<int> % 24), 5, 7.5)", "(<time> + interval '1 hour')"],
    "timestamp": ["(timestamp '2020-01-31 10:00' + <smallint> * interval '1 day')", "date_trunc('month', <timestamp>)", "(date '2020-01-01' + <time>)", "date_trunc('hour', <timestamp>)"],
    "timestamptz": ["(timestamp '2020-01-31 10:00' AT TIME ZONE 'UTC')", "date_trunc('day', <timestamptz>)", "to_timestamp(<int>)"],
    "interval": ["(<time> - <time>)", "make_interval(days => <int>)", "(<smallint> * interval '1 hour')", "justify_hours(make_interval(hours => <int>))", "(- make_interval(mins => <int>))", "<time>::interval"],
    "uuid": ["md5(<text>)::uuid"],
    "jsonb": ["(<jsonb> -> 'a')", "(<jsonb> #> '{a,b}')", "to_jsonb(<int>)", "to_jsonb(<text>)", "jsonb_build_object('x', <int>, 'y', <text>)", "jsonb_build_array(<int>, <bool>, <date>)", "to_jsonb(<int[]>)", "to_jsonb(<pair>)", "(<jsonb> || '{\"z\": 1}'::jsonb)", "jsonb_strip_nulls(<jsonb>)", "to_jsonb(<timestamp>)", "jsonb_path_query_first(<jsonb>, '$.*')", "to_jsonb(<mood>)"],
    "bytea": ["(<bytea> || <bytea>)", "convert_to(<text>, 'UTF8')", "substring(<bytea> from 1 for 1)", "sha256(<bytea>)"],
    "int[]": ["ARRAY[<int>, <int>]", "array_append(<int[]>, <int>)", "array_prepend(<int>, <int[]>)", "array_remove(<int[]>, <int>)", "array_replace(<int[]>, <int>, <int>)", "(<int[]>)[1:2]", "string_to_array('1,2', ',')::int[]", "array_positions(<int[]>, <int>)", "array_fill(<int>, ARRAY[2])"],
    "text[]": ["ARRAY[<text>, <text>]", "string_to_array(<text>, 'b')", "array_append(<text[]>, <text>)", "regexp_split_to_array(<text>, '[b ]')", "<int[]>::text[]", "(<text[]>)[2:]", "array_remove(<text[]>, <text>)", "regexp_match(<text>, '(a)(.)')"],
    "numeric[]": ["ARRAY[<numeric>, <int>]", "<int[]>::numeric[]"],
    "int4range": ["int4range(<small>, 20)", "(<int4range> * <int4range>)", "int4range(1, 5 + abs(<int> % 100), '[]')", "range_merge(<int4range>, <int4range>)"],
    "numrange": ["numrange(-10.5, abs(<int>)::numeric)", "(<numrange> * <numrange>)"],
    "daterange": ["(<daterange> * <daterange>)", "daterange('2000-01-01', NULL)"],
    "int4multirange": ["int4multirange(<int4range>)", "(<int4multirange> + <int4multirange>)", "(<int4multirange> - <int4multirange>)", "range_agg_free(<int4range>)"],
    "inet": ["network(<inet>)::inet", "set_masklen('10.1.2.3'::inet, abs(<int> % 30))"],
    "mood": ["coalesce(<mood>, 'ok')", "(enum_range(NULL::mood))[2]", "greatest(<mood>, <mood>)"],
    "pair": ["ROW(<int>, <text>)::pair"],
    "small": ["(<int> % 5)::small"],
}  # fmt: skip
for _templates in TEMPLATES.values():
    _templates[:] = [
        template for template in _templates if "_free(" not in template and "IS NULL::bool" not in template
    ]
#: For every type; `<t>` is the type.
ANY = ["coalesce(<t>, <t>)", "nullif(<t>, <t>)", "CASE WHEN <bool> THEN <t> ELSE <t> END", "CASE WHEN <bool> THEN <t> END", "greatest(<t>, <t>)", "least(<t>, <t>)", "CASE <int> WHEN 1 THEN <t> WHEN <int> THEN <t> ELSE <t> END"]  # fmt: skip
_SLOT = re.compile(r"<(t|[a-z0-9]+(?:\[\])?)>")

#: A column in sight: how it is written, its type.
Scope = list[tuple[str, str]]


class Expressions:
    """Makes expressions; `subquery` makes one that reads a query, where there may be one."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.subquery: Callable[[str, Scope], Node | None] = lambda type, scope: None

    def make(self, type: str, scope: Scope, depth: int = 2) -> Node:
        """An expression of `type` over the columns of `scope`."""
        random = self.random
        columns = [name for name, of in scope if of == type]
        chance = random.random()
        if depth <= 0 or chance < 0.3:
            if columns and random.random() < 0.85:
                return Node([random.choice(columns)], type=type)
            return constant(random, type)
        if chance < 0.36:
            made = self.subquery(type, scope)
            if made is not None:
                return made
        templates = TEMPLATES.get(type, [])
        if not templates or random.random() < 0.2:
            templates = ANY
        return self._fill(random.choice(templates), type, scope, depth)

    def _fill(self, template: str, type: str, scope: Scope, depth: int) -> Node:
        parts: list[Part] = []
        for index, piece in enumerate(_SLOT.split(template)):
            if index % 2 == 0:
                parts.append(piece)
            else:
                wanted = type if piece == "t" else piece
                parts.append(self.make(wanted, scope, depth - 1) if wanted in KINDS else f"<{piece}>")
        return expression(type, *[part for part in parts if part != ""])

    def condition(self, scope: Scope, depth: int = 2) -> Node:
        """A condition that a column or two decide."""
        return self.make("bool", scope, depth)

    def keyed(self, scope: Scope) -> tuple[str, Node]:
        """Something to group, order or tell apart by: equal values of its type look alike."""
        random = self.random
        exact = [(name, type) for name, type in scope if KINDS[type].exact]
        if exact and random.random() < 0.75:
            name, type = random.choice(exact)
            return type, Node([name], type=type)
        # Of a column: PostgreSQL 15 takes constants for known where grouping sets make them NULL. No query: equal
        # ones are refused as keys.
        type = random.choice(["int", "text", "bool", "date"])
        subquery, self.subquery = self.subquery, lambda type, scope: None
        made = self.make(type, scope, 1)
        self.subquery = subquery
        if any(name in str(made) for name, _ in scope):
            return type, made
        name, type = random.choice(exact or scope)
        return type, Node([name], type=type)
