"""Statements that want more memory than there is fail; the server, and everybody else, goes on.

The server gets an address space of 1 GiB (`prlimit --as`), so that an allocation too much is refused by the system and
not by chance. Each bomb ends in 53200 or 54000, or finishes since it did not need the memory after all.
"""

from __future__ import annotations

import os
import resource
import threading
from collections.abc import Callable, Iterator

import psycopg
import pytest

from tests.servers.rowferry import Rowferry

pytestmark = pytest.mark.skipif(not hasattr(resource, "prlimit"), reason="address spaces are limited on Linux only")

ADDRESS_SPACE = 1 << 30

# What may become of a bomb: out of memory, a limit exceeded, a statement too complex, its own time, or a number
# beyond what PostgreSQL can have.
HARMLESS = {"53200", "54000", "54001", "57014", "22003"}

# A bomb that only takes long is stopped; it has been harmless until then.
STATEMENT_TIMEOUT = "5s"


def run(sql: str) -> Callable[[psycopg.Connection], None]:
    """A bomb that is one text."""

    def bomb(connection: psycopg.Connection) -> None:
        connection.execute(sql.encode())

    return bomb


def bind_long_parameters(connection: psycopg.Connection) -> None:
    connection.execute("select length(%s), length(%s), length(%s)", ["x" * 20_000_000] * 3)


def copy_a_long_line(connection: psycopg.Connection) -> None:
    connection.execute("create temp table copied (t text)")
    with connection.cursor().copy("copy copied from stdin") as copy:
        for _ in range(600):
            copy.write("x" * 1_000_000)


def copy_many_long_lines(connection: psycopg.Connection) -> None:
    connection.execute("create temp table copied_lines (t text)")
    with connection.cursor().copy("copy copied_lines from stdin") as copy:
        for _ in range(5):
            copy.write("x" * 20_000_000 + "\n")


def prepare_many(connection: psycopg.Connection) -> None:
    columns = ", ".join(f"$1 + {number} as c{number}" for number in range(100))
    for number in range(400):
        connection.pgconn.prepare(f"s{number}".encode(), f"select {number}, {columns}".encode())


def hold_many_cursors(connection: psycopg.Connection) -> None:
    with connection.transaction():
        for number in range(200):
            connection.execute(
                f"declare c{number} cursor with hold for select repeat('x', 10000) from generate_series(1, 400)"
            )


def scroll_far(connection: psycopg.Connection) -> None:
    with connection.transaction():
        connection.execute("declare s scroll cursor for select repeat('x', 10000) from generate_series(1, 100000)")
        connection.execute("fetch last from s")


def make_many_temporary_tables(connection: psycopg.Connection) -> None:
    columns = ", ".join(f"a_long_name_of_a_column_{number} text" for number in range(100))
    with connection.transaction():
        for number in range(60):
            connection.execute(f"create temp table t{number} ({columns})")


def set_long_variables(connection: psycopg.Connection) -> None:
    for number in range(20):
        connection.execute("select set_config(%s, repeat('x', 30000000), false)", [f"my.v{number}"])


BOMBS: dict[str, Callable[[psycopg.Connection], None]] = {
    "string_agg": run("select length(string_agg(repeat('x', 10000), ',')) from generate_series(1, 200000)"),
    "string_agg_distinct": run(
        "select length(string_agg(distinct repeat('x', 1000) || g, ',')) from generate_series(1, 1000000) g"
    ),
    "string_agg_window": run(
        "select max(length(s)) from (select string_agg(repeat('x', 10000), ',') over (order by g) s"
        " from generate_series(1, 30000) g) w"
    ),
    "array_agg": run("select cardinality(array_agg(repeat('x', 1000))) from generate_series(1, 1000000)"),
    "array_agg_numbers": run("select cardinality(array_agg(g)) from generate_series(1, 50000000) g"),
    "json_agg": run("select length(json_agg(repeat('x', 10000))::text) from generate_series(1, 200000)"),
    "jsonb_object_agg": run(
        "select length(jsonb_object_agg(g, repeat('x', 1000))::text) from generate_series(1, 500000) g"
    ),
    "string_to_array": run("select cardinality(string_to_array(repeat('a,', 20000000), ','))"),
    "string_to_table": run("select count(*) from string_to_table(repeat('a,', 20000000), ',')"),
    "regexp_split_to_array": run("select cardinality(regexp_split_to_array(repeat('a,', 10000000), ','))"),
    "regexp_matches": run("select count(*) from regexp_matches(repeat('a,', 10000000), 'a', 'g')"),
    "regexp_replace": run("select length(regexp_replace(repeat('a', 1000000), 'a', repeat('b', 1000), 'g'))"),
    "repeat": run("select length(repeat('x', 900000000))"),
    "repeat_repeat": run("select length(repeat(repeat('x', 1000), 900000))"),
    "concatenation": run("select length(repeat('x', 100000000) || repeat('y', 100000000) || repeat('z', 100000000))"),
    "lpad": run("select length(lpad('x', 240000000, 'yz'))"),
    "format": run("select length(format('%100000000s%100000000s%100000000s', 'a', 'b', 'c'))"),
    "replace": run("select length(replace(repeat('a', 1000000), 'a', repeat('b', 1000)))"),
    "encode": run("select length(encode(convert_to(repeat('x', 100000000), 'UTF8'), 'escape'))"),
    "upper": run("select length(upper(repeat('x', 200000000)))"),
    "array_fill": run("select cardinality(array_fill(repeat('x', 1000), array[1000000]))"),
    "array_cat": run(
        "with recursive t(n, a) as (select 1, array['x'] union all select n + 1, a || a from t where n < 30)"
        " select max(cardinality(a)) from t"
    ),
    "array_input": run("select cardinality(('{' || repeat('a,', 20000000) || 'a}')::text[])"),
    "json_input": run("select length(('[' || repeat('[1],', 15000000) || '1]')::jsonb::text)"),
    "json_nesting": run(
        "with recursive t(n, j) as (select 1, json_build_array(1) union all"
        " select n + 1, json_build_array(j, j) from t where n < 40) select max(length(j::text)) from t"
    ),
    "recursive_text": run(
        "with recursive t(n, x) as (select 1, 'x' union all select n + 1, x || x from t where n < 40)"
        " select max(length(x)) from t"
    ),
    "cross_join_sort": run(
        "select repeat(a::text, 500) from generate_series(1, 400) a, generate_series(1, 200) b order by 1 desc, b"
        " offset 79990"
    ),
    "distinct": run("select count(*) from (select distinct repeat(a::text, 200) from generate_series(1, 200000) a) s"),
    "group": run("select count(*) from (select 1 from generate_series(1, 200000) a group by repeat(a::text, 200)) s"),
    "many_columns": run("select " + ", ".join(["repeat('x', 50000000)"] * 20)),
    "numeric": run("select length((repeat('9', 50000000)::numeric)::text)"),
    "numeric_product": run("select length((repeat('9', 100000)::numeric * repeat('9', 100000)::numeric)::text)"),
    "bytea": run("select length(decode(repeat('00', 200000000), 'hex'))"),
    "long_literal": run("select length('" + "x" * 60_000_000 + "')"),
    "many_tokens": run("select " + "1," * 3_000_000 + "1"),
    "many_statements": run("select 1;" * 500_000),
    "many_rows_of_values": run("select count(*) from (values " + "(1)," * 1_000_000 + "(1)) v"),
    "bind": bind_long_parameters,
    "copy_line": copy_a_long_line,
    "copy_lines": copy_many_long_lines,
    "prepared_statements": prepare_many,
    "held_cursors": hold_many_cursors,
    "scroll": scroll_far,
    "temporary_tables": make_many_temporary_tables,
    "variables": set_long_variables,
}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rowferry]:
    path = tmp_path_factory.mktemp("bombs") / "app.db"
    before = ["prlimit", f"--as={ADDRESS_SPACE}"]
    with Rowferry.start(path, before=before) as server:
        yield server


class Neighbour:
    """A client that asks for its row all the time, and must always get it."""

    def __init__(self, dsn: str) -> None:
        self._connection = psycopg.connect(dsn, autocommit=True)
        self._connection.execute("create temp table mine as select 42 as answer")
        self._over = threading.Event()
        self.answers = 0
        self.error: BaseException | None = None
        self._thread = threading.Thread(target=self._ask)
        self._thread.start()

    def _ask(self) -> None:
        try:
            while not self._over.is_set():
                assert self._connection.execute("select answer from mine").fetchall() == [(42,)]
                self.answers += 1
        except BaseException as error:
            self.error = error

    def stop(self) -> None:
        self._over.set()
        self._thread.join(60)
        self._connection.close()
        assert self.error is None, self.error
        assert self.answers > 0


@pytest.fixture
def neighbour(server: Rowferry) -> Iterator[Neighbour]:
    neighbour = Neighbour(server.postgres_dsn)
    yield neighbour
    neighbour.stop()


@pytest.mark.parametrize("name", BOMBS)
def test_bomb_hurts_nobody(name: str, server: Rowferry, neighbour: Neighbour) -> None:
    with psycopg.connect(server.postgres_dsn, autocommit=True) as connection:
        connection.execute(f"set statement_timeout = '{STATEMENT_TIMEOUT}'")
        try:
            BOMBS[name](connection)
        except psycopg.Error as error:
            assert error.sqlstate in HARMLESS, f"{error.sqlstate}: {error}"
        # Whoever threw it goes on, too.
        assert connection.execute("select 1 + 1").fetchone() == (2,)
    os.kill(server.pid, 0)


def test_bombs_together_hurt_nobody(server: Rowferry, neighbour: Neighbour) -> None:
    outcomes: list[str | None] = []

    def throw(name: str) -> None:
        with psycopg.connect(server.postgres_dsn, autocommit=True) as connection:
            connection.execute(f"set statement_timeout = '{STATEMENT_TIMEOUT}'")
            try:
                BOMBS[name](connection)
                outcomes.append(None)
            except psycopg.Error as error:
                outcomes.append(error.sqlstate)

    names = ["string_agg", "repeat", "string_to_array", "json_input", "concatenation", "array_input"]
    threads = [threading.Thread(target=throw, args=[name]) for name in names]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert len(outcomes) == len(names), "a bomb has neither failed nor finished"
    assert {outcome for outcome in outcomes if outcome} <= HARMLESS
