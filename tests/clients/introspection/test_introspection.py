"""What frameworks and tools ask of the catalogs, beside PostgreSQL's recorded answers."""

from __future__ import annotations

from pathlib import Path

from tests.clients import recorded
from tests.clients.introspection.__main__ import differing, queries, reasons
from tests.clients.psql.describe.__main__ import make
from tests.servers.rowferry import Rowferry


def test_answers_are_postgresqls_but_for_known_reasons(tmp_path: Path) -> None:
    with Rowferry.start(tmp_path / "store.db", args=["--durability", "off"]) as server:
        make(server.postgres_dsn)
        found = differing(server.postgres_dsn)
    assert recorded.unexpected(found, reasons()) == []
    assert len(queries()) >= 100
