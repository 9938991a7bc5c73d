"""What transactions see of each other, in SQL's terms."""

from __future__ import annotations

import enum

from ..exceptions import InterfaceError

__all__ = ["IsolationLevel", "isolation_words"]


class IsolationLevel(str, enum.Enum):
    """How far a transaction is kept apart from others. Each is a `str`, so that its words may be written instead."""

    #: Reads what others have not committed.
    READ_UNCOMMITTED = "read uncommitted"
    #: Each statement reads what is committed when it begins.
    READ_COMMITTED = "read committed"
    #: All statements read what was committed when the first began; the servers' default.
    REPEATABLE_READ = "repeatable read"
    #: As if one transaction ran after the other.
    SERIALIZABLE = "serializable"

    def __str__(self) -> str:
        return self.value

    @classmethod
    def _missing_(cls, value: object) -> IsolationLevel | None:
        words = " ".join(str(value).lower().replace("_", " ").replace("-", " ").split())
        return next((level for level in cls if level.value == words), None)


def isolation_words(level: IsolationLevel | str) -> str:
    """The level as SQL has it; `InterfaceError` for what is none."""
    try:
        return IsolationLevel(level).value.upper()
    except ValueError:
        known = ", ".join(known.value for known in IsolationLevel)
        raise InterfaceError(f"isolation level {level!r} is none of {known}") from None
