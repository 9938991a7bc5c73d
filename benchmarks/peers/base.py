"""The verbs that a benchmark knows, and how blocking and asyncio drivers carry them out."""

from __future__ import annotations

import abc
import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from .crowd import Crowd

Row = tuple[Any, ...]
Address = dict[str, Any]


@dataclass(frozen=True)
class Beside:
    """What `width` other clients do over and over while the work is measured."""

    sql: str
    parameters: Sequence[Row]
    width: int


class Unsupported(Exception):
    """The driver has no such thing; the contestant is left out of the scenario, and the report says why."""


class Peer(abc.ABC):
    """One driver with one connection."""

    #: How the driver writes its parameter marks; `{}` is the position, counted from 1.
    mark = "?"
    #: False for floors: what they read is not made into rows, so there is nothing to compare.
    brings_rows = True

    @abc.abstractmethod
    def version(self) -> str:
        """The driver's version, and what matters of its set-up."""

    @abc.abstractmethod
    def connect(self, address: Address) -> None:
        """Open the connection. `address` is what the target gave for its kind of client."""

    @abc.abstractmethod
    def close(self) -> None:
        """Close the connection."""

    @abc.abstractmethod
    def select(self, sql: str, parameters: Sequence[Row]) -> list[list[Row]]:
        """Run `sql` once per parameter tuple, one after the other, and return all rows of each run."""

    @abc.abstractmethod
    def write(self, sql: str, rows: Sequence[Row]) -> None:
        """Run `sql` for all `rows` with `executemany`, in one transaction."""

    @abc.abstractmethod
    def execute(self, sql: str) -> None:
        """Run a statement without parameters and rows, and commit."""

    def write_autocommit(self, sql: str, rows: Sequence[Row]) -> None:
        """Run `sql` for all `rows` with `executemany`, where each execution is a transaction of its own."""
        raise Unsupported("no executemany in autocommit mode here")

    def write_each(self, sql: str, rows: Sequence[Row]) -> None:
        """Run `sql` for each of `rows` with `execute`, in one transaction."""
        raise Unsupported("no execute for each row here")

    def write_alone(self, sql: str, rows: Sequence[Row]) -> None:
        """Run `sql` for each of `rows` with `execute`, each in a transaction of its own."""
        raise Unsupported("no execute for each row here")

    def connect_each(self, address: Address, count: int) -> None:
        """Open and close `count` further connections, one after the other."""
        raise Unsupported("no connections to open here")

    def acquire_each(self, address: Address, count: int) -> None:
        """Take the one connection out of a pool and give it back, `count` times."""
        raise Unsupported("the driver has no pool")

    def select_concurrently(self, sql: str, parameters: Sequence[Row], width: int) -> list[list[Row]]:
        """As `select`, with `width` tasks on a connection each, which share the parameters out between them."""
        raise Unsupported("no asyncio here")

    def select_interleaved(self, sql: str, parameters: Sequence[Row]) -> list[list[Row]]:
        """Open a cursor for each parameter tuple and fetch from them in turn, a row at a time."""
        raise Unsupported("no several cursors here")

    def select_pooled(self, sql: str, parameters: Sequence[Row], width: int) -> list[list[Row]]:
        """As `select`, all at once: each takes a connection out of a pool of `width`, which is made when first used."""
        raise Unsupported("no pool here")

    def select_connecting(self, sql: str, parameters: Sequence[Row], width: int) -> list[list[Row]]:
        """As `select_pooled` with a new pool, whose `width` connections are opened first and closed at the end."""
        raise Unsupported("no pool here")

    def work_beside(
        self, address: Address, sql: str, parameters: Sequence[Row], width: int, beside: Beside | None
    ) -> list[list[Row]]:
        """`width` clients share `parameters` out, each with a connection of its own, `beside` others do other things.

        The one result has a row per client: how many rows it has read, and the sum of their first columns.
        """
        raise Unsupported("no clients beside each other here")

    def helpers_cpu_ns(self) -> int:
        """CPU time of other processes that do the peer's work, in nanoseconds."""
        return 0

    def select_arrow(self, sql: str, parameters: Sequence[Row]) -> list[Any]:
        """As `select`, as a `pyarrow.Table` for each run."""
        raise Unsupported("no Arrow here")

    def marks(self, count: int) -> list[str]:
        """The parameter marks for `count` parameters."""
        return [self.mark.format(number) for number in range(1, count + 1)]


class DbapiPeer(Peer):
    """A blocking PEP 249 driver; subclasses say how to connect."""

    mark = "%s"
    connection: Any

    def close(self) -> None:
        self.connection.close()

    def select(self, sql: str, parameters: Sequence[Row]) -> list[list[Row]]:
        results = []
        cursor = self.connection.cursor()
        for row in parameters:
            if row:
                cursor.execute(sql, row)
            else:
                cursor.execute(sql)
            results.append(cursor.fetchall())
        cursor.close()
        return results

    def write(self, sql: str, rows: Sequence[Row]) -> None:
        cursor = self.connection.cursor()
        self.begin(cursor)
        cursor.executemany(sql, rows)
        self.commit(cursor)
        cursor.close()

    def execute(self, sql: str) -> None:
        cursor = self.connection.cursor()
        self.begin(cursor)
        cursor.execute(sql)
        self.commit(cursor)
        cursor.close()

    def write_each(self, sql: str, rows: Sequence[Row]) -> None:
        cursor = self.connection.cursor()
        self.begin(cursor)
        for row in rows:
            cursor.execute(sql, row)
        self.commit(cursor)
        cursor.close()

    def select_interleaved(self, sql: str, parameters: Sequence[Row]) -> list[list[Row]]:
        cursors = []
        for row in parameters:
            cursor = self.connection.cursor()
            cursor.execute(sql, row)
            cursors.append(cursor)
        results: list[list[Row]] = [[] for _ in cursors]
        waiting = list(zip(cursors, results, strict=True))
        while waiting:
            still = []
            for cursor, rows in waiting:
                row = cursor.fetchone()
                if row is not None:
                    rows.append(row)
                    still.append((cursor, rows))
            waiting = still
        for cursor in cursors:
            cursor.close()
        return results

    def begin(self, cursor: Any) -> None:
        """Begin a transaction. PEP 249 drivers do that by themselves."""

    def commit(self, cursor: Any) -> None:
        """End the transaction."""
        self.connection.commit()


class AutocommitPeer(DbapiPeer):
    """A blocking driver whose connection is in autocommit mode, so that reading begins no transaction."""

    _crowd: Crowd | None = None

    def close(self) -> None:
        if self._crowd is not None:
            self._crowd.close()
        super().close()

    def run(self, sql: str, row: Row) -> list[Row]:
        """Run `sql` once and return its rows, if it brings any."""
        with self.connection.cursor() as cursor:
            cursor.execute(sql, row)
            return cursor.fetchall() if cursor.description else []

    def work_beside(
        self, address: Address, sql: str, parameters: Sequence[Row], width: int, beside: Beside | None
    ) -> list[list[Row]]:
        if self._crowd is None:
            self._crowd = Crowd(type(self), address, width, beside.width if beside else 0)
        busy = (beside.sql.format(*self.marks(len(beside.parameters[0]))), beside.parameters) if beside else None
        return [self._crowd.work(sql, parameters, busy)]

    def helpers_cpu_ns(self) -> int:
        return self._crowd.cpu_ns() if self._crowd else 0

    def write_alone(self, sql: str, rows: Sequence[Row]) -> None:
        cursor = self.connection.cursor()
        for row in rows:
            cursor.execute(sql, row)
        cursor.close()

    def begin(self, cursor: Any) -> None:
        cursor.execute("BEGIN")

    def commit(self, cursor: Any) -> None:
        cursor.execute("COMMIT")


class AsyncPeer(Peer):
    """An asyncio driver, with an event loop that lives as long as the connection."""

    mark = "%s"
    uvloop = False
    connection: Any

    @property
    def loop_name(self) -> str:
        """The event loop's name, for the version line."""
        return "uvloop" if self.uvloop else "asyncio"

    def connect(self, address: Address) -> None:
        if self.uvloop:
            import uvloop

            self._runner = asyncio.Runner(loop_factory=uvloop.new_event_loop)
        else:
            self._runner = asyncio.Runner()
        self._runner.run(self.connect_async(address))

    def close(self) -> None:
        self._runner.run(self.close_async())
        self._runner.close()

    def select(self, sql: str, parameters: Sequence[Row]) -> list[list[Row]]:
        return self._runner.run(self.select_async(sql, parameters))

    def write(self, sql: str, rows: Sequence[Row]) -> None:
        self._runner.run(self.write_async(sql, rows))

    def execute(self, sql: str) -> None:
        self._runner.run(self.execute_async(sql))

    @abc.abstractmethod
    async def connect_async(self, address: Address) -> None:
        """Open the connection on the running loop."""

    @abc.abstractmethod
    async def close_async(self) -> None:
        """Close the connection on the running loop."""

    async def select_async(self, sql: str, parameters: Sequence[Row]) -> list[list[Row]]:
        """What `select` does, inside one coroutine: entering the loop is not part of an operation."""
        results = []
        async with self.connection.cursor() as cursor:
            for row in parameters:
                if row:
                    await cursor.execute(sql, row)
                else:
                    await cursor.execute(sql)
                results.append(await cursor.fetchall())
        return results

    async def write_async(self, sql: str, rows: Sequence[Row]) -> None:
        """What `write` does, inside one coroutine."""
        async with self.connection.cursor() as cursor:
            await cursor.executemany(sql, rows)
        await self.connection.commit()

    async def execute_async(self, sql: str) -> None:
        """What `execute` does, inside one coroutine."""
        async with self.connection.cursor() as cursor:
            await cursor.execute(sql)
        await self.connection.commit()
