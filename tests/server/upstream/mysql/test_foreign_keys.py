"""Foreign keys that do not look, dumps that need that, and the names of keys."""

from __future__ import annotations

import datetime as dt
import shutil
import subprocess
import uuid
from collections.abc import Callable
from pathlib import Path

import psycopg

from tests.servers.availability import not_tested
from tests.servers.postgres import PostgreSQL
from tests.servers.rowferry import Rowferry

from ..conftest import make_database
from .front import MySQLFront, fails


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
