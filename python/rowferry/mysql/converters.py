"""Conversions between Python objects and SQL, for the `conv` parameter of `connect`.

`conversions` maps type codes to functions from the server's text (str, or bytes for binary columns) to Python objects,
and Python types to functions `f(value, mapping)` that spell an SQL literal. Give `connect(conv=...)` a changed copy:
what is left as it is here runs in Rust.
"""

from __future__ import annotations

import datetime
import time
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any

from .._core.mysql import escape_bytes as _escape
from .constants import FIELD_TYPE

__all__ = [
    "conversions",
    "convert_date",
    "convert_datetime",
    "convert_timedelta",
    "decoders",
    "encoders",
    "escape_item",
    "escape_string",
    "through",
]


def escape_string(value: str, mapping: Any = None) -> str:
    """Text with what would end a literal escaped by backslashes; without the quotes around it."""
    return _escape(value.encode("utf-8", "surrogatepass")).decode("utf-8", "surrogatepass")


def through(value: Any) -> Any:
    """The value as it is."""
    return value


def convert_datetime(text: str) -> datetime.datetime | str:
    """`2007-02-25 23:06:20.123` as a datetime; text that is none as it is."""
    try:
        return datetime.datetime.fromisoformat(_six_digits(text))
    except ValueError:
        return text


def convert_date(text: str) -> datetime.date | str:
    """`2007-02-25` as a date; text that is none as it is."""
    try:
        return datetime.date.fromisoformat(text)
    except ValueError:
        return text


def convert_timedelta(text: str) -> datetime.timedelta | str:
    """`-838:59:59.5` as a timedelta; text that is none as it is."""
    try:
        hours, minutes, seconds = text.lstrip("-").split(":")
        whole, _, fraction = seconds.partition(".")
        delta = datetime.timedelta(
            hours=int(hours), minutes=int(minutes), seconds=int(whole), microseconds=int(fraction.ljust(6, "0")[:6])
        )
    except ValueError:
        return text
    return -delta if text.startswith("-") else delta


def _six_digits(text: str) -> str:
    head, point, fraction = text.partition(".")
    return f"{head}.{fraction.ljust(6, '0')}" if point else head


decoders: dict[int, Callable[[Any], Any]] = {
    FIELD_TYPE.BIT: through,
    FIELD_TYPE.TINY: int,
    FIELD_TYPE.SHORT: int,
    FIELD_TYPE.LONG: int,
    FIELD_TYPE.FLOAT: float,
    FIELD_TYPE.DOUBLE: float,
    FIELD_TYPE.LONGLONG: int,
    FIELD_TYPE.INT24: int,
    FIELD_TYPE.YEAR: int,
    FIELD_TYPE.TIMESTAMP: convert_datetime,
    FIELD_TYPE.DATETIME: convert_datetime,
    FIELD_TYPE.TIME: convert_timedelta,
    FIELD_TYPE.DATE: convert_date,
    FIELD_TYPE.BLOB: through,
    FIELD_TYPE.TINY_BLOB: through,
    FIELD_TYPE.MEDIUM_BLOB: through,
    FIELD_TYPE.LONG_BLOB: through,
    FIELD_TYPE.STRING: through,
    FIELD_TYPE.VAR_STRING: through,
    FIELD_TYPE.VARCHAR: through,
    FIELD_TYPE.DECIMAL: Decimal,
    FIELD_TYPE.NEWDECIMAL: Decimal,
}


def escape_item(value: Any, charset: Any = None, mapping: Mapping[Any, Any] | None = None) -> str:
    """The SQL literal of `value`, by `mapping` or by the encoders of this module."""
    table = encoders if mapping is None else mapping
    encoder = table.get(type(value)) or encoders.get(type(value))
    if encoder is None:
        raise TypeError(f"no conversion for {type(value).__name__}")
    return str(encoder(value, mapping))


def _escape_none(value: None, mapping: Any = None) -> str:
    return "NULL"


def _escape_bool(value: bool, mapping: Any = None) -> str:
    return str(int(value))


def _escape_number(value: Any, mapping: Any = None) -> str:
    return str(value)


def _escape_float(value: float, mapping: Any = None) -> str:
    text = repr(value)
    if text in ("inf", "-inf", "nan"):
        raise ValueError(f"MySQL has no {text}")
    return text if "e" in text else text + "e0"


def _escape_str(value: str, mapping: Any = None) -> str:
    return f"'{escape_string(str(value), mapping)}'"


def _escape_bytes(value: bytes, mapping: Any = None) -> str:
    return f"_binary x'{bytes(value).hex()}'"


def _escape_sequence(value: Any, mapping: Any = None) -> str:
    return f"({','.join(escape_item(item, None, mapping) for item in value)})"


def _escape_datetime(value: datetime.datetime, mapping: Any = None) -> str:
    return f"'{value.replace(tzinfo=None).isoformat(' ')}'"


def _escape_time(value: datetime.time, mapping: Any = None) -> str:
    return f"'{value.replace(tzinfo=None).isoformat()}'"


def _escape_date(value: datetime.date, mapping: Any = None) -> str:
    return f"'{value.isoformat()}'"


def _escape_timedelta(value: datetime.timedelta, mapping: Any = None) -> str:
    sign = "-" if value < datetime.timedelta(0) else ""
    seconds, microseconds = divmod(abs(value) // datetime.timedelta(microseconds=1), 1_000_000)
    fraction = f".{microseconds:06}" if microseconds else ""
    return f"'{sign}{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}{fraction}'"


def _escape_struct_time(value: time.struct_time, mapping: Any = None) -> str:
    return _escape_datetime(datetime.datetime(*value[:6]))


encoders: dict[type, Callable[..., str]] = {
    bool: _escape_bool,
    int: _escape_number,
    float: _escape_float,
    str: _escape_str,
    bytes: _escape_bytes,
    tuple: _escape_sequence,
    list: _escape_sequence,
    set: _escape_sequence,
    frozenset: _escape_sequence,
    type(None): _escape_none,
    datetime.date: _escape_date,
    datetime.datetime: _escape_datetime,
    datetime.timedelta: _escape_timedelta,
    datetime.time: _escape_time,
    time.struct_time: _escape_struct_time,
    Decimal: _escape_number,
}

conversions: dict[Any, Any] = {**encoders, **decoders}


def overrides(conv: Mapping[Any, Any] | None) -> tuple[dict[int, Any] | None, dict[type, Any] | None]:
    """What in `conv` differs from `conversions`: functions by type code (None: the server's text), and by type."""
    if conv is None:
        return None, None
    by_code: dict[int, Any] = {code: conv.get(code) for code, known in decoders.items() if conv.get(code) is not known}
    by_type: dict[type, Any] = {}
    for key, function in conv.items():
        if isinstance(key, int) and key not in decoders:
            by_code[key] = function
        elif isinstance(key, type) and encoders.get(key) is not function:
            by_type[key] = function
    return by_code or None, by_type or None
