"""The fenced blocks of a page of the guide, and what the tests are to do with each.

- `python`: run, in order; the blocks of a page share their names, and `await` may stand at the top.
- `console`: each line that begins with `$ ` is a command (a `\\` at its end continues it), run by bash in the page's
  directory; what follows it, up to the next one, is what it prints, where a page shows it.
- `sql`: each statement, up to a `;` at the end of a line; lines `--> 1 | x` behind it are the rows that it answers,
  `--> 23505: message` is the error, or how the error begins.
- `text` right behind a block of Python is what that block prints.
- with `title="name"` in its fence, a block of any kind is a file of the page's directory, and not run.
- a comment `<!-- not-run: why -->` right above a block says why it is none of these. Python is compiled all the same.

In what is printed, `…` stands for anything, and a line `…` for any lines.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


@dataclass
class Block:
    """A fenced block."""

    kind: str
    #: Where its first line stands in the page.
    line: int
    source: str
    #: The file that it is.
    title: str | None = None
    #: Why it is not run.
    not_run: str | None = None
    #: What it prints, when the page says so.
    prints: str | None = None
    #: What another block prints: there is nothing to do.
    is_output: bool = False


def blocks_of(page: Path) -> list[Block]:
    """The blocks of a page, in order."""
    found: list[Block] = []
    lines = page.read_text().splitlines()
    at = 0
    #: Where the last block ended.
    closed = -1
    while at < len(lines):
        opened = re.fullmatch(r"( *)(```+)(\w*) ?(.*)", lines[at])
        if opened is None:
            at += 1
            continue
        indent, fence, kind, said = opened.groups()
        end = lines.index(indent + fence, at + 1)
        body = "".join(line.removeprefix(indent) + "\n" for line in lines[at + 1 : end])
        between = " ".join(line.strip() for line in lines[closed + 1 : at]).strip()
        block = Block(kind, at + 2, body)
        if title := re.fullmatch(r'title="([^"]+)"', said):
            block.title = title[1]
        elif said:
            raise ValueError(f"{page.name}:{at + 1}: the site's generator does not read a fence with `{said}`")
        if reason := re.search(r"<!-- not-run: ([^>]+?) -->$", between):
            block.not_run = reason[1]
        elif kind == "text" and found and found[-1].kind == "python" and not between:
            found[-1].prints = body
            block.is_output = True
        found.append(block)
        closed = end
        at = end + 1
    return found


def commands_of(block: Block) -> list[tuple[str, str]]:
    """The commands of a block of console, each with what it prints; an empty text when that is not shown."""
    found: list[tuple[str, str]] = []
    lines = iter(block.source.splitlines())
    for line in lines:
        if line.startswith("$ "):
            command = line[2:]
            while command.endswith("\\"):
                command += "\n" + next(lines)
            found.append((command, ""))
        elif line.strip() or (found and found[-1][1]):
            command, prints = found[-1]
            found[-1] = (command, prints + line + "\n")
    return [(command, prints.rstrip("\n")) for command, prints in found]


def statements_of(block: Block) -> list[tuple[str, list[str]]]:
    """The statements of a block of SQL, each with the lines that say what it answers."""
    found: list[tuple[str, list[str]]] = []
    # A statement ends where its last line does; what is in dollar quotes has its own semicolons.
    statement = ""
    for line in block.source.splitlines():
        if line.startswith("--> "):
            found[-1][1].append(line[4:])
            continue
        statement += line + "\n"
        code = re.sub(r"--.*", "", line).rstrip()
        if code.endswith(";") and statement.count("$$") % 2 == 0:
            found.append((statement.strip(), []))
            statement = ""
    assert not statement.strip(), f"no semicolon at the end: {statement}"
    return found


def is_printed(shown: str, printed: str) -> bool:
    """Whether what a page shows is what was printed."""
    pattern = ""
    for line in shown.splitlines():
        if line.strip() == "…":
            pattern += r"(?:.*\n)*?"
        else:
            pattern += ".*?".join(re.escape(part) for part in line.rstrip().split("…")) + r"[ ]*\n"
    return re.fullmatch(pattern, printed.rstrip("\n") + "\n") is not None
