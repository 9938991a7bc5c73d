"""What a connection knows without asking the server, and how it spells literals: the same for both colours."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from ._settings import Settings

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

    # -- literals ----------------------------------------------------------------------------------------------------

    def escape(self, obj: Any, mapping: Mapping[Any, Any] | None = None) -> str:
        """The SQL literal of `obj`, quotes and all; None and numbers come without quotes."""
        return self.literal(obj)

    def literal(self, obj: Any) -> str:
        """The SQL literal of `obj`, quotes and all."""
        return self.wire.literal(obj).decode(self.encoding, "surrogateescape")

    def escape_string(self, s: str) -> str:
        """Text with what would end a literal escaped, as the server's SQL mode has it; without quotes around it."""
        return self.literal(s)[1:-1]
