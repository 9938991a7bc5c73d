"""Tours of Rust's clients for MySQL, as crates.io has them, at the MySQL door: mysql_async, sqlx, SeaORM."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from tests.clients import tours
from tests.servers.availability import not_tested

_HERE = Path(__file__).parent


@pytest.fixture(scope="module")
def programs() -> Path:
    """The directory with the tours, built; Cargo.lock says what all that they are made of must be."""
    target = tours.CACHE / "rust_mysql"
    try:
        if shutil.which("cargo") is None:
            raise tours.Unavailable("`cargo` is not installed (https://rustup.rs)")
        # With its own cache it builds what has changed.
        tours.run(
            ["cargo", "build", "--locked", "--quiet", "--target-dir", target],
            directory=_HERE,
            timeout=600,
            env={name: value for name, value in os.environ.items() if name != "RUSTFLAGS"},
        )
    except tours.Unavailable as reason:
        not_tested("Rust's clients", reason)
    return target / "debug"


@pytest.mark.timeout(900)
@pytest.mark.parametrize("tour", ["mysql_async", "sqlx", "sea_orm"])
def test_a_tour_finds_what_it_finds_on_mysql(tour: str, mysql_tour_servers: tours.MySQLServers, programs: Path) -> None:
    found = mysql_tour_servers.compare(tour, [programs / tour], _HERE / "differences.txt", directory=programs)
    assert not found, "\n".join(found)
