"""The pytest plugin, the test cases of the standard library, and Django's runner, each run as a user runs them."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

_CONFTEST = """\
import psycopg
import pytest


def migrate(database):
    with open("migrations", "a") as log:
        log.write("one\\n")
    with psycopg.connect(database.url) as connection:
        connection.execute("CREATE TABLE orders (id serial PRIMARY KEY, city text)")
        connection.execute("INSERT INTO orders (city) VALUES ('Oslo')")


@pytest.fixture(scope="session")
def rowferry_prepare():
    return migrate


@pytest.fixture(scope="session")
def rowferry_prepare_informix():
    def prepare(database):
        from rowferry import informix

        with informix.connect(**database.informix_parameters) as connection:
            connection.cursor().execute("CREATE TABLE stock (sku SERIAL, name VARCHAR(20))")
            connection.commit()

    return prepare
"""

_TESTS = """\
import asyncio

import asyncpg
import psycopg
import pytest
from rowferry import informix


@pytest.mark.parametrize("number", range(20))
def test_alone(rowferry_postgres, number):
    with psycopg.connect(rowferry_postgres.url) as connection:
        connection.execute("INSERT INTO orders (city) VALUES ('Bergen')")
        assert connection.execute("SELECT id, city FROM orders ORDER BY id").fetchall() == [(1, "Oslo"), (2, "Bergen")]


def test_asyncio(rowferry_postgres):
    async def count():
        connection = await asyncpg.connect(rowferry_postgres.url)
        try:
            return await connection.fetchval("SELECT count(*) FROM orders")
        finally:
            await connection.close()

    assert asyncio.run(count()) == 1


def test_informix(rowferry_informix):
    with informix.connect(**rowferry_informix.informix_parameters) as connection:
        cursor = connection.cursor()
        cursor.execute("INSERT INTO stock VALUES (0, 'rope')")
        cursor.execute("SELECT * FROM stock")
        assert cursor.fetchall() == [(1, "rope")]
"""


def run(words: list[str], directory: Path) -> str:
    """What a program prints, which must succeed."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST")}
    done = subprocess.run(
        [sys.executable, *words],
        cwd=directory,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=100,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "conftest.py").write_text(_CONFTEST)
    (tmp_path / "test_orders.py").write_text(_TESTS)
    return tmp_path


def test_fixtures(project: Path) -> None:
    assert "22 passed" in run(["-m", "pytest", "-q", "-p", "no:cacheprovider"], project)
    assert (project / "migrations").read_text() == "one\n"


def test_fixtures_in_several_processes(project: Path) -> None:
    assert "22 passed" in run(["-m", "pytest", "-q", "-p", "no:cacheprovider", "-n", "3"], project)
    # Once in each.
    assert 1 <= len((project / "migrations").read_text().split()) <= 3


def test_the_plugin_lists_its_fixtures(project: Path) -> None:
    listed = run(["-m", "pytest", "--fixtures", "-q"], project)
    assert re.search(r"rowferry_postgres .*\n\s+A fresh database for this test", listed)


def test_cases_of_the_standard_library(tmp_path: Path) -> None:
    (tmp_path / "test_cases.py").write_text(
        """\
import unittest

import asyncpg
import psycopg
from rowferry.testing.unittest import DatabaseTestCase, IsolatedAsyncioDatabaseTestCase


class Orders(DatabaseTestCase):
    @classmethod
    def prepare(cls, database):
        with psycopg.connect(database.url) as connection:
            connection.execute("CREATE TABLE orders (id int)")

    def insert(self):
        with psycopg.connect(self.database.url) as connection:
            connection.execute("INSERT INTO orders VALUES (1)")
            self.assertEqual(connection.execute("SELECT count(*) FROM orders").fetchone(), (1,))

    test_one = insert
    test_other = insert


class Async(IsolatedAsyncioDatabaseTestCase):
    async def test_empty(self):
        connection = await asyncpg.connect(self.database.url)
        self.assertEqual(await connection.fetchval("SELECT 42"), 42)
        await connection.close()


if __name__ == "__main__":
    unittest.main()
"""
    )
    assert "Ran 3 tests" in run(["test_cases.py"], tmp_path)


def test_djangos_runner(tmp_path: Path) -> None:
    (tmp_path / "shop").mkdir()
    (tmp_path / "shop" / "__init__.py").touch()
    (tmp_path / "shop" / "models.py").write_text(
        """\
from django.db import models


class Order(models.Model):
    city = models.CharField(max_length=40)
    tags = models.JSONField(default=list)
"""
    )
    (tmp_path / "shop" / "tests.py").write_text(
        """\
from django.db import connection
from django.test import TestCase, TransactionTestCase

from .models import Order


class InTransaction(TestCase):
    def test_order(self):
        Order.objects.create(city="Oslo", tags=["a"])
        self.assertEqual(Order.objects.filter(tags__contains=["a"]).count(), 1)
        self.assertEqual(connection.vendor, "postgresql")


class Flushed(TransactionTestCase):
    def test_order(self):
        Order.objects.create(city="Bergen")
        self.assertEqual([order.city for order in Order.objects.all()], ["Bergen"])
"""
    )
    (tmp_path / "settings.py").write_text(
        """\
SECRET_KEY = "for tests"
INSTALLED_APPS = ["shop"]
USE_TZ = True
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
DATABASES = {"default": {"ENGINE": "django.db.backends.postgresql", "NAME": "shop", "HOST": "db.invalid"}}
TEST_RUNNER = "rowferry.testing.django.RowferryRunner"
"""
    )
    words = ["-W", "ignore", "-m", "django", "test", "--settings", "settings", "--pythonpath", str(tmp_path)]
    assert "Ran 2 tests" in run(words, tmp_path)
    assert "Ran 2 tests" in run([*words, "--parallel", "2"], tmp_path)
