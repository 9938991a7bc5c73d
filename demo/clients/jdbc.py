"""IBM's JDBC driver through the Informix door: the vendor's own client."""

from __future__ import annotations

from typing import Any

from tests.clients.jdbc import build

from .. import questions
from . import Answer, Unavailable


def run(address: dict[str, Any], customer: int) -> Answer:
    """A small Java program, compiled with Maven; see tests/clients/jdbc."""
    try:
        build.build()
    except build.Unavailable as missing:
        raise Unavailable(str(missing)) from None
    informix = address["informix"]
    answers = build.run(
        informix["host"],
        informix["port"],
        informix["database"],
        "store",
        questions.REPORT,
        str(customer),
        str(questions.OPERATIONS),
    )
    results: list[list[list[Any]]] = []
    for answer in answers:
        if "names" in answer:
            results.append([])
        elif "row" in answer:
            results[-1].append(answer["row"])
    (version,) = [answer["version"] for answer in answers if "version" in answer]
    (nanoseconds,) = [answer["nanoseconds"] for answer in answers if "nanoseconds" in answer]
    return Answer(f"IBM JDBC {version}", results[0], results[1], nanoseconds / 1e3)
