"""What a package brings with the command: help in groups, pages for man, completions of shells."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

from tests.servers.rowferry import find_rowferry

from .conftest import rowferry


def commands() -> list[str]:
    """The subcommands, as the help lists them."""
    listed = rowferry("--help").stdout.partition("Commands:\n")[2].partition("\n\n")[0]
    return [name for name in re.findall(r"^  (\w+)", listed, re.MULTILINE) if name != "help"]


def test_help_is_in_groups() -> None:
    groups = re.findall(r"^([A-Z].*):$", rowferry("serve", "-h").stdout, re.MULTILINE)
    assert groups == [
        *("Arguments", "Options", "Where to listen", "Who may come in", "TLS", "The file"),
        *("Sessions", "Memory", "The process", "Logging"),
    ]


def test_there_is_a_page_for_every_command(tmp_path: Path) -> None:
    directory = tmp_path / "share" / "man1"
    assert rowferry("man", "--output", directory).returncode == 0
    found = sorted(page.name for page in directory.iterdir())
    assert found == sorted(["rowferry.1", *(f"rowferry-{name}.1" for name in commands())])
    assert "ROWFERRY_POSTGRES" in (directory / "rowferry-serve.1").read_text()
    assert rowferry("man").stdout == (directory / "rowferry.1").read_text()


def test_pages_are_read_as_they_are_meant(tmp_path: Path) -> None:
    rowferry("man", "--output", tmp_path)
    for page in tmp_path.iterdir():
        command = ["groff", "-K", "utf8", "-man", "-T", "utf8", "-ww", page]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60)
        complaints = [line for line in done.stderr.splitlines() if "cannot adjust line" not in line]
        assert complaints == [], page.name
        assert "rowferry" in done.stdout


def test_a_manual_that_cannot_be_written_says_so(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    done = rowferry("man", "--output", tmp_path / "file" / "man1")
    assert (done.returncode, done.stdout) == (1, "")
    assert "cannot write the manual into" in done.stderr


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        (["se"], {"serve"}),
        (["serve", "--dur"], {"--durability"}),
        (["serve", "--durability", ""], {"full", "normal", "off"}),
        (["completions", "p"], {"powershell"}),
    ],
)
def test_bash_completes(words: list[str], offered: set[str], tmp_path: Path) -> None:
    script = tmp_path / "rowferry.bash"
    script.write_text(rowferry("completions", "bash").stdout)
    line = ["rowferry", *words]
    asked = '. "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _rowferry rowferry "${!#}" "${@:$#-1:1}"'
    done = subprocess.run(
        ["bash", "-c", asked + '; printf "%s\\n" "${COMPREPLY[@]}"', "bash", script, *line],
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, "PATH": f"{find_rowferry().parent}:{os.environ['PATH']}"},
    )
    assert set(done.stdout.split()) == offered, done.stderr


@pytest.mark.parametrize("shell", ["elvish", "fish", "powershell", "zsh"])
def test_other_shells_are_given_scripts(shell: str) -> None:
    script = rowferry("completions", shell).stdout
    assert all(name in script for name in commands())


@pytest.mark.parametrize("shell", ["bash", "fish", "zsh"])
def test_shells_can_read_them(shell: str) -> None:
    script = rowferry("completions", shell).stdout
    done = subprocess.run([shell, "-n"], input=script, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
