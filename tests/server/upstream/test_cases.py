"""The recorded cases of Informix and MySQL, in front of a PostgreSQL server: what a file answers, but for lists."""

from __future__ import annotations

import json
import subprocess
from decimal import Decimal, InvalidOperation
from pathlib import Path

import pytest

from tests.servers.postgres import PostgreSQL

from .conftest import make_database

ROOT = Path(__file__).parents[3]
CASES = ROOT / "crates" / "engine" / "tests"
HERE = Path(__file__).parent


def listed(file_of_them: Path) -> dict[tuple[str, str], str]:
    """The reason for each case that differs, by its file and its statement in one line."""
    found: dict[tuple[str, str], str] = {}
    reason = ""
    for line in file_of_them.read_text().splitlines():
        if line.startswith("## "):
            reason = line.removeprefix("## ")
        elif line and not line.startswith("#"):
            file, _, statement = line.partition(": ")
            found[file, statement] = reason
    return found


def plain(answer: str) -> str:
    """An answer whose decimals have no zeros behind them: a file keeps none, and the door writes what the type has."""

    def cell(text: str) -> str:
        try:
            return format(Decimal(text).normalize(), "f")
        except InvalidOperation:
            return text

    return "\n".join("|".join(map(cell, line.split("|"))) for line in answer.splitlines())


# How many answer the same: a floor, which only rises.
@pytest.mark.timeout(900)
@pytest.mark.parametrize(
    ("dialect", "differences", "least"),
    [("informix", "differences.txt", 1_817), ("mysql", "differences_mysql.txt", 2_124)],
)
def test_a_case_answers_the_same_in_front_of_postgresql(
    postgres: PostgreSQL, dialect: str, differences: str, least: int
) -> None:
    files = sorted((CASES / dialect).glob("*.txt"))
    prefix = f"{dialect}_"
    for file in files:
        make_database(postgres, prefix + file.stem)
    # No `--package`: of the whole workspace's features `cargo test` has built it.
    program = ["cargo", "run", "--quiet", "--locked", "--example", f"{dialect}_cases", "--"]
    url = f"postgresql://rowferry@127.0.0.1:{postgres.port}/{prefix}"
    done = subprocess.run(
        [*program, url, *map(str, files)], cwd=ROOT, capture_output=True, text=True, timeout=850, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    cases = [json.loads(line) for line in done.stdout.splitlines()]
    reasons, differs, equal = listed(HERE / differences), set(), 0
    unlisted = []
    for case in cases:
        key = (case["file"], " ".join(case["sql"].split()))
        same = (
            plain(case["expected"]) == plain(case["found"]) if dialect == "mysql" else case["expected"] == case["found"]
        )
        if same:
            equal += 1
            continue
        differs.add(key)
        if key not in reasons:
            unlisted.append(f"[{case['file']}:{case['line']}] {case['sql']}{case['expected']}found:\n{case['found']}")
    assert not unlisted, "\n\n".join(unlisted)
    print(f"{equal} of {len(cases)} answer the same")
    assert equal >= least
    gone = sorted(set(reasons) - differs)
    assert not gone, f"these are equal now, take them out of the list: {gone}"
