"""FULLTEXT keys: beside MySQL, kept whoever writes, and found out where nobody kept them."""

from __future__ import annotations

import random
import sqlite3
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pymysql
import pytest

from tests.servers.mysql import MySQL
from tests.servers.rowferry import Rowferry

from .wire import Client, ServerError

WORDS = (
    "apple apfel banana cherry date elder fig grape green the with for zz a ab café cafe CAFÉ straße strasse mysql "
    "data database dates dated x1 foo_bar 日本語"
).split()


class Made:
    """Documents and searches, the same for the same seed."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def document(self) -> str:
        choice = self.random.choice
        ends = [" ", " ", " ", ", ", ". ", "-", "'", "\n"]
        return "".join(choice(WORDS) + choice(ends) for _ in range(choice([0, 1, 2, 3, 4, 6, 9])))

    def term(self) -> str:
        word, kind = self.random.choice(WORDS), self.random.random()
        if kind < 0.8:
            return word
        return word + self.random.choice(",.") + self.random.choice(WORDS)

    def phrase(self) -> str:
        words = [self.random.choice(WORDS) for _ in range(self.random.choice([1, 2, 2, 3]))]
        return '"' + " ".join(words) + '"'

    def boolean(self, depth: int = 0) -> str:
        parts = []
        for _ in range(self.random.choice([1, 2, 2, 3, 4])):
            sign, kind = self.random.choice(["", "", "", "+", "+", "-", "~", ">", "<"]), self.random.random()
            if kind < 0.15 and depth < 2:
                parts.append(f"{sign}({self.boolean(depth + 1)})")
            else:
                parts.append(sign + (self.phrase() if kind < 0.3 else self.term()))
        return " ".join(parts)

    def natural(self) -> str:
        kinds = [self.term, self.term, self.term, self.phrase]
        return " ".join(self.random.choice(kinds)() for _ in range(self.random.choice([1, 2, 3])))


def _connect(dsn: dict[str, Any]) -> pymysql.Connection[Any]:
    return pymysql.connect(**dsn, charset="utf8mb4", autocommit=True)


def _answer(connection: pymysql.Connection[Any], sql: str, args: tuple[object, ...] = ()) -> object:
    with connection.cursor() as cursor:
        try:
            cursor.execute(sql, args)
        except pymysql.MySQLError as error:
            return error.args
        return sorted(tuple(row) for row in cursor.fetchall())


def _is_same(found: object, expected: object) -> bool:
    """The last digits of a sum in single precision hang on its order."""
    if not isinstance(found, list) or not isinstance(expected, list):
        return found == expected
    return len(found) == len(expected) and all(
        one[0] == other[0] and one[1:] == pytest.approx(other[1:], rel=1e-5, abs=1e-6)
        for one, other in zip(found, expected, strict=True)
    )


@pytest.mark.parametrize(
    ("seed", "collation"), [(1, "utf8mb4_0900_ai_ci"), (2, "utf8mb4_bin"), (3, "utf8mb4_0900_as_cs")]
)
def test_searches_made_at_random_find_what_mysql_finds(
    mysql9: MySQL, server: Rowferry, seed: int, collation: str
) -> None:
    assert server.mysql is not None
    host, port = server.mysql
    made = Made(seed)
    name = f"words{seed}"
    ours = {"host": host, "port": port, "user": "ada", "password": "", "database": "app"}
    with _connect(mysql9.dsn) as theirs, _connect(ours) as here:

        def both(sql: str, args: tuple[object, ...] = ()) -> object:
            expected = _answer(theirs, sql, args)
            found = _answer(here, sql, args)
            assert _is_same(found, expected), (sql, args, found, expected)
            return expected

        both(f"DROP TABLE IF EXISTS {name}")
        both(f"CREATE TABLE {name} (id INT PRIMARY KEY, a TEXT, b VARCHAR(500), FULLTEXT (a, b)) COLLATE {collation}")
        for row in range(20):
            text = made.random.choice([made.document(), made.document(), None])
            both(f"INSERT INTO {name} VALUES (%s, %s, %s)", (row, text, made.document()))
        found = 0
        for turn in range(120):
            if turn % 40 == 39:
                both(f"UPDATE {name} SET a = %s WHERE id = %s", (made.document(), made.random.randrange(20)))
                both(f"DELETE FROM {name} WHERE id = %s", (made.random.randrange(20),))
                both(f"REPLACE INTO {name} VALUES (%s, 'grape', %s)", (made.random.randrange(20), made.document()))
                # Until then MySQL counts rows that are gone.
                _answer(theirs, f"OPTIMIZE TABLE {name}")
            mode = made.random.choice(["IN BOOLEAN MODE", "IN BOOLEAN MODE", "", "WITH QUERY EXPANSION"])
            search = made.boolean() if "BOOLEAN" in mode else made.natural()
            sql = f"SELECT id, MATCH (a, b) AGAINST (%s {mode}) AS r FROM {name} WHERE MATCH (a, b) AGAINST (%s {mode})"
            # Sorted otherwise MySQL searches twice, and counts twice.
            rows = both(sql, (search, search))
            found += isinstance(rows, list) and len(rows) > 0
        # Nearly all searches mean something.
        assert found > 60
        both(f"DROP TABLE {name}")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "words.db"


@pytest.fixture
def doors(file: Path) -> Iterator[Rowferry]:
    with Rowferry.start(file, mysql=True) as server:
        yield server


def _ids(client: Client, search: str, table: str = "t") -> list[str]:
    sql = f"SELECT id FROM {table} WHERE MATCH (body) AGAINST ('{search}') ORDER BY id"
    return [(row[0] or b"").decode() for row in client.query(sql).texts()]


def _client(server: Rowferry) -> Client:
    assert server.mysql is not None
    return Client(server.mysql, database="words")


def test_words_are_kept_whoever_writes_a_row(file: Path, doors: Rowferry) -> None:
    with _client(doors) as client:
        client.query("CREATE TABLE p (id INT PRIMARY KEY)")
        client.query(
            "CREATE TABLE t (id INT, p INT, body TEXT, FULLTEXT (body), "
            "FOREIGN KEY (p) REFERENCES p (id) ON DELETE CASCADE)"
        )
        client.query("INSERT INTO p VALUES (1), (2)")
        client.query("INSERT INTO t VALUES (1, 1, 'first words'), (2, 2, 'second words')")
        with psycopg.connect(doors.postgres_dsn, autocommit=True) as postgres:
            postgres.execute("INSERT INTO t VALUES (3, 1, 'third words')")
            postgres.execute("UPDATE t SET body = 'second letters' WHERE id = 2")
            # What an index of words is only MySQL's clients are told.
            assert postgres.execute("SELECT indexname FROM pg_indexes WHERE tablename = 't'").fetchall() == [("t.p",)]
        assert _ids(client, "words") == ["1", "3"]
        with sqlite3.connect(file) as shell:
            shell.execute("INSERT INTO t VALUES (4, 2, 'fourth words')")
            shell.execute("UPDATE t SET body = 'no more' WHERE id = 3")
        shell.close()
        assert _ids(client, "words") == ["1", "4"]
        client.query("DELETE FROM p WHERE id = 2")
        assert _ids(client, "words") == ["1"]
        assert client.query("CHECK TABLE t").texts()[-1][-1] == b"OK"


def test_words_that_nobody_kept_are_found_out_and_taken_in_again(file: Path, doors: Rowferry) -> None:
    with _client(doors) as client:
        client.query("CREATE TABLE t (id INT, body TEXT, FULLTEXT (body))")
        client.query("INSERT INTO t VALUES (1, 'first words'), (2, 'second words'), (3, 'third words')")
        client.query("DELETE FROM t WHERE id = 1")
        with sqlite3.connect(file) as shell:
            names = [name for (name,) in shell.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'")]
            shell.execute(f"DROP TRIGGER {names[0]}")
            shell.execute("INSERT INTO t VALUES (4, 'fourth words')")
        shell.close()
        with pytest.raises(ServerError) as raised:
            _ids(client, "words")
        assert raised.value.code == 1034
        assert client.query("CHECK TABLE t").texts()[-1][-1] == b"Corrupt"
        client.query("REPAIR TABLE t")
        assert _ids(client, "words") == ["2", "3", "4"]
        # Rows that get other numbers, as the text of a file gives them.
        with sqlite3.connect(file) as shell:
            rows = shell.execute("SELECT sql FROM sqlite_master WHERE type = 'trigger'")
            triggers = [sql for (sql,) in rows]
            for sql in triggers:
                shell.execute("DROP TRIGGER " + sql.split()[2])
            shell.execute("UPDATE t SET rowid = rowid + 100")
            for sql in triggers:
                shell.execute(sql)
        shell.close()
        with pytest.raises(ServerError):
            _ids(client, "words")
        client.query("OPTIMIZE TABLE t")
        assert _ids(client, "words") == ["2", "3", "4"]


def test_a_dump_takes_its_keys_along(doors: Rowferry) -> None:
    assert doors.mysql is not None
    host, port = doors.mysql
    with _client(doors) as client:
        # MediaWiki's.
        client.query(
            "CREATE TABLE searchindex (si_page INT UNSIGNED NOT NULL, si_title VARCHAR(255) DEFAULT '' NOT NULL, "
            "si_text MEDIUMTEXT NOT NULL, UNIQUE INDEX si_page (si_page), FULLTEXT INDEX si_title (si_title), "
            "FULLTEXT INDEX si_text (si_text)) ENGINE = MyISAM DEFAULT CHARSET = utf8mb4"
        )
        client.query("REPLACE INTO searchindex VALUES (1, 'main page', 'welcome to the wiki'), (2, 'help', 'edit')")
        options = [f"--host={host}", f"--port={port}", "--user=ada", "--skip-ssl"]
        dump = subprocess.run(["mariadb-dump", *options, "words"], capture_output=True, text=True, check=True).stdout
        assert "FULLTEXT KEY `si_title` (`si_title`)" in dump
        client.query("DROP TABLE searchindex")
        subprocess.run(["mariadb", *options, "words"], input=dump, text=True, check=True)
        search = "SELECT si_page FROM searchindex WHERE MATCH (si_text) AGAINST ('+wiki +welc*' IN BOOLEAN MODE)"
        assert client.query(search).texts() == [(b"1",)]
