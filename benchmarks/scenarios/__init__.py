"""Scenarios: what is asked, of which target, through which peers. `SCENARIOS` maps names to them."""

from __future__ import annotations

from .base import Contestant, Scenario
from .doors import SCENARIOS as _DOORS
from .informix import SCENARIOS as _INFORMIX
from .mysql import SCENARIOS as _MYSQL
from .neighbours import SCENARIOS as _NEIGHBOURS
from .operations import SCENARIOS as _OPERATIONS
from .postgres import SCENARIOS as _POSTGRES
from .tpch import SCENARIOS as _TPCH

SCENARIOS: dict[str, Scenario] = {
    scenario.name: scenario
    for scenario in (*_POSTGRES, *_OPERATIONS, *_TPCH, *_NEIGHBOURS, *_INFORMIX, *_MYSQL, *_DOORS)
}

__all__ = ["SCENARIOS", "Contestant", "Scenario"]
