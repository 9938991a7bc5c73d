"""One snapshot in several sessions: pg_export_snapshot, SET TRANSACTION SNAPSHOT."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg import errors

from tests.servers.rowferry import Rowferry

Connection = psycopg.Connection[Any]
REPEATABLE = "begin isolation level repeatable read"


@pytest.fixture
def sessions(server: Rowferry) -> Iterator[tuple[Connection, Connection, Connection]]:
    opened = [psycopg.connect(server.postgres_dsn, autocommit=True) for _ in range(3)]
    opened[0].execute("drop table if exists t")
    opened[0].execute("create table t (a int)")
    opened[0].execute("insert into t values (1)")
    yield opened[0], opened[1], opened[2]
    for connection in opened:
        connection.close()


def value(connection: Connection, sql: str) -> Any:
    row = connection.execute(sql).fetchone()  # type: ignore[call-overload]
    assert row is not None
    return row[0]


def exported(connection: Connection, begin: str = REPEATABLE) -> str:
    connection.execute(begin)  # type: ignore[call-overload]
    name = value(connection, "select pg_export_snapshot()")
    assert isinstance(name, str)
    return name


def imported(connection: Connection, name: str, begin: str = REPEATABLE) -> None:
    connection.execute(begin)  # type: ignore[call-overload]
    connection.execute(f"set transaction snapshot '{name}'")  # type: ignore[call-overload]


def test_an_imported_snapshot_sees_what_the_exporter_sees(sessions: tuple[Connection, Connection, Connection]) -> None:
    exporter, importer, writer = sessions
    name = exported(exporter)
    writer.execute("insert into t select n from generate_series(2, 500) as n")
    writer.execute("create table later (a int)")
    writer.execute("alter table t add column b int default 7")
    imported(importer, name)
    assert value(importer, "select count(*) from t") == 1
    assert importer.execute("select * from t").fetchall() == [(1,)]
    with pytest.raises(errors.UndefinedTable):
        importer.execute("select * from later")
    importer.execute("rollback")
    imported(importer, name)
    # What is written meanwhile, and the log written back, change nothing.
    writer.execute("delete from t")
    writer.execute("checkpoint")
    assert value(importer, "select count(*) from t") == 1
    assert value(exporter, "select count(*) from t") == 1
    importer.execute("commit")
    exporter.execute("commit")
    assert value(importer, "select count(*) from t") == 0
    writer.execute("drop table later")


def test_who_has_imported_outlives_the_exporter(sessions: tuple[Connection, Connection, Connection]) -> None:
    exporter, importer, writer = sessions
    name = exported(exporter)
    imported(importer, name)
    exporter.execute("commit")
    writer.execute("update t set a = 2")
    writer.execute("checkpoint")
    assert value(importer, "select a from t") == 1
    # It is known to be old: nobody writes on it.
    with pytest.raises(errors.SerializationFailure):
        importer.execute("update t set a = 3")
    importer.execute("rollback")
    with pytest.raises(errors.InvalidParameterValue, match="invalid snapshot identifier"):
        imported(importer, name)


def test_a_snapshot_goes_with_its_transaction(sessions: tuple[Connection, Connection, Connection]) -> None:
    exporter, importer, _ = sessions
    name = exported(exporter)
    assert value(exporter, "select pg_export_snapshot()") != name
    exporter.execute("rollback")
    with pytest.raises(errors.InvalidParameterValue, match="invalid snapshot identifier"):
        imported(importer, name)
    importer.execute("rollback")
    name = exported(exporter)
    exporter.close()
    # The server hears of it when it hears of it.
    until = time.monotonic() + 30
    while time.monotonic() < until:
        try:
            imported(importer, name)
        except errors.InvalidParameterValue as error:
            assert "invalid snapshot identifier" in str(error)
            return
        importer.execute("rollback")
    pytest.fail("the snapshot outlives its session")


def test_a_snapshot_is_imported_before_anything_is_read(sessions: tuple[Connection, Connection, Connection]) -> None:
    exporter, importer, _ = sessions
    name = exported(exporter)
    imported(importer, name, "begin isolation level repeatable read, read only")
    with pytest.raises(errors.ActiveSqlTransaction, match="must be called before any query"):
        importer.execute(f"set transaction snapshot '{name}'")  # type: ignore[call-overload]
    importer.execute("rollback")
    with pytest.raises(errors.FeatureNotSupported, match="must have isolation level SERIALIZABLE or REPEATABLE READ"):
        imported(importer, name, "begin")
    importer.execute("rollback")
    with pytest.raises(
        errors.FeatureNotSupported, match="cannot import a snapshot from a non-serializable transaction"
    ):
        imported(importer, name, "begin isolation level serializable")
    importer.execute("rollback")
    with pytest.raises(errors.InvalidParameterValue, match="invalid snapshot identifier"):
        imported(importer, "no such")


def test_what_has_no_snapshot_of_its_own_exports_none(sessions: tuple[Connection, Connection, Connection]) -> None:
    exporter, _, _ = sessions
    for begin in ["begin", REPEATABLE]:
        exporter.execute(begin)  # type: ignore[call-overload]
        if begin == REPEATABLE:
            exporter.execute("insert into t values (5)")
        with pytest.raises(errors.FeatureNotSupported, match="pg_export_snapshot in a transaction that"):
            exporter.execute("select pg_export_snapshot()")
        exporter.execute("rollback")


def test_a_file_to_which_nothing_has_been_written_has_snapshots(tmp_path: Path) -> None:
    """SQLite has none of a log without content: the state is the file's, as long as nobody writes."""
    with Rowferry.start(tmp_path / "app.db") as server, psycopg.connect(server.postgres_dsn, autocommit=True) as first:
        first.execute("create table t (a int)")
    with (
        Rowferry.start(tmp_path / "app.db") as server,
        psycopg.connect(server.postgres_dsn, autocommit=True) as exporter,
        psycopg.connect(server.postgres_dsn, autocommit=True) as importer,
        psycopg.connect(server.postgres_dsn, autocommit=True) as writer,
    ):
        name = exported(exporter)
        imported(importer, name)
        assert value(importer, "select count(*) from t") == 0
        importer.execute("rollback")
        writer.execute("insert into t values (1)")
        with pytest.raises(errors.ObjectNotInPrerequisiteState, match="could not import the requested snapshot"):
            imported(importer, name)
