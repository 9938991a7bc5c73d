"""`rowferry demo --create`: the sample store."""

from __future__ import annotations

import contextlib
import sqlite3
import subprocess
from pathlib import Path

from tests.servers.rowferry import find_rowferry


def test_store_is_an_ordinary_sqlite_file(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    subprocess.run([find_rowferry(), "demo", "--create", path], check=True, capture_output=True, timeout=60)
    with contextlib.closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
        total = sum(
            connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
            for table in ("customers", "orders", "items", "stock")
        )
    assert 19_000 < total < 22_000


def test_existing_file_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    path.write_text("mine")
    done = subprocess.run(
        [find_rowferry(), "demo", "--create", path],
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        timeout=60,
    )
    assert done.returncode == 1
    assert "exists" in done.stderr
    assert path.read_text() == "mine"
