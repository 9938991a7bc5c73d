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
from typing import Any, NoReturn

from .._core.mysql import escape_bytes as _escape
from .constants import FIELD_TYPE
from .err import ProgrammingError

__all__ = [
    "Bool2Str",
    "Date2literal",
    "DateTime2literal",
    "DateTimeDelta2literal",
    "Decimal2Literal",
    "Float2Str",
    "None2NULL",
    "Thing2Literal",
    "Thing2Str",
    "conversions",
    "convert_bit",
    "convert_date",
    "convert_datetime",
    "convert_time",
    "convert_timedelta",
    "decoders",
    "encoders",
    "escape_None",
    "escape_bool",
    "escape_bytes",
    "escape_date",
    "escape_datetime",
    "escape_dict",
    "escape_float",
    "escape_int",
    "escape_item",
    "escape_sequence",
    "escape_str",
    "escape_string",
    "escape_struct_time",
    "escape_time",
    "escape_timedelta",
    "through",
]


def escape_string(value: str, mapping: Any = None) -> str:
    """Text with what would end a literal escaped by backslashes; without the quotes around it."""
    return _escape(value.encode("utf-8", "surrogatepass")).decode("utf-8", "surrogatepass")


def through(value: Any) -> Any:
    """The value as it is."""
    return value


def convert_datetime(text: str | bytes) -> datetime.datetime | datetime.date | str | bytes:
    """`2007-02-25 23:06:20.123` as a datetime; text that is none as it is."""
    said = _text(text)
    if len(said) <= len("2007-02-25"):
        return convert_date(text)
    try:
        return datetime.datetime.fromisoformat(_six_digits(said))
    except ValueError:
        return convert_date(text)


def convert_date(text: str | bytes) -> datetime.date | str | bytes:
    """`2007-02-25` as a date; text that is none as it is."""
    try:
        return datetime.date(*map(int, _text(text).split("-", 2)))
    except (TypeError, ValueError):
        return text


def convert_timedelta(text: str | bytes) -> datetime.timedelta | str | bytes:
    """`-838:59:59.5` as a timedelta; text that is none as it is."""
    said = _text(text)
    try:
        hours, minutes, seconds, microseconds = _clock(said.removeprefix("-"))
        delta = datetime.timedelta(hours=hours, minutes=minutes, seconds=seconds, microseconds=microseconds)
    except (OverflowError, ValueError):
        return text
    return -delta if said.startswith("-") else delta


def convert_time(text: str | bytes) -> datetime.time | str | bytes:
    """`23:06:20.123` as a time of day, for those who want that of TIME columns; text that is none as it is."""
    try:
        return datetime.time(*_clock(_text(text)))
    except ValueError:
        return text


convert_bit = through


def _text(text: str | bytes) -> str:
    return text.decode("ascii", "replace") if isinstance(text, (bytes, bytearray)) else text


def _clock(text: str) -> tuple[int, int, int, int]:
    """Hours, minutes, seconds and microseconds; `ValueError` for anything else."""
    hours, minutes, seconds = text.split(":")
    whole, _, fraction = seconds.partition(".")
    if len(fraction) > 6:
        raise ValueError(text)
    numbers = hours, minutes, whole, fraction.ljust(6, "0")
    if not all(number.isascii() and number.isdigit() for number in numbers):
        raise ValueError(text)
    return int(hours), int(minutes), int(whole), int(numbers[3])


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


def escape_item(value: Any, charset: Any = None, mapping: Mapping[Any, Any] | None = None) -> Any:
    """The SQL literal of `value` by the function of `mapping` for its class, or for str when there is none.

    Without `mapping`, by the encoders of this module. `TypeError` when there is no function for it.
    """
    table = encoders if mapping is None else mapping
    encoder = table.get(type(value)) or table.get(str)
    if encoder is None:
        raise TypeError(f"no function for {type(value).__name__}, nor one for str")
    return encoder(value, mapping)


def escape_None(value: None, mapping: Any = None) -> str:
    """NULL."""
    return "NULL"


def escape_bool(value: bool, mapping: Any = None) -> str:
    """1 or 0."""
    return str(int(value))


def escape_int(value: Any, mapping: Any = None) -> str:
    """The number; of an enumeration its number, too."""
    return int.__repr__(value) if isinstance(value, int) else str(value)


def escape_float(value: float, mapping: Any = None) -> str:
    """The number, with an exponent, so that it is a DOUBLE; `ProgrammingError` for what MySQL has not."""
    text = repr(value)
    if text in ("inf", "-inf", "nan"):
        raise ProgrammingError(f"{text} can not be used with MySQL")
    return text if "e" in text else text + "e0"


def Decimal2Literal(value: Decimal, mapping: Any = None) -> str:
    """The number without an exponent; `ProgrammingError` for what MySQL has not."""
    if not value.is_finite():
        raise ProgrammingError(f"{str(value).lower()} can not be used with MySQL")
    return format(value, "f")


def escape_str(value: Any, mapping: Any = None) -> str:
    """Text in quotes, for the ordinary SQL mode."""
    return f"'{escape_string(str(value), mapping)}'"


def escape_bytes(value: bytes, mapping: Any = None) -> str:
    """Bytes in hexadecimal, which is the same in every SQL mode and character set."""
    return f"_binary X'{bytes(value).hex()}'"


def escape_sequence(value: Any, charset: Any = None, mapping: Mapping[Any, Any] | None = None) -> str:
    """A list in parentheses."""
    # As an encoder it is called with the mapping in the second place.
    if mapping is None and isinstance(charset, Mapping):
        mapping = charset
    return f"({','.join(str(escape_item(item, None, mapping)) for item in value)})"


def escape_dict(value: Any, charset: Any = None, mapping: Any = None) -> NoReturn:
    """Raise `TypeError`: a dict has no literal."""
    raise TypeError("a dict cannot be used as a parameter")


def escape_datetime(value: datetime.datetime, mapping: Any = None) -> str:
    """`'2007-02-25 23:06:20'`; a time zone is left out."""
    return f"'{value.replace(tzinfo=None).isoformat(' ')}'"


def escape_time(value: datetime.time, mapping: Any = None) -> str:
    """`'23:06:20'`."""
    return f"'{value.replace(tzinfo=None).isoformat()}'"


def escape_date(value: datetime.date, mapping: Any = None) -> str:
    """`'2007-02-25'`."""
    return f"'{value.isoformat()}'"


def escape_timedelta(value: datetime.timedelta, mapping: Any = None) -> str:
    """`'-25:06:17.500000'`."""
    sign = "-" if value < datetime.timedelta(0) else ""
    seconds, microseconds = divmod(abs(value) // datetime.timedelta(microseconds=1), 1_000_000)
    fraction = f".{microseconds:06}" if microseconds else ""
    return f"'{sign}{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}{fraction}'"


def escape_struct_time(value: time.struct_time, mapping: Any = None) -> str:
    """As a datetime."""
    return escape_datetime(datetime.datetime(*value[:6]))


encoders: dict[type, Callable[..., Any]] = {
    bool: escape_bool,
    int: escape_int,
    float: escape_float,
    str: escape_str,
    bytes: escape_bytes,
    tuple: escape_sequence,
    list: escape_sequence,
    set: escape_sequence,
    frozenset: escape_sequence,
    dict: escape_dict,
    type(None): escape_None,
    datetime.date: escape_date,
    datetime.datetime: escape_datetime,
    datetime.timedelta: escape_timedelta,
    datetime.time: escape_time,
    time.struct_time: escape_struct_time,
    Decimal: Decimal2Literal,
}

conversions: dict[Any, Any] = {**encoders, **decoders}

# MySQLdb's names.
Bool2Str = escape_bool
Date2literal = escape_date
DateTime2literal = escape_datetime
DateTimeDelta2literal = escape_timedelta
Float2Str = escape_float
None2NULL = escape_None
Thing2Literal = escape_str


def Thing2Str(value: Any, mapping: Any = None) -> str:
    """The value as `str` shows it."""
    return str(value)


# What Rust does by itself. Programs that change the tables above get what they put there.
_DECODERS = dict(decoders)
_ENCODERS = dict(encoders)
_CONVERSIONS = dict(conversions)


def overrides(conv: Mapping[Any, Any] | None) -> tuple[dict[int, Any] | None, dict[type, Any] | None]:
    """What in `conv` is not as this module has it: functions by type code (None: the server's text), and by type."""
    if conv is None:
        conv = conversions
    if conv == _CONVERSIONS:
        return None, None
    by_code = {code: conv.get(code) for code, known in _DECODERS.items() if conv.get(code) is not known}
    by_type: dict[type, Any] = {}
    for key, function in conv.items():
        if isinstance(key, int) and key not in _DECODERS:
            by_code[key] = function
        elif isinstance(key, type) and _ENCODERS.get(key) is not function:
            by_type[key] = function
    return by_code or None, by_type or None
