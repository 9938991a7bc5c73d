"""Binaries of servers and clients out of Debian unstable or another suite: unpacked below `.cache`, run with their
own loader; nothing is installed.

    root = unpack("mysql-server-core", "mysql-server")
    subprocess.run([*command(root, "usr/sbin/mysqld"), "--version"])

apt runs with a configuration of its own, so that the machine's package lists, sources and state stay as they are;
Debian's archive keys are checked as always. A cached download is used again, whatever has become of the archive.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

from .process import ServerFailed

_CACHE = Path(__file__).resolve().parents[2] / ".cache" / "debian-sid"
_MIRROR = "http://deb.debian.org/debian"
_KEYRING = Path("/usr/share/keyrings/debian-archive-keyring.gpg")
#: Dependencies that a server without its helper scripts does not need; the largest are 10 MB.
_NOT_NEEDED = ("perl", "libperl", "gcc-")
#: A slow mirror must end in a skipped test, not in a hanging one, in seconds.
_PATIENCE = 240


class Unavailable(ServerFailed):
    """The packages cannot be had here: no apt, no network, another architecture. Tests skip, and say so."""


def unpack(*packages: str, suite: str = "sid", dependencies: bool = True) -> Path:
    """The folder that holds `packages` and the libraries they need; fetched on first use.

    `packages[0]` is taken with its `dependencies`, the others without. Raises `Unavailable`.
    """
    root = _CACHE / packages[0]
    if root.is_dir():
        return root
    if not (shutil.which("apt-get") and shutil.which("dpkg-deb") and _KEYRING.exists()):
        raise Unavailable("Debian's apt-get, dpkg-deb and archive keys are needed to fetch servers of Debian unstable")
    _CACHE.mkdir(parents=True, exist_ok=True)
    with _lock(), tempfile.TemporaryDirectory(prefix="rf-sid-", dir=_CACHE) as scratch:
        if root.is_dir():
            return root
        apt = _Apt(Path(scratch), suite)
        apt.run("update", "-qq")
        wanted = apt.closure(packages[0]) if dependencies else packages[:1]
        names = [name for name in wanted if not name.startswith(_NOT_NEEDED)]
        archives = Path(scratch) / "archives"
        archives.mkdir()
        apt.run("download", "-qq", *names, *packages[1:], cwd=archives)
        made = Path(scratch) / "root"
        for archive in sorted(archives.glob("*.deb")):
            _run(["dpkg-deb", "-x", str(archive), str(made)])
        made.rename(root)
    return root


def command(root: Path, program: str) -> list[str]:
    """The words that run `program`, a path below `root`, with the loader and the libraries of `root`."""
    loader = next(iter(sorted((root / "usr").glob("lib*/ld-linux-*.so.*"))), None)
    if loader is None or not (root / program).is_file():
        raise Unavailable(f"`{root}` holds no loader or no `{program}`")
    libraries = [str(folder) for folder in sorted((root / "usr" / "lib").glob("*-linux-gnu"))]
    return [str(loader), "--library-path", ":".join(libraries), str(root / program)]


class _Apt:
    """apt-get whose every file lies below one directory."""

    def __init__(self, home: Path, suite: str) -> None:
        for folder in ("lists/partial", "cache/archives/partial"):
            (home / folder).mkdir(parents=True)
        (home / "status").touch()
        (home / "sources.list").write_text(f"deb [signed-by={_KEYRING}] {_MIRROR} {suite} main\n")
        settings = {
            "Dir::State": home,
            "Dir::State::status": home / "status",
            "Dir::State::lists": home / "lists",
            "Dir::Cache": home / "cache",
            "Dir::Etc::sourcelist": home / "sources.list",
            "Dir::Etc::sourceparts": "/dev/null",
            "Dir::Etc::parts": "/dev/null",
            "Dir::Etc::preferencesparts": "/dev/null",
            "Acquire::Languages": "none",
            "Acquire::Retries": "2",
            "Acquire::http::Timeout": "20",
            "APT::Install-Recommends": "false",
        }
        if os.geteuid() == 0:
            # apt would download as a user that may not write here.
            settings["APT::Sandbox::User"] = "root"
        self._options = [word for name, value in settings.items() for word in ("-o", f"{name}={value}")]

    def run(self, *words: str, cwd: Path | None = None) -> str:
        return _run(["apt-get", *self._options, *words], cwd)

    def closure(self, package: str) -> list[str]:
        """The names of `package` and all it depends on."""
        listed = self.run("install", "--print-uris", "-y", "-qq", package)
        files = [line.split()[1] for line in listed.splitlines() if line.startswith("'")]
        return [file.partition("_")[0] for file in files]


def _run(words: list[str], cwd: Path | None = None) -> str:
    try:
        done = subprocess.run(
            words, cwd=cwd, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=_PATIENCE
        )
    except subprocess.TimeoutExpired as late:
        raise Unavailable(f"`{words[0]}` took more than {_PATIENCE} s") from late
    if done.returncode != 0:
        raise Unavailable(f"`{words[0]} {words[-1]}` failed:\n{done.stdout[-1000:]}{done.stderr[-1000:]}")
    return done.stdout


@contextlib.contextmanager
def _lock() -> Iterator[None]:
    with (_CACHE / "lock").open("w") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
