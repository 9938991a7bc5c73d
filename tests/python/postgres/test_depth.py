"""Statements that nest deep, chain long or join wide: PostgreSQL takes them, so programs write them."""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
import pytest

from tests.servers.rowferry import Rowferry


@pytest.fixture(scope="module")
def connection(server: Rowferry) -> Iterator[psycopg.Connection]:
    with psycopg.connect(server.postgres_dsn, autocommit=True) as connection:
        connection.execute("create table chain (a int primary key, b text)")
        connection.execute("insert into chain select g, 'x' || g from generate_series(1, 50) g")
        yield connection


def nested(before: str, inner: str, after: str, depth: int) -> str:
    return before * depth + inner + after * depth


CASES = {
    "2,000 additions": ("select 1" + " + 1" * 2_000, 2_001),
    "2,000 additions of decimals": ("select (1.5" + " + 0.25" * 2_000 + ")::text", "501.50"),
    "2,000 additions to a column": ("select max(a" + " + 1" * 2_000 + ") from chain", 2_050),
    "2,000 concatenations": ("select length('a'" + " || 'b'" * 2_000 + ")", 2_001),
    "2,000 calls": ("select " + nested("abs(", "-1", ")", 2_000), 1),
    "2,000 casts": ("select 1" + "::text::int" * 1_000, 1),
    "2,000 negations": ("select " + "not " * 2_000 + "true", True),
    "2,000 conditions inside each other": (
        "select count(*) from chain where " + nested("(a = 1 or (a > 1 and ", "a < 3", "))", 1_000),
        2,
    ),
    "1,500 arms": ("select sum(x) from (" + " union all ".join(["select 1 as x"] * 1_500) + ") arms", 1_500),
    "1,500 arms that are different": (
        "select count(*) from (" + " union ".join(f"select {arm % 7}" for arm in range(1_500)) + ") arms",
        7,
    ),
    "1,500 arms over a table": (
        "select sum(n) from ("
        + " union all ".join(f"select count(*) as n from chain where a = {arm}" for arm in range(1_500))
        + ") arms",
        50,
    ),
    "500 scalar subselects": ("select " + nested("(select ", "7", ")", 500), 7),
    "500 derived tables": (
        "select * from " + "(select * from " * 500 + "(values (7)) v(x)" + "".join(f") s{at}" for at in range(500)),
        7,
    ),
    "500 IN subselects": (
        "select count(*) from chain where a in " + nested("(select a from chain where a in ", "(select 1)", ")", 500),
        1,
    ),
    "500 CASEs": (
        "select max("
        + "".join(f"case when a = {at} then {at} else " for at in range(500))
        + "-1"
        + " end" * 500
        + ") from chain",
        50,
    ),
    "100,000 ORs": ("select count(*) from chain where " + " or ".join(f"a = {at}" for at in range(100_000)), 50),
    "100,000 members of a list": (
        f"select count(*) from chain where a in ({', '.join(str(at) for at in range(100_000))})",
        50,
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_answers_deep_and_long_statements(connection: psycopg.Connection, case: str) -> None:
    text, expected = CASES[case]
    assert connection.execute(text).fetchall() == [(expected,)]


def test_too_deep_a_statement_is_an_error_and_nothing_more(connection: psycopg.Connection) -> None:
    for text in (
        "select 1" + " + 1" * 50_000,
        "select " + nested("(select ", "7", ")", 20_000),
        "select " + nested("abs(", "-1", ")", 7_000),
        "select * from " + "(select * from " * 9_000 + "chain" + " s)" * 9_000,
    ):
        with pytest.raises(psycopg.errors.StatementTooComplex):
            connection.execute(text)
    assert connection.execute("select 1").fetchone() == (1,)


JOINS = {
    "inner": lambda at: f"join chain t{at} on t{at}.a = t{at - 1}.a",
    "left": lambda at: f"left join chain t{at} on t{at}.a = t{at - 1}.a + 1",
    "full and right": lambda at: f"{('full', 'right')[at % 2]} join chain t{at} on t{at}.a = t{at - 1}.a",
}


@pytest.mark.parametrize("kind", JOINS)
@pytest.mark.parametrize("tables", [57, 100, 200])
def test_joins_more_tables_than_sqlite_takes(connection: psycopg.Connection, kind: str, tables: int) -> None:
    joined = "chain t0 " + " ".join(JOINS[kind](at) for at in range(1, tables))
    rows = connection.execute(
        f"select t0.a, t1.b, t{tables - 1}.b, t{tables // 2}.a from {joined} where t0.a < 4 order by 1"
    ).fetchall()
    if kind == "left":
        assert rows == [
            (
                a,
                f"x{a + 1}",
                f"x{a + tables - 1}" if a + tables <= 51 else None,
                a + tables // 2 if a + tables // 2 <= 50 else None,
            )
            for a in (1, 2, 3)
        ]
    else:
        assert rows == [(a, f"x{a}", f"x{a}", a) for a in (1, 2, 3)]


def test_conditions_of_a_wide_join_go_where_its_tables_are(connection: psycopg.Connection) -> None:
    tables = ", ".join(f"chain t{at}" for at in range(150))
    conditions = " and ".join(f"t{at}.a = t{at - 1}.a" for at in range(1, 150))
    text = f"select count(*), min(t0.b || t149.b) from {tables} where {conditions} and t75.a between 10 and 12"
    assert connection.execute(text).fetchone() == (3, "x10x10")


def test_a_wide_join_stands_inside_other_queries(connection: psycopg.Connection) -> None:
    joined = "chain t0 " + " ".join(JOINS["inner"](at) for at in range(1, 80))
    text = f"""
        with wide as (select t0.a, t79.b from {joined})
        select o.a, (select count(*) from {joined} where t79.a <= o.a and t0.a > 1)
        from chain o where exists (select 1 from wide where wide.a = o.a and wide.b = o.b) and o.a < 4
        union all select t5.a, t70.a from {joined} where t40.a = 50 order by 1
    """
    assert connection.execute(text).fetchall() == [(1, 0), (2, 1), (3, 2), (50, 50)]


def test_views_of_views_join_more_tables_than_sqlite_takes(connection: psycopg.Connection) -> None:
    for name in ("one", "two", "three"):
        joined = "chain t0 " + " ".join(JOINS["inner"](at) for at in range(1, 30))
        connection.execute(f"create view {name} as select t0.a, t29.b from {joined}")
    text = "select count(*), max(two.b) from one join two using (a) left join three using (a) where one.a < 6"
    assert connection.execute(text).fetchone() == (5, "x5")
