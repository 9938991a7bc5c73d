"""`informix+rowferry` and `informix+rowferry_async`.

SQLAlchemy knows no Informix: SQL, definitions, types and reflection are here, over `rowferry.informix`.

    create_engine("informix+rowferry://user:password@host:9088/database?server=informix&client_locale=en_US.utf8")
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

from sqlalchemy import pool
from sqlalchemy.connectors.asyncio import (
    AsyncAdapt_dbapi_connection,
    AsyncAdapt_dbapi_cursor,
    AsyncAdapt_dbapi_module,
    AsyncAdapt_dbapi_ss_cursor,
)
from sqlalchemy.engine import default
from sqlalchemy.schema import Table
from sqlalchemy.util.concurrency import await_

from rowferry import informix
from rowferry.informix import IsolationLevel, aio
from rowferry.informix._isolation import default_isolation

from ._informix_compiler import ONE_ROW, InformixCompiler, InformixDDLCompiler, InformixIdentifierPreparer
from ._informix_reflection import Reflection
from ._informix_types import (
    BSON,
    BYTE,
    COLSPECS,
    DATETIME,
    INT8,
    INTERVAL,
    JSON,
    LVARCHAR,
    MONEY,
    SMALLFLOAT,
    TIME,
    InformixTypeCompiler,
)

# Migrations look their words up by the dialect's name.
with contextlib.suppress(ImportError):
    from . import _informix_alembic as _informix_alembic

if TYPE_CHECKING:
    from sqlalchemy.engine.url import URL

__all__ = [
    "BSON",
    "BYTE",
    "DATETIME",
    "INT8",
    "INTERVAL",
    "JSON",
    "LVARCHAR",
    "MONEY",
    "SMALLFLOAT",
    "TIME",
    "InformixDialect_rowferry",
    "InformixDialect_rowferry_async",
]

#: Informix's levels by SQLAlchemy's names.
_LEVELS = {
    "READ UNCOMMITTED": IsolationLevel.DIRTY_READ,
    "READ COMMITTED": IsolationLevel.COMMITTED_READ,
    "LAST COMMITTED": IsolationLevel.LAST_COMMITTED,
    "CURSOR STABILITY": IsolationLevel.CURSOR_STABILITY,
    "REPEATABLE READ": IsolationLevel.REPEATABLE_READ,
}
_NAMES = {level: name for name, level in _LEVELS.items()}


class InformixExecutionContext(default.DefaultExecutionContext):
    """One statement."""

    _serial: int | None = None

    def fire_sequence(self, seq: Any, type_: Any) -> Any:
        """The next number of a sequence that a column has as its default."""
        name = self.identifier_preparer.format_sequence(seq)
        return self._execute_scalar(f"SELECT {name}.NEXTVAL FROM {ONE_ROW}", type_)

    def post_exec(self) -> None:
        """Keep what an INSERT did, which a closed cursor no longer knows."""
        if self.isinsert:
            self._serial = self.cursor.lastrowid
            self._rowcount = self.cursor.rowcount

    def get_lastrowid(self) -> Any:
        """The number that a serial column was given."""
        return self._serial if self._serial is not None else self.cursor.lastrowid

    def create_server_side_cursor(self) -> Any:
        """The driver's cursors fetch as they are read; only that of asyncio has to be told."""
        return self._dbapi_connection.cursor()


class InformixDialect_rowferry(Reflection, default.DefaultDialect):
    """Blocking. Every parameter of `rowferry.informix.connect` may stand in the URL's query."""

    name = "informix"
    driver = "rowferry"
    supports_statement_cache = True

    statement_compiler = InformixCompiler
    ddl_compiler = InformixDDLCompiler
    type_compiler_cls = InformixTypeCompiler
    preparer = InformixIdentifierPreparer
    execution_ctx_cls = InformixExecutionContext
    colspecs = COLSPECS
    construct_arguments = [(Table, {"with_no_log": False, "in": None, "lock_mode": None})]  # noqa: RUF012

    max_identifier_length = 128
    default_paramstyle = "qmark"
    supports_native_boolean = True
    supports_native_decimal = True
    supports_native_enum = False
    supports_native_uuid = False
    supports_alter = True
    supports_schemas = False
    supports_comments = False
    supports_sequences = True
    sequences_optional = True
    preexecute_autoincrement_sequences = False
    supports_default_values = True
    supports_empty_insert = False
    supports_multivalues_insert = False
    supports_sane_rowcount = True
    supports_sane_multi_rowcount = True
    supports_server_side_cursors = True
    postfetch_lastrowid = True
    insert_returning = update_returning = delete_returning = False
    use_insertmanyvalues = False
    div_is_floordiv = False
    cte_follows_insert = True
    supports_is_distinct_from = True
    tuple_in_values = False

    def __init__(
        self, json_serializer: Any = None, json_deserializer: Any = None, paramstyle: Any = None, **kwargs: Any
    ) -> None:
        # The module's own style is `:1`; it takes all.
        super().__init__(paramstyle=paramstyle or "qmark", **kwargs)
        self._json_serializer = json_serializer
        self._json_deserializer = json_deserializer

    # -- connecting --------------------------------------------------------------------------------------------------

    @classmethod
    def import_dbapi(cls) -> Any:
        """The module that SQLAlchemy talks to."""
        return informix

    def retrieve_dbapi_version(self, dbapi: Any) -> Any:
        """The package's version, as numbers."""
        return tuple(int(part) for part in informix.__version__.split(".")[:3] if part.isdigit())

    def create_connect_args(self, url: URL, _translate_args: dict[str, Any] | None = None) -> Any:
        """What `connect` is called with: the parts of `url`, then its query, which the driver reads by itself."""
        options: dict[str, Any] = url.translate_connect_args(username="user")
        for name, text in url.query.items():
            options[name] = text if isinstance(text, str) else list(text)
        return [], options

    def connect(self, *cargs: Any, **cparams: Any) -> Any:
        """Connect, with quoted names as the compilers write them."""
        cparams["env"] = {**(cparams.get("env") or {}), "DELIMIDENT": "y"}
        return super().connect(*cargs, **cparams)

    def initialize(self, connection: Any) -> None:
        """Ask a first connection what the server is."""
        super().initialize(connection)
        driver = self.get_driver_connection(connection.connection.dbapi_connection)
        self.supports_statement_cache = True
        self._first_level = _NAMES[default_isolation(driver.is_logged, driver.is_ansi)]

    def _get_server_version_info(self, connection: Any) -> Any:
        words = str(connection.exec_driver_sql(f"SELECT DBINFO('version', 'full') FROM {ONE_ROW}").scalar())
        found = next((word for word in words.split() if word[0].isdigit() and "." in word), "0")
        return tuple(int(part) for part in found.split(".") if part.isdigit())

    def _get_default_schema_name(self, connection: Any) -> Any:
        # Who owns what this user makes; a server that trusts everybody gives it to its own.
        user = str(connection.exec_driver_sql(f"SELECT USER FROM {ONE_ROW}").scalar() or "").strip()
        return user or "informix"

    def do_ping(self, dbapi_connection: Any) -> bool:
        """Ask whether the server is there."""
        dbapi_connection.ping()
        return True

    def is_disconnect(self, e: Any, connection: Any, cursor: Any) -> bool:
        """True when `e` says that the connection is gone: the driver has closed it then."""
        if not isinstance(e, (informix.OperationalError, informix.InterfaceError)):
            return False
        given = connection if connection is not None else getattr(cursor, "connection", None)
        if given is not None:
            given = getattr(given, "dbapi_connection", given)
            return given is None or bool(self.get_driver_connection(given).closed)
        return e.sqlcode is None and ("lost" in str(e) or "closed" in str(e))

    def get_driver_connection(self, connection: Any) -> Any:
        """The `rowferry.informix.Connection` itself."""
        return connection

    # -- transactions ------------------------------------------------------------------------------------------------

    def get_isolation_level_values(self, dbapi_connection: Any) -> Any:
        """The levels that there are."""
        return (*_LEVELS, "AUTOCOMMIT")

    def get_default_isolation_level(self, dbapi_connection: Any) -> Any:
        """The level in which connections begin."""
        return self.get_isolation_level(dbapi_connection)

    def get_isolation_level(self, dbapi_connection: Any) -> Any:
        """The level of a connection."""
        connection = self.get_driver_connection(dbapi_connection)
        if connection.autocommit:
            return "AUTOCOMMIT"
        level = connection.isolation_level or default_isolation(connection.is_logged, connection.is_ansi)
        return _NAMES[level]

    def set_isolation_level(self, dbapi_connection: Any, level: Any) -> None:
        """Set it; `AUTOCOMMIT` lets each statement commit by itself."""
        connection = self.get_driver_connection(dbapi_connection)
        connection.autocommit = level == "AUTOCOMMIT"
        if level != "AUTOCOMMIT":
            self._set_level(connection, _LEVELS[level])

    def _set_level(self, connection: Any, level: IsolationLevel) -> None:
        connection.set_isolation_level(level)

    def detect_autocommit_setting(self, dbapi_connection: Any) -> bool:
        """True when each statement commits by itself."""
        return bool(self.get_driver_connection(dbapi_connection).autocommit)


class _Cursor(AsyncAdapt_dbapi_cursor):
    __slots__ = ()


class _StreamingCursor(AsyncAdapt_dbapi_ss_cursor):
    __slots__ = ()


class _Connection(AsyncAdapt_dbapi_connection):
    __slots__ = ()

    _cursor_cls = _Cursor
    _ss_cursor_cls = _StreamingCursor

    def ping(self) -> None:
        """Ask whether the server is there."""
        try:
            await_(self._connection.ping())
        except Exception as error:
            self._handle_exception(error)

    def terminate(self) -> None:
        """Close without waiting for the server."""
        self._connection._abort()

    @property
    def autocommit(self) -> bool:
        """True when each statement commits by itself."""
        return bool(self._connection.autocommit)

    @autocommit.setter
    def autocommit(self, value: bool) -> None:
        self._connection.autocommit = value


class _Module(AsyncAdapt_dbapi_module):
    """`rowferry.informix.aio` as the blocking module that SQLAlchemy expects; it switches to the event loop within."""

    paramstyle = "qmark"
    STRING, NUMBER, BINARY, DATETIME = informix.STRING, informix.NUMBER, informix.BINARY, informix.DATETIME
    Binary = staticmethod(bytes)

    def __init__(self) -> None:
        super().__init__(aio, dbapi_module=informix)
        for name in (
            *("Warning", "Error", "InterfaceError", "DataError", "DatabaseError", "OperationalError"),
            *("IntegrityError", "ProgrammingError", "InternalError", "NotSupportedError"),
        ):
            setattr(self, name, getattr(informix, name))

    def connect(self, *arguments: Any, **options: Any) -> Any:
        creator = options.pop("async_creator_fn", aio.connect)
        return await_(_Connection.create(self, creator(*arguments, **options)))


class InformixDialect_rowferry_async(InformixDialect_rowferry):
    """For `create_async_engine`; native asyncio below."""

    driver = "rowferry_async"
    supports_statement_cache = True
    is_async = True
    has_terminate = True

    @classmethod
    def import_dbapi(cls) -> Any:
        """The module that SQLAlchemy talks to."""
        return _Module()

    @classmethod
    def get_pool_class(cls, url: URL) -> Any:
        """The pool that waits as asyncio does."""
        return pool.AsyncAdaptedQueuePool

    def do_terminate(self, dbapi_connection: Any) -> None:
        """Close without waiting for the server."""
        dbapi_connection.terminate()

    def get_driver_connection(self, connection: Any) -> Any:
        """The `rowferry.informix.aio.Connection` itself."""
        return connection._connection

    def _set_level(self, connection: Any, level: IsolationLevel) -> None:
        await_(connection.set_isolation_level(level))
