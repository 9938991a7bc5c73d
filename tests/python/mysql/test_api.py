"""What the driver has beside PEP 249: the other drivers' names and ways, and what they do not have."""

from __future__ import annotations

import asyncio
import inspect
import logging
import pickle
import re
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from rowferry import mysql
from rowferry.mysql import _options, _settings, aio, pool
from rowferry.mysql.cursors import Cursor, DictCursor, NamedCursor, SSCursor, SSNamedCursor

from tests.servers.mysql import MySQLServer

Connect = Callable[..., mysql.Connection]


class TestRows:
    @pytest.mark.parametrize("cls", [NamedCursor, SSNamedCursor])
    def test_are_found_by_name(self, connection: mysql.Connection, cls: type[Cursor]) -> None:
        with connection.cursor(cls) as cursor:
            cursor.execute("SELECT 1 AS a, 'x' AS `the name`, 3 AS keys_ UNION ALL SELECT 2, 'y', 4")
            first, second = cursor.fetchall()
        assert (first.a, first["the name"], first[2]) == (1, "x", 3)
        assert first == (1, "x", 3)
        assert second._asdict() == {"a": 2, "the name": "y", "keys_": 4}
        assert pickle.loads(pickle.dumps(first)).a == 1
        with pytest.raises(AttributeError, match="no column 'b'"):
            _ = first.b

    def test_are_what_row_factory_says(self, connect: Connect) -> None:
        def joined(names: tuple[str, ...]) -> Callable[[tuple[Any, ...]], str]:
            return lambda row: ",".join(f"{name}={value}" for name, value in zip(names, row, strict=True))

        with connect(row_factory=mysql.Row).cursor() as cursor:
            cursor.execute("SELECT 7 AS n")
            assert cursor.fetchone().n == 7
        with connect(row_factory=joined).cursor(SSCursor) as cursor:
            cursor.execute("SELECT 7 AS n, 8 AS m")
            assert cursor.fetchall() == ["n=7,m=8"]

    def test_of_a_dict_cursor_may_be_of_another_class(self, connection: mysql.Connection) -> None:
        class Mine(dict[str, Any]):
            pass

        class MyCursor(DictCursor):
            dict_type = Mine

        with connection.cursor(MyCursor) as cursor:
            cursor.execute("SELECT 1 AS a")
            assert type(cursor.fetchone()) is Mine


class TestTransactions:
    @pytest.fixture
    def table(self, connection: mysql.Connection) -> str:
        with connection.cursor() as cursor:
            cursor.execute("DROP TABLE IF EXISTS blocks")
            cursor.execute("CREATE TABLE blocks (n INT) ENGINE=InnoDB")
        return "blocks"

    def rows(self, connection: mysql.Connection) -> list[int]:
        with connection.cursor() as cursor:
            cursor.execute("SELECT n FROM blocks ORDER BY n")
            return [n for (n,) in cursor.fetchall()]

    @pytest.mark.parametrize("autocommit", [False, True])
    def test_blocks_commit_or_roll_back(self, connect: Connect, table: str, autocommit: bool) -> None:
        connection, watcher = connect(autocommit=autocommit), connect(autocommit=True)
        with connection.transaction():
            assert connection.in_transaction
            connection.query("INSERT INTO blocks VALUES (1)")
            with pytest.raises(KeyError), connection.transaction():
                connection.query("INSERT INTO blocks VALUES (2)")
                raise KeyError
            with connection.transaction(), connection.savepoint():
                connection.query("INSERT INTO blocks VALUES (3)")
            assert self.rows(watcher) == []
        assert not connection.in_transaction
        assert self.rows(watcher) == [1, 3]
        with pytest.raises(KeyError), connection.transaction():
            connection.query("INSERT INTO blocks VALUES (4)")
            raise KeyError
        assert self.rows(watcher) == [1, 3]

    def test_savepoints_have_names_of_any_kind(self, connection: mysql.Connection, table: str) -> None:
        with connection.transaction():
            with connection.savepoint("a `name`") as savepoint:
                connection.query("INSERT INTO blocks VALUES (1)")
                savepoint.rollback()
            assert self.rows(connection) == []

    def test_levels_and_access(self, connect: Connect, table: str) -> None:
        connection = connect(isolation_level="read_committed", read_only=True, autocommit=True)
        with connection.cursor() as cursor:
            mariadb = "MariaDB" in connection.server_version
            name = "tx_isolation" if mariadb else "transaction_isolation"
            cursor.execute(f"SELECT @@{name}")
            assert cursor.fetchone() == ("READ-COMMITTED",)
        with pytest.raises(mysql.OperationalError, match="READ ONLY"):
            connection.query("INSERT INTO blocks VALUES (1)")
        with connection.transaction(read_only=False, isolation_level=mysql.IsolationLevel.SERIALIZABLE):
            connection.query("INSERT INTO blocks VALUES (1)")
        with connection.transaction(consistent_snapshot=True):
            assert self.rows(connection) == [1]
            with pytest.raises(mysql.ProgrammingError, match="under way already"):
                connection.transaction(read_only=True)
        with pytest.raises(mysql.InterfaceError, match="chaos"):
            connection.set_isolation_level("chaos")

    def test_asyncio(self, server: MySQLServer) -> None:
        async def main() -> None:
            async with aio.connect(**server.dsn) as connection, connection.cursor(aio.NamedCursor) as cursor:
                await cursor.execute("CREATE TEMPORARY TABLE t (n INT)")
                async with connection.transaction():
                    await cursor.execute("INSERT INTO t VALUES (1)")
                    with pytest.raises(KeyError):
                        async with connection.savepoint():
                            await cursor.execute("INSERT INTO t VALUES (2)")
                            raise KeyError
                await cursor.execute("SELECT n FROM t")
                assert [row.n for row in await cursor.fetchall()] == [1]

        asyncio.run(main())


class TestProcedures:
    def test_parameters_go_in_and_out(self, cursor: Cursor) -> None:
        for name in ("`p out`", "`p.dot`"):
            cursor.execute(f"DROP PROCEDURE IF EXISTS {name}")
            cursor.execute(
                f"CREATE PROCEDURE {name}(IN a INT, INOUT b INT, OUT c VARCHAR(9)) "
                "BEGIN SELECT a; SET b = a + b; SET c = 'ä'; SELECT b; END"
            )
        for name in ("p out", "p.dot"):
            assert cursor.callproc(name, (2, 3, None)) == (2, 3, None)
            assert cursor.fetchall() == ((2,),)
            assert cursor.nextset()
            assert cursor.fetchall() == ((5,),)
            assert cursor.out_parameters() == (2, 5, "ä")

    def test_of_other_databases(self, cursor: Cursor, server: MySQLServer) -> None:
        cursor.execute("DROP PROCEDURE IF EXISTS plain")
        cursor.execute("CREATE PROCEDURE plain() SELECT 7")
        cursor.callproc(f"{server.database}.plain")
        assert cursor.fetchall() == ((7,),)
        with pytest.raises(mysql.OperationalError, match="1305"):
            cursor.callproc("no.such")


class TestPlaceholders:
    @pytest.mark.parametrize("mode", ["", "NO_BACKSLASH_ESCAPES", "ANSI_QUOTES", "ANSI_QUOTES,NO_BACKSLASH_ESCAPES"])
    @pytest.mark.parametrize("cache", [0, 8])
    def test_values_arrive_under_every_sql_mode(self, connect: Connect, mode: str, cache: int) -> None:
        connection = connect(sql_mode=mode, stmt_cache_size=cache)
        values = ("\\", "'", '"', "\\'", "\\\\'; DROP", "a\0b\n\r\x1a", "%s", "`", "''")
        with connection.cursor() as cursor:
            for value in values:
                for _ in range(2):
                    cursor.execute("SELECT %s, HEX(%s), 1", (value, value.encode()))
                    assert cursor.fetchone() == (value, value.encode().hex().upper(), 1)
                    cursor.execute("SELECT %(b)s, %(a)s, %(b)s, 1", {"a": value, "b": 2})
                    assert cursor.fetchone() == (2, value, 2, 1)
        assert mysql.escape_string("\\'") == "\\\\\\'"
        assert connection.escape("'") == ("''''" if "NO_BACK" in mode else "'\\''")

    @pytest.mark.parametrize(
        "charset",
        [
            *("gbk", "big5", "sjis", "cp932", "euckr", "ujis", "latin1"),
            # MariaDB does not have it.
            pytest.param("gb18030", marks=pytest.mark.on("mysql9")),
        ],
    )
    def test_values_and_text_arrive_in_every_character_set(self, connect: Connect, charset: str) -> None:
        connection = connect(charset=charset)
        codec = connection.encoding
        # Characters whose second byte is a backslash, a backquote or a bar in some of these.
        tricky = [c for c in "誠誤縗許功珮蓋十表ソ構噂能暴申貼鎚廾錦運浬欺圭ｿ가힣é÷£" if fits(c, codec)]
        assert tricky
        with connection.cursor() as cursor:
            for character in tricky:
                text = f"{character}'{character}\\{character}"
                cursor.execute(f"SELECT '{character}', %s, %s, '{character}', '%%'", (text, b"\x5c'"))
                assert cursor.fetchone() == (character, text, b"\x5c'", character, "%")
                cursor.execute(f"SELECT '{character}' AS `{character}`, %(ä)s", {"ä": text})
                assert cursor.fetchone() == (character, text)

    def test_names_go_through_prepared_statements(self, connect: Connect) -> None:
        connection = connect(stmt_cache_size=4)
        query = "SELECT %(b)s, %(a)s, %(b)s"
        with connection.cursor() as cursor:
            for n in range(3):
                cursor.execute(query, {"a": "x", "b": n, "unused": 1})
                assert cursor.fetchone() == (n, "x", n)
            prepared = connection.cached_statement(query, {"a": 1, "b": 2})
            assert prepared is not None and prepared.is_prepared
            with pytest.raises(mysql.ProgrammingError, match=re.escape("%(b)s")):
                cursor.execute(query, {"a": 1})
            with pytest.raises(mysql.ProgrammingError, match="no dict"):
                cursor.execute(query, (1, 2))
            cursor.execute("SELECT 1 IN %(list)s", {"list": [1, 2]})
            assert cursor.fetchone() == (1,)


def fits(character: str, codec: str) -> bool:
    try:
        # Some codecs take what only looks alike.
        return character.encode(codec).decode(codec) == character
    except UnicodeEncodeError:
        return False


async def connected(**given: Any) -> Any:
    return await aio.connect(**given)


async def pooled(**given: Any) -> Any:
    return await aio.create_pool(**given)


class TestParameters:
    def test_unknown_ones_are_named_with_a_suggestion(self) -> None:
        for wrong, meant in (("pasword", "password"), ("cursor_class", "cursorclass"), ("readtimeout", "read_timeout")):
            with pytest.raises(TypeError, match=f"`{wrong}`; did you mean `{meant}`"):
                mysql.connect(**{wrong: 1})
        with pytest.raises(TypeError, match="has no parameter `zzz`"):
            mysql.connect(zzz=1)

    @pytest.mark.parametrize(
        ("parameters", "reason"),
        [
            ({"auth_plugin_map": {b"dialog": object}}, "password2"),
            ({"named_pipe": True}, "unix_socket"),
            ({"auth_plugin": "mysql_old_password"}, "mysql_native_password"),
        ],
    )
    def test_what_cannot_be_is_refused_by_name(self, parameters: dict[str, Any], reason: str) -> None:
        with pytest.raises(mysql.NotSupportedError, match=f"`{next(iter(parameters))}`.*{reason}"):
            mysql.connect(**parameters)

    def test_wrong_values_are_refused_by_name(self) -> None:
        for name, value in (("executemany_fallback", "both"), ("loop", object()), ("server_public_key_path", "/no")):
            with pytest.raises(mysql.InterfaceError, match=name):
                mysql.connect(**{name: value})

    @pytest.mark.parametrize(
        ("name", "value", "wanted"),
        [
            ("autocommit", "yes", "True or False"),
            ("echo", "no", "True or False"),
            ("port", "abc", "a number from 0 to 65535"),
            ("port", 65536, "a number from 0 to 65535"),
            ("stmt_cache_size", -1, "a number from 0 on"),
            ("stmt_cache_size", None, "a number from 0 on"),
            ("max_allowed_packet", "16M", "a number from 0 on"),
            ("connect_timeout", -1, "seconds"),
            ("read_timeout", "soon", "seconds"),
            ("query_timeout", float("nan"), "seconds"),
            ("cursorclass", "x", "a class of cursors"),
            ("cursorclass", dict, "a class of cursors"),
            ("user", 7, "a text"),
            ("database", b"shop", "a text"),
            ("query_callback", "print", "something to call"),
        ],
    )
    def test_values_of_the_wrong_kind_are_refused_before_anything_is_done(
        self, name: str, value: object, wanted: str
    ) -> None:
        for connect in (mysql.connect, mysql.Connection, lambda **given: asyncio.run(connected(**given))):
            with pytest.raises(mysql.InterfaceError, match=f"`{name}` is {wanted}"):
                connect(**{name: value})

    @pytest.mark.parametrize(
        ("name", "value"),
        [("pre_ping", "yes"), ("acquire_timeout", -1), ("on_acquire", 5), ("pool_recycle", None), ("minsize", "1")],
    )
    def test_values_of_pools_are_checked_when_one_is_made(self, name: str, value: object) -> None:
        for make in (mysql.create_pool, lambda **given: asyncio.run(pooled(**given))):
            with pytest.raises(mysql.InterfaceError, match=f"`{name}` is"):
                make(**{name: value})

    @pytest.mark.parametrize("make", ["blocking", "asyncio"])
    def test_parameters_of_pools_are_suggested_to_pools(self, make: str) -> None:
        for wrong, meant in (("max_size", "maxsize"), ("preping", "pre_ping"), ("pasword", "password")):
            with pytest.raises(TypeError, match=rf"create_pool\(\) has no parameter `{wrong}`; did you mean `{meant}`"):
                if make == "blocking":
                    mysql.create_pool(**{wrong: 3})
                else:
                    asyncio.run(pooled(**{wrong: 3}))

    def test_type_checkers_know_every_parameter(self) -> None:
        of_connect = {"host", "user", "password", "database", "port", *_options.ConnectOptions.__annotations__}
        assert of_connect == _settings.PARAMETERS
        of_pool = set(inspect.signature(pool._pool).parameters) - {"kwargs", "minsize", "maxsize"}
        assert set(_options.PoolSizes.__annotations__) == of_pool == set(pool._OF_POOL) - {"minsize", "maxsize"}

    def test_one_statement_in_a_text(self, connect: Connect) -> None:
        connect(multi_statements=True).query("SELECT 1; SELECT 2")
        with pytest.raises(mysql.ProgrammingError, match="1064"):
            connect(multi_statements=False).query("SELECT 1; SELECT 2")

    @pytest.mark.parametrize("family", ["tcp", "unix"])
    def test_a_socket_of_the_callers(self, server: MySQLServer, family: str) -> None:
        login = {"user": server.user, "password": server.password, "database": server.database}

        def opened() -> socket.socket:
            if family == "tcp":
                return socket.create_connection((server.host, server.port))
            plain = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            plain.connect(server.unix_socket)
            return plain

        with opened() as sock:
            connection = mysql.connect(defer_connect=True, **login)
            assert not connection.open
            connection.connect(sock)
        with connection, connection.cursor() as cursor:
            cursor.execute("SELECT 1")
            assert cursor.fetchone() == (1,)
        with opened() as sock, mysql.connect(sock=sock, **login) as connection:
            connection.ping()

        async def main() -> None:
            with opened() as sock:
                async with aio.connect(sock=sock, **login) as connection, connection.cursor() as cursor:
                    await cursor.execute("SELECT 2")
                    assert await cursor.fetchone() == (2,)

        asyncio.run(main())
        with pytest.raises(mysql.InterfaceError, match="not connected"), socket.socket() as sock:
            mysql.connect(sock=sock, **login)

    def test_statements_are_told(self, server: MySQLServer, caplog: pytest.LogCaptureFixture) -> None:
        told: list[Any] = []

        def callback(cursor: Any, query: Any, milliseconds: float) -> None:
            told.append((type(cursor).__name__, query, milliseconds >= 0))

        async def main() -> None:
            async with aio.connect(**server.dsn, query_callback=callback, echo=True) as connection:
                assert connection.echo
                async with connection.cursor() as cursor:
                    await cursor.execute("SELECT %s", (2,))
                    with pytest.raises(aio.ProgrammingError):
                        await cursor.execute("SELEC")

        with caplog.at_level(logging.INFO, "rowferry.mysql"):
            with mysql.connect(**server.dsn, query_callback=callback, echo=True) as connection:
                with connection.cursor() as cursor:
                    cursor.execute("SELECT 1")
            asyncio.run(main())
        assert told == [("Cursor", "SELECT 1", True), ("AsyncCursor", "SELECT %s", True)]
        assert [record.getMessage() for record in caplog.records] == ["SELECT 1", "SELECT %s", "(2,)", "SELEC"]

    def test_converters_that_are_changed_count_for_later_connections(
        self, connect: Connect, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        class Celsius:
            degrees = 21

        monkeypatch.setitem(mysql.converters.conversions, Celsius, lambda value, mapping: str(value.degrees))
        with connect().cursor() as cursor:
            cursor.execute("SELECT %s", (Celsius(),))
            assert cursor.fetchone() == (21,)


class TestUnbuffered:
    def test_another_statement_takes_the_place_of_unread_rows(self, connection: mysql.Connection) -> None:
        stream, other = connection.cursor(SSCursor), connection.cursor()
        stream.execute("SELECT seq, REPEAT('x', 1000) FROM seq_1_to_20000")
        assert stream.fetchone()[0] == 1
        with pytest.warns(UserWarning, match="Previous unbuffered result was left incomplete"):
            other.execute("SELECT 'other'")
        assert other.fetchall() == (("other",),)
        with pytest.raises(mysql.ProgrammingError, match="gone"):
            stream.fetchall()
        stream.execute("SELECT CAST('abc' AS SIGNED)")
        assert stream.fetchall() == [(0,)]
        assert stream.warning_count == 1
        assert stream.show_warnings()[0][1] == mysql.constants.ER.TRUNCATED_WRONG_VALUE


def test_programs_of_mysqlclient_read_stored_results(connection: mysql.Connection) -> None:
    connection.query("SELECT 1 AS a UNION ALL SELECT 2; SELECT 3")
    result = connection.store_result()
    assert result is not None
    assert (result.num_rows(), result.fetch_row(), result.fetch_row(0, 1)) == (2, ((1,),), ({"a": 2},))
    assert connection.more_results() and connection.next_result() == 0
    assert connection.use_result().fetch_row(0) == ((3,),)
    assert connection.next_result() == -1
    with pytest.raises(TypeError):
        mysql._mysql.result(b"xyz")


def test_tables_of_the_guide_are_those_of_the_code() -> None:
    page = (Path(__file__).parents[3] / "docs/guide/mysql-errors.md").read_text()
    said = {}
    for name, numbers in re.findall(r"^\| `(\w+Error)` \| ([\d ]+) \|$", page, re.MULTILINE):
        said.update({int(number): name for number in numbers.split()})
    assert said == {number: cls.__name__ for number, cls in mysql.err.error_map.items()}


def test_every_parameter_of_the_code_is_in_the_guide() -> None:
    from rowferry.mysql import _settings

    guide = Path(__file__).parents[3] / "docs/guide"
    pages = "".join(page.read_text() for page in guide.glob("mysql*.md"))
    named = set(re.findall(r"\b[a-z_0-9]+\b", pages))
    assert _settings._PARAMETERS - named <= {"password1", "zstd_compression_level"}
