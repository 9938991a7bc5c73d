"""Tours of Node's clients, as npm installs them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.clients import tours
from tests.servers.availability import not_tested

_HERE = Path(__file__).parent
_OUTPUT = tours.CACHE / "node"
_TOURS = ["pg", "postgresjs", "knex", "drizzle", "kysely", "sequelize", "typeorm", "prisma", "graphile", "pgboss"]
#: Tours of packages that older versions of Node do not run.
_SINCE = {"pgboss": 20}


@pytest.fixture(scope="module")
def installed() -> Path:
    try:
        return tours.installed(_HERE, _OUTPUT)
    except tours.Unavailable as reason:
        not_tested("Node's clients", reason)


@pytest.mark.timeout(700)
@pytest.mark.parametrize("tour", _TOURS)
def test_a_tour_finds_what_it_finds_on_postgresql(tour: str, tour_servers: tours.Servers, installed: Path) -> None:
    version = tours.run(["node", "--version"], directory=installed, timeout=30).strip()
    if int(version.removeprefix("v").partition(".")[0]) < _SINCE.get(tour, 0):
        not_tested(tour, f"it needs Node {_SINCE[tour]}, this is {version}")
    found = tour_servers.compare(tour, ["node", f"{tour}.js"], _HERE / "differences.txt", directory=installed)
    assert not found, "\n".join(found)
