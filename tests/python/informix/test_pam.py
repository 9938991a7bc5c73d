"""PAM at our door (`--informix-pam`): the password is the answer to a challenge."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import informix_db
import pytest
from rowferry import informix

from tests.python.informix.replay import EOT, WIDE, Driver, vector
from tests.servers.rowferry import Rowferry

ARGS = ("--informix-pam", "--user", "ada:lovelace")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rowferry]:
    file = tmp_path_factory.mktemp("pam") / "app.db"
    with Rowferry.start(file, postgres=False, informix=True, args=ARGS) as server:
        yield server


def at(server: Rowferry, **more: Any) -> dict[str, Any]:
    assert server.informix is not None
    host, port = server.informix
    return {"host": host, "port": port, "database": server.dbname, "user": "ada", **more}


def test_the_password_is_asked_for(driver: Driver, server: Rowferry) -> None:
    asked = []

    def challenge(style: int, question: str) -> str:
        asked.append((style, question))
        return "lovelace"

    # What stands in the packet does not count.
    for parameters in ({"password": "lovelace"}, {"password": "wrong", "challenge": challenge}):
        with driver.connect(**at(server, **parameters)) as connection:
            assert connection.execute("SELECT FIRST 1 tabid FROM systables").fetchall()
    assert asked == [(1, "Password: ")]


def test_a_wrong_answer_is_asked_again(driver: Driver, server: Rowferry) -> None:
    answers = ["loveless", "", "lovelace"]
    with driver.connect(**at(server, challenge=lambda style, question: answers.pop(0))) as connection:
        assert not connection.closed
    assert answers == []


def test_three_wrong_answers_are_the_end(driver: Driver, server: Rowferry) -> None:
    for user in ("ada", "nobody"):
        with pytest.raises(informix.OperationalError) as caught:
            driver.connect(**at(server, user=user, password="wrong"))
        assert caught.value.sqlcode == -951


def test_who_does_not_answer_is_not_in(driver: Driver, server: Rowferry) -> None:
    with pytest.raises(informix_db.Error):
        informix_db.connect(**at(server, password="lovelace", read_timeout=5), server="informix")
    with pytest.raises(ZeroDivisionError):
        driver.connect(**at(server, challenge=lambda style, question: 1 // 0))


def test_the_one_too_many_is_told(driver: Driver, tmp_path: Path) -> None:
    # A server of its own: those who have said good bye are counted for a moment more.
    args = (*ARGS, "--max-connections", "3")
    with Rowferry.start(tmp_path / "app.db", postgres=False, informix=True, args=args) as server:
        connections = [driver.connect(**at(server, password="lovelace")) for _ in range(3)]
        with pytest.raises(informix.OperationalError):
            driver.connect(**at(server, password="lovelace"))
        for connection in connections:
            connection.close()


@pytest.mark.parametrize(
    "turns",
    [
        [b"\x00\x80" + EOT],
        [WIDE, b"\x00\x82\x00\x08lovelace" + EOT],
        [WIDE, b"\x00\x80" + EOT, b"\x00\x24\x00\x03app\x00\x00\x00" + EOT],
        [WIDE, b"\x00\x24\x00\x03app\x00\x00\x00" + EOT],
        [WIDE, b"\x00\x80" + EOT, b"\x00\x80" + EOT],
        [WIDE, EOT],
    ],
)
def test_nobody_comes_in_by_another_order(server: Rowferry, turns: list[bytes]) -> None:
    assert server.informix is not None
    with socket.create_connection(server.informix, timeout=20) as wire:
        wire.sendall(vector("login.request.jdbc15"))
        assert wire.recv(65536)[2] == 2
        for turn in turns:
            wire.sendall(turn)
        answers = b""
        while data := wire.recv(65536):
            answers += data
    # The end of the connection, and neither an acceptance nor an answer to a request.
    assert b"\x00\x7f\x00\x0c" not in answers and b"\x00\x0f" not in answers


def test_there_must_be_somebody_to_ask(tmp_path_factory: pytest.TempPathFactory) -> None:
    from tests.servers.process import ServerFailed

    file = tmp_path_factory.mktemp("pam") / "app.db"
    with pytest.raises(ServerFailed, match="no users"):
        Rowferry.start(file, postgres=False, informix=True, args=["--informix-pam"])
