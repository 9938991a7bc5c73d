"""Rows of different drivers, compared by value."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any


def describe(runs: Iterable[Sequence[Sequence[Any]]]) -> dict[str, Any]:
    """Count and digest the rows of all runs, and show the first row for people."""
    digest = hashlib.sha256()
    count = 0
    first: list[str] | None = None
    for rows in runs:
        for row in rows:
            cells = [canonical(cell) for cell in row]
            if first is None:
                first = cells
            digest.update("\x1f".join(cells).encode())
            digest.update(b"\x1e")
            count += 1
        digest.update(b"\x1d")
    return {"rows": count, "digest": digest.hexdigest(), "first": first}


def canonical(cell: Any) -> str:
    """One text per value: sqlite3 has no dates and no decimals, so 12.5 and Decimal('12.50') are the same here."""
    if cell is None:
        return "null"
    if isinstance(cell, bool | int | float | Decimal):
        number = Decimal(repr(cell) if isinstance(cell, float) else int(cell) if isinstance(cell, bool) else cell)
        return f"n:{number.normalize():f}" if number else "n:0"
    if isinstance(cell, str):
        # CHAR columns are padded on some wires; a benchmark never compares trailing blanks.
        return f"s:{cell.rstrip(' ')}"
    if isinstance(cell, datetime):
        return f"s:{cell.isoformat(' ')}"
    if isinstance(cell, date | time):
        return f"s:{cell.isoformat()}"
    if isinstance(cell, timedelta):
        return f"t:{cell.total_seconds()}"
    if isinstance(cell, bytes | bytearray | memoryview):
        return f"b:{bytes(cell).hex()}"
    return f"s:{cell}"
