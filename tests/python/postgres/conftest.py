"""Servers for the tests of the PostgreSQL door."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.servers.rowferry import Rowferry, socket_directory

from .wire import Wire, query


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rowferry]:
    """A server on an empty file `app.db`, over TCP and a unix socket; each module has its own."""
    with socket_directory() as directory:
        path = tmp_path_factory.mktemp("served") / "app.db"
        with Rowferry.start(path, unix_dir=directory, args=["--durability", "normal"]) as server:
            yield server


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., Rowferry]]:
    """Start servers with arguments of one's own on `app.db`; they are stopped at the end, by force if need be."""
    servers: list[Rowferry] = []

    def start(*args: str, database: Path | None = None, **options: object) -> Rowferry:
        servers.append(Rowferry.start(database or tmp_path / "app.db", args=args, **options))  # type: ignore[arg-type]
        return servers[-1]

    yield start
    for server in servers:
        server.process.kill()


@pytest.fixture
def rows(server: Rowferry) -> Iterator[Wire]:
    """A session with a table `t` of four rows, by its messages."""
    with Wire.open(server.postgres) as session:
        session.send(query("set client_min_messages = error; drop table if exists t; reset client_min_messages"))
        session.ready()
        session.send(query("create table t (id integer primary key, name text)"))
        session.ready()
        session.send(query("insert into t values (1, 'a'), (2, 'b'), (3, 'c'), (4, 'd')"))
        session.ready()
        yield session


def wait_until(happened: Callable[[], object], what: str, timeout: float = 20) -> None:
    """Look again and again until `happened()` is true; fail when that takes more than `timeout` seconds."""
    deadline = time.monotonic() + timeout
    while not happened():
        assert time.monotonic() < deadline, f"not within {timeout} s: {what}"
        time.sleep(0.01)


def status(server: Rowferry, field: str) -> int:
    """A number of `/proc/<pid>/status`: `Threads`, or `VmRSS` in kB."""
    for line in Path(f"/proc/{server.pid}/status").read_text().splitlines():
        name, _, value = line.partition(":")
        if name == field:
            return int(value.split()[0])
    raise AssertionError(f"no {field} in /proc/{server.pid}/status")
