"""Tours of Perl's clients, as Debian packs them, at the doors of MySQL and PostgreSQL."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.clients import tours
from tests.servers.availability import not_tested

_HERE = Path(__file__).parent
_MODULES = ["DBD::mysql", "DBD::MariaDB", "DBD::Pg", "DBIx::Class", "DBIx::Class::Schema::Loader", "SQL::Translator"]


@pytest.fixture(scope="module")
def perl() -> str:
    found = shutil.which("perl")
    if found is None or subprocess.run([found, *(f"-M{name}" for name in _MODULES), "-e", "1"], check=False).returncode:
        packages = "libdbd-mysql-perl, libdbd-mariadb-perl, libdbd-pg-perl, libdbix-class-schema-loader-perl"
        not_tested("Perl's clients", f"Debian's packages are not all installed: {packages}, libsql-translator-perl")
    return found


@pytest.mark.timeout(400)
@pytest.mark.parametrize("tour", ["dbi mysql", "dbi MariaDB", "dbic"])
def test_a_tour_finds_what_it_finds_on_mysql(tour: str, mysql_tour_servers: tours.MySQLServers, perl: str) -> None:
    program, *driver = tour.split()
    command = ["env", f"TOUR_DRIVER={''.join(driver)}", perl, f"{program}.pl"]
    found = mysql_tour_servers.compare(f"mysql {tour}", command, _HERE / "differences.txt", directory=_HERE)
    assert not found, "\n".join(found)


@pytest.mark.timeout(400)
@pytest.mark.parametrize("tour", ["dbi", "dbic"])
def test_a_tour_finds_what_it_finds_on_postgres(tour: str, tour_servers: tours.Servers, perl: str) -> None:
    command = ["env", "TOUR_DRIVER=Pg", perl, f"{tour}.pl"]
    found = tour_servers.compare(f"postgres {tour}", command, _HERE / "differences.txt", directory=_HERE)
    assert not found, "\n".join(found)
