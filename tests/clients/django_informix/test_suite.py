"""A part of Django's own suite with our backend for Informix."""

from __future__ import annotations

import pytest

from tests.clients import suite
from tests.clients.django import run
from tests.clients.django_informix.run import INFORMIX


@pytest.mark.timeout(660)
def test_what_djangos_own_suite_passes_stays() -> None:
    result, _ = INFORMIX.run(run.PART)
    assert not suite.below(result, INFORMIX.floor(part=True))
