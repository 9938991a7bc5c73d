"""Closing what an event loop left behind."""

from __future__ import annotations

import contextlib
from typing import Any

__all__ = ["close_without_loop"]


def close_without_loop(transport: Any) -> None:
    """Close the socket of `transport`, whose event loop is closed and will never run its clean-up."""
    sock = getattr(transport, "_sock", None)
    if sock is None:
        # uvloop closes the file descriptor itself when the transport is freed.
        return
    # asyncio's transport would otherwise warn of, and close, the same socket when it is freed.
    with contextlib.suppress(AttributeError):
        transport._sock = None
    with contextlib.suppress(OSError):
        sock.close()
