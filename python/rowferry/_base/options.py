"""Options that callers give by name."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from typing import Any

__all__ = ["parameter_names", "refuse_unknown"]


def parameter_names(function: Callable[..., Any]) -> tuple[str, ...]:
    """The names of the parameters of a function written in Python, in their order."""
    # As `inspect.signature` says, which costs every program some milliseconds when it starts.
    code = function.__code__
    return code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]


def refuse_unknown(function: str, given: Iterable[str], known: Collection[str]) -> None:
    """`TypeError`, with a suggestion, when one of the names `given` to `function` is not `known`."""
    unknown = sorted(set(given).difference(known))
    if unknown:
        import difflib

        near = difflib.get_close_matches(unknown[0], sorted(known), 1)
        hint = f"; did you mean `{near[0]}`?" if near else ""
        raise TypeError(f"{function}() has no parameter `{unknown[0]}`{hint}")
