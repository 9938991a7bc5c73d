"""PEP 249's constructors of dates and times."""

from __future__ import annotations

from datetime import date as Date
from datetime import datetime as Timestamp
from datetime import time as Time
from datetime import timedelta as TimeDelta
from time import localtime

__all__ = ["Date", "DateFromTicks", "Time", "TimeDelta", "TimeFromTicks", "Timestamp", "TimestampFromTicks"]


def DateFromTicks(ticks: float) -> Date:
    """The local date at `ticks` seconds since 1970."""
    return Date(*localtime(ticks)[:3])


def TimeFromTicks(ticks: float) -> Time:
    """The local time of day at `ticks` seconds since 1970."""
    return Time(*localtime(ticks)[3:6])


def TimestampFromTicks(ticks: float) -> Timestamp:
    """The local date and time at `ticks` seconds since 1970."""
    return Timestamp(*localtime(ticks)[:6])
