"""docs/guide/postgres-statements.md says of every statement what the server does with it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import psycopg
import pytest

from tests.servers.rowferry import Rowferry

PAGE = Path(__file__).resolve().parents[3] / "docs" / "guide" / "postgres-statements.md"
ROW = re.compile(r"\| (?P<name>.+?) \| (?P<verdict>yes|noted|no) \| `(?P<example>.+)` \|")


@dataclass
class Row:
    name: str
    verdict: str
    example: str


def setup() -> list[str]:
    """The statements that make the objects of the page."""
    block = re.search(r"```sql\n(.*?)```", PAGE.read_text(), re.DOTALL)
    assert block
    return [statement for statement in block[1].split(";\n") if statement.strip()]


def rows() -> list[Row]:
    return [
        Row(found["name"], found["verdict"], found["example"].replace("\\|", "|"))
        for line in PAGE.read_text().splitlines()
        if (found := ROW.fullmatch(line))
    ]


def test_every_line_of_the_table_is_read() -> None:
    table = [line for line in PAGE.read_text().splitlines() if line.startswith("| ")]
    assert len(rows()) == len(table) - 1 > 200


def run(connection: psycopg.Connection, statement: str) -> None:
    if statement.startswith("copy") and ("from stdin" in statement or "to stdout" in statement):
        with connection.cursor().copy(statement) as copy:  # type: ignore[arg-type]
            if "to stdout" in statement:
                list(copy)
    else:
        connection.execute(statement)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rowferry]:
    path = tmp_path_factory.mktemp("statements") / "app.db"
    with Rowferry.start(
        path, args=["--durability", "off", "--databases", str(tmp_path_factory.mktemp("more"))]
    ) as server:
        with psycopg.connect(server.postgres_dsn, autocommit=True) as connection:
            for statement in setup():
                connection.execute(statement)  # type: ignore[arg-type]
            connection.execute("vacuum")
        yield server


@pytest.fixture
def fresh(served: Rowferry, tmp_path: Path) -> Iterator[Rowferry]:
    """A server on a copy of the page's database: examples drop and rename what others need."""
    with psycopg.connect(served.postgres_dsn, autocommit=True) as connection:
        connection.execute("checkpoint")
        directory = connection.execute("show data_directory").fetchone()
    assert directory
    copied = tmp_path / "app.db"
    copied.write_bytes((Path(directory[0]) / "app.db").read_bytes())
    (tmp_path / "more").mkdir()
    with Rowferry.start(copied, args=["--durability", "off", "--databases", str(tmp_path / "more")]) as server:
        yield server


@pytest.mark.parametrize("row", [row for row in rows() if row.verdict != "no"], ids=lambda row: row.name)
def test_what_the_page_promises_works(row: Row, fresh: Rowferry) -> None:
    notices: list[str] = []
    with psycopg.connect(fresh.postgres_dsn, autocommit=True) as connection:
        connection.add_notice_handler(lambda notice: notices.append(notice.message_primary or ""))
        for statement in row.example.split("; "):
            run(connection, statement)
    assert any("has no effect" in notice for notice in notices) == (row.verdict == "noted"), notices


def test_what_the_page_refuses_is_refused_by_name(served: Rowferry) -> None:
    wrong: list[str] = []
    for row in (row for row in rows() if row.verdict == "no"):
        with psycopg.connect(served.postgres_dsn, autocommit=True) as connection:
            answer = "accepted"
            for statement in ["begin", *row.example.removeprefix("begin; ").split("; ")]:
                try:
                    run(connection, statement)
                except psycopg.Error as error:
                    answer = f"{error.sqlstate}: {error}"
                    break
            if not re.match(r"0A000: .*is not (supported|available)", answer) or "this statement" in answer:
                wrong.append(f"{row.example}: {answer}")
    assert not wrong, "\n".join(wrong)
