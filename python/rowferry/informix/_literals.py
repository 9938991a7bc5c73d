"""Values spelled in SQL."""

from __future__ import annotations

import datetime
import math
from decimal import Decimal
from typing import Any

from ..exceptions import ProgrammingError
from ._values import IntervalYM

__all__ = ["literal", "name"]

_DAY = datetime.timedelta(days=1)
_MICROSECOND = datetime.timedelta(microseconds=1)


def name(column: str) -> str:
    """A column's name: quoted where it must be, which a session takes with DELIMIDENT=y."""
    plain = column.isascii() and column.replace("_", "a").isalnum() and not column[:1].isdigit()
    return column if plain else '"' + column.replace('"', '""') + '"'


def literal(value: Any) -> str:
    """A value in words that mean the same whatever the session's formats are; fractions of seconds have five digits.

    Raises:
        ProgrammingError: there are no such words.
    """
    if isinstance(value, bool):
        return "'t'" if value else "'f'"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, Decimal) and value.is_finite():
        return format(value, "f")
    if isinstance(value, float) and math.isfinite(value):
        return f"{value!r}" if "e" in f"{value!r}" else f"{value!r}e0"
    if isinstance(value, datetime.datetime):
        return f"DATETIME ({value.year:04}-{value:%m-%d %H:%M:%S}.{value.microsecond // 10:05}) YEAR TO FRACTION(5)"
    if isinstance(value, datetime.date):
        return f"MDY({value.month},{value.day},{value.year})"
    if isinstance(value, datetime.time):
        return f"DATETIME ({value:%H:%M:%S}.{value.microsecond // 10:05}) HOUR TO FRACTION(5)"
    if isinstance(value, datetime.timedelta):
        days, rest = divmod(abs(value), _DAY)
        seconds, micros = divmod(rest // _MICROSECOND, 1_000_000)
        minutes, second = divmod(seconds, 60)
        hour, minute = divmod(minutes, 60)
        sign = "-" if value < datetime.timedelta() else ""
        return f"INTERVAL ({sign}{days} {hour:02}:{minute:02}:{second:02}.{micros // 10:05}) DAY(9) TO FRACTION(5)"
    if isinstance(value, IntervalYM):
        years, months = divmod(abs(value.months), 12)
        return f"INTERVAL ({'-' if value.months < 0 else ''}{years}-{months:02}) YEAR(9) TO MONTH"
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    raise ProgrammingError(f"`{type(value).__name__}` cannot be spelled in SQL")
