"""Another project's own tests, run by pytest in a process of their own: what became of each, and the floor below it.

A floor is a JSON file: how many tests must have `passed`, how many pass on the real server (`reference`), and the names
of those that fail here, under `lost`, or these with the reason of each.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

#: A test that takes longer hangs, in seconds.
_TEST_SECONDS = 60


@dataclass(frozen=True)
class Result:
    """What became of each test, by its name."""

    passed: frozenset[str]
    failed: frozenset[str]
    skipped: frozenset[str]
    #: Those of `failed` that did not end.
    hung: frozenset[str]
    output: str

    def __str__(self) -> str:
        counts = f"{len(self.passed)} passed, {len(self.failed)} failed, {len(self.skipped)} skipped"
        return f"{counts}, {len(self.hung)} of the failed hung"


def run(
    directory: Path, arguments: Sequence[str], environment: Mapping[str, str], *, seconds: float, asyncio: bool = False
) -> Result:
    """Run the tests of `directory`; all of them must end within so many seconds."""
    with tempfile.TemporaryDirectory(prefix="rf-suite-") as scratch:
        report = Path(scratch) / "report.xml"
        inherited = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST", "PG"))}
        plugins = ["no:randomly", "no:benchmark", *([] if asyncio else ["no:asyncio"])]
        command = [sys.executable, "-m", "pytest", "-q", "--tb=line", f"--timeout={_TEST_SECONDS}"]
        command += [word for plugin in plugins for word in ("-p", plugin)]
        command += ["-o", f"cache_dir={scratch}/cache", f"--rootdir={directory}", f"--junitxml={report}", *arguments]
        done = subprocess.run(
            command,
            cwd=directory,
            env={**inherited, **environment},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            timeout=seconds,
        )
        if not report.exists():
            raise RuntimeError(f"pytest ended with {done.returncode} and no report:\n{done.stdout[-4000:]}")
        return _read(report, done.stdout)


def _read(report: Path, output: str) -> Result:
    passed, failed, skipped, hung = set(), set(), set(), set()
    for case in ElementTree.parse(report).getroot().iter("testcase"):
        name = f"{case.get('classname', '').removeprefix('tests.')}::{case.get('name')}"
        messages = {child.tag: child.get("message") or "" for child in case}
        if "failure" in messages or "error" in messages:
            failed.add(name)
            if "Timeout" in messages.get("failure", "") + messages.get("error", ""):
                hung.add(name)
        elif "skipped" in messages:
            skipped.add(name)
        else:
            passed.add(name)
    # A test that passes and whose clean-up fails is there twice.
    passed -= failed
    return Result(frozenset(passed), frozenset(failed), frozenset(skipped), frozenset(hung), output)


def floor(path: Path) -> dict[str, Any]:
    """What a floor says."""
    known: dict[str, Any] = json.loads(path.read_text())
    return known


def below(result: Result, path: Path) -> list[str]:
    """What a result lacks, in words; nothing when it stands on its floor."""
    known = floor(path)
    lacks = [f"hangs: {name}" for name in sorted(result.hung)]
    lacks += [f"fails, and its floor does not know why: {name}" for name in sorted(result.failed - set(known["lost"]))]
    if len(result.passed) < known["passed"]:
        lacks.append(f"{len(result.passed)} pass, not {known['passed']}")
    return lacks


def write(path: Path, result: Result, reference: Iterable[str] | None, why: Mapping[str, str] | None = None) -> None:
    """Make a result the floor; `reference` are the tests that pass on the real server, `why` why others do not."""
    known = floor(path) if path.exists() else {"reference": 0}
    if reference is not None:
        known["reference"] = len(set(reference))
    # Whatever fails on the real server, too, is lost to neither.
    lost: Any = sorted(result.failed)
    if why is not None:
        # What somebody has written of one stays.
        told = dict.fromkeys(lost, "") | {name: why.get(name, "")[:160] for name in lost}
        lost = told | {name: reason for name, reason in dict(known.get("lost", {})).items() if name in told and reason}
    known.update(passed=len(result.passed), lost=lost)
    path.write_text(json.dumps(known, indent=1, ensure_ascii=False) + "\n")
