"""Our SQLAlchemy dialects, and SQLAlchemy's own over our module in place of theirs."""

from __future__ import annotations

import asyncio
import datetime
import sys
from decimal import Decimal

import pytest
import sqlalchemy as sa
from rowferry import mysql
from rowferry.mysql import aio
from sqlalchemy.ext.asyncio import create_async_engine

from tests.servers.mysql import MySQLServer


def url(server: MySQLServer, driver: str) -> sa.URL:
    return sa.URL.create(f"mysql+{driver}", server.user, server.password, server.host, server.port, server.database)


@pytest.mark.parametrize("driver", ["rowferry", "pymysql", "mysqldb"])
def test_blocking_dialects(server: MySQLServer, driver: str) -> None:
    module = {} if driver == "rowferry" else {"module": mysql}
    engine = sa.create_engine(url(server, driver), pool_pre_ping=True, **module)
    metadata = sa.MetaData()
    table = sa.Table(
        f"alchemy_{driver}",
        metadata,
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("n", sa.Numeric(10, 2)),
        sa.Column("s", sa.String(20)),
        sa.Column("d", sa.DateTime),
        sa.Column("b", sa.LargeBinary),
        sa.Column("j", sa.JSON),
    )
    metadata.create_all(engine)
    row = {"n": Decimal("1.50"), "s": "é%s", "d": datetime.datetime(2026, 1, 1), "b": b"\xff\0", "j": {"a": [1]}}
    with engine.begin() as connection:
        assert connection.execute(table.insert(), row).inserted_primary_key == (1,)
        connection.execute(table.insert(), [{**row, "n": number} for number in range(100)])
    with engine.connect() as connection:
        assert connection.execute(sa.select(table).limit(1)).one() == (1, *row.values())
        assert connection.execute(sa.select(sa.func.count()).select_from(table)).scalar() == 101
        thread_id = connection.exec_driver_sql("SELECT CONNECTION_ID()").scalar()
    assert isinstance(sa.inspect(engine).get_columns(table.name)[1]["type"], sa.Numeric)
    # A connection that the server dropped is noticed and replaced.
    with mysql.connect(**server.dsn) as killer:
        killer.kill(int(str(thread_id)))
    with engine.connect() as connection:
        assert connection.exec_driver_sql("SELECT 1").scalar() == 1
    with pytest.raises(sa.exc.IntegrityError), engine.begin() as connection:
        connection.execute(table.insert(), {"id": 1})
    metadata.drop_all(engine)
    engine.dispose()


@pytest.mark.parametrize("loop", ["asyncio", "uvloop"])
@pytest.mark.parametrize("driver", ["rowferry_async", "asyncmy", "aiomysql"])
def test_asyncio_dialects(server: MySQLServer, driver: str, loop: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if driver != "rowferry_async":
        monkeypatch.setattr(sys, "modules", dict(sys.modules))
        getattr(aio, f"install_as_{driver}")()

    async def main() -> None:
        engine = create_async_engine(url(server, driver), pool_pre_ping=True)
        async with engine.begin() as connection:
            assert (await connection.execute(sa.text("SELECT :a, 2"), {"a": "x"})).all() == [("x", 2)]
            thread_id = (await connection.execute(sa.text("SELECT CONNECTION_ID()"))).scalar()
            stream = await connection.stream(sa.text("SELECT seq FROM seq_1_to_1000"))
            assert [row[0] async for row in stream] == list(range(1, 1001))
        async with aio.connect(**server.dsn) as killer:
            await killer.kill(int(str(thread_id)))
        async with engine.connect() as connection:
            assert (await connection.execute(sa.text("SELECT 1"))).scalar() == 1
        await engine.dispose()

    with asyncio.Runner(
        loop_factory=pytest.importorskip("uvloop").new_event_loop if loop == "uvloop" else None
    ) as runner:
        runner.run(asyncio.wait_for(main(), 60))


@pytest.mark.parametrize("driver", ["rowferry", "mysqldb", "pymysql"])
def test_rows_that_are_what_they_are_to_be_count(
    server: MySQLServer, driver: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if driver != "rowferry":
        monkeypatch.setattr(sys, "modules", dict(sys.modules))
        {"mysqldb": mysql.install_as_MySQLdb, "pymysql": mysql.install_as_pymysql}[driver]()
    engine = sa.create_engine(url(server, driver))
    with engine.connect() as connection:
        connection.exec_driver_sql("CREATE TEMPORARY TABLE found (n INT)")
        connection.exec_driver_sql("INSERT INTO found VALUES (1), (1)")
        assert connection.exec_driver_sql("UPDATE found SET n = 1").rowcount == 2
    engine.dispose()


def test_a_url_carries_every_kind_of_parameter(server: MySQLServer) -> None:
    query = {"compress": "zlib", "stmt_cache_size": "8", "connect_timeout": "5", "ssl_mode": "DISABLED"}
    engine = sa.create_engine(url(server, "rowferry").update_query_dict(query))
    with engine.connect() as connection:
        assert connection.exec_driver_sql("SHOW STATUS LIKE 'Compression'").one() == ("Compression", "ON")
        assert connection.exec_driver_sql("SELECT %s + 1", (41,)).scalar() == 42
    engine.dispose()


def test_streams_do_not_collect_rows(server: MySQLServer) -> None:
    engine = sa.create_engine(url(server, "rowferry"))
    with engine.connect() as connection:
        rows = connection.execution_options(stream_results=True).exec_driver_sql("SELECT seq FROM seq_1_to_5000")
        assert isinstance(rows.cursor, mysql.cursors.SSCursor)
        assert sum(row[0] for row in rows) == 5000 * 5001 // 2
    # Given back amid a stream, the connection is as good as new.
    with engine.connect() as connection:
        left = connection.execution_options(stream_results=True).exec_driver_sql("SELECT seq FROM seq_1_to_5000")
        assert left.fetchone() == (1,)
    with engine.connect() as connection:
        assert connection.exec_driver_sql("SELECT 2").scalar() == 2
    engine.dispose()


@pytest.mark.parametrize("name", ["mariadb+rowferry", "mariadb+rowferry_async"])
def test_mariadbs_names(server: MySQLServer, name: str) -> None:
    dialect = sa.make_url(f"{name}://host/").get_dialect()()
    assert (dialect.name, f"{dialect.name}+{dialect.driver}") == ("mariadb", name)
