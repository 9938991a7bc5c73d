"""Rules in the file, in prepared statements, at the other doors. What they do stands in `sessions/rules*.txt`."""

from __future__ import annotations

from pathlib import Path

import psycopg
import pymysql
import pytest
from rowferry import informix

from tests.servers.rowferry import Rowferry

SCHEMA = """
    create table item (id int primary key, name text);
    create table seen (id int, name text);
    create view called as select id, name || '!' as name from item;
    create rule kept as on delete to item do instead nothing;
    create rule noted as on update to item do also insert into seen values (new.id, old.name || ' ' || new.name);
    create rule taken as on insert to called do instead insert into item values (new.id, new.name) returning id, name
"""


def test_rules_are_in_the_file(tmp_path: Path) -> None:
    with Rowferry.start(tmp_path / "app.db") as server, psycopg.connect(server.postgres_dsn, autocommit=True) as first:
        first.execute(SCHEMA)
    with Rowferry.start(tmp_path / "app.db") as server, psycopg.connect(server.postgres_dsn, autocommit=True) as second:
        assert second.execute("insert into called values (1, 'a') returning name").fetchall() == [("a",)]
        assert second.execute("update item set name = 'b'").statusmessage == "UPDATE 1"
        assert second.execute("delete from item").statusmessage == "DELETE 0"
        assert second.execute("select * from seen").fetchall() == [(1, "a b")]


def test_a_prepared_change_goes_by_the_rules_of_today(tmp_path: Path) -> None:
    with Rowferry.start(tmp_path / "app.db") as server, psycopg.connect(server.postgres_dsn, autocommit=True) as one:
        one.execute(SCHEMA)
        with psycopg.connect(server.postgres_dsn, autocommit=True) as other:

            def put(number: int, name: str) -> str | None:
                return one.execute("insert into item values (%s, %s)", (number, name), prepare=True).statusmessage

            assert put(1, "a") == "INSERT 0 1"
            other.execute("create rule doubled as on insert to item do also insert into seen values (new.id, new.name)")
            assert put(2, "b") == "INSERT 0 1"
            other.execute("alter table item disable rule doubled")
            assert put(3, "c") == "INSERT 0 1"
            other.execute("create rule gone as on insert to item do instead nothing")
            assert put(4, "d") == "INSERT 0 0"
            other.execute("drop rule gone on item; drop rule doubled on item")
            assert put(5, "e") == "INSERT 0 1"
            assert one.execute("select id from item order by id").fetchall() == [(1,), (2,), (3,), (5,)]
            assert one.execute("select * from seen").fetchall() == [(2, "b")]


def test_what_fails_undoes_what_other_statements_of_the_rule_have_done(tmp_path: Path) -> None:
    with Rowferry.start(tmp_path / "app.db") as server, psycopg.connect(server.postgres_dsn, autocommit=True) as one:
        one.execute(SCHEMA)
        one.execute("alter table seen add unique (id)")
        one.execute("insert into item values (1, 'a'), (2, 'b')")
        one.execute("insert into seen values (2, 'x')")
        for block in (False, True):
            with pytest.raises(psycopg.errors.UniqueViolation):
                if block:
                    with one.transaction():
                        one.execute("update item set name = 'z'")
                else:
                    one.execute("update item set name = 'z'")
            assert one.execute("select name from item order by id").fetchall() == [("a",), ("b",)]
            assert one.execute("select * from seen").fetchall() == [(2, "x")]


def test_a_change_through_a_view_does_not_pass_rules_by(tmp_path: Path) -> None:
    with Rowferry.start(tmp_path / "app.db") as server, psycopg.connect(server.postgres_dsn, autocommit=True) as one:
        one.execute(SCHEMA)
        one.execute("create view plain as select * from item; create view upon as select id, name from called")
        for change in (
            "delete from plain",
            "update plain set name = 'x'",
            "insert into upon values (1, 'a')",
            "with w as (delete from plain returning id) select * from w",
        ):
            with pytest.raises(psycopg.errors.FeatureNotSupported, match="which has rules"):
                one.execute(change)
        assert one.execute("insert into plain values (1, 'a')").statusmessage == "INSERT 0 1"


def test_other_doors_refuse_to_change_what_has_rules(tmp_path: Path) -> None:
    with Rowferry.start(tmp_path / "app.db", informix=True, mysql=True) as server:
        with psycopg.connect(server.postgres_dsn, autocommit=True) as connection:
            connection.execute(SCHEMA)
            connection.execute("insert into item values (1, 'a')")
        assert server.mysql is not None and server.informix is not None
        host, port = server.mysql
        with (
            pymysql.connect(host=host, port=port, user="ada", database=server.dbname) as mysql,
            mysql.cursor() as cursor,
        ):
            for change in ("update item set name = 'b'", "delete from item", "delete item from item join seen"):
                with pytest.raises(pymysql.err.MySQLError, match="rules"):
                    cursor.execute(change)
            # There is no rule for this.
            assert cursor.execute("insert into item values (2, 'b')") == 1
            mysql.commit()
        host, port = server.informix
        with informix.connect(host=host, port=port, user="ada", password="x", database=server.dbname) as other:
            for change in ("update item set name = 'b'", "delete from item"):
                with pytest.raises(informix.DatabaseError, match="rules"):
                    other.cursor().execute(change)
        with psycopg.connect(server.postgres_dsn) as connection:
            assert connection.execute("select id from item order by id").fetchall() == [(1,), (2,)]
            assert connection.execute("select * from seen").fetchall() == []
