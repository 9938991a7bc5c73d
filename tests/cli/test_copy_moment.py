"""`rowferry copy --as-of`: whether tables belong together that somebody writes to while they are copied."""

from __future__ import annotations

import contextlib
import json
import random
import sqlite3
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from rowferry import mysql

from tests.cli.copying import command, copy, informix_url, rows
from tests.servers.mariadb import MariaDB
from tests.servers.rowferry import Rowferry, find_rowferry

BANKS = [f"bank{number}" for number in range(8)]
ACCOUNTS = 2000

#: How many transfers there must have been while a copy was made, for its sums to say anything.
BUSY = 10


def bank_tables(options: str = "") -> Iterator[str]:
    """Accounts in several tables, and a table without a key that notes each transfer."""
    for name in [*BANKS, "journal"]:
        key = "" if name == "journal" else ", PRIMARY KEY (id)"
        yield f"CREATE TABLE {name} (id integer NOT NULL, money integer NOT NULL, moves integer NOT NULL{key}){options}"
    for name in BANKS:
        for first in range(0, ACCOUNTS, 500):
            yield f"INSERT INTO {name} VALUES " + ", ".join(f"({first + id}, 1000, 0)" for id in range(500))


class Mover(threading.Thread):
    """Moves money between the banks, a transaction each, until it is told to stop."""

    def __init__(self, connect: Callable[[], Any]) -> None:
        super().__init__()
        self.connect = connect
        self.moved = 0
        self.refused = 0
        self.failure: BaseException | None = None
        self.over = threading.Event()

    def run(self) -> None:
        chance = random.Random(7)
        try:
            with contextlib.closing(self.connect()) as connection:
                while not self.over.is_set():
                    self.move(connection, chance)
        except BaseException as error:
            self.failure = error

    def move(self, connection: Any, chance: random.Random) -> None:
        one, other = chance.sample(BANKS, 2)
        account, amount = chance.randrange(ACCOUNTS), chance.randrange(1, 500)
        cursor = connection.cursor()
        try:
            cursor.execute(f"UPDATE {one} SET money = money - {amount}, moves = moves + 1 WHERE id = {account}")
            cursor.execute(f"UPDATE {other} SET money = money + {amount}, moves = moves + 1 WHERE id = {account}")
            cursor.execute(f"INSERT INTO journal VALUES ({self.moved}, {amount}, 0)")
            connection.commit()
        except sqlite3.OperationalError as error:
            # Somebody reads a file without a write-ahead log.
            assert "locked" in str(error)
            connection.rollback()
            self.refused += 1
            # Those who wait for the lock get it between two transactions.
            time.sleep(0.05)
            return
        self.moved += 1

    def __enter__(self) -> Mover:
        self.start()
        while self.moved == 0 and self.is_alive():
            time.sleep(0.01)
        return self

    def __exit__(self, *_: object) -> None:
        self.over.set()
        self.join()
        if self.failure is not None:
            raise self.failure


def of_one_moment(path: Path) -> bool:
    """Whether all of the money is there, and all transfers are in the journal."""
    each = " UNION ALL ".join(f"SELECT money, moves FROM {name}" for name in BANKS)
    ((money, moves),) = rows(path, f"SELECT sum(money), sum(moves) FROM ({each})")
    ((noted,),) = rows(path, "SELECT count(*) FROM journal")
    return bool((money, moves) == (len(BANKS) * ACCOUNTS * 1000, 2 * noted))


def copied(mover: Mover, source: str | Path, target: Path, *options: str) -> dict[str, Any]:
    """A copy while somebody writes, of which it is made sure that somebody did."""
    before = mover.moved
    told = copy(source, target, "--batch", "200", *options, cwd=target.parent)
    assert mover.moved - before >= BUSY
    return told


@pytest.fixture
def bank(database: Callable[[], str]) -> str:
    """The banks on a real PostgreSQL."""
    place = database()
    with psycopg.connect(place, autocommit=True) as connection:
        for statement in bank_tables():
            connection.execute(statement)
    return place


@pytest.fixture
def bank_file(tmp_path: Path) -> Path:
    """The banks in a file with a write-ahead log."""
    path = tmp_path / "bank.db"
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        for statement in bank_tables():
            connection.execute(statement)
        connection.commit()
    return path


@pytest.mark.parametrize("options", [[], ["--as-of", "one"], ["--as-of", "one", "--jobs", "1"]])
def test_tables_of_postgresql_belong_together(bank: str, options: list[str], tmp_path: Path) -> None:
    with Mover(lambda: psycopg.connect(bank)) as mover:
        told = copied(mover, bank, tmp_path / "a.db", *options)
    assert told["one_moment"] is True and told["why_not"] is None
    assert of_one_moment(tmp_path / "a.db")


@pytest.mark.parametrize("limit", [1, 2, 3])
def test_with_few_connections(bank: str, limit: int, tmp_path: Path) -> None:
    """As many read as are let in, one of them in the end."""
    with psycopg.connect(bank, autocommit=True) as connection:
        connection.execute(f"CREATE ROLE few LOGIN CONNECTION LIMIT {limit}")
        try:
            connection.execute("GRANT SELECT ON ALL TABLES IN SCHEMA public TO few")
            with Mover(lambda: psycopg.connect(bank)) as mover:
                place = bank.replace("rowferry@", "few@")
                told = copied(mover, place, tmp_path / "a.db", "--as-of", "one", "--jobs", "4")
        finally:
            connection.execute("DROP OWNED BY few; DROP ROLE few")
    assert told["one_moment"] is True
    assert of_one_moment(tmp_path / "a.db")


def test_each_table_at_its_own_time(bank: str, tmp_path: Path) -> None:
    """So it was before, and so the copies above could have gone wrong."""
    with Mover(lambda: psycopg.connect(bank)) as mover:
        options = ["--verify", "none", "--as-of", "each"]
        told = copied(mover, bank, tmp_path / "a.db", *options)
        assert told["one_moment"] is False and told["why_not"] is None
        done = command(bank, tmp_path / "b.db", "--yes", "--exclude", "journal", *options, cwd=tmp_path)
        assert done.returncode == 0 and done.stdout.endswith("; not compared; each table at its own time\n")
    assert not of_one_moment(tmp_path / "a.db")
    done = command(bank, tmp_path / "c.db", "--yes", cwd=tmp_path)
    assert done.returncode == 0 and done.stdout.endswith("; checksums equal; as of one moment\n")


def test_our_door_shares_its_snapshots(bank_file: Path, tmp_path: Path) -> None:
    with (
        Rowferry.start(bank_file) as server,
        Mover(lambda: psycopg.connect(server.postgres_dsn)) as mover,
    ):
        told = copied(mover, server.postgres_dsn, tmp_path / "a.db", "--as-of", "one")
    assert told["one_moment"] is True
    assert of_one_moment(tmp_path / "a.db")


def test_our_mysql_door_reads_one_moment(bank_file: Path, tmp_path: Path) -> None:
    with Rowferry.start(bank_file, mysql=True) as server:
        assert server.mysql is not None
        host, port = server.mysql
        url = f"mysql://rowferry@{host}:{port}/{server.dbname}"
        with Mover(lambda: psycopg.connect(server.postgres_dsn)) as mover:
            told = copied(mover, url, tmp_path / "a.db", "--as-of", "one")
    assert told["one_moment"] is True
    assert of_one_moment(tmp_path / "a.db")


@pytest.mark.parametrize("jobs", ["1", "4"])
def test_a_file_with_a_log_is_written_to_meanwhile(bank_file: Path, jobs: str, tmp_path: Path) -> None:
    with Mover(lambda: sqlite3.connect(bank_file, timeout=20)) as mover:
        told = copied(mover, bank_file, tmp_path / "a.db", "--jobs", jobs)
    assert told["one_moment"] is True and mover.refused == 0
    assert of_one_moment(tmp_path / "a.db")


def test_the_writers_of_a_file_without_a_log_wait(bank_file: Path, tmp_path: Path) -> None:
    with contextlib.closing(sqlite3.connect(bank_file)) as connection:
        connection.execute("PRAGMA journal_mode = DELETE")
    told = copy(bank_file, tmp_path / "a.db", cwd=tmp_path)
    assert told["one_moment"] is False
    assert "without a write-ahead log" in told["why_not"] and "--as-of one" in told["why_not"]
    with Mover(lambda: sqlite3.connect(bank_file, timeout=0.01)) as mover:
        told = copy(bank_file, tmp_path / "b.db", "--as-of", "one", "--batch", "200", cwd=tmp_path)
    assert told["one_moment"] is True and mover.refused > 0 and mover.moved > 0
    assert of_one_moment(tmp_path / "b.db")


def test_mariadb_reads_one_moment_through_one_connection(mysql_url: str, mariadb: MariaDB, tmp_path: Path) -> None:
    with mysql.connect(**{**mariadb.dsn, "database": "copied"}, autocommit=True) as connection:
        cursor = connection.cursor()
        for statement in bank_tables(" ENGINE=InnoDB"):
            cursor.execute(statement)
        with Mover(lambda: mysql.connect(**{**mariadb.dsn, "database": "copied"})) as mover:
            told = copied(mover, mysql_url, tmp_path / "a.db", "--as-of", "one", "--jobs", "4")
            assert told["one_moment"] is True
            # Of one connection the moment costs nothing.
            assert copied(mover, mysql_url, tmp_path / "b.db", "--jobs", "1")["one_moment"] is True
            told = copied(mover, mysql_url, tmp_path / "c.db", "--jobs", "4", "--verify", "none")
            assert told["one_moment"] is False and "--as-of one reads through one connection" in told["why_not"]
        assert of_one_moment(tmp_path / "a.db") and of_one_moment(tmp_path / "b.db")
        # A table without snapshots is in the way of those that are copied with it.
        cursor.execute("CREATE TABLE visits (id integer PRIMARY KEY) ENGINE=Aria")
        for more in ([], ["--dry-run"]):
            done = command(mysql_url, tmp_path / "d.db", "--yes", "--as-of", "one", *more, cwd=tmp_path)
            assert done.returncode == 1 and "as of one moment: table visits is kept by Aria" in done.stderr, done.stderr
        assert not (tmp_path / "d.db").exists() and not list(tmp_path.glob("rowferry-copy-*"))
        told = copy(mysql_url, tmp_path / "d.db", "--as-of", "one", "--exclude", "visits", cwd=tmp_path)
        assert told["one_moment"] is True
        told = copy(mysql_url, tmp_path / "e.db", "--jobs", "1", cwd=tmp_path)
        assert told["one_moment"] is False and "visits is kept by Aria" in told["why_not"]


def test_what_makes_no_sense_is_refused(bank_file: Path, door: Rowferry, tmp_path: Path) -> None:
    for option in ("--resume", "--schema-only"):
        done = command(bank_file, tmp_path / "a.db", "--yes", "--as-of", "one", option, cwd=tmp_path)
        assert done.returncode == 2 and f"--as-of one cannot be used with {option}" in done.stderr
    assert command(bank_file, tmp_path / "a.db", "--as-of", "now", cwd=tmp_path).returncode == 2
    copy(bank_file, informix_url(door), "--table", "journal", cwd=tmp_path)
    for more in ([], ["--dry-run"]):
        done = command(informix_url(door), tmp_path / "a.db", "--yes", "--as-of", "one", *more, cwd=tmp_path)
        assert done.returncode == 1 and "Informix has no snapshots" in done.stderr, done.stderr
    assert not (tmp_path / "a.db").exists()
    told = copy(informix_url(door), tmp_path / "a.db", cwd=tmp_path)
    assert told["one_moment"] is False and "Informix has no snapshots" in told["why_not"]
    # No rows, no moment.
    told = copy(bank_file, tmp_path / "b.db", "--schema-only", cwd=tmp_path)
    assert told["one_moment"] is None


@contextlib.contextmanager
def running(*arguments: str | Path, cwd: Path) -> Iterator[subprocess.Popen[str]]:
    """A copy that is being made."""
    words = [find_rowferry(), "copy", *arguments, "--yes", "--json", "--batch", "50", "--retries", "20"]
    with subprocess.Popen(words, cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


def session(admin: psycopg.Connection[Any], place: str, condition: str, process: subprocess.Popen[str]) -> int:
    """A session of the copy's of which this is true, as soon as there is one."""
    while process.poll() is None:
        found = admin.execute(
            f"SELECT pid FROM pg_stat_activity WHERE datname = %s AND pid <> pg_backend_pid() AND {condition}",
            (place.rpartition("/")[2],),
        ).fetchone()
        if found:
            return int(found[0])
    raise AssertionError(process.communicate())


def end(admin: psycopg.Connection[Any], place: str, condition: str, process: subprocess.Popen[str]) -> None:
    """Ends such a session, and waits until it is gone."""
    is_ended = False
    while not is_ended:
        pid = session(admin, place, condition, process)
        # One that has just ended by itself is still among them.
        is_ended = admin.execute("SELECT pg_terminate_backend(%s)", (pid,)).fetchone() == (True,)
    while admin.execute("SELECT FROM pg_stat_activity WHERE pid = %s", (pid,)).fetchone() is not None:
        time.sleep(0.01)


KEEPER = "query LIKE 'SELECT pg_catalog.pg_export_snapshot%%' AND state = 'idle in transaction'"
READER = "query LIKE 'SELECT%%LIMIT 50'"


@pytest.mark.parametrize("as_of", ["any", "one"])
def test_a_reader_that_is_lost_is_replaced_in_its_moment(bank: str, as_of: str, tmp_path: Path) -> None:
    with Mover(lambda: psycopg.connect(bank)) as mover:
        with (
            psycopg.connect(bank, autocommit=True) as admin,
            running(bank, tmp_path / "a.db", "--as-of", as_of, cwd=tmp_path) as process,
        ):
            for _ in range(3):
                end(admin, bank, READER, process)
            out, error = process.communicate(timeout=300)
        assert mover.moved >= BUSY
    assert process.returncode == 0, error
    assert json.loads(out)["one_moment"] is True
    assert of_one_moment(tmp_path / "a.db")


@pytest.mark.parametrize("as_of", ["any", "one"])
def test_with_its_keeper_the_moment_is_over(bank: str, as_of: str, tmp_path: Path) -> None:
    """Nothing is told of a moment that nobody has kept to the end."""
    with (
        psycopg.connect(bank, autocommit=True) as admin,
        running(bank, tmp_path / "a.db", "--as-of", as_of, cwd=tmp_path) as process,
    ):
        session(admin, bank, READER, process)
        end(admin, bank, KEEPER, process)
        out, error = process.communicate(timeout=300)
    if as_of == "any":
        assert process.returncode == 0, error
        told = json.loads(out)
        assert told["one_moment"] is False and "the connection that kept it was lost" in told["why_not"]
    else:
        assert process.returncode == 1
        assert "cannot be read as of one moment: the connection that kept it was lost" in error
        assert "--if-exists replace" in error and "without --as-of one" in error


def test_a_lone_reader_takes_its_moment_along(mysql_url: str, mariadb: MariaDB, tmp_path: Path) -> None:
    with mysql.connect(**{**mariadb.dsn, "database": "copied"}, autocommit=True) as connection:
        cursor = connection.cursor()
        for statement in bank_tables(" ENGINE=InnoDB"):
            cursor.execute(statement)

        def broken(name: str, *options: str) -> tuple[int, str, str]:
            with running(mysql_url, tmp_path / name, *options, cwd=tmp_path) as process:
                found: Any = None
                while not found and process.poll() is None:
                    cursor.execute("SELECT ID FROM information_schema.PROCESSLIST WHERE INFO LIKE 'SELECT%LIMIT 50'")
                    found = cursor.fetchone()
                assert found, process.communicate()
                cursor.execute(f"KILL {found[0]}")
                out, error = process.communicate(timeout=300)
                return process.returncode, out, error

        code, out, error = broken("a.db", "--jobs", "1")
        assert code == 0 and json.loads(out)["one_moment"] is False, error
        assert "the connection that read it was lost" in json.loads(out)["why_not"]
        code, out, error = broken("b.db", "--as-of", "one")
        assert code == 1 and "cannot be read as of one moment: the connection that read it was lost" in error


def test_a_target_that_is_lost_leaves_a_lone_reader_its_moment(
    mysql_url: str, mariadb: MariaDB, database: Callable[[], str], tmp_path: Path
) -> None:
    """The rows that were under way are read to their end, so that the connection is of use again."""
    place = database()
    with mysql.connect(**{**mariadb.dsn, "database": "copied"}, autocommit=True) as connection:
        cursor = connection.cursor()
        for statement in bank_tables(" ENGINE=InnoDB"):
            cursor.execute(statement)
    with (
        psycopg.connect(place, autocommit=True) as admin,
        Mover(lambda: mysql.connect(**{**mariadb.dsn, "database": "copied"})) as mover,
    ):
        with running(mysql_url, place, "--as-of", "one", cwd=tmp_path) as process:
            # Between two batches: it is noticed when the first row of the next one is there.
            for _ in range(6):
                end(admin, place, "query = 'COMMIT' AND state = 'idle'", process)
            out, error = process.communicate(timeout=300)
        assert mover.moved >= BUSY
    assert process.returncode == 0, error
    assert json.loads(out)["one_moment"] is True
    copy(place, tmp_path / "a.db", cwd=tmp_path)
    assert of_one_moment(tmp_path / "a.db")


def test_a_copy_that_goes_on_is_of_two_moments(bank: str, tmp_path: Path) -> None:
    arguments = [bank, tmp_path / "a.db", "--as-of", "one"]
    with psycopg.connect(bank, autocommit=True) as admin, running(*arguments, cwd=tmp_path) as process:
        session(admin, bank, READER, process)
        process.kill()
        process.communicate()
    done = command(*arguments, "--yes", cwd=tmp_path)
    assert done.returncode == 1 and "the state of a copy that broke off" in done.stderr
    assert command(*arguments, "--yes", "--resume", cwd=tmp_path).returncode == 2
    told = copy(*arguments[:2], "--resume", cwd=tmp_path)
    assert told["one_moment"] is False and "before the break" in told["why_not"]
    told = copy(*arguments, "--if-exists", "replace", cwd=tmp_path)
    assert told["one_moment"] is True


def test_nobody_empties_a_table_meanwhile(bank: str, tmp_path: Path) -> None:
    """TRUNCATE and ALTER TABLE would be seen through the snapshot; so they wait."""
    with (
        psycopg.connect(bank, autocommit=True) as admin,
        running(bank, tmp_path / "a.db", "--as-of", "one", cwd=tmp_path) as process,
    ):
        session(admin, bank, KEEPER, process)
        admin.execute("SET lock_timeout = 1")
        for name in [*BANKS, "journal"]:
            with pytest.raises(psycopg.errors.LockNotAvailable):
                admin.execute(f"TRUNCATE {name}")
        assert process.poll() is None
        out, error = process.communicate(timeout=300)
    assert process.returncode == 0, error
    assert json.loads(out)["one_moment"] is True
    assert of_one_moment(tmp_path / "a.db")
