"""Informix's clients in front of a PostgreSQL server: rows, changes, transactions, cursors, failures."""

from __future__ import annotations

import asyncio
import contextlib
import datetime
import decimal
import sqlite3
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
import pytest
from rowferry.informix import aio, exceptions

from tests.servers.rowferry import Rowferry, find_rowferry

from .conftest import Front


def test_rows_come_with_their_types(front: Front) -> None:
    with front.connect() as connection:
        cursor = connection.cursor()
        cursor.execute("select first 1 * from customer order by id")
        assert cursor.fetchall() == [
            (
                1,
                "c1",
                decimal.Decimal("1.50"),
                datetime.date(2024, 1, 2),
                "x",
                False,
                datetime.datetime(2024, 1, 1, 10, 1),
                b"\x00\xff",
            )
        ]
        cursor.execute(
            "select c.name, sum(o.total) from customer c, orders o where o.customer_id = c.id and c.id < ? "
            "group by c.name order by 1",
            (3,),
        )
        assert cursor.fetchall() == [("c1", decimal.Decimal("3375.00")), ("c2", decimal.Decimal("2261.25"))]
        cursor.execute("select count(*) from rich where name matches 'c[67]?'")
        assert cursor.fetchone() == (13,)


def test_changes_are_the_servers(front: Front) -> None:
    with front.connect(autocommit=True) as connection:
        cursor = connection.cursor()
        cursor.execute("insert into customer (name, credit) values (?, ?)", ("neu", decimal.Decimal("12.5")))
        assert (cursor.rowcount, cursor.lastrowid) == (1, 101)
        cursor.execute("insert into customer (id, name) values (0, 'next')")
        assert cursor.lastrowid == 102
        cursor.execute("update customer set credit = credit * 2 where id > 100")
        assert cursor.rowcount == 2
        assert front.ask("SELECT id, name, credit FROM customer WHERE id > 100 ORDER BY id") == [
            (101, "neu", decimal.Decimal("25.00")),
            (102, "next", decimal.Decimal("0.00")),
        ]
        cursor.executemany("insert into orders values (?, ?, ?, ?)", [(1000 + i, 1, i, "x") for i in range(1000)])
        assert front.ask("SELECT count(*), sum(total) FROM orders WHERE id >= 1000") == [(1000, 499500)]


def test_a_transaction_is_one_on_both_sides(front: Front) -> None:
    with front.connect() as connection:
        cursor = connection.cursor()
        cursor.execute("update customer set note = 'mine' where id = 1")
        cursor.execute("create table made (a serial, b datetime year to minute, c lvarchar(50))")
        cursor.execute("insert into made values (0, datetime(2024-05-06 07:08) year to minute, 'x')")
        assert front.ask("SELECT note FROM customer WHERE id = 1") == [("x",)]
        connection.rollback()
        assert front.ask("SELECT to_regclass('made')::text") == [(None,)]
        with pytest.raises(exceptions.ProgrammingError, match="-206"):
            cursor.execute("select * from made")
        cursor.execute("create table made (a serial, b datetime year to minute, c lvarchar(50))")
        cursor.execute("insert into made values (0, datetime(2024-05-06 07:08) year to minute, 'x')")
        connection.commit()
        assert front.ask("SELECT a, b, c FROM made") == [(1, datetime.datetime(2024, 5, 6, 7, 8), "x")]
        cursor.execute("select a, b, c from made")
        assert cursor.fetchall() == [(1, datetime.datetime(2024, 5, 6, 7, 8), "x")]


def test_a_statement_that_fails_is_undone_alone(front: Front) -> None:
    with front.connect() as connection:
        cursor = connection.cursor()
        cursor.execute("insert into orders values (9001, 1, 1, 'a')")
        # The first of its rows is new, the second is not.
        with pytest.raises(exceptions.IntegrityError, match="-268"):
            cursor.execute("insert into orders select id + 8999, 1, 1, 'b' from orders where id in (1, 2, 3)")
        with pytest.raises(exceptions.IntegrityError, match="-691"):
            cursor.execute("insert into orders values (9100, 4711, 1, 'a')")
        with pytest.raises(exceptions.IntegrityError, match="-692"):
            cursor.execute("delete from customer where id = 1")
        cursor.execute("insert into orders values (9002, 1, 1, 'c')")
        connection.commit()
    assert front.ask("SELECT id, kind FROM orders WHERE id > 8999 ORDER BY id") == [(9001, "a  "), (9002, "c  ")]


def test_what_fails_at_the_very_end_is_told(start_front: Callable[..., Front]) -> None:
    """A statement outside a transaction commits itself: a deferred key is looked at then, behind its answer."""
    front = start_front(
        "CREATE TABLE parent (a int PRIMARY KEY); "
        "CREATE TABLE child (a int REFERENCES parent DEFERRABLE INITIALLY DEFERRED)"
    )
    with front.server:
        with front.connect(autocommit=True) as connection:
            cursor = connection.cursor()
            for sql, params in [("insert into child values (1)", ()), ("insert into child values (?)", (2,))]:
                with pytest.raises(exceptions.IntegrityError, match="-691"):
                    cursor.execute(sql, params)
            cursor.execute("select count(*) from child")
            assert cursor.fetchall() == [(0,)]
        with front.connect() as connection:
            cursor = connection.cursor()
            cursor.execute("insert into child values (3)")
            with pytest.raises(exceptions.IntegrityError, match="-691"):
                connection.commit()
        assert front.ask("SELECT count(*) FROM child") == [(0,)]


def test_what_cannot_be_said_leaves_the_line_in_order(front: Front) -> None:
    with front.connect() as connection:
        cursor = connection.cursor()
        for at in range(3):
            with pytest.raises(exceptions.DatabaseError):
                cursor.execute("insert into customer (name) values (?)", ("a\0b",))
            cursor.execute("select id from customer where id = ?", (at + 1,))
            assert cursor.fetchall() == [(at + 1,)]
            cursor.execute("update customer set note = 'seen' where id = ?", (at + 1,))
            assert cursor.rowcount == 1
        connection.commit()
    assert front.ask("SELECT count(*) FROM customer WHERE note = 'seen'") == [(3,)]


def test_savepoints(front: Front) -> None:
    with front.connect() as connection:
        cursor = connection.cursor()
        cursor.execute("savepoint before_anything")
        cursor.execute("update customer set note = 'one' where id = 1")
        cursor.execute("savepoint two")
        cursor.execute("update customer set note = 'two' where id = 2")
        cursor.execute("rollback to savepoint two")
        cursor.execute("update customer set note = 'three' where id = 3")
        cursor.execute("release savepoint two")
        connection.commit()
        notes = "SELECT id FROM customer WHERE note IN ('one', 'two', 'three') ORDER BY id"
        assert front.ask(notes) == [(1,), (3,)]
        cursor.execute("savepoint before_anything")
        cursor.execute("update customer set note = 'two' where id = 2")
        cursor.execute("rollback to savepoint before_anything")
        connection.commit()
    assert front.ask(notes) == [(1,), (3,)]


@pytest.mark.parametrize("autocommit", [False, True])
def test_cursors_do_not_stand_in_each_others_way(start_front: Callable[..., Front], autocommit: bool) -> None:
    front = start_front("CREATE TABLE many AS SELECT i, repeat('x', i % 500) AS t FROM generate_series(1, 20000) i")
    with front.server, front.connect(autocommit=autocommit) as connection:
        first, second, third = (connection.cursor() for _ in range(3))
        first.execute("select i, t from many order by i")
        seen = [first.fetchone()[0] for _ in range(10)]  # type: ignore[index]
        second.execute("select i from many order by i desc")
        assert second.fetchone() == (20000,)
        third.execute("update many set t = 'y' where i > 19000")
        assert third.rowcount == 1000
        with pytest.raises(exceptions.DatabaseError):
            third.execute("insert into many select i / 0, t from many")
        rest = first.fetchall()
        assert seen + [row[0] for row in rest] == list(range(1, 20001))
        # It reads what was there when it was opened.
        assert rest[-1][1] == "" and all(set(row[1]) <= {"x"} for row in rest)
        assert len(second.fetchall()) == 19999
        # One that is closed early costs nothing.
        began = time.monotonic()
        for _ in range(20):
            first.execute("select a.i from many a, many b where a.i <> b.i")
            first.fetchone()
            first.close()
            first = connection.cursor()
        assert time.monotonic() - began < 60


def test_what_has_changed_there_is_known_here(front: Front) -> None:
    with front.connect(autocommit=True) as connection:
        cursor = connection.cursor()
        cursor.execute("select * from orders where id = 1")
        assert len(cursor.description or ()) == 4
        front.ask("ALTER TABLE orders ADD COLUMN extra int DEFAULT 7")
        front.ask("CREATE TABLE fresh (a int)")
        cursor.execute("select extra from orders where id = 1")
        assert cursor.fetchall() == [(7,)]
        cursor.execute("select count(*) from fresh")
        assert cursor.fetchall() == [(0,)]
        time.sleep(2.5)
        cursor.execute("select * from orders where id = 1")
        assert len(cursor.description or ()) == 5
        cursor.execute("select colname from syscolumns c, systables t where c.tabid = t.tabid and tabname = 'fresh'")
        assert cursor.fetchall() == [("a",)]


def test_types_of_informixs_own_stay(start_front: Callable[..., Front], tmp_path: Path) -> None:
    """Whatever else changes there, and when the server begins anew."""
    declared = (
        "create table own (a serial primary key, b datetime year to minute, c datetime month to day, "
        "d set(int not null), e interval day(3) to second, f money(8,2), g lvarchar(99), h char(5), i bson)"
    )
    asked = (
        "select colname, coltype, collength from syscolumns c, systables t where c.tabid = t.tabid and tabname = 'own'"
    )
    front = start_front(beside=tmp_path / "beside.db")
    with front.server, front.connect(autocommit=True) as connection:
        cursor = connection.cursor()
        cursor.execute(declared)
        cursor.execute(asked)
        before = cursor.fetchall()
        front.ask("CREATE TABLE another (a int)")
        time.sleep(2.5)
        cursor.execute("select count(*) from another")
        cursor.execute(asked)
        assert cursor.fetchall() == before
        cursor.execute("alter table own add (x datetime hour to second)")
        cursor.execute(asked)
        before = cursor.fetchall()
        time.sleep(2.5)
        cursor.execute("select count(*) from another")
        cursor.execute(asked)
        assert cursor.fetchall() == before
        assert before[-1][0] == "x"
    front.ask("DROP TABLE another")
    url = front.server.database
    with Rowferry.start(
        str(url).replace(":/", "://", 1), postgres=False, informix=True, args=("--beside", str(tmp_path / "beside.db"))
    ) as again:
        front = Front(again, front.behind)
        with front.connect(autocommit=True) as connection:
            cursor = connection.cursor()
            cursor.execute(asked)
            assert cursor.fetchall() == before
            with pytest.raises(exceptions.ProgrammingError, match="-206"):
                cursor.execute("select count(*) from another")


def test_a_file_with_rows_is_nobodys_to_empty(front: Front, tmp_path: Path) -> None:
    path = tmp_path / "app.db"
    with sqlite3.connect(path) as file:
        file.execute("CREATE TABLE customer (id INTEGER PRIMARY KEY)")
        file.execute("INSERT INTO customer VALUES (7)")
    file.close()
    url = str(front.server.database).replace(":/", "://", 1)
    done = subprocess.run(
        [str(find_rowferry()), "serve", url, "--informix", "127.0.0.1:0", "--beside", str(path)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode != 0
    assert "the file has rows of its own" in done.stderr
    assert "name a new one" in done.stderr
    with sqlite3.connect(path) as file:
        assert file.execute("SELECT id FROM customer").fetchall() == [(7,)]
    file.close()


def test_statements_are_stopped(front: Front) -> None:
    async def stop() -> None:
        async with await aio.connect(front.url, autocommit=True) as connection:
            cursor = connection.cursor()
            began = time.monotonic()
            with pytest.raises(TimeoutError):
                long = "select count(*) from orders a, orders b, orders c, orders d where a.id + b.id = c.id - d.id"
                await asyncio.wait_for(cursor.execute(long), 0.5)
            assert time.monotonic() - began < 20
            await cursor.execute("select count(*) from orders")
            assert await cursor.fetchall() == [(500,)]

    asyncio.run(stop())
    asked = "SELECT count(*) FROM pg_stat_activity WHERE state = 'active' AND query ^@ 'SELECT count(*) AS c0 FROM'"
    assert front.ask(asked) == [(0,)]


def test_a_lock_is_waited_for_as_long_as_the_client_says(front: Front) -> None:
    with psycopg.connect(front.behind) as other, front.connect() as connection:
        other.execute("UPDATE customer SET note = 'locked' WHERE id = 1")
        cursor = connection.cursor()
        cursor.execute("set lock mode to wait 1")
        began = time.monotonic()
        with pytest.raises(exceptions.OperationalError, match=r"-24[345]|-154"):
            cursor.execute("update customer set note = 'mine' where id = 1")
        assert time.monotonic() - began < 20
        other.rollback()
        cursor.execute("update customer set note = 'mine' where id = 1")
        connection.commit()
    assert front.ask("SELECT note FROM customer WHERE id = 1") == [("mine",)]


def test_positioned_changes(front: Front) -> None:
    with front.connect() as connection:
        cursor = connection.cursor()
        cursor.execute("select id, name from customer where id < 4 order by id for update")
        assert [row[0] for row in cursor.fetchall()] == [1, 2, 3]
        connection.commit()


def test_a_lost_server_is_told_and_found_again(front: Front) -> None:
    with front.connect() as connection:
        cursor = connection.cursor()
        cursor.execute("update customer set note = 'lost' where id = 1")
        front.ask("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name ^@ 'rowferry: '")
        with pytest.raises(exceptions.DatabaseError, match=r"-2558[02]"):
            cursor.execute("update customer set note = 'lost' where id = 2")
        # Nothing of it has been kept, and nothing is committed in its name.
        with pytest.raises(exceptions.DatabaseError):
            connection.commit()
        with contextlib.suppress(exceptions.DatabaseError):
            connection.rollback()
        cursor.execute("update customer set note = 'found' where id = 3")
        connection.commit()
    assert front.ask("SELECT id FROM customer WHERE note IN ('lost', 'found')") == [(3,)]


def test_routines_stand_beside(start_front: Callable[..., Front], tmp_path: Path) -> None:
    front = start_front("CREATE TABLE log (a serial PRIMARY KEY, what varchar(20))", beside=tmp_path / "beside.db")
    with front.server, front.connect(autocommit=True) as connection:
        cursor = connection.cursor()
        cursor.execute(
            "create function note(what varchar(20), times int) returning int; define i int; "
            "for i = 1 to times insert into log (what) values (what); end for; "
            "select count(*) into i from log; return i; end function"
        )
        cursor.execute("execute function note('x', 3)")
        assert cursor.fetchall() == [(3,)]
        cursor.execute(
            "create procedure tries() define n int; on exception set n end exception with resume; "
            "insert into log values (1, 'twice'); insert into log (what) values ('after'); end procedure"
        )
        cursor.execute("execute procedure tries()")
        assert front.ask("SELECT what, count(*) FROM log GROUP BY 1 ORDER BY 1") == [("after", 1), ("x", 3)]
        cursor.execute("select note('y', 1), what from log where what = 'after'")
        assert cursor.fetchall() == [(5, "after")]


def test_a_routine_is_called_for_each_row_or_refused(start_front: Callable[..., Front], tmp_path: Path) -> None:
    schema = "CREATE TABLE t AS SELECT generate_series(1, 3) AS a; CREATE TABLE log (a int)"
    front = start_front(schema, beside=tmp_path / "beside.db")
    with front.server, front.connect(autocommit=True) as connection:
        cursor = connection.cursor()
        cursor.execute("create function noted() returning int; insert into log values (1); return 7; end function")
        cursor.execute("create function twice(n int) returning int with (not variant); return 2 * n; end function")
        cursor.execute("select a, noted() from t order by a")
        assert cursor.fetchall() == [(1, 7), (2, 7), (3, 7)]
        assert front.ask("SELECT count(*) FROM log") == [(3,)]
        for sql in [
            "select a from t where a < noted()",
            "update t set a = noted()",
            "select a from t where a < twice(a)",
        ]:
            with pytest.raises(exceptions.DatabaseError, match="-999"):
                cursor.execute(sql)
        assert front.ask("SELECT count(*) FROM log") == [(3,)]
        cursor.execute("select a from t where a = twice(1)")
        assert cursor.fetchall() == [(2,)]
        cursor.execute("insert into t values (noted())")
        assert front.ask("SELECT count(*) FROM log") == [(4,)]


def test_a_views_check_is_the_servers(front: Front) -> None:
    with front.connect(autocommit=True) as connection:
        cursor = connection.cursor()
        cursor.execute("create view poor as select id, name, credit from customer where credit < 10 with check option")
        with pytest.raises(psycopg.errors.WithCheckOptionViolation):
            front.ask("INSERT INTO poor (name, credit) VALUES ('rich', 100)")
        with pytest.raises(exceptions.DatabaseError, match="-385"):
            cursor.execute("insert into poor (name, credit) values ('rich', 100)")
        with pytest.raises(exceptions.DatabaseError, match="-385"):
            cursor.execute("update poor set credit = credit * 20")
        cursor.execute("insert into poor (name, credit) values ('slow', 1)")
        assert (cursor.rowcount, cursor.lastrowid) == (1, 103)
        # One over another, which PostgreSQL cannot change itself.
        cursor.execute("create view poorest as select name, credit from poor where credit < 2 with check option")
        with pytest.raises(exceptions.DatabaseError, match="-385"):
            cursor.execute("update poorest set credit = 5 where name = 'slow'")
        cursor.execute("update poorest set credit = 0 where name = 'slow'")
        assert cursor.rowcount == 1
        assert front.ask("SELECT count(*) FROM customer WHERE name = 'rich'") == [(0,)]


# A number alone is hours west of Greenwich, as in POSIX.
@pytest.mark.parametrize(("zone", "told"), [("Asia/Tokyo", "2024-05-06 09"), ("+02:30", "2024-05-05 21")])
def test_moments_are_told_in_the_sessions_zone(start_front: Callable[..., Front], zone: str, told: str) -> None:
    schema = "CREATE TABLE m AS SELECT timestamptz '2024-05-06 00:00:00+00' AS at"
    front = start_front(schema, args=("-c", f"timezone={zone}"))
    with front.server, front.connect() as connection:
        cursor = connection.cursor()
        cursor.execute(
            "select extend(current, year to hour) - extend(dbinfo('utc_to_datetime', 0), year to hour) from m"
        )
        assert cursor.fetchone() is not None
        cursor.execute("select at::char(13) from m")
        row = cursor.fetchone()
        assert row is not None and row[0] == told


TRIGGERED = """
CREATE TABLE stock (
    id int GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY, name varchar(20), price numeric(8,2),
    kind varchar(10) DEFAULT lower('PLAIN'), seen timestamp DEFAULT '2024-01-01 00:00:00.123456');
CREATE TABLE noted (what varchar(80));
CREATE TABLE lines (id int PRIMARY KEY, stock int REFERENCES stock ON DELETE CASCADE);
"""


@pytest.fixture
def triggered(start_front: Callable[..., Front], tmp_path: Path) -> Iterator[Front]:
    """Tables that somebody else has made there, with a default and a moment that Informix cannot say."""
    front = start_front(TRIGGERED, beside=tmp_path / "beside.db")
    with front.server:
        yield front


def test_triggers_are_told_of_what_happens_there(triggered: Front) -> None:
    with triggered.connect(autocommit=True) as connection:
        cursor = connection.cursor()
        cursor.execute(
            "create trigger came insert on stock referencing new as n before (insert into noted values ('before')) "
            "for each row (insert into noted values (n.id || ' ' || n.name || ' ' || n.kind)) "
            "after (insert into noted values ('after'))"
        )
        cursor.execute(
            "create trigger priced update of price on stock referencing old as o new as n for each row "
            "when (n.price > o.price * 2) (insert into noted values (n.name || ' was ' || o.price))"
        )
        cursor.execute(
            "create trigger gone delete on stock referencing old as o for each row "
            "(insert into noted values ('gone ' || o.name))"
        )
        cursor.execute("insert into stock (name, price) values ('a', 10), ('b', 20)")
        assert (cursor.rowcount, cursor.lastrowid) == (2, 2)
        # What is left out has the default that it has there, and keeps what is more than a moment of Informix's.
        assert triggered.ask("SELECT id, name, price, kind, seen::text FROM stock ORDER BY id") == [
            (1, "a", 10, "plain", "2024-01-01 00:00:00.123456"),
            (2, "b", 20, "plain", "2024-01-01 00:00:00.123456"),
        ]
        cursor.execute("update stock set price = price * 3 where id = 1")
        cursor.execute("update stock set price = price + 1")
        cursor.execute("update stock set kind = 'x' where id = 2")
        assert triggered.ask("SELECT price, kind, seen::text FROM stock ORDER BY id") == [
            (31, "plain", "2024-01-01 00:00:00.123456"),
            (21, "x", "2024-01-01 00:00:00.123456"),
        ]
        cursor.execute("delete from stock where id = 2")
        assert [what for (what,) in triggered.ask("SELECT what FROM noted")] == [
            "before",
            "1 a plain",
            "2 b plain",
            "after",
            "a was 10.00",
            "gone b",
        ]
        cursor.execute("set triggers came, priced disabled")
        cursor.execute("insert into stock (name) values ('quiet')")
        cursor.execute("set triggers came enabled")
        cursor.execute("insert into stock (name) values ('loud')")
        assert triggered.ask("SELECT what FROM noted OFFSET 6") == [("before",), ("4 loud plain",), ("after",)]


def test_a_trigger_belongs_to_its_statement(triggered: Front) -> None:
    with triggered.connect() as connection:
        cursor = connection.cursor()
        cursor.execute(
            "create procedure no_b(name varchar(20)); if name = 'b' then raise exception -746, 0, 'no b'; end if; "
            "end procedure"
        )
        cursor.execute(
            "create trigger came insert on stock referencing new as n for each row "
            "(insert into noted values (n.name), execute procedure no_b(n.name))"
        )
        connection.commit()
        cursor.execute("insert into stock (name) values ('a')")
        with pytest.raises(exceptions.Error, match="no b"):
            cursor.execute("insert into stock (name) values ('c'), ('b')")
        connection.commit()
        assert triggered.ask("SELECT name FROM stock") == triggered.ask("SELECT what FROM noted") == [("a",)]
        cursor.execute("insert into stock (name) values ('d')")
        connection.rollback()
        assert triggered.ask("SELECT what FROM noted") == [("a",)]


def test_a_trigger_gives_columns_values(triggered: Front) -> None:
    with triggered.connect(autocommit=True) as connection:
        cursor = connection.cursor()
        cursor.execute(
            "create function shown(id int, name varchar(20)) returning varchar(20); return id || name; end function"
        )
        cursor.execute(
            "create trigger named insert on stock referencing new as n for each row "
            "(execute function shown(n.id, n.name) into name)"
        )
        # A default that is not known here would be none for the trigger.
        with pytest.raises(exceptions.Error, match="a default that only the PostgreSQL server knows"):
            cursor.execute("insert into stock (name) values ('a')")
        cursor.execute("insert into stock values (0, 'a', 1, 'k', current)")
        cursor.execute("insert into stock values (7, 'b', 1, 'k', current)")
        cursor.execute("insert into stock values (0, 'c', 1, 'k', current)")
        assert triggered.ask("SELECT id, name FROM stock ORDER BY id") == [(1, "1a"), (7, "7b"), (8, "8c")]
        cursor.execute(
            "create trigger renamed update of price on stock referencing new as n for each row "
            "(execute function shown(n.price, n.name) into name)"
        )
        assert cursor.execute("update stock set price = 3 where id = 7") is not None
        assert triggered.ask("SELECT name, price FROM stock WHERE id = 7") == [("37b", 3)]


def test_what_triggers_would_miss_is_refused(triggered: Front) -> None:
    with triggered.connect(autocommit=True) as connection:
        cursor = connection.cursor()
        cursor.execute("create trigger cut delete on lines after (insert into noted values ('cut'))")
        cursor.execute("insert into stock (name) values ('a')")
        with pytest.raises(exceptions.Error, match="foreign keys carry"):
            cursor.execute("delete from stock where id = 1")
        cursor.execute("create trigger came insert on stock after (insert into noted values ('came'))")
        with pytest.raises(exceptions.Error, match="MERGE into a table with triggers"):
            cursor.execute(
                "merge into stock using lines on stock.id = lines.stock "
                "when not matched then insert (name) values ('x')"
            )
    assert triggered.ask("SELECT name FROM stock") == [("a",)]


def test_a_positioned_change_tells_triggers(triggered: Front) -> None:
    with triggered.connect(autocommit=True) as connection:
        cursor = connection.cursor()
        cursor.execute(
            "create trigger priced update of price on stock referencing new as n for each row "
            "(insert into noted values (n.name || n.price))"
        )
        cursor.execute("insert into stock (name, price) values ('a', 1), ('b', 2)")
        cursor.execute(
            "create procedure dearer(by int) define i int; foreach c for select id into i from stock order by id "
            "update stock set price = price + by where current of c; end foreach; end procedure"
        )
        cursor.execute("execute procedure dearer(5)")
        # It lies elsewhere once it has been changed.
        cursor.execute(
            "create procedure twice() define i int; foreach c for select id into i from stock where name = 'b' "
            "update stock set price = 0 where current of c; update stock set price = 1 where current of c; "
            "end foreach; end procedure"
        )
        with pytest.raises(exceptions.Error, match="-266"):
            cursor.execute("execute procedure twice()")
    assert triggered.ask("SELECT what FROM noted") == [("a6.00",), ("b7.00",), ("b0.00",)]
    assert triggered.ask("SELECT price FROM stock ORDER BY id") == [(6,), (0,)]


def test_triggers_stay_when_others_change_the_table(triggered: Front) -> None:
    with triggered.connect(autocommit=True) as connection:
        cursor = connection.cursor()
        cursor.execute("create view names (name) as select name from stock where price > 1")
        cursor.execute(
            "create trigger named instead of insert on names referencing new as n for each row "
            "(insert into stock (name, price) values (n.name, 2))"
        )
        cursor.execute(
            "create trigger priced update of price on stock referencing new as n for each row "
            "(insert into noted values (n.name || n.price))"
        )
        cursor.execute("insert into names values ('v')")
        triggered.ask("ALTER TABLE stock DROP COLUMN kind, ADD COLUMN more int")
        triggered.ask("ALTER TABLE stock RENAME COLUMN seen TO saw")
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline:
            cursor.execute(
                "select colname from syscolumns c, systables t where c.tabid = t.tabid and tabname = 'stock'"
            )
            if ("more",) in cursor.fetchall():
                break
            time.sleep(0.2)
        cursor.execute("insert into names values ('w')")
        cursor.execute("update stock set more = 1")
        cursor.execute("update stock set price = 3 where name = 'w'")
        assert triggered.ask("SELECT name, price FROM stock ORDER BY id") == [("v", 2), ("w", 3)]
        assert triggered.ask("SELECT what FROM noted") == [("w3.00",)]


def test_numbers_become_what_informix_makes_of_them(front: Front) -> None:
    with front.connect(autocommit=True) as connection:
        cursor = connection.cursor()
        cursor.execute("create table n (c decimal(6,2), f float, t varchar(10), i int, s smallint, k int)")
        cursor.execute("insert into n values (3.75, 3.5, '7.8', 0, 0, 12345)")
        cursor.execute("insert into n values (-3.75, 2.5, '-7.8', 0, 0, 12345)")
        cursor.execute("select c::int, f::int, t::int from n order by f desc")
        assert cursor.fetchall() == [(3, 3, 7), (-3, 2, -7)]
        cursor.execute("update n set i = c, s = f")
        cursor.execute("select i, s from n order by f desc")
        assert cursor.fetchall() == [(3, 3), (-3, 2)]
        for change in ("select k::char(3) from n", "alter table n modify (k char(3))"):
            with pytest.raises(exceptions.Error, match="-1207"):
                cursor.execute(change)
                cursor.fetchall()
        cursor.execute("create table days (d date, m datetime year to day)")
        cursor.execute("insert into days values (mdy(1, 31, 2024), datetime(2024-01-31) year to day)")
        cursor.execute("select d + 2 units month, m + 1 units day from days")
        assert cursor.fetchall() == [(datetime.date(2024, 3, 31), datetime.date(2024, 2, 1))]
        for moved in ("d + 1 units month", "m + 1 units month"):
            with pytest.raises(exceptions.Error, match="-1267"):
                cursor.execute(f"select {moved} from days")
                cursor.fetchall()
        # A table with rows numbers behind them.
        cursor.execute("alter table n modify (k serial)")
        cursor.execute("insert into n (c) values (1)")
        assert cursor.lastrowid == 12346


def test_columns_stand_where_the_client_has_put_them(triggered: Front) -> None:
    with triggered.connect(autocommit=True) as connection:
        cursor = connection.cursor()
        cursor.execute("create table parts (id int, name char(5))")
        cursor.execute("alter table parts add (code smallint default 7 before name, last int)")
        cursor.execute("insert into parts values (1, 2, 'gear', 3)")
        cursor.execute("insert into parts select id + 1, code, name, last from parts")
        cursor.execute("select * from parts order by id")
        assert cursor.fetchall() == [(1, 2, "gear", 3), (2, 2, "gear", 3)]
        # What somebody adds there stands behind the others.
        triggered.ask("ALTER TABLE parts ADD COLUMN more int DEFAULT 9")
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline:
            cursor.execute("select first 1 * from parts order by id")
            if cursor.fetchall() == [(1, 2, "gear", 3, 9)]:
                break
            time.sleep(0.2)
        cursor.execute("insert into parts values (3, 4, 'nut', 5, 6)")
    assert triggered.ask("SELECT id, name, code, last, more FROM parts WHERE id = 3") == [(3, "nut  ", 4, 5, 6)]


def test_rows_below_rows(front: Front) -> None:
    front.ask("CREATE TABLE employee (id int, name varchar(20), boss int)")
    front.ask(
        "INSERT INTO employee VALUES (1, 'ann', NULL), (2, 'bob', 1), (3, 'cid', 1), "
        "(4, 'dan', 2), (5, 'eve', 3), (6, 'fay', 2)"
    )
    with front.connect(autocommit=True) as connection:
        cursor = connection.cursor()
        cursor.execute(
            "select level, name, sys_connect_by_path(name, '/'), connect_by_isleaf from employee "
            "start with boss is null connect by prior id = boss order siblings by name desc"
        )
        assert cursor.fetchall() == [
            (1, "ann", "/ann", 0),
            (2, "cid", "/ann/cid", 0),
            (3, "eve", "/ann/cid/eve", 1),
            (2, "bob", "/ann/bob", 0),
            (3, "fay", "/ann/bob/fay", 1),
            (3, "dan", "/ann/bob/dan", 1),
        ]
        front.ask("UPDATE employee SET boss = 4 WHERE id = 1")
        with pytest.raises(exceptions.Error, match="-26079"):
            cursor.execute("select name from employee start with id = 1 connect by prior id = boss")
            cursor.fetchall()
        cursor.execute(
            "select name, connect_by_iscycle from employee start with id = 1 connect by nocycle prior id = boss "
            "order siblings by name"
        )
        assert cursor.fetchall() == [("ann", 0), ("bob", 0), ("dan", 1), ("fay", 0), ("cid", 0), ("eve", 0)]


def test_without_a_file_routines_are_refused(front: Front) -> None:
    with front.connect() as connection:
        cursor = connection.cursor()
        with pytest.raises(exceptions.DatabaseError, match=r"--beside|file to keep"):
            cursor.execute("create procedure p() return; end procedure")


def test_a_wrong_url_says_so(tmp_path: Path) -> None:
    from tests.servers.process import ServerFailed

    for url, said in [
        ("postgresql://nobody@127.0.0.1:1/none", "could not connect"),
        ("postgresql://a@127.0.0.1:1/none?sslmode=perhaps", "sslmode"),
    ]:
        with pytest.raises(ServerFailed, match=said):
            Rowferry.start(url, postgres=False, informix=True)
    with pytest.raises(ServerFailed, match="--read-only"):
        Rowferry.start("postgresql://a@127.0.0.1:1/none", postgres=False, informix=True, args=("--read-only",))
    with pytest.raises(ServerFailed, match="nothing to listen at"):
        Rowferry.start("postgresql://a@127.0.0.1:1/none", postgres=False)


def test_what_has_no_effect_is_refused_where_nothing_of_the_kind_is_taken(start_front: Callable[..., Front]) -> None:
    front = start_front(args=("--compat", "strict"))
    with front.server, front.connect(autocommit=True) as connection:
        cursor = connection.cursor()
        with pytest.raises(exceptions.Error, match="-999"):
            cursor.execute("create table t (k int) extent size 16")
        cursor.execute("create table t (k int) lock mode row")
        cursor.execute("insert into t values (1)")
        assert front.ask("SELECT k FROM t") == [(1,)]
