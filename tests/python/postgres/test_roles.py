"""Roles and privileges: who may do what, with PostgreSQL's recorded answers, and how a login finds its role.

`python -m tests.python.postgres.test_roles DSN` records the matrix anew from a PostgreSQL server without these roles.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from rowferry import informix

from tests.servers.rowferry import Rowferry

RECORDED = Path(__file__).with_name("roles_matrix.txt")

ROLES = ["mx_owner", "mx_member", "mx_lazy", "mx_stranger"]

SETUP = """
create role mx_owner; create role mx_group; create role mx_member in role mx_group;
create role mx_lazy noinherit in role mx_group; create role mx_stranger;
create schema mx; grant usage, create on schema mx to public;
create schema mx_narrow; grant usage on schema mx_narrow to public;
create table mx_narrow.t (id int primary key, a int); alter table mx_narrow.t owner to mx_owner;
create schema mx_closed authorization mx_owner;
create table mx.t (id int primary key, a int, b int); alter table mx.t owner to mx_owner;
create table mx.base (id int primary key, a int); insert into mx.base values (1, 1);
create view mx.v as select id, a from mx.base; alter view mx.v owner to mx_owner;
grant select, insert, update on mx.base to mx_owner;
create view mx.iv with (security_invoker = true) as select id, a from mx.base; alter view mx.iv owner to mx_owner;
create sequence mx.s; alter sequence mx.s owner to mx_owner;
create table mx_closed.t (id int); alter table mx_closed.t owner to mx_owner
"""

CLEAN = """
drop schema mx cascade; drop schema mx_narrow cascade; drop schema mx_closed cascade;
drop role mx_owner, mx_member, mx_lazy, mx_stranger, mx_group
"""

#: What is granted on which object, and what is then tried.
CASES: list[tuple[str, list[str], list[str]]] = [
    (
        "mx.t",
        [
            "select",
            "insert",
            "update",
            "delete",
            "truncate",
            "references",
            "trigger",
            "all",
            "select (a)",
            "insert (id, a)",
            "update (a)",
            "references (id)",
        ],
        [
            "select id, a from mx.t",
            "select a from mx.t",
            "select count(*) from mx.t",
            "select 1 from mx.t for update",
            "insert into mx.t values (1, 1, 1)",
            "insert into mx.t (id, a) values (1, 1)",
            "insert into mx.t (id, a) values (1, 1) returning a",
            "insert into mx.t (id, a) values (1, 1) on conflict (id) do update set a = excluded.a",
            "update mx.t set a = 1",
            "update mx.t set a = 1 where b = 1",
            "update mx.t set b = 1",
            "delete from mx.t",
            "delete from mx.t where a = 1",
            "truncate mx.t",
            "lock table mx.t in access share mode",
            "lock table mx.t in exclusive mode",
            "create table mx.child (id int references mx.t)",
            "create index on mx.t (a)",
            "alter table mx.t add column c int",
            "drop table mx.t",
            "copy mx.t to stdout",
            "comment on table mx.t is 'x'",
        ],
    ),
    (
        "mx_narrow.t",
        ["all"],
        [
            "create index on mx_narrow.t (a)",
            "create table mx_narrow.u (id int references mx_narrow.t)",
            "alter table mx_narrow.t rename to u",
            "alter table mx_narrow.t owner to current_user",
        ],
    ),
    (
        "mx.v",
        ["select", "insert", "update", "delete", "select (a)", "update (a)"],
        [
            "select * from mx.v",
            "select a from mx.v",
            "insert into mx.v values (2, 2)",
            "update mx.v set a = 2",
            "update mx.v set a = 2 where id = 1",
            "delete from mx.v",
            "select * from mx.base",
            "drop view mx.v",
        ],
    ),
    ("mx.iv", ["select", "update"], ["select * from mx.iv", "update mx.iv set a = 2"]),
    (
        "sequence mx.s",
        ["usage", "select", "update"],
        [
            "select nextval('mx.s')",
            "select setval('mx.s', 10)",
            "select last_value is null from pg_sequences where sequencename = 'none'",
            "drop sequence mx.s",
        ],
    ),
    (
        "schema mx_closed",
        ["usage", "create", "all"],
        [
            "select * from mx_closed.t",
            "create table mx_closed.u (a int)",
            "create view mx_closed.w as select 1 as one",
            "create sequence mx_closed.q",
            "drop table mx_closed.t",
            "drop schema mx_closed cascade",
        ],
    ),
]


def statements(text: str) -> list[str]:
    return [statement.strip() for statement in text.split(";") if statement.strip()]


def attempt(connection: psycopg.Connection, role: str, statement: str) -> str:
    """What becomes of a statement of a role: nothing of it stays."""
    with connection.cursor() as cursor:
        cursor.execute("begin")
        try:
            cursor.execute(f"set local role {role}")  # type: ignore[arg-type]
            if statement.startswith("copy"):
                with cursor.copy(statement) as copy:  # type: ignore[arg-type]
                    list(copy)
            else:
                cursor.execute(statement)  # type: ignore[arg-type]
            return "ok"
        except psycopg.Error as error:
            return f"{error.sqlstate} {error.diag.message_primary}"
        finally:
            cursor.execute("rollback")


def matrix(connection: psycopg.Connection) -> Iterator[str]:
    for statement in statements(SETUP):
        connection.execute(statement)  # type: ignore[arg-type]
    try:
        for target, privileges, actions in CASES:
            for grantee in ["mx_group", "public"]:
                for privilege in [None, *privileges]:
                    if privilege is None and grantee == "public":
                        continue
                    if privilege:
                        connection.execute(f"grant {privilege} on {target} to {grantee}")  # type: ignore[arg-type]
                    yield f"## {privilege or 'nothing'} on {target} to {grantee}"
                    for action in actions:
                        answers = {role: attempt(connection, role, action) for role in ROLES}
                        for answer in dict.fromkeys(answers.values()):
                            who = ", ".join(role[3:] for role in ROLES if answers[role] == answer)
                            yield f"{action} | {who} | {answer}"
                    if privilege:
                        connection.execute(f"revoke {privilege} on {target} from {grantee}")  # type: ignore[arg-type]
    finally:
        for statement in statements(CLEAN):
            connection.execute(statement)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rowferry]:
    path = tmp_path_factory.mktemp("roles") / "app.db"
    with Rowferry.start(path, args=["--durability", "off"]) as server:
        yield server


def connect(server: Rowferry, user: str, **options: str) -> psycopg.Connection:
    return psycopg.connect(server.postgres_dsn, user=user, autocommit=True, **options)


def test_who_may_do_what(served: Rowferry) -> None:
    with connect(served, "ada") as connection:
        ours = list(matrix(connection))
    assert ours == RECORDED.read_text().splitlines()


def test_a_file_without_roles_lets_everybody_be_its_superuser(tmp_path: Path) -> None:
    with Rowferry.start(tmp_path / "app.db", args=["--durability", "off"]) as server:
        for user in ["ada", "bob"]:
            with connect(server, user) as connection:
                asked = "select current_user, session_user, rolsuper from pg_roles where rolname = current_user"
                assert connection.execute(asked).fetchone() == (user, user, True)
        with connect(server, "ada") as connection:
            connection.execute("create role bob login")
        with connect(server, "bob") as connection:
            asked = "select current_user, rolsuper from pg_roles where rolname = current_user"
            assert connection.execute(asked).fetchone() == ("bob", False)
        with pytest.raises(psycopg.OperationalError, match='role "eve" does not exist'):
            connect(server, "eve")
        # The last role is gone: as before.
        with connect(server, "ada") as connection:
            connection.execute("drop role bob")
        connect(server, "eve").close()


def test_a_login_needs_login_and_the_password_of_its_role(tmp_path: Path) -> None:
    with Rowferry.start(tmp_path / "app.db", args=["--durability", "off"]) as server:
        with connect(server, "ada") as ada:
            ada.execute("create role staff; create user bob password 'pencil' connection limit 1")
            kept = ada.execute("select rolpassword from pg_authid where rolname = 'bob'").fetchone()
            assert kept and kept[0].startswith("SCRAM-SHA-256$4096:") and "pencil" not in kept[0]
            assert ada.execute("select passwd from pg_user where usename = 'bob'").fetchone() == ("********",)
            with pytest.raises(psycopg.OperationalError, match='role "staff" is not permitted to log in'):
                connect(server, "staff")
            with pytest.raises(psycopg.OperationalError, match="password authentication failed"):
                connect(server, "bob", password="wrong")
            with connect(server, "bob", password="pencil") as bob:
                with pytest.raises(psycopg.errors.InsufficientPrivilege, match="permission denied for table pg_authid"):
                    bob.execute("select * from pg_authid")
                with pytest.raises(psycopg.OperationalError, match='too many connections for role "bob"'):
                    connect(server, "bob", password="pencil")
            ada.execute("alter role bob valid until '2001-01-01' connection limit -1")
            with pytest.raises(psycopg.OperationalError, match="password authentication failed"):
                connect(server, "bob", password="pencil")
            ada.execute("alter role bob valid until 'infinity' password null; alter role bob set work_mem = '8MB'")
            with connect(server, "bob") as bob:
                assert bob.execute("show work_mem").fetchone() == ("8MB",)


def test_roles_stay_in_the_file(tmp_path: Path) -> None:
    path = tmp_path / "app.db"
    with Rowferry.start(path, args=["--durability", "off"]) as server, connect(server, "ada") as ada:
        ada.execute("create role bob login; create table t (a int, b int); grant select (a) on t to bob")
    with Rowferry.start(path, args=["--durability", "off"]) as server:
        with connect(server, "bob") as bob:
            bob.execute("select a from t")
            with pytest.raises(psycopg.errors.InsufficientPrivilege, match="permission denied for table t"):
                bob.execute("select b from t")
        with connect(server, "ada") as ada:
            owner = "select relowner::regrole::text, attacl::text from pg_class, pg_attribute"
            asked = f"{owner} where relname = 't' and attrelid = pg_class.oid and attname = 'a'"
            assert ada.execute(asked).fetchone() == ("ada", "{bob=r/ada}")


def test_a_revoke_counts_at_once_in_other_sessions(tmp_path: Path) -> None:
    with Rowferry.start(tmp_path / "app.db", args=["--durability", "off"]) as server, connect(server, "ada") as ada:
        ada.execute("create role bob login; create table t (a int); grant select on t to bob")
        with connect(server, "bob") as bob:
            for _ in range(7):
                bob.execute("select a from t where a = %s", [1], prepare=True)
            bob.execute("begin isolation level repeatable read")
            bob.execute("select a from t where a = %s", [1], prepare=True)
            ada.execute("revoke select on t from bob")
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                bob.execute("select a from t where a = %s", [1], prepare=True)
            bob.execute("rollback")
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                bob.execute("select a from t where a = %s", [1], prepare=True)
            ada.execute("grant select on t to bob")
            bob.execute("select a from t where a = %s", [1], prepare=True)


def test_roles_change_with_their_transaction(served: Rowferry) -> None:
    with connect(served, "ada") as ada:
        ada.execute("create role tx_a; create role tx_b")
        ada.execute("begin; set local role tx_a")
        assert ada.execute("select current_user, session_user").fetchone() == ("tx_a", "ada")
        ada.execute("savepoint s; set role tx_b; rollback to s")
        assert ada.execute("select current_user").fetchone() == ("tx_a",)
        ada.execute("commit")
        assert ada.execute("select current_user").fetchone() == ("ada",)
        ada.execute("set session authorization tx_a")
        with pytest.raises(psycopg.errors.InsufficientPrivilege, match='permission denied to set role "tx_b"'):
            ada.execute("set role tx_b")
        ada.execute("set session authorization tx_b; reset session authorization")
        assert ada.execute("select current_user").fetchone() == ("ada",)
        ada.execute("begin; create role tx_c; create table tx_t (a int); grant select on tx_t to tx_c; rollback")
        assert ada.execute("select count(*) from pg_roles where rolname = 'tx_c'").fetchone() == (0,)
        ada.execute("drop role tx_a, tx_b")


def test_a_role_that_owns_something_is_not_dropped(served: Rowferry) -> None:
    with connect(served, "ada") as ada:
        ada.execute("create role own_a; create role own_b; create table own_t (a int)")
        ada.execute("alter table own_t owner to own_a")
        ada.execute("create view own_v as select 1 as one; grant select on own_v to own_a")
        with pytest.raises(psycopg.errors.DependentObjectsStillExist) as caught:
            ada.execute("drop role own_a")
        assert caught.value.diag.message_detail == "owner of table own_t\nprivileges for view own_v"
        ada.execute("reassign owned by own_a to own_b; drop owned by own_a; drop role own_a")
        assert ada.execute("select tableowner from pg_tables where tablename = 'own_t'").fetchone() == ("own_b",)
        ada.execute("drop owned by own_b; drop role own_b; drop view own_v")


def test_what_others_do_is_seen_by_those_who_may(tmp_path: Path) -> None:
    asked = "select state, query from pg_stat_activity where pid = %s"
    with Rowferry.start(tmp_path / "app.db", args=["--durability", "off"]) as server, connect(server, "ada") as ada:
        ada.execute("create role bob login; create role eva login; grant pg_read_all_stats to eva")
        ada.execute("select 'secret'")
        pid = ada.info.backend_pid
        with connect(server, "bob") as bob, connect(server, "eva") as eva:
            assert bob.execute(asked, [pid]).fetchone() == (None, "<insufficient privilege>")
            assert bob.execute(asked, [bob.info.backend_pid]).fetchone() == ("active", asked.replace("%s", "$1"))
            # Nothing is to be done since its answer was sent.
            assert eva.execute(asked, [pid]).fetchone() == ("idle", "select 'secret'")


def test_logins_at_the_informix_door_ask_the_same(tmp_path: Path) -> None:
    def enter(password: str = "pencil") -> informix.Connection:
        assert server.informix
        host, port = server.informix
        return informix.connect(host=host, port=port, user="bob", password=password, database="app")

    with Rowferry.start(tmp_path / "app.db", informix=True, args=["--durability", "off"]) as server:
        with connect(server, "ada") as ada:
            ada.execute("create user bob password 'pencil' connection limit 1")
            with enter() as bob:
                assert bob.cursor().execute("select user from sysmaster:sysdual").fetchone()[0].strip() == "bob"
                with pytest.raises(informix.Error):
                    enter()
            for change, back in [
                ("valid until '2001-01-01'", "valid until 'infinity'"),
                ("nologin", "login"),
                ("password null", "password 'pencil'"),
            ]:
                ada.execute(f"alter role bob {change}")  # type: ignore[arg-type]
                if not change.startswith("password"):
                    with pytest.raises(informix.Error) as caught:
                        enter()
                    assert caught.value.sqlcode == -951, change
                ada.execute(f"alter role bob {back}")  # type: ignore[arg-type]
            enter().close()
            with pytest.raises(informix.Error) as caught:
                enter("wrong")
            assert caught.value.sqlcode == -951


def test_a_verifier_of_no_password_is_none(served: Rowferry) -> None:
    empty = (
        "SCRAM-SHA-256$4096:hpFyHTUsSWcR7O9P$LgZFIt6Oqdo27ZFKbZ2nV+vtnYM995pDh9ca6WSi120="
        ":qVV5NeluNfUPkwm7Vqat25RjSPLkGeoZBQs6wVv+um4="
    )
    told: list[str] = []
    with connect(served, "ada") as ada:
        ada.add_notice_handler(lambda notice: told.append(notice.message_primary or ""))
        ada.execute(f"create role emptied password '{empty}'")  # type: ignore[arg-type]
        assert told == ["empty string is not a valid password, clearing password"]
        assert ada.execute("select rolpassword from pg_authid where rolname = 'emptied'").fetchone() == (None,)
        ada.execute("drop role emptied")


if __name__ == "__main__":
    with psycopg.connect(sys.argv[1], autocommit=True) as reference:
        RECORDED.write_text("".join(f"{line}\n" for line in matrix(reference)))
