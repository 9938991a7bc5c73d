"""A file that is replaced underneath its server, with and without kill -9, through both doors; journal modes."""

from __future__ import annotations

import contextlib
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path

import psycopg
import pytest
from rowferry import informix

from tests.servers.process import ServerFailed
from tests.servers.rowferry import Rowferry

from .conftest import wait_until

Start = Callable[..., Rowferry]


def make(path: Path, rows: int) -> Path:
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE t (a INTEGER)")
        connection.executemany("INSERT INTO t VALUES (?)", [(n,) for n in range(rows)])
        connection.commit()
    return path


def rows(path: Path) -> int:
    with contextlib.closing(sqlite3.connect(path)) as connection:
        count: int = connection.execute("SELECT count(*) FROM t").fetchone()[0]
        return count


@contextlib.contextmanager
def sessions(server: Rowferry) -> Iterator[list[Callable[[str], object]]]:
    """Two sessions of each door, as functions that run a statement."""
    assert server.informix is not None
    host, port = server.informix
    with contextlib.ExitStack() as stack:
        opened: list[Callable[[str], object]] = []
        for _ in range(2):
            postgres = stack.enter_context(psycopg.connect(server.postgres_dsn, autocommit=True))
            other = informix.connect(host=host, port=port, database=server.dbname, autocommit=True)
            stack.callback(other.close)
            opened += [postgres.execute, other.execute]
        yield opened


def replace(how: str, path: Path, backup: Path) -> bytes | None:
    """What is at the path then."""
    content = backup.read_bytes()
    match how:
        case "rm":
            path.unlink()
            return None
        case "mv":
            backup.rename(path)
        case "cp":
            shutil.copyfile(backup, path)
    return content


@pytest.mark.parametrize("kill", [False, True], ids=["stopped", "killed"])
@pytest.mark.parametrize("how", ["rm", "mv", "cp"])
def test_a_replaced_file_is_noticed_and_never_written(start: Start, tmp_path: Path, how: str, kill: bool) -> None:
    backup = make(tmp_path / "backup.db", 3)
    path = make(tmp_path / "app.db", 1)
    server = start(informix=True)
    with sessions(server) as run:
        for each in run:
            each("INSERT INTO t VALUES (7)")
        content = replace(how, path, backup)
        for each in run:
            with pytest.raises((psycopg.errors.IoError, informix.Error)):
                each("INSERT INTO t VALUES (8)")
        with pytest.raises(psycopg.errors.IoError) as caught, psycopg.connect(server.postgres_dsn) as late:
            late.execute("SELECT * FROM t")
        assert "app.db" in str(caught.value)
        assert caught.value.diag.message_hint
        wait_until(lambda: any("ERROR" in line for line in server.process.tail), "a line in the log")
        assert sum("until the server is restarted" in line for line in server.process.tail) == 1
        if kill:
            server.process.kill()
    if not kill:
        server.stop()
    if content is None:
        assert not path.exists()
        return
    assert path.read_bytes() == content
    # Nothing of the old database comes over the new one, whoever opens it.
    assert rows(path) == 3
    again = start()
    with psycopg.connect(again.postgres_dsn) as connection:
        assert connection.execute("SELECT count(*) FROM t").fetchone() == (3,)


@pytest.mark.parametrize("how", ["mv", "cp"])
def test_a_file_replaced_after_a_kill_is_not_served_with_the_old_log(start: Start, tmp_path: Path, how: str) -> None:
    backup = make(tmp_path / "backup.db", 3)
    path = make(tmp_path / "app.db", 1)
    server = start()
    with psycopg.connect(server.postgres_dsn, autocommit=True) as connection:
        connection.execute("INSERT INTO t VALUES (7)")
        server.process.kill()
    content = replace(how, path, backup)
    with pytest.raises(ServerFailed, match=r"app\.db-rowferry"):
        start()
    assert path.read_bytes() == content
    for suffix in ("-wal", "-shm", "-rowferry"):
        Path(f"{path}{suffix}").unlink()
    with psycopg.connect(start().postgres_dsn) as connection:
        assert connection.execute("SELECT count(*) FROM t").fetchone() == (3,)


def test_a_killed_server_goes_on_with_its_own_file(start: Start, tmp_path: Path) -> None:
    path = make(tmp_path / "app.db", 1)
    server = start()
    with psycopg.connect(server.postgres_dsn, autocommit=True) as connection:
        connection.execute("INSERT INTO t VALUES (7)")
        server.process.kill()
    again = start()
    with psycopg.connect(again.postgres_dsn) as connection:
        assert connection.execute("SELECT count(*) FROM t").fetchone() == (2,)
    again.stop()
    assert sorted(tmp_path.iterdir()) == [path]


def test_the_journal_mode_is_told_and_can_be_kept(start: Start, tmp_path: Path) -> None:
    def mode(path: Path) -> str:
        with contextlib.closing(sqlite3.connect(path)) as connection:
            found: str = connection.execute("PRAGMA journal_mode").fetchone()[0]
            return found

    path = make(tmp_path / "app.db", 1)
    server = start("--journal", "keep")
    assert '"journal":"delete"' in (server.process.ready_line or "")
    with psycopg.connect(server.postgres_dsn, autocommit=True) as writer:
        writer.execute("INSERT INTO t VALUES (2)")
        writer.execute("SET lock_timeout = '50ms'")
        with psycopg.connect(server.postgres_dsn) as reader, reader.cursor(name="open") as cursor:
            cursor.execute("SELECT a FROM t")
            cursor.fetchone()
            with pytest.raises(psycopg.errors.LockNotAvailable):
                writer.execute("INSERT INTO t VALUES (3)")
        writer.execute("INSERT INTO t VALUES (4)")
    server.stop()
    assert mode(path) == "delete"
    server = start()
    assert '"journal":"wal"' in (server.process.ready_line or "")
    assert '"journal_before":"delete"' in (server.process.ready_line or "")
    server.stop()
    assert mode(path) == "wal"


def test_an_interval_has_its_units_through_both_doors(start: Start) -> None:
    server = start(informix=True)
    assert server.informix is not None
    host, port = server.informix
    with contextlib.closing(informix.connect(host=host, port=port, database=server.dbname, autocommit=True)) as there:
        cursor = there.cursor()
        cursor.execute(
            "CREATE TABLE spans (h INTERVAL HOUR TO HOUR, d INTERVAL DAY TO DAY, m INTERVAL MINUTE TO SECOND)"
        )
        cursor.execute("INSERT INTO spans VALUES ('5', '-3', '12:34')")
        with psycopg.connect(server.postgres_dsn, autocommit=True) as here:
            # What is stored says no units: the column does.
            found = here.execute("SELECT h, d, m, h::text FROM spans WHERE h > interval '4 hours'").fetchall()
            assert found == [(timedelta(hours=5), timedelta(days=-3), timedelta(minutes=12, seconds=34), "05:00:00")]
            here.execute("INSERT INTO spans VALUES ('6 hours', '2 days', '1 minute')")
            with pytest.raises(psycopg.errors.IntervalFieldOverflow):
                here.execute("INSERT INTO spans (h) VALUES ('1 month')")
        cursor.execute("SELECT h, d, m FROM spans ORDER BY d DESC")
        assert cursor.fetchone() == (timedelta(hours=6), timedelta(days=2), timedelta(minutes=1))
