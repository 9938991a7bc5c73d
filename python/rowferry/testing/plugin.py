"""The pytest plugin: nothing to import, it is there when rowferry is installed.

    def test_orders(rowferry_postgres):
        with psycopg.connect(rowferry_postgres.url) as connection: ...

What every test's database begins with is said once, in `conftest.py`; it runs once in a session, and every test has its
own copy:

    @pytest.fixture(scope="session")
    def rowferry_prepare():
        return migrate        # migrate(database), or async

| fixture | scope | |
|---|---|---|
| `rowferry_postgres` | test | a fresh `Database`, for clients of PostgreSQL |
| `rowferry_informix` | test | the same, filled by `rowferry_prepare_informix` |
| `rowferry_prepare`, `rowferry_prepare_informix` | session | what fills a new database; override them |
| `rowferry_template`, `rowferry_template_informix` | session | the database that is copied |
| `rowferry_server` | session | the `Server`; one for each process of pytest-xdist |
| `rowferry_options` | session | further arguments of `rowferry serve`; override it |
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pytest

from . import Database, Prepare, Server, Template

__all__ = [
    "rowferry_informix",
    "rowferry_options",
    "rowferry_postgres",
    "rowferry_prepare",
    "rowferry_prepare_informix",
    "rowferry_server",
    "rowferry_template",
    "rowferry_template_informix",
]


@pytest.fixture(scope="session")
def rowferry_options() -> Sequence[str]:
    """Further arguments of `rowferry serve`; none unless you override it."""
    return ()


@pytest.fixture(scope="session")
def rowferry_server(rowferry_options: Sequence[str]) -> Iterator[Server]:
    """The server of this process."""
    with Server.start(options=rowferry_options) as server:
        yield server


@pytest.fixture(scope="session")
def rowferry_prepare() -> Prepare | None:
    """What fills the database that `rowferry_postgres` is a copy of; nothing unless you override it."""
    return None


@pytest.fixture(scope="session")
def rowferry_prepare_informix() -> Prepare | None:
    """What fills the database that `rowferry_informix` is a copy of; nothing unless you override it."""
    return None


@pytest.fixture(scope="session")
def rowferry_template(rowferry_server: Server, rowferry_prepare: Prepare | None) -> Template | None:
    """What `rowferry_postgres` is a copy of; None is an empty database."""
    return None if rowferry_prepare is None else rowferry_server.template(rowferry_prepare)


@pytest.fixture(scope="session")
def rowferry_template_informix(rowferry_server: Server, rowferry_prepare_informix: Prepare | None) -> Template | None:
    """What `rowferry_informix` is a copy of; None is an empty database."""
    return None if rowferry_prepare_informix is None else rowferry_server.template(rowferry_prepare_informix)


@pytest.fixture
def rowferry_postgres(rowferry_server: Server, rowferry_template: Template | None) -> Iterator[Database]:
    """A fresh database for this test, for clients of PostgreSQL: `rowferry_postgres.url`."""
    with rowferry_server.database(rowferry_template) as database:
        yield database


@pytest.fixture
def rowferry_informix(rowferry_server: Server, rowferry_template_informix: Template | None) -> Iterator[Database]:
    """A fresh database for this test, for clients of Informix: `rowferry_informix.informix_parameters`."""
    with rowferry_server.database(rowferry_template_informix) as database:
        yield database
