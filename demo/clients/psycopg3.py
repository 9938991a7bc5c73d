"""psycopg 3 through the PostgreSQL door."""

from __future__ import annotations

from typing import Any

import psycopg

from . import Answer
from .dbapi import converse


def run(address: dict[str, Any], customer: int) -> Answer:
    """An ordinary connection with its defaults."""
    connection = psycopg.connect(address["postgres"])
    return converse(connection, "%s", "psycopg 3", f"psycopg {psycopg.__version__}", customer)
