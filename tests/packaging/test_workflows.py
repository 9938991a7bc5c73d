"""What GitHub would run: read as it reads it, since nobody here can run it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.servers.availability import not_tested

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = Path(sys.prefix) / "bin"
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
FORMS = [path for path in (ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml") if path.name != "config.yml"]


def read(path: Path) -> dict[Any, Any]:
    found = yaml.safe_load(path.read_text())
    assert isinstance(found, dict)
    return found


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_a_workflow_may_little_and_ends_in_time(path: Path) -> None:
    workflow = read(path)
    assert workflow["permissions"] == {"contents": "read"}
    for name, job in workflow["jobs"].items():
        assert job["timeout-minutes"] <= 180, name
        needed = job.get("needs", [])
        assert {needed} if isinstance(needed, str) else set(needed) <= workflow["jobs"].keys(), name
        for step in job["steps"]:
            # Whoever moves a tag of an action must not get in: commits are named, with the version for people.
            assert re.fullmatch(r"[\w./-]+@[0-9a-f]{40}", step.get("uses", f"own@{'0' * 40}")), step
    for line in path.read_text().splitlines():
        assert "uses:" not in line or re.search(r"# v\d", line), line


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_a_workflow_runs_what_there_is(path: Path) -> None:
    makefile = (ROOT / "Makefile").read_text()
    for job in read(path)["jobs"].values():
        for step in job["steps"]:
            for script in re.findall(r"\b(?:tools|packaging|\.ci)/[\w.]+", step.get("run", "")):
                assert (ROOT / script).is_file(), script
            for target in re.findall(r"\bmake ([\w-]+)", step.get("run", "")):
                assert f".PHONY: {target}\n" in makefile, target


def linter(program: Path, *arguments: str | Path) -> None:
    """Runs a linter, which finds those that it runs itself in the virtual environment."""
    env = {**os.environ, "PATH": f"{PROGRAMS}:{os.environ['PATH']}"}
    done = subprocess.run([program, *arguments], capture_output=True, text=True, timeout=100, cwd=ROOT, env=env)
    assert done.returncode == 0, done.stdout + done.stderr


def test_workflows_are_safe() -> None:
    linter(PROGRAMS / "zizmor", "--offline", "--quiet", *WORKFLOWS)


def test_workflows_are_clean() -> None:
    actionlint = ROOT / ".cache" / "bin" / "actionlint"
    if not actionlint.is_file():
        not_tested("actionlint", "tools/setup.sh installs it where there is a Go")
    linter(actionlint, *WORKFLOWS)


def test_scripts_are_clean() -> None:
    scripts = [
        *ROOT.glob("tools/*.sh"),
        *ROOT.glob("packaging/*.sh"),
        *ROOT.glob("packaging/debian/p*"),
        ROOT / ".ci" / "run",
    ]
    linter(PROGRAMS / "shellcheck", *scripts)


def test_the_dockerfile_is_clean() -> None:
    linter(PROGRAMS / "hadolint", "Dockerfile")


@pytest.mark.parametrize("path", FORMS, ids=lambda path: path.name)
def test_a_form_for_issues_asks_each_thing_once(path: Path) -> None:
    form = read(path)
    assert {"name", "description", "body"} <= form.keys()
    names = [field["id"] for field in form["body"]]
    assert len(names) == len(set(names))
    assert all(field["type"] in ("input", "textarea") and field["attributes"]["label"] for field in form["body"])


def test_other_files_of_tools_can_be_read() -> None:
    assert read(ROOT / ".github" / "dependabot.yml")["version"] == 2
    (repository,) = read(ROOT / ".pre-commit-config.yaml")["repos"]
    entries = {hook["id"]: hook["entry"] for hook in repository["hooks"]}
    assert entries["check"] == "make check"


def test_the_version_stands_in_one_place() -> None:
    told = subprocess.run([ROOT / "tools" / "version.sh"], check=True, capture_output=True, text=True).stdout.strip()
    manifests = [path.read_text() for path in (ROOT / "crates").glob("*/Cargo.toml")]
    assert all("version.workspace = true" in manifest for manifest in manifests)
    assert 'dynamic = ["version"]' in (ROOT / "pyproject.toml").read_text()
    assert re.fullmatch(r"\d+\.\d+\.\d+(-\w+(\.\d+)?)?", told)


def test_licences_are_told_where_one_package_alone_was_built(tmp_path: Path) -> None:
    # There cargo knows too little offline, as in the image: it is asked once more, which is offline here, too.
    cargo = shutil.which("cargo")
    stub = tmp_path / "cargo"
    stub.write_text(f'#!/bin/sh\ncase "$*" in *--offline*) exit 101 ;; esac\nexec {cargo} "$@" --offline\n')
    stub.chmod(0o755)
    env = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    command = [sys.executable, ROOT / "tools" / "notices.py", "rowferry-cli"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=100, env=env)
    assert done.returncode == 0, done.stderr
    assert "is in the public domain" in done.stdout and "\nzstd-sys " in done.stdout
