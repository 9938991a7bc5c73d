"""Statements in the server's log: which, with what, and in PostgreSQL's words."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Iterator
from typing import Any

import psycopg
import pytest

from tests.servers.process import ServerFailed
from tests.servers.rowferry import Rowferry

from .conftest import wait_until

Fields = dict[str, Any]
Start = Callable[..., Rowferry]


def lines(server: Rowferry) -> list[Fields]:
    """What the log says of statements, without times."""
    found = []
    for line in list(server.process.tail):
        if line.startswith("{") and '"fields"' in line:
            fields = json.loads(line)["fields"]
            if "pid" in fields:
                fields["message"] = re.sub(r"duration: \d+\.\d{3} ms", "duration: N ms", fields["message"])
                found.append(fields)
    return found


def logged(server: Rowferry, connection: psycopg.Connection, last: str) -> list[str]:
    """The messages up to one with `last` in it."""
    wait_until(lambda: any(last in line["message"] for line in lines(server)), last)
    return [line["message"] for line in lines(server)]


@pytest.fixture
def server(start: Start) -> Rowferry:
    return start("--log-format", "json", "--durability", "off")


@pytest.fixture
def connection(server: Rowferry) -> Iterator[psycopg.Connection]:
    with psycopg.connect(server.postgres_dsn, autocommit=True, application_name="app") as connection:
        yield connection


def test_statements_that_take_long_are_logged_with_whose_they_are(
    server: Rowferry, connection: psycopg.Connection
) -> None:
    connection.execute("SELECT 1")
    connection.execute("SET log_min_duration_statement = '100ms'")
    connection.execute("SELECT 2")
    connection.execute("SELECT pg_sleep(0.15), 'a''b'")
    connection.execute("SELECT pg_sleep(%s), %s::text, %s::int", [0.15, "it's", None])
    connection.execute("SELECT pg_sleep(%s)", [0.15], prepare=True)
    connection.execute("SET log_min_duration_statement = -1")
    connection.execute("SELECT pg_sleep(0.15), 3")
    connection.execute("SET log_statement = 'all'")
    connection.execute("SELECT 'last'")
    logged(server, connection, "'last'")
    first, second, third, last = lines(server)
    assert first["message"] == "duration: N ms  statement: SELECT pg_sleep(0.15), 'a''b'"
    assert (first["pid"], first["user"], first["database"], first["application"]) == (
        connection.info.backend_pid,
        "rowferry",
        "app",
        "app",
    )
    assert "detail" not in first
    assert second["message"] == "duration: N ms  execute <unnamed>: SELECT pg_sleep($1), $2::text, $3::int"
    assert second["detail"] == "parameters: $1 = '0.15', $2 = 'it''s', $3 = NULL"
    assert third["message"] == "duration: N ms  execute _pg3_0: SELECT pg_sleep($1)"
    assert last["message"] == "statement: SELECT 'last'"


def test_log_statement_takes_changes_of_the_schema_of_rows_or_all(
    server: Rowferry, connection: psycopg.Connection
) -> None:
    for which in ("ddl", "mod", "all"):
        connection.execute(f"SET log_statement = '{which}'")
        connection.execute(f"CREATE TABLE t_{which} (n int)")
        connection.execute(f"INSERT INTO t_{which} VALUES (1)")
        connection.execute(f"TRUNCATE t_{which}")
        connection.execute(f"SELECT n FROM t_{which}")
    assert logged(server, connection, "SELECT n FROM t_all") == [
        "statement: CREATE TABLE t_ddl (n int)",
        "statement: CREATE TABLE t_mod (n int)",
        "statement: INSERT INTO t_mod VALUES (1)",
        "statement: TRUNCATE t_mod",
        "statement: CREATE TABLE t_all (n int)",
        "statement: INSERT INTO t_all VALUES (1)",
        "statement: TRUNCATE t_all",
        "statement: SELECT n FROM t_all",
    ]


def test_a_statement_that_was_logged_has_its_duration_alone(server: Rowferry, connection: psycopg.Connection) -> None:
    connection.execute("SET log_duration = on")
    connection.execute("SET log_statement = 'all'")
    connection.execute("SET log_min_duration_statement = 0")
    connection.execute("SELECT 1")
    with pytest.raises(psycopg.errors.DivisionByZero):
        connection.execute("SELECT 1 / 0 AS wrong")
    connection.execute("SELECT 'last'")
    assert logged(server, connection, "'last'")[:7] == [
        "duration: N ms",  # of SET log_statement
        "statement: SET log_min_duration_statement = 0",
        "duration: N ms",
        "statement: SELECT 1",
        "duration: N ms",
        "statement: SELECT 1 / 0 AS wrong",
        "statement: SELECT 'last'",
    ]


def test_passwords_and_long_parameters_are_not_logged(server: Rowferry, connection: psycopg.Connection) -> None:
    connection.execute("SET log_statement = 'all'")
    connection.execute("CREATE ROLE eve PASSWORD 'do not tell'")
    connection.execute("SET log_parameter_max_length = 5")
    connection.execute("SELECT %s::text, 'last'", ["a long text"])
    messages = logged(server, connection, "'last'")
    assert not any("do not tell" in message for message in messages)
    assert lines(server)[-1]["detail"] == "parameters: $1 = 'a lon...'"


def test_auto_explain_logs_the_plans_of_slow_statements(server: Rowferry, connection: psycopg.Connection) -> None:
    connection.execute("CREATE TABLE t (n int PRIMARY KEY, v text)")
    connection.execute(
        "CREATE FUNCTION f() RETURNS int LANGUAGE plpgsql AS 'BEGIN RETURN (SELECT n FROM t WHERE n = 1); END'"
    )
    connection.execute("LOAD 'auto_explain'")
    connection.execute("SET auto_explain.log_min_duration = 0")
    connection.execute("SELECT v FROM t WHERE n = 5")
    connection.execute("SET auto_explain.log_nested_statements = on")
    connection.execute("SELECT f()")
    connection.execute("SET auto_explain.log_format = json")
    connection.execute("SELECT v FROM t WHERE v = 'last'")
    messages = logged(server, connection, "'last'")
    assert messages[0].splitlines()[:2] == ["duration: N ms  plan:", "Query Text: SELECT v FROM t WHERE n = 5"]
    assert "Index Scan using t_pkey on t" in messages[0] and "Index Cond: (n = " in messages[0]
    assert "SELECT n FROM t WHERE n = 1" in messages[1] and "Query Text: SELECT f()" in messages[2]
    head, _, plan = messages[3].partition("\n")
    told = json.loads(plan)
    assert (head, told["Query Text"]) == ("duration: N ms  plan:", "SELECT v FROM t WHERE v = 'last'")
    assert told["Plan"]["Node Type"] == "Seq Scan"
    # Plans are looked up when the statement is over: nothing of that is a transaction of the session.
    assert connection.info.transaction_status == psycopg.pq.TransactionStatus.IDLE


def test_plans_that_wait_for_the_end_of_a_function_are_not_without_number(
    server: Rowferry, connection: psycopg.Connection
) -> None:
    connection.execute("CREATE TABLE t (n int PRIMARY KEY)")
    connection.execute(
        "CREATE FUNCTION f() RETURNS void LANGUAGE plpgsql AS $$ BEGIN"
        " FOR i IN 1..1005 LOOP PERFORM n FROM t WHERE n = i; END LOOP; PERFORM pg_sleep(3); END $$"
    )
    connection.execute("LOAD 'auto_explain'")
    connection.execute("SET auto_explain.log_min_duration = 0")
    connection.execute("SET auto_explain.log_nested_statements = on")
    running = threading.Thread(target=connection.execute, args=("SELECT f()",))
    running.start()
    unexplained = "Query Text: SELECT n FROM t WHERE n = i\nno plan: 1000 wait"
    wait_until(lambda: any(unexplained in line["message"] for line in lines(server)), unexplained)
    running.join()
    assert "Result" in logged(server, connection, "Query Text: SELECT f()")[-1]


def test_what_auto_explain_cannot_do_is_refused(connection: psycopg.Connection) -> None:
    for setting in ("log_analyze = on", "log_buffers = on", "log_triggers = on", "sample_rate = 0.5"):
        with pytest.raises(psycopg.errors.FeatureNotSupported):
            connection.execute(f"SET auto_explain.{setting}")  # type: ignore[arg-type]
    with pytest.raises(psycopg.errors.FeatureNotSupported, match="LOAD of other"):
        connection.execute("LOAD 'other'")


def test_settings_of_the_command_line_are_those_of_every_session(start: Start) -> None:
    server = start("--log-format", "json", "-c", "log_statement=all", "-c", "TimeZone=Europe/Berlin")
    with psycopg.connect(server.postgres_dsn, autocommit=True) as connection:
        connection.execute("SELECT %s::int AS first", [1])
        assert connection.execute("SHOW timezone").fetchone() == ("Europe/Berlin",)
        connection.execute("SET TimeZone = 'UTC'")
        connection.execute("RESET TimeZone")
        assert connection.execute("SHOW timezone").fetchone() == ("Europe/Berlin",)
        source = connection.execute("SELECT source FROM pg_settings WHERE name = 'log_statement'").fetchone()
        assert source == ("command line",)
    assert lines(server)[0]["message"] == "execute <unnamed>: SELECT $1::int AS first"
    with psycopg.connect(server.postgres_dsn, autocommit=True, options="-c timezone=UTC") as connection:
        assert connection.execute("SHOW timezone").fetchone() == ("UTC",)


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        ("log_statement", "is not NAME=VALUE"),
        ("no_such=1", 'unrecognized configuration parameter "no_such"'),
        ("log_statement=some", 'invalid value for parameter "log_statement"'),
        ("fsync=off", "fsync"),
    ],
)
def test_a_wrong_setting_of_the_command_line_ends_the_start(start: Start, setting: str, said: str) -> None:
    with pytest.raises(ServerFailed, match=re.escape(said)):
        start("-c", setting)
