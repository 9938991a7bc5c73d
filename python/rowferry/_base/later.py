"""Parts of a package that are imported when somebody asks for them: programs start sooner that never do."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import Any

__all__ = ["later"]


def later(package: str, names: Mapping[str, str], modules: tuple[str, ...] = ()) -> Callable[[str], Any]:
    """A `__getattr__` for `package`: for what `names` says the module of, and for those modules and others of its own.

    What was asked for once is a name of the package like any other.
    """
    own = frozenset(names.values()).union(modules)

    def __getattr__(name: str) -> Any:
        module = name if name in own else names.get(name)
        if module is None:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        from importlib import import_module

        part = import_module(f"{package}.{module}")
        found = part if name in own else getattr(part, name)
        setattr(sys.modules[package], name, found)
        return found

    return __getattr__
