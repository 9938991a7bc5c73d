"""A process whose instructions are counted between two moments."""

from __future__ import annotations

import re
import shutil
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

#: How long callgrind may take to write its file, in seconds.
_PATIENCE = 60


class Missing(RuntimeError):
    """valgrind is not installed."""


def version() -> str:
    """valgrind's version; raises `Missing`."""
    if not shutil.which("valgrind") or not shutil.which("callgrind_control"):
        raise Missing("valgrind is not installed (Debian package valgrind)")
    return subprocess.run(["valgrind", "--version"], capture_output=True, text=True, check=True).stdout.strip()


@dataclass(frozen=True)
class Counted:
    """What a process did between two moments."""

    instructions: int
    #: callgrind's file, for callgrind_annotate.
    dump: bytes


class Counter:
    """Counts what a process does that was started by the words of `command`."""

    def __init__(self, directory: Path) -> None:
        self._output = directory / "callgrind.out"
        self._dumps = 0

    @property
    def command(self) -> list[str]:
        """Runs the rest of its arguments, uncounted until `count`."""
        return [
            "valgrind",
            "--quiet",
            "--tool=callgrind",
            "--instr-atstart=no",
            # Threads take turns by a lock of valgrind's; without this, one that spins may keep it.
            "--fair-sched=try",
            f"--callgrind-out-file={self._output}",
        ]

    def count(self, pid: int, work: Callable[[], object]) -> Counted:
        """The instructions of all threads of process `pid` while `work` runs."""
        _control("--instr=on", pid)
        work()
        _control("--instr=off", pid)
        self._dumps += 1
        _control("--dump", pid)
        return _read(self._output.with_name(f"{self._output.name}.{self._dumps}"))


def _control(order: str, pid: int) -> None:
    done = subprocess.run(["callgrind_control", order, str(pid)], capture_output=True, text=True, timeout=_PATIENCE)
    if done.returncode != 0 or "Error" in done.stdout + done.stderr:
        raise RuntimeError(f"`callgrind_control {order} {pid}` failed:\n{done.stdout}{done.stderr}")


def _read(path: Path) -> Counted:
    """A dump, which is written while we look; the sum stands at its end."""
    until = time.monotonic() + _PATIENCE
    while time.monotonic() < until:
        if path.exists() and (found := re.search(rb"^totals: (\d+)$", dump := path.read_bytes(), re.MULTILINE)):
            return Counted(int(found[1]), dump)
        time.sleep(0.02)
    raise RuntimeError(f"callgrind did not write `{path}`")
