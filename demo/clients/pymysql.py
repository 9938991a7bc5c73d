"""PyMySQL through the MySQL door."""

from __future__ import annotations

from typing import Any

import pymysql

from . import Answer
from .dbapi import converse


def run(address: dict[str, Any], customer: int) -> Answer:
    """An ordinary connection with its defaults."""
    connection = pymysql.connect(**address["mysql"])
    return converse(connection, "%s", "PyMySQL", f"PyMySQL {pymysql.__version__}", customer)
