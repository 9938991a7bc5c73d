"""A server for the module, and clients of it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.servers.rowferry import Rowferry

from .wire import Client


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rowferry]:
    """One server for the module; each test makes tables of its own."""
    file = tmp_path_factory.mktemp("mysql") / "app.db"
    with Rowferry.start(file, postgres=False, mysql=True) as server:
        yield server


@pytest.fixture
def client(server: Rowferry) -> Iterator[Client]:
    """A client that is in."""
    assert server.mysql is not None
    with Client(server.mysql, database="app") as client:
        yield client


@pytest.fixture
def table(client: Client, request: pytest.FixtureRequest) -> Iterator[str]:
    """A name for a table, which is gone afterwards."""
    name = f"t_{abs(hash(request.node.nodeid)):x}"
    yield name
    client.query(f"DROP TABLE IF EXISTS {name}")
