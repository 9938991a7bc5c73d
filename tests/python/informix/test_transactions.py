"""Transactions, savepoints, isolation levels and waits for locks, both colours."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import pytest
from rowferry import informix
from rowferry.informix import IsolationLevel

from tests.python.informix.replay import Driver
from tests.python.informix.server import Target
from tests.servers.rowferry import Rowferry


@pytest.fixture
def block(driver: Driver) -> Any:
    """`with block(manager):` whatever its colour."""

    @contextlib.contextmanager
    def block(manager: Any) -> Iterator[Any]:
        if driver.loop is None:
            with manager as entered:
                yield entered
            return
        entered = driver.loop.run_until_complete(manager.__aenter__())
        try:
            yield entered
        except BaseException as failure:
            if not driver.loop.run_until_complete(manager.__aexit__(type(failure), failure, None)):
                raise
        else:
            driver.loop.run_until_complete(manager.__aexit__(None, None, None))

    return block


@pytest.fixture
def table(connect: Any) -> Iterator[str]:
    """A table with a row 0, for one test."""
    owner = connect(autocommit=True)
    owner.execute("CREATE TABLE transactions_test (a INT)")
    owner.execute("INSERT INTO transactions_test VALUES (0)")
    yield "transactions_test"
    owner.execute("DROP TABLE transactions_test")


def rows(connection: Any, table: str) -> list[int]:
    return [a for (a,) in connection.execute(f"SELECT a FROM {table} ORDER BY a").fetchall()]


def test_a_transaction_begins_with_the_first_statement_and_not_before(connect: Any, table: str) -> None:
    connection = connect()
    assert not connection.in_transaction
    connection.execute(f"INSERT INTO {table} VALUES (1)")
    assert connection.in_transaction
    connection.rollback()
    assert not connection.in_transaction
    assert rows(connection, table) == [0]
    connection.commit()
    connection.commit()
    connection.rollback()


def test_statements_about_the_session_begin_no_transaction_that_anybody_would_miss(connect: Any) -> None:
    connection = connect()
    connection.set_isolation_level("dirty read")
    connection.set_lock_wait(5)
    assert not connection.in_transaction


@pytest.mark.parametrize("autocommit", [False, True])
def test_begin_work_typed_by_the_user_is_noticed(connect: Any, table: str, autocommit: bool) -> None:
    connection = connect(autocommit=autocommit)
    connection.execute("-- mine\nBEGIN WORK")
    assert connection.in_transaction
    connection.execute(f"INSERT INTO {table} VALUES (1)")
    connection.execute("{ not yet } ROLLBACK WORK")
    assert not connection.in_transaction
    assert rows(connection, table) == [0]


def test_autocommit_commits_by_statement_and_does_not_change_within_a_transaction(connect: Any, table: str) -> None:
    connection, other = connect(autocommit=True), connect(autocommit=True)
    connection.execute(f"INSERT INTO {table} VALUES (1)")
    assert rows(other, table) == [0, 1]
    connection.begin()
    with pytest.raises(informix.ProgrammingError, match="commit or roll back"):
        connection.autocommit = False
    connection.rollback()
    connection.autocommit = False
    connection.execute(f"INSERT INTO {table} VALUES (2)")
    assert connection.in_transaction
    connection.rollback()
    assert rows(other, table) == [0, 1]


@pytest.mark.parametrize("autocommit", [False, True])
def test_a_transaction_block_commits_or_rolls_back(connect: Any, block: Any, table: str, autocommit: bool) -> None:
    connection, other = connect(autocommit=autocommit), connect(autocommit=True)
    with block(connection.transaction()):
        connection.execute(f"INSERT INTO {table} VALUES (1)")
        assert connection.in_transaction
    assert rows(other, table) == [0, 1]
    with pytest.raises(ZeroDivisionError), block(connection.transaction()):
        connection.execute(f"INSERT INTO {table} VALUES (2)")
        raise ZeroDivisionError
    assert not connection.in_transaction
    assert rows(other, table) == [0, 1]


def test_a_transaction_block_within_a_transaction_is_a_savepoint(connect: Any, block: Any, table: str) -> None:
    connection, other = connect(), connect(autocommit=True)
    with block(connection.transaction()):
        connection.execute(f"INSERT INTO {table} VALUES (1)")
        with pytest.raises(ZeroDivisionError), block(connection.transaction()):
            connection.execute(f"INSERT INTO {table} VALUES (2)")
            raise ZeroDivisionError
        with block(connection.transaction()):
            connection.execute(f"INSERT INTO {table} VALUES (3)")
    assert rows(other, table) == [0, 1, 3]


def test_a_block_that_ends_its_transaction_by_itself_is_let(connect: Any, block: Any, table: str) -> None:
    connection = connect()
    with pytest.raises(ZeroDivisionError), block(connection.transaction()):
        connection.execute(f"INSERT INTO {table} VALUES (1)")
        connection.commit()
        raise ZeroDivisionError
    assert rows(connection, table) == [0, 1]


def test_a_savepoint_block_undoes_its_part_and_the_transaction_goes_on(connect: Any, block: Any, table: str) -> None:
    connection = connect()
    connection.execute(f"INSERT INTO {table} VALUES (1)")
    with pytest.raises(informix.ProgrammingError), block(connection.savepoint()):
        connection.execute(f"INSERT INTO {table} VALUES (2)")
        connection.execute("SELECT nothing FROM nowhere")
    with block(connection.savepoint("kept")) as savepoint:
        assert savepoint.name == "kept"
        connection.execute(f"INSERT INTO {table} VALUES (3)")
    connection.commit()
    assert rows(connection, table) == [0, 1, 3]


def test_savepoints_by_name(connect: Any, table: str) -> None:
    connection = connect()
    connection.execute(f"INSERT INTO {table} VALUES (1)")
    connection.set_savepoint("here")
    connection.execute(f"INSERT INTO {table} VALUES (2)")
    connection.rollback_to_savepoint("here")
    connection.release_savepoint("here")
    with pytest.raises(informix.DatabaseError) as refused:
        connection.rollback_to_savepoint("here")
    assert refused.value.sqlcode is not None and refused.value.sql == "ROLLBACK TO SAVEPOINT here"
    connection.commit()
    assert rows(connection, table) == [0, 1]


@pytest.mark.parametrize("level", list(IsolationLevel))
def test_every_isolation_level_is_taken_by_the_server(connect: Any, level: IsolationLevel) -> None:
    connection = connect(isolation_level=level)
    assert connection.isolation_level is level
    connection.execute("SELECT FIRST 1 tabid FROM systables").fetchall()
    connection.set_isolation_level(level.value.upper())
    assert connection.isolation_level is level


@pytest.mark.parametrize(
    ("name", "level"),
    [
        ("dirty", IsolationLevel.DIRTY_READ),
        ("READ_COMMITTED", IsolationLevel.COMMITTED_READ),
        ("last committed", IsolationLevel.LAST_COMMITTED),
        ("Cursor-Stability", IsolationLevel.CURSOR_STABILITY),
        ("serializable", IsolationLevel.REPEATABLE_READ),
    ],
)
def test_isolation_levels_have_other_names(name: str, level: IsolationLevel) -> None:
    assert IsolationLevel(name) is level


def test_an_unknown_isolation_level_is_refused_before_anything_is_sent(connect: Any) -> None:
    with pytest.raises(informix.InterfaceError, match="none of dirty read"):
        connect(isolation_level="snapshot")
    connection = connect()
    with pytest.raises(informix.InterfaceError, match="none of dirty read"):
        connection.set_isolation_level("dirty read; DROP TABLE x")


@pytest.mark.parametrize("seconds", [0, 3, 0.5, None])
def test_the_wait_for_locks_is_set(connect: Any, seconds: Any) -> None:
    connection = connect(lock_wait=seconds)
    assert connection.lock_wait == seconds
    connection.set_lock_wait(7)
    assert connection.lock_wait == 7
    connection.reset()
    assert connection.lock_wait == seconds


@pytest.mark.parametrize("seconds", [-1, 40000, float("nan"), True, "soon"])
def test_an_impossible_wait_for_locks_is_refused(connect: Any, seconds: Any) -> None:
    with pytest.raises(informix.InterfaceError, match="lock_wait"):
        connect(lock_wait=seconds)


def test_a_lock_is_not_waited_for_when_the_wait_is_zero(connect: Any, table: str) -> None:
    writer, other = connect(), connect(lock_wait=0)
    writer.execute(f"UPDATE {table} SET a = 1")
    with pytest.raises(informix.OperationalError) as refused:
        other.execute(f"UPDATE {table} SET a = 2")
    assert refused.value.sqlcode in (-244, -245, -246, -263, -346, -378)
    other.rollback()
    writer.rollback()


def test_settings_of_transactions_come_by_url(driver: Driver, target: Target) -> None:
    more = "isolation_level=repeatable+read&lock_wait=forever&autocommit=true"
    url = f"{target.url}{'&' if '?' in target.url else '?'}{more}"
    with driver.connect(url, **target.parameters) as connection:
        assert connection.isolation_level is IsolationLevel.REPEATABLE_READ
        assert connection.lock_wait is None
        assert connection.autocommit is True


@pytest.fixture(scope="module")
def others(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The beginning of the URL of a server with a database in ANSI mode and one without a log."""
    directory = tmp_path_factory.mktemp("others")
    (directory / "more").mkdir()
    args = ("--databases", str(directory / "more"))
    with Rowferry.start(directory / "app.db", postgres=False, informix=True, args=args) as server:
        assert server.informix is not None
        host, port = server.informix
        with informix.connect(f"informix://{host}:{port}/sysmaster", autocommit=True) as connection:
            connection.execute("CREATE DATABASE strict WITH LOG MODE ANSI")
            connection.execute("CREATE DATABASE loose")
        yield f"informix://{host}:{port}/"


@pytest.mark.parametrize("autocommit", [False, True])
def test_in_ansi_mode_autocommit_means_what_it_says(driver: Driver, others: str, autocommit: bool) -> None:
    name = f"ansi_{driver.colour}_{autocommit}"
    connection = driver.connect(f"{others}strict", autocommit=autocommit)
    assert connection.is_ansi and connection.is_logged
    connection.execute(f"CREATE TABLE {name} (a INT UNIQUE)")
    connection.commit()
    connection.execute(f"INSERT INTO {name} VALUES (1)")
    with pytest.raises(informix.IntegrityError):
        connection.cursor().executemany(f"INSERT INTO {name} VALUES (?)", [(2,), (1,), (3,)])
    connection.rollback()
    assert rows(connection, name) == ([1, 2] if autocommit else [])
    connection.commit()
    connection.begin()
    connection.execute(f"INSERT INTO {name} VALUES (4)")
    connection.rollback()
    connection.close()
    with driver.connect(f"{others}strict") as later:
        assert rows(later, name) == ([1, 2] if autocommit else [])


def test_a_database_without_a_log_works_without_transactions(driver: Driver, block: Any, others: str) -> None:
    with driver.connect(f"{others}loose") as connection:
        assert not connection.is_logged
        connection.execute(f"CREATE TABLE loose_{driver.colour} (a INT)")
        connection.execute(f"INSERT INTO loose_{driver.colour} VALUES (1)")
        assert not connection.in_transaction
        connection.rollback()
        assert rows(connection, f"loose_{driver.colour}") == [1]
        with pytest.raises(informix.NotSupportedError, match="no log"), block(connection.transaction()):
            pass


def test_reset_makes_a_session_as_good_as_new(connect: Any, table: str) -> None:
    connection = connect()
    cursor = connection.execute(f"INSERT INTO {table} VALUES (1)")
    connection.set_isolation_level("repeatable read")
    connection.reset()
    assert not connection.in_transaction
    assert connection.isolation_level is None
    assert cursor.closed
    assert rows(connection, table) == [0]
