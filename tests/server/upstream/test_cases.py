"""The recorded Informix cases, in front of a PostgreSQL server: what they answer from a file, but for a list."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from tests.servers.postgres import PostgreSQL

from .conftest import make_database

ROOT = Path(__file__).parents[3]
CASES = ROOT / "crates" / "engine" / "tests" / "informix"
LIST = Path(__file__).parent / "differences.txt"


def listed() -> dict[tuple[str, str], str]:
    """The reason for each case that differs, by its file and its statement in one line."""
    found: dict[tuple[str, str], str] = {}
    reason = ""
    for line in LIST.read_text().splitlines():
        if line.startswith("## "):
            reason = line.removeprefix("## ")
        elif line and not line.startswith("#"):
            file, _, statement = line.partition(": ")
            found[file, statement] = reason
    return found


@pytest.mark.timeout(900)
def test_a_case_answers_the_same_in_front_of_postgresql(postgres: PostgreSQL) -> None:
    files = sorted(CASES.glob("*.txt"))
    for file in files:
        make_database(postgres, file.stem)
    # No `--package`: of the whole workspace's features `cargo test` has built it.
    program = ["cargo", "run", "--quiet", "--locked", "--example", "informix_cases", "--"]
    url = f"postgresql://rowferry@127.0.0.1:{postgres.port}"
    done = subprocess.run(
        [*program, url, *map(str, files)], cwd=ROOT, capture_output=True, text=True, timeout=850, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    cases = [json.loads(line) for line in done.stdout.splitlines()]
    reasons, differs, equal = listed(), set(), 0
    unlisted = []
    for case in cases:
        key = (case["file"], " ".join(case["sql"].split()))
        if case["expected"] == case["found"]:
            equal += 1
            continue
        differs.add(key)
        if key not in reasons:
            unlisted.append(f"[{case['file']}:{case['line']}] {case['sql']}{case['expected']}found:\n{case['found']}")
    assert not unlisted, "\n\n".join(unlisted)
    print(f"{equal} of {len(cases)} answer the same")
    assert equal + len(differs) >= 1_400
    assert not set(reasons) - differs, "these are equal now: take them out of the list"
