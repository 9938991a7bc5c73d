"""Options that callers give by name."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterable

__all__ = ["refuse_unknown"]


def refuse_unknown(function: str, given: Iterable[str], known: Collection[str]) -> None:
    """`TypeError`, with a suggestion, when one of the names `given` to `function` is not `known`."""
    unknown = sorted(set(given).difference(known))
    if unknown:
        near = difflib.get_close_matches(unknown[0], sorted(known), 1)
        hint = f"; did you mean `{near[0]}`?" if near else ""
        raise TypeError(f"{function}() has no parameter `{unknown[0]}`{hint}")
