"""Scripts that change the tables of a schema: each runs in a transaction of its own."""

from __future__ import annotations

from random import Random

from tests.differential.queries import Queries
from tests.differential.schema import Column, Schema, Table, value_for
from tests.differential.tree import Node, join, listed, maybe
from tests.differential.values import plain


class Changes:
    """Makes scripts of changes; a script is a list of statements."""

    def __init__(self, random: Random, schema: Schema, queries: Queries) -> None:
        self.random = random
        self.schema = schema
        self.queries = queries
        self.make = queries.expressions.make

    def script(self) -> list[Node]:
        """One to four statements."""
        random = self.random
        self.queries._names, self.queries._depth, self.queries._commons = 0, 0, []
        chance = random.random()
        if chance < 0.12:
            return self._savepoints()
        if chance < 0.22:
            return self._cursor()
        if chance < 0.27:
            return [join(f"TRUNCATE {self._target().name}{random.choice(['', ' CASCADE', ' RESTART IDENTITY'])}")]
        if chance < 0.33:
            return [self._in_common_table()]
        if chance < 0.41:
            return [self._copy()]
        if chance < 0.45 and any(table.deferrable for table in self.schema.tables):
            return [
                join("SET CONSTRAINTS ALL DEFERRED"),
                self._change(),
                self._change(),
                join("SET CONSTRAINTS ALL IMMEDIATE"),
            ]
        return [self._change()]

    def _change(self) -> Node:
        makers = [self._insert, self._insert, self._insert_query, self._update, self._update, self._delete, self._merge]
        return self.random.choice(makers)(self._target())

    def _target(self) -> Table:
        return self.random.choice([table for table in self.schema.tables if table.changes])

    def _scope(self, table: Table, alias: str) -> list[tuple[str, str]]:
        return [(f"{alias}.{column.name}", column.type) for column in table.columns]

    def _cell(self, column: Column) -> Node:
        random = self.random
        if column.name == "id":
            return plain(column.type, str(random.choice([1, 2, 3, 4, 5, 8, 9, 10, 11, 12, 20, 30, 40, 60, 99])))
        if column.name == "k2":
            return plain("text", random.choice("aaabbcd"))
        if column.has_default and random.random() < 0.3:
            return join("DEFAULT")
        if column.name == "p":
            return plain(column.type, str(random.choice([1, 2, 3, 4, 77])))
        return value_for(random, column)

    def _returning(self, scope: list[tuple[str, str]]) -> Node:
        random = self.random
        if random.random() < 0.5:
            return join()
        items = [join("*")] if random.random() < 0.3 else []
        items += [join(self.make(random.choice(scope)[1], scope, 1), f" AS {self.queries.name('z')}") for _ in range(2)]
        return maybe(" RETURNING ", listed(items))

    def _columns(self, table: Table) -> list[Column]:
        """The columns that an INSERT names."""
        return [
            column
            for column in table.columns
            if column.written
            and (column.name in table.key or (column.not_null and not column.has_default) or self.random.random() < 0.8)
        ]

    def _insert(self, table: Table) -> Node:
        random, columns = self.random, self._columns(table)
        rows = []
        for _ in range(random.choice([1, 1, 2, 3])):
            cells = [self._cell(column) for column in columns]
            rows.append(join("(", listed(cells, least=len(cells)), ")"))
        names = ", ".join(column.name for column in columns)
        node = join(f"INSERT INTO {table.name} AS n ({names}) VALUES ", listed(rows), self._conflict(table, columns))
        return join(node, self._returning(self._scope(table, "n")))

    def _conflict(self, table: Table, columns: list[Column]) -> Node:
        random, key = self.random, ", ".join(table.key)
        if table.is_view or len(table.key) > 2 or random.random() < 0.5:
            return join()
        target = random.choice([f"({key})", f"({key})", *self._arbiters(table)])
        where = join(target) if random.random() < 0.8 else join()
        if random.random() < 0.35:
            return maybe(" ON CONFLICT ", where, " DO NOTHING")
        sets = [column for column in columns if column.name not in table.key]
        if not sets:
            return join()
        column = random.choice(sets)
        scope = self._scope(table, "n") + self._scope(table, "excluded")
        value = join(f"excluded.{column.name}") if random.random() < 0.6 else self.make(column.type, scope, 1)
        condition = maybe(" WHERE ", self.queries.expressions.condition(scope, 1)) if random.random() < 0.3 else join()
        sets = join(f"{column.name} = ", value)
        if random.random() < 0.25:
            sets = self._assignments(table, scope) or sets
        return maybe(f" ON CONFLICT {target} DO UPDATE SET ", sets, condition)

    def _arbiters(self, table: Table) -> list[str]:
        """What else tells which rows are in one another's way: a constraint by its name, a unique index's columns."""
        constraints = [f"ON CONSTRAINT {table.name}_pkey"] if table.key_named else []
        return constraints + [f"({', '.join(columns)})" for columns in table.uniques]

    def _insert_query(self, table: Table) -> Node:
        """Rows of a query with keys of their own."""
        random = self.random
        columns = self._columns(table)
        source = self.queries._table()
        outputs = []
        for column in columns:
            if column.name == "id":
                shift = random.choice([20, 30, 100])
                order = ", ".join(source.key)
                outputs.append(join(f"{shift} + row_number() OVER (ORDER BY {order})"))
            elif column.name == "k2":
                outputs.append(join("'a'"))
            elif column.not_null or column.name == "p":
                outputs.append(value_for(random, Column("", column.type, not_null=column.not_null)))
            else:
                outputs.append(self.make(column.type, source.columns, 1))
        names = ", ".join(column.name for column in columns)
        where = maybe(" WHERE ", self.queries.expressions.condition(source.columns, 1))
        query = join("SELECT ", listed(outputs, least=len(outputs)), " FROM ", source.node, where)
        return join(f"INSERT INTO {table.name} ({names}) ", query, self._conflict(table, []))

    def _assignments(self, table: Table, scope: list[tuple[str, str]]) -> Node | None:
        random = self.random
        columns = [
            column for column in table.columns if column.written and column.name not in table.key and column.name != "p"
        ]
        if not columns:
            return None
        sets = []
        for column in random.sample(columns, min(len(columns), random.choice([1, 1, 2]))):
            chance = random.random()
            value = self.make(column.type, scope, 2)
            if column.not_null:
                value = join("coalesce(", value, ", ", value_for(random, column), ")")
            if column.type == "pair" and chance < 0.5:
                sets.append(join(f"{column.name}.a = ", self.make("int", scope, 1)))
            elif column.type == "int[]" and chance < 0.4 and not column.not_null:
                sets.append(join(f"{column.name}[2] = ", self.make("int", scope, 1)))
            elif column.type == "jsonb" and chance < 0.3 and not column.not_null:
                sets.append(join(f"{column.name} = jsonb_build_object('n', ", self.make("int", scope, 1), ")"))
            elif chance > 0.9 and column.has_default:
                sets.append(join(f"{column.name} = DEFAULT"))
            elif chance > 0.8:
                sets.append(join(f"({column.name}) = ROW(", value, ")"))
            elif chance > 0.7:
                sets.append(join(f"({column.name}) = (SELECT ", value, ")"))
            else:
                sets.append(join(f"{column.name} = ", value))
        return listed(sets)

    def _update(self, table: Table) -> Node:
        random = self.random
        scope = self._scope(table, "n")
        if len(table.key) == 1 and random.random() < 0.15:
            key = table.column(table.key[0])
            where = f" WHERE n.{key.name} = {random.choice([1, 2, 3, 4])}"
            return join(
                f"UPDATE {table.name} AS n SET {key.name} = {random.choice([2, 7, 55, 70])}{where}",
                self._returning(scope),
            )
        joined = join()
        link = ""
        if random.random() < 0.3:
            other = random.choice([other for other in self.schema.tables if not other.is_view])
            # One row of the other table for each of ours: more would leave open which of them is taken.
            if other.key == ["id"]:
                joined = join(f" FROM {other.name} AS o")
                scope = scope + self._scope(other, "o")
                link = "o.id = n.id AND "
        sets = self._assignments(table, scope)
        if sets is None:
            return self._delete(table)
        condition = join(f" WHERE {link}", self.queries.expressions.condition(scope, 1))
        if not link:
            condition.optional = True
        return join(f"UPDATE {table.name} AS n SET ", sets, joined, condition, self._returning(scope))

    def _delete(self, table: Table) -> Node:
        random = self.random
        scope = self._scope(table, "n")
        using = join()
        link = join()
        if random.random() < 0.3:
            other = random.choice(self.schema.tables)
            using = join(f" USING {other.name} AS o")
            link = join("n.id = ", self.make("int", self._scope(other, "o"), 0), " AND ")
        few = (
            join(f"n.id = {random.randint(1, 9)}")
            if random.random() < 0.6
            else self.queries.expressions.condition(scope, 1)
        )
        returning = join() if link.parts else self._returning(scope)
        return join(f"DELETE FROM {table.name} AS n", using, " WHERE ", link, few, returning)

    def _merge(self, table: Table) -> Node:
        random = self.random
        others = [other for other in self.schema.tables if other.key == ["id"]]
        if table.is_view or not others or table.key != ["id"]:
            return self._update(table)
        other = random.choice(others)
        scope, theirs = self._scope(table, "n"), self._scope(other, "o")
        sets = self._assignments(table, scope + theirs)
        arms = []
        if random.random() < 0.4:
            arms.append(
                maybe(" WHEN MATCHED AND ", self.queries.expressions.condition(scope + theirs, 1), " THEN DELETE")
            )
        if sets is not None and random.random() < 0.8:
            arms.append(join(" WHEN MATCHED THEN UPDATE SET ", sets))
        else:
            arms.append(join(" WHEN MATCHED THEN DO NOTHING"))
        if random.random() < 0.7:
            columns = self._columns(table)
            cells = [join("o.id + 10") if column.name == "id" else self._cell(column) for column in columns]
            names = ", ".join(column.name for column in columns)
            values = listed(cells, least=len(cells))
            arms.append(maybe(f" WHEN NOT MATCHED THEN INSERT ({names}) VALUES (", values, ")"))
        shift = random.choice(["", " + 1", " - 2"])
        source = f"{other.name} AS o"
        if random.random() < 0.3:
            names = ", ".join(column.name for column in other.columns)
            source = f"(SELECT {names} FROM {other.name} WHERE id < 5 ORDER BY id LIMIT 3) AS o"
        return join(f"MERGE INTO {table.name} AS n USING {source} ON n.id = o.id{shift}", listed(arms, ""))

    def _in_common_table(self) -> Node:
        """A change in WITH, and a query that reads what it returns."""
        table = self._target()
        change = self.random.choice([self._insert, self._update, self._delete])(table)
        while "RETURNING" not in str(change):
            change = join(change, " RETURNING *")
        with_change = join("WITH d AS (", change, ")")
        others = [other for other in self.schema.tables if other.changes and other.key == ["id"] and other is not table]
        if others and self.random.random() < 0.5:
            # A second change, of another table, that reads what the first one returns.
            other = self.random.choice(others)
            few = self.random.choice(
                ["(SELECT count(*) FROM d)", "(SELECT min(id) FROM d)", "1 + (SELECT max(id) FROM d)"]
            )
            again = self.random.choice(
                [
                    join(f", e AS (DELETE FROM {other.name} WHERE id = {few} RETURNING *) SELECT count(*) FROM e, d"),
                    join(f" DELETE FROM {other.name} AS n WHERE n.id IN (SELECT id FROM d) RETURNING n.*"),
                    join(f", e AS (SELECT * FROM {other.name} WHERE id > {few}) SELECT count(*), max(e.id) FROM e"),
                ]
            )
            return join(with_change, again)
        return join(with_change, f" SELECT *, (SELECT count(*) FROM {table.name}) FROM d")

    def _copy(self) -> Node:
        """COPY out of a table, or of rows into it."""
        random = self.random
        table = random.choice([table for table in self.schema.tables if table.changes and not table.is_view])
        csv = random.random() < 0.4
        if random.random() < 0.4:
            source = table.name if not table.partitioned and random.random() < 0.6 else f"(SELECT * FROM {table.name})"
            return join(f"COPY {source} TO STDOUT", " WITH (FORMAT csv, HEADER)" if csv else "")
        columns = self._columns(table)
        lines = []
        for _ in range(random.choice([1, 2, 3])):
            cells = [self._cell(column) for column in columns]
            texts = [
                _field(str(cell.value), csv) if cell.value is not None else ("" if csv else "\\N") for cell in cells
            ]
            lines.append(join(("," if csv else "\t").join(texts)))
        names = ", ".join(column.name for column in columns)
        where = f" WHERE id <> {random.choice([1, 5, 10])}" if random.random() < 0.2 else ""
        format = " WITH (FORMAT csv)" if csv else ""
        return join(f"COPY {table.name} ({names}) FROM STDIN{format}{where}\n", listed(lines, "\n"), "\n")

    def _savepoints(self) -> list[Node]:
        random = self.random
        script = [join("SAVEPOINT one"), self._change()]
        if random.random() < 0.5:
            script += [join("SAVEPOINT two"), self._change(), join("RELEASE two")]
        end = random.choice(["ROLLBACK TO one", "RELEASE one", "ROLLBACK TO one"])
        return [*script, join(end), self._change()]

    def _cursor(self) -> list[Node]:
        random = self.random
        table = random.choice([table for table in self.schema.tables if table.changes and not table.is_view])
        order = ", ".join(table.key)
        lock = " FOR UPDATE" if random.random() < 0.5 and not table.partitioned else ""
        scroll = random.choice(["", " SCROLL", " NO SCROLL"]) if not lock else ""
        script = [join(f"DECLARE cur{scroll} CURSOR FOR SELECT * FROM {table.name} ORDER BY {order}{lock}")]
        if lock:
            script.append(join(f"FETCH {random.randint(1, 2)} FROM cur"))
            sets = self._assignments(table, self._scope(table, "n"))
            if sets is not None and random.random() < 0.6:
                script.append(join(f"UPDATE {table.name} AS n SET ", sets, " WHERE CURRENT OF cur RETURNING *"))
            else:
                script.append(join(f"DELETE FROM {table.name} WHERE CURRENT OF cur"))
            return [*script, join("FETCH cur"), join("CLOSE cur")]
        moves = [
            "FETCH 2",
            "FETCH FORWARD ALL",
            "FETCH FIRST",
            "FETCH LAST",
            "FETCH PRIOR",
            "FETCH ABSOLUTE 3",
            "FETCH RELATIVE -1",
        ]
        moves += ["MOVE 2", "FETCH 0", "MOVE FORWARD ALL", "FETCH BACKWARD 2", "FETCH ABSOLUTE -1"]
        if scroll != " SCROLL":
            moves = ["FETCH 2", "FETCH FORWARD ALL", "MOVE 2", "FETCH NEXT", "FETCH ALL"]
        return [
            *script,
            *[join(f"{move} FROM cur") for move in random.sample(moves, random.randint(1, 4))],
            join("CLOSE cur"),
        ]


def _field(text: str, csv: bool) -> str:
    """A value in a line that COPY reads."""
    if csv:
        return '"' + text.replace('"', '""') + '"'
    return text.replace("\\", "\\\\")
