"""Spark, Ray and Dask read tables of MariaDB and of the Informix door in parts, each on a cluster of this machine."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.clients import tours
from tests.clients.clusters.tables import make_informix, make_mysql
from tests.servers.availability import not_tested
from tests.servers.mariadb import MariaDB
from tests.servers.rowferry import Rowferry

_HERE = Path(__file__).parent
_ROOT = _HERE.parents[2]
_WANTED = _ROOT / "requirements" / "clusters.txt"
_OUTPUT = tours.CACHE / "clusters"
_LOG = ("--log-bin=binlog", "--binlog-format=ROW", "--server-id=7", "--binlog-row-metadata=FULL")


@pytest.fixture(scope="module")
def installed() -> Path:
    """A directory of packages that only these tours need."""
    stamp = _OUTPUT / "stamp"
    if stamp.exists() and stamp.read_text() == _WANTED.read_text():
        return _OUTPUT
    shutil.rmtree(_OUTPUT, ignore_errors=True)
    try:
        pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-warn-conflicts"]
        tours.run([*pip, "--target", _OUTPUT, "--requirement", _WANTED], directory=_HERE, timeout=600)
    except tours.Unavailable as reason:
        not_tested("Spark, Ray and Dask", reason)
    stamp.write_text(_WANTED.read_text())
    return _OUTPUT


@pytest.fixture(scope="module")
def urls(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, str]]:
    """A MariaDB and an Informix door with the same shop."""
    file = tmp_path_factory.mktemp("clusters") / "shop.db"
    with MariaDB.start(_LOG) as mariadb, Rowferry.start(file, args=["--informix", "127.0.0.1:0"]) as door:
        yield make_mysql(mariadb), make_informix(door)


@pytest.mark.timeout(900)
@pytest.mark.parametrize("tour", ["spark", "frames"])
def test_a_tour_reads_what_the_server_has(tour: str, installed: Path, urls: tuple[str, str], tmp_path: Path) -> None:
    path = os.pathsep.join(filter(None, [str(installed), str(_ROOT / "python"), os.environ.get("PYTHONPATH", "")]))
    environment = {
        **os.environ,
        "PYTHONPATH": path,
        "PYSPARK_PYTHON": sys.executable,
        "RAY_TMPDIR": "/tmp",
        "RAY_USAGE_STATS_ENABLED": "0",
    }
    command = [sys.executable, _HERE / f"{tour}_tour.py", *urls]
    done = subprocess.run(
        command, env=environment, cwd=tmp_path, capture_output=True, text=True, timeout=800, check=False
    )
    assert done.returncode == 0, done.stderr[-5000:]
    assert json.loads(done.stdout.splitlines()[-1])["different"] == [], done.stderr[-2000:]
