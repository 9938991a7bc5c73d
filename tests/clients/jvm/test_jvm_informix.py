"""Tours of the JVM's tools on the Informix door, through IBM's driver: migrations, Hibernate, libraries of queries.

No Informix can be run here, so each step says itself what it expects. One that does not find it needs its reason in the
table of docs/guide/informix-frameworks.md.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.clients import recorded, tours
from tests.servers.availability import not_tested
from tests.servers.rowferry import Rowferry

_HERE = Path(__file__).parent / "informix"
_OUTPUT = tours.CACHE / "jvm-informix"
_PAGE = Path(__file__).parents[3] / "docs" / "guide" / "informix-frameworks.md"

#: Hibernate's version and the driver's beside it.
_VERSIONS = {"old": ("6.6.13.Final", "4.50.11"), "new": ("7.0.0.Final", "15.0.0.1")}
#: Tours, the versions that they run with, and the least number of steps: a tour that ends early must not look right.
#: Liquibase asks the connection for its URL, which version 15 of the driver does not tell.
TOURS = [
    ("FlywayTour", "new", 17),
    ("LiquibaseTour", "old", 18),
    ("HibernateTour", "old", 80),
    ("HibernateTour", "new", 80),
    ("LibrariesTour", "old", 67),
    ("LibrariesTour", "new", 67),
]


def _classes(versions: str) -> str:
    """The class path of the tours with these versions of Hibernate and the driver."""
    hibernate, driver = _VERSIONS[versions]
    return tours.compiled(_HERE, _OUTPUT / versions, hibernate=hibernate, driver=driver)


def answers(tour: str, versions: str, server: Rowferry, directory: Path) -> dict[str, str]:
    """What each step of a tour of a server says.

    Raises `tours.Unavailable` where the libraries cannot be had.
    """
    assert server.informix is not None
    host, port = server.informix
    java = ["java", "-XX:TieredStopAtLevel=1", "-Xshare:auto", "-Dfile.encoding=UTF-8", "-cp", _classes(versions)]
    printed = tours.run([*java, f"tour.{tour}", host, str(port), server.dbname], directory=directory, timeout=180)
    return recorded.answers(printed)


def documented(tour: str) -> set[str]:
    """The steps of a tour that are known not to pass."""
    return set(re.findall(rf"^\| `{tour}: ([^`]+)` \| \S", _PAGE.read_text(encoding="utf-8"), re.MULTILINE))


@pytest.mark.timeout(700)
@pytest.mark.parametrize(("tour", "versions", "least"), TOURS)
def test_every_step_of_the_tour_passes(tour: str, versions: str, least: int, tmp_path: Path) -> None:
    args = ("--durability", "off", "--user", "informix:in4mix")
    with Rowferry.start(tmp_path / "store.db", postgres=False, informix=True, args=args) as server:
        try:
            steps = answers(tour, versions, server, tmp_path)
        except tours.Unavailable as reason:
            not_tested("the JVM's tools on the Informix door", reason)
    failed = {step: said for step, said in steps.items() if not said.strip().endswith("ok")}
    assert set(failed) == documented(tour), failed
    assert len(steps) >= least
