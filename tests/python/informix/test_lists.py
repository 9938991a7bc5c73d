"""Lists as parameters: `IN ?`."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from typing import Any

import pytest
from rowferry import informix
from rowferry.informix import In

from tests.python.informix.replay import Driver
from tests.servers.rowferry import Rowferry


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rowferry]:
    """A server with a table of ten numbered rows, and one that is NULL."""
    file = tmp_path_factory.mktemp("lists") / "app.db"
    with Rowferry.start(file, postgres=False, informix=True) as server:
        with informix.connect(**address(server)) as connection:
            connection.execute("CREATE TABLE n (id INT, word VARCHAR(20), day DATE, yes BOOLEAN)")
            rows: list[Any] = [(at, f"w{at}", dt.date(2026, 1, at), at % 2 == 0) for at in range(1, 11)]
            connection.cursor().executemany("INSERT INTO n VALUES (?, ?, ?, ?)", [*rows, (None, None, None, None)])
            connection.commit()
        yield server


def address(server: Rowferry) -> dict[str, Any]:
    host, port = server.informix or ("", 0)
    return {"host": host, "port": port, "user": "u", "password": "p", "database": server.dbname}


@pytest.fixture
def connection(driver: Driver, server: Rowferry) -> Iterator[Any]:
    with driver.connect(**address(server)) as connection:
        yield connection


def ids(connection: Any, condition: str, values: Any) -> list[Any]:
    rows = connection.execute(f"SELECT id FROM n WHERE {condition} ORDER BY id", values).fetchall()
    return [row[0] for row in rows]


def test_a_list_is_what_is_looked_for(connection: Any) -> None:
    for count in (1, 2, 3, 5, 8, 9):
        wanted = list(range(1, count + 1))
        assert ids(connection, "id IN ?", (In(wanted),)) == wanted
        assert ids(connection, "id NOT IN (?) AND id IS NOT NULL", (In(wanted),)) == list(range(count + 1, 11))
    assert ids(connection, "word IN ? AND id > ?", (In(["w1", "w3", "w5"]), 1)) == [3, 5]
    assert ids(connection, "id < ? AND day IN ?", (4, In([dt.date(2026, 1, 2), dt.date(2026, 1, 9)]))) == [2]
    assert ids(connection, "id IN :few AND word <> :word", {"few": In({1, 2}), "word": "w2"}) == [1]
    assert ids(connection, "id IN (:1) OR id IN (:2)", [In([1]), In([9, 10])]) == [1, 9, 10]


def test_nothing_is_in_a_list_without_values(connection: Any) -> None:
    for column in ("id", "word", "day"):
        assert ids(connection, f"{column} IN ?", (In([]),)) == []
        assert len(ids(connection, f"{column} NOT IN ?", (In([]),))) == 11
        assert len(ids(connection, f"{column} NOT IN (?) OR id = ?", (In([]), 1))) == 11
    assert ids(connection, "yes IN ?", (In([], "BOOLEAN"),)) == []
    assert len(ids(connection, "yes NOT IN ?", (In([], "BOOLEAN"),))) == 11


def test_null_in_a_list_is_as_in_sql(connection: Any) -> None:
    assert ids(connection, "id IN ?", (In([1, None]),)) == [1]
    assert ids(connection, "id NOT IN ?", (In([1, None]),)) == []


def test_question_marks_elsewhere_are_left_alone(connection: Any) -> None:
    sql = "SELECT id, 'in ?', 'IN (?)' FROM n -- IN ?\n WHERE {in ?} id IN ? /* in ? */"
    assert connection.execute(sql, (In([7]),)).fetchall() == [(7, "in ?", "IN (?)")]


def test_many_values_are_sent_as_they_are(connection: Any) -> None:
    assert ids(connection, "id IN ?", (In(range(3, 2_000)),)) == list(range(3, 11))


def test_a_list_stands_behind_in_and_nowhere_else(connection: Any) -> None:
    for condition in ("id = ?", "id IN (1, ?)", "id IN (?, 1)", "id IN (ABS(?))"):
        with pytest.raises(informix.ProgrammingError, match="alone behind IN"):
            ids(connection, condition, (In([1, 2]),))
    for condition in ("id IN (?)", "id IN ?"):
        with pytest.raises(informix.ProgrammingError, match="`execute` alone"):
            connection.cursor().executemany(f"DELETE FROM n WHERE {condition}", [(In([1]),)])
    connection.rollback()
    assert ids(connection, "id IN ?", (In([1]),)) == [1]


def test_what_is_no_list_is_refused() -> None:
    for wrong in ("abc", b"abc"):
        with pytest.raises(informix.ProgrammingError, match="not one text"):
            In(wrong)
    with pytest.raises(informix.ProgrammingError, match="not lists"):
        In([In([1])])
    with pytest.raises(informix.ProgrammingError, match="no type"):
        In([], "INT) OR (1=1")
    with pytest.raises(informix.ProgrammingError, match="32767"):
        In(range(40_000))
    assert repr(In((1, "a"))) == "In([1, 'a'])"
