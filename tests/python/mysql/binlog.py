"""Servers with a binary log, for the tests of replication."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence

from tests.servers import debian_sid
from tests.servers.availability import not_tested
from tests.servers.mariadb import MariaDB, MariaDB11
from tests.servers.mysql import MySQL, MySQLServer

SERVERS: dict[str, type[MySQLServer]] = {"mariadb": MariaDB, "mariadb11": MariaDB11, "mysql9": MySQL}


@contextlib.contextmanager
def log_server(kind: str, args: Sequence[str] = ()) -> Iterator[MySQLServer]:
    """A server of its own that logs rows; skips where it cannot be downloaded."""
    arguments = ["--log-bin=log", "--server-id=1", "--binlog-format=ROW", *args]
    if kind == "mysql9":
        arguments += ["--gtid-mode=ON", "--enforce-gtid-consistency=ON"]
    try:
        server = SERVERS[kind].start(arguments)
    except debian_sid.Unavailable as reason:
        not_tested(f"the binary log of {kind}", reason)
    with server:
        yield server
