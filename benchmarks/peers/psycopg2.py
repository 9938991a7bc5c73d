"""psycopg2: libpq, simple protocol, literals inlined by the client."""

from __future__ import annotations

import psycopg2

from .base import Address, AutocommitPeer


class Psycopg2(AutocommitPeer):
    """The driver as its documentation uses it."""

    def version(self) -> str:
        return f"psycopg2 {psycopg2.__version__.split()[0]}"

    def connect(self, address: Address) -> None:
        self.connection = psycopg2.connect(address["dsn"])
        self.connection.autocommit = True

    def connect_each(self, address: Address, count: int) -> None:
        for _ in range(count):
            psycopg2.connect(address["dsn"]).close()
