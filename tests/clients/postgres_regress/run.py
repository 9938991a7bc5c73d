"""Run PostgreSQL's own regression tests against our PostgreSQL door and a real PostgreSQL 15 side by side.

`.venv/bin/python -m tests.clients.postgres_regress.run` runs all files (some fifteen minutes) and compares with
`floor.json`: per file the statements that must be equal, and those that may be wrong, accepted or lost. `--write`
raises the floors to what was measured (`tools/postgres_regress_page.py` then writes the page of the guide);
`--bounded` runs the files that CI runs, on databases of their own, `--plpgsql` those of PL/pgSQL itself; `--out`
keeps every differing statement with both answers.
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

import psycopg

from tests.clients.postgres_regress import sources
from tests.clients.postgres_regress.score import KINDS, FileScore, Scorer, schedule
from tests.servers.postgres import PostgreSQL
from tests.servers.rowferry import Rowferry

_HERE = Path(__file__).parent
FLOOR = _HERE / "floor.json"
#: Files that need no other file but `test_setup`, and do not take long: the part that CI runs.
BOUNDED = (
    "boolean char name varchar text int2 int4 int8 oid float4 float8 numeric uuid strings numerology date time timetz "
    "timestamp timestamptz interval horology regex comments expressions select_distinct_on select_having case arrays "
    "json jsonb limit prepare"
).split()
#: The files that users of a server can meet; the others test PostgreSQL's inner life.
USERS = (_HERE / "users.txt").read_text().split()


@contextmanager
def servers(part: str, *, seconds: float = 60) -> Iterator[Scorer]:
    """Both servers, each with an empty database, and what compares them. The whole needs a C compiler, too."""
    tests = sources.plpgsql_tests() if part == "plpgsql" else sources.regression_tests()
    if part == "whole":
        sources.compile_functions(tests)
    with (
        tempfile.TemporaryDirectory() as directory,
        PostgreSQL.start() as reference,
        Rowferry.start(Path(directory) / "regression.db", args=["--durability", "off"]) as ours,
    ):
        with psycopg.connect(reference.dsn, autocommit=True) as connection:
            connection.execute("create database regression template template0 lc_collate 'C' lc_ctype 'C'")
            for name in ("lc_messages", "lc_monetary", "lc_numeric", "lc_time"):
                connection.execute(f"alter database regression set {name} = 'C'")
        theirs = reference.dsn.replace("/postgres?", "/regression?")
        yield Scorer(tests, theirs, ours.postgres_dsn, seconds=seconds)


def run(names: Sequence[str], scorer: Scorer) -> Iterator[FileScore]:
    """The scores of files, `test_setup` first, in PostgreSQL's order."""
    for name in schedule(scorer.tests):
        if name == "test_setup" or name in names:
            yield scorer.score(name)


def floors(part: str) -> dict[str, dict[str, int]]:
    """Per file what must be `equal` and what may be `bad`: of the whole run, CI's part, PL/pgSQL's."""
    known: dict[str, dict[str, dict[str, int]]] = json.loads(FLOOR.read_text()) if FLOOR.exists() else {}
    return known.get(part, {})


def below(score: FileScore, known: dict[str, int] | None) -> str | None:
    """What a file's score lacks, in words."""
    if known is None:
        return None
    lacks = []
    if score.equal < known["equal"]:
        lacks.append(f"{score.equal} equal, not {known['equal']}")
    if score.bad > known["bad"]:
        lacks.append(f"{score.bad} wrong, accepted or lost, not {known['bad']}")
    return f"{score.name}: {', '.join(lacks)}" if lacks else None


def summary(scores: Sequence[FileScore]) -> str:
    """The totals in one line."""
    totals: collections.Counter[str] = sum((score.counts for score in scores), collections.Counter())
    count, equal = totals.total(), totals["equal"] + totals["reordered"]
    others = ", ".join(f"{kind} {totals[kind]}" for kind in KINDS[2:])
    return f"{len(scores)} files: {equal} of {count} statements equal ({100 * equal / max(count, 1):.1f} %); {others}"


def _write(part: str, scores: Sequence[FileScore]) -> None:
    known = json.loads(FLOOR.read_text()) if FLOOR.exists() else {}
    known[part] = {score.name: {"equal": score.equal, "of": score.counts.total(), "bad": score.bad} for score in scores}
    lines = [
        f'  "{part}": {{\n'
        + ",\n".join(f'    "{name}": {json.dumps(floor)}' for name, floor in files.items())
        + "\n  }"
        for part, files in sorted(known.items())
    ]
    FLOOR.write_text("{\n" + ",\n".join(lines) + "\n}\n")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run, print, compare with the floors; 1 when something is below."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bounded", action="store_true", help="only the files that CI runs")
    parser.add_argument("--plpgsql", action="store_true", help="PL/pgSQL's own files")
    parser.add_argument("--files", nargs="+", help="only these files (later files need tables of earlier ones)")
    parser.add_argument("--seconds", type=float, default=60, help="how long a file may take")
    parser.add_argument("--out", type=Path, help="a JSON file for every statement that differs")
    parser.add_argument("--write", action="store_true", help="make what is measured the new floor")
    given = parser.parse_args(arguments)
    part = "plpgsql" if given.plpgsql else "bounded" if given.bounded else "whole"
    scores: list[FileScore] = []
    with servers(part, seconds=given.seconds) as scorer:
        names = given.files or (BOUNDED if given.bounded else schedule(scorer.tests))
        for score in run(names, scorer):
            scores.append(score)
            counts = " ".join(f"{kind} {score.counts[kind]}" for kind in KINDS[1:] if score.counts[kind])
            print(f"{score.name:24} {score.counts['equal']:5}/{score.counts.total():<5} {counts}", flush=True)
    print(f"\n{summary(scores)}")
    users = [score for score in scores if score.name in USERS]
    print(f"of those that users meet, {summary(users)}")
    if given.out:
        found = {score.name: [dataclasses.asdict(statement) for statement in score.details] for score in scores}
        given.out.write_text(json.dumps(found, indent=1))
    if given.write and not given.files:
        _write(part, scores)
    known = {} if given.files else floors(part)
    lacking = [lack for score in scores if (lack := below(score, known.get(score.name)))]
    print("\n".join(lacking) or "nothing is below its floor")
    return 1 if lacking else 0


if __name__ == "__main__":
    sys.exit(main())
