"""Notices, tags, positions and errors in conversations recorded from a PostgreSQL."""
# ruff: noqa: E501 (recorded answers)

from __future__ import annotations

import pytest

from .recorded import Conversation, converse, one
from .wire import SYNC, Wire, bind, message, parse, query

BEGIN = query("begin")
DECLARE = query("declare c no scroll cursor for select id,name from t order by id")

MESSAGES: list[tuple[str, Conversation]] = [
    (
        "fetch zero",
        [
            ((BEGIN,), "C[BEGIN] Z:T"),
            ((DECLARE,), "C[DECLARE CURSOR] Z:T"),
            ((query("fetch 0 from c"),), "T['id:23:0', 'name:25:0'] C[FETCH 0] Z:T"),
            ((query("fetch 1 from c"),), "T['id:23:0', 'name:25:0'] D[b'1', b'a'] C[FETCH 1] Z:T"),
            ((query("move 0 from c"),), "C[MOVE 1] Z:T"),
        ],
    ),
    (
        "discard",
        [
            (
                (
                    parse("select 1", "s"),
                    SYNC,
                ),
                "1 Z:I",
            ),
            (
                (
                    one("discard all"),
                    SYNC,
                ),
                "1 2 n C[DISCARD ALL] Z:I",
            ),
            (
                (
                    bind(statement="s"),
                    SYNC,
                ),
                'E[ERROR 26000 prepared statement "s" does not exist] Z:I',
            ),
            (
                (
                    one("select 1"),
                    one("discard all"),
                    SYNC,
                ),
                "1 2 T['?column?:23:0'] D[b'1'] C[SELECT 1] 1 2 n E[ERROR 25001 DISCARD ALL cannot be executed within a pipeline] Z:I",
            ),
            (
                (query("select 1; discard all"),),
                "T['?column?:23:0'] D[b'1'] C[SELECT 1] E[ERROR 25001 DISCARD ALL cannot run inside a transaction block] Z:I",
            ),
            ((query("begin"),), "C[BEGIN] Z:T"),
            ((query("discard all"),), "E[ERROR 25001 DISCARD ALL cannot run inside a transaction block] Z:E"),
        ],
    ),
    (
        "pipeline set local",
        [
            (
                (
                    one("set local application_name = x"),
                    one("show application_name"),
                    SYNC,
                ),
                "1 2 n N[WARNING 25P01 SET LOCAL can only be used in transaction blocks] C[SET] 1 2 T['application_name:25:0'] D[b'x'] C[SHOW] Z:I",
            ),
            (
                (
                    one("select 1"),
                    one("set local application_name = x"),
                    one("show application_name"),
                    SYNC,
                ),
                "1 2 T['?column?:23:0'] D[b'1'] C[SELECT 1] 1 2 n N[WARNING 25P01 SET LOCAL can only be used in transaction blocks] C[SET] 1 2 T['application_name:25:0'] D[b'x'] C[SHOW] Z:I",
            ),
            (
                (query("set local application_name = x; show application_name"),),
                "C[SET] T['application_name:25:0'] D[b'x'] C[SHOW] Z:I",
            ),
            (
                (query("set local application_name=x"),),
                "N[WARNING 25P01 SET LOCAL can only be used in transaction blocks] C[SET] Z:I",
            ),
        ],
    ),
    (
        "pipeline set transaction",
        [
            (
                (
                    one("set transaction isolation level serializable"),
                    one("show transaction_isolation"),
                    SYNC,
                ),
                "1 2 n N[WARNING 25P01 SET TRANSACTION can only be used in transaction blocks] C[SET] 1 2 T['transaction_isolation:25:0'] D[b'serializable'] C[SHOW] Z:I",
            ),
            (
                (query("set transaction isolation level serializable; show transaction_isolation"),),
                "C[SET] T['transaction_isolation:25:0'] D[b'serializable'] C[SHOW] Z:I",
            ),
            (
                (query("set transaction read only"),),
                "N[WARNING 25P01 SET TRANSACTION can only be used in transaction blocks] C[SET] Z:I",
            ),
            ((query("show transaction_read_only"),), "T['transaction_read_only:25:0'] D[b'off'] C[SHOW] Z:I"),
        ],
    ),
    (
        "warnings",
        [
            (
                (query("begin;begin"),),
                "C[BEGIN] N[WARNING 25001 there is already a transaction in progress] C[BEGIN] Z:T",
            ),
            ((query("commit;commit"),), "C[COMMIT] N[WARNING 25P01 there is no transaction in progress] C[COMMIT] Z:I"),
            ((query("rollback"),), "N[WARNING 25P01 there is no transaction in progress] C[ROLLBACK] Z:I"),
            ((query("start transaction"),), "C[START TRANSACTION] Z:T"),
            ((query("end"),), "C[COMMIT] Z:I"),
            ((query("abort"),), "N[WARNING 25P01 there is no transaction in progress] C[ROLLBACK] Z:I"),
            (
                (query("begin work; savepoint x; release x; rollback"),),
                "C[BEGIN] C[SAVEPOINT] C[RELEASE] C[ROLLBACK] Z:I",
            ),
            ((query("begin; rollback to x"),), 'C[BEGIN] E[ERROR 3B001 savepoint "x" does not exist] Z:E'),
            ((query("commit"),), "C[ROLLBACK] Z:I"),
        ],
    ),
    (
        "tags",
        [
            ((query("create table n1 as select 1 as a with no data"),), "C[CREATE TABLE AS] Z:I"),
            ((query("create table n2 as select 1 as a"),), "C[SELECT 1] Z:I"),
            ((query("drop table n1,n2"),), "C[DROP TABLE] Z:I"),
            ((query("select 1 as a into n3"),), "C[SELECT 1] Z:I"),
            ((query("drop table n3"),), "C[DROP TABLE] Z:I"),
            (
                (query("drop table if exists nosuch"),),
                'N[NOTICE 00000 table "nosuch" does not exist, skipping] C[DROP TABLE] Z:I',
            ),
            (
                (query("create table if not exists t (a int)"),),
                'N[NOTICE 42P07 relation "t" already exists, skipping] C[CREATE TABLE] Z:I',
            ),
            ((query("create index ti on t(name)"),), "C[CREATE INDEX] Z:I"),
            (
                (query("create index if not exists ti on t(name)"),),
                'N[NOTICE 42P07 relation "ti" already exists, skipping] C[CREATE INDEX] Z:I',
            ),
            (
                (query("drop index if exists nosuch"),),
                'N[NOTICE 00000 index "nosuch" does not exist, skipping] C[DROP INDEX] Z:I',
            ),
            (
                (query("drop view if exists nosuch"),),
                'N[NOTICE 00000 view "nosuch" does not exist, skipping] C[DROP VIEW] Z:I',
            ),
            (
                (query("create schema if not exists public"),),
                'N[NOTICE 42P06 schema "public" already exists, skipping] C[CREATE SCHEMA] Z:I',
            ),
            (
                (query("drop sequence if exists nosuch"),),
                'N[NOTICE 00000 sequence "nosuch" does not exist, skipping] C[DROP SEQUENCE] Z:I',
            ),
            (
                (query("alter table if exists nosuch add a int"),),
                'N[NOTICE 00000 relation "nosuch" does not exist, skipping] C[ALTER TABLE] Z:I',
            ),
            (
                (query("alter table t add column if not exists name text"),),
                'N[NOTICE 42701 column "name" of relation "t" already exists, skipping] C[ALTER TABLE] Z:I',
            ),
            (
                (query("alter table t drop column if exists nosuch"),),
                'N[NOTICE 00000 column "nosuch" of relation "t" does not exist, skipping] C[ALTER TABLE] Z:I',
            ),
            (
                (query("alter table t drop constraint if exists nosuch"),),
                'N[NOTICE 00000 constraint "nosuch" of relation "t" does not exist, skipping] C[ALTER TABLE] Z:I',
            ),
            ((query("create sequence s9"),), "C[CREATE SEQUENCE] Z:I"),
            (
                (query("create sequence if not exists s9"),),
                'N[NOTICE 42P07 relation "s9" already exists, skipping] C[CREATE SEQUENCE] Z:I',
            ),
            ((query("drop sequence s9"),), "C[DROP SEQUENCE] Z:I"),
            (
                (query("drop schema if exists nosuch"),),
                'N[NOTICE 00000 schema "nosuch" does not exist, skipping] C[DROP SCHEMA] Z:I',
            ),
            (
                (query("create table if not exists t as select 1"),),
                'N[NOTICE 42P07 relation "t" already exists, skipping] C[CREATE TABLE AS] Z:I',
            ),
            (
                (query("drop table if exists nosuch.t"),),
                'N[NOTICE 00000 schema "nosuch" does not exist, skipping] C[DROP TABLE] Z:I',
            ),
            ((query("truncate t"),), "C[TRUNCATE TABLE] Z:I"),
            ((query("set client_min_messages=warning"),), "C[SET] Z:I"),
            ((query("drop table if exists nosuch"),), "C[DROP TABLE] Z:I"),
            ((query("commit"),), "N[WARNING 25P01 there is no transaction in progress] C[COMMIT] Z:I"),
            ((query("set client_min_messages=error"),), "C[SET] Z:I"),
            ((query("commit"),), "C[COMMIT] Z:I"),
        ],
    ),
    (
        "copy errors",
        [
            (
                (
                    query("copy t from stdin"),
                    message("d", b"x\ty\n"),
                    message("c"),
                ),
                'G E[ERROR 22P02 invalid input syntax for type integer: "x" W=COPY t, line 1, column id: "x"] Z:I',
            ),
            (
                (
                    query("copy t from stdin"),
                    message("d", b"7\n"),
                    message("c"),
                ),
                'G E[ERROR 22P04 missing data for column "name" W=COPY t, line 1: "7"] Z:I',
            ),
            (
                (
                    query("copy t from stdin"),
                    message("d", b"7\ta\tb\n"),
                    message("c"),
                ),
                'G E[ERROR 22P04 extra data after last expected column W=COPY t, line 1: "7\ta\tb"] Z:I',
            ),
            (
                (
                    query("copy t from stdin"),
                    message("d", b"7\tx\n1\ty\n"),
                    message("c"),
                ),
                'G E[ERROR 23505 duplicate key value violates unique constraint "t_pkey" W=COPY t, line 2] Z:I',
            ),
            (
                (
                    query("copy t from stdin"),
                    message("f", b"no\x00"),
                ),
                "G E[ERROR 57014 COPY from stdin failed: no W=COPY t, line 1] Z:I",
            ),
            (
                (
                    query("copy t(id) from stdin (format csv)"),
                    message("d", b"8\n99999999999\n"),
                    message("c"),
                ),
                'G E[ERROR 22003 value "99999999999" is out of range for type integer W=COPY t, line 2, column id: "99999999999"] Z:I',
            ),
            (
                (
                    query("copy t from stdin (format csv)"),
                    message("d", b'8,"abc\n'),
                    message("c"),
                ),
                'G E[ERROR 22P04 unterminated CSV quoted field W=COPY t, line 1: "8,"abc\n"] Z:I',
            ),
            ((query("select count(*) from t"),), "T['count:20:0'] D[b'4'] C[SELECT 1] Z:I"),
        ],
    ),
]


@pytest.mark.parametrize("conversation", [case for _, case in MESSAGES], ids=[name for name, _ in MESSAGES])
def test_notices_tags_and_places(rows: Wire, conversation: Conversation) -> None:
    converse(rows, conversation)
