"""Changes that run in parts keep the plans of their parts: each run does what a first one would."""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
import pytest

from tests.servers.rowferry import Rowferry


@pytest.fixture
def sessions(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[psycopg.Connection, psycopg.Connection]]:
    path = tmp_path_factory.mktemp("parts") / "app.db"
    with (
        Rowferry.start(path, args=["--durability", "off"]) as server,
        psycopg.connect(server.postgres_dsn, autocommit=True) as one,
        psycopg.connect(server.postgres_dsn, autocommit=True) as other,
    ):
        one.execute("create table p (id int primary key, n int default 0, k text) partition by range (id)")
        for low in range(0, 400, 100):
            one.execute(f"create table p{low} partition of p for values from ({low}) to ({low + 100})")
        one.execute("insert into p select i, 0, 'x' from generate_series(0, 399, 10) i")
        yield one, other


def ask(connection: psycopg.Connection, statement: str, *values: object) -> list[tuple]:
    return connection.execute(statement, values, prepare=True).fetchall()  # type: ignore[arg-type]


def test_rows_are_found_where_they_lie_at_each_run(sessions: tuple[psycopg.Connection, psycopg.Connection]) -> None:
    count = "update p set n = n + 1 where id = %s returning id, n"
    found = [ask(connection, count, key)[0] for connection in sessions for key in (110, 110, 310)]
    assert found == [(110, 1), (110, 2), (310, 1), (110, 3), (110, 4), (310, 2)]
    move = "update p set id = id + %s where id = %s returning tableoid::regclass::text, id"
    moves = [(5, 110), (100, 115), (100, 215), (-300, 315), (1, 15)]
    assert [ask(sessions[0], move, *values)[0] for values in moves] == [
        ("p100", 115),
        ("p200", 215),
        ("p300", 315),
        ("p0", 15),
        ("p0", 16),
    ]
    add = (
        "insert into p values (%s, 0, 'new') on conflict (id) do update set n = p.n + 10"
        " returning tableoid::regclass::text, n"
    )
    assert [ask(sessions[0], add, key)[0] for key in (1, 101, 201, 1, 301, 101)] == [
        ("p0", 0),
        ("p100", 0),
        ("p200", 0),
        ("p0", 10),
        ("p300", 0),
        ("p100", 10),
    ]


def test_they_follow_what_others_change_of_the_schema(sessions: tuple[psycopg.Connection, psycopg.Connection]) -> None:
    one, other = sessions
    move = "update p set id = id + %s where id = %s returning tableoid::regclass::text, id"
    with pytest.raises(psycopg.errors.CheckViolation):
        ask(one, move, 400, 10)
    other.execute("create table p400 partition of p for values from (400) to (500)")
    assert ask(one, move, 400, 10) == [("p400", 410)]
    change = "update p set k = k || 'y' where id = %s returning *"
    assert ask(one, change, 110) == [(110, 0, "xy")]
    other.execute("alter table p add column z int default 7")
    # psycopg's prepared statement is of three columns.
    with pytest.raises(psycopg.errors.FeatureNotSupported, match="cached plan must not change result type"):
        ask(one, change, 110)
    some = "update p set k = k || 'y' where id = %s returning k"
    assert ask(one, some, 110) == [("xyy",)]
    other.execute(
        "create function mark() returns trigger language plpgsql as $$ begin new.k := new.k || 't'; return new; end $$"
    )
    other.execute("create trigger marks before update on p for each row execute function mark()")
    assert ask(one, some, 110) == [("xyyyt",)]
    other.execute("alter table p disable trigger marks")
    assert ask(one, some, 110) == [("xyyyty",)]
    other.execute("drop table p100")
    assert ask(one, some, 110) == []


def test_merge_and_what_a_trigger_of_it_runs_again(sessions: tuple[psycopg.Connection, psycopg.Connection]) -> None:
    one, other = sessions
    one.execute("create table m (id int primary key, n int)")
    merge = (
        "merge into m using (values (%s::int, %s::int)) v (i, j) on id = i"
        " when matched then update set n = n + j when not matched then insert values (i, j)"
    )
    for connection, key in [(one, 1), (one, 2), (other, 1), (one, 1)]:
        connection.execute(merge, (key, 10), prepare=True)
    assert one.execute("select * from m order by id").fetchall() == [(1, 30), (2, 10)]
    # The statement within is the one that is running.
    one.execute(
        "create function below() returns trigger language plpgsql as $$ begin"
        " if new.id > 0 then update p set n = n + 1 where id = new.id - 10; end if; return new; end $$"
    )
    one.execute("create trigger goes_below before update on p for each row execute function below()")
    for _ in range(3):
        one.execute("update p set n = n + 1 where id = %s", (120,), prepare=True)
    assert one.execute("select sum(n), count(*) from p where id between 0 and 120").fetchall() == [(39, 13)]


def test_parts_that_a_key_runs_outlive_what_expires_them(
    sessions: tuple[psycopg.Connection, psycopg.Connection],
) -> None:
    one, _ = sessions
    one.execute("create table above (a int, b int, primary key (a, b))")
    one.execute("create table below (a int default 250, b int default 1) partition by range (a)")
    one.execute("create table below1 partition of below for values from (0) to (200)")
    one.execute("create table below2 partition of below for values from (200) to (400)")
    one.execute("alter table below add foreign key (a, b) references above on update set default on delete set default")
    one.execute("insert into above values (10, 1), (20, 1)")
    one.execute("insert into below values (10, 1), (20, 1)")
    with pytest.raises(psycopg.errors.ForeignKeyViolation):
        one.execute("update above set a = 11 where a = 10")
    one.execute("insert into above values (250, 1)")
    one.execute("update above set a = 11 where a = 10")
    one.execute("delete from above where a = 20")
    rows = one.execute("select tableoid::regclass::text, a, b from below").fetchall()
    assert rows == [("below2", 250, 1), ("below2", 250, 1)]
