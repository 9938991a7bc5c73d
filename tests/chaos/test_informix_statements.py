"""Damaged and deeply nested Informix statements at the door: an answer or an error, and the session goes on."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from typing import Any

import pytest
from rowferry import informix

from tests.servers.rowferry import Rowferry

#: Statements of every kind, to be damaged.
STATEMENTS = """
SELECT n, t, d + 1, COUNT(*) FROM things GROUP BY 1, 2, 3 HAVING COUNT(*) > 0 ORDER BY 2 DESC
SELECT FIRST 5 DISTINCT a.n, b.t FROM things a LEFT OUTER JOIN things b ON a.n = b.n WHERE a.t LIKE 'x%' ESCAPE '!'
SELECT CASE WHEN n > 1 THEN 'a' WHEN n IS NULL THEN NULL ELSE t[1,3] END, NVL(t, '?'), DECODE(n, 1, 'x') FROM things
SELECT EXTEND(CURRENT, YEAR TO DAY) - INTERVAL(3) DAY TO DAY, DATETIME(2026-01-02 03:04:05) YEAR TO SECOND FROM things
SELECT TO_CHAR(when, '%Y-%m-%d'), MDY(1, 2, 2026), WEEKDAY(TODAY), when + 3 UNITS DAY FROM things
SELECT n::VARCHAR(20) || ' ' || t, ROUND(d, 1), TRIM(LEADING 'x' FROM t), SUBSTRING(t FROM 2 FOR 3) FROM things
SELECT * FROM things WHERE n IN (SELECT n FROM things WHERE d BETWEEN 1 AND 2) OR EXISTS (SELECT 1 FROM things)
SELECT n FROM things UNION ALL SELECT n + 1 FROM things ORDER BY 1
SELECT n, SUM(d) OVER (PARTITION BY t ORDER BY n) FROM things
WITH x AS (SELECT n FROM things) SELECT * FROM x, things WHERE x.n = things.n
SELECT n FROM things INTO TEMP passing WITH NO LOG
INSERT INTO things (n, t, d) VALUES (99, 'it''s', -1.25)
INSERT INTO things SELECT n + 100, t, d, when FROM things
UPDATE things SET (t, d) = ('x', d * 2), n = n + 1 WHERE n = 12345
DELETE FROM things WHERE t MATCHES '[a-c]*' AND NOT n = 3
MERGE INTO things USING (SELECT 7 AS n FROM things) s ON things.n = s.n WHEN MATCHED THEN UPDATE SET t = 'm'
CREATE TABLE other (a SERIAL PRIMARY KEY, b CHAR(3) DEFAULT 'x' NOT NULL, c DECIMAL(8,2) CHECK (c > 0), UNIQUE (b, c))
ALTER TABLE other ADD (z INT BEFORE b), MODIFY (b CHAR(9)), DROP c
CREATE UNIQUE INDEX other_i ON other (b ASC, c DESC)
CREATE VIEW seen (x, y) AS SELECT n, t FROM things WITH CHECK OPTION
CREATE FUNCTION plus(a INT, b INT DEFAULT 1) RETURNING INT; DEFINE c INT; LET c = a + b; RETURN c; END FUNCTION
CREATE PROCEDURE p(n INT) IF n > 1 THEN RAISE EXCEPTION -746, 0, 'no'; ELIF n = 0 THEN LET n = 1; END IF; END PROCEDURE
CREATE FUNCTION f() RETURNING INT; DEFINE i INT; FOREACH SELECT n INTO i FROM things RETURN i; END FOREACH; END FUNCTION
EXECUTE FUNCTION plus(1, 2)
CREATE ROW TYPE pair (a INT, b VARCHAR(9))
SELECT ROW(1, 'x')::ROW(a INT, b VARCHAR(9)), SET{1, 2}, MULTISET{'a'}, LIST{ROW(1)} FROM things
SET ISOLATION TO COMMITTED READ LAST COMMITTED
SET LOCK MODE TO WAIT 3
GRANT SELECT, UPDATE (n) ON things TO PUBLIC
RENAME COLUMN things.t TO u
DROP TABLE IF EXISTS nothing
-- a comment
{ another } SELECT /* and one */ "n" FROM things -- last
""".strip().splitlines()

WORDS = (
    "SELECT FROM WHERE ( ) , ; ' \" ? :n :: || + - * / = <> NULL NOT AND OR IN CASE WHEN THEN END AS ON INTO n t d"
    " things 0 1 -1 99999999999999999999 1e400 0x7f .5 'x' '' \"\" { } /* */ -- [1,2] SET{ ROW( LIST{ UNITS DAY TO"
    " YEAR FRACTION(5) CURRENT TODAY FIRST UNION ALL DISTINCT VALUES SET TABLE PROCEDURE FUNCTION RETURNING DEFINE"
    " LET IF LOOP größe € \0 \t"
).split(" ")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rowferry]:
    file = tmp_path_factory.mktemp("statements") / "app.db"
    with Rowferry.start(file, postgres=False, informix=True) as server:
        with connect(server) as connection:
            connection.execute("CREATE TABLE things (n INT, t VARCHAR(40), d DECIMAL(10,2), when DATE)")
            connection.execute("INSERT INTO things VALUES (1, 'abc', 1.5, TODAY)")
        yield server


def connect(server: Rowferry) -> Any:
    assert server.informix is not None
    host, port = server.informix
    where = {"user": "ada", "database": server.dbname, "client_locale": "en_US.utf8", "autocommit": True}
    return informix.connect(host, port, **where, read_timeout=30, connect_timeout=30)


def try_out(connection: Any, sql: str) -> None:
    """Run it. What fails must be told by the server, in an answer, and not by the end of the connection."""
    cursor = connection.cursor()
    try:
        cursor.execute(sql)
        if cursor.description:
            cursor.fetchmany(50)
    except informix.Error as error:
        assert not connection.closed, f"{sql!r} cost the connection: {error}"
    finally:
        cursor.close()


def damaged(seeded: random.Random) -> str:
    tokens = re.findall(r"\w+|\s+|[^\w\s]", seeded.choice(STATEMENTS))
    for _ in range(seeded.randrange(1, 5)):
        at = seeded.randrange(len(tokens)) if tokens else 0
        match seeded.randrange(6):
            case 0:
                del tokens[at : at + 1]
            case 1:
                tokens[at:at] = tokens[at : at + seeded.randrange(1, 6)]
            case 2:
                tokens.insert(at, seeded.choice(WORDS))
            case 3:
                tokens[at : at + 1] = [" ", seeded.choice(WORDS), " "]
            case 4:
                del tokens[at:]
            case 5:
                tokens[at : at + 1] = tokens[at : at + 1] * seeded.choice((2, 3, 40))
    return "".join(tokens)


def test_damaged_statements_are_answered(server: Rowferry) -> None:
    seeded = random.Random(2026)
    with connect(server) as connection:
        for number in range(1500):
            try_out(connection, damaged(seeded))
            if number % 200 == 0:
                connection.execute("SELECT COUNT(*) FROM systables").fetchone()


DEPTH = 50_000


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT " + "(" * DEPTH + "1" + ")" * DEPTH + " FROM things",
        "SELECT " + "(" * DEPTH,
        "SELECT n FROM things WHERE " + "NOT " * DEPTH + "n = 1",
        "SELECT " + "- " * DEPTH + "1 FROM things",
        "SELECT 1" + " + 1" * DEPTH + " FROM things",
        "SELECT 'x'" + " || 'y'" * DEPTH + " FROM things",
        "SELECT n" + "::INT" * DEPTH + " FROM things",
        "SELECT n FROM things WHERE n = 1" + " OR n = 2" * DEPTH,
        "SELECT n FROM things WHERE n IN (" + "SELECT n FROM things WHERE n IN (" * 3000 + "1" + ")" * 3001,
        "SELECT n FROM " + "(SELECT n FROM " * 3000 + "things" + ")" * 3000,
        "SELECT n FROM things" + " UNION ALL SELECT n FROM things" * 3000,
        "SELECT " + "CASE WHEN n = 1 THEN " * 10_000 + "1" + " END" * 10_000 + " FROM things",
        "SELECT " + "NVL(" * 10_000 + "n" + ", 1)" * 10_000 + " FROM things",
        "SELECT " + "SET{" * 10_000 + "1" + "}" * 10_000 + " FROM things",
        "SELECT " + "ROW(" * 10_000 + "1" + ")" * 10_000 + " FROM things",
        "CREATE TABLE deep (x " + "SET(" * 10_000 + "INT NOT NULL" + " NOT NULL)" * 10_000 + ")",
        "CREATE PROCEDURE deep() " + "IF 1 = 1 THEN " * 10_000 + "RETURN; " + "END IF; " * 10_000 + "END PROCEDURE",
        "CREATE PROCEDURE deep() " + "BEGIN " * 10_000 + "END " * 10_000 + "END PROCEDURE",
        "SELECT n FROM things " + "{ " * DEPTH,
        "SELECT '" + "''" * DEPTH + "' FROM things",
        "SELECT " + "n, " * DEPTH + "n FROM things",
        "SELECT " + "x" * 1_000_000 + " FROM things",
        "SELECT " + "9" * 100_000 + " FROM things",
        "INSERT INTO things (n) VALUES (" + "(" * DEPTH + "1" + ")" * DEPTH + ")",
        ";" * DEPTH,
        "SELECT 1" + " * 1" * DEPTH + " FROM things",
        "SELECT n FROM things WHERE n" + " IS NULL" * DEPTH,
        "SELECT n FROM things WHERE n" + " = 1" * DEPTH,
        "SELECT n FROM things WHERE n" + " IN (1)" * DEPTH,
        "SELECT n FROM things WHERE n IN (1" + ", 1" * DEPTH + ")",
        "SELECT n FROM things WHERE n = 1" + " AND n = 2" * DEPTH,
        "SELECT t" + "[1,2]" * DEPTH + " FROM things",
        "SELECT n" + " UNITS DAY" * DEPTH + " FROM things",
        "SELECT a.n FROM things a" + ", things" * DEPTH,
        "SELECT a.n FROM things a" + " CROSS JOIN things" * DEPTH,
        "SELECT a.n FROM things a" + " JOIN things ON 1 = 1" * DEPTH,
        "SELECT a.n FROM " + "OUTER " * DEPTH + "things a",
        "SELECT a.n FROM " + "(" * DEPTH + "things a",
        "(" * DEPTH + "SELECT n FROM things",
        "SELECT CASE" + " WHEN n = 1 THEN 1" * DEPTH + " END FROM things",
        "SELECT (" + "(1 + " * 150 + "1" + " + 1" * 800 + ")" * 150 + ") FROM things",
        "SELECT " + "NVL(1 + " * 30 + "1" + " + 1" * 200 + ", 1)" * 30 + " FROM things",
        "SELECT 1" + " + 1" * 290 + " FROM things",
        "SELECT 'x'" + " || t" * 290 + " FROM things",
        "SELECT n" + "::INT" * 290 + " FROM things",
        "SELECT n FROM things" + " UNION ALL SELECT n FROM things" * 290,
        "SELECT " + "(" * 90 + "1" + ")" * 90 + " FROM things",
        "WITH " + "x AS (" * DEPTH + "SELECT 1 FROM things",
        "CREATE PROCEDURE deep() LET x = 1" + " + 1" * DEPTH + "; END PROCEDURE",
        "CREATE PROCEDURE deep() " + "IF 1 = 1 THEN RETURN; EL" * 5000,
        "CREATE PROCEDURE deep() " + "FOR i = 1 TO 2 " * DEPTH,
        "CREATE TABLE deep (a INT" + "".join(f", c{n} INT" for n in range(5000)) + ")",
        "SELECT " + "n." * DEPTH + "n FROM things",
        "SELECT '" + "{" * DEPTH + "'::SET(INT NOT NULL) FROM things",
        "SELECT '" + "LIST{" * DEPTH + "'::LIST(LIST(INT NOT NULL) NOT NULL) FROM things",
    ],
    ids=lambda sql: re.sub(r"\W+", "_", sql)[:40],
)
def test_deep_and_long_statements_are_answered(server: Rowferry, sql: str) -> None:
    with connect(server) as connection:
        try_out(connection, sql)
        assert connection.execute("SELECT COUNT(*) FROM things").fetchone() is not None
