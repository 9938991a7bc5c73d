"""A root of one's own to install into: the machine's, with whatever is written kept in memory and forgotten."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

#: Mounts in a namespace of its own, goes there, and becomes `sh`. What needs no mount is refused before.
_ENTER = """
set -e
mount -t tmpfs tmpfs "$1"
mkdir "$1/upper" "$1/work" "$1/root"
mount -t overlay overlay -o "lowerdir=/,upperdir=$1/upper,workdir=$1/work" "$1/root"
mount --rbind /dev "$1/root/dev"
mount -t proc proc "$1/root/proc"
mount -t tmpfs tmpfs "$1/root/run"
mount --rbind "$2" "$1/root/mnt"
exec chroot "$1/root" bash -euo pipefail -c "$3"
"""


def need_root() -> None:
    """Skips where nobody lets us mount."""
    if os.geteuid() != 0 or shutil.which("unshare") is None:
        pytest.skip("only root can mount a root to install into")
    done = subprocess.run(["unshare", "--mount", "--pid", "--fork", "true"], capture_output=True, timeout=60)
    if done.returncode != 0 or "overlay" not in Path("/proc/filesystems").read_text():
        pytest.skip("no namespaces, or no overlays, on this machine")


def run_in_overlay(
    script: str, given: Path, scratch: Path, env: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Runs a script of Bash with the machine's files below it; `given` is at /mnt. All that it starts ends with it."""
    scratch.mkdir(exist_ok=True)
    command = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "bash", "-c", _ENTER, "enter"]
    return subprocess.run(
        [*command, scratch, given, script],
        capture_output=True,
        text=True,
        timeout=110,
        stdin=subprocess.DEVNULL,
        env={**os.environ, **(env or {})},
    )
