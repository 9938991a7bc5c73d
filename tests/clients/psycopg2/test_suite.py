"""psycopg2's own suite."""

from __future__ import annotations

import pytest

from tests.clients import suite
from tests.clients.mysql_drivers import sources
from tests.clients.psycopg2 import run
from tests.servers.rowferry import Rowferry


@pytest.mark.timeout(run.SECONDS + 60)
def test_what_psycopg2s_own_suite_passes_stays(served: Rowferry) -> None:
    try:
        result = run.run_on(served)
    except sources.Unavailable as reason:
        pytest.skip(f"NOT TESTED with psycopg2's own suite: {reason}")
    assert not suite.below(result, run.FLOOR)
