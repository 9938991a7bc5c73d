from __future__ import annotations

import faulthandler
from collections.abc import Iterator

import pytest

from tests.chaos.talks import WATCHDOG


@pytest.fixture(autouse=True)
def watchdog() -> Iterator[None]:
    """Ends the process with the stacks of all threads when something hangs."""
    faulthandler.dump_traceback_later(5 * WATCHDOG, exit=True)
    yield
    faulthandler.cancel_dump_traceback_later()
