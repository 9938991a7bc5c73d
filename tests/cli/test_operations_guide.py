"""The commands of the pages about copies, changes and services are run, so that what they say is so."""

from __future__ import annotations

import re
import shlex
import shutil
from pathlib import Path

import pytest

from tests.servers.certificates import make_certificates
from tests.servers.rowferry import Rowferry

from .conftest import rowferry

GUIDE = Path(__file__).resolve().parents[2] / "docs" / "guide"


def commands(page: str) -> list[tuple[list[str], list[str]]]:
    """The commands of a page's console blocks, in order, each with the lines that it prints, if any are shown."""
    found: list[tuple[list[str], list[str]]] = []
    for block in re.findall(r"^```console\n(.*?)^```", (GUIDE / page).read_text(), re.MULTILINE | re.DOTALL):
        for line in block.splitlines():
            if line.startswith("$ rowferry "):
                found.append((shlex.split(line.removeprefix("$ rowferry "), comments=True), []))
            else:
                found[-1][1].append(line)
    return found


@pytest.mark.parametrize(("page", "least"), [("backup.md", 6), ("changes.md", 8), ("deploy.md", 5)])
def test_commands_of_the_guide(
    page: str, least: int, store_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    shutil.copy(store_file, "app.db")
    # What the commands read: files that the page shows, and a server's certificate with the authority of its clients.
    for text in re.findall(r"^```text\n(.*?)^```", (GUIDE / page).read_text(), re.MULTILINE | re.DOTALL):
        if shown := re.match(r"# (TYPE|certificate-rules|names)", text):
            Path("rules" if shown[1] == "TYPE" else shown[1]).write_text(text)
    (tmp_path / "pem").mkdir()
    pem = make_certificates(tmp_path / "pem")
    for name, file in (("cert", "server.crt"), ("key", "server.key"), ("ca", "clients.crt")):
        shutil.copy(pem[name], file)
    found = commands(page)
    assert len(found) >= least
    for words, prints in found:
        if words[0] == "serve":
            places = ["0.0.0.0:0" if word == "0.0.0.0" else word for word in words[2:]]
            with Rowferry.start(words[1], postgres=False, args=places) as server:
                assert server.postgres
            continue
        done = rowferry(*words, stdin="secret\n")
        assert done.returncode == 0, f"{words}: {done.stderr}"
        assert not prints or done.stdout.splitlines() == prints, words


def test_options_of_the_pages_exist() -> None:
    for page, subcommands in {
        "backup.md": ["backup", "check", "serve"],
        "changes.md": ["changes"],
        "deploy.md": ["password", "serve"],
    }.items():
        # `systemctl enable --now` is not ours.
        named = set(re.findall(r"--[a-z][a-z-]+", (GUIDE / page).read_text())) - {"--now"}
        helped = "".join(rowferry(subcommand, "--help").stdout for subcommand in subcommands)
        assert {name for name in named if name not in helped} == set(), page


def test_help_names_every_subcommand_in_a_line() -> None:
    done = rowferry("--help")
    assert done.returncode == 0
    for name in ("backup", "changes", "check", "demo", "password", "query", "serve"):
        assert re.search(rf"^  {name} +[A-Z].*[a-zA-Z]$", done.stdout, re.MULTILINE), name
