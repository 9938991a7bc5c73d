"""Values that Python has no type for."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["BlobLocator", "ClobLocator", "IntervalYM"]


@dataclass(frozen=True, order=True)
class IntervalYM:
    """An interval of years and months, which no `timedelta` can be: months differ in length.

    `months` counts all months and has the sign.
    """

    months: int

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

    def __neg__(self) -> IntervalYM:
        return IntervalYM(-self.months)


@dataclass(frozen=True)
class _Locator:
    """What stands in a row for a smart large object: 72 bytes that mean something to the server only."""

    raw: bytes

    def __post_init__(self) -> None:
        if len(self.raw) != 72:
            raise ValueError(f"a locator has 72 bytes, not {len(self.raw)}")


class BlobLocator(_Locator):
    """The locator of a BLOB."""

    def __repr__(self) -> str:
        return "BlobLocator(…)"


class ClobLocator(_Locator):
    """The locator of a CLOB."""

    def __repr__(self) -> str:
        return "ClobLocator(…)"
