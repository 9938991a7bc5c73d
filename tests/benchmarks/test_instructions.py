"""What the hot paths cost in instructions, which does not depend on how busy the machine is."""

from __future__ import annotations

import pytest

from benchmarks.instructions import baseline
from benchmarks.instructions.__main__ import count
from benchmarks.instructions.paths import PATHS


@pytest.mark.timeout(600)
def test_no_hot_path_has_become_dearer() -> None:
    """`python -m benchmarks.instructions --write` accepts what is counted, when there is a reason to."""
    assert set(baseline.read()) <= set(PATHS)
    assert baseline.dearer(dict(count(list(PATHS.values())))) == []
