"""How long a string is: bytes for a client with UTF-8, characters for one whose characters are bytes."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from typing import Any

import pytest
from rowferry import informix

from tests.python.informix.replay import Driver
from tests.servers.rowferry import Rowferry


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rowferry]:
    file = tmp_path_factory.mktemp("lengths") / "app.db"
    with Rowferry.start(file, postgres=False, informix=True) as server:
        yield server


def address(server: Rowferry, locale: str) -> dict[str, Any]:
    host, port = server.informix or ("", 0)
    return {"host": host, "port": port, "user": "u", "database": server.dbname, "client_locale": locale}


@pytest.fixture
def utf8(driver: Driver, server: Rowferry) -> Iterator[Any]:
    with driver.connect(**address(server, "en_US.utf8"), autocommit=True) as connection:
        connection.execute("CREATE TABLE t (k SERIAL, v VARCHAR(5), c CHAR(5))")
        yield connection
        connection.execute("DROP TABLE t")


def test_utf_8_is_cut_where_its_bytes_end(utf8: Any) -> None:
    utf8.execute("INSERT INTO t (v, c) VALUES (?, ?)", ("äöüxyz", "äöüxyz"))
    utf8.execute("INSERT INTO t (v, c) VALUES ('äöüxyz', 'äöüxyz')")
    utf8.execute("INSERT INTO t (v, c) SELECT TRIM('äöüxyz'), v || 'ß' FROM t WHERE k = 1")
    utf8.execute(
        "CREATE PROCEDURE put(a LVARCHAR(50)) DEFINE b VARCHAR(5); LET b = a; INSERT INTO t (v, c) VALUES (b, b); "
        "END PROCEDURE"
    )
    utf8.execute("EXECUTE PROCEDURE put('äöüxyz')")
    utf8.execute("DROP PROCEDURE put")
    assert set(utf8.execute("SELECT v, c FROM t").fetchall()) == {("äö", "äö")}
    counted = "SELECT LENGTH(v), OCTET_LENGTH(v), CHAR_LENGTH(v), OCTET_LENGTH(c), CHAR_LENGTH(c) FROM t WHERE k = 1"
    assert utf8.execute(counted).fetchone() == (4, 4, 2, 5, 3)
    assert utf8.execute("SELECT v[1,3], v[2,4] FROM t WHERE k = 1").fetchone() == ("ä ", " ö")
    utf8.execute("UPDATE t SET v[3,4] = 'ü' WHERE k = 1")
    assert utf8.execute("SELECT v FROM t WHERE k = 1").fetchone() == ("äü",)
    assert utf8.execute("SELECT COUNT(*) FROM t WHERE v = ? OR v = 'äö'", ("äöüxyz",)).fetchone() == (3,)


def test_latin_1_is_cut_where_its_characters_end(utf8: Any, server: Rowferry) -> None:
    with informix.connect(**address(server, "en_US.8859-1"), autocommit=True) as latin:
        latin.execute("INSERT INTO t (v) VALUES (?)", ("äöüxyz",))
        assert latin.execute("SELECT v, LENGTH(v), v[2,4] FROM t").fetchone() == ("äöüxy", 5, "öüx")
    with pytest.raises(informix.DatabaseError, match=r"column \"v\", rowid 1 holds a text of 8 bytes"):
        utf8.execute("SELECT v FROM t").fetchall()
    assert utf8.execute("SELECT v::LVARCHAR(50) FROM t").fetchone() == ("äöüxy",)


def test_what_is_added_to_a_datetime_is_a_span(utf8: Any) -> None:
    utf8.execute("INSERT INTO t (v) VALUES ('x')")
    day = "DATETIME(2026-01-01 00:00:00) YEAR TO SECOND"
    added = utf8.execute(f"SELECT {day} + ?, ? + {day} FROM t", (dt.timedelta(hours=1), dt.timedelta(days=1)))
    assert added.fetchone() == (dt.datetime(2026, 1, 1, 1), dt.datetime(2026, 1, 2))
    taken = utf8.execute(f"SELECT {day} - ? FROM t", (dt.datetime(2025, 12, 31),))
    assert taken.fetchone() == (dt.timedelta(days=1),)
