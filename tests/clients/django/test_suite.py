"""A part of Django's own suite."""

from __future__ import annotations

import pytest

from tests.clients import suite
from tests.clients.django import run


@pytest.mark.timeout(660)
def test_what_djangos_own_suite_passes_stays() -> None:
    result, _ = run.POSTGRES.run(run.PART)
    assert not suite.below(result, run.POSTGRES.floor(part=True))
