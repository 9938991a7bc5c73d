"""What reports of benchmarks say of themselves is so."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from tests.servers.availability import not_tested

ROOT = Path(__file__).resolve().parents[2]
#: Where this repository's history begins. A copy with another one knows nothing of its revisions.
FIRST_COMMIT = "53a0fab382b81bd654bb18ffee3ee15d0bffb389"
REPORTS = sorted((ROOT / "benchmarks" / "reports").glob("*.md"))


def git(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, timeout=60)


@pytest.mark.parametrize("path", REPORTS, ids=lambda path: path.stem)
def test_a_report_names_a_revision_that_there_is(path: Path) -> None:
    if FIRST_COMMIT not in git("rev-list", "--max-parents=0", "HEAD").stdout.split():
        not_tested("revisions of reports", "this is no clone with its whole history")
    named = re.findall(r"revision ([0-9a-f]{7,40})\b", path.read_text())
    assert named
    assert [revision for revision in named if git("cat-file", "-e", f"{revision}^{{commit}}").returncode != 0] == []
