"""A relay on the test's own event loop that lets just so many of the server's bytes through, and then waits."""

from __future__ import annotations

import asyncio
import contextlib
from types import TracebackType


class HoldingRelay:
    """`async with HoldingRelay(host, port) as relay: connect(port=relay.port)`.

    Everything passes until `hold_after(count)`: then so many bytes more of the server's pass, `held` is set, and the
    rest waits for `release`.
    """

    def __init__(self, host: str, port: int) -> None:
        self._server_address = (host, port)
        self._left: int | None = None
        self._released = asyncio.Event()
        self._released.set()
        self.held = asyncio.Event()
        #: Bytes of the server that were let through.
        self.passed = 0
        self._tasks: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> HoldingRelay:
        self._listener = await asyncio.start_server(self._relay, "127.0.0.1", 0)
        self.port: int = self._listener.sockets[0].getsockname()[1]
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.release()
        self._listener.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def hold_after(self, count: int) -> None:
        """Let `count` bytes more of the server's through."""
        self.held.clear()
        self._released.clear()
        self._left = count

    def release(self) -> None:
        """Let everything through again."""
        self._left = None
        self._released.set()

    async def _relay(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        upstream_reader, upstream_writer = await asyncio.open_connection(*self._server_address)
        up = asyncio.ensure_future(self._pass_requests(reader, upstream_writer))
        try:
            # The end of the test is no news.
            with contextlib.suppress(asyncio.CancelledError):
                await self._pass_answers(upstream_reader, writer)
        finally:
            up.cancel()
            for end in (writer, upstream_writer):
                end.close()
                with contextlib.suppress(OSError, asyncio.CancelledError):
                    await end.wait_closed()

    @staticmethod
    async def _pass_requests(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError):
            while data := await reader.read(65536):
                writer.write(data)
                await writer.drain()
            writer.write_eof()

    async def _pass_answers(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError):
            while data := await reader.read(65536):
                while data:
                    if self._left == 0:
                        self.held.set()
                        await self._released.wait()
                        continue
                    piece = data if self._left is None else data[: self._left]
                    data = data[len(piece) :]
                    if self._left is not None:
                        self._left -= len(piece)
                    writer.write(piece)
                    self.passed += len(piece)
                    await writer.drain()
