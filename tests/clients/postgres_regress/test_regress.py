"""A part of PostgreSQL's own regression tests; `run.py` beside this runs all of them."""

from __future__ import annotations

import pytest

from tests.clients.postgres_regress import run


@pytest.mark.timeout(900)
def test_no_file_of_postgresqls_own_tests_falls_below_its_floor() -> None:
    known = run.floors("bounded")
    assert set(known) == {"test_setup", *run.BOUNDED}
    with run.servers("bounded") as scorer:
        lacking = [lack for score in run.run(run.BOUNDED, scorer) if (lack := run.below(score, known[score.name]))]
    assert not lacking, "\n".join(lacking)


@pytest.mark.timeout(600)
def test_no_file_of_plpgsqls_own_tests_falls_below_its_floor() -> None:
    known = run.floors("plpgsql")
    with run.servers("plpgsql") as scorer:
        scores = list(run.run(list(known), scorer))
    assert {score.name for score in scores} == set(known)
    lacking = [lack for score in scores if (lack := run.below(score, known[score.name]))]
    assert not lacking, "\n".join(lacking)
