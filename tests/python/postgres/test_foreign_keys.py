"""Foreign keys that the engine keeps: over restarts, beside other sessions, and beside the `sqlite3` shell."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from psycopg import errors

from tests.servers.rowferry import Rowferry

TABLES = """
create table p (id int primary key, v text) partition by range (id);
create table p1 partition of p for values from (0) to (100);
create table p2 partition of p for values from (100) to (200);
create table c (id int primary key, p int references p on update cascade);
insert into p values (1, 'one'), (150, 'more');
insert into c values (1, 1), (2, 150);
"""


@pytest.fixture
def file(tmp_path: Path) -> Iterator[Path]:
    path = tmp_path / "app.db"
    with Rowferry.start(path) as server, psycopg.connect(server.postgres_dsn, autocommit=True) as connection:
        connection.execute(TABLES)
    yield path


def test_a_key_to_a_partitioned_table_outlives_the_server(file: Path) -> None:
    with Rowferry.start(file) as server, psycopg.connect(server.postgres_dsn, autocommit=True) as connection:
        with pytest.raises(
            errors.ForeignKeyViolation, match='on table "p2" violates foreign key constraint "c_p_fkey2"'
        ):
            connection.execute("delete from p where id = 150")
        connection.execute("update p set id = 160 where id = 150")
        assert connection.execute("select p from c order by id").fetchall() == [(1,), (160,)]


def test_the_shell_reads_the_tables_and_what_it_breaks_is_told_of(file: Path) -> None:
    with sqlite3.connect(file) as shell:
        shell.execute("pragma foreign_keys = on")
        assert shell.execute("select p1.v, c.id from c join p1 on p1.id = c.p").fetchall() == [("one", 1)]
        shell.execute("insert into c values (3, 77)")
    with Rowferry.start(file) as server, psycopg.connect(server.postgres_dsn, autocommit=True) as connection:
        connection.execute("alter table c drop constraint c_p_fkey")
        with pytest.raises(errors.ForeignKeyViolation, match="violates") as raised:
            connection.execute("alter table c add foreign key (p) references p")
        assert raised.value.diag.message_detail == 'Key (p)=(77) is not present in table "p".'
        connection.execute("alter table c add constraint later foreign key (p) references p not valid")
        with pytest.raises(errors.ForeignKeyViolation, match='constraint "later"'):
            connection.execute("alter table c validate constraint later")


def test_a_row_is_not_referred_to_once_another_session_has_deleted_it(file: Path) -> None:
    with (
        Rowferry.start(file) as server,
        psycopg.connect(server.postgres_dsn) as one,
        psycopg.connect(server.postgres_dsn, autocommit=True) as other,
    ):
        one.execute("insert into p values (7, 'seven')")
        one.commit()
        one.execute("delete from p where id = 7")
        refused: list[Exception] = []

        def refer() -> None:
            try:
                other.execute("insert into c values (9, 7)")
            except psycopg.Error as error:
                refused.append(error)

        waiting = threading.Thread(target=refer)
        waiting.start()
        one.commit()
        waiting.join(30)
        assert [type(error) for error in refused] == [errors.ForeignKeyViolation]
        assert other.execute("select count(*) from c where p = 7").fetchone() == (0,)
