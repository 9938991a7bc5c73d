"""Sequences, serial and identity columns: every answer was recorded from a PostgreSQL 15.18."""

from __future__ import annotations

import sqlite3
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import psycopg
import pytest

from tests.servers.rowferry import Rowferry

RECORDED: dict[str, list[tuple[str, Any]]] = {
    "options": [
        ("create sequence s as smallint increment by 2 minvalue 3 maxvalue 9 start 5 cycle", "CREATE SEQUENCE"),
        ("select * from s", [(5, 0, False)]),
        ("select nextval('s'), nextval('s'), nextval('s'), nextval('s')", [(5, 7, 9, 3)]),
        ("select last_value, is_called from s", [(3, True)]),
        ("select currval('s'), lastval()", [(3, 3)]),
        ("select setval('s', 4, false), nextval('s')", [(4, 4)]),
        ("select setval('s', 10)", '22003 | setval: value 10 is out of bounds for sequence "s" (3..9)'),
        (
            "select start_value, min_value, max_value, increment_by, cycle, cache_size, last_value from "
            "pg_sequences where sequencename = 's'",
            [(5, 3, 9, 2, True, 1, 4)],
        ),
        ("alter sequence s no cycle increment -1 restart", "ALTER SEQUENCE"),
        ("select nextval('s'), nextval('s'), nextval('s')", [(5, 4, 3)]),
        ("select nextval('s')", '2200H | nextval: reached minimum value of sequence "s" (3)'),
        ("alter sequence s as int no maxvalue no minvalue increment 1", "ALTER SEQUENCE"),
        (
            "select seqtypid::regtype, seqstart, seqincrement, seqmax, seqmin, seqcache, seqcycle from pg_sequence "
            "where seqrelid = 's'::regclass",
            [("integer", 5, 1, 2147483647, 1, 1, False)],
        ),
        ("create sequence x increment 0", "22023 | INCREMENT must not be zero"),
        ("create sequence x minvalue 5 maxvalue 5", "22023 | MINVALUE (5) must be less than MAXVALUE (5)"),
        ("create sequence x start 0", "22023 | START value (0) cannot be less than MINVALUE (1)"),
        ("create sequence x maxvalue 3 start 4", "22023 | START value (4) cannot be greater than MAXVALUE (3)"),
        ("create sequence x cache 0", "22023 | CACHE (0) must be greater than zero"),
        ("create sequence x as numeric", "22023 | sequence type must be smallint, integer, or bigint"),
        (
            "create sequence x as smallint maxvalue 100000",
            "22023 | MAXVALUE (100000) is out of range for sequence data type smallint",
        ),
        ("create sequence x cycle no cycle", "42601 | conflicting or redundant options"),
        (
            "create sequence x owned by nobody",
            "42601 | invalid OWNED BY option | Specify OWNED BY table.column or OWNED BY NONE.",
        ),
        (
            "create sequence x owned by s.last_value",
            '42809 | sequence cannot be owned by relation "s" | This operation is not supported for sequences.',
        ),
        ("create sequence s", '42P07 | relation "s" already exists'),
        ("alter sequence nothing restart", '42P01 | relation "nothing" does not exist'),
        ("alter sequence if exists nothing restart", "ALTER SEQUENCE"),
        ("alter sequence s maxvalue 2", "22023 | START value (5) cannot be greater than MAXVALUE (2)"),
        ("insert into s values (1)", '42809 | cannot change sequence "s"'),
        ("drop table s", '42809 | "s" is not a table | Use DROP SEQUENCE to remove a sequence.'),
        ("select nextval('pg_class')", '42809 | "pg_class" is not a sequence'),
        ("drop sequence s", "DROP SEQUENCE"),
        ("select lastval()", "55000 | lastval is not yet defined in this session"),
    ],
    "bulk": [
        ("create table b (v int, id serial primary key)", "CREATE TABLE"),
        ("insert into b (v) select g from generate_series(1, 40) g", "INSERT 0 40"),
        ("select count(*), min(id), max(id), sum(abs(id - v)) from b", [(40, 1, 40, 0)]),
        ("select currval('b_id_seq'), lastval(), last_value from b_id_seq", [(40, 40, 40)]),
        (
            "insert into b (v) select case when g = 90 then 1 / (g - 90) else g end from generate_series(41, 100) g",
            "22012 | division by zero",
        ),
        ("insert into b (v) select v from b where v > 0", "INSERT 0 40"),
        ("select count(*), count(distinct id), max(id) from b", [(80, 80, 129)]),
        ("insert into b (v) select g from generate_series(1, 30) g order by g desc", "INSERT 0 30"),
        ("select min(id + v), max(id + v) from b where id > 130", [(160, 160)]),
        ("delete from b where id > 150", "DELETE 9"),
        ("insert into b (v) select g from generate_series(1, 30) g", "INSERT 0 30"),
        ("select count(*), max(id) from b", [(131, 189)]),
        ("insert into b values (0, 230)", "INSERT 0 1"),
        ("insert into b (v) select g from generate_series(1, 80) g on conflict do nothing", "INSERT 0 79"),
        ("select setval('b_id_seq', 500)", [(500,)]),
        ("insert into b (v) select g from generate_series(1, 30) g on conflict do nothing", "INSERT 0 30"),
        ("select count(*), max(id) from b", [(241, 530)]),
        (
            "create function meddle(n int) returns int language plpgsql as $$ begin "
            "if n = 25 then insert into b (v) values (-1), (-2); delete from b where v = 24; end if; "
            "if n = 30 then perform nextval('b_id_seq'); end if; return n; end $$",
            "CREATE FUNCTION",
        ),
        ("insert into b (v) select meddle(g) from generate_series(1, 40) g", "INSERT 0 40"),
        (
            "select id, v from b where id > 530 and v not between 2 and 23 order by id",
            [
                (531, 1),
                (555, -1),
                (556, -2),
                (557, 25),
                (558, 26),
                (559, 27),
                (560, 28),
                (561, 29),
                (563, 30),
                (564, 31),
                (565, 32),
                (566, 33),
                (567, 34),
                (568, 35),
                (569, 36),
                (570, 37),
                (571, 38),
                (572, 39),
                (573, 40),
            ],
        ),
        ("select last_value from b_id_seq", [(573,)]),
        ("create sequence down increment -1", "CREATE SEQUENCE"),
        ("create table c (v int, id int primary key default nextval('down'))", "CREATE TABLE"),
        ("insert into c select g from generate_series(1, 40) g", "INSERT 0 40"),
        ("select count(*), min(id), max(id), sum(id + v) from c", [(40, -40, -1, 0)]),
        ("create table e (v int, id smallint generated always as identity (start 32740) primary key)", "CREATE TABLE"),
        ("insert into e (v) select g from generate_series(1, 28) g", "INSERT 0 28"),
        (
            "insert into e (v) select g from generate_series(1, 28) g",
            '2200H | nextval: reached maximum value of sequence "e_id_seq" (32767)',
        ),
        ("select count(*), min(id), max(id), sum(id - v) from e", [(28, 32740, 32767, 916692)]),
    ],
    "serial": [
        ("create table t (id serial primary key, a text)", "CREATE TABLE"),
        ("insert into t (a) values ('x'), ('y') returning id", [(1,), (2,)]),
        ("insert into t values (4, 'by hand')", "INSERT 0 1"),
        ("insert into t (a) values ('z') returning id", [(3,)]),
        (
            "insert into t (a) values ('collides')",
            '23505 | duplicate key value violates unique constraint "t_pkey" | Key (id)=(4) already exists.',
        ),
        ("insert into t (a) values ('w') returning id", [(5,)]),
        (
            "select pg_get_expr(adbin, adrelid) from pg_attrdef where adrelid = 't'::regclass",
            [("nextval('t_id_seq'::regclass)",)],
        ),
        (
            "select column_default, is_identity from information_schema.columns where table_name = 't' and "
            "column_name = 'id'",
            [("nextval('t_id_seq'::regclass)", "NO")],
        ),
        ("select pg_get_serial_sequence('t', 'id'), pg_get_serial_sequence('t', 'a')", [("public.t_id_seq", None)]),
        ("select deptype from pg_depend where objid = 't_id_seq'::regclass and refobjid = 't'::regclass", [("a",)]),
        (
            "drop sequence t_id_seq",
            "2BP01 | cannot drop sequence t_id_seq because other objects depend on it | default value for column id "
            "of table t depends on sequence t_id_seq | Use DROP ... CASCADE to drop the dependent objects too.",
        ),
        ("alter sequence t_id_seq rename to numbers", "ALTER SEQUENCE"),
        ("insert into t (a) values ('renamed') returning id", [(6,)]),
        (
            "select pg_get_expr(adbin, adrelid) from pg_attrdef where adrelid = 't'::regclass",
            [("nextval('numbers'::regclass)",)],
        ),
        ("alter table t alter a set default 'q' || nextval('numbers')", "ALTER TABLE"),
        ("create table u (id int default nextval('numbers'))", "CREATE TABLE"),
        (
            "drop table t",
            "2BP01 | cannot drop table t because other objects depend on it | default value for column id of table "
            "u depends on sequence numbers | Use DROP ... CASCADE to drop the dependent objects too.",
        ),
        ("drop table t cascade", "DROP TABLE"),
        ("select column_default from information_schema.columns where table_name = 'u'", [(None,)]),
        ("select to_regclass('numbers')", [(None,)]),
    ],
    "transactions": [
        ("create table t (id serial primary key, a int)", "CREATE TABLE"),
        ("begin", "BEGIN"),
        ("insert into t (a) values (1) returning id", [(1,)]),
        ("rollback", "ROLLBACK"),
        ("insert into t (a) values (2) returning id", [(2,)]),
        ("begin", "BEGIN"),
        ("alter sequence t_id_seq restart with 50", "ALTER SEQUENCE"),
        ("insert into t (a) values (3) returning id", [(50,)]),
        ("rollback", "ROLLBACK"),
        ("insert into t (a) values (4) returning id", [(3,)]),
        ("begin", "BEGIN"),
        ("truncate t restart identity", "TRUNCATE TABLE"),
        ("insert into t (a) values (5) returning id", [(1,)]),
        ("rollback", "ROLLBACK"),
        ("insert into t (a) values (6) returning id", [(4,)]),
        ("truncate t restart identity", "TRUNCATE TABLE"),
        ("insert into t (a) values (7) returning id", [(1,)]),
    ],
    "identity": [
        ("create table t (id int generated always as identity (start 10 increment 5), a int)", "CREATE TABLE"),
        ("insert into t (a) values (1), (2)", "INSERT 0 2"),
        (
            "insert into t values (1, 1)",
            '428C9 | cannot insert a non-DEFAULT value into column "id" | Column "id" is an identity column '
            "defined as GENERATED ALWAYS. | Use OVERRIDING SYSTEM VALUE to override.",
        ),
        ("insert into t overriding system value values (1, 3)", "INSERT 0 1"),
        ("insert into t overriding user value values (1, 4)", "INSERT 0 1"),
        ("insert into t overriding user value select 7, 5", "INSERT 0 1"),
        ("insert into t values (default, 6)", "INSERT 0 1"),
        (
            "update t set id = 9 where a = 6",
            '428C9 | column "id" can only be updated to DEFAULT | Column "id" is an identity column defined as '
            "GENERATED ALWAYS.",
        ),
        ("update t set id = default where a = 6", "UPDATE 1"),
        ("select * from t order by a", [(10, 1), (15, 2), (1, 3), (20, 4), (25, 5), (35, 6)]),
        ("alter table t alter id set default 1", '42601 | column "id" of relation "t" is an identity column'),
        ("alter table t alter id drop not null", '42601 | column "id" of relation "t" is an identity column'),
        ("alter table t alter id type text", "22023 | identity column type must be smallint, integer, or bigint"),
        ("alter table t alter id type bigint", "ALTER TABLE"),
        (
            "select seqtypid::regtype, seqmax from pg_sequence where seqrelid = 't_id_seq'::regclass",
            [("bigint", 9223372036854775807)],
        ),
        ("alter table t alter id set generated by default set increment 2 restart with 100", "ALTER TABLE"),
        ("insert into t (a) values (7) returning id", [(100,)]),
        ("insert into t values (8, 8) returning id", [(8,)]),
        (
            "alter table t alter a add generated always as identity",
            '55000 | column "a" of relation "t" must be declared NOT NULL before identity can be added',
        ),
        (
            "drop sequence t_id_seq",
            "2BP01 | cannot drop sequence t_id_seq because column id of table t requires it | You can drop column "
            "id of table t instead.",
        ),
        ("select sequence_name from information_schema.sequences", []),
        (
            "select is_identity, identity_generation, identity_start, identity_increment from "
            "information_schema.columns where table_name = 't' and column_name = 'id'",
            [("YES", "BY DEFAULT", "10", "2")],
        ),
        ("alter table t alter id drop identity", "ALTER TABLE"),
        ("alter table t alter id drop identity", '55000 | column "id" of relation "t" is not an identity column'),
        ("alter table t alter id drop identity if exists", "ALTER TABLE"),
        ("select to_regclass('t_id_seq')", [(None,)]),
        ("alter table t alter id add generated always as identity (start 1000)", "ALTER TABLE"),
        ("insert into t (a) values (9) returning id", [(1000,)]),
        (
            "create table x (id text generated always as identity)",
            "22023 | identity column type must be smallint, integer, or bigint",
        ),
        (
            "create table x (id serial default 5)",
            '42601 | multiple default values specified for column "id" of table "x"',
        ),
        (
            "create table x (id int generated always as identity default 5)",
            '42601 | both default and identity specified for column "id" of table "x"',
        ),
        ("alter table t add n bigserial", "ALTER TABLE"),
        ("select n from t where a in (1, 2) order by a", [(1,), (2,)]),
    ],
}


def answer(connection: psycopg.Connection, statement: str) -> object:
    """Rows, the command's tag, or what is said of an error."""
    try:
        cursor = connection.execute(statement)  # type: ignore[arg-type]
    except psycopg.Error as error:
        said = error.diag
        parts = (said.sqlstate, said.message_primary, said.message_detail, said.message_hint)
        return " | ".join(part for part in parts if part)
    return cursor.fetchall() if cursor.description else cursor.statusmessage


@pytest.mark.parametrize("name", RECORDED)
def test_answers_are_those_of_postgresql(name: str, tmp_path: Path) -> None:
    with (
        Rowferry.start(tmp_path / "app.db", args=["--durability", "off"]) as server,
        psycopg.connect(server.postgres_dsn, autocommit=True) as connection,
    ):
        for statement, expected in RECORDED[name]:
            assert (statement, answer(connection, statement)) == (statement, expected)


def test_rows_of_the_shell_and_of_the_server_never_collide(tmp_path: Path) -> None:
    path = tmp_path / "app.db"
    with Rowferry.start(path, args=["--durability", "off"]) as server:
        with psycopg.connect(server.postgres_dsn, autocommit=True) as connection:
            connection.execute("create table t (id serial primary key, a text)")
            connection.execute("insert into t (a) values ('ours')")
            with sqlite3.connect(path) as shell:
                shell.execute("insert into t (a) values ('theirs'), ('theirs')")
            shell.close()
            connection.execute("insert into t (a) values ('ours')")
            found = connection.execute("select id, a from t order by id").fetchall()
            assert found == [(1, "ours"), (2, "theirs"), (3, "theirs"), (4, "ours")]
    shell = sqlite3.connect(path)
    shell.execute("insert into t (a) values ('while nobody served')")
    shell.commit()
    shell.close()
    with Rowferry.start(path, args=["--durability", "off"]) as server:
        with psycopg.connect(server.postgres_dsn, autocommit=True) as connection:
            assert connection.execute("insert into t (a) values ('ours') returning id").fetchall() == [(6,)]
            assert connection.execute("select last_value from t_id_seq").fetchall() == [(6,)]


def test_a_file_with_serial_columns_reads_naturally(tmp_path: Path) -> None:
    path = tmp_path / "app.db"
    with (
        Rowferry.start(path, args=["--durability", "off"]) as server,
        psycopg.connect(server.postgres_dsn, autocommit=True) as connection,
    ):
        connection.execute("create table t (id serial primary key, n int generated always as identity, a text)")
        connection.execute("insert into t (a) values ('x')")
    shell = sqlite3.connect(path)
    (text,) = shell.execute("select sql from sqlite_schema where name = 't'").fetchone()
    assert " ".join(text.split()) == (
        "CREATE TABLE t ( id INTEGER CONSTRAINT t_pkey PRIMARY KEY, n integer NOT NULL, a text )"
    )
    assert shell.execute("select * from t").fetchall() == [(1, 1, "x")]
    shell.close()


def test_copy_leaves_numbers_to_the_sequence(server: Rowferry) -> None:
    with psycopg.connect(server.postgres_dsn, autocommit=True) as connection:
        connection.execute("create table c (id serial primary key, a text, u uuid default gen_random_uuid())")
        with connection.cursor().copy("copy c (a) from stdin") as copy:
            copy.write_row(("x",))
            copy.write_row(("y",))
        assert connection.execute("select id, a, u is null from c order by id").fetchall() == [
            (1, "x", False),
            (2, "y", False),
        ]
        connection.execute("drop table c")


def test_numbers_and_counters_wait_for_no_writer(server: Rowferry) -> None:
    with (
        psycopg.connect(server.postgres_dsn, autocommit=True) as writer,
        psycopg.connect(server.postgres_dsn, autocommit=True) as other,
    ):
        writer.execute("create table w (id serial primary key)")
        writer.execute("create sequence q")
        writer.execute("begin")
        writer.execute("insert into w default values")
        other.execute("set lock_timeout = '5s'")
        assert other.execute("select nextval('w_id_seq'), nextval('q'), setval('q', 70)").fetchall() == [(2, 1, 70)]
        writer.execute("rollback")
        assert writer.execute("insert into w default values returning id").fetchall() == [(3,)]
        assert writer.execute("select nextval('q')").fetchall() == [(71,)]
        writer.execute("drop table w")
        writer.execute("drop sequence q")


def test_a_session_with_a_cache_keeps_its_numbers(server: Rowferry) -> None:
    with (
        psycopg.connect(server.postgres_dsn, autocommit=True) as one,
        psycopg.connect(server.postgres_dsn, autocommit=True) as two,
    ):
        one.execute("create sequence q cache 3")
        got = [connection.execute("select nextval('q')").fetchall()[0][0] for connection in (one, two, one, two)]
        assert got == [1, 4, 2, 5]
        assert one.execute("select last_value from q").fetchall() == [(6,)]
        one.execute("drop sequence q")


def test_bulk_inserts_and_others_never_share_a_number(server: Rowferry) -> None:
    with psycopg.connect(server.postgres_dsn, autocommit=True) as setup:
        setup.execute("create table t (id serial primary key, v int)")
    started = threading.Barrier(3)

    def insert() -> None:
        with psycopg.connect(server.postgres_dsn, autocommit=True) as connection:
            started.wait(30)
            for _ in range(10):
                connection.execute("insert into t (v) select g from generate_series(1, 3000) g")

    def take() -> list[int]:
        with psycopg.connect(server.postgres_dsn, autocommit=True) as connection:
            started.wait(30)
            return [row[0] for _ in range(300) for row in connection.execute("select nextval('t_id_seq')")]

    with ThreadPoolExecutor(3) as pool:
        inserts, taken = [pool.submit(insert) for _ in range(2)], pool.submit(take)
        for done in inserts:
            done.result(120)
        numbers = taken.result(120)
    with psycopg.connect(server.postgres_dsn, autocommit=True) as connection:
        rows = [row[0] for row in connection.execute("select id from t").fetchall()]
        last = connection.execute("select last_value from t_id_seq").fetchone()
    assert len(rows) == 60_000
    # Nothing twice, and nothing left out.
    assert sorted(rows + numbers) == list(range(1, 60_301))
    assert last == (60_300,)


def test_triggers_of_the_shell_do_not_move_the_numbers(tmp_path: Path) -> None:
    path = tmp_path / "app.db"
    with (
        Rowferry.start(path, args=["--durability", "off"]) as server,
        psycopg.connect(server.postgres_dsn, autocommit=True) as connection,
    ):
        connection.execute("create table t (id serial primary key, v int)")
        with closing(sqlite3.connect(path)) as shell:
            shell.execute(
                "create trigger far after insert on t when new.v > 0 begin "
                "insert into t (id, v) values (new.id + 1000 * new.v, -new.v); end"
            )
            shell.commit()
        connection.execute("insert into t (v) select g from generate_series(1, 40) g")
        rows = connection.execute("select id, v from t order by id").fetchall()
    assert rows == [(v, v) for v in range(1, 41)] + [(v * 1001, -v) for v in range(1, 41)]
