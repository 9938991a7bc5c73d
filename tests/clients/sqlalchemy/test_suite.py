"""SQLAlchemy's own suites of its dialects, or parts of them."""

from __future__ import annotations

import pytest

from tests.clients import suite
from tests.clients.sqlalchemy import run
from tests.servers.rowferry import Rowferry

# Its source is a distribution of the package index, as everything that is installed here: without one these fail.


@pytest.mark.timeout(660)
def test_what_sqlalchemys_own_suite_passes_stays(served: Rowferry) -> None:
    result = run.run(run.POSTGRES, served.postgres_dsn, arguments=run.POSTGRES.part)
    assert not suite.below(result, run.POSTGRES.floor("part"))


@pytest.mark.timeout(660)
def test_what_the_suite_of_mysqls_dialect_passes_stays() -> None:
    with run.MYSQL.door() as url:
        assert not suite.below(run.run(run.MYSQL, url), run.MYSQL.floor())


@pytest.mark.timeout(660)
def test_what_mysqls_dialect_passes_of_the_suite_of_all_stays() -> None:
    with run.MYSQL.door() as url:
        assert not suite.below(run.run(run.MYSQL, url, arguments=run.SUITE), run.MYSQL.floor("suite"))
