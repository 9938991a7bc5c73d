"""What a pool of threads waits with: locks. `aio.waiting` has the same for tasks, with futures."""

from __future__ import annotations

import abc
import sys
import threading
import time
import weakref
from collections.abc import Callable
from types import CodeType, FrameType
from typing import Generic, TypeVar

__all__ = [
    "Alarm",
    "Errand",
    "Holder",
    "Mutex",
    "Outcome",
    "Waiter",
]

T = TypeVar("T")


class Outcome(abc.ABC, Generic[T]):
    """What whoever waits is given: a value or an exception, once."""

    __slots__ = ("done", "failure", "value")

    def __init__(self) -> None:
        #: True once something was given.
        self.done = False
        self.value: T | None = None
        self.failure: BaseException | None = None

    def result(self) -> T | None:
        """What was given; an exception is raised."""
        if self.failure is not None:
            raise self.failure
        return self.value

    @abc.abstractmethod
    def _wake(self) -> None:
        """Let whoever waits go on."""

    def grant(self, value: T | None) -> None:
        """Give a value."""
        self.done, self.value = True, value
        self._wake()

    def fail(self, failure: BaseException) -> None:
        """Give an exception."""
        self.done, self.failure = True, failure
        self._wake()


class Waiter(Outcome[T]):
    """A thread that waits."""

    __slots__ = ("_gate",)

    def __init__(self) -> None:
        super().__init__()
        self._gate = threading.Lock()
        self._gate.acquire()

    def _wake(self) -> None:
        self._gate.release()

    def wait(self, timeout: float | None) -> bool:
        """Wait at most `timeout` seconds (None: for ever); true when something was given."""
        self._gate.acquire(timeout=-1 if timeout is None else min(max(timeout, 0.0), threading.TIMEOUT_MAX))
        return self.done


class Mutex:
    """A lock that knows whether this thread has it: the collector may run anybody's code while it is held."""

    __slots__ = ("_lock", "_owner", "_settle")

    def __init__(self, settle: Callable[[], None]) -> None:
        self._lock = threading.Lock()
        self._owner = 0
        #: Called before the lock is given back.
        self._settle = settle

    def is_mine(self) -> bool:
        """True when the calling thread has it."""
        return self._owner == threading.get_ident()

    def __enter__(self) -> None:
        self._lock.acquire()
        self._owner = threading.get_ident()

    def __exit__(self, *_: object) -> None:
        try:
            self._settle()
        finally:
            self._owner = 0
            self._lock.release()


_WRAPPERS = ("contextlib", "asyncio.tasks", "asyncio.timeouts")


class Holder:
    """Who was lent something, where in the program, since when. Made often, so it only notes."""

    __slots__ = ("_code", "_instruction", "name", "since")

    def __init__(self, depth: int = 1) -> None:
        self.name = self._who()
        # The nearest frame outside of this package and of the standard library's wrappers.
        frame: FrameType | None = sys._getframe(depth)
        while frame is not None:
            module = frame.f_globals.get("__name__", "")
            if not module.startswith("rowferry.") and module not in _WRAPPERS:
                break
            frame = frame.f_back
        # Not the frame itself, which would keep its variables alive.
        self._code: CodeType | None = None if frame is None else frame.f_code
        self._instruction = 0 if frame is None else frame.f_lasti
        self.since = time.monotonic()

    @property
    def place(self) -> str:
        """File and line."""
        if self._code is None:
            return "?"
        lines = (line for start, end, line in self._code.co_lines() if start <= self._instruction < end)
        return f"{self._code.co_filename}:{next(lines, None) or self._code.co_firstlineno}"

    @staticmethod
    def _who() -> str:
        return threading.current_thread().name

    def __str__(self) -> str:
        return f"{self.name} for {time.monotonic() - self.since:.1f} s ({self.place})"


class Alarm:
    """Calls a method later, from a thread of its own, unless its object is gone by then."""

    def __init__(self, method: Callable[[], None]) -> None:
        self._method = weakref.WeakMethod(method)
        self._timer: threading.Timer | None = None

    @property
    def is_set(self) -> bool:
        """True between `set` and the call."""
        return self._timer is not None

    def set(self, seconds: float) -> None:
        """Call in so many seconds."""
        timer = threading.Timer(seconds, self._ring)
        timer.daemon = True
        timer.name = "rowferry pool"
        self._timer = timer
        timer.start()

    def cancel(self) -> None:
        """Do not call."""
        timer, self._timer = self._timer, None
        if timer is not None:
            timer.cancel()

    def _ring(self) -> None:
        self._timer = None
        method = self._method()
        if method is not None:
            method()


class Errand:
    """Runs a method in a thread of its own, once at a time, unless its object is gone by then."""

    def __init__(self, method: Callable[[], None]) -> None:
        self._method = weakref.WeakMethod(method)
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Run the method, unless it is being run."""
        if self._thread is None or not self._thread.is_alive():
            self._thread = threading.Thread(target=self._run, name="rowferry pool", daemon=True)
            self._thread.start()

    def _run(self) -> None:
        method = self._method()
        if method is not None:
            method()
