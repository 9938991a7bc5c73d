"""The commands of docs/guide/serve.md are run, so that what it says is so."""

from __future__ import annotations

import re
import shlex
import subprocess
from pathlib import Path

import pytest

from tests.servers.certificates import make_certificates
from tests.servers.rowferry import Rowferry, find_rowferry, socket_directory

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "guide" / "serve.md").read_text()
COMMANDS = re.findall(r"^\$ rowferry serve (.*?)(?: +#.*)?$", PAGE, re.MULTILINE)


@pytest.mark.parametrize("command", COMMANDS)
def test_commands_of_the_guide(command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As they stand but for ports and places, of which this machine may have others."""
    monkeypatch.chdir(tmp_path)
    pem = make_certificates(tmp_path)
    Path("users").write_text("ada:secret\n")
    Path("users").chmod(0o600)
    Path("rules").write_text("host all all all scram-sha-256\n")
    Path("more").mkdir()
    for name, source in (("server.crt", "cert"), ("server.key", "key")):
        if Path(pem[source]) != tmp_path / name:
            Path(name).write_bytes(Path(pem[source]).read_bytes())
    with socket_directory() as directory:
        places = {"0.0.0.0": "0.0.0.0:0", "127.0.0.1:9088": ":0", ":9088": ":0", "/run/app": directory}
        file, *words = [places.get(word, word) for word in shlex.split(command)]
        words = [word for word in words if word != "--json"]
        asks_for_door = {"--postgres", "--unix-dir"} & set(words)
        with Rowferry.start(file, postgres=not asks_for_door, args=words) as server:
            assert server.postgres or server.unix_socket


def test_options_of_the_guide_exist() -> None:
    done = subprocess.run([find_rowferry(), "serve", "--help"], capture_output=True, text=True, check=True, timeout=60)
    named = set(re.findall(r"--[a-z][a-z-]+", PAGE)) - {"--help"}
    assert len(named) > 15
    assert {name for name in named if name not in done.stdout} == set()
