"""Tours of Ruby's clients, as Debian packs them, at the doors of MySQL and PostgreSQL."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.clients import tours
from tests.servers.availability import not_tested

_HERE = Path(__file__).parent
_BOTH = ["active_record", "sequel"]


@pytest.fixture(scope="module")
def ruby() -> str:
    found = shutil.which("ruby")
    needed = ["mysql2", "pg", "active_record", "sequel"]
    if found is None or subprocess.run([found, *(f"-r{name}" for name in needed), "-e", ""], check=False).returncode:
        packages = "ruby, ruby-mysql2, ruby-pg, ruby-activerecord, ruby-sequel"
        not_tested("Ruby's clients", f"Debian's packages are not all installed: {packages}")
    return found


@pytest.mark.timeout(400)
@pytest.mark.parametrize("tour", [*_BOTH, "active_record prepared", "mysql2"])
def test_a_tour_finds_what_it_finds_on_mysql(tour: str, mysql_tour_servers: tours.MySQLServers, ruby: str) -> None:
    program, *variant = tour.split()
    command = ["env", f"TOUR_VARIANT={''.join(variant)}", ruby, f"{program}.rb"]
    found = mysql_tour_servers.compare(f"mysql {tour}", command, _HERE / "differences.txt", directory=_HERE)
    assert not found, "\n".join(found)


@pytest.mark.timeout(400)
@pytest.mark.parametrize("tour", [*_BOTH, "pg"])
def test_a_tour_finds_what_it_finds_on_postgres(tour: str, tour_servers: tours.Servers, ruby: str) -> None:
    found = tour_servers.compare(f"postgres {tour}", [ruby, f"{tour}.rb"], _HERE / "differences.txt", directory=_HERE)
    assert not found, "\n".join(found)
