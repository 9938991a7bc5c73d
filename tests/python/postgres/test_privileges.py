"""Every privilege on every kind of object, for every kind of role: PostgreSQL's recorded answers, at both doors.

`python -m tests.python.postgres.test_privileges DSN` records the matrix anew from a PostgreSQL without these roles; the
database must be called `app`, and everybody be trusted.
"""
# ruff: noqa: E501 (statements)

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from tests.servers.rowferry import Rowferry

RECORDED = Path(__file__).with_name("privileges_matrix.txt")

ROLES = ["px_owner", "px_member", "px_lazy", "px_stranger"]

PRIVILEGES = [
    *("SELECT", "INSERT", "UPDATE", "DELETE", "TRUNCATE", "REFERENCES", "TRIGGER"),
    *("USAGE", "CREATE", "CONNECT", "TEMPORARY", "EXECUTE", "ALL"),
]

#: Those who are tried can log in; what they need to try anything is given to everybody.
SETUP = """
create role px_owner login; create role px_group; create role px_member login in role px_group;
create role px_lazy login noinherit in role px_group; create role px_stranger login; create role px_other;
create schema px; grant usage, create on schema px to public;
create schema px_shut authorization px_owner;
create table px.t (id int primary key, a int, b int); alter table px.t owner to px_owner;
create table px.u (id int primary key, a int, b int); alter table px.u owner to px_owner;
insert into px.t values (1, 1, 1); insert into px.u values (1, 1, 1);
create sequence px.s; alter sequence px.s owner to px_owner; select nextval('px.s');
create function px.f(int) returns int language sql as 'select $1 + 1'; alter function px.f(int) owner to px_owner;
create procedure px.p() language plpgsql as 'begin end'; alter procedure px.p() owner to px_owner;
create function px.g() returns trigger language plpgsql as 'begin return new; end'; alter function px.g() owner to px_owner;
create type px.mood as enum ('sad', 'glad'); alter type px.mood owner to px_owner;
create domain px.positive as int check (value > 0); alter domain px.positive owner to px_owner;
create type px.pair as (a int, b int); alter type px.pair owner to px_owner;
create table px_shut.t (id int); alter table px_shut.t owner to px_owner;
create sequence px_shut.s; alter sequence px_shut.s owner to px_owner;
create function px_shut.f() returns int language sql as 'select 1'; alter function px_shut.f() owner to px_owner;
create type px_shut.mood as enum ('sad'); alter type px_shut.mood owner to px_owner;
create domain px_shut.d as int; alter domain px_shut.d owner to px_owner;
create view px.shown as select px_shut.f() as one, 'sad'::px_shut.mood as mood; grant select on px.shown to public;
select lo_create(4711); select lo_put(4711, 0, 'abc'); alter large object 4711 owner to px_owner
"""

CLEAN = """
select lo_unlink(4711); drop schema px cascade; drop schema px_shut cascade;
alter database app owner to current_user; grant connect, temporary on database app to public;
drop role px_owner, px_member, px_lazy, px_stranger, px_group, px_other
"""


@dataclasses.dataclass
class Kind:
    """A kind of object: how GRANT names it (`{}` is the privilege), how the server is asked, what needs a privilege."""

    name: str
    grant: str
    asked: str
    actions: list[str]
    before: str = ""


KINDS = [
    Kind(
        "database",
        "{} on database app",
        "has_database_privilege(%s, 'app', %s)",
        [
            "connect",
            "create schema px_made",
            "create temporary table px_made (a int)",
            "alter database app owner to px_other",
        ],
        "alter database app owner to px_owner; revoke all on database app from public",
    ),
    Kind(
        "schema",
        "{} on schema px_shut",
        "has_schema_privilege(%s, 'px_shut', %s)",
        [
            "select * from px_shut.t",
            "select px_shut.f()",
            "select * from px_shut.f()",
            "select nextval('px_shut.s')",
            "select 'sad'::px_shut.mood",
            "select 1::px_shut.d",
            "select null::px_shut.t",
            "select 'px_shut.t'::regclass",
            "select to_regclass('px_shut.t')",
            "select 'px_shut.mood'::regtype",
            "select 'px_shut.f()'::regprocedure",
            "select * from px.shown",
            "create table px.made (like px_shut.t)",
            "create table px.made (a px_shut.mood)",
            "create table px.made (a px_shut.d)",
            "create view px.made as select px_shut.f()",
            "create table px_shut.made (a int)",
            "create view px_shut.made as select 1 as one",
            "create sequence px_shut.made",
            "create function px_shut.made() returns int language sql as 'select 1'",
            "create type px_shut.made as enum ('a')",
            "create domain px_shut.made as int",
            "alter schema px_shut owner to px_other",
            "comment on schema px_shut is 'x'",
            "drop function px_shut.f()",
            "drop schema px_shut cascade",
        ],
    ),
    Kind(
        "table",
        "{} on px.t",
        "has_table_privilege(%s, 'px.t', %s)",
        [
            "select a from px.t",
            "insert into px.t values (2, 2, 2)",
            "update px.t set a = 2",
            "update px.t set a = b",
            "delete from px.t",
            "truncate px.t",
            "create table px.made (id int references px.t)",
            "create trigger made before insert on px.t for each row execute function px.g()",
            "create index on px.t (a)",
            "create policy made on px.t using (true)",
            "create statistics px.made on a, b from px.t",
            "alter table px.t rename a to c",
            "alter table px.t disable trigger user",
            "alter table px.t owner to px_other",
            "analyze px.t",
            "copy px.t from stdin",
            "copy px.t to stdout",
            "lock table px.t in row exclusive mode",
            "select privilege_type, is_grantable from information_schema.table_privileges"
            " where grantee = current_user and table_name = 't' and table_schema = 'px' order by 1",
            "drop table px.t",
        ],
    ),
    Kind(
        "column",
        "{} (a) on px.u",
        "has_column_privilege(%s, 'px.u', 'a', %s)",
        [
            "select a from px.u",
            "select b from px.u",
            "select u from px.u",
            "select count(*) from px.u",
            "insert into px.u (a) values (2)",
            "insert into px.u (id, a) values (2, 2)",
            "update px.u set a = 2",
            "update px.u set a = a",
            "update px.u set a = b",
            "update px.u set a = 2 returning a",
            "delete from px.u where a = 1",
            "create table px.made (a int references px.u (a))",
            "copy px.u (a) to stdout",
            "copy px.u (a, b) to stdout",
            "copy px.u (a) from stdin",
            "select has_any_column_privilege('px.u', 'select'), has_any_column_privilege('px.u', 'update')",
            "comment on column px.u.a is 'x'",
        ],
    ),
    Kind(
        "sequence",
        "{} on sequence px.s",
        "has_sequence_privilege(%s, 'px.s', %s)",
        [
            "select nextval('px.s') > 0",
            "select setval('px.s', 10)",
            "select currval('px.s')",
            "select is_called from px.s",
            "select last_value is null from pg_sequences where schemaname = 'px'",
            "alter sequence px.s restart",
            "alter sequence px.s owner to px_other",
            "comment on sequence px.s is 'x'",
            "drop sequence px.s",
        ],
    ),
    Kind(
        "function",
        "{} on function px.f(int), px.g()",
        "has_function_privilege(%s, 'px.f(int)', %s)",
        [
            "select px.f(1)",
            "select * from px.f(1)",
            "select px.f(a) from (values (1)) v(a) where px.f(a) > 0",
            "create trigger made before insert on px.t for each row execute function px.g()",
            "create view px.made as select px.f(1) as two",
            "create function px.made() returns int language sql begin atomic select px.f(1); end",
            "alter function px.f(int) strict",
            "alter function px.f(int) owner to px_other",
            "create or replace function px.f(int) returns int language sql as 'select 2'",
            "comment on function px.f(int) is 'x'",
            "drop function px.f(int)",
        ],
        "revoke all on function px.f(int), px.g() from public",
    ),
    Kind(
        "procedure",
        "{} on procedure px.p()",
        "has_function_privilege(%s, 'px.p()', %s)",
        ["call px.p()", "drop procedure px.p()"],
        "revoke all on procedure px.p() from public",
    ),
    Kind(
        "type",
        "{} on type px.mood, px.positive, px.pair",
        "has_type_privilege(%s, 'px.mood', %s)",
        [
            "select 'sad'::px.mood, 1::px.positive, (1, 2)::px.pair",
            "create table px.made (a px.mood)",
            "create table px.made (a px.mood[])",
            "create table px.made (a px.positive)",
            "create table px.made (a px.pair)",
            "create temporary table px_made (a px.mood)",
            "create table px.made as select 'sad'::px.mood as a",
            "create view px.made as select 'sad'::px.mood as a",
            "create function px.made(px.mood) returns int language sql as 'select 1'",
            "create function px.made() returns px.positive language sql as 'select 1'",
            "create domain px.made as px.mood",
            "create domain px.made as px.positive",
            "create type px.made as (a px.mood)",
            "create type px.made as range (subtype = px.positive)",
            "alter type px.mood add value 'so so'",
            "alter type px.mood rename to made",
            "alter type px.mood owner to px_other",
            "alter domain px.positive set not null",
            "comment on type px.mood is 'x'",
            "drop type px.mood",
        ],
        "revoke all on type px.mood, px.positive, px.pair from public; grant temporary on database app to public",
    ),
    Kind(
        "large object",
        "{} on large object 4711",
        "",
        [
            "select lo_get(4711)",
            "select lo_put(4711, 0, 'x')",
            "select loread(lo_open(4711, 262144), 10)",
            "select lo_open(4711, 131072) >= 0",
            "select lo_truncate(lo_open(4711, 131072), 1)",
            "select lo_unlink(4711)",
            "comment on large object 4711 is 'x'",
            "alter large object 4711 owner to px_other",
            "grant select on large object 4711 to px_other",
            "select count(*) from pg_largeobject",
        ],
    ),
]  # fmt: skip


def attempt(connection: psycopg.Connection, role: str, statement: str) -> str:
    """What becomes of a statement of a role: nothing of it stays."""
    with connection.cursor() as cursor:
        cursor.execute("begin")
        try:
            cursor.execute(f"set local role {role}")  # type: ignore[arg-type]
            if statement.startswith("copy"):
                with cursor.copy(statement) as copy:  # type: ignore[arg-type]
                    if statement.endswith("to stdout"):
                        list(copy)
            else:
                cursor.execute(statement)  # type: ignore[arg-type]
                if cursor.description and "privilege" in statement:
                    return f"ok {cursor.fetchall()}"
            return "ok"
        except psycopg.Error as error:
            return f"{error.sqlstate} {error.diag.message_primary}"
        finally:
            cursor.execute("rollback")


def log_in(dsn: str, role: str) -> str:
    try:
        psycopg.connect(dsn, user=role).close()
    except psycopg.OperationalError as error:
        return str(error).partition("FATAL: ")[2].strip().splitlines()[0]
    return "ok"


def granted(connection: psycopg.Connection, statement: str) -> str:
    """The answer to a GRANT or REVOKE, which stays."""
    told: list[str] = []

    def tell(notice: psycopg.errors.Diagnostic) -> None:
        told.append(f" {notice.sqlstate} {notice.message_primary}")

    connection.add_notice_handler(tell)
    try:
        return (connection.execute(statement).statusmessage or "") + "".join(told)  # type: ignore[arg-type]
    except psycopg.Error as error:
        return f"{error.sqlstate} {error.diag.message_primary}"
    finally:
        connection.remove_notice_handler(tell)


def told(question: str, answers: dict[str, str]) -> Iterator[str]:
    """A line for each answer, with those who were given it."""
    for answer in dict.fromkeys(answers.values()):
        who = ", ".join(role[3:] for role in answers if answers[role] == answer)
        yield f"{question} | {who} | {answer}"


def tried(connection: psycopg.Connection, dsn: str, kind: Kind, privilege: str) -> Iterator[str]:
    """Who holds a privilege now, and what each role may do."""
    if kind.asked and privilege not in ("", "ALL"):
        for words in [privilege, f"{privilege} WITH GRANT OPTION"]:
            answers = {}
            for role in [*ROLES, "public"]:
                try:
                    row = connection.execute(f"select {kind.asked}", [role, words]).fetchone()  # type: ignore[arg-type]
                    answers[role if role != "public" else "px_public"] = str(row and row[0])
                except psycopg.Error as error:
                    answers[role if role != "public" else "px_public"] = (
                        f"{error.sqlstate} {error.diag.message_primary}"
                    )
            yield from told(f"has {words}", answers)
    further = [f"grant {kind.grant.format(privilege)} to px_other"] if privilege else []
    for action in [*kind.actions, *further]:
        if action == "connect":
            yield from told(action, {role: log_in(dsn, role) for role in ROLES})
        else:
            yield from told(action, {role: attempt(connection, role, action) for role in ROLES})


def matrix(connection: psycopg.Connection, dsn: str) -> Iterator[str]:
    connection.execute(SETUP)
    try:
        for kind in KINDS:
            if kind.before:
                connection.execute(kind.before)  # type: ignore[arg-type]
            yield f"## nothing on the {kind.name}"
            yield from tried(connection, dsn, kind, "")
            for privilege in PRIVILEGES:
                for grantee in ["px_group", "public", "px_stranger with grant option"]:
                    words = kind.grant.format(privilege)
                    answer = granted(connection, f"grant {words} to {grantee}")
                    yield f"## grant {words} to {grantee} | {answer}"
                    if answer != "GRANT":
                        break
                    yield from tried(connection, dsn, kind, privilege)
                    revoke = f"revoke {words} from {grantee.split()[0]} cascade"
                    yield f"{revoke} | {granted(connection, revoke)}"
    finally:
        connection.execute(CLEAN)


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rowferry]:
    path = tmp_path_factory.mktemp("privileges") / "app.db"
    with Rowferry.start(path, informix=True, args=["--durability", "off"]) as server:
        yield server


@pytest.mark.timeout(400)
def test_who_may_do_what_with_every_kind_of_object(served: Rowferry) -> None:
    with psycopg.connect(served.postgres_dsn, user="ada", autocommit=True) as connection:
        ours = list(matrix(connection, served.postgres_dsn))
    assert ours == RECORDED.read_text().splitlines()


if __name__ == "__main__":
    with psycopg.connect(sys.argv[1], autocommit=True) as reference:
        RECORDED.write_text("".join(f"{line}\n" for line in matrix(reference, sys.argv[1])))
