"""What CI runs of the generated statements; `run.py` beside this runs any of them."""

from __future__ import annotations

from random import Random

import pytest

from tests.differential import run
from tests.differential.schema import Schema
from tests.differential.tree import Node, join, listed, maybe, shrink


@pytest.mark.timeout(600)
def test_generated_statements_are_answered_as_postgresql_answers_them() -> None:
    known = run.floor()
    with run.servers() as both:
        score = run.run(known["seed"], known["count"], both, shrinks=False)
    found = "\n".join(str(difference) for difference in score.differences)
    assert not run.below(score, known), f"{found}\n{score}\n" + "\n".join(run.below(score, known))


def test_a_seed_makes_the_same_schema_each_time() -> None:
    first, second = (Schema(Random(7)) for _ in range(2))
    assert [str(statement) for statement in first.statements] == [str(statement) for statement in second.statements]


def test_what_differs_is_made_as_small_as_it_can_be() -> None:
    deep = Node(["(", Node(["wanted"], type="int"), " + ", Node(["1"], type="int"), ")"], type="int")
    tree = join("SELECT ", listed([join("a"), deep, join("b")]), maybe(" WHERE c"))
    shrink(tree, lambda smaller: "wanted" in str(smaller))
    assert str(tree) == "SELECT wanted"
