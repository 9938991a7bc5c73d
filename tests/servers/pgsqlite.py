"""pgsqlite, another server of PostgreSQL's wire over a SQLite file, to compare with."""

from __future__ import annotations

import contextlib
import os
import re
import socket
import subprocess
import time
from pathlib import Path
from types import TracebackType

from .process import Process, ServerFailed

#: Names its binary: no registry that the benchmarks install from has it.
VARIABLE = "ROWFERRY_PGSQLITE"


class Unavailable(Exception):
    """It is not here; the message says what to do."""


def find_pgsqlite() -> Path:
    """The binary that `ROWFERRY_PGSQLITE` names."""
    path = os.environ.get(VARIABLE)
    if not path:
        raise Unavailable(f"{VARIABLE} must name a binary of pgsqlite, `cargo build --release` of its repository")
    if not os.access(path, os.X_OK):
        raise Unavailable(f"{VARIABLE} names {path}, which is no program")
    return Path(path)


class PGsqlite:
    """A running server of the file `pgsqlite.db` in `directory`, on a unix socket there."""

    #: Part of the socket's name; only the directory tells servers apart.
    port = 5432

    def __init__(self, process: Process, directory: Path, version: str) -> None:
        self.process = process
        self.directory = directory
        self.version = version

    @classmethod
    def start(cls, directory: Path, timeout: float = 60) -> PGsqlite:
        """Start it; `Unavailable` without a binary, `ServerFailed` when it takes no connection within `timeout` s."""
        binary = find_pgsqlite()
        asked = subprocess.run([binary, "--version"], capture_output=True, text=True, timeout=10)
        version = re.search(r"\d[\w.]*", asked.stdout)
        command = [
            # It lets so many statements a minute through, unless told otherwise.
            *("env", "PGSQLITE_RATE_LIMIT_MAX_REQUESTS=1000000000", "PGSQLITE_RATE_LIMIT_PER_IP=false"),
            *(binary, "--database", directory / "pgsqlite.db", "--port", str(cls.port)),
            *("--socket-dir", directory, "--no-tcp"),
            # As our own by default: what is acknowledged is on the disk. Its log has several lines for each statement.
            *("--pragma-synchronous", "FULL", "--log-level", "error"),
        ]
        process = Process(command, is_ready=lambda line: False)
        server = cls(process, directory, version.group() if version else "of no version")
        ends = time.monotonic() + timeout
        while not server._answers():
            if time.monotonic() > ends or process.ended():
                process.kill()
                raise ServerFailed(f"`{binary}` took no connection:\n{''.join(process.tail)}")
            time.sleep(0.02)
        return server

    def _answers(self) -> bool:
        with socket.socket(socket.AF_UNIX) as client, contextlib.suppress(OSError):
            client.connect(str(self.directory / f".s.PGSQL.{self.port}"))
            return True
        return False

    @property
    def pid(self) -> int:
        """The server's process id."""
        return self.process.pid

    @property
    def dsn(self) -> str:
        """A URL for clients that know unix sockets."""
        return f"postgresql://postgres@/main?host={self.directory}&port={self.port}&sslmode=disable"

    def __enter__(self) -> PGsqlite:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.process.stop()
