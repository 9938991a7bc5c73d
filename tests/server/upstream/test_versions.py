"""PostgreSQL's newer versions behind: a part of this folder's tests.

`make test-postgres-versions` runs all of them there.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from rowferry import informix

from tests.servers import npm
from tests.servers.availability import not_tested
from tests.servers.postgres import VERSIONS, PostgreSQL
from tests.servers.rowferry import Rowferry

from .conftest import make_database
from .test_mysql_alike import compare


@pytest.fixture(scope="module", params=VERSIONS)
def newer(request: pytest.FixtureRequest) -> Iterator[PostgreSQL]:
    """A server of each version."""
    version: int = request.param
    try:
        server = PostgreSQL.start(tcp=True, version=version)
    except npm.Unavailable as reason:
        not_tested(f"PostgreSQL {version} behind", reason)
    with server:
        assert server.version == str(version)
        yield server


def test_mysqls_clients_are_answered_as_from_a_file(newer: PostgreSQL, tmp_path: Path) -> None:
    compare(newer, tmp_path)


def test_informixs_and_postgresqls_clients_see_what_the_server_has(newer: PostgreSQL) -> None:
    url, behind = make_database(newer)
    with psycopg.connect(behind, autocommit=True) as connection:
        connection.execute("CREATE TABLE item (id int PRIMARY KEY, name varchar(20), price numeric(8,2), day date)")
        connection.execute(
            "INSERT INTO item SELECT i, 'item ' || i, i / 4.0, date '2026-01-01' + i FROM generate_series(1, 5000) i"
        )
    with Rowferry.start(url, informix=True) as server:
        assert server.informix is not None
        host, port = server.informix
        sql = "SELECT id, name, price, day FROM item WHERE price > 10 ORDER BY id"
        with (
            informix.connect(f"informix://ada@{host}:{port}/{server.dbname}") as door,
            psycopg.connect(server.postgres_dsn) as relayed,
            psycopg.connect(behind) as itself,
        ):
            cursor = door.cursor()
            cursor.execute("UPDATE item SET price = price + 1, day = day + 30 UNITS DAY WHERE MOD(id, 7) = 0")
            assert cursor.rowcount == 714
            door.commit()
            cursor.execute(sql)
            rows = [tuple(row) for row in cursor.fetchall()]
            assert rows == itself.execute(sql).fetchall() == relayed.execute(sql).fetchall()
            assert len(rows) > 4_900
            with pytest.raises(informix.IntegrityError, match="-268"):
                cursor.execute("INSERT INTO item VALUES (1, 'again', 1, TODAY)")
