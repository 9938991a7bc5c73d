"""Python's own sqlite3 on the served file, without any wire: what the others are compared with."""

from __future__ import annotations

import sqlite3
from datetime import date
from decimal import Decimal
from typing import Any

from . import Answer
from .dbapi import converse


def run(address: dict[str, Any], customer: int) -> Answer:
    """The file is open in the server, too; SQLite's own locks keep both apart."""
    # Decimals and dates go in as the server stores them.
    sqlite3.register_adapter(Decimal, float)
    sqlite3.register_adapter(date, date.isoformat)
    connection = sqlite3.connect(address["path"], timeout=30)
    return converse(connection, "?", "sqlite3", f"SQLite {sqlite3.sqlite_version}", customer)
