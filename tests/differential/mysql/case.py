"""One generated schema with its statements, run on MySQL and on us side by side."""

from __future__ import annotations

import collections
import re
from collections.abc import Iterator
from random import Random

from tests.differential.case import Abandoned, Difference
from tests.differential.mysql.changes import Changes
from tests.differential.mysql.compare import LOST, Answer, Server, verdict
from tests.differential.mysql.queries import Queries
from tests.differential.mysql.schema import Schema
from tests.differential.tree import Node, listed, shrink

#: How many statements follow a schema.
STATEMENTS = 60
#: Differences that are no wrong answer.
LESSER = ("refused", "message", "warnings", "first rule", "lengths", "widths")
#: After these both servers hold the same rows.
AGREED = ("equal", "message", "warnings", "first rule", "types", "widths", "lengths", "names")
_NAMES = re.compile(r"\b[tv]\d\b")
#: Numbers of errors of a value that a column or an expression cannot take.
_OF_VALUES = {1048, 1062, 1264, 1265, 1292, 1366, 1406, 1690, 1364, 1441, 3140, 1411, 3141, 3156, 1425, 3819}


class Case:
    """The statements of one seed."""

    def __init__(self, seed: int, theirs: Server, ours: Server, *, shrinks: bool = True) -> None:
        self.seed = seed
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
        self.mode = self.random.choice(["", "", "SET SESSION sql_mode = 'NO_ENGINE_SUBSTITUTION'"])

    def run(self, count: int = STATEMENTS) -> None:
        """Make the schema, run the statements, and take everything away again."""
        name = f"case_{self.seed}"
        for server in self.both:
            for statement in (
                f"DROP DATABASE IF EXISTS {name}",
                f"CREATE DATABASE {name}",
                f"USE {name}",
                "SET SESSION time_zone = '+00:00', sql_mode = DEFAULT",
            ):
                answer = server.ask(statement)
                if answer.code or answer.state:
                    raise RuntimeError(f"{statement}: {answer}")
        try:
            for statement in self.schema.statements:
                theirs, ours = (server.ask(str(statement)) for server in self.both)
                kind = verdict(theirs, ours, ordered=False)
                self._count(kind, theirs, ours)
                if kind in AGREED and not theirs.code:
                    self.done.append(str(statement))
                elif kind not in LESSER:
                    self._differs(kind, str(statement), theirs, ours)
                    raise Abandoned
                elif kind == "refused":
                    raise Abandoned
            for kind, step, theirs, ours in self._state():
                self._count(kind, theirs, ours)
                if kind not in AGREED:
                    self._differs(kind, step, theirs, ours)
                    raise Abandoned
            if self.mode:
                self.done.append(self.mode)
                for server in self.both:
                    server.ask(self.mode)
            for _ in range(count):
                if self.random.random() < 0.72:
                    made = self.queries.query()
                    self._query(made.node, ordered=made.ordered)
                else:
                    self._script(self.changes.script())
        except Abandoned:
            pass
        for server in self.both:
            server.ask("ROLLBACK")
            server.ask(f"DROP DATABASE {name}")

    def _query(self, tree: Node, *, ordered: bool) -> None:
        prepared = self.random.random() < 0.4

        def ask(tree: Node) -> tuple[str, Answer, Answer]:
            parameters: list[str] | None = [] if prepared else None
            theirs, ours = (server.ask(tree.text(), parameters) for server in self.both)
            return verdict(theirs, ours, ordered=ordered), theirs, ours

        kind, theirs, ours = ask(tree)
        self._count(kind, theirs, ours)
        if kind == "equal" or kind in LESSER:
            return
        if self.shrinks and kind != LOST:
            wanted = _difference(kind, theirs, ours)

            def still(tree: Node) -> bool:
                return _difference(*ask(tree)) == wanted

            shrink(tree, still, null=lambda type: "NULL")
            _, theirs, ours = ask(tree)
        self._differs(f"{kind}{', prepared' if prepared else ''}", tree.text(), theirs, ours)
        if kind == LOST:
            raise Abandoned

    def _count(self, kind: str, theirs: Answer, ours: Answer) -> None:
        self.counts[kind] += 1
        if kind == "refused":
            self.causes[ours.message] += 1
        elif kind == "message":
            self.causes[f"{theirs.code}: {theirs.message} | {ours.message}"] += 1

    def _differs(self, kind: str, statement: str, theirs: Answer, ours: Answer) -> None:
        names = set(_NAMES.findall(statement))
        grown = True
        while grown:
            more = {name for done in self.done if set(_NAMES.findall(done)) & names for name in _NAMES.findall(done)}
            grown = not more <= names
            names |= more
        before = [done for done in self.done if not _NAMES.search(done) or set(_NAMES.findall(done)) & names]
        self.differences.append(Difference(self.seed, kind, before, statement, str(theirs), str(ours), "MySQL"))

    def _script(self, script: list[Node]) -> None:
        """Run statements in a transaction on both, and keep what they did when both agree."""
        prepared = self.random.random() < 0.3
        tree = listed(script, ";\n", 1)
        steps = list(self._steps(tree, prepared))
        for kind, _, theirs, ours in steps:
            self._count(kind, theirs, ours)
        kind, step, theirs, ours = steps[-1] if steps else ("equal", "", Answer(), Answer())
        agreed = kind in AGREED
        for server in self.both:
            server.ask("COMMIT" if agreed and not theirs.code else "ROLLBACK")
        if agreed:
            if not theirs.code:
                self.done.append(tree.text())
            return
        if kind == "refused":
            return
        if kind == LOST:
            self._differs(f"{kind} at {step}", tree.text(), theirs, ours)
            raise Abandoned
        if self.shrinks:
            wanted = kind, theirs.code, ours.code

            def last(tree: Node) -> tuple[str, str, Answer, Answer]:
                found = list(self._steps(tree, prepared))
                for server in self.both:
                    server.ask("ROLLBACK")
                return found[-1] if found else ("equal", "", Answer(), Answer())

            def still(tree: Node) -> bool:
                kind, _, theirs, ours = last(tree)
                return (kind, theirs.code, ours.code) == wanted

            shrink(tree, still, trials=150, null=lambda type: "NULL")
            kind, step, theirs, ours = last(tree)
        self._differs(f"{kind} at {step}", f"BEGIN;\n{tree.text()};\n-- at the end: {step}", theirs, ours)

    def _steps(self, tree: Node, prepared: bool) -> Iterator[tuple[str, str, Answer, Answer]]:
        """What each statement of a script is answered, up to the first that fails or differs; the tables at its end."""
        for server in self.both:
            server.ask("BEGIN")
        for part in tree.parts:
            text = str(part)
            if not text:
                continue
            parameters: list[str] | None = (
                [] if prepared and "SAVEPOINT" not in text and "ROLLBACK" not in text else None
            )
            theirs, ours = (server.ask(text, parameters) for server in self.both)
            kind = verdict(theirs, ours, ordered=False)
            if kind == "error" and {theirs.code, ours.code} <= _OF_VALUES:
                # Of several values that do not fit, in one row, which is told is not said.
                kind = "first rule"
            yield kind, text.split("\n")[0][:60], theirs, ours
            if kind not in AGREED or theirs.code:
                return
        yield from self._state()

    def _state(self) -> Iterator[tuple[str, str, Answer, Answer]]:
        """The tables in which the two differ."""
        for table in self.schema.tables:
            statement = f"SELECT * FROM {table.name}"
            theirs, ours = (server.ask(statement) for server in self.both)
            kind = verdict(theirs, ours, ordered=False)
            if kind != "equal" or theirs.code:
                yield kind, statement, theirs, ours
                if kind not in AGREED:
                    return


def _difference(kind: str, theirs: Answer, ours: Answer) -> tuple[object, ...]:
    """What a smaller statement must have in common with the one that differs."""
    types = zip(theirs.families, ours.families, strict=False)
    return kind, theirs.code, ours.code, frozenset(pair for pair in types if pair[0] != pair[1])
