"""`make test-informix` leaves nothing behind: tried on our own server, as on somebody's Informix."""

from __future__ import annotations

from pathlib import Path

import pytest
from rowferry import informix

from tests.python.informix.server import target
from tests.servers.rowferry import Rowferry

pytestmark = pytest.mark.timeout(60)


def databases(url: str) -> set[str]:
    with informix.connect(url, autocommit=True) as connection:
        return {name.strip() for (name,) in connection.execute("SELECT name FROM sysdatabases").fetchall()}


def test_a_database_is_made_and_dropped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    more = tmp_path / "more"
    more.mkdir()
    with Rowferry.start(tmp_path / "app.db", postgres=False, informix=True, args=("--databases", str(more))) as server:
        assert server.informix is not None
        url = "informix://{}:{}/sysmaster".format(*server.informix)
        monkeypatch.setenv("INFORMIX_URL", url)
        monkeypatch.delenv("INFORMIX_DATABASE", raising=False)
        before = databases(url)
        with pytest.raises(ZeroDivisionError), target() as live:
            assert databases(url) - before == {live.database}
            with informix.connect(live.url, **live.parameters) as connection:
                assert connection.is_logged
                connection.execute("CREATE TABLE left_behind (a INT)")
                connection.commit()
            raise ZeroDivisionError
        assert databases(url) == before
        assert list(more.iterdir()) == []


def test_in_a_named_database_new_tables_are_dropped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Rowferry.start(tmp_path / "app.db", postgres=False, informix=True) as server:
        assert server.informix is not None
        monkeypatch.setenv("INFORMIX_URL", "informix://{}:{}/sysmaster".format(*server.informix))
        monkeypatch.setenv("INFORMIX_DATABASE", "app")
        with informix.connect("informix://{}:{}/app".format(*server.informix), autocommit=True) as connection:
            connection.execute("CREATE TABLE somebodys (a INT)")
            with target() as live:
                connection.execute("CREATE TABLE left_behind (a INT)")
                assert live.database == "app"
            assert connection.execute("SELECT * FROM somebodys").fetchall() == []
            with pytest.raises(informix.ProgrammingError, match="left_behind"):
                connection.execute("SELECT * FROM left_behind")
