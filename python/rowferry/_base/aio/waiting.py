"""What a pool of tasks waits with: futures. The same interface as that for threads."""

from __future__ import annotations

import asyncio
import weakref
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from ..waiting import Holder, Mutex, Outcome

__all__ = ["AsyncAlarm", "AsyncErrand", "AsyncHolder", "AsyncWaiter", "Mutex"]

T = TypeVar("T")


class AsyncWaiter(Outcome[T]):
    """A task that waits."""

    __slots__ = ("_future", "deadline")

    def __init__(self) -> None:
        # One call less than the base class's: there is one of these for whoever waits.
        self.done = False
        self.value = None
        self.failure = None
        self._future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        #: When whoever looks after deadlines calls `give_up`, by the loop's clock.
        self.deadline: float | None = None

    def give_up(self) -> None:
        """Let whoever waits go on with nothing."""
        self._wake()

    async def answered(self) -> bool:
        """Wait for `grant`, `fail` or `give_up`; true when something was given."""
        await self._future
        return self.done

    def _wake(self) -> None:
        if not self._future.done():
            self._future.set_result(None)

    async def wait(self, timeout: float | None) -> bool:
        """Wait at most `timeout` seconds (None: for ever); true when something was given."""
        await asyncio.wait((self._future,), timeout=timeout)
        return self.done


class AsyncHolder(Holder):
    """A task that was lent something."""

    __slots__ = ()

    @staticmethod
    def _who() -> str:
        task = asyncio.current_task()
        return task.get_name() if task is not None else "nobody known"


class AsyncAlarm:
    """Calls a method later, from the event loop, unless its object is gone by then."""

    def __init__(self, method: Callable[[], None]) -> None:
        self._method = weakref.WeakMethod(method)
        self._handle: asyncio.TimerHandle | None = None

    @property
    def is_set(self) -> bool:
        """True between `set` and the call."""
        return self._handle is not None

    @property
    def due(self) -> float | None:
        """When it will call, by the loop's clock."""
        return None if self._handle is None else self._handle.when()

    def set(self, seconds: float) -> None:
        """Call in so many seconds."""
        self._handle = asyncio.get_running_loop().call_later(seconds, self._ring)

    def cancel(self) -> None:
        """Do not call."""
        handle, self._handle = self._handle, None
        if handle is not None:
            handle.cancel()

    def _ring(self) -> None:
        self._handle = None
        method = self._method()
        if method is not None:
            method()


class AsyncErrand:
    """Runs a method in a task of its own, once at a time, while the event loop runs."""

    def __init__(self, method: Callable[[], Coroutine[Any, Any, None]]) -> None:
        self._method = weakref.WeakMethod(method)
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Run the method, unless it is being run."""
        method = self._method()
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            return
        task = self._task
        if method is not None and (task is None or task.done() or task.get_loop() is not loop):
            self._task = loop.create_task(method())
