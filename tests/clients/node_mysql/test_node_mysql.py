"""Tours of Node's clients for MySQL, as npm installs them, at the MySQL door."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.clients import tours
from tests.servers.availability import not_tested

_HERE = Path(__file__).parent
_TOURS = ["mysql2", "mariadb", "knex", "drizzle", "kysely", "sequelize", "typeorm", "prisma"]


@pytest.fixture(scope="module")
def installed() -> Path:
    try:
        return tours.installed(_HERE, tours.CACHE / "node_mysql")
    except tours.Unavailable as reason:
        not_tested("Node's clients for MySQL", reason)


@pytest.mark.timeout(400)
@pytest.mark.parametrize("tour", _TOURS)
def test_a_tour_finds_what_it_finds_on_mysql(
    tour: str, mysql_tour_servers: tours.MySQLServers, installed: Path
) -> None:
    found = mysql_tour_servers.compare(tour, ["node", f"{tour}.js"], _HERE / "differences.txt", directory=installed)
    assert not found, "\n".join(found)
