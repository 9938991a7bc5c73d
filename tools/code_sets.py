"""Make the tables of single-byte code sets from those that Python has.

python tools/code_sets.py            write crates/wire-sqli/src/codeset/tables.rs
python tools/code_sets.py --check    fail when the file is not what it would be
"""

from __future__ import annotations

import argparse
import codecs
import sys
from pathlib import Path

TARGET = Path(__file__).resolve().parents[1] / "crates/wire-sqli/src/codeset/tables.rs"

#: Python's codec, then the names and numbers of Informix's locales. ISO 8859-1 and UTF-8 need no table.
CODE_SETS = {
    "iso8859-2": ["8859-2", "912"],
    "iso8859-3": ["8859-3", "57346"],
    "iso8859-4": ["8859-4", "57347"],
    "iso8859-5": ["8859-5", "915"],
    "iso8859-6": ["8859-6", "1089"],
    "iso8859-7": ["8859-7", "813"],
    "iso8859-8": ["8859-8", "916"],
    "iso8859-9": ["8859-9", "920"],
    "iso8859-13": ["8859-13", "57390"],
    "iso8859-15": ["8859-15", "923", "latin9"],
    "cp1250": ["1250"],
    "cp1251": ["1251"],
    "cp1252": ["1252"],
    "cp1253": ["1253"],
    "cp1254": ["1254"],
    "cp1255": ["1255"],
    "cp1256": ["1256"],
    "cp1257": ["1257"],
    "cp437": ["437", "pc-latin-1"],
    "cp850": ["850"],
    "cp852": ["852", "pc-latin-2"],
    "cp858": ["858"],
    "cp866": ["866"],
    "koi8-r": ["koi-8"],
}


def table(codec: str, names: list[str]) -> str:
    """The Rust text of one row."""
    decoder = codecs.lookup(codec)
    high = []
    for byte in range(128, 256):
        try:
            high.append(ord(decoder.decode(bytes([byte]))[0]))
        except UnicodeDecodeError:
            high.append(0)
    rows = [", ".join(f"0x{code:04x}" for code in high[at : at + 16]) for at in range(0, 128, 16)]
    known = ", ".join(f'"{name}"' for name in [codec, *names])
    body = "".join(f"            {row},\n" for row in rows)
    head = f'    Table {{\n        codec: "{codec}",\n        names: &[{known}],\n'
    return f"{head}        high: [\n{body}        ],\n    }},\n"


def text() -> str:
    """The whole file."""
    rows = "".join(table(codec, names) for codec, names in CODE_SETS.items())
    return (
        "// Made by tools/code_sets.py: change that file instead.\n\n"
        "use super::Table;\n\n"
        "/// Code sets of one byte for each character, whose lower half is ASCII; 0 where there is no character.\n"
        "#[rustfmt::skip]\n"
        f"pub(super) static TABLES: &[Table] = &[\n{rows}];\n"
    )


def main() -> int:
    """Write, or check."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    wanted = text()
    if parser.parse_args().check:
        if TARGET.read_text() != wanted:
            print(f"{TARGET} is not what tools/code_sets.py makes; run it", file=sys.stderr)
            return 1
        return 0
    TARGET.write_text(wanted)
    return 0


if __name__ == "__main__":
    sys.exit(main())
