"""The suites of PyMySQL, mysqlclient, aiomysql and asyncmy with our driver under their names, on MariaDB and MySQL."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.clients.mysql_drivers import run, sources
from tests.servers import debian_sid
from tests.servers.availability import not_tested
from tests.servers.mysql import MySQLServer


@pytest.fixture(scope="module", params=["mariadb", "mysql"])
def server(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[MySQLServer]:
    """A server whose settings and users the suites may change."""
    try:
        started = run.start(request.param, Path(tmp_path_factory.mktemp("suites")))
    except debian_sid.Unavailable as reason:
        not_tested("MySQL 9.7", reason)
    with started:
        yield started


def run_or_skip(suite: str, server: MySQLServer, driver: str) -> run.Result:
    try:
        return run.run(suite, server, driver=driver)
    except sources.Unavailable as reason:
        not_tested(f"the suite of {suite}", reason)


@pytest.mark.timeout(600)
def test_what_pymysql_passes_of_its_own_suite_passes(server: MySQLServer) -> None:
    theirs, ours = run_or_skip("pymysql", server, "theirs"), run_or_skip("pymysql", server, "ours")
    known = run.floor("pymysql")
    lost = set(theirs.passed) - set(ours.passed)
    assert lost <= set(known["differences"]), "\n".join(sorted(lost - set(known["differences"])))
    assert len(theirs.passed) >= known["passed"]


@pytest.mark.timeout(600)
# `python -m tests.clients.mysql_drivers.run --server mysql` runs them on MySQL, too.
@pytest.mark.parametrize("server", ["mariadb"], indirect=True)
@pytest.mark.parametrize("suite", ["mysqlclient", "aiomysql", "asyncmy"])
def test_what_fails_of_the_others_suites_is_known(suite: str, server: MySQLServer) -> None:
    ours = run_or_skip(suite, server, "ours")
    known = run.floor(suite)
    unknown = set(ours.failed) - set(known["differences"])
    assert not unknown, "\n".join(sorted(unknown))
    assert len(ours.passed) >= known["passed"]
