"""The server that tests of the Informix driver talk to: our own by default, a live Informix by `INFORMIX_URL`."""

from __future__ import annotations

import contextlib
import os
import secrets
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from rowferry import informix

from tests.servers.rowferry import Rowferry

#: What the tests need: text in UTF-8, in the database and on the wire.
LOCALE = "en_US.utf8"


def serve(file: Path, port: int = 0) -> Rowferry:
    """A server for this file, with the Informix door alone, on this port or a free one."""
    return Rowferry.start(file, postgres=False, args=("--informix", f"127.0.0.1:{port}"))


@dataclass(frozen=True)
class Target:
    """A database with a log of the tests' own."""

    #: Where it is, with all that `connect` needs.
    url: str
    #: True for a live Informix, false for our own server.
    is_live: bool

    @property
    def parameters(self) -> dict[str, Any]:
        """What to connect with besides the URL."""
        return {"client_locale": LOCALE} | ({"env": {"DB_LOCALE": LOCALE}} if self.is_live else {})

    def with_database(self, name: str) -> str:
        """The URL of another database there."""
        return urlunsplit(urlsplit(self.url)._replace(path=f"/{name}"))

    @property
    def database(self) -> str:
        """The database's name."""
        return urlsplit(self.url).path.lstrip("/")


@contextlib.contextmanager
def target() -> Iterator[Target]:
    """A new database, at `INFORMIX_URL` when that is set; dropped at the end, with everything that tests left in it.

    Who may not create databases names one with a log by `INFORMIX_DATABASE`; there, new tables are dropped at the end.
    """
    url = os.environ.get("INFORMIX_URL")
    if url is None:
        with tempfile.TemporaryDirectory(prefix="rf-informix-") as directory:
            with serve(Path(directory) / "app.db") as server:
                assert server.informix is not None
                host, port = server.informix
                yield Target(f"informix://{host}:{port}/{server.dbname}", is_live=False)
        return
    named = os.environ.get("INFORMIX_DATABASE")
    given = Target(url, is_live=True)
    if named:
        live = Target(given.with_database(named), is_live=True)
        before = _tables(live)
        try:
            yield live
        finally:
            _run(live.url, live, *(f"DROP TABLE {table}" for table in sorted(_tables(live) - before)))
        return
    name = f"rowferry_{secrets.token_hex(4)}"
    live = Target(given.with_database(name), is_live=True)
    sysmaster = given.with_database("sysmaster")
    _run(sysmaster, live, f"CREATE DATABASE {name} WITH LOG")
    try:
        yield live
    finally:
        _run(sysmaster, live, f"DROP DATABASE {name}")


def _run(url: str, target: Target, *statements: str) -> None:
    with informix.connect(url, autocommit=True, connect_timeout=30, **target.parameters) as connection:
        for statement in statements:
            connection.execute(statement)


def _tables(target: Target) -> set[str]:
    """Tables that users have made."""
    with informix.connect(target.url, autocommit=True, connect_timeout=30, **target.parameters) as connection:
        rows = connection.execute("SELECT tabname FROM systables WHERE tabid >= 100 AND tabtype = 'T'").fetchall()
    return {name.strip() for (name,) in rows}
