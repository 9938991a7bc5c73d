"""What importing a driver brings along: each program pays for it when it starts."""

from __future__ import annotations

import subprocess
import sys

import pytest
import rowferry

#: Each takes some milliseconds, and no connection needs it that did not ask for it.
DEAR = {
    "asyncio",
    "configparser",
    "dataclasses",
    "difflib",
    "email",
    "importlib.metadata",
    "inspect",
    "json",
    "logging",
}
DEAR |= {"pathlib", "random", "rowferry.mysql.constants.ER", "rowferry.mysql.pool", "rowferry.informix.pool", "socket"}
DEAR |= {"ssl", "urllib.parse", "uuid", "zoneinfo"}


def brought(statement: str) -> set[str]:
    """What of that is there after a statement, in a Python that has nothing else to do."""
    # Without `site`, whose .pth files may import anything.
    place = rowferry.__path__[0].removesuffix("/rowferry")
    program = f"import sys; sys.path.append({place!r}); {statement}; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-I", "-S", "-c", program], check=True, capture_output=True, text=True)
    return DEAR & set(done.stdout.split())


@pytest.mark.parametrize("driver", ["rowferry.mysql", "rowferry.informix"])
def test_a_driver_brings_nothing_along_that_is_dear(driver: str) -> None:
    assert brought(f"import {driver}") == set()


@pytest.mark.parametrize(
    "driver", ["rowferry.mysql", "rowferry.informix", "rowferry.mysql.aio", "rowferry.informix.aio"]
)
def test_every_name_of_a_driver_is_there_when_it_is_asked_for(driver: str) -> None:
    assert brought(f"from {driver} import *") >= {"logging", "random"}


def test_parts_that_come_later_are_there_by_their_names() -> None:
    statement = (
        "import rowferry.mysql as m; m.constants.ER.DUP_ENTRY, m.optionfile.Parser, m.pool.create_pool, m.events"
    )
    assert "rowferry.mysql.constants.ER" in brought(statement)


@pytest.mark.parametrize(
    "package", ["rowferry.mysql", "rowferry.mysql.aio", "rowferry.mysql.constants", "rowferry.informix"]
)
def test_a_name_that_is_none_is_told_as_python_tells_it(package: str) -> None:
    with pytest.raises(subprocess.CalledProcessError):
        brought(f"from {package} import nothing_of_the_kind")
