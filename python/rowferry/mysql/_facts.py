"""What a connection knows without asking the server, and how it spells literals: the same for both colours."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from ._settings import Settings
from .converters import escape_item
from .results import StoredResult

if TYPE_CHECKING:
    from .._core.mysql import AsyncWire, QueryResult, Wire

__all__ = ["Facts", "SessionState"]


class SessionState(NamedTuple):
    """What the server has told of changes since the login; see `session_track_…` among its system variables."""

    #: The default database; empty for none, None when it has not changed.
    schema: str | None
    #: System variables that have changed, of those that `session_track_system_variables` names.
    variables: Mapping[str, str]
    #: The transactions that the last committing statement has committed; needs `session_track_gtids` (MySQL).
    gtids: str | None
    #: What the open transaction has done, in eight letters; needs `session_track_transaction_info`.
    transaction_state: str | None
    #: SQL that would begin the open transaction anew; needs `session_track_transaction_info = CHARACTERISTICS`.
    transaction_characteristics: str | None


class Facts:
    """The part of a connection that asks nobody."""

    if TYPE_CHECKING:
        settings: Settings
        _query_attributes: dict[str, Any]
        _wire: AsyncWire | Wire | None
        last_result: QueryResult | None

        @property
        def wire(self) -> AsyncWire | Wire:
            """The Rust half."""

    # -- what is known -----------------------------------------------------------------------------------------------

    @property
    def host(self) -> str:
        """The host that was asked for."""
        return self.settings.host

    @property
    def port(self) -> int:
        """The port that was asked for."""
        return self.settings.port

    @property
    def unix_socket(self) -> str | None:
        """The unix socket that was asked for."""
        return self.settings.unix_socket

    @property
    def user(self) -> str:
        """Who is logged in."""
        return self.settings.user

    @property
    def db(self) -> str:
        """The default database: that asked for, or what `select_db` or the statement USE has made of it."""
        schema = None if self._wire is None else self._wire.schema
        return self.settings.database if schema is None else schema

    @property
    def session_state(self) -> SessionState:
        """What the server has told of changes: nothing is asked for it."""
        return SessionState(*self.wire.session_state)

    @property
    def charset(self) -> str:
        """The connection's character set: that asked for, or what SET NAMES has made of it."""
        told = None if self._wire is None else self._wire.session_state[1].get("character_set_client")
        return self.settings.charset.name if told is None else told

    @property
    def encoding(self) -> str:
        """Python's codec for the connection's character set."""
        codec = self.settings.encoding if self._wire is None else self._wire.codec
        return codec or "utf8"

    @property
    def server_version(self) -> str:
        """The server's version."""
        return self.wire.server_version

    @property
    def server_status(self) -> int:
        """The server's status flags; see `constants.SERVER_STATUS`."""
        return self.wire.server_status

    @property
    def tls_description(self) -> str | None:
        """The TLS version and cipher in use; None in plain text."""
        return self.wire.tls_description

    @property
    def auth_plugin(self) -> str:
        """The authentication plugin that let us in."""
        return self.wire.auth_plugin

    @property
    def _connected(self) -> bool:
        # What programs that look into asyncmy read.
        return self._wire is not None and self._wire.is_open

    @property
    def _auth_plugin_name(self) -> str:
        # What programs that look into PyMySQL read.
        return self.wire.auth_plugin

    @property
    def client_flag(self) -> int:
        """The capability flags that were asked for; see `constants.CLIENT`."""
        return self.settings.capabilities

    @property
    def executemany_fallback(self) -> str:
        """The parameter of this name; `executemany` finds its way by itself."""
        return self.settings.executemany_fallback

    @property
    def echo(self) -> bool:
        """True when statements are logged."""
        return self.settings.echo

    @property
    def host_info(self) -> str:
        """Where the connection goes."""
        return self.get_host_info()

    @property
    def protocol_version(self) -> int:
        """The version of the protocol, always 10."""
        return 10

    @property
    def server_thread_id(self) -> tuple[int]:
        """What `kill` takes, in a tuple."""
        return (self.wire.connection_id,)

    @property
    def database(self) -> str:
        """The database that was asked for or selected."""
        return self.db

    def warning_count(self) -> int:
        """How many warnings `SHOW WARNINGS` would list."""
        return 0 if self.last_result is None else self.last_result.warning_count

    def field_count(self) -> int:
        """How many columns the last result has."""
        return 0 if self.last_result is None else len(self.last_result.description or ())

    def info(self) -> str | None:
        """What the server adds to the last result for people."""
        return (self.last_result.info or None) if self.last_result is not None else None

    def store_result(self) -> StoredResult | None:
        """The rows of the last `query`; None when it had none. As MySQLdb's connections do it."""
        result = self.last_result
        return None if result is None or result.description is None else StoredResult(result)

    use_result = store_result

    def more_results(self) -> bool:
        """True when `next_result` finds another result of the last `query`."""
        result = self.last_result
        return result is not None and (result.next is not None or result.error is not None)

    def next_result(self) -> int:
        """Go on to the next result of the last `query`: 0, or -1 when there is none."""
        result = self.last_result
        if result is not None and result.error is not None:
            raise result.error
        if result is None or result.next is None:
            return -1
        self.last_result = result.next
        return 0

    def thread_id(self) -> int:
        """What `kill` takes."""
        return self.wire.connection_id

    def character_set_name(self) -> str:
        """The connection's character set: that asked for, or what SET NAMES has made of it."""
        return self.charset

    def get_server_info(self) -> str:
        """The server's version."""
        return self.wire.server_version

    def get_host_info(self) -> str:
        """Where the connection goes."""
        settings = self.settings
        return f"socket {settings.unix_socket}" if settings.unix_socket else f"socket {settings.host}:{settings.port}"

    def get_proto_info(self) -> int:
        """The version of the protocol, always 10."""
        return 10

    @property
    def query_attributes(self) -> dict[str, Any]:
        """Named values that travel with every statement, for the server's functions, audit and plugins (MySQL 8.0.23).

        Assign a dict to change them; `attributes` of `execute` adds to them for one statement. A server that takes none
        is `NotSupportedError`.
        """
        return dict(self._query_attributes)

    @query_attributes.setter
    def query_attributes(self, attributes: Mapping[str, Any]) -> None:
        taken = dict(attributes)
        self.wire.set_attributes(taken)
        self._query_attributes = taken

    # -- literals ----------------------------------------------------------------------------------------------------

    def escape(self, obj: Any, mapping: Mapping[Any, Any] | None = None) -> str:
        """The SQL literal of `obj`, quotes and all; None and numbers come without quotes.

        With `mapping`, a function in it for the class of `obj`, or for str, makes it: `f(obj, mapping)`. Text and bytes
        are always quoted as the server's SQL mode has it. `TypeError` for what has no literal.
        """
        if isinstance(obj, Mapping):
            raise TypeError("a dict has no literal")
        if mapping is None or isinstance(obj, (str, bytes, bytearray)):
            return self.literal(obj)
        if type(obj) in (tuple, list, set, frozenset):
            return f"({','.join(self.escape(item, mapping) for item in obj)})"
        return str(escape_item(obj, self.settings.encoding, mapping))

    def literal(self, obj: Any) -> str:
        """The SQL literal of `obj`, quotes and all, as `execute` writes it."""
        return self.wire.literal(obj).decode(self.encoding, "surrogateescape")

    def escape_string(self, s: str) -> str:
        """Text with what would end a literal escaped, as the server's SQL mode has it; without quotes around it."""
        return self.literal(s)[1:-1]

    def string_literal(self, s: Any) -> bytes:
        """What `str` makes of `s` as a literal, quotes and all, in the connection's character set."""
        return self.wire.literal(s if isinstance(s, (str, bytes)) else str(s))
