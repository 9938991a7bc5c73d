"""A connection to a MySQL or MariaDB server."""

from __future__ import annotations

import asyncio
import contextlib
import warnings
from collections import OrderedDict
from collections.abc import Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypeVar, overload

from ..._base.awaitable import Entering
from ..._base.limits import Limit
from ..._core.mysql import AsyncWire, Prepared, QueryResult
from .. import converters, err
from .._checks import check_class
from .._facts import Facts
from .._settings import Settings, given, over_socket, settings_from
from ..constants import CR
from ._cancel import Protocol, end, end_stream
from .cursors import ROWS_LOST, AsyncCursor
from .session import Sessional
from .statements import AsyncPreparedStatement
from .transactions import Transactional

if TYPE_CHECKING:
    import socket

    from typing_extensions import Unpack

    from .._options import ConnectOptions

__all__ = ["AsyncConnection", "AsyncPreparedStatement", "connect"]

K = TypeVar("K", bound=AsyncCursor[Any])

# Values that only text can carry, as a parenthesised list.
_COLLECTIONS = (list, tuple, set, frozenset)
# A node of a cluster that has lost the others; a server that reads only, by one of two of its options.
_ELSEWHERE = frozenset((1047, 1290, 1836))
# Errors after which another host may do: not reached, lost, too many connections, shutting down, host blocked.
_TRY_THE_NEXT = _ELSEWHERE.union(
    (CR.CR_CONNECTION_ERROR, CR.CR_CONN_HOST_ERROR, CR.CR_UNKNOWN_HOST, CR.CR_SERVER_LOST, 1040, 1053, 1129)
)
# "This command is not supported in the prepared statement protocol yet"; a syntax error, as several statements are.
_NOT_PREPARABLE = frozenset((1064, 1295))
# "Can't create more than max_prepared_stmt_count statements".
_TOO_MANY_PREPARED = 1461


def _is_plain(args: Any) -> bool:
    """Whether `args` can be the values of a prepared statement."""
    if isinstance(args, dict):
        args = tuple(args.values())
    values = args if isinstance(args, (tuple, list)) else (args,)
    return not any(isinstance(value, _COLLECTIONS) for value in values)


class AsyncConnection(Sessional, Transactional, Facts):
    """A session with a server. Made by `connect`, whose parameters are explained there.

    One operation at a time: a second one while another is under way fails at once with `InterfaceError`.
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

    def __init__(self, *args: Any, **parameters: Any) -> None:
        """Of settings, or of what `connect` takes; then a blocking one connects, unless `defer_connect` is true."""
        defer_connect, sock = parameters.pop("defer_connect", False), parameters.pop("sock", None)
        cursorclass = parameters.pop("cursorclass", None)
        cursorclass = parameters.pop("cursor_cls", None) or cursorclass or AsyncCursor
        check_class("cursorclass", cursorclass)
        ready = bool(args) and isinstance(args[0], Settings)
        settings: Settings = args[0] if ready else settings_from(*args, **parameters)
        #: How the connection was asked for; with several hosts, `connect` puts the one in that it has reached.
        self.settings = settings
        self._choices = settings.each_place()
        #: What `cursor()` makes.
        self.cursorclass = cursorclass
        self._wire: AsyncWire | None = None
        #: The server has said that another one of several would do what it does not: pools replace such a connection.
        self.misplaced = False
        self._statements: OrderedDict[Any, Prepared | None] = OrderedDict()
        #: Statements with parameters are prepared once and kept.
        self.caches_statements = settings.statement_cache_size > 0
        #: The result of the last statement, of whichever cursor.
        self.last_result: QueryResult | None = None
        self._autocommit = settings.autocommit
        self._query_attributes: dict[str, Any] = {}
        self._said_bye = False
        # Connected by the first `connect` that does not say which.
        self._given_socket: socket.socket | None = sock
        #: What rows of new cursors look like; see `AsyncCursor.row_factory`.
        self.row_factory = settings.row_factory
        if True:  # ASYNC
            pass
        else:
            if not ready and not defer_connect:
                self.connect()

    # -- life --------------------------------------------------------------------------------------------------------

    @property
    def wire(self) -> AsyncWire:
        """The Rust half; `InterfaceError` when the connection is closed."""
        wire = self._wire
        if wire is None:
            raise err.InterfaceError(0, "the connection is closed")
        return wire

    async def connect(self, sock: socket.socket | None = None) -> AsyncConnection:
        """Connect with the parameters that the connection was made with, also again after `close`.

        With `sock`, a connected socket, over that one. It is duplicated: close yours when you like.
        """
        self._said_bye = False
        sock = sock or self._given_socket
        if sock is not None:
            self._given_socket = None
            await self._connect_over(sock)
            return self
        self.misplaced = False
        choices = self._choices
        if self.settings.load_balance_hosts:
            import random

            choices = random.sample(choices, len(choices))
        failures: dict[str, err.OperationalError] = {}
        targets = self.settings.targets
        for at, reads_only in enumerate(targets, 1):
            if await self._connect_to(choices, reads_only, failures, at == len(targets)):
                break
        else:
            reasons = "; ".join(f"{place}: {error.args[-1]}" for place, error in failures.items())
            message = f"Can't connect to any MySQL server ({reasons})"
            raise err.OperationalError(CR.CR_CONN_HOST_ERROR, message, errno=CR.CR_CONN_HOST_ERROR)
        self._statements.clear()
        try:
            if self._query_attributes:
                self.query_attributes = self._query_attributes
            await self._prepare_session()
        except BaseException:
            self._abort()
            raise
        return self

    async def _connect_to(
        self, choices: list[Settings], reads_only: bool | None, failures: dict[str, err.OperationalError], last: bool
    ) -> bool:
        """Connect to the first of the servers that can be had and is as wanted; notes what was wrong with others."""
        for settings in choices:
            try:
                self._wire = wire = await self._reach(settings)
                self.settings = settings
                await self._check_state(wire, reads_only)
                return True
            except err.OperationalError as error:
                self._abort()
                if (last and len(choices) == 1) or error.errno not in _TRY_THE_NEXT:
                    raise
                failures[f"{settings.host}:{settings.port}"] = error
            except BaseException:
                self._abort()
                raise
        return False

    async def _check_state(self, wire: AsyncWire, reads_only: bool | None) -> None:
        """`OperationalError` for a server that is not as it should be, or, of several, for one that serves nobody."""
        if len(self._choices) > 1 and "MariaDB" in wire.server_version:
            # A node of Galera's that has lost the others lets everybody in, and does nothing for them; not even this.
            await wire.query("DO 0")
        if reads_only is None:
            return
        # A number; in new versions of MariaDB's a word.
        result = await wire.query("SELECT CAST(@@global.read_only AS CHAR)")
        found = result.rows[0][0] if result.rows else None
        state = (found.decode() if isinstance(found, bytes) else found) not in ("0", "OFF")
        if state != reads_only:
            raise err.OperationalError(1290, "it reads only" if state else "it does not read only", errno=1290)

    async def _connect_over(self, sock: socket.socket) -> None:
        import socket

        if not isinstance(sock, socket.socket):
            raise err.InterfaceError(0, f"a connection goes over a socket.socket, not over {type(sock).__name__}")
        settings = over_socket(self.settings, sock)
        self._put_password(settings)
        self._wire = await self._login(settings, sock.dup())
        self.settings = settings
        self._statements.clear()
        try:
            await self._prepare_session()
        except BaseException:
            self._abort()
            raise

    def _put_password(self, settings: Settings) -> None:
        if settings.password_creator is not None:
            password = settings.password_creator()
            settings.password = password.encode() if isinstance(password, str) else password

    async def _reach(self, settings: Settings) -> AsyncWire:
        """Connect to one server."""
        self._put_password(settings)
        try:
            return await self._login(settings)
        except err.OperationalError as error:
            if settings.tls_mode != "PREFERRED" or error.errno not in (CR.CR_SSL_CONNECTION_ERROR, CR.CR_SERVER_LOST):
                raise
            # Proxies advertise TLS and then refuse it; who only prefers TLS goes on without.
            return await self._login(settings.without_tls())

    async def _login(self, settings: Settings, sock: socket.socket | None = None) -> AsyncWire:
        if True:  # ASYNC
            try:
                async with Limit(settings.connect_timeout):
                    return await self._open(settings, sock)
            except asyncio.TimeoutError:
                message = f"Can't connect to MySQL server on {settings.place!r} (timed out)"
                raise err.OperationalError(CR.CR_CONN_HOST_ERROR, message, errno=CR.CR_CONN_HOST_ERROR) from None
        else:
            wire = AsyncWire(settings)
            wire.login(None if sock is None else sock.detach())
            return wire

    if True:  # ASYNC

        async def _open(self, settings: Settings, sock: socket.socket | None = None) -> AsyncWire:
            loop = asyncio.get_running_loop()

            def protocol() -> AsyncWire:
                wire = Protocol(settings, loop)
                wire.settings = settings
                return wire

            wire: AsyncWire
            try:
                if sock is not None:
                    sock.setblocking(False)
                    _, wire = await loop.create_connection(protocol, sock=sock)  # type: ignore[type-var]
                elif settings.unix_socket:
                    _, wire = await loop.create_unix_connection(protocol, settings.unix_socket)  # type: ignore[type-var]
                else:
                    local = (settings.bind_address, 0) if settings.bind_address else None
                    _, wire = await loop.create_connection(  # type: ignore[type-var]
                        protocol,
                        settings.host,
                        settings.port,
                        local_addr=local,
                    )
            except OSError as error:
                message = f"Can't connect to MySQL server on {settings.place!r} ({error})"
                raise err.OperationalError(CR.CR_CONN_HOST_ERROR, message, errno=CR.CR_CONN_HOST_ERROR) from error
            try:
                await wire.login()
            except BaseException:
                wire.abort()
                raise
            return wire

    if True:  # ASYNC

        def close(self) -> None:
            """Close the socket at once. `ensure_closed` says good bye first."""
            self._abort()

    else:

        async def close(self) -> None:
            """Say good bye and close. A second time is an error, as with PyMySQL and MySQLdb."""
            if self._said_bye:
                raise err.InterfaceError(0, "the connection is closed already")
            self._said_bye = True
            await self.ensure_closed()

    async def ensure_closed(self) -> None:
        """Say good bye and close. Harmless when the connection is closed already."""
        wire, self._wire = self._wire, None
        if wire is not None:
            await wire.quit()

    def _abort(self) -> None:
        wire, self._wire = self._wire, None
        if wire is not None:
            wire.abort()

    @property
    def open(self) -> bool:
        """True while the connection can be used."""
        return self._wire is not None and self._wire.is_open

    @property
    def closed(self) -> bool:
        """True once the connection cannot be used any more."""
        return not self.open

    @property
    def connected(self) -> bool:
        """True while the connection can be used."""
        return self.open

    @property
    def encoders(self) -> dict[type, Any]:
        """What spells the literals of each Python type: those of `conv`, or the ordinary ones. A copy."""
        conv = converters.encoders if self.settings.conv is None else self.settings.conv
        return {key: function for key, function in conv.items() if isinstance(key, type)}

    @property
    def decoders(self) -> dict[int, Any]:
        """What makes Python objects of each type code: those of `conv`, or the ordinary ones. A copy."""
        conv = converters.decoders if self.settings.conv is None else self.settings.conv
        return {key: function for key, function in conv.items() if isinstance(key, int)}

    async def __aenter__(self) -> AsyncConnection:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.ensure_closed()

    def __del__(self) -> None:
        wire = self.__dict__.get("_wire")
        if wire is not None and wire.is_open:
            warnings.warn(f"unclosed connection {self!r}", ResourceWarning, source=self, stacklevel=2)
            with contextlib.suppress(Exception):
                wire.abort()

    def __repr__(self) -> str:
        state = "open" if self.open else "closed"
        return f"<{type(self).__name__} {state} {self.settings.user}@{self.settings.place}>"

    async def give_up(self) -> None:
        """Whoever waited for an answer was cancelled: stop the statement on the server and read its answer away.

        What does not end within five seconds costs the connection; it is never left half-read.
        """
        await end(self)

    # -- cursors and statements --------------------------------------------------------------------------------------

    @overload
    def cursor(self, cursors: type[K], /) -> K: ...
    @overload
    def cursor(self, *, cursor: type[K]) -> K: ...
    @overload
    def cursor(self, *, cursorclass: type[K]) -> K: ...
    @overload
    def cursor(
        self,
        *cursors: type[AsyncCursor[Any]] | None,
        cursor: type[AsyncCursor[Any]] | None = None,
        cursorclass: type[AsyncCursor[Any]] | None = None,
    ) -> AsyncCursor[Any]: ...

    def cursor(
        self,
        *cursors: type[AsyncCursor[Any]] | None,
        cursor: type[AsyncCursor[Any]] | None = None,
        cursorclass: type[AsyncCursor[Any]] | None = None,
    ) -> AsyncCursor[Any]:
        """A cursor of `cursorclass`, or of the class given; of several classes, of one that inherits from all."""
        if self._wire is None:
            raise err.InterfaceError(0, "the connection is closed")
        chosen = [cls for cls in (*cursors, cursor, cursorclass) if cls is not None]
        if not chosen:
            made = self.cursorclass(self)
        elif len(chosen) == 1:
            made = chosen[0](self)
        else:
            made = type("Cursor", tuple(chosen), {})(self)
        settings = self.settings
        if settings.echo or settings.query_callback is not None:
            # Few want it, and it is what brings `logging` along.
            from .echo import observe

            return observe(made, settings.echo, settings.query_callback)
        return made

    async def query(self, sql: str | bytes, unbuffered: bool = False) -> int:
        """Run SQL as it is and answer how many rows it found or changed."""
        try:
            self.last_result = result = await self.wire.query(sql)
        except err.Error as error:
            if await self.make_room(error):
                return await self.query(sql)
            self.refused(error, sql)
            raise
        except Exception:
            raise
        except BaseException:
            await self.give_up()
            raise
        return result.affected_rows if result.rows is None else len(result.rows)

    def refused(self, error: err.Error, sql: str | bytes) -> None:
        """The server has refused a statement: the error shows it. It may say that this is the wrong server, too."""
        error.sql = sql if isinstance(sql, str) else bytes(sql).decode("utf-8", "replace")
        if error.errno in _ELSEWHERE and len(self._choices) > 1:
            self.misplaced = True

    async def make_room(self, error: err.Error) -> bool:
        """A statement was refused with `error`. True when rows stood in its way that are gone now.

        That is what PyMySQL, aiomysql and asyncmy do. It warns; the cursor of these rows raises when it goes on.
        """
        wire = self._wire
        # The same number with InterfaceError: another operation is under way, and it is not ours to end.
        if error.errno != CR.CR_COMMANDS_OUT_OF_SYNC or not isinstance(error, err.ProgrammingError):
            return False
        if wire is None or not wire.is_streaming:
            return False
        warnings.warn(ROWS_LOST, stacklevel=3)
        self.last_result = None
        try:
            await end_stream(self)
        except Exception:
            raise
        except BaseException:
            await self.give_up()
            raise
        return True

    async def prepare(self, sql: str | bytes) -> AsyncPreparedStatement:
        """Have the server prepare `sql`, with `?` for values."""
        try:
            prepared = await self.wire.prepare(sql)
        except err.Error as error:
            self.refused(error, sql)
            raise
        except Exception:
            raise
        except BaseException:
            await self.give_up()
            raise
        return AsyncPreparedStatement(self, prepared)

    def cached_statement(self, query: Any, args: Any) -> Prepared | None:
        """The prepared statement of `query`, if the cache has one that can take `args`."""
        statements = self._statements
        prepared = statements.get(query)
        if prepared is None:
            return None
        if args.__class__ is tuple or args.__class__ is list:
            for value in args:
                if value.__class__ in _COLLECTIONS:
                    return None
        elif not _is_plain(args):
            return None
        if len(statements) >= self.settings.statement_cache_size:
            statements.move_to_end(query)
        return prepared

    def new_statement(self, query: Any, args: Any) -> Prepared | None:
        """A statement for the cache, which its first execution prepares; None when it, or `args`, can only be text."""
        statements = self._statements
        if query in statements or not _is_plain(args):
            return None
        wire = self.wire
        prepared = statements[query] = wire.statement(query)
        if len(statements) > self.settings.statement_cache_size:
            _, oldest = statements.popitem(last=False)
            if oldest is not None:
                wire.forget(oldest)
        return prepared

    def not_prepared(self, query: Any, error: err.Error) -> bool:
        """The first execution of a statement failed. True when it was not prepared and can go as text instead."""
        prepared = self._statements.get(query)
        if prepared is None or prepared.is_prepared:
            return False
        if error.errno in _NOT_PREPARABLE:
            self._statements[query] = None
            return True
        del self._statements[query]
        return error.errno == _TOO_MANY_PREPARED

    # -- commands ----------------------------------------------------------------------------------------------------

    async def ping(self, reconnect: bool = False) -> None:
        """Ask whether the server is there; `OperationalError` or `InterfaceError` when it is not.

        Only with `reconnect` a lost connection is made again, in a new session.
        """
        if reconnect and not self.open:
            await self.connect()
            return
        try:
            await self.wire.ping()
        except err.Error:
            if not reconnect:
                raise
            self._abort()
            await self.connect()
        except Exception:
            raise
        except BaseException:
            await self.give_up()
            raise

    async def kill(self, thread_id: int) -> None:
        """End another connection."""
        await self.query(f"KILL {int(thread_id)}")

    async def show_warnings(self) -> Sequence[Any]:
        """The warnings of the last statement: level, code and message of each."""
        await self.query("SHOW WARNINGS")
        return self.last_result.rows if self.last_result is not None and self.last_result.rows is not None else ()

    def affected_rows(self) -> int:
        """How many rows the last `query` changed."""
        return 0 if self.last_result is None else self.last_result.affected_rows

    def insert_id(self) -> int:
        """The number that AUTO_INCREMENT gave the last `query`, 0 when none."""
        return 0 if self.last_result is None else self.last_result.insert_id


if True:  # ASYNC

    def connect(
        host: str | Sequence[str] | None = None,
        user: str | None = None,
        password: str | bytes | None = None,
        database: str | None = None,
        port: int = 0,
        **options: Unpack[ConnectOptions],
    ) -> Entering[AsyncConnection]:
        """Connect: `await connect(...)`, or `async with connect(...) as connection`.

        Takes what aiomysql's and asyncmy's `connect` take: `host`, `user`, `password`, `database` (or `db`), `port`,
        `unix_socket`, `charset`, `cursorclass` (or `cursor_cls`), `autocommit`, `init_command`, `connect_timeout`
        (seconds), `ssl`, `conv` and so on. `docs/guide/mysql-moving.md` has them all.
        """
        parameters = given(host, user, password, database, port, options)
        return Entering(_connect(parameters), AsyncConnection.ensure_closed)

    async def _connect(parameters: dict[str, Any]) -> AsyncConnection:
        return await AsyncConnection(**parameters).connect()

else:

    def connect(
        host: str | Sequence[str] | None = None,
        user: str | None = None,
        password: str | bytes | None = None,
        database: str | None = None,
        port: int = 0,
        **options: Unpack[ConnectOptions],
    ) -> AsyncConnection:
        """Connect to a server.

        Takes what PyMySQL's and mysqlclient's `connect` take: `host`, `user`, `password`, `database` (or `db`), `port`,
        `unix_socket`, `charset`, `cursorclass`, `autocommit`, `init_command`, `connect_timeout`, `read_timeout`,
        `write_timeout` (seconds), `ssl`, `ssl_mode`, `conv` and so on. `docs/guide/mysql-moving.md` has them all.
        """
        return AsyncConnection(**given(host, user, password, database, port, options))


# The names that aiomysql and asyncmy give these classes.
if True:  # ASYNC
    Connection = AsyncConnection
    PreparedStatement = AsyncPreparedStatement
