"""Django on `install_as_MySQLdb()`: migrations, the ORM, and Django's own test runner."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest
from rowferry import mysql

from tests.servers.mysql import MySQLServer

pytestmark = pytest.mark.on("mariadb", "mysql9")


def manage(server: MySQLServer, database: str, *command: str) -> str:
    """What a command of the project's `manage.py` prints."""
    parameters = {
        "HOST": server.host,
        "PORT": server.port,
        "USER": server.user,
        "PASSWORD": server.password,
        "NAME": database,
        "TEST": {"NAME": f"test_{database}", "CHARSET": "utf8mb4"},
    }
    package = "tests.clients.mysql_frameworks.django_shop"
    words = [sys.executable, "-W", "error", "-m", package, json.dumps(parameters), *command]
    environment = {**os.environ, "PYTHONWARNINGS": ""}
    done = subprocess.run(words, capture_output=True, text=True, timeout=110, env=environment)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def know_utc(server: MySQLServer) -> None:
    """Fill the tables of time zones with the one that Django converts from."""
    with (
        mysql.connect(**{**server.dsn, "database": "mysql"}, autocommit=True) as connection,
        connection.cursor() as cursor,
    ):
        if not cursor.execute("SELECT 1 FROM time_zone_name WHERE Name = 'UTC'"):
            cursor.execute("INSERT INTO time_zone (Use_leap_seconds) VALUES ('N')")
            zone = cursor.lastrowid
            cursor.execute("INSERT INTO time_zone_name VALUES ('UTC', %s)", (zone,))
            cursor.execute("INSERT INTO time_zone_transition_type VALUES (%s, 0, 0, 0, 'UTC')", (zone,))


def test_djangos_runner_makes_a_database_and_its_tests_pass(server: MySQLServer) -> None:
    know_utc(server)
    assert "\nOK" in manage(server, "django", "test", "tests.clients.mysql_frameworks.django_shop")


def test_migrations_forth_and_back(server: MySQLServer) -> None:
    with mysql.connect(**server.dsn) as connection, connection.cursor() as cursor:
        cursor.execute("CREATE DATABASE IF NOT EXISTS django_migrated CHARACTER SET utf8mb4")
    assert "No changes detected" in manage(server, "django_migrated", "makemigrations", "--check", "--dry-run")
    assert "Applying django_shop.0001_initial... OK" in manage(server, "django_migrated", "migrate")
    assert "Unapplying django_shop.0001_initial... OK" in manage(
        server, "django_migrated", "migrate", "django_shop", "zero"
    )
    assert "[ ] 0001_initial" in manage(server, "django_migrated", "showmigrations", "django_shop")
