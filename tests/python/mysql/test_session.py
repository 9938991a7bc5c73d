"""Session state: what the server tells of changes, set-up and reset in one write, another user."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from rowferry import mysql
from rowferry.mysql import aio

from tests.servers.mysql import MySQL, MySQLServer

from .recorder import Recorder

Connect = Callable[..., mysql.Connection]

QUERY, RESET = 0x03, 0x1F


def ask(connection: mysql.Connection, sql: str) -> Any:
    with connection.cursor() as cursor:
        cursor.execute(sql)
        return cursor.fetchone()


def test_the_database_follows_use(server: MySQLServer, connect: Connect) -> None:
    connection = connect()
    assert connection.db == server.database
    ask(connection, "USE information_schema")
    assert connection.db == "information_schema"
    assert connection.session_state.schema == "information_schema"
    connection.select_db(server.database)
    assert connection.db == server.database
    # In a statement of several, too.
    ask(connection, "SELECT 1; USE information_schema; SELECT 2")
    assert connection.db == "information_schema"
    connection.close()
    assert connection.db == server.database


def test_variables_and_transactions_are_told_on_request(server: MySQLServer, connect: Connect) -> None:
    connection = connect(autocommit=True, init_command="SET session_track_transaction_info = 'CHARACTERISTICS'")
    ask(connection, "SET time_zone = '+03:00'")
    assert connection.session_state.variables["time_zone"] == "+03:00"
    ask(connection, "START TRANSACTION READ ONLY")
    state = connection.session_state
    assert state.transaction_state is not None and state.transaction_state.startswith("T")
    assert state.transaction_characteristics is not None and "READ ONLY" in state.transaction_characteristics
    connection.rollback()
    assert connection.session_state.transaction_state == "________"
    assert connection.session_state.transaction_characteristics == ""


def test_gtids_of_what_was_committed(server: MySQLServer, connect: Connect) -> None:
    if isinstance(server, MySQL):
        with MySQL.start(["--gtid-mode=ON", "--enforce-gtid-consistency=ON"]) as own:
            with mysql.connect(**own.dsn, autocommit=True) as connection:
                ask(connection, "SET session_track_gtids = OWN_GTID")
                assert connection.session_state.gtids is None
                ask(connection, "CREATE TABLE logged (a INT PRIMARY KEY)")
                first = connection.session_state.gtids
                ask(connection, "INSERT INTO logged VALUES (1)")
                second = connection.session_state.gtids
                assert first and second and first != second
                assert ask(connection, f"SELECT GTID_SUBSET('{second}', @@GLOBAL.gtid_executed)") == (1,)
    else:
        # MariaDB tells its GTIDs as a variable.
        connection = connect(autocommit=True)
        ask(connection, "SET session_track_system_variables = CONCAT(@@session_track_system_variables, ',last_gtid')")
        assert connection.session_state.gtids is None


@pytest.mark.parametrize("stmt_cache_size", [0, 10])
def test_text_follows_set_names(connect: Connect, stmt_cache_size: int) -> None:
    connection = connect(stmt_cache_size=stmt_cache_size)
    cursor = connection.cursor()
    query = "SELECT %s AS text, HEX(%s) AS sent"
    for charset, spelled, text in (
        ("utf8mb4", "utf8mb4", "Grüße ✓"),
        ("latin1", "latin1", "Grüße €"),
        ("gbk", "gbk", "价格"),
        ("sjis", "sjis", "表\\'"),
        ("cp1251", "cp1251", "цена"),
        ("utf8mb4", "utf8mb4", "✓"),
    ):
        cursor.execute(f"SET NAMES {charset}")
        assert connection.charset == spelled
        # A statement keeps the character set that it was prepared in.
        cursor.execute(f"{query} /* {charset} */", (text, text))
        shown, sent = cursor.fetchall()[0]
        assert shown == text
        assert bytes.fromhex(sent).decode(connection.encoding) == text
        assert cursor.mogrify("%s", (text[:1],)) == f"'{text[0]}'"
    # What comes behind the change in one statement is in the new character set already.
    cursor.execute("SET NAMES latin1; SELECT CONVERT(X'E9' USING latin1); SET NAMES utf8mb4; SELECT 'ok'")
    cursor.nextset()
    assert cursor.fetchall() == (("é",),)
    cursor.nextset()
    cursor.nextset()
    assert cursor.fetchall() == (("ok",),)
    # Results only.
    cursor.execute("SET character_set_results = latin1")
    cursor.execute("SELECT %s", ("é",))
    assert cursor.fetchall() == (("é",),)


def test_a_character_set_that_cannot_be_followed_is_refused(connect: Connect) -> None:
    connection = connect()
    cursor = connection.cursor()
    with pytest.raises(mysql.NotSupportedError, match="swe7"):
        cursor.execute("SET NAMES swe7")
    with pytest.raises(LookupError):
        cursor.execute("SELECT %s", ("é",))
    cursor.execute(b"SET NAMES utf8mb4")
    cursor.execute("SELECT %s", ("é",))
    assert cursor.fetchall() == (("é",),)
    with pytest.raises(mysql.NotSupportedError, match="NULL"):
        cursor.execute("SET character_set_results = NULL")
    cursor.execute("SET NAMES utf8mb4")
    assert ask(connection, "SELECT 'é'") == ("é",)


def test_set_character_set_changes_both_sides(connect: Connect) -> None:
    connection = connect()
    connection.set_character_set("latin1", "latin1_german2_ci")
    assert (connection.charset, connection.encoding) == ("latin1", "cp1252")
    assert ask(connection, "SELECT 'ä', @@collation_connection") == ("ä", "latin1_german2_ci")
    connection.reset()
    assert ask(connection, "SELECT 'ä', @@collation_connection") == ("ä", "latin1_german2_ci")
    connection.set_character_set("utf8mb4")
    assert ask(connection, "SELECT '✓'") == ("✓",)
    with pytest.raises(ValueError, match="nonsense"):
        connection.set_character_set("nonsense")


def test_a_session_is_set_up_in_one_write(server: MySQLServer) -> None:
    options = {
        "charset": "latin1",
        "collation": "latin1_general_ci",
        "sql_mode": "ANSI_QUOTES",
        "time_zone": "+05:00",
        "init_command": "SET @mine = 7",
        "autocommit": False,
    }
    expected = ("latin1_general_ci", "ANSI_QUOTES", "+05:00", 7, 0)
    question = "SELECT @@collation_connection, @@sql_mode, @@time_zone, @mine, @@autocommit"
    with Recorder(server.host, server.port) as recorder:
        dsn = {**server.dsn, "port": recorder.port, "ssl_mode": "DISABLED", **options}
        with mysql.connect(**dsn) as connection:
            assert recorder.commands()[-1] == [QUERY] * 4
            assert ask(connection, question) == expected
            ask(connection, "SET NAMES utf8mb4, sql_mode = '', time_zone = '+00:00', @mine = 8, autocommit = 1")
            ask(connection, "CREATE TEMPORARY TABLE gone (a INT)")
            recorder.written.clear()
            connection.reset()
            assert recorder.commands() == [[RESET, QUERY, QUERY, QUERY, QUERY]]
            assert ask(connection, question) == expected
            with pytest.raises(mysql.ProgrammingError):
                ask(connection, "SELECT * FROM gone")


def test_a_default_session_needs_no_set_up(server: MySQLServer) -> None:
    with Recorder(server.host, server.port) as recorder:
        dsn = {**server.dsn, "port": recorder.port, "ssl_mode": "DISABLED", "autocommit": True}
        with mysql.connect(**dsn) as connection:
            recorder.written.clear()
            ask(connection, "DO 1")
            assert recorder.commands() == [[QUERY]]


def test_a_set_up_that_fails_closes(server: MySQLServer, connect: Connect) -> None:
    with pytest.raises(mysql.ProgrammingError, match="nonsense"):
        connect(init_command="nonsense")
    with pytest.raises(mysql.Error, match="nowhere"):
        connect(time_zone="nowhere", init_command="SELECT 1; SELECT 2")
    connection = connect(init_command="SELECT 1; SELECT 2")
    assert ask(connection, "SELECT 3") == (3,)


def test_another_user_on_the_same_connection(server: MySQLServer, connect: Connect) -> None:
    connection = connect(autocommit=True, stmt_cache_size=10, compress=True)
    ask(connection, "DROP USER IF EXISTS changed@'127.0.0.1', changed@localhost")
    for host in ("127.0.0.1", "localhost"):
        ask(connection, f"CREATE USER changed@'{host}' IDENTIFIED BY 'sesame'")
    number = connection.thread_id()
    ask(connection, "SET @mine = 1")
    with connection.cursor() as cursor:
        cursor.execute("SELECT %s", (1,))
        connection.change_user("changed", "sesame")
        assert ask(connection, "SELECT SUBSTRING_INDEX(CURRENT_USER(), '@', 1), @mine, DATABASE()") == (
            "changed",
            None,
            None,
        )
        assert (connection.thread_id(), connection.user, connection.db) == (number, "changed", "")
        cursor.execute("SELECT %s", ("é",))
        assert cursor.fetchall() == (("é",),)
    connection.change_user(server.user, server.password, server.database)
    assert ask(connection, "SELECT DATABASE(), 'é', @@autocommit") == (server.database, "é", 1)
    with pytest.raises(mysql.OperationalError, match="denied"):
        connection.change_user("changed", "wrong")
    assert not connection.open
    ask(connect(), "DROP USER changed@'127.0.0.1', changed@localhost")


def test_asyncio_follows_resets_and_changes_users(server: MySQLServer) -> None:
    async def main() -> None:
        async with aio.connect(**server.dsn, time_zone="+02:00", autocommit=True) as connection:
            await connection.query("USE information_schema")
            assert connection.db == "information_schema"
            await connection.query("SET NAMES latin1")
            async with connection.cursor() as cursor:
                await cursor.execute("SELECT %s, HEX(%s)", ("é", "é"))
                assert await cursor.fetchall() == (("é", "E9"),)
                await connection.reset()
                await cursor.execute("SELECT %s, HEX(%s), @@time_zone", ("é", "é"))
                assert await cursor.fetchall() == (("é", "C3A9", "+02:00"),)
                await connection.change_user(server.user, server.password, server.database)
                await cursor.execute("SELECT DATABASE(), @@time_zone")
                assert await cursor.fetchall() == ((server.database, "+02:00"),)

    asyncio.run(asyncio.wait_for(main(), 60))
