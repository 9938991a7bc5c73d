"""`rowferry changes`: what was committed, in the order of the commits, and nothing else."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import threading
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import psycopg
import pytest
from rowferry import informix

from tests.servers.rowferry import Rowferry, find_rowferry

from .conftest import rowferry, sqlite

Serve = Callable[..., Rowferry]


def changes(path: Path, *options: str) -> list[dict[str, Any]]:
    done = rowferry("changes", path, *options)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def enable(path: Path, *options: str) -> dict[str, Any]:
    (told,) = changes(path, *options)
    return told


def brief(found: list[dict[str, Any]]) -> list[tuple[Any, ...]]:
    return [(change["op"], change["table"], change["key"], change["before"], change["after"]) for change in found]


def test_changes_through_every_door_come_in_the_order_of_their_commits(serve: Serve, tmp_path: Path) -> None:
    path = tmp_path / "app.db"
    server = serve(path, informix=True)
    assert server.informix is not None
    with psycopg.connect(server.postgres_dsn, autocommit=True) as connection:
        connection.execute("create table item (id int primary key, name text)")
        connection.execute("create table other (id int primary key)")
        assert enable(path, "--enable", "item") == {
            "tables": ["public.item"],
            "oldest": None,
            "newest": 0,
            "keep": 1_000_000,
        }
        connection.execute("insert into item values (1, 'one'), (2, 'two')")
        connection.execute("insert into other values (1)")
        connection.execute("update item set name = 'eins' where id = 1")
    host, port = server.informix
    with informix.connect(host=host, port=port, user="ada", password="", database="app") as ifx:
        ifx.cursor().execute("delete from item where id = 2")
        ifx.commit()
    sqlite(path, "insert into item values (3, 'by hand')")
    found = changes(path)
    assert brief(found) == [
        ("insert", "item", {"id": 1}, None, {"id": 1, "name": "one"}),
        ("insert", "item", {"id": 2}, None, {"id": 2, "name": "two"}),
        ("update", "item", {"id": 1}, {"id": 1, "name": "one"}, {"id": 1, "name": "eins"}),
        ("delete", "item", {"id": 2}, {"id": 2, "name": "two"}, None),
        ("insert", "item", {"id": 3}, None, {"id": 3, "name": "by hand"}),
    ]
    assert [change["position"] for change in found] == [1, 2, 3, 4, 5]
    transactions = [change["transaction"] for change in found]
    assert transactions[0] == transactions[1] != transactions[2] != transactions[3]
    # The shell's transactions have no number, and its changes belong to nobody else's.
    assert transactions[4] is None and None not in transactions[:4]
    assert all(change["schema"] == "public" and change["time"].endswith("Z") for change in found)
    assert [change["position"] for change in changes(path, "--from", "3")] == [4, 5]
    assert changes(path, "--from", "end") == []


def test_what_is_rolled_back_is_never_seen(serve: Serve, tmp_path: Path) -> None:
    path = tmp_path / "app.db"
    with psycopg.connect(serve(path).postgres_dsn) as connection:
        connection.execute("create table t (id int primary key)")
        connection.commit()
        enable(path, "--enable", "t")
        connection.execute("insert into t values (1)")
        assert changes(path) == []
        connection.rollback()
        connection.execute("insert into t values (2)")
        connection.execute("savepoint s")
        connection.execute("insert into t values (3)")
        connection.execute("rollback to s")
        connection.execute("insert into t values (4)")
        with pytest.raises(psycopg.errors.UniqueViolation), connection.transaction():
            connection.execute("insert into t values (5), (2)")
        assert changes(path) == []
        connection.commit()
    found = changes(path)
    assert [change["key"]["id"] for change in found] == [2, 4]
    assert len({change["transaction"] for change in found}) == 1
    sqlite(path, "begin", "insert into t values (9)", "rollback")
    assert len(changes(path)) == 2


def test_the_transaction_is_the_one_that_its_client_was_told(serve: Serve, tmp_path: Path) -> None:
    path = tmp_path / "app.db"
    with psycopg.connect(serve(path).postgres_dsn) as connection:
        connection.execute("create table t (id int)")
        connection.commit()
        enable(path, "--enable", "t")
        connection.execute("insert into t values (1)")
        row = connection.execute("select pg_current_xact_id()::text").fetchone()
        assert row is not None
        connection.commit()
    (change,) = changes(path)
    assert change["transaction"] == int(row[0])
    assert change["key"] == {"rowid": 1}


def test_cascades_triggers_upserts_and_truncate_are_changes_like_others(serve: Serve, tmp_path: Path) -> None:
    path = tmp_path / "app.db"
    with psycopg.connect(serve(path).postgres_dsn, autocommit=True) as connection:
        for statement in (
            "create table a (id int primary key, n int)",
            "create table b (id int primary key, a int references a on delete cascade)",
            "create table log (t text)",
            "create function note() returns trigger language plpgsql as"
            " $$ begin insert into log values (new.id); return new; end $$",
            "create trigger note after insert on a for each row execute function note()",
        ):
            connection.execute(statement)
        enable(path, "--enable", "a", "--enable", "b", "--enable", "log")
        connection.execute("insert into a values (1, 1)")
        connection.execute("insert into a values (1, 5), (2, 2) on conflict (id) do update set n = excluded.n")
        connection.execute("insert into b values (1, 1)")
        connection.execute("delete from a where id = 1")
        connection.execute("truncate a, b")
        with connection.cursor().copy("copy b from stdin") as copy:
            copy.write("7\t\\N\n")
    seen = [(change["op"], change["table"]) for change in changes(path)]
    assert seen[0] == ("insert", "a") and ("insert", "log") in seen[:2]
    assert seen.count(("update", "a")) == 1 and seen.count(("delete", "b")) == 1
    assert seen.count(("delete", "a")) == 2 and seen[-1] == ("insert", "b")
    assert [change["op"] for change in changes(path, "--table", "log")] == ["insert", "insert"]


def test_values_have_the_form_of_their_types(serve: Serve, tmp_path: Path) -> None:
    path = tmp_path / "app.db"
    with psycopg.connect(serve(path).postgres_dsn, autocommit=True) as connection:
        connection.execute(
            "create table typed (b bool, f float8, n numeric(10,2), m numeric, t text, by bytea, ts timestamp,"
            " tz timestamptz, j json, jb jsonb, a int[], i8 int8, u uuid, iv interval)"
        )
        enable(path, "--enable", "typed")
        connection.execute(
            "insert into typed values (true, 0.1, 12.50, 123456789012345678901234567890.5, E'q\"\\u00e9\\n', '\\x00ff',"
            " '2024-02-29 12:00:00.5', '2024-02-29 12:00+02', '{\"a\":  1}', '[1, \"x\"]', '{1,NULL}',"
            " 9007199254740993, 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', '1 day')"
        )
        connection.execute("set timezone to 'UTC'")
        told = connection.execute("select row_to_json(typed)::text from typed").fetchone()
    assert told is not None
    (change,) = changes(path)
    assert change["after"] == json.loads(told[0])


def test_values_that_json_has_not_come_whole(tmp_path: Path) -> None:
    path = tmp_path / "app.db"
    sqlite(path, "create table t (a integer primary key, r real, b blob, x)")
    enable(path, "--enable", "t")
    sqlite(path, "insert into t values (1, 1.0/3, x'00ff', 'a' || char(0) || 'b'), (2, 9e999, 'text', 0.1)")
    first, second = (change["after"] for change in changes(path))
    assert first == {"a": 1, "r": 1 / 3, "b": "\\x00ff", "x": "a\0b"}
    assert second["r"] == "Infinity" and second["x"] in ("0.1", 0.1)


def test_a_table_may_change_its_form_and_name(serve: Serve, tmp_path: Path) -> None:
    path = tmp_path / "app.db"
    with psycopg.connect(serve(path).postgres_dsn, autocommit=True) as connection:
        connection.execute("create table t (id int primary key, gone int, old text)")
        enable(path, "--enable", "t")
        connection.execute("insert into t values (1, 1, 'x')")
        for statement in (
            "alter table t add column more int default 7",
            "alter table t drop column gone",
            "alter table t rename column old to new",
            "alter table t alter column more type bigint",
            "alter table t rename to u",
            "create table beside (a int)",
            "drop table beside",
        ):
            connection.execute(statement)
        connection.execute("insert into u values (2, 'y', 8)")
        with connection.transaction():
            connection.execute("alter table u add column undone int")
            connection.execute("insert into u values (3, 'z', 9, 10)")
            raise psycopg.Rollback
        connection.execute("insert into u values (4, 'w', 11)")
        assert changes(path)[1:] and brief(changes(path, "--from", "1")) == [
            ("insert", "u", {"id": 2}, None, {"id": 2, "new": "y", "more": 8}),
            ("insert", "u", {"id": 4}, None, {"id": 4, "new": "w", "more": 11}),
        ]
        connection.execute("create schema s")
        connection.execute("alter table u set schema s")
        connection.execute("delete from s.u where id = 4")
        assert [(c["schema"], c["table"]) for c in changes(path, "--table", "s.u", "--from", "3")] == [("s", "u")]
        connection.execute("drop table s.u")
        connection.execute("create table u (a int)")
    (told,) = changes(path, "--status")
    assert told["tables"] == []


def test_another_form_that_others_have_given_a_table_is_taken_up_by_enabling_again(tmp_path: Path) -> None:
    path = tmp_path / "app.db"
    sqlite(path, "create table t (id integer primary key, old text)")
    enable(path, "--enable", "t")
    sqlite(path, "alter table t rename to u", "alter table u rename column old to new", "alter table u add column more")
    sqlite(path, "create table t (id integer primary key)")
    assert enable(path, "--enable", "t")["tables"] == ["public.t", "public.u"]
    sqlite(path, "insert into u values (1, 'x', 'y')", "insert into t values (2)")
    assert [(change["table"], change["after"]) for change in changes(path)] == [
        ("u", {"id": 1, "new": "x", "more": "y"}),
        ("t", {"id": 2}),
    ]


def test_many_columns_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "app.db"
    columns = [f"c{number}" for number in range(200)]
    sqlite(path, f"create table wide (id integer primary key, {', '.join(columns)})")
    enable(path, "--enable", "wide")
    sqlite(path, f"insert into wide values (1, {', '.join(map(str, range(200)))})")
    (change,) = changes(path)
    assert list(change["after"]) == ["id", *columns] and change["after"]["c199"] in (199, "199")


def test_old_changes_are_forgotten_and_whoever_wants_them_is_told(tmp_path: Path) -> None:
    path = tmp_path / "app.db"
    sqlite(path, "create table t (a integer primary key)")
    enable(path, "--enable", "t", "--keep", "500")
    fill = "insert into t with recursive n(i) as (select {} union all select i + 1 from n where i < {}) select i from n"
    sqlite(path, fill.format(1, 5000))
    (status,) = changes(path, "--status")
    assert status == {"tables": ["public.t"], "oldest": 4501, "newest": 5000, "keep": 500}
    done = rowferry("changes", path, "--from", "100")
    assert done.returncode == 1 and "no longer kept" in done.stderr and "4501" in done.stderr
    assert len(changes(path, "--from", "4500")) == 500
    (status,) = changes(path, "--forget", "4990")
    assert status["oldest"] == 4991
    changes(path, "--forget", "1000000")
    sqlite(path, fill.format(5001, 5001))
    # Numbers go on, whatever was forgotten.
    assert [change["position"] for change in changes(path)] == [5000, 5001]
    done = rowferry("changes", path, "--from", "9999")
    assert done.returncode == 1 and "no position 9999" in done.stderr


def test_followers_see_each_change_once_as_it_is_committed(serve: Serve, tmp_path: Path) -> None:
    path = tmp_path / "app.db"
    server = serve(path)
    with psycopg.connect(server.postgres_dsn, autocommit=True) as connection:
        connection.execute("create table t (id int primary key, writer int)")
    enable(path, "--enable", "t")
    process = subprocess.Popen(
        [find_rowferry(), "changes", path, "--follow"], stdout=subprocess.PIPE, text=True, stderr=subprocess.PIPE
    )
    watchdog = threading.Timer(120, process.kill)
    watchdog.start()

    def write(number: int) -> None:
        with psycopg.connect(server.postgres_dsn) as connection:
            for at in range(50):
                with connection.transaction():
                    connection.execute("insert into t values (%s, %s)", (number * 1000 + at, number))
                    connection.execute("update t set writer = -writer where id = %s", (number * 1000 + at,))

    threads = [threading.Thread(target=write, args=(number,)) for number in range(1, 4)]
    for thread in threads:
        thread.start()
    assert process.stdout is not None
    found = [json.loads(process.stdout.readline()) for _ in range(300)]
    for thread in threads:
        thread.join()
    process.send_signal(signal.SIGTERM)
    out, told = process.communicate(timeout=30)
    watchdog.cancel()
    assert (out, process.returncode) == ("", 0), told
    assert [change["position"] for change in found] == list(range(1, 301))
    for first, second in zip(found[::2], found[1::2], strict=True):
        assert (first["op"], second["op"]) == ("insert", "update")
        assert first["transaction"] == second["transaction"] and first["after"] == second["before"]
    times = [datetime.fromisoformat(change["time"]) for change in found]
    assert times == sorted(times)
    assert changes(path) == found


def test_a_follower_notices_another_file(tmp_path: Path) -> None:
    path, other = tmp_path / "app.db", tmp_path / "other.db"
    for place in (path, other):
        sqlite(place, "create table t (a integer primary key)")
        enable(place, "--enable", "t")
    sqlite(path, "insert into t values (1)")
    process = subprocess.Popen(
        [find_rowferry(), "changes", path, "--follow"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout is not None and json.loads(process.stdout.readline())["key"] == {"a": 1}
    os.replace(other, path)
    _, told = process.communicate(timeout=60)
    assert process.returncode == 1 and "another file" in told


def test_no_more_changes_are_kept_after_disable(tmp_path: Path) -> None:
    path = tmp_path / "app.db"
    sqlite(path, "create table t (a integer primary key)")
    enable(path, "--enable", "t")
    sqlite(path, "insert into t values (1)")
    assert enable(path, "--disable", "t")["tables"] == []
    sqlite(path, "insert into t values (2)")
    assert [change["key"] for change in changes(path)] == [{"a": 1}]
    done = rowferry("changes", path, "--disable", "t")
    assert done.returncode == 1 and "not kept" in done.stderr


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--enable", "nosuch"], "does not exist"),
        (["--enable", "v"], "is no table"),
        (["--enable", "p"], "partitioned"),
        ([], "keeps no changes"),
        (["--follow", "--enable", "t"], "cannot be used with"),
        (["--from", "x"], "a position is a number"),
    ],
)
def test_what_cannot_be_kept_is_named(serve: Serve, tmp_path: Path, options: list[str], words: str) -> None:
    path = tmp_path / "app.db"
    server = serve(path)
    with psycopg.connect(server.postgres_dsn, autocommit=True) as connection:
        connection.execute("create table t (a int)")
        connection.execute("create view v as select a from t")
        connection.execute("create table p (a int) partition by range (a)")
    done = rowferry("changes", path, *options)
    assert done.returncode != 0 and words in done.stderr


def test_clients_do_not_see_how_changes_are_kept(serve: Serve, tmp_path: Path) -> None:
    path = tmp_path / "app.db"
    with psycopg.connect(serve(path).postgres_dsn, autocommit=True) as connection:
        connection.execute("create table t (id serial primary key, a int)")
        enable(path, "--enable", "t")
        cursor = connection.execute("insert into t (a) values (1), (2) returning id")
        assert cursor.fetchall() == [(1,), (2,)] and cursor.rowcount == 2
        assert connection.execute("update t set a = 3").rowcount == 2
        for catalog in ("pg_class", "pg_trigger"):
            name = "relname" if catalog == "pg_class" else "tgname"
            assert connection.execute(f"select * from {catalog} where {name} like 'rowferry%'").fetchall() == []
