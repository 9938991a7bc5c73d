"""Tours of Go's clients, as its module proxy has them: pgx, lib/pq, gorm; for MySQL go-sql-driver, gorm, sqlx, bun,
xorm, golang-migrate and goose."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.clients import tours
from tests.servers.availability import not_tested

_HERE = Path(__file__).parent
_OUTPUT = tours.CACHE / "go"


def _go() -> str:
    """The `go` command; `Unavailable` when it is older than the module asks for."""
    wanted = re.search(r"^go (\d+)\.(\d+)", (_HERE / "go.mod").read_text(), re.MULTILINE)
    assert wanted, "go.mod names a version"
    found = shutil.which("go") or shutil.which("/usr/local/go/bin/go")
    if found is None:
        raise tours.Unavailable("`go` is not installed (Debian package golang)")
    told = subprocess.run([found, "env", "GOVERSION"], capture_output=True, text=True, timeout=60, check=True).stdout
    version = re.match(r"go(\d+)\.(\d+)", told)
    if version is None or tuple(map(int, version.groups())) < tuple(map(int, wanted.groups())):
        raise tours.Unavailable(f"`go` is {told.strip()}; the tours need {wanted[0]}")
    return found


@pytest.fixture(scope="module")
def programs() -> Path:
    """The directory with the tours, built; go.sum says what everything that they import must be."""
    try:
        go = _go()
        _OUTPUT.mkdir(parents=True, exist_ok=True)
        # With its own cache it builds what has changed.
        tours.run([go, "build", "-mod=readonly", "-o", f"{_OUTPUT}/", "./..."], directory=_HERE, timeout=300)
    except tours.Unavailable as reason:
        not_tested("Go's clients", reason)
    return _OUTPUT


@pytest.mark.timeout(700)
@pytest.mark.parametrize("tour", ["pgx", "libpq", "gorm"])
def test_a_tour_finds_what_it_finds_on_postgresql(tour: str, tour_servers: tours.Servers, programs: Path) -> None:
    found = tour_servers.compare(tour, [programs / tour], _HERE / "differences.txt", directory=programs)
    assert not found, "\n".join(found)


@pytest.mark.timeout(700)
@pytest.mark.parametrize("tour", ["mysqldriver", "gormmysql", "sqlx", "bun", "xorm", "migrations"])
def test_a_tour_finds_what_it_finds_on_mysql(tour: str, mysql_tour_servers: tours.MySQLServers, programs: Path) -> None:
    found = mysql_tour_servers.compare(tour, [programs / tour], _HERE / "differences_mysql.txt", directory=programs)
    assert not found, "\n".join(found)
