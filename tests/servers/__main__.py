"""Servers for a person: `python -m tests.servers up mysql` starts one and says how to reach it, `down mysql` ends it.

`mariadb` is the installed one (10.11 on Debian 12), `mariadb11` MariaDB 11.8 and `mysql` MySQL 9.7, both out of Debian
unstable: downloaded on first use, unpacked below `.cache`, never installed. `list` says which are up. Data goes away
with the server.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from .mariadb import MariaDB, MariaDB11
from .mysql import MySQL, MySQLServer
from .process import ServerFailed

KINDS: dict[str, type[MySQLServer]] = {"mariadb": MariaDB, "mariadb11": MariaDB11, "mysql": MySQL}
_STATES = Path(__file__).resolve().parents[2] / ".cache" / "servers"
#: Downloading and initialising a server for the first time, in seconds.
_PATIENCE = 600


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.servers", description=__doc__.partition("\n")[0])
    commands = parser.add_subparsers(dest="command", required=True)
    for command in ("up", "down", "keep"):
        commands.add_parser(command).add_argument("name", choices=KINDS)
    commands.add_parser("list")
    chosen = parser.parse_args()
    try:
        match chosen.command:
            case "list":
                for name in KINDS:
                    print(_described(name, _state(name)) if _state(name) else f"{name} is not up")
            case "up":
                print(_described(chosen.name, _state(chosen.name) or _up(chosen.name)))
            case "down":
                _down(chosen.name)
            case "keep":
                _keep(chosen.name)
    except ServerFailed as failure:
        sys.exit(f"error: {failure}")


def _up(name: str) -> dict[str, Any]:
    """Start a keeper that stays when we go, and wait for what it writes."""
    _STATES.mkdir(parents=True, exist_ok=True)
    log = _STATES / f"{name}.log"
    with log.open("w") as output:
        keeper = subprocess.Popen(
            [sys.executable, "-m", __package__, "keep", name],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    deadline = time.monotonic() + _PATIENCE
    while (state := _state(name)) is None:
        with contextlib.suppress(subprocess.TimeoutExpired):
            keeper.wait(0.1)
            raise ServerFailed(log.read_text().removeprefix("error: "))
        if time.monotonic() > deadline:
            keeper.terminate()
            raise ServerFailed(f"{name} was not up within {_PATIENCE} s; see {log}")
    # The keeper is meant to outlive us.
    keeper.returncode = 0
    return state


def _keep(name: str) -> None:
    """Run a server until SIGTERM."""
    signals = {signal.SIGTERM, signal.SIGINT}
    with KINDS[name].start() as server:
        signal.pthread_sigmask(signal.SIG_BLOCK, signals)
        state = {"keeper": os.getpid(), "version": server.version, "socket": server.unix_socket, **server.dsn}
        path = _STATES / f"{name}.json"
        unfinished = path.with_suffix(".new")
        unfinished.write_text(json.dumps(state))
        unfinished.rename(path)
        try:
            signal.sigwait(signals)
        finally:
            path.unlink()


def _down(name: str) -> None:
    state = _state(name)
    if state is None:
        print(f"{name} is not up")
        return
    os.kill(state["keeper"], signal.SIGTERM)
    deadline = time.monotonic() + 60
    while _is_alive(state["keeper"]):
        if time.monotonic() > deadline:
            raise ServerFailed(f"{name} (process {state['keeper']}) did not end within 60 s")
        time.sleep(0.05)
    print(f"{name} is down")


def _state(name: str) -> dict[str, Any] | None:
    """What the keeper wrote, None when there is no keeper (any more)."""
    try:
        state: dict[str, Any] = json.loads((_STATES / f"{name}.json").read_text())
    except FileNotFoundError:
        return None
    return state if _is_alive(state["keeper"]) else None


def _is_alive(pid: int) -> bool:
    """Whether `pid` is a keeper that runs: numbers of processes are given out again."""
    try:
        words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    except OSError:
        return False
    return b"keep" in words


def _described(name: str, state: dict[str, Any] | None) -> str:
    assert state is not None
    url = "mysql://{user}:{password}@{host}:{port}/{database}".format(**state)
    return f"{name} {state['version']} is up: {url}\nunix socket: {state['socket']}"


if __name__ == "__main__":
    main()
