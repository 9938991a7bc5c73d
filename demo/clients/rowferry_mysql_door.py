"""rowferry.mysql through the MySQL door: our driver, our server, the protocol in between."""

from __future__ import annotations

from typing import Any

from rowferry._core import __version__

from . import Answer
from .dbapi import converse


def run(address: dict[str, Any], customer: int) -> Answer:
    """An ordinary connection with its defaults."""
    import rowferry.mysql

    connection = rowferry.mysql.connect(**address["mysql"])
    return converse(connection, "%s", "rowferry.mysql", f"rowferry {__version__}", customer)
