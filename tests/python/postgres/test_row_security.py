"""Row-level security: what each role sees and may store, with PostgreSQL's recorded answers; nothing gets past it.

`python -m tests.python.postgres.test_row_security DSN` records the matrix anew from a PostgreSQL without these roles.
The conversation `sessions/row_security.txt` has the statements themselves, and the words of errors.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from rowferry import informix

from tests.servers.rowferry import Rowferry

RECORDED = Path(__file__).with_name("row_security_matrix.txt")

ROLES = ["rx_owner", "rx_member", "rx_stranger", "rx_free"]

SETUP = """
create role rx_owner; create role rx_group; create role rx_member in role rx_group; create role rx_stranger;
create role rx_free bypassrls; create schema rx; grant usage, create on schema rx to public;
create table rx.t (id int primary key, a int, b text default 'new'); alter table rx.t owner to rx_owner;
grant all on rx.t to rx_group, rx_stranger, rx_free;
insert into rx.t values (1, 1, 'one'), (2, 2, 'two'), (3, 3, 'three'), (4, 4, 'four');
create table rx.other (k int); grant all on rx.other to public; insert into rx.other values (1), (2), (5);
create view rx.v as select id, a, b from rx.t; grant all on rx.v to rx_member, rx_stranger, rx_free;
create view rx.iv with (security_invoker) as select id, a, b from rx.t; grant all on rx.iv to public;
alter view rx.v owner to rx_member
"""

CLEAN = "drop schema rx cascade; drop role rx_owner, rx_member, rx_stranger, rx_free, rx_group"

#: What is said of the table's rows.
POLICIES = [
    [],
    ["create policy p on rx.t using (a < 3)"],
    ["create policy p on rx.t to rx_group using (a < 3) with check (a <> 2)"],
    ["create policy p on rx.t for select using (a < 3)"],
    ["create policy p on rx.t for insert with check (a < 3)"],
    ["create policy p on rx.t for update using (a < 3)"],
    ["create policy p on rx.t for update using (a < 3) with check (a > 1)"],
    ["create policy p on rx.t for delete using (a < 3)"],
    ["create policy p on rx.t as restrictive using (a < 3)"],
    ["create policy p on rx.t using (true)", "create policy q on rx.t as restrictive using (a < 3)"],
    ["create policy p on rx.t for select using (true)", "create policy q on rx.t for update using (a in (2, 3))"],
    ["create policy p on rx.t for select using (a > 1)", "create policy q on rx.t for delete using (a < 4)"],
    ["create policy p on rx.t for select using (a > 2)", "create policy q on rx.t for insert with check (true)"],
    ["create policy p on rx.t using (a = 1)", "create policy q on rx.t for select using (a = 3)"],
    ["create policy p on rx.t using (a in (select k from rx.other))"],
    ["create policy p on rx.t using (true)", "create policy q on rx.t as restrictive for update using (a < 3)"],
    ["create policy p on rx.t using (a < 3)", "alter table rx.t force row level security"],
    ["create policy p on rx.t using (false)", "alter table rx.t disable row level security"],
]  # fmt: skip

STATEMENTS = [
    "select id from rx.t order by id",
    "select id from rx.t order by id for update",
    "select id from rx.v order by id",
    "select id from rx.iv order by id",
    "select count(*), sum(a) from rx.t",
    "insert into rx.t values (5, 1)",
    "insert into rx.t values (5, 9)",
    "insert into rx.t values (5, 9) returning id",
    "insert into rx.v values (5, 2)",
    "insert into rx.t values (1, 5) on conflict do nothing",
    "insert into rx.t values (1, 1) on conflict (id) do update set a = 2",
    "insert into rx.t values (3, 1) on conflict (id) do update set a = 2",
    "insert into rx.t values (1, 1) on conflict (id) do update set a = 7",
    "update rx.t set b = 'x'",
    "update rx.t set a = 5",
    "update rx.t set a = a where id > 1 returning id",
    "update rx.t set a = 2 from rx.other where id = k",
    "update rx.v set b = 'x' where id = 2",
    "delete from rx.t",
    "delete from rx.t where id > 1 returning id",
    "delete from rx.iv where id > 1",
    "merge into rx.t using rx.other on id = k "
    "when matched then update set b = 'm' when not matched then insert values (k, 2)",
    "merge into rx.t using rx.other on id = k when matched then delete",
    "with x as (update rx.t set b = 'x' returning id) select count(*) from x",
    "copy rx.t to stdout",
    "truncate rx.t",
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
                    return f"{len(list(copy.rows()))} rows"
            cursor.execute(statement)  # type: ignore[arg-type]
            if not cursor.description:
                return cursor.statusmessage or ""
            return " ".join(",".join(map(str, row)) for row in cursor.fetchall()) or "no rows"
        except psycopg.Error as error:
            return f"{error.sqlstate} {error.diag.message_primary}"
        finally:
            cursor.execute("rollback")


def matrix(connection: psycopg.Connection) -> Iterator[str]:
    for statement in statements(SETUP):
        connection.execute(statement)  # type: ignore[arg-type]
    try:
        for policies in POLICIES:
            yield "## " + ("; ".join(policies) or "no policy")
            connection.execute("alter table rx.t enable row level security")
            for policy in policies:
                connection.execute(policy)  # type: ignore[arg-type]
            for action in STATEMENTS:
                answers = {role: attempt(connection, role, action) for role in ROLES}
                for answer in dict.fromkeys(answers.values()):
                    who = ", ".join(role[3:] for role in ROLES if answers[role] == answer)
                    yield f"{action} | {who} | {answer}"
            connection.execute("drop policy if exists p on rx.t; drop policy if exists q on rx.t")
            connection.execute("alter table rx.t no force row level security, disable row level security")
    finally:
        for statement in statements(CLEAN):
            connection.execute(statement)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rowferry]:
    path = tmp_path_factory.mktemp("policies") / "app.db"
    with Rowferry.start(path, informix=True, args=["--durability", "off"]) as server:
        yield server


def connect(server: Rowferry, user: str) -> psycopg.Connection:
    return psycopg.connect(server.postgres_dsn, user=user, autocommit=True)


def test_what_each_role_sees_and_stores(served: Rowferry) -> None:
    with connect(served, "ada") as connection:
        ours = list(matrix(connection))
    assert ours == RECORDED.read_text().splitlines()


@pytest.fixture
def secrets(served: Rowferry) -> Iterator[psycopg.Connection]:
    """A table of which ben and eva see a row each; ada, who made it, sees all."""
    with connect(served, "ada") as ada:
        ada.execute(
            "create role ben login; create role eva login; create table secrets (who text primary key, word text)"
        )
        ada.execute("insert into secrets values ('ada', 'alpha'), ('ben', 'beta'), ('eva', 'epsilon')")
        ada.execute("grant all on secrets to ben, eva; create policy own on secrets using (who = current_user)")
        ada.execute("alter table secrets enable row level security")
        try:
            yield ada
        finally:
            ada.execute(
                "reset role; reset row_security; drop table secrets cascade; drop owned by ben, eva; drop role ben, eva"
            )


def words(
    connection: psycopg.Connection, query: str = "select word from secrets order by 1", **options: bool
) -> list[str]:
    return [row[0] for row in connection.execute(query, **options)]  # type: ignore[arg-type]


def test_a_plan_is_never_another_roles(served: Rowferry, secrets: psycopg.Connection) -> None:
    own = {"ada": ["alpha", "beta", "epsilon"], "ben": ["beta"], "eva": ["epsilon"]}
    with connect(served, "ben") as ben, connect(served, "eva") as eva:
        for _ in range(7):
            assert words(secrets, prepare=True) == own["ada"]
            assert words(ben, prepare=True) == own["ben"]
            assert words(eva, prepare=True) == own["eva"]
    secrets.execute("prepare of_sql as select word from secrets order by 1")
    for role in ["ben", "eva", "ada", "ben", "ada", "eva"]:
        secrets.execute(f"set role {role}" if role != "ada" else "reset role")
        # The same statement, prepared by the driver, by SQL, and as a text.
        assert words(secrets, prepare=True) == own[role]
        assert words(secrets, "execute of_sql") == own[role]
        assert words(secrets, prepare=False) == own[role]


def test_a_change_of_policies_counts_for_statements_that_are_prepared(
    served: Rowferry, secrets: psycopg.Connection
) -> None:
    with connect(served, "ben") as ben:
        for change, seen in [
            ("select", ["beta"]),
            ("alter policy own on secrets using (who <> current_user)", ["alpha", "epsilon"]),
            ("alter policy own on secrets to eva", []),
            ("grant eva to ben", ["alpha", "epsilon"]),
            ("revoke eva from ben", []),
            ("alter role ben bypassrls", ["alpha", "beta", "epsilon"]),
            ("alter role ben nobypassrls", []),
            ("alter table secrets disable row level security", ["alpha", "beta", "epsilon"]),
            ("alter table secrets enable row level security", []),
            ("alter table secrets owner to ben", ["alpha", "beta", "epsilon"]),
            ("alter table secrets force row level security", []),
            ("drop policy own on secrets", []),
            ("create policy own on secrets for select using (word < 'c')", ["alpha", "beta"]),
        ]:
            secrets.execute(change)  # type: ignore[arg-type]
            assert words(ben, prepare=True) == seen, change
        secrets.execute("alter table secrets owner to ada")


def test_a_cursor_shows_what_its_opener_saw(served: Rowferry, secrets: psycopg.Connection) -> None:
    secrets.execute("begin; set local role ben; declare c cursor with hold for select word from secrets order by 1")
    secrets.execute("set local role eva")
    assert words(secrets, "fetch all from c") == ["beta"]
    secrets.execute("commit")
    assert words(secrets, "select word from secrets order by 1") == ["alpha", "beta", "epsilon"]
    secrets.execute("close c")


LEAKY = [
    "select word from secrets where tell(word)",
    "select tell(word) from secrets",
    "select word from secrets where word::int = 1",
    "select word from secrets where 1 / (length(word) - 4) >= 0",
    "select word from secrets where who = 'ben' and tell(word)",
    "select word from secrets where who = 'eva' and tell(word)",
    "select word from (select * from secrets offset 0) s where tell(word)",
    "select word from secrets where tell(word) or who = 'eva'",
    "select word from secrets where case when tell(word) then true end",
    "select word from secrets order by tell(word)",
    "select max(word) from secrets group by tell(word)",
    "select max(word) from secrets having tell(max(word))",
    "select s.word from secrets s join secrets o on tell(o.word) and tell(s.word)",
    "select o.word from (values ('eva'), ('ben')) n(name) left join secrets o on o.who = name and tell(o.word)",
    "select word from secrets where exists (select from secrets i where tell(i.word))",
    "select word from secrets s where tell((select max(word) from secrets i where i.who > s.who))",
    "with w as (select * from secrets) select word from w where tell(word)",
    "select word from secrets where tell(word) union select word from secrets where tell(word)",
    "update secrets set word = word where tell(word)",
    "update secrets set word = word where who = 'eva' and tell(word)",
    "update secrets set word = word where who = 'ben' and tell(word)",
    "update secrets set word = secrets.word from secrets o where tell(o.word) and o.who = secrets.who",
    "delete from secrets where tell(word) and false",
    "delete from secrets where who = 'eva' and tell(word)",
    "delete from secrets using secrets o where tell(o.word) and tell(secrets.word) and false",
    "merge into secrets using (select 1) x on tell(word) when matched then do nothing",
    "insert into secrets select who || '!', word from secrets where tell(word)",
    "copy (select word from secrets where tell(word)) to stdout",
    "explain analyze select word from secrets where tell(word)",
    "select word from secrets where tell(word) for update",
    "select seen.word from seen where tell(word)",
]


def test_a_leaky_function_meets_visible_rows_only(served: Rowferry, secrets: psycopg.Connection) -> None:
    with connect(served, "ben") as ben:
        secrets.execute("create function tell(text) returns bool cost 0.0001 language plpgsql as "
                        "$$ begin raise notice '%', $1; return true; end $$")  # fmt: skip
        secrets.execute("create view seen as select * from secrets; alter view seen owner to ben")
        for statement in LEAKY:
            told = list(everything(ben, statement))
            assert not any(word in line for line in told for word in ["alpha", "epsilon"]), (statement, told)
        secrets.execute("drop function tell(text)")


def everything(connection: psycopg.Connection, statement: str) -> Iterator[str]:
    """All that a statement tells: notices, rows, what is wrong."""
    notices: list[str] = []

    def tell(notice: psycopg.errors.Diagnostic) -> None:
        notices.append(notice.message_primary or "")

    connection.add_notice_handler(tell)
    try:
        with connection.cursor() as cursor:
            if statement.startswith("copy"):
                with cursor.copy(statement) as copy:  # type: ignore[arg-type]
                    yield from (row[0] for row in copy.rows())
            else:
                cursor.execute(statement)  # type: ignore[arg-type]
                if cursor.description:
                    yield from (str(row) for row in cursor.fetchall())
    except psycopg.Error as error:
        yield f"{error} {error.diag.message_detail}"
    finally:
        connection.remove_notice_handler(tell)
    yield from notices


def test_errors_do_not_tell_of_hidden_rows(served: Rowferry, secrets: psycopg.Connection) -> None:
    secrets.execute(
        "create unique index on secrets (word);alter policy own on secrets using (who = current_user) with check (true)"
    )
    secrets.execute("alter table secrets add check (length(word) > 2)")
    with connect(served, "ben") as ben:
        for statement in [
            "insert into secrets values ('new', 'epsilon')",
            "insert into secrets values ('eva', 'more')",
            "insert into secrets values ('new', 'x')",
            "update secrets set who = 'eva'",
        ]:
            with pytest.raises(psycopg.IntegrityError) as caught:
                ben.execute(statement)  # type: ignore[arg-type]
            assert caught.value.diag.message_detail is None


def test_no_search_path_changes_what_a_policy_means(served: Rowferry, secrets: psycopg.Connection) -> None:
    secrets.execute("create table friends (name text, friend text); grant select on friends to public")
    secrets.execute("create function kind(text) returns bool language sql as 'select $1 <> ''ada'''")
    secrets.execute(
        "alter policy own on secrets"
        " using (kind(who) and who in (select friend from friends where name = current_user))"
    )
    secrets.execute("insert into friends values ('ben', 'eva'), ('ben', 'ada'); create schema bens authorization ben")
    with connect(served, "ben") as ben:
        assert words(ben) == ["epsilon"]
        ben.execute("create table bens.friends (name text, friend text)")
        ben.execute("insert into bens.friends select 'ben', x from unnest(array['ada', 'ben', 'eva']) x")
        ben.execute("create function bens.kind(text) returns bool language sql as 'select true'")
        ben.execute("set search_path to bens, public")
        assert words(ben) == ["epsilon"]
        ben.execute("create temp table friends as select * from bens.friends")
        assert words(ben) == ["epsilon"]
        assert words(ben, "with friends as (select 'ben' name, 'ada' friend) select word from secrets, friends") == [
            "epsilon"
        ]
        ben.execute("drop schema bens cascade")
    secrets.execute("alter policy own on secrets using (true); drop table friends; drop function kind(text)")


def test_policies_stay_in_the_file(tmp_path: Path) -> None:
    path = tmp_path / "app.db"
    with Rowferry.start(path, args=["--durability", "off"]) as server, connect(server, "ada") as ada:
        ada.execute(
            "create role ben login; create table t (a int); insert into t values (1), (2); grant all on t to ben"
        )
        ada.execute("create policy p on t using (a > 1); alter table t enable row level security")
        ada.execute("alter table t alter a set not null; alter table t add b int; alter table t drop column b")
    with Rowferry.start(path, args=["--durability", "off"]) as server, connect(server, "ben") as ben:
        assert [row[0] for row in ben.execute("select a from t")] == [2]
        with pytest.raises(psycopg.errors.InsufficientPrivilege, match="new row violates row-level security policy"):
            ben.execute("insert into t values (0)")


def test_the_index_of_a_key_is_used_beneath_policies(served: Rowferry, secrets: psycopg.Connection) -> None:
    secrets.execute("set role ben")
    for statement in ["select word from secrets where who = 'ben'", "update secrets set word = 'x' where who = 'ben'"]:
        plan = " ".join(words(secrets, f"explain {statement}"))
        assert "Index Cond" in plan, plan


def test_informix_sql_refuses_a_table_with_policies(served: Rowferry, secrets: psycopg.Connection) -> None:
    secrets.execute("alter role ben password 'pencil'")
    assert served.informix
    with informix.connect(
        host=served.informix[0], port=served.informix[1], user="ben", password="pencil", database="app"
    ) as ben:
        cursor = ben.cursor()
        for statement in [
            "select word from secrets",
            "update secrets set word = 'x'",
            "insert into secrets values ('x', 'y')",
        ]:
            with pytest.raises(informix.DatabaseError):
                cursor.execute(statement)
    secrets.execute("alter role ben password null")
    assert words(secrets) == ["alpha", "beta", "epsilon"]


if __name__ == "__main__":
    with psycopg.connect(sys.argv[1], autocommit=True) as reference:
        RECORDED.write_text("".join(f"{line}\n" for line in matrix(reference)))
