"""A MySQL server of our own, and what it shares with MariaDB: `with MySQL.start() as server: connect(**server.dsn)`."""

from __future__ import annotations

import abc
import contextlib
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from . import debian_sid
from .process import Process, ServerFailed, free_port

if TYPE_CHECKING:
    from typing_extensions import Self

_CACHE = Path(__file__).resolve().parents[2] / ".cache"

_INIT_SQL = """\
CREATE DATABASE {database} CHARACTER SET utf8mb4;
CREATE USER '{user}'@'localhost' IDENTIFIED BY '{password}';
CREATE USER '{user}'@'127.0.0.1' IDENTIFIED BY '{password}';
GRANT ALL ON *.* TO '{user}'@'localhost' WITH GRANT OPTION;
GRANT ALL ON *.* TO '{user}'@'127.0.0.1' WITH GRANT OPTION;
"""

#: Up to where tests count.
_SEQUENCES = (1, 2, 3, 5, 10, 20, 30, 50, 100, 200, 300, 500, 600, 1000, 2000, 3000, 5000, 6000)
_SEQUENCES += (10_000, 20_000, 30_000, 50_000, 100_000)


class MySQLServer(abc.ABC):
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
    @abc.abstractmethod
    def command(cls) -> list[str]:
        """The words that run the server's binary; `ServerFailed` when there is none."""

    @classmethod
    @abc.abstractmethod
    def arguments(cls) -> list[str]:
        """What this kind of server needs on its command line, always."""

    @classmethod
    @abc.abstractmethod
    def initialise(cls, data: Path) -> None:
        """Fill the empty directory `data` with system tables; root has no password."""

    @classmethod
    def start(cls, args: Sequence[str] = (), *, timeout: float = 90) -> Self:
        """Start a server with extra `args`; `ServerFailed` when it is not ready within `timeout` seconds."""
        command = cls.command()
        version = _version_of(command)
        # Unix socket paths are limited to about 100 bytes, so the directory lies in /tmp whatever TMPDIR says.
        directory = Path(tempfile.mkdtemp(prefix="rf-mysql-", dir="/tmp"))
        try:
            shutil.copytree(cls._template(version), directory / "data")
            init = directory / "init.sql"
            init.write_text(_INIT_SQL.format(user=cls.user, password=cls.password, database=cls.database))
            for attempts_left in (2, 1, 0):
                port = free_port()
                process = Process(
                    [
                        *command,
                        "--no-defaults",
                        *run_as(),
                        *cls.arguments(),
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

    def restart(self, *, timeout: float = 90) -> None:
        """Kill the server, as a power cut would, and start it again on the same port and data."""
        self.process.kill()
        command = [word for word in self.process.command if not word.startswith("--init-file=")]
        ready = re.compile(rf"port: {self.port}\b").search
        self.process = Process(command, is_ready=ready, log=self.directory / "log")
        self.process.wait_ready(timeout)

    def stop(self) -> None:
        """End the server and remove its directory."""
        try:
            self.process.stop()
        finally:
            shutil.rmtree(self.directory, ignore_errors=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.stop()

    @classmethod
    def _template(cls, version: str) -> Path:
        """A freshly initialised data directory, made once per server version and copied for each server."""
        template = _CACHE / f"{cls.__name__.lower()}-{version}"
        if not template.exists():
            _CACHE.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(prefix="rf-data-", dir=_CACHE) as scratch:
                made = Path(scratch) / "data"
                made.mkdir()
                cls.initialise(made)
                # Another process may have been quicker.
                with contextlib.suppress(OSError):
                    made.rename(template)
            if not template.exists():
                raise ServerFailed(f"cannot make {template}")
        return template


class MySQL(MySQLServer):
    """MySQL 9.7 out of Debian unstable; `debian_sid.Unavailable` where it cannot be fetched."""

    @classmethod
    def command(cls) -> list[str]:
        return debian_sid.command(cls._root(), "usr/sbin/mysqld")

    @classmethod
    def arguments(cls) -> list[str]:
        root = cls._root()
        return [
            f"--lc-messages-dir={root / 'usr/share/mysql'}",
            f"--character-sets-dir={root / 'usr/share/mysql/charsets'}",
            f"--plugin-dir={root / 'usr/lib/mysql/plugin'}",
            "--mysqlx=OFF",
            # Debian names a directory that the package would have made.
            "--secure-file-priv=",
        ]

    @classmethod
    def initialise(cls, data: Path) -> None:
        run(
            [
                *cls.command(),
                "--no-defaults",
                *run_as(),
                *cls.arguments(),
                f"--datadir={data}",
                "--initialize-insecure",
            ]
        )

    def make_sequences(self, ends: Sequence[int] = _SEQUENCES) -> None:
        """Views `seq_1_to_N` in `database` that read like MariaDB's sequence tables, for each N of `ends`."""
        from rowferry import mysql

        with mysql.connect(**self.dsn, autocommit=True) as connection, connection.cursor() as cursor:
            cursor.execute("CREATE TABLE sequence_numbers (seq BIGINT PRIMARY KEY)")
            cursor.execute(
                "INSERT INTO sequence_numbers WITH RECURSIVE digit (d) AS"
                " (SELECT 0 UNION ALL SELECT d + 1 FROM digit WHERE d < 9)"
                " SELECT 1 + a.d + 10 * b.d + 100 * c.d + 1000 * e.d + 10000 * f.d AS seq"
                " FROM digit a, digit b, digit c, digit e, digit f ORDER BY seq"
            )
            for end in ends:
                cursor.execute(
                    f"CREATE VIEW seq_1_to_{end} AS SELECT seq FROM sequence_numbers WHERE seq <= {end} ORDER BY seq"
                )

    @staticmethod
    def _root() -> Path:
        return debian_sid.unpack("mysql-server-core", "mysql-server")


def run_as() -> list[str]:
    """The option without which the servers refuse to run as root."""
    return ["--user=root"] if os.geteuid() == 0 else []


def run(command: Sequence[str], stdin: str = "") -> None:
    """Run a set-up step to its end; `ServerFailed` with its output when it fails."""
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", input=stdin, timeout=180)
    if done.returncode != 0:
        raise ServerFailed(f"`{command[0]}` failed:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")


def _version_of(command: Sequence[str]) -> str:
    text = subprocess.run([*command, "--version"], capture_output=True, text=True, check=True, timeout=30).stdout
    found = re.search(r"Ver (\S+)", text)
    return found.group(1) if found else "unknown"
