"""`rowferry password`: lines of password files, and who may see them."""

from __future__ import annotations

import functools
import os
import pty
import signal
import stat
import subprocess
import termios
from collections.abc import Callable
from pathlib import Path

import psycopg
import pytest

from tests.python.postgres.conftest import wait_until
from tests.servers.rowferry import Rowferry, find_rowferry

from .conftest import rowferry


def can_connect(server: Rowferry, user: str, password: str) -> bool:
    assert server.postgres is not None
    host, port = server.postgres
    try:
        psycopg.connect(host=host, port=port, user=user, password=password, dbname="app").close()
    except psycopg.OperationalError:
        return False
    return True


def test_a_line_lets_a_user_in_and_does_not_hold_the_password(serve: Callable[..., Rowferry], tmp_path: Path) -> None:
    users = tmp_path / "users"
    done = rowferry("password", "ada", stdin="pen:cil\n")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("ada:SCRAM-SHA-256$4096:") and "pen:cil" not in done.stdout
    users.write_text(done.stdout)
    users.chmod(0o600)
    server = serve(tmp_path / "app.db", args=["--password-file", str(users)])
    assert can_connect(server, "ada", "pen:cil") and not can_connect(server, "ada", "pencil")


def test_users_are_added_changed_and_removed_while_the_server_runs(
    serve: Callable[..., Rowferry], tmp_path: Path
) -> None:
    users = tmp_path / "users"
    users.write_text("# staff\nbob:plain\n")
    users.chmod(0o600)
    done = rowferry("password", "ada", "--file", users, env={"ROWFERRY_PASSWORD": "one"})
    assert done.returncode == 0, done.stderr
    assert "added" in done.stdout and "SIGHUP" in done.stderr
    server = serve(tmp_path / "app.db", args=["--password-file", str(users)])
    assert can_connect(server, "ada", "one") and can_connect(server, "bob", "plain")

    done = rowferry("password", "ada", "--file", users, stdin="two\n")
    assert "another password" in done.stdout
    assert rowferry("password", "bob", "--file", users, "--remove").returncode == 0
    text = users.read_text()
    assert text.startswith("# staff\nada:SCRAM-SHA-256$") and text.count("\n") == 2
    assert stat.S_IMODE(users.stat().st_mode) == 0o600
    assert {path.name for path in tmp_path.iterdir() if "users" in path.name} == {"users"}
    os.kill(server.pid, signal.SIGHUP)
    wait_until(lambda: can_connect(server, "ada", "two"), "the new password")
    assert not can_connect(server, "ada", "one") and not can_connect(server, "bob", "plain")


def test_a_file_that_is_made_is_private(tmp_path: Path) -> None:
    old = os.umask(0)
    try:
        done = rowferry("password", "ada", "--file", tmp_path / "users", stdin="secret\n")
    finally:
        os.umask(old)
    assert done.returncode == 0, done.stderr
    assert stat.S_IMODE((tmp_path / "users").stat().st_mode) == 0o600


def is_silent(terminal: int) -> bool:
    """Whether a terminal shows nothing of what is typed."""
    return not termios.tcgetattr(terminal)[3] & termios.ECHO


def test_the_password_is_asked_for_twice_and_not_echoed(tmp_path: Path) -> None:
    for second, code in (("secret", 0), ("other", 1)):
        leader, follower = pty.openpty()
        process = subprocess.Popen(
            [find_rowferry(), "password", "ada", "--file", tmp_path / f"users{code}"],
            stdin=follower,
            stdout=follower,
            stderr=follower,
            start_new_session=True,
            preexec_fn=lambda: os.close(os.open(os.ttyname(0), os.O_RDWR)),
        )
        os.close(follower)
        seen = b""
        for prompt, answer in ((b"ada: ", "secret"), (b"again: ", second)):
            while not seen.endswith(prompt):
                seen += os.read(leader, 1000)
            # The prompt comes a moment before the echo goes.
            wait_until(functools.partial(is_silent, leader), "no echo")
            os.write(leader, f"{answer}\n".encode())
        assert process.wait(timeout=60) == code
        try:
            while chunk := os.read(leader, 1000):
                seen += chunk
        except OSError:
            pass
        os.close(leader)
        assert b"secret" not in seen and b"other" not in seen
    assert (tmp_path / "users0").exists() and not (tmp_path / "users1").exists()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["a:b"], "cannot be a name"),
        (["ada", "--remove"], "--file"),
        (["ada", "secret"], "unexpected argument"),
        (["eve", "--file", "users", "--remove"], "no user"),
    ],
)
def test_mistakes_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], words: str) -> None:
    monkeypatch.chdir(tmp_path)
    Path("users").write_text("ada:x\n")
    Path("users").chmod(0o600)
    done = rowferry("password", *arguments, stdin="x\n")
    assert done.returncode != 0 and words in done.stderr
    assert Path("users").read_text() == "ada:x\n"


def test_an_empty_password_and_a_file_that_others_read_are_refused(tmp_path: Path) -> None:
    users = tmp_path / "users"
    assert "empty" in rowferry("password", "ada", "--file", users, stdin="\n").stderr
    assert not users.exists()
    users.write_text("bob:x\n")
    users.chmod(0o644)
    assert "chmod 600" in rowferry("password", "ada", "--file", users, stdin="x\n").stderr
    assert users.read_text() == "bob:x\n"
