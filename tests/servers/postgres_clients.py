"""PostgreSQL's client programs of several versions: what is installed, what Debian has, for 16 what a wheel carries.

    run([*command("pg_dump", 18), "--version"])

Nothing is installed; what is fetched lies below `.cache`.
"""

from __future__ import annotations

import fcntl
import hashlib
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from . import debian_sid
from .debian_sid import Unavailable

_CACHE = Path(__file__).resolve().parents[2] / ".cache" / "postgres-clients"
#: Debian's suites that have a version.
_SUITES = {17: "trixie", 18: "sid"}
#: Debian never released 16; this wheel for Python's users carries all of it.
_WHEEL = ("pgserver", "0.1.4", "d595789b47624a3d963aa9aa6359da9be31beb7e61f1a45541953242068b8813")


def command(program: str, version: int) -> list[str]:
    """The words that run a version's program; `Unavailable` where it cannot be fetched."""
    installed = Path(f"/usr/lib/postgresql/{version}/bin/{program}")
    if installed.exists():
        return [str(installed)]
    if version in _SUITES:
        root = debian_sid.unpack(f"postgresql-client-{version}", suite=_SUITES[version])
        return debian_sid.command(root, f"usr/lib/postgresql/{version}/bin/{program}")
    if version == 16:
        return [str(_wheel() / "pgserver/pginstall/bin" / program)]
    raise Unavailable(f"PostgreSQL {version} is not installed")


def _wheel() -> Path:
    """The directory of the unpacked wheel."""
    project, version, sha256 = _WHEEL
    root = _CACHE / f"{project}-{version}"
    _CACHE.mkdir(parents=True, exist_ok=True)
    with (_CACHE / "lock").open("w") as handle, tempfile.TemporaryDirectory(dir=_CACHE) as scratch:
        fcntl.flock(handle, fcntl.LOCK_EX)
        if root.is_dir():
            return root
        # Its programs are no part of any Python: the wheel of one version serves all.
        wanted = ["--no-deps", "--only-binary=:all:", "--python-version=3.11", "--platform=manylinux2014_x86_64"]
        download = [sys.executable, "-m", "pip", "download", "-q", *wanted, "-d", scratch, f"{project}=={version}"]
        done = subprocess.run(download, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=240)
        files = list(Path(scratch).glob("*.whl"))
        if done.returncode != 0 or not files:
            raise Unavailable(f"`pip download {project}=={version}` failed:\n{done.stderr[-1000:]}")
        if hashlib.sha256(files[0].read_bytes()).hexdigest() != sha256:
            raise Unavailable(f"{files[0].name} is not the one that is pinned")
        made = Path(scratch) / "made"
        with zipfile.ZipFile(files[0]) as wheel:
            wheel.extractall(made)
        for program in (made / "pgserver/pginstall/bin").iterdir():
            program.chmod(0o755)
        made.rename(root)
    return root
