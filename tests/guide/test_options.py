"""Options and commands that the guide names exist."""

from __future__ import annotations

import os
import re
import subprocess

import pytest

from tests.servers.rowferry import find_rowferry

from .blocks import ROOT

GUIDE = ROOT / "docs" / "guide"


def helped(*words: str) -> str:
    done = subprocess.run(
        [find_rowferry(), *words, "--help"],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
        env={**os.environ, "COLUMNS": "80"},
    )
    return done.stdout


@pytest.mark.parametrize(
    ("page", "subcommands"),
    [
        ("assess", ["assess"]),
        ("backup", ["backup", "check", "serve"]),
        ("changes", ["changes"]),
        ("copy", ["copy"]),
        ("deploy", ["password", "serve"]),
        ("doctor", ["doctor"]),
        ("query", ["query"]),
        ("serve", ["serve"]),
        ("shell", ["shell"]),
    ],
)
def test_options_of_the_pages_exist(page: str, subcommands: list[str]) -> None:
    # `systemctl enable --now` and `pg_dump --schema-only` are not ours.
    named = set(re.findall(r"--[a-z][a-z-]+", (GUIDE / f"{page}.md").read_text())) - {
        "--now",
        "--schema-only",
        "--help",
    }
    assert named, "a page of a command that names none of its options"
    help_of = "".join(helped(subcommand) for subcommand in subcommands)
    assert {name for name in named if name not in help_of} == set()


def test_help_names_every_subcommand_in_a_line() -> None:
    text = helped()
    for name in (
        "assess",
        "backup",
        "changes",
        "check",
        "copy",
        "demo",
        "doctor",
        "password",
        "query",
        "serve",
        "shell",
    ):
        assert re.search(rf"^  {name} +[A-Z].*[a-zA-Z]$", text, re.MULTILINE), name
