"""Other drivers' names for this one, for frameworks that import a driver by its name."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any

from . import constants, converters, err
from ._charsets import charset_by_name

__all__ = ["install"]


def install(name: str, module: ModuleType, parts: Mapping[str, ModuleType]) -> None:
    """After this, `import name` answers `module`, and `import name.part` each of `parts`.

    `constants` with all that is in it, `converters`, `charset`, and the exceptions as `err` and `errors` are always
    among the parts. Whoever has imported the real one keeps it: call this first.
    """
    charset = _module(f"{name}.charset", charset_by_name=_none_when_unknown(charset_by_name))
    every = {"constants": constants, "converters": converters, "err": err, "errors": err, "charset": charset, **parts}
    every |= {f"constants.{known}": sys.modules[f"{constants.__name__}.{known}"] for known in constants.__all__}
    sys.modules[name] = module
    for part, found in every.items():
        sys.modules[f"{name}.{part}"] = found


def _none_when_unknown(function: Callable[[str], Any]) -> Callable[[str], Any]:
    def found(name: str) -> Any:
        try:
            return function(name)
        except ValueError:
            return None

    return found


def _module(name: str, **members: Any) -> ModuleType:
    module = ModuleType(name)
    module.__dict__.update(members)
    return module
