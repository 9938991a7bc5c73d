"""Transactions, savepoints, isolation levels and waits for locks: the part of a connection that knows of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ... import exceptions as err
from ..._base.aio.transactions import AsyncSavepoint, AsyncTransaction
from ..._core.informix import AsyncWire, QueryResult
from .._isolation import AS_THE_SERVER, IsolationLevel, default_isolation, isolation_sql, lock_wait_sql
from .._settings import Settings

__all__ = ["AsyncSavepoint", "AsyncTransaction", "Transactional"]

#: The server's numbers for SET LOCK MODE and SET ISOLATION.
SET_LOCK_MODE, SET_ISOLATION = 46, 48
#: What the server says to a COMMIT without a transaction.
NOT_IN_TRANSACTION = -255


class Transactional:
    """The half of a connection that knows of transactions."""

    if TYPE_CHECKING:
        settings: Settings
        _wire: AsyncWire | None
        _autocommit: bool

        @property
        def wire(self) -> AsyncWire:
            """The Rust half."""

        async def _answer(self, answer: Any, sql: str | None = None) -> Any:
            """Wait for an operation of the wire."""

    def _begin_session(self) -> None:
        self._isolation: IsolationLevel | None = self.settings.isolation_level
        self._lock_wait: float | str | None = self.settings.lock_wait
        # Changed since the session began, by us or by a statement of the user's.
        self._isolation_changed = False
        self._lock_wait_changed = False

    async def _prepare_session(self) -> None:
        """What the settings ask for, once logged in."""
        self._begin_session()
        if self._isolation is not None:
            await self._command(isolation_sql(self._isolation))
        if not isinstance(self._lock_wait, str):
            await self._command(lock_wait_sql(self._lock_wait))

    async def _command(self, sql: str, send: Callable[[], Any] | None = None) -> None:
        """Run a statement that belongs to the session; `send` says it without words."""
        try:
            await self._answer(self.wire.execute(sql) if send is None else send(), sql)
        except err.Error as error:
            error.sql = sql
            raise

    def _notice(self, result: QueryResult) -> None:
        """Somebody may have changed the session by a statement of his own."""
        if result.statement_type == SET_ISOLATION:
            self._isolation, self._isolation_changed = None, True
        elif result.statement_type == SET_LOCK_MODE:
            self._lock_wait, self._lock_wait_changed = AS_THE_SERVER, True

    async def _end(self, sql: str, send: Callable[[], Any]) -> None:
        """End the transaction under way, if there is one."""
        wire = self.wire
        if wire.in_transaction:
            await self._command(sql, send)
        elif wire.is_ansi:
            # One is under way that nobody began, or none, since the last one ended.
            try:
                await self._command(sql, send)
            except err.Error as error:
                if error.sqlcode != NOT_IN_TRANSACTION:
                    raise

    async def _commit_by_itself(self) -> None:
        """With autocommit on, in ANSI mode: there a transaction is always under way, and nobody else ends it."""
        if self.wire.is_ansi and not self.wire.in_transaction:
            await self._end("COMMIT WORK", self.wire.commit)

    # -- transactions ------------------------------------------------------------------------------------------------

    @property
    def autocommit(self) -> bool:
        """True when every statement commits by itself. May be changed between transactions."""
        return self._autocommit

    @autocommit.setter
    def autocommit(self, value: bool) -> None:
        if self._wire is not None and self._wire.in_transaction and bool(value) != self._autocommit:
            raise err.ProgrammingError("commit or roll back before you change autocommit")
        self._autocommit = bool(value)

    @property
    def in_transaction(self) -> bool:
        """True while a transaction is under way: begun by the first statement, by `begin` or by BEGIN WORK."""
        return self.wire.in_transaction

    @property
    def is_logged(self) -> bool:
        """True when the database has a log, and thus transactions."""
        return self.wire.is_logged

    @property
    def is_ansi(self) -> bool:
        """True when the database is in ANSI mode, where a transaction is always under way."""
        return self.wire.is_ansi

    async def begin(self) -> None:
        """Begin a transaction at once; with `autocommit` off the first statement does so by itself."""
        await self._commit_by_itself()
        await self._command("BEGIN WORK", self.wire.begin)

    async def _begin_block(self) -> None:
        if not self.is_logged:
            raise err.NotSupportedError("the database has no log, and thus no transactions")
        await self.begin()

    async def commit(self) -> None:
        """Commit. Nothing happens when no transaction is under way, or the database has none."""
        await self._end("COMMIT WORK", self.wire.commit)

    async def rollback(self) -> None:
        """Roll back. Nothing happens when no transaction is under way, or the database has none."""
        await self._end("ROLLBACK WORK", self.wire.rollback)

    async def set_savepoint(self, name: str) -> None:
        """Set a savepoint in the transaction under way."""
        await self._command(f"SAVEPOINT {name}", lambda: self.wire.set_savepoint(name))

    async def rollback_to_savepoint(self, name: str) -> None:
        """Undo what was done since the savepoint."""
        await self._command(f"ROLLBACK TO SAVEPOINT {name}", lambda: self.wire.rollback_to_savepoint(name))

    async def release_savepoint(self, name: str) -> None:
        """Forget a savepoint."""
        await self._command(f"RELEASE SAVEPOINT {name}", lambda: self.wire.release_savepoint(name))

    def transaction(self) -> AsyncTransaction:
        """`async with connection.transaction():` commits at the end of the block, or rolls back when it raises.

        Works with autocommit on and off. While a transaction is under way already, the block is a savepoint in it:
        only what the block did is undone, and whoever began the transaction ends it.
        """
        return AsyncTransaction(self, self._begin_block)

    def savepoint(self, name: str | None = None) -> AsyncSavepoint:
        """`async with connection.savepoint():` undoes what the block did when it raises; the transaction goes on."""
        return AsyncSavepoint(self, name)

    # -- what transactions see, and how long they wait ---------------------------------------------------------------

    @property
    def isolation_level(self) -> IsolationLevel | None:
        """How far transactions are kept apart; None when it is as the server has it, or was set by a statement."""
        return self._isolation

    if True:  # ASYNC
        pass
    else:

        @isolation_level.setter
        def isolation_level(self, level: IsolationLevel | str) -> None:
            self.set_isolation_level(level)

    async def set_isolation_level(self, level: IsolationLevel | str) -> None:
        """Keep transactions so far apart from now on: `informix.IsolationLevel`, or its words."""
        level = IsolationLevel(level)
        await self._command(isolation_sql(level))
        self._isolation, self._isolation_changed = level, True

    @property
    def lock_wait(self) -> float | str | None:
        """How many seconds a statement waits for a lock: 0 not at all, None for ever, "server" as the server has it."""
        return self._lock_wait

    if True:  # ASYNC
        pass
    else:

        @lock_wait.setter
        def lock_wait(self, seconds: float | None) -> None:
            self.set_lock_wait(seconds)

    async def set_lock_wait(self, seconds: float | None) -> None:
        """From now on a statement waits so many seconds for a lock: 0 not at all, None for ever."""
        await self._command(lock_wait_sql(seconds))
        self._lock_wait, self._lock_wait_changed = seconds, True

    async def _restore_session(self) -> None:
        """Roll back, and set isolation level and lock mode back to what the session began with."""
        wire = self.wire
        if self._autocommit:
            await self._commit_by_itself()
        self._autocommit = self.settings.autocommit
        await self._end("ROLLBACK WORK", wire.rollback)
        if self._isolation_changed:
            level = self.settings.isolation_level
            await self._command(isolation_sql(level or default_isolation(wire.is_logged, wire.is_ansi)))
        if self._lock_wait_changed:
            wait = self.settings.lock_wait
            await self._command(lock_wait_sql(0 if isinstance(wait, str) else wait))
        self._begin_session()
