"""What a service manager hands over and is told: socket activation, notifications, the watchdog."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from rowferry import informix

from tests.servers.rowferry import find_rowferry, socket_directory

#: Does what systemd does: moves the descriptors to 3, 4, …, and says so to the process that it becomes.
ACTIVATE = """
import os, sys
names, *command = sys.argv[1:]
names = names.split(":") if names else []
given = [os.dup(int(number)) for number in os.environ.pop("GIVEN").split(",")] if names else []
kept = [os.open("/dev/null", os.O_RDONLY) for _ in range(20)]
copies = [os.dup(number) for number in given]
for at, number in enumerate(copies):
    os.dup2(number, 3 + at, inheritable=True)
os.environ["LISTEN_PID"] = str(os.getpid())
os.environ["LISTEN_FDS"] = str(len(names))
os.environ["LISTEN_FDNAMES"] = ":".join(names)
os.environ["WATCHDOG_PID"] = str(os.getpid())
os.closerange(3 + len(names), 100)
os.execv(command[0], command)
"""


class Manager:
    """What listens for notifications."""

    def __init__(self, directory: str) -> None:
        self.path = f"{directory}/notify"
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(self.path)
        self.told: list[str] = []

    def wait_for(self, word: str, times: int = 1, timeout: float = 30) -> None:
        deadline = time.monotonic() + timeout
        while self.told.count(word) < times:
            ready, _, _ = select.select([self.socket], [], [], max(0.0, deadline - time.monotonic()))
            assert ready, f"{word} did not come: {self.told}"
            self.told += self.socket.recv(4096).decode().split()


@pytest.fixture
def manager() -> Iterator[Manager]:
    with socket_directory() as directory:
        found = Manager(directory)
        with found.socket:
            yield found


@contextlib.contextmanager
def served(
    manager: Manager, *arguments: str | Path, sockets: dict[str, socket.socket] | None = None, watchdog: int = 0
) -> Iterator[subprocess.Popen[str]]:
    sockets = sockets or {}
    env = {**os.environ, "NOTIFY_SOCKET": manager.path}
    env["GIVEN"] = ",".join(str(found.fileno()) for found in sockets.values())
    if watchdog:
        env["WATCHDOG_USEC"] = str(watchdog)
    names = ":".join(name.partition("-")[0] for name in sockets)
    process = subprocess.Popen(
        [sys.executable, "-c", ACTIVATE, names, str(find_rowferry()), "serve", *map(str, arguments)],
        env=env,
        pass_fds=[found.fileno() for found in sockets.values()],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        yield process
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate(timeout=30)


def listener(path: str | None = None) -> socket.socket:
    if path is None:
        found = socket.socket()
        found.bind(("127.0.0.1", 0))
    else:
        found = socket.socket(socket.AF_UNIX)
        found.bind(path)
    found.listen()
    return found


def test_sockets_are_taken_over_by_their_names(manager: Manager, tmp_path: Path) -> None:
    with (
        socket_directory() as directory,
        listener() as tcp,
        listener(f"{directory}/.s.PGSQL.5432") as unix,
        listener() as sqli,
    ):
        sockets = {"postgres-tcp": tcp, "postgres-unix": unix, "informix": sqli}
        # Whoever connects before the server is there waits for it.
        with served(manager, tmp_path / "app.db", sockets=sockets) as process:
            host, port = tcp.getsockname()
            with psycopg.connect(host=host, port=port, dbname="app", user="ada", connect_timeout=30) as connection:
                assert connection.execute("select 1").fetchone() == (1,)
            with psycopg.connect(host=directory, dbname="app", user="ada", connect_timeout=30) as connection:
                assert connection.execute("select 2").fetchone() == (2,)
            host, port = sqli.getsockname()
            informix.connect(host=host, port=port, user="ada", password="", database="app").close()
            manager.wait_for("READY=1")
            process.send_signal(signal.SIGTERM)
            manager.wait_for("STOPPING=1")
            assert process.wait(timeout=30) == 0
        # The socket's name is the manager's, who may start the server again.
        assert Path(f"{directory}/.s.PGSQL.5432").exists()


def test_a_reload_is_told_from_its_beginning_to_its_end(manager: Manager, tmp_path: Path) -> None:
    users = tmp_path / "users"
    users.write_text("ada:secret\n")
    users.chmod(0o600)
    with served(manager, tmp_path / "app.db", "--postgres", ":0", "--password-file", users) as process:
        manager.wait_for("READY=1")
        process.send_signal(signal.SIGHUP)
        manager.wait_for("READY=1", times=2)
        assert manager.told.index("RELOADING=1") < len(manager.told) - 1
        assert any(word.startswith("MONOTONIC_USEC=") for word in manager.told)
        assert "WATCHDOG=1" not in manager.told


def test_signs_of_life_come_as_often_as_asked(manager: Manager, tmp_path: Path) -> None:
    with served(manager, tmp_path / "app.db", "--postgres", ":0", watchdog=200_000):
        manager.wait_for("WATCHDOG=1", times=5)


@pytest.mark.parametrize(
    ("name", "listens", "words"),
    [("web", True, 'is named "web"'), ("postgres", False, "does not listen")],
)
def test_a_socket_that_cannot_be_used_is_named(
    manager: Manager, tmp_path: Path, name: str, listens: bool, words: str
) -> None:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        if listens:
            found.listen()
        with served(manager, tmp_path / "app.db", sockets={name: found}) as process:
            out, _ = process.communicate(timeout=30)
            assert process.returncode == 1 and words in out


def test_a_socket_for_the_network_wants_users_as_any_other(manager: Manager, tmp_path: Path) -> None:
    with socket.socket() as found:
        found.bind(("0.0.0.0", 0))
        found.listen()
        with served(manager, tmp_path / "app.db", sockets={"postgres": found}) as process:
            out, _ = process.communicate(timeout=30)
            assert process.returncode == 1 and "without users" in out
