"""A part of PostgreSQL's own regression tests; `run.py` beside this runs all of them."""

from __future__ import annotations

import pytest

from tests.clients.postgres_regress import run


@pytest.mark.timeout(900)
def test_no_file_of_postgresqls_own_tests_falls_below_its_floor() -> None:
    known = run.floors("bounded")
    assert set(known) == {"test_setup", *run.BOUNDED}
    with run.servers(whole=False) as scorer:
        lacking = [lack for score in run.run(run.BOUNDED, scorer) if (lack := run.below(score, known[score.name]))]
    assert not lacking, "\n".join(lacking)
