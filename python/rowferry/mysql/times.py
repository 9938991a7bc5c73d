"""PEP 249's constructors of dates and times, and MySQLdb's readers of them."""

from __future__ import annotations

from datetime import date as Date
from datetime import datetime as Timestamp
from datetime import time as Time
from datetime import timedelta as TimeDelta
from time import localtime

from .converters import convert_date, convert_datetime, convert_time, convert_timedelta

__all__ = [
    "Date",
    "DateFromTicks",
    "DateTime_or_None",
    "Date_or_None",
    "Time",
    "TimeDelta",
    "TimeDelta_or_None",
    "TimeFromTicks",
    "Time_or_None",
    "Timestamp",
    "TimestampFromTicks",
]


def DateFromTicks(ticks: float) -> Date:
    """The local date at `ticks` seconds since 1970."""
    return Date(*localtime(ticks)[:3])


def TimeFromTicks(ticks: float) -> Time:
    """The local time of day at `ticks` seconds since 1970."""
    return Time(*localtime(ticks)[3:6])


def TimestampFromTicks(ticks: float) -> Timestamp:
    """The local date and time at `ticks` seconds since 1970."""
    return Timestamp(*localtime(ticks)[:6])


def Date_or_None(text: str) -> Date | None:
    """`2007-02-25` as a date; None for anything else."""
    found = convert_date(text)
    return None if isinstance(found, (str, bytes)) else found


def DateTime_or_None(text: str) -> Timestamp | Date | None:
    """`2007-02-25 23:06:20.123` as a datetime, `2007-02-25` as a date; None for anything else."""
    found = convert_datetime(text)
    return None if isinstance(found, (str, bytes)) else found


def TimeDelta_or_None(text: str) -> TimeDelta | None:
    """`-838:59:59.5` as a timedelta; None for anything else."""
    found = convert_timedelta(text)
    return None if isinstance(found, (str, bytes)) else found


def Time_or_None(text: str) -> Time | None:
    """`23:06:20.123` as a time of day; None for anything else."""
    found = convert_time(text)
    return None if isinstance(found, (str, bytes)) else found
