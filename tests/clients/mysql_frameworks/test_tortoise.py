"""Tortoise-ORM on `install_as_asyncmy()`."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from tests.servers.mysql import MySQLServer

from .databases import new_database

pytestmark = pytest.mark.on("mariadb", "mysql9")


def test_models(server: MySQLServer) -> None:
    # Tortoise imports its driver once and for all: a process of its own.
    with new_database(server, "tortoise") as database:
        words = [sys.executable, "-m", "tests.clients.mysql_frameworks.tortoise_shop"]
        credentials = json.dumps({**server.dsn, "database": database})
        done = subprocess.run([*words, credentials], capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done.stdout + done.stderr
        assert done.stdout == "all is well\n"
