"""A generated schema: types, tables of every kind, views, triggers, and the rows that they begin with."""

from __future__ import annotations

import dataclasses
from random import Random

from tests.differential.tree import Node, join, listed, maybe
from tests.differential.values import COLUMNS, KINDS, Kind, constant, plain

KINDS["mood"] = Kind(("sad", "ok", "happy"))
KINDS["pair"] = Kind(("(1,a)", "(,)", '(2,"x y")', "(1,b)"))
KINDS["small"] = Kind(("1", "2", "7"))
TYPES = (
    "CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy')",
    "CREATE TYPE pair AS (a int, b text)",
    "CREATE DOMAIN small AS int CHECK (VALUE BETWEEN -10 AND 10)",
)


@dataclasses.dataclass
class Column:
    """A column: what generated expressions must know of it."""

    name: str
    type: str
    written: bool = True
    not_null: bool = False
    has_default: bool = False


@dataclasses.dataclass
class Table:
    """A table or view. `key` tells its rows apart; `changes` says which statements a view or table takes."""

    name: str
    columns: list[Column]
    key: list[str]
    changes: bool = True
    uniques: list[list[str]] = dataclasses.field(default_factory=list)
    is_view: bool = False
    partitioned: bool = False
    deferrable: bool = False
    #: Whether its key is a constraint of the table's name.
    key_named: bool = False

    def column(self, name: str) -> Column:
        return next(column for column in self.columns if column.name == name)


class Schema:
    """Statements that make a schema, and what they make."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.tables: list[Table] = []
        self.statements: list[Node] = [join(statement) for statement in TYPES]
        makers = [self._plain, self._plain, self._referring, random.choice([self._range, self._list, self._hash])]
        if random.random() < 0.4:
            makers.append(self._heir)
        for number, make in enumerate(makers):
            make(f"t{number}")
            self._fill(self.tables[-1])
        if random.random() < 0.5:
            self._trigger(random.choice(self.tables))
        self._view("v0", random.choice([table for table in self.tables if not table.is_view]))

    def _columns(self, prefix: str = "", count: int | None = None) -> list[Column]:
        types = [*COLUMNS, "mood", "pair", "small"]
        count = count or self.random.randint(2, 6)
        return [Column(f"{prefix}{letter}", self.random.choice(types)) for letter in "abcdefgh"[:count]]

    def _column(self, column: Column) -> Node:
        random, words = self.random, [f"{column.name} {column.type}"]
        if column.type == "numeric" and random.random() < 0.6:
            words[0] = f"{column.name} numeric(12,3)"
        if column.type == "text" and random.random() < 0.3:
            words.append('COLLATE "C"')
        kind = random.random()
        if kind < 0.12:
            column.not_null = column.has_default = True
            words.append(f"NOT NULL DEFAULT {constant(random, column.type, nulls=False)}")
        elif kind < 0.24:
            column.has_default = True
            words.append(f"DEFAULT {constant(random, column.type)}")
        elif kind < 0.32:
            column.not_null = True
            words.append("NOT NULL")
        if column.type in ("int", "bigint") and random.random() < 0.15:
            words.append(f"CHECK ({column.name} <> 13)")
        return join(" ".join(words))

    def _table(self, name: str, key: list[Column], columns: list[Column], extras: list[Node]) -> Table:
        table = Table(name, [*key, *columns], [column.name for column in key])
        random = self.random
        definitions = [join(f"{column.name} {column.type} NOT NULL") for column in key]
        for column in columns:
            definitions.append(self._column(column))
        ints = [column.name for column in columns if column.type == "int"]
        if ints and random.random() < 0.35:
            table.columns.append(Column("g", "int", written=False))
            definitions.append(join(f"g int GENERATED ALWAYS AS (coalesce({ints[0]}, 0) * 2 + 1) STORED"))
        texts = [column.name for column in columns if column.type == "text"]
        if texts and random.random() < 0.25:
            table.columns.append(Column("gt", "text", written=False))
            definitions.append(join(f"gt text GENERATED ALWAYS AS (upper({texts[0]}) || '!') STORED"))
        self.statements.append(join(f"CREATE TABLE {name} (", listed([*definitions, *extras]), ")"))
        self.tables.append(table)
        return table

    def _plain(self, name: str) -> None:
        random = self.random
        key = [Column("id", random.choice(["int", "int", "bigint"]), not_null=True)]
        if random.random() < 0.25:
            key.append(Column("k2", "text", not_null=True))
        columns, extras = self._columns(), []
        names = ", ".join(column.name for column in key)
        deferrable = random.random() < 0.25
        suffix = random.choice([" DEFERRABLE", " DEFERRABLE INITIALLY DEFERRED"]) if deferrable else ""
        extras.append(join(f"CONSTRAINT {name}_pkey PRIMARY KEY ({names}){suffix}"))
        table = self._table(name, key, columns, extras)
        table.deferrable, table.key_named = deferrable, not deferrable
        for column in columns:
            if random.random() < 0.15 and column.type in ("int", "text", "date", "bigint", "uuid", "numeric"):
                where = f" WHERE {column.name} IS NOT NULL" if random.random() < 0.5 else ""
                self.statements.append(join(f"CREATE INDEX ON {name} ({column.name}){where}"))
        wide = [column for column in columns if column.type == "int"]
        if wide and random.random() < 0.3:
            self.statements.append(join(f"CREATE UNIQUE INDEX {name}_u ON {name} (id, {wide[0].name})"))
            table.uniques.append(["id", wide[0].name])

    def _referring(self, name: str) -> None:
        random = self.random
        parents = [table for table in self.tables if table.key == ["id"] and not table.deferrable]
        columns, extras = self._columns(), []
        if parents:
            parent = random.choice(parents)
            columns.append(Column("p", parent.column("id").type))
            actions = ["", " ON DELETE CASCADE", " ON DELETE SET NULL ON UPDATE CASCADE", " ON UPDATE CASCADE"]
            when = random.choice(["", "", " DEFERRABLE INITIALLY DEFERRED"])
            extras.append(
                maybe(f"CONSTRAINT {name}_p FOREIGN KEY (p) REFERENCES {parent.name}{random.choice(actions)}{when}")
            )
        key = [Column("id", "int", not_null=True)]
        extras.append(join("PRIMARY KEY (id)"))
        self._table(name, key, columns, extras)
        if parents:
            self.tables[-1].column("p").not_null = False

    def _parts(self, name: str, method: str, parts: list[str], key: list[Column]) -> None:
        columns = self._columns()
        names = ", ".join(column.name for column in key)
        table = self._table(name, key, columns, [join(f"PRIMARY KEY ({names})")])
        table.partitioned = True
        made = self.statements.pop()
        self.statements.append(join(made, f" PARTITION BY {method}"))
        for number, bounds in enumerate(parts):
            self.statements.append(join(f"CREATE TABLE {name}_{number} PARTITION OF {name} {bounds}"))

    def _range(self, name: str) -> None:
        parts = ["FOR VALUES FROM (MINVALUE) TO (3)", "FOR VALUES FROM (3) TO (6) PARTITION BY HASH (id)", "DEFAULT"]
        self._parts(name, "RANGE (id)", parts, [Column("id", "int", not_null=True)])
        for rest in range(2):
            self.statements.append(
                join(
                    f"CREATE TABLE {name}_1_{rest} PARTITION OF {name}_1 FOR VALUES WITH (MODULUS 2, REMAINDER {rest})"
                )
            )

    def _list(self, name: str) -> None:
        parts = ["FOR VALUES IN ('a', 'b')", "FOR VALUES IN ('c')"]
        if self.random.random() < 0.6:
            parts.append("DEFAULT")
        self._parts(name, "LIST (k2)", parts, [Column("id", "int", not_null=True), Column("k2", "text", not_null=True)])

    def _hash(self, name: str) -> None:
        parts = [f"FOR VALUES WITH (MODULUS 3, REMAINDER {rest})" for rest in range(3)]
        self._parts(name, "HASH (id)", parts, [Column("id", "int", not_null=True)])

    def _heir(self, name: str) -> None:
        parent = self.random.choice([table for table in self.tables if not table.partitioned])
        own = self._columns("h", 2)
        definitions = listed([self._column(column) for column in own])
        self.statements.append(join(f"CREATE TABLE {name} (", definitions, f") INHERITS ({parent.name})"))
        columns = [dataclasses.replace(column) for column in parent.columns]
        # A parent's key does not bind its heir: rows are told apart by all their columns.
        self.tables.append(Table(name, [*columns, *own], [column.name for column in [*columns, *own]]))
        parent.key = [column.name for column in parent.columns]

    def _trigger(self, table: Table) -> None:
        name, random = table.name, self.random
        self.statements.append(join("CREATE TABLE trace (what text, op text, old text, new text)"))
        ints = [column.name for column in table.columns if column.type == "int" and column.written][1:]
        change = f"IF NEW.{ints[0]} = 3 THEN NEW.{ints[0]} := 4; END IF; " if ints else ""
        skip = "IF NEW.id = 99 THEN RETURN NULL; END IF; " if random.random() < 0.5 else ""
        body = f"BEGIN IF TG_OP = 'DELETE' THEN RETURN OLD; END IF; {change}{skip}RETURN NEW; END"
        self.statements.append(join(f"CREATE FUNCTION {name}_before() RETURNS trigger LANGUAGE plpgsql AS $${body}$$"))
        self.statements.append(
            join(
                f"CREATE TRIGGER {name}_b BEFORE INSERT OR UPDATE OR DELETE ON {name} "
                f"FOR EACH ROW EXECUTE FUNCTION {name}_before()"
            )
        )
        body = "BEGIN INSERT INTO trace VALUES (TG_NAME, TG_OP, OLD::text, NEW::text); RETURN NULL; END"
        self.statements.append(join(f"CREATE FUNCTION {name}_after() RETURNS trigger LANGUAGE plpgsql AS $${body}$$"))
        self.statements.append(
            join(
                f"CREATE TRIGGER {name}_a AFTER INSERT OR UPDATE OR DELETE ON {name} "
                f"FOR EACH ROW EXECUTE FUNCTION {name}_after()"
            )
        )
        columns = [Column(column, "text") for column in ("what", "op", "old", "new")]
        self.tables.append(Table("trace", columns, ["what", "op", "old", "new"], changes=False))

    def _view(self, name: str, table: Table) -> None:
        key = table.key
        kept = [column for column in table.columns if column.name in key or self.random.random() < 0.7]
        names = ", ".join(column.name for column in kept)
        check = self.random.choice(["", " WITH CHECK OPTION", " WITH LOCAL CHECK OPTION"])
        condition = "id < 50" if self.random.random() < 0.7 else "id IS NOT NULL"
        self.statements.append(join(f"CREATE VIEW {name} AS SELECT {names} FROM {table.name} WHERE {condition}{check}"))
        view = Table(name, [dataclasses.replace(column) for column in kept], list(key), is_view=True)
        self.tables.append(view)

    def _fill(self, table: Table) -> None:
        random = self.random
        written = [column for column in table.columns if column.written]
        rows = []
        for number in range(1, random.randint(4, 8)):
            cells = []
            for column in written:
                if column.name == "id":
                    cells.append(plain(column.type, str(number)))
                elif column.name == "k2":
                    cells.append(plain("text", random.choice("abc")))
                elif column.name == "p":
                    cells.append(constant(random, column.type) if random.random() < 0.2 else plain(column.type, "2"))
                else:
                    cells.append(value_for(random, column))
            rows.append(join("(", ", ".join(str(cell) for cell in cells), ")"))
        names = ", ".join(column.name for column in written)
        self.statements.append(join(f"INSERT INTO {table.name} ({names}) VALUES ", listed(rows)))


def value_for(random: Random, column: Column) -> Node:
    """A constant for a column, NULL where it may be."""
    if not column.not_null and random.random() < 0.15:
        return Node([f"NULL::{column.type}"], type=column.type)
    # Not of what is computed with, nor of `numeric(12,3)`; and a table keeps no minus zero.
    edges = column.type not in ("int", "smallint", "int[]", "text[]", "numeric", "float8")
    return constant(random, column.type, edges=edges, nulls=False)
