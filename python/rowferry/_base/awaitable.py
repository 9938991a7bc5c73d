"""Calls that may be awaited, or entered by `async with`."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine, Generator
from types import TracebackType
from typing import Any, Generic, TypeVar

__all__ = ["Entering"]

T = TypeVar("T")


class Entering(Coroutine[Any, Any, T], Generic[T]):
    """`await it` answers the object; `async with it as x` gives it back at the end by `leave(x)`.

    After an exception in the block, by `abandon(x)` if that is given.
    """

    __slots__ = ("_abandon", "_coroutine", "_leave", "_object")

    def __init__(
        self,
        coroutine: Coroutine[Any, Any, T],
        leave: Callable[[T], Awaitable[Any]],
        abandon: Callable[[T], Awaitable[Any]] | None = None,
    ) -> None:
        self._coroutine = coroutine
        self._leave = leave
        self._abandon = abandon or leave

    def __await__(self) -> Generator[Any, Any, T]:
        return self._coroutine.__await__()

    def send(self, value: Any) -> Any:
        return self._coroutine.send(value)

    def throw(self, *args: Any) -> Any:
        return self._coroutine.throw(*args)

    def close(self) -> None:
        self._coroutine.close()

    async def __aenter__(self) -> T:
        self._object = await self._coroutine
        return self._object

    async def __aexit__(
        self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await (self._leave if kind is None else self._abandon)(self._object)
