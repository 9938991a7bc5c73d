# ruff: noqa: E501 - tables of templates
"""What has a grammar of its own, on constants with all their edges, errors among them.

`calls.py` makes a call, an operator and a cast of every row of PostgreSQL's catalog; here are casts that no row tells,
the words in which values are written, and what is no call: slices, AT TIME ZONE, SIMILAR TO, frames, grouping sets.
"""

from __future__ import annotations

import re
from random import Random

from tests.differential.tree import Node, Part, expression, join, listed, maybe
from tests.differential.values import KINDS, constant
from tests.differential.words import INPUTS, WORDS

#: `<type>` is a constant, `<:words>` a text of a vocabulary. Only one part of a phrase may fail.
PHRASES = (
    "(<int[]>)[<int>:<int>]", "(<int[]>)[:<int>]", "(<text[]>)[<int>:]", "(<int[]>)[<int>][<int>]", "(<int[]>)[1:1][2:2]", "(<text[]>)[1:2][1]", "<int> = ANY (<int[]>)", "<int> <> ALL (<int[]>)", "<int> IN (1, <int>, NULL)",
    "<text> LIKE ANY (<text[]>)", "<text> NOT ILIKE ALL (<text[]>)", "<int> < SOME (<numeric[]>)", "ARRAY[<int>, <numeric>]", "ARRAY[<int[]>, <int[]>]", "ARRAY[<text>, NULL, 'x']", "ARRAY[]::text[]", "ARRAY[<date>, <timestamp>]", "ARRAY[[<int>, 1], [<int>, 2]]",
    "ARRAY(SELECT x FROM unnest(<int[]>) AS x ORDER BY x DESC NULLS LAST)", "(SELECT array_agg(x ORDER BY x DESC, o) FROM unnest(<text[]>) WITH ORDINALITY AS u (x, o))", "(SELECT array_agg(x) FROM unnest(ARRAY[<int[]>, <int[]>]) AS x)", "(SELECT array_agg(x ORDER BY o) FROM (VALUES (1, <int[]>), (2, <int[]>)) AS v (o, x))",
    "array_dims(<int[]> || <int[]>)", "<int[]> || <int>", "<int> || <int[]>", "<text[]> || '{x,y}'", "<text[]> || 'x'::text", "array_position(<text[]>, <text>, <int>)", "num_nulls(VARIADIC <int[]>)", "concat_ws('-', VARIADIC <text[]>)", "format(<:printf>, VARIADIC <text[]>)", "format(<:printf>, <text>, <int>)",
    "concat(<text>, <int>, <bool>, NULL, <date>, <numeric[]>)", "greatest(<int>, <numeric>, <smallint>)", "least(<date>, <timestamp>)", "coalesce(<smallint>, <bigint>)", "coalesce(<int>, <numeric>, 1.5)", "nullif(<int>, <numeric>)", "CASE WHEN <bool> THEN <int> ELSE <numeric> END", "CASE <text> WHEN 'a' THEN <date> ELSE <timestamptz> END",
    "<timestamptz> AT TIME ZONE <:zone>", "<timestamp> AT TIME ZONE <:zone>", "<timetz> AT TIME ZONE <:zone>", "<timestamptz> AT TIME ZONE <interval>", "<timestamp> AT TIME ZONE <interval>", "(<timestamp> AT TIME ZONE <:zone>)::date", "EXTRACT(<:field> FROM <timestamp>)", "EXTRACT(<:field> FROM <timestamptz>)", "EXTRACT(<:field> FROM <date>)",
    "EXTRACT(<:field> FROM <interval>)", "EXTRACT(<:field> FROM <time>)", "EXTRACT(<:field> FROM <timetz>)", "date_trunc(<:field>, <timestamptz>, <:zone>)", "date_trunc(<:field>, <interval>)", "(<date>, <interval>) OVERLAPS (<date>, <date>)", "(<timestamp>, <timestamp>) OVERLAPS (<timestamp>, <interval>)", "(<time>, <time>) OVERLAPS (<time>, <interval>)",
    "<timestamptz>::date - <date>", "<timestamptz> + <interval>", "<timestamptz> - <timestamptz>", "<date> + <time>", "<date> + <timetz>", "<interval> * <float8>", "<interval> / <float8>", "- <interval>", "<interval>::time", "<timestamptz>::timetz", "<timestamptz>::time", "<timestamp>::timestamptz", "<date>::timestamptz",
    "interval <:interval> day", "interval <:interval> hour to minute", "interval <:interval> second(2)", "interval <:interval> year to month", "interval(3) <:interval>", "interval <:interval> day to second(0)", "timestamp(2) <:moment>", "time(3) <:time>", "timestamp with time zone <:moment>",
    "substring(<text> FROM <int> FOR <int>)", "substring(<text> FROM <int>)", "substring(<text> FROM <:pattern>)", "substring(<text> SIMILAR <:similar> ESCAPE '#')", "position(<text> IN <text>)", "overlay(<text> PLACING <text> FROM <int> FOR <int>)", "overlay(<text> PLACING <text> FROM <int>)", "trim(LEADING <text> FROM <text>)",
    "trim(TRAILING FROM <text>)", "trim(BOTH <text> FROM <text>)", "<text> LIKE <:like>", "<text> NOT ILIKE <:like>", "<text> LIKE <:like> ESCAPE '!'", "<text> LIKE <:like> ESCAPE ''", "<text> SIMILAR TO <:similar>", "<text> NOT SIMILAR TO <:similar> ESCAPE '!'", "<text> ~ <:pattern>", "<text> !~* <:pattern>", "<bytea> LIKE <bytea>",
    "regexp_replace(<text>, <:pattern>, <:replacement>, <:flags>)", "regexp_replace(<text>, <:pattern>, <:replacement>, <smallint>, <smallint>, 'i')", "regexp_matches(<text>, <:pattern>, 'g')", "regexp_substr(<text>, <:pattern>, 1, <smallint>)", "regexp_instr(<text>, <:pattern>, 1, 1, 1)", "regexp_count(<text>, <:pattern>, 1, <:flags>)", "regexp_split_to_array(<text>, <:pattern>)",
    '<text> COLLATE "C" < <text>', '<text> < <text> COLLATE "en_US"', "normalize(<text>, NFD)", "<text> IS NFC NORMALIZED", "string_to_array(<text>, <text>, <text>)", "split_part(<text>, <text>, <int>)", "repeat(<text>, <smallint>)", "lpad(<text>, <smallint>, <text>)", "translate(<text>, <text>, <text>)", "chr(abs(<smallint>))", "left(<text>, <int>)",
    "<varchar> || <bpchar>", "<bpchar> || '|'", "<bpchar> = <text>", "length(<bpchar>)", "<text>::char(2)", "<text>::varchar(2) || '|'", "<name> || <text>", "<text>::bpchar = <bpchar>", "<numeric>::numeric(5,2)", "<numeric>::numeric(3,-2)", "<float8>::numeric(10,3)", "<float8>::real", "<real>::float8", "<real> + <float8>", "<float8> = <numeric>", "<float8>::int", "<numeric>::smallint", "<bigint>::int",
    "round(<numeric>, <smallint>)", "trunc(<numeric>, <smallint>)", "<numeric> % <numeric>", "<numeric> ^ <smallint>", "div(<numeric>, <numeric>)", "to_char(<numeric>, <:number format>)", "to_char(<float8>, <:number format>)", "to_char(<int>, <:number format>)", "to_char(<timestamp>, <:moment format>)", "to_char(<timestamptz>, <:moment format>)", "to_char(<interval>, <:moment format>)",
    "to_number(<:number text>, <:number format>)", "to_date(<:moment text>, <:moment format>)", "to_timestamp(<:moment text>, <:moment format>)", "<int>::bit(4)", "<bit(4)>::int", "<bit(4)> || <varbit>", "<bit(4)>::varbit(2)", "<int> << <smallint>", "<smallint> + <smallint>", "<bigint> * <bigint>", "<int> / <int>", "<int> % <smallint>", "@ <int>", "|/ <float8>", "<int> ^ <int>", "<int> | <bigint>",
    "(<jsonb>)[<:key>]", "(<jsonb>)[<smallint>]", "(<jsonb>)['a']['b'][1]", "<jsonb> @? <jsonpath>", "<jsonb> @@ <jsonpath>", "jsonb_path_query(<jsonb>, <:jsonpath>)", "jsonb_path_query_array(<jsonb>, <:jsonpath>, '{\"x\": 1, \"y\": 2}')", "jsonb_path_query_first(<jsonb>, <:jsonpath>, '{\"x\": \"v\"}', true)", "jsonb_path_exists(<jsonb>, <:jsonpath>)", "jsonb_path_match(<jsonb>, <:jsonpath>, '{}', true)",
    "jsonb_set(<jsonb>, <:path>, <jsonb>, <bool>)", "jsonb_insert(<jsonb>, <:path>, <jsonb>, <bool>)", "<jsonb> #- <:path>", "<jsonb> #> <:path>", "<jsonb> #>> <:path>", "<jsonb> - <:key>", "<jsonb> - <smallint>", "<jsonb> - <text[]>", "<jsonb> ?& <text[]>", "jsonb_set_lax(<jsonb>, <:path>, NULL, true, 'delete_key')", "jsonb_pretty(<jsonb>)", "<jsonb>::int", "<jsonb>::text", "<jsonb>::numeric", "<jsonb>::bool", "<jsonb> < <jsonb>",
    "jsonb_build_object(<text>, <int>, 'k', <date>)", "json_build_array(<int>, <text[]>, <bool>, <interval>, <float8>)", "json_build_object('a', <timestamptz>, 'b', <bytea>)", "to_jsonb(<float8>)", "to_json(<timestamp>)", "to_jsonb(<int4range>)", "jsonb_object(<text[]>)", "json_object(<text[]>, <text[]>)", "jsonb_populate_record(NULL::pair, <jsonb>)", "(jsonb_populate_record(<pair>, <jsonb>)).a",
    "jsonb_array_elements(<jsonb>)", "jsonb_each(<jsonb>)", "jsonb_object_keys(<jsonb>)", "(SELECT x FROM jsonb_to_record(<jsonb>) AS x (a int, c text, k text))", "(SELECT jsonb_agg(x) FROM jsonb_to_recordset(<jsonb>) AS x (a text, b jsonb))", "(SELECT jsonb_object_agg(k, v ORDER BY v) FROM (VALUES ('a', <int>), (<text>, 2)) AS x (k, v))", "row_to_json(<pair>)", "row_to_json(ROW(<int>, <date>), true)", "array_to_json(<int[]>, true)", "jsonb_strip_nulls(<jsonb>)",
    "(<pair>).a", "(<pair>).b || 'x'", "ROW(<int>, NULL) IS NULL", "ROW(<int>, <text>) = ROW(<int>, <text>)", "ROW(<int>, <text>) < ROW(<numeric>, <text>)", "<pair> IS DISTINCT FROM <pair>", "<pair> = ROW(1, 'a')", "ROW(<int>, <text>)::pair", "(ROW(<int>, <text>)::pair).b", "ARRAY[<pair>, <pair>]", "ROW(<pair>, <int[]>, <date>)::text", "<pair> *= <pair>", "(<int>, <text>) IN ((1, 'a'), (2, <text>))", "(<int>, <int>) < ALL (SELECT a, 1 FROM generate_series(1, 3) AS a)",
    "ROW(<int>, <text>) IS NOT NULL", "NOT (<pair> IS NULL)", "enum_range(<mood>, <mood>)", "enum_first(<mood>)", "<mood> < <mood>", "<mood>::text || 'x'", "ARRAY[<mood>, 'ok']", "<int>::small", "<text>::small", "<small> + <int>", "ARRAY[<small>]::int[]", "<numeric>::small", "pg_typeof(<small> + 1)", "pg_typeof(coalesce(<small>, 1))", "<jsonb>::small",
    "pg_typeof(<int> / <numeric>)", "pg_typeof('x')", "pg_typeof(NULL)", "pg_typeof(ARRAY[1, 2.5])", "pg_typeof(CASE WHEN <bool> THEN 1 ELSE 2.5 END)", "pg_typeof(<real> * <numeric>)", "<int> IS DISTINCT FROM <numeric>", "<bool>::int", "<int>::bool", "<bool> < <bool>", "<bool> IS NOT UNKNOWN", "<int> BETWEEN SYMMETRIC <int> AND <int>", "<text> BETWEEN <text> AND <text>", "NOT <bool> OR <bool> AND <bool>",
    "<int4range> @> <int>", "<int4range> + <int4range>", "<int4range> - <int4range>", "<numrange> * <numrange>", "range_merge(<daterange>, <daterange>)", "range_merge(<int4multirange>)", "unnest(<int4multirange>)", "<int4multirange> * <int4multirange>", "lower(<datemultirange>)", "upper_inf(<tsrange>)", "<int4range>::int4multirange", "int4multirange(<int4range>, <int4range>)", "int4range(<int>, <int>, <:bounds>)", "daterange(<date>, <date>, <:bounds>)", "numrange(<numeric>, <numeric>)", "tsrange(<timestamp>, <timestamp>)",
    "(SELECT range_agg(x) FROM (VALUES (<int4range>), (<int4range>)) AS v (x))", "(SELECT range_intersect_agg(x) FROM (VALUES (<numrange>), (<numrange>)) AS v (x))", "<tstzrange> @> <timestamptz>", "<daterange> -|- <daterange>", "<int4multirange> << <int4range>", "<int4range> &< <int4multirange>", "<int4range> < <int4range>", "ARRAY[<int4range>, <int4range>]", "<tsquery> && <tsquery>", "<tsvector> @@ <tsquery>", "ts_headline(<:words>, to_tsquery(<:query>))", "to_tsvector('english', <:words>)",
    "to_tsquery('english', <:query>)", "websearch_to_tsquery('english', <:words>)", "setweight(<tsvector>, 'A')", "ts_rank(<tsvector>, <tsquery>)", "<inet> + <smallint>", "<inet> - <inet>", "<inet> <<= <cidr>", "<inet>::cidr", "<money> * <float8>", "<money> / <money>", "<numeric>::money", "<money>::numeric", "decode(<:number text>, 'hex')", "encode(<bytea>, 'escape')", "<bytea> || <bytea>", "get_byte(<bytea>, <smallint>)", "set_bit(<bytea>, <smallint>, 1)", "convert_from(<bytea>, 'UTF8')", "<text>::bytea", "md5(<bytea>)",
    "generate_series(<smallint>, <smallint>, <smallint>)", "generate_series(<smallint>::numeric, <smallint>, 0.5)", "generate_series(<smallint>, <smallint>) + 1", "(SELECT sum(x) FROM generate_series(1, <smallint>) AS x)", "(SELECT string_agg(x::text, ',' ORDER BY x DESC) FROM generate_series(1, <smallint>) AS x)", "(SELECT count(*) FILTER (WHERE x > 1) FROM unnest(<int[]>) AS x)", "EXISTS (SELECT FROM unnest(<int[]>) AS x WHERE x > <int>)", "(SELECT x FROM (VALUES (<int>), (<int>)) AS v (x))",
    "1 / (<smallint> - 1)", "<int> + <int> * <int>", "- - <int>", "<int>::text::numeric + 1", "<text>::int", "<text>::date", "<text>::jsonb", "<text> + <int>", "<text> < <int>", "<date> = <text>", "<int> || <date>", "<bool> + 1", "nothing(<int>)", "lower(<int>)", "round(<text>)", "<point> <-> <point>", "<box> && <box>", "<circle> @> <point>", "<lseg> ?# <lseg>", "<point> + <point>", "<box> # <box>", "area(<circle>)", "<int[]> @> ARRAY[<int>]", "<text[]> && ARRAY[<text>]", "<int[]> < <int[]>", "array_fill(<int>, <int[]>)", "array_upper(<int[]>, 1)",
)  # fmt: skip
_SLOT = re.compile(r"<(:[a-z ]+|[a-z0-9]+(?:\(4\))?(?:\[\])?)>")
_MODIFIED = (
    "numeric(5,2)", "numeric(3,-1)", "varchar(2)", "char(3)", "timestamp(0)", "timestamptz(1)", "time(2)", "interval day to minute", "interval(1)", "bit(3)", "varbit(2)", "int[]", "text[]", "varchar(2)[]", "numeric(4,1)[]",
)  # fmt: skip


class Phrases:
    """Makes statements of one phrase, or of a few rows that are grouped, framed or limited."""

    def __init__(self, random: Random) -> None:
        self.random = random

    def phrase(self) -> Node:
        """A statement."""
        random, chance = self.random, self.random.random()
        if chance < 0.5:
            return join("SELECT ", self._filled(random.choice(PHRASES)), " AS v LIMIT 50")
        if chance < 0.62:
            type = random.choice(list(INPUTS))
            text = random.choice(WORDS[INPUTS[type]]).replace("'", "''")
            return join(f"SELECT '{text}'::{type} AS v")
        if chance < 0.72:
            target = random.choice([*KINDS, *_MODIFIED])
            return join("SELECT CAST(", constant(random, random.choice(list(KINDS)), edges=True), f" AS {target}) AS v")
        return random.choice([self._framed, self._framed, self._sets, self._sets, self._ties, self._first])()

    def _filled(self, phrase: str) -> Node:
        parts: list[Part] = []
        for index, piece in enumerate(_SLOT.split(phrase)):
            if index % 2 == 0:
                parts.append(piece)
            elif piece.startswith(":"):
                parts.append("'" + self.random.choice(WORDS[piece[1:]]).replace("'", "''") + "'")
            else:
                parts.append(constant(self.random, piece, edges=True))
        return expression("phrase", *[part for part in parts if part != ""])

    def _rows(self, *types: str) -> Node:
        """Rows of such types, numbered."""
        rows = []
        for number in range(self.random.randint(2, 7)):
            cells = [join(str(number + 1)), *[constant(self.random, type, edges=True) for type in types]]
            rows.append(join("(", listed(cells, least=len(cells)), ")"))
        names = ", ".join(["o", *"abcd"[: len(types)]])
        return join("(VALUES ", listed(rows), f") AS t ({names})")

    def _framed(self) -> Node:
        """A window whose frame goes by values: numbers, moments, NULL and the infinite ones among them."""
        random = self.random
        type, steps = random.choice(
            [
                ("int", ("1", "2", "10", "2147483647", "0")), ("smallint", ("1", "9")), ("numeric", ("1", "0.5", "'Infinity'", "1e20")), ("float8", ("1.5", "'Infinity'", "0")), ("real", ("1.5",)),
                ("date", ("'1 day'", "'20 years'", "'1 mon'")), ("timestamp", ("'1 day'", "'20 years 1 hour'")), ("timestamptz", ("'1 day'", "'6 hours'")), ("interval", ("'1 day'", "'1 mon'")), ("time", ("'1 hour'", "'10 hours'")),
            ]
        )  # fmt: skip
        bounds = ["UNBOUNDED PRECEDING", *(f"{step} PRECEDING" for step in steps), "CURRENT ROW"]
        after = [*(f"{step} FOLLOWING" for step in steps), "UNBOUNDED FOLLOWING"]
        every = [*bounds, *after]
        first = random.randrange(len(every) - 1)
        last = random.randrange(first, len(every))
        start = "UNBOUNDED PRECEDING" if every[first] == "UNBOUNDED FOLLOWING" else every[first]
        end = "CURRENT ROW" if every[last] == "UNBOUNDED PRECEDING" else every[last]
        exclude = random.choice(
            ["", "", " EXCLUDE CURRENT ROW", " EXCLUDE GROUP", " EXCLUDE TIES", " EXCLUDE NO OTHERS"]
        )
        call = random.choice(["count(*)", "sum(o)", "min(o)", "max(b)", "count(b)", "bool_or(o > 2)", "count(a)"])
        order = f"ORDER BY a{random.choice(['', ' DESC', ' NULLS FIRST', ' DESC NULLS LAST'])}"
        part = maybe("PARTITION BY o % 2 ")
        return join(
            "SELECT o, a, ", call, " OVER (", part, order, f" RANGE BETWEEN {start} AND {end}", maybe(exclude),
            ") AS v FROM ", self._rows(type, "text"), " ORDER BY o",
        )  # fmt: skip

    def _sets(self) -> Node:
        """Grouping sets in one another."""
        random = self.random

        def item(depth: int) -> str:
            chance = random.random()
            names = random.sample("abc", random.randint(1, 3))
            if depth == 0 or chance < 0.3:
                return random.choice([names[0], f"({', '.join(names)})", "()"])
            inner = ", ".join(item(0) for _ in range(random.randint(1, 3)))
            if chance < 0.5:
                return f"ROLLUP ({', '.join(names)})"
            if chance < 0.65:
                return f"CUBE ({', '.join(names)})"
            if chance < 0.75:
                return f"ROLLUP (({', '.join(names)}), {names[0]})"
            deeper = ", ".join(item(depth - 1) for _ in range(random.randint(1, 3)))
            return f"GROUPING SETS ({inner}, {deeper})"

        items = [item(2) for _ in range(random.randint(1, 2))]
        distinct = random.choice(["", "", "DISTINCT "])
        grouped = [name for name in "abc" if any(re.search(rf"\b{name}\b", text) for text in items)]
        outputs = [*grouped, "count(*) AS n", "sum(o) AS s"]
        if grouped:
            outputs.append(f"GROUPING({', '.join(grouped)}) AS g")
        chosen = random.choice([" HAVING count(*) > 1", f" HAVING {grouped[0] if grouped else 'sum(o)'} IS NOT NULL"])
        having = maybe(chosen) if random.random() < 0.3 else join()
        source = self._rows("int", random.choice(["mood", "bpchar", "text"]), "bool")
        every = listed([join(text) for text in items], least=len(items))
        order = maybe(f" ORDER BY {', '.join(str(at + 1) for at in range(len(outputs)))}")
        return join(f"SELECT {', '.join(outputs)} FROM ", source, f" GROUP BY {distinct}", every, having, order)

    def _ties(self) -> Node:
        """The first rows with those that are alike."""
        random = self.random
        order = f"a{random.choice(['', ' DESC', ' NULLS FIRST', ' DESC NULLS LAST'])}"
        offset = maybe(f" OFFSET {random.choice(['1', '2 ROWS', 'NULL', '0'])}") if random.random() < 0.4 else join()
        count = random.choice(["1", "2", "3", "0", "(1 + 1)", "NULL", ""])
        rows = self._rows(random.choice(["int", "bool", "text", "mood", "bpchar", "numeric"]))
        return join("SELECT a FROM ", rows, f" ORDER BY {order}", offset, f" FETCH FIRST {count} ROWS WITH TIES")

    def _first(self) -> Node:
        """The first row of each key, or the rows of a LATERAL query."""
        random = self.random
        rows = self._rows(random.choice(["int", "bool", "mood"]), random.choice(["text", "date", "numeric"]))
        if random.random() < 0.5:
            words = f"a{random.choice(['', ' DESC', ' NULLS FIRST'])}, b{random.choice(['', ' DESC'])}, o"
            return join("SELECT DISTINCT ON (a) a, b, o FROM ", rows, f" ORDER BY {words}")
        kind = random.choice(["LEFT JOIN LATERAL", "CROSS JOIN LATERAL", "JOIN LATERAL"])
        on = "" if kind.startswith("CROSS") else " ON true"
        lateral = random.choice(
            [
                "(SELECT o * 2 AS x WHERE o > 2)", "(SELECT sum(i) AS x FROM generate_series(1, o) AS i)", "(SELECT i AS x FROM generate_series(o, 3) AS i)", "(VALUES (o), (o + 1))",
                "(SELECT t.o AS x UNION SELECT 1)", "(SELECT i AS x FROM unnest(ARRAY[o, 1]) AS i ORDER BY i LIMIT 1)",
            ]
        )  # fmt: skip
        return join("SELECT t.o, s.x FROM ", rows, f" {kind} {lateral} AS s (x){on} ORDER BY 1, 2")
