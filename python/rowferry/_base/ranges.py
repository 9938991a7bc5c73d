"""How a query is cut into partitions: by ranges of a column."""

from __future__ import annotations

import datetime
import itertools
from collections.abc import Callable, Sequence
from decimal import Decimal, localcontext
from typing import Any

__all__ = ["can_interpolate", "cuts_between", "derived", "extremes", "quantiles", "statements"]


def derived(query: str) -> str:
    """A query as a derived table called `q`; its own ORDER BY and LIMIT stay its own."""
    # A comment at its end must not swallow the parenthesis, and a semicolon cannot stand inside.
    return f"(\n{query.rstrip().rstrip(';').rstrip()}\n) AS q"


def extremes(query: str, column: str) -> str:
    """The statement that finds the least and the greatest value of the column, which is spelled as SQL has it."""
    return f"SELECT MIN(q.{column}), MAX(q.{column}) FROM {derived(query)}"


def quantiles(query: str, column: str, partitions: int) -> str:
    """The statement that finds the least value of each of so many parts with equally many rows, in their order."""
    name = f"q.{column}"
    tiles = f"SELECT {name} AS k, NTILE({partitions}) OVER (ORDER BY {name}) AS t FROM {derived(query)}"
    # Informix sorts by what it selects.
    return f"SELECT w.t, MIN(w.k) FROM ({tiles} WHERE {name} IS NOT NULL) AS w GROUP BY w.t ORDER BY 1"


def can_interpolate(value: Any) -> bool:
    """True when ranges of equal width make sense: numbers, days, moments, durations."""
    return isinstance(value, (int, float, Decimal, datetime.date, datetime.timedelta)) and not isinstance(value, bool)


def cuts_between(low: Any, high: Any, partitions: int) -> list[Any]:
    """Where ranges of equal width between `low` and `high` begin, without the first."""
    cuts: list[Any] = []
    with localcontext() as context:
        context.prec = 100
        for at in range(1, partitions):
            if isinstance(low, int):
                cut = low + (high - low) * at // partitions
            elif isinstance(low, datetime.date) and not isinstance(low, datetime.datetime):
                cut = low + datetime.timedelta(days=(high - low).days * at // partitions)
            else:
                cut = low + (high - low) / partitions * at
            if cut > (cuts[-1] if cuts else low):
                cuts.append(cut)
    return cuts


def statements(query: str, column: str, cuts: Sequence[Any], literal: Callable[[Any], str]) -> list[str]:
    """A statement for each partition. The first has what is NULL, too; the last is open, as is the first.

    `literal` spells a value.
    """
    name = f"q.{column}"
    every = f"SELECT * FROM {derived(query)}"
    spelled = [literal(cut) for cut in cuts]
    if not spelled:
        return [every]
    middle = [f"{name} >= {low} AND {name} < {high}" for low, high in itertools.pairwise(spelled)]
    ranges = [f"{name} < {spelled[0]} OR {name} IS NULL", *middle, f"{name} >= {spelled[-1]}"]
    return [f"{every} WHERE {condition}" for condition in ranges]
