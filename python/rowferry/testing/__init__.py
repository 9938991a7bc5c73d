"""A fresh database for each test, in milliseconds, with nothing to install or to start.

`rowferry serve` runs in a process of its own, over files in memory, and speaks PostgreSQL's and Informix's wires. With
pytest there is nothing to import: the fixtures `rowferry_postgres` and `rowferry_informix` are there, see
`rowferry.testing.plugin`. `rowferry.testing.unittest` and `rowferry.testing.django` are for who has others.

    from rowferry.testing import Server

    with Server.start() as server:
        template = server.template(migrate)           # once
        with server.database(template) as database:   # for each test: a copy
            psycopg.connect(database.url)
"""

from __future__ import annotations

from ._databases import Database, Prepare, Template
from ._server import Server, ServerFailed

__all__ = ["Database", "Prepare", "Server", "ServerFailed", "Template"]
