"""Scenarios in JSON, for workers that are not Python and cannot import them."""

from __future__ import annotations

import base64
from datetime import date, datetime
from decimal import Decimal
from typing import Any

from .scenarios import Scenario


def out(scenario: Scenario) -> dict[str, Any]:
    """Everything that a worker has to know of `scenario`, with `?` for its parameters."""
    return {
        "sql": scenario.sql_with(["?"] * len(scenario.parameters[0])),
        "parameters": [[cell(value) for value in row] for row in scenario.parameters],
        "work": scenario.work,
        "width": scenario.width,
        "read_back": scenario.read_back,
        "reset": scenario.reset,
    }


def cell(value: Any) -> Any:
    """A parameter: JSON's own types as they are, others as an object that names the type."""
    if value is None or isinstance(value, str | int | float):
        return value
    if isinstance(value, Decimal):
        return {"decimal": str(value)}
    if isinstance(value, datetime):
        return {"timestamp": value.isoformat(" ")}
    if isinstance(value, date):
        return {"date": value.isoformat()}
    if isinstance(value, bytes):
        return {"bytes": base64.b64encode(value).decode()}
    raise TypeError(f"{type(value).__name__} is not spelled yet")
