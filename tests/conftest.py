"""Fixtures that every Python test may ask for: real servers, started once and stopped at the end."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.servers.mariadb import MariaDB


@pytest.fixture(scope="session")
def mariadb() -> Iterator[MariaDB]:
    """One MariaDB server for the whole session; make tables of your own in `server.database`."""
    with MariaDB.start() as server:
        yield server
