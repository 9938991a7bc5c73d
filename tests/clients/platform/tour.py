"""What the tours here share: steps that print what they found out; `python TOUR URL` runs one on an empty database."""

from __future__ import annotations

import asyncio
import inspect
import re
import sys
from collections.abc import Callable
from typing import Any

Step = Callable[..., Any]

#: The clock and process ids tell no two servers apart.
_NOW = re.compile(r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(\.\d+)?([+-]\d\d(:?\d\d)?|Z)?")


def plain(value: object) -> str:
    """A value as a line, times of today left out."""
    return _NOW.sub("TIME", str(value))


def show(*values: object) -> None:
    """Print a line of what was found out."""
    print(*(plain(value) for value in values), flush=True)


def run(steps: list[Step]) -> None:
    """Run each step with the URL; a failing one says so and the next begins."""
    for step in steps:
        print(f"== {step.__name__}", flush=True)
        try:
            done = step(sys.argv[1])
            if inspect.iscoroutine(done):
                asyncio.run(done)
        except Exception as error:
            show(f"FAILED {type(error).__name__}: {str(error).splitlines()[:2]}")
