"""Other drivers' names for this one, for frameworks that import a driver by its name."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from types import ModuleType
from typing import Any

from . import charset, constants, converters, err

__all__ = ["install"]


class _Alias(ModuleType):
    """A module under another name: programs find its parts by what it says it is called, as SQLAlchemy does.

    Everything else is the module's, also what is set.
    """

    def __init__(self, name: str, module: ModuleType) -> None:
        super().__init__(name, module.__doc__)
        vars(self)["_module"] = module

    def __getattr__(self, name: str) -> Any:
        return getattr(vars(self)["_module"], name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(vars(self)["_module"], name, value)

    def __delattr__(self, name: str) -> None:
        delattr(vars(self)["_module"], name)

    def __dir__(self) -> list[str]:
        return dir(vars(self)["_module"])


def install(name: str, module: ModuleType, parts: Mapping[str, ModuleType]) -> None:
    """After this, `import name` answers `module`, and `import name.part` each of `parts`.

    `constants` with all that is in it, `converters`, `charset`, and the exceptions as `err` and `errors` are always
    among the parts. Whoever has imported the real one keeps it: call this first.
    """
    every = {"constants": constants, "converters": converters, "err": err, "errors": err, "charset": charset, **parts}
    every |= {f"constants.{known}": getattr(constants, known) for known in constants.__all__}
    sys.modules[name] = _Alias(name, module)
    for part, found in every.items():
        sys.modules[f"{name}.{part}"] = found
