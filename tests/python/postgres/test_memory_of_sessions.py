"""What a connection costs the server: the pages of its process that nobody shares, over many idle connections."""

from __future__ import annotations

import re
import time
from contextlib import ExitStack
from pathlib import Path

import psycopg

from tests.servers.rowferry import Rowferry

SESSIONS = 100
STATEMENTS = 10


def private(server: Rowferry) -> float:
    """Kilobytes of the server that are its own, when it has come to rest."""
    time.sleep(0.3)
    pages = Path(f"/proc/{server.pid}/smaps_rollup").read_text()
    return sum(float(found) for found in re.findall(r"^Private_Dirty: +(\d+)", pages, re.M))


def test_a_session_and_its_statements_stay_small(tmp_path: Path) -> None:
    with Rowferry.start(tmp_path / "app.db", args=["--durability", "off"]) as server, ExitStack() as stack:

        def connect() -> psycopg.Connection:
            return stack.enter_context(psycopg.connect(server.postgres_dsn, autocommit=True))

        first = connect()
        first.execute("create table t (id int primary key, v text)")
        first.execute("insert into t select g, 'v' || g from generate_series(1, 1000) g")
        first.execute("select v from t where id = 5")
        before = private(server)
        sessions = [connect() for _ in range(SESSIONS)]
        connected = private(server)
        for session in sessions:
            session.execute("select v from t where id = 5")
        used = private(server)
        for session in sessions:
            for at in range(STATEMENTS):
                session.execute(f"select v, {at} as c{at} from t where id = %s", [at], prepare=True)
        prepared = private(server)
    assert (connected - before) / SESSIONS < 100
    assert (used - connected) / SESSIONS < 120
    assert (prepared - used) / SESSIONS / STATEMENTS < 6
