"""What MySQL's clients are answered from a file they are answered in front of PostgreSQL, or it is refused by name."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pymysql
from pymysql import err

from tests.servers.postgres import PostgreSQL
from tests.servers.rowferry import Rowferry

from .conftest import make_database

STATEMENTS = Path(__file__).parent / "alike.sql"
#: How many are refused: they only become fewer.
REFUSED = 9


#: A value that does not fit: a file is asked of which column it is none, a server behind does not say it.
UNFITTING = {1264, 1265, 1292, 1366, 1406}


def answer(cursor: Any, sql: str) -> tuple[Any, ...]:
    """What a statement answers: rows and their types, how many it has changed, or its failure."""
    try:
        count = cursor.execute(sql)
    except err.Error as error:
        number, *words = error.args
        return ("error", number, *(() if number in UNFITTING else words))
    described = [(column[0], column[1]) for column in cursor.description or ()]
    return (count, described, cursor.fetchall() if described else None, cursor.lastrowid)


def test_answers_are_alike(postgres: PostgreSQL, tmp_path: Path) -> None:
    compare(postgres, tmp_path)


def compare(postgres: PostgreSQL, tmp_path: Path) -> None:
    """Runs all statements at a file and in front of this server."""
    url, _ = make_database(postgres)
    text = "\n".join(line for line in STATEMENTS.read_text().splitlines() if not line.startswith("--"))
    statements = [statement.strip() for statement in text.split(";\n") if statement.strip()]
    refused, different = [], []
    with (
        Rowferry.start(tmp_path / "file.db", postgres=False, mysql=True) as file,
        Rowferry.start(
            url, postgres=False, mysql=True, args=("--install", "--beside", str(tmp_path / "b.db"))
        ) as front,
    ):
        cursors = []
        for server in (file, front):
            assert server.mysql is not None
            host, port = server.mysql
            connection = pymysql.connect(host=host, port=port, user="ada", database=server.dbname, autocommit=True)
            cursors.append(connection.cursor())
        for statement in statements:
            here, there = (answer(cursor, statement) for cursor in cursors)
            if here == there:
                continue
            if there[:2] == ("error", 1235):
                refused.append(statement)
            else:
                different.append(f"{statement}\n  file  {here}\n  front {there}")
    assert not different, "\n".join(different)
    assert len(refused) <= REFUSED, refused
