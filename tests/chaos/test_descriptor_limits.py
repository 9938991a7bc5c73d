"""A server that may open few files serves as many sessions as fit, and tells the others so at once."""

from __future__ import annotations

import resource
from contextlib import ExitStack
from pathlib import Path

import psycopg
import pytest

from tests.servers.rowferry import Rowferry

pytestmark = pytest.mark.skipif(not hasattr(resource, "prlimit"), reason="limits are set by Linux's prlimit")


def test_sessions_are_as_many_as_the_files_that_may_be_opened(tmp_path: Path) -> None:
    before = ["prlimit", "--nofile=256:256"]
    with (
        Rowferry.start(tmp_path / "app.db", before=before, args=["--max-connections", "100"]) as server,
        ExitStack() as stack,
    ):
        sessions: list[psycopg.Connection] = []
        with pytest.raises(psycopg.OperationalError, match="too many clients already"):
            while len(sessions) < 100:
                session = stack.enter_context(psycopg.connect(server.postgres_dsn, autocommit=True, connect_timeout=20))
                session.execute("create temp table t as select 1 as a")
                sessions.append(session)
        # Each that was let in can work, with files of its own.
        assert len(sessions) > 10
        for session in sessions:
            assert session.execute("select count(*) from t").fetchone() == (1,)


def test_the_soft_limit_of_files_is_raised(tmp_path: Path) -> None:
    before = ["prlimit", "--nofile=64:2048"]
    with Rowferry.start(tmp_path / "app.db", before=before) as server:
        assert resource.prlimit(server.pid, resource.RLIMIT_NOFILE) == (2048, 2048)
        with ExitStack() as stack:
            for _ in range(60):
                session = stack.enter_context(psycopg.connect(server.postgres_dsn, autocommit=True))
                assert session.execute("select 1").fetchone() == (1,)
