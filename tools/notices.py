"""Prints the licences of everything that is compiled into what we pass on: tools/notices.py PACKAGE > THIRD-PARTY.txt

PACKAGE is `rowferry-cli` or `rowferry-python`. A licence's text is printed once, under the crates that share it to the
letter. A crate that brings no text is named with its licence and where it comes from.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

_ROOT = Path(__file__).resolve().parents[1]

#: Texts that a crate carries with the C sources in it, and those that it should have carried, which stand with us.
_CARRIED = {"zstd-sys": ["zstd/LICENSE"]}
_KEPT = _ROOT / "packaging" / "notices"
#: SQLite is in the public domain and has no licence to show.
_SAID = {"libsqlite3-sys": "SQLite, which is compiled from this crate, is in the public domain."}


def _metadata() -> dict[str, Any]:
    command = ["cargo", "metadata", "--locked", "--format-version", "1", "--filter-platform"]
    host = subprocess.run(["rustc", "-vV"], check=True, capture_output=True, text=True).stdout
    target = next(line.partition(" ")[2] for line in host.splitlines() if line.startswith("host: "))
    # Where one package alone was built, the crates of the others are not there yet, and cargo reads of all of them.
    done = subprocess.run([*command, target, "--offline"], capture_output=True, text=True, cwd=_ROOT)
    if done.returncode != 0:
        done = subprocess.run([*command, target], check=True, stdout=subprocess.PIPE, text=True, cwd=_ROOT)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def _shipped(metadata: dict[str, Any], package: str) -> list[dict[str, Any]]:
    """The crates that are linked into `package`: what is used at build time, or by tests, is not among them."""
    packages = {found["id"]: found for found in metadata["packages"]}
    macros = {
        key for key, found in packages.items() if any("proc-macro" in target["kind"] for target in found["targets"])
    }
    nodes = {node["id"]: node for node in metadata["resolve"]["nodes"]}
    waiting = [key for key, found in packages.items() if found["name"] == package]
    seen: set[str] = set()
    while waiting:
        key = waiting.pop()
        if key in seen or key in macros:
            continue
        seen.add(key)
        for dependency in nodes[key]["deps"]:
            if any(kind["kind"] is None for kind in dependency["dep_kinds"]):
                waiting.append(dependency["pkg"])
    shipped = [packages[key] for key in seen if packages[key]["source"] is not None]
    return sorted(shipped, key=lambda found: (found["name"], found["version"]))


def _texts(crate: dict[str, Any]) -> list[str]:
    root = Path(crate["manifest_path"]).parent
    names = sorted(
        path
        for path in root.iterdir()
        if path.is_file() and path.name.upper().startswith(("LICENSE", "LICENCE", "COPYING", "NOTICE", "COPYRIGHT"))
    )
    names += [root / name for name in _CARRIED.get(crate["name"], [])]
    names += _KEPT.glob(f"{crate['name']}.txt")
    return ["\n".join(line.rstrip() for line in path.read_text("utf-8").strip().splitlines()) for path in names]


def main() -> None:
    """Prints the notices."""
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    crates = _shipped(_metadata(), sys.argv[1])
    if not crates:
        sys.exit(f"notices.py: there is no package {sys.argv[1]}")
    by_text: defaultdict[str, list[str]] = defaultdict(list)
    print("What is compiled in, and under which licences it is passed on.\n")
    for crate in crates:
        print(
            f"{crate['name']} {crate['version']}: {crate['license']} ({crate['repository'] or 'no repository named'})"
        )
        if crate["name"] in _SAID:
            print(f"    {_SAID[crate['name']]}")
        for text in dict.fromkeys(_texts(crate)):
            by_text[text].append(f"{crate['name']} {crate['version']}")
    for text, users in by_text.items():
        print(f"\n{'=' * 100}\n{', '.join(users)}\n{'-' * 100}\n\n{text}")


if __name__ == "__main__":
    main()
