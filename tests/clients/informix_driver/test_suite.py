"""informix-driver's own integration suite, unchanged, against the Informix door."""

from __future__ import annotations

import pytest

from tests.clients.informix_driver import run


@pytest.mark.timeout(900)
def test_no_fewer_tests_of_the_suite_pass_than_before() -> None:
    result = run.run_against_rowferry()
    assert result.total == 473
    assert len(result.passed) >= run.floor(), "\n".join(result.failed)
