"""PostgreSQL's regression tests, fetched from Debian's sources of postgresql-15 and kept out of the repository.

The package manager checks what it fetches by the hashes of Debian's signed lists. It works with lists and a cache of
its own here, so that the machine's settings stay as they are.
"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

_ROOT = Path(__file__).resolve().parents[3]
_KEPT = _ROOT / ".cache" / "postgres_regress"
_MIRROR = "http://deb.debian.org/debian"
_RELEASE = "bookworm"


class Unavailable(Exception):
    """The sources, or what compiles their C part, cannot be had here."""


def regression_tests() -> Path:
    """`src/test/regress` of PostgreSQL 15; fetched at the first call."""
    return _unpacked("src/test/regress")


def plpgsql_tests() -> Path:
    """`src/pl/plpgsql/src`, which has tests of the language's own."""
    return _unpacked("src/pl/plpgsql/src")


def _unpacked(directory: str) -> Path:
    _KEPT.mkdir(parents=True, exist_ok=True)
    for found in _KEPT.glob(f"postgresql-15.*/{directory}"):
        return found
    archive = next(_KEPT.glob("postgresql-15_15.*.orig.tar.*"), None) or _fetch()
    _run(["tar", "--extract", "--file", archive.name, "--wildcards", f"*/{directory}"], _KEPT, "unpack the sources")
    return next(_KEPT.glob(f"postgresql-15.*/{directory}"))


def compile_functions(tests: Path) -> None:
    """Compile the tests' functions in C, which the reference loads.

    The headers are in Debian's package postgresql-server-dev-15.
    """
    if (tests / "regress.so").exists():
        return
    headers = subprocess.run(["pg_config", "--includedir-server"], capture_output=True, text=True)
    includes = [f"-I{headers.stdout.strip()}", "-I/usr/include/postgresql/15/server"]
    _run(["cc", "-shared", "-fPIC", "-O1", *includes, "-o", "regress.so", "regress.c"], tests, "compile regress.c")


def _fetch() -> Path:
    if shutil.which("apt-get") is None:
        raise Unavailable("there is no apt-get to fetch Debian's sources with")
    lists, cache = _KEPT / "lists", _KEPT / "cache"
    for directory in (lists / "partial", cache / "archives" / "partial"):
        directory.mkdir(parents=True, exist_ok=True)
    (_KEPT / "sources.list").write_text(f"deb-src {_MIRROR} {_RELEASE} main\n")
    settings = {
        "Dir::Etc::sourcelist": _KEPT / "sources.list",
        "Dir::Etc::sourceparts": "/dev/null",
        "Dir::State::lists": lists,
        "Dir::Cache": cache,
        "APT::Sandbox::User": "root",
    }
    options = [word for name, value in settings.items() for word in ("-o", f"{name}={value}")]
    _run(["apt-get", *options, "-q", "update"], _KEPT, "read Debian's list of sources")
    _run(["apt-get", *options, "-q", "source", "--download-only", "postgresql-15"], _KEPT, "fetch postgresql-15")
    return next(_KEPT.glob("postgresql-15_15.*.orig.tar.*"))


def _run(command: list[str], directory: Path, what: str) -> None:
    done = subprocess.run(command, cwd=directory, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=600)
    if done.returncode != 0:
        raise Unavailable(f"cannot {what}: {(done.stderr or done.stdout).strip()[-500:]}")
