"""What a test is given: a database with its addresses, and what it is a copy of."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

__all__ = ["Database", "Prepare", "Template"]


@dataclass(frozen=True)
class Database:
    """A database of a server that runs on this machine; everybody may enter."""

    #: Its name at both doors.
    name: str
    #: Where PostgreSQL's clients connect.
    host: str
    port: int
    #: Where Informix's clients connect, at the same host.
    informix_port: int
    #: The SQLite file; `sqlite3` may read and write it while it is served.
    path: Path

    user = "rowferry"
    #: What an Informix client calls its server.
    informix_server = "informix"

    @property
    def url(self) -> str:
        """What psycopg, asyncpg, Django, pgx, node-postgres, … take."""
        return f"postgresql://{self.user}@{self.host}:{self.port}/{quote(self.name)}"

    def sqlalchemy_url(self, driver: str = "psycopg") -> str:
        """What `sqlalchemy.create_engine` takes: with `psycopg`, `psycopg2`, `asyncpg` or any other driver."""
        return self.url.replace("postgresql://", f"postgresql+{driver}://", 1)

    @property
    def jdbc_url(self) -> str:
        """What PostgreSQL's JDBC driver takes."""
        return f"jdbc:postgresql://{self.host}:{self.port}/{quote(self.name)}?user={self.user}"

    @property
    def parameters(self) -> dict[str, Any]:
        """The parts of `url` by libpq's names: `psycopg.connect(**database.parameters)`."""
        return {"host": self.host, "port": self.port, "user": self.user, "dbname": self.name}

    @property
    def informix_url(self) -> str:
        """What `rowferry.informix` takes."""
        place = f"{self.host}:{self.informix_port}/{quote(self.name)}"
        return f"informix://informix:in4mix@{place}?server={self.informix_server}"

    @property
    def informix_parameters(self) -> dict[str, Any]:
        """The parts of `informix_url`: `rowferry.informix.connect(**database.informix_parameters)`."""
        return {
            "host": self.host,
            "port": self.informix_port,
            "user": "informix",
            "password": "in4mix",
            "database": self.name,
            "server": self.informix_server,
        }


#: Fills a new database: migrations, rows that every test wants. May be a coroutine function.
Prepare = Callable[[Database], Any]


@dataclass(frozen=True)
class Template:
    """A database that others are copies of. Nobody may be in it when it is copied."""

    database: Database


def prepare(database: Database, how: Prepare) -> None:
    """Fill a database; a coroutine runs in a loop of its own."""
    outcome = how(database)
    if inspect.isawaitable(outcome):

        async def waited() -> None:
            await outcome

        asyncio.run(waited())
