"""MySQL's option files: groups, includes, quotes."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ..exceptions import InterfaceError

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["read_option_files"]

#: Files that include each other deeper than this include themselves.
_MAX_DEPTH = 10
_ESCAPES = {"b": "\b", "t": "\t", "n": "\n", "r": "\r", "s": " ", "\\": "\\", '"': '"', "'": "'"}


def read_option_files(path: str | os.PathLike[str] | None, groups: Sequence[str]) -> dict[str, str]:
    """The options of `groups` in the file at `path` (the system's own when None) and in those that it includes.

    Names are spelled with hyphens, and what comes later counts, as in MySQL's programs. An option without a value is
    an empty text. Raises `InterfaceError` for a file that cannot be read or understood.
    """
    from pathlib import Path

    if path is not None and not os.path.exists(os.path.expanduser(path)):
        # The other drivers say nothing.
        warnings.warn(f"there is no option file `{path}`", stacklevel=5)
    start = path or ("c:\\my.ini" if sys.platform.startswith("win") else "/etc/my.cnf")
    wanted = set(groups)
    return {
        name: value for group, name, value in _lines(Path(os.path.expanduser(start)), _MAX_DEPTH) if group in wanted
    }


def _lines(path: Path, depth: int) -> Iterator[tuple[str, str, str]]:
    """Group, name and value of each option."""
    if depth == 0:
        raise InterfaceError(f"option file `{path}`: includes go too deep")
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        # MySQL's programs go on without an included file, too.
        return
    except OSError as error:
        raise InterfaceError(f"cannot read option file `{path}`: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise InterfaceError(f"option file `{path}` is not UTF-8") from error
    group = ""
    for number, line in enumerate(text.splitlines(), 1):
        line = line.strip()
        if not line or line[0] in "#;":
            continue
        if line[0] == "!":
            directive, _, rest = line.partition(" ")
            target = path.parent / os.path.expanduser(rest.strip())
            if directive == "!include":
                yield from _lines(target, depth - 1)
            elif directive == "!includedir":
                if not target.is_dir():
                    raise InterfaceError(f"option file `{path}`, line {number}: no directory `{target}`")
                for included in sorted(target.iterdir()):
                    if included.suffix in (".cnf", ".ini"):
                        yield from _lines(included, depth - 1)
            else:
                raise InterfaceError(f"option file `{path}`, line {number}: unknown directive `{directive}`")
        elif line[0] == "[":
            if "]" not in line:
                raise InterfaceError(f"option file `{path}`, line {number}: a group's name ends with `]`")
            group = line[1 : line.index("]")].strip()
        else:
            name, _, value = line.partition("=")
            yield group, name.strip().replace("_", "-"), _value(value.strip())


def _value(text: str) -> str:
    """Without its quotes, or what follows ` #`; escapes replaced."""
    if text[:1] in ("'", '"') and (end := text.rfind(text[0])) > 0:
        text = text[1:end]
    elif " #" in text:
        text = text[: text.index(" #")].rstrip()
    out, at = [], 0
    while at < len(text):
        if text[at] == "\\" and text[at + 1 : at + 2] in _ESCAPES:
            out.append(_ESCAPES[text[at + 1]])
            at += 2
        else:
            out.append(text[at])
            at += 1
    return "".join(out)
