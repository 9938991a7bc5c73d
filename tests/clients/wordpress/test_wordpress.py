"""WordPress itself, on MariaDB and on the MySQL door: it is installed, filled, searched, and finds the same on both."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.clients import recorded
from tests.servers import debian_sid
from tests.servers.availability import not_tested
from tests.servers.mariadb import MariaDB
from tests.servers.mysql_door import MySQLDoor

_TOUR = Path(__file__).with_name("tour.php")


@pytest.fixture(scope="module")
def wordpress() -> Path:
    """Where WordPress lies, as Debian 12 packs it."""
    if shutil.which("php") is None:
        not_tested("WordPress", "`php` is not installed (Debian packages php-cli and php-mysql)")
    try:
        return debian_sid.unpack("wordpress", suite="bookworm", dependencies=False) / "usr/share/wordpress"
    except debian_sid.Unavailable as reason:
        not_tested("WordPress", reason)


def _steps(wordpress: Path, dsn: dict[str, Any]) -> dict[str, str]:
    place = f"{dsn['host']}:{dsn['port']}"
    command = ["php", _TOUR, wordpress, place, dsn["user"], dsn["password"] or "none", dsn["database"]]
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", timeout=150)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    return recorded.answers(done.stdout)


@pytest.mark.timeout(400)
def test_a_blog_is_the_same_on_both(wordpress: Path) -> None:
    with MariaDB.start() as server:
        theirs = _steps(wordpress, server.dsn)
    with MySQLDoor.start() as door:
        ours = _steps(wordpress, door.dsn)
    assert len(theirs) == 23
    for step, said in theirs.items():
        assert ours.get(step) == said, step
