"""Tours of the JVM's clients, as Maven builds them: pgjdbc, Hibernate, Flyway, Liquibase."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.clients import tours
from tests.servers.availability import not_tested

_HERE = Path(__file__).parent
_OUTPUT = tours.CACHE / "jvm"


@pytest.fixture(scope="module")
def classes() -> str:
    """The class path of the tours."""
    try:
        return tours.compiled(_HERE, _OUTPUT)
    except tours.Unavailable as reason:
        not_tested("the JVM's clients", reason)


@pytest.mark.timeout(700)
@pytest.mark.parametrize(
    "tour", ["JdbcQueries", "JdbcTypes", "JdbcStreams", "Hibernate", "FlywayTour", "LiquibaseTour"]
)
def test_a_tour_finds_what_it_finds_on_postgresql(tour: str, tour_servers: tours.Servers, classes: str) -> None:
    java = ["java", "-XX:TieredStopAtLevel=1", "-Xshare:auto", "-Dfile.encoding=UTF-8", "-cp", classes, f"tour.{tour}"]
    found = tour_servers.compare(tour, java, _HERE / "differences.txt", directory=_OUTPUT)
    assert not found, "\n".join(found)
