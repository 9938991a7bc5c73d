"""Other drivers' names for this one, for frameworks that import a driver by its name."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from types import ModuleType

from . import charset, constants, converters, err

__all__ = ["install"]


def install(name: str, module: ModuleType, parts: Mapping[str, ModuleType]) -> None:
    """After this, `import name` answers `module`, and `import name.part` each of `parts`.

    `constants` with all that is in it, `converters`, `charset`, and the exceptions as `err` and `errors` are always
    among the parts. Whoever has imported the real one keeps it: call this first.
    """
    every = {"constants": constants, "converters": converters, "err": err, "errors": err, "charset": charset, **parts}
    every |= {f"constants.{known}": sys.modules[f"{constants.__name__}.{known}"] for known in constants.__all__}
    sys.modules[name] = module
    for part, found in every.items():
        sys.modules[f"{name}.{part}"] = found
