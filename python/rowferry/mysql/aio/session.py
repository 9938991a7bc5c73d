"""The session's state: set up, reset, logged in again."""

from __future__ import annotations

import asyncio
import warnings
from collections import OrderedDict
from typing import TYPE_CHECKING, Any

from ..._base.limits import Limit
from ..._base.records import replace
from .. import err
from .._charsets import charset_by_name
from .._settings import Settings
from ._cancel import CANCEL_GRACE

if TYPE_CHECKING:
    from ..._core.mysql import AsyncWire

__all__ = ["Sessional"]


class Sessional:
    """The part of a connection that sets its session up."""

    if TYPE_CHECKING:
        settings: Settings
        _autocommit: bool | None
        _statements: OrderedDict[Any, Any]

        @property
        def wire(self) -> AsyncWire:
            """The Rust half."""

        def literal(self, obj: Any) -> str:
            """The SQL literal of `obj`."""

        def get_autocommit(self) -> bool:
            """Whether each statement commits by itself, as the server says."""

        async def give_up(self) -> None:
            """Whoever waited for an answer was cancelled."""

        def _abort(self) -> None:
            """Close at once."""

    async def _prepare_session(self) -> None:
        """Make a fresh session what the connection's parameters say: in one round trip, or none."""
        settings = self.settings
        statements = []
        if settings.collation_name or (settings.charset.collation != 45 and settings.charset.name != "utf8"):
            statements.append(self._set_names())
        statements += self._assignments(self.get_autocommit())
        if statements:
            await self._set_up(statements)

    async def reset(self) -> None:
        """Forget all session state but the login: variables, temporary tables, locks, open transaction.

        The session is then set up again as the connection's parameters say. One round trip; an error closes.
        """
        self._statements.clear()
        # Some servers go back to their own character set, and all to their own `autocommit`.
        await self._set_up([self._set_names(), *self._assignments(None)], True)

    async def change_user(self, user: str, password: str | bytes = "", database: str | None = None) -> None:
        """Log in as another user on the same connection; all session state is forgotten. An error closes."""
        secret = password.encode() if isinstance(password, str) else password
        settings = replace(self.settings, user=user, password=secret, database=database or "", more_passwords=[])
        self._statements.clear()
        try:
            await self.wire.change_user(settings)
        except BaseException:
            self._abort()
            raise
        self.settings = settings
        await self._set_up([self._set_names(), *self._assignments(None)])

    def _set_names(self) -> str:
        charset, collation = self.settings.charset, self.settings.collation_name
        return f"SET NAMES {charset.name}" + (f" COLLATE {collation}" if collation else "")

    def _assignments(self, autocommit: bool | None) -> list[str]:
        """What the parameters ask for; `autocommit` as it is now, None when that is not known."""
        settings = self.settings
        assignments = []
        if settings.sql_mode is not None:
            assignments.append("sql_mode=" + self.literal(settings.sql_mode))
        if settings.time_zone is not None:
            assignments.append("time_zone=" + self.literal(settings.time_zone))
        if settings.init_command is not None:
            # It may change what comes before, and must not have the last word on `autocommit`.
            autocommit = None
        sets = ["SET " + ", ".join(assignments)] if assignments else []
        transactions = [f"ISOLATION LEVEL {settings.isolation_level}"] if settings.isolation_level is not None else []
        if settings.read_only:
            transactions.append("READ ONLY")
        if transactions:
            sets.append("SET SESSION TRANSACTION " + ", ".join(transactions))
        if settings.init_command is not None:
            sets.append(settings.init_command)
        if self._autocommit is not None and self._autocommit != autocommit:
            sets.append(f"SET autocommit={int(self._autocommit)}")
        return sets

    async def _set_up(self, statements: list[str], reset: bool = False) -> None:
        wire = self.wire
        cancelled: BaseException | None = None
        try:
            if True:  # ASYNC
                answer = wire.set_up(statements, reset)
                try:
                    await asyncio.shield(answer)
                except asyncio.CancelledError as stop:
                    # Soon over by itself, and then the session is whole.
                    cancelled = stop
                    async with Limit(CANCEL_GRACE):
                        await answer
            else:
                wire.set_up(statements, reset)
        except BaseException:
            # Half of a session is none.
            self._abort()
            raise
        if cancelled is not None:
            raise cancelled

    async def select_db(self, db: str) -> None:
        """Change the default database."""
        try:
            await self.wire.select_database(db)
        except Exception:
            raise
        except BaseException:
            await self.give_up()
            raise
        self.settings.database = db

    async def set_charset(self, charset: str) -> None:
        """The same as `set_character_set`, which is to be used instead."""
        warnings.warn("'set_charset' is deprecated, use 'set_character_set' instead", DeprecationWarning, stacklevel=2)
        await self.set_character_set(charset)

    async def set_character_set(self, charset: str, collation: str | None = None) -> None:
        """Change the connection's character set, also for sessions after `reset`."""
        known = charset_by_name(charset)
        settings = self.settings
        if self.wire.codec != known.codec and not self.wire.tracks_session:
            raise err.NotSupportedError("the server does not tell of changes: give `charset` to connect() instead")
        self.settings = replace(settings, charset=known, collation_name=collation)
        try:
            await self.wire.set_up([self._set_names()])
        except Exception:
            self.settings = settings
            raise
        except BaseException:
            await self.give_up()
            raise
