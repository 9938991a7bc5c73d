"""rowferry.informix through the Informix door: our driver, our server, the protocol in between."""

from __future__ import annotations

from typing import Any

from rowferry._core import __version__

from . import Answer
from .dbapi import converse


def run(address: dict[str, Any], customer: int) -> Answer:
    """An ordinary connection; the store's names need more than Latin letters."""
    import rowferry.informix

    connection = rowferry.informix.connect(**address["informix"], client_locale="en_US.utf8")
    return converse(connection, "?", "rowferry.informix", f"rowferry {__version__}", customer)
