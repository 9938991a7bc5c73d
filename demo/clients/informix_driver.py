"""informix-driver through the Informix door: somebody else's pure Python driver."""

from __future__ import annotations

from importlib import metadata
from typing import Any

import informix_db

from . import Answer
from .dbapi import converse


def run(address: dict[str, Any], customer: int) -> Answer:
    """An ordinary connection; text goes over the wire as UTF-8."""
    connection = informix_db.connect(**address["informix"], client_locale="en_US.utf8")
    return converse(
        connection, "?", "informix-driver", f"informix-driver {metadata.version('informix-driver')}", customer
    )
