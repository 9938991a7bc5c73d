"""Cancelling at every step of the event loop, without a clock: the same for every driver."""

from __future__ import annotations

import asyncio
import gc
import os
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

import pytest


async def cancel_after(steps: int, operation: Awaitable[Any]) -> bool:
    """Cancel `operation` after so many steps of the event loop; false when it was over before."""
    task = asyncio.ensure_future(operation)
    for _ in range(steps):
        if task.done():
            break
        await asyncio.sleep(0)
    over = task.done()
    task.cancel()
    await asyncio.wait((task,), timeout=30)
    assert task.done(), "a cancelled operation hangs"
    if not task.cancelled() and (failure := task.exception()) is not None:
        raise failure
    return not over


def steps() -> Iterator[int]:
    """Every step of the beginning, where most happens; later ones, in which the loop waits for the server, at large."""
    step = 0
    while True:
        yield step
        step += 1 + step // 12


def descriptors() -> int:
    """How many files and sockets this process has open."""
    gc.collect()
    return len(os.listdir("/proc/self/fd"))


async def wait_until(condition: Callable[[], bool], what: str) -> None:
    """Wait for something that other processes do; fails after 20 s."""
    for _ in range(400):
        if condition():
            return
        await asyncio.sleep(0.05)
    pytest.fail(f"not within 20 s: {what}")
