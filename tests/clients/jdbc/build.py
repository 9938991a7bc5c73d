"""Builds the small Java programs around IBM's JDBC driver, and runs them.

The driver comes from Maven's repository and is used as it is. Everything that is made lies in `.cache/jdbc`, in a
directory for each version of the driver.
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

#: The driver's versions that are tried, the one of other tests first.
VERSIONS = ("15.0.1.0", "15.0.0.1", "4.50.11")
#: The classes for PAM have other names in version 4.
_LEFT_OUT = {"4.50.11": "rowferry/Answers.java"}


class Unavailable(RuntimeError):
    """There is no Java or no Maven here, or its repository cannot be reached."""


class Failed(RuntimeError):
    """The program ended with an error; the message carries its last words."""


def build(version: str = VERSIONS[0]) -> Path:
    """Compile when the sources have changed; return the directory with `classes` and `lib`."""
    for program in ("java", "javac", "mvn"):
        if shutil.which(program) is None:
            raise Unavailable(f"`{program}` is not installed (Debian packages default-jdk-headless and maven)")
    output = _OUTPUT / version
    stamp = output / "stamp"
    sources = hashlib.sha256()
    for path in [_HERE / "pom.xml", *sorted(_HERE.glob("src/**/*.java"))]:
        sources.update(path.read_bytes())
    if stamp.exists() and stamp.read_text() == sources.hexdigest():
        return output
    output.mkdir(parents=True, exist_ok=True)
    done = subprocess.run(
        [
            *("mvn", "--quiet", "--batch-mode", "--file", _HERE / "pom.xml"),
            *(f"-Doutput={output}", f"-Ddriver={version}", f"-Dleft.out={_LEFT_OUT.get(version, 'none')}", "compile"),
        ],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=600,
    )
    if done.returncode != 0:
        words = done.stdout + done.stderr
        kind = Unavailable if "Could not transfer" in words or "Unknown host" in words else Failed
        raise kind(f"`mvn compile` failed:\n{words[-3000:]}")
    stamp.write_text(sources.hexdigest())
    return output


def java(program: str, *arguments: str, version: str = VERSIONS[0], timeout: float = 120) -> list[dict[str, Any]]:
    """Run one of the programs and return the objects that it printed, a line each; raises `Failed` when it failed."""
    made = build(version)
    done = subprocess.run(
        [
            *("java", "-XX:TieredStopAtLevel=1", "-Xshare:auto", "-Dfile.encoding=UTF-8"),
            *("-cp", f"{made / 'classes'}:{made / 'lib'}/*", program, *arguments),
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


def run(host: str, port: int, database: str, *arguments: str, timeout: float = 120) -> list[dict[str, Any]]:
    """Run the demo's client against a server and return the objects that it printed; raises `Failed` when it failed."""
    url = f"jdbc:informix-sqli://{host}:{port}/{database}:INFORMIXSERVER=informix;CLIENT_LOCALE=en_US.utf8;DB_LOCALE=en_US.utf8"
    return java("rowferry.Client", url, "informix", "in4mix", *arguments, timeout=timeout)


def tour(host: str, port: int, database: str, *themes: str, version: str = VERSIONS[0]) -> list[dict[str, Any]]:
    """Walk through all that the driver does, or through some themes, and return what each check found."""
    return java("rowferry.tour.Tour", host, str(port), database, "informix", "in4mix", *themes, version=version)
