"""Triggers: what a door adds to what the engine's tests compare with PostgreSQL's answers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from tests.servers.rowferry import Rowferry

PAGE = Path(__file__).resolve().parents[3] / "docs" / "guide" / "postgres-triggers.md"


@pytest.fixture
def connection(tmp_path: Path) -> Iterator[psycopg.Connection[Any]]:
    with (
        Rowferry.start(tmp_path / "app.db", args=["--durability", "off"]) as server,
        psycopg.connect(server.postgres_dsn, autocommit=True) as connection,
    ):
        yield connection


def test_the_guides_example_works(connection: psycopg.Connection[Any]) -> None:
    block = re.search(r"```sql\n(.*?)```", PAGE.read_text(), re.DOTALL)
    assert block
    connection.execute(block[1])  # type: ignore[arg-type]
    connection.execute("insert into orders values (1, 'new'), (2, 'new')")
    connection.execute("update orders set state = 'paid' where id = 1")
    connection.execute("update orders set state = 'new'")
    assert connection.execute("select * from history").fetchall() == [(1, "new", "paid"), (1, "paid", "new")]
    assert connection.execute("select count(changed) from orders").fetchone() == (2,)


def test_copy_is_one_statement(connection: psycopg.Connection[Any]) -> None:
    told: list[str | None] = []
    connection.add_notice_handler(lambda notice: told.append(notice.message_primary))
    connection.execute("create table t (a int primary key, b text default 'none')")
    connection.execute(
        """create function tell() returns trigger language plpgsql as $$ begin
        if tg_level = 'STATEMENT' then raise notice '% %', tg_when, (select count(*) from t); return null; end if;
        raise notice '% row % %', tg_when, new.a, new.b; new.b := new.b || '!'; return new; end $$"""
    )
    for when in ("before", "after"):
        for level in ("row", "statement"):
            connection.execute(
                f"create trigger {when}_{level} {when} insert on t for each {level} execute function tell()"  # type: ignore[arg-type]
            )
    with connection.cursor().copy("copy t (a) from stdin") as copy:
        copy.write_row((1,))
        copy.write_row((2,))
    before = ["BEFORE 0", "BEFORE row 1 none", "BEFORE row 2 none"]
    assert told == [*before, "AFTER row 1 none!", "AFTER row 2 none!", "AFTER 2"]
    assert connection.execute("select * from t order by a").fetchall() == [(1, "none!"), (2, "none!")]


def test_copy_goes_to_a_view_with_a_trigger(connection: psycopg.Connection[Any]) -> None:
    connection.execute("create table t (a int, b text)")
    connection.execute("create view v as select a, upper(b) as b from t")
    with pytest.raises(psycopg.errors.WrongObjectType, match='cannot copy to view "v"'):
        connection.execute("copy v from stdin")
    connection.execute(
        """create function take() returns trigger language plpgsql as $$ begin
        insert into t values (new.a, lower(new.b)); return new; end $$"""
    )
    connection.execute("create trigger take instead of insert on v for each row execute function take()")
    with connection.cursor().copy("copy v from stdin") as copy:
        copy.write_row((1, "ONE"))
    assert connection.execute("select * from t").fetchall() == [(1, "one")]


def test_merge_tells_each_kind_of_trigger(connection: psycopg.Connection[Any]) -> None:
    told: list[str | None] = []
    connection.add_notice_handler(lambda notice: told.append(notice.message_primary))
    connection.execute("create table t (a int primary key, b text)")
    connection.execute("insert into t values (1, 'one')")
    connection.execute(
        """create function tell() returns trigger language plpgsql as $$ begin
        raise notice '% % %', tg_when, tg_level, tg_op; return new; end $$"""
    )
    connection.execute("create trigger r after insert or update on t for each row execute function tell()")
    connection.execute("create trigger s after insert or update on t execute function tell()")
    connection.execute(
        """merge into t using (values (1, 'eins'), (2, 'zwei')) s (x, y) on t.a = s.x
        when matched then update set b = s.y when not matched then insert values (s.x, s.y)"""
    )
    assert sorted(filter(None, told)) == [
        "AFTER ROW INSERT",
        "AFTER ROW UPDATE",
        "AFTER STATEMENT INSERT",
        "AFTER STATEMENT UPDATE",
    ]
    assert connection.execute("select * from t order by a").fetchall() == [(1, "eins"), (2, "zwei")]


def test_a_recursion_without_end_is_an_error(connection: psycopg.Connection[Any]) -> None:
    connection.execute("create table t (a int)")
    connection.execute(
        """create function again() returns trigger language plpgsql as $$ begin
        insert into t values (new.a + 1); return null; end $$"""
    )
    connection.execute("create trigger again after insert on t for each row execute function again()")
    with pytest.raises(psycopg.errors.StatementTooComplex):
        connection.execute("insert into t values (1)")
    assert connection.execute("select count(*) from t").fetchone() == (0,)
