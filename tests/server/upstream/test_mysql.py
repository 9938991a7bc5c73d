"""MySQL's clients in front of a PostgreSQL server."""

from __future__ import annotations

import contextlib
import datetime as dt
import shutil
import subprocess
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import psycopg
import pymysql
import pytest
import sqlalchemy as sa
from pymysql import err
from pymysql.constants import CLIENT
from rowferry import informix
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column, relationship

from tests.servers.availability import not_tested
from tests.servers.postgres import PostgreSQL
from tests.servers.process import ServerFailed
from tests.servers.rowferry import Rowferry

from .conftest import SCHEMA, make_database


class MySQLFront:
    """Ours with all doors, and the database behind it."""

    def __init__(self, server: Rowferry, behind: str, port: int | None = None) -> None:
        self.server = server
        self.behind = behind
        #: Where the server behind listens.
        self.port = port

    def connect(self, **options: Any) -> pymysql.connections.Connection[Any]:
        assert self.server.mysql is not None
        host, port = self.server.mysql
        return pymysql.connect(host=host, port=port, user="ada", database=self.server.dbname, **options)

    def ask(self, sql: str) -> list[tuple[Any, ...]]:
        with psycopg.connect(self.behind, autocommit=True) as connection:
            cursor = connection.execute(sql)  # type: ignore[arg-type]
            return cursor.fetchall() if cursor.description else []


@pytest.fixture(scope="session")
def start(postgres: PostgreSQL) -> Callable[..., MySQLFront]:
    def start(schema: str = "", *, beside: Path | None = None, args: tuple[str, ...] = ()) -> MySQLFront:
        url, behind = make_database(postgres)
        if schema:
            with psycopg.connect(behind, autocommit=True) as connection:
                connection.execute(schema)  # type: ignore[arg-type]
        kept = ("--beside", str(beside)) if beside else ()
        server = Rowferry.start(url, mysql=True, informix=True, args=("--install", *kept, *args))
        return MySQLFront(server, behind, postgres.port)

    return start


@pytest.fixture
def front(start: Callable[..., MySQLFront], tmp_path: Path) -> Iterator[MySQLFront]:
    started = start(SCHEMA, beside=tmp_path / "beside.db")
    with started.server:
        yield started


def fails(cursor: Any, sql: str, *values: Any) -> tuple[int, str]:
    with pytest.raises(err.Error) as failed:
        cursor.execute(sql, values or None)
    number, message = failed.value.args
    return number, message


def test_the_door_wants_its_schema_to_be_there(postgres: PostgreSQL) -> None:
    url, behind = make_database(postgres)
    with pytest.raises(ServerFailed, match="start the server with --install once"):
        Rowferry.start(url, postgres=False, mysql=True)
    with Rowferry.start(url, postgres=False, mysql=True, args=("--install",)):
        pass
    with Rowferry.start(url, postgres=False, mysql=True):
        pass
    with psycopg.connect(behind, autocommit=True) as connection:
        connection.execute(
            "CREATE OR REPLACE FUNCTION rowferry.version() RETURNS integer LANGUAGE sql IMMUTABLE AS 'SELECT 0'"
        )
    with pytest.raises(ServerFailed, match="in this version"):
        Rowferry.start(url, postgres=False, mysql=True)


def test_a_table_is_made_filled_asked_and_changed(front: MySQLFront) -> None:
    with front.connect() as connection, connection.cursor() as cursor:
        cursor.execute(
            "CREATE TABLE book (id INT UNSIGNED AUTO_INCREMENT PRIMARY KEY, title VARCHAR(40) NOT NULL, "
            "kind ENUM('new', 'old') DEFAULT 'new', at DATETIME(3), pages SMALLINT UNSIGNED, price DECIMAL(8,2), "
            "UNIQUE KEY by_title (title), KEY by_at (at))"
        )
        rows = [
            ("Äpfel", "old", dt.datetime(2024, 2, 29, 1, 2, 3, 456_000), 65535, Decimal("9.50")),
            ("Birnen", "NEW", None, 1, None),
        ]
        sql = "INSERT INTO book (title, kind, at, pages, price) VALUES (%s, %s, %s, %s, %s)"
        assert cursor.executemany(sql, rows) == 2
        assert (cursor.lastrowid, connection.insert_id()) == (1, 1)
        connection.commit()
        # Case and accents say nothing.
        cursor.execute("SELECT id, title, kind, at, pages, price FROM book WHERE title = 'APFEL'")
        assert cursor.fetchall() == ((1, *rows[0]),)
        cursor.execute("SELECT title FROM book WHERE title LIKE 'a%el' OR title LIKE 'b\\_%'")
        assert cursor.fetchall() == (("Äpfel",),)
        cursor.execute("INSERT INTO book (title) VALUES ('x'), ('y')")
        cursor.execute("SELECT LAST_INSERT_ID()")
        assert cursor.fetchone() == (3,)
        connection.rollback()
        assert cursor.execute("SELECT * FROM book") == 2
        assert cursor.execute("UPDATE book SET pages = 1") == 1
        assert cursor.execute("DELETE FROM book WHERE kind = 'new'") == 1
        connection.commit()
    assert front.ask("SELECT id, title, kind, pages FROM book") == [(1, "Äpfel", "old", 1)]
    types = "SELECT column_name, data_type FROM information_schema.columns WHERE table_name = 'book' ORDER BY 1"
    assert ("id", "bigint") in front.ask(types)


def test_errors_have_mysqls_numbers(front: MySQLFront) -> None:
    with front.connect(autocommit=True) as connection, connection.cursor() as cursor:
        cursor.execute(
            "CREATE TABLE p (id INT PRIMARY KEY, name VARCHAR(10) NOT NULL, n TINYINT UNSIGNED, UNIQUE KEY k (name))"
        )
        cursor.execute("CREATE TABLE c (id INT PRIMARY KEY, pid INT, FOREIGN KEY (pid) REFERENCES p (id))")
        cursor.execute("INSERT INTO p VALUES (1, 'one', 1)")
        cursor.execute("INSERT INTO c VALUES (1, 1)")
        assert fails(cursor, "INSERT INTO p VALUES (2, 'ONE', 1)") == (1062, "Duplicate entry 'ONE' for key 'p.k'")
        assert fails(cursor, "INSERT INTO p VALUES (2, NULL, 1)")[0] == 1048
        assert fails(cursor, "INSERT INTO p VALUES (2, 'two', 256)")[0] == 1264
        assert fails(cursor, "INSERT INTO p VALUES (2, 'much too long', 1)")[0] == 1406
        assert fails(cursor, "INSERT INTO c VALUES (2, 9)")[0] == 1452
        assert fails(cursor, "DELETE FROM p")[0] == 1451
        assert fails(cursor, "SELECT * FROM nowhere")[0] == 1146
        assert fails(cursor, "SELECT nothing FROM p")[0] == 1054
        for sql, named in [
            ("SELECT id FROM p WHERE name REGEXP '\\\\w'", "REGEXP"),
            ("SELECT id FROM p WHERE SOUNDEX(name) = 'o'", "SOUNDEX"),
        ]:
            number, message = fails(cursor, sql)
            assert number == 1235 and named in message and "mysql_" not in message
        # An error undoes its statement alone.
        connection.begin()
        cursor.execute("INSERT INTO p VALUES (3, 'three', 3)")
        fails(cursor, "INSERT INTO p VALUES (3, 'four', 3)")
        cursor.execute("INSERT INTO p VALUES (4, 'four', 4)")
        connection.commit()
        cursor.execute("SELECT id FROM p ORDER BY id")
        assert cursor.fetchall() == ((1,), (3,), (4,))


def test_rows_that_are_there_already(front: MySQLFront) -> None:
    with front.connect(autocommit=True) as connection, connection.cursor() as cursor:
        cursor.execute(
            "CREATE TABLE w (id INT AUTO_INCREMENT PRIMARY KEY, word VARCHAR(20) UNIQUE, seen INT DEFAULT 1)"
        )
        cursor.execute("INSERT INTO w (word) VALUES ('a'), ('b')")
        upsert = "INSERT INTO w (word) VALUES (%s) ON DUPLICATE KEY UPDATE id = LAST_INSERT_ID(id), seen = seen + 1"
        assert cursor.execute(upsert, ("B",)) == 2
        assert cursor.lastrowid == 2
        assert cursor.execute("INSERT INTO w (word) VALUES ('a') ON DUPLICATE KEY UPDATE seen = 1") == 0
        assert (
            cursor.execute(
                "INSERT INTO w (word, seen) VALUES ('c', 5), ('A', 9) ON DUPLICATE KEY UPDATE seen = VALUES(seen)"
            )
            == 3
        )
        assert cursor.execute("INSERT IGNORE INTO w (word) VALUES ('C'), ('d')") == 1
        cursor.execute("SELECT word, seen FROM w ORDER BY word")
        assert cursor.fetchall() == (("a", 9), ("b", 2), ("c", 5), ("d", 1))
        cursor.execute("CREATE TABLE kv (k VARCHAR(9) PRIMARY KEY, v INT)")
        assert cursor.execute("REPLACE INTO kv VALUES ('x', 1), ('y', 2)") == 2
        assert cursor.execute("REPLACE INTO kv VALUES ('X', 3), ('z', 4)") == 3
        cursor.execute("SELECT k, v FROM kv ORDER BY k")
        assert cursor.fetchall() == (("X", 3), ("y", 2), ("z", 4))
        # A row that is chosen for its place is nobody else's.
        assert cursor.execute("UPDATE kv SET v = 0 ORDER BY v DESC LIMIT 1") == 1
        cursor.execute("SELECT k FROM kv WHERE v = 0")
        assert cursor.fetchall() == (("z",),)
    with front.connect(autocommit=True, client_flag=CLIENT.FOUND_ROWS) as connection, connection.cursor() as cursor:
        assert cursor.execute("UPDATE kv SET v = 3 WHERE k = 'x'") == 1
        assert cursor.execute("INSERT INTO kv VALUES ('x', 3) ON DUPLICATE KEY UPDATE v = 3") == 1
        assert cursor.execute("INSERT INTO kv VALUES ('x', 3) ON DUPLICATE KEY UPDATE v = 4") == 2


def warnings(cursor: Any) -> list[int]:
    cursor.execute("SHOW WARNINGS")
    return [row[1] for row in cursor.fetchall()]


def test_rows_are_changed_one_by_one_where_each_may_be_refused(front: MySQLFront) -> None:
    with front.connect(autocommit=True) as connection, connection.cursor() as cursor:
        cursor.execute(
            "CREATE TABLE k (id INT AUTO_INCREMENT PRIMARY KEY, a VARCHAR(5) UNIQUE, b INT UNIQUE, n TINYINT DEFAULT 7)"
        )
        cursor.execute("CREATE TABLE c (id INT PRIMARY KEY, kid INT, FOREIGN KEY (kid) REFERENCES k (id))")
        cursor.execute("INSERT INTO k (a, b) VALUES ('x', 1), ('y', 2)")
        # A warning for each row that is passed over, and for each value that does not fit.
        assert cursor.execute("INSERT IGNORE INTO k (a, b) VALUES ('X', 5), ('z', 2), ('z', 3)") == 1
        assert warnings(cursor) == [1062, 1062]
        assert cursor.execute("INSERT IGNORE INTO k (a, n) VALUES ('much too long', 300)") == 1
        assert warnings(cursor) == [1265, 1264]
        assert cursor.execute("INSERT IGNORE INTO c VALUES (1, 1), (2, 99)") == 1
        assert warnings(cursor) == [1452]
        assert cursor.execute("UPDATE IGNORE k SET b = 1 WHERE id = 2") == 0
        assert warnings(cursor) == [1062]
        cursor.execute("DELETE IGNORE FROM k WHERE id IN (1, 2)")
        assert warnings(cursor) == [1451]
        cursor.execute("SELECT a, b, n FROM k ORDER BY id")
        assert cursor.fetchall() == (("x", 1, 7), ("z", 3, 7), ("much ", None, 127))
        # Several keys: the row of the first is changed, and all give way to REPLACE.
        upsert = "INSERT INTO k (a, b) VALUES ('z', 1) ON DUPLICATE KEY UPDATE n = n + 1, id = LAST_INSERT_ID(id)"
        assert cursor.execute(upsert) == 2
        cursor.execute("SELECT a, n FROM k WHERE n = 8")
        assert cursor.fetchall() == (("z", 8),)
        assert (
            cursor.execute("INSERT INTO k (a, b) VALUES ('new', 50), ('neww', 50) ON DUPLICATE KEY UPDATE n = 0") == 3
        )
        assert cursor.execute("REPLACE INTO k (id, a, b, n) VALUES (90, 'z', 50, 3)") == 3
        cursor.execute("SELECT id, a, b, n FROM k ORDER BY id")
        assert [row[1:] for row in cursor.fetchall()] == [("x", 1, 7), ("much ", None, 127), ("z", 50, 3)]
        assert cursor.execute("UPDATE k SET id = id + 1 WHERE id > 1 ORDER BY id DESC") == 2
        # A failure undoes the whole statement, and it alone.
        connection.begin()
        cursor.execute("INSERT INTO k (id, a) VALUES (200, 'r')")
        assert fails(cursor, "UPDATE k SET b = 1 ORDER BY id DESC")[0] == 1062
        connection.commit()
        cursor.execute("SELECT id, b FROM k WHERE id IN (91, 200) ORDER BY id")
        assert cursor.fetchall() == ((91, 50), (200, None))

    def count(word: str) -> None:
        with front.connect(autocommit=True) as own, own.cursor() as cursor:
            for _ in range(30):
                sql = "INSERT INTO k (a, b, n) VALUES (%s, 77, 0) ON DUPLICATE KEY UPDATE n = n + 1"
                cursor.execute(sql, (word,))

    threads = [threading.Thread(target=count, args=(word,)) for word in ("one", "two", "one")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert front.ask("SELECT count(*), sum(n) FROM k WHERE b = 77") == [(1, 89)]


def test_triggers_see_rows_that_are_there(start: Callable[..., MySQLFront], tmp_path: Path) -> None:
    front = start(beside=tmp_path / "beside.db")
    with front.server, front.connect(autocommit=True) as connection, connection.cursor() as cursor:
        cursor.execute(
            "CREATE TABLE account (id INT AUTO_INCREMENT PRIMARY KEY, name VARCHAR(9), balance INT DEFAULT 0)"
        )
        cursor.execute("CREATE TABLE log (what VARCHAR(3), id INT, old INT, new INT)")
        cursor.execute("CREATE TRIGGER bi BEFORE INSERT ON account FOR EACH ROW SET NEW.name = UPPER(NEW.name)")
        cursor.execute(
            "CREATE TRIGGER ai AFTER INSERT ON account FOR EACH ROW "
            "INSERT INTO log VALUES ('ins', NEW.id, NULL, NEW.balance)"
        )
        cursor.execute(
            "CREATE TRIGGER bu BEFORE UPDATE ON account FOR EACH ROW BEGIN IF NEW.balance < 0 THEN "
            "SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'too little'; END IF; "
            "INSERT INTO log VALUES ('upd', NEW.id, OLD.balance, NEW.balance); END"
        )
        assert cursor.execute("INSERT INTO account (name) VALUES ('ada'), ('bob')") == 2
        assert cursor.lastrowid == 1
        assert cursor.execute("UPDATE account SET balance = balance + 10 WHERE name = 'ADA'") == 1
        # What a trigger has done for a statement that fails is undone with it.
        assert fails(cursor, "UPDATE account SET balance = balance - 5 ORDER BY id")[0] == 1644
        assert front.ask("SELECT name, balance FROM account ORDER BY id") == [("ADA", 10), ("BOB", 0)]
        logged = [("ins", 1, None, 0), ("ins", 2, None, 0), ("upd", 1, 0, 10)]
        assert front.ask("SELECT * FROM log ORDER BY what, id") == logged
        cursor.execute("SHOW TRIGGERS LIKE 'account'")
        assert [row[0] for row in cursor.fetchall()] == ["ai", "bi", "bu"]
        # Others change the table: the triggers stay. An Informix client is refused, for whom nobody asks them.
        front.ask("ALTER TABLE account ADD COLUMN note text")
        assert cursor.execute("INSERT INTO account (name, note) VALUES ('cy', 'n')") == 1
        assert front.ask("SELECT name, note FROM account WHERE id = 3") == [("CY", "n")]
        assert front.server.informix is not None
        host, port = front.server.informix
        with informix.connect(f"informix://ada@{host}:{port}/{front.server.dbname}") as other:
            with pytest.raises(informix.Error, match="triggers"):
                other.cursor().execute("UPDATE account SET balance = 1")

        def add() -> None:
            with front.connect(autocommit=True) as own, own.cursor() as other:
                for _ in range(25):
                    other.execute("UPDATE account SET balance = balance + 1 WHERE id = 2")

        threads = [threading.Thread(target=add) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        assert front.ask("SELECT balance FROM account WHERE id = 2") == [(100,)]
        assert front.ask("SELECT count(*), max(new) FROM log WHERE id = 2 AND what = 'upd'") == [(100, 100)]
    again = Rowferry.start(
        f"postgresql://rowferry@127.0.0.1:{front.port}/{front.server.dbname}",
        postgres=False,
        mysql=True,
        args=("--beside", str(tmp_path / "beside.db")),
    )
    with again, MySQLFront(again, front.behind).connect(autocommit=True) as connection, connection.cursor() as cursor:
        cursor.execute("INSERT INTO account (name) VALUES ('dee')")
        cursor.execute("SELECT name FROM account WHERE id = 4")
        assert cursor.fetchall() == (("DEE",),)
        cursor.execute("DROP TRIGGER bi")
        cursor.execute("INSERT INTO account (name) VALUES ('eve')")
        cursor.execute("SELECT name FROM account WHERE id = 5")
        assert cursor.fetchall() == (("eve",),)


def test_what_a_row_leaves_out_is_the_servers(start: Callable[..., MySQLFront], tmp_path: Path) -> None:
    """Rows are written one by one; a default and a moment's last digits are known there alone."""
    front = start(
        "CREATE TABLE d (id int PRIMARY KEY, u int UNIQUE, a int NOT NULL DEFAULT 7, note text, "
        "j text DEFAULT upper('q'))",
        beside=tmp_path / "beside.db",
    )
    with front.server, front.connect(autocommit=True) as connection, connection.cursor() as cursor:
        cursor.execute("INSERT IGNORE INTO d (id, u) VALUES (1, 1), (2, 2), (2, 3)")
        cursor.execute("INSERT INTO d (id, u) VALUES (1, 9), (3, 3) ON DUPLICATE KEY UPDATE note = 'met'")
        cursor.execute("REPLACE INTO d (id, u) VALUES (4, 2)")
        cursor.execute("CREATE TABLE log (what VARCHAR(20))")
        cursor.execute(
            "CREATE TRIGGER ai AFTER INSERT ON d FOR EACH ROW INSERT INTO log VALUES (CONCAT(NEW.id, ' ', NEW.a))"
        )
        cursor.execute("INSERT INTO d (id) VALUES (5)")
        rows = [(1, 1, 7, "met"), (3, 3, 7, None), (4, 2, 7, None), (5, None, 7, None)]
        assert front.ask("SELECT id, u, a, note FROM d ORDER BY id") == rows
        assert front.ask("SELECT DISTINCT j FROM d") == [("Q",)]
        assert front.ask("SELECT what FROM log") == [("5 7",)]
        cursor.execute("INSERT IGNORE INTO d (id, a) VALUES (6, DEFAULT), (7, 1)")
        assert front.ask("SELECT id, a, j FROM d WHERE id > 5 ORDER BY id") == [(6, 7, "Q"), (7, 1, "Q")]
        cursor.execute("CREATE TRIGGER bi BEFORE INSERT ON d FOR EACH ROW SET NEW.note = 'seen'")
        assert fails(cursor, "INSERT INTO d (id) VALUES (8)")[0] == 1235
        cursor.execute("INSERT INTO d (id, j) VALUES (8, 'r')")
        assert front.ask("SELECT a, note, j FROM d WHERE id = 8") == [(7, "seen", "r")]
        assert fails(cursor, "CREATE TABLE d2 LIKE d")[0] == 1235
        # Somebody changes what is known here.
        front.ask("ALTER TABLE d ALTER COLUMN a SET DEFAULT 9")
        time.sleep(2.5)
        cursor.execute("DROP TRIGGER bi")
        cursor.execute("INSERT INTO d (id) VALUES (9)")
        assert front.ask("SELECT a FROM d WHERE id = 9") == [(9,)]


def test_tables_are_made_like_others_and_columns_put_elsewhere(
    start: Callable[..., MySQLFront], tmp_path: Path
) -> None:
    front = start(beside=tmp_path / "beside.db")
    with front.server, front.connect(autocommit=True) as connection, connection.cursor() as cursor:
        cursor.execute(
            "CREATE TABLE m (id INT AUTO_INCREMENT PRIMARY KEY, e ENUM('a', 'b') NOT NULL DEFAULT 'b', "
            "name VARCHAR(9) COLLATE utf8mb4_general_ci, n INT UNSIGNED CHECK (n < 9), "
            "UNIQUE KEY of_name (name), KEY of_n (n DESC))"
        )
        cursor.execute("CREATE TABLE m2 LIKE m")
        cursor.execute(
            "ALTER TABLE m2 ADD first INT DEFAULT 4 FIRST, ADD second INT AFTER e, MODIFY n INT UNSIGNED AFTER id"
        )
        cursor.execute("INSERT INTO m2 VALUES (1, 0, 2, 'a', 3, 'Ada')")
        cursor.execute("INSERT INTO m2 (name) VALUES ('bob')")
        assert fails(cursor, "INSERT INTO m2 (name) VALUES ('ADA ')")[0] == 1062
        assert fails(cursor, "INSERT INTO m2 (e) VALUES ('c')")[0] == 1265
        cursor.execute("SELECT * FROM m2 ORDER BY id")
        assert cursor.fetchall() == ((1, 1, 2, "a", 3, "Ada"), (4, 2, None, "b", None, "bob"))
        assert front.ask("SELECT id, name, n, first, second FROM m2 WHERE id = 1") == [(1, "Ada", 2, 1, 3)]
        indexes = "SELECT indexname FROM pg_indexes WHERE tablename = 'm2' ORDER BY 1"
        assert [name for (name,) in front.ask(indexes) if not name.endswith("pkey")] == ["m2.of_n", "m2.of_name"]
        cursor.execute("CREATE VIEW small AS SELECT id, n FROM m2 WHERE n < 5 WITH CHECK OPTION")
        assert fails(cursor, "UPDATE small SET n = 8")[0] == 1369
        assert fails(cursor, "INSERT INTO small (n) VALUES (7)")[0] == 1369
        assert cursor.execute("UPDATE small SET n = 4") == 1


def test_blanks_at_the_end_do_not_count_in_the_collations_of_old(front: MySQLFront) -> None:
    with front.connect(autocommit=True) as connection, connection.cursor() as cursor:
        cursor.execute(
            "CREATE TABLE tag (name VARCHAR(20) PRIMARY KEY, n INT DEFAULT 0, short CHAR(4) UNIQUE) "
            "DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci"
        )
        cursor.execute("INSERT INTO tag VALUES ('one ', 0, 'a'), ('two', 0, 'b')")
        assert fails(cursor, "INSERT INTO tag VALUES ('ONE', 0, 'c')")[0] == 1062
        assert fails(cursor, "INSERT INTO tag VALUES ('three', 0, 'A ')")[0] == 1062
        # Texts stay as they were written, for everybody.
        assert front.ask('SELECT name FROM tag ORDER BY n, name COLLATE "C"') == [("one ",), ("two",)]
        # The key is an index there that a comparison uses.
        index = "SELECT indexdef FROM pg_indexes WHERE indexname = 'tag_pkey'"
        assert "UNIQUE INDEX tag_pkey" in str(front.ask(index)) and "rtrim" in str(front.ask(index))
        name = "name VARCHAR(20) COLLATE utf8mb4_general_ci"
        number, message = fails(cursor, f"CREATE TABLE u ({name}, FOREIGN KEY (name) REFERENCES tag (name))")
        assert number == 1235 and "foreign key" in message
        # Blanks at the end of a CHAR are none anywhere.
        cursor.execute(
            "CREATE TABLE of_short (s CHAR(4) COLLATE utf8mb4_general_ci, FOREIGN KEY (s) REFERENCES tag (short))"
        )
        cursor.execute("INSERT INTO of_short VALUES ('A ')")
        assert fails(cursor, "INSERT INTO of_short VALUES ('x')")[0] == 1452
        for change, named in [
            ("ALTER TABLE tag CONVERT TO CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_ai_ci", "collation"),
            ("SELECT GREATEST(name, short) FROM tag WHERE GREATEST(name, short) = 'a'", "GREATEST"),
            ("SELECT MAX(name) OVER (ORDER BY n) FROM tag", "MAX"),
        ]:
            number, message = fails(cursor, change)
            assert number == 1235 and named in message

        cursor.execute("CREATE TABLE word (w VARCHAR(9) COLLATE utf8mb4_unicode_ci PRIMARY KEY, n INT DEFAULT 0)")

    def count(word: str) -> None:
        with front.connect(autocommit=True) as own, own.cursor() as cursor:
            for _ in range(40):
                cursor.execute("INSERT INTO word (w) VALUES (%s) ON DUPLICATE KEY UPDATE n = n + 1", (word,))

    # Rows that several find at once are one, whatever stands behind it.
    threads = [threading.Thread(target=count, args=(word,)) for word in ("New", "new ", "NEW   ", "new")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert front.ask("SELECT rtrim(lower(w)), n FROM word") == [("new", 159)]


def test_collations_of_columns_are_known_without_a_file(postgres: PostgreSQL) -> None:
    url, _ = make_database(postgres)
    with Rowferry.start(url, postgres=False, mysql=True, args=("--install",)) as server:
        MySQLFront(server, "").connect().cursor().execute(
            "CREATE TABLE t (a VARCHAR(9) COLLATE utf8mb4_unicode_ci UNIQUE, b VARCHAR(9) COLLATE utf8mb4_0900_as_cs)"
        )
    with Rowferry.start(url, postgres=False, mysql=True) as server:
        with MySQLFront(server, "").connect(autocommit=True) as connection, connection.cursor() as cursor:
            cursor.execute("INSERT INTO t VALUES ('x ', 'A')")
            assert fails(cursor, "INSERT INTO t VALUES ('X', 'B')")[0] == 1062
            cursor.execute("SELECT COUNT(*), COUNT(NULLIF(b, 'a')) FROM t WHERE a = 'X'")
            assert cursor.fetchone() == (1, 1)


def test_a_row_is_claimed_by_one(front: MySQLFront) -> None:
    with front.connect(autocommit=True) as connection, connection.cursor() as cursor:
        cursor.execute("CREATE TABLE job (id INT PRIMARY KEY, owner INT)")
        cursor.executemany("INSERT INTO job (id) VALUES (%s)", [(number,) for number in range(60)])

    claimed: list[int] = []

    def claim(owner: int) -> None:
        with front.connect(autocommit=True) as own, own.cursor() as cursor:
            while cursor.execute("UPDATE job SET owner = %s WHERE owner IS NULL ORDER BY id LIMIT 1", (owner,)):
                claimed.append(owner)

    threads = [threading.Thread(target=claim, args=(owner,), daemon=True) for owner in range(1, 5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert len(claimed) == 60
    counted = dict(front.ask("SELECT owner, count(*) FROM job GROUP BY owner"))
    assert counted == {owner: claimed.count(owner) for owner in set(claimed)}


def test_rows_are_locked_as_it_is_said(front: MySQLFront) -> None:
    with front.connect() as one, front.connect() as other:
        first, second = one.cursor(), other.cursor()
        first.execute("CREATE TABLE job (id INT PRIMARY KEY, name VARCHAR(9))")
        first.execute("INSERT INTO job VALUES (1, 'abc'), (2, 'abd'), (3, 'Éx')")
        one.commit()
        first.execute("SELECT id FROM job ORDER BY id LIMIT 1 FOR UPDATE")
        assert first.fetchall() == ((1,),)
        second.execute("SELECT id FROM job ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED")
        assert second.fetchall() == ((2,),)
        assert fails(second, "SELECT id FROM job FOR UPDATE NOWAIT")[0] == 3572
        one.rollback()
        other.rollback()
        for cursor in (first, second):
            cursor.execute("SELECT id FROM job WHERE id = 1 FOR SHARE")
            assert cursor.fetchall() == ((1,),)
        assert fails(second, "SELECT id FROM job WHERE id = 1 FOR UPDATE NOWAIT")[0] == 3572


def test_functions_choose_rows(front: MySQLFront) -> None:
    with front.connect(autocommit=True) as connection, connection.cursor() as cursor:
        cursor.execute("CREATE TABLE f (id INT PRIMARY KEY, n INT, t VARCHAR(9), d DATETIME)")
        cursor.execute("INSERT INTO f VALUES (1, 16, 'ab', '2024-03-31 12:34:56'), (2, -3, NULL, '2023-01-01')")
        for condition, found in (
            ("EXTRACT(YEAR FROM d) = 2024", [1]),
            ("EXTRACT(MINUTE FROM d) = 34", [1]),
            ("EXTRACT(HOUR FROM DATE(d)) = 0", [1, 2]),
            ("SQRT(n) = 4", [1]),
            ("SQRT(n) IS NULL", [2]),
            ("SIGN(n) = -1", [2]),
            ("HEX(t) = '6162'", [1]),
            ("HEX(n) = 'FFFFFFFFFFFFFFFD'", [2]),
            ("DATEDIFF(d, DATE(d)) = 0", [1, 2]),
            ("WEEKOFYEAR(d) = 52", [2]),
            ("CONCAT_WS('-', t, 'x') = 'x'", [2]),
            ("n << 2 = 64", [1]),
            ("n << 64 = 0", [1, 2]),
            ("n >> 63 = 1", [2]),
            ("n >> 0 = 16", [1]),
        ):
            cursor.execute(f"SELECT id FROM f WHERE {condition} ORDER BY id")
            assert [row[0] for row in cursor.fetchall()] == found, condition


def test_regular_expressions_choose_rows(front: MySQLFront) -> None:
    with front.connect(autocommit=True) as connection, connection.cursor() as cursor:
        cursor.execute("CREATE TABLE w (id INT PRIMARY KEY, t VARCHAR(20), b VARCHAR(20) COLLATE utf8mb4_bin)")
        cursor.execute(
            "INSERT INTO w VALUES (1, 'abc', 'abc'), (2, 'ABD 12', 'ABD 12'), (3, 'Éx', 'Éx'), (4, NULL, NULL), "
            "(5, 'a\\nc', 'a\\nc'), (6, 'a.c', 'a.c')"
        )
        for pattern, found in (
            ("^ab", [1, 2]),
            ("^a.c$", [1, 6]),
            ("a[.]c", [6]),
            ("\\\\d{2}$", [2]),
            ("é", [3]),
            ("b(c|d )", [1, 2]),
            ("[^a-z]c", [5, 6]),
        ):
            cursor.execute(f"SELECT id FROM w WHERE t REGEXP '{pattern}' ORDER BY id")
            assert [row[0] for row in cursor.fetchall()] == found, pattern
        cursor.execute("SELECT id FROM w WHERE t NOT RLIKE 'c' ORDER BY id")
        assert cursor.fetchall() == ((2,), (3,))
        cursor.execute("SELECT id FROM w WHERE REGEXP_LIKE(t, 'ABD', 'c')")
        assert cursor.fetchall() == ((2,),)
        assert cursor.execute("DELETE FROM w WHERE t REGEXP '^É'") == 1
        number, message = fails(cursor, "SELECT id FROM w WHERE t REGEXP '[[:alpha:]]' ORDER BY id")
        assert number == 1235 and "REGEXP" in message


def test_a_dump_is_read_in_again(front: MySQLFront) -> None:
    assert front.server.mysql is not None
    host, port = front.server.mysql
    place = ["-h", host, "-P", str(port), "-u", "ada"]
    tools = [shutil.which("mariadb-dump"), shutil.which("mariadb")]
    if None in tools:
        not_tested("dumps in front of PostgreSQL", "MariaDB's client is not installed")
    dump, client = (str(tool) for tool in tools)
    with front.connect(autocommit=True) as connection, connection.cursor() as cursor:
        cursor.execute(
            "CREATE TABLE goods (id INT UNSIGNED AUTO_INCREMENT PRIMARY KEY, e ENUM('x','y') DEFAULT NULL, "
            "s VARCHAR(9) NOT NULL DEFAULT 'n', at TIMESTAMP NULL DEFAULT NULL, b BLOB, UNIQUE KEY k (s, e))"
        )
        cursor.execute("INSERT INTO goods (e, s, at, b) VALUES ('y', 'it''s', '2024-01-02 03:04:05', x'00ff')")
        cursor.execute("CREATE DATABASE copy")
        written = subprocess.run([dump, *place, front.server.dbname, "goods"], capture_output=True, check=True)
        subprocess.run([client, *place, "copy"], input=written.stdout, capture_output=True, check=True)
        cursor.execute("SELECT * FROM copy.goods")
        assert cursor.fetchall() == ((1, "y", "it's", dt.datetime(2024, 1, 2, 3, 4, 5), b"\x00\xff"),)
        cursor.execute("INSERT INTO copy.goods (s) VALUES ('next')")
        assert cursor.lastrowid == 2


KEYS_OFF = """
CREATE TABLE boss (id int PRIMARY KEY, name varchar(20));
CREATE TABLE staff (id int PRIMARY KEY, boss_id int REFERENCES boss ON DELETE CASCADE ON UPDATE CASCADE, at int);
CREATE TABLE seen (id int);
CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN INSERT INTO seen VALUES (NEW.id); RETURN NEW; END $$;
CREATE TABLE watched (id int PRIMARY KEY, boss_id int REFERENCES boss);
CREATE TRIGGER watching AFTER INSERT ON watched FOR EACH ROW EXECUTE FUNCTION note();
CREATE TABLE late (id int PRIMARY KEY DEFERRABLE, boss_id int REFERENCES boss);
CREATE TABLE kin (id int PRIMARY KEY, kin_id int REFERENCES kin ON DELETE CASCADE);
CREATE VIEW bosses AS SELECT * FROM boss;
"""


def test_foreign_keys_do_not_look_while_they_are_off(start: Callable[..., MySQLFront], tmp_path: Path) -> None:
    front = start(KEYS_OFF, beside=tmp_path / "beside.db")
    with front.server, front.connect(autocommit=True) as connection, connection.cursor() as cursor:
        cursor.execute("INSERT INTO boss VALUES (1, 'a'), (2, 'b'), (3, 'c')")
        cursor.execute("INSERT INTO staff VALUES (1, 1, 0), (2, 2, 0)")
        cursor.execute("SET foreign_key_checks = 0")
        cursor.execute("INSERT INTO staff VALUES (3, 99, 0)")
        cursor.execute("DELETE FROM boss WHERE id = 1")
        cursor.execute("UPDATE boss SET id = 20 WHERE id = 2")
        cursor.execute("INSERT INTO kin VALUES (1, 2), (3, 4)")
        cursor.execute("INSERT INTO kin VALUES (2, 2)")
        cursor.execute("DELETE FROM kin WHERE id = 2")
        cursor.execute("REPLACE INTO boss VALUES (3, 'd')")
        # Nothing is carried on, and nothing is asked.
        assert front.ask("SELECT id, boss_id FROM staff ORDER BY id") == [(1, 1), (2, 2), (3, 99)]
        assert front.ask("SELECT id FROM kin ORDER BY id") == [(1,), (3,)]
        # What else would not be asked is refused; a table without foreign keys is like any other.
        for sql, named in [
            ("INSERT INTO watched VALUES (1, 3)", "triggers"),
            ("INSERT INTO late VALUES (1, 3)", "checked late"),
            ("INSERT INTO bosses VALUES (9, 'v')", "view"),
        ]:
            number, message = fails(cursor, sql)
            assert (number, named in message) == (1235, True), message
        cursor.execute("INSERT INTO seen VALUES (0)")
        # A transaction that sets it, and one that is undone.
        cursor.execute("SET foreign_key_checks = 1")
        assert fails(cursor, "INSERT INTO staff VALUES (4, 98, 0)")[0] == 1452
        cursor.execute("INSERT INTO watched VALUES (1, 3)")
        assert front.ask("SELECT id FROM seen ORDER BY id") == [(0,), (1,)]
        for end in ("ROLLBACK", "COMMIT"):
            cursor.execute("BEGIN")
            cursor.execute("INSERT INTO boss VALUES (50, 'x')")
            cursor.execute("SET foreign_key_checks = 0")
            cursor.execute("INSERT INTO staff VALUES (5, 97, 0)")
            assert fails(cursor, "INSERT INTO staff VALUES (5, 96, 0)")[0] == 1062
            cursor.execute("SET foreign_key_checks = 1")
            assert fails(cursor, "INSERT INTO staff VALUES (6, 97, 0)")[0] == 1452
            cursor.execute("INSERT INTO watched VALUES (2, 50)")
            cursor.execute(end)
            assert fails(cursor, "INSERT INTO staff VALUES (6, 97, 0)")[0] == 1452
        assert front.ask("SELECT id FROM seen ORDER BY id") == [(0,), (1,), (2,)]
        assert front.ask("SELECT id FROM staff ORDER BY id") == [(1,), (2,), (3,), (5,)]
        # A table to which others refer is emptied, and its numbers begin anew.
        cursor.execute("CREATE TABLE p (id INT AUTO_INCREMENT PRIMARY KEY, v INT)")
        cursor.execute("CREATE TABLE c (id INT PRIMARY KEY, pid INT, FOREIGN KEY (pid) REFERENCES p (id))")
        cursor.execute("INSERT INTO p (v) VALUES (1), (2)")
        cursor.execute("INSERT INTO c VALUES (1, 1)")
        assert fails(cursor, "TRUNCATE p")[0] == 1701
        cursor.execute("SET foreign_key_checks = 0")
        cursor.execute("TRUNCATE p")
        cursor.execute("INSERT INTO p (v) VALUES (3)")
        assert cursor.lastrowid == 1
        assert front.ask("SELECT id, v FROM p") == [(1, 3)] and front.ask("SELECT * FROM c") == [(1, 1)]


def test_foreign_keys_that_cannot_be_told_not_to_look_are_told_of(postgres: PostgreSQL, tmp_path: Path) -> None:
    url, behind = make_database(postgres)
    role = f"r{uuid.uuid4().hex[:8]}"
    with psycopg.connect(behind, autocommit=True) as connection:
        connection.execute(f"CREATE ROLE {role} LOGIN")  # type: ignore[arg-type]
        connection.execute(f'GRANT ALL ON DATABASE "{url.rsplit("/", 1)[1]}" TO {role}')  # type: ignore[arg-type]
        connection.execute(f"GRANT ALL ON SCHEMA public TO {role}; SET ROLE {role}")  # type: ignore[arg-type]
        connection.execute(KEYS_OFF)  # type: ignore[arg-type]
    own = url.replace("rowferry@", f"{role}@")
    with Rowferry.start(own, postgres=False, mysql=True, args=("--install",)) as server:
        front = MySQLFront(server, behind, postgres.port)
        with front.connect(autocommit=True) as connection, connection.cursor() as cursor:
            cursor.execute("INSERT INTO boss VALUES (1, 'a'), (2, 'b')")
            cursor.execute("INSERT INTO staff VALUES (1, 1, 0)")
            cursor.execute("SET foreign_key_checks = 0")
            cursor.execute("INSERT INTO staff VALUES (2, 2, 0)")
            cursor.execute("UPDATE boss SET name = 'c'")
            cursor.execute("INSERT INTO watched VALUES (1, 2)")
            for sql in [
                "INSERT INTO staff VALUES (3, 99, 0)",
                "DELETE FROM boss WHERE id = 1",
                "REPLACE INTO boss VALUES (1, 'd')",
                "UPDATE boss SET id = 9 WHERE id = 1",
                "TRUNCATE boss",
            ]:
                number, message = fails(cursor, sql)
                assert (number, "foreign_key_checks = 0" in message) == (1235, True), (sql, message)
            assert front.ask("SELECT id, boss_id FROM staff ORDER BY id") == [(1, 1), (2, 2)]
            assert front.ask("SELECT id, name FROM boss ORDER BY id") == [(1, "c"), (2, "c")]
    with psycopg.connect(behind, autocommit=True) as connection:
        connection.execute(f"GRANT SET ON PARAMETER session_replication_role TO {role}")  # type: ignore[arg-type]
    with Rowferry.start(own, postgres=False, mysql=True) as server:
        front = MySQLFront(server, behind, postgres.port)
        with front.connect(autocommit=True) as connection, connection.cursor() as cursor:
            cursor.execute("SET foreign_key_checks = 0")
            cursor.execute("INSERT INTO staff VALUES (3, 99, 0)")
            assert cursor.execute("DELETE FROM boss WHERE id = 1") == 1
            assert front.ask("SELECT id FROM staff ORDER BY id") == [(1,), (2,), (3,)]


def test_a_dump_of_tables_that_refer_to_each_other_is_read_in_again(front: MySQLFront) -> None:
    assert front.server.mysql is not None
    host, port = front.server.mysql
    place = ["-h", host, "-P", str(port), "-u", "ada"]
    tools = [shutil.which("mariadb-dump"), shutil.which("mariadb")]
    if None in tools:
        not_tested("dumps in front of PostgreSQL", "MariaDB's client is not installed")
    dump, client = (str(tool) for tool in tools)
    with front.connect(autocommit=True) as connection, connection.cursor() as cursor:
        cursor.execute("CREATE DATABASE shop")
        cursor.execute("USE shop")
        cursor.execute("CREATE TABLE region (id INT PRIMARY KEY, chief INT)")
        cursor.execute(
            "CREATE TABLE agent (id INT PRIMARY KEY, boss INT, region INT, FOREIGN KEY (boss) REFERENCES agent (id) "
            "ON DELETE CASCADE, FOREIGN KEY (region) REFERENCES region (id))"
        )
        cursor.execute("ALTER TABLE region ADD FOREIGN KEY (chief) REFERENCES agent (id)")
        cursor.execute("INSERT INTO region VALUES (1, NULL), (2, NULL)")
        cursor.execute("INSERT INTO agent VALUES (3, NULL, 1), (2, 3, 2), (1, 2, 2)")
        cursor.execute("UPDATE region SET chief = id")
        tables = [front.ask(f"SELECT * FROM shop.{name} ORDER BY 1") for name in ("agent", "region")]
        # A row a statement: that which it refers to comes later.
        options = ["--skip-extended-insert", "--order-by-primary"]
        whole = subprocess.run([dump, *place, *options, "shop"], capture_output=True, check=True).stdout
        rows = subprocess.run([dump, *place, *options, "-t", "shop"], capture_output=True, check=True).stdout
        # Over what is there already, and anew; then its rows alone.
        cursor.execute("CREATE DATABASE copied")
        for database, text in [("shop", whole), ("copied", whole), ("copied", rows)]:
            if text is rows:
                cursor.execute("SET foreign_key_checks = 0")
                cursor.execute("TRUNCATE copied.agent")
                cursor.execute("DELETE FROM copied.region")
                cursor.execute("SET foreign_key_checks = 1")
            subprocess.run([client, *place, database], input=text, capture_output=True, check=True)
            found = [front.ask(f"SELECT * FROM {database}.{name} ORDER BY 1") for name in ("agent", "region")]
            assert found == tables
            cursor.execute(f"USE {database}")
            assert fails(cursor, "INSERT INTO region VALUES (9, 99)")[0] == 1452
            assert fails(cursor, "DELETE FROM region WHERE id = 1")[0] == 1451


def test_keys_go_by_their_tables_new_name(front: MySQLFront) -> None:
    with front.connect(autocommit=True) as connection, connection.cursor() as cursor:
        table = "CREATE TABLE n (a INT, b INT, UNIQUE KEY u (a), KEY k (b))"
        cursor.execute(table)
        cursor.execute("RENAME TABLE n TO older")
        cursor.execute(table)
        cursor.execute("INSERT INTO older VALUES (1, 1)")
        assert fails(cursor, "INSERT INTO older VALUES (1, 1)") == (1062, "Duplicate entry '1' for key 'older.u'")
        cursor.execute("DROP INDEX k ON older")
        cursor.execute("ALTER TABLE older DROP KEY u")
        cursor.execute("SHOW INDEX FROM n")
        assert sorted(row[2] for row in cursor.fetchall()) == ["k", "u"]


def test_a_statement_of_once_has_the_values_of_one_that_is_prepared(front: MySQLFront) -> None:
    """Asked for once, all columns come as texts; from then on some come in binary form."""
    types = (
        "SELECT -5::smallint AS a, 7 AS b, 9223372036854775807 AS c, 0.1::real AS d, 1e300::double precision AS e, "
        "'-Infinity'::double precision AS f, true AS g, false AS h, '\\x00ff27'::bytea AS i, 12.50::numeric(8,2) AS j, "
        "'it''s'::text AS k, date '2024-02-29' AS l, timestamp '2024-02-29 01:02:03.456' AS m, "
        "'{\"a\": 1}'::json AS n, "
        "'q  '::char(5) AS o, 0.3333333333333333::double precision AS p, NULL::int AS q"
    )
    front.ask(f"CREATE TABLE public.typed AS {types}")
    time.sleep(2.1)
    with front.connect(autocommit=True) as connection, connection.cursor() as cursor:
        seen = []
        for _ in range(3):
            cursor.execute("SELECT a, b, c, d, e, g, h, i, j, k, l, m, n, o, p, q FROM typed")
            seen.append(cursor.fetchall())
        assert seen[0] == seen[1] == seen[2]
        assert seen[0][0][:6] == (-5, 7, 9223372036854775807, 0.1, 1e300, 1)
        assert seen[0][0][7] == b"\x00\xff'"
    assert front.server.informix is not None
    host, port = front.server.informix
    with informix.connect(f"informix://ada@{host}:{port}/{front.server.dbname}") as door:
        cursor = door.cursor()
        rows = []
        for _ in range(3):
            cursor.execute("SELECT a, b, c, d, e, g, h, j, k, l, m, p, q FROM typed")
            rows.append(cursor.fetchall())
        assert rows[0] == rows[1] == rows[2]
    # What fails the first time may be prepared there, or not; the next time it is.
    with front.connect(autocommit=True) as connection, connection.cursor() as cursor:
        cursor.execute("CREATE TABLE one (id INT PRIMARY KEY, n INT)")
        cursor.execute("CREATE TABLE many (id INT PRIMARY KEY, oid INT, FOREIGN KEY (oid) REFERENCES one (id))")
        for _ in range(2):
            assert fails(cursor, "INSERT INTO many VALUES (1, 1)")[0] == 1452
        cursor.execute("INSERT INTO one VALUES (1, 1)")
        cursor.execute("INSERT INTO many VALUES (1, 1)")
        assert fails(cursor, "INSERT INTO many VALUES (1, 1)")[0] == 1062
        cursor.execute("DELETE FROM many")
        cursor.execute("BEGIN")
        cursor.execute("INSERT INTO many VALUES (1, 1)")
        assert fails(cursor, "INSERT INTO many VALUES (1, 1)")[0] == 1062
        cursor.execute("COMMIT")
        assert front.ask("SELECT * FROM many") == [(1, 1)]


def test_what_default_means_is_known_there(start: Callable[..., MySQLFront], tmp_path: Path) -> None:
    front = start(
        "CREATE DOMAIN grade AS text DEFAULT 'good'; CREATE SEQUENCE s; CREATE TABLE d (id int PRIMARY KEY, "
        "j text DEFAULT upper('q'), n int DEFAULT nextval('s'), g grade, plain int, h timestamp DEFAULT now(), "
        "twice int GENERATED ALWAYS AS (plain * 2) STORED)",
        beside=tmp_path / "beside.db",
    )
    with front.server, front.connect(autocommit=True) as connection, connection.cursor() as cursor:
        assert (
            cursor.execute("INSERT INTO d (id, j, n, g) VALUES (1, DEFAULT, 5, 'x'), (2, 'r', DEFAULT, DEFAULT)") == 2
        )
        cursor.execute(
            "INSERT INTO d (id, j, plain, twice) VALUES (%s, DEFAULT, %s, DEFAULT), (4, %s, DEFAULT, DEFAULT)",
            (3, 6, "s"),
        )
        cursor.execute("UPDATE d SET j = DEFAULT, plain = DEFAULT WHERE id = 4")
        cursor.execute("INSERT INTO d (id) VALUES (4) ON DUPLICATE KEY UPDATE g = DEFAULT, plain = 7")
        rows = [(1, "Q", 5, "x", None), (2, "r", 1, "good", None), (3, "Q", 2, "good", 12), (4, "Q", 3, "good", 14)]
        assert front.ask("SELECT id, j, n, g, twice FROM d WHERE h IS NOT NULL ORDER BY id") == rows
        # Rows that are changed one by one.
        cursor.execute("INSERT IGNORE INTO d (id, j) VALUES (5, DEFAULT), (4, DEFAULT)")
        assert fails(cursor, "INSERT IGNORE INTO d (id, j) VALUES (6, DEFAULT), (7, 'y')")[0] == 1235
        assert fails(cursor, "UPDATE IGNORE d SET j = DEFAULT, id = id + 1 WHERE id = 5")[0] == 1235
        cursor.execute("UPDATE IGNORE d SET plain = DEFAULT, id = id + 1 WHERE id = 5")
        cursor.execute("CREATE TRIGGER bu BEFORE UPDATE ON d FOR EACH ROW SET NEW.plain = 1")
        number, _ = fails(cursor, "UPDATE d SET j = DEFAULT WHERE id = 6")
        assert number == 1235
        cursor.execute("CREATE TRIGGER bi BEFORE INSERT ON d FOR EACH ROW SET NEW.plain = 1")
        assert fails(cursor, "INSERT INTO d (id, j, n, g, h) VALUES (8, DEFAULT, 1, 'a', NOW())")[0] == 1235
        # A domain's default that is a constant is known.
        cursor.execute("INSERT INTO d (id, j, n, h) VALUES (8, 'j', 1, NOW())")
        assert front.ask("SELECT id, j, g, plain FROM d WHERE id > 4 ORDER BY id") == [
            (6, "Q", "good", None),
            (8, "j", "good", 1),
        ]


def test_tables_of_others_are_compared_by_mysqls_rules(front: MySQLFront) -> None:
    with front.connect(autocommit=True) as connection, connection.cursor() as cursor:
        cursor.execute("INSERT INTO customer (name) VALUES ('C1'), ('ç1')")
        cursor.execute("SELECT COUNT(*), MIN(credit) FROM customer WHERE name = 'c1'")
        assert cursor.fetchone() == (3, Decimal("0.00"))
        cursor.execute("SELECT name, COUNT(*) FROM customer WHERE name LIKE 'C1' GROUP BY name")
        assert cursor.fetchall() == (("C1", 3),)
        cursor.execute("SELECT COUNT(DISTINCT name) FROM customer")
        assert cursor.fetchone() == (100,)
        # The number that a text begins with.
        cursor.execute("SELECT id FROM customer WHERE name = 'c7' AND credit = '10.5 and more'")
        assert cursor.fetchall() == ((7,),)
        cursor.execute("SELECT AVG(credit), SUM(id), MAX(since) FROM customer WHERE id <= 2")
        assert cursor.fetchone() == (Decimal("2.250000"), Decimal(3), dt.date(2024, 1, 3))
        cursor.execute(
            "SELECT c.name, o.total / 3 FROM customer c JOIN orders o ON o.customer_id = c.id WHERE o.id = 7"
        )
        assert cursor.fetchall() == (("c8", Decimal("5.250000")),)
        cursor.execute("SELECT UPPER(name), YEAR(since), DATE_FORMAT(seen, '%%H:%%i') FROM customer WHERE id = 1", ())
        assert cursor.fetchall() == (("C1", 2024, "10:01"),)


def test_a_database_is_a_schema(front: MySQLFront) -> None:
    with front.connect(autocommit=True) as connection, connection.cursor() as cursor:
        cursor.execute("CREATE DATABASE other")
        cursor.execute("CREATE TABLE other.t (a INT)")
        cursor.execute("USE other")
        cursor.execute("INSERT INTO t VALUES (1)")
        cursor.execute(f"SELECT t.a, c.id FROM other.t JOIN {front.server.dbname}.customer c ON c.id = t.a")
        assert cursor.fetchall() == ((1, 1),)
        assert front.ask("SELECT a FROM other.t") == [(1,)]
        cursor.execute("SHOW TABLES")
        assert cursor.fetchall() == (("t",),)
        cursor.execute("DROP DATABASE other")
    assert front.ask("SELECT 1 FROM pg_namespace WHERE nspname = 'other'") == []


def test_types_are_remembered_beside(start: Callable[..., MySQLFront], tmp_path: Path) -> None:
    beside = tmp_path / "beside.db"
    started = start(beside=beside)
    with started.server:
        with started.connect(autocommit=True) as connection, connection.cursor() as cursor:
            cursor.execute("CREATE TABLE t (a MEDIUMINT UNSIGNED, b SET('x', 'y'), c YEAR, d BIT(4), e CHAR(3))")
            cursor.execute("INSERT INTO t VALUES (5, 'y,x', 2024, 9, 'a ')")
    url = started.behind
    info = psycopg.conninfo.conninfo_to_dict(url)
    again = f"postgresql://rowferry@127.0.0.1:{info['port']}/{info['dbname']}"
    with Rowferry.start(again, postgres=False, mysql=True, args=("--beside", str(beside))) as server:
        front = MySQLFront(server, url)
        with front.connect(autocommit=True) as connection, connection.cursor() as cursor:
            cursor.execute(
                "SELECT COLUMN_TYPE FROM information_schema.columns WHERE TABLE_NAME = 't' ORDER BY ORDINAL_POSITION"
            )
            assert [kind for (kind,) in cursor.fetchall()] == [
                "mediumint unsigned",
                "set('x','y')",
                "year",
                "bit(4)",
                "char(3)",
            ]
            cursor.execute("SELECT * FROM t")
            assert cursor.fetchall() == ((5, "x,y", 2024, b"\x09", "a"),)
            assert fails(cursor, "INSERT INTO t (a) VALUES (16777216)")[0] == 1264


def test_whoever_waits_for_a_row_gives_up_in_time(front: MySQLFront) -> None:
    with front.connect() as one, front.connect() as two, one.cursor() as first, two.cursor() as second:
        first.execute("UPDATE customer SET credit = 1 WHERE id = 1")
        second.execute("SET innodb_lock_wait_timeout = 1")
        assert fails(second, "UPDATE customer SET credit = 2 WHERE id = 1")[0] == 1205
        one.rollback()
        second.execute("UPDATE customer SET credit = 2 WHERE id = 1")
        first.execute("UPDATE customer SET credit = 1 WHERE id = 2")
        failed: list[int] = []

        def cross() -> None:
            with contextlib.suppress(err.Error):
                try:
                    first.execute("UPDATE customer SET credit = 1 WHERE id = 1")
                except err.Error as error:
                    failed.append(error.args[0])
                    raise

        thread = threading.Thread(target=cross, daemon=True)
        thread.start()
        second.execute("SET innodb_lock_wait_timeout = 20")
        with contextlib.suppress(err.Error):
            try:
                second.execute("UPDATE customer SET credit = 2 WHERE id = 2")
            except err.Error as error:
                failed.append(error.args[0])
                two.rollback()
        if not failed:
            two.rollback()
        thread.join(30)
        assert failed == [1213]


def test_kill_query_reaches_the_server_behind(front: MySQLFront) -> None:
    with front.connect(autocommit=True) as one, front.connect(autocommit=True) as two:
        number = one.thread_id()
        found: list[int] = []

        def ask() -> None:
            with one.cursor() as cursor:
                try:
                    cursor.execute(
                        "SELECT COUNT(*) FROM orders a, orders b, orders c, orders d WHERE a.total < b.total * c.total"
                    )
                except err.Error as error:
                    found.append(error.args[0])

        thread = threading.Thread(target=ask, daemon=True)
        thread.start()
        until = time.monotonic() + 20
        while not front.ask(
            "SELECT 1 FROM pg_stat_activity WHERE state = 'active' AND pid <> pg_backend_pid() "
            "AND query LIKE '%orders%orders%orders%'"
        ):
            assert time.monotonic() < until
            time.sleep(0.05)
        with two.cursor() as cursor:
            cursor.execute(f"KILL QUERY {number}")
        thread.join(30)
        assert found == [1317]
        with one.cursor() as cursor:
            cursor.execute("SELECT COUNT(*) FROM orders")
            assert cursor.fetchone() == (500,)


def test_three_kinds_of_clients_see_the_same_rows(front: MySQLFront) -> None:
    assert front.server.informix is not None
    host, port = front.server.informix
    with (
        front.connect(autocommit=True) as ours,
        informix.connect(f"informix://ada@{host}:{port}/{front.server.dbname}", autocommit=True) as theirs,
        psycopg.connect(front.server.postgres_dsn, autocommit=True) as plain,
    ):
        stop = threading.Event()
        failed: list[BaseException] = []

        def insert(write: Callable[[int], object], first: int) -> None:
            try:
                number = first
                while not stop.is_set():
                    write(number)
                    number += 3
            except BaseException as error:
                failed.append(error)

        with ours.cursor() as cursor:
            cursor.execute("CREATE TABLE meeting (id INT PRIMARY KEY, who VARCHAR(20))")
        mysql_cursor, informix_cursor = ours.cursor(), theirs.cursor()
        writers = [
            threading.Thread(
                target=insert,
                daemon=True,
                args=(lambda n: mysql_cursor.execute(f"INSERT INTO meeting VALUES ({n}, 'mysql')"), 0),
            ),
            threading.Thread(
                target=insert,
                daemon=True,
                args=(lambda n: informix_cursor.execute("insert into meeting values (?, 'informix')", (n,)), 1),
            ),
            threading.Thread(
                target=insert,
                daemon=True,
                args=(lambda n: plain.execute(f"INSERT INTO meeting VALUES ({n}, 'postgres')"), 2),
            ),  # type: ignore[arg-type]
        ]
        for writer in writers:
            writer.start()
        time.sleep(1.5)
        stop.set()
        for writer in writers:
            writer.join(30)
        assert not failed
        with ours.cursor() as cursor:
            cursor.execute("SELECT who, COUNT(*) FROM meeting GROUP BY who ORDER BY who")
            seen = cursor.fetchall()
        assert [who for who, _ in seen] == ["informix", "mysql", "postgres"]
        informix_cursor.execute("select who, count(*) from meeting group by who order by who")
        assert [(who.rstrip(), int(count)) for who, count in informix_cursor.fetchall()] == list(seen)
        assert [
            tuple(row)
            for row in plain.execute('SELECT who, count(*) FROM meeting GROUP BY who ORDER BY who COLLATE "C"')
        ] == list(seen)


class Base(DeclarativeBase):
    """The store's tables."""


class Writer(Base):
    """Somebody."""

    __tablename__ = "writers"
    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(sa.String(50), unique=True)
    texts: Mapped[list[Written]] = relationship(back_populates="writer")


class Written(Base):
    """What somebody has written."""

    __tablename__ = "written"
    id: Mapped[int] = mapped_column(primary_key=True)
    writer_id: Mapped[int] = mapped_column(sa.ForeignKey("writers.id"))
    title: Mapped[str] = mapped_column(sa.String(100), index=True)
    ok: Mapped[bool] = mapped_column(default=True)
    price: Mapped[Decimal] = mapped_column(sa.Numeric(10, 2))
    writer: Mapped[Writer] = relationship(back_populates="texts")


def test_sqlalchemy(front: MySQLFront) -> None:
    assert front.server.mysql is not None
    host, port = front.server.mysql
    engine = sa.create_engine(f"mysql+pymysql://ada@{host}:{port}/{front.server.dbname}")
    Base.metadata.create_all(engine)
    with Session(engine) as session:
        two = [Written(title="a", price=Decimal("1.50")), Written(title="b", ok=False, price=Decimal(1))]
        session.add(Writer(name="Änne", texts=two))
        session.commit()
        assert [text.id for text in two] == [1, 2]
        grouped = sa.select(Writer.name, sa.func.count(Written.id), sa.func.sum(Written.price)).join(Written)
        grouped = grouped.group_by(Writer.id, Writer.name).having(sa.func.count(Written.id) > 1)
        assert session.execute(grouped).all() == [("Änne", 2, Decimal("2.50"))]
        assert session.scalar(sa.select(Writer.id).where(Writer.name == "ANNE")) == 1
        session.add(Writer(name="anne"))
        with pytest.raises(sa.exc.IntegrityError, match=r"Duplicate entry 'anne' for key 'writers\.name'"):
            session.commit()
        session.rollback()
        two[0].title = "c"
        session.delete(two[1])
        session.commit()
    found = sa.inspect(engine)
    assert {"customer", "orders", "writers", "written"} <= set(found.get_table_names())
    assert [key["referred_table"] for key in found.get_foreign_keys("written")] == ["writers"]
    assert found.get_unique_constraints("writers")[0]["column_names"] == ["name"]
    engine.dispose()


def test_a_connection_behind_that_is_lost(front: MySQLFront) -> None:
    with front.connect() as connection, connection.cursor() as cursor:
        cursor.execute("INSERT INTO orders VALUES (1000, 1, 1, 'a')")
        front.ask("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name ^@ 'rowferry: '")
        number, _ = fails(cursor, "SELECT COUNT(*) FROM orders")
        assert number == 2013
        with contextlib.suppress(err.Error):
            connection.rollback()
    with front.connect() as connection, connection.cursor() as cursor:
        cursor.execute("SELECT COUNT(*) FROM orders")
        assert cursor.fetchone() == (500,)
