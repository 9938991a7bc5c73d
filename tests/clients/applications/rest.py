"""A web application that is started, and asked over HTTP as its own pages ask it."""

from __future__ import annotations

import contextlib
import http.cookiejar
import json
import os
import socket
import subprocess
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator, Mapping
from typing import Any


def free_port() -> int:
    with socket.socket() as asked:
        asked.bind(("127.0.0.1", 0))
        return int(asked.getsockname()[1])


class Site:
    """What answers at `url`: JSON in, JSON out, cookies kept."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.headers = {"Content-Type": "application/json", "Origin": url}
        self._opener = urllib.request.build_opener(
            urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar()),
        )

    def ask(self, method: str, path: str, body: Any = None, *, status: int | None = None, **query: Any) -> Any:
        """The answer to a request; `status` is that of a refusal that is expected, any other refusal an error.

        What of `query` is no text goes as JSON.
        """
        told = {name: value if isinstance(value, str) else json.dumps(value) for name, value in query.items()}
        address = self.url + path + ("?" + urllib.parse.urlencode(told) if told else "")
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(address, data, self.headers, method=method)
        try:
            with self._opener.open(request, timeout=60) as answer:
                text, found = answer.read().decode(), None
        except urllib.error.HTTPError as refusal:
            text, found = refusal.read().decode(), refusal.code
        assert found == status, f"{method} {path}: {found}, {text[:1000]}"
        return json.loads(text) if text[:1] in {"{", "["} else text


@contextlib.contextmanager
def started(
    command: list[str], directory: str, environment: Mapping[str, str], site: Site, path: str
) -> Iterator[None]:
    """Run a server until the block ends; it is there when `path` answers as it should."""
    with subprocess.Popen(command, cwd=directory, env={**os.environ, **environment}) as process:
        try:
            for _ in range(180):
                assert process.poll() is None, f"{command} has ended"
                with contextlib.suppress(OSError, AssertionError):
                    site.ask("GET", path)
                    break
                time.sleep(1)
            else:
                raise TimeoutError(f"{command} does not answer")
            yield
        finally:
            process.terminate()
