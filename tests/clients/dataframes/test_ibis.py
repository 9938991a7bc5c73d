"""Ibis by its backend for PostgreSQL: it finds on ours what it finds on a real PostgreSQL 15."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.clients.tours import Servers

_HERE = Path(__file__).parent


@pytest.mark.timeout(300)
def test_a_tour_finds_what_it_finds_on_postgresql(tour_servers: Servers) -> None:
    command = [sys.executable, _HERE / "ibis_tour.py"]
    found = tour_servers.compare("ibis", command, _HERE / "differences.txt", directory=_HERE)
    assert not found, "\n".join(found)
