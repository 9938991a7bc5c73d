"""Values that Python has no type for: intervals of months, and what stands in rows for large objects.

All are immutable and hashable, compare by value, and pickle. `RowValue` and `CollectionValue` stand in `_composites`.
"""

from __future__ import annotations

from typing import Any

__all__ = ["BlobLocator", "ClobLocator", "IntervalYM"]

#: Bytes of a locator.
LOCATOR_SIZE = 72


class _Value:
    """One attribute, which stays as it is, and by which values of the same class are equal."""

    # Written out, since `dataclasses` takes longer to import than all the rest of a driver.
    __slots__ = ()
    __match_args__: tuple[str, ...] = ()

    def _value(self) -> Any:
        return getattr(self, self.__match_args__[0])

    def __eq__(self, other: object) -> bool:
        return self._value() == other._value() if isinstance(other, type(self)) else NotImplemented

    def __hash__(self) -> int:
        return hash((self._value(),))

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._value(),)

    def __setattr__(self, name: str, value: object) -> None:
        raise self._frozen("assign to", name)

    def __delattr__(self, name: str) -> None:
        raise self._frozen("delete", name)

    def _frozen(self, doing: str, name: str) -> AttributeError:
        # What programs catch that know these values from informix-driver, where they are frozen dataclasses.
        from dataclasses import FrozenInstanceError

        return FrozenInstanceError(f"cannot {doing} {name!r}: values of {type(self).__name__} do not change")


class IntervalYM(_Value):
    """An interval of years and months, which no `timedelta` can be: months differ in length.

    `months` counts all months and has the sign. Intervals compare and sort by it, and can be added, subtracted, negated
    and multiplied by whole numbers. As text they look as Informix prints `INTERVAL YEAR TO MONTH`: `3-02`.
    """

    __slots__ = ("months",)
    __match_args__ = ("months",)

    months: int

    def __init__(self, months: int) -> None:
        object.__setattr__(self, "months", months)

    @classmethod
    def parse(cls, text: str) -> IntervalYM:
        """The interval that `str` writes: `3-02`, `-1-11`. `ValueError` for anything else."""
        sign, digits = (-1, text[1:]) if text.startswith("-") else (1, text)
        years, dash, months = digits.strip().partition("-")
        if not (dash and years.isdecimal() and months.isdecimal() and int(months) < 12):
            raise ValueError(f"{text!r} is no interval of years and months such as '3-02'")
        return cls(sign * (int(years) * 12 + int(months)))

    @property
    def years(self) -> int:
        """Whole years, with the sign of the interval."""
        return abs(self.months) // 12 * (-1 if self.months < 0 else 1)

    @property
    def remainder_months(self) -> int:
        """Months beyond the whole years, with the sign of the interval."""
        return abs(self.months) % 12 * (-1 if self.months < 0 else 1)

    def __str__(self) -> str:
        """As Informix prints it: `3-02`."""
        years, months = divmod(abs(self.months), 12)
        return f"{'-' if self.months < 0 else ''}{years}-{months:02d}"

    def __repr__(self) -> str:
        return f"IntervalYM(months={self.months!r})"

    def __bool__(self) -> bool:
        return self.months != 0

    def __lt__(self, other: object) -> bool:
        return self.months < other.months if isinstance(other, IntervalYM) else NotImplemented

    def __le__(self, other: object) -> bool:
        return self.months <= other.months if isinstance(other, IntervalYM) else NotImplemented

    def __gt__(self, other: object) -> bool:
        return self.months > other.months if isinstance(other, IntervalYM) else NotImplemented

    def __ge__(self, other: object) -> bool:
        return self.months >= other.months if isinstance(other, IntervalYM) else NotImplemented

    def __neg__(self) -> IntervalYM:
        return IntervalYM(-self.months)

    def __abs__(self) -> IntervalYM:
        return IntervalYM(abs(self.months))

    def __add__(self, other: object) -> IntervalYM:
        return IntervalYM(self.months + other.months) if isinstance(other, IntervalYM) else NotImplemented

    def __sub__(self, other: object) -> IntervalYM:
        return IntervalYM(self.months - other.months) if isinstance(other, IntervalYM) else NotImplemented

    def __mul__(self, factor: object) -> IntervalYM:
        return IntervalYM(self.months * factor) if isinstance(factor, int) else NotImplemented

    __rmul__ = __mul__


def _check(raw: bytes) -> None:
    if len(raw) != LOCATOR_SIZE:
        raise ValueError(f"a locator has {LOCATOR_SIZE} bytes, not {len(raw)}")


class BlobLocator(_Value):
    """The locator of a BLOB: 72 bytes that mean something to the server only.

    Equal to another `BlobLocator` of the same bytes, never to a `ClobLocator`. It stands for the object as long as the
    server keeps that, and can be a parameter for a BLOB column.
    """

    __slots__ = ("raw",)
    __match_args__ = ("raw",)

    raw: bytes

    def __init__(self, raw: bytes) -> None:
        _check(raw)
        object.__setattr__(self, "raw", raw)

    def __repr__(self) -> str:
        return "BlobLocator(…)"


class ClobLocator(_Value):
    """The locator of a CLOB: 72 bytes that mean something to the server only.

    Equal to another `ClobLocator` of the same bytes, never to a `BlobLocator`. It stands for the object as long as the
    server keeps that, and can be a parameter for a CLOB column.
    """

    __slots__ = ("raw",)
    __match_args__ = ("raw",)

    raw: bytes

    def __init__(self, raw: bytes) -> None:
        _check(raw)
        object.__setattr__(self, "raw", raw)

    def __repr__(self) -> str:
        return "ClobLocator(…)"
