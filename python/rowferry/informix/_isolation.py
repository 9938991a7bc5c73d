"""What transactions see of each other, and how long statements wait for locks, in Informix's terms."""

from __future__ import annotations

import enum
import math

from ..exceptions import InterfaceError

__all__ = ["AS_THE_SERVER", "IsolationLevel", "default_isolation", "isolation_sql", "lock_wait_sql"]

#: For `lock_wait`: leave it as the server has it.
AS_THE_SERVER = "server"

#: The longest wait, in seconds, that the server takes.
MAX_LOCK_WAIT = 32767


class IsolationLevel(str, enum.Enum):
    """How far a transaction is kept apart from others. Each is a `str`, so that its words may be written instead."""

    #: Reads what others have not committed. The only level of databases without a log.
    DIRTY_READ = "dirty read"
    #: Reads what is committed; the default of databases with a log.
    COMMITTED_READ = "committed read"
    #: Reads what is committed; of a row that somebody has locked, what was committed last, without waiting.
    LAST_COMMITTED = "committed read last committed"
    #: Keeps a shared lock on the row that a cursor stands on.
    CURSOR_STABILITY = "cursor stability"
    #: Keeps a shared lock on every row read; the default of databases in ANSI mode.
    REPEATABLE_READ = "repeatable read"

    def __str__(self) -> str:
        return self.value

    @classmethod
    def _missing_(cls, value: object) -> IsolationLevel:
        words = str(value).lower().replace("_", " ").replace("-", " ").split()
        level = _OTHER_NAMES.get(" ".join(words))
        if level is None:
            known = ", ".join(level.value for level in cls)
            raise InterfaceError(f"isolation level {value!r} is none of {known}")
        return level


_OTHER_NAMES = {level.value: level for level in IsolationLevel} | {
    "dirty": IsolationLevel.DIRTY_READ,
    "read uncommitted": IsolationLevel.DIRTY_READ,
    "committed": IsolationLevel.COMMITTED_READ,
    "read committed": IsolationLevel.COMMITTED_READ,
    "last committed": IsolationLevel.LAST_COMMITTED,
    "committed last committed": IsolationLevel.LAST_COMMITTED,
    "repeatable": IsolationLevel.REPEATABLE_READ,
    "serializable": IsolationLevel.REPEATABLE_READ,
}


def isolation_sql(level: IsolationLevel) -> str:
    """The statement that sets the level."""
    return f"SET ISOLATION TO {level.value.upper()}"


def default_isolation(logged: bool, ansi: bool) -> IsolationLevel:
    """The level in which a session of such a database begins."""
    if not logged:
        return IsolationLevel.DIRTY_READ
    return IsolationLevel.REPEATABLE_READ if ansi else IsolationLevel.COMMITTED_READ


def lock_wait_sql(seconds: float | None) -> str:
    """The statement that lets later ones wait so many seconds for a lock: 0 not at all, None for ever."""
    if seconds is None:
        return "SET LOCK MODE TO WAIT"
    if isinstance(seconds, bool) or not isinstance(seconds, (int, float)) or not 0 <= seconds <= MAX_LOCK_WAIT:
        raise InterfaceError(f"lock_wait {seconds!r}: expected seconds, 0 to {MAX_LOCK_WAIT}, or None to wait for ever")
    return f"SET LOCK MODE TO WAIT {math.ceil(seconds)}" if seconds else "SET LOCK MODE TO NOT WAIT"
