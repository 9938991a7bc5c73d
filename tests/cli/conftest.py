"""Running the command line, and files for it."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import subprocess
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

from tests.servers.rowferry import Rowferry, find_rowferry


def rowferry(
    *arguments: str | Path, stdin: str = "", env: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Runs a subcommand to its end."""
    return subprocess.run(
        [find_rowferry(), *arguments],
        input=stdin,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=120,
        env={**os.environ, **(env or {})},
    )


def sqlite(path: Path, *statements: str) -> list[tuple[object, ...]]:
    """What the last of these statements answers, on the file itself."""
    with contextlib.closing(sqlite3.connect(path, timeout=20)) as connection:
        rows: list[tuple[object, ...]] = []
        for statement in statements:
            rows = connection.execute(statement).fetchall()
        connection.commit()
        return rows


@pytest.fixture
def serve() -> Iterator[Callable[..., Rowferry]]:
    """Starts servers that end with the test."""
    with contextlib.ExitStack() as stack:
        yield lambda path, **options: stack.enter_context(Rowferry.start(path, **options))
