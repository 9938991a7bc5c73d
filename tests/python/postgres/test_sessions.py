"""Sessions in PostgreSQL's SQL with the answers that PostgreSQL 15 gave, statement by statement.

A file of `sessions/` holds statements, each ended by a line `----` and followed by its answer up to an empty line: its
notices, its rows (columns parted by `|`, NULL as `NULL`), and the completion tag, or the error, its SQLSTATE, detail,
hint and context. The lines below the first one of a COPY FROM are its data; those of a COPY TO are its answer.
`python -m tests.python.postgres.test_sessions DSN FILE…` writes the answers of a PostgreSQL into files; the database of
the DSN must be empty.
"""

from __future__ import annotations

import datetime
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from tests.servers.rowferry import Rowferry

FILES = sorted((Path(__file__).parent / "sessions").glob("*.txt"))


def answer(connection: psycopg.Connection, statement: str) -> str:
    lines: list[str] = []

    def describe(kind: str, said: psycopg.errors.Diagnostic) -> None:
        lines.append(f"{kind} {said.sqlstate} {said.message_primary}")
        lines.extend(f"{name} {text}" for name, text in [
            ("DETAIL", said.message_detail), ("HINT", said.message_hint), ("CONTEXT", said.context),
        ] if text)  # fmt: skip

    def notice(said: psycopg.errors.Diagnostic) -> None:
        describe(said.severity or "", said)

    connection.add_notice_handler(notice)
    try:
        text, data = statement, ""
        if statement.lower().startswith("copy "):
            text, _, data = statement.partition("\n")
        result = copied(connection.pgconn, connection.pgconn.exec_(text.encode()), data, lines)
        if result.status == psycopg.pq.ExecStatus.FATAL_ERROR:
            describe("ERROR", psycopg.errors.Diagnostic(result))
        else:
            for row in range(result.ntuples):
                values = (result.get_value(row, column) for column in range(result.nfields))
                lines.append("|".join("NULL" if value is None else bytes(value).decode() for value in values))
            lines.append((result.command_status or b"").decode())
    finally:
        connection.remove_notice_handler(notice)
    return "\n".join(lines)


def copied(pgconn: psycopg.pq.abc.PGconn, result: Any, data: str, lines: list[str]) -> Any:
    """The end of a COPY that has begun; any other result as it is."""
    if result.status == psycopg.pq.ExecStatus.COPY_IN:
        if data:
            pgconn.put_copy_data(f"{data}\n".encode())
        pgconn.put_copy_end()
    elif result.status == psycopg.pq.ExecStatus.COPY_OUT:
        while (piece := pgconn.get_copy_data(0))[0] > 0:
            lines.append(bytes(piece[1]).decode().removesuffix("\n"))
    else:
        return result
    ended = []
    while (result := pgconn.get_result()) is not None:
        ended.append(result)
    return ended[0]


def cases(path: Path) -> Iterator[tuple[str, str]]:
    for case in path.read_text().strip().split("\n\n"):
        statement, _, recorded = case.partition("\n----")
        yield statement, recorded.strip("\n")


@pytest.mark.parametrize("path", FILES, ids=[path.stem for path in FILES])
def test_the_session_goes_as_in_postgresql(path: Path, tmp_path: Path) -> None:
    with Rowferry.start(tmp_path / "app.db", args=["--durability", "off"]) as server:
        with psycopg.connect(server.postgres_dsn, autocommit=True) as connection:
            for statement, recorded in cases(path):
                assert f"{statement}\n{answer(connection, statement)}" == f"{statement}\n{recorded}"


def record(dsn: str, path: Path) -> None:
    with psycopg.connect(dsn, autocommit=True) as connection:
        answered = [f"{statement}\n----\n{answer(connection, statement)}\n" for statement, _ in cases(path)]
    today = datetime.datetime.now(datetime.UTC).date().isoformat()
    for case in answered:
        if today in case:
            raise SystemExit(f"{path}: this answer holds only today; compare with current_date instead:\n{case}")
    path.write_text("\n".join(answered))


if __name__ == "__main__":
    for name in sys.argv[2:]:
        record(sys.argv[1], Path(name))
