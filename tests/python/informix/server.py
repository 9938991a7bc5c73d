"""The server that tests of the Informix driver talk to."""

from __future__ import annotations

from pathlib import Path

from tests.servers.rowferry import Rowferry


def serve(file: Path, port: int = 0) -> Rowferry:
    """A server for this file, with the Informix door alone, on this port or a free one."""
    return Rowferry.start(file, postgres=False, args=("--informix", f"127.0.0.1:{port}"))
