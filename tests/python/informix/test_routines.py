"""Routines: created, called in every way that the driver has, and what their errors tell; both colours."""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import pytest
from rowferry import informix

NAME = "rowferry_routine"


@pytest.fixture
def connection(connect: Any) -> Iterator[Any]:
    """A connection; what routines with the tests' name there are is dropped."""
    connection = connect(autocommit=True)
    yield connection
    for procid, is_procedure in connection.execute(
        "SELECT procid, isproc FROM sysprocedures WHERE procname = ?", (NAME,)
    ).fetchall():
        types = connection.execute(
            "SELECT paramtype FROM sysproccolumns WHERE procid = ? AND paramattr = 1 ORDER BY paramid", (procid,)
        ).fetchall()
        signature = ", ".join({0: "CHAR", 2: "INTEGER", 7: "DATE", 13: "VARCHAR"}[code] for (code,) in types)
        connection.execute(f"DROP {'PROCEDURE' if is_procedure == 't' else 'FUNCTION'} {NAME}({signature})")


def test_a_function_returns_a_described_row(connection: Any) -> None:
    connection.execute(
        f"""CREATE FUNCTION {NAME}(n INTEGER) RETURNING INTEGER AS doubled, VARCHAR(20) AS word, DATE AS day;
            IF n > 100 THEN
                RETURN NULL, 'much', NULL;
            END IF;
            RETURN n * 2, 'n' || n, MDY(2, 29, 2024);
            END FUNCTION"""
    )
    cursor = connection.execute(f"EXECUTE FUNCTION {NAME}(?)", (21,))
    assert [column[0] for column in cursor.description] == ["doubled", "word", "day"]
    assert cursor.fetchall() == [(42, "n21", datetime.date(2024, 2, 29))]
    assert connection.execute(f"EXECUTE FUNCTION {NAME}(?)", (101,)).fetchall() == [(None, "much", None)]


def test_an_iterator_returns_rows(connection: Any) -> None:
    connection.execute(
        f"""CREATE FUNCTION {NAME}(n INTEGER) RETURNING INTEGER, DECIMAL(10,2);
            DEFINE i INTEGER;
            FOR i = 1 TO n
                RETURN i, i / 4 WITH RESUME;
            END FOR;
            END FUNCTION"""
    )
    found = connection.execute(f"EXECUTE FUNCTION {NAME}(3)").fetchall()
    assert found == [(1, Decimal("0.25")), (2, Decimal("0.50")), (3, Decimal("0.75"))]
    assert len(connection.execute(f"EXECUTE FUNCTION {NAME}(5000)").fetchall()) == 5000
    total = connection.execute(f"SELECT SUM(a) FROM TABLE(FUNCTION {NAME}(100)) AS t(a, b)").fetchone()
    assert total == (5050,)


def test_callproc_runs_procedures_and_functions(connection: Any) -> None:
    connection.execute("CREATE TEMP TABLE routine_log (what VARCHAR(40)) WITH NO LOG")
    connection.execute(
        f"""CREATE PROCEDURE {NAME}(what VARCHAR(40))
            INSERT INTO routine_log VALUES (what);
            END PROCEDURE"""
    )
    cursor = connection.cursor()
    connection.execute(f"EXECUTE PROCEDURE {NAME}(?)", ("first",))
    assert list(cursor.callproc(NAME, ("second",))) == ["second"]
    connection.execute(f"CREATE FUNCTION {NAME}(a INTEGER, b INTEGER) RETURNING INTEGER; RETURN a + b; END FUNCTION")
    cursor.callproc(NAME, (41, 1))
    assert cursor.fetchall() == [(42,)]
    assert connection.execute("SELECT what FROM routine_log ORDER BY 1").fetchall() == [("first",), ("second",)]


def test_functions_stand_in_expressions(connection: Any) -> None:
    connection.execute("CREATE TEMP TABLE routine_rows (a INTEGER, b VARCHAR(10)) WITH NO LOG")
    for a in (1, 2, 3):
        connection.execute("INSERT INTO routine_rows VALUES (?, 'x')", (a,))
    connection.execute(
        f"""CREATE FUNCTION {NAME}(a INTEGER) RETURNING INTEGER;
            DEFINE total INTEGER;
            SELECT SUM(r.a) INTO total FROM routine_rows r WHERE r.a <= {NAME}.a;
            RETURN total;
            END FUNCTION""".replace(f"{NAME}.a", "a")
    )
    found = connection.execute(f"SELECT a, {NAME}(a) FROM routine_rows WHERE {NAME}(a) > 1 ORDER BY a").fetchall()
    assert found == [(2, 3), (3, 6)]


def test_raised_errors_keep_their_numbers(connection: Any) -> None:
    connection.execute(
        f"""CREATE PROCEDURE {NAME}(code INTEGER, words VARCHAR(60))
            RAISE EXCEPTION code, -11, words;
            END PROCEDURE"""
    )
    with pytest.raises(informix.DatabaseError) as raised:
        connection.execute(f"EXECUTE PROCEDURE {NAME}(-746, 'the account is closed')")
    assert (raised.value.sqlcode, raised.value.isam_code) == (-746, -11)
    assert "the account is closed" in str(raised.value)
    with pytest.raises(informix.DatabaseError) as raised:
        connection.execute(f"EXECUTE PROCEDURE {NAME}(-20001, 'x')")
    assert raised.value.sqlcode == -20001
    # The connection is as it was.
    assert connection.execute("SELECT 1 FROM systables WHERE tabid = 1").fetchall() == [(1,)]


def test_errors_on_the_way_to_a_routine(connection: Any) -> None:
    with pytest.raises(informix.DatabaseError) as raised:
        connection.execute(f"EXECUTE FUNCTION {NAME}(1)")
    assert raised.value.sqlcode == -674
    with pytest.raises(informix.DatabaseError) as raised:
        connection.execute(f"CREATE FUNCTION {NAME}() RETURNING INT; RETURN (; END FUNCTION")
    assert raised.value.sqlcode == -201
    connection.execute(f"CREATE FUNCTION {NAME}(a INTEGER) RETURNING INTEGER; RETURN 10 / a; END FUNCTION")
    with pytest.raises(informix.DatabaseError) as raised:
        connection.execute(f"CREATE FUNCTION {NAME}(a INTEGER) RETURNING INTEGER; RETURN 10 / a; END FUNCTION")
    assert raised.value.sqlcode == -673
    with pytest.raises(informix.DatabaseError) as raised:
        connection.execute(f"EXECUTE FUNCTION {NAME}(0)").fetchall()
    assert raised.value.sqlcode == -1202


def test_a_fast_path_call_reaches_routines_of_users(connection: Any) -> None:
    connection.execute(f"CREATE FUNCTION {NAME}(a INTEGER) RETURNING INTEGER; RETURN a * 3; END FUNCTION")
    assert connection.fast_path_call(f"function {NAME}(integer)", 14) == [42]
    with pytest.raises(informix.DatabaseError) as raised:
        connection.fast_path_call(f"function {NAME}(date)", 14)
    assert raised.value.sqlcode == -674
