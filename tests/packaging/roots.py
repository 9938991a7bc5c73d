"""A root of one's own to install into: the machine's, with whatever is written kept in memory and forgotten."""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path

from tests.servers.availability import not_tested

#: Mounts in a namespace of its own, goes there, and becomes `sh`. What needs no mount is refused before.
_ENTER = """
set -e
mount -t tmpfs tmpfs "$1"
cd "$1"
mkdir upper work merged
mount -t overlay overlay -o "lowerdir=/,upperdir=$1/upper,workdir=$1/work" merged
cd merged
mount --rbind /dev dev
mount -t proc proc proc
mount -t tmpfs tmpfs run
mount --rbind "$2" mnt
exec chroot . bash -euo pipefail -c "$3"
"""


def need_root() -> None:
    """Skips, loudly, where nobody lets us mount: without root, or in a container that keeps it from us."""
    overlay = 'mount -t overlay overlay -o "lowerdir=/,upperdir=$1/a,workdir=$1/b" "$1/c"'
    mount = f'mount -t tmpfs tmpfs "$1" && mkdir "$1/a" "$1/b" "$1/c" && {overlay}'
    with tempfile.TemporaryDirectory() as scratch:
        command = ["unshare", "--mount", "--pid", "--fork", "sh", "-c", mount, "mount", scratch]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    if done.returncode != 0:
        not_tested("the Debian package, installed", f"a root to install into cannot be mounted: {done.stderr.strip()}")


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
