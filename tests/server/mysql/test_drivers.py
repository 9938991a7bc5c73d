"""Drivers at the door: PyMySQL, ours in both colours, the command line."""

from __future__ import annotations

import asyncio
import datetime as dt
import subprocess
from decimal import Decimal
from pathlib import Path
from typing import Any

import pymysql
import pymysql.constants.CLIENT
import pytest
from rowferry import mysql
from rowferry.mysql import aio

from tests.servers.rowferry import Rowferry

ROWS: list[tuple[Any, ...]] = [
    (1, 2**62, "größe", Decimal("1.50"), 0.1, dt.date(2024, 2, 29), dt.datetime(2024, 2, 29, 12, 0, 1)),
    (-2, None, "", Decimal("-0.01"), -1e300, dt.date(1970, 1, 1), dt.datetime(9999, 12, 31, 23, 59, 59)),
    (3, 0, None, None, None, None, None),
]
COLUMNS = "id INT PRIMARY KEY, big BIGINT, name VARCHAR(20), price DECIMAL(10,2), f DOUBLE, d DATE, m DATETIME"


def place(server: Rowferry) -> dict[str, Any]:
    assert server.mysql is not None
    return {"host": server.mysql[0], "port": server.mysql[1], "user": "ada", "database": "app"}


def test_pymysql(server: Rowferry, table: str) -> None:
    with pymysql.connect(**place(server)) as connection, connection.cursor() as cursor:
        cursor.execute(f"CREATE TABLE {table} ({COLUMNS})")
        assert cursor.executemany(f"INSERT INTO {table} VALUES (%s, %s, %s, %s, %s, %s, %s)", ROWS) == 3
        connection.rollback()
        assert cursor.execute(f"SELECT * FROM {table}") == 0
        cursor.executemany(f"INSERT INTO {table} VALUES (%s, %s, %s, %s, %s, %s, %s)", ROWS)
        connection.commit()
        cursor.execute(f"SELECT * FROM {table} ORDER BY big IS NULL, id DESC")
        assert sorted(cursor.fetchall()) == sorted(ROWS)
        assert [column[0] for column in cursor.description] == ["id", "big", "name", "price", "f", "d", "m"]
        with pytest.raises(pymysql.err.IntegrityError) as refused:
            cursor.execute(f"INSERT INTO {table} (id) VALUES (1)")
        assert refused.value.args[0] == 1062
        # In MySQL the transaction goes on.
        cursor.execute(f"INSERT INTO {table} (id) VALUES (4)")
        connection.commit()
        cursor.execute(f"SELECT id FROM {table} WHERE id > 3")
        assert cursor.fetchall() == ((4,),)


def test_our_driver(server: Rowferry, table: str) -> None:
    with mysql.connect(**place(server)) as connection:
        cursor = connection.cursor()
        cursor.execute(f"CREATE TABLE {table} ({COLUMNS})")
        cursor.executemany(f"INSERT INTO {table} VALUES (%s, %s, %s, %s, %s, %s, %s)", ROWS)
        connection.commit()
        cursor.execute(f"SELECT * FROM {table} WHERE id >= %s", (-10,))
        assert sorted(cursor.fetchall()) == sorted(ROWS)
        cursor.execute(f"SELECT name FROM {table} WHERE price = %s", (Decimal("1.5"),))
        assert list(cursor.fetchall()) == [("größe",)]


def test_our_driver_in_asyncio(server: Rowferry, table: str) -> None:
    async def run() -> None:
        async with await aio.connect(**place(server)) as connection:
            cursor = connection.cursor()
            await cursor.execute(f"CREATE TABLE {table} ({COLUMNS})")
            await cursor.executemany(f"INSERT INTO {table} VALUES (%s, %s, %s, %s, %s, %s, %s)", ROWS)
            await connection.commit()
            await cursor.execute(f"SELECT * FROM {table} WHERE id >= %s", (-10,))
            assert sorted(await cursor.fetchall()) == sorted(ROWS)

    asyncio.run(run())


def test_a_file_of_the_client(server: Rowferry, table: str, tmp_path: Path) -> None:
    rows = tmp_path / "rows.csv"
    rows.write_text('id,name\n1,"a,b"\n2,\\N\n3,größe\n1,"again"\n4,"superfluous",x\n5\n')
    load = (
        f"LOAD DATA LOCAL INFILE '{rows}' INTO TABLE {table} FIELDS TERMINATED BY ',' OPTIONALLY ENCLOSED BY '\"' "
        "IGNORE 1 LINES (id, name)"
    )
    with pymysql.connect(**place(server), local_infile=True, autocommit=True) as connection:
        with connection.cursor() as cursor:
            cursor.execute(f"CREATE TABLE {table} (id INT PRIMARY KEY, name VARCHAR(20) DEFAULT 'none')")
            assert cursor.execute(load) == 5
            cursor.execute(f"SELECT * FROM {table} ORDER BY id")
            told = [(1, "a,b"), (2, None), (3, "größe"), (4, "superfluous"), (5, "none")]
            assert list(cursor.fetchall()) == told
            assert cursor.execute(load.replace("INTO TABLE", "REPLACE INTO TABLE")) == 6
            cursor.execute(f"SELECT name FROM {table} WHERE id = 1")
            assert cursor.fetchone() == ("again",)
            changing = load.replace("INTO TABLE", "REPLACE INTO TABLE").replace("(id, name)", "(@id, @n)")
            assert cursor.execute(changing + " SET id = @id + 10, name = UPPER(CONCAT(@n, ';'))") == 6
            cursor.execute(f"SELECT * FROM {table} WHERE id > 10 ORDER BY id")
            told = [(11, "AGAIN;"), (12, None), (13, "GRÖßE;"), (14, "SUPERFLUOUS;"), (15, None)]
            assert list(cursor.fetchall()) == told
            cursor.execute(f"DELETE FROM {table} WHERE id > 10")
            for wrong, code in [("LOAD DATA INFILE 'x' INTO TABLE t", 1235), (load.replace(table, "nope"), 1146)]:
                with pytest.raises(pymysql.err.MySQLError) as refused:
                    cursor.execute(wrong)
                assert refused.value.args[0] == code
            # A file that does not take part in it leaves nothing behind, and the connection in order.
            rows.write_text("7\n8\n\xff\n")
            rows.write_bytes(rows.read_bytes() + b"\xff\n")
            with pytest.raises(pymysql.err.MySQLError):
                cursor.execute(load.replace("IGNORE 1 LINES (id, name)", "(name)").replace(table, f"{table}"))
            assert cursor.execute(f"SELECT id FROM {table}") == 5
    with pymysql.connect(**place(server)) as connection, connection.cursor() as cursor:
        with pytest.raises(pymysql.err.MySQLError) as refused:
            cursor.execute(load)
        assert refused.value.args[0] == 3948


def test_several_results(server: Rowferry) -> None:
    flags = pymysql.constants.CLIENT.MULTI_STATEMENTS
    with pymysql.connect(**place(server), client_flag=flags) as connection, connection.cursor() as cursor:
        cursor.execute("SELECT 1; SELECT 2")
        assert cursor.fetchall() == ((1,),)
        assert cursor.nextset()
        assert cursor.fetchall() == ((2,),)
        assert not cursor.nextset()


def test_a_login_that_ignores_space_says_so_in_sql_mode(server: Rowferry) -> None:
    def mode(flags: int) -> str:
        with pymysql.connect(**place(server), client_flag=flags) as connection, connection.cursor() as cursor:
            cursor.execute("SELECT @@sql_mode, count (*) FROM (SELECT 1) AS one")
            ((mode, count),) = cursor.fetchall()
            assert count == 1
            return str(mode)

    usual = mode(0)
    assert "IGNORE_SPACE" not in usual
    assert mode(pymysql.constants.CLIENT.IGNORE_SPACE) == f"IGNORE_SPACE,{usual}"


def test_the_command_line_reads_a_script(server: Rowferry, table: str) -> None:
    assert server.mysql is not None
    host, port = server.mysql
    script = f"""
        USE app;
        CREATE TABLE {table} (id INT PRIMARY KEY, name VARCHAR(20));
        INSERT INTO {table} VALUES (1, 'x'), (2, NULL);
        UPDATE {table} SET name = 'y' WHERE id = 1;
        SELECT * FROM {table};
    """
    command = ["mariadb", "--no-defaults", "-h", host, "-P", str(port), "--skip-ssl", "-u", "ada", "-vvv", "-t"]
    done = subprocess.run(command, input=script, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    for words in ("Rows matched: 1  Changed: 1", "Records: 2  Duplicates: 0", "|  2 | NULL |", "2 rows in set"):
        assert words in done.stdout, words
