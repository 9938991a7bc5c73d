"""Whom `rowferry query` trusts: the machine's authorities, a company's among them, unless others are named."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.servers.certificates import make_certificates
from tests.servers.rowferry import Rowferry

from .conftest import rowferry


@pytest.fixture(scope="module")
def pem(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    return make_certificates(tmp_path_factory.mktemp("certificates"))


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, pem: dict[str, str]) -> Iterator[Rowferry]:
    args = ["--tls-cert", pem["cert"], "--tls-key", pem["key"]]
    with Rowferry.start(tmp_path_factory.mktemp("tls") / "app.db", informix=True, args=args) as server:
        yield server


def ask(server: Rowferry, options: str, **env: str) -> tuple[int, str]:
    """Both doors are asked, and must agree."""
    assert server.postgres is not None and server.informix is not None
    found = set()
    for url in (
        f"postgresql://localhost:{server.postgres[1]}/app?sslmode=verify-full{options}",
        f"informix://a:b@localhost:{server.informix[1]}/app?tls=verify_identity{options}".replace(
            "sslrootcert", "tls_ca"
        ),
    ):
        sql = "SELECT 1" if url.startswith("p") else "SELECT 1 FROM systables WHERE tabid = 1"
        done = rowferry("query", url, sql, "--csv", env=env)
        said = re.sub(r"localhost:\d+", "localhost", done.stderr)
        found.add((done.returncode, "UnknownIssuer" if "UnknownIssuer" in said else said))
    assert len(found) == 1, found
    return found.pop()


def test_an_authority_of_the_machine_is_trusted(server: Rowferry, pem: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    hidden = {"SSL_CERT_DIR": str(tmp_path / "empty")}
    assert ask(server, "", SSL_CERT_FILE=pem["ca"], **hidden) == (0, "")
    assert ask(server, "&sslrootcert=system", SSL_CERT_FILE=pem["ca"], **hidden) == (0, "")
    assert ask(server, "", SSL_CERT_FILE=pem["stranger"], **hidden) == (1, "UnknownIssuer")


def test_those_that_come_with_us_know_no_company(server: Rowferry, pem: dict[str, str]) -> None:
    assert ask(server, "&sslrootcert=bundled", SSL_CERT_FILE=pem["ca"]) == (1, "UnknownIssuer")


def test_a_machine_without_any_is_told_so(server: Rowferry, pem: dict[str, str], tmp_path: Path) -> None:
    nothing = {"SSL_CERT_FILE": str(tmp_path / "none.pem"), "SSL_CERT_DIR": str(tmp_path)}
    code, message = ask(server, "&sslrootcert=system", **nothing)
    assert code == 1 and "no certificates of authorities" in message
    # Browsers' are there instead, which do not know ours.
    assert ask(server, "", **nothing) == (1, "UnknownIssuer")
    assert ask(server, f"&sslrootcert={pem['ca']}", **nothing) == (0, "")
