"""Conversations whose answers were recorded from a PostgreSQL 15.18, message by message."""
# ruff: noqa: E501 (recorded answers)

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.servers.rowferry import Rowferry

from .wire import SYNC, Wire, bind, close, describe, execute, message, parse, query

Conversation = list[tuple[tuple[bytes, ...], str]]

BEGIN = query("begin")
DECLARE = query("declare c no scroll cursor for select id,name from t order by id")


def one(sql: str, *values: bytes | None, portal: str = "", limit: int = 0, results: tuple[int, ...] = ()) -> bytes:
    """A statement through the extended protocol."""
    bound = bind(*values, portal=portal, results=results)
    return parse(sql) + bound + describe("P", portal) + execute(portal, limit)


@pytest.fixture
def session(server: Rowferry) -> Iterator[Wire]:
    with Wire.open(server.postgres) as session:
        session.send(query("set client_min_messages = error; drop table if exists t; reset client_min_messages"))
        session.ready()
        session.send(query("create table t (id integer primary key, name text)"))
        session.ready()
        session.send(query("insert into t values (1, 'a'), (2, 'b'), (3, 'c'), (4, 'd')"))
        session.ready()
        yield session


def converse(session: Wire, conversation: Conversation) -> None:
    for messages, answers in conversation:
        session.send(*messages)
        assert " ".join(str(answer) for answer in session.ready() if answer.tag != "S") == answers


PORTALS: list[tuple[str, Conversation]] = [
    (
        "fetch ext",
        [
            ((BEGIN,), "C[BEGIN] Z:T"),
            ((DECLARE,), "C[DECLARE CURSOR] Z:T"),
            (
                (
                    one("fetch 2 from c"),
                    SYNC,
                ),
                "1 2 T['id:23:0', 'name:25:0'] D[b'1', b'a'] D[b'2', b'b'] C[FETCH 2] Z:T",
            ),
            (
                (
                    one("fetch 2 from c", results=(1,)),
                    SYNC,
                ),
                "1 2 T['id:23:1', 'name:25:1'] D[b'\\x00\\x00\\x00\\x03', b'c'] D[b'\\x00\\x00\\x00\\x04', b'd'] C[FETCH 2] Z:T",
            ),
            (
                (
                    one("fetch 2 from c"),
                    SYNC,
                ),
                "1 2 T['id:23:0', 'name:25:0'] C[FETCH 0] Z:T",
            ),
            (
                (
                    one("move 1 from c"),
                    SYNC,
                ),
                "1 2 n C[MOVE 0] Z:T",
            ),
            (
                (
                    one("close c"),
                    SYNC,
                ),
                "1 2 n C[CLOSE CURSOR] Z:T",
            ),
            (
                (
                    one("fetch 1 from c"),
                    SYNC,
                ),
                '1 2 n E[ERROR 34000 cursor "c" does not exist] Z:E',
            ),
        ],
    ),
    (
        "named fetch",
        [
            ((BEGIN,), "C[BEGIN] Z:T"),
            ((DECLARE,), "C[DECLARE CURSOR] Z:T"),
            (
                (
                    parse("fetch 1 from c", "f"),
                    describe("S", "f"),
                    SYNC,
                ),
                "1 t T['id:23:0', 'name:25:0'] Z:T",
            ),
            (
                (
                    bind(statement="f"),
                    describe("P"),
                    execute(),
                    SYNC,
                ),
                "2 T['id:23:0', 'name:25:0'] D[b'1', b'a'] C[FETCH 1] Z:T",
            ),
            (
                (
                    bind(statement="f"),
                    describe("P"),
                    execute(),
                    SYNC,
                ),
                "2 T['id:23:0', 'name:25:0'] D[b'2', b'b'] C[FETCH 1] Z:T",
            ),
        ],
    ),
    (
        "binary cursor simple",
        [
            ((BEGIN,), "C[BEGIN] Z:T"),
            ((query("declare c binary cursor for select id,name from t order by id"),), "C[DECLARE CURSOR] Z:T"),
            ((query("fetch 1 from c"),), "T['id:23:1', 'name:25:1'] D[b'\\x00\\x00\\x00\\x01', b'a'] C[FETCH 1] Z:T"),
            (
                (
                    one("fetch 1 from c"),
                    SYNC,
                ),
                "1 2 T['id:23:0', 'name:25:0'] D[b'2', b'b'] C[FETCH 1] Z:T",
            ),
            (
                (
                    one("fetch 1 from c", results=(0, 1)),
                    SYNC,
                ),
                "1 2 T['id:23:0', 'name:25:1'] D[b'3', b'c'] C[FETCH 1] Z:T",
            ),
        ],
    ),
    (
        "portal by fetch",
        [
            ((BEGIN,), "C[BEGIN] Z:T"),
            (
                (
                    parse("select id from t order by id"),
                    bind(portal="p"),
                    execute("p", 1),
                    SYNC,
                ),
                "1 2 D[b'1'] s Z:T",
            ),
            ((query("fetch 2 from p"),), "T['id:23:0'] D[b'2'] D[b'3'] C[FETCH 2] Z:T"),
            (
                (
                    execute("p", 0),
                    SYNC,
                ),
                "D[b'4'] C[SELECT 1] Z:T",
            ),
            ((query("fetch 2 from p"),), "T['id:23:0'] C[FETCH 0] Z:T"),
            ((query("move backward 1 from p"),), "E[ERROR 55000 cursor can only scan forward] Z:E"),
            ((query("rollback"),), "C[ROLLBACK] Z:I"),
        ],
    ),
    (
        "portal ready fetch",
        [
            ((BEGIN,), "C[BEGIN] Z:T"),
            (
                (
                    parse("select id from t where id>$1 order by id"),
                    bind(b"1", portal="p"),
                    SYNC,
                ),
                "1 2 Z:T",
            ),
            ((query("fetch 1 from p"),), "T['id:23:0'] D[b'2'] C[FETCH 1] Z:T"),
            ((query("close p"),), "C[CLOSE CURSOR] Z:T"),
            (
                (
                    execute("p"),
                    SYNC,
                ),
                'E[ERROR 34000 portal "p" does not exist] Z:E',
            ),
            ((query("rollback"),), "C[ROLLBACK] Z:I"),
        ],
    ),
    (
        "close portal closes cursor",
        [
            ((BEGIN,), "C[BEGIN] Z:T"),
            ((DECLARE,), "C[DECLARE CURSOR] Z:T"),
            (
                (
                    close("P", "c"),
                    SYNC,
                ),
                "3 Z:T",
            ),
            ((query("fetch 1 from c"),), 'E[ERROR 34000 cursor "c" does not exist] Z:E'),
        ],
    ),
    (
        "execute cursor portal",
        [
            ((BEGIN,), "C[BEGIN] Z:T"),
            ((DECLARE,), "C[DECLARE CURSOR] Z:T"),
            (
                (
                    describe("P", "c"),
                    execute("c", 2),
                    SYNC,
                ),
                "T['id:23:0', 'name:25:0'] D[b'1', b'a'] D[b'2', b'b'] s Z:T",
            ),
            (
                (
                    execute("c", 0),
                    SYNC,
                ),
                "D[b'3', b'c'] D[b'4', b'd'] C[SELECT 2] Z:T",
            ),
            (
                (
                    execute("c", 0),
                    SYNC,
                ),
                "C[SELECT 0] Z:T",
            ),
        ],
    ),
    (
        "execute scroll cursor portal",
        [
            ((BEGIN,), "C[BEGIN] Z:T"),
            ((query("declare c scroll cursor for select id,name from t order by id"),), "C[DECLARE CURSOR] Z:T"),
            (
                (
                    describe("P", "c"),
                    execute("c", 2),
                    SYNC,
                ),
                "T['id:23:0', 'name:25:0'] D[b'1', b'a'] D[b'2', b'b'] s Z:T",
            ),
            ((query("fetch backward 1 from c"),), "T['id:23:0', 'name:25:0'] D[b'1', b'a'] C[FETCH 1] Z:T"),
            (
                (
                    execute("c", 0),
                    SYNC,
                ),
                "D[b'2', b'b'] D[b'3', b'c'] D[b'4', b'd'] C[SELECT 3] Z:T",
            ),
            ((query("fetch backward 1 from c"),), "T['id:23:0', 'name:25:0'] D[b'4', b'd'] C[FETCH 1] Z:T"),
        ],
    ),
    (
        "dup",
        [
            ((BEGIN,), "C[BEGIN] Z:T"),
            ((DECLARE,), "C[DECLARE CURSOR] Z:T"),
            (
                (
                    parse("select 1"),
                    bind(portal="c"),
                    SYNC,
                ),
                '1 E[ERROR 42P03 cursor "c" already exists] Z:E',
            ),
        ],
    ),
    (
        "dup2",
        [
            ((BEGIN,), "C[BEGIN] Z:T"),
            (
                (
                    parse("select 1"),
                    bind(portal="c"),
                    SYNC,
                ),
                "1 2 Z:T",
            ),
            ((DECLARE,), 'E[ERROR 42P03 cursor "c" already exists] Z:E'),
        ],
    ),
    (
        "declare outside",
        [
            ((DECLARE,), "E[ERROR 25P01 DECLARE CURSOR can only be used in transaction blocks] Z:I"),
            (
                (
                    one("declare c cursor for select 1"),
                    SYNC,
                ),
                "1 2 n E[ERROR 25P01 DECLARE CURSOR can only be used in transaction blocks] Z:I",
            ),
            (
                (
                    one("declare c cursor for select 1"),
                    one("fetch 1 from c"),
                    SYNC,
                ),
                "1 2 n E[ERROR 25P01 DECLARE CURSOR can only be used in transaction blocks] Z:I",
            ),
            (
                (query("declare c cursor for select 1; fetch all from c"),),
                "C[DECLARE CURSOR] T['?column?:23:0'] D[b'1'] C[FETCH 1] Z:I",
            ),
            ((query("fetch 1 from c"),), 'E[ERROR 34000 cursor "c" does not exist] Z:I'),
        ],
    ),
    (
        "hold",
        [
            (
                (query("declare c no scroll cursor with hold for select id from t order by id"),),
                "C[DECLARE CURSOR] Z:I",
            ),
            ((query("fetch 1 from c"),), "T['id:23:0'] D[b'1'] C[FETCH 1] Z:I"),
            (
                (
                    one("fetch 1 from c"),
                    SYNC,
                ),
                "1 2 T['id:23:0'] D[b'2'] C[FETCH 1] Z:I",
            ),
            ((query("begin; fetch 1 from c; rollback"),), "C[BEGIN] T['id:23:0'] D[b'3'] C[FETCH 1] C[ROLLBACK] Z:I"),
            ((query("fetch 1 from c"),), "T['id:23:0'] D[b'4'] C[FETCH 1] Z:I"),
            ((query("close c"),), "C[CLOSE CURSOR] Z:I"),
            ((query("close c"),), 'E[ERROR 34000 cursor "c" does not exist] Z:I'),
        ],
    ),
    (
        "hold rollback",
        [
            (
                (query("begin; declare c cursor with hold for select id from t order by id; rollback"),),
                "C[BEGIN] C[DECLARE CURSOR] C[ROLLBACK] Z:I",
            ),
            ((query("fetch 1 from c"),), 'E[ERROR 34000 cursor "c" does not exist] Z:I'),
        ],
    ),
    (
        "savepoint",
        [
            ((BEGIN,), "C[BEGIN] Z:T"),
            ((query("savepoint a"),), "C[SAVEPOINT] Z:T"),
            ((DECLARE,), "C[DECLARE CURSOR] Z:T"),
            ((query("rollback to a"),), "C[ROLLBACK] Z:T"),
            ((query("fetch 1 from c"),), 'E[ERROR 34000 cursor "c" does not exist] Z:E'),
        ],
    ),
    (
        "savepoint2",
        [
            ((BEGIN,), "C[BEGIN] Z:T"),
            ((query("savepoint a"),), "C[SAVEPOINT] Z:T"),
            ((DECLARE,), "C[DECLARE CURSOR] Z:T"),
            ((query("release a"),), "C[RELEASE] Z:T"),
            ((query("savepoint b"),), "C[SAVEPOINT] Z:T"),
            ((query("rollback to b"),), "C[ROLLBACK] Z:T"),
            ((query("fetch 1 from c"),), "T['id:23:0', 'name:25:0'] D[b'1', b'a'] C[FETCH 1] Z:T"),
            (
                (query("select name, statement, is_holdable, is_binary from pg_cursors"),),
                "T['name:25:0', 'statement:25:0', 'is_holdable:16:0', 'is_binary:16:0'] D[b'c', b'declare c no scroll cursor for select id,name from t order by id', b'f', b'f'] C[SELECT 1] Z:T",
            ),
        ],
    ),
    (
        "prepared",
        [
            (
                (
                    parse("select $1::int4 + 1", "s"),
                    SYNC,
                ),
                "1 Z:I",
            ),
            ((query("execute s(2)"),), "T['?column?:23:0'] D[b'3'] C[SELECT 1] Z:I"),
            (
                (
                    one("execute s(4)"),
                    SYNC,
                ),
                "1 2 T['?column?:23:0'] D[b'5'] C[SELECT 1] Z:I",
            ),
            (
                (query("select name, statement, parameter_types, from_sql from pg_prepared_statements"),),
                "T['name:25:0', 'statement:25:0', 'parameter_types:2211:0', 'from_sql:16:0'] D[b's', b'select $1::int4 + 1', b'{integer}', b'f'] C[SELECT 1] Z:I",
            ),
            ((query("prepare s as select 1"),), 'E[ERROR 42P05 prepared statement "s" already exists] Z:I'),
            ((query("deallocate s"),), "C[DEALLOCATE] Z:I"),
            (
                (
                    bind(b"1", statement="s"),
                    SYNC,
                ),
                'E[ERROR 26000 prepared statement "s" does not exist] Z:I',
            ),
        ],
    ),
    (
        "prepared2",
        [
            ((query("prepare q(int) as select $1 * 2"),), "C[PREPARE] Z:I"),
            (
                (
                    parse("select 1", "q"),
                    SYNC,
                ),
                'E[ERROR 42P05 prepared statement "q" already exists] Z:I',
            ),
            (
                (
                    describe("S", "q"),
                    bind(b"4", statement="q"),
                    execute(),
                    SYNC,
                ),
                "t T['?column?:23:0'] 2 D[b'8'] C[SELECT 1] Z:I",
            ),
            (
                (query("select name, statement, parameter_types, from_sql from pg_prepared_statements"),),
                "T['name:25:0', 'statement:25:0', 'parameter_types:2211:0', 'from_sql:16:0'] D[b'q', b'prepare q(int) as select $1 * 2', b'{integer}', b't'] C[SELECT 1] Z:I",
            ),
            (
                (
                    close("S", "q"),
                    SYNC,
                ),
                "3 Z:I",
            ),
            ((query("execute q(1)"),), 'E[ERROR 26000 prepared statement "q" does not exist] Z:I'),
            ((query("prepare q as select 1; deallocate all"),), "C[PREPARE] C[DEALLOCATE ALL] Z:I"),
            ((query("execute q"),), 'E[ERROR 26000 prepared statement "q" does not exist] Z:I'),
        ],
    ),
    (
        "unnamed",
        [
            (
                (
                    parse("select 1"),
                    SYNC,
                ),
                "1 Z:I",
            ),
            ((query("deallocate all"),), "C[DEALLOCATE ALL] Z:I"),
            (
                (
                    bind(),
                    execute(),
                    SYNC,
                ),
                "E[ERROR 26000 unnamed prepared statement does not exist] Z:I",
            ),
            (
                (
                    parse("select 2"),
                    SYNC,
                ),
                "1 Z:I",
            ),
            ((query("select 3"),), "T['?column?:23:0'] D[b'3'] C[SELECT 1] Z:I"),
            (
                (
                    bind(),
                    SYNC,
                ),
                "E[ERROR 26000 unnamed prepared statement does not exist] Z:I",
            ),
        ],
    ),
    (
        "unnamed2",
        [
            (
                (
                    parse("select 1"),
                    SYNC,
                ),
                "1 Z:I",
            ),
            (
                (
                    one("deallocate all"),
                    SYNC,
                ),
                "1 2 n C[DEALLOCATE ALL] Z:I",
            ),
            (
                (
                    bind(),
                    execute(),
                    SYNC,
                ),
                "2 C[DEALLOCATE ALL] Z:I",
            ),
        ],
    ),
    (
        "portal after sync",
        [
            (
                (
                    parse("select 1"),
                    bind(portal="p"),
                    SYNC,
                ),
                "1 2 Z:I",
            ),
            (
                (
                    execute("p"),
                    SYNC,
                ),
                'E[ERROR 34000 portal "p" does not exist] Z:I',
            ),
            ((query("begin"),), "C[BEGIN] Z:T"),
            (
                (
                    parse("select id from t order by id"),
                    bind(portal="p"),
                    execute("p", 1),
                    SYNC,
                ),
                "1 2 D[b'1'] s Z:T",
            ),
            ((query("commit"),), "C[COMMIT] Z:I"),
            (
                (
                    execute("p"),
                    SYNC,
                ),
                'E[ERROR 34000 portal "p" does not exist] Z:I',
            ),
        ],
    ),
    (
        "portal reuse",
        [
            (
                (
                    parse("select id from t order by id"),
                    bind(),
                    execute("", 2),
                    execute("", 1),
                    execute("", 5),
                    execute(""),
                    SYNC,
                ),
                "1 2 D[b'1'] D[b'2'] s D[b'3'] s D[b'4'] C[SELECT 1] C[SELECT 0] Z:I",
            ),
        ],
    ),
    (
        "zero columns",
        [
            (
                (
                    one("select from t where id < 3"),
                    SYNC,
                ),
                "1 2 T[] D[] D[] C[SELECT 2] Z:I",
            ),
            ((query("select from t where id<3"),), "T[] D[] D[] C[SELECT 2] Z:I"),
            ((query("select"),), "T[] D[] C[SELECT 1] Z:I"),
            (
                (
                    parse("select", "z"),
                    describe("S", "z"),
                    SYNC,
                ),
                "1 t T[] Z:I",
            ),
        ],
    ),
    (
        "aborted portal",
        [
            ((BEGIN,), "C[BEGIN] Z:T"),
            (
                (
                    parse("select id from t order by id"),
                    bind(portal="p"),
                    execute("p", 1),
                    SYNC,
                ),
                "1 2 D[b'1'] s Z:T",
            ),
            ((query("select 1/0"),), "E[ERROR 22012 division by zero] Z:E"),
            (
                (
                    execute("p"),
                    SYNC,
                ),
                "E[ERROR 25P02 current transaction is aborted, commands ignored until end of transaction block] Z:E",
            ),
            (
                (query("fetch 1 from p"),),
                "E[ERROR 25P02 current transaction is aborted, commands ignored until end of transaction block] Z:E",
            ),
            (
                (query("close p"),),
                "E[ERROR 25P02 current transaction is aborted, commands ignored until end of transaction block] Z:E",
            ),
            (
                (
                    one("commit"),
                    SYNC,
                ),
                "1 2 n C[ROLLBACK] Z:I",
            ),
        ],
    ),
    (
        "pipeline begin",
        [
            (
                (
                    one("insert into t values (10)"),
                    one("begin"),
                    one("insert into t values(11)"),
                    SYNC,
                ),
                "1 2 n C[INSERT 0 1] 1 2 n C[BEGIN] 1 2 n C[INSERT 0 1] Z:T",
            ),
            ((query("rollback"),), "C[ROLLBACK] Z:I"),
            ((query("select count(*) from t"),), "T['count:20:0'] D[b'4'] C[SELECT 1] Z:I"),
        ],
    ),
    (
        "pipeline savepoint",
        [
            (
                (
                    one("insert into t values (10)"),
                    one("savepoint a"),
                    one("insert into t values(11)"),
                    SYNC,
                ),
                "1 2 n C[INSERT 0 1] 1 2 n E[ERROR 25P01 SAVEPOINT can only be used in transaction blocks] Z:I",
            ),
            ((query("select count(*) from t"),), "T['count:20:0'] D[b'4'] C[SELECT 1] Z:I"),
        ],
    ),
    (
        "chain",
        [
            (
                (query("commit and chain"),),
                "E[ERROR 25P01 COMMIT AND CHAIN can only be used in transaction blocks] Z:I",
            ),
            (
                (query("rollback and chain"),),
                "E[ERROR 25P01 ROLLBACK AND CHAIN can only be used in transaction blocks] Z:I",
            ),
            (
                (
                    one("commit and chain"),
                    SYNC,
                ),
                "1 2 n E[ERROR 25P01 COMMIT AND CHAIN can only be used in transaction blocks] Z:I",
            ),
            ((query("begin isolation level serializable"),), "C[BEGIN] Z:T"),
            ((query("commit and chain"),), "C[COMMIT] Z:T"),
            ((query("show transaction_isolation"),), "T['transaction_isolation:25:0'] D[b'serializable'] C[SHOW] Z:T"),
            ((query("rollback and chain"),), "C[ROLLBACK] Z:T"),
            ((query("show transaction_isolation"),), "T['transaction_isolation:25:0'] D[b'serializable'] C[SHOW] Z:T"),
            ((query("select 1/0"),), "E[ERROR 22012 division by zero] Z:E"),
            ((query("commit and chain"),), "C[ROLLBACK] Z:T"),
            ((query("commit"),), "C[COMMIT] Z:I"),
        ],
    ),
    (
        "execute args",
        [
            ((query("prepare e(int,text) as select $1,$2"),), "C[PREPARE] Z:I"),
            ((query("execute e(1)"),), 'E[ERROR 42601 wrong number of parameters for prepared statement "e"] Z:I'),
            ((query("execute e(1,'x')"),), "T['?column?:23:0', '?column?:25:0'] D[b'1', b'x'] C[SELECT 1] Z:I"),
            ((query("execute nosuch"),), 'E[ERROR 26000 prepared statement "nosuch" does not exist] Z:I'),
            ((query("execute e('x','x')"),), 'E[ERROR 22P02 invalid input syntax for type integer: "x"] Z:I'),
        ],
    ),
    (
        "fetch dirs",
        [
            ((BEGIN,), "C[BEGIN] Z:T"),
            ((query("declare c scroll cursor for select id from t order by id"),), "C[DECLARE CURSOR] Z:T"),
            ((query("fetch last from c"),), "T['id:23:0'] D[b'4'] C[FETCH 1] Z:T"),
            ((query("fetch prior from c"),), "T['id:23:0'] D[b'3'] C[FETCH 1] Z:T"),
            ((query("fetch absolute 2 from c"),), "T['id:23:0'] D[b'2'] C[FETCH 1] Z:T"),
            ((query("fetch relative -1 from c"),), "T['id:23:0'] D[b'1'] C[FETCH 1] Z:T"),
            ((query("fetch first from c"),), "T['id:23:0'] D[b'1'] C[FETCH 1] Z:T"),
            ((query("fetch all from c"),), "T['id:23:0'] D[b'2'] D[b'3'] D[b'4'] C[FETCH 3] Z:T"),
            ((query("fetch backward all from c"),), "T['id:23:0'] D[b'4'] D[b'3'] D[b'2'] D[b'1'] C[FETCH 4] Z:T"),
            ((query("move all from c"),), "C[MOVE 4] Z:T"),
            ((query("fetch 0 from c"),), "T['id:23:0'] C[FETCH 0] Z:T"),
            ((query("move backward 2 in c"),), "C[MOVE 2] Z:T"),
            ((query("fetch 0 from c"),), "T['id:23:0'] D[b'3'] C[FETCH 1] Z:T"),
        ],
    ),
]


@pytest.mark.parametrize("conversation", [case for _, case in PORTALS], ids=[name for name, _ in PORTALS])
def test_portals_cursors_and_statements(session: Wire, conversation: Conversation) -> None:
    converse(session, conversation)


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
def test_notices_tags_and_places(session: Wire, conversation: Conversation) -> None:
    converse(session, conversation)
