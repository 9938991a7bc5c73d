"""A reader of option files for programs that use PyMySQL's. `connect(read_default_file=…)` has its own."""

from __future__ import annotations

import configparser
from typing import Any

__all__ = ["Parser"]


class Parser(configparser.RawConfigParser):
    """Python's own parser, made to take options without a value, and quotes around values."""

    def __init__(self, **parameters: Any) -> None:
        super().__init__(**{**parameters, "allow_no_value": True})

    def optionxform(self, optionstr: str) -> str:
        """The name of an option: hyphens and underscores are the same."""
        return optionstr.lower().replace("_", "-")

    def get(self, section: str, option: str, *args: Any, **parameters: Any) -> Any:  # type: ignore[override]
        """The value without the quotes around it."""
        value = super().get(section, option, *args, **parameters)
        if value and value[0] in "'\"" and value[-1] == value[0] and len(value) > 1:
            return value[1:-1]
        return value
