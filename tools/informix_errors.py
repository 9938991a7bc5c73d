#!/usr/bin/env python3
"""Writes the table of error codes into docs/guide/informix-errors.md, from the one table in the source.

tools/informix_errors.py [--check]    with --check only says whether the page is as it would be written
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "crates/client/src/informix/errors.rs"
PAGE = ROOT / "docs/guide/informix-errors.md"
BEGIN, END = "<!-- the table begins: tools/informix_errors.py -->", "<!-- the table ends -->"


def rows(name: str) -> list[list[str]]:
    """The rows of the table `name` of the source: what stands between the parentheses of each."""
    body = re.search(rf"const {name}: [^=]*= &\[\n(.*?)\n\];", SOURCE.read_text(), re.DOTALL)
    assert body is not None, f"{SOURCE} has no table {name}"
    found = []
    for line in body[1].splitlines():
        row = re.fullmatch(r'    \((-\d+), (?:(\w+), )?"(.*)"\),', line)
        assert row is not None, f"{SOURCE}: {line}"
        found.append([row[1], row[2] or "", row[3].replace('\\"', '"').replace("%s", "…").replace("|", "\\|")])
    return found


def table() -> str:
    """The two tables as Markdown."""
    lines = [BEGIN, "", "| SQL code | class | what it says |", "|---:|---|---|"]
    lines += [f"| {code} | `{kind}Error` | {text} |" for code, kind, text in rows("ERRORS")]
    lines += ["", "| ISAM code | what it says |", "|---:|---|"]
    lines += [f"| {code} | {text} |" for code, _, text in rows("ISAM")]
    return "\n".join([*lines, "", END])


def main() -> int:
    """Write the page, or compare."""
    page = PAGE.read_text()
    before, found, rest = page.partition(BEGIN)
    assert found, f"{PAGE} has no place for the table"
    written = before + table() + rest.partition(END)[2]
    if "--check" in sys.argv[1:]:
        if written != page:
            print(f"{PAGE.relative_to(ROOT)} is not what {SOURCE.relative_to(ROOT)} says: run tools/informix_errors.py")
            return 1
        return 0
    PAGE.write_text(written)
    return 0


if __name__ == "__main__":
    sys.exit(main())
