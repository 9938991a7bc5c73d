"""A connection to an Informix server."""

from __future__ import annotations

import asyncio
import contextlib
import warnings
import weakref
from types import TracebackType
from typing import TYPE_CHECKING, Any

from ... import exceptions as err
from ..._base.awaitable import Entering
from ..._base.records import replace
from ..._core.informix import AsyncWire, QueryResult
from .._capabilities import ServerCapabilities
from .._files import ClientFiles
from .._places import Place, is_elsewhere, redirection
from .._settings import Settings, settings_for
from .._values import BlobLocator, ClobLocator
from .cursors import AsyncCursor
from .lobs import AsyncLargeObject
from .transactions import Transactional

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from .._options import ConnectOptions

__all__ = ["AsyncConnection", "connect"]

#: A statement that was cancelled gets this long, in seconds, to end before its connection is closed.
CANCEL_GRACE = 5.0

#: PAM's styles: a prompt whose answer is not shown, and two texts that ask for nothing. 2 is a prompt like any other.
PAM_PROMPT_HIDDEN = 1
PAM_ERROR_TEXT = 3
PAM_INFO_TEXT = 4
#: The longest answer, in bytes.
PAM_ANSWER_LIMIT = 512

#: The code of a database that is not there, and the one that always is.
NO_SUCH_DATABASE = -329
SYSMASTER = b"sysmaster"
#: How many databases an error names.
MOST_SUGGESTED = 12

#: Errors that mean: this routine is not what it was, or not there any more.
STALE_ROUTINE = (-674, -673, -9700)

if True:  # ASYNC

    class _Protocol(AsyncWire, asyncio.BufferedProtocol):
        """The Rust core as what asyncio reads into."""


class AsyncConnection(Transactional):
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
        self._wire: AsyncWire | None = None
        self._server_version: str | None = None
        if True:  # ASYNC
            #: The event loop of the transport.
            self._loop: asyncio.AbstractEventLoop | None = None
        # For `reset`: those that somebody still holds; None before the first.
        self._cursors: weakref.WeakSet[AsyncCursor] | None = None
        self._begin_session()
        #: Database and handle of routines, by signature.
        self._fp_handle_cache: dict[str, tuple[str, int]] = {}

    # -- life --------------------------------------------------------------------------------------------------------

    @property
    def wire(self) -> AsyncWire:
        """The Rust half; `InterfaceError` when the connection is closed."""
        wire = self._wire
        if wire is None:
            raise err.InterfaceError("the connection is closed")
        return wire

    async def connect(self) -> AsyncConnection:
        """Connect with the parameters that the connection was made with, also again after `close`."""
        failures: list[tuple[Place, err.Error]] = []
        places = self.settings.in_turn()
        for place in places:
            try:
                self._wire = await self._enter(self.settings.at(place))
            except err.DatabaseError as error:
                if error.sqlcode == NO_SUCH_DATABASE:
                    await self._suggest_databases(self.settings.at(place), error)
                if len(places) == 1 or not is_elsewhere(error):
                    raise
                failures.append((place, error))
            else:
                try:
                    await self._prepare_session()
                except BaseException:
                    self._abort()
                    raise
                return self
        told = "; ".join(f"{place}: {error}" for place, error in failures)
        raise err.OperationalError(f"none of {len(places)} servers lets us in: {told}") from failures[-1][1]

    async def _suggest_databases(self, settings: Settings, error: err.DatabaseError) -> None:
        """Add to the error which databases there are; the one with the catalog of all is on every server."""
        if settings.database == SYSMASTER:
            return
        asking = type(self)(replace(settings, database=SYSMASTER, autocommit=True, isolation_level=None))
        try:
            asking._wire = await asking._enter(asking.settings)
            rows = await (await asking.execute("SELECT name FROM sysdatabases ORDER BY name")).fetchall()
            await asking.close()
        except err.Error:
            asking._abort()
            # What was to be told is told.
            return
        names = [str(name).strip() for (name,) in rows]
        names = [name for name in names if not name.startswith("sys")][:MOST_SUGGESTED]
        if names:
            error.args = (f"{error.args[0]}; this server has {', '.join(names)}", *error.args[1:])

    async def _enter(self, settings: Settings) -> AsyncWire:
        """Log in at one place, or where that one sends us. One redirection is followed."""
        wire, detail = await self._login(settings)
        if detail is not None:
            wire, detail = await self._login(settings.at(redirection(detail)))
            if detail is not None:
                raise err.OperationalError(f"the server redirects a second time, to {detail!r}")
        return wire

    async def _login(self, settings: Settings) -> tuple[AsyncWire, str | None]:
        if True:  # ASYNC
            try:
                return await asyncio.wait_for(self._open(settings), settings.connect_timeout)
            except asyncio.TimeoutError:
                raise err.OperationalError(f"cannot connect to {settings.place}: timed out") from None
        else:
            return await self._open(settings)

    async def _open(self, settings: Settings) -> tuple[AsyncWire, str | None]:
        wire = await self._reach(settings)
        try:
            return wire, await self._log_in(wire, settings)
        except err.Error:
            if not wire.is_displaced:
                raise
        # Another server may have taken the place of the one that was known: it is sent one thing after the other.
        settings = replace(settings, early=False)
        wire = await self._reach(settings)
        return wire, await self._log_in(wire, settings)

    async def _reach(self, settings: Settings) -> AsyncWire:
        if True:  # ASYNC
            loop = self._loop = asyncio.get_running_loop()

            # Before the socket, which nobody would close when this fails.
            wire = _Protocol(settings, loop)
            try:
                await loop.create_connection(lambda: wire, settings.host, settings.port)
            except OSError as error:
                raise err.OperationalError(f"cannot connect to {settings.place}: {error}") from error
            return wire
        else:
            # The login opens the socket.
            return AsyncWire(settings)

    async def _log_in(self, wire: AsyncWire, settings: Settings) -> str | None:
        """Wait for the end of the login, and answer what is asked meanwhile; yields where the server sends us."""
        try:
            outcome = await wire.login()
            while isinstance(outcome, tuple):
                outcome = await wire.answer(await self._answer_to(settings, *outcome))
            return outcome
        except BaseException:
            wire.abort()
            raise

    async def _answer_to(self, settings: Settings, style: int, question: str) -> bytes | None:
        """What to say to a question of PAM; None for what is no question."""
        if settings.challenge is None:
            if style in (PAM_ERROR_TEXT, PAM_INFO_TEXT):
                return None
            if style == PAM_PROMPT_HIDDEN:
                return settings.password
            raise err.OperationalError(f"the server asks {question!r}; connect with `challenge=` to answer")
        answer = settings.challenge(style, question)
        if True:  # ASYNC
            import inspect

            if inspect.isawaitable(answer):
                answer = await answer
        if style in (PAM_ERROR_TEXT, PAM_INFO_TEXT):
            return None
        if not isinstance(answer, str):
            raise err.InterfaceError(f"`challenge` answered {type(answer).__name__}, not str")
        try:
            encoded = answer.encode(settings.encoding)
        except UnicodeEncodeError as error:
            raise err.DataError(f"the answer to {question!r} does not fit client_locale: {error.reason}") from None
        if len(encoded) > PAM_ANSWER_LIMIT:
            raise err.DataError(f"the answer to {question!r} has more than {PAM_ANSWER_LIMIT} bytes")
        return encoded

    async def close(self) -> None:
        """Say good bye and close; what was not committed is rolled back. Harmless when closed already."""
        await self._commit_at_the_end()
        wire, self._wire = self._wire, None
        if wire is not None:
            if True:  # ASYNC
                if self._loop is not None and self._loop.is_closed():
                    # It would have to run the transport's clean-up.
                    wire.abort()
                    return
                try:
                    await asyncio.wait_for(wire.quit(), CANCEL_GRACE)
                except BaseException as failure:
                    wire.abort()
                    if not isinstance(failure, asyncio.TimeoutError):
                        raise
            else:
                wire.quit()

    async def _commit_at_the_end(self) -> None:
        """What queries did with autocommit on, in ANSI mode."""
        wire = self._wire
        if not self._autocommit or wire is None or not wire.is_open or wire.is_busy:
            return
        if True:  # ASYNC
            if self._loop is not None and self._loop.is_closed():
                return
        with contextlib.suppress(err.Error):
            await self._commit_by_itself()

    def _abort(self) -> None:
        wire, self._wire = self._wire, None
        if wire is not None:
            wire.abort()

    @property
    def closed(self) -> bool:
        """True once the connection cannot be used any more."""
        return self._wire is None or not self._wire.is_open

    async def __aenter__(self) -> AsyncConnection:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.close()

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

    async def _answer(self, answer: Any, sql: str | None = None) -> Any:
        """Wait for an operation of the wire. Whoever is cancelled meanwhile leaves the connection usable or closed."""
        if True:  # ASYNC
            try:
                return await answer
            except err.Error as error:
                error.sql = sql
                raise
            except Exception:
                raise
            except BaseException:
                if answer.done() and not answer.cancelled() and answer.exception() is None:
                    # It came in the very moment of the cancelling; nobody will read on.
                    result = answer.result()
                    if isinstance(result, QueryResult) and result.open:
                        self.discard_on_wire(result)
                await self._give_up()
                raise
        else:
            return answer

    if True:  # ASYNC

        async def _give_up(self) -> None:
            """Stop the statement on the server and read its answer away.

            What does not end within `CANCEL_GRACE` seconds costs the connection; it is never left half-read.
            """
            wire = self._wire
            if wire is None or not wire.is_open or not wire.is_busy:
                return
            try:
                await asyncio.wait_for(self._interrupt_and_drain(wire), CANCEL_GRACE)
            except BaseException as failure:
                self._abort()
                if not isinstance(failure, Exception):
                    raise

        async def _interrupt_and_drain(self, wire: AsyncWire) -> None:
            drained = wire.drain()
            # Most statements are over before an interrupt would reach them.
            await asyncio.wait((drained,), timeout=0.005)
            if not drained.done():
                wire.interrupt()
                await drained
                # The interrupt may have come too late for its statement: then it hits this one.
                with contextlib.suppress(err.DatabaseError):
                    await wire.ping()
            await drained

    else:

        def fileno(self) -> int:
            """Return the descriptor of the socket, to watch it with `select` or to ask the system about it.

            Nothing comes on it while no operation is under way but the end of the connection.
            """
            if self._wire is None or not self._wire.is_open:
                raise err.InterfaceError("the connection is closed")
            return self._wire.fileno()

    def interrupt(self) -> None:
        """Interrupt the statement under way on the server, which then fails with -213. From another thread or task."""
        if self._wire is not None:
            self._wire.interrupt()

    async def execute_on_wire(
        self,
        sql: str,
        parameters: Any,
        *,
        scroll: bool = False,
        hold: bool = False,
        name: str | None = None,
        files: ClientFiles | None = None,
        query: bool = False,
    ) -> QueryResult:
        """Run a statement as `AsyncCursor.execute` does. With `query`, one that returns no rows is refused."""
        wire = self.wire
        try:
            begin = not self._autocommit
            answer = wire.execute(sql, parameters, begin, scroll=scroll, hold=hold, name=name, files=files, query=query)
        except err.Error as error:
            error.sql = sql
            raise
        result: QueryResult = await self._answer(answer, sql)
        if result.rows is None:
            self._notice(result)
            if self._autocommit:
                await self._commit_by_itself()
        return result

    async def execute_many_on_wire(
        self, sql: str, rows: Any, *, go_on: int | None = None, files: ClientFiles | None = None
    ) -> QueryResult:
        """Run a statement as `AsyncCursor.executemany` does."""
        wire = self.wire
        try:
            answer = wire.execute_many(sql, rows, not self._autocommit, go_on=go_on, files=files)
            result: QueryResult = await self._answer(answer, sql)
        except err.Error as error:
            error.sql = sql
            # The rows before the one that failed have been carried out.
            if self._autocommit and error.sqlcode is not None and wire.is_open:
                await self._commit_by_itself()
            raise
        if self._autocommit:
            await self._commit_by_itself()
        return result

    async def fetch_on_wire(self, result: QueryResult, files: ClientFiles | None = None) -> QueryResult:
        """The next rows of a cursor."""
        following: QueryResult = await self._answer(self.wire.fetch(result, files))
        return following

    async def fetch_raw_on_wire(self, result: QueryResult) -> QueryResult:
        """The next rows of a cursor, for Arrow."""
        following: QueryResult = await self._answer(self.wire.fetch_raw(result))
        return following

    def abort_on_wire(self) -> None:
        """Close without a word: what the server says can no longer be understood."""
        if self._wire is not None:
            self._wire.abort()

    async def scroll_on_wire(self, result: QueryResult, row: int | None, count: int = 1) -> QueryResult:
        """Up to `count` rows of a scroll cursor, from this number (from 1) on; None is the last row."""
        rows: QueryResult = await self._answer(self.wire.scroll(result, row, count))
        return rows

    def discard_on_wire(self, result: QueryResult) -> None:
        """Nobody will fetch from this cursor any more."""
        if self._wire is not None:
            self._wire.discard(result)

    # -- cursors -----------------------------------------------------------------------------------------------------

    def cursor(self, *, scrollable: bool = False, hold: bool = False, name: str | None = None) -> AsyncCursor:
        """A new cursor.

        With `scrollable` its rows can be visited in any order; the server keeps them. With `hold` its rows can be
        fetched after the end of the transaction, too. `name` is for UPDATE and DELETE … WHERE CURRENT OF it: such a
        cursor fetches row by row, and its current row is the one fetched last.
        """
        if self._wire is None:
            raise err.InterfaceError("the connection is closed")
        if scrollable and name is not None:
            raise err.NotSupportedError("rows of a scroll cursor cannot be changed by its name")
        cursor = AsyncCursor(self, scrollable=scrollable, hold=hold, name=name)
        if self._cursors is None:
            self._cursors = weakref.WeakSet()
        self._cursors.add(cursor)
        return cursor

    async def execute(self, sql: str, parameters: Any = None) -> AsyncCursor:
        """Run a statement on a cursor of its own."""
        cursor = self.cursor()
        await cursor.execute(sql, parameters)
        return cursor

    # -- routines and large objects ----------------------------------------------------------------------------------

    async def fast_path_call(self, signature: str, *params: Any) -> list[Any]:
        """Call a routine of the server without SQL, by a signature such as `function informix.ifx_lo_close(integer)`.

        Values are bound by the types of the signature. Answers what the routine returns: its OUT parameters, then its
        result. The handle is remembered for the next call.
        """
        routine = self._fp_handle_cache.get(signature)
        if routine is None:
            routine = await self._answer(self.wire.find_routine(signature))
            self._fp_handle_cache[signature] = routine
        database, handle = routine
        answer = self.wire.call_routine(signature, database, handle, params, not self._autocommit)
        try:
            returned: list[Any] = await self._answer(answer)
        except err.Error as error:
            if error.sqlcode in STALE_ROUTINE:
                self._fp_handle_cache.pop(signature, None)
            raise
        return returned

    async def open_lob(self, locator: BlobLocator | ClobLocator, mode: str = "rb") -> AsyncLargeObject:
        """Open a BLOB or CLOB to be read (`rb`) or changed (`r+b`) piece by piece."""
        return await AsyncLargeObject.open(self, locator, mode)

    async def create_lob(self, column: str, *, clob: bool = False) -> AsyncLargeObject:
        """Make an empty BLOB (or CLOB) with the storage options of `column`, named `table.column`, and open it.

        Write it, close it, and store its `locator` as the value of the column.
        """
        return await AsyncLargeObject.create(self, column, clob=clob)

    async def reset(self) -> None:
        """Make the session as good as new, as pools do: whatever is open is rolled back, cursors are closed.

        Autocommit, row factory, isolation level and lock mode are as they were at the beginning again. What else a
        session has stays: temporary tables, roles, environment.
        """
        for cursor in list(self._cursors or ()):
            await cursor.close()
        self._cursors = None
        self.row_factory = self.settings.row_factory
        await self._restore_session()

    # -- the server --------------------------------------------------------------------------------------------------

    async def ping(self) -> None:
        """Ask whether the server is there."""
        await self._answer(self.wire.ping())

    @property
    def encoding(self) -> str:
        """Python's codec for the code set of `client_locale`."""
        return self.settings.encoding

    @property
    def server_version_internal(self) -> str:
        """The version as the login has it: an internal number, not that of the release."""
        return self.wire.server_version

    if True:  # ASYNC

        async def fetch_server_version(self) -> str:
            """The version of the server's release; asks the server the first time."""
            return await self._ask_server_version()

    else:

        @property
        def server_version(self) -> str:
            """The version of the server's release; asks the server the first time."""
            return self._ask_server_version()

    async def _ask_server_version(self) -> str:
        if self._server_version is None:
            try:
                cursor = await self.execute("SELECT FIRST 1 DBINFO('version','full') FROM systables")
                row = await cursor.fetchone()
                await cursor.close()
            except err.DatabaseError as error:
                if self.closed or error.sqlcode is None:
                    raise
                # Without a database there is nobody to ask.
                return self.server_version_internal
            self._server_version = str(row[0]).strip() if row and row[0] else self.server_version_internal
        return self._server_version

    @property
    def server_capabilities(self) -> ServerCapabilities:
        """What the server can do, and what was negotiated."""
        wire = self.wire
        return ServerCapabilities(bytes(wire.server_capabilities), bytes(wire.capabilities), wire.server_version)

    @property
    def capabilities(self) -> bytes:
        """What both sides can do, as the protocol's mask."""
        return bytes(self.wire.capabilities)

    @property
    def tls_description(self) -> str | None:
        """The TLS version and cipher; None in plain text."""
        return self.wire.tls_description


async def _connect(host: str | None, port: int | None, parameters: ConnectOptions) -> AsyncConnection:
    return await AsyncConnection(settings_for(host, port, **parameters)).connect()


if True:  # ASYNC

    def connect(
        host: str | None = None, port: int | None = None, **parameters: Unpack[ConnectOptions]
    ) -> Entering[AsyncConnection]:
        """Connect: `connection = await connect(…)` or `async with connect(…) as connection`.

        The parameters are those of `rowferry.informix.connect`.
        """
        return Entering(_connect(host, port, parameters), AsyncConnection.close)

else:

    def connect(
        host: str | None = None, port: int | None = None, **parameters: Unpack[ConnectOptions]
    ) -> AsyncConnection:
        """Connect to `host` and `port`, or to a URL: `informix://user:password@host:port/database?server=NAME`.

        `gbase8s://…` is for GBase 8s, which speaks the same protocol; the URLs of JDBC are taken, too.

        `user`, `password`: the login, in clear text unless `tls` is on.
        `database`: opened at once; None opens none.
        `server`: the DBSERVERNAME by which the listener knows itself; by default what INFORMIXSERVER or GBASEDBTSERVER
        says, else `informix`.
        `autocommit`: False begins a transaction with the first statement, True lets each commit by itself.
        `connect_timeout`, `read_timeout`, `write_timeout`: seconds; None waits for ever.
        `keepalive`: have the operating system watch an idle connection.
        `client_locale`: language and code set of this client; `en_US.utf8` for all of Unicode.
        `env`: more environment variables for the session.
        `row_factory`: None for tuples, `Row`, `dict`, or a function from names to a function from tuples.
        `tls`: False, True (encrypted, not verified), "verify_ca", "verify_identity", or an `ssl.SSLContext`, of which
        authorities and checks are taken. Informix has ports of its own for TLS.
        `tls_ca`: a file of authorities. `tls_server_hostname`: what the certificate is issued for, by default the host.
        `tls_certificate`, `tls_key`: files with our own certificate and its key, for servers that ask for one.
        `hosts`: several servers, as "host:port,host:port" or a list, tried in this order until one lets us in; with
        `load_balance_hosts` in random order. Each has `connect_timeout` of its own.
        `sqlhosts`: a file in which `server` names a line or a group; True reads the one of INFORMIXSQLHOSTS, or of
        GBASEDBTSQLHOSTS.
        `fetch_bytes`: bytes of rows in one fetch. `statement_cache_size`: statements kept prepared.
        `challenge`: a function `(style, question) -> answer` for servers with PAM, under asyncio perhaps a coroutine
        function. The styles are 1 (do not show the answer), 2 (show it), 3 and 4 (an error, an information: nothing is
        asked). Without it, what is asked in style 1 is answered by the password.
        """
        return _connect(host, port, parameters)
