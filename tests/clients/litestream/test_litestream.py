"""Litestream copies a file while it is served and written to: what was acknowledged before a kill is in the copy."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import sqlite3
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from tests.clients import tours
from tests.servers.availability import not_tested
from tests.servers.rowferry import Rowferry

VERSION = "v0.5.5"
_MODULE = "github.com/benbjohnson/litestream/cmd/litestream"


@pytest.fixture(scope="module")
def litestream() -> Path:
    """The program itself, as Go's registry has its source."""
    directory = tours.CACHE / "bin"
    program = directory / f"litestream-{VERSION}"
    if program.exists():
        return program
    go = shutil.which("go") or shutil.which("go", path="/usr/local/go/bin")
    if go is None:
        not_tested("Litestream", "Go is not installed")
    directory.mkdir(parents=True, exist_ok=True)
    environment = {**os.environ, "GOBIN": str(directory), "GOFLAGS": "-modcacherw"}
    try:
        tours.run([go, "install", f"{_MODULE}@{VERSION}"], directory=directory, timeout=600, env=environment)
    except tours.Failed as failed:
        # An older Go cannot read what the module asks for.
        not_tested("Litestream", failed)
    except tours.Unavailable as reason:
        not_tested("Litestream", reason)
    (directory / "litestream").rename(program)
    return program


@contextlib.contextmanager
def replicating(program: Path, file: Path, replica: Path) -> Iterator[None]:
    """Litestream at work beside the file."""
    with (file.parent / "litestream.log").open("w") as log:
        process = subprocess.Popen(
            [program, "replicate", file, f"file://{replica}"], stdout=log, stderr=log, stdin=subprocess.DEVNULL
        )
        try:
            until = time.monotonic() + 30
            while not any(replica.rglob("*.ltx")):
                assert process.poll() is None and time.monotonic() < until, (file.parent / "litestream.log").read_text()
                time.sleep(0.1)
            yield
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(30)


def rows(file: Path, table: str) -> list[tuple[object, ...]]:
    with contextlib.closing(sqlite3.connect(file)) as connection:
        return connection.execute(f"SELECT * FROM {table} ORDER BY 1").fetchall()


def restored(program: Path, replica: Path, to: Path) -> Path:
    to.unlink(missing_ok=True)
    command = [program, "restore", "-o", to, f"file://{replica}"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr
    return to


@pytest.mark.timeout(700)
def test_what_was_acknowledged_before_a_kill_is_in_the_copy(litestream: Path, tmp_path: Path) -> None:
    file, replica = tmp_path / "app.db", tmp_path / "replica"
    acknowledged: list[int] = []
    over = threading.Event()

    def write(dsn: str, first: int) -> None:
        with contextlib.suppress(psycopg.OperationalError), psycopg.connect(dsn, autocommit=True) as connection:
            number = first
            while not over.is_set():
                connection.execute("INSERT INTO log VALUES (%s, repeat('x', %s))", (number, number % 3000))
                acknowledged.append(number)
                number += 2

    server = Rowferry.start(file)
    with psycopg.connect(server.postgres_dsn, autocommit=True) as connection:
        connection.execute("CREATE TABLE log (number integer PRIMARY KEY, data text)")
        with replicating(litestream, file, replica):
            writers = [threading.Thread(target=write, args=(server.postgres_dsn, first)) for first in (0, 1)]
            for writer in writers:
                writer.start()
            for statement in (
                "CHECKPOINT",
                "CREATE INDEX ON log (data)",
                "DELETE FROM log WHERE number % 7 = 3",
                "CHECKPOINT",
            ):
                before = len(acknowledged)
                until = time.monotonic() + 60
                while len(acknowledged) < before + 150:
                    assert time.monotonic() < until, "writers stand still"
                    time.sleep(0.01)
                connection.execute(statement)  # type: ignore[arg-type]
            server.process.kill()
            over.set()
            for writer in writers:
                writer.join(30)
            # Litestream looks at the log once a second.
            here = rows(file, "log")
            assert {number for number in acknowledged if number % 7 != 3} <= {number for number, _ in here}
            until = time.monotonic() + 30
            while rows(restored(litestream, replica, tmp_path / "restored.db"), "log") != here:
                assert time.monotonic() < until, "the copy does not become what the file is"
                time.sleep(0.5)
    # It can be served in the file's place.
    with (
        Rowferry.start(tmp_path / "restored.db") as again,
        psycopg.connect(again.postgres_dsn, autocommit=True) as connection,
    ):
        assert connection.execute("SELECT count(*) FROM log").fetchone() == (len(here),)
        connection.execute("INSERT INTO log VALUES (-1, 'new')")
