"""Portals, cursors and prepared statements in conversations recorded from a PostgreSQL."""
# ruff: noqa: E501 (recorded answers)

from __future__ import annotations

import pytest

from .recorded import Conversation, converse, one
from .wire import SYNC, Wire, bind, close, describe, execute, parse, query

BEGIN = query("begin")
DECLARE = query("declare c no scroll cursor for select id,name from t order by id")

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
def test_portals_cursors_and_statements(rows: Wire, conversation: Conversation) -> None:
    converse(rows, conversation)
