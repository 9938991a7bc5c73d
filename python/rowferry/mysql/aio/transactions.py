"""Transactions: the part of a connection that knows of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..._base.aio.transactions import AsyncSavepoint, AsyncTransaction
from .._isolation import IsolationLevel, isolation_words
from .._texts import quoted_name
from ..constants import COMMAND, SERVER_STATUS
from ..err import NotSupportedError, ProgrammingError
from ._cancel import end_stream

if TYPE_CHECKING:
    from ..._core.mysql import AsyncWire

__all__ = ["AsyncSavepoint", "AsyncTransaction", "Transactional"]


class Transactional:
    """The half of a connection that knows of transactions."""

    if TYPE_CHECKING:
        _autocommit: bool | None

        @property
        def wire(self) -> AsyncWire:
            """The Rust half."""

        async def query(self, sql: str | bytes, unbuffered: bool = False) -> int:
            """Run SQL as it is."""

        async def give_up(self) -> None:
            """Whoever waited for an answer was cancelled."""

    # -- transactions ------------------------------------------------------------------------------------------------

    async def begin(
        self,
        *,
        isolation_level: IsolationLevel | str | None = None,
        read_only: bool | None = None,
        consistent_snapshot: bool = False,
    ) -> None:
        """Begin a transaction; what this connection did before is committed.

        `isolation_level`: for this transaction only, `mysql.IsolationLevel` or its words. `read_only`: True refuses
        changes, False allows them; None is as the session has it. `consistent_snapshot`: what is committed is seen as
        it is now, not as it is when the first statement runs.
        """
        if isolation_level is not None:
            await self.query(f"SET TRANSACTION ISOLATION LEVEL {isolation_words(isolation_level)}")
        how = ["WITH CONSISTENT SNAPSHOT"] if consistent_snapshot else []
        if read_only is not None:
            how.append("READ ONLY" if read_only else "READ WRITE")
        await self.query(f"START TRANSACTION {', '.join(how)}" if how else "BEGIN")

    async def commit(self) -> None:
        """Make the changes of the transaction permanent. Rows that an unbuffered cursor did not fetch are dropped."""
        await self._drop_rows()
        await self.query("COMMIT")

    async def rollback(self) -> None:
        """Undo the changes of the transaction. Rows that an unbuffered cursor did not fetch are dropped."""
        await self._drop_rows()
        await self.query("ROLLBACK")

    async def _drop_rows(self) -> None:
        # Who leaves a transaction in the middle of a result, as SQLAlchemy's connections do, is done with it.
        if self.wire.is_streaming:
            try:
                await end_stream(self)  # type: ignore[arg-type]
            except Exception:
                raise
            except BaseException:
                await self.give_up()
                raise

    async def _execute_command(self, command: int, sql: str | bytes) -> None:
        # What programs that look into asyncmy and PyMySQL call, Tortoise for its savepoints: a query and its answer.
        if command != COMMAND.COM_QUERY:
            raise NotSupportedError(f"command {command} of the protocol: only COM_QUERY goes this way")
        await self.query(sql)

    async def _read_ok_packet(self) -> None:
        # `_execute_command` has read it.
        pass

    async def autocommit(self, value: bool) -> None:
        """Switch whether each statement commits by itself."""
        self._autocommit = bool(value)
        if self._autocommit != self.get_autocommit():
            await self.query("SET AUTOCOMMIT = 1" if value else "SET AUTOCOMMIT = 0")

    def get_autocommit(self) -> bool:
        """Whether each statement commits by itself, as the server says."""
        return bool(self.wire.server_status & SERVER_STATUS.SERVER_STATUS_AUTOCOMMIT)

    autocommit_mode = property(get_autocommit)

    def get_transaction_status(self) -> bool:
        """True while a transaction is open, as the server says."""
        return bool(self.wire.server_status & SERVER_STATUS.SERVER_STATUS_IN_TRANS)

    @property
    def in_transaction(self) -> bool:
        """True while a transaction is under way, as the server says: with autocommit off, from the first statement."""
        return self.get_transaction_status()

    # -- parts of transactions ---------------------------------------------------------------------------------------

    async def set_savepoint(self, name: str) -> None:
        """Set a savepoint in the transaction under way."""
        await self.query(f"SAVEPOINT {quoted_name(name)}")

    async def rollback_to_savepoint(self, name: str) -> None:
        """Undo what was done since the savepoint."""
        await self.query(f"ROLLBACK TO SAVEPOINT {quoted_name(name)}")

    async def release_savepoint(self, name: str) -> None:
        """Forget a savepoint."""
        await self.query(f"RELEASE SAVEPOINT {quoted_name(name)}")

    def transaction(
        self,
        *,
        isolation_level: IsolationLevel | str | None = None,
        read_only: bool | None = None,
        consistent_snapshot: bool = False,
    ) -> AsyncTransaction:
        """`async with connection.transaction():` commits at the end of the block, or rolls back when it raises.

        Works with autocommit on and off; the parameters are those of `begin`. While a transaction is under way already,
        the block is a savepoint in it: only what the block did is undone, and whoever began the transaction ends it.
        Such a block cannot ask for another transaction than the one there is.
        """
        asked = isolation_level is not None or read_only is not None or consistent_snapshot
        if asked and self.in_transaction:
            raise ProgrammingError("a transaction is under way already: it cannot be given another isolation or access")

        def begin() -> Any:
            return self.begin(
                isolation_level=isolation_level, read_only=read_only, consistent_snapshot=consistent_snapshot
            )

        return AsyncTransaction(self, begin)

    def savepoint(self, name: str | None = None) -> AsyncSavepoint:
        """`async with connection.savepoint():` undoes what the block did when it raises; the transaction goes on."""
        return AsyncSavepoint(self, name)

    async def set_isolation_level(self, level: IsolationLevel | str) -> None:
        """From the next transaction on, keep this session's so far apart: `mysql.IsolationLevel`, or its words."""
        await self.query(f"SET SESSION TRANSACTION ISOLATION LEVEL {isolation_words(level)}")
