"""A program at a terminal of its own: what is typed, and what is seen."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import termios
import time
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType

# Movements of the cursor and colours, which no test is about.
_CONTROL = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b[=>]|\r")


class Terminal:
    """`with Terminal([program, …]) as terminal: terminal.type("…\\n"); terminal.until("> ")`."""

    def __init__(
        self,
        command: list[str | Path],
        *,
        rows: int = 40,
        columns: int = 100,
        env: Mapping[str, str] | None = None,
        timeout: float = 30,
    ) -> None:
        self._timeout = timeout
        self._seen = ""
        self._master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self.process = subprocess.Popen(
            command,
            stdin=slave,
            stdout=slave,
            stderr=slave,
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
            env={**os.environ, "TERM": "xterm", **(env or {})},
        )
        os.close(slave)

    def type(self, text: str) -> None:
        os.write(self._master, text.encode())

    def until(self, expected: str) -> str:
        """What has been seen since the last call, up to and with `expected`."""
        deadline = time.monotonic() + self._timeout
        while expected not in self._seen:
            left = deadline - time.monotonic()
            if left <= 0:
                raise AssertionError(f"{expected!r} was not seen in {self._seen!r}")
            if select.select([self._master], [], [], left)[0]:
                self._read(expected)
        seen, _, self._seen = self._seen.partition(expected)
        return seen + expected

    def _read(self, expected: str) -> None:
        try:
            data = os.read(self._master, 65536)
        except OSError:
            data = b""
        if not data:
            raise AssertionError(f"{expected!r} was not seen before the end of {self._seen!r}")
        self._seen += _CONTROL.sub("", data.decode(errors="replace"))

    def __enter__(self) -> Terminal:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        os.close(self._master)
