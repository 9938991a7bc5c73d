# ruff: noqa: E501 - templates of statements
"""Statements that change rows, each of which leaves open nothing that MySQL does not decide."""

from __future__ import annotations

from random import Random

from tests.differential.mysql.queries import Queries
from tests.differential.mysql.schema import Column, Schema, Table, value_for
from tests.differential.tree import Node, join, listed, maybe


class Changes:
    """Makes scripts of changes over the tables of a schema."""

    def __init__(self, random: Random, schema: Schema, queries: Queries) -> None:
        self.random = random
        self.schema = schema
        self.queries = queries
        self.make = queries.expressions.make

    def script(self) -> list[Node]:
        """Statements of one transaction."""
        count = self.random.choice([1, 1, 2, 3])
        if self.random.random() < 0.1:
            return [join("SAVEPOINT one"), self._change(), join("ROLLBACK TO one"), self._change()]
        return [self._change() for _ in range(count)]

    def _change(self) -> Node:
        random = self.random
        self.queries._names, self.queries._depth, self.queries._commons = 0, 0, []
        table = random.choice([table for table in self.schema.tables if not table.is_view])
        maker = random.choice([self._insert, self._insert, self._insert, self._select, self._update, self._update, self._delete, self._several])  # fmt: skip
        return maker(table)

    def _columns(self, table: Table) -> list[Column]:
        written = [column for column in table.columns if column.written]
        needed = [
            column for column in written if column.name in table.key or (column.not_null and not column.has_default)
        ]
        return [column for column in written if column in needed or self.random.random() < 0.7]

    def _number(self) -> str:
        return self.random.choice(["1", "2", "3", "9", "20", "21", "22", "23"])

    def _cell(self, column: Column) -> Node:
        """A value for a column, mostly one that it keeps."""
        random = self.random
        chance = random.random()
        if column.name in ("id", "k2"):
            return join(value_for(random, column, self._number()))
        if chance < 0.6:
            return join(value_for(random, column, ""))
        if chance < 0.7 and (column.has_default or not column.not_null):
            return join("DEFAULT")
        return self.make(column.family if random.random() < 0.7 else "plain", [], random.choice([0, 0, 1]))

    def _insert(self, table: Table) -> Node:
        random = self.random
        columns = self._columns(table)
        # A row always says its number: which are used up by statements that fail is InnoDB's own.
        rows = [
            join("(", listed([self._cell(column) for column in columns], least=len(columns)), ")")
            for _ in range(random.choice([1, 1, 2, 3]))
        ]
        names = ", ".join(column.name for column in columns)
        word = random.choice(["INSERT INTO", "INSERT INTO", "INSERT IGNORE INTO", "REPLACE INTO"])
        tail = self._duplicate(table) if word == "INSERT INTO" and random.random() < 0.5 else join()
        if word == "INSERT INTO" and len(rows) == 1 and columns and random.random() < 0.1:
            sets = [join(f"{column.name} = ", self._cell(column)) for column in columns]
            return join(f"INSERT INTO {table.name} SET ", listed(sets, least=len(sets)))
        return join(f"{word} {table.name} ({names}) VALUES ", listed(rows), tail)

    def _duplicate(self, table: Table) -> Node:
        random = self.random
        columns = [column for column in table.columns if column.written and column.name not in table.key]
        sets = []
        for column in random.sample(columns, min(len(columns), random.choice([1, 2]))):
            chance = random.random()
            if chance < 0.4:
                sets.append(join(f"{column.name} = VALUES({column.name})"))
            elif chance < 0.5 and column.family in ("int", "uint"):
                sets.append(join(f"{column.name} = {column.name} % 5 + 1"))
            else:
                sets.append(join(f"{column.name} = {value_for(random, column, '')}"))
        return maybe(" ON DUPLICATE KEY UPDATE ", listed(sets))

    def _select(self, table: Table) -> Node:
        """Rows of a query with numbers of their own."""
        random = self.random
        columns = self._columns(table)
        source = self.queries._table()
        while not source.key:
            source = self.queries._table()
        outputs = []
        for column in columns:
            if column.name == "id":
                outputs.append(
                    join(f"{random.choice([20, 30, 100])} + ROW_NUMBER() OVER (ORDER BY {', '.join(source.key)})")
                )
            elif column.name == "k2":
                outputs.append(join("'a'"))
            elif random.random() < 0.5:
                outputs.append(join(value_for(random, column, "")))
            else:
                outputs.append(self.make(column.family, source.columns, random.choice([0, 1])))
        names = ", ".join(column.name for column in columns)
        word = random.choice(["INSERT INTO", "INSERT INTO", "INSERT IGNORE INTO", "REPLACE INTO"])
        where = maybe(" WHERE ", self.queries.expressions.condition(source.columns, 1))
        # In this order rows come, and the first that fails is the one that is told.
        order = f" ORDER BY {', '.join(source.key)}"
        return join(
            f"{word} {table.name} ({names}) SELECT ", listed(outputs, least=len(outputs)), " FROM ", source.node, where, order
        )  # fmt: skip

    def _sets(self, table: Table, alias: str) -> list[Node]:
        random = self.random
        columns = [column for column in table.columns if column.written and column.name not in table.key]
        sets = []
        prefix = f"{alias}." if alias else ""
        for column in random.sample(columns, min(len(columns), random.choice([1, 1, 2]))):
            chance = random.random()
            if chance < 0.45:
                value: Node = join(value_for(random, column, ""))
            elif chance < 0.55 and (column.has_default or not column.not_null):
                value = join("DEFAULT")
            else:
                value = self.make(column.family, table.seen(alias), random.choice([0, 1, 1, 2]))
            sets.append(join(f"{prefix}{column.name} = ", value))
        return sets

    def _update(self, table: Table) -> Node:
        random = self.random
        where = maybe(" WHERE ", self._condition(table, ""))
        order = ", ".join(f"{name}{random.choice(['', ' DESC'])}" for name in table.key)
        tail = maybe(f" ORDER BY {order}", random.choice(["", " LIMIT 1", " LIMIT 2"]))
        ignore = " IGNORE" if random.random() < 0.2 else ""
        if random.random() < 0.15 and len(table.key) == 1:
            shift = random.choice(["id + 1", "id + 100", "id * 2"])
            return join(f"UPDATE{ignore} {table.name} SET id = {shift}", where, " ORDER BY id DESC")
        return join(f"UPDATE{ignore} {table.name} SET ", listed(self._sets(table, "")), where, tail)

    def _condition(self, table: Table, alias: str) -> Node:
        random = self.random
        prefix = f"{alias}." if alias else ""
        if random.random() < 0.4:
            return join(f"{prefix}id {random.choice(['=', '<', '>='])} {random.randint(1, 5)}")
        # What reads the table that is changed is error 1093, whatever else it is.
        subquery, self.queries.expressions.subquery = self.queries.expressions.subquery, lambda family, scope: None
        made = self.queries.expressions.condition(table.seen(alias), 1)
        self.queries.expressions.subquery = subquery
        return made

    def _delete(self, table: Table) -> Node:
        random = self.random
        order = ", ".join(f"{name}{random.choice(['', ' DESC'])}" for name in table.key)
        limit = f" LIMIT {random.choice([1, 2])}"
        return join(f"DELETE FROM {table.name} WHERE ", self._condition(table, ""), maybe(f" ORDER BY {order}{limit}"))

    def _several(self, table: Table) -> Node:
        random = self.random
        others = [other for other in self.schema.tables if other is not table and other.key == ["id"]]
        if not others:
            return self._update(table)
        other = random.choice(others)
        kind = random.choice(["JOIN", "LEFT JOIN"])
        joined = f"{table.name} AS n {kind} {other.name} AS o ON n.id = o.id"
        where = maybe(" WHERE ", self._condition(table, "n"))
        if random.random() < 0.5:
            targets = random.choice(["n", "n", "n, o"]) if not other.is_view else "n"
            return join(f"DELETE {targets} FROM {joined}", where)
        sets = self._sets(table, "n")
        if not other.is_view and random.random() < 0.3:
            sets += self._sets(other, "o")
        return join(f"UPDATE {joined} SET ", listed(sets), where)
