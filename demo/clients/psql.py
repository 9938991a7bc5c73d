"""psql through the PostgreSQL door: PostgreSQL's own shell."""

from __future__ import annotations

import csv
import io
import shutil
import subprocess
import time
from typing import Any

from .. import questions
from . import Answer, Unavailable
from .dbapi import customer_row

#: How often a script is timed.
_TIMES = 3


def run(address: dict[str, Any], customer: int) -> Answer:
    """Scripts on standard input, CSV out."""
    if shutil.which("psql") is None:
        raise Unavailable("psql is not installed (Debian package postgresql-client)")
    url = address["postgres"]
    version = subprocess.run(["psql", "--version"], capture_output=True, text=True, check=True, timeout=30).stdout
    report = _rows(_psql(url, questions.REPORT + ";"))
    for number, end in ((customer, "COMMIT"), (customer + 1, "ROLLBACK")):
        literals = [_literal(cell) for cell in customer_row(number, "psql")]
        _psql(url, f"BEGIN;\n{questions.INSERT.format(*literals)};\n{end};")
    written = _rows(_psql(url, questions.READ_BACK.format(customer, customer + 2) + ";"))
    points = "".join(questions.POINT.format(number) + ";\n" for number in range(1, questions.OPERATIONS + 1))
    if len(_rows(_psql(url, points))) != questions.OPERATIONS:
        raise AssertionError(f"asked {questions.OPERATIONS} questions, got another number of rows")
    # What starting psql and connecting costs is not the cost of a question; either may meet a busy moment.
    start = min(_seconds(url, "SELECT 1;") for _ in range(_TIMES))
    took = min(_seconds(url, points) for _ in range(_TIMES)) - start
    return Answer(version.strip(), report, written, took / questions.OPERATIONS * 1e6 if took > 0 else None)


def _seconds(url: str, script: str) -> float:
    began = time.perf_counter()
    _psql(url, script)
    return time.perf_counter() - began


def _psql(url: str, script: str) -> str:
    done = subprocess.run(
        ["psql", "--no-psqlrc", "--quiet", "--csv", "--tuples-only", "--set=ON_ERROR_STOP=1", url],
        input=script,
        capture_output=True,
        text=True,
        timeout=60,
    )
    if done.returncode != 0:
        raise RuntimeError(f"psql ended with {done.returncode}: {done.stderr.strip()}")
    return done.stdout


def _rows(text: str) -> list[list[Any]]:
    return [list(row) for row in csv.reader(io.StringIO(text))]


def _literal(cell: Any) -> str:
    if isinstance(cell, bool):
        return str(cell).lower()
    if isinstance(cell, int):
        return str(cell)
    return "'" + str(cell).replace("'", "''") + "'"
