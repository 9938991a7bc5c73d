"""A tour of MySQL's and MariaDB's JDBC drivers on the MySQL door, which must find what it finds on MySQL."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.clients import recorded, tours
from tests.servers.availability import not_tested
from tests.servers.mysql import MySQL
from tests.servers.mysql_door import MySQLDoor

_HERE = Path(__file__).parent / "mysql"
_OUTPUT = tours.CACHE / "jvm-mysql"
_OPTIONS = {
    "mysql": "&sslMode=DISABLED&allowPublicKeyRetrieval=true",
    "mariadb": "&sslMode=disable&allowPublicKeyRetrieval=true",
}


@pytest.fixture(scope="module")
def classes() -> str:
    """The class path of the tours."""
    try:
        return tours.compiled(_HERE, _OUTPUT)
    except tours.Unavailable as reason:
        not_tested("MySQL's JDBC drivers", reason)


def _steps(driver: str, dsn: dict[str, Any], classes: str) -> dict[str, list[str]]:
    place = f"{dsn['host']}:{dsn['port']}/{dsn['database']}"
    url = f"jdbc:{driver}://{place}?user={dsn['user']}&password={dsn['password']}{_OPTIONS[driver]}"
    java = ["java", "-XX:TieredStopAtLevel=1", "-Xshare:auto", "-Dfile.encoding=UTF-8", "-cp", classes]
    printed = tours.run([*java, "tour.ConnectorTour", url], directory=_OUTPUT, timeout=180)
    return {step: said.splitlines() for step, said in recorded.answers(printed).items()}


@pytest.mark.timeout(600)
@pytest.mark.parametrize("driver", ["mysql", "mariadb"])
def test_a_tour_finds_what_it_finds_on_mysql(driver: str, classes: str) -> None:
    with MySQL.start() as server:
        theirs = _steps(driver, server.dsn, classes)
    with MySQLDoor.start() as door:
        ours = _steps(driver, door.dsn, classes)
    # What a driver cannot do on MySQL itself says nothing of us: MariaDB's, with a stream of MySQL's own.
    theirs = {step: said for step, said in theirs.items() if not any(line.startswith("FAILED") for line in said)}
    assert len(theirs) >= {"mysql": 47, "mariadb": 43}[driver]
    found = {step: (said, ours.get(step, [])) for step, said in theirs.items() if ours.get(step) != said}
    known = recorded.reasons(_HERE / "differences.txt")
    mine = {name.removeprefix(f"{driver}: "): why for name, why in known.items() if name.startswith(f"{driver}: ")}
    unexpected = recorded.unexpected(found, mine)
    assert not unexpected, "\n".join(unexpected)
