"""A part of Django's own suite with its MySQL backend."""

from __future__ import annotations

import pytest

from tests.clients import suite
from tests.clients.django import run
from tests.clients.django_mysql.run import MYSQL


@pytest.mark.timeout(660)
def test_what_djangos_own_suite_passes_stays() -> None:
    result, _ = MYSQL.run(run.PART)
    assert not suite.below(result, MYSQL.floor(part=True))
