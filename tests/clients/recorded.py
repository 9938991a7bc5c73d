"""Answers beside PostgreSQL's recorded ones, with the reasons of those that differ.

`answers.txt` holds a line `== QUESTION` before each answer; `differences.txt` a line `QUESTION  reason` for each answer
that differs.
"""

from __future__ import annotations

import re
from pathlib import Path

# By question: the lines that are recorded, and ours.
Differing = dict[str, tuple[list[str], list[str]]]


def answers(text: str) -> dict[str, str]:
    """The answers by their questions."""
    parts = re.split(r"^== (.*)\n", text, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def reasons(path: Path) -> dict[str, str]:
    """Why an answer differs, by question."""
    lines = (line for line in path.read_text().splitlines() if line and not line.startswith("#"))
    return {question: reason.strip() for question, reason in (line.split("  ", 1) for line in lines)}


def unexpected(found: Differing, known: dict[str, str]) -> list[str]:
    """What differs without a reason, and what has a reason and does not differ any more."""
    new = []
    for question in sorted(set(found) - set(known)):
        theirs, ours = found[question]
        new.append(f"== {question} differs")
        new += [f"  - {line}" for line in theirs if line not in ours]
        new += [f"  + {line}" for line in ours if line not in theirs]
    return new + [f"== {question} is equal now: strike its reason" for question in sorted(set(known) - set(found))]


def report(found: Differing, known: dict[str, str], asked: int) -> int:
    """Print what differs; 1 when that is not what is known."""
    for question in sorted(set(found) & set(known)):
        print(f"== {question}  {known[question]}")
    print("\n".join(unexpected(found, known)))
    print(f"{len(found)} of {asked} differ")
    return 1 if unexpected(found, known) else 0
