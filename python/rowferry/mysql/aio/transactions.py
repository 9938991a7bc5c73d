"""Transactions: the part of a connection that knows of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..constants import COMMAND, SERVER_STATUS
from ..err import NotSupportedError
from ._cancel import end_stream

if TYPE_CHECKING:
    from ..._core.mysql import AsyncWire

__all__ = ["Transactional"]

ASYNC = True


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

    async def begin(self) -> None:
        """Begin a transaction."""
        await self.query("BEGIN")

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
