"""`rowferry assess`: what of a schema, a script, a log or a server works here."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psycopg

from tests.servers.rowferry import Rowferry

from .conftest import rowferry

Serve = Callable[..., Rowferry]

SCHEMA = """\
\\set ON_ERROR_STOP on
CREATE TABLE orders (id serial PRIMARY KEY, placed date NOT NULL);
CREATE FUNCTION placed_today() RETURNS bigint LANGUAGE sql BEGIN ATOMIC
    SELECT count(*) FROM orders WHERE placed = current_date;
END;
COPY orders (id, placed) FROM stdin;
1\t2024-01-01; DROP TABLE orders
\\.

CREATE PUBLICATION news
    FOR TABLE orders;
SELECT placed, placed_today() FROM orders WHERE id = $1;
SELECT nothing FROM orders;
INSERT INTO elsewhere VALUES (1);
SELEC 1;
CREATE UNLOGGED SEQUENCE numbers;
"""


def assessed(*arguments: str | Path, code: int, stdin: str = "") -> dict[str, Any]:
    done = rowferry("assess", *arguments, "--format", "json", stdin=stdin)
    assert done.returncode == code, done.stdout + done.stderr
    told: dict[str, Any] = json.loads(done.stdout)
    assert told["statements"] == sum(told["counts"].values())
    return told


def found(told: dict[str, Any], verdict: str) -> list[tuple[str, list[int]]]:
    """The codes of all findings of a kind, and the lines on which they stand."""
    return [
        (finding["code"], [place["line"] for place in finding["places"]])
        for finding in told["findings"]
        if finding["verdict"] == verdict
    ]


def test_every_statement_has_an_answer(tmp_path: Path) -> None:
    path = tmp_path / "schema.sql"
    path.write_text(SCHEMA)
    told = assessed(path, code=3)
    assert told["counts"] == {"works": 4, "differs": 1, "refused": 1, "missing": 2, "wrong": 1}
    assert found(told, "refused") == [("0A000", [10])]
    assert found(told, "missing") == [("42703", [13]), ("42P01", [14])]
    assert found(told, "wrong") == [("42601", [15])]
    assert [lines for _, lines in found(told, "differs")] == [[16]]
    assert told["not_looked_at"] == [{"line": 1, "command": "\\set ON_ERROR_STOP on"}]


def test_what_hangs_on_a_moment_is_compiled_only() -> None:
    script = (
        "CREATE TABLE t (a int); CREATE INDEX CONCURRENTLY ti ON t (a); VACUUM t; BEGIN; LOCK TABLE t;"
        " DECLARE c CURSOR FOR SELECT a FROM t; FETCH c; CLOSE c; COMMIT; CREATE DATABASE other;"
        " INSERT INTO t SELECT 1 / a FROM (VALUES (0)) v (a); DO $$ BEGIN PERFORM 1 / 0; END $$;"
        " EXPLAIN ANALYZE SELECT 1 / 0;"
    )
    assert assessed("-", stdin=script, code=0)["counts"]["works"] == 13
    script = (
        "create procedure p() raise exception -746, 0, 'ran'; end procedure; create table t (a int); begin work;"
        " lock table t in exclusive mode; execute procedure p(); commit work; database other;"
    )
    assert assessed("-", "--dialect", "informix", stdin=script, code=0)["counts"]["works"] == 7


def test_people_and_browsers_are_told_the_same(tmp_path: Path) -> None:
    path = tmp_path / "schema.sql"
    path.write_text(SCHEMA.replace("FOR TABLE orders", "FOR /*<script>alert(1)</script>*/ TABLE orders"))
    done = rowferry("assess", path)
    assert done.returncode == 3
    assert (
        "9 statements in PostgreSQL's SQL, 4 work, 1 differs, 1 refused, 2 name what is missing, 1 wrong" in done.stdout
    )
    assert "line 10: CREATE PUBLICATION news" in done.stdout
    page = tmp_path / "page.html"
    done = rowferry("assess", path, "--format", "html", "--output", page)
    assert (done.returncode, done.stdout) == (3, "")
    written = page.read_text()
    assert "line 10" in written and "<script>" not in written and "&lt;script&gt;" in written


def test_what_works_whole_ends_with_zero() -> None:
    told = assessed("-", stdin="CREATE TABLE t (a int); SELECT a FROM t; DROP TABLE IF EXISTS u;", code=0)
    assert told["counts"]["works"] == 3 and told["source"] == "standard input"
    assert assessed("-", stdin="", code=0)["statements"] == 0


def test_sources_that_cannot_be_read(tmp_path: Path) -> None:
    for content, words in ((b"PGDMP\x01", "pg_restore"), (b"SELECT '\xe4'", "iconv")):
        path = tmp_path / "bad"
        path.write_bytes(content)
        done = rowferry("assess", path)
        assert done.returncode == 1 and words in done.stderr and done.stdout == ""
    assert rowferry("assess", tmp_path / "none").returncode == 1
    assert rowferry("assess", "oracle://x").returncode == 1


def test_a_log_is_assessed_behind_its_schema(tmp_path: Path) -> None:
    log, schema = tmp_path / "postgresql.log", tmp_path / "schema.sql"
    schema.write_text("CREATE TABLE t (a int, b text);")
    log.write_text(
        "2026-01-02 10:00:00.1 UTC [7] LOG:  statement: SELECT a\n\t  FROM t\n"
        "2026-01-02 10:00:00.2 UTC [7] LOG:  execute <unnamed>: SELECT b FROM t WHERE a = $1\n"
        "2026-01-02 10:00:00.2 UTC [7] DETAIL:  parameters: $1 = '1'\n"
        "2026-01-02 10:00:00.3 UTC [7] LOG:  duration: 0.1 ms  statement: SECURITY LABEL ON TABLE t IS 'x'\n"
        "2026-01-02 10:00:00.4 UTC [7] LOG:  statement: SELECT a\n\t  FROM t\n"
    )
    told = assessed(log, "--schema", schema, code=3)
    assert told["counts"] == {"works": 3, "differs": 0, "refused": 1, "missing": 0, "wrong": 0}
    assert found(told, "refused") == [("0A000", [5])]
    assert assessed(log, code=3)["counts"]["missing"] == 3


INFORMIX = """\
{ TABLE "informix".items row size = 24 }
create table "informix".items (id serial not null, name varchar(20), primary key (id) constraint pk) extent size 16;
create procedure "informix".add_item(n varchar(20))
    define x int;
    let x = 1;
    insert into items (name) values (n);
end procedure;
create trigger made insert on items referencing new as n
    for each row (execute procedure add_item(n.name));
select skip 1 first 2 name from items where name matches 'a*';
select a from nowhere;
create role audit_role;
selec;
"""


def test_informix_scripts_keep_their_routines(tmp_path: Path) -> None:
    path = tmp_path / "shop.sql"
    path.write_text(INFORMIX)
    told = assessed(path, "--dialect", "informix", code=3)
    assert told["dialect"] == "Informix" and told["statements"] == 7
    assert found(told, "missing") == [("-206", [11])]
    assert found(told, "wrong") == [("-201", [13])]
    assert told["counts"]["works"] + told["counts"]["differs"] >= 5


def test_a_servers_own_schema_works_whole(serve: Serve, tmp_path: Path) -> None:
    """What each door tells of a database is what it takes."""
    server = serve(tmp_path / "shop.db", informix=True)
    assert server.informix is not None
    address = "informix://informix:in4mix@{}:{}/{}".format(*server.informix, server.dbname)
    for statement in (
        "create table makers"
        " (id serial primary key, name varchar(30,5) default 'it''s' not null, since date default today)",
        "create table parts (id int not null, maker int, price decimal(8,2) default 1.5, seen datetime year to second"
        " default current year to second, note lvarchar(500), flag boolean default 't',"
        " primary key (id) constraint parts_pk, check (price > 0) constraint parts_price,"
        " foreign key (maker) references makers on delete cascade constraint parts_maker)",
        "create index parts_seen on parts (seen desc, id)",
        "create view cheap (number, maker) as select id, maker from parts where price < 2",
        "create sequence numbers start with 5 increment by 2",
        "create function doubled(a int) returning int; return a * 2; end function",
        "create trigger seen insert on parts referencing new as n"
        " for each row (execute function doubled(n.id) into id)",
    ):
        done = rowferry("query", address, statement)
        assert done.returncode == 0, done.stderr
    told = assessed(address, code=0)
    assert told["counts"]["works"] == 8 and "in4mix" not in told["source"]
    done = rowferry("assess", address, "--dialect", "postgres")
    assert done.returncode == 1 and "--dialect" in done.stderr


def test_the_schema_of_a_postgresql_server_is_what_pg_dump_tells(serve: Serve, tmp_path: Path) -> None:
    server = serve(tmp_path / "shop.db")
    with psycopg.connect(server.postgres_dsn, autocommit=True) as connection:
        connection.execute("CREATE TABLE beside (a int[] DEFAULT '{1}', b text COLLATE \"C\", EXCLUDE (a WITH =))")
        connection.execute("CREATE VIEW fewer AS SELECT a FROM beside WHERE b = 'x'")
    told = assessed(server.postgres_dsn, code=0)
    assert told["counts"]["works"] > 10
    assert rowferry("assess", "postgresql://nobody@127.0.0.1:1/none").returncode == 1
