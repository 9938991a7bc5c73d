"""`rowferry serve` on free ports: `with Rowferry.start("app.db") as server: connect(server.postgres_dsn)`."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType

from .process import Process, ServerFailed

_ROOT = Path(__file__).resolve().parents[2]


def find_rowferry() -> Path:
    """The binary that tools/build.sh made; `ROWFERRY_BINARY` names another."""
    named = os.environ.get("ROWFERRY_BINARY")
    target = Path(os.environ.get("CARGO_TARGET_DIR", _ROOT / "target"))
    path = Path(named) if named else target / "release" / "rowferry"
    if not path.is_file():
        raise ServerFailed(f"`{path}` does not exist\nhint: run `make build`")
    return path


class Rowferry:
    """A running server for one SQLite file, or in front of a PostgreSQL server whose URL `database` is.

    `postgres`, `informix` and `mysql` are `(host, port)` of the doors that were asked for, `unix_dir` the directory of
    the PostgreSQL unix socket, `metrics` and `web` where `--metrics` and `--web` answer.
    """

    def __init__(self, process: Process, database: Path, listening: Mapping[str, str]) -> None:
        self.process = process
        self.database = database
        self.dbname: str = listening.get("database") or database.stem
        self.postgres = _split(listening.get("postgres"))
        self.informix = _split(listening.get("informix"))
        self.mysql = _split(listening.get("mysql"))
        self.unix_socket = listening.get("unix")
        self.metrics = _split(listening.get("metrics"))
        self.web = _split(listening.get("web"))

    @classmethod
    def start(
        cls,
        database: str | Path,
        *,
        postgres: bool = True,
        informix: bool = False,
        mysql: bool = False,
        unix_dir: str | Path | None = None,
        args: Sequence[str] = (),
        before: Sequence[str] = (),
        timeout: float = 30,
    ) -> Rowferry:
        """Serve `database` with extra `args`; `ServerFailed` when it is not ready within `timeout` seconds.

        `before` is a command that runs the rest of its arguments, such as `prlimit`.
        """
        command: list[str | Path] = [*before, find_rowferry(), "serve", database, "--json"]
        if postgres:
            command += ["--postgres", "127.0.0.1:0"]
        if informix:
            command += ["--informix", "127.0.0.1:0"]
        if mysql:
            command += ["--mysql", "127.0.0.1:0"]
        if unix_dir is not None:
            command += ["--unix-dir", unix_dir]
        process = Process([*command, *args], is_ready=_listening)
        process.wait_ready(timeout)
        assert process.ready_line is not None
        return cls(process, Path(database), _listening(process.ready_line) or {})

    @property
    def pid(self) -> int:
        """The server's process id."""
        return self.process.pid

    @property
    def unix_dir(self) -> str | None:
        """What `psql -h` takes to use the unix socket."""
        return str(Path(self.unix_socket).parent) if self.unix_socket else None

    @property
    def postgres_dsn(self) -> str:
        """A URL for any PostgreSQL client."""
        if self.postgres is None:
            raise ServerFailed("this server was started without its PostgreSQL door")
        host, port = self.postgres
        return f"postgresql://rowferry@{host}:{port}/{self.dbname}"

    def stop(self) -> None:
        """End the server in order; `ServerFailed` when it does not go, or goes with an error."""
        code = self.process.stop()
        if code != 0:
            raise ServerFailed(f"`rowferry serve` ended with {code}:\n{''.join(self.process.tail)}")

    def __enter__(self) -> Rowferry:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if kind is None:
            self.stop()
        else:
            self.process.kill()


def socket_directory() -> tempfile.TemporaryDirectory[str]:
    """A directory whose path is short enough for a unix socket, whatever TMPDIR says."""
    return tempfile.TemporaryDirectory(prefix="rf-unix-", dir="/tmp")


def _listening(line: str) -> dict[str, str] | None:
    """The event that `rowferry serve --json` prints once every door is open."""
    if not line.startswith('{"event":"listening"'):
        return None
    event: dict[str, str] = json.loads(line)
    return event


def _split(address: str | None) -> tuple[str, int] | None:
    if not address:
        return None
    host, _, port = address.rpartition(":")
    return host.strip("[]"), int(port)
