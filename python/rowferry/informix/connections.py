# Made from python/rowferry/informix/aio/connection.py by tools/async_to_sync.py: change that file instead.
"""A connection to an Informix server."""

from __future__ import annotations

import contextlib
import warnings
from types import TracebackType
from typing import Any

from .. import exceptions as err
from .._core.informix import QueryResult, Wire
from ._settings import Settings, settings_for
from .cursors import Cursor

__all__ = ["Connection", "connect"]

ASYNC = False

#: A statement that was cancelled gets this long, in seconds, to end before its connection is closed.
CANCEL_GRACE = 5.0


class Connection:
    """A session with a server. Made by `connect`, whose parameters are explained there.

    One operation at a time: a second one while another is under way fails at once with `InterfaceError`. Several
    cursors may have rows left to fetch, though.
    """

    Warning = err.Warning
    Error = err.Error
    InterfaceError = err.InterfaceError
    DatabaseError = err.DatabaseError
    DataError = err.DataError
    OperationalError = err.OperationalError
    IntegrityError = err.IntegrityError
    InternalError = err.InternalError
    ProgrammingError = err.ProgrammingError
    NotSupportedError = err.NotSupportedError

    def __init__(self, settings: Settings) -> None:
        #: How the connection was asked for.
        self.settings = settings
        #: What rows of new cursors look like; see `rowferry.informix.rows`.
        self.row_factory = settings.row_factory
        self._autocommit = settings.autocommit
        self._wire: Wire | None = None

    # -- life --------------------------------------------------------------------------------------------------------

    @property
    def wire(self) -> Wire:
        """The Rust half; `InterfaceError` when the connection is closed."""
        wire = self._wire
        if wire is None:
            raise err.InterfaceError("the connection is closed")
        return wire

    def connect(self) -> Connection:
        """Connect with the parameters that the connection was made with, also again after `close`."""
        settings = self.settings
        wire, place = self._login(settings)
        if place is not None:
            # One redirection is followed; `place` is server=host|port.
            _, _, address = place.partition("=")
            host, _, port = address.strip("\0").partition("|")
            if not port.isdigit():
                raise err.OperationalError(f"the server redirects to {place!r}, which is no address")
            there = Settings(**{**settings.__dict__, "host": host, "port": int(port)})
            wire, place = self._login(there)
            if place is not None:
                raise err.OperationalError("the server redirects a second time")
        self._wire = wire
        return self

    def _login(self, settings: Settings) -> tuple[Wire, str | None]:
        wire = Wire(settings)
        place = wire.login()
        return wire, place

    def close(self) -> None:
        """Say good bye and close; what was not committed is rolled back. Harmless when closed already."""
        wire, self._wire = self._wire, None
        if wire is not None:
            wire.quit()

    def _abort(self) -> None:
        wire, self._wire = self._wire, None
        if wire is not None:
            wire.abort()

    @property
    def closed(self) -> bool:
        """True once the connection cannot be used any more."""
        return self._wire is None or not self._wire.is_open

    def __enter__(self) -> Connection:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def __del__(self) -> None:
        wire = self.__dict__.get("_wire")
        if wire is not None and wire.is_open:
            warnings.warn(f"unclosed connection {self!r}", ResourceWarning, source=self, stacklevel=2)
            with contextlib.suppress(Exception):
                wire.abort()

    def __repr__(self) -> str:
        state = "closed" if self.closed else "open"
        return f"<{type(self).__name__} {state} {self.settings.place}>"

    # -- operations --------------------------------------------------------------------------------------------------

    def _answer(self, answer: Any, sql: str | None = None) -> Any:
        """Wait for an operation of the wire. Whoever is cancelled meanwhile leaves the connection usable or closed."""
        return answer

    def interrupt(self) -> None:
        """Interrupt the statement under way on the server, which then fails with -213. From another thread or task."""
        if self._wire is not None:
            self._wire.interrupt()

    def execute_on_wire(self, sql: str, parameters: Any) -> QueryResult:
        """Run a statement as `Cursor.execute` does."""
        wire = self.wire
        try:
            answer = wire.execute(sql, parameters, not self._autocommit)
        except err.Error as error:
            error.sql = sql
            raise
        result: QueryResult = self._answer(answer, sql)
        return result

    def execute_many_on_wire(self, sql: str, rows: Any) -> QueryResult:
        """Run a statement as `Cursor.executemany` does."""
        wire = self.wire
        try:
            answer = wire.execute_many(sql, rows, not self._autocommit)
        except err.Error as error:
            error.sql = sql
            raise
        result: QueryResult = self._answer(answer, sql)
        return result

    def fetch_on_wire(self, result: QueryResult) -> QueryResult:
        """The next rows of a cursor."""
        following: QueryResult = self._answer(self.wire.fetch(result))
        return following

    def discard_on_wire(self, result: QueryResult) -> None:
        """Nobody will fetch from this cursor any more."""
        if self._wire is not None:
            self._wire.discard(result)

    # -- cursors -----------------------------------------------------------------------------------------------------

    def cursor(self, *, scrollable: bool = False) -> Cursor:
        """A new cursor. With `scrollable` its rows can be visited in any order; they are kept in memory."""
        if self._wire is None:
            raise err.InterfaceError("the connection is closed")
        return Cursor(self, scrollable=scrollable)

    def execute(self, sql: str, parameters: Any = None) -> Cursor:
        """Run a statement on a cursor of its own."""
        cursor = self.cursor()
        cursor.execute(sql, parameters)
        return cursor

    # -- transactions ------------------------------------------------------------------------------------------------

    @property
    def autocommit(self) -> bool:
        """True when every statement commits by itself. May be changed between transactions."""
        return self._autocommit

    @autocommit.setter
    def autocommit(self, value: bool) -> None:
        if self._wire is not None and self._wire.in_transaction and bool(value) != self._autocommit:
            raise err.ProgrammingError("commit or roll back before you change autocommit")
        self._autocommit = bool(value)

    @property
    def in_transaction(self) -> bool:
        """True while a transaction is under way: begun by the first statement, by `begin` or by BEGIN WORK."""
        return self.wire.in_transaction

    def begin(self) -> None:
        """Begin a transaction at once; with `autocommit` off the first statement does so by itself."""
        self._answer(self.wire.begin())

    def commit(self) -> None:
        """Commit. Nothing happens when no transaction is under way, or the database has none."""
        if self.wire.in_transaction:
            self._answer(self.wire.commit())

    def rollback(self) -> None:
        """Roll back. Nothing happens when no transaction is under way, or the database has none."""
        if self.wire.in_transaction:
            self._answer(self.wire.rollback())

    def set_savepoint(self, name: str) -> None:
        """Set a savepoint in the transaction under way."""
        self._answer(self.wire.set_savepoint(name))

    def rollback_to_savepoint(self, name: str) -> None:
        """Undo what was done since the savepoint."""
        self._answer(self.wire.rollback_to_savepoint(name))

    def release_savepoint(self, name: str) -> None:
        """Forget a savepoint."""
        self._answer(self.wire.release_savepoint(name))

    # -- the server --------------------------------------------------------------------------------------------------

    def ping(self) -> None:
        """Ask whether the server is there."""
        self._answer(self.wire.ping())

    @property
    def encoding(self) -> str:
        """Python's codec for the code set of `client_locale`."""
        return self.settings.encoding

    @property
    def server_version_internal(self) -> str:
        """The version as the login has it: an internal number, not that of the release."""
        return self.wire.server_version

    @property
    def server_version(self) -> str:
        """The version of the server's release; asks the server."""
        cursor = self.execute("SELECT FIRST 1 DBINFO('version','full') FROM systables")
        row = cursor.fetchone()
        cursor.close()
        return str(row[0]).strip() if row and row[0] else ""

    @property
    def capabilities(self) -> bytes:
        """What both sides can do, as the protocol's mask."""
        return bytes(self.wire.capabilities)

    @property
    def tls_description(self) -> str | None:
        """The TLS version and cipher; None in plain text."""
        return self.wire.tls_description


def _connect(*args: Any, **parameters: Any) -> Connection:
    return Connection(settings_for(*args, **parameters)).connect()


def connect(*args: Any, **parameters: Any) -> Connection:
    """Connect to `host` and `port`, or to a URL: `informix://user:password@host:port/database?server=NAME`.

    `user`, `password`: the login, in clear text unless `tls` is on.
    `database`: opened at once; None opens none.
    `server`: the DBSERVERNAME by which the listener knows itself.
    `autocommit`: False begins a transaction with the first statement, True lets each commit by itself.
    `connect_timeout`, `read_timeout`, `write_timeout`: seconds; None waits for ever.
    `keepalive`: have the operating system watch an idle connection.
    `client_locale`: language and code set of this client; `en_US.utf8` for all of Unicode.
    `env`: more environment variables for the session.
    `row_factory`: None for tuples, `Row`, `dict`, or a function from names to a function from tuples.
    `tls`: False, True (encrypted, not verified), "verify_ca", "verify_identity", or an `ssl.SSLContext`, of which
    authorities and checks are taken. Informix has ports of its own for TLS.
    `tls_ca`: a file of authorities. `tls_server_hostname`: what the certificate is issued for.
    `fetch_bytes`: bytes of rows in one fetch. `statement_cache_size`: statements kept prepared.
    `challenge`: a function `(style, question) -> answer` for servers with PAM.
    """
    return _connect(*args, **parameters)
