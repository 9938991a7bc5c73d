"""Ending on the server what nobody waits for any more: cancelled, interrupted, or beyond `query_timeout`.

The statement is stopped by `KILL QUERY` from a connection of its own, and its answer is read away, so that the next
statement gets the next answer. What is not over within a bound costs the connection.
"""

from __future__ import annotations

import asyncio
import contextlib
import sys
from typing import TYPE_CHECKING

from ..._base.limits import Limit
from ..._base.records import replace
from ..._core.mysql import AsyncWire
from .. import err
from .._settings import Settings

if TYPE_CHECKING:
    from .connection import AsyncConnection

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


async def kill_query(settings: Settings, connection_id: int, command: str = "KILL QUERY") -> bool:
    """Have the server end what another connection runs; a failure to do so is no error, but answers False.

    `settings` are those of the other connection. What has ended meanwhile is not there to be killed.
    """
    from .connection import AsyncConnection

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
    helper = AsyncConnection(settings)
    with contextlib.suppress(Exception):
        helper._wire = await helper._reach(settings)
        try:
            await helper.wire.query(f"{command} {int(connection_id)}")
            return True
        finally:
            helper._abort()
    return False


if True:  # ASYNC

    class Protocol(AsyncWire, asyncio.BufferedProtocol):
        """The Rust core as what asyncio reads into."""

        #: How it was connected.
        settings: Settings
        #: Ends an operation that took too long.
        ending: asyncio.Task[None] | None = None

        def overdue(self) -> None:
            """`query_timeout` has passed; called by the loop's timer."""
            waiter = self.detach()
            # Whoever was cancelled ends the statement himself.
            if waiter is not None and not waiter.done():
                self.ending = asyncio.get_running_loop().create_task(_end_overdue(self, waiter))

    async def _end_overdue(wire: Protocol, waiter: asyncio.Future[object]) -> None:
        try:
            await _kill_and_drain(wire, wire.settings)
        except BaseException as failure:
            wire.abort()
            if not isinstance(failure, Exception):
                raise
        finally:
            wire.ending = None
            if not waiter.done():
                waiter.set_exception(wire.overdue_error())

    async def _kill_and_drain(wire: AsyncWire, settings: Settings) -> None:
        async with Limit(CANCEL_GRACE):
            drained = wire.drain()
            try:
                await asyncio.wait((drained,), timeout=PATIENCE)
                if not drained.done():
                    await kill_query(settings, wire.connection_id)
                    await drained
                    # The kill may have come too late for its statement: then it hits this one.
                    with contextlib.suppress(err.DatabaseError):
                        await wire.query("DO 0")
                await drained
            finally:
                drained.cancel()


async def end(connection: AsyncConnection) -> None:
    """Leave `connection` usable or closed after whoever waited for its answer was cancelled, never half-read.

    An answer that does not end within `CANCEL_GRACE` seconds costs the connection.
    """
    wire = connection._wire
    if wire is None:
        return
    if True:  # ASYNC
        if not wire.is_open:
            return
        if isinstance(sys.exc_info()[1], GeneratorExit):
            # The collector destroys a task that never ran on; nothing can be awaited any more.
            connection._abort()
            return
        try:
            ending = wire.ending if isinstance(wire, Protocol) else None
            if ending is not None:
                await asyncio.wait((ending,))
            elif wire.is_busy or wire.is_streaming:
                await _kill_and_drain(wire, connection.settings)
        except BaseException as failure:
            connection._abort()
            if not isinstance(failure, Exception):
                raise
    else:
        # Whatever interrupted a blocking wait, Ctrl-C mostly, left the stream half-read.
        number = wire.connection_id
        connection._abort()
        if number:
            kill_query(connection.settings, number, "KILL")


async def end_stream(connection: AsyncConnection) -> None:
    """Leave nothing of an unbuffered result on the wire, neither pulling the rest in nor waiting long for it.

    A statement that only reads is ended on the server. What may have changed something is read to its end.
    """
    wire = connection.wire
    if True:  # ASYNC
        if not wire.may_end_stream:
            await wire.drain()
            return
        drained = wire.drain(STREAM_REST)
        try:
            await asyncio.wait((drained,), timeout=STREAM_PATIENCE)
            if drained.done() and drained.result():
                return
        finally:
            drained.cancel()
        try:
            await _kill_and_drain(wire, connection.settings)
        except Exception:
            connection._abort()
    else:
        wire.end_stream(STREAM_REST, STREAM_PATIENCE)
