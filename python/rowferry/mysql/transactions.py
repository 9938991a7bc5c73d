# Made from python/rowferry/mysql/aio/transactions.py by tools/async_to_sync.py: change that file instead.
"""Transactions: the part of a connection that knows of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ._cancel import end_stream
from .constants import COMMAND, SERVER_STATUS
from .err import NotSupportedError

if TYPE_CHECKING:
    from .._core.mysql import Wire

__all__ = ["Transactional"]

ASYNC = False


class Transactional:
    """The half of a connection that knows of transactions."""

    if TYPE_CHECKING:
        _autocommit: bool | None

        @property
        def wire(self) -> Wire:
            """The Rust half."""

        def query(self, sql: str | bytes, unbuffered: bool = False) -> int:
            """Run SQL as it is."""

        def give_up(self) -> None:
            """Whoever waited for an answer was cancelled."""

    # -- transactions ------------------------------------------------------------------------------------------------

    def begin(self) -> None:
        """Begin a transaction."""
        self.query("BEGIN")

    def commit(self) -> None:
        """Make the changes of the transaction permanent. Rows that an unbuffered cursor did not fetch are dropped."""
        self._drop_rows()
        self.query("COMMIT")

    def rollback(self) -> None:
        """Undo the changes of the transaction. Rows that an unbuffered cursor did not fetch are dropped."""
        self._drop_rows()
        self.query("ROLLBACK")

    def _drop_rows(self) -> None:
        # Who leaves a transaction in the middle of a result, as SQLAlchemy's connections do, is done with it.
        if self.wire.is_streaming:
            try:
                end_stream(self)  # type: ignore[arg-type]
            except Exception:
                raise
            except BaseException:
                self.give_up()
                raise

    def _execute_command(self, command: int, sql: str | bytes) -> None:
        # What programs that look into asyncmy and PyMySQL call, Tortoise for its savepoints: a query and its answer.
        if command != COMMAND.COM_QUERY:
            raise NotSupportedError(f"command {command} of the protocol: only COM_QUERY goes this way")
        self.query(sql)

    def _read_ok_packet(self) -> None:
        # `_execute_command` has read it.
        pass

    def autocommit(self, value: bool) -> None:
        """Switch whether each statement commits by itself."""
        self._autocommit = bool(value)
        if self._autocommit != self.get_autocommit():
            self.query("SET AUTOCOMMIT = 1" if value else "SET AUTOCOMMIT = 0")

    def get_autocommit(self) -> bool:
        """Whether each statement commits by itself, as the server says."""
        return bool(self.wire.server_status & SERVER_STATUS.SERVER_STATUS_AUTOCOMMIT)

    autocommit_mode = property(get_autocommit)

    def get_transaction_status(self) -> bool:
        """True while a transaction is open, as the server says."""
        return bool(self.wire.server_status & SERVER_STATUS.SERVER_STATUS_IN_TRANS)
