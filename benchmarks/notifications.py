"""How long it takes until everybody has heard a NOTIFY: `--idle` listeners wait, `--busy` ones ask all the time.

    python -m benchmarks.notifications postgresql://…/db [--idle 1000] [--busy 200] [--rounds 40] [--pid N]

The payload is the time at which it was sent. Idle and busy listeners are read by a process each, which says of every
round when the last of its listeners heard; the later of the two counts. With the server's `--pid` the memory is told
that the listeners have cost it. Both sides need file descriptors: `ulimit -n 8192`.
"""

from __future__ import annotations

import argparse
import multiprocessing
import selectors
import socket
import statistics
import struct
import time
from multiprocessing.connection import Connection
from pathlib import Path

import psycopg
from psycopg.conninfo import conninfo_to_dict

CHANNEL = "bench_notifications"


class Listener:
    """A session that listens, by its bytes: a driver would be most of what is measured."""

    def __init__(self, where: dict[str, str], busy: bool) -> None:
        self.busy = busy
        self.last = 0.0
        self.asked = 0
        self._received = b""
        self.socket = socket.create_connection((where["host"], int(where["port"])), timeout=60)
        words = f"user\0{where['user']}\0database\0{where['dbname']}\0\0".encode()
        self.socket.sendall(struct.pack("!ii", 8 + len(words), 196608) + words)
        self._ask(f"LISTEN {CHANNEL}")
        ready = 0
        while ready < 2:
            ready += [tag for tag, _ in self._messages()].count(b"Z")
        if busy:
            self._ask("SELECT 1")

    def _ask(self, sql: str) -> None:
        body = sql.encode() + b"\0"
        self.socket.sendall(b"Q" + struct.pack("!i", 4 + len(body)) + body)

    def _messages(self) -> list[tuple[bytes, bytes]]:
        self._received += self.socket.recv(65536) or _gone()
        found, at = [], 0
        while len(self._received) >= at + 5:
            end = at + 1 + int.from_bytes(self._received[at + 1 : at + 5], "big")
            if len(self._received) < end:
                break
            found.append((self._received[at : at + 1], self._received[at + 5 : end]))
            at = end
        self._received = self._received[at:]
        return found

    def take(self) -> list[int]:
        """The payloads that have come; who is busy asks again when it has its answer."""
        heard = []
        for tag, body in self._messages():
            if tag == b"A":
                heard.append(int(body[4:].split(b"\0")[1]))
            elif tag == b"Z" and self.busy:
                self.asked += 1
                self._ask("SELECT 1")
        return heard


def _gone() -> bytes:
    raise AssertionError("the server has closed the connection")


def listen(where: dict[str, str], count: int, busy: bool, told: Connection) -> None:
    """Connect so many listeners, and say of each payload when the last of them has heard it."""
    selector = selectors.DefaultSelector()
    for _ in range(count):
        listener = Listener(where, busy)
        selector.register(listener.socket, selectors.EVENT_READ, listener)
    told.send("ready")
    left: dict[int, int] = {}
    while True:
        for key, _ in selector.select(timeout=1):
            for payload in key.data.take():
                left[payload] = left.get(payload, count) - 1
                if left[payload] == 0:
                    told.send((payload, time.monotonic_ns()))
        if told.poll():
            told.send(sum(key.data.asked for key in selector.get_map().values()))
            return


def private(pid: int) -> int:
    """Kilobytes of a process that nobody shares."""
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    return sum(int(line.split()[1]) for line in lines if line.startswith("Private_Dirty:"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dsn")
    parser.add_argument("--idle", type=int, default=1_000)
    parser.add_argument("--busy", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--pid", type=int)
    arguments = parser.parse_args()
    where = {name: str(value) for name, value in conninfo_to_dict(arguments.dsn).items()}
    before = private(arguments.pid) if arguments.pid else 0
    groups = [(count, busy) for count, busy in ((arguments.idle, False), (arguments.busy, True)) if count]
    pipes, processes = [], []
    for count, busy in groups:
        ours, theirs = multiprocessing.Pipe()
        process = multiprocessing.Process(target=listen, args=(where, count, busy, theirs), daemon=True)
        process.start()
        pipes.append(ours)
        processes.append(process)
    for pipe in pipes:
        pipe.recv()
    times = []
    with psycopg.connect(arguments.dsn, autocommit=True) as teller:
        for _ in range(arguments.rounds):
            time.sleep(0.1)
            teller.execute(f"NOTIFY {CHANNEL}, '{time.monotonic_ns()}'")
            ends = [pipe.recv() for pipe in pipes]
            times.append(max(heard - payload for payload, heard in ends) / 1e6)
    times.sort()
    listeners = arguments.idle + arguments.busy
    median, most = statistics.median(times), times[int(len(times) * 0.9) - 1]
    print(f"{arguments.idle} idle, {arguments.busy} busy: all have heard after {median:.0f} ms (median),", end=" ")
    print(f"{most:.0f} ms (9 of 10), {times[-1]:.0f} ms (all)")
    if arguments.pid:
        print(f"memory of each listener: {(private(arguments.pid) - before) / listeners:.0f} kB")
    for pipe in pipes:
        pipe.send("over")
    print("statements of busy listeners meanwhile:", sum(pipe.recv() for pipe in pipes))
    for process in processes:
        process.join()


if __name__ == "__main__":
    main()
