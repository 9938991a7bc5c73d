"""Informix SQL's GRANT and REVOKE: the same privileges, asked for at both doors, refused with Informix's codes there."""
# ruff: noqa: E501 (statements)

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import psycopg
import pytest
from rowferry import informix

from tests.servers.rowferry import Rowferry

USERS = ["ix_owner", "ix_member", "ix_lazy", "ix_stranger"]

SETUP = """
create user ada superuser password 'pencil'; create role ix_group;
create user ix_owner password 'pencil'; create user ix_member password 'pencil' in role ix_group;
create user ix_lazy noinherit password 'pencil' in role ix_group; create user ix_stranger password 'pencil';
create user ix_other password 'pencil';
create table t (id int primary key, a int, b int); alter table t owner to ix_owner; insert into t values (1, 1, 1);
create table u (id int primary key, a int); alter table u owner to ix_owner;
create view v as select id, a from t; alter view v owner to ix_owner;
create sequence s; alter sequence s owner to ix_owner
"""

#: What is granted, what needs it, the code of the refusal, and (where it is not the same) what needs it at the PostgreSQL
#: door; none where that door does not know it.
CASES: list[tuple[str, str, int, str | None]] = [
    ("select on t", "select * from t", -272, ""),
    ("select on t", "select count(*) from t", -272, ""),
    ("select (a) on t", "select a from t", -272, ""),
    ("insert on t", "insert into t (id) values (2)", -275, ""),
    ("update on t", "update t set a = 2", -273, ""),
    ("update (a) on t", "update t set a = 2", -273, ""),
    ("delete on t", "delete from t", -274, ""),
    ("all on t", "delete from t", -274, ""),
    ("all privileges on t", "update t set b = 1 where a = 1", -273, ""),
    ("select, insert on t", "insert into t (id) select a + 5 from t", -275, ""),
    ("select on v", "select * from v", -272, ""),
    ("references on u", "create table made (id int references u)", -272, ""),
    ("select on s", "select first 1 s.nextval from systables", -272, None),
    ("execute on function twice(integer)", "execute function twice(4)", -272, None),
    ("execute on twice", "select twice(4) from sysmaster:sysdual", -272, None),
    ("resource", "create table made (a integer)", -388, ""),
    ("resource", "create view made (a) as select 1 from systables", -388, "create view made as select 1 as a"),
]  # fmt: skip

Door = Callable[[str], int | None]


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rowferry]:
    path = tmp_path_factory.mktemp("doors") / "app.db"
    with Rowferry.start(path, informix=True, args=["--durability", "off"]) as server:
        with psycopg.connect(server.postgres_dsn, user="ada", autocommit=True) as ada:
            ada.execute(SETUP.replace("create user ada superuser password 'pencil'", "create role ix_first"))
            ada.execute("alter role ada password 'pencil'")
        with at_informix(server, "ada") as connection:
            cursor = connection.cursor()
            cursor.execute("create function twice(n integer) returning integer; return n * 2; end function")
            cursor.execute("grant select on t to ix_other")
            cursor.execute("revoke execute on function twice(integer) from public")
            connection.commit()
        yield server


def at_informix(server: Rowferry, user: str) -> informix.Connection:
    assert server.informix
    host, port = server.informix
    return informix.connect(host=host, port=port, user=user, password="pencil", database=server.dbname)


def at_postgres(server: Rowferry, user: str) -> psycopg.Connection:
    return psycopg.connect(server.postgres_dsn, user=user, password="pencil")


def code(connection: informix.Connection, statement: str) -> int:
    """What becomes of a statement, of which nothing stays; 0 when it is done."""
    try:
        cursor = connection.cursor()
        cursor.execute(statement)
        return 0
    except informix.DatabaseError as error:
        return error.sqlcode or 0
    finally:
        connection.rollback()


def state(connection: psycopg.Connection, statement: str) -> str:
    try:
        connection.execute(statement)  # type: ignore[arg-type]
        return "ok"
    except psycopg.Error as error:
        return error.sqlstate or ""
    finally:
        connection.rollback()


class Doors:
    """Everybody at both doors."""

    def __init__(self, server: Rowferry, stack: ExitStack) -> None:
        self.granting = stack.enter_context(at_informix(server, "ada"))
        self.informix = {user: stack.enter_context(at_informix(server, user)) for user in USERS}
        self.postgres = {user: stack.enter_context(at_postgres(server, user)) for user in USERS}

    def say(self, statement: str) -> None:
        """GRANT or REVOKE, in Informix SQL, as the superuser."""
        self.granting.cursor().execute(statement)
        self.granting.commit()

    def check(self, case: tuple[str, str, int, str | None], allowed: set[str]) -> None:
        """Who may do it may do it at both doors, and nobody else."""
        _, statement, refusal, elsewhere = case
        expected = {user: 0 if user in allowed else refusal for user in USERS}
        assert {user: code(self.informix[user], statement) for user in USERS} == expected, case
        if elsewhere is not None:
            states = {user: state(self.postgres[user], elsewhere or statement) for user in USERS}
            assert states == {user: "ok" if user in allowed else "42501" for user in USERS}, case


@pytest.fixture(scope="module")
def doors(served: Rowferry) -> Iterator[Doors]:
    with ExitStack() as stack:
        yield Doors(served, stack)


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case[0]}: {case[1]}")
def test_who_may_do_what_at_both_doors(doors: Doors, case: tuple[str, str, int, str | None]) -> None:
    granted = case[0]
    # What is everybody's table's owner's, is not the schema's or the routine's.
    owner = set() if granted.startswith(("execute", "resource")) else {"ix_owner"}
    if granted.startswith("references"):
        doors.say("grant resource to public")
    doors.check(case, owner)
    doors.say(f"grant {granted} to ix_group")
    doors.check(case, owner | {"ix_member"})
    doors.say(f"revoke {granted} from ix_group")
    doors.say(f"grant {granted} to public")
    doors.check(case, set(USERS))
    doors.say(f"revoke {granted} from public")
    doors.check(case, owner)
    doors.say(f"grant {granted} to ix_stranger" + ("" if granted == "resource" else " with grant option"))
    doors.check(case, owner | {"ix_stranger"})
    if granted != "resource":
        assert code(doors.informix["ix_stranger"], f"grant {granted} to ix_other") == 0
        assert code(doors.informix["ix_lazy"], f"grant {granted} to ix_other") in (-302, -272)
    doors.say(f"revoke {granted} from ix_stranger")
    doors.check(case, owner)
    if granted.startswith("references"):
        doors.say("revoke resource from public")


@pytest.mark.parametrize(
    ("statement", "refusal"),
    [
        ("drop table t", -313),
        ("alter table t add c integer", -313),
        ("create index made on t (a)", -315),
        ("rename table t to made", -313),
        ("grant dba to ix_stranger", -389),
        ("create role made", -389),
        ("drop role ix_group", -389),
        ("grant ix_group to ix_stranger", -389),
    ],
)
def test_what_is_its_owners_or_a_dbas_alone(doors: Doors, statement: str, refusal: int) -> None:
    for user in ["ix_member", "ix_stranger"]:
        assert code(doors.informix[user], statement) == refusal


def test_roles_are_made_granted_and_dropped(doors: Doors, served: Rowferry) -> None:
    doors.say("create role ix_made")
    doors.say("create role if not exists ix_made")
    doors.say("grant select on t to ix_made")
    doors.say("grant ix_made to ix_stranger with grant option")
    assert code(doors.informix["ix_stranger"], "select * from t") == 0
    assert code(doors.informix["ix_stranger"], "grant ix_made to ix_other") == 0
    with at_postgres(served, "ada") as ada:
        asked = "select rolcanlogin, admin_option from pg_roles r join pg_auth_members m on m.roleid = r.oid"
        assert ada.execute(f"{asked} where rolname = 'ix_made'").fetchall() == [(False, True)]
        acl = "select relacl::text from pg_class where relname = 't'"
        assert "ix_made=r/ix_owner" in ada.execute(acl).fetchall()[0][0]
    doors.say("revoke ix_made from ix_stranger")
    assert code(doors.informix["ix_stranger"], "select * from t") == -272
    doors.say("revoke select on t from ix_made")
    doors.say("drop role ix_made")
    doors.say("drop role if exists ix_made")


def test_a_dba_may_do_everything(doors: Doors) -> None:
    doors.say("grant dba to ix_stranger")
    assert code(doors.informix["ix_stranger"], "drop table u") == 0
    doors.say("revoke dba from ix_stranger")
    assert code(doors.informix["ix_stranger"], "drop table u") == -313


def test_connect_is_asked_at_both_doors(doors: Doors, served: Rowferry) -> None:
    doors.say("revoke connect from public")
    with pytest.raises(informix.Error) as caught:
        at_informix(served, "ix_other")
    assert caught.value.sqlcode == -387
    with pytest.raises(psycopg.OperationalError, match='permission denied for database "app"'):
        at_postgres(served, "ix_other")
    doors.say("grant connect to ix_other")
    at_informix(served, "ix_other").close()
    doors.say("grant connect to public")


@pytest.mark.parametrize(
    "statement",
    [
        "grant index on t to ix_other",
        "grant select, alter on t to ix_other",
        "revoke under on t from ix_other",
        "grant usage on language spl to public",
        "grant default role ix_group to ix_other, ix_owner",
        "grant default role ix_group to ix_stranger",
    ],
)
def test_what_has_no_counterpart_is_refused_by_name(doors: Doors, statement: str) -> None:
    assert code(doors.granting, statement) == -999


def test_a_role_is_enabled(doors: Doors, served: Rowferry) -> None:
    """Of who does not inherit, a role's privileges are there while it is enabled; CURRENT_ROLE says which one is."""
    doors.say("grant select on t to ix_group")

    def roles(connection: informix.Connection) -> tuple[object, ...]:
        row = connection.cursor().execute("select current_role, default_role from sysmaster:sysdual").fetchone()
        assert row
        return tuple(row)

    def says(connection: informix.Connection, statement: str) -> None:
        connection.cursor().execute(statement)
        connection.commit()

    lazy = at_informix(served, "ix_lazy")
    try:
        assert roles(lazy) == (None, None)
        assert code(lazy, "select * from t") == -272
        says(lazy, "set role ix_group")
        assert roles(lazy) == ("ix_group", None)
        assert code(lazy, "select * from t") == 0
        assert code(lazy, "delete from t") == -274
        says(lazy, "set role none")
        assert roles(lazy) == (None, None)
        assert code(lazy, "select * from t") == -272
        assert code(doors.informix["ix_stranger"], "set role ix_group") < 0
        assert code(doors.informix["ix_stranger"], "set role nobody") < 0
    finally:
        lazy.close()
    # With a default role sessions begin; another one, or none, may be enabled.
    doors.say("grant default role ix_group to ix_lazy")
    lazy = at_informix(served, "ix_lazy")
    try:
        assert roles(lazy) == ("ix_group", "ix_group")
        assert code(lazy, "select * from t") == 0
        says(lazy, "set role null")
        assert roles(lazy) == (None, "ix_group")
        assert code(lazy, "select * from t") == -272
        says(lazy, "set role default")
        assert roles(lazy) == ("ix_group", "ix_group")
        # What is revoked is not enabled any longer.
        doors.say("revoke ix_group from ix_lazy")
        assert code(lazy, "select * from t") == -272
        doors.say("grant ix_group to ix_lazy")
    finally:
        lazy.close()
    doors.say("revoke default role from ix_lazy")
    lazy = at_informix(served, "ix_lazy")
    assert roles(lazy) == (None, None)
    lazy.close()
    doors.say("revoke select on t from ix_group")


def test_revoke_takes_what_was_granted_on(doors: Doors) -> None:
    doors.say("grant select on t to ix_stranger with grant option")
    granting = doors.informix["ix_stranger"]
    granting.cursor().execute("grant select on t to ix_lazy")
    granting.commit()
    assert code(doors.informix["ix_lazy"], "select * from t") == 0
    assert code(doors.granting, "revoke select on t from ix_stranger restrict") < 0
    doors.say("revoke select on t from ix_stranger")
    assert code(doors.informix["ix_lazy"], "select * from t") == -272


def test_without_roles_grants_do_nothing(tmp_path: Path) -> None:
    with Rowferry.start(tmp_path / "app.db", informix=True, args=["--durability", "off"]) as server:
        with at_informix(server, "ann") as connection:
            cursor = connection.cursor()
            cursor.execute("create table t (a integer)")
            for statement in [
                "grant select, update (a), index on t to 'public' as 'informix'",
                "create role readers",
                "grant readers to ann",
                "set role readers",
                "set role none",
                "grant dba to ann",
            ]:
                cursor.execute(statement)
            connection.commit()
        with psycopg.connect(server.postgres_dsn, user="anybody") as somebody:
            assert somebody.execute("select count(*) from t").fetchone() == (0,)
