"""Write the page of how PostgreSQL's own regression tests go, from the floors that the tests keep to.

python tools/postgres_regress_page.py            write docs/guide/postgres-regress.md
python tools/postgres_regress_page.py --check    fail when the page is not what it would be
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TESTS = ROOT / "tests/clients/postgres_regress"
TARGET = ROOT / "docs/guide/postgres-regress.md"

HEAD = """\
# PostgreSQL's own regression tests

Written by `tools/postgres_regress_page.py` from `tests/clients/postgres_regress/floor.json`; do not edit.

Each file of PostgreSQL 15's `src/test/regress` goes through psql on a real PostgreSQL 15 and on a new SQLite file
behind the door. A statement is *equal* when psql prints the same: rows, headings, tags, SQLSTATE, message, detail, hint
and position (rows that nobody asked an order of may come in another). *Bad* are those that nobody may meet unwarned:
another answer, an error of PostgreSQL that is none here, no answer in time. The rest is refused with an error, most by
name (`0A000`). EXPLAIN is not counted: its plans are SQLite's. A file needs tables of earlier ones, so that what one of
them lacks shows in later ones again.

`python -m tests.clients.postgres_regress.run` measures; a file that falls below its line here fails it, and CI does so
with a part.
"""


def _table(names: Iterable[str], scores: dict[str, dict[str, int]]) -> tuple[list[str], str]:
    """The lines of some files, and their sum."""
    lines = []
    total = {"equal": 0, "of": 0, "bad": 0}
    for name in sorted(names):
        score = scores[name]
        total = {key: value + score[key] for key, value in total.items()}
        lines.append(f"| `{name}` | {_row(score)} |")
    return lines, _row(total)


def _row(score: dict[str, int]) -> str:
    share = 100 * score["equal"] / max(score["of"], 1)
    return f"{score['equal']:,} | {score['of']:,} | {share:.1f} % | {score['bad']:,}"


def page() -> str:
    """What the page ought to be."""
    scores: dict[str, dict[str, int]] = json.loads((TESTS / "floor.json").read_text())["whole"]
    users = set((TESTS / "users.txt").read_text().split()) & set(scores)
    head = "| file | equal | of | | bad |\n|---|--:|--:|--:|--:|"
    met, sum_met = _table(users, scores)
    others, sum_others = _table(set(scores) - users, scores)
    _, whole = _table(scores, scores)
    parts = [
        HEAD,
        f"| | equal | of | | bad |\n|---|--:|--:|--:|--:|\n| what users of a server can meet | {sum_met} |\n"
        f"| what tests PostgreSQL's inner life | {sum_others} |\n| all | {whole} |\n",
        "## What users of a server can meet\n",
        "\n".join([head, *met]) + "\n",
        "## PostgreSQL's inner life\n",
        "\n".join([head, *others]) + "\n",
    ]
    return "\n".join(parts)


def main() -> int:
    """Write or check."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="fail when the page is not what it would be")
    if not parser.parse_args().check:
        TARGET.write_text(page())
        return 0
    if TARGET.exists() and TARGET.read_text() == page():
        return 0
    print(f"{TARGET.relative_to(ROOT)} is stale: run `python tools/postgres_regress_page.py`", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
