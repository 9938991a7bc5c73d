"""pg_dump of a file whose tables were made at the Informix door: what has an equal is written in PostgreSQL's words."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from rowferry import informix

from tests.clients.pg_dump.dumps import dump, load
from tests.servers.postgres import PostgreSQL
from tests.servers.rowferry import Rowferry

pytestmark = pytest.mark.timeout(300)

MADE = (
    """CREATE TABLE customer (
        id SERIAL PRIMARY KEY, name VARCHAR(40) NOT NULL, code CHAR(4) DEFAULT 'none', since DATE DEFAULT TODAY,
        founded DATE DEFAULT '05/04/1999', seen DATETIME YEAR TO SECOND DEFAULT CURRENT YEAR TO SECOND,
        opens DATETIME HOUR TO MINUTE DEFAULT CURRENT HOUR TO MINUTE, who VARCHAR(32) DEFAULT USER,
        active BOOLEAN DEFAULT 't', credit DECIMAL(8,2) DEFAULT 12.5,
        CHECK (code[1,1] MATCHES 'n*' OR credit > 0))""",
    "CREATE INDEX upper_name ON customer (UPPER(name))",
    "CREATE TABLE sale (customer INT REFERENCES customer, amount DECIMAL(8,2), day DATE)",
    "INSERT INTO customer (id, name) VALUES (0, 'Ann')",
    "INSERT INTO customer (id, name, credit) VALUES (0, 'Bob', 3)",
    "INSERT INTO sale VALUES (1, 10, TODAY)",
    "INSERT INTO sale VALUES (1, 15, TODAY - 400 UNITS DAY)",
    """CREATE VIEW totals (who, total, halves, latest) AS
        SELECT c.name, NVL(SUM(s.amount), 0), COUNT(*) / 2, MAX(s.day)
        FROM customer c LEFT JOIN sale s ON s.customer = c.id
        WHERE c.name MATCHES '*n*' OR c.name[1] = 'B' GROUP BY c.name""",
    "CREATE VIEW recent AS SELECT amount, day FROM sale WHERE day > TODAY - 30 UNITS DAY",
)


@pytest.fixture
def made(tmp_path: Path) -> Iterator[Rowferry]:
    with Rowferry.start(tmp_path / "shop.db", args=["--informix", "127.0.0.1:0"]) as server:
        host, port = server.informix or ("", 0)
        with informix.connect(host=host, port=port, user="informix", database="shop", autocommit=True) as connection:
            for statement in MADE:
                connection.execute(statement)
        yield server


def test_a_dump_of_what_informix_made_restores_into_postgresql(made: Rowferry) -> None:
    printed = dump(made.postgres_dsn)
    assert "TODAY" not in printed and "MATCHES" not in printed and "NVL" not in printed, printed
    with PostgreSQL.start() as postgres:
        load(postgres.dsn, printed)
        with psycopg.connect(postgres.dsn, autocommit=True) as connection:
            rows = connection.execute("SELECT who, total, halves, latest = current_date FROM totals ORDER BY who")
            assert [(who, total, float(halves), last) for who, total, halves, last in rows] == [
                ("Ann", 25, 1.0, True),
                ("Bob", 0, 0.5, None),
            ]
            assert connection.execute("SELECT amount FROM recent").fetchall() == [(10,)]
            connection.execute("INSERT INTO customer (name) VALUES ('Cid')")
            row = connection.execute(
                "SELECT id, trim(code), since = current_date, founded::text, date_trunc('second', seen) = seen, "
                "who = current_user, active, credit FROM customer WHERE name = 'Cid'"
            ).fetchone()
            assert row is not None
            assert row[:-1] == (3, "none", True, "1999-05-04", True, True, True)
            assert row[-1] == 12.5
            with pytest.raises(psycopg.errors.CheckViolation):
                connection.execute("INSERT INTO customer (name, code, credit) VALUES ('Dan', 'abc', 0)")
