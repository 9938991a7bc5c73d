"""informix-driver's own integration suite, unchanged: against our server, and with our driver under its name."""

from __future__ import annotations

import pytest

from tests.clients.informix_driver import run


@pytest.mark.timeout(900)
def test_no_fewer_tests_of_the_suite_pass_than_before() -> None:
    result = run.run_against_rowferry()
    assert result.total == 473
    assert len(result.passed) >= run.floor(), "\n".join(result.failed)


@pytest.mark.timeout(900)
def test_our_driver_passes_no_fewer_tests_of_the_suite_than_before() -> None:
    result = run.run_against_rowferry(driver="ours")
    assert result.total == 473
    assert len(result.passed) >= run.floor("ours"), "\n".join(result.failed)
