"""IBM's JDBC driver and the JVM's tools in front of a PostgreSQL server: the tours that run over a file."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.clients import tours
from tests.clients.jdbc import build
from tests.clients.jdbc.test_jdbc import THEMES
from tests.clients.jvm import test_jvm_informix as jvm
from tests.servers.availability import not_tested
from tests.servers.postgres import PostgreSQL
from tests.servers.rowferry import Rowferry

from .conftest import make_database

#: Steps that find something else, with the reason.
STEPS = {"union": "rows without ORDER BY have no order, and PostgreSQL's UNION has another one than SQLite's"}
#: Checks of the JDBC tour, likewise.
CHECKS = {
    ("databases", "survives"): "databases are made on the PostgreSQL server, not here",
    ("composites", "BSON as JSON"): "a document's text is PostgreSQL's",
    ("composites", "survives"): "a collection that is a column is not looked into by PostgreSQL",
    ("objects", "survives"): "a text of PostgreSQL's has no NUL, which the oldest driver's CLOBs have",
}
#: Themes that end early because of these.
SHORT = {"databases", "composites"}


def arguments(directory: Path) -> tuple[str, ...]:
    """Users, and a file beside the server."""
    return "--user", "informix:in4mix", "--beside", str(directory / "beside.db")


@pytest.mark.timeout(600)
@pytest.mark.parametrize(("tour", "versions", "least"), [row for row in jvm.TOURS if row[1] == "new"])
def test_the_jvms_tools(postgres: PostgreSQL, tour: str, versions: str, least: int, tmp_path: Path) -> None:
    url, _behind = make_database(postgres)
    with Rowferry.start(url, postgres=False, informix=True, args=arguments(tmp_path)) as server:
        try:
            steps = jvm.answers(tour, versions, server, tmp_path)
        except tours.Unavailable as reason:
            not_tested("the JVM's tools in front of PostgreSQL", reason)
    failed = {step: said for step, said in steps.items() if not said.strip().endswith("ok")}
    assert set(failed) <= STEPS.keys() | jvm.documented(tour), failed
    assert len(steps) >= least


@pytest.mark.timeout(600)
def test_ibms_driver(postgres: PostgreSQL, tmp_path: Path) -> None:
    version = build.VERSIONS[0]
    build.build(version)
    url, _behind = make_database(postgres)
    with Rowferry.start(url, postgres=False, informix=True, args=arguments(tmp_path)) as server:
        assert server.informix is not None
        host, port = server.informix
        checks = [answer for answer in build.tour(host, port, server.dbname, version=version) if "check" in answer]
    failed = {(check["theme"], check["check"]): check["actual"] for check in checks if not check["holds"]}
    assert failed.keys() <= CHECKS.keys(), failed
    for theme, least in THEMES.items():
        made = sum(check["theme"] == theme for check in checks)
        assert made >= least or theme in SHORT, (theme, made)
