"""One query over several connections at once: what is the same for every kind of server."""

from __future__ import annotations

import abc
import asyncio
import queue
import threading
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any

from ... import exceptions as err
from ..._core import ArrowBatches
from .. import ranges

__all__ = ["AsyncReaders", "check", "cuts_of", "gathered"]

#: Rows of a batch within a table.
TABLE_BATCH = 131_072


def check(partitions: int, size: int) -> None:
    """Refuse numbers that make no sense."""
    if partitions < 1 or size < 1:
        raise err.ProgrammingError("there is at least one partition, and at least one row in a batch")


async def cuts_of(ask: Callable[[str], Any], query: str, column: str, partitions: int, even: bool) -> list[Any]:
    """Where the ranges of a column begin, without the first: fewer than `partitions` values, perhaps none.

    `ask` answers the rows of a statement; with `even` the ranges have equally many rows, whatever they hold.
    """
    if partitions == 1:
        return []
    if not even:
        low, high = (await ask(ranges.extremes(query, column)))[0]
        if low is None:
            return []
        if ranges.can_interpolate(low) and ranges.can_interpolate(high):
            return ranges.cuts_between(low, high, partitions)
    least = await ask(ranges.quantiles(query, column, partitions))
    # The least of all begins no range of its own.
    return list(dict.fromkeys(row[1] for row in least[1:]))


async def gathered(batches: Any, pyarrow: Any) -> Any:
    """All batches in the order of their ranges: a `pyarrow.Table`, or a list of rows where there is no pyarrow."""
    parts: dict[int, list[Any]] = {}
    async for number, batch in batches:
        parts.setdefault(number, []).append(batch)
    ordered = [batch for _, part in sorted(parts.items()) for batch in part]
    if pyarrow is None:
        return [row for batch in ordered for row in batch]
    return pyarrow.table(ArrowBatches(ordered))


class AsyncReaders(abc.ABC):
    """Each reads a statement, and puts what it gets into one queue."""

    def __init__(self, lent: Sequence[Any], count: int, rows: bool, size: int) -> None:
        #: Connections that the statements in the same places must use; others are lent.
        self._lent = lent
        self._count = count
        self._rows = rows
        self._size = size
        self._stopped = False
        #: Connections that may be waiting for the server, by the number of their statement.
        self._active: dict[int, Any] = {}
        if True:  # ASYNC
            self._queue: asyncio.Queue[Any] = asyncio.Queue(count)
        else:
            self._queue: queue.Queue[Any] = queue.Queue(count)  # type: ignore[no-redef]

    @abc.abstractmethod
    def _lend(self) -> AbstractAsyncContextManager[Any]:
        """One more connection."""

    @abc.abstractmethod
    def _cursor(self, connection: Any) -> AbstractAsyncContextManager[Any]:
        """A cursor whose rows come as they are fetched."""

    @abc.abstractmethod
    async def _begin(self, cursor: Any, number: int) -> None:
        """Run the statement."""

    @abc.abstractmethod
    async def _stop(self, connection: Any) -> None:
        """Have the server end what the connection runs, from another thread; it may have ended."""

    async def _read(self, number: int) -> None:
        """Read one range, on a connection of its own."""
        if number < len(self._lent):
            await self._read_on(number, self._lent[number])
        else:
            async with self._lend() as connection:
                await self._read_on(number, connection)

    async def _read_on(self, number: int, connection: Any) -> None:
        self._active[number] = connection
        try:
            async with self._cursor(connection) as cursor:
                if self._stopped:
                    return
                await self._begin(cursor, number)
                empty = True
                while not self._stopped:
                    batch: Any
                    if self._rows:
                        batch = await cursor.fetchmany(self._size)
                    else:
                        batch = await cursor._next_batch(self._size)
                    if not batch:
                        break
                    empty = False
                    await self._queue.put((number, batch))
                if empty and number == 0 and not self._rows and not self._stopped:
                    # Without any row there are columns.
                    await self._queue.put((number, cursor._empty_batch()))
        finally:
            self._active.pop(number, None)

    if True:  # ASYNC

        async def run(self) -> Any:
            """What all of them read, as it comes, with its number; an exception in place of what one could not read."""
            tasks = [asyncio.ensure_future(self._report(number)) for number in range(self._count)]
            try:
                left = len(tasks)
                while left:
                    item = await self._queue.get()
                    if item is None:
                        left -= 1
                    else:
                        yield item
            finally:
                for task in tasks:
                    task.cancel()
                # A cancelled reader ends its statement on the server, within a bound.
                await asyncio.gather(*tasks, return_exceptions=True)

        async def _report(self, number: int) -> None:
            try:
                await self._read(number)
            except Exception as failure:
                await self._queue.put(failure)
            else:
                await self._queue.put(None)

    else:

        def run(self) -> Any:
            """What all of them read, as it comes, with its number; an exception in place of what one could not read."""
            threads = [
                threading.Thread(target=self._report, args=(number,), name=f"rowferry partition {number}", daemon=True)
                for number in range(self._count)
            ]
            left = 0
            try:
                for thread in threads:
                    thread.start()
                    left += 1
                while left:
                    item = self._queue.get()
                    left -= item is None or isinstance(item, BaseException)
                    if item is not None:
                        yield item
            finally:
                self._stopped = True
                wait = 0.0
                while left:
                    # Whoever waits to put a batch is let go, and whoever waits for the server is told to stop: again
                    # and again, as a statement may begin behind the word that was to end it.
                    try:
                        item = self._queue.get(timeout=wait)
                        left -= item is None or isinstance(item, BaseException)
                    except queue.Empty:
                        wait = 1.0
                        for connection in list(self._active.values()):
                            self._stop(connection)
                for thread in threads:
                    if thread.ident is not None:
                        thread.join()

        def _report(self, number: int) -> None:
            try:
                self._read(number)
            except BaseException as failure:
                self._queue.put(failure)
            else:
                self._queue.put(None)
