"""PGlite, PostgreSQL as WebAssembly, behind its socket server, to compare with."""

from __future__ import annotations

import json
from pathlib import Path
from types import TracebackType

from . import npm
from .npm import Unavailable
from .process import Process, ServerFailed, free_port

__all__ = ["PGlite", "Unavailable", "install"]

_WANTED = Path(__file__).resolve().parents[2] / "benchmarks" / "pglite"


def install() -> Path:
    """The directory with the packages that `benchmarks/pglite/package-lock.json` names; `Unavailable` without npm."""
    # The socket server names every extension of PGlite as a peer; none is asked for here.
    return npm.install(_WANTED, "pglite", "--omit=peer", "--legacy-peer-deps")


class PGlite:
    """A running server with a database in `directory`, on a unix socket there."""

    def __init__(self, process: Process, directory: Path, port: int, version: str) -> None:
        self.process = process
        self.directory = directory
        #: Part of the socket's name.
        self.port = port
        self.version = version

    @classmethod
    def start(cls, directory: Path, timeout: float = 60) -> PGlite:
        """Start it; `Unavailable` where it cannot be installed, `ServerFailed` when it is not ready in `timeout` s."""
        package = install() / "node_modules" / "@electric-sql"
        version = json.loads((package / "pglite" / "package.json").read_text())["version"]
        script = package / "pglite-socket" / "dist" / "scripts" / "server.js"
        port = free_port()
        # The name that libpq looks for in a directory.
        socket = directory / f".s.PGSQL.{port}"
        process = Process(
            ["node", script, f"--db={directory / 'data'}", f"--path={socket}"],
            is_ready=lambda line: "listening" in line.lower(),
        )
        try:
            process.wait_ready(timeout)
        except ServerFailed:
            process.kill()
            raise
        return cls(process, directory, port, version)

    @property
    def pid(self) -> int:
        """The server's process id."""
        return self.process.pid

    @property
    def dsn(self) -> str:
        """A URL for clients that know unix sockets."""
        return f"postgresql://postgres@/postgres?host={self.directory}&port={self.port}&sslmode=disable"

    def __enter__(self) -> PGlite:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.process.stop()
