"""Conversations over bad wires: many at a time, bounded, and compared with the same conversation over a good one."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from tests.chaos.wire import Fault

#: How long one conversation may take at all, in seconds; then it hangs, and the test says where.
WATCHDOG = 60
#: How long a driver waits for a server that says nothing, in seconds.
SILENCE = 0.25

Rows = list[tuple[Any, ...]]


class Talk:
    """What came of a conversation: the rows of each step that went well, and the error that ended it."""

    def __init__(self) -> None:
        self.steps: dict[str, Rows] = {}
        self.error: Any = None
        self.ends: dict[str, list[int]] = {}
        self.seen: dict[str, bytearray] = {}


def run_all(converse: Callable[..., Talk], cases: Sequence[tuple[Any, ...]], *more: Any) -> list[Talk]:
    """`converse(*case, *more)` for all cases, a few at a time: each mostly waits."""
    with ThreadPoolExecutor(6) as pool:
        futures = [pool.submit(converse, *case, *more) for case in cases]
        return [future.result(WATCHDOG) for future in futures]


def assert_honest(talk: Talk, clean: Talk, case: object) -> None:
    """Every step that went well answered what it answers over a good wire."""
    for name, rows in talk.steps.items():
        assert rows == clean.steps[name], (case, name)


def places(ends: list[int], *, inside: bool) -> list[int]:
    """The end of every group and, when asked, a place in its middle and one before its end."""
    found = set(ends[:-1])
    if inside:
        for start, end in itertools.pairwise(ends):
            found |= {start + 1, (start + end) // 2, end - 1}
    return sorted(place for place in found if place < ends[-1])


def spread(cases: list[Any], most: int) -> list[Any]:
    """At most so many, from everywhere."""
    return cases[:: -(-len(cases) // most)]


def both(faults: Sequence[Fault]) -> list[tuple[str, Fault]]:
    """Each fault with one of the colours, in turn."""
    return [(("blocking", "asyncio")[number % 2], fault) for number, fault in enumerate(faults)]
