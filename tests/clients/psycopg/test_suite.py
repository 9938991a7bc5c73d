"""psycopg 3's own suite, for those who have a checkout of it."""

from __future__ import annotations

import pytest

from tests.clients import suite
from tests.clients.psycopg import run
from tests.servers.availability import not_tested
from tests.servers.rowferry import Rowferry


@pytest.mark.timeout(run.SECONDS + 60)
def test_what_psycopgs_own_suite_passes_stays(served: Rowferry) -> None:
    try:
        run.checkout()
    except run.Unavailable as reason:
        not_tested("psycopg's own suite", reason)
    assert not suite.below(run.run(served.postgres_dsn), run.FLOOR)
