"""What the hot paths cost when somebody last looked, and how much more they may."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .paths import PATHS

#: Instructions per operation by path, and the Python under which those of the drivers were counted.
FILE = Path(__file__).parent / "baseline.json"
#: Compilers, C libraries and processors choose other instructions for the same code; what was seen is below 0.2 %.
TOLERANCE = 1.15
_PYTHON = "{}.{}".format(*sys.version_info)


def read() -> dict[str, int]:
    """The committed counts, without those that another Python's interpreter is part of."""
    kept = _read()
    counts: dict[str, int] = kept["paths"]
    return {name: count for name, count in counts.items() if PATHS[name].counts_server or kept["python"] == _PYTHON}


def write(counted: Mapping[str, int]) -> None:
    """Make these the committed counts, and leave the others."""
    paths = {**_read()["paths"], **counted}
    FILE.write_text(json.dumps({"python": _PYTHON, "paths": paths}, indent=1) + "\n")


def dearer(counted: Mapping[str, int]) -> list[str]:
    """A line for each path that costs more than it may."""
    known = read()
    return [
        f"{name}: {count:,} instructions, {count / known[name]:.3f} times the {known[name]:,} of {FILE.name}"
        for name, count in counted.items()
        if name in known and count > known[name] * TOLERANCE
    ]


def _read() -> dict[str, Any]:
    kept: dict[str, Any] = json.loads(FILE.read_text()) if FILE.exists() else {"python": _PYTHON, "paths": {}}
    return kept
