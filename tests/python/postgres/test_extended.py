"""The extended query, message by message: pipelines, errors inside them, statements and portals."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.servers.rowferry import Rowferry

from .conftest import status
from .wire import FLUSH, SYNC, Wire, bind, close, describe, execute, message, parse, query


@pytest.fixture
def session(server: Rowferry) -> Iterator[Wire]:
    with Wire.open(server.postgres) as session:
        session.send(query("drop table if exists t; create table t (id integer primary key, name text)"))
        session.ready()
        yield session


def rows(session: Wire, sql: str) -> list[list[bytes | None]]:
    session.send(query(sql))
    return [answer.values for answer in session.ready() if answer.tag == "D"]


def test_one_ready_for_each_sync(session: Wire) -> None:
    one = (parse("select 1"), bind(), describe("P"), execute())
    assert session.ask(*one, SYNC) == "1 2 T D C Z:I"
    session.send(*one, SYNC, *one, SYNC)
    assert [answer.tag for answer in session.until("Z")] == list("12TDCZ")
    assert [answer.tag for answer in session.ready()] == list("12TDCZ")
    assert session.ask(SYNC) == "Z:I"


def test_flush_sends_what_there_is_without_ready(session: Wire) -> None:
    session.send(parse("select 1"), bind(), execute(), FLUSH)
    assert [session.receive().tag for _ in range(4)] == list("12DC")
    assert session.ask(SYNC) == "Z:I"


def test_messages_after_an_error_are_skipped_until_sync(session: Wire) -> None:
    good = (parse("insert into t values (1)"), bind(), execute())
    bad = (parse("select nothing"), bind(), execute())
    assert session.ask(*bad, *good, FLUSH, SYNC) == "E Z:I"
    assert session.ask(*good, SYNC) == "1 2 C Z:I"
    assert rows(session, "select id from t") == [[b"1"]]


@pytest.mark.parametrize(
    ("failing", "code"),
    [
        (parse("select nothing"), "42703"),
        (parse("selec 1"), "42601"),
        (bind(statement="nowhere"), "26000"),
        (bind(b"1"), "08P01"),
        (describe("S", "nowhere"), "26000"),
        (describe("P", "nowhere"), "34000"),
        (execute("nowhere"), "34000"),
        (parse("select 1 / 0") + bind() + execute(), "22012"),
        (message("P", b"no end"), "08P01"),
    ],
)
def test_an_error_goes_out_without_waiting_for_sync(session: Wire, failing: bytes, code: str) -> None:
    session.send(parse("select 1"), failing)
    while (answer := session.receive()).tag != "E":
        assert answer.tag in "12", answer
    assert answer.sqlstate == code
    assert session.ask(FLUSH, parse("select 1"), FLUSH, SYNC) == "Z:I"


@pytest.mark.parametrize(
    ("sql", "table", "tag"),
    [
        ("create temp table empty ()", "empty", "CREATE TABLE"),
        ("alter table one drop column a", "one", "ALTER TABLE"),
    ],
)
def test_tables_may_have_no_columns(session: Wire, sql: str, table: str, tag: str) -> None:
    session.send(query("create temp table one (a integer)"))
    session.ready()
    session.send(query(sql))
    assert session.ready()[0].body == tag.encode() + b"\0"
    session.send(query(f"insert into {table} default values"))
    assert session.ready()[0].body == b"INSERT 0 1\0"
    session.send(query(f"select from {table}"))
    description, *rows, end = session.ready()[:-1]
    assert (description.tag, description.body) == ("T", b"\0\0")
    assert all((row.tag, row.body) == ("D", b"\0\0") for row in rows)
    assert end.body == f"SELECT {len(rows)}".encode() + b"\0" and rows


@pytest.mark.parametrize("sql", ["create table empty as select", "select into empty"])
def test_queries_without_columns_make_no_tables(session: Wire, sql: str) -> None:
    session.send(query(sql))
    error = session.ready()[0]
    assert (error.sqlstate, error.fields["M"]) == ("0A000", "a table without columns is not supported")


def test_an_error_of_copy_data_goes_out_without_waiting_for_sync(session: Wire) -> None:
    session.send(parse("copy t from stdin"), bind(), execute(), FLUSH)
    assert [session.receive().tag for _ in range(3)] == list("12G")
    session.send(message("d", b"x\ty\n"))
    assert session.receive().sqlstate == "22P02"
    assert session.ask(SYNC) == "Z:I"


def test_an_error_gives_back_the_write_lock_before_the_sync(session: Wire, server: Rowferry) -> None:
    session.send(parse("insert into t values (1)"), bind(), execute(), parse("select nothing"), FLUSH)
    while session.receive().tag != "E":
        pass
    with Wire.open(server.postgres) as other:
        assert other.ask(query("set lock_timeout = '5s'; insert into t values (1)")) == "C C Z:I"
    assert session.ask(SYNC) == "Z:I"
    assert rows(session, "select id from t") == [[b"1"]]


def test_the_plan_of_a_changed_table_is_refused_in_the_words_that_drivers_know(session: Wire) -> None:
    assert session.ask(parse("select * from t", "s"), SYNC) == "1 Z:I"
    assert session.ask(query("alter table t add column more text")) == "C Z:I"
    session.send(bind(statement="s"), execute(), SYNC)
    error = session.receive()
    assert (error.sqlstate, error.fields["R"]) == ("0A000", "RevalidateCachedQuery")
    assert error.fields["M"] == "cached plan must not change result type"
    session.ready()
    assert session.ask(query("drop table t")) == "C Z:I"
    session.send(bind(statement="s"), SYNC)
    assert session.ready()[0].sqlstate == "42P01"


@pytest.mark.parametrize(
    "sql",
    [
        "insert into t values (2)",
        "delete from t returning id",
        "select id from t for update",
        "create table other (id integer)",
        "create table other as select id from t",
        "alter table t add column more text",
        "lock table t",
        "truncate t",
        "begin",
    ],
)
def test_parse_bind_and_describe_neither_write_nor_wait(session: Wire, server: Rowferry, sql: str) -> None:
    with Wire.open(server.postgres) as writer:
        writer.send(query("begin"))
        writer.ready()
        writer.send(query("insert into t values (1)"))
        writer.ready()
        session.send(query("set lock_timeout = '1ms'"))
        session.ready()
        answers = session.ask(
            parse(sql, "s"), describe("S", "s"), bind(statement="s", portal="p"), describe("P", "p"), SYNC
        )
        assert answers in ("1 t n 2 n Z:I", "1 t T 2 T Z:I")
        assert session.ask(close("S", "s"), SYNC) == "3 Z:I"
        writer.send(query("commit"))
        writer.ready()
    assert rows(session, "select id from t") == [[b"1"]]
    assert rows(session, "select count(*) from pg_class where relname = 'other'") == [[b"0"]]


def test_a_pipeline_is_one_transaction(session: Wire) -> None:
    def insert(number: int) -> bytes:
        return parse(f"insert into t values ({number})") + bind() + execute()

    assert session.ask(insert(1), insert(2), insert(1), insert(3), SYNC) == "1 2 C 1 2 C 1 2 E Z:I"
    assert rows(session, "select id from t") == []
    assert session.ask(insert(1), insert(2), SYNC) == "1 2 C 1 2 C Z:I"
    assert rows(session, "select count(*) from t") == [[b"2"]]


def test_each_sync_commits(session: Wire) -> None:
    def insert(number: int) -> bytes:
        return parse(f"insert into t values ({number})") + bind() + execute()

    session.send(insert(1), SYNC, insert(1), SYNC, insert(2), SYNC)
    outcomes = ["".join(answer.tag for answer in session.until("Z")) for _ in range(3)]
    assert outcomes == ["12CZ", "12EZ", "12CZ"]
    assert rows(session, "select id from t order by 1") == [[b"1"], [b"2"]]


def test_an_insert_returning_runs_once(session: Wire) -> None:
    insert = "insert into t (id, name) values ($1, $2) returning id, name"
    assert session.ask(parse(insert), bind(b"7", b"x"), describe("P"), execute(), SYNC) == "1 2 T D C Z:I"
    assert rows(session, "select id, name from t") == [[b"7", b"x"]]


def test_the_status_byte_follows_the_transaction(session: Wire) -> None:
    assert session.ask(query("begin")) == "C Z:T"
    assert session.ask(query("select nothing")) == "E Z:E"
    session.send(query("select 1"))
    error, ready = session.ready()
    assert (error.sqlstate, ready.body) == ("25P02", b"E")
    session.send(parse("select 1"), SYNC)
    assert session.ready()[0].sqlstate == "25P02"
    session.send(query("commit"))
    complete, ready = session.ready()
    assert (complete.command, ready.body) == ("ROLLBACK", b"I")


def test_the_empty_query(session: Wire) -> None:
    assert session.ask(query("")) == "I Z:I"
    assert session.ask(query(" ; -- nothing\n;; ")) == "I Z:I"
    assert session.ask(parse(""), describe("S"), bind(), describe("P"), execute(), SYNC) == "1 t n 2 n I Z:I"


def test_several_statements_in_a_simple_query(session: Wire) -> None:
    assert session.ask(query("select 'a;b'; select 2; ; select 3")) == "T D C T D C T D C Z:I"
    # They are one transaction, so that the first insert goes with the second.
    assert session.ask(query("insert into t values (1); insert into t values (1); select 1")) == "C E Z:I"
    assert rows(session, "select count(*) from t") == [[b"0"]]
    # Unless they say otherwise.
    assert session.ask(query("begin; insert into t values (1); commit; select nothing")) == "C C C E Z:I"
    assert rows(session, "select count(*) from t") == [[b"1"]]


def test_several_statements_are_refused_by_parse(session: Wire) -> None:
    session.send(parse("select 1; select 2"), SYNC)
    assert session.ready()[0].sqlstate == "42601"


def test_row_limits_suspend_a_portal(session: Wire) -> None:
    values = parse("select n from generate_series(1, 5) n")
    answers = "1 2 D D s D D s D C Z:I"
    assert session.ask(values, bind(), execute(limit=2), execute(limit=2), execute(limit=2), SYNC) == answers
    # With the limit just met there is one more, empty, batch.
    assert session.ask(values, bind(), execute(limit=5), execute(limit=5), SYNC) == "1 2 D D D D D s C Z:I"
    session.send(values, bind(), execute(limit=9), execute(), SYNC)
    assert [answer.command for answer in session.ready() if answer.tag == "C"] == ["SELECT 5", "SELECT 0"]


def test_portals_live_as_long_as_their_transaction(session: Wire) -> None:
    named = (parse("select n from generate_series(1, 3) n"), bind(portal="p"))
    assert session.ask(query("begin")) == "C Z:T"
    assert session.ask(*named, execute("p", limit=1), SYNC) == "1 2 D s Z:T"
    assert session.ask(execute("p", limit=1), SYNC) == "D s Z:T"
    assert session.ask(bind(portal="p"), SYNC) == "E Z:E"
    assert session.ask(query("rollback")) == "C Z:I"
    session.send(execute("p"), SYNC)
    assert session.ready()[0].sqlstate == "34000"


def test_statements_live_as_long_as_their_session(session: Wire) -> None:
    assert session.ask(parse("select $1::int + 1", "s"), SYNC) == "1 Z:I"
    session.send(bind(b"41", statement="s"), execute(), SYNC)
    assert [answer.values for answer in session.ready() if answer.tag == "D"] == [[b"42"]]
    session.send(parse("select 2", "s"), SYNC)
    assert session.ready()[0].sqlstate == "42P05"
    assert session.ask(close("S", "s"), close("S", "s"), SYNC) == "3 3 Z:I"
    session.send(bind(b"41", statement="s"), SYNC)
    assert session.ready()[0].sqlstate == "26000"
    # By SQL, too, which is how some drivers close them.
    assert session.ask(parse("select 1", "s"), SYNC) == "1 Z:I"
    assert session.ask(query('deallocate "s"')) == "C Z:I"
    assert session.ask(parse("select 1", "s"), SYNC) == "1 Z:I"
    assert session.ask(query("deallocate all")) == "C Z:I"
    session.send(bind(statement="s"), SYNC)
    assert session.ready()[0].sqlstate == "26000"


def test_describe_tells_parameters_and_columns(session: Wire) -> None:
    session.send(parse("select id, name, 1.5 as x from t where id = $1 and name = $2"), describe("S"), SYNC)
    _, parameters, description, _ = session.ready()
    assert parameters.body == b"\0\2" + (23).to_bytes(4) + (25).to_bytes(4)
    assert description.tag == "T"
    assert description.body[:2] == b"\0\3"
    assert b"id\0" in description.body
    assert session.ask(parse("insert into t values ($1, $2)"), describe("S"), SYNC) == "1 t n Z:I"


@pytest.mark.parametrize(
    ("messages", "sqlstate"),
    [
        ((parse("select $1::int"), bind()), "08P01"),
        ((parse("select 1"), bind(b"1")), "08P01"),
        ((parse("select 1, 2"), bind(results=(0, 0, 0))), "08P01"),
        ((parse("select 1"), bind(results=(7,))), "22023"),
        ((parse("select $1::int"), bind(b"x")), "22P02"),
        ((parse("select $1::text"), bind(b"\xff")), "22021"),
        ((parse("select 1", types=(999_999,)),), "42704"),
        ((bind(statement="absent"),), "26000"),
        ((execute("absent"),), "34000"),
        ((describe("S", "absent"),), "26000"),
        ((describe("P", "absent"),), "34000"),
    ],
)
def test_misuse_is_told(session: Wire, messages: tuple[bytes, ...], sqlstate: str) -> None:
    session.send(*messages, SYNC)
    *_, error, ready = session.ready()
    assert (error.sqlstate, ready.body) == (sqlstate, b"I")
    assert session.ask(query("select 1")) == "T D C Z:I"


def test_a_large_result_streams(session: Wire, server: Rowferry) -> None:
    before = status(server, "VmRSS")
    session.send(query("select n, repeat('x', 100) from generate_series(1, 500000) n"))
    count = 0
    while (answer := session.receive()).tag != "C":
        count += answer.tag == "D"
        if count % 100_000 == 1:
            assert status(server, "VmRSS") - before < 32 * 1024
    assert (count, answer.command) == (500_000, "SELECT 500000")
    session.ready()


def test_an_error_in_the_middle_of_a_result(session: Wire) -> None:
    session.send(query("select 10 / (5000 - n) from generate_series(1, 10000) n"))
    *answers, error, ready = session.ready()
    assert (error.sqlstate, ready.body) == ("22012", b"I")
    assert [answer.tag for answer in answers] == ["T"] + ["D"] * 4_999


def test_sql_and_the_protocol_share_statements_and_cursors(session: Wire) -> None:
    assert session.ask(query("prepare s as select $1::int + 1")) == "C Z:I"
    session.send(bind(b"41", statement="s"), execute(), SYNC)
    assert [answer.values for answer in session.ready() if answer.tag == "D"] == [[b"42"]]
    assert session.ask(query("begin; declare c cursor for select 1")) == "C C Z:T"
    assert session.ask(describe("P", "c"), SYNC) == "T Z:T"
    assert session.ask(query("fetch all from c; rollback")) == "T D C C Z:I"
    assert session.ask(describe("P", "c"), SYNC) == "E Z:I"
