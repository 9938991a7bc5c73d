"""A part of SQLAlchemy's own suite of its PostgreSQL dialect."""

from __future__ import annotations

import pytest

from tests.clients import suite
from tests.clients.mysql_drivers import sources
from tests.clients.sqlalchemy import run
from tests.servers.rowferry import Rowferry


@pytest.mark.timeout(660)
def test_what_sqlalchemys_own_suite_passes_stays(served: Rowferry) -> None:
    try:
        result = run.run(served.postgres_dsn, arguments=run.PART)
    except sources.Unavailable as reason:
        pytest.skip(f"NOT TESTED with SQLAlchemy's own suite: {reason}")
    assert not suite.below(result, run.PART_FLOOR)
