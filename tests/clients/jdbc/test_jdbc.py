"""IBM's JDBC driver, unchanged, against the Informix door."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator
from typing import Any

import pytest

from tests.clients.jdbc import build
from tests.servers.rowferry import Rowferry


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rowferry]:
    build.build()
    with Rowferry.start(tmp_path_factory.mktemp("jdbc") / "testdb.db", postgres=False, informix=True) as running:
        yield running


def run(server: Rowferry, *arguments: str) -> list[dict[str, Any]]:
    assert server.informix is not None
    return build.run(*server.informix, server.dbname, *arguments)


def rows(answers: list[dict[str, Any]]) -> list[list[str | None]]:
    return [answer["row"] for answer in answers if "row" in answer]


def test_every_type_travels_both_ways(server: Rowferry) -> None:
    value, null = rows(run(server, "types"))
    assert value == [
        "1",
        "-32767",
        "2147483647",
        "-9223372036854775807",
        "123456789012",
        "0.1",
        "1.5",
        "-123456789.125",
        "fixed   ",
        "nfixed  ",
        "O'Brien, Zürich",
        "",
        "true",
        "1899-12-30",
        "2026-06-20 12:34:56",
        "2026-01-02 03:04:05.12345",
        "3 04:05:06",
        "17",
    ]
    assert null == ["2", *[None] * 16, "18"]


def test_batch_is_counted_and_a_failing_element_is_found(server: Rowferry) -> None:
    answers = run(server, "batch")
    assert {"inserted": 2500} in answers
    assert {"done": 2} in answers
    (failure,) = [answer for answer in answers if "error" in answer]
    assert failure["error"] in (-268, -239)
    assert rows(answers) == [["2502", "3002"]]


def test_commit_rollback_and_savepoint(server: Rowferry) -> None:
    assert rows(run(server, "transactions")) == [["1"], ["3"]]


def test_failures_have_the_right_code_and_leave_the_connection_usable(server: Rowferry) -> None:
    answers = run(server, "errors")
    failures = [answer for answer in answers if "error" in answer]
    codes = [failure["error"] for failure in failures]
    assert codes[:3] == [-201, -206, -217]
    assert codes[3] in (-268, -239)
    assert codes[4:] == [-391, -310]
    assert failures[0]["class"] == "SQLSyntaxErrorException"
    assert failures[3]["class"] == "SQLIntegrityConstraintViolationException"
    assert rows(answers) == [["1"]]


def test_rows_lie_in_the_file(server: Rowferry) -> None:
    with contextlib.closing(sqlite3.connect(f"file:{server.database}?mode=ro", uri=True)) as connection:
        assert connection.execute("SELECT count(*) FROM jdbc_batch").fetchone() == (2502,)
