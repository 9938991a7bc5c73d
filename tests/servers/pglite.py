"""PGlite, PostgreSQL as WebAssembly, behind its socket server, to compare with."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from types import TracebackType

from .process import Process, ServerFailed, free_port

_ROOT = Path(__file__).resolve().parents[2]
_WANTED = _ROOT / "benchmarks" / "pglite"
_OUTPUT = _ROOT / "target" / "pglite"


class Unavailable(Exception):
    """It cannot be had here; the message says why."""


def install() -> Path:
    """The directory with the packages that `benchmarks/pglite/package-lock.json` names; `Unavailable` without npm."""
    for program in ("node", "npm"):
        if shutil.which(program) is None:
            raise Unavailable(f"`{program}` is not installed (Debian packages nodejs and npm)")
    wanted = (_WANTED / "package-lock.json").read_text()
    stamp = _OUTPUT / "stamp"
    if not stamp.exists() or stamp.read_text() != wanted:
        _OUTPUT.mkdir(parents=True, exist_ok=True)
        for path in _WANTED.glob("package*.json"):
            shutil.copy(path, _OUTPUT)
        # The socket server names every extension of PGlite as a peer; none is asked for here.
        command = ["npm", "ci", "--omit=peer", "--legacy-peer-deps", "--ignore-scripts", "--no-audit", "--no-fund"]
        done = subprocess.run(command, cwd=_OUTPUT, capture_output=True, text=True, timeout=300)
        if done.returncode != 0:
            raise Unavailable(f"npm cannot install PGlite: {done.stderr.strip()[-500:]}")
        stamp.write_text(wanted)
    return _OUTPUT


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
