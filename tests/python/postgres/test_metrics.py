"""`rowferry serve --metrics`: the figures are those of what clients have done, in the form that Prometheus reads."""

from __future__ import annotations

import http.client
import os
import re
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import psycopg
import pytest

from tests.servers.process import ServerFailed
from tests.servers.rowferry import Rowferry

from .conftest import wait_until

Figures = dict[str, float]


def get(server: Rowferry, path: str, method: str = "GET") -> tuple[int, str, str]:
    """Status, form and body of an answer."""
    assert server.metrics
    with closing(http.client.HTTPConnection(*server.metrics, timeout=30)) as connection:
        connection.request(method, path)
        response = connection.getresponse()
        return response.status, response.getheader("Content-Type") or "", response.read().decode()


def figures(server: Rowferry) -> Figures:
    """Every figure by its name and labels, as they are written; the form is checked line by line."""
    status, form, body = get(server, "/metrics")
    assert (status, form) == (200, "text/plain; version=0.0.4; charset=utf-8")
    found: Figures = {}
    types: dict[str, str] = {}
    for line in body.splitlines():
        if line.startswith("# HELP "):
            continue
        if line.startswith("# TYPE "):
            _, _, name, kind = line.split(" ")
            assert name not in types
            types[name] = kind
            continue
        match = re.fullmatch(r'([a-z_]+)(\{(?:[a-z_]+="[^"\\\n]*",?)*\})? ([0-9.e+-]+)', line)
        assert match, line
        name = re.sub(r"_(bucket|sum|count)$", "", match[1]) if match[1] not in types else match[1]
        assert types[name] == ("counter" if name.endswith("_total") else types[name]), line
        assert (types[name] == "counter") == name.endswith("_total"), line
        key = match[1] + (match[2] or "")
        assert key not in found
        found[key] = float(match[3])
    return found


@pytest.fixture
def server(start: Callable[..., Rowferry]) -> Rowferry:
    return start("--metrics", "127.0.0.1:0", "--durability", "off", informix=True)


@pytest.fixture
def connection(server: Rowferry) -> Iterator[psycopg.Connection]:
    with psycopg.connect(server.postgres_dsn, autocommit=True) as connection:
        yield connection


def grown(server: Rowferry, act: Callable[[], object]) -> Figures:
    """By how much each figure is another afterwards."""
    before = figures(server)
    act()
    after = figures(server)
    return {key: after[key] - before.get(key, 0) for key in after if after[key] != before.get(key, 0)}


def labelled(figures: Figures, name: str, **labels: str) -> float:
    """The one figure of a name with these labels, in whichever order they are written."""
    wanted = {f'{label}="{value}"' for label, value in labels.items()}
    found = [
        value
        for key, value in figures.items()
        if key.partition("{")[0] == name and set(re.findall(r'[a-z_]+="[^"]*"', key)) == wanted
    ]
    assert len(found) <= 1
    return found[0] if found else 0


def of(figures: Figures, name: str, **labels: str) -> float:
    return labelled(figures, f"rowferry_{name}", database="app", **labels)


def test_statements_are_counted_by_kind_and_outcome(server: Rowferry, connection: psycopg.Connection) -> None:
    def act() -> None:
        connection.execute("CREATE TABLE t (n int PRIMARY KEY, v text)")
        connection.execute("INSERT INTO t SELECT g, 'v' FROM generate_series(1, 100) g")
        connection.execute("UPDATE t SET v = 'w' WHERE n <= 10")
        connection.execute("DELETE FROM t WHERE n > 95")
        for _ in range(3):
            assert len(connection.execute("SELECT * FROM t WHERE n <= %s", [20]).fetchall()) == 20
        with connection.cursor().copy("COPY t FROM STDIN") as copy:
            copy.write("1000\tx\n1001\ty\n")
        with connection.cursor().copy("COPY t TO STDOUT") as copy:
            assert len(list(copy)) == 97
        with pytest.raises(psycopg.errors.UniqueViolation):
            connection.execute("INSERT INTO t VALUES (1, 'again')")
        with pytest.raises(psycopg.errors.DivisionByZero):
            connection.execute("SELECT 1 / (n - n) FROM t")
        with pytest.raises(psycopg.errors.UndefinedTable):
            connection.execute("SELECT * FROM nowhere")
        with connection.transaction():
            connection.execute("SET LOCAL work_mem = '8MB'")

    counted = grown(server, act)

    def ran(command: str, outcome: str = "completed") -> float:
        return of(counted, "statements_total", command=command, outcome=outcome)

    assert [ran(command) for command in ("ddl", "insert", "update", "delete", "select", "copy")] == [1, 1, 1, 1, 3, 2]
    assert [ran("transaction"), ran("other"), ran("insert", "failed"), ran("select", "failed")] == [2, 1, 1, 1]
    # A statement that cannot be understood has not run; it is an error all the same.
    errors = [of(counted, "errors_total", sqlstate_class=of_class) for of_class in ("22", "23", "42")]
    assert errors == [1, 1, 1]
    assert of(counted, "rows_total") == 100 + 10 + 5 + 3 * 20 + 2 + 97
    assert of(counted, "statement_duration_seconds_count") == 14
    assert 0 < of(counted, "statement_duration_seconds_sum") < 60
    rows = [of(counted, "table_rows_total", operation=operation) for operation in ("insert", "update", "delete")]
    assert rows == [102, 10, 5]
    assert of(counted, "transactions_total", outcome="rollback") == 3


def test_buckets_are_cumulative(server: Rowferry, connection: psycopg.Connection) -> None:
    connection.execute("SELECT pg_sleep(0.12)")
    told = figures(server)
    name = "rowferry_statement_duration_seconds_bucket"
    buckets = [value for key, value in told.items() if key.startswith(name)]
    assert buckets == sorted(buckets) and len(buckets) == 13
    assert labelled(told, name, database="app", le="0.1") < labelled(told, name, database="app", le="0.5")
    assert labelled(told, name, database="app", le="+Inf") == of(told, "statement_duration_seconds_count")


def test_plans_that_are_there_are_told_from_those_that_must_be_made(
    server: Rowferry, connection: psycopg.Connection
) -> None:
    connection.prepare_threshold = None
    connection.execute("CREATE TABLE t (n int)")
    first = grown(server, lambda: connection.execute("SELECT n FROM t WHERE n = 5"))
    again = grown(server, lambda: connection.execute("SELECT n FROM t WHERE n = 5"))
    assert of(first, "plan_cache_misses_total") >= 1
    assert of(first, "plan_cache_hits_total") == 0
    assert of(again, "plan_cache_hits_total") >= 1


def test_connections_and_sessions_are_counted_by_door_and_by_what_they_do(server: Rowferry) -> None:
    before = figures(server)
    assert labelled(before, "rowferry_connections_max") == 500
    with closing(psycopg.connect(server.postgres_dsn)) as one, closing(psycopg.connect(server.postgres_dsn)) as two:
        one.execute("SELECT 1")
        two.commit()
        told = figures(server)
        assert labelled(told, "rowferry_connections", door="postgres") == 2
        assert of(told, "sessions", door="postgres", state="idle in transaction") == 1
        assert of(told, "sessions", door="postgres", state="idle") == 1
        assert labelled(told, "rowferry_received_bytes_total", door="postgres") > 50
        assert labelled(told, "rowferry_sent_bytes_total", door="postgres") > 100
    wait_until(lambda: labelled(figures(server), "rowferry_connections", door="postgres") == 0, "all are gone")
    assert labelled(figures(server), "rowferry_connections_accepted_total", door="postgres") == 2
    assert of(figures(server), "sessions_begun_total") == 2


def test_each_door_has_its_connections(server: Rowferry) -> None:
    assert server.informix
    with socket.create_connection(server.informix) as connection:
        connection.sendall(b"no Informix client")
        while connection.recv(1024):
            pass
    told = figures(server)
    assert labelled(told, "rowferry_connections_accepted_total", door="informix") == 1
    assert labelled(told, "rowferry_received_bytes_total", door="informix") == 18
    assert labelled(told, "rowferry_sent_bytes_total", door="informix") > 0
    assert labelled(told, "rowferry_connections_accepted_total", door="postgres") == 0


def test_waits_for_locks_are_counted(server: Rowferry, connection: psycopg.Connection) -> None:
    connection.execute("CREATE TABLE t (n int)")
    before = figures(server)
    with closing(psycopg.connect(server.postgres_dsn)) as holder:
        holder.execute("INSERT INTO t VALUES (1)")
        waiter = threading.Thread(target=lambda: connection.execute("INSERT INTO t VALUES (2)"))
        waiter.start()
        wait_until(lambda: of(figures(server), "lock_waiting_sessions") == 1, "the second writer waits")
        holder.commit()
        waiter.join()
    told = figures(server)
    assert of(told, "lock_waiting_sessions") == 0
    assert of(told, "lock_waits_total") - of(before, "lock_waits_total") == 1
    assert 0 < of(told, "lock_wait_seconds_total") < 60


def test_counts_outlive_their_sessions_and_pg_stat_reset(server: Rowferry) -> None:
    with psycopg.connect(server.postgres_dsn, autocommit=True) as connection:
        connection.execute("CREATE TABLE t (n int)")
        connection.execute("INSERT INTO t VALUES (1)")
        connection.execute("SELECT pg_stat_reset()")
    wait_until(lambda: labelled(figures(server), "rowferry_connections", door="postgres") == 0, "it is gone")
    told = figures(server)
    assert of(told, "table_rows_total", operation="insert") == 1
    assert of(told, "statements_total", command="insert", outcome="completed") == 1


def test_each_database_has_its_figures(start: Callable[..., Rowferry], tmp_path: Path) -> None:
    more = tmp_path / "more"
    more.mkdir()
    server = start("--metrics", "127.0.0.1:0", "--databases", str(more))
    with psycopg.connect(server.postgres_dsn, autocommit=True) as connection:
        connection.execute("CREATE DATABASE other")
    with psycopg.connect(server.postgres_dsn.replace("/app", "/other"), autocommit=True) as connection:
        connection.execute("CREATE TABLE t (n int)")
        told = figures(server)
    assert labelled(told, "rowferry_statements_total", database="other", command="ddl", outcome="completed") == 1
    assert labelled(told, "rowferry_file_size_bytes", database="other") > 0


def test_health_is_told_until_the_file_is_gone(server: Rowferry) -> None:
    assert get(server, "/health")[::2] == (200, "ok\n")
    assert get(server, "/health", "HEAD")[0] == 200
    moved = server.database.with_name("moved.db")
    server.database.rename(moved)
    status, _, body = get(server, "/health")
    assert (status, body) == (503, "the file does not answer (SQLSTATE 58030)\n")
    moved.rename(server.database)


def test_a_server_that_stops_is_not_well(start: Callable[..., Rowferry]) -> None:
    server = start("--metrics", "127.0.0.1:0", "--stop-grace", "20")
    with closing(psycopg.connect(server.postgres_dsn, autocommit=True)) as connection:
        busy = threading.Thread(target=lambda: connection.execute("SELECT pg_sleep(3)"))
        busy.start()
        wait_until(lambda: of(figures(server), "sessions", door="postgres", state="active") == 1, "it sleeps")
        os.kill(server.pid, signal.SIGTERM)
        wait_until(lambda: get(server, "/health")[0] == 503, "it stops")
        assert get(server, "/health")[2] == "the server stops\n"
        busy.join()


def test_only_the_two_pages_are_answered_and_only_read(server: Rowferry) -> None:
    assert get(server, "/")[0] == 404
    assert get(server, "/metrics", "POST")[0] == 405
    assert get(server, "/metrics?x=1")[0] == 200


def test_who_does_not_read_or_ask_keeps_nobody_waiting(start: Callable[..., Rowferry]) -> None:
    server = start("--metrics", "127.0.0.1:0")
    assert server.metrics
    with closing(socket.create_connection(server.metrics, timeout=5)) as deaf, closing(socket.socket()) as mute:
        mute.connect(server.metrics)
        try:
            for _ in range(3_000):
                deaf.sendall(b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n")
        except OSError:
            pass  # It has been hung up on, or its answers fill all that is between.
        assert get(server, "/health")[0] == 200
        assert server.process.stop() == 0


@pytest.mark.parametrize(
    ("words", "status"),
    [
        (b"\x16\x03\x01\x02\x00\x01\r\n\r\n", b"400 Bad Request"),
        (b"GET\r\n\r\n", b"400 Bad Request"),
        (b"GET /health HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n", b"400 Bad Request"),
        (b"POST /health HTTP/1.1\r\nContent-Length: 9000\r\n\r\n", b"413 Content Too Large"),
        (b"G" * 10_000, b"431 Request Header Fields Too Large"),
    ],
)
def test_what_is_no_request_is_told_so(server: Rowferry, words: bytes, status: bytes) -> None:
    assert server.metrics
    with closing(socket.create_connection(server.metrics, timeout=30)) as connection:
        connection.sendall(words)
        assert connection.recv(100).startswith(b"HTTP/1.1 " + status + b"\r\n")
    assert get(server, "/health")[0] == 200


def test_the_network_is_not_told_without_users(start: Callable[..., Rowferry]) -> None:
    with pytest.raises(ServerFailed, match="--metrics: refusing to listen"):
        start("--metrics", "0.0.0.0:0")


def test_without_the_option_nobody_listens(start: Callable[..., Rowferry]) -> None:
    assert start().metrics is None
