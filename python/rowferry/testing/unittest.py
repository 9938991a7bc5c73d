"""Test cases of the standard library's kind, each test with a fresh database.

class Orders(rowferry.testing.unittest.DatabaseTestCase):
    @classmethod
    def prepare(cls, database):
        migrate(database.url)

    def test_total(self):
        with psycopg.connect(self.database.url) as connection: ...
"""

from __future__ import annotations

import atexit
import threading
import unittest
from typing import ClassVar

from . import Database, Server, Template

__all__ = ["DatabaseTestCase", "IsolatedAsyncioDatabaseTestCase"]

_lock = threading.Lock()
_server: Server | None = None


def _shared_server() -> Server:
    """One server for all test cases of the process, started at the first need."""
    global _server
    with _lock:
        if _server is None:
            _server = Server.start()
            atexit.register(_server.stop)
        return _server


class _WithDatabase(unittest.TestCase):
    #: The server of the process.
    server: ClassVar[Server]
    #: This test's database.
    database: Database

    _template: ClassVar[Template | None] = None

    @classmethod
    def prepare(cls, database: Database) -> object:
        """Fill what every test's database is a copy of, once for the class; may be a coroutine function."""
        return None

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        cls.server = _shared_server()
        cls._template = cls.server.template(cls.prepare)
        cls.addClassCleanup(cls.server.drop, cls._template.database)

    def setUp(self) -> None:
        super().setUp()
        self.database = self.server.create(self.server.new_name("test"), self._template)
        self.addCleanup(self.server.drop, self.database)


class DatabaseTestCase(_WithDatabase):
    """A `unittest.TestCase` with `self.database`."""


class IsolatedAsyncioDatabaseTestCase(_WithDatabase, unittest.IsolatedAsyncioTestCase):
    """A `unittest.IsolatedAsyncioTestCase` with `self.database`."""
