# Made from python/rowferry/_base/aio/partitions.py by tools/async_to_sync.py: change that file instead.
"""One query over several connections at once: what is the same for every kind of server."""

from __future__ import annotations

import abc
import queue
import threading
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any

from .. import exceptions as err
from .._core import ArrowBatches
from . import ranges

__all__ = ["Readers", "check", "cuts_of", "gathered"]

#: Rows of a batch within a table.
TABLE_BATCH = 131_072


def check(partitions: int, size: int) -> None:
    """Refuse numbers that make no sense."""
    if partitions < 1 or size < 1:
        raise err.ProgrammingError("there is at least one partition, and at least one row in a batch")


def cuts_of(ask: Callable[[str], Any], query: str, column: str, partitions: int, even: bool) -> list[Any]:
    """Where the ranges of a column begin, without the first: fewer than `partitions` values, perhaps none.

    `ask` answers the rows of a statement; with `even` the ranges have equally many rows, whatever they hold.
    """
    if partitions == 1:
        return []
    if not even:
        low, high = (ask(ranges.extremes(query, column)))[0]
        if low is None:
            return []
        if ranges.can_interpolate(low) and ranges.can_interpolate(high):
            return ranges.cuts_between(low, high, partitions)
    least = ask(ranges.quantiles(query, column, partitions))
    # The least of all begins no range of its own.
    return list(dict.fromkeys(row[1] for row in least[1:]))


def gathered(batches: Any, pyarrow: Any) -> Any:
    """All batches in the order of their ranges: a `pyarrow.Table`, or a list of rows where there is no pyarrow."""
    parts: dict[int, list[Any]] = {}
    for number, batch in batches:
        parts.setdefault(number, []).append(batch)
    ordered = [batch for _, part in sorted(parts.items()) for batch in part]
    if pyarrow is None:
        return [row for batch in ordered for row in batch]
    return pyarrow.table(ArrowBatches(ordered))


class Readers(abc.ABC):
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
        self._queue: queue.Queue[Any] = queue.Queue(count)

    @abc.abstractmethod
    def _lend(self) -> AbstractContextManager[Any]:
        """One more connection."""

    @abc.abstractmethod
    def _cursor(self, connection: Any) -> AbstractContextManager[Any]:
        """A cursor whose rows come as they are fetched."""

    @abc.abstractmethod
    def _begin(self, cursor: Any, number: int) -> None:
        """Run the statement."""

    @abc.abstractmethod
    def _stop(self, connection: Any) -> None:
        """Have the server end what the connection runs, from another thread; it may have ended."""

    def _read(self, number: int) -> None:
        """Read one range, on a connection of its own."""
        if number < len(self._lent):
            self._read_on(number, self._lent[number])
        else:
            with self._lend() as connection:
                self._read_on(number, connection)

    def _read_on(self, number: int, connection: Any) -> None:
        self._active[number] = connection
        try:
            with self._cursor(connection) as cursor:
                if self._stopped:
                    return
                self._begin(cursor, number)
                empty = True
                while not self._stopped:
                    batch: Any
                    if self._rows:
                        batch = cursor.fetchmany(self._size)
                    else:
                        batch = cursor._next_batch(self._size)
                    if not batch:
                        break
                    empty = False
                    self._queue.put((number, batch))
                if empty and number == 0 and not self._rows and not self._stopped:
                    # Without any row there are columns.
                    self._queue.put((number, cursor._empty_batch()))
        finally:
            self._active.pop(number, None)

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
