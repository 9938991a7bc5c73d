"""Every test here runs with both colours of the driver."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.python.informix.replay import Driver


@pytest.fixture(params=["blocking", "asyncio"])
def driver(request: pytest.FixtureRequest) -> Iterator[Driver]:
    """The driver, blocking and asyncio."""
    driver = Driver(request.param)
    yield driver
    driver.close()
