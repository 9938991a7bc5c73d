"""The clients of the demo, a module each, each run in a process of its own.

A module has `run(address, customer)`, which does what `questions` says and returns an `Answer`.
"""

from __future__ import annotations

import dataclasses
from typing import Any


class Unavailable(Exception):
    """This client cannot be run here; the message says why."""


@dataclasses.dataclass
class Answer:
    """What a client saw."""

    #: The driver with its version.
    version: str
    #: The rows of the report.
    report: list[list[Any]]
    #: The rows of customers `customer` (committed) and `customer + 1` (rolled back) after both transactions.
    written: list[list[Any]]
    #: Time per small question; None where it was lost in noise.
    microseconds: float | None
