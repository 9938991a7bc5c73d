"""EXPLAIN: SQLite's plan in PostgreSQL's shape, with what was counted when it ran."""

from __future__ import annotations

import re
from collections.abc import Iterator
from xml.etree import ElementTree

import psycopg
import pytest

from tests.servers.rowferry import Rowferry

COUNTED = "explain (analyze, timing off, summary off)"


@pytest.fixture(scope="module")
def connection(tmp_path_factory: pytest.TempPathFactory) -> Iterator[psycopg.Connection]:
    path = tmp_path_factory.mktemp("explain") / "app.db"
    with (
        Rowferry.start(path, args=["--durability", "off"]) as server,
        psycopg.connect(server.postgres_dsn, autocommit=True) as connection,
    ):
        connection.execute("create table t (id int primary key, a text, b int)")
        connection.execute("create index t_b on t (b)")
        connection.execute("insert into t select g, 'x' || g, g % 10 from generate_series(1, 1000) g")
        connection.execute("create table u (id int primary key, t_id int references t)")
        connection.execute("insert into u select g, g from generate_series(1, 100) g")
        yield connection


def lines(connection: psycopg.Connection, statement: str) -> list[str]:
    return [row[0] for row in connection.execute(statement)]  # type: ignore[arg-type]


def test_a_plan_has_the_names_of_tables_and_indexes(connection: psycopg.Connection) -> None:
    assert lines(connection, "explain select * from t where id = 3") == [
        "Index Scan using t_pkey on t",
        "  Index Cond: (id = ?)",
    ]
    assert lines(connection, "explain verbose select b from t where b > 3 and b < 5") == [
        "Index Only Scan using t_b on public.t",
        "  Index Cond: (b > ? AND b < ?)",
    ]
    assert lines(connection, "explain update t set a = 'y' where a = 'x'") == ["Update on t", "  ->  Seq Scan on t"]
    # A key that others refer to is looked for there.
    assert lines(connection, "explain delete from t where a = 'x'") == [
        "Delete on t",
        "  ->  Seq Scan on t",
        "        ->  Seq Scan on u",
    ]


def test_a_change_of_a_partitioned_table_names_its_partitions(connection: psycopg.Connection) -> None:
    connection.execute("create table p (id int primary key, n int) partition by range (id)")
    connection.execute("create table p_low partition of p for values from (0) to (100)")
    connection.execute("create table p_high partition of p for values from (100) to (200)")
    try:
        assert lines(connection, "explain delete from p") == [
            "Delete on p",
            "  ->  Append",
            "        ->  Seq Scan on p_low",
            "        ->  Seq Scan on p_high",
        ]
        assert lines(connection, "explain update p set n = n + 1 where id = 150") == [
            "Update on p",
            "  ->  Index Scan using p_high_pkey on p_high",
            "        Index Cond: (id = ?)",
        ]
        assert lines(connection, "explain insert into p values (1, 1)")[0] == "Insert on p"
    finally:
        connection.execute("drop table p")


def test_rows_and_loops_are_those_of_the_run(connection: psycopg.Connection) -> None:
    statement = "select t.a, count(*) from t join u on u.t_id = t.id where t.b = 3 group by t.a order by 2"
    assert lines(connection, f"{COUNTED} {statement}") == [
        "Sort (actual rows=10 loops=1)",
        "  Sort For: ORDER BY",
        "  ->  HashAggregate (actual rows=10 loops=1)",
        "        ->  Nested Loop",
        "              ->  Seq Scan on u (actual rows=100 loops=1)",
        "              ->  Index Scan using t_pkey on t (actual rows=1 loops=100)",
        "                    Index Cond: (id = ?)",
    ]


def test_functions_recursion_and_set_operations(connection: psycopg.Connection) -> None:
    statement = (
        "with recursive c(n) as (values (1) union all select n + 1 from c where n < 5) "
        "select * from c, generate_series(1, 2) g"
    )
    told = lines(connection, f"{COUNTED} {statement}")
    assert told[:3] == [
        "Nested Loop (actual rows=10 loops=1)",
        "  ->  CTE Scan on c (actual rows=5 loops=1)",
        "  ->  Function Scan on generate_series (actual rows=2 loops=5)",
    ]
    assert "  ->  Recursive Union" in told
    told = lines(connection, f"{COUNTED} select b from t union all select id from u")
    assert told == [
        "Append (actual rows=1100 loops=1)",
        "  ->  Index Only Scan using t_b on t (actual rows=1000 loops=1)",
        "  ->  Seq Scan on u (actual rows=100 loops=1)",
    ]
    assert lines(connection, "explain select 1 except select 2")[0] in ("SetOp", "HashSetOp")


def test_analyze_changes_what_the_statement_changes(connection: psycopg.Connection) -> None:
    with connection.transaction(force_rollback=True):
        told = lines(connection, f"{COUNTED} delete from u where id <= 10 returning id")
        assert told[0] == "Delete on u (actual rows=10 loops=1)"
        assert connection.execute("select count(*) from u").fetchone() == (90,)
        assert lines(connection, f"{COUNTED} create table made as select 1")
        assert connection.execute("select * from made").fetchone() == (1,)
    assert connection.execute("select count(*) from u").fetchone() == (100,)
    # Without ANALYZE nothing is run.
    assert lines(connection, "explain delete from u")
    assert connection.execute("select count(*) from u").fetchone() == (100,)


def test_a_failure_is_the_statements_own(connection: psycopg.Connection) -> None:
    with pytest.raises(psycopg.errors.DivisionByZero):
        connection.execute("explain analyze select 1 / (id - 3) from u")
    with pytest.raises(psycopg.errors.ReadOnlySqlTransaction), connection.transaction():
        connection.execute("set transaction read only")
        connection.execute("explain analyze delete from u")
    assert lines(connection, "explain analyze select 1")


def test_parameters(connection: psycopg.Connection) -> None:
    rows = connection.execute(f"{COUNTED} select * from t where b = %s", [4], prepare=True)  # type: ignore[arg-type]
    assert rows.fetchall()[0][0] == "Index Scan using t_b on t (actual rows=100 loops=1)"


def test_times(connection: psycopg.Connection) -> None:
    told = lines(connection, "explain analyze select * from t")
    number = r"\d+\.\d{3}"
    assert re.fullmatch(rf"Seq Scan on t \(actual time={number}\.\.{number} rows=1000 loops=1\)", told[0])
    assert re.fullmatch(rf"Planning Time: {number} ms", told[1])
    assert re.fullmatch(rf"Execution Time: {number} ms", told[2])
    assert len(lines(connection, "explain (summary) select * from t")) == 2


def test_formats(connection: psycopg.Connection) -> None:
    statement = "select (select max(id) from u) from t where b = 3 order by a"
    (plan,) = connection.execute(f"explain (analyze, format json) {statement}").fetchone() or ((),)  # type: ignore[arg-type]
    top = plan[0]["Plan"]
    assert (top["Node Type"], top["Actual Rows"], top["Actual Loops"]) == ("Sort", 100, 1)
    assert {"Planning Time", "Execution Time", "Triggers"} <= set(plan[0])
    assert [node["Relation Name"] for node in top["Plans"]] == ["t", "u"]
    (text,) = connection.execute(f"explain (format xml) {statement}").fetchone() or ("",)  # type: ignore[arg-type]
    space = "{http://www.postgresql.org/2009/explain}"
    root = ElementTree.fromstring(text)
    assert root.findtext(f"{space}Query/{space}Plan/{space}Node-Type") == "Sort"
    assert len(root.findall(f"{space}Query/{space}Plan/{space}Plans/{space}Plan")) == 2
    (text,) = connection.execute(f"explain (format yaml) {statement}").fetchone() or ("",)  # type: ignore[arg-type]
    assert text.splitlines()[:2] == ["- Plan: ", '    Node Type: "Sort"']


@pytest.mark.parametrize(
    ("options", "sqlstate"), [("timing", "22023"), ("wal", "22023"), ("format nope", "22023"), ("nope", "42601")]
)
def test_options_are_checked(connection: psycopg.Connection, options: str, sqlstate: str) -> None:
    with pytest.raises(psycopg.Error) as caught:
        connection.execute(f"explain ({options}) select 1")  # type: ignore[arg-type]
    assert caught.value.sqlstate == sqlstate


def test_counting_begins_anew(connection: psycopg.Connection) -> None:
    lines(connection, f"{COUNTED} select * from t")
    # What is told again is counted again, not added up.
    assert lines(connection, f"{COUNTED} select * from t") == ["Seq Scan on t (actual rows=1000 loops=1)"]


def test_what_is_prepared_is_explained_by_its_name(connection: psycopg.Connection) -> None:
    connection.execute("prepare by_id (int) as select * from t where id = $1")
    assert lines(connection, f"{COUNTED} execute by_id (3)") == [
        "Index Scan using t_pkey on t (actual rows=1 loops=1)",
        "  Index Cond: (id = ?)",
    ]
    connection.execute("prepare change (text) as update t set a = $1 where id = 7")
    assert lines(connection, "explain execute change ('seven')")[0] == "Update on t"
    assert connection.execute("select a from t where id = 7").fetchone() == ("x7",)
    assert lines(connection, f"{COUNTED} execute change ('seven')")[0] == "Update on t (actual rows=0 loops=1)"
    assert connection.execute("select a from t where id = 7").fetchone() == ("seven",)
    with pytest.raises(psycopg.errors.InvalidSqlStatementName):
        connection.execute("explain execute nothing")


def test_a_cursor_is_explained_and_not_opened(connection: psycopg.Connection) -> None:
    declare = "declare c cursor for select * from u"
    assert lines(connection, f"explain {declare}") == ["Seq Scan on u"]
    assert lines(connection, f"{COUNTED} {declare}") == ["Seq Scan on u (actual rows=100 loops=1)"]
    assert connection.execute("select name from pg_cursors where name = 'c'").fetchone() is None


def test_a_merge_is_told_by_how_its_rows_are_found(connection: psycopg.Connection) -> None:
    merge = "merge into u using t on t.id = u.id when matched then update set t_id = t.id"
    told = lines(connection, f"explain {merge}")
    assert told[0] == "Merge on u"
    assert told[-2:] == ["              ->  Index Scan using u_pkey on u", "                    Index Cond: (id = ?)"]
    assert connection.execute("select count(*) from u where id = t_id").fetchone() == (100,)
