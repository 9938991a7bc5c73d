"""`mysql+rowferry` and `mysql+rowferry_async`, and the same under `mariadb+`.

All that concerns SQL is SQLAlchemy's own MySQL dialect; what is here binds it to `rowferry.mysql`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlalchemy.connectors.asyncio import AsyncAdapt_dbapi_module
from sqlalchemy.dialects.mysql.asyncmy import AsyncAdapt_asyncmy_connection, AsyncAdapt_asyncmy_ss_cursor
from sqlalchemy.dialects.mysql.mariadb import MariaDBDialect
from sqlalchemy.dialects.mysql.pymysql import MySQLDialect_pymysql
from sqlalchemy.util.concurrency import await_

from rowferry import mysql
from rowferry.mysql import aio
from rowferry.mysql._places import parameter_of_text
from rowferry.mysql.constants import CLIENT

if TYPE_CHECKING:
    from sqlalchemy.engine.url import URL

__all__ = [
    "MariaDBDialect_rowferry",
    "MariaDBDialect_rowferry_async",
    "MySQLDialect_rowferry",
    "MySQLDialect_rowferry_async",
]


class MySQLDialect_rowferry(MySQLDialect_pymysql):
    """Blocking. Every parameter of `rowferry.mysql.connect` may stand in the URL's query."""

    driver = "rowferry"
    supports_statement_cache = True
    supports_server_side_cursors = True
    _sscursor = mysql.cursors.SSCursor
    #: `ping()` of ours reconnects only when told to.
    _send_false_to_ping = False

    @classmethod
    def import_dbapi(cls) -> Any:
        """The module that SQLAlchemy talks to."""
        return mysql

    @classmethod
    def load_provisioning(cls) -> None:
        """How SQLAlchemy's own test suite sets up its databases: as for its own dialects of MySQL."""
        from sqlalchemy.dialects.mysql import provision as provision

    def retrieve_dbapi_version(self, dbapi: Any) -> Any:
        """The package's version, as numbers."""
        from rowferry._core import __version__

        return tuple(int(part) for part in __version__.split(".")[:3] if part.isdigit())

    def create_connect_args(self, url: URL, _translate_args: dict[str, Any] | None = None) -> Any:
        """What `connect` is called with: the parts of `url`, then its query."""
        options: dict[str, Any] = url.translate_connect_args(username="user")
        for name, text in url.query.items():
            options[name] = parameter_of_text(name, text) if isinstance(text, str) else list(text)
        # The dialect counts the rows that an UPDATE finds, not those that it changes.
        options["client_flag"] = options.get("client_flag", 0) | CLIENT.FOUND_ROWS
        return [], options


class MariaDBDialect_rowferry(MariaDBDialect, MySQLDialect_rowferry):
    """Blocking, for MariaDB alone."""

    supports_statement_cache = True
    _allows_uuid_binds = False


class _Connection(AsyncAdapt_asyncmy_connection):
    __slots__ = ()

    async def _do_ping(self) -> None:
        try:
            async with self._execute_mutex:
                await self._connection.ping()
        except Exception as error:
            self._handle_exception(error)


class _StreamingCursor(AsyncAdapt_asyncmy_ss_cursor):
    __slots__ = ()

    def _make_new_cursor(self, connection: Any) -> Any:
        return connection.cursor(aio.SSCursor)


_Connection._ss_cursor_cls = _StreamingCursor


class _Module(AsyncAdapt_dbapi_module):
    """`rowferry.mysql.aio` as the blocking module that SQLAlchemy expects; it switches to the event loop within."""

    paramstyle = "format"
    STRING, NUMBER, BINARY, DATETIME = mysql.STRING, mysql.NUMBER, mysql.BINARY, mysql.DATETIME
    Binary = staticmethod(bytes)

    def __init__(self) -> None:
        super().__init__(aio)
        for name in (
            *("Warning", "Error", "InterfaceError", "DataError", "DatabaseError", "OperationalError"),
            *("IntegrityError", "ProgrammingError", "InternalError", "NotSupportedError"),
        ):
            setattr(self, name, getattr(mysql, name))

    def connect(self, *arguments: Any, **options: Any) -> Any:
        creator = options.pop("async_creator_fn", aio.connect)
        return await_(_Connection.create(self, creator(*arguments, **options)))


class MySQLDialect_rowferry_async(MySQLDialect_rowferry):
    """For `create_async_engine`; native asyncio below."""

    driver = "rowferry_async"
    supports_statement_cache = True
    is_async = True
    has_terminate = True
    _sscursor = _StreamingCursor  # type: ignore[assignment]

    @classmethod
    def import_dbapi(cls) -> Any:
        """The module that SQLAlchemy talks to."""
        return _Module()

    def do_terminate(self, dbapi_connection: Any) -> None:
        """Close without waiting for the server."""
        dbapi_connection.terminate()

    def is_disconnect(self, e: Any, connection: Any, cursor: Any) -> bool:
        """True when `e` says that the connection is gone."""
        return super().is_disconnect(e, connection, cursor) or "not connected" in str(e).lower()

    def get_driver_connection(self, connection: Any) -> Any:
        """The `rowferry.mysql.aio.Connection` itself."""
        return connection._connection


class MariaDBDialect_rowferry_async(MariaDBDialect, MySQLDialect_rowferry_async):
    """For `create_async_engine`, for MariaDB alone."""

    supports_statement_cache = True
    _allows_uuid_binds = False
