"""Rows across the wire, at both ends."""

from __future__ import annotations

__all__ = ["decimal_path"]


def decimal_path() -> str:
    """How the drivers make `decimal.Decimal` objects: `direct` or `portable`.

    `direct` fills the structure that CPython keeps a number in, which is five times as fast as `Decimal(text)`. It is
    used only where a check at import has found that structure to be the one that is known, and everything that it makes
    to behave as what Python makes. The environment variable `ROWFERRY_DECIMAL=portable` switches it off.
    """
    from . import _core

    return "direct" if _core.decimals_are_direct else "portable"
