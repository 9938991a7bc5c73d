"""What PyMySQL passes of its own suite on the MySQL door."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.clients.mysql_drivers import run, sources
from tests.servers.availability import not_tested


@pytest.mark.timeout(600)
def test_pymysqls_own_suite_on_the_door(tmp_path: Path) -> None:
    """At least so many of its tests pass as `door.json` says; `docs/guide/mysql-door.md` says what is not there."""
    floor = json.loads((Path(__file__).parent / "door.json").read_text())["pymysql"]
    with run.start("rowferry", tmp_path) as server:
        try:
            # pytest stumbles over what is collected while it reads the source of a failure.
            result = run.run("pymysql", server, ["--tb=no"], driver="theirs")
        except sources.Unavailable as reason:
            not_tested("the suite of pymysql", reason)
    assert len(result.passed) >= floor, "\n".join(sorted(result.failed))
