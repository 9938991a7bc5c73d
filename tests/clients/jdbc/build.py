"""Builds the small Java program around IBM's JDBC driver, and runs it.

The driver comes from Maven's repository and is used as it is. Everything that is made lies in `.cache/jdbc`.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

_HERE = Path(__file__).resolve().parent
_OUTPUT = _HERE.parents[2] / ".cache" / "jdbc"


class Unavailable(RuntimeError):
    """There is no Java or no Maven here, or its repository cannot be reached."""


class Failed(RuntimeError):
    """The program ended with an error; the message carries its last words."""


def build() -> Path:
    """Compile when the sources have changed; return the directory with `classes` and `lib`."""
    for program in ("java", "javac", "mvn"):
        if shutil.which(program) is None:
            raise Unavailable(f"`{program}` is not installed (Debian packages default-jdk-headless and maven)")
    stamp = _OUTPUT / "stamp"
    sources = hashlib.sha256()
    for path in [_HERE / "pom.xml", *sorted(_HERE.glob("src/**/*.java"))]:
        sources.update(path.read_bytes())
    if stamp.exists() and stamp.read_text() == sources.hexdigest():
        return _OUTPUT
    _OUTPUT.mkdir(parents=True, exist_ok=True)
    done = subprocess.run(
        ["mvn", "--quiet", "--batch-mode", "--file", _HERE / "pom.xml", f"-Doutput={_OUTPUT}", "compile"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=600,
    )
    if done.returncode != 0:
        output = done.stdout + done.stderr
        kind = Unavailable if "Could not transfer" in output or "Unknown host" in output else Failed
        raise kind(f"`mvn compile` failed:\n{output[-3000:]}")
    stamp.write_text(sources.hexdigest())
    return _OUTPUT


def run(host: str, port: int, database: str, *arguments: str, timeout: float = 120) -> list[dict[str, Any]]:
    """Run the program against a server and return the objects that it printed; raises `Failed` when it failed."""
    made = build()
    url = f"jdbc:informix-sqli://{host}:{port}/{database}:INFORMIXSERVER=informix;CLIENT_LOCALE=en_US.utf8;DB_LOCALE=en_US.utf8"
    done = subprocess.run(
        [
            *("java", "-XX:TieredStopAtLevel=1", "-Xshare:auto", "-Dfile.encoding=UTF-8"),
            *("-cp", f"{made / 'classes'}:{made / 'lib'}/*", "rowferry.Client", url, "informix", "in4mix", *arguments),
        ],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=timeout,
    )
    if done.returncode != 0:
        raise Failed(f"the Java program ended with {done.returncode}:\n{done.stdout[-1000:]}{done.stderr[-3000:]}")
    return [json.loads(line) for line in done.stdout.splitlines()]
