"""What CI runs of the statements generated for MySQL; `run.py` beside this runs any of them."""

from __future__ import annotations

from random import Random

import pytest

from tests.differential.mysql import run
from tests.differential.mysql.queries import Queries
from tests.differential.mysql.schema import Schema
from tests.differential.run import below
from tests.servers import debian_sid
from tests.servers.availability import not_tested


@pytest.mark.timeout(600)
def test_generated_statements_are_answered_as_mysql_answers_them() -> None:
    known = run.floor()
    try:
        with run.servers() as both:
            score = run.run(known["seed"], known["count"], both, shrinks=False)
    except debian_sid.Unavailable as reason:
        not_tested("MySQL 9.7", reason)
    found = "\n".join(str(difference) for difference in score.differences)
    assert not below(score, known), f"{found}\n{score}\n" + "\n".join(below(score, known))


def test_a_seed_makes_the_same_statements_each_time() -> None:
    made = []
    for _ in range(2):
        random = Random(7)
        queries = Queries(random, Schema(random))
        made.append([str(statement) for statement in queries.schema.statements] + [str(queries.query().node)])
    assert made[0] == made[1]
