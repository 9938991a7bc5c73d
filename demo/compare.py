"""Rows from different wires, compared by value: a date is a date whether a driver makes a `date` or text of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Any


def _timestamp(cell: Any) -> str:
    """`2025-01-01 10:06:28`, without a fraction of zeros."""
    whole, _, fraction = str(cell).replace("T", " ").partition(".")
    fraction = fraction.rstrip("0")
    return f"{whole}.{fraction}" if fraction else whole


def _boolean(cell: Any) -> bool:
    text = str(cell).lower()
    if text in ("1", "t", "true"):
        return True
    if text in ("0", "f", "false"):
        return False
    raise ValueError(f"not a boolean: {cell!r}")


def _decimal(cell: Any) -> Decimal:
    # Binary floating point, which sqlite3 sums in, is exact to the cent here; a decimal that is off by less is not.
    return round(Decimal(str(cell)), 2) if isinstance(cell, float) else Decimal(str(cell))


_Kinds = Sequence[Callable[[Any], Any]]

#: The columns of `questions.REPORT`.
REPORT: _Kinds = (int, str, _timestamp, str, int, _decimal)
#: The columns of `questions.READ_BACK`.
WRITTEN: _Kinds = (int, str, str, _boolean, _decimal, str)


def values(rows: Sequence[Sequence[Any]], kinds: _Kinds) -> list[tuple[Any, ...]]:
    """The rows with each cell turned into the value that it stands for; raises `ValueError` when it stands for none."""
    return [tuple(kind(cell) for kind, cell in zip(kinds, row, strict=True)) for row in rows]
