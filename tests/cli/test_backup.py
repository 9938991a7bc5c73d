"""`rowferry backup`: a consistent copy while others write, or none at all."""

from __future__ import annotations

import json
import os
import shutil
import signal
import stat
import subprocess
import threading
from collections.abc import Callable
from pathlib import Path

import psycopg
import pytest

from tests.servers.rowferry import Rowferry, find_rowferry

from .conftest import rowferry, sqlite

Serve = Callable[..., Rowferry]


def names(directory: Path) -> set[str]:
    return {path.name for path in directory.iterdir()}


def test_a_file_that_is_written_to_is_copied_as_it_was_at_one_moment(serve: Serve, tmp_path: Path) -> None:
    path, copy = tmp_path / "app.db", tmp_path / "copy.db"
    server = serve(path)
    stop = threading.Event()
    with psycopg.connect(server.postgres_dsn, autocommit=True) as connection:
        connection.execute("create table account (id int primary key, balance int not null)")
        connection.execute("create table pad (t text)")
        connection.execute("insert into account select i, 100 from generate_series(1, 100) i")
        connection.execute("insert into pad select repeat('x', 1000) from generate_series(1, 20000)")

        def move_money() -> None:
            with psycopg.connect(server.postgres_dsn) as writer:
                while not stop.is_set():
                    with writer.transaction():
                        writer.execute("update account set balance = balance - 1 where id = 1")
                        writer.execute("update account set balance = balance + 1 where id = 2")

        thread = threading.Thread(target=move_money)
        thread.start()
        try:
            for _ in range(3):
                done = rowferry("backup", path, copy, "--force", "--json")
                assert done.returncode == 0, done.stderr
                told = json.loads(done.stdout)
                assert told["tables"]["account"] == 100 and told["tables"]["pad"] == 20_000
                assert told["bytes"] == copy.stat().st_size
                assert sqlite(copy, "select sum(balance) from account") == [(10_000,)]
                assert sqlite(copy, "pragma integrity_check") == [("ok",)]
        finally:
            stop.set()
            thread.join()
    assert sqlite(copy, "pragma journal_mode") == [("wal",)]
    assert {name for name in names(tmp_path) if not name.startswith("app.db")} == {"copy.db"}


def test_a_copy_can_be_served(serve: Serve, store_file: Path, tmp_path: Path) -> None:
    # Beside the file itself there may be the log of somebody who only reads it.
    source = Path(shutil.copy(store_file, tmp_path))
    copy = tmp_path / "copy.db"
    before = source.read_bytes()
    done = rowferry("backup", source, copy)
    assert done.returncode == 0, done.stderr
    assert "4 tables" in done.stdout and "checked" in done.stdout
    assert source.read_bytes() == before
    assert names(tmp_path) == {source.name, copy.name}
    with psycopg.connect(serve(copy).postgres_dsn) as connection:
        assert connection.execute("select count(*) from orders").fetchone() == (5000,)


def test_what_is_there_is_not_replaced_unless_told(store_file: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy.db"
    copy.write_text("mine")
    done = rowferry("backup", store_file, copy)
    assert done.returncode == 1
    assert "exists" in done.stderr and "--force" in done.stderr
    assert copy.read_text() == "mine" and names(tmp_path) == {"copy.db"}
    assert rowferry("backup", store_file, copy, "--force").returncode == 0
    assert copy.read_bytes().startswith(b"SQLite format 3")


def test_a_database_that_is_open_is_not_replaced_even_when_told(serve: Serve, store_file: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.db"
    with psycopg.connect(serve(other).postgres_dsn, autocommit=True) as connection:
        connection.execute("create table t (a int)")
        done = rowferry("backup", store_file, other, "--force")
        assert done.returncode == 1
        assert "other.db-wal" in done.stderr and "is open" in done.stderr
        connection.execute("insert into t values (1)")


def test_the_copy_is_as_private_as_its_source(store_file: Path, tmp_path: Path, serve: Serve) -> None:
    source, copy = tmp_path / "app.db", tmp_path / "copy.db"
    shutil.copy(store_file, source)
    for mode in (0o640, 0o600, 0o644):
        source.chmod(mode)
        assert rowferry("backup", source, copy, "--force").returncode == 0
        assert stat.S_IMODE(copy.stat().st_mode) == mode
    with psycopg.connect(serve(source).postgres_dsn, autocommit=True) as connection:
        connection.execute("create role ada login password 'secret'")
    # It holds what is kept of a password.
    assert rowferry("backup", source, copy, "--force").returncode == 0
    assert stat.S_IMODE(copy.stat().st_mode) == 0o600


@pytest.mark.parametrize(
    ("source", "words"),
    [("nosuch.db", "does not exist"), ("text.db", "not a SQLite database"), ("postgresql://localhost/app", "is a URL")],
)
def test_what_cannot_be_copied_is_named(tmp_path: Path, source: str, words: str) -> None:
    (tmp_path / "text.db").write_text("no database at all, but long enough")
    place = source if "://" in source else tmp_path / source
    done = rowferry("backup", place, tmp_path / "copy.db")
    assert done.returncode == 1 and words in done.stderr
    assert names(tmp_path) == {"text.db"}


def test_a_damaged_file_makes_no_copy(store_file: Path, tmp_path: Path) -> None:
    source, copy = tmp_path / "app.db", tmp_path / "copy.db"
    shutil.copy(store_file, source)
    (root,) = sqlite(source, "select rootpage from sqlite_schema where name = 'items_sku'")[0]
    size = int(str(sqlite(source, "pragma page_size")[0][0]))
    with source.open("r+b") as file:
        file.seek((int(str(root)) - 1) * size)
        file.write(b"\xff" * 200)
    done = rowferry("backup", source, copy)
    assert done.returncode == 1
    assert "damaged" in done.stderr or "malformed" in done.stderr
    assert not copy.exists() and not [name for name in names(tmp_path) if "partial" in name]


def test_an_interrupted_backup_leaves_nothing(tmp_path: Path) -> None:
    source = tmp_path / "app.db"
    sqlite(
        source,
        "create table t (a text)",
        "insert into t with recursive n(i) as (select 1 union all select i + 1 from n where i < 300000)"
        " select hex(randomblob(200)) from n",
    )
    process = subprocess.Popen(
        [find_rowferry(), "backup", source, tmp_path / "copy.db"], stderr=subprocess.PIPE, text=True
    )
    deadline = threading.Event()
    while process.poll() is None and not any("partial" in name for name in names(tmp_path)):
        deadline.wait(0.001)
    os.kill(process.pid, signal.SIGINT)
    _, told = process.communicate(timeout=60)
    if process.returncode == 0:
        pytest.fail("it was over before it could be interrupted")
    assert process.returncode == 1 and ("interrupted" in told or "cancel" in told)
    assert names(tmp_path) == {"app.db"}


def test_pg_basebackup_is_told_where_to_go(serve: Serve, tmp_path: Path) -> None:
    server = serve(tmp_path / "app.db")
    assert server.postgres is not None
    host, port = server.postgres
    command = ["pg_basebackup", "-h", host, "-p", str(port), "-U", "ada", "-D", str(tmp_path / "base"), "--no-password"]
    binary = shutil.which("pg_basebackup") or "/usr/lib/postgresql/15/bin/pg_basebackup"
    done = subprocess.run([binary, *command[1:]], capture_output=True, text=True, timeout=60)
    assert done.returncode != 0
    assert "rowferry backup" in done.stderr and "replication" in done.stderr
