"""psycopg2's own suite."""

from __future__ import annotations

import pytest

from tests.clients import suite
from tests.clients.psycopg2 import run
from tests.servers.rowferry import Rowferry


@pytest.mark.timeout(run.SECONDS + 60)
def test_what_psycopg2s_own_suite_passes_stays(served: Rowferry) -> None:
    # Its source is a distribution of the package index, as everything that is installed here: without one this fails.
    assert not suite.below(run.run_on(served), run.FLOOR)
