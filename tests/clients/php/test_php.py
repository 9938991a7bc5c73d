"""Tours of PHP's clients, as Debian packs them, at the doors of MySQL and PostgreSQL."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.clients import tours
from tests.servers.availability import not_tested

_HERE = Path(__file__).parent
#: What the tours need that is not there; Debian's packages.
_NEEDED = {
    "/usr/share/php/Illuminate/Database/autoload.php": "php-illuminate-database",
    "/usr/share/php/Illuminate/Pagination/autoload.php": "php-illuminate-pagination",
    "/usr/share/php/Doctrine/ORM/autoload.php": "php-doctrine-orm",
}
_BOTH = ["eloquent", "doctrine", "doctrine native", "pdo"]


@pytest.fixture(scope="module")
def php() -> str:
    found = shutil.which("php")
    missing = [package for path, package in _NEEDED.items() if not Path(path).exists()]
    if found is None or missing:
        not_tested("PHP's clients", f"Debian's packages are not installed: php-cli, php-mysql, php-pgsql, {missing}")
    return found


def _command(php: str, tour: str) -> list[str]:
    """A tour, behind its name in which variant."""
    program, *variant = tour.split()
    return ["env", f"TOUR_VARIANT={''.join(variant)}", php, "-d", "mysqli.allow_local_infile=1", f"{program}.php"]


@pytest.mark.timeout(400)
@pytest.mark.parametrize("tour", [*_BOTH, "eloquent emulated", "mysqli"])
def test_a_tour_finds_what_it_finds_on_mysql(tour: str, mysql_tour_servers: tours.MySQLServers, php: str) -> None:
    found = mysql_tour_servers.compare(f"mysql {tour}", _command(php, tour), _HERE / "differences.txt", directory=_HERE)
    assert not found, "\n".join(found)


@pytest.mark.timeout(400)
@pytest.mark.parametrize("tour", [*_BOTH, "pg"])
def test_a_tour_finds_what_it_finds_on_postgres(tour: str, tour_servers: tours.Servers, php: str) -> None:
    found = tour_servers.compare(f"postgres {tour}", _command(php, tour), _HERE / "differences.txt", directory=_HERE)
    assert not found, "\n".join(found)
