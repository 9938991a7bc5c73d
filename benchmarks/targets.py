"""Targets: the servers that contestants talk to, started when first needed, filled with `data`, stopped at the end."""

from __future__ import annotations

import contextlib
import itertools
import sqlite3
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psycopg

from tests.servers import debian_sid, pgsqlite
from tests.servers.certificates import make_certificates
from tests.servers.mariadb import MariaDB, find_mariadbd
from tests.servers.mysql import MySQL, MySQLServer
from tests.servers.mysql_door import MySQLDoor
from tests.servers.pglite import PGlite, Unavailable
from tests.servers.pgsqlite import PGsqlite
from tests.servers.postgres import PostgreSQL, find_postgres
from tests.servers.rowferry import Rowferry, find_rowferry

from . import cpu, data, tpch
from .scenarios import operations


class Missing(Exception):
    """A target cannot be run here; the message says what is not installed."""


@dataclass
class Target:
    """A running server."""

    #: What a peer's `connect` is given.
    address: dict[str, Any]
    version: str
    #: Processes whose CPU time counts as the server's; given anew each time, as some servers fork per connection.
    pids: Callable[[], list[int]] = field(default=list)

    def cpu_ns(self) -> int:
        """CPU time of all server processes so far, in nanoseconds."""
        total = 0
        for pid in self.pids():
            # A process may end between the listing and the look.
            with contextlib.suppress(OSError):
                total += cpu.process_cpu_ns(pid)
        return total

    def pin(self, cpus: set[int]) -> None:
        """Confine the server to `cpus`."""
        for pid in self.pids():
            with contextlib.suppress(OSError):
                cpu.pin(pid, cpus)


class Targets(contextlib.ExitStack):
    """All targets of one run, by name."""

    def __init__(self) -> None:
        super().__init__()
        self._running: dict[str, Target | Missing] = {}
        self._directory = Path(self.enter_context(tempfile.TemporaryDirectory(prefix="rf-bench-", dir="/tmp")))
        self._file: Path | None = None
        self._mariadb_server: MariaDB | None = None
        self._rowferry_server: Rowferry | None = None
        self._postgresql_server: PostgreSQL | None = None
        self._behind_server: Rowferry | None = None

    def get(self, name: str) -> Target:
        """The running target called `name`; raises `Missing` when it is not installed."""
        if name not in self._running:
            try:
                self._running[name] = getattr(self, "_start_" + name.replace("-", "_"))()
            except Missing as missing:
                self._running[name] = missing
            except Exception as failure:
                self._running[name] = Missing(f"it did not start: {failure}")
                raise
        target = self._running[name]
        if isinstance(target, Missing):
            raise target
        return target

    def _start_sqlite(self) -> Target:
        return Target({"path": str(self._sqlite_file())}, sqlite3.sqlite_version)

    def _start_rowferry(self) -> Target:
        server = self._rowferry()
        assert server.postgres is not None
        # The port names the socket, too.
        dsn = f"postgresql://rowferry@/{server.dbname}?host={server.unix_dir}&port={server.postgres[1]}"
        return Target({"dsn": dsn}, f"rowferry serve, {find_rowferry()}", lambda: [server.pid])

    def _start_rowferry_tcp(self) -> Target:
        server = self._rowferry()
        return Target({"dsn": server.postgres_dsn}, f"rowferry serve, {find_rowferry()}", lambda: [server.pid])

    def _rowferry(self) -> Rowferry:
        """One server for all ways to reach it."""
        if self._rowferry_server is None:
            server = self.enter_context(Rowferry.start(self._sqlite_file(), unix_dir=self._directory))
            with psycopg.connect(server.postgres_dsn, cursor_factory=psycopg.ClientCursor) as connection:
                _fill_arrays(connection)
            self._rowferry_server = server
        return self._rowferry_server

    def _start_rowferry_memory(self) -> Target:
        directory = self._directory / "memory"
        directory.mkdir()
        server = self.enter_context(Rowferry.start(":memory:", postgres=False, unix_dir=directory))
        dsn = f"postgresql://rowferry@/memory?host={server.unix_dir}"
        _fill(dsn)
        return Target({"dsn": dsn}, f"rowferry serve :memory:, {find_rowferry()}", lambda: [server.pid])

    def _start_rowferry_informix(self) -> Target:
        server = self.enter_context(Rowferry.start(self._sqlite_file(), postgres=False, informix=True))
        address = _informix_address(server)
        _fill_informix(address)
        return Target(address, f"rowferry serve, {find_rowferry()}", lambda: [server.pid])

    def _start_mariadb(self) -> Target:
        server = self._mariadb()
        return Target(dict(server.dsn), f"MariaDB {server.version}", lambda: [server.pid])

    def _start_mariadb_unix(self) -> Target:
        server = self._mariadb()
        return Target(_by_socket(server), f"MariaDB {server.version}", lambda: [server.pid])

    def _start_mariadb_tls(self) -> Target:
        server = self._mariadb()
        address = {**server.dsn, "ca": self._certificates["ca"]}
        return Target(address, f"MariaDB {server.version}", lambda: [server.pid])

    def _mariadb(self) -> MariaDB:
        """One server for all ways to reach it."""
        if self._mariadb_server is None:
            if find_mariadbd() is None:
                raise Missing("mariadbd is not installed (Debian package mariadb-server)")
            (self._directory / "tls").mkdir()
            self._certificates = make_certificates(self._directory / "tls")
            # The certificate names 127.0.0.1: to some clients, `localhost` is a socket.
            names = {"ca": "ca", "cert": "address_cert", "key": "address_key"}
            files = [f"--ssl-{option}={self._certificates[name]}" for option, name in names.items()]
            # Enough for all tables, so that no round reads from a disk, and for the pools of all contestants.
            sizes = ["--innodb-buffer-pool-size=512M", "--max-connections=2000"]
            server = self.enter_context(MariaDB.start([*files, *sizes]))
            _fill_mysql(server)
            self._mariadb_server = server
        return self._mariadb_server

    def _start_mysql9(self) -> Target:
        try:
            server = self.enter_context(MySQL.start(["--innodb-buffer-pool-size=512M"]))
        except debian_sid.Unavailable as reason:
            raise Missing(f"MySQL 9 cannot be downloaded: {reason}") from None
        _fill_mysql(server, only_written=True)
        return Target(dict(server.dsn), f"MySQL {server.version}", lambda: [server.pid])

    def _start_postgresql(self) -> Target:
        server = self._postgresql()
        dsn = f"postgresql://rowferry@/postgres?host={server.directory}&port={server.port}"
        return Target({"dsn": dsn}, f"PostgreSQL {server.version}", server.pids)

    def _start_postgresql_tcp(self) -> Target:
        server = self._postgresql()
        return Target({"dsn": server.dsn}, f"PostgreSQL {server.version}", server.pids)

    def _postgresql(self) -> PostgreSQL:
        """One server for all ways to reach it."""
        if self._postgresql_server is None:
            if find_postgres() is None:
                raise Missing("PostgreSQL's server is not installed (Debian package postgresql)")
            server = self.enter_context(PostgreSQL.start(tcp=True))
            _fill(server.dsn)
            self._postgresql_server = server
        return self._postgresql_server

    def _start_rowferry_before_postgresql(self) -> Target:
        server = self._behind()
        return Target({"dsn": server.postgres_dsn}, self._behind_version(), self._both_pids)

    def _start_rowferry_informix_before_postgresql(self) -> Target:
        server = self._behind()
        # As psycopg is told to be: a transaction would take messages of its own.
        address = {**_informix_address(server), "autocommit": True}
        return Target(address, self._behind_version(), self._both_pids)

    def _start_rowferry_mysql_before_postgresql(self) -> Target:
        server = self._behind()
        assert server.mysql is not None
        host, port = server.mysql
        address = {"host": host, "port": port, "user": "rowferry", "password": "", "database": server.dbname}
        return Target(address, self._behind_version(), self._both_pids)

    def _behind(self) -> Rowferry:
        """Every door in front of the PostgreSQL server that others talk to."""
        if self._behind_server is None:
            postgresql = self._postgresql()
            with psycopg.connect(postgresql.dsn, autocommit=True) as connection:
                connection.execute(data.NARROW_TABLE.format(table="bench_many"))
                with connection.cursor().copy("COPY bench_many FROM STDIN") as copy:
                    for row in data.narrow_rows(data.MANY_ROWS):
                        copy.write_row(row)
                connection.execute("VACUUM ANALYZE bench_many")
            self._behind_server = self.enter_context(
                Rowferry.start(
                    f"postgresql://rowferry@127.0.0.1:{postgresql.port}/postgres",
                    informix=True,
                    mysql=True,
                    args=["--install", "--beside", str(self._directory / "beside.db")],
                )
            )
        return self._behind_server

    def _behind_version(self) -> str:
        assert self._postgresql_server is not None
        return f"rowferry serve postgresql://…, PostgreSQL {self._postgresql_server.version}, {find_rowferry()}"

    def _both_pids(self) -> list[int]:
        assert self._postgresql_server is not None and self._behind_server is not None
        return [*self._postgresql_server.pids(), self._behind_server.pid]

    def _start_rowferry_mysql(self) -> Target:
        server = self.enter_context(MySQLDoor.start())
        _fill_mysql(server)
        return Target(dict(server.dsn), f"rowferry serve, {find_rowferry()}", lambda: [server.server.pid])

    def _start_pglite(self) -> Target:
        directory = self._directory / "pglite"
        directory.mkdir()
        try:
            server = self.enter_context(PGlite.start(directory))
        except Unavailable as reason:
            raise Missing(str(reason)) from None
        _fill(server.dsn)
        return Target({"dsn": server.dsn}, f"PGlite {server.version}", lambda: [server.pid])

    def _start_pgsqlite(self) -> Target:
        directory = self._directory / "pgsqlite"
        directory.mkdir()
        try:
            server = self.enter_context(PGsqlite.start(directory))
        except pgsqlite.Unavailable as reason:
            raise Missing(str(reason)) from None
        _fill_by_row(server.dsn)
        return Target({"dsn": server.dsn}, f"pgsqlite {server.version}", lambda: [server.pid])

    def _start_rowferry_tpch(self) -> Target:
        directory = self._directory / "tpch"
        directory.mkdir()
        server = self.enter_context(Rowferry.start(directory / "tpch.db", postgres=False, unix_dir=directory))
        dsn = f"postgresql://rowferry@/{server.dbname}?host={server.unix_dir}"
        tpch.fill(dsn)
        return Target({"dsn": dsn}, f"rowferry serve, {find_rowferry()}", lambda: [server.pid])

    def _start_postgresql_tpch(self) -> Target:
        if find_postgres() is None:
            raise Missing("PostgreSQL's server is not installed (Debian package postgresql)")
        server = self.enter_context(PostgreSQL.start())
        tpch.fill(server.dsn)
        return Target({"dsn": server.dsn}, f"PostgreSQL {server.version}", server.pids)

    def _sqlite_file(self) -> Path:
        if self._file is None:
            self._file = self._directory / "bench.db"
            with contextlib.closing(sqlite3.connect(self._file)) as connection, connection:
                connection.execute("PRAGMA journal_mode = wal")
                connection.execute(data.WRITTEN_TABLE.format(timestamp="timestamp"))
                for table, count in (("bench_rows", data.NARROW_ROWS), ("bench_many", data.MANY_ROWS)):
                    connection.execute(data.NARROW_TABLE.format(table=table))
                    connection.executemany(
                        f"INSERT INTO {table} VALUES (?, ?, ?, ?, ?, ?)",
                        # As design decision D6 stores them.
                        (
                            (a, b, c, float(amount), e, at.isoformat(" "))
                            for a, b, c, amount, e, at in data.narrow_rows(count)
                        ),
                    )
        return self._file


def _informix_address(server: Rowferry) -> dict[str, Any]:
    assert server.informix is not None
    host, port = server.informix
    address: dict[str, Any] = {"host": host, "port": port, "user": "informix", "password": "in4mix"}
    return {**address, "database": server.dbname, "server": "informix"}


def _fill_informix(address: dict[str, Any]) -> None:
    """What only Informix's own words can declare."""
    try:
        from rowferry import informix
    except ImportError as missing:
        raise Missing(f"{missing}: run `make build`") from None

    with informix.connect(**address) as connection:
        cursor = connection.cursor()
        for table in ("bench_lobs", "bench_lobs_full"):
            cursor.execute(data.LOB_TABLE.format(table=table))
        cursor.executemany("INSERT INTO bench_lobs_full VALUES (?, ?, ?)", data.lob_rows(3))
        for cells in data.CELL_TYPES:
            declared = ", ".join(f"{column} {cells.declaration}" for column in cells.columns)
            cursor.execute(f"CREATE TABLE {cells.table} ({declared})")
            marks = ", ".join("?" * len(cells.columns))
            cursor.executemany(f"INSERT INTO {cells.table} VALUES ({marks})", cells.rows())
        connection.commit()


def _by_socket(server: MySQLServer) -> dict[str, Any]:
    address = {name: server.dsn[name] for name in ("user", "password", "database")}
    return {**address, "unix_socket": server.unix_socket}


def _fill_mysql(server: MySQLServer | MySQLDoor, *, only_written: bool = False) -> None:
    import pymysql

    with contextlib.closing(pymysql.connect(**server.dsn, ssl_disabled=True)) as connection:
        with connection.cursor() as cursor:
            cursor.execute(data.WRITTEN_TABLE.format(timestamp="datetime"))
            if only_written:
                return
            cursor.execute(data.WIDE_TABLE)
            cursor.executemany(
                "INSERT INTO bench_wide VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s)", list(data.wide_rows())
            )
            tables = ["bench_wide"]
            for typed in data.TYPED_TABLES:
                declared = ", ".join(f"{column} {typed.declaration} NOT NULL" for column in typed.columns)
                cursor.execute(f"CREATE TABLE {typed.table} (id int AUTO_INCREMENT PRIMARY KEY, {declared})")
                names, marks = ", ".join(typed.columns), ", ".join(["%s"] * len(typed.columns))
                cursor.executemany(f"INSERT INTO {typed.table} ({names}) VALUES ({marks})", list(typed.rows()))
                tables.append(typed.table)
        connection.commit()
        with connection.cursor() as cursor:
            cursor.execute(f"ANALYZE TABLE {', '.join(tables)}")


def _fill(dsn: str) -> None:
    """A server of PostgreSQL's wire that starts empty."""
    # One connection, the values in the text, and no COPY: PGlite's socket server hands a session from client to client
    # with what was left of it, and closes the connection in the middle of a COPY.
    with psycopg.connect(dsn, autocommit=True, cursor_factory=psycopg.ClientCursor) as connection:
        with connection.transaction():
            connection.execute(data.NARROW_TABLE.format(table="bench_rows"))
            connection.execute(data.WRITTEN_TABLE.format(timestamp="timestamp"))
            waiting = iter(data.narrow_rows())
            while rows := list(itertools.islice(waiting, 500)):
                _insert(connection, "bench_rows", rows)
            _fill_arrays(connection)
        connection.execute("VACUUM ANALYZE bench_rows, bench_arrays")


def _fill_by_row(dsn: str) -> None:
    """A server that takes neither many rows of typed values in one statement nor VACUUM of several tables."""
    with psycopg.connect(dsn, autocommit=True) as connection, connection.cursor() as cursor:
        cursor.execute(data.NARROW_TABLE.format(table="bench_rows"))
        cursor.execute(data.WRITTEN_TABLE.format(timestamp="timestamp"))
        for table in ("bench_arrays", "bench_arrays_written"):
            cursor.execute(data.ARRAY_TABLE.format(table=table))
        with connection.transaction():
            for row in data.narrow_rows():
                cursor.execute("INSERT INTO bench_rows VALUES (%s, %s, %s, %s, %s, %s)", row)


def _fill_arrays(connection: psycopg.Connection[Any]) -> None:
    """What a file of SQLite's own has not."""
    for table in ("bench_arrays", "bench_arrays_written"):
        connection.execute(data.ARRAY_TABLE.format(table=table))
    for size in operations.SIZES:
        _insert(connection, "bench_arrays", list(data.array_rows(size, data.ARRAY_ROWS, start=size * 1_000)))


def _insert(connection: psycopg.Connection[Any], table: str, rows: list[tuple[Any, ...]]) -> None:
    marks = ", ".join("(" + ", ".join(["%s"] * len(row)) + ")" for row in rows)
    connection.execute(f"INSERT INTO {table} VALUES {marks}", list(itertools.chain(*rows)))
