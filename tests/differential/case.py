"""One generated schema with its statements, run on PostgreSQL and on us side by side."""

from __future__ import annotations

import collections
import dataclasses
import re
from collections.abc import Iterator, Sequence
from random import Random

from tests.differential.calls import Calls
from tests.differential.changes import Changes
from tests.differential.compare import LATE, LOST, Answer, Server, verdict
from tests.differential.phrases import Phrases
from tests.differential.queries import Queries
from tests.differential.schema import Schema
from tests.differential.tree import Node, listed, shrink

#: How many statements follow a schema.
STATEMENTS = 50
#: What a case may be told to make alone.
KINDS = ("query", "change", "call", "phrase")
#: What values are read and written by, one of each for a case.
_SETTINGS = {
    "timezone": ("UTC", "UTC", "America/New_York", "Asia/Kolkata", "Europe/Berlin"),
    "datestyle": ("ISO, MDY", "ISO, MDY", "ISO, DMY", "SQL, DMY", "German", "Postgres, MDY"),
    "intervalstyle": ("postgres", "postgres", "iso_8601", "sql_standard", "postgres_verbose"),
    "bytea_output": ("hex", "hex", "escape"),
    "extra_float_digits": ("1", "1", "0", "-3"),
}
#: Differences that are no wrong answer: an honest refusal, or another wording.
LESSER = ("refused", "message", "notices", "first rule")
#: After these both servers hold the same rows.
AGREED = ("equal", "message", "notices", "first rule")
_NAMES = re.compile(r"\b[tv]\d\w*|\btrace\b")


@dataclasses.dataclass
class Difference:
    """A statement that we answer otherwise, as small as it could be made, and what must run before it."""

    seed: int
    kind: str
    before: list[str]
    statement: str
    theirs: str
    ours: str
    reference: str = "PostgreSQL"

    def __str__(self) -> str:
        head = f"--- seed {self.seed}: {self.kind}\n"
        before = "".join(f"{statement};\n" for statement in self.before)
        answers = "\n".join(
            f"-- {line}"
            for line in [*f"{self.reference}: {self.theirs}".split("\n"), *f"ours: {self.ours}".split("\n")]
        )
        return f"{head}{before}{self.statement};\n{answers}\n"


class Abandoned(Exception):
    """The rest of a case cannot be compared: a server is gone, or the two hold different rows."""


class Case:
    """The statements of one seed."""

    def __init__(
        self, seed: int, theirs: Server, ours: Server, *, shrinks: bool = True, kinds: Sequence[str] = KINDS
    ) -> None:
        self.seed = seed
        self.kinds = kinds
        self.random = Random(seed)
        self.both = (theirs, ours)
        self.shrinks = shrinks
        self.counts: collections.Counter[str] = collections.Counter()
        self.causes: collections.Counter[str] = collections.Counter()
        self.differences: list[Difference] = []
        self.done: list[str] = []
        self.schema = Schema(self.random)
        self.queries = Queries(self.random, self.schema)
        self.changes = Changes(self.random, self.schema, self.queries)
        self.calls = Calls(self.random)
        self.phrases = Phrases(self.random)

    def run(self, count: int = STATEMENTS) -> None:
        """Make the schema, run the statements, and take everything away again."""
        name = f"case_{self.seed}"
        # A part of the cases has what every session begins with.
        plain = self.random.random() < 0.5
        settings = [
            f"SET {setting} TO '{values[0] if plain else self.random.choice(values)}'"
            for setting, values in _SETTINGS.items()
        ]
        for server in self.both:
            server.forget_types()
            for statement in (
                f"DROP SCHEMA IF EXISTS {name} CASCADE",
                f"CREATE SCHEMA {name}",
                f"SET search_path TO {name}",
                *settings,
            ):
                answer = server.ask(statement)
                if answer.sqlstate:
                    raise RuntimeError(f"{statement}: {answer}")
        self.done += [] if plain else settings
        try:
            for statement in self.schema.statements:
                self._script([statement], state=False)
            # A table that one of them has not made is missed alike by what follows.
            for kind, step, theirs, ours in self._state():
                if kind == "rows":
                    self._count(kind, theirs, ours)
                    self._differs(kind, step, theirs, ours)
                    raise Abandoned
            for _ in range(count):
                self._one()
        except Abandoned:
            pass
        for server in self.both:
            server.ask("ROLLBACK")
            server.ask(f"DROP SCHEMA {name} CASCADE", seconds=60)

    def _one(self) -> None:
        # The chances of KINDS.
        kind = self.random.choices(KINDS, [0.4, 0.25, 0.18, 0.17])[0]
        kind = kind if kind in self.kinds else self.random.choice(self.kinds)
        if kind == "query":
            made = self.queries.query()
            self._query(made.node, ordered=made.ordered)
        elif kind == "change":
            self._script(self.changes.script())
        elif kind == "call":
            self._query(self.calls.call(), ordered=True)
        else:
            self._query(self.phrases.phrase(), ordered=True)

    def _query(self, tree: Node, *, ordered: bool) -> None:
        extended = self.random.random() < 0.4
        # Two parameters are never the same expression, which GROUP BY asks for.
        as_parameters = extended and self.random.random() < 0.5 and " GROUP BY " not in tree.text()
        binary = extended and self.random.random() < 0.5

        def ask(tree: Node) -> tuple[str, Answer, Answer]:
            parameters: list[str] | None = [] if extended else None
            statement = tree.text(parameters if as_parameters else None)
            theirs = self.both[0].ask(statement, parameters)
            ours = self.both[1].ask(statement, parameters)
            kind = verdict(theirs, ours, ordered=ordered)
            if kind == "equal" and binary and theirs.built_in and not theirs.sqlstate:
                theirs, ours = (server.ask(statement, parameters, binary=True) for server in self.both)
                kind = verdict(theirs, ours, ordered=ordered)
                kind = "equal" if kind == "equal" else f"binary {kind}"
            return kind, theirs, ours

        kind, theirs, ours = ask(tree)
        self._count(kind, theirs, ours)
        if kind == "equal" or kind in LESSER:
            return
        text = tree.text([] if as_parameters else None)
        if self.shrinks and kind not in (LOST, LATE):
            wanted = kind, theirs.sqlstate, ours.sqlstate

            def still(tree: Node) -> bool:
                kind, theirs, ours = ask(tree)
                return (kind, theirs.sqlstate, ours.sqlstate) == wanted

            shrink(tree, still)
            _, theirs, ours = ask(tree)
            parameters: list[str] = []
            text = tree.text(parameters if as_parameters else None)
            if parameters:
                text += f" -- with {parameters}"
        protocol = "extended" if extended else "simple"
        self._differs(f"{kind}, {protocol}", text, theirs, ours)
        if kind in (LOST, LATE):
            raise Abandoned

    def _count(self, kind: str, theirs: Answer, ours: Answer) -> None:
        self.counts[kind] += 1
        if kind == "refused":
            self.causes[ours.message] += 1
        elif kind == "message":
            self.causes[f"{theirs.sqlstate}: {theirs.message}{theirs.beside} | {ours.message}{ours.beside}"] += 1
        elif kind == "notices":
            self.causes[f"notices: {theirs.notices} | {ours.notices}"] += 1

    def _differs(self, kind: str, statement: str, theirs: Answer, ours: Answer) -> None:
        before = self._needed(statement)
        self.differences.append(Difference(self.seed, kind, before, statement, str(theirs), str(ours)))

    def _needed(self, statement: str) -> list[str]:
        """What ran before and names a table that `statement` names, or one that such a statement names."""
        names, grown = set(_NAMES.findall(statement)), True
        while grown:
            grown = False
            for done in self.done:
                found = set(_NAMES.findall(done))
                if found & names and not found <= names:
                    names |= found
                    grown = True
        return [done for done in self.done if not _NAMES.search(done) or set(_NAMES.findall(done)) & names]

    def _script(self, script: list[Node], *, state: bool = True) -> None:
        """Run statements in a transaction on both, and keep what they did when both agree."""
        in_blocks = self.random.random() < 0.5
        tree = listed(script, ";\n", 1)
        steps = list(self._steps(tree, state=state, extended=in_blocks))
        for kind, _, theirs, ours in steps:
            self._count(kind, theirs, ours)
        kind, step, theirs, ours = steps[-1]
        agreed = kind in AGREED
        for server in self.both:
            server.ask("COMMIT" if agreed and not theirs.sqlstate else "ROLLBACK")
        if agreed:
            if not theirs.sqlstate:
                self.done.append(tree.text())
            return
        if kind == "refused":
            return
        text = tree.text()
        if kind in (LOST, LATE):
            self._differs(f"{kind} at {step}", text, theirs, ours)
            raise Abandoned
        if self.shrinks:
            wanted = kind, theirs.sqlstate, ours.sqlstate

            def last(tree: Node) -> tuple[str, str, Answer, Answer]:
                found = list(self._steps(tree, state=state, extended=in_blocks))[-1]
                for server in self.both:
                    server.ask("ROLLBACK")
                return found

            def still(tree: Node) -> bool:
                kind, _, theirs, ours = last(tree)
                return (kind, theirs.sqlstate, ours.sqlstate) == wanted

            shrink(tree, still, trials=120)
            kind, step, theirs, ours = last(tree)
            text = tree.text()
        self._differs(f"{kind} at {step}", f"BEGIN;\n{text};\n-- at the end: {step}", theirs, ours)

    def _steps(self, tree: Node, *, state: bool, extended: bool) -> Iterator[tuple[str, str, Answer, Answer]]:
        """What each statement of a script is answered, up to the first that fails or differs; the tables at its end."""
        for server in self.both:
            server.ask("BEGIN")
        for part in tree.parts:
            text = str(part)
            if not text:
                continue
            parameters: list[str] | None = [] if extended and not text.startswith("COPY") else None
            theirs, ours = (server.ask(text, parameters) for server in self.both)
            kind = verdict(theirs, ours, ordered=text.startswith("FETCH"))
            if kind == "error" and _break_rules(theirs, ours):
                kind = "first rule"
            yield kind, text.split("\n")[0][:60], theirs, ours
            if kind not in AGREED or theirs.sqlstate:
                return
        if not state:
            return
        yield from self._state()

    def _state(self) -> Iterator[tuple[str, str, Answer, Answer]]:
        """The first table in which the two differ, or a deferred rule that is broken."""
        tables = (f"SELECT * FROM {table.name}" for table in self.schema.tables)
        for statement in ["SET CONSTRAINTS ALL IMMEDIATE", *tables]:
            theirs, ours = (server.ask(statement) for server in self.both)
            kind = verdict(theirs, ours, ordered=False)
            if kind != "equal" or theirs.sqlstate:
                yield kind, statement, theirs, ours
                return


def _break_rules(theirs: Answer, ours: Answer) -> bool:
    """Both refuse what breaks several rules, in one row or in several: which is named is not said."""
    return theirs.sqlstate.startswith("23") and ours.sqlstate.startswith("23")
