"""What PEP 249 and the peers' users expect of a blocking connection and its cursors."""

from __future__ import annotations

import pickle
import threading
from collections.abc import Callable

import pytest
from rowferry import exceptions, mysql
from rowferry.mysql.constants import ER
from rowferry.mysql.cursors import Cursor, DictCursor, SSCursor, SSDictCursor

from tests.servers.mysql import MySQLServer


def test_globals_of_pep_249() -> None:
    assert (mysql.apilevel, mysql.threadsafety, mysql.paramstyle) == ("2.0", 1, "pyformat")
    assert mysql.NUMBER == 3
    assert mysql.STRING != 3
    assert issubclass(mysql.IntegrityError, mysql.DatabaseError)


def test_fetch_in_every_way(cursor: Cursor) -> None:
    assert cursor.execute("SELECT seq FROM seq_1_to_10") == 10
    assert (cursor.rowcount, cursor.rownumber) == (10, 0)
    assert cursor.fetchone() == (1,)
    assert cursor.fetchmany(2) == ((2,), (3,))
    assert cursor.fetchmany() == ((4,),)
    cursor.scroll(1)
    assert cursor.fetchone() == (6,)
    cursor.scroll(8, mode="absolute")
    assert list(cursor) == [(9,), (10,)]
    assert cursor.fetchone() is None
    assert cursor.fetchall() == ()
    with pytest.raises(IndexError):
        cursor.scroll(5)
    assert cursor.description is not None
    assert [column[:2] for column in cursor.description] == [("seq", 8)]
    assert cursor.description[0][1] == mysql.NUMBER


def test_fetch_before_execute_is_an_error(cursor: Cursor) -> None:
    for fetch in (cursor.fetchone, cursor.fetchmany, cursor.fetchall):
        with pytest.raises(mysql.ProgrammingError, match="execute"):
            fetch()
    assert cursor.description is None
    assert cursor.rowcount == -1
    cursor.close()
    with pytest.raises(mysql.ProgrammingError, match="closed"):
        cursor.execute("SELECT 1")


def test_statements_without_rows(cursor: Cursor) -> None:
    cursor.execute("CREATE TEMPORARY TABLE t (id INT AUTO_INCREMENT PRIMARY KEY, a INT)")
    assert cursor.execute("INSERT INTO t (a) VALUES (1), (2), (2)") == 3
    assert cursor.lastrowid == cursor.connection.insert_id() == 1
    assert cursor.description is None
    assert cursor.fetchall() == []
    assert cursor.execute("UPDATE t SET a = 3 WHERE a = 2") == 2
    assert cursor.execute("DELETE FROM t") == 3


def test_rows_as_dicts(connection: mysql.Connection) -> None:
    with connection.cursor(DictCursor) as cursor:
        cursor.execute("SELECT 1 AS a, 2 AS b, t.a FROM (SELECT 3 AS a) AS t")
        assert cursor.fetchall() == [{"a": 1, "b": 2, "t.a": 3}]


def test_several_results(cursor: Cursor) -> None:
    cursor.execute("SELECT 1; SET @x = 1; SELECT 2, 3; SELEC 4")
    assert cursor.fetchall() == ((1,),)
    assert cursor.nextset() is True
    assert cursor.description is None
    assert cursor.nextset() is True
    assert cursor.fetchall() == ((2, 3),)
    with pytest.raises(mysql.ProgrammingError, match="1064"):
        cursor.nextset()
    cursor.execute("SELECT 5")
    assert cursor.fetchall() == ((5,),)
    assert cursor.nextset() is None


def test_procedures_with_results_and_out_parameters(cursor: Cursor) -> None:
    cursor.execute("DROP PROCEDURE IF EXISTS twice")
    cursor.execute("CREATE PROCEDURE twice(IN a INT, OUT b INT) BEGIN SELECT a; SET b = a * 2; END")
    assert cursor.callproc("twice", (21, None)) == (21, None)
    assert cursor.fetchall() == ((21,),)
    assert cursor.nextset() is True
    assert cursor.nextset() is None
    cursor.execute("SELECT @_twice_1")
    assert cursor.fetchone() == (42,)


def test_placeholders(cursor: Cursor) -> None:
    cursor.execute("SELECT %(a)s, %(b)s, %(a)s, '100%%'", {"a": "x", "b": None, "unused": 1})
    assert cursor.fetchone() == ("x", None, "x", "100%")
    cursor.execute("SELECT 'http://host:8080/%s', 5 % 3")
    assert cursor.fetchone() == ("http://host:8080/%s", 2)
    cursor.execute("SELECT %s", "alone")
    assert cursor.fetchone() == ("alone",)
    cursor.execute("SELECT '%s days'", (3,))
    assert cursor.fetchone() == ("3 days",)
    assert cursor.mogrify("SELECT %s", ("it's",)) == r"SELECT 'it\'s'"
    for sql, args, message in [
        ("SELECT %s, %s", (1,), "not enough"),
        ("SELECT %s", (1, 2), "too many"),
        ("SELECT %(a)s", {"b": 1}, "no value"),
        ("SELECT %(a)s", (1,), "no dict"),
        ("SELECT %d", (1,), "no placeholder"),
        ("SELECT '%s'", ("quoted",), "inside quotes"),
    ]:
        with pytest.raises(mysql.ProgrammingError, match=message):
            cursor.execute(sql, args)
    cursor.execute("SELECT 1")


def test_errors_carry_class_number_state_and_statement(cursor: Cursor) -> None:
    cursor.execute("CREATE TEMPORARY TABLE e (id INT PRIMARY KEY, n INT NOT NULL, s VARCHAR(2))")
    cursor.execute("INSERT INTO e VALUES (1, 1, 'a')")
    for sql, cls, errno, sqlstate in [
        ("SELEC 1", mysql.ProgrammingError, ER.PARSE_ERROR, "42000"),
        ("SELECT * FROM nowhere", mysql.ProgrammingError, ER.NO_SUCH_TABLE, "42S02"),
        ("SELECT nothing FROM e", mysql.OperationalError, ER.BAD_FIELD_ERROR, "42S22"),
        ("INSERT INTO e VALUES (1, 1, 'a')", mysql.IntegrityError, ER.DUP_ENTRY, "23000"),
        ("INSERT INTO e VALUES (2, NULL, 'a')", mysql.IntegrityError, ER.BAD_NULL_ERROR, "23000"),
        ("INSERT INTO e VALUES (2, 1, 'abc')", mysql.DataError, ER.DATA_TOO_LONG, "22001"),
        ("INSERT INTO e VALUES (99999999999, 1, 'a')", mysql.DataError, ER.WARN_DATA_OUT_OF_RANGE, "22003"),
        ("SIGNAL SQLSTATE '45000' SET MYSQL_ERRNO = 30001", mysql.OperationalError, 30001, "45000"),
    ]:
        with pytest.raises(cls) as caught:
            cursor.execute(sql)
        error = caught.value
        assert (type(error), error.errno, error.args[0], error.sqlstate, error.sql) == (
            cls,
            errno,
            errno,
            sqlstate,
            sql,
        )
        assert isinstance(error, exceptions.Error)
        again = pickle.loads(pickle.dumps(error))
        assert (type(again), again.args, again.__dict__) == (type(error), error.args, error.__dict__)
    cursor.execute("SELECT COUNT(*) FROM e")
    assert cursor.fetchone() == (1,)


class TestUnbuffered:
    def test_rows_come_bit_by_bit(self, connection: mysql.Connection) -> None:
        with connection.cursor(SSCursor) as cursor:
            cursor.execute("SELECT seq, REPEAT('x', 100) FROM seq_1_to_20000")
            assert cursor.rowcount == 2**64 - 1
            assert cursor.fetchone() == (1, "x" * 100)
            assert [row[0] for row in cursor.fetchmany(1000)] == list(range(2, 1002))
            assert [row[0] for row in cursor] == list(range(1002, 20001))
            assert cursor.fetchone() is None
        with connection.cursor(SSDictCursor) as cursor:
            cursor.execute("SELECT 1 AS a")
            assert cursor.fetchall() == [{"a": 1}]

    def test_closing_early_leaves_the_connection_usable(self, connection: mysql.Connection) -> None:
        with connection.cursor(SSCursor) as stream:
            stream.execute("SELECT seq, REPEAT('x', 1000) FROM seq_1_to_20000")
            assert stream.fetchone() is not None
            with pytest.warns(UserWarning, match="unbuffered result was left incomplete"):
                connection.query("SELECT 1")
            with pytest.raises(mysql.ProgrammingError, match="gone"):
                stream.fetchall()
        with connection.cursor() as cursor:
            cursor.execute("SELECT 2")
            assert cursor.fetchall() == ((2,),)

    def test_the_end_of_a_transaction_drops_rows_that_nobody_fetched(self, connection: mysql.Connection) -> None:
        for end in (connection.rollback, connection.commit):
            left = connection.cursor(SSCursor)
            left.execute("SELECT seq FROM seq_1_to_20000")
            assert left.fetchmany(2) == [(1,), (2,)]
            end()
            with pytest.raises(mysql.ProgrammingError, match="gone"):
                left.fetchone()
            with connection.cursor(SSCursor) as another:
                another.execute("SELECT 'another' FROM seq_1_to_1000")
                # Never the rows of another, nor an end to them.
                left.close()
                assert another.fetchall() == [("another",)] * 1000

    def test_several_results_and_errors(self, connection: mysql.Connection) -> None:
        with connection.cursor(SSCursor) as cursor:
            cursor.execute("SELECT seq FROM seq_1_to_600; SET @a = 1; SELECT 'b'")
            assert cursor.fetchone() == (1,)
            assert cursor.nextset() is True
            assert cursor.fetchall() == []
            assert cursor.nextset() is True
            assert cursor.fetchall() == [("b",)]
            assert cursor.nextset() is None
            with pytest.raises(mysql.ProgrammingError):
                cursor.execute("SELEC")
            cursor.execute("SELECT 3")
            assert cursor.fetchall() == [(3,)]

    def test_an_error_amid_the_rows(self, connection: mysql.Connection) -> None:
        with connection.cursor(SSCursor) as cursor:
            cursor.execute("SELECT IF(seq < 5000, seq, (SELECT 1 UNION SELECT 2)) FROM seq_1_to_6000")
            with pytest.raises(mysql.Error, match="1242"):
                cursor.fetchall()
            cursor.execute("SELECT 3")
            assert cursor.fetchall() == [(3,)]


def test_transactions(connect: Callable[..., mysql.Connection]) -> None:
    one, two = connect(), connect(autocommit=True)
    assert (one.get_autocommit(), two.get_autocommit()) == (False, True)
    with one.cursor() as writer, two.cursor() as reader:
        writer.execute("CREATE TABLE tx (a INT) ENGINE=InnoDB")
        writer.execute("INSERT INTO tx VALUES (1)")
        assert one.get_transaction_status()
        assert reader.execute("SELECT * FROM tx") == 0
        one.rollback()
        assert not one.get_transaction_status()
        writer.execute("INSERT INTO tx VALUES (2)")
        one.commit()
        assert reader.execute("SELECT * FROM tx") == 1
        one.autocommit(True)
        writer.execute("INSERT INTO tx VALUES (3)")
        assert reader.execute("SELECT * FROM tx") == 2
        one.begin()
        writer.execute("DELETE FROM tx")
        one.rollback()
        assert reader.execute("SELECT * FROM tx") == 2
        writer.execute("DROP TABLE tx")


def test_prepared_statements(connection: mysql.Connection) -> None:
    with connection.prepare("SELECT ? + ?, ?") as statement:
        assert statement.parameter_count == 3
        assert statement.execute((1, 2, "x")).rows == ((3, "x"),)
        assert statement.execute([None, 2, None]).rows == ((None, None),)
        assert statement.execute((1, 2, 3), as_dict=True).rows == ({"? + ?": 3, "?": 3},)
        with pytest.raises(mysql.ProgrammingError, match="3 parameters, but 1"):
            statement.execute((1,))
    with pytest.raises(mysql.ProgrammingError, match="closed"):
        statement.execute((1, 2, 3))
    with pytest.raises(mysql.ProgrammingError, match="1064"):
        connection.prepare("SELEC ?")


@pytest.mark.parametrize("size", [0, 8])
def test_statements_without_parameters_take_any_empty_collection(
    connect: Callable[..., mysql.Connection], size: int
) -> None:
    with connect(stmt_cache_size=size).cursor() as cursor:
        for nothing in ({}, (), []):
            cursor.execute("SELECT 7 %% 4", nothing)
            assert cursor.fetchone() == (3,)


def test_statement_cache(connect: Callable[..., mysql.Connection]) -> None:
    connection = connect(stmt_cache_size=2)
    with connection.cursor() as cursor:
        for _ in range(3):
            for sql, args, row in [
                # MySQL prepares again when a value is not of the type that it guessed: it can guess these.
                ("SELECT %s + 1", (5,), (6,)),
                ("SELECT %s + 2e0", (0.5,), (2.5,)),
                ("SELECT %s, '%%', 3", ("x",), ("x", "%", 3)),
                ("SELECT 1 IN %s", ([1, 2],), (1,)),
                ("SELECT %(a)s + 3", {"a": 4}, (7,)),
            ]:
                cursor.execute(sql, args)
                assert cursor.fetchone() == row
        cursor.execute("SHOW SESSION STATUS LIKE 'Com_stmt_prepare'")
        assert cursor.fetchone() == ("Com_stmt_prepare", "12")
        cursor.execute("SHOW SESSION STATUS LIKE 'Prepared_stmt_count'")
        # Of the global count at most two are ours.
        with pytest.raises(mysql.ProgrammingError, match="1146"):
            cursor.execute("SELECT * FROM nowhere WHERE a = %s", (1,))


def test_ping_never_reconnects_by_surprise(connect: Callable[..., mysql.Connection]) -> None:
    connection, killer = connect(), connect()
    first = connection.thread_id()
    connection.ping()
    assert connection.thread_id() == first
    killer.kill(first)
    with pytest.raises(mysql.OperationalError):
        connection.ping()
        connection.ping()
    assert not connection.open
    # The number by which SQLAlchemy's pool knows a lost connection.
    with pytest.raises(mysql.OperationalError, match="2006"):
        connection.ping()
    connection.ping(reconnect=True)
    assert connection.open
    assert connection.thread_id() != first


def test_closed_connections_say_so(connect: Callable[..., mysql.Connection]) -> None:
    connection = connect()
    cursor = connection.cursor()
    connection.close()
    with pytest.raises(mysql.InterfaceError, match="closed already"):
        connection.close()
    connection.ensure_closed()
    for operation in (connection.commit, connection.ping, lambda: cursor.execute("SELECT 1")):
        with pytest.raises(mysql.InterfaceError, match="closed"):
            operation()


def test_a_busy_connection_refuses_a_second_operation(connection: mysql.Connection) -> None:
    started = threading.Event()

    def sleep() -> None:
        started.set()
        connection.query("SELECT SLEEP(0.5)")

    thread = threading.Thread(target=sleep)
    thread.start()
    started.wait(10)
    refusals = 0
    while thread.is_alive():
        try:
            connection.ping()
        except mysql.InterfaceError as error:
            assert "another operation" in str(error)
            refusals += 1
    thread.join()
    assert refusals > 0
    connection.ping()


def test_unclosed_connections_warn(server: MySQLServer) -> None:
    connection = mysql.connect(**server.dsn)
    with pytest.warns(ResourceWarning, match="unclosed connection"):
        del connection


def test_unix_socket_and_session_options(server: MySQLServer) -> None:
    connection = mysql.connect(
        unix_socket=server.unix_socket,
        user=server.user,
        passwd=server.password,
        db=server.database,
        init_command="SET @greeting = 'hello'",
        sql_mode="ANSI",
        time_zone="+03:00",
        autocommit=True,
        collation="utf8mb4_bin",
        program_name="test-suite",
    )
    with connection, connection.cursor() as cursor:
        cursor.execute("SELECT @greeting, @@sql_mode LIKE '%ANSI%', @@time_zone, @@autocommit, @@collation_connection")
        assert cursor.fetchone() == ("hello", 1, "+03:00", 1, "utf8mb4_bin")
        cursor.execute("SELECT VERSION()")
        assert cursor.fetchone() == (connection.get_server_info(),)
    assert not connection.open


def test_what_is_not_supported_says_so(server: MySQLServer) -> None:
    for options in ({"named_pipe": True}, {"ssl": {"crl": "x"}}):
        with pytest.raises(mysql.NotSupportedError):
            mysql.connect(**{**server.dsn, **options})
    with pytest.raises(mysql.InterfaceError, match="unknown character set"):
        mysql.connect(**server.dsn, charset="klingon")


def test_wrong_password_and_nobody_there(server: MySQLServer) -> None:
    with pytest.raises(mysql.OperationalError) as caught:
        mysql.connect(**{**server.dsn, "password": "wrong"})
    assert caught.value.errno == ER.ACCESS_DENIED_ERROR
    with pytest.raises(mysql.OperationalError, match="2003"):
        mysql.connect(**{**server.dsn, "port": 1})


@pytest.mark.parametrize("name", ["MySQLdb", "pymysql", "asyncmy", "aiomysql"])
def test_other_drivers_names(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    import importlib
    import sys

    from rowferry.mysql import aio

    monkeypatch.setattr(sys, "modules", dict(sys.modules))
    ours = mysql if name in ("MySQLdb", "pymysql") else aio
    getattr(ours, f"install_as_{name}")()
    alias = importlib.import_module(name)
    # SQLAlchemy looks for constants below the name that the module says.
    assert alias.__name__ == name
    assert __import__(f"{alias.__name__}.constants.CLIENT").constants.CLIENT.FOUND_ROWS == 2
    assert (alias.connect, alias.Error) == (ours.connect, ours.Error)
    assert dir(alias) == dir(ours)
    # What programs change is changed for all, as when they pretend to be another version.
    alias.shown = 1
    assert ours.shown == 1  # type: ignore[attr-defined]
    del alias.shown
    assert not hasattr(ours, "shown")
    assert sys.modules[f"{name}.cursors"].DictCursor is ours.cursors.DictCursor
    assert sys.modules[f"{name}.constants.COMMAND"].COM_QUERY == 3
    assert sys.modules[f"{name}.err"].IntegrityError is mysql.IntegrityError
    assert sys.modules[f"{name}.charset"].charset_by_name("klingon") is None
    assert importlib.import_module(f"{name}.converters") is mysql.converters
