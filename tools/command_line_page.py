#!/usr/bin/env python3
"""Write docs/reference/command-line.md: what `rowferry --help` and each command's say.

tools/command_line_page.py            write the page
tools/command_line_page.py --check    1 when the page is not what the binary says
ROWFERRY_BINARY names the binary; without it, that of tools/build.sh.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "reference" / "command-line.md"


def binary() -> Path:
    """The binary to ask."""
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    return Path(os.environ.get("ROWFERRY_BINARY", target / "release" / "rowferry"))


def helped(*words: str) -> str:
    """What `--help` prints, without blanks at the ends of its lines."""
    # What the environment says is not among the defaults that are shown.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("ROWFERRY_")}
    environment["COLUMNS"] = "100"
    command = [binary(), *words, "--help"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment, timeout=60)
    return "".join(line.rstrip() + "\n" for line in done.stdout.rstrip().splitlines())


def page() -> str:
    """The whole page."""
    whole = helped()
    listed = whole.partition("Commands:\n")[2].partition("\n\n")[0]
    commands = [name for name in re.findall(r"^  (\w+) ", listed, re.MULTILINE) if name != "help"]
    parts = [
        "# The command line\n\nWhat `rowferry --help` says, and each command's; `rowferry man` writes the same as"
        f" manual pages. Made by `tools/command_line_page.py`.\n\n```text\n{whole}```\n"
    ]
    parts += [f"## rowferry {name}\n\n```text\n{helped(name)}```\n" for name in commands]
    return "\n".join(parts)


def main() -> int:
    """Write, or check."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing")
    wanted = page()
    if not parser.parse_args().check:
        PAGE.write_text(wanted)
        return 0
    if not PAGE.exists() or PAGE.read_text() != wanted:
        print(
            "docs/reference/command-line.md is not what the binary says\nhint: run tools/command_line_page.py",
            file=sys.stderr,
        )
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
