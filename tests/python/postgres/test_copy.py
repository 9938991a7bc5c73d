"""COPY, by psycopg and message by message."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import psycopg
import pytest

from tests.servers.rowferry import Rowferry

from . import wire
from .wire import SYNC, Wire, bind, execute, parse, query

Connection = psycopg.Connection[Any]
ROWS = [(1, "one", None), (2, "tab\tand\nline \\ \"quoted\", 'too'", 2.5), (3, "", -1.0), (4, None, None)]


@pytest.fixture
def connection(server: Rowferry) -> Iterator[Connection]:
    with psycopg.connect(server.postgres_dsn, autocommit=True) as connection:
        connection.execute("drop table if exists t")
        connection.execute("create table t (id integer primary key, name text, x double precision)")
        yield connection


def rows(connection: Connection) -> list[tuple[Any, ...]]:
    return connection.execute("select * from t order by id").fetchall()


@pytest.mark.parametrize(
    "options", ["", "(format csv)", "(format csv, header, delimiter ';', null 'nil')", "(delimiter '|')"]
)
def test_out_and_in_again(connection: Connection, options: str) -> None:
    with connection.cursor() as cursor:
        with cursor.copy("copy t from stdin") as copy:
            for row in ROWS:
                copy.write_row(row)
        assert cursor.statusmessage == "COPY 4"
        assert rows(connection) == ROWS
        with cursor.copy(f"copy t to stdout {options}") as copy:
            data = b"".join(copy)
        connection.execute("delete from t")
        with cursor.copy(f"copy t from stdin {options}") as copy:
            for at in range(0, len(data), 7):
                copy.write(data[at : at + 7])
    assert rows(connection) == ROWS


def test_binary(connection: Connection) -> None:
    with connection.cursor() as cursor:
        with cursor.copy("copy t from stdin (format binary)") as copy:
            copy.set_types(["int4", "text", "float8"])
            for row in ROWS:
                copy.write_row(row)
        assert rows(connection) == ROWS
        with cursor.copy("copy (select * from t order by id) to stdout (format binary)") as copy:
            copy.set_types(["int4", "text", "float8"])
            assert list(copy.rows()) == ROWS


def test_some_columns_and_a_query(connection: Connection) -> None:
    with connection.cursor() as cursor:
        with cursor.copy("copy t (name, id) from stdin") as copy:
            copy.write("one\t1\ntwo\t2\n")
        with cursor.copy("copy (select count(*), sum(id) from t) to stdout") as copy:
            assert b"".join(copy) == b"2\t3\n"


def test_all_rows_or_none(connection: Connection) -> None:
    for data, error in [
        ("1\ta\t1\n1\tb\t2\n", psycopg.errors.UniqueViolation),
        ("1\ta\t1\nx\tb\t2\n", psycopg.errors.InvalidTextRepresentation),
        ("1\ta\t1\n2\tb\n", psycopg.errors.BadCopyFileFormat),
    ]:
        with pytest.raises(error) as failure, connection.cursor().copy("copy t from stdin") as copy:
            copy.write(data)
        assert (failure.value.diag.context or "").startswith("COPY t, line 2")
        assert rows(connection) == []
    with pytest.raises(psycopg.errors.QueryCanceled), connection.cursor().copy("copy t from stdin") as copy:
        copy.write("1\ta\t1\n")
        raise psycopg.errors.QueryCanceled("changed my mind")
    assert rows(connection) == []


def test_messages(connection: Connection, server: Rowferry) -> None:
    def data(text: str) -> bytes:
        return wire.message("d", text.encode())

    done, fail = wire.message("c"), wire.message("f", b"why not\0")
    with Wire.open(server.postgres) as session:
        session.send(query("copy t (id) from stdin"))
        assert session.receive().tag == "G"
        assert session.ask(data("1\n"), data("2"), data("\n3\n"), done) == "C Z:I"
        # The extended way: the Sync that came with the command is not the one that ends it.
        session.send(parse("copy t (id) from stdin"), bind(), execute(), SYNC)
        assert [session.receive().tag for _ in range(3)] == list("12G")
        assert session.ask(data("4\n"), done, SYNC) == "C Z:I"
        # Failures, after which data that are still on their way are ignored.
        session.send(query("copy t (id) from stdin"))
        assert session.receive().tag == "G"
        assert session.ask(data("x\n"), data("5\n"), done) == "E Z:I"
        session.send(parse("copy t (id) from stdin"), bind(), execute(), SYNC)
        assert [session.receive().tag for _ in range(3)] == list("12G")
        assert session.ask(data("6\n"), fail, SYNC) == "E Z:I"
        session.send(query("copy t (id) from stdin"))
        assert session.receive().tag == "G"
        session.send(query("select 1"))
        assert session.until("Z")[0].sqlstate == "08P01"
        assert session.ask(query("copy t (id) to stdout")) == "H d d d d c C Z:I"
    assert [row[0] for row in rows(connection)] == [1, 2, 3, 4]


def test_a_client_that_leaves_has_copied_nothing(connection: Connection, server: Rowferry) -> None:
    with Wire.open(server.postgres) as session:
        session.send(query("copy t (id) from stdin"))
        assert session.receive().tag == "G"
        session.send(wire.message("d", b"1\n2\n"))
    connection.execute("insert into t values (1)")
    assert [row[0] for row in rows(connection)] == [1]


def test_rows_that_a_trigger_keeps_away_do_not_count(connection: Connection) -> None:
    connection.execute(
        "create or replace function no_two() returns trigger language plpgsql as "
        "$$begin if new.id = 2 then return null; end if; return new; end$$"
    )
    connection.execute("create trigger kept before insert on t for each row execute function no_two()")
    with connection.cursor() as cursor:
        with cursor.copy("copy t from stdin") as copy:
            for row in ROWS:
                copy.write_row(row)
        assert cursor.statusmessage == "COPY 3"
    assert [row[0] for row in rows(connection)] == [1, 3, 4]


@pytest.mark.parametrize("default", [False, True])
def test_rows_that_may_not_be_written_are_not_asked_for(connection: Connection, default: bool) -> None:
    """The refusal comes in place of the question for data; in temporary tables rows may be written."""
    # Where a database has functions, temporary tables wait for the lock of all others.
    connection.execute("drop function if exists no_two cascade")
    connection.execute("create temp table scratch (n integer)")
    if default:
        connection.execute("set default_transaction_read_only = on")
    with connection.transaction(force_rollback=True):
        if not default:
            connection.execute("set transaction read only")
        with connection.cursor().copy("copy scratch from stdin") as copy:
            copy.write_row((1,))
        assert connection.execute("select n from scratch").fetchall() == [(1,)]
        with pytest.raises(psycopg.errors.ReadOnlySqlTransaction, match="cannot execute COPY FROM in a read-only"):
            with connection.cursor().copy("copy t from stdin"):
                pytest.fail("the client was asked for rows")


def test_out_of_a_transaction_that_reads_only(connection: Connection) -> None:
    connection.execute("set default_transaction_read_only = on")
    with connection.cursor().copy("copy t to stdout") as copy:
        assert list(copy) == []
    with pytest.raises(psycopg.errors.ReadOnlySqlTransaction):
        with connection.cursor().copy("copy t from stdin"):
            pytest.fail("the client was asked for rows")
