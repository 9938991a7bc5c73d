"""What may be missing on a machine, servers first: what needs it skips, and the end of the session says so."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NoReturn, TypeVar

import pytest

from . import debian_sid
from .mysql import MySQLServer

AnyServer = TypeVar("AnyServer", bound=MySQLServer)

#: What could not be had, and why.
NOT_TESTED: dict[str, str] = {}


def not_tested(what: str, reason: object) -> NoReturn:
    """Skip loudly: the end of the session says what was not tested."""
    NOT_TESTED[what] = str(reason)
    pytest.skip(f"NOT TESTED with {what}: {reason}")


def start_or_skip(kind: type[AnyServer], name: str, arguments: Sequence[str] = ()) -> AnyServer:
    """Start a server; skip what asked for it, loudly, when it cannot be downloaded here."""
    try:
        return kind.start(arguments)
    except debian_sid.Unavailable as reason:
        not_tested(name, reason)
