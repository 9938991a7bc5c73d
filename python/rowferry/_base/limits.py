"""Time limits for blocks of asyncio code."""

from __future__ import annotations

import asyncio
from types import TracebackType

__all__ = ["Limit"]


class Limit:
    """`async with Limit(seconds):` raises `asyncio.TimeoutError` when the block takes longer. None is no limit.

    As `asyncio.timeout`, which Python 3.10 does not have. Unlike `asyncio.wait_for` it makes no task, and never takes a
    cancellation for a result.
    """

    __slots__ = ("_cancelled_before", "_expired", "_handle", "_seconds", "_task")

    def __init__(self, seconds: float | None) -> None:
        self._seconds = seconds
        self._expired = False
        self._handle: asyncio.TimerHandle | None = None

    async def __aenter__(self) -> Limit:
        if self._seconds is not None:
            task = asyncio.current_task()
            if task is None:
                raise RuntimeError("a limit needs a task to be in")
            self._task = task
            self._cancelled_before = task.cancelling() if hasattr(task, "cancelling") else 0
            self._handle = asyncio.get_running_loop().call_later(self._seconds, self._expire)
        return self

    def _expire(self) -> None:
        self._expired = True
        self._task.cancel()

    async def __aexit__(
        self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._handle is not None:
            self._handle.cancel()
        if not self._expired:
            return
        # Whoever else cancelled the task meanwhile is not to be robbed of it.
        others = self._task.uncancel() > self._cancelled_before if hasattr(self._task, "uncancel") else False
        if kind is not None and issubclass(kind, asyncio.CancelledError) and not others:
            raise asyncio.TimeoutError from value
