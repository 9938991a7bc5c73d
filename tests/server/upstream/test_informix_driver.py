"""informix-driver's own integration suite, unchanged, in front of a PostgreSQL server."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.clients.informix_driver import run
from tests.servers.postgres import PostgreSQL
from tests.servers.rowferry import Rowferry

from .conftest import make_database


@pytest.mark.timeout(900)
def test_the_suite_passes_as_over_a_file(postgres: PostgreSQL, tmp_path: Path) -> None:
    url, _behind = make_database(postgres, "testdb")
    args = ("--user", "informix:in4mix", "--beside", str(tmp_path / "beside.db"))
    with Rowferry.start(url, postgres=False, informix=True, args=args) as server:
        assert server.informix is not None
        result = run.run(*server.informix, environment={"IFX_UTF8_DATABASE": server.dbname})
    assert result.total == 473
    # One of them counts the threads of the client's own executor, and passes or not.
    assert len(result.passed) >= run.floor() - 1, "\n".join(result.failed)
