"""Dates in text, in the form that the client's DBDATE or GL_DATE says."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Any

import pytest
from rowferry import informix

from tests.python.informix import server as servers
from tests.python.informix.server import Target

DAY = dt.date(2024, 3, 5)


def session(connect: Any, target: Target, **variables: str) -> Any:
    """A connection whose client has these variables."""
    return connect(autocommit=True, env=target.parameters.get("env", {}) | variables)


def one(connection: Any, sql: str, *values: Any) -> Any:
    return connection.execute(sql, values).fetchone()


@pytest.fixture
def table(connect: Any, target: Target) -> Any:
    """A table of one day."""
    connection = session(connect, target)
    connection.execute("CREATE TABLE dates_test (d DATE, s VARCHAR(20), c CHAR(10))")
    connection.execute("INSERT INTO dates_test (d) VALUES (MDY(3, 5, 2024))")
    yield "dates_test"
    connection.execute("DROP TABLE dates_test")


@pytest.mark.parametrize(
    ("variables", "text"),
    [
        ({}, "2024-03-05"),
        ({"DBDATE": "Y4MD-"}, "2024-03-05"),
        ({"DBDATE": "DMY4/"}, "05/03/2024"),
        ({"DBDATE": "DMY4."}, "05.03.2024"),
        ({"DBDATE": "MDY4/"}, "03/05/2024"),
        ({"DBDATE": "MDY2-"}, "03-05-24"),
        ({"DBDATE": "DMY40"}, "05032024"),
        ({"DBDATE": "MDY4/", "GL_DATE": "%d.%m.%Y"}, "05.03.2024"),
    ],
)
def test_dates_are_written_and_read_in_the_clients_form(
    connect: Any, target: Target, table: str, variables: dict[str, str], text: str
) -> None:
    connection = session(connect, target, **variables)
    assert one(connection, f"SELECT d || '', d::VARCHAR(20), TO_CHAR(d), d FROM {table}") == (text, text, text, DAY)
    for condition in (f"d = '{text}'", f"d BETWEEN '{text}' AND '{text}'", f"d = DATE('{text}')", f"d IN ('{text}')"):
        assert one(connection, f"SELECT d FROM {table} WHERE {condition}") == (DAY,), condition
    assert one(connection, f"SELECT d FROM {table} WHERE d = ?", text) == (DAY,)
    connection.execute(f"UPDATE {table} SET s = d, c = d")
    assert one(connection, f"SELECT s, c, s::DATE, DATE(c) FROM {table} WHERE d = s AND c = d") == (
        text,
        text,
        DAY,
        DAY,
    )
    connection.execute(f"UPDATE {table} SET d = ?", (text,))
    connection.execute(f"UPDATE {table} SET d = '{text}'")
    assert one(connection, f"SELECT d FROM {table}") == (DAY,)


def test_routines_have_the_form_of_their_caller(connect: Any, target: Target, table: str) -> None:
    connection = session(connect, target, DBDATE="DMY4/")
    connection.execute("""
        CREATE FUNCTION dates_test_f(given VARCHAR(20)) RETURNING DATE, VARCHAR(20);
            DEFINE day DATE;
            DEFINE shown VARCHAR(20);
            LET day = given;
            LET shown = day;
            RETURN shown, day;
        END FUNCTION
    """)
    try:
        assert one(connection, "EXECUTE FUNCTION dates_test_f('5/3/2024')") == (DAY, "05/03/2024")
        other = session(connect, target, DBDATE="MDY4/")
        assert one(other, "EXECUTE FUNCTION dates_test_f('3/5/2024')") == (DAY, "03/05/2024")
    finally:
        connection.execute("DROP FUNCTION dates_test_f(VARCHAR(20))")


def test_two_digits_are_a_year_of_this_century(connect: Any, target: Target, table: str) -> None:
    for form, text in (("MDY4/", "3/5/24"), ("DMY4/", "5/3/24"), ("DMY2/", "05/03/24")):
        connection = session(connect, target, DBDATE=form)
        assert one(connection, f"SELECT d FROM {table} WHERE d = '{text}'") == (DAY,)


def test_what_is_no_day_is_refused(connect: Any, target: Target, table: str) -> None:
    connection = session(connect, target, DBDATE="DMY4/")
    for text, code in (("3/25/2024", -1205), ("31/2/2024", -1206), ("soon", -1218)):
        with pytest.raises(informix.DataError) as refused:
            connection.execute(f"SELECT d FROM {table} WHERE d = '{text}'").fetchall()
        assert refused.value.sqlcode == code, text


def test_a_form_that_is_not_known_is_refused_at_our_door(tmp_path: Path) -> None:
    with servers.serve(tmp_path / "app.db") as server:
        assert server.informix is not None
        host, port = server.informix
        for variables in ({"DBDATE": "GY2MD/"}, {"GL_DATE": "%A %d %B"}):
            with pytest.raises(informix.OperationalError) as refused:
                informix.connect(host=host, port=port, database=server.dbname, server="informix", env=variables)
            assert refused.value.sqlcode == -23101
