# ruff: noqa: E501 - templates of statements
"""Queries over a schema: joins, groups, windows, sets, recursion, subqueries anywhere."""

from __future__ import annotations

import dataclasses
from random import Random

from tests.differential.mysql.expressions import Expressions, Scope, Seen
from tests.differential.mysql.schema import Schema
from tests.differential.mysql.values import constant
from tests.differential.tree import Node, expression, join, joined, listed, maybe


@dataclasses.dataclass
class Source:
    """What stands in FROM: its text, its columns, and those that tell its rows apart (none: nothing does)."""

    node: Node
    columns: Scope
    key: list[str]


@dataclasses.dataclass
class Query:
    """A query, its columns, and whether it says the order of its rows entirely."""

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
        self._commons: list[tuple[str, Scope]] = []

    def name(self, prefix: str) -> str:
        """A name not used before."""
        self._names += 1
        return f"{prefix}{self._names}"

    def query(self) -> Query:
        """A whole statement."""
        random, chance = self.random, self.random.random()
        self._names, self._depth, self._commons = 0, 0, []
        if chance < 0.3:
            return self._row()
        if chance < 0.36:
            return self._recursive()
        commons = []
        for _ in range(random.choice([0, 0, 0, 0, 1, 2])):
            made, name = self._select([]), self.name("w")
            columns = [Seen(f"{name}_{at}", column.family, column.exact) for at, column in enumerate(made.columns)]
            commons.append(join(f"{name} ({', '.join(column.name for column in columns)}) AS (", made.node, ")"))
            self._commons.append((name, columns))
        made = self._set() if chance < 0.48 else self._select([], top=True)
        if commons:
            made.node = join(maybe("WITH ", listed(commons), " "), made.node)
        return made

    def _row(self) -> Query:
        """One or two expressions over a table's rows, or none."""
        random = self.random
        source = self._table() if random.random() < 0.8 else None
        scope = source.columns if source else []
        outputs, columns = [], []
        for _ in range(random.choice([1, 1, 2])):
            family, made = self.expressions.whatever(scope, random.choice([1, 2, 2, 3]))
            alias = "" if random.random() < 0.3 else f" AS {self.name('c')}"
            outputs.append(join(made, alias))
            columns.append(Seen("", family))
        if source is None:
            return Query(join("SELECT ", listed(outputs)), columns, True)
        order = ", ".join(source.key)
        where = maybe(" WHERE ", self.expressions.condition(scope, 2)) if random.random() < 0.4 else join()
        return Query(
            join("SELECT ", listed(outputs), " FROM ", source.node, where, f" ORDER BY {order}" if order else ""),
            columns,
            bool(order),
        )

    def _subquery(self, family: str, scope: Scope) -> Node | None:
        """An expression that reads a query, correlated with `scope`."""
        random = self.random
        if self._depth >= 2:
            return None
        self._depth += 1
        try:
            source = self._table()
            seen = source.columns + scope
            where = maybe(" WHERE ", self.expressions.condition(seen, 1))
            if family == "bool":
                of = random.choice(["int", "str", "date", "dec", "uint", "datetime"])
                inner = join("SELECT ", self.expressions.make(of, seen, 1), " FROM ", source.node, where)
                if random.random() < 0.4:
                    return expression("bool", random.choice(["", "NOT "]), "EXISTS (", inner, ")")
                operator = random.choice(["IN", "NOT IN", "= ANY", "> ALL", "<> ALL", "< ANY"])
                left = self.expressions.make("plain" if random.random() < 0.1 else of, scope, 1)
                return expression("bool", "(", left, f" {operator} (", inner, "))")
            if random.random() < 0.5 or family in ("json", "bin", "str", "enum", "set", "bit", "real"):
                if not source.key:
                    return None
                value = self.expressions.make(family, seen, 1)
                order = ", ".join(source.key)
                return expression(
                    family, "(SELECT ", value, " FROM ", source.node, where, f" ORDER BY {order} LIMIT 1)"
                )
            made = self._aggregate_of(family, seen)
            if any(column.name in str(made) for column in scope) and not any(
                column.name in str(made) for column in source.columns
            ):
                # An aggregate of the outer query's columns alone is the outer query's.
                return None
            return expression(family, "(SELECT ", made, " FROM ", source.node, where, ")")
        finally:
            self._depth -= 1

    def _aggregate_of(self, family: str, scope: Scope) -> Node:
        random, make = self.random, self.expressions.make
        if family == "int" and random.random() < 0.4:
            return join("COUNT(", random.choice(["", "DISTINCT "]), make("any", scope, 1), ")")
        if family == "dec":
            return join(random.choice(["SUM(", "AVG(", "MAX(", "SUM(DISTINCT "]), make("int", scope, 1), ")")
        if family == "uint":
            return join(random.choice(["BIT_OR(", "BIT_XOR(", "BIT_AND(", "MAX("]), make("uint", scope, 1), ")")
        return join(random.choice(["MIN(", "MAX("]), make(family, scope, 1), ")")

    # What stands in FROM.

    def _table(self) -> Source:
        random, alias = self.random, self.name("r")
        if self._commons and random.random() < 0.35:
            name, columns = random.choice(self._commons)
            return Source(join(f"{name} {alias}"), [Seen(f"{alias}.{c.name}", c.family, c.exact) for c in columns], [])
        table = random.choice(self.schema.tables)
        return Source(join(f"{table.name} AS {alias}"), table.seen(alias), [f"{alias}.{name}" for name in table.key])

    def _derived(self, scope: Scope) -> Source:
        alias, random = self.name("d"), self.random
        lateral = bool(scope) and random.random() < 0.6
        self._depth += 1
        made = self._select(scope if lateral else [])
        self._depth -= 1
        names = [f"{alias}_{at}" for at in range(len(made.columns))]
        columns = [
            Seen(f"{alias}.{name}", column.family, column.exact)
            for name, column in zip(names, made.columns, strict=True)
        ]
        word = "LATERAL " if lateral else ""
        return Source(join(f"{word}(", made.node, f") AS {alias} ({', '.join(names)})"), columns, [])

    def _from(self, scope: Scope) -> Source:
        random = self.random
        source = self._table() if random.random() < 0.8 or self._depth > 1 else self._derived([])
        for _ in range(random.choice([0, 0, 0, 1, 1, 2]) if self._depth < 2 else 0):
            chance = random.random()
            if chance < 0.2:
                other = self._derived(source.columns)
                source = Source(
                    join(source.node, random.choice([" CROSS JOIN ", ", ", " LEFT JOIN "]), other.node),
                    source.columns + other.columns,
                    source.key and other.key and source.key + other.key,
                )
                if "LEFT JOIN" in str(source.node.parts[1]):
                    source.node = join(source.node, " ON ", self.expressions.condition(source.columns, 1))
                continue
            other = self._table()
            columns = source.columns + other.columns
            key = source.key + other.key if source.key and other.key else []
            first = next((column.name for column in source.columns if column.name.endswith(".id")), None)
            second = next((column.name for column in other.columns if column.name.endswith(".id")), None)
            kind = random.choice([" JOIN ", " LEFT JOIN ", " RIGHT JOIN ", " STRAIGHT_JOIN ", " INNER JOIN "])
            if first and second and random.random() < 0.5:
                condition: Node = join(f"{first} = {second}")
            else:
                condition = self.expressions.condition(columns, 1)
            source = Source(joined(source.node, kind, other.node, " ON ", condition), columns, key)
        return source

    # SELECT.

    def _select(self, scope: Scope, *, top: bool = False) -> Query:
        made = self._selected(scope, top=top)
        if not top:
            # Its columns are named where it is read: none may go.
            made.node.parts[1].least = len(made.columns)  # type: ignore[union-attr]
        return made

    def _selected(self, scope: Scope, *, top: bool) -> Query:
        random, chance = self.random, self.random.random()
        source = self._from(scope)
        seen = source.columns + scope
        where = maybe(" WHERE ", self.expressions.condition(seen, 2)) if random.random() < 0.6 else join()
        if chance < 0.3:
            return self._grouped(source, seen, where)
        if chance < 0.5 and source.key:
            return self._windowed(source, seen, where)
        if chance < 0.6:
            return self._distinct(source, seen, where)
        if top and random.random() < 0.1:
            return Query(join("SELECT * FROM ", source.node, where), source.columns)
        outputs, columns = [], []
        for _ in range(random.randint(1, 4)):
            family, made = self.expressions.whatever(seen, random.choice([0, 1, 2]))
            outputs.append(join(made, f" AS {self.name('c')}"))
            # Texts of a derived table may be of any collation.
            columns.append(Seen("", family, family not in ("str", "json", "bin")))
        node = join("SELECT ", listed(outputs), " FROM ", source.node, where)
        if source.key and random.random() < 0.6:
            order = ", ".join(f"{name}{random.choice(['', ' DESC'])}" for name in source.key)
            before = ""
            exact = [column for column in source.columns if column.exact and column.family != "json"]
            if exact and random.random() < 0.6:
                before = f"{random.choice(exact).name}{random.choice(['', ' DESC'])}, "
            limit = random.choice(["", "", " LIMIT 3", " LIMIT 1, 2", " LIMIT 2 OFFSET 1", " LIMIT 0"])
            return Query(join(*node.parts, maybe(f" ORDER BY {before}{order}{limit}")), columns, True)
        return Query(node, columns)

    def _key(self, scope: Scope) -> tuple[Seen, Node]:
        """Something to group, order or tell apart by."""
        random = self.random
        usable = [column for column in scope if column.family != "json"]
        if usable and random.random() < 0.7:
            column = random.choice(usable)
            return column, Node([column.name], type=column.family)
        family = random.choice(["int", "dec", "date", "bool", "uint", "datetime", "time"])
        subquery, self.expressions.subquery = self.expressions.subquery, lambda family, scope: None
        made = self.expressions.make(family, scope, 1)
        self.expressions.subquery = subquery
        if not any(column.name in str(made) for column in scope) and usable:
            # A number would be a column's, in GROUP BY and ORDER BY.
            column = random.choice(usable)
            return column, Node([column.name], type=column.family)
        return Seen("", family), made

    def _distinct(self, source: Source, seen: Scope, where: Node) -> Query:
        keys = [self._key(source.columns) for _ in range(self.random.randint(1, 3))]
        # Of texts that are equal and do not look alike any may be shown.
        exact = [(column, node) for column, node in keys if column.exact]
        if not exact:
            exact = [(Seen("", "int"), expression("int", "LENGTH(", keys[0][1], ")"))]
        outputs = [join(node, f" AS {self.name('c')}") for _, node in exact]
        columns = [Seen("", column.family, column.exact) for column, _ in exact]
        return Query(join("SELECT DISTINCT ", listed(outputs), " FROM ", source.node, where), columns)

    def _aggregate(self, seen: Scope, source: Source) -> tuple[str, Node]:
        random, make = self.random, self.expressions.make
        chance = random.random()
        if chance < 0.12:
            return "int", join("COUNT(*)")
        if chance < 0.22:
            return "int", join(
                "COUNT(DISTINCT ", listed([make("any", seen, 0) for _ in range(random.choice([1, 2]))]), ")"
            )
        if chance < 0.3:
            return "int", join("COUNT(", make("any", seen, 1), ")")
        if chance < 0.45:
            family = random.choice(["int", "uint", "dec", "year", "bit", "bool", "time"])
            name = random.choice(["SUM(", "AVG(", "SUM(DISTINCT ", "MIN(", "MAX(", "AVG(DISTINCT "])
            return ("dec" if name[0] != "M" else family), join(name, make(family, seen, 1), ")")
        if chance < 0.65:
            family = random.choice(["int", "uint", "dec", "real", "date", "time", "datetime", "year", "bit"])
            return family, join(random.choice(["MIN(", "MAX("]), make(family, seen, 1), ")")
        if chance < 0.72:
            return "uint", join(random.choice(["BIT_AND(", "BIT_OR(", "BIT_XOR("]), make("num", seen, 1), ")")
        if chance < 0.78 and source.key:
            order = ", ".join(source.key)
            distinct = join(make("any", seen, 1), f" ORDER BY {order} SEPARATOR '|'")
            return "str", join("GROUP_CONCAT(", distinct, ")")
        if chance < 0.85:
            family = random.choice(["int", "dec", "date", "bool"])
            value = str(make(family, seen, 0))
            if value.isdigit():
                # That would be a column's number.
                value = f"({value} + 0)"
            return "str", join(f"GROUP_CONCAT(DISTINCT {value} ORDER BY {value}{random.choice(['', ' DESC'])})")
        if chance < 0.9:
            return "real", join(
                random.choice(["STD(", "VAR_POP(", "VAR_SAMP(", "STDDEV_SAMP("]), make("int", seen, 0), " % 10)"
            )
        texts = [column for column in seen if column.family == "str" and column.exact]
        if texts:
            return "str", join(f"{random.choice(['MIN', 'MAX'])}({random.choice(texts).name})")
        return "int", join("MAX(LENGTH(", make("str", seen, 1), "))")

    def _grouped(self, source: Source, seen: Scope, where: Node) -> Query:
        random = self.random
        keys = [self._key(source.columns) for _ in range(random.choice([0, 1, 1, 2]))]
        outputs: list[Node] = []
        columns: list[Seen] = []
        for column, node in keys:
            if column.exact:
                outputs.append(join(str(node), f" AS {self.name('c')}"))
                columns.append(Seen("", column.family, column.exact))
        for _ in range(random.randint(1, 3)):
            # Of its own rows: one of the columns around it alone is theirs, which FROM has no place for.
            family, node = self._aggregate(source.columns, source)
            outputs.append(join(node, f" AS {self.name('c')}"))
            columns.append(Seen("", family, family not in ("str", "json")))
        rollup = join()
        plain = all(len(node.parts) == 1 and column.name for column, node in keys)
        if keys and plain and random.random() < 0.25:
            rollup = maybe(" WITH ROLLUP")
        by = join(" GROUP BY ", ", ".join(str(node) for _, node in keys)) if keys else join()
        having = join()
        if random.random() < 0.25:
            compared = random.choice(["> 1", "<= 2", "IS NULL", "<> 0"])
            having = maybe(" HAVING ", self._aggregate(source.columns, source)[1], f" {compared}")
        return Query(join("SELECT ", listed(outputs), " FROM ", source.node, where, by, rollup, having), columns)

    def _windowed(self, source: Source, seen: Scope, where: Node) -> Query:
        random = self.random
        outputs, columns = [], []
        for _ in range(random.randint(1, 3)):
            family, node = self._window(seen, source)
            outputs.append(join(node, f" AS {self.name('c')}"))
            columns.append(Seen("", family, family not in ("str", "json")))
        outputs.append(join(", ".join(f"{name} AS {self.name('k')}" for name in source.key)))
        columns += [Seen("", "int") for _ in source.key]
        order = ", ".join(source.key)
        return Query(
            join("SELECT ", listed(outputs, least=1), " FROM ", source.node, where, f" ORDER BY {order}"),
            columns,
            True,
        )

    def _window(self, seen: Scope, source: Source) -> tuple[str, Node]:
        random, make = self.random, self.expressions.make
        partition = join()
        if random.random() < 0.5:
            partition = maybe("PARTITION BY ", self._key(source.columns)[1], " ")
        whole = ", ".join(f"{name}{random.choice(['', '', ' DESC'])}" for name in source.key)
        chance = random.random()
        family = random.choice(["int", "uint", "dec", "date", "str", "datetime", "time", "enum", "real", "json"])
        if chance < 0.2:
            name = random.choice(
                ["ROW_NUMBER()", "RANK()", "DENSE_RANK()", "PERCENT_RANK()", "CUME_DIST()", "NTILE(3)"]
            )
            by = whole if "ROW" in name or "NTILE" in name else str(self._key(source.columns)[1])
            return ("real" if "E_" in name and "K()" in name else "int"), join(
                f"{name} OVER (", partition, f"ORDER BY {by})"
            )
        if chance < 0.45:
            name = random.choice(["LAG", "LEAD"])
            rest = random.choice(["", ", 1", ", 2", ", 0"])
            default = join(", ", make(family, seen, 0)) if rest and random.random() < 0.5 else join()
            return family, join(
                f"{name}(", make(family, seen, 1), rest, default, ") OVER (", partition, f"ORDER BY {whole})"
            )
        frame = random.choice([
            "", "", " ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING", " ROWS UNBOUNDED PRECEDING", " ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING",
            " ROWS BETWEEN 2 PRECEDING AND 1 PRECEDING", " ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING", " RANGE BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING",
        ])  # fmt: skip
        if chance < 0.6:
            name = random.choice(["FIRST_VALUE(", "LAST_VALUE(", "NTH_VALUE("])
            second = ", 2" if name[0] == "N" else ""
            return family, join(
                name, make(family, seen, 1), f"{second}) OVER (", partition, f"ORDER BY {whole}{frame})"
            )
        if chance < 0.72:
            # A frame by values needs one number or moment to order by. Integers beside the ends of their types are error 1690
            # to MySQL, which works the bounds out as it does all arithmetic.
            numbers = [column for column in source.columns if column.family == "dec" or column.name.endswith(".id")]
            numbers = [column for column in numbers if column.family != "uint"]
            days = [column for column in source.columns if column.family in ("date", "datetime")]
            if numbers and (not days or random.random() < 0.6):
                by, width = random.choice(numbers).name, random.choice(["1", "10", "1.5"])
            elif days:
                by, width = random.choice(days).name, random.choice(["INTERVAL 1 DAY", "INTERVAL 1 YEAR"])
            else:
                by, width = "", ""
            if by:
                bounds = random.choice([
                    f"{width} PRECEDING", f"BETWEEN {width} PRECEDING AND {width} FOLLOWING", f"BETWEEN CURRENT ROW AND {width} FOLLOWING",
                ])  # fmt: skip
                return "int", join("COUNT(*) OVER (", partition, f"ORDER BY {by} RANGE {bounds})")
        name = random.choice(["SUM(", "AVG(", "COUNT(", "MIN(", "MAX(", "BIT_OR("])
        of = random.choice(["int", "dec", "uint"]) if name[0] in "SA" else random.choice(["int", "dec", "date", "uint"])
        if name == "BIT_OR(":
            of = "int"
        order = join(f"ORDER BY {whole}{frame}") if random.random() < 0.8 else join()
        return ("dec" if name[0] in "SA" else "int" if name[0] in "CB" else of), join(
            name, make(of, seen, 1), ") OVER (", partition, order, ")"
        )

    def _set(self) -> Query:
        random = self.random
        count = random.randint(1, 3)
        families = [random.choice(["int", "uint", "dec", "date", "datetime", "time", "real"]) for _ in range(count)]
        arms: list[Node] = []
        for number in range(random.choice([2, 2, 3])):
            source = self._table()
            outputs = []
            for at, family in enumerate(families):
                # Texts are told apart by their collation: what is shown of equal ones is open, so they stand in UNION ALL.
                made = self.expressions.make("plain" if random.random() < 0.15 else family, source.columns, 1)
                outputs.append(join(made, f" AS u{at}" if number == 0 else ""))
            where = maybe(" WHERE ", self.expressions.condition(source.columns, 1)) if random.random() < 0.4 else join()
            arm = join("SELECT ", listed(outputs, least=count), " FROM ", source.node, where)
            if number:
                arms.append(
                    join(random.choice([" UNION ALL ", " UNION ALL ", " UNION ", " INTERSECT ", " EXCEPT "]), arm)
                )
            else:
                arms.append(arm)
        return Query(listed(arms, " ", 2), [Seen(f"u{at}", family) for at, family in enumerate(families)])

    def _recursive(self) -> Query:
        random = self.random
        kind = random.choice(["number", "text", "tree", "dates"])
        if kind == "number":
            step = random.choice(["n + 1", "n * 2", "n + 0.5"])
            node = join(
                f"WITH RECURSIVE w (n) AS (SELECT {random.choice(['1', '1.0', '2'])} UNION ALL SELECT {step} FROM w WHERE n < {random.choice([5, 9])}) SELECT n, ",
                self.expressions.make("plain", [Seen("n", "int")], 2),
                " AS c FROM w ORDER BY n",
            )
            return Query(node, [], True)
        if kind == "text":
            node = join(
                "WITH RECURSIVE w (n, s) AS (SELECT 1, CAST('a' AS CHAR(20)) UNION ALL SELECT n + 1, ",
                random.choice(["CONCAT(s, 'b')", "CONCAT(s, n)", "UPPER(CONCAT(s, 'x'))"]),
                " FROM w WHERE n < 6) SELECT n, s FROM w ORDER BY n",
            )
            return Query(node, [], True)
        if kind == "dates":
            unit = random.choice(["DAY", "MONTH", "WEEK", "HOUR"])
            node = join(
                f"WITH RECURSIVE w (n, d) AS (SELECT 1, {constant(random, 'date')} UNION ALL SELECT n + 1, d + INTERVAL 1 {unit} FROM w WHERE n < 5) SELECT n, d, ",
                self.expressions.make("int", [Seen("d", "date"), Seen("n", "int")], 1),
                " AS c FROM w ORDER BY n",
            )
            return Query(node, [], True)
        table = random.choice(self.schema.tables)
        node = join(
            f"WITH RECURSIVE w AS (SELECT r.id AS id, 0 AS depth FROM {table.name} r WHERE r.id = 1 UNION {random.choice(['ALL', 'DISTINCT'])} "
            f"SELECT r.id, depth + 1 FROM {table.name} r JOIN w ON r.id = w.id + 1) SELECT id, depth FROM w ORDER BY id, depth"
        )
        return Query(node, [], len(table.key) == 1)
