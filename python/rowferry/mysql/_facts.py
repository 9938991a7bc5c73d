"""What a connection knows without asking the server, and how it spells literals: the same for both colours."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ._settings import Settings

if TYPE_CHECKING:
    from .._core.mysql import AsyncWire, QueryResult, Wire

__all__ = ["Facts"]


class Facts:
    """The part of a connection that asks nobody."""

    if TYPE_CHECKING:
        settings: Settings
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
        """The database that was asked for or selected."""
        return self.settings.database

    @property
    def charset(self) -> str:
        """The connection's character set."""
        return self.settings.charset.name

    @property
    def encoding(self) -> str:
        """Python's codec for the connection's character set."""
        return self.settings.encoding or "utf8"

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
        """The connection's character set."""
        return self.settings.charset.name

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
        return self.wire.literal(obj).decode(self.settings.encoding or "utf-8", "surrogateescape")

    def escape_string(self, s: str) -> str:
        """Text with what would end a literal escaped, as the server's SQL mode has it; without quotes around it."""
        return self.literal(s)[1:-1]
