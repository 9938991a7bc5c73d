"""The conversation: commands and their answers, as they are on the wire."""

from __future__ import annotations

import struct
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.servers.rowferry import Rowferry

from . import wire
from .wire import Client, ServerError

TINY, SHORT, LONG, DOUBLE, LONGLONG, DATE, VAR_STRING, NEWDECIMAL = 1, 2, 3, 5, 8, 10, 253, 246


def test_a_greeting_names_version_and_number(server: Rowferry) -> None:
    assert server.mysql is not None
    with Client(server.mysql) as first, Client(server.mysql) as second:
        assert first.version == "8.0.36-rowferry"
        assert first.number != second.number
        assert first.welcome.status & 2, "autocommit"


def test_rows_come_as_text(client: Client, table: str) -> None:
    client.query(f"CREATE TABLE {table} (id INT PRIMARY KEY, name VARCHAR(20) NOT NULL, price NUMERIC(8,2))")
    done = client.query(f"INSERT INTO {table} VALUES (1, 'größe', 1.5), (2, '', NULL)")
    assert (done.affected, done.status) == (2, 2)
    result = client.query(f"SELECT id, name, price FROM {table} ORDER BY id")
    assert result.texts() == [(b"1", "größe".encode(), b"1.50"), (b"2", b"", None)]
    ident, name, price = result.columns
    assert (ident.name, ident.schema, ident.table, ident.type) == ("id", "app", table, LONG)
    assert ident.flags & 3 == 3, "not null, primary key"
    assert (name.type, name.charset, name.length, name.flags & 1) == (VAR_STRING, 255, 80, 1)
    assert (price.type, price.charset, price.decimals, price.flags & 1) == (NEWDECIMAL, 63, 2, 0)


@pytest.mark.parametrize("more", [0, wire.DEPRECATE_EOF])
def test_several_statements_need_to_be_allowed(server: Rowferry, more: int) -> None:
    assert server.mysql is not None
    with Client(server.mysql, capabilities=wire.USUAL | more) as client:
        with pytest.raises(ServerError) as refused:
            client.query("SELECT 1; SELECT 2")
        assert (refused.value.code, refused.value.sqlstate) == (1064, "42000")
        client.command(wire.SET_OPTION, b"\0\0")
        assert client.rows_ended(wire.Result(), client.read())
        client.command(wire.QUERY, b"SELECT 1; SELECT 2, 3")
        results = client.results()
        assert [result.texts() for result in results] == [[(b"1",)], [(b"2", b"3")]]
        assert [bool(result.status & wire.MORE_RESULTS) for result in results] == [True, False]
        # What fails ends it.
        client.command(wire.QUERY, b"SELECT 1; SELECT * FROM nope; SELECT 3")
        assert client.result().status & wire.MORE_RESULTS
        with pytest.raises(ServerError):
            client.result()
        assert client.query("SELECT 4").texts() == [(b"4",)]


def test_errors_have_mysqls_numbers(client: Client, table: str) -> None:
    client.query(f"CREATE TABLE {table} (id INT PRIMARY KEY, name VARCHAR(3) NOT NULL, CHECK (id < 100))")
    client.query(f"INSERT INTO {table} VALUES (1, 'a')")
    for sql, code, sqlstate, words in [
        (f"INSERT INTO {table} VALUES (1, 'b')", 1062, "23000", "Duplicate entry '1' for key '"),
        (f"INSERT INTO {table} VALUES (2, NULL)", 1048, "23000", "Column 'name' cannot be null"),
        (f"INSERT INTO {table} VALUES (200, 'x')", 3819, "HY000", "Check constraint '"),
        ("SELECT * FROM nope_", 1146, "42S02", "nope_' doesn't exist"),
        (f"SELECT nope FROM {table}", 1054, "42S22", "Unknown column 'nope'"),
        ("SELEC 1", 1064, "42000", "You have an error in your SQL syntax"),
        (f"CREATE TABLE {table} (id INT)", 1050, "42S01", "already exists"),
        ("", 1065, "42000", "Query was empty"),
        (" ; ", 1065, "42000", "Query was empty"),
    ]:
        with pytest.raises(ServerError) as raised:
            client.query(sql)
        assert (raised.value.code, raised.value.sqlstate) == (code, sqlstate), sql
        assert words in raised.value.message, sql
    assert client.query("SELECT 1").texts() == [(b"1",)]


def test_values_of_mysqls_own_types(client: Client, table: str) -> None:
    client.query(
        f"CREATE TABLE {table} (u INT UNSIGNED, e ENUM('a','it''s'), y YEAR, b BIT(9), t TINYINT(1), m MEDIUMTEXT)"
    )
    client.query(f"INSERT INTO {table} VALUES (4294967295, 'it''s', 1999, 257, 1, 'x')")
    told = client.query(f"SELECT * FROM {table}")
    assert told.texts() == [(b"4294967295", b"it's", b"1999", b"\1\1", b"1", b"x")]
    assert [column.type for column in told.columns] == [LONG, 254, 13, 16, TINY, 252]
    assert told.columns[0].flags & 0x20, "unsigned"
    assert told.columns[1].flags & 0x100, "an enum"
    statement, _, _ = client.prepare(f"SELECT * FROM {table}")
    assert client.execute(statement).rows == [b"\0\0\xff\xff\xff\xff\4it's\xcf\7\2\1\1\1\1x"]
    for values, code in [("-1, 'a'", 1264), ("1, 'b'", 1265)]:
        with pytest.raises(ServerError) as refused:
            client.query(f"INSERT INTO {table} (u, e) VALUES ({values})")
        assert refused.value.code == code


def test_numbers_that_rows_give_themselves(client: Client, table: str) -> None:
    client.query(f"CREATE TABLE {table} (id INT AUTO_INCREMENT PRIMARY KEY, name VARCHAR(9) UNIQUE)")
    assert client.query(f"INSERT INTO {table} (name) VALUES ('a')").insert_id == 1
    assert client.query(f"INSERT INTO {table} (name) VALUES ('b')").insert_id == 2
    assert client.query(f"UPDATE {table} SET name = 'c' WHERE id = 1").insert_id == 0
    client.query(f"CREATE TABLE {table}_plain (id INT PRIMARY KEY)")
    assert client.query(f"INSERT INTO {table}_plain VALUES (7)").insert_id == 0
    client.query(f"DROP TABLE {table}_plain")
    with pytest.raises(ServerError) as refused:
        client.query(f"INSERT INTO {table} (name) VALUES ('b')")
    assert refused.value.message == f"Duplicate entry 'b' for key '{table}.name'"


def test_columns_name_their_database(client: Client, table: str) -> None:
    client.query(f"CREATE DATABASE d{table}")
    client.query(f"CREATE TABLE d{table}.t (id INT)")
    client.query(f"CREATE TABLE {table} (id INT)")
    told = client.query(f"SELECT a.id, b.id FROM {table} a JOIN d{table}.t b ON a.id = b.id").columns
    assert [(column.schema, column.name) for column in told] == [("app", "id"), (f"d{table}", "id")]
    client.query(f"DROP DATABASE d{table}")


def test_a_default_database(client: Client, server: Rowferry) -> None:
    client.command(wire.INIT_DB, b"app")
    assert client.result().affected == 0
    for ask in (lambda: client.command(wire.INIT_DB, b"nope"), lambda: client.command(wire.QUERY, b"USE nope")):
        ask()
        with pytest.raises(ServerError) as refused:
            client.result()
        assert (refused.value.code, refused.value.sqlstate) == (1049, "42000")
    assert server.mysql is not None
    with pytest.raises(ServerError) as refused:
        Client(server.mysql, database="nope")
    assert refused.value.code == 1049
    with Client(server.mysql, capabilities=wire.USUAL | wire.SESSION_TRACK) as tracking:
        tracked = tracking.query("USE app")
        assert tracked.status & 0x4000
        assert tracked.tail == b"\0" + b"\x06" + b"\x01" + b"\x04" + b"\x03app"
        off = tracking.query("SET autocommit = 0")
        assert off.status & 0x4002 == 0x4000
        assert off.tail == b"\0\x11\0\x0f\x0aautocommit\x03OFF"
        assert tracking.query("SET autocommit = 0").tail == b""


def test_columns_of_a_table(client: Client, table: str) -> None:
    client.query(f"CREATE TABLE {table} (alpha INT, beta INT, alps INT)")
    client.command(wire.FIELD_LIST, table.encode() + b"\0al%")
    names = []
    while not client.rows_ended(wire.Result(), payload := client.read()):
        names.append(client.column(payload).name)
    assert names == ["alpha", "alps"]
    client.command(wire.FIELD_LIST, b"nope\0")
    with pytest.raises(ServerError) as refused:
        client.result()
    assert refused.value.code == 1146


def test_small_commands(client: Client) -> None:
    client.command(wire.PING)
    assert client.result().affected == 0
    client.command(wire.STATISTICS)
    line = client.read().decode()
    assert line.startswith("Uptime: ") and "Threads: 1" in line
    for code, number in [(0x0D, 1235), (0x12, 1235), (0x77, 1047), (8, 1235)]:
        client.command(code)
        with pytest.raises(ServerError) as refused:
            client.result()
        assert refused.value.code == number
    # One that is cut is told so, and the next is answered.
    client.command(wire.PROCESS_KILL, b"a")
    with pytest.raises(ServerError) as refused:
        client.result()
    assert refused.value.code == 1835
    client.command(wire.PING)
    client.result()


def test_reset_forgets_statements_and_what_was_begun(client: Client, table: str) -> None:
    client.query(f"CREATE TABLE {table} (id INT)")
    statement, _, _ = client.prepare("SELECT 1")
    client.query("BEGIN")
    client.query(f"INSERT INTO {table} VALUES (1)")
    client.command(wire.RESET)
    assert client.result().status & 3 == 2, "no transaction"
    assert client.query(f"SELECT * FROM {table}").rows == []
    with pytest.raises(ServerError) as refused:
        client.execute(statement)
    assert refused.value.code == 1243


def test_a_new_user_on_the_same_connection(client: Client) -> None:
    number = client.number
    client.query("BEGIN")
    client.command(wire.CHANGE_USER, b"bob\0\0app\0" + struct.pack("<H", 45) + b"mysql_native_password\0")
    assert client.result().status & 3 == 2
    with Client(client.socket.getpeername()) as other:
        other.command(wire.PROCESS_KILL, struct.pack("<I", number))
        other.result()
    with pytest.raises((EOFError, ServerError, ConnectionError)):
        client.query("SELECT 1")
        client.query("SELECT 1")


def test_sessions_are_stopped_by_others(server: Rowferry) -> None:
    assert server.mysql is not None
    with Client(server.mysql) as victim, Client(server.mysql) as other:
        for sql in ("KILL 4294967000", "KILL QUERY 4294967000"):
            with pytest.raises(ServerError) as unknown:
                other.query(sql)
            assert unknown.value.code == 1094
        # Nothing runs: nothing happens.
        other.query(f"KILL QUERY {victim.number}")
        assert victim.query("SELECT 1").texts() == [(b"1",)]
        other.query(f"KILL {victim.number}")
        # It is told nothing, as MySQL's are: its connection is closed.
        with pytest.raises((EOFError, ConnectionError)):
            victim.query("SELECT 1")
            victim.query("SELECT 1")
        assert other.query("CREATE DATABASE one_row").affected == 1
        other.query("DROP DATABASE one_row")


def test_a_transaction_is_told_by_the_status(client: Client, table: str) -> None:
    client.query(f"CREATE TABLE {table} (id INT PRIMARY KEY)")
    assert client.query("BEGIN").status & 3 == 3
    assert client.query(f"INSERT INTO {table} VALUES (1)").status & 3 == 3
    assert client.query(f"SELECT * FROM {table}").status & 3 == 3
    assert client.query("COMMIT").status & 3 == 2
    assert client.query(f"SELECT * FROM {table}").texts() == [(b"1",)]


def test_long_rows_and_many_rows(client: Client, table: str) -> None:
    client.query(f"CREATE TABLE {table} (id INT, body TEXT)")
    body = "x" * 300_000
    client.query(f"INSERT INTO {table} VALUES (1, '{body}'), (2, '{body}')")
    assert [len(row[1] or b"") for row in client.query(f"SELECT * FROM {table}").texts()] == [300_000] * 2


def test_packets_out_of_order_end_the_connection(client: Client) -> None:
    client.sequence = 5
    client.write(b"\x0e")
    with pytest.raises(ServerError) as told:
        client.result()
    assert told.value.code == 1156
    with pytest.raises((EOFError, ConnectionError)):
        client.read()


def test_text_that_is_none_is_refused(client: Client) -> None:
    # Strings may be bytes, names not.
    client.command(wire.QUERY, b"SELECT '\xff'")
    assert client.result().texts()
    client.command(wire.QUERY, b"SELECT \xff")
    with pytest.raises(ServerError) as refused:
        client.result()
    assert refused.value.code == 1300


def test_clients_of_latin1(server: Rowferry) -> None:
    assert server.mysql is not None
    with Client(server.mysql, collation=8) as client:
        client.command(wire.QUERY, "SELECT 'größe' AS größe".encode("latin-1"))
        result = client.result()
        assert result.texts() == [("größe".encode("latin-1"),)]
        assert result.columns[0].charset == 8
    with pytest.raises(ServerError) as refused:
        Client(server.mysql, collation=28)
    assert refused.value.code == 1115


#: Counts to a hundred million.
_LONG = """SELECT {hint} COUNT(*)
FROM (WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100000000) SELECT i FROM n) AS n"""


def test_a_query_ends_when_its_time_is_over(client: Client, table: str) -> None:
    for before, hint in (
        ("SET cte_max_recursion_depth = 4294967295", "/*+ MAX_EXECUTION_TIME(50) */"),
        ("SET max_execution_time = 50", ""),
    ):
        client.query(before)
        with pytest.raises(ServerError) as ended:
            client.query(_LONG.format(hint=hint))
        assert (ended.value.code, ended.value.sqlstate) == (3024, "HY000")
    # It is about queries alone, and a hint goes before it.
    client.query(f"CREATE TABLE {table} (id INT PRIMARY KEY)")
    client.query(f"INSERT INTO {table} SELECT SLEEP(0.2)")
    assert client.query("SELECT /*+ MAX_EXECUTION_TIME(5000) */ SLEEP(0.2)").texts() == [(b"0",)]
    client.query("SET max_execution_time = DEFAULT")


@pytest.mark.parametrize("mode", ["", "STRICT_TRANS_TABLES"])
def test_what_a_duplicate_is_is_told_of_changes_that_count_and_clip(client: Client, table: str, mode: str) -> None:
    client.query(f"CREATE TABLE {table} (id INT PRIMARY KEY, b VARCHAR(3), UNIQUE KEY k (b))")
    client.query(f"INSERT INTO {table} VALUES (1, 'abc'), (2, 'x')")
    client.query(f"SET sql_mode = '{mode}'")
    for change, key in (
        (f"UPDATE {table} SET id = id + 1", f"'2' for key '{table}.PRIMARY'"),
        (f"INSERT INTO {table} VALUES (9, CONCAT('ab', 'c'))", f"'abc' for key '{table}.k'"),
    ):
        with pytest.raises(ServerError) as refused:
            client.query(change)
        assert refused.value.code == 1062
        assert key in str(refused.value)


def test_a_deadlock_undoes_the_transaction_and_the_other_goes_on(server: Rowferry, client: Client, table: str) -> None:
    assert server.mysql is not None
    client.query(f"CREATE TABLE {table} (id INT PRIMARY KEY, n INT)")
    client.query(f"INSERT INTO {table} VALUES (1, 0), (2, 0)")
    with Client(server.mysql, database="app") as other, ThreadPoolExecutor() as pool:
        for one, row in ((client, 1), (other, 2)):
            one.query("BEGIN")
            one.query(f"SELECT * FROM {table} WHERE id = {row} FOR UPDATE")
        waiting = pool.submit(client.query, f"UPDATE {table} SET n = 1 WHERE id = 2")
        outcomes = []
        try:
            done = other.query(f"UPDATE {table} SET n = 2 WHERE id = 1")
            outcomes.append((other, done.affected))
        except ServerError as error:
            assert error.code == 1213
        try:
            outcomes.append((client, waiting.result(timeout=10).affected))
        except ServerError as error:
            assert error.code == 1213
        [(winner, affected)] = outcomes
        assert affected == 1
        loser = other if winner is client else client
        winner.query("COMMIT")
        assert not loser.query("DO 1").status & 1, "no transaction is left"
