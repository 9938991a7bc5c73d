"""LOAD DATA LOCAL: the files that were allowed and named, content out of Python, and servers that ask for more."""

from __future__ import annotations

import asyncio
import contextlib
import datetime
import decimal
import io
import os
import socket
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from rowferry import mysql
from rowferry.mysql import aio

from tests.servers.mysql import MySQLServer

Connect = Callable[..., mysql.Connection]
Cursor = mysql.cursors.Cursor

INTO = "INTO TABLE l FIELDS TERMINATED BY ',' (id, a)"


@pytest.fixture(autouse=True)
def switched_on(server: MySQLServer) -> None:
    """MySQL's servers refuse by default."""
    with mysql.connect(**server.dsn) as connection:
        connection.query("SET GLOBAL local_infile = ON")


@pytest.fixture
def loader(connect: Connect) -> Callable[..., Cursor]:
    """Make a cursor whose connection may load, with a table `l`."""

    def make(**options: Any) -> Cursor:
        cursor = connect(**{"local_infile": True, **options}).cursor()
        cursor.execute("CREATE TEMPORARY TABLE l (id INT PRIMARY KEY, a VARCHAR(100)) CHARACTER SET utf8mb4")
        return cursor

    return make


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "it's data.csv"
    path.write_text("1,one\n2,two\n3,thrée\n", encoding="utf-8")
    return path


def rows(cursor: Cursor) -> Any:
    cursor.execute("SELECT * FROM l ORDER BY id")
    return cursor.fetchall()


THREE = ((1, "one"), (2, "two"), (3, "thrée"))


class TestFiles:
    def test_a_file_that_the_statement_names(self, loader: Callable[..., Cursor], file: Path) -> None:
        for options in [{}, {"compress": True}, {"stmt_cache_size": 10}, {"cursorclass": mysql.cursors.SSCursor}]:
            cursor = loader(**options)
            assert cursor.execute(f"LOAD DATA LOCAL INFILE %s {INTO}", (str(file),)) == 3
            assert rows(cursor) == THREE or list(rows(cursor)) == list(THREE)

    def test_warnings_are_counted_and_shown(self, loader: Callable[..., Cursor], tmp_path: Path) -> None:
        path = tmp_path / "bad.csv"
        path.write_text("1,one\nx,two\n")
        cursor = loader()
        cursor.execute(f"LOAD DATA LOCAL INFILE %s {INTO}", (str(path),))
        assert cursor.warning_count == 1
        warning = cursor.connection.show_warnings()[0]
        assert warning[1] == 1366 and "row 2" in warning[2]

    def test_a_large_file_and_an_empty_one(self, loader: Callable[..., Cursor], tmp_path: Path) -> None:
        path = tmp_path / "large.csv"
        path.write_text("".join(f"{number},{'x' * 90}\n" for number in range(30_000)))
        cursor = loader(compress="zlib")
        assert cursor.execute(f"LOAD DATA LOCAL INFILE %s {INTO}", (str(path),)) == 30_000
        path.write_text("")
        assert cursor.execute(f"LOAD DATA LOCAL INFILE %s {INTO}", (str(path),)) == 0

    def test_within_a_directory_or_a_list(self, loader: Callable[..., Cursor], file: Path, tmp_path: Path) -> None:
        other = tmp_path / "other"
        other.mkdir()
        (other / "secret.csv").write_text("7,secret\n")
        inside = tmp_path / "inside"
        inside.mkdir()
        (inside / "link.csv").symlink_to(other / "secret.csv")
        (inside / "good.csv").write_text("5,five\n")
        for options in [
            {"local_infile": inside},
            {"local_infile": [str(inside), file]},
            {"local_infile_dir": str(inside), "local_infile": False},
            {"local_infile": True, "local_infile_dir": inside},
        ]:
            cursor = loader(**options)
            assert cursor.execute(f"LOAD DATA LOCAL INFILE %s {INTO}", (str(inside / "good.csv"),)) == 1
            for path in [other / "secret.csv", inside / "link.csv", inside / ".." / "other" / "secret.csv", other]:
                with pytest.raises(mysql.OperationalError, match="outside of what") as caught:
                    cursor.execute(f"LOAD DATA LOCAL INFILE %s {INTO}", (str(path),))
                assert caught.value.errno == 2068
            assert rows(cursor) == ((5, "five"),)

    def test_what_is_not_there_or_no_file(self, loader: Callable[..., Cursor], tmp_path: Path) -> None:
        cursor = loader()
        with pytest.raises(mysql.OperationalError, match="No such file") as caught:
            cursor.execute(f"LOAD DATA LOCAL INFILE %s {INTO}", (str(tmp_path / "none.csv"),))
        assert caught.value.errno == 1017
        os.mkfifo(tmp_path / "pipe")
        for path in [tmp_path / "pipe", tmp_path, Path("/dev/zero")]:
            with pytest.raises(mysql.OperationalError, match="no regular file"):
                cursor.execute(f"LOAD DATA LOCAL INFILE %s {INTO}", (str(path),))
        assert rows(cursor) == ()

    def test_a_connection_that_does_not_allow_any(self, loader: Callable[..., Cursor], file: Path) -> None:
        for local_infile in (False, []):
            cursor = loader(local_infile=local_infile)
            with pytest.raises(mysql.Error) as caught:
                cursor.execute(f"LOAD DATA LOCAL INFILE %s {INTO}", (str(file),))
            assert caught.value.errno in (1148, 3948, 4166)
            with pytest.raises(mysql.NotSupportedError, match="local_infile=True"):
                cursor.load_data(f"LOAD DATA LOCAL INFILE 'x' {INTO}", b"1,one\n")

    def test_several_statements_and_a_refusal_amid_them(self, loader: Callable[..., Cursor], file: Path) -> None:
        cursor = loader()
        sql = f"LOAD DATA LOCAL INFILE %s {INTO}; SELECT COUNT(*) FROM l"
        cursor.execute(sql, (str(file),))
        assert cursor.nextset() and cursor.fetchall() == ((3,),)
        with pytest.raises(mysql.OperationalError, match="No such file"):
            cursor.execute(sql, ("/nowhere/at/all",))
        assert rows(cursor) == THREE

    def test_asyncio(self, server: MySQLServer, file: Path) -> None:
        async def main() -> None:
            async with aio.connect(**server.dsn, local_infile=file.parent) as connection:
                cursor = connection.cursor()
                await cursor.execute("CREATE TEMPORARY TABLE l (id INT PRIMARY KEY, a VARCHAR(100))")
                assert await cursor.execute(f"LOAD DATA LOCAL INFILE %s {INTO}", (str(file),)) == 3
                with pytest.raises(mysql.OperationalError, match="outside of what"):
                    await cursor.execute(f"LOAD DATA LOCAL INFILE '/etc/passwd' {INTO}")
                await cursor.execute("SELECT * FROM l ORDER BY id")
                assert await cursor.fetchall() == THREE

        asyncio.run(main())


class TestStreams:
    def test_content_of_every_kind(self, loader: Callable[..., Cursor], file: Path) -> None:
        content = file.read_bytes()
        lines = content.splitlines(keepends=True)
        sources: list[Any] = [content, bytearray(content), memoryview(content), content.decode(), file, lines]
        sources += [io.BytesIO(content), io.StringIO(content.decode()), (line.decode() for line in lines)]
        for source in sources:
            cursor = loader()
            assert cursor.load_data(f"LOAD DATA LOCAL INFILE 'stream' {INTO}", source) == 3
            assert rows(cursor) == THREE
            cursor.connection.close()

    def test_more_than_any_buffer(self, loader: Callable[..., Cursor]) -> None:
        cursor = loader()
        lines = (f"{number},{'x' * 90}\n" for number in range(100_000))
        assert cursor.load_data(f"LOAD DATA LOCAL INFILE 'stream' {INTO}", lines) == 100_000
        assert cursor.load_data(f"LOAD DATA LOCAL INFILE 'stream' REPLACE {INTO}", b"0,y\n" * 500_000) >= 500_000

    def test_rows_of_values(self, loader: Callable[..., Cursor]) -> None:
        cursor = loader()
        cursor.execute(
            "CREATE TEMPORARY TABLE v (id INT, u BIGINT UNSIGNED, f DOUBLE, n DECIMAL(20, 5), s VARCHAR(50),"
            " d DATE, t DATETIME(6), z TIME(6), tail INT) CHARACTER SET utf8mb4"
        )
        values = [
            (
                number,
                2**64 - 1 - number,
                None if number % 3 == 0 else number / 7,
                decimal.Decimal(number) / 8,
                ["", "tab\tline\nback\\slash", "\\N", "NUL\0'\"", "Grüße 🌍", "\r\n"][number % 6],
                datetime.date(2026, 1, 1) + datetime.timedelta(number),
                datetime.datetime(2026, 1, 1, 2, 3, 4, number),
                datetime.timedelta(hours=-number, microseconds=number),
                number,
            )
            for number in range(800)
        ]
        for sql_mode in ("", "NO_BACKSLASH_ESCAPES", "ANSI_QUOTES"):
            cursor.execute("SET sql_mode = %s", (sql_mode,))
            cursor.execute("DELETE FROM v")
            assert cursor.load_rows("v", (row for row in values)) == 800
            assert (cursor.warning_count, cursor.rowcount) == (0, 800)
            cursor.execute("SELECT * FROM v ORDER BY id")
            assert cursor.fetchall() == tuple(values)
        assert cursor.load_rows("l", [("x`y", 1), ("z", 2)], ["a", "id"]) == 2
        assert rows(cursor) == ((1, "x`y"), (2, "z"))

    def test_the_number_0_is_the_year_0(self, loader: Callable[..., Cursor]) -> None:
        cursor = loader()
        cursor.execute("CREATE TEMPORARY TABLE years (y YEAR, t TEXT, z YEAR)")
        rows = [(0, "0", 2024), (0, None, None), (5, "5", 0), ("0", "zero", 70)]
        assert cursor.load_rows("years", rows) == 4
        assert cursor.load_rows("years", [(0, "x")], ["z", "t"]) == 1
        cursor.execute("SELECT y, t, z FROM years")
        loaded = [(0, "0", 2024), (0, None, None), (2005, "5", 0), (2000, "zero", 1970), (None, "x", 0)]
        assert list(cursor.fetchall()) == loaded

    def test_bytes_from_a_file_object(self, loader: Callable[..., Cursor], file: Path) -> None:
        cursor = loader()
        with file.open("rb") as binary:
            assert cursor.load_data(f"LOAD DATA LOCAL INFILE 'stream' {INTO}", binary) == 3
        assert rows(cursor) == THREE

    @pytest.mark.on("mysql9")
    def test_mysql_takes_only_bytes_that_are_text(self, loader: Callable[..., Cursor]) -> None:
        cursor = loader()
        cursor.execute("CREATE TEMPORARY TABLE b (id INT, x BLOB, tail INT)")
        assert cursor.load_rows("b", [(1, b"plain\t\n\\", 7)]) == 1
        with pytest.raises(mysql.OperationalError) as caught:
            cursor.load_rows("b", [(1, bytes(range(256)), 7)])
        assert caught.value.errno == 1300
        cursor.execute("SELECT * FROM b")
        assert cursor.fetchall() == ((1, b"plain\t\n\\", 7),)

    @pytest.mark.on("mariadb", "mariadb11")
    def test_bytes_of_every_value(self, loader: Callable[..., Cursor]) -> None:
        cursor = loader()
        cursor.execute("CREATE TEMPORARY TABLE b (id INT, x BLOB, tail INT)")
        whole = bytes(range(256))
        assert cursor.load_rows("b", [(1, whole, 7), (2, b"", 8), (3, whole[::-1], 9)]) == 3
        cursor.execute("SELECT * FROM b ORDER BY id")
        assert cursor.fetchall() == ((1, whole, 7), (2, b"", 8), (3, whole[::-1], 9))

    def test_a_value_that_cannot_be_sent_is_named(self, loader: Callable[..., Cursor]) -> None:
        cursor = loader()
        bad = ((number, object() if number == 700 else "x") for number in range(1000))
        with pytest.raises(mysql.ProgrammingError) as caught:
            cursor.load_rows("l", bad)
        assert caught.value.row == 700
        assert rows(cursor) == ()

    def test_a_stream_that_raises_leaves_nothing_and_a_usable_connection(self, loader: Callable[..., Cursor]) -> None:
        def lines() -> Iterator[bytes]:
            for number in range(20_000):
                yield b"%d,text\n" % number
            raise LookupError("no more")

        cursor = loader()
        with pytest.raises(LookupError, match="no more"):
            cursor.load_data(f"LOAD DATA LOCAL INFILE 'stream' {INTO}", lines())
        assert rows(cursor) == ()
        assert cursor.load_data(f"LOAD DATA LOCAL INFILE 'stream' {INTO}", b"1,one\n") == 1

    def test_what_the_server_refuses(self, loader: Callable[..., Cursor]) -> None:
        cursor = loader()
        with pytest.raises(mysql.ProgrammingError) as caught:
            cursor.load_data("LOAD DATA LOCAL INFILE 'x' INTO TABLE nowhere", b"1,one\n" * 100_000)
        assert caught.value.errno == 1146
        assert cursor.load_data("DO 0", b"") == 0
        cursor.execute("SET sql_mode = 'STRICT_ALL_TABLES'")
        sql = "LOAD DATA LOCAL INFILE 'x' INTO TABLE l FIELDS TERMINATED BY ',' (id, @a) SET a = nothing(@a)"
        with pytest.raises(mysql.Error):
            cursor.load_data(sql, b"1,one\n" * 100_000)
        assert cursor.load_data(f"LOAD DATA LOCAL INFILE 'x' {INTO}", b"1,one\n") == 1

    def test_the_connection_is_busy_meanwhile(self, loader: Callable[..., Cursor]) -> None:
        cursor = loader()

        def lines() -> Iterator[bytes]:
            yield b"1,one\n" * 20_000
            with pytest.raises(mysql.InterfaceError, match="another operation"):
                cursor.connection.query("SELECT 1")
            yield b"2,two\n"

        assert cursor.load_data(f"LOAD DATA LOCAL INFILE 'x' {INTO}", lines()) == 2

    def test_asyncio(self, server: MySQLServer) -> None:
        class File:
            def __init__(self, content: bytes) -> None:
                self.inner = io.BytesIO(content)

            async def read(self, size: int) -> bytes:
                await asyncio.sleep(0)
                return self.inner.read(size)

        async def lines(count: int, end: Exception | None = None) -> AsyncIterator[str]:
            for number in range(count):
                yield f"{number},text\n"
            if end is not None:
                raise end

        async def values() -> AsyncIterator[tuple[int, str]]:
            for number in range(1000):
                yield number, "x"

        async def main() -> None:
            sql = f"LOAD DATA LOCAL INFILE 'x' REPLACE {INTO}"
            async with aio.connect(**server.dsn, local_infile=True) as connection:
                cursor = connection.cursor()
                await cursor.execute("CREATE TEMPORARY TABLE l (id INT PRIMARY KEY, a VARCHAR(100))")
                assert await cursor.load_data(sql, lines(5000)) == 5000
                await cursor.execute("DELETE FROM l")
                assert await cursor.load_data(sql, File(b"1,one\n2,two\n")) == 2
                assert await cursor.load_data(sql, [b"3,three\n"]) == 1
                assert await cursor.load_data(sql, (f"4,{'x' * 90}\n" for _ in range(100_000))) >= 100_000
                with pytest.raises(LookupError):
                    await cursor.load_data(sql, lines(5000, LookupError()))
                await cursor.execute("SELECT COUNT(*) FROM l")
                assert await cursor.fetchone() == (4,)
                await cursor.execute("DELETE FROM l")
                assert await cursor.load_rows("l", values()) == 1000
                assert await cursor.load_rows("l", [(1001, None)]) == 1

        asyncio.run(main())

    @pytest.mark.on("mariadb", "mysql9")
    def test_a_cancelled_load_keeps_nothing(self, server: MySQLServer) -> None:
        async def main() -> None:
            waiting = asyncio.Event()

            async def lines() -> AsyncIterator[bytes]:
                yield b"1,one\n" * 50_000
                waiting.set()
                await asyncio.sleep(60)

            async with aio.connect(**server.dsn, local_infile=True, autocommit=True) as connection:
                cursor = connection.cursor()
                await cursor.execute("DROP TABLE IF EXISTS cancelled_load")
                await cursor.execute("CREATE TABLE cancelled_load (id INT, a VARCHAR(100)) ENGINE=InnoDB")
                loading = aio.connect(**server.dsn, local_infile=True, autocommit=True)
                async with loading as other:
                    sql = "LOAD DATA LOCAL INFILE 'x' INTO TABLE cancelled_load FIELDS TERMINATED BY ','"
                    task = asyncio.create_task(other.cursor().load_data(sql, lines()))
                    await asyncio.wait_for(waiting.wait(), 30)
                    task.cancel()
                    with pytest.raises(asyncio.CancelledError):
                        await asyncio.wait_for(task, 30)
                    assert not other.open
                # Waits for the server to have given the lost connection's locks up.
                await cursor.execute("ALTER TABLE cancelled_load COMMENT 'done'")
                await cursor.execute("SELECT COUNT(*) FROM cancelled_load")
                assert await cursor.fetchone() == (0,)
                await cursor.execute("DROP TABLE cancelled_load")

        asyncio.run(main())


@contextlib.contextmanager
def hostile(answers: list[bytes]) -> Iterator[tuple[int, list[bytes]]]:
    """A server that answers each query by the next packet, whatever was asked; and what it was sent behind those."""

    def packet(number: int, payload: bytes) -> bytes:
        return len(payload).to_bytes(3, "little") + bytes([number]) + payload

    def take(stream: Any) -> tuple[int, bytes]:
        head = stream.read(4)
        if len(head) < 4:
            raise EOFError
        return head[3], stream.read(int.from_bytes(head[:3], "little"))

    ok = b"\0\0\0\2\0\0\0"
    got: list[bytes] = []
    listener = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        with contextlib.suppress(EOFError, OSError):
            connection, _ = listener.accept()
            with connection, connection.makefile("rwb") as stream:

                def say(number: int, payload: bytes) -> None:
                    stream.write(packet(number, payload))
                    stream.flush()

                # Local files, the protocol of 4.1, secure connections, several statements and results, plugins.
                greeting = (
                    b"\x0a8.0.99\0" + (7).to_bytes(4, "little") + b"12345678\0" + (0xA280 | 0x8).to_bytes(2, "little")
                )
                greeting += b"\x2d\2\0" + (0x000B).to_bytes(2, "little") + b"\x15" + bytes(10) + b"901234567890\0"
                say(0, greeting + b"mysql_native_password\0")
                take(stream)
                say(2, ok)
                while True:
                    _, command = take(stream)
                    if command[:1] != b"\3" or command.upper().startswith(b"\3SET "):
                        say(1, ok)
                        continue
                    answer = answers.pop(0)
                    say(1, answer)
                    if not answer.startswith(b"\xfb"):
                        continue
                    while True:
                        number, piece = take(stream)
                        if not piece:
                            break
                        got.append(piece)
                    say(number + 1, ok)

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield listener.getsockname()[1], got
    finally:
        listener.close()
        thread.join(10)


class TestHostileServers:
    @pytest.fixture(autouse=True)
    def switched_on(self) -> None:
        """No real server here."""

    @pytest.mark.parametrize("sql", ["SELECT 1", "SELECT 'LOAD DATA LOCAL INFILE ''{file}'''", "-- {file}\nSELECT 1"])
    def test_a_file_that_nobody_named_is_not_sent(self, file: Path, sql: str) -> None:
        with hostile([b"\xfb" + os.fsencode(file), b"\0\0\0\2\0\0\0"]) as (port, got):
            with mysql.connect(
                host="127.0.0.1", port=port, user="u", ssl_disabled=True, local_infile=True
            ) as connection:
                with pytest.raises(mysql.OperationalError, match="does not name it") as caught:
                    connection.query(sql.format(file=file))
                assert str(file) in caught.value.args[1]
                assert got == []
                connection.query("DO 0")

    def test_another_file_than_the_one_named_is_not_sent(self, file: Path, tmp_path: Path) -> None:
        named = tmp_path / "named.csv"
        named.write_text("harmless")
        with hostile([b"\xfb" + os.fsencode(file), b"\xfb" + os.fsencode(named)]) as (port, got):
            with mysql.connect(
                host="127.0.0.1", port=port, user="u", ssl_disabled=True, local_infile=tmp_path
            ) as connection:
                cursor = connection.cursor()
                with pytest.raises(mysql.OperationalError, match="does not name it"):
                    cursor.execute(f"LOAD DATA LOCAL INFILE %s {INTO}", (str(named),))
                assert got == []
                cursor.execute(f"LOAD DATA LOCAL INFILE %s {INTO}", (str(named),))
                assert got == [b"harmless"]

    def test_a_file_is_not_sent_where_none_is_allowed(self, file: Path) -> None:
        with hostile([b"\xfb" + os.fsencode(file)]) as (port, got):
            with mysql.connect(host="127.0.0.1", port=port, user="u", ssl_disabled=True) as connection:
                with pytest.raises(mysql.OperationalError, match="`local_infile` is not set"):
                    connection.query(f"LOAD DATA LOCAL INFILE '{file}' INTO TABLE l")
                assert got == []

    def test_content_goes_only_to_the_name_in_the_statement(self) -> None:
        with hostile([b"\xfb/etc/passwd", b"\xfbx"]) as (port, got):
            with mysql.connect(
                host="127.0.0.1", port=port, user="u", ssl_disabled=True, local_infile=True
            ) as connection:
                cursor = connection.cursor()
                with pytest.raises(mysql.OperationalError, match="does not name it"):
                    cursor.load_data(f"LOAD DATA LOCAL INFILE 'x' {INTO}", b"content")
                assert got == []
                cursor.load_data(f"LOAD DATA LOCAL INFILE 'x' {INTO}", b"content")
                assert got == [b"content"]
