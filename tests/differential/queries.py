# ruff: noqa: E501 - tables of templates
"""Queries over a schema: joins, groups, windows, sets, recursion, subqueries anywhere."""

from __future__ import annotations

import dataclasses
from random import Random

from tests.differential.expressions import Expressions, Scope
from tests.differential.schema import Schema
from tests.differential.tree import Node, expression, join, joined, listed, maybe
from tests.differential.values import KINDS, constant


@dataclasses.dataclass
class Source:
    """What stands in FROM: its text, its columns, and those that tell its rows apart."""

    node: Node
    columns: Scope
    key: list[str]


@dataclasses.dataclass
class Query:
    """A query, the names and types of its columns, and whether it says the order of its rows entirely."""

    node: Node
    columns: Scope
    ordered: bool = False


class Queries:
    """Makes queries over the relations of a schema."""

    def __init__(self, random: Random, schema: Schema) -> None:
        self.random = random
        self.schema = schema
        self.expressions = Expressions(random)
        self.expressions.subquery = self._subquery
        self._names = 0
        self._depth = 0
        #: Common tables in sight: their names and columns.
        self._commons: list[tuple[str, Scope]] = []

    def name(self, prefix: str) -> str:
        """A name not used before."""
        self._names += 1
        return f"{prefix}{self._names}"

    def query(self) -> Query:
        """A whole statement."""
        random, chance = self.random, self.random.random()
        self._names, self._depth, self._commons = 0, 0, []
        if chance < 0.12:
            return self._recursive()
        commons = []
        for _ in range(random.choice([0, 0, 0, 1, 2])):
            made, name = self._select([], plain=True), self.name("w")
            names = ", ".join(f"{name}_{index}" for index in range(len(made.columns)))
            kind = random.choice(["", "", " MATERIALIZED", " NOT MATERIALIZED"])
            commons.append(join(f"{name} ({names}) AS{kind} (", made.node, ")"))
            self._commons.append((name, [(f"{name}_{at}", type) for at, (_, type) in enumerate(made.columns)]))
        made = self._set() if chance < 0.27 else self._select([])
        if commons:
            made.node = join(maybe("WITH ", listed(commons), " "), made.node)
        return made

    def _subquery(self, type: str, scope: Scope) -> Node | None:
        """An expression that reads a query, correlated with `scope`."""
        random = self.random
        if self._depth >= 2:
            return None
        self._depth += 1
        try:
            source = self._table()
            seen = source.columns + scope
            where = maybe(" WHERE ", self.expressions.condition(seen, 1))
            if type == "bool" and random.random() < 0.7:
                of = random.choice(["int", "text", "date"])
                inner = join("SELECT ", self.expressions.make(of, seen, 1), " FROM ", source.node, where)
                if random.random() < 0.4:
                    return expression("bool", random.choice(["", "NOT "]), "EXISTS (", inner, ")")
                operator = random.choice(["IN", "NOT IN", "= ANY", "> ALL", "<> ALL", "< ANY"])
                return expression("bool", "(", self.expressions.make(of, scope, 1), f" {operator} (", inner, "))")
            if random.random() < 0.3 and type in ("int[]", "text[]"):
                value = self.expressions.make(type[:-2], seen, 1)
                order = listed([join(name) for name in source.key])
                return expression(type, "ARRAY(SELECT ", value, " FROM ", source.node, where, " ORDER BY ", order, ")")
            if random.random() < 0.5 or type in ("json", "pair", "jsonb", "bool", "bytea", "uuid"):
                value = self.expressions.make(type, seen, 1)
                order = listed([join(name) for name in source.key])
                return expression(
                    type, "(SELECT ", value, " FROM ", source.node, where, " ORDER BY ", order, " LIMIT 1)"
                )
            return expression(type, "(SELECT ", self._aggregate_of(type, seen), " FROM ", source.node, where, ")")
        finally:
            self._depth -= 1

    def _aggregate_of(self, type: str, scope: Scope) -> Node:
        make = self.expressions.make
        if type == "bigint":
            return join("count(", make("int", scope, 1), ")")
        if type in ("text", "int", "date", "timestamp", "int[]", "text[]", "mood", "smallint", "timestamptz", "time"):
            return join(self.random.choice(["min(", "max("]), make(type, scope, 1), ")")
        if type == "numeric":
            return join("sum(", make("bigint", scope, 1), ")")
        value = make(type, scope, 1)
        return join("(array_agg(", value, " ORDER BY ", str(value), "))[1]")

    # What stands in FROM.

    def _table(self) -> Source:
        random = self.random
        alias = self.name("r")
        if self._commons and random.random() < 0.35:
            name, columns = random.choice(self._commons)
            seen = [(f"{alias}.{column}", type) for column, type in columns]
            return Source(join(f"{name} {alias}"), seen, [column for column, _ in seen])
        table = random.choice(self.schema.tables)
        only = "ONLY " if not table.is_view and random.random() < 0.04 else ""
        columns = [(f"{alias}.{column.name}", column.type) for column in table.columns]
        return Source(join(f"{only}{table.name} AS {alias}"), columns, [f"{alias}.{name}" for name in table.key])

    def _values(self) -> Source:
        alias, random = self.name("x"), self.random
        types = [random.choice(["int", "text", "date", "bool", "mood", "numeric"]) for _ in range(random.randint(1, 3))]
        rows = [
            join("(", ", ".join(str(constant(random, type)) for type in types), ")")
            for _ in range(random.randint(1, 4))
        ]
        names = [f"{alias}_{at}" for at in range(len(types))]
        columns = [(f"{alias}.{name}", type) for name, type in zip(names, types, strict=True)]
        node = join("(VALUES ", listed(rows), f") AS {alias} ({', '.join(names)})")
        return Source(node, columns, [column for column, _ in columns])

    def _function(self, scope: Scope) -> Source:
        alias, make = self.name("f"), self.expressions.make
        lateral = scope if self.random.random() < 0.6 else []
        calls = [
            (join("generate_series(1, ", make("int", lateral, 0), " % 5)"), ["int"]),
            (join("unnest(", make("int[]", lateral, 1), ")"), ["int"]),
            (join("unnest(", make("text[]", lateral, 1), ")"), ["text"]),
            (join("regexp_split_to_table(", make("text", lateral, 1), ", 'b')"), ["text"]),
            (join("jsonb_each_text(jsonb_build_object('q', ", make("int", lateral, 1), "))"), ["text", "text"]),
            (
                join("jsonb_array_elements_text(jsonb_build_array(", make("int", lateral, 1), ", 'x', null))"),
                ["text"],
            ),
            (join("unnest(", make("int[]", lateral, 1), ", ", make("text[]", lateral, 1), ")"), ["int", "text"]),
            (join("generate_series(date '2020-01-01', date '2020-01-04', interval '1 day')"), ["timestamptz"]),
            (join("generate_subscripts(", make("int[]", lateral, 1), ", 1)"), ["int"]),
            (join("string_to_table(", make("text", lateral, 1), ", 'b')"), ["text"]),
        ]
        chosen = self.random.sample(calls, 2 if self.random.random() < 0.25 else 1)
        types = [type for _, types in chosen for type in types]
        ordinality = self.random.random() < 0.5
        call = (
            chosen[0][0]
            if len(chosen) == 1
            else join("ROWS FROM (", listed([call for call, _ in chosen], least=2), ")")
        )
        names = [f"{alias}_{at}" for at in range(len(types))]
        columns = [(f"{alias}.{name}", type) for name, type in zip(names, types, strict=True)]
        if ordinality:
            names.append("o")
            columns.append((f"{alias}.o", "bigint"))
        node = join(call, " WITH ORDINALITY" if ordinality else "", f" AS {alias} ({', '.join(names)})")
        return Source(node, columns, [column for column, _ in columns])

    def _derived(self, scope: Scope) -> Source:
        """A subquery in FROM; with columns of `scope` in sight it is LATERAL."""
        self._depth += 1
        made, alias = self._select(scope, plain=self.random.random() < 0.5), self.name("s")
        self._depth -= 1
        columns = [(f"{alias}.{name}", type) for name, type in made.columns]
        return Source(
            join("LATERAL " if scope else "", "(", made.node, f") AS {alias}"), columns, [name for name, _ in columns]
        )

    def _source(self, scope: Scope) -> Source:
        chance = self.random.random()
        if chance < 0.66 or self._depth >= 2:
            return self._table()
        if chance < 0.74:
            return self._values()
        if chance < 0.86:
            return self._function(scope)
        return self._derived(scope if self.random.random() < 0.5 else [])

    def _from(self, outer: Scope) -> Source:
        random = self.random
        left = self._source([])
        for _ in range(random.choice([0, 0, 1, 1, 2] if self._depth == 0 else [0, 0, 1])):
            kind = random.choice(["JOIN", "LEFT JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN", "CROSS JOIN", ","])
            right = self._source(left.columns if kind in ("JOIN", "LEFT JOIN", "CROSS JOIN", ",") else [])
            columns = left.columns + right.columns
            parts: list[Node | str] = [left.node, ", " if kind == "," else f" {kind} ", right.node]
            if kind == "FULL JOIN":
                parts += [" ON ", self._equal(left, right)]
            elif kind not in ("CROSS JOIN", ","):
                if random.random() < 0.6:
                    parts += [" ON ", self._equal(left, right), maybe(" AND ", self.expressions.condition(columns, 1))]
                else:
                    parts += [" ON ", self.expressions.condition(columns + outer, 1)]
            left = Source(joined(*parts), columns, left.key + right.key)
        return left

    def _equal(self, left: Source, right: Source) -> Node:
        pairs = [
            (one, other)
            for one, type in left.columns
            for other, of in right.columns
            if type == of and type not in ("json", "int4range", "pair")
        ]
        if not pairs:
            return Node(["true"])
        one, other = self.random.choice(pairs)
        return join(f"{one} = {other}")

    # The rest of a SELECT.

    def _select(self, outer: Scope, *, plain: bool = False, types: list[str] | None = None) -> Query:
        random = self.random
        source = self._from(outer)
        scope = source.columns + outer
        where = maybe(" WHERE ", self.expressions.condition(scope)) if random.random() < 0.55 else join()
        chance = random.random()
        if types is None and not plain and chance < 0.28:
            return self._grouped(source, scope, where)
        if types is None and not plain and chance < 0.45:
            return self._windowed(source, scope, where)
        wanted = types or [self._output(scope) for _ in range(random.randint(1, 4))]
        targets, columns = [], []
        for type in wanted:
            name = self.name("c")
            targets.append(join(self.expressions.make(type, scope, 2), f" AS {name}"))
            columns.append((name, type))
        distinct = ""
        exact = all(KINDS[type].exact for type in wanted)
        if not types and not plain and exact and random.random() < 0.15:
            distinct = "DISTINCT "
        if not types and not plain and not distinct and random.random() < 0.1:
            targets.append(join("unnest(", self.expressions.make("int[]", scope, 1), ") AS u"))
            columns.append(("u", "int"))
        if distinct:
            positions = listed([join(str(at + 1)) for at in range(len(targets))], least=len(targets))
            node = join("SELECT ", distinct, listed(targets, least=len(targets)), " FROM ", source.node, where)
            return self._ended(node, columns, positions)
        if not types and not plain and random.random() < 0.08:
            type, key = self.expressions.keyed(source.columns)
            node = join("SELECT DISTINCT ON (", key, ") ", listed(targets), " FROM ", source.node, where)
            order = join(" ORDER BY ", key, random.choice([" DESC", " NULLS FIRST", ""]), ", ", ", ".join(source.key))
            return Query(join(node, order), columns)
        node = join("SELECT ", listed(targets), " FROM ", source.node, where)
        if types or any(name == "u" for name, _ in columns):
            return Query(node, columns)
        return self._ended(node, columns, join(", ".join(source.key)))

    def _output(self, scope: Scope) -> str:
        if scope and self.random.random() < 0.6:
            return self.random.choice(scope)[1]
        return self.random.choice(["int", "text", "bool", "numeric", "date", "text", "jsonb", "int[]", "interval"])

    def _ended(self, node: Node, columns: Scope, order: Node) -> Query:
        """A query with ORDER BY over what tells its rows apart, and LIMIT, now and then."""
        random = self.random
        if random.random() < 0.5:
            return Query(node, columns)
        node = join(node, " ORDER BY ", order, random.choice(["", "", " DESC", " NULLS FIRST", " DESC NULLS LAST"]))
        if random.random() < 0.4:
            count = random.randint(0, 5)
            words = [f" LIMIT {count}", f" OFFSET {count}", f" LIMIT {count} OFFSET 1"]
            words += [f" FETCH FIRST {count} ROWS ONLY", f" FETCH FIRST {count} ROWS WITH TIES"]
            node = join(node, maybe(random.choice(words)))
        return Query(node, columns, ordered=True)

    def _aggregate(self, scope: Scope) -> tuple[Node, str]:
        random, make = self.random, self.expressions.make
        kinds = {
            "count(*)": "bigint", "count(<int>)": "bigint", "count(DISTINCT <text>)": "bigint", "sum(<int>)": "bigint", "sum(<numeric>)": "numeric",
            "avg(<int>)": "numeric", "min(<text>)": "text", "max(<date>)": "date", "bool_and(<bool>)": "bool", "bool_or(<bool>)": "bool", "sum(DISTINCT <int>)": "bigint",
            "string_agg(<text>, ',' ORDER BY #)": "text", "array_agg(<int> ORDER BY #)": "int[]", "array_agg(DISTINCT <int>)": "int[]", "array_agg(<text> ORDER BY # DESC NULLS LAST)": "text[]",
            "jsonb_agg(<int> ORDER BY #)": "jsonb", "bit_or(<int>)": "int", "stddev_samp(<int>)": "numeric", "var_pop(<int>)": "numeric", "max(<int[]>)": "int[]", "count(DISTINCT <int>)": "bigint",
            "mode() WITHIN GROUP (ORDER BY <int>)": "int", "percentile_disc(0.5) WITHIN GROUP (ORDER BY <int>)": "int", "rank(2) WITHIN GROUP (ORDER BY <int>)": "bigint",
            "sum(<interval>)": "interval", "max(<timestamp>)": "timestamp", "min(<mood>)": "mood", "every(<bool>)": "bool", "range_agg(<int4range>)": "int4multirange", "string_agg(DISTINCT <text>, '-' ORDER BY #)": "text",
            "bit_xor(<smallint>)": "smallint", "max(<time>)": "time", "regr_count(<float8>, <float8>)": "bigint", "array_agg(<date> ORDER BY #)::text": "text", "min(<inet>)": "inet",
        }  # fmt: skip
        template, type = random.choice(list(kinds.items()))
        parts: list[Node | str] = []
        slot: Node | None = None
        for piece in template.replace("<", "\0<").replace(">", ">\0").split("\0"):
            if piece.startswith("<"):
                slot = make(piece[1:-1], scope, 1)
                parts.append(slot)
            elif "#" in piece and slot is not None:
                before, after = piece.split("#")
                parts += [before, slot, after]
            else:
                parts.append(piece)
        node = Node(parts)
        if "WITHIN" not in template and "::" not in template and random.random() < 0.25:
            node = join(node, maybe(" FILTER (WHERE ", self.expressions.condition(scope, 1), ")"))
        return node, type

    def _grouped(self, source: Source, scope: Scope, where: Node) -> Query:
        random = self.random
        keys = [self.expressions.keyed(source.columns) for _ in range(random.choice([0, 1, 1, 2, 2]))]
        targets, columns = [], []
        for type, key in keys:
            name = self.name("k")
            targets.append(join(key, f" AS {name}"))
            columns.append((name, type))
        for _ in range(random.randint(1, 3)):
            (node, type), name = self._aggregate(scope), self.name("a")
            targets.append(join(node, f" AS {name}"))
            columns.append((name, type))
        group = join()
        if keys:
            nodes = [key for _, key in keys]
            kind = random.random()
            if kind < 0.55 or (len(keys) == 1 and kind < 0.7):
                group = join(" GROUP BY ", listed(nodes, least=len(nodes)))
            elif kind < 0.8:
                group = join(
                    random.choice([" GROUP BY ROLLUP (", " GROUP BY CUBE ("]), listed(nodes, least=len(nodes)), ")"
                )
            else:
                sets = [join("(", listed(nodes, least=len(nodes)), ")"), join("()"), join("(", nodes[0], ")")]
                group = join(" GROUP BY ", maybe("DISTINCT "), "GROUPING SETS (", listed(sets), ")")
            if kind >= 0.7:
                name = self.name("g")
                targets.append(join("GROUPING(", nodes[0], f") AS {name}"))
                columns.append((name, "int"))
        having = join()
        if random.random() < 0.25:
            node, type = self._aggregate(scope)
            having = maybe(" HAVING ", node, " IS NOT NULL")
        node = join("SELECT ", listed(targets, least=len(targets)), " FROM ", source.node, where, group, having)
        if any(type == "pair" or not KINDS[type].exact for _, type in columns):
            return Query(node, columns)
        return self._ended(node, columns, join(", ".join(str(at + 1) for at in range(len(columns)))))

    def _frame(self) -> str:
        random = self.random
        ends = [
            "UNBOUNDED PRECEDING", "CURRENT ROW", "1 PRECEDING AND 1 FOLLOWING", "UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING",
            "CURRENT ROW AND UNBOUNDED FOLLOWING", "2 PRECEDING AND 1 PRECEDING", "1 FOLLOWING AND 2 FOLLOWING", "2 PRECEDING",
        ]  # fmt: skip
        end = random.choice(ends)
        between = "BETWEEN " if " AND " in end else ""
        exclude = random.choice(
            ["", "", "", " EXCLUDE CURRENT ROW", " EXCLUDE GROUP", " EXCLUDE TIES", " EXCLUDE NO OTHERS"]
        )
        return f"{random.choice(['ROWS', 'GROUPS', 'ROWS', 'RANGE'])} {between}{end}{exclude}"

    def _windowed(self, source: Source, scope: Scope, where: Node) -> Query:
        random, make = self.random, self.expressions.make
        targets, columns = [], []
        for name in source.key[:2]:
            type = dict(source.columns)[name]
            targets.append(join(f"{name} AS {self.name('c')}"))
            columns.append((str(targets[-1]).split(" AS ")[1], type))
        for _ in range(random.randint(1, 3)):
            key = ", ".join(source.key)
            partition = (
                maybe("PARTITION BY ", self.expressions.keyed(source.columns)[1], " ")
                if random.random() < 0.6
                else join()
            )
            frame = self._frame() if random.random() < 0.6 else ""
            ints = [name for name, type in source.columns if type == "int"]
            order = f"ORDER BY {key}{random.choice(['', ' DESC', ' NULLS FIRST'])}"
            if frame.startswith("RANGE") and ("1 " in frame or "2 " in frame):
                if not ints:
                    frame = ""
                else:
                    order = f"ORDER BY {random.choice(ints)}{random.choice(['', ' DESC'])}"
            elif not frame and random.random() < 0.4:
                order = join("ORDER BY ", self.expressions.keyed(source.columns)[1]).text()
            total = key in order
            kinds = {
                "rank()": "bigint", "dense_rank()": "bigint", "percent_rank()": "float8", "cume_dist()": "float8", "count(*)": "bigint",
                "sum(<int>)": "bigint", "max(<text>)": "text", "avg(<smallint>)": "numeric", "min(<date>)": "date", "sum(<numeric>)": "numeric", "bool_or(<bool>)": "bool",
            }  # fmt: skip
            if total:
                kinds |= {
                    "row_number()": "bigint", "lag(<int>)": "int", "lead(<text>, 2, 'none')": "text", "first_value(<int>)": "int", "last_value(<text>)": "text",
                    "nth_value(<date>, 2)": "date", "ntile(3)": "int", "array_agg(<int>)": "int[]", "string_agg(<text>, '+')": "text", "lag(<text>, 2)": "text",
                }  # fmt: skip
            template, type = random.choice(list(kinds.items()))
            before, slot, after = template, "", ""
            if "<" in template:
                before, rest = template.split("<")
                slot, after = rest.split(">")
            call = join(before, make(slot, scope, 1) if slot else "", after)
            name = self.name("c")
            window = join("(", partition, order, maybe(f" {frame}") if frame else "", ")")
            targets.append(join(call, " OVER ", window, f" AS {name}"))
            columns.append((name, type))
        return Query(join("SELECT ", listed(targets), " FROM ", source.node, where), columns)

    # Several queries in one.

    def _set(self) -> Query:
        random = self.random
        types = [random.choice(["int", "text", "bool", "date", "mood", "int[]"]) for _ in range(random.randint(1, 3))]
        left = self._select([], types=types)
        node = left.node
        for _ in range(random.randint(1, 2)):
            kind = random.choice(["UNION", "UNION ALL", "INTERSECT", "INTERSECT ALL", "EXCEPT", "EXCEPT ALL"])
            right = self._select([], types=types)
            if random.random() < 0.3:
                node = join("(", node, ")")
            node = joined(node, f" {kind} ", right.node)
        columns = left.columns
        return self._ended(node, columns, join(", ".join(str(at + 1) for at in range(len(types)))))

    def _recursive(self) -> Query:
        """A walk over numbers, texts and the rows of a table."""
        random = self.random
        source = self._table()
        union = random.choice(["UNION", "UNION ALL"])
        step = self.expressions.make("text", [("walk.p", "text"), *source.columns], 1)
        condition = maybe(" AND ", self.expressions.condition([("walk.n", "int"), *source.columns], 1))
        first = join("SELECT 1, left(", self.expressions.make("text", [], 1), ", 3)")
        order = ", ".join(source.key)
        again = join(
            "SELECT n + 1, left((", step, ') COLLATE "default", 3) FROM walk, LATERAL (SELECT * FROM ', source.node, f" ORDER BY {order} LIMIT 2) ",
            source.key[0].split(".")[0], " WHERE n < 4", condition,
        )  # fmt: skip
        extra, columns = join(), [("n", "int"), ("p", "text")]
        kind = random.random()
        if kind < 0.35:
            extra = maybe(
                f" SEARCH {random.choice(['DEPTH', 'BREADTH'])} FIRST BY {random.choice(['n', 'p', 'n, p'])} SET s"
            )
        elif kind < 0.7:
            mark = random.choice(["SET c", "SET c TO 'yes' DEFAULT 'no'"])
            extra = maybe(f" CYCLE {random.choice(['n', 'p', 'n, p'])} {mark} USING path")
        node = join("WITH RECURSIVE walk (n, p) AS (", first, f" {union} ", again, ")", extra, " SELECT * FROM walk")
        return Query(node, columns)
