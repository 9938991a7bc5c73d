"""A child process that says when it is ready, and always goes away."""

from __future__ import annotations

import collections
import contextlib
import os
import signal
import socket
import subprocess
import threading
from collections.abc import Callable, Sequence
from pathlib import Path


class ServerFailed(RuntimeError):
    """A server did not start, or did not stop; the message carries the end of its log."""


def free_port() -> int:
    """A loopback TCP port that was free a moment ago."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


class Process:
    """A server process whose log is drained in the background.

    `is_ready` is given each line of the log; the first line for which it is true becomes `ready_line` and ends
    `wait_ready`.
    """

    def __init__(
        self, command: Sequence[str | Path], is_ready: Callable[[str], object], log: Path | None = None
    ) -> None:
        self.command = [str(word) for word in command]
        self.tail: collections.deque[str] = collections.deque(maxlen=40)
        self.ready_line: str | None = None
        self._is_ready = is_ready
        self._log = log
        self._ready = threading.Event()
        self._popen = subprocess.Popen(
            self.command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            # Its own group: Ctrl-C in the terminal reaches us first, and we stop it in order.
            start_new_session=True,
        )
        self._drain = threading.Thread(target=self._read_log, name=f"log of {Path(self.command[0]).name}", daemon=True)
        self._drain.start()

    @property
    def pid(self) -> int:
        """The operating system's number for the process."""
        return self._popen.pid

    def _read_log(self) -> None:
        assert self._popen.stdout is not None
        with self._popen.stdout as lines, contextlib.ExitStack() as stack:
            copy = stack.enter_context(self._log.open("a")) if self._log else None
            for line in lines:
                self.tail.append(line)
                if copy is not None:
                    copy.write(line)
                    copy.flush()
                if self.ready_line is None and self._is_ready(line):
                    self.ready_line = line
                    self._ready.set()
        self._ready.set()

    def wait_ready(self, timeout: float = 60) -> None:
        """Return when the log says ready; `ServerFailed` when the process ends first or `timeout` seconds pass."""
        if not self._ready.wait(timeout):
            self.kill()
            raise ServerFailed(f"`{self.command[0]}` was not ready within {timeout} s:\n{''.join(self.tail)}")
        if self.ready_line is None:
            code = self._popen.wait(10)
            raise ServerFailed(f"`{self.command[0]}` ended with {code} before it was ready:\n{''.join(self.tail)}")

    def ended(self) -> bool:
        """Whether the process is no more."""
        return self._popen.poll() is not None

    def interrupt(self) -> None:
        """Send SIGINT, which some servers take as "end now, do not wait for clients"."""
        if self._popen.poll() is None:
            self._popen.send_signal(signal.SIGINT)

    def stop(self, timeout: float = 30) -> int:
        """Ask the process to end and return its exit code; kill it and raise `ServerFailed` after `timeout` seconds."""
        if self._popen.poll() is None:
            self._popen.terminate()
            try:
                self._popen.wait(timeout)
            except subprocess.TimeoutExpired:
                self.kill()
                tail = "".join(self.tail)
                raise ServerFailed(f"`{self.command[0]}` ignored SIGTERM for {timeout} s:\n{tail}") from None
        self._drain.join(10)
        return self._popen.returncode

    def kill(self) -> None:
        """End the process without giving it a chance to clean up, as a power cut would."""
        if self._popen.poll() is None:
            os.kill(self._popen.pid, signal.SIGKILL)
        self._popen.wait(30)
        self._drain.join(10)
