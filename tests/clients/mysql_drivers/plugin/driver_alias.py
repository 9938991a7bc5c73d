"""A plugin for pytest that lets `import pymysql` find `rowferry.mysql`, and so on with the other drivers.

`ROWFERRY_ALIASES` says which: `pymysql=rowferry.mysql,…`. `ROWFERRY_SUITE` is a directory of modules that belong to one
of these packages, `pymysql/tests` for one, and are found below their own names.
"""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import os
import sys
from collections.abc import Sequence
from types import ModuleType


class _Loader(importlib.abc.Loader):
    """Answers a module that is loaded already, or loads it under its own name."""

    def __init__(self, module: ModuleType) -> None:
        self._module = module
        self._spec = module.__spec__

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType:
        return self._module

    def exec_module(self, module: ModuleType) -> None:
        # The import system has put its own in.
        module.__spec__ = self._spec


class _Finder(importlib.abc.MetaPathFinder):
    def __init__(self, aliases: dict[str, str]) -> None:
        self._aliases = aliases

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        package, _, rest = name.partition(".")
        own = self._aliases.get(package)
        if own is None:
            return None
        module = _find(own, rest)
        return None if module is None else importlib.machinery.ModuleSpec(name, _Loader(module), is_package=True)


def _find(package: str, rest: str) -> ModuleType | None:
    """The module `rest` in `package`, or the module that the package knows by this name."""
    name = f"{package}.{rest}" if rest else package
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as missing:
        if missing.name != name:
            raise
    found = getattr(importlib.import_module(package), rest, None)
    return found if isinstance(found, ModuleType) else None


aliases = dict(pair.split("=") for pair in os.environ.get("ROWFERRY_ALIASES", "").split(",") if pair)
if aliases:
    sys.meta_path.insert(0, _Finder(aliases))
if "MySQLdb" in aliases:
    # The way of frameworks, which is part of what is tested.
    from rowferry import mysql

    mysql.install_as_MySQLdb()
for _directory in filter(None, [os.environ.get("ROWFERRY_SUITE")]):
    for _name in os.listdir(_directory):
        if os.path.isdir(os.path.join(_directory, _name)):
            importlib.import_module(_name).__path__.append(os.path.join(_directory, _name))
