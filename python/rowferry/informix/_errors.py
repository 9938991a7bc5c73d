"""Exceptions of the server, with Informix's own details."""

from __future__ import annotations

from .. import exceptions

__all__ = ["server_error"]


def server_error(
    kind: str, message: str, sqlcode: int, isamcode: int, offset: int, token: str, row: int | None
) -> exceptions.Error:
    """The exception for what the server refused. Called by the Rust core, which has the table of codes."""
    cls: type[exceptions.Error] = getattr(exceptions, kind)
    error = cls(message, errno=sqlcode, row=row)
    error.sqlcode = sqlcode
    error.isamcode = isamcode
    error.offset = offset
    error.near = token
    return error
