"""Tours of the JVM's clients, as Maven builds them: pgjdbc, Hibernate, Flyway, Liquibase."""

from __future__ import annotations

import hashlib
import shutil
from pathlib import Path

import pytest

from tests.clients import tours
from tests.servers.availability import not_tested

_HERE = Path(__file__).parent
_OUTPUT = tours.CACHE / "jvm"


@pytest.fixture(scope="module")
def classes() -> str:
    """The class path of the tours, compiled when they have changed; Maven fetches what the pom names."""
    try:
        for program in ("java", "javac", "mvn"):
            if shutil.which(program) is None:
                raise tours.Unavailable(
                    f"`{program}` is not installed (Debian packages default-jdk-headless and maven)"
                )
        wanted = hashlib.sha256()
        for path in [_HERE / "pom.xml", *sorted(_HERE.glob("src/**/*.java")), *sorted(_HERE.glob("resources/**/*.*"))]:
            wanted.update(path.read_bytes())
        stamp = _OUTPUT / "stamp"
        if not stamp.exists() or stamp.read_text() != wanted.hexdigest():
            shutil.rmtree(_OUTPUT, ignore_errors=True)
            _OUTPUT.mkdir(parents=True)
            command = ["mvn", "--quiet", "--batch-mode", "--file", _HERE / "pom.xml", f"-Doutput={_OUTPUT}", "compile"]
            tours.run(command, directory=_OUTPUT, timeout=300)
            stamp.write_text(wanted.hexdigest())
    except tours.Unavailable as reason:
        not_tested("the JVM's clients", reason)
    return f"{_OUTPUT}/classes:{_OUTPUT}/lib/*"


@pytest.mark.timeout(700)
@pytest.mark.parametrize(
    "tour", ["JdbcQueries", "JdbcTypes", "JdbcStreams", "Hibernate", "FlywayTour", "LiquibaseTour"]
)
def test_a_tour_finds_what_it_finds_on_postgresql(tour: str, tour_servers: tours.Servers, classes: str) -> None:
    java = ["java", "-XX:TieredStopAtLevel=1", "-Xshare:auto", "-Dfile.encoding=UTF-8", "-cp", classes, f"tour.{tour}"]
    found = tour_servers.compare(tour, java, _HERE / "differences.txt", directory=_OUTPUT)
    assert not found, "\n".join(found)
