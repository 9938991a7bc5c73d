# Made from python/rowferry/mysql/aio/connection.py by tools/async_to_sync.py: change that file instead.
"""A connection to a MySQL or MariaDB server."""

from __future__ import annotations

import contextlib
import warnings
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Any

from .._core.mysql import Prepared, QueryResult, Wire
from . import converters, err
from ._cancel import end
from ._facts import Facts
from ._settings import Settings, settings_from
from .constants import CR
from .cursors import Cursor
from .session import Sessional
from .statements import PreparedStatement
from .transactions import Transactional

__all__ = ["Connection", "PreparedStatement", "connect"]

ASYNC = False

# Values that only text can carry, as a parenthesised list.
_COLLECTIONS = (list, tuple, set, frozenset)
# Errors after which another host may do: not reached, lost, too many connections, shutting down, host blocked.
_TRY_THE_NEXT = frozenset(
    (CR.CR_CONNECTION_ERROR, CR.CR_CONN_HOST_ERROR, CR.CR_UNKNOWN_HOST, CR.CR_SERVER_LOST, 1040, 1053, 1129)
)
# "This command is not supported in the prepared statement protocol yet"; a syntax error, as several statements are.
_NOT_PREPARABLE = frozenset((1064, 1295))
# "Can't create more than max_prepared_stmt_count statements".
_TOO_MANY_PREPARED = 1461


def _is_plain(args: Any) -> bool:
    """Whether `args` can be the values of a prepared statement."""
    if isinstance(args, Mapping):
        return False
    values = args if isinstance(args, (tuple, list)) else (args,)
    return not any(isinstance(value, _COLLECTIONS) for value in values)


class Connection(Sessional, Transactional, Facts):
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

    def __init__(self, settings: Settings, cursorclass: type[Cursor] = Cursor) -> None:
        #: How the connection was asked for; with several hosts, `connect` puts the one in that it has reached.
        self.settings = settings
        self._choices = settings.each_place()
        #: What `cursor()` makes.
        self.cursorclass = cursorclass
        self._wire: Wire | None = None
        self._statements: OrderedDict[Any, Prepared | None] = OrderedDict()
        #: Statements with parameters are prepared once and kept.
        self.caches_statements = settings.statement_cache_size > 0
        #: The result of the last statement, of whichever cursor.
        self.last_result: QueryResult | None = None
        self._autocommit = settings.autocommit

    # -- life --------------------------------------------------------------------------------------------------------

    @property
    def wire(self) -> Wire:
        """The Rust half; `InterfaceError` when the connection is closed."""
        wire = self._wire
        if wire is None:
            raise err.InterfaceError(0, "the connection is closed")
        return wire

    def connect(self) -> Connection:
        """Connect with the parameters that the connection was made with, also again after `close`."""
        failures = []
        for settings in self._choices:
            try:
                self._wire = self._reach(settings)
                self.settings = settings
                break
            except err.OperationalError as error:
                if len(self._choices) == 1 or error.errno not in _TRY_THE_NEXT:
                    raise
                failures.append((f"{settings.host}:{settings.port}", error))
        else:
            reasons = "; ".join(f"{place}: {error.args[-1]}" for place, error in failures)
            message = f"Can't connect to any MySQL server ({reasons})"
            raise err.OperationalError(CR.CR_CONN_HOST_ERROR, message, errno=CR.CR_CONN_HOST_ERROR)
        self._statements.clear()
        try:
            self._prepare_session()
        except BaseException:
            self._abort()
            raise
        return self

    def _reach(self, settings: Settings) -> Wire:
        """Connect to one server."""
        if settings.password_creator is not None:
            password = settings.password_creator()
            settings.password = password.encode() if isinstance(password, str) else password
        try:
            return self._login(settings)
        except err.OperationalError as error:
            if settings.tls_mode != "PREFERRED" or error.errno not in (CR.CR_SSL_CONNECTION_ERROR, CR.CR_SERVER_LOST):
                raise
            # Proxies advertise TLS and then refuse it; who only prefers TLS goes on without.
            return self._login(settings.without_tls())

    def _login(self, settings: Settings) -> Wire:
        wire = Wire(settings)
        wire.login()
        return wire

    def close(self) -> None:
        """Say good bye and close."""
        self.ensure_closed()

    def ensure_closed(self) -> None:
        """Say good bye and close. Harmless when the connection is closed already."""
        wire, self._wire = self._wire, None
        if wire is not None:
            wire.quit()

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

    def __enter__(self) -> Connection:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.ensure_closed()

    def __del__(self) -> None:
        wire = self.__dict__.get("_wire")
        if wire is not None and wire.is_open:
            warnings.warn(f"unclosed connection {self!r}", ResourceWarning, source=self, stacklevel=2)
            with contextlib.suppress(Exception):
                wire.abort()

    def __repr__(self) -> str:
        state = "open" if self.open else "closed"
        return f"<{type(self).__name__} {state} {self.settings.user}@{self.settings.place}>"

    def give_up(self) -> None:
        """Whoever waited for an answer was cancelled: stop the statement on the server and read its answer away.

        What does not end within five seconds costs the connection; it is never left half-read.
        """
        end(self)

    # -- cursors and statements --------------------------------------------------------------------------------------

    def cursor(self, *cursors: type[Cursor] | None) -> Cursor:
        """A cursor of `cursorclass`, or of the class given."""
        chosen = [cls for cls in cursors if cls is not None]
        if not chosen:
            return self.cursorclass(self)
        if len(chosen) == 1:
            return chosen[0](self)
        return type("Cursor", tuple(chosen), {})(self)  # type: ignore[no-any-return]

    def query(self, sql: str | bytes, unbuffered: bool = False) -> int:
        """Run SQL as it is and answer how many rows it found or changed."""
        try:
            self.last_result = result = self.wire.query(sql)
        except err.Error as error:
            error.sql = sql if isinstance(sql, str) else sql.decode("utf-8", "replace")
            raise
        except Exception:
            raise
        except BaseException:
            self.give_up()
            raise
        return result.affected_rows if result.rows is None else len(result.rows)

    def prepare(self, sql: str | bytes) -> PreparedStatement:
        """Have the server prepare `sql`, with `?` for values."""
        try:
            prepared = self.wire.prepare(sql)
        except err.Error as error:
            error.sql = sql if isinstance(sql, str) else sql.decode("utf-8", "replace")
            raise
        except Exception:
            raise
        except BaseException:
            self.give_up()
            raise
        return PreparedStatement(self, prepared)

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

    def ping(self, reconnect: bool = False) -> None:
        """Ask whether the server is there; `OperationalError` or `InterfaceError` when it is not.

        Only with `reconnect` a lost connection is made again, in a new session.
        """
        if reconnect and not self.open:
            self.connect()
            return
        try:
            self.wire.ping()
        except err.Error:
            if not reconnect:
                raise
            self._abort()
            self.connect()
        except Exception:
            raise
        except BaseException:
            self.give_up()
            raise

    def kill(self, thread_id: int) -> None:
        """End another connection."""
        self.query(f"KILL {int(thread_id)}")

    def show_warnings(self) -> Sequence[Any]:
        """The warnings of the last statement: level, code and message of each."""
        self.query("SHOW WARNINGS")
        return self.last_result.rows if self.last_result is not None and self.last_result.rows is not None else ()

    def affected_rows(self) -> int:
        """How many rows the last `query` changed."""
        return 0 if self.last_result is None else self.last_result.affected_rows

    def insert_id(self) -> int:
        """The number that AUTO_INCREMENT gave the last `query`, 0 when none."""
        return 0 if self.last_result is None else self.last_result.insert_id


def connect(*args: Any, **kwargs: Any) -> Connection:
    """Connect to a server.

    Takes what PyMySQL's and mysqlclient's `connect` take: `host`, `user`, `password`, `database` (or `db`), `port`,
    `unix_socket`, `charset`, `cursorclass`, `autocommit`, `init_command`, `connect_timeout`, `read_timeout`,
    `write_timeout` (seconds), `ssl`, `ssl_mode`, `conv` and so on. See `docs/mysql.md` for each.
    """
    defer_connect = kwargs.pop("defer_connect", False)
    connection = _make(*args, **kwargs)
    return connection if defer_connect else connection.connect()


def _make(*args: Any, **kwargs: Any) -> Connection:
    cursorclass = kwargs.pop("cursorclass", None) or kwargs.pop("cursor_cls", None) or Cursor
    kwargs.pop("cursor_cls", None)
    return Connection(settings_from(*args, **kwargs), cursorclass)


# The names that aiomysql and asyncmy give these classes.
