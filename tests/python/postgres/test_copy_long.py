"""COPY FROM of so much data that a thread of its own reads ahead: what it must not change."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg import errors

from tests.servers.rowferry import Rowferry

from . import wire
from .conftest import wait_until
from .wire import Wire, query

Connection = psycopg.Connection[Any]

#: Some two megabytes; the first quarter of one is read by the session's thread.
ROWS = 40_000
TABLE = "create table t (id integer primary key, name text, amount numeric(10,2), day date, at timestamp, tags text[])"
ALL = "select count(*), sum(id), sum(length(name)), sum(amount), min(day), max(at), count(tags) from t"


def line(number: int) -> str:
    name = "\\N" if number % 7 == 0 else f"näme\\t{number}\\\\x"
    return f"{number}\t{name}\t{number}.25\t2024-02-{number % 28 + 1:02}\t2024-03-01 10:00:00\t{{a,{number}}}\n"


@pytest.fixture
def connection(server: Rowferry) -> Iterator[Connection]:
    with psycopg.connect(server.postgres_dsn, autocommit=True) as connection:
        connection.execute("drop table if exists t")
        connection.execute(TABLE)
        yield connection


def send(connection: Connection, lines: list[str], sql: str = "copy t from stdin", piece: int = 50_000) -> str | None:
    data = "".join(lines).encode()
    with connection.cursor() as cursor:
        with cursor.copy(sql) as copy:
            for at in range(0, len(data), piece):
                copy.write(data[at : at + piece])
        return cursor.statusmessage


def readers(server: Rowferry) -> int:
    """Threads that read ahead."""
    tasks = Path(f"/proc/{server.pid}/task")
    return sum((task / "comm").read_text() == "copy\n" for task in tasks.iterdir() if (task / "comm").exists())


@pytest.mark.parametrize("piece", [1_000, 50_000, 3_000_000])
def test_all_rows_are_there_as_they_were_sent(connection: Connection, piece: int) -> None:
    lines = [line(number) for number in range(ROWS)]
    assert send(connection, lines, piece=piece) == f"COPY {ROWS}"
    with connection.cursor().copy("copy (select * from t order by id) to stdout") as copy:
        assert b"".join(copy).decode() == "".join(lines)


@pytest.mark.parametrize(
    ("out", "back"),
    [
        ("format csv", "format csv"),
        ("format binary", "format binary"),
        ("format csv, header, null 'nil'", "format csv, header match, null 'nil'"),
        ("format csv, force_quote *", "format csv, force_null (name)"),
    ],
)
def test_other_formats(connection: Connection, out: str, back: str) -> None:
    send(connection, [line(number) for number in range(ROWS)])
    before = connection.execute(ALL).fetchone()
    with connection.cursor().copy(f"copy t to stdout ({out})") as copy:
        data = b"".join(copy)
    connection.execute("delete from t")
    with connection.cursor().copy(f"copy t from stdin ({back})") as copy:
        copy.write(data)
    assert connection.execute(ALL).fetchone() == before


def test_a_thread_reads_ahead_where_there_is_a_processor_for_it(connection: Connection, server: Rowferry) -> None:
    expected = int(len(os.sched_getaffinity(server.pid)) > 1)
    with connection.cursor().copy("copy t from stdin") as copy:
        for number in range(ROWS):
            copy.write(line(number))
        copy.write("")
        wait_until(lambda: readers(server) == expected, "one thread reads")
    wait_until(lambda: readers(server) == 0, "it has ended with the COPY")


@pytest.mark.parametrize("at", [20, 30_000, ROWS - 1])
def test_errors_tell_the_line(connection: Connection, at: int) -> None:
    lines = [line(number) for number in range(ROWS)]
    wrong = [*lines[:at], lines[at].replace(".25", ".x"), *lines[at + 1 :]]
    with pytest.raises(errors.InvalidTextRepresentation) as caught:
        send(connection, wrong)
    assert caught.value.diag.context == f'COPY t, line {at + 1}, column amount: "{at}.x"'
    with pytest.raises(errors.UniqueViolation) as broken:
        send(connection, [*lines[:at], line(3), *lines[at + 1 :]])
    assert broken.value.diag.context == f"COPY t, line {at + 1}"
    with pytest.raises(errors.BadCopyFileFormat) as short:
        send(connection, [*lines[:at], f"{at}\tx\n", *lines[at + 1 :]])
    assert short.value.diag.context == f'COPY t, line {at + 1}: "{at}\tx"'
    assert connection.execute("select count(*) from t").fetchone() == (0,)


def test_the_first_error_of_the_data_is_told(connection: Connection) -> None:
    lines = [line(number) for number in range(ROWS)]
    # The key is broken by a row that stands before the one that is no row, wherever each is found.
    lines[30_000] = line(3)
    lines[30_001] = "no number\n"
    with pytest.raises(errors.UniqueViolation):
        send(connection, lines)
    lines[29_999] = "no number\n"
    with pytest.raises(errors.InvalidTextRepresentation):
        send(connection, lines)


def test_what_the_client_gives_up_has_not_happened(connection: Connection, server: Rowferry) -> None:
    with pytest.raises(RuntimeError, match="enough"), connection.cursor().copy("copy t from stdin") as copy:
        for number in range(ROWS):
            copy.write(line(number))
        raise RuntimeError("enough")
    assert connection.execute("select count(*) from t").fetchone() == (0,)
    wait_until(lambda: readers(server) == 0, "nobody reads any more")


def test_a_client_that_leaves_has_copied_nothing(connection: Connection, server: Rowferry) -> None:
    with Wire.open(server.postgres) as leaving:
        leaving.send(query("copy t from stdin"))
        assert leaving.receive().tag == "G"
        leaving.send(*(wire.message("d", line(number).encode()) for number in range(ROWS)))
    wait_until(lambda: readers(server) == 0, "nobody reads any more")
    connection.execute("insert into t (id) values (1)")
    assert connection.execute("select count(*) from t").fetchone() == (1,)


def test_a_row_that_is_longer_than_what_is_read_ahead(connection: Connection) -> None:
    lines = [line(number) for number in range(ROWS)]
    lines[30_000] = f"30000\t{'long ' * 400_000}\t1\t\\N\t\\N\t\\N\n"
    assert send(connection, lines) == f"COPY {ROWS}"
    assert connection.execute("select length(name) from t where id = 30000").fetchone() == (2_000_000,)
    assert connection.execute("select count(*), max(id) from t").fetchone() == (ROWS, ROWS - 1)


def test_the_mark_of_the_end(connection: Connection) -> None:
    lines = [line(number) for number in range(ROWS)]
    assert send(connection, [*lines[:30_000], "\\.\n", *lines[30_000:]]) == "COPY 30000"


def test_triggers_and_conditions_see_each_row(connection: Connection) -> None:
    connection.execute("drop table if exists seen; create table seen (id integer)")
    connection.execute(
        "create or replace function note() returns trigger language plpgsql as "
        "$$ begin if new.id % 1000 = 0 then insert into seen values (new.id); return null; end if; return new; end $$"
    )
    connection.execute("create trigger note before insert on t for each row execute function note()")
    assert send(connection, [line(number) for number in range(ROWS)]) == f"COPY {ROWS - 40}"
    assert connection.execute("select count(*) from seen").fetchone() == (40,)


def test_another_encoding(connection: Connection) -> None:
    connection.execute("set client_encoding to 'LATIN1'")
    data = "".join(line(number) for number in range(ROWS)).encode("latin-1")
    with connection.cursor().copy("copy t from stdin") as copy:
        for at in range(0, len(data), 50_000):
            copy.write(data[at : at + 50_000])
    assert connection.execute("select count(*), count(name) from t").fetchone() == (ROWS, ROWS - ROWS // 7 - 1)
    assert connection.execute("select name from t where id = 39999").fetchone() == ("näme\t39999\\x",)
