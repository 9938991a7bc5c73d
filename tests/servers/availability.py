"""Servers that may be missing: what needs one skips, and the end of the session says so."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import pytest

from . import debian_sid
from .mysql import MySQLServer

AnyServer = TypeVar("AnyServer", bound=MySQLServer)

#: Servers that could not be had, and why.
NOT_TESTED: dict[str, str] = {}


def start_or_skip(kind: type[AnyServer], name: str, arguments: Sequence[str] = ()) -> AnyServer:
    """Start a server; skip what asked for it, loudly, when it cannot be downloaded here."""
    try:
        return kind.start(arguments)
    except debian_sid.Unavailable as reason:
        NOT_TESTED[name] = str(reason)
    pytest.skip(f"NOT TESTED against {name}: {NOT_TESTED[name]}")
