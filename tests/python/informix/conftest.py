"""Tests of the Informix driver. Most run with both colours of the driver.

Those that ask for `informix_url`, `target` or `connect` run against a live server, too, by `make test-informix`; their
marker is `live`. The others need our own server, or a recorded conversation.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.python.informix import server as servers
from tests.python.informix.replay import Driver
from tests.python.informix.server import Target


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what can run against a live server."""
    for item in items:
        names = getattr(item, "fixturenames", ())
        if "target" in names and "server" not in names:
            item.add_marker("live")


@pytest.fixture(params=["blocking", "asyncio"])
def driver(request: pytest.FixtureRequest) -> Iterator[Driver]:
    """The driver, blocking and asyncio."""
    driver = Driver(request.param)
    yield driver
    driver.close()


@pytest.fixture(scope="session")
def target() -> Iterator[Target]:
    """A database for all tests, on our own server, or on the live one of `INFORMIX_URL`."""
    with servers.target() as target:
        yield target


@pytest.fixture(scope="session")
def informix_url(target: Target) -> str:
    """Where that database is."""
    return target.url


@pytest.fixture
def connect(driver: Driver, target: Target) -> Iterator[Any]:
    """Makes connections to that database, and closes them."""
    connections = []

    def connect(**parameters: Any) -> Any:
        connection = driver.connect(target.url, **(target.parameters | parameters))
        connections.append(connection)
        return connection

    yield connect
    for connection in connections:
        connection.close()


@pytest.fixture
def table(request: pytest.FixtureRequest) -> str:
    """A name for a table of the test's own."""
    return "t" + "".join(c if c.isalnum() else "_" for c in request.node.name).lower()[-60:]
