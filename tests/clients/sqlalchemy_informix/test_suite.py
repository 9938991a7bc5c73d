"""What SQLAlchemy asks of every dialect, asked of ours for Informix."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.clients import suite
from tests.clients.sqlalchemy_informix import run
from tests.python.informix.server import serve


@pytest.mark.timeout(660)
@pytest.mark.parametrize("driver", run.DRIVERS)
def test_what_sqlalchemy_asks_of_dialects_stays(driver: str, tmp_path: Path) -> None:
    with serve(tmp_path / "app.db") as server:
        assert not suite.below(run.run(server, driver), run.FLOOR)
