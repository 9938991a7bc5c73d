"""A MariaDB server of our own: `with MariaDB.start() as server: connect(**server.dsn)`."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

from .process import Process, ServerFailed, free_port

_CACHE = Path(__file__).resolve().parents[2] / ".cache"

_INIT_SQL = """\
CREATE DATABASE {database} CHARACTER SET utf8mb4;
CREATE USER '{user}'@'localhost' IDENTIFIED BY '{password}';
CREATE USER '{user}'@'127.0.0.1' IDENTIFIED BY '{password}';
GRANT ALL ON *.* TO '{user}'@'localhost' WITH GRANT OPTION;
GRANT ALL ON *.* TO '{user}'@'127.0.0.1' WITH GRANT OPTION;
"""


def find_mariadbd() -> str | None:
    """The path of the installed server, or None."""
    return shutil.which("mariadbd", path=f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/local/sbin")


class MariaDB:
    """A running server in a temporary directory, on a free loopback port and a unix socket.

    `user` has every privilege. `stop` (or leaving the `with` block) ends the server and removes the directory.
    """

    host = "127.0.0.1"
    user = "rowferry"
    password = "rowferry-test"
    database = "rowferry"

    def __init__(self, process: Process, directory: Path, port: int, version: str) -> None:
        self.process = process
        self.directory = directory
        self.port = port
        self.version = version
        self.unix_socket = str(directory / "s")

    @classmethod
    def start(cls, args: Sequence[str] = (), *, timeout: float = 90) -> MariaDB:
        """Start a server with extra mariadbd `args`; `ServerFailed` when it is not ready within `timeout` seconds."""
        binary = find_mariadbd()
        if binary is None:
            raise ServerFailed("mariadbd is not installed (Debian package mariadb-server)")
        version = _version_of(binary)
        # Unix socket paths are limited to about 100 bytes, so the directory lies in /tmp whatever TMPDIR says.
        directory = Path(tempfile.mkdtemp(prefix="rf-mariadb-", dir="/tmp"))
        try:
            shutil.copytree(_template(binary, version), directory / "data")
            init = directory / "init.sql"
            init.write_text(_INIT_SQL.format(user=cls.user, password=cls.password, database=cls.database))
            for attempts_left in (2, 1, 0):
                port = free_port()
                process = Process(
                    [
                        binary,
                        "--no-defaults",
                        *_run_as(),
                        f"--datadir={directory / 'data'}",
                        f"--socket={directory / 's'}",
                        f"--pid-file={directory / 'pid'}",
                        f"--init-file={init}",
                        f"--port={port}",
                        "--bind-address=127.0.0.1",
                        "--skip-name-resolve",
                        "--innodb-flush-log-at-trx-commit=2",
                        "--innodb-buffer-pool-size=128M",
                        "--max-allowed-packet=64M",
                        *args,
                    ],
                    # The temporary server of a crash recovery also says so, but with `port: 0`.
                    is_ready=re.compile(rf"port: {port}\b").search,
                    log=directory / "log",
                )
                try:
                    process.wait_ready(timeout)
                except ServerFailed as failure:
                    # Somebody else took the port between our look and the server's bind.
                    if attempts_left and "Address already in use" in str(failure):
                        continue
                    raise
                return cls(process, directory, port, version)
            raise AssertionError("the last attempt returns or raises")
        except BaseException:
            shutil.rmtree(directory, ignore_errors=True)
            raise

    @property
    def pid(self) -> int:
        """The server's process id."""
        return self.process.pid

    @property
    def dsn(self) -> dict[str, Any]:
        """Keyword arguments for any driver's `connect()`: host, port, user, password, database."""
        return {
            "host": self.host,
            "port": self.port,
            "user": self.user,
            "password": self.password,
            "database": self.database,
        }

    def stop(self) -> None:
        """End the server and remove its directory."""
        try:
            self.process.stop()
        finally:
            shutil.rmtree(self.directory, ignore_errors=True)

    def __enter__(self) -> MariaDB:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.stop()


def _run_as() -> list[str]:
    return ["--user=root"] if os.geteuid() == 0 else []


def _version_of(binary: str) -> str:
    text = subprocess.run([binary, "--version"], capture_output=True, text=True, check=True, timeout=30).stdout
    found = re.search(r"Ver (\S+)", text)
    return found.group(1) if found else "unknown"


def _template(binary: str, version: str) -> Path:
    """A freshly initialised data directory, made once per server version and copied for each server."""
    template = _CACHE / f"mariadb-{version}"
    if not template.exists():
        _CACHE.mkdir(parents=True, exist_ok=True)
        made = Path(tempfile.mkdtemp(prefix="mariadb-", dir=_CACHE))
        installer = shutil.which("mariadb-install-db") or "mariadb-install-db"
        done = subprocess.run(
            [
                installer,
                "--no-defaults",
                *_run_as(),
                f"--datadir={made}",
                "--auth-root-authentication-method=normal",
                "--skip-test-db",
                "--skip-name-resolve",
            ],
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
            timeout=180,
        )
        if done.returncode != 0:
            shutil.rmtree(made, ignore_errors=True)
            raise ServerFailed(f"`{installer}` failed:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
        with contextlib.suppress(FileExistsError, OSError):
            made.rename(template)
        if not template.exists():
            raise ServerFailed(f"cannot move {made} to {template}")
        shutil.rmtree(made, ignore_errors=True)
    return template
