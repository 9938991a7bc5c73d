# ruff: noqa: E501 - tables of types
"""One function, operator or cast of PostgreSQL's on constants with all their edges, errors among them."""

from __future__ import annotations

import csv
import functools
import re
from pathlib import Path
from random import Random

from tests.differential.tree import Node, Part, expression, join, listed, maybe
from tests.differential.values import KINDS, constant, plain
from tests.differential.words import ARGUMENTS, OPERANDS, word

_DATA = Path(__file__).resolve().parents[2] / "crates" / "facts" / "data"
#: PostgreSQL's internal names of types that are written otherwise here.
_SPELLED = {
    "int4": "int", "int2": "smallint", "int8": "bigint", "float4": "real", "bit": "bit(4)", "char": '"char"',
    "_int4": "int[]", "_text": "text[]", "_numeric": "numeric[]", "_date": "date[]", "_timestamp": "timestamp[]", "_float8": "float8[]", "_bool": "bool[]", "_jsonb": "jsonb[]",
}  # fmt: skip
#: PostgreSQL's polymorphic types, and which of a family stands for each: element, array, range, multirange.
_POLYMORPHIC = {
    "anyelement": 0, "anynonarray": 0, "anycompatible": 0, "anycompatiblenonarray": 0, "anyarray": 1, "anycompatiblearray": 1, "anyrange": 2, "anycompatiblerange": 2, "anymultirange": 3, "anycompatiblemultirange": 3, "anyenum": 4, "any": 0,
}  # fmt: skip
_FAMILIES = (
    ("int", "int[]", "int4range", "int4multirange", "mood"), ("numeric", "numeric[]", "numrange", "nummultirange", "mood"), ("date", "date[]", "daterange", "datemultirange", "mood"), ("timestamp", "timestamp[]", "tsrange", "tsmultirange", "mood"),
)  # fmt: skip
_LANGUAGES = ("internal", "sql")
#: Functions that tell of the server, the moment or chance; those that wait; those whose answer is unspecified.
_NOT = re.compile(
    r"^(pg_|_|has_|txid|current|inet_(client|server)|random|setseed|gen_random|clock|now|statement_timestamp"
    r"|transaction_timestamp|timeofday|lo_|lo$|loread|lowrite|nextval|setval|currval|lastval|set_config|gin|gist|spg|brin|bt|hash|"
    r"(ts_|text|name|char|int|float|bit|array|range|network|date|time|jsonb|uuid|bpchar|varbit|macaddr|enum|oid|cash|numeric|tsq|tsm|ws_)\w*"
    r"(sel|support|sortsupport|equalimage|in|out|recv|send|hash|extended|typmodin|typmodout|_accum|_combine|_subdiff|_canonical)$"
    r"|\w+(_accum|_accum_inv|_combine|_serialize|_deserialize|_subscript_handler|typmodin|typmodout|in|out|recv|send|sel)$"
    r"|query_to|table_to|schema_to|database_to|cursor_to|xml|shobj|obj_|col_desc|to_reg|ts_debug|ts_parse|ts_token|ts_stat|dsimple"
    r"|suppress_red|unique_key|RI_|binary_upgrade|record_image|row_security|version|dblink|getdatabase|session_user|mxid|age$|cidr_abbrev_|ll$|cbrt$)"
)


def _rows(name: str) -> list[dict[str, str]]:
    csv.field_size_limit(10_000_000)
    with (_DATA / f"{name}.tsv").open(newline="") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


@functools.cache
def _known() -> dict[str, str]:
    """Types of which there are values, by their number; polymorphic ones by their names."""
    named = {row["oid"]: _SPELLED.get(row["name"], row["name"]) for row in _rows("types")}
    return {oid: name for oid, name in named.items() if name in KINDS or name in _POLYMORPHIC}


@functools.cache
def functions(kind: str = "f") -> list[tuple[str, list[str]]]:
    """Functions (`w` of windows) that take only such types, and always answer the same."""
    known = _known()
    found = []
    for row in _rows("functions"):
        arguments = [oid for oid in row["arguments"].split(",") if oid]
        if row["kind"] != kind or row["volatility"] == "v" or _NOT.match(row["name"]):
            continue
        # A function that returns `record` asks for a list of columns.
        if row["returns_set"] == "t" and row["result"] == "2249" and not row["modes"]:
            continue
        taken = all(oid in known for oid in arguments) and row["variadic"] == "0" and row["language"] in _LANGUAGES
        if taken and (arguments or kind == "w"):
            found.append((row["name"], [known[oid] for oid in arguments]))
    return found


@functools.cache
def aggregates() -> list[tuple[str, list[str], int | None]]:
    """Aggregate functions over such types; how many arguments stand before WITHIN GROUP, None without it."""
    known = _known()
    named = {row["oid"]: row for row in _rows("functions")}
    found: list[tuple[str, list[str], int | None]] = []
    for row in _rows("aggregates"):
        function = named[row["function"]]
        arguments = [oid for oid in function["arguments"].split(",") if oid]
        if not arguments or any(oid not in known for oid in arguments) or row["kind"] == "h":
            continue
        direct = int(row["direct_arguments"]) if row["kind"] == "o" else None
        found.append((function["name"], [known[oid] for oid in arguments], direct))
    return found


@functools.cache
def operators() -> list[tuple[str, str, str]]:
    """Operators between such types: left type (empty for a prefix), name, right type."""
    known = _known()
    return [
        (known.get(row["left_type"], ""), row["name"], known[row["right_type"]])
        for row in _rows("operators")
        if row["right_type"] in known and (row["left_type"] in known or row["left_type"] == "0")
    ]


@functools.cache
def casts() -> list[tuple[str, str]]:
    """Casts between such types, those by way of text among them."""
    known = {oid: name for oid, name in _known().items() if name in KINDS}
    found = [
        (known[row["source"]], known[row["target"]])
        for row in _rows("casts")
        if row["source"] in known and row["target"] in known
    ]
    every = sorted(set(known.values()))
    return found + [("text", type) for type in every] + [(type, "text") for type in every]


class Calls:
    """Makes statements of one to three such expressions, no more than one of which can fail."""

    def __init__(self, random: Random) -> None:
        self.random = random

    def call(self) -> Node:
        """SELECT of one expression."""
        random, chance = self.random, self.random.random()
        if chance < 0.44:
            node = self._function()
        elif chance < 0.7:
            node = self._operator()
        elif chance < 0.82:
            return self._aggregate()
        elif chance < 0.86:
            return self._window()
        else:
            source, target = random.choice(casts())
            node = join("CAST(", self._argument(source), f" AS {target})")
        return join("SELECT ", node, " AS v LIMIT 50")

    def _function(self) -> Node:
        random = self.random
        name, types = random.choice(functions())
        types = self._of_family(types)
        words = ARGUMENTS.get(name, ())
        arguments: list[Node] = []
        for at, type in enumerate(types):
            text = word(random, words[at], types[0]) if at < len(words) and type in ("text", "text[]") else None
            # Rows without end are made of steps between the ends of a type.
            edges = not name.startswith("generate_")
            arguments.append(self._argument(type, edges=edges) if text is None else plain(type, text))
        quoted = name in ("position", "overlay", "substring", "xmlexists", "normalize", "extract")
        opened = f'pg_catalog."{name}"(' if quoted else f"{name}("
        return expression("call", opened, listed(arguments, least=len(arguments)), ")")

    def _operator(self) -> Node:
        random = self.random
        left, name, right = random.choice(operators())
        left, right = self._of_family([left, right])
        parts: list[Part] = [self._argument(left), f" {name} "] if left else [f"{name} "]
        text = word(random, OPERANDS[name, right], left) if (name, right) in OPERANDS else None
        return join(*parts, self._argument(right) if text is None else plain(right, text))

    def _aggregate(self) -> Node:
        """An aggregate over some rows."""
        random = self.random
        name, types, direct = random.choice(aggregates())
        types = self._of_family(types)
        source, names = self._rows_of(types)
        if direct is not None:
            before = listed([self._argument(type, edges=False) for type in types[:direct]], least=direct)
            order = ", ".join(f"{name}{random.choice(['', ' DESC'])}" for name in names[direct:])
            return join(f"SELECT {name}(", before, f") WITHIN GROUP (ORDER BY {order}) AS v FROM ", source)
        distinct = random.random() < 0.2
        # Rows that are alike in what they are sorted by come in an order of their own.
        order = names if distinct else ["o"]
        words = ", ".join(f"{name}{random.choice(['', ' DESC', ' NULLS FIRST'])}" for name in order)
        inside = join("DISTINCT " if distinct else "", ", ".join(names), maybe(f" ORDER BY {words}"))
        filter = maybe(f" FILTER (WHERE o > {random.randint(0, 3)})") if random.random() < 0.2 else join()
        return join(f"SELECT {name}(", inside, ")", filter, " AS v FROM ", source)

    def _window(self) -> Node:
        random = self.random
        name, types = random.choice(functions("w"))
        types = self._of_family(types)
        source, names = self._rows_of([type for type in types])
        frame = random.choice(["", " ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING", " GROUPS CURRENT ROW"])
        return join(f"SELECT o, {name}({', '.join(names)}) OVER (ORDER BY o{frame}) AS v FROM ", source)

    def _rows_of(self, types: list[str]) -> tuple[Node, list[str]]:
        """A few rows with columns of such types, and `o` to tell them apart."""
        rows = []
        for number in range(self.random.randint(1, 4)):
            cells = [join(str(number + 1)), *[self._argument(type, edges=False) for type in types]]
            rows.append(join("(", listed(cells, least=len(cells)), ")"))
        names = [f"c{at}" for at in range(len(types))]
        return join("(VALUES ", listed(rows), f") AS t ({', '.join(['o', *names])})"), names

    def _of_family(self, types: list[str]) -> list[str]:
        """Types with those of one family in place of polymorphic ones."""
        family = self.random.choice(_FAMILIES)
        return [family[_POLYMORPHIC[type]] if type in _POLYMORPHIC else type for type in types]

    def _argument(self, type: str, *, edges: bool = True) -> Node:
        return constant(self.random, type, edges=edges)
