"""The MySQL door over a file of its own, as the suites of drivers want a server."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

import psycopg

from .postgres import PostgreSQL
from .rowferry import Rowferry

if TYPE_CHECKING:
    from typing_extensions import Self


class MySQLDoor:
    """`with MySQLDoor.start() as server: connect(**server.dsn)`: what `tests.servers.mysql` has of MySQL, over TCP."""

    user = "rowferry"
    password = ""
    database = "rowferry"
    #: There is none.
    unix_socket = ""
    version = "rowferry"

    def __init__(self, server: Rowferry, directory: tempfile.TemporaryDirectory[str]) -> None:
        assert server.mysql is not None
        self.server = server
        self.directory = directory
        self.host, self.port = server.mysql

    @classmethod
    def start(cls, args: Sequence[str] = ()) -> Self:
        """Serve a new file called as the database."""
        directory = tempfile.TemporaryDirectory(prefix="rf-mysql-door-")
        file = Path(directory.name) / f"{cls.database}.db"
        return cls(Rowferry.start(file, mysql=True, args=args), directory)

    @property
    def dsn(self) -> dict[str, Any]:
        """Keyword arguments for any driver's `connect()`: host, port, user, password, database."""
        return {
            "host": self.host,
            "port": self.port,
            "user": self.user,
            "password": self.password,
            "database": self.database,
        }

    def stop(self) -> None:
        """End the server and remove its file."""
        self.server.stop()
        self.directory.cleanup()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.server.__exit__(kind, value, traceback)
        self.directory.cleanup()


class MySQLDoorBehind(MySQLDoor):
    """The same in front of a PostgreSQL server of its own."""

    version = "rowferry in front of PostgreSQL"
    postgres: PostgreSQL

    @classmethod
    def start(cls, args: Sequence[str] = ()) -> Self:
        """Serve a new database called as the database."""
        postgres = PostgreSQL.start(tcp=True)
        try:
            with psycopg.connect(postgres.dsn, autocommit=True) as connection:
                words = "LC_CTYPE 'C.UTF-8' LC_COLLATE 'C'"
                connection.execute(f"CREATE DATABASE {cls.database} TEMPLATE template0 {words}".encode())
            directory = tempfile.TemporaryDirectory(prefix="rf-mysql-door-")
            beside = Path(directory.name) / "beside.db"
            url = f"postgresql://rowferry@127.0.0.1:{postgres.port}/{cls.database}"
            options = [*args, "--install", "--beside", str(beside)]
            door = cls(Rowferry.start(url, postgres=False, mysql=True, args=options), directory)
        except BaseException:
            postgres.stop()
            raise
        door.postgres = postgres
        return door

    def stop(self) -> None:
        """End both servers."""
        try:
            super().stop()
        finally:
            self.postgres.stop()

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
    ) -> None:
        try:
            super().__exit__(kind, value, traceback)
        finally:
            self.postgres.stop()
