"""Where the suites come from: pinned, fetched at first use into `.cache`, never committed."""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import os
import subprocess
import sys
import tarfile
import tempfile
import urllib.parse
import urllib.request
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

_CACHE = Path(__file__).resolve().parents[3] / ".cache" / "mysql-drivers"


class Unavailable(Exception):
    """The suite cannot be fetched here."""


@dataclass(frozen=True)
class Sdist:
    """A source distribution on PyPI, and the directories in it that are wanted."""

    project: str
    version: str
    sha256: str
    wanted: tuple[str, ...]

    @property
    def name(self) -> str:
        """Where it lies in the cache."""
        return f"{self.project}-{self.version}"

    def fetch(self) -> tarfile.TarFile:
        """The archive; `Unavailable` without a network."""
        file = f"{self.project.lower()}-{self.version}.tar.gz"
        # Not by pip, which makes the metadata of what it downloads: that of mysqlclient needs a C library.
        page = f"{_index()}/{self.project.lower()}/"
        listed = json.loads(_get(page, Accept="application/vnd.pypi.simple.v1+json"))
        urls = [entry["url"] for entry in listed["files"] if entry["filename"].lower() == file]
        if not urls:
            raise Unavailable(f"{page} has no {file}")
        content = _get(urllib.parse.urljoin(page, urls[0]))
        if hashlib.sha256(content).hexdigest() != self.sha256:
            raise Unavailable(f"{urls[0]} is not the one that is pinned")
        return tarfile.open(fileobj=io.BytesIO(content))


def _index() -> str:
    """The package index that pip uses."""
    asked = [sys.executable, "-m", "pip", "config", "get", "global.index-url"]
    configured = subprocess.run(asked, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=60).stdout
    return (os.environ.get("PIP_INDEX_URL") or configured.strip() or "https://pypi.org/simple").rstrip("/")


def _get(url: str, **headers: str) -> bytes:
    try:
        with urllib.request.urlopen(urllib.request.Request(url, headers=headers), timeout=120) as answer:
            content: bytes = answer.read()
            return content
    except OSError as error:
        raise Unavailable(f"{url}: {error}") from error


@dataclass(frozen=True)
class Repository:
    """A commit, whose name is the checksum of all that is in it."""

    url: str
    commit: str
    wanted: tuple[str, ...]

    @property
    def name(self) -> str:
        """Where it lies in the cache."""
        return f"{self.url.rpartition('/')[2]}-{self.commit[:12]}"

    def fetch(self) -> tarfile.TarFile:
        """The archive; `Unavailable` without a network."""
        clone = _CACHE / f"{self.name}.git"
        clone.mkdir(parents=True, exist_ok=True)
        self._git(clone, "init", "--quiet", "--bare")
        self._git(clone, "fetch", "--quiet", "--depth=1", self.url, self.commit)
        return tarfile.open(fileobj=io.BytesIO(self._git(clone, "archive", self.commit, *self.wanted)))

    def _git(self, clone: Path, *words: str) -> bytes:
        done = subprocess.run(
            ["git", "-C", str(clone), *words], capture_output=True, stdin=subprocess.DEVNULL, timeout=120
        )
        if done.returncode != 0:
            raise Unavailable(f"git {words[0]} of {self.url}: {done.stderr.decode(errors='replace')[-500:]}")
        return done.stdout


@dataclass(frozen=True)
class Archive:
    """A file somewhere."""

    url: str
    sha256: str
    wanted: tuple[str, ...]

    @property
    def name(self) -> str:
        """Where it lies in the cache."""
        return self.url.rpartition("/")[2].partition(".orig")[0]

    def fetch(self) -> tarfile.TarFile:
        """The archive; `Unavailable` without a network."""
        content = _get(self.url)
        if hashlib.sha256(content).hexdigest() != self.sha256:
            raise Unavailable(f"{self.url} is not what is pinned")
        return tarfile.open(fileobj=io.BytesIO(content))


Source = Sdist | Repository | Archive


def unpack(sources: Sequence[Source]) -> Path:
    """The directory with what is wanted of the first of these that can be had; `Unavailable` when none can."""
    for source in sources:
        if (_CACHE / source.name).is_dir():
            return _CACHE / source.name
    reasons = []
    for source in sources:
        try:
            return _unpack(source)
        except Unavailable as reason:
            reasons.append(str(reason))
    raise Unavailable("; ".join(reasons))


def _unpack(source: Source) -> Path:
    directory = _CACHE / source.name
    _CACHE.mkdir(parents=True, exist_ok=True)
    with source.fetch() as archive, tempfile.TemporaryDirectory(prefix="new-", dir=_CACHE) as scratch:
        made = Path(scratch) / "suite"
        # By hand, since Debian 12's Python has no filters for archives: plain files below the directory, no more.
        for member in archive:
            path = member.name if isinstance(source, Repository) else member.name.partition("/")[2]
            target = (made / path).resolve()
            content = archive.extractfile(member) if member.isfile() else None
            if content is not None and made.resolve() in target.parents and path.startswith(source.wanted):
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(content.read())
        # Another process may have been quicker.
        with contextlib.suppress(OSError):
            made.rename(directory)
    return directory


#: The sdist is without the suite. This commit is the last before 1.2.4 that we know of; Debian's is of 1.1.1.
PYMYSQL = (
    Repository("https://github.com/PyMySQL/PyMySQL", "0305ab344f2026aaa17b405684a521b092a650bd", ("pymysql/tests/",)),
    Archive(
        "http://deb.debian.org/debian/pool/main/p/python-pymysql/python-pymysql_1.1.1.orig.tar.xz",
        "a501d7580f3db3738272838d01d31701c14cd3f3db804f798f6f3324ef83821e",
        ("pymysql/tests/",),
    ),
)
MYSQLCLIENT = (
    Sdist("mysqlclient", "2.3.1", "c07e1b83b530fd6c5888259f36afad1980d21fcb33ba97384650dd23c8f73ea8", ("tests/",)),
)
AIOMYSQL = (
    Sdist("aiomysql", "0.3.2", "72d15ef5cfc34c03468eb41e1b90adb9fd9347b0b589114bd23ead569a02ac1a", ("tests/",)),
)
#: The sdist is without the suite.
ASYNCMY = (
    Repository(
        "https://github.com/long2ice/asyncmy",
        "1fc4d0b2678f9accfd1caee15c21469d861ed6cb",
        ("tests/", "conftest.py"),
    ),
)
