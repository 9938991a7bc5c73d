"""Triggers made at the Informix door, and writes at the PostgreSQL door beside it."""

from __future__ import annotations

from pathlib import Path

import psycopg
import pytest
from rowferry import informix

from tests.servers.rowferry import Rowferry


def test_a_trigger_fires_for_writes_at_both_doors(tmp_path: Path) -> None:
    with Rowferry.start(tmp_path / "app.db", informix=True) as server:
        assert server.informix is not None
        host, port = server.informix
        url = f"informix://informix:in4mix@{host}:{port}/{server.dbname}"
        with (
            informix.connect(url, autocommit=True) as ours,
            psycopg.connect(server.postgres_dsn, autocommit=True) as theirs,
        ):
            cursor = ours.cursor()
            cursor.execute("CREATE TABLE stock (num INT PRIMARY KEY, price DECIMAL(8,2))")
            cursor.execute("CREATE TABLE told (num INT, old DECIMAL(8,2), new DECIMAL(8,2))")
            cursor.execute(
                "CREATE TRIGGER dearer UPDATE OF price ON stock REFERENCING OLD AS o NEW AS n"
                " FOR EACH ROW WHEN (n.price > o.price) (INSERT INTO told VALUES (o.num, o.price, n.price))"
            )
            cursor.execute("INSERT INTO stock VALUES (1, 10)")
            theirs.execute("INSERT INTO stock VALUES (2, 20)")
            cursor.execute("UPDATE stock SET price = price + 1 WHERE num = 1")
            theirs.execute("UPDATE stock SET price = price * 2")
            theirs.execute("UPDATE stock SET price = 0")
            found = theirs.execute("SELECT num, old::text, new::text FROM told ORDER BY num, old").fetchall()
            assert found == [(1, "10.00", "11.00"), (1, "11.00", "22.00"), (2, "20.00", "40.00")]
            cursor.execute("SELECT COUNT(*) FROM told")
            assert cursor.fetchone() == (3,)
            cursor.execute("DROP TRIGGER dearer")
            theirs.execute("UPDATE stock SET price = 5")
            assert theirs.execute("SELECT count(*) FROM told").fetchone() == (3,)


def test_a_trigger_that_refuses_a_row_refuses_it_at_both_doors(tmp_path: Path) -> None:
    with Rowferry.start(tmp_path / "app.db", informix=True) as server:
        assert server.informix is not None
        host, port = server.informix
        url = f"informix://informix:in4mix@{host}:{port}/{server.dbname}"
        with (
            informix.connect(url, autocommit=True) as ours,
            psycopg.connect(server.postgres_dsn, autocommit=True) as theirs,
        ):
            cursor = ours.cursor()
            cursor.execute("CREATE TABLE stock (num INT PRIMARY KEY)")
            cursor.execute("CREATE PROCEDURE refuse() RAISE EXCEPTION -746, 0, 'not this one'; END PROCEDURE")
            cursor.execute(
                "CREATE TRIGGER kept INSERT ON stock REFERENCING NEW AS n"
                " FOR EACH ROW WHEN (n.num > 9) (EXECUTE PROCEDURE refuse())"
            )
            with pytest.raises(informix.Error, match="not this one"):
                cursor.execute("INSERT INTO stock VALUES (10)")
            with pytest.raises(psycopg.Error, match="not this one"):
                theirs.execute("INSERT INTO stock VALUES (11)")
            theirs.execute("INSERT INTO stock VALUES (1)")
            cursor.execute("SELECT num FROM stock")
            assert cursor.fetchall() == [(1,)]
