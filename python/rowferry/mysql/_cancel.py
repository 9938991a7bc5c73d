# Made from python/rowferry/mysql/aio/_cancel.py by tools/async_to_sync.py: change that file instead.
"""Ending on the server what nobody waits for any more: cancelled, interrupted, or beyond `query_timeout`.

The statement is stopped by `KILL QUERY` from a connection of its own, and its answer is read away, so that the next
statement gets the next answer. What is not over within a bound costs the connection.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from .._base.records import replace
from ._settings import Settings

if TYPE_CHECKING:
    from .connections import Connection

__all__ = ["CANCEL_GRACE", "end", "end_stream", "kill_query"]

#: What is ended gets this long, in seconds, to be over before its connection is closed.
CANCEL_GRACE = 5.0
#: Most statements are over by themselves before a second connection is made.
PATIENCE = 0.005
#: What is left of a stream is read away up to so many bytes of rows; ending the statement is cheaper than more.
STREAM_REST = 1 << 20
#: And for so long, in seconds.
STREAM_PATIENCE = 0.1
#: How long, in seconds, a thread waits for each step of the second connection.
SIDE_LIMIT = 2.0


def kill_query(settings: Settings, connection_id: int, command: str = "KILL QUERY") -> bool:
    """Have the server end what another connection runs; a failure to do so is no error, but answers False.

    `settings` are those of the other connection. What has ended meanwhile is not there to be killed.
    """
    from .connections import Connection

    limit = min(settings.connect_timeout or SIDE_LIMIT, SIDE_LIMIT)
    settings = replace(
        settings,
        connect_timeout=limit,
        read_timeout=limit,
        write_timeout=limit,
        query_timeout=None,
        give_up_after=limit,
        compression=[],
    )
    helper = Connection(settings)
    with contextlib.suppress(Exception):
        helper._wire = helper._reach(settings)
        try:
            helper.wire.query(f"{command} {int(connection_id)}")
            return True
        finally:
            helper._abort()
    return False


def end(connection: Connection) -> None:
    """Leave `connection` usable or closed after whoever waited for its answer was cancelled, never half-read.

    An answer that does not end within `CANCEL_GRACE` seconds costs the connection.
    """
    wire = connection._wire
    if wire is None:
        return
    # Whatever interrupted a blocking wait, Ctrl-C mostly, left the stream half-read.
    number = wire.connection_id
    connection._abort()
    if number:
        kill_query(connection.settings, number, "KILL")


def end_stream(connection: Connection) -> None:
    """Leave nothing of an unbuffered result on the wire, neither pulling the rest in nor waiting long for it.

    A statement that only reads is ended on the server. What may have changed something is read to its end.
    """
    wire = connection.wire
    wire.end_stream(STREAM_REST, STREAM_PATIENCE)
