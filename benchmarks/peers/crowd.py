"""Many clients at once: processes with a connection each, which stay from round to round."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from .. import cpu

if TYPE_CHECKING:
    from .base import Address, AutocommitPeer, Row

#: A copy of the worker knows the driver already, and its affinity.
_PROCESSES = multiprocessing.get_context("fork")


class Crowd:
    """`width` clients of one kind of peer, and `beside` more that keep the server busy meanwhile."""

    def __init__(self, peer: type[AutocommitPeer], address: Address, width: int, beside: int) -> None:
        self._enough = _PROCESSES.Event()
        self._members = [_Member(peer, address, self._enough) for _ in range(width + beside)]
        self._width = width

    def work(self, sql: str, parameters: Sequence[Row], beside: tuple[str, Sequence[Row]] | None) -> list[Row]:
        """Share `parameters` out, and wait for all: how many rows each client has read, and the sum of their keys."""
        workers, others = self._members[: self._width], self._members[self._width :]
        self._enough.clear()
        for number, other in enumerate(others):
            assert beside is not None
            other.ask(beside[0], beside[1][number :: len(others)], True)
        for number, worker in enumerate(workers):
            worker.ask(sql, parameters[number :: self._width], False)
        found = [worker.answer() for worker in workers]
        self._enough.set()
        for other in others:
            other.answer()
        return found

    def cpu_ns(self) -> int:
        """CPU time of all of them so far, in nanoseconds."""
        return sum(cpu.process_cpu_ns(member.pid) for member in self._members)

    def close(self) -> None:
        """Send them home."""
        for member in self._members:
            member.end()


class _Member:
    """One client's process, as its employer sees it."""

    def __init__(self, peer: type[AutocommitPeer], address: Address, enough: Any) -> None:
        self._channel, theirs = _PROCESSES.Pipe()
        self._process = _PROCESSES.Process(target=_serve, args=(theirs, peer, address, enough), daemon=True)
        self._process.start()
        theirs.close()
        self.answer()

    @property
    def pid(self) -> int:
        assert self._process.pid is not None
        return self._process.pid

    def ask(self, *order: Any) -> None:
        self._channel.send(order)

    def answer(self) -> Row:
        try:
            answer = self._channel.recv()
        except EOFError:
            raise RuntimeError("a client's process has ended") from None
        if isinstance(answer, str):
            raise RuntimeError(answer)
        return answer

    def end(self) -> None:
        # Not by closing the pipe: those who came later hold a copy of it.
        with contextlib.suppress(OSError):
            self._channel.send(None)
        self._process.join(10)
        self._channel.close()


def _serve(channel: Any, kind: type[AutocommitPeer], address: Address, enough: Any) -> None:
    """A client's process: `os._exit` at its end, as what it has inherited is not its own to close."""
    try:
        peer = kind()
        peer.connect(address)
        channel.send((0, 0))
        while (order := channel.recv()) is not None:
            sql, parameters, forever = order
            count = total = 0
            while True:
                for row in parameters:
                    if forever and enough.is_set():
                        break
                    for read in peer.run(sql, row):
                        count += 1
                        total += read[0]
                if not forever or enough.is_set():
                    break
            channel.send((count, total))
        peer.close()
        os._exit(0)
    except BaseException as error:
        channel.send(f"{type(error).__name__}: {error}")
        os._exit(1)
