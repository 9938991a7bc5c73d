"""The server's process, which ends with us, and the databases in it."""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import deque
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

from ._control import Control, Refused, quoted
from ._databases import Database, Prepare, Template, prepare

__all__ = ["Server", "ServerFailed"]

#: Where files need no disk.
_MEMORY = Path("/dev/shm")
#: How long an orderly end may take, in seconds.
_END = 10.0


class ServerFailed(RuntimeError):
    """The server did not start, or refused to make or drop a database; the message says what it said."""


class Server:
    """`rowferry serve` in a process of its own, on free ports of 127.0.0.1, over files that go away with it.

    It ends with `stop`, at the end of the `with` block, and when our process ends in any way. Its methods may be called
    by several threads.
    """

    def __init__(self, process: subprocess.Popen[str], directory: Path, listening: dict[str, str], log: Log) -> None:
        self._process = process
        self._directory = directory
        self._log = log
        self.host, _, port = listening["postgres"].rpartition(":")
        self.port = int(port)
        self.informix_port = int(listening["informix"].rpartition(":")[2])
        self._names = itertools.count(1)
        self._lock = threading.Lock()
        self._control: Control | None = None

    @classmethod
    def start(cls, *, directory: Path | None = None, options: Sequence[str] = (), timeout: float = 60.0) -> Server:
        """Start a server and wait until it can be connected to, at most `timeout` seconds.

        The databases lie below `directory`, by default in memory where the system has a place for such files.
        `options` are further arguments of `rowferry serve`. Raises `ServerFailed`.
        """
        parent = directory or (_MEMORY if os.access(_MEMORY, os.W_OK) else None)
        place = Path(tempfile.mkdtemp(prefix="rowferry-", dir=parent))
        try:
            (place / "databases").mkdir()
            return cls._launch(place, options, timeout)
        except BaseException:
            shutil.rmtree(place, ignore_errors=True)
            raise

    @classmethod
    def _launch(cls, place: Path, options: Sequence[str], timeout: float) -> Server:
        program = os.environ.get("ROWFERRY_BINARY")
        command = [program] if program else [sys.executable, "-m", "rowferry"]
        command += ["serve", str(place / "main.db"), "--databases", str(place / "databases")]
        command += ["--postgres", "127.0.0.1:0", "--informix", "127.0.0.1:0", "--json", "--until-stdin-ends"]
        # Nothing here outlives the process: a disk need not hear of it.
        command += ["--durability", "off", "--log", "warn", *options]
        process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            # Ctrl-C is for the tests, which stop us in order.
            start_new_session=True,
        )
        log = Log(process)
        try:
            line = log.first_line(timeout)
            if line is None:
                said = f"`{' '.join(command)}` is not ready after {timeout:g} s, or has ended:\n{log.tail()}"
                raise ServerFailed(said)
            return cls(process, place, json.loads(line), log)
        except BaseException:
            with contextlib.suppress(OSError):
                process.kill()
            process.wait()
            log.close()
            raise

    @property
    def pid(self) -> int:
        """The process's number."""
        return self._process.pid

    def log(self) -> str:
        """The last lines that the server has logged: warnings, unless `options` asks for more (`--log debug`)."""
        return self._log.tail()

    def template(self, how: Prepare, name: str = "template") -> Template:
        """A database that `how` fills, once, for `database` to make copies of.

        `how` must leave: a connection that it leaves open is closed by the server.
        """
        database = self.create(self.new_name(name))
        try:
            prepare(database, how)
        except BaseException:
            self.drop(database)
            raise
        return Template(database)

    @contextlib.contextmanager
    def database(self, template: Template | None = None, name: str = "test") -> Iterator[Database]:
        """A new database for the block: empty, or a copy of a template. Its name begins with `name`."""
        database = self.create(self.new_name(name), template)
        try:
            yield database
        finally:
            self.drop(database)

    def create(self, name: str, template: Template | None = None) -> Database:
        """Make a database that stays until `drop`, or until the server ends."""
        source = f" TEMPLATE {quoted(template.database.name)}" if template else ""
        statement = f"CREATE DATABASE {quoted(name)}{source}"
        try:
            self._run(statement)
        except Refused as refused:
            if template is None or not str(refused).startswith("55006"):
                raise ServerFailed(f"`{statement}` failed: {refused}") from None
            self._evict(template.database.name)
            self._must(statement)
        path = self._directory / "databases" / f"{_file_name(name)}.db"
        return Database(name, self.host, self.port, self.informix_port, path)

    def drop(self, database: Database) -> None:
        """Drop a database, whoever is still in it."""
        self._must(f"DROP DATABASE IF EXISTS {quoted(database.name)} WITH (FORCE)")

    def stop(self) -> None:
        """End the server and remove its files."""
        with self._lock:
            if self._control is not None:
                self._control.close()
                self._control = None
        if self._process.poll() is None:
            assert self._process.stdin is not None
            with contextlib.suppress(OSError):
                self._process.stdin.close()
            try:
                self._process.wait(_END)
            except subprocess.TimeoutExpired:
                self._process.send_signal(signal.SIGKILL)
                self._process.wait()
        self._log.close()
        shutil.rmtree(self._directory, ignore_errors=True)

    def __enter__(self) -> Server:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.stop()

    def new_name(self, name: str) -> str:
        """A name that no database of this server has had."""
        return f"{name}_{next(self._names)}"

    def _evict(self, name: str) -> None:
        """End the sessions of a database."""
        self._must(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '" + name.replace("'", "''") + "'"
        )

    def _must(self, statement: str) -> None:
        try:
            self._run(statement)
        except Refused as refused:
            raise ServerFailed(f"`{statement}` failed: {refused}") from None

    def _run(self, statement: str) -> None:
        with self._lock:
            if self._process.poll() is not None:
                raise ServerFailed(f"the server ended with {self._process.returncode}:\n{self.log()}")
            try:
                if self._control is None:
                    self._control = Control(self.host, self.port, "postgres", _END * 3)
                self._control.run(statement)
            except OSError as error:
                if self._control is not None:
                    self._control.close()
                    self._control = None
                raise ServerFailed(f"`{statement}` failed: {error}\n{self.log()}") from error


def _file_name(name: str) -> str:
    """How a database's file is called: all but small letters, digits, `_` and `-` is written `%XX`."""
    return re.sub(rb"[^a-z0-9_-]", lambda found: b"%%%02X" % found[0][0], name.encode()).decode()


class Log:
    """What a server says, read as it comes so that it never waits for us: the first line, then the last ones."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process
        self._lines: deque[str] = deque(maxlen=200)
        self._first: str | None = None
        self._ready = threading.Event()
        self._threads = [
            threading.Thread(target=self._read, args=(stream,), name="rowferry log", daemon=True)
            for stream in (process.stdout, process.stderr)
        ]
        for thread in self._threads:
            thread.start()

    def _read(self, stream: Any) -> None:
        with contextlib.suppress(ValueError, OSError):
            for line in stream:
                if self._first is None and stream is self._process.stdout:
                    self._first = line
                    self._ready.set()
                else:
                    self._lines.append(line)
        # Ended: nobody need wait any longer.
        self._ready.set()

    def first_line(self, timeout: float) -> str | None:
        """The line that tells where the server listens; None when it does not come."""
        until = time.monotonic() + timeout
        while self._first is None and self._process.poll() is None and time.monotonic() < until:
            self._ready.wait(min(0.2, timeout))
        return self._first

    def tail(self) -> str:
        """The last lines."""
        return "".join(self._lines)

    def close(self) -> None:
        """After the process has ended: no thread, no pipe stays."""
        for thread in self._threads:
            thread.join(_END)
        for stream in (self._process.stdin, self._process.stdout, self._process.stderr):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()
