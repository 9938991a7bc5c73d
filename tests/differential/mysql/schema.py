"""A generated schema: tables of MySQL's types, their keys, views, and the rows that they begin with."""

from __future__ import annotations

import dataclasses
from random import Random

from tests.differential.mysql.expressions import Scope, Seen
from tests.differential.mysql.values import COLUMNS
from tests.differential.tree import Node, join, listed, maybe


@dataclasses.dataclass
class Column:
    """A column: what generated statements must know of it."""

    name: str
    type: str
    family: str
    exact: bool = True
    not_null: bool = False
    has_default: bool = False
    written: bool = True


@dataclasses.dataclass
class Table:
    """A table or view; `key` tells its rows apart."""

    name: str
    columns: list[Column]
    key: list[str]
    is_view: bool = False
    counts: bool = False

    def seen(self, alias: str) -> Scope:
        """Its columns under an alias."""
        prefix = f"{alias}." if alias else ""
        return [Seen(f"{prefix}{column.name}", column.family, column.exact) for column in self.columns]


class Schema:
    """Statements that make a schema, and what they make."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.tables: list[Table] = []
        self.statements: list[Node] = []
        for number in range(3):
            self._table(f"t{number}")
            self._fill(self.tables[-1])
        if random.random() < 0.5:
            self._view("v0", random.choice(self.tables))

    def _columns(self) -> list[Column]:
        names = "abcdefgh"[: self.random.randint(3, 7)]
        types = [self.random.choice(list(COLUMNS)) for _ in names]
        return [
            Column(name, type, COLUMNS[type].family, COLUMNS[type].exact)
            for name, type in zip(names, types, strict=True)
        ]

    def _column(self, column: Column) -> Node:
        random, chance, words = self.random, self.random.random(), f"{column.name} {column.type}"
        # A document and a long text have no default.
        may_default = column.type not in ("JSON", "TEXT", "BLOB")
        if chance < 0.12 and may_default:
            column.not_null = column.has_default = True
            return join(words, f" NOT NULL DEFAULT {random.choice(COLUMNS[column.type].values)}")
        if chance < 0.22 and may_default:
            column.has_default = True
            return join(words, f" DEFAULT {random.choice(COLUMNS[column.type].values)}")
        if chance < 0.32:
            column.not_null = True
            return join(words, " NOT NULL")
        return join(words, " NULL" if column.type.startswith("TIMESTAMP") else "")

    def _table(self, name: str) -> None:
        random, columns = self.random, self._columns()
        key = [Column("id", random.choice(["INT", "BIGINT", "INT UNSIGNED"]), "int", not_null=True)]
        key[0].family = "uint" if "UNSIGNED" in key[0].type else "int"
        counts = random.random() < 0.3
        definitions = [join(f"id {key[0].type} NOT NULL{' AUTO_INCREMENT' if counts else ''}")]
        if not counts and random.random() < 0.2:
            key.append(Column("k2", "VARCHAR(5)", "str", exact=False, not_null=True))
            definitions.append(join("k2 VARCHAR(5) NOT NULL"))
        definitions += [self._column(column) for column in columns]
        table = Table(name, [*key, *columns], [column.name for column in key], counts=counts)
        if random.random() < 0.25:
            made = random.choice(columns)
            expression = {"str": f"UPPER({made.name})", "int": f"{made.name} % 10", "date": f"YEAR({made.name})"}
            if made.family in expression:
                kind = random.choice(["STORED", "VIRTUAL"])
                type, family = ("VARCHAR(130)", "str") if made.family == "str" else ("INT", "int")
                table.columns.append(Column("made", type, family, exact=family == "int", written=False))
                definitions.append(join(f"made {type} AS ({expression[made.family]}) {kind}"))
        names = ", ".join(column.name for column in key)
        definitions.append(join(f"PRIMARY KEY ({names})"))
        for number in range(random.choice([0, 0, 1, 1, 2])):
            definitions.append(maybe(self._key(f"{name}_k{number}", columns)))
        self.statements.append(join(f"CREATE TABLE {name} (", listed(definitions), ")"))
        self.tables.append(table)

    def _key(self, name: str, columns: list[Column]) -> str:
        random = self.random
        chosen = random.sample([column for column in columns if column.type != "JSON"], 1)
        others = [column for column in columns if column.type != "JSON" and column not in chosen]
        if others and random.random() < 0.5:
            chosen.append(random.choice(others))
        parts = []
        for column in chosen:
            part = column.name
            if column.type in ("TEXT", "BLOB") or (column.family in ("str", "bin") and random.random() < 0.3):
                part += f"({random.choice([1, 2, 4])})"
            if random.random() < 0.25:
                part += " DESC"
            parts.append(part)
        # A unique one together with the row's number: rows that come later seldom meet it.
        unique = random.random() < 0.25
        return f"{'UNIQUE ' if unique else ''}KEY {name} ({', '.join([*parts, 'id'] if unique else parts)})"

    def _fill(self, table: Table) -> None:
        random = self.random
        written = [column for column in table.columns if column.written]
        rows = []
        for number in range(1, random.randint(4, 9)):
            cells = [value_for(random, column, str(number)) for column in written]
            rows.append(join("(", ", ".join(cells), ")"))
        names = ", ".join(column.name for column in written)
        self.statements.append(join(f"INSERT INTO {table.name} ({names}) VALUES ", listed(rows)))

    def _view(self, name: str, table: Table) -> None:
        kept = [column for column in table.columns if column.name in table.key or self.random.random() < 0.7]
        names = ", ".join(column.name for column in kept)
        self.statements.append(join(f"CREATE VIEW {name} AS SELECT {names} FROM {table.name} WHERE id < 50"))
        self.tables.append(Table(name, kept, list(table.key), is_view=True))


def value_for(random: Random, column: Column, number: str) -> str:
    """A constant that a column keeps; `number` for the one that tells rows apart."""
    if column.name == "id":
        return number
    if column.name == "k2":
        return random.choice(["'a'", "'b'"])
    if not column.not_null and random.random() < 0.15:
        return "NULL"
    return random.choice(COLUMNS[column.type].values)
