"""What type checkers read of the extension module is what the binary has; mypy's stubtest compares them."""

from __future__ import annotations

import importlib.resources
import subprocess
import sys
from pathlib import Path

PYTHON = Path(__file__).resolve().parents[2] / "python"

#: Names on which the two may differ, as regular expressions.
ALLOWED = (
    r"rowferry\._core\.(.*\.)?__all__",
    # Submodules are found by their own stubs.
    r"rowferry\._core\.(informix|mysql)",
    # Not in builds without the server.
    r"rowferry\._core\.main",
    # Inherited in the stub, from asyncio's protocols.
    r".*\.AsyncWire\.(buffer_updated|connection_lost|connection_made|eof_received|get_buffer|pause_writing|resume_writing)",
    # Given to every class that has `__or__`.
    r".*\.__ror__",
)
#: What stubs are not meant to say: who may be subclassed; that classes written in Rust have `__new__`, not `__init__`.
UNSAID = ("isn't marked with @final", "isn't marked with @disjoint_base", ".__init__ is", ".__new__ is")


def test_stubs_follow_the_binary(tmp_path: Path) -> None:
    allowed = tmp_path / "allowed"
    allowed.write_text("\n".join(ALLOWED))
    options = ["--concise", "--ignore-unused-allowlist", f"--allowlist={allowed}"]
    command = [sys.executable, "-m", "mypy.stubtest", *options, "rowferry._core"]
    done = subprocess.run(command, cwd=PYTHON, capture_output=True, text=True, timeout=110)
    differences = [line for line in done.stdout.splitlines() if not any(words in line for words in UNSAID)]
    assert differences == []
    # It ran, and found no more than that.
    assert done.returncode in (0, 1) and "error:" not in done.stdout, done.stdout + done.stderr


def test_the_package_says_that_it_is_typed() -> None:
    assert importlib.resources.files("rowferry").joinpath("py.typed").is_file()
