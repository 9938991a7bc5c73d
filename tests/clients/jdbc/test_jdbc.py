"""IBM's JDBC driver, unchanged, against the Informix door: a tour of what programs do with it, with each version.

The checks stand in the Java sources, a file per theme; here one test per theme says which did not hold.
"""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from tests.clients.jdbc import build
from tests.servers.rowferry import Rowferry

#: Themes with the least number of checks that each must make: a theme that ends early must not look right.
THEMES = {
    "connecting": 15,
    "types": 120,
    "batches": 15,
    "cursors": 32,
    "changing": 13,
    "keys": 60,
    "transactions": 20,
    "objects": 36,
    "routines": 10,
    "stopping": 4,
    "failures": 25,
    "catalog": 25,
    "descriptions": 13,
    "distributed": 2,
    "pools": 5,
    "databases": 16,
    "text": 8,
    "composites": 26,
}


@dataclass
class Walk:
    """A tour's answers, and the server that gave them."""

    server: Rowferry
    answers: list[dict[str, Any]]


@pytest.fixture(scope="module", params=build.VERSIONS)
def walk(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Walk]:
    build.build(request.param)
    directory = tmp_path_factory.mktemp("jdbc")
    (directory / "more").mkdir()
    args = ("--user", "informix:in4mix", "--databases", str(directory / "more"))
    with Rowferry.start(directory / "testdb.db", postgres=False, informix=True, args=args) as server:
        assert server.informix is not None
        host, port = server.informix
        yield Walk(server, build.tour(host, port, server.dbname, version=request.param))


@pytest.mark.timeout(600)
@pytest.mark.parametrize("theme", THEMES)
def test_every_check_of_the_theme_holds(walk: Walk, theme: str) -> None:
    checks = [answer for answer in walk.answers if answer["theme"] == theme and "check" in answer]
    failures = [
        f"{check['check']}:\n    expected {check['expected']}\n    found    {check['actual']}"
        for check in checks
        if not check["holds"]
    ]
    assert not failures, "\n".join(failures)
    assert len(checks) >= THEMES[theme]


@pytest.mark.timeout(600)
def test_the_tour_leaves_a_sound_file_without_its_tables(walk: Walk) -> None:
    with contextlib.closing(sqlite3.connect(f"file:{walk.server.database}?mode=ro", uri=True)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        names = [name for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
    assert [name for name in names if name.startswith("t_")] == []
