"""A part of SQLAlchemy's own suite of its PostgreSQL dialect."""

from __future__ import annotations

import pytest

from tests.clients import suite
from tests.clients.sqlalchemy import run
from tests.servers.rowferry import Rowferry


@pytest.mark.timeout(660)
def test_what_sqlalchemys_own_suite_passes_stays(served: Rowferry) -> None:
    # Its source is a distribution of the package index, as everything that is installed here: without one this fails.
    assert not suite.below(run.run(served.postgres_dsn, arguments=run.PART), run.PART_FLOOR)
