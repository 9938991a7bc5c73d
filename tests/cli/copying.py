"""Running `rowferry copy`, and looking at what it has made."""

from __future__ import annotations

import json
import sqlite3
import subprocess
from pathlib import Path
from typing import Any

from tests.servers.rowferry import Rowferry, find_rowferry


def informix_url(server: Rowferry) -> str:
    assert server.informix is not None
    return "informix://informix:in4mix@{}:{}/{}".format(*server.informix, server.dbname)


def command(*arguments: str | Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [find_rowferry(), "copy", *arguments],
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=300,
        cwd=cwd,
        stdin=subprocess.DEVNULL,
    )


def copy(*arguments: str | Path, cwd: Path) -> dict[str, Any]:
    """What a copy that succeeds says that it did."""
    done = command(*arguments, "--yes", "--json", cwd=cwd)
    assert done.returncode == 0, done.stderr
    told: dict[str, Any] = json.loads(done.stdout)
    assert told["equal"]
    return told


def rows(path: Path, sql: str) -> list[tuple[Any, ...]]:
    with sqlite3.connect(path) as connection:
        return connection.execute(sql).fetchall()
