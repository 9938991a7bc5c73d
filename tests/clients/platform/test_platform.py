"""Programs that live on triggers, functions, roles and notifications, on a real PostgreSQL and on ours."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import pytest

from tests.clients import tours
from tests.servers.availability import not_tested

_HERE = Path(__file__).parent
_WANTED = _HERE.parents[2] / "requirements" / "platform.txt"
_OUTPUT = tours.CACHE / "platform"
_TOURS = ["procrastinate", "pghistory", "audit", "postgrest", "queue"]


@pytest.fixture(scope="module")
def installed() -> Path:
    """A directory of packages that only these tours need."""
    stamp = _OUTPUT / "stamp"
    if stamp.exists() and stamp.read_text() == _WANTED.read_text():
        return _OUTPUT
    shutil.rmtree(_OUTPUT, ignore_errors=True)
    try:
        pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-warn-conflicts"]
        tours.run([*pip, "--target", _OUTPUT, "--requirement", _WANTED], directory=_HERE, timeout=300)
    except tours.Unavailable as reason:
        not_tested("programs on triggers and functions", reason)
    stamp.write_text(_WANTED.read_text())
    return _OUTPUT


@pytest.mark.timeout(700)
@pytest.mark.parametrize("tour", _TOURS)
def test_a_tour_finds_what_it_finds_on_postgresql(
    tour: str, tour_servers: tours.Servers, installed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inherited = os.environ.get("PYTHONPATH", "")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, [str(_HERE), str(installed), inherited])))
    command = [sys.executable, _HERE / f"{tour}_tour.py"]
    found = tour_servers.compare(tour, command, _HERE / "differences.txt", directory=_HERE)
    assert not found, "\n".join(found)
