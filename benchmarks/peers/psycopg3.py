"""psycopg 3 with its C accelerator."""

from __future__ import annotations

import psycopg

from .base import Address, AutocommitPeer


class Psycopg3(AutocommitPeer):
    """Text results, its default; statements are prepared after five runs, its default."""

    binary = False

    def version(self) -> str:
        return f"psycopg {psycopg.__version__} ({psycopg.pq.__impl__}), {'binary' if self.binary else 'text'}"

    def connect(self, address: Address) -> None:
        self.connection = psycopg.connect(address["dsn"], autocommit=True, cursor_factory=psycopg.Cursor)
        if self.binary:
            self.connection.cursor_factory = _BinaryCursor

    def close(self) -> None:
        # PGlite's socket server hands one session from connection to connection, prepared statements included.
        self.connection.execute("DEALLOCATE ALL")
        super().close()

    def connect_each(self, address: Address, count: int) -> None:
        for _ in range(count):
            psycopg.connect(address["dsn"]).close()


class _BinaryCursor(psycopg.Cursor):
    """A cursor that asks for binary results."""

    def __init__(self, connection, *, row_factory=None) -> None:
        super().__init__(connection, row_factory=row_factory or connection.row_factory)
        self.format = psycopg.pq.Format.BINARY


class Psycopg3Binary(Psycopg3):
    """Binary results."""

    binary = True
