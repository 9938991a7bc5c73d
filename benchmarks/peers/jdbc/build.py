"""Compiles the worker around IBM's JDBC driver, and says how to start it.

The driver comes from Maven's repository and is used as it is. What is made lies in `.cache/jdbc-bench`. The virtual
machine runs with its own defaults, as it does for most users.
"""

from __future__ import annotations

import hashlib
import shutil
import subprocess
from pathlib import Path

_HERE = Path(__file__).resolve().parent
_OUTPUT = _HERE.parents[2] / ".cache" / "jdbc-bench"


class Unavailable(ImportError):
    """There is no Java or no Maven here, or what they made cannot be had."""


def command() -> list[str]:
    """What starts the worker; compiles it when its sources have changed. Raises `Unavailable`."""
    _build()
    classpath = f"{_OUTPUT / 'classes'}:{_OUTPUT / 'lib'}/*"
    return ["java", "-Dfile.encoding=UTF-8", "-cp", classpath, "rowferry.bench.Worker"]


def _build() -> None:
    for program in ("java", "javac", "mvn"):
        if shutil.which(program) is None:
            raise Unavailable(f"`{program}` is not installed (Debian packages default-jdk-headless and maven)")
    stamp = _OUTPUT / "stamp"
    sources = hashlib.sha256()
    for path in [_HERE / "pom.xml", *sorted(_HERE.glob("src/**/*.java"))]:
        sources.update(path.read_bytes())
    if stamp.exists() and stamp.read_text() == sources.hexdigest():
        return
    _OUTPUT.mkdir(parents=True, exist_ok=True)
    done = subprocess.run(
        ["mvn", "--quiet", "--batch-mode", "--file", _HERE / "pom.xml", f"-Doutput={_OUTPUT}", "compile"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=600,
    )
    if done.returncode != 0:
        raise Unavailable(f"`mvn compile` failed: {(done.stdout + done.stderr)[-2000:]}")
    stamp.write_text(sources.hexdigest())
