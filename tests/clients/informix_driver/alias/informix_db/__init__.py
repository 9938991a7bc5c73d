"""`import informix_db` finds our driver: for the suite of informix-driver.

What is public comes from `rowferry.informix.install_as_informix_db`. Some test modules also import private parts of
informix-driver, most of them for tests of those parts, which are deselected here; they import something that fails
when it is used. Private state that our driver has under a public name is found there.
"""

from __future__ import annotations

import os
import socket
import sys
import types
from typing import Any

from rowferry import informix
from rowferry._base import rows as shared_rows
from rowferry.informix import aio, connections, pool, rows
from rowferry.informix._settings import codec_of_locale

informix.install_as_informix_db()


class Foreign:
    """A private part of informix-driver, which our driver does not have."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        raise NotImplementedError(f"{self.name} is a private part of informix-driver")

    def __getattr__(self, name: str) -> Foreign:
        return Foreign(f"{self.name}.{name}")


class ForeignModule(types.ModuleType):
    """A private module of informix-driver: any name can be imported from it."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return Foreign(f"{self.__name__}.{name}")


class LocalSocket:
    """What informix-driver's tests tear down under a connection: the socket that ours has in Rust."""

    def __init__(self, connection: informix.Connection) -> None:
        self._connection = connection

    @property
    def _sock(self) -> LocalSocket:
        return self

    @property
    def closed(self) -> bool:
        return self._connection.closed

    def close(self) -> None:
        with socket.socket(fileno=os.dup(self._connection.fileno())) as same:
            same.shutdown(socket.SHUT_RDWR)


for name in ("_messages", "_protocol", "_resultset", "_socket", "_types", "converters"):
    sys.modules[f"informix_db.{name}"] = ForeignModule(f"informix_db.{name}")
for module, names in (
    ("connections", ("_WireLock", "_extract_server_error_text")),
    (
        "cursors",
        ("_CLOSE_PDU", "_RELEASE_PDU", "_TX_CONTROL_TYPES", "_produces_result_set", "_rewrite_numeric_to_qmark"),
    ),
):
    for name in names:
        setattr(sys.modules[f"informix_db.{module}"], name, Foreign(f"informix_db.{module}.{name}"))
connections._python_encoding_from_locale = codec_of_locale  # type: ignore[attr-defined]
capabilities = ForeignModule("informix_db._capabilities")
capabilities.ServerCapabilities = informix.ServerCapabilities  # type: ignore[attr-defined]
capabilities.ENHANCED_PROTOCOL_CAP = 316  # type: ignore[attr-defined]
sys.modules["informix_db._capabilities"] = capabilities
rows._RESERVED = shared_rows._OURS  # type: ignore[attr-defined]

for connection in (informix.Connection, aio.AsyncConnection):
    connection._in_transaction = property(lambda self: self.in_transaction)  # type: ignore[union-attr]
    connection._server_version_full = property(lambda self: self._server_version)  # type: ignore[union-attr]
for cursor in (informix.Cursor, aio.AsyncCursor):
    cursor._server_cursor_open = property(  # type: ignore[union-attr]
        lambda self: self._result is not None and self._result.open
    )
    cursor._scroll_total_rows = property(lambda self: self._total)  # type: ignore[union-attr]
informix.Connection._sock = property(LocalSocket)  # type: ignore[attr-defined]
pool.ConnectionPool._idle = property(  # type: ignore[attr-defined]
    lambda self: [member.connection for member in self._members]
)
