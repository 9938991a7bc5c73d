"""docs/guide/postgres-monitoring.md says what statistics tell: its blocks of SQL are run, in order, in one database."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import psycopg

from tests.servers.rowferry import Rowferry

PAGE = Path(__file__).resolve().parents[3] / "docs" / "guide" / "postgres-monitoring.md"


def cases() -> Iterator[tuple[str, list[str]]]:
    """Each statement of the page, with the rows that stand behind it."""
    for block in re.findall(r"^```sql\n(.*?)^```", PAGE.read_text(), re.MULTILINE | re.DOTALL):
        for statement, rows in re.findall(r"((?:(?!-->).*\n)*?.*;)\n((?:--> .*\n)*)", block):
            yield statement.strip(), re.findall(r"--> (.*)", rows)


def test_the_page_tells_what_happens(tmp_path: Path) -> None:
    told = 0
    with Rowferry.start(tmp_path / "app.db", args=["--durability", "off"]) as server:
        with psycopg.connect(server.postgres_dsn, autocommit=True) as connection:
            for statement, rows in cases():
                cursor = connection.execute(statement)  # type: ignore[arg-type]
                if rows:
                    shown = [" | ".join("NULL" if value is None else str(value) for value in row) for row in cursor]
                    assert (statement, shown) == (statement, rows)
                    told += len(rows)
    assert told >= 4
