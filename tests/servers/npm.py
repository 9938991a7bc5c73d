"""Programs out of npm's registry, as a lock file names them by hash: unpacked below `target`.

No script of theirs is run.
"""

from __future__ import annotations

import fcntl
import shutil
import subprocess
from pathlib import Path

from .process import ServerFailed

_ROOT = Path(__file__).resolve().parents[2]


class Unavailable(ServerFailed):
    """The packages cannot be had here; the message says why."""


def install(wanted: Path, name: str, *options: str) -> Path:
    """The directory `target/NAME`, below whose `node_modules` is what `package-lock.json` in `wanted` names.

    `options` are further ones of `npm ci`. Fetched on first use, and when the lock file has changed; `Unavailable`
    where there is no npm, or nothing to be fetched.
    """
    for program in ("node", "npm"):
        if shutil.which(program) is None:
            raise Unavailable(f"`{program}` is not installed (Debian packages nodejs and npm)")
    output = _ROOT / "target" / name
    lock_file = (wanted / "package-lock.json").read_text()
    stamp = output / "stamp"
    output.mkdir(parents=True, exist_ok=True)
    # Test processes share what one of them fetches.
    with (output / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not stamp.exists() or stamp.read_text() != lock_file:
            for path in wanted.glob("package*.json"):
                shutil.copy(path, output)
            command = ["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", *options]
            done = subprocess.run(command, cwd=output, capture_output=True, text=True, timeout=300)
            if done.returncode != 0:
                raise Unavailable(f"npm cannot install {name}: {done.stderr.strip()[-500:]}")
            stamp.write_text(lock_file)
    return output
