"""What type checkers say of programs that use the drivers: mypy, and pyright, which Pylance in editors is.

basedpyright is a pyright whose Node comes with it as a package, so that nothing is downloaded when it runs.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

PROGRAMS = Path(__file__).resolve().parents[1] / "typing"
#: A checker on a machine that is busy with other things, in seconds.
PATIENCE = 110


def by_mypy(program: Path, cache: Path) -> dict[int, str]:
    """What mypy says of a program, by line."""
    command = [sys.executable, "-m", "mypy", "--strict", "--config-file=", f"--cache-dir={cache}", str(program)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, cwd=cache)
    assert done.returncode in (0, 1), done.stdout + done.stderr
    found = re.finditer(rf"^{re.escape(str(program))}:(\d+): error: (.*)$", done.stdout, re.M)
    errors = {int(error[1]): error[2] for error in found}
    assert bool(errors) == (done.returncode == 1), done.stdout
    return errors


def by_pyright(program: Path, cache: Path) -> dict[int, str]:
    """What pyright says of a program, by line."""
    settings = {"include": [str(program)], "typeCheckingMode": "standard", "reportUnusedExpression": False}
    (cache / "pyrightconfig.json").write_text(json.dumps(settings))
    command = [sys.executable, "-m", "basedpyright", "--outputjson", "--pythonpath", sys.executable, "-p", str(cache)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, cwd=cache)
    assert done.returncode in (0, 1), done.stdout + done.stderr
    said = json.loads(done.stdout)
    assert said["summary"]["filesAnalyzed"] == 1
    errors = [error for error in said["generalDiagnostics"] if error["severity"] == "error"]
    return {error["range"]["start"]["line"] + 1: error["message"] for error in errors}


@pytest.mark.parametrize("checker", [by_mypy, by_pyright])
def test_right_programs_are_taken(checker: Callable[[Path, Path], dict[int, str]], tmp_path: Path) -> None:
    assert checker(PROGRAMS / "right.py", tmp_path) == {}


@pytest.mark.parametrize("checker", [by_mypy, by_pyright])
def test_mistakes_are_found(checker: Callable[[Path, Path], dict[int, str]], tmp_path: Path) -> None:
    program = PROGRAMS / "wrong.py"
    marked = {number for number, line in enumerate(program.read_text().splitlines(), 1) if line.endswith("# wrong")}
    found = checker(program, tmp_path)
    assert {line: found[line] for line in found if line not in marked} == {}
    assert marked - set(found) == set()
