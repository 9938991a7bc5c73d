"""The part that all PEP 249 drivers have in common: only connecting and the parameter marks differ."""

from __future__ import annotations

import time
from datetime import date
from decimal import Decimal
from typing import Any

from .. import questions
from . import Answer


def customer_row(number: int, writer: str) -> tuple[Any, ...]:
    """A customer that `writer` makes, with a value of each kind."""
    return (
        number,
        f"Written by {writer}",
        f"{number}@example.org",
        "Zürich",
        True,
        Decimal("1234.50"),
        date(2026, 2, 28),
    )


def converse(connection: Any, mark: str, writer: str, version: str, customer: int) -> Answer:
    """Read, write and commit, write and roll back, ask many small questions. `connection` is not in autocommit mode."""
    cursor = connection.cursor()
    cursor.execute(questions.REPORT)
    report = cursor.fetchall()
    for number in (customer, customer + 1):
        cursor.execute(questions.INSERT.format(*[mark] * 7), customer_row(number, writer))
        if number == customer:
            connection.commit()
        else:
            connection.rollback()
    cursor.execute(questions.READ_BACK.format(mark, mark), (customer, customer + 2))
    written = cursor.fetchall()
    point = questions.POINT.format(mark)
    began = time.perf_counter()
    for number in range(1, questions.OPERATIONS + 1):
        cursor.execute(point, (number,))
        (row,) = cursor.fetchall()
        if row[0] != number:
            raise AssertionError(f"asked for order {number}, got {row!r}")
    took = time.perf_counter() - began
    connection.commit()
    cursor.close()
    connection.close()
    return Answer(
        version=version,
        report=[list(row) for row in report],
        written=[list(row) for row in written],
        microseconds=took / questions.OPERATIONS * 1e6,
    )
