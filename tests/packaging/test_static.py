"""The static binary, alone in an empty root: `make test-packages`, which makes it."""

from __future__ import annotations

import json
import os
import platform
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from tests.servers.process import Process

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A directory with the binary and nothing else, but for a place for temporary files."""
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    binary = target / f"{platform.machine()}-unknown-linux-musl" / "dist" / "rowferry"
    root = tmp_path_factory.mktemp("root")
    shutil.copy(binary, root / "rowferry")
    (root / "tmp").mkdir()
    yield root


def run(root: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["chroot", root, "/rowferry", *arguments], capture_output=True, text=True, timeout=60)


def test_it_needs_nothing(alone: Path) -> None:
    done = subprocess.run(["readelf", "-d", alone / "rowferry"], check=True, capture_output=True, text=True)
    assert "NEEDED" not in done.stdout
    assert run(alone, "--version").stdout.startswith("rowferry ")


def test_it_serves_and_asks_where_there_is_nothing_else(alone: Path) -> None:
    assert run(alone, "demo", "--create", "/store.db").returncode == 0
    command = ["chroot", alone, "/rowferry", "serve", "/store.db", "--postgres", "127.0.0.1:0", "--tls", "--json"]
    server = Process(command, lambda line: '"listening"' in line)
    try:
        server.wait_ready(60)
        assert server.ready_line is not None
        place = json.loads(server.ready_line)["postgres"]
        with psycopg.connect(f"postgresql://{place}/store?sslmode=require") as connection:
            rows = connection.execute("SELECT count(*), now() AT TIME ZONE 'Europe/Berlin' > '2020-01-01' FROM orders")
            assert rows.fetchone() == (5000, True)
        done = run(alone, "query", f"postgresql://{place}/store", "SELECT count(*) FROM orders", "--csv")
        assert (done.returncode, done.stdout) == (0, "count\n5000\n")
    finally:
        server.stop()
