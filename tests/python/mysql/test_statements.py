"""Prepared statements: one write where the server allows, a cache that stays right, what cannot be prepared."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from rowferry import mysql
from rowferry.mysql import aio

from tests.servers.mysql import MySQL, MySQLServer

from .recorder import Recorder

PREPARE, EXECUTE, CLOSE, QUERY = 0x16, 0x17, 0x19, 0x03

Connect = Callable[..., mysql.Connection]


def caching(server: MySQLServer, size: int = 100) -> dict[str, Any]:
    return {**server.dsn, "stmt_cache_size": size, "autocommit": True}


def test_the_first_execution_is_prepared_in_the_same_write_where_the_server_allows(server: MySQLServer) -> None:
    with Recorder(server.host, server.port) as recorder:
        dsn = {**caching(server), "port": recorder.port, "ssl_mode": "DISABLED"}
        with mysql.connect(**dsn) as connection, connection.cursor() as cursor:
            recorder.written.clear()
            for value in ("a", "b", "c"):
                cursor.execute("SELECT %s, 'x?', \"?\" -- ?\n, 1 /* ? */", (value,))
                assert cursor.fetchall() == ((value, "x?", "?", 1),)
            first = [[PREPARE], [EXECUTE]] if isinstance(server, MySQL) else [[PREPARE, EXECUTE]]
            assert recorder.commands() == [*first, [EXECUTE], [EXECUTE]]


def test_asyncio_prepares_in_the_same_write_too(server: MySQLServer) -> None:
    async def main() -> None:
        with Recorder(server.host, server.port) as recorder:
            dsn = {**caching(server), "port": recorder.port, "ssl_mode": "DISABLED"}
            async with aio.connect(**dsn) as connection, connection.cursor() as cursor:
                recorder.written.clear()
                for value in (1, 2):
                    await cursor.execute("SELECT %s + 1", (value,))
                    assert await cursor.fetchall() == ((value + 1,),)
                first = [[PREPARE], [EXECUTE]] if isinstance(server, MySQL) else [[PREPARE, EXECUTE]]
                assert recorder.commands() == [*first, [EXECUTE]]

    asyncio.run(asyncio.wait_for(main(), 60))


def test_a_refused_preparation_runs_nothing(server: MySQLServer, connect: Connect) -> None:
    connection = connect(stmt_cache_size=100, autocommit=True)
    cursor = connection.cursor()
    cursor.execute("CREATE TEMPORARY TABLE counted (a INT)")
    # The statement that the server would run again if it took the refused one for the last prepared.
    cursor.execute("INSERT INTO counted VALUES (%s)", (1,))
    for _ in range(3):
        with pytest.raises(mysql.ProgrammingError) as caught:
            cursor.execute("INSERT INTO nowhere VALUES (%s)", (2,))
        assert caught.value.errno == 1146
        with pytest.raises(mysql.ProgrammingError) as caught:
            cursor.execute("INSERT INT counted VALUES (%s)", (2,))
        assert caught.value.errno == 1064
    cursor.execute("SELECT a FROM counted")
    assert cursor.fetchall() == ((1,),)


def test_an_execution_that_fails_leaves_the_statement_prepared(server: MySQLServer) -> None:
    with Recorder(server.host, server.port) as recorder:
        dsn = {**caching(server), "port": recorder.port, "ssl_mode": "DISABLED"}
        with mysql.connect(**dsn) as connection, connection.cursor() as cursor:
            cursor.execute("CREATE TEMPORARY TABLE once (a INT PRIMARY KEY)")
            cursor.execute("INSERT INTO once VALUES (7)")
            recorder.written.clear()
            for value in (7, 7, 8):
                try:
                    cursor.execute("INSERT INTO once VALUES (%s)", (value,))
                except mysql.IntegrityError as error:
                    assert (error.errno, value) == (1062, 7)
            assert sum(codes.count(PREPARE) for codes in recorder.commands()) == 1
            cursor.execute("SELECT a FROM once ORDER BY a")
            assert cursor.fetchall() == ((7,), (8,))


def test_what_cannot_be_prepared_goes_as_text(server: MySQLServer, connect: Connect) -> None:
    connection = connect(stmt_cache_size=100)
    cursor = connection.cursor()
    for value in (1, 2):
        cursor.execute("SELECT %s; SELECT 'second'", (value,))
        assert cursor.fetchall() == ((value,),)
        assert cursor.nextset() is True
        assert cursor.fetchall() == (("second",),)
        cursor.execute("SELECT * FROM (SELECT 1 AS a) AS t WHERE a IN %s", ([value],))
        assert cursor.fetchall() == (((1,),) if value == 1 else ())
        cursor.execute("SELECT %(value)s + 1", {"value": value})
        assert cursor.fetchall() == ((value + 1,),)
        cursor.execute("USE " + server.database)
        # Comments that are code for some servers only: nobody but the server can count.
        cursor.execute("SELECT %s /*! + 1 */", (value,))
        assert cursor.fetchall() == ((value + 1,),)


def test_values_must_be_as_many_as_question_marks(connect: Connect) -> None:
    connection = connect(stmt_cache_size=100)
    cursor = connection.cursor()
    for query, values in (("SELECT %s, %s", (1,)), ("SELECT %s", (1, 2)), ("SELECT %s, %s /*! + 1 */", (1,))):
        for _ in range(2):
            with pytest.raises(mysql.ProgrammingError):
                cursor.execute(query, values)
    cursor.execute("SELECT %s, %s", (1, 2))
    assert cursor.fetchall() == ((1, 2),)
    with connection.prepare("SELECT ?") as statement:
        with pytest.raises(mysql.ProgrammingError, match="1 parameters, but 2 values"):
            statement.execute((1, 2))
        assert statement.execute((3,)).rows == ((3,),)


def test_a_full_cache_forgets_the_oldest(server: MySQLServer) -> None:
    with Recorder(server.host, server.port) as recorder:
        dsn = {**caching(server, 2), "port": recorder.port, "ssl_mode": "DISABLED"}
        with mysql.connect(**dsn) as connection, connection.cursor() as cursor:
            recorder.written.clear()
            for _ in range(2):
                for number in range(4):
                    cursor.execute(f"SELECT %s + {number}", (1,))
                    assert cursor.fetchall() == ((1 + number,),)
            codes = [code for codes in recorder.commands() for code in codes]
            assert codes.count(PREPARE) == 8
            assert codes.count(CLOSE) >= 6 - 1


def test_rows_follow_a_table_that_is_altered(server: MySQLServer, connect: Connect) -> None:
    connection, other = connect(stmt_cache_size=100, autocommit=True), connect(autocommit=True).cursor()
    cursor = connection.cursor()
    other.execute("DROP TABLE IF EXISTS altered")
    other.execute("CREATE TABLE altered (a INT, b VARCHAR(10))")
    other.execute("INSERT INTO altered VALUES (1, 'one')")
    every = "SELECT * FROM altered WHERE a >= %s"

    def look() -> tuple[list[str], Any]:
        cursor.execute(every, (0,))
        assert cursor.description is not None
        return [column[0] for column in cursor.description], cursor.fetchall()

    try:
        for _ in range(3):
            assert look() == (["a", "b"], ((1, "one"),))
        other.execute("ALTER TABLE altered ADD COLUMN c DOUBLE DEFAULT 2.5")
        for _ in range(3):
            assert look() == (["a", "b", "c"], ((1, "one", 2.5),))
        other.execute("ALTER TABLE altered MODIFY a VARCHAR(20), DROP COLUMN b")
        for _ in range(3):
            assert look() == (["a", "c"], (("1", 2.5),))
        other.execute("ALTER TABLE altered CHANGE a z BIGINT")
        other.execute("ALTER TABLE altered ADD COLUMN a DATE DEFAULT '2026-11-21' FIRST")
        for _ in range(3):
            names, rows = look()
            assert names == ["a", "z", "c"]
            assert rows[0][1:] == (1, 2.5)
        # Rows of another statement in between do not mix columns up.
        cursor.execute("SELECT %s AS only", ("x",))
        assert cursor.fetchall() == (("x",),)
        assert look()[0] == ["a", "z", "c"]
    finally:
        other.execute("DROP TABLE altered")


def test_statements_that_tell_no_columns_beforehand_have_the_right_ones(connect: Connect) -> None:
    connection = connect(autocommit=True)
    cursor = connection.cursor()
    cursor.execute("CREATE TEMPORARY TABLE shown (a INT)")
    with connection.prepare("SHOW COLUMNS FROM shown") as shown, connection.prepare("EXPLAIN SELECT ?") as explained:
        for _ in range(3):
            assert [row[0] for row in shown.execute().rows or ()] == ["a"]
            assert len(explained.execute((1,)).rows or ()) == 1
            description = shown.execute().description
            assert description is not None and description[0][0].lower() == "field"


def test_procedures_with_rows_and_out_parameters(server: MySQLServer, connect: Connect) -> None:
    connection = connect(autocommit=True)
    cursor = connection.cursor()
    cursor.execute("DROP PROCEDURE IF EXISTS outward")
    cursor.execute(
        "CREATE PROCEDURE outward(IN n INT, OUT twice INT, INOUT text VARCHAR(50)) BEGIN"
        " DECLARE i INT DEFAULT 0;"
        " WHILE i < n DO SELECT i AS counted, 'x' AS more; SET i = i + 1; END WHILE;"
        " SET twice = 2 * n, text = CONCAT(text, '!'); END"
    )
    try:
        with connection.prepare("CALL outward(?, ?, ?)") as call:
            # The number of results differs from call to call; the parameters' row is told by its flag.
            for n in (0, 2, 1, 0, 3, 3):
                result = call.execute((n, None, "héy"))
                rows = []
                out = []
                while result is not None:
                    if result.rows is not None:
                        (out if result.is_out_parameters else rows).extend(result.rows)
                    result = result.next
                assert rows == [(i, "x") for i in range(n)]
                # MySQL says of all its parameters that they are binary.
                assert out == [(2 * n, "héy!".encode() if isinstance(server, MySQL) else "héy!")]
    finally:
        cursor.execute("DROP PROCEDURE outward")


def test_a_reset_connection_prepares_again(connect: Connect) -> None:
    connection = connect(stmt_cache_size=100)
    cursor = connection.cursor()
    for _ in range(3):
        cursor.execute("SELECT %s AS a", (1,))
        assert cursor.fetchall() == ((1,),)
        connection.reset()


def test_a_cancelled_first_execution_leaves_no_statement_behind(server: MySQLServer) -> None:
    async def main() -> None:
        async with aio.connect(**caching(server)) as connection, connection.cursor() as cursor:

            async def held() -> int:
                await cursor.execute("SHOW GLOBAL STATUS LIKE 'Prepared_stmt_count'")
                return int((await cursor.fetchone())[1])

            before = await held()
            for number in range(5):
                task = asyncio.ensure_future(cursor.execute(f"SELECT SLEEP(%s), {number}", (30,)))
                await asyncio.sleep(0)
                task.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await task
                await cursor.execute("SELECT %s", (number,))
                assert await cursor.fetchall() == ((number,),)
            # One for each distinct statement at most: those that were answered before the cancellation are kept.
            assert await held() - before <= 6

    asyncio.run(asyncio.wait_for(main(), 60))


@pytest.mark.parametrize("compress", ["zlib", "zstd"])
def test_statements_in_one_write_are_compressed_one_by_one(
    server: MySQLServer, connect: Connect, compress: str
) -> None:
    options = {"compress": compress} if compress == "zlib" or isinstance(server, MySQL) else {}
    connection = connect(stmt_cache_size=10, autocommit=True, **options)
    cursor = connection.cursor()
    for _ in range(2):
        for value in ("x" * 1_100_000, "y" * 10_000, "z"):
            cursor.execute("SELECT %s, LENGTH(%s)", (value, value))
            assert cursor.fetchall() == ((value, len(value)),)
        with pytest.raises(mysql.ProgrammingError):
            cursor.execute("SELECT * FROM nowhere WHERE a = %s", ("a" * 1000,))
        connection.reset()
