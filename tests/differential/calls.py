"""One function, operator or cast of PostgreSQL's on constants with all their edges, errors among them."""

from __future__ import annotations

import csv
import functools
import re
from pathlib import Path
from random import Random

from tests.differential.tree import Node, Part, expression, join, listed
from tests.differential.values import KINDS, constant

_DATA = Path(__file__).resolve().parents[2] / "crates" / "facts" / "data"
#: PostgreSQL's internal names of types that are written otherwise here.
_SPELLED = {
    "int4": "int", "int2": "smallint", "int8": "bigint", "float4": "real", "bit": "bit(4)", "char": '"char"',
    "_int4": "int[]", "_text": "text[]", "_numeric": "numeric[]",
}  # fmt: skip
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
    """Types of which there are values, by their number."""
    named = {row["oid"]: _SPELLED.get(row["name"], row["name"]) for row in _rows("types")}
    return {oid: name for oid, name in named.items() if name in KINDS}


@functools.cache
def functions() -> list[tuple[str, list[str]]]:
    """Functions that take only such types, and always answer the same."""
    known = _known()
    found = []
    for row in _rows("functions"):
        arguments = [oid for oid in row["arguments"].split(",") if oid]
        if row["kind"] != "f" or row["returns_set"] == "t" or row["volatility"] == "v" or _NOT.match(row["name"]):
            continue
        if (
            arguments
            and row["variadic"] == "0"
            and all(oid in known for oid in arguments)
            and row["language"] in ("internal", "sql")
        ):
            found.append((row["name"], [known[oid] for oid in arguments]))
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
    known = _known()
    found = [
        (known[row["source"]], known[row["target"]])
        for row in _rows("casts")
        if row["source"] in known and row["target"] in known
    ]
    return found + [("text", type) for type in sorted(KINDS) if type in set(known.values())]


class Calls:
    """Makes statements of one to three such expressions, no more than one of which can fail."""

    def __init__(self, random: Random) -> None:
        self.random = random

    def call(self) -> Node:
        """SELECT of one expression."""
        random, chance = self.random, self.random.random()
        if chance < 0.5:
            name, types = random.choice(functions())
            arguments = listed([self._argument(type) for type in types], least=len(types))
            node = expression(
                "call",
                f'"{name}"(' if name in ("position", "overlay", "substring", "xmlexists") else f"{name}(",
                arguments,
                ")",
            )
        elif chance < 0.8:
            left, name, right = random.choice(operators())
            parts: list[Part] = [self._argument(left), f" {name} "] if left else [f"{name} "]
            node = join(*parts, self._argument(right))
        else:
            source, target = random.choice(casts())
            node = join("CAST(", self._argument(source), f" AS {target})")
        return join("SELECT ", node, " AS v")

    def _argument(self, type: str) -> Node:
        return constant(self.random, type, edges=True)
