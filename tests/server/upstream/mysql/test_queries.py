"""Collations, functions and patterns that choose rows, and what is known of types and databases."""

from __future__ import annotations

import datetime as dt
import threading
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path

import psycopg

from tests.servers.postgres import PostgreSQL
from tests.servers.rowferry import Rowferry

from ..conftest import make_database
from .front import MySQLFront, fails


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
