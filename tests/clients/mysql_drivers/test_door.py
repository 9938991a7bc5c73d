"""What drivers pass of their own suites on the MySQL door."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.clients.mysql_drivers import run, sources
from tests.servers.availability import not_tested

FLOORS: dict[str, int] = json.loads((Path(__file__).parent / "door.json").read_text())

#: Tests that a server passes which is slow enough, and so count for nobody: this one asks for the connection while
#: another thread reads 20,000 rows from it, and expects to come in time.
RACES = {"test_connection::test_result_concurrent_use_raises"}


@pytest.mark.timeout(600)
@pytest.mark.parametrize("driver", FLOORS)
def test_a_drivers_own_suite_on_the_door(driver: str, tmp_path: Path) -> None:
    """At least so many of its tests pass as `door.json` says; `docs/guide/mysql-door.md` says what is not there."""
    if not run.is_here(driver):
        not_tested(f"the suite of {driver}", "the driver itself is not installed")
    with run.start("rowferry", tmp_path) as server:
        try:
            # pytest stumbles over what is collected while it reads the source of a failure.
            result = run.run(driver, server, ["--tb=no"], driver="theirs")
        except sources.Unavailable as reason:
            not_tested(f"the suite of {driver}", reason)
    assert len(set(result.passed) - RACES) >= FLOORS[driver], "\n".join(sorted(result.failed))
