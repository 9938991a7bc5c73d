"""Settings are made once for the same parameters, and anew where something else counts, too."""

from __future__ import annotations

from pathlib import Path

import pytest
from rowferry.informix import InterfaceError
from rowferry.informix._settings import settings_for


def test_the_same_parameters_are_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INFORMIXSERVER", "first")
    url = "informix://me:secret@h:9088/stores"
    settings = settings_for(url, connect_timeout=5)
    assert settings_for(url, connect_timeout=5) is settings
    assert settings_for(url, connect_timeout=6).connect_timeout == 6
    # 1 and True are equal, and not the same.
    assert settings_for(url, lock_wait=1).lock_wait == 1
    with pytest.raises(InterfaceError, match="lock_wait"):
        settings_for(url, lock_wait=True)
    assert settings_for(host="h", user="a").user == b"a"
    assert settings_for(host="h", password="a").user == b""
    assert settings_for("h", 1).port == 1
    assert settings_for("h", 2).port == 2


@pytest.mark.parametrize("place", ["informix://h/d", "h", None])
def test_the_environment_is_read_each_time(place: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("first", "second"):
        monkeypatch.setenv("INFORMIXSERVER", name)
        assert settings_for(place, user="me").server == name.encode()
    monkeypatch.delenv("INFORMIXSERVER")
    monkeypatch.setenv("GBASEDBTSERVER", "derived")
    assert settings_for(place, user="me").server == b"derived"


def test_files_are_read_each_time(tmp_path: Path) -> None:
    file = tmp_path / "sqlhosts"
    for port in (1001, 1002):
        file.write_text(f"ifx onsoctcp somewhere {port}\n")
        assert settings_for(server="ifx", sqlhosts=str(file)).port == port
        assert settings_for(f"informix:///d?server=ifx&sqlhosts={file}").port == port


def test_what_can_change_is_not_kept() -> None:
    env = {"DBDATE": "Y4MD-"}
    first = settings_for("h", env=env)
    env["DBDATE"] = "DMY4/"
    assert dict(first.env)[b"DBDATE"] == b"Y4MD-"
    assert dict(settings_for("h", env=env).env)[b"DBDATE"] == b"DMY4/"


def test_unknown_parameters_are_refused_each_time() -> None:
    for _ in range(2):
        with pytest.raises(TypeError, match="did you mean `user`"):
            settings_for("h", usr="me")
