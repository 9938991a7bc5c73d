"""Prepared statements and cursors, as they are on the wire."""

from __future__ import annotations

import struct
from collections.abc import Iterator

import pytest

from tests.servers.rowferry import Rowferry

from . import wire
from .wire import Client, ServerError

LONGLONG, VAR_STRING = 8, 253


@pytest.fixture(params=[0, wire.DEPRECATE_EOF])
def client(server: Rowferry, request: pytest.FixtureRequest) -> Iterator[Client]:
    """A client that is in, of both ways to end rows."""
    assert server.mysql is not None
    with Client(server.mysql, database="app", capabilities=wire.USUAL | request.param) as client:
        yield client


def test_values_go_in_and_come_back(client: Client, table: str) -> None:
    client.query(f"CREATE TABLE {table} (id BIGINT PRIMARY KEY, name VARCHAR(20))")
    statement, params, columns = client.prepare(f"INSERT INTO {table} VALUES (?, ?)")
    assert (params, columns) == (2, [])
    for ident, name in [(1, "a"), (-(2**63), ""), (2**63 - 1, None)]:
        assert client.execute(statement, [ident, name]).affected == 1
    statement, params, columns = client.prepare(f"SELECT id, name FROM {table} WHERE id >= ? ORDER BY id")
    assert (params, [column.name for column in columns]) == (1, ["id", "name"])
    result = client.execute(statement, [0])
    assert [column.type for column in result.columns] == [LONGLONG, VAR_STRING]
    assert result.rows == [
        b"\0\0" + struct.pack("<q", 1) + b"\1a",
        b"\0\x08" + struct.pack("<q", 2**63 - 1),
    ]
    # A text is taken for the number that it is.
    assert len(client.execute(statement, ["1"]).rows) == 2


def test_bytes_stay_bytes(client: Client, table: str) -> None:
    client.query(f"CREATE TABLE {table} (id INT, b BLOB)")
    statement, _, _ = client.prepare(f"INSERT INTO {table} VALUES (?, ?)")
    for at, content in enumerate([b"", b"\0\xff'", b"abc"]):
        client.execute(statement, [at, content])
    told = client.query(f"SELECT b FROM {table} ORDER BY id")
    assert told.texts() == [(b"",), (b"\0\xff'",), (b"abc",)]
    assert (told.columns[0].charset, told.columns[0].type) == (63, 252)


def test_a_statement_without_parameters_runs_again_and_again(client: Client) -> None:
    statement, params, columns = client.prepare("SELECT 7 AS a")
    assert (params, [column.name for column in columns]) == (0, ["a"])
    rows = [client.execute(statement).rows for _ in range(3)]
    assert rows[0] == rows[1] == rows[2]
    assert len(rows[0]) == 1
    client.command(wire.CLOSE, struct.pack("<I", statement))
    with pytest.raises(ServerError) as refused:
        client.execute(statement)
    assert refused.value.code == 1243


@pytest.mark.parametrize(
    "sql",
    [
        "ALTER TABLE {} ADD COLUMN word VARCHAR(9) AFTER id, ADD INDEX by_word (word)",
        "SET NAMES utf8mb4",
        "FLUSH TABLES",
    ],
)
def test_what_sends_no_rows_is_not_told_to(client: Client, table: str, sql: str) -> None:
    """PHP's PDO waits for the rows of what has columns: so Laravel's migrations are run."""
    client.query(f"CREATE TABLE {table} (id INT)")
    statement, params, columns = client.prepare(sql.format(table))
    assert (params, columns) == (0, [])
    assert client.execute(statement).columns == []


def test_a_reset_keeps_the_database(client: Client) -> None:
    client.query("CREATE DATABASE IF NOT EXISTS elsewhere")
    client.query("USE elsewhere")
    client.command(wire.RESET)
    client.result()
    assert client.query("SELECT DATABASE()").texts() == [(b"elsewhere",)]


def test_a_cursor_is_fetched_in_parts(client: Client, table: str) -> None:
    client.query(f"CREATE TABLE {table} (id INT)")
    client.query(f"INSERT INTO {table} VALUES (1), (2), (3), (4), (5)")
    statement, _, _ = client.prepare(f"SELECT id FROM {table} ORDER BY id")
    opened = client.execute(statement, cursor=1)
    assert opened.rows == []
    assert opened.status & wire.CURSOR_EXISTS
    # What happens to the table meanwhile is not seen.
    client.query(f"DELETE FROM {table}")
    seen = []
    statuses = []
    for _ in range(3):
        client.command(wire.FETCH, struct.pack("<II", statement, 2))
        part = client.rows(wire.Result())
        seen += [row[-4] for row in part.rows]
        statuses.append(part.status & (wire.CURSOR_EXISTS | wire.LAST_ROW_SENT))
    assert seen == [1, 2, 3, 4, 5]
    assert statuses == [wire.CURSOR_EXISTS, wire.CURSOR_EXISTS, wire.LAST_ROW_SENT]
    client.command(wire.FETCH, struct.pack("<II", statement, 2))
    with pytest.raises(ServerError) as over:
        client.result()
    assert over.value.code == 1421


def test_reset_gives_a_cursor_up(client: Client) -> None:
    statement, _, _ = client.prepare("SELECT 1")
    client.execute(statement, cursor=1)
    client.command(wire.RESET_STATEMENT, struct.pack("<I", statement))
    client.result()
    client.command(wire.FETCH, struct.pack("<II", statement, 2))
    with pytest.raises(ServerError) as over:
        client.result()
    assert over.value.code == 1421
    with pytest.raises(ServerError) as refused:
        client.execute(statement, cursor=4)
    assert refused.value.code == 1235


def test_a_value_comes_piece_by_piece(client: Client, table: str) -> None:
    client.query(f"CREATE TABLE {table} (id INT, body TEXT)")
    statement, _, _ = client.prepare(f"INSERT INTO {table} VALUES (?, ?)")
    for piece in (b"abc", b"", b"d" * 100_000):
        client.command(wire.LONG_DATA, struct.pack("<IH", statement, 1) + piece)
    head = struct.pack("<IBI", statement, 0, 1)
    client.command(wire.EXECUTE, head + b"\0\1\x08\0\xfd\0" + struct.pack("<q", 1))
    assert client.result().affected == 1
    assert client.query(f"SELECT body FROM {table}").texts() == [(b"abc" + b"d" * 100_000,)]
    # A parameter that is not there.
    client.command(wire.LONG_DATA, struct.pack("<IH", statement, 9) + b"x")
    with pytest.raises(ServerError) as refused:
        client.execute(statement, [1, "x"])
    assert refused.value.code == 1301
    assert client.execute(statement, [2, "x"]).affected == 1


def test_types_said_once_hold(client: Client, table: str) -> None:
    client.query(f"CREATE TABLE {table} (id BIGINT)")
    statement, _, _ = client.prepare(f"INSERT INTO {table} VALUES (?)")
    head = struct.pack("<IBI", statement, 0, 1)
    client.command(wire.EXECUTE, head + b"\0\0" + struct.pack("<q", 1))
    with pytest.raises(ServerError) as refused:
        client.result()
    assert refused.value.code == 1835
    client.execute(statement, [1])
    client.command(wire.EXECUTE, head + b"\0\0" + struct.pack("<q", 2))
    assert client.result().affected == 1
    assert client.query(f"SELECT id FROM {table} ORDER BY id").texts() == [(b"1",), (b"2",)]


def test_a_statement_outlives_changes_of_its_table(client: Client, table: str) -> None:
    client.query(f"CREATE TABLE {table} (id INT)")
    client.query(f"INSERT INTO {table} VALUES (1)")
    statement, _, columns = client.prepare(f"SELECT * FROM {table}")
    assert len(columns) == 1
    assert len(client.execute(statement).columns) == 1
    client.query(f"ALTER TABLE {table} ADD COLUMN name VARCHAR(5)")
    assert len(client.execute(statement).columns) == 2


def test_what_is_wrong_is_told_at_the_preparation(client: Client) -> None:
    for sql, code in [("SELEC 1", 1064), ("SELECT * FROM nope", 1146), ("", 1065), ("SELECT 1; SELECT 2", 1064)]:
        with pytest.raises(ServerError) as refused:
            client.prepare(sql)
        assert refused.value.code == code, sql
