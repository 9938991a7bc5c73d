"""Stored routines and triggers at the door: PyMySQL, prepared CALL as it is on the wire, the command line."""

from __future__ import annotations

import struct
import subprocess
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import pymysql
import pytest

from tests.servers.rowferry import Rowferry

from . import wire
from .wire import Client

PS_MULTI_RESULTS = 0x0004_0000
MORE_RESULTS, PS_OUT_PARAMS = 0x0008, 0x1000


def place(server: Rowferry, database: str = "app") -> dict[str, Any]:
    assert server.mysql is not None
    return {"host": server.mysql[0], "port": server.mysql[1], "user": "ada", "database": database}


@pytest.fixture
def database(server: Rowferry) -> Iterator[str]:
    with pymysql.connect(**place(server), autocommit=True) as connection, connection.cursor() as cursor:
        cursor.execute("CREATE DATABASE routines")
        yield "routines"
        cursor.execute("DROP DATABASE routines")


ORDERS = """
CREATE PROCEDURE order_lines(IN wanted INT, OUT lines INT, INOUT sum_so_far DECIMAL(10,2))
BEGIN
  DECLARE done BOOLEAN DEFAULT FALSE;
  DECLARE price DECIMAL(10,2);
  DECLARE each_line CURSOR FOR SELECT i.price FROM items i WHERE i.order_id = wanted ORDER BY i.price;
  DECLARE CONTINUE HANDLER FOR NOT FOUND SET done = TRUE;
  SET lines = 0;
  SELECT i.price FROM items i WHERE i.order_id = wanted ORDER BY i.price;
  OPEN each_line;
  rows_of: LOOP
    FETCH each_line INTO price;
    IF done THEN LEAVE rows_of; END IF;
    SET lines = lines + 1, sum_so_far = sum_so_far + price;
  END LOOP;
  CLOSE each_line;
  SELECT COUNT(*) AS all_lines FROM items;
END
"""


def test_callproc_yields_results_and_outputs(server: Rowferry, database: str) -> None:
    with pymysql.connect(**place(server, database)) as connection, connection.cursor() as cursor:
        cursor.execute("CREATE TABLE items (order_id INT, price DECIMAL(10,2))")
        cursor.execute("INSERT INTO items VALUES (1, 1.50), (1, 2.25), (2, 10)")
        cursor.execute(ORDERS)
        cursor.callproc("order_lines", (1, 0, Decimal("100.00")))
        assert cursor.fetchall() == ((Decimal("1.50"),), (Decimal("2.25"),))
        assert cursor.nextset()
        assert cursor.fetchall() == ((3,),)
        assert cursor.nextset()
        assert cursor.description is None
        assert not cursor.nextset()
        cursor.execute("SELECT @_order_lines_1, @_order_lines_2")
        assert [Decimal(value) for value in cursor.fetchone() or ()] == [2, Decimal("103.75")]


def test_prepared_call_tells_outputs_as_a_row(server: Rowferry, database: str) -> None:
    assert server.mysql is not None
    with Client(server.mysql, database=database, capabilities=wire.USUAL | PS_MULTI_RESULTS) as client:
        client.query("CREATE PROCEDURE twice(IN a INT, OUT b INT) BEGIN SELECT a AS given; SET b = a * 2; END")
        statement, params, columns = client.prepare("CALL twice(?, ?)")
        assert (params, columns) == (2, [])
        for number in (21, 4):
            given = client.execute(statement, [number, None])
            assert [column.name for column in given.columns] == ["given"]
            assert given.rows == [b"\0\0" + struct.pack("<i", number)]
            assert given.status & (MORE_RESULTS | PS_OUT_PARAMS) == MORE_RESULTS
            outputs = client.result()
            assert [column.name for column in outputs.columns] == ["b"]
            assert outputs.rows == [b"\0\0" + struct.pack("<i", number * 2)]
            assert outputs.status & (MORE_RESULTS | PS_OUT_PARAMS) == MORE_RESULTS | PS_OUT_PARAMS
            done = client.result()
            assert (done.columns, done.status & MORE_RESULTS) == ([], 0)


def test_rows_before_an_error_are_told(server: Rowferry, database: str) -> None:
    with pymysql.connect(**place(server, database)) as connection, connection.cursor() as cursor:
        cursor.execute(
            "CREATE PROCEDURE p() BEGIN SELECT 1;"
            " SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'no', MYSQL_ERRNO = 5005; END"
        )
        cursor.execute("CALL p()")
        assert cursor.fetchall() == ((1,),)
        with pytest.raises(pymysql.err.MySQLError) as raised:
            cursor.nextset()
        assert raised.value.args == (5005, "no")
        cursor.execute("SELECT 2")
        assert cursor.fetchall() == ((2,),)


def test_transactions_are_the_procedures(server: Rowferry, database: str) -> None:
    with pymysql.connect(**place(server, database), autocommit=True) as connection, connection.cursor() as cursor:
        cursor.execute("CREATE TABLE t (a INT PRIMARY KEY)")
        cursor.execute(
            "CREATE PROCEDURE p() BEGIN DECLARE EXIT HANDLER FOR SQLEXCEPTION BEGIN ROLLBACK; RESIGNAL; END;"
            " START TRANSACTION; INSERT INTO t VALUES (1); COMMIT;"
            " START TRANSACTION; INSERT INTO t VALUES (2); INSERT INTO t VALUES (1); COMMIT; END"
        )
        with pytest.raises(pymysql.err.IntegrityError):
            cursor.execute("CALL p()")
        cursor.execute("SELECT a FROM t")
        assert cursor.fetchall() == ((1,),)


SCRIPT = """
DELIMITER //
CREATE TABLE accounts (id INT PRIMARY KEY, balance INT)//
CREATE TABLE audit (what VARCHAR(10), id INT, before_it INT, after_it INT)//
CREATE TRIGGER accounts_au AFTER UPDATE ON accounts FOR EACH ROW
BEGIN
  IF OLD.balance <> NEW.balance THEN
    INSERT INTO audit VALUES ('update', NEW.id, OLD.balance, NEW.balance);
  END IF;
END//
CREATE FUNCTION doubled(n INT) RETURNS INT DETERMINISTIC
BEGIN
  RETURN n * 2;
END//
CREATE PROCEDURE pay(IN whom INT, IN amount INT)
BEGIN
  UPDATE accounts SET balance = balance + amount WHERE id = whom;
  SELECT * FROM audit;
END//
DELIMITER ;
INSERT INTO accounts VALUES (1, 5);
CALL pay(1, doubled(10));
"""


def test_the_command_line_with_delimiters_and_dumps(server: Rowferry, database: str) -> None:
    where = place(server, database)
    options = [f"--host={where['host']}", f"--port={where['port']}", "--user=ada", "--skip-ssl"]

    def client(script: str, name: str) -> str:
        run = subprocess.run(["mariadb", *options, name], input=script, capture_output=True, text=True, check=True)
        return run.stdout

    assert client(SCRIPT, database).splitlines()[1] == "update\t1\t5\t25"
    dumped = subprocess.run(
        ["mariadb-dump", *options, "--routines", "--triggers", "--no-tablespaces", database],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    client("CREATE DATABASE restored", database)
    try:
        client(dumped, "restored")
        assert client("CALL pay(1, 1)", "restored").splitlines()[-1] == "update\t1\t25\t26"
        assert client("SELECT doubled(4)", "restored").splitlines()[-1] == "8"
    finally:
        client("DROP DATABASE restored", database)
