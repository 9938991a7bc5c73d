"""Run generated statements on PostgreSQL 15 and on our PostgreSQL door, and show every statement that differs.

`.venv/bin/python -m tests.differential.run --seed N --count N` makes schemas from seed N on, each followed by 50
queries, changes and calls, until COUNT of them ran. What differs is made smaller and printed with what must run before
it, ready to paste. `--floor` runs what CI runs, and compares it with `floor.json`; `--write` makes what was measured
the floor.
"""

from __future__ import annotations

import argparse
import collections
import dataclasses
import json
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from tests.differential.case import KINDS, LESSER, STATEMENTS, Case, Difference
from tests.differential.compare import Server
from tests.servers.postgres import PostgreSQL
from tests.servers.rowferry import Rowferry

FLOOR = Path(__file__).with_name("floor.json")


@dataclasses.dataclass
class Score:
    """What a run found."""

    counts: collections.Counter[str] = dataclasses.field(default_factory=collections.Counter)
    causes: collections.Counter[str] = dataclasses.field(default_factory=collections.Counter)
    differences: list[Difference] = dataclasses.field(default_factory=list)
    #: Kinds of differences that are no wrong answer.
    lesser: tuple[str, ...] = LESSER

    def different(self) -> int:
        """How many statements we answer otherwise, neither refused nor only in other words."""
        return sum(count for kind, count in self.counts.items() if kind != "equal" and kind not in self.lesser)

    def __str__(self) -> str:
        kinds = ", ".join(f"{kind} {count}" for kind, count in self.counts.most_common())
        return f"{self.counts.total()} statements: {kinds}"


@contextmanager
def servers(theirs: str | None = None, ours: str | None = None) -> Iterator[tuple[Server, Server]]:
    """Connections to both; servers of their own unless they are named."""
    with tempfile.TemporaryDirectory() as directory:
        reference = None if theirs else PostgreSQL.start()
        served = None if ours else Rowferry.start(
            Path(directory) / "app.db", args=["--durability", "off"], before=["prlimit", "--as=6000000000"]
        )  # fmt: skip
        try:
            both = Server(theirs or reference.dsn), Server(ours or served.postgres_dsn)  # type: ignore[union-attr]
            both[0].ask("SET statement_timeout TO '15s'")
            yield both
        finally:
            if reference:
                reference.stop()
            if served:
                served.process.kill()


def run(
    seed: int,
    count: int,
    both: tuple[Server, Server],
    *,
    shrinks: bool = True,
    show: bool = False,
    kinds: Sequence[str] = KINDS,
) -> Score:
    """Cases from `seed` on until `count` statements ran."""
    score = Score()
    while score.counts.total() < count:
        case = Case(seed, *both, shrinks=shrinks, kinds=kinds)
        case.run(STATEMENTS)
        score.counts += case.counts
        score.causes += case.causes
        score.differences += case.differences
        if show:
            for difference in case.differences:
                print(difference, flush=True)
        if any(kind.kind.startswith(("lost", "late")) for kind in case.differences):
            break
        seed += 1
    return score


def floor() -> dict[str, int]:
    """What CI runs and what it must find."""
    known: dict[str, int] = json.loads(FLOOR.read_text())
    return known


def below(score: Score, known: dict[str, int]) -> list[str]:
    """What a score lacks, in words."""
    lacks = []
    if score.different() > known["different"]:
        lacks.append(f"{score.different()} statements differ, not {known['different']}")
    if score.counts["refused"] > known["refused"]:
        lacks.append(f"{score.counts['refused']} statements are refused, not {known['refused']}")
    if score.counts["equal"] < known["equal"]:
        lacks.append(f"{score.counts['equal']} statements are equal, not {known['equal']}")
    return lacks


def main(arguments: Sequence[str] | None = None) -> int:
    """Run, print, compare; 1 when statements differ or something is below its floor."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=1000, help="how many statements, at least")
    parser.add_argument("--kind", action="append", choices=KINDS, help="statements of this kind alone; may be repeated")
    parser.add_argument("--floor", action="store_true", help="what CI runs")
    parser.add_argument("--write", action="store_true", help="make what CI runs and finds now the floor")
    parser.add_argument("--theirs", help="a running PostgreSQL 15 instead of one of our own (a URL; an empty database)")
    parser.add_argument("--ours", help="a running server of ours, by URL")
    parser.add_argument("--no-shrink", action="store_true", help="show differing statements as they were made")
    given = parser.parse_args(arguments)
    seed, count = given.seed, given.count
    if given.floor or given.write:
        seed, count = floor()["seed"], floor()["count"]
    with servers(given.theirs, given.ours) as both:
        score = run(seed, count, both, shrinks=not given.no_shrink, show=True, kinds=given.kind or KINDS)
    for cause, times in score.causes.most_common(60):
        print(f"{times:6} {cause}")
    print(score)
    if given.write:
        found = {"equal": score.counts["equal"], "refused": score.counts["refused"], "different": score.different()}
        FLOOR.write_text(json.dumps({"seed": seed, "count": count, **found}, indent=2) + "\n")
    lacks = below(score, floor()) if given.floor else []
    print("\n".join(lacks))
    return 1 if lacks or score.differences else 0


if __name__ == "__main__":
    sys.exit(main())
