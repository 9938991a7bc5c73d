"""Databases for tests."""

from __future__ import annotations

from typing import Any

from django.db.backends.base.creation import BaseDatabaseCreation


class DatabaseCreation(BaseDatabaseCreation):
    """A database with a log, which transactions need."""

    def _execute_create_test_db(self, cursor: Any, parameters: Any, keepdb: bool = False) -> None:
        # Names of databases are not quoted.
        cursor.execute(f"CREATE DATABASE {parameters['dbname'].strip(chr(34))} WITH LOG")

    def _destroy_test_db(self, test_database_name: str, verbosity: int) -> None:
        with self._nodb_cursor() as cursor:
            cursor.execute(f"DROP DATABASE {test_database_name}")
