"""What a front end has bound means the same to two back ends: SQLite's, and a PostgreSQL, lowered to for this test.

Every recorded case of both dialects is compiled once and runs twice: here, and as PostgreSQL's SQL on a real
PostgreSQL. What PostgreSQL cannot be told is counted, with the reason; what of it changes tables changes them here
alone, and then they are copied.
"""

from __future__ import annotations

import json
import subprocess
from collections import Counter
from collections.abc import Iterator
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg import sql

from tests.servers.postgres import PostgreSQL

ROOT = Path(__file__).parents[3]
CASES = ROOT / "crates" / "engine" / "tests"

# Statements whose answers differ, with the reason.
KNOWN = {
    "create table e6 (a int primary key, b int primary key)": "the second is a unique key here",
    "select f, n, s, m, m::datetime year to minute + 1 units day from others": "DISTINCT types in Informix's form here",
    "select s from others where s > interval (1 00:00:00) day to second::span order by s": "the same",
    "select * from log": "a trigger of Informix's has written it here",
    "begin": "PostgreSQL only warns inside of a transaction",
    "commit": "PostgreSQL only warns outside of a transaction",
    "commit work": "PostgreSQL only warns outside of a transaction",
    "rollback work": "PostgreSQL only warns outside of a transaction",
    "select dt + 1 units month, dt + 1 units year, dt - 2 units day, dt + 5 units hour from n": "no 29th of February",
    "select datetime(2024-01-31) year to day + 1 units month from d": "Informix refuses a day that a month has not",
    "insert into narrow select creditcard from customer": "what ENCRYPT has made is not cut here",
    "insert into c1 values (1, null, 6)": "a table that was made anew there has no foreign keys",
    "select max(a) from m": "nor a number from which its SERIAL goes on",
    "SELECT u.id, y.* FROM u LEFT JOIN LATERAL (SELECT jsonb_agg(row_to_json(z)) FROM (SELECT id, note FROM o "
    "WHERE uid=u.id ORDER BY id) z) y ON true ORDER BY 1;": "a row that is built has no names there",
}

# What PostgreSQL is not told, and how many cases that leaves to one back end alone. Counts only go down,
# but for new cases of what stands here. Functions that stand here by their names write or read in formats of
# Informix's own.
LEFT: dict[str, dict[str, int]] = {
    "compiled": {"field": 1},
    # What only the engine can do, which takes it apart.
    "in_parts": {"place of a row": 1},  # of the target, which PostgreSQL does not show as a number
    "informix": {
        "a table of the catalogs": 45,  # Informix's own
        # Locks, statistics, SET CONSTRAINTS, SET ENCRYPTION PASSWORD, EXECUTE FUNCTION of Informix's.
        "this statement": 27,
        "ifx_to_char": 5,
        "modes of a transaction": 5,  # Informix's isolation levels
        "a row's identity": 4,  # rowids are other numbers there
        "ifx_to_char_number": 3,
        "WITH CHECK OPTION": 7,  # asked by the engine, of each row that a view's change leaves
        # Routines, triggers, types of rows and aggregates of Informix's; users, whose rights are the server's there.
        "this change of the schema": 110,
        "stored aggregate result": 9,  # CREATE AGGREGATE
        "a routine in SPL of rows' values, outside of the select list": 28,  # casts, too
        "ifx_members": 8,  # TABLE of a collection
        "ifx_row_field": 3,
        "this change of a table": 5,  # MODIFY to SERIAL
        "ifx_encrypt": 8,
        "ifx_decrypt": 6,
        "gethint": 1,
        "ifx_last_serial": 2,
        "ifx_round_moment": 2,
        "ifx_to_date": 2,
        "an ordered recursive query": 41,  # CONNECT BY
        "cardinality": 1,
        "ifx_nth_known": 4,  # IGNORE NULLS
        "filetoblob": 1,
        "ifx_next_day": 1,
        "ifx_nextval": 1,
        "ifx_number_to_interval": 1,
        "ifx_time_zone": 1,
        "ifx_to_number": 1,
        "ifx_utc_to_datetime": 1,
        "instr": 1,
        "substrb": 1,
        "the text of an INTERVAL": 1,
    },
}

# Files of cases of what only the engine does: its triggers fire at no PostgreSQL that is told the statements alone, and
# Informix's functions of documents and of regular expressions are its own, as is the place of a column that is added;
# the manual's examples call routines and make temporary tables.
OURS_ALONE = {"informix": {"triggers.txt", "documents.txt", "alterations.txt", "manual.txt"}}

Rows = list[list[str | None]]


@pytest.fixture(scope="module")
def dsn() -> Iterator[str]:
    """A database whose characters have cases beyond ASCII, as those of our server."""
    with PostgreSQL.start() as server:
        with psycopg.connect(server.dsn, autocommit=True) as connection:
            connection.execute("CREATE DATABASE cases TEMPLATE template0 LC_CTYPE 'C.UTF-8' LC_COLLATE 'C'")
        yield psycopg.conninfo.make_conninfo(server.dsn, dbname="cases")


def compiled(language: str, files: list[Path]) -> list[dict[str, Any]]:
    # No `--package`: of the whole workspace's features `cargo test` has built it.
    program = ["cargo", "run", "--quiet", "--locked", "--example", "two_back_ends", "--"]
    done = subprocess.run([*program, language, *map(str, files)], cwd=ROOT, capture_output=True, text=True, timeout=900)
    assert done.returncode == 0, done.stderr[-2000:]
    return [json.loads(line) for line in done.stdout.splitlines()]


def run(connection: psycopg.Connection, statement: str) -> Rows | str:
    """The rows of a statement, or the SQLSTATE of its failure."""
    result = connection.pgconn.exec_(statement.encode())
    if result.status == psycopg.pq.ExecStatus.FATAL_ERROR:
        return psycopg.errors.Diagnostic(result).sqlstate or ""
    texts = [
        [result.get_value(row, column) for column in range(result.nfields)] for row in range(result.ntuples)
    ]  # fmt: skip
    return [[None if text is None else text.decode() for text in row] for row in texts]


def start_anew(connection: psycopg.Connection, schema: str, tables: list[str]) -> None:
    name = sql.Identifier(schema)
    connection.execute(sql.SQL("DROP SCHEMA IF EXISTS {} CASCADE").format(name))
    connection.execute(sql.SQL("CREATE SCHEMA {}").format(name))
    connection.execute(sql.SQL("SET search_path TO {}").format(name))
    for statement in tables:
        assert isinstance(run(connection, statement), list), statement


def plain(text: str | None) -> str | None:
    """Informix shows a number without the zeros behind it, and its lengths pad more types."""
    if text is None:
        return None
    try:
        return format(Decimal(text).normalize(), "f")
    except InvalidOperation:
        return text.rstrip(" ")


def alike(case: dict[str, Any], there: Rows | str, *, informix: bool) -> bool:
    if "error" in case or isinstance(there, str):
        return isinstance(there, str) and "error" in case and (informix or case["error"] == there)
    here = case["rows"]
    if informix:
        here, there = ([[plain(text) for text in row] for row in rows] for rows in (here, there))
    if not case["ordered"]:
        here, there = (sorted(rows, key=repr) for rows in (here, there))
    return bool(here == there)


# The limit leaves room for compiling it, which a run of this file alone may have to do.
@pytest.mark.timeout(900)
@pytest.mark.parametrize(
    ("language", "folder", "equal"),
    [("postgres", "compiled", 365), ("postgres", "in_parts", 43), ("informix", "informix", 547)],
)
def test_a_statement_means_the_same_to_both(dsn: str, language: str, folder: str, equal: int) -> None:
    different = []
    count = 0
    left: Counter[str] = Counter()
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute("SET TimeZone = 'Europe/Vienna'")
        schema = ""
        files = [file for file in (CASES / folder).glob("*.txt") if file.name not in OURS_ALONE.get(folder, set())]
        for case in compiled(language, sorted(files)):
            if case["file"] != schema or "mirror" in case:
                schema = case["file"]
                start_anew(connection, schema, case.get("mirror", []))
            if "refused" in case:
                left[case["refused"].removesuffix(" on a PostgreSQL back end is not supported")] += 1
            if not case.get("lowered"):
                continue
            there = run(connection, case["lowered"])
            if alike(case, there, informix=language == "informix"):
                count += 1
            elif case["sql"].strip() not in KNOWN:
                here = case.get("error") or case["rows"]
                different.append(f"[{schema}] {case['sql']}{case['lowered']}\n  here  {here}\n  there {there}")
    assert not different, "\n\n".join(different)
    assert count >= equal, count
    assert dict(left) == LEFT[folder], "what is less now is less in LEFT, too; what is more has to be lowered"
