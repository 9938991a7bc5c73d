"""`rowferry copy`: between SQLite files, PostgreSQL, MariaDB and our Informix door, whole, also after breaks."""

from __future__ import annotations

import json
import random
import resource
import signal
import sqlite3
import subprocess
import threading
from collections.abc import Callable
from decimal import Decimal
from itertools import pairwise
from pathlib import Path
from typing import Any

import psycopg
import pytest
from rowferry import informix, mysql

from tests.cli.copying import command, copy, informix_url, rows
from tests.servers.mariadb import MariaDB
from tests.servers.postgres import PostgreSQL
from tests.servers.rowferry import Rowferry, find_rowferry

STORE = {"customers": 1000, "orders": 5000, "items": 14896, "stock": 500}


def whole(dsn: str) -> dict[str, list[tuple[Any, ...]]]:
    """All rows of the store on PostgreSQL, in order."""
    with psycopg.connect(dsn) as connection:
        return {name: connection.execute(f"SELECT * FROM {name} ORDER BY 1, 2").fetchall() for name in STORE}


def sums(told: dict[str, Any]) -> dict[str, str]:
    return {table["name"]: table["checksum"] for table in told["tables"]}


def test_the_store_goes_round_all_kinds_and_is_equal(
    store_file: Path, database: Callable[[], str], mysql_url: str, door: Rowferry, tmp_path: Path
) -> None:
    first, last = database(), database()
    places: list[str | Path] = [store_file, first, tmp_path / "second.db", mysql_url, informix_url(door), last]
    told = [copy(source, target, cwd=tmp_path) for source, target in pairwise(places)]
    assert {table["name"]: table["rows"] for table in told[0]["tables"]} == STORE
    assert all(sums(one) == sums(told[0]) for one in told)
    assert whole(first) == whole(last)
    assert not list(tmp_path.glob("rowferry-copy-*")), "the state goes with its copy"
    with psycopg.connect(last) as connection:
        keys = "SELECT count(*) FROM pg_constraint WHERE connamespace = 'public'::regnamespace AND contype = %s"
        counted = {kind: connection.execute(keys, (kind,)).fetchone() for kind in "pfu"}
        assert counted == {"p": (4,), "f": (3,), "u": (1,)}
        # Behind the rows that are there.
        connection.execute("INSERT INTO orders (customer_id, placed_at, status, gift) VALUES (1, now(), 'open', false)")
        assert connection.execute("SELECT max(order_id) FROM orders").fetchone() == (5001,)
        with pytest.raises(psycopg.errors.CheckViolation):
            connection.execute("UPDATE stock SET quantity = -1")


def test_both_of_our_doors_are_targets_and_sources(store_file: Path, door: Rowferry, tmp_path: Path) -> None:
    first = copy(store_file, door.postgres_dsn, cwd=tmp_path)
    second = copy(informix_url(door), tmp_path / "out.db", cwd=tmp_path)
    assert sums(first) == sums(second)
    assert rows(tmp_path / "out.db", "PRAGMA foreign_key_check") == []
    assert rows(tmp_path / "out.db", "SELECT count(*) FROM items") == [(14896,)]


@pytest.mark.parametrize("target", ["postgres", "mariadb", "informix", "sqlite"])
def test_a_copy_that_is_killed_goes_on(
    target: str, store_file: Path, database: Callable[[], str], request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    """Ten kills in all of these targets, at moments made at random; then the rest."""
    if target == "postgres":
        place: str | Path = database()
    elif target == "mariadb":
        place = request.getfixturevalue("mysql_url")
    elif target == "informix":
        place = informix_url(request.getfixturevalue("door"))
    else:
        place = tmp_path / "target.db"
    expected = sums(copy(store_file, database(), cwd=tmp_path))
    chance = random.Random(target)
    arguments = ["copy", store_file, place, "--yes", "--json", "--batch", "100", "--state", tmp_path / "state.json"]
    killed = 0
    for _ in range(40):
        resume = ["--resume"] if (tmp_path / "state.json").exists() else []
        with subprocess.Popen(
            [find_rowferry(), *arguments, *resume], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        ) as process:
            # No assertion hangs on when it happens.
            timer = threading.Timer(chance.uniform(0.05, 1.2), process.kill)
            if killed < 3:
                timer.start()
            out, error = process.communicate(timeout=300)
            timer.cancel()
        if process.returncode == -signal.SIGKILL:
            killed += 1
            continue
        assert process.returncode == 0, error
        break
    told = json.loads(out)
    assert told["equal"] and sums(told) == expected
    assert {table["name"]: table["rows"] for table in told["tables"]} == STORE


@pytest.mark.parametrize("key", ["", "id", "id, x"])
def test_a_commit_in_doubt_is_not_taken_for_a_row_that_was_there(
    key: str, database: Callable[[], str], tmp_path: Path
) -> None:
    """A kill while the target commits a batch, whose last key another row had before the copy began."""
    with sqlite3.connect(tmp_path / "a.db") as connection:
        connection.execute(f"CREATE TABLE t (id integer, x text{f', PRIMARY KEY ({key})' if key else ''})")
        connection.execute("INSERT INTO t VALUES (1, 'a'), (2, 'b'), (3, 'c')")
    place = database()
    state = tmp_path / "state.json"
    arguments = ["a.db", place, "--if-exists", "append", "--batch", "3", "--state", state]
    with psycopg.connect(place, autocommit=True) as target:
        target.execute(
            "CREATE TABLE t (id integer, x text);"
            "INSERT INTO t VALUES (3, 'c'), (4, 'd');"
            "CREATE FUNCTION wait() RETURNS trigger LANGUAGE plpgsql AS $$ "
            "BEGIN PERFORM pg_sleep(600); RETURN NEW; END $$;"
            "CREATE CONSTRAINT TRIGGER wait AFTER INSERT ON t DEFERRABLE INITIALLY DEFERRED"
            " FOR EACH ROW EXECUTE FUNCTION wait()"
        )
        with subprocess.Popen(
            [find_rowferry(), "copy", *arguments, "--yes"], cwd=tmp_path, stderr=subprocess.PIPE
        ) as process:
            committing = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND query = 'COMMIT'"
            while target.execute(committing).fetchone() == (0,):
                assert process.poll() is None
            process.kill()
        target.execute("SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity WHERE query = 'COMMIT'")
        target.execute("DROP TRIGGER wait ON t")
        assert target.execute("SELECT count(*) FROM t").fetchone() == (2,)
        assert any(unit["begun"] for unit in json.loads(state.read_text())["units"])
        copy(*arguments, "--resume", cwd=tmp_path)
        assert target.execute("SELECT id FROM t ORDER BY 1").fetchall() == [(1,), (2,), (3,), (3,), (4,)]


def test_an_interrupted_copy_says_how_to_go_on(store_file: Path, database: Callable[[], str], tmp_path: Path) -> None:
    place = database()
    big = tmp_path / "big.db"
    with sqlite3.connect(big) as connection:
        connection.execute("CREATE TABLE t (id integer PRIMARY KEY, x text)")
        connection.execute(
            "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100000)"
            " INSERT INTO t SELECT i, 'row ' || i FROM n"
        )
    arguments = [find_rowferry(), "copy", big, place, "--yes", "--batch", "200"]
    with subprocess.Popen(arguments, cwd=tmp_path, stderr=subprocess.PIPE, text=True) as process:
        state = None
        while state is None and process.poll() is None:
            state = next(tmp_path.glob("rowferry-copy-*.json"), None)
        process.send_signal(signal.SIGINT)
        _, error = process.communicate(timeout=120)
    assert process.returncode == 1 and "--resume" in error and "stopped" in error, error
    done = command(big, place, "--yes", cwd=tmp_path)
    assert done.returncode == 1 and "--resume" in done.stderr
    done = command(big, place, "--yes", "--resume", "--exclude", "x", cwd=tmp_path)
    assert done.returncode == 1 and "another copy" in done.stderr
    told = copy(big, place, "--resume", cwd=tmp_path)
    assert told["rows"] == 100_000


def test_a_large_table_takes_little_memory(database: Callable[[], str], tmp_path: Path) -> None:
    big = tmp_path / "big.db"
    with sqlite3.connect(big) as connection:
        connection.execute("CREATE TABLE t (id integer PRIMARY KEY, x text NOT NULL, y numeric(10,2))")
        connection.execute("CREATE TABLE keyless (x text NOT NULL)")
        # 200,000 rows of about 500 bytes: 100 MB, and as many without a key.
        connection.execute(
            "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200000)"
            " INSERT INTO t SELECT i, hex(zeroblob(200)) || printf('%0100d', i), i / 4.0 FROM n"
        )
        connection.execute("INSERT INTO keyless SELECT x FROM t")

    def limited() -> None:
        resource.setrlimit(resource.RLIMIT_DATA, (1 << 29, 1 << 29))

    place = database()
    done = subprocess.run(
        [find_rowferry(), "copy", big, place, "--yes", "--json", "--jobs", "2"],
        capture_output=True,
        text=True,
        timeout=600,
        cwd=tmp_path,
        preexec_fn=limited,
    )
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["equal"] and told["rows"] == 400_000
    assert told["bytes"] > 190_000_000


POSTGRES_TYPES = """
CREATE TYPE mood AS ENUM ('calm', 'it''s fine');
CREATE TABLE kinds (id integer PRIMARY KEY, b boolean, i2 smallint, i4 integer, i8 bigint, n numeric(30,10), u numeric,
    f4 real, f8 double precision, c char(5), v varchar(40), t text, y bytea, d date, tm time(3), ts timestamp(3),
    tz timestamptz(3), g uuid, j jsonb, a text[], o interval, p inet, e mood);
INSERT INTO kinds (id) VALUES (1);
INSERT INTO kinds VALUES (2, true, 32767, 2147483647, 9223372036854775807, 12345678901234567890.0123456789,
    1234567890123456789012.250, 3.4028235e38, 1.7976931348623157e308, 'ab', 'Grüße ''"`\\ 🌻', repeat('ß', 100000),
    decode(repeat('00ff0a5c27', 2000), 'hex'), '0001-01-01', '00:00:00', '9999-12-31 23:59:59.999',
    '2024-02-29 23:30:00.25+05:30', 'A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11', '{"b": [1.50, null, true], "a": "ü\\"\\n"}',
    ARRAY['x', NULL, 'it''s, "so"'], '1 year 2 days 03:04:05.5', '192.168.0.1/24', 'it''s fine');
INSERT INTO kinds VALUES (3, false, -32767, -2147483647, -9223372036854775807, -0.0000000001, -0.5, 0.1, 5e-300,
    '', '', '', '', '9999-12-31', '23:59:59.999', '1970-01-01', '1970-01-01 00:00:00+00',
    '00000000-0000-0000-0000-000000000000', '[]', '{}',
    '-1 month', '::1', 'calm');
INSERT INTO kinds (id, v, t, c) VALUES (4, ' \t\n\\N\\ ', E'\\\\N\\n\\r\\t\\x01\\x7f', ' x  ');
"""


def meant(name: str, value: str | None) -> object:
    """A value's text as what it means."""
    if value is None:
        return None
    if name in ("n", "u"):
        return Decimal(value)
    if name in ("f4", "f8"):
        return float(value)
    if name == "j":
        return json.loads(value)
    if name == "c":
        return value.rstrip(" ")
    if name == "p":
        # An address's text has the width of its network, or not.
        return value.removesuffix("/128")
    if name == "tz":
        return value.removesuffix("+00")
    return value


def kinds(dsn: str) -> list[list[object]]:
    with psycopg.connect(dsn, options="-c timezone=UTC -c extra_float_digits=3") as connection:
        names = [
            name
            for (name,) in connection.execute(
                "SELECT attname FROM pg_attribute WHERE attrelid = 'kinds'::regclass AND attnum > 0 ORDER BY attnum"
            )
        ]
        chosen = ", ".join(f'"{name}"::text' for name in names)
        found = connection.execute(f"SELECT {chosen} FROM kinds ORDER BY id").fetchall()
    return [[meant(name, value) for name, value in zip(names, row, strict=True)] for row in found]


@pytest.mark.parametrize("way", ["sqlite", "mariadb", "informix"])
def test_all_types_of_postgresql_come_back(
    way: str, database: Callable[[], str], request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    first, last = database(), database()
    with psycopg.connect(first) as connection:
        connection.execute(POSTGRES_TYPES)
    if way == "sqlite":
        place: str | Path = tmp_path / "way.db"
    elif way == "mariadb":
        place = request.getfixturevalue("mysql_url")
    else:
        place = informix_url(request.getfixturevalue("door"))
    copy(first, place, cwd=tmp_path)
    copy(place, last, cwd=tmp_path)
    assert kinds(last) == kinds(first)


def test_what_does_not_fit_is_named_with_its_place(
    database: Callable[[], str], mysql_url: str, door: Rowferry, tmp_path: Path
) -> None:
    place = database()
    with psycopg.connect(place, autocommit=True) as connection:
        connection.execute("CREATE TABLE t (k text PRIMARY KEY, v double precision, m timestamp, s smallint, d date)")
        for column, value, target, words in [
            ("v", "'NaN'", mysql_url, "no finite number"),
            ("m", "'2024-01-01 00:00:00.123456'", informix_url(door), "fractions of a second"),
            ("s", "-32768", informix_url(door), "is not between -32767 and 32767"),
            ("d", "'0044-03-15 BC'", mysql_url, "years 1 to 9999"),
            ("d", "'infinity'", informix_url(door), "years 1 to 9999"),
        ]:
            connection.execute("TRUNCATE t")
            connection.execute(f"INSERT INTO t (k, {column}) VALUES ('the key', {value})")
            state = tmp_path / "state.json"
            done = command(place, target, "--yes", "--if-exists", "replace", "--state", state, cwd=tmp_path)
            assert done.returncode == 1 and words in done.stderr, done.stderr
            assert "t: the row with k = `the key`: " + column in done.stderr
            state.unlink()
        connection.execute("TRUNCATE t")
        connection.execute("INSERT INTO t (k, m) VALUES ('the key', '2024-01-01 00:00:00.123456')")
        copy(place, informix_url(door), "--if-exists", "replace", "--lossy", cwd=tmp_path)


def test_numbers_go_on_behind_rows_that_follow_their_tables(
    database: Callable[[], str], mysql_url: str, tmp_path: Path
) -> None:
    source, place = tmp_path / "a.db", database()
    with sqlite3.connect(source) as connection:
        connection.execute("CREATE TABLE one (id integer PRIMARY KEY AUTOINCREMENT, x text)")
        connection.execute("CREATE TABLE two (id integer PRIMARY KEY AUTOINCREMENT, x text)")
        connection.execute("INSERT INTO one VALUES (1, 'a')")
        connection.execute("INSERT INTO two VALUES (41, 'a')")
    for target in (place, mysql_url, tmp_path / "b.db"):
        copy(source, target, "--schema-only", cwd=tmp_path)
        copy(source, target, "--data-only", cwd=tmp_path)
    copy(mysql_url, tmp_path / "c.db", cwd=tmp_path)
    for file in ("b.db", "c.db"):
        copy(file, place, "--if-exists", "replace", "--data-only", cwd=tmp_path)
        with psycopg.connect(place) as connection:
            for table, number in (("one", 2), ("two", 42)):
                added = connection.execute(f"INSERT INTO {table} (x) VALUES ('b') RETURNING id").fetchone()
                assert added is not None and added[0] >= number
    with psycopg.connect(place, autocommit=True) as connection:
        # Numbers that were given once are not given again.
        connection.execute("TRUNCATE one; SELECT setval('one_id_seq', 1000)")
        copy(source, place, "--data-only", "--table", "one", cwd=tmp_path)
        assert connection.execute("INSERT INTO one (x) VALUES ('b') RETURNING id").fetchone() == (1001,)


def test_a_file_holds_what_its_types_do_not(database: Callable[[], str], tmp_path: Path) -> None:
    place = database()
    with sqlite3.connect(tmp_path / "a.db") as connection:
        connection.execute("CREATE TABLE t (id integer PRIMARY KEY, v varchar(3))")
        connection.execute("INSERT INTO t VALUES (7, 'longer')")
    for target in (place, "b.db"):
        arguments = ["a.db", target, "--if-exists", "replace", "--state", tmp_path / "state.json"]
        done = command(*arguments, "--yes", cwd=tmp_path)
        assert done.returncode == 1 and "t: the row with id = `7`: v has 6 characters, more than 3" in done.stderr
        (tmp_path / "state.json").unlink()
        copy(*arguments, "--lossy", cwd=tmp_path)
    with psycopg.connect(place) as connection:
        assert connection.execute("SELECT v FROM t").fetchone() == ("lon",)


def test_rows_without_a_key_are_not_left_out(tmp_path: Path) -> None:
    """SQLite takes NULL in a primary key, where no comparison finds it."""
    with sqlite3.connect(tmp_path / "a.db") as connection:
        connection.execute("CREATE TABLE t (k text PRIMARY KEY, x text)")
        connection.execute("INSERT INTO t VALUES ('a', 'x'), (NULL, 'y'), ('b', 'z')")
    done = command("a.db", "b.db", "--yes", "--batch", "1", cwd=tmp_path)
    assert done.returncode == 1 and "t: 1 rows have NULL in their primary key" in done.stderr


def test_all_types_of_mariadb_come_back(
    mysql_url: str, mariadb: MariaDB, database: Callable[[], str], tmp_path: Path
) -> None:
    statements = [
        "CREATE TABLE copied.kinds (id INT UNSIGNED AUTO_INCREMENT PRIMARY KEY, b TINYINT(1), t TINYINT,"
        " tu TINYINT UNSIGNED, m MEDIUMINT, iu INT UNSIGNED, bu BIGINT UNSIGNED, n DECIMAL(65,30), f FLOAT, d DOUBLE,"
        " c CHAR(5), v VARCHAR(300), x LONGTEXT, y LONGBLOB, vb VARBINARY(16), dt DATE, tm TIME(6),"
        " ts DATETIME(6), tz TIMESTAMP(6) NULL,"
        " yr YEAR, j JSON, e ENUM('a','it''s'), s SET('p','q'), u UUID) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin",
        "INSERT INTO copied.kinds (id) VALUES (1)",
        "INSERT INTO copied.kinds VALUES (4294967295, 1, -128, 255, -8388608, 4294967295, 18446744073709551615,"
        " 12345678901234567890123456789012345.000000000000000000000000000001, 0.1, -1.5e300, 'ab', 'it''s \\\\ \\n 🌻',"
        " REPEAT('x', 200000), UNHEX('00FF275C0A'), UNHEX(''), '0001-01-01', '23:59:59.999999',"
        " '9999-12-31 23:59:59.999999', '1970-01-01 00:00:01.5', 2155, '{\"a\": [1, 2.5]}', 'it''s', 'p,q',"
        " 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11')",
    ]
    with mysql.connect(**mariadb.dsn, autocommit=True) as connection, connection.cursor() as cursor:
        cursor.execute("SET time_zone = '+00:00'")
        for statement in statements:
            cursor.execute(statement)
        cursor.execute("SELECT * FROM copied.kinds ORDER BY id")
        before = cursor.fetchall()
        place = database()
        copy(mysql_url, place, cwd=tmp_path)
        copy(mysql_url, tmp_path / "file.db", cwd=tmp_path)
        with psycopg.connect(place) as postgres:
            found = postgres.execute("SELECT bu, n, f, yr, e, s, u::text FROM kinds WHERE bu IS NOT NULL").fetchone()
        assert (
            found is not None
            and found[0] == 18446744073709551615
            and found[3:]
            == (
                2155,
                "it's",
                "p,q",
                "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11",
            )
        )
        cursor.execute("DELETE FROM copied.kinds")
        copy(place, mysql_url, "--data-only", cwd=tmp_path)
        cursor.execute("SELECT * FROM copied.kinds ORDER BY id")
        assert cursor.fetchall() == before
        cursor.execute("DELETE FROM copied.kinds")
        copy(tmp_path / "file.db", mysql_url, "--data-only", cwd=tmp_path)
        cursor.execute("SELECT * FROM copied.kinds ORDER BY id")
        assert cursor.fetchall() == before


def test_tables_that_cannot_be_copied_can_be_left_out(mysql_url: str, mariadb: MariaDB, tmp_path: Path) -> None:
    with mysql.connect(**mariadb.dsn, autocommit=True) as connection, connection.cursor() as cursor:
        cursor.execute("CREATE TABLE copied.places (id INT PRIMARY KEY, at POINT)")
        cursor.execute("CREATE TABLE copied.t (id INT PRIMARY KEY)")
        cursor.execute("INSERT INTO copied.t VALUES (1)")
    done = command(mysql_url, "a.db", "--yes", cwd=tmp_path)
    assert done.returncode == 1 and "column at of places is point" in done.stderr and "--exclude" in done.stderr
    assert copy(mysql_url, "a.db", "--exclude", "pl*", cwd=tmp_path)["rows"] == 1
    # It is in nobody's way on the target.
    copy("a.db", mysql_url, "--if-exists", "replace", cwd=tmp_path)


def test_all_types_of_informix_come_back(door: Rowferry, database: Callable[[], str], tmp_path: Path) -> None:
    assert door.informix is not None
    host, port = door.informix
    with informix.connect(
        host=host, port=port, user="informix", password="in4mix", database=door.dbname, server="informix"
    ) as connection:
        cursor = connection.cursor()
        cursor.execute(
            "CREATE TABLE kinds (id SERIAL PRIMARY KEY, s SMALLINT, i INTEGER, b BIGINT, i8 INT8, n DECIMAL(32,10),"
            " f DECIMAL(16), m MONEY(10,2), x FLOAT, y SMALLFLOAT, c CHAR(10), nc NCHAR(4), v VARCHAR(40,5),"
            " lv LVARCHAR(2000), t TEXT, raw BYTE, d DATE, ts DATETIME YEAR TO SECOND,"
            " tf DATETIME YEAR TO FRACTION(5), "
            " tm DATETIME HOUR TO SECOND, ym DATETIME YEAR TO MONTH, iv INTERVAL DAY TO SECOND, flag BOOLEAN)"
        )
        cursor.execute("INSERT INTO kinds (id) VALUES (1)")
        cursor.execute(
            "INSERT INTO kinds VALUES (7, -32767, 2147483647, 9223372036854775807, -9223372036854775807,"
            " 1234567890123456789012.0123456789, 1.25, 12345678.99, 1.5e300, 0.5, 'ab', 'é', 'it''s', ?, ?, ?,"
            " MDY(12,31,9999), '0001-01-01 00:00:00', '9999-12-31 23:59:59.99999', '23:59:59', '2024-02',"
            " INTERVAL(3 04:05:06) DAY TO SECOND, 't')",
            ("ü" * 900, "long " * 20_000, bytes(range(256)) * 40),
        )
        cursor.execute("INSERT INTO kinds (id, v, lv, t, raw) VALUES (9, '', '', ?, ?)", (b"", b""))
        connection.commit()
        cursor.execute("SELECT * FROM kinds ORDER BY id")
        before = cursor.fetchall()
        place = database()
        copy(informix_url(door), place, cwd=tmp_path)
        with psycopg.connect(place) as postgres:
            found = postgres.execute(
                "SELECT n, iv, ym, flag, length(raw), length(t) FROM kinds WHERE id = 7"
            ).fetchone()
        assert found == (Decimal("1234567890123456789012.0123456789"), "3 04:05:06", "2024-02", True, 10240, 100_000)
        copy(informix_url(door), tmp_path / "file.db", cwd=tmp_path)
        for source in (place, tmp_path / "file.db"):
            cursor.execute("DELETE FROM kinds")
            connection.commit()
            copy(source, informix_url(door), "--data-only", cwd=tmp_path)
            cursor.execute("SELECT * FROM kinds ORDER BY id")
            assert cursor.fetchall() == before


@pytest.mark.parametrize("target", ["mariadb", "informix"])
def test_names_of_any_letters(
    target: str, database: Callable[[], str], request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    first, last = database(), database()
    with psycopg.connect(first) as connection:
        connection.execute(
            """CREATE TABLE "Order" ("select" integer PRIMARY KEY, "A b" text, "naïve" varchar(9) UNIQUE,
                "group" date DEFAULT CURRENT_DATE);
            CREATE TABLE "it's" ("from" integer REFERENCES "Order" ("select"), "where" timestamp DEFAULT now(),
                n integer DEFAULT -5,
                s varchar(20) DEFAULT 'it''s', ok boolean NOT NULL DEFAULT true);
            CREATE INDEX "An Index" ON "it's" ("from" DESC, n);
            INSERT INTO "Order" VALUES (1, 'x', 'y', '2024-01-01'), (2, NULL, NULL, NULL);
            INSERT INTO "it's" VALUES (1, '2024-01-01', 1, 'a', false), (1, '2024-01-01', 1, 'a', false),
                (NULL, NULL, NULL, NULL, true)"""
        )
    place = (
        request.getfixturevalue("mysql_url") if target == "mariadb" else informix_url(request.getfixturevalue("door"))
    )
    copy(first, place, cwd=tmp_path)
    told = copy(place, last, cwd=tmp_path)
    assert told["rows"] == 5
    with psycopg.connect(last) as connection:
        assert connection.execute("""SELECT * FROM "Order" ORDER BY 1""").fetchone() is not None
        connection.execute("""INSERT INTO "it's" ("from") VALUES (2)""")
        row = connection.execute("""SELECT n, s, ok, "where" IS NOT NULL FROM "it's" WHERE "from" = 2""").fetchone()
        assert row == (-5, "it's", True, True)
        indexed = connection.execute("""SELECT count(*) FROM pg_indexes WHERE tablename = 'it''s'""").fetchone()
        assert indexed is not None and indexed[0] >= 1
        with pytest.raises(psycopg.errors.ForeignKeyViolation):
            connection.execute("""INSERT INTO "it's" ("from") VALUES (3)""")


def test_tables_that_are_there(store_file: Path, tmp_path: Path) -> None:
    target = tmp_path / "target.db"
    copy(store_file, target, "--table", "stock", "--table", "c*", cwd=tmp_path)
    done = command(store_file, target, "--yes", cwd=tmp_path)
    assert done.returncode == 1 and "customers, stock" in done.stderr and "--if-exists" in done.stderr
    assert rows(target, "SELECT count(*) FROM sqlite_schema WHERE name = 'orders'") == [(0,)]
    told = copy(store_file, target, "--if-exists", "skip", cwd=tmp_path)
    assert {table["name"] for table in told["tables"]} == {"items", "orders"}
    # There are the keys already; what was refused does not count as done.
    for more in ([], ["--resume"]):
        done = command(store_file, target, "--yes", "--if-exists", "append", "--table", "stock", *more, cwd=tmp_path)
        assert done.returncode == 1 and "23505" in done.stderr, done.stderr
    assert rows(target, "SELECT count(*) FROM stock") == [(500,)]
    for state in tmp_path.glob("rowferry-copy-*"):
        state.unlink()
    with sqlite3.connect(target) as connection:
        connection.execute("DELETE FROM items WHERE order_id > 100")
        (kept,) = connection.execute("SELECT count(*) FROM items").fetchone()
    source = tmp_path / "rest.db"
    with sqlite3.connect(source) as connection:
        connection.execute("ATTACH ? AS store", (str(store_file),))
        connection.execute("CREATE TABLE items AS SELECT * FROM store.items WHERE order_id > 100")
    connection.close()
    told = copy(source, target, "--if-exists", "append", cwd=tmp_path)
    assert told["rows"] == 14896 - kept
    copy(store_file, target, "--if-exists", "replace", cwd=tmp_path)
    assert rows(target, "SELECT count(*) FROM items") == [(14896,)]
    copy(store_file, target, "--if-exists", "replace", "--data-only", "--table", "items", cwd=tmp_path)
    empty = tmp_path / "empty.db"
    copy(store_file, empty, "--schema-only", cwd=tmp_path)
    assert rows(empty, "SELECT count(*) FROM items") == [(0,)]
    copy(store_file, empty, "--data-only", cwd=tmp_path)
    assert rows(empty, "PRAGMA foreign_key_check") == []
    assert rows(empty, "SELECT * FROM items ORDER BY 1, 2") == rows(store_file, "SELECT * FROM items ORDER BY 1, 2")


def test_the_plan_comes_first(store_file: Path, mysql_url: str, tmp_path: Path) -> None:
    done = command(store_file, mysql_url, "--dry-run", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "numeric(10,2) → DECIMAL(10,2)" in done.stdout and "rowferry-test" not in done.stdout
    assert "primary key: 1, unique keys: 1" in done.stdout and "foreign keys: 1, checks: " in done.stdout
    done = command(store_file, mysql_url, "--dry-run", "--json", cwd=tmp_path)
    plan = json.loads(done.stdout)
    assert [table["name"] for table in plan["tables"]] == ["customers", "items", "orders", "stock"]
    made = [table["made"] for table in plan["tables"]]
    assert sum(table.get("foreign keys", 0) for table in made) == 3 and all(table["primary key"] == 1 for table in made)
    done = command(store_file, mysql_url, cwd=tmp_path)
    assert done.returncode == 1 and "--yes" in done.stderr
    # Nothing was made by any of these.
    told = copy(store_file, mysql_url, cwd=tmp_path)
    assert told["rows"] == sum(STORE.values())
    assert command(store_file, cwd=tmp_path).returncode == 2
    done = command(store_file, "mongodb://h/d", "--yes", cwd=tmp_path)
    assert done.returncode == 1 and "mongodb" in done.stderr
    done = command(store_file, tmp_path / "x.db", "--yes", "--table", "nosuch", cwd=tmp_path)
    assert done.returncode == 1 and "nosuch" in done.stderr


def test_files_are_left_as_they_were(tmp_path: Path) -> None:
    """What is read keeps its journal, with nothing beside it; so does a target to which nobody has said yes."""

    def made(name: str) -> Path:
        path = tmp_path / name / "a file.db"
        path.parent.mkdir()
        connection = sqlite3.connect(path)
        connection.execute("PRAGMA journal_mode = WAL" if name == "source" else "PRAGMA journal_mode = DELETE")
        connection.execute("CREATE TABLE t (id integer PRIMARY KEY, x text)")
        connection.execute("INSERT INTO t VALUES (1, 'a')")
        connection.commit()
        connection.close()
        return path

    source, target = made("source"), made("target")
    before = source.read_bytes(), target.read_bytes()
    assert command(source, target, "--dry-run", "--if-exists", "replace", cwd=tmp_path).returncode == 0
    assert command(source, target, "--if-exists", "replace", cwd=tmp_path).returncode == 1
    same = tmp_path / "link.db"
    same.hardlink_to(target)
    for other in (target, same):
        done = command(target, other, "--yes", "--if-exists", "replace", cwd=tmp_path)
        assert done.returncode == 1 and "itself" in done.stderr
    assert command(source, tmp_path / "new.db", "--dry-run", cwd=tmp_path).returncode == 0
    assert before == (source.read_bytes(), target.read_bytes())
    copy(source, target, "--if-exists", "replace", cwd=tmp_path)
    assert [path.name for path in source.parent.iterdir()] == ["a file.db"]
    assert before[0] == source.read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link.db", "source", "target"]


def test_the_plan_names_what_is_left_behind(
    database: Callable[[], str], mysql_url: str, mariadb: MariaDB, tmp_path: Path
) -> None:
    place = database()
    with psycopg.connect(place) as connection:
        connection.execute(
            "CREATE TABLE parent (id integer PRIMARY KEY, x text);"
            "CREATE TABLE child (y text) INHERITS (parent);"
            "INSERT INTO parent VALUES (1, 'a'); INSERT INTO child VALUES (1, 'b', 'c');"
            "COMMENT ON TABLE parent IS 'of all'; COMMENT ON COLUMN parent.x IS 'a text';"
            """CREATE TABLE "bell\a" (x integer)"""
        )
    with mysql.connect(**mariadb.dsn, autocommit=True) as connection, connection.cursor() as cursor:
        cursor.execute("CREATE TABLE copied.t (id INT PRIMARY KEY COMMENT 'a number') COMMENT 'of all'")
    done = command(place, "a.db", "--dry-run", "--exclude", "nosuch*", cwd=tmp_path)
    for words in (
        "not copied: its comment\n",
        "not copied: the comment on column x\n",
        "not copied: that others inherit from it",
        "--exclude nosuch* is the name of no table",
    ):
        assert words in done.stdout, done.stdout
    assert "\a" not in done.stdout
    done = command(mysql_url, "a.db", "--dry-run", cwd=tmp_path)
    assert "not copied: its comment\n" in done.stdout and "not copied: the comment on column id\n" in done.stdout
    # Each table's own rows, also where another one has the same key.
    told = copy(place, "a.db", "--exclude", "bell*", cwd=tmp_path)
    assert {table["name"]: table["rows"] for table in told["tables"]} == {"parent": 1, "child": 1}
    with sqlite3.connect(tmp_path / "a.db") as connection:
        connection.execute("DROP TABLE child")
    connection.close()
    done = command(place, "a.db", "--dry-run", "--table", "parent", "--if-exists", "replace", cwd=tmp_path)
    assert "parent (dropped, with views and foreign keys that need it, and made again)" in done.stdout


def test_rows_that_policies_hide_are_not_left_out(database: Callable[[], str], tmp_path: Path) -> None:
    place = database()
    with psycopg.connect(place, autocommit=True) as connection:
        connection.execute(
            "CREATE TABLE t (x integer); INSERT INTO t VALUES (1); ALTER TABLE t ENABLE ROW LEVEL SECURITY"
        )
        connection.execute("CREATE ROLE reader LOGIN; GRANT SELECT ON t TO reader")
        try:
            done = command(place.replace("rowferry@", "reader@"), "a.db", "--yes", cwd=tmp_path)
            assert done.returncode == 1 and "row-level security" in done.stderr, done.stderr
        finally:
            connection.execute("DROP OWNED BY reader")
            connection.execute("DROP ROLE reader")


def test_a_database_is_not_copied_into_itself(
    postgres: PostgreSQL, database: Callable[[], str], mysql_url: str, door: Rowferry, tmp_path: Path
) -> None:
    """By whatever name its server goes. Two schemas of one database are two places."""
    place = database()
    with psycopg.connect(place) as connection:
        connection.execute("CREATE TABLE t (x integer); INSERT INTO t VALUES (1); CREATE SCHEMA other")
    copy(place, mysql_url, cwd=tmp_path)
    copy(place, informix_url(door), cwd=tmp_path)
    for one, other in [
        (
            place,
            f"postgresql:///{place.rpartition('/')[2]}?host={postgres.directory}&port={postgres.port}&user=rowferry",
        ),
        (mysql_url, mysql_url.replace("127.0.0.1", "localhost")),
        (door.postgres_dsn, door.postgres_dsn),
        (informix_url(door), informix_url(door)),
    ]:
        done = command(one, other, "--yes", "--if-exists", "replace", cwd=tmp_path)
        assert done.returncode == 1 and "into itself" in done.stderr, done.stderr
    with psycopg.connect(place, autocommit=True) as connection:
        connection.execute("CREATE ROLE another LOGIN SUPERUSER")
        try:
            connection.execute("ALTER ROLE another SET search_path = other")
            copy(place, place.replace("rowferry@", "another@"), cwd=tmp_path)
            assert connection.execute("SELECT * FROM public.t, other.t AS o").fetchall() == [(1, 1)]
        finally:
            connection.execute("DROP OWNED BY another")
            connection.execute("DROP ROLE another")


def test_what_differs_in_the_end_is_told(database: Callable[[], str], tmp_path: Path) -> None:
    source = tmp_path / "source.db"
    with sqlite3.connect(source) as connection:
        connection.execute("CREATE TABLE t (id integer PRIMARY KEY, x text)")
        connection.execute("INSERT INTO t VALUES (1, 'a'), (2, 'b')")
    place = database()
    with psycopg.connect(place, autocommit=True) as connection:
        connection.execute(
            "CREATE TABLE t (id integer PRIMARY KEY, x text);"
            "CREATE FUNCTION other() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.x := 'c'; RETURN NEW; END $$;"
            "CREATE TRIGGER other BEFORE INSERT ON t FOR EACH ROW EXECUTE FUNCTION other()"
        )
    done = command(source, place, "--yes", "--data-only", cwd=tmp_path)
    assert done.returncode == 1 and "t: 2 rows, but not the same values" in done.stderr, done.stderr


def test_a_lost_connection_is_made_again(
    store_file: Path, postgres: PostgreSQL, database: Callable[[], str], tmp_path: Path
) -> None:
    place = database()
    big = tmp_path / "big.db"
    with sqlite3.connect(big) as connection:
        connection.execute("CREATE TABLE t (id integer PRIMARY KEY, x text)")
        connection.execute(
            "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 60000)"
            " INSERT INTO t SELECT i, 'row ' || i FROM n"
        )
    arguments = [find_rowferry(), "copy", big, place, "--yes", "--json", "--batch", "100", "--retries", "20"]
    with subprocess.Popen(
        arguments, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        with psycopg.connect(postgres.dsn, autocommit=True) as admin:
            for _ in range(3):
                while process.poll() is None:
                    ended = admin.execute(
                        "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity"
                        " WHERE datname = %s AND query LIKE 'COPY%%'",
                        (place.rpartition("/")[2],),
                    ).fetchone()
                    if ended and ended[0]:
                        break
        out, error = process.communicate(timeout=300)
    assert process.returncode == 0, error
    assert json.loads(out)["equal"] and json.loads(out)["rows"] == 60_000
