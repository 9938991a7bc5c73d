"""PostgreSQL's regression tests as a score: statement by statement, our answers beside a real PostgreSQL's.

A file goes through psql's standard input on both servers. What psql prints is cut into blocks at the input lines that
it echoes; a statement counts as equal when its block is the same: rows, headings, SQLSTATE, message, detail, hint,
position. COPY from files of the server becomes \\copy on both sides. EXPLAIN is left out.
"""

from __future__ import annotations

import collections
import dataclasses
import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

#: What becomes of a statement, the best first. `refused` is an honest 0A000; `undefined` misses a function, type,
#: table or column; `error` is any other error where PostgreSQL has none; `message` fails on both sides in other words;
#: `accepted` fails on PostgreSQL only; `wrong` answers on both sides, differently; `lost` had no answer in time.
KINDS = ("equal", "reordered", "refused", "undefined", "error", "message", "accepted", "wrong", "lost")

_UNDEFINED = {"42883", "42704", "42P01", "42703", "3F000", "42P02"}
_SETTINGS = {
    "PGTZ": "PST8PDT",
    "PGDATESTYLE": "Postgres, MDY",
    "PGOPTIONS": "-c intervalstyle=postgres_verbose",
    "PGCLIENTENCODING": "UTF8",
    "LC_MESSAGES": "C",
}


@dataclasses.dataclass
class Statement:
    """A statement that is not equal."""

    line: str
    kind: str
    reference: list[str]
    ours: list[str]


@dataclasses.dataclass
class FileScore:
    """How a file's statements went."""

    name: str
    counts: collections.Counter[str]
    details: list[Statement]

    @property
    def equal(self) -> int:
        """Statements with the same answer, whatever its order."""
        return self.counts["equal"] + self.counts["reordered"]

    @property
    def bad(self) -> int:
        """Statements that nobody may see: wrong, accepted, lost."""
        return self.counts["wrong"] + self.counts["accepted"] + self.counts["lost"]


def schedule(tests: Path) -> list[str]:
    """The names of the files in their order; where nothing says an order, that of their names."""
    if not (tests / "parallel_schedule").exists():
        return sorted(path.stem for path in (tests / "sql").glob("*.sql"))
    lines = (tests / "parallel_schedule").read_text().split("\n")
    names = [name for line in lines if line.startswith("test:") for name in line[5:].split()]
    return [name for name in names if (tests / "sql" / f"{name}.sql").exists()]


class Scorer:
    """Runs files on two servers, given by libpq's connection strings of two empty databases."""

    def __init__(self, tests: Path, reference: str, server: str, *, seconds: float = 60) -> None:
        self.tests = tests
        self.reference = reference
        self.server = server
        self.seconds = seconds
        directory = str(tests)
        self._environment = {
            **os.environ,
            **_SETTINGS,
            "PG_ABS_SRCDIR": directory,
            "PG_ABS_BUILDDIR": directory,
            "PG_LIBDIR": directory,
            "PG_DLSUFFIX": ".so",
        }

    def score(self, name: str) -> FileScore:
        """Run one file on both servers and compare."""
        text, echoed = _prepare((self.tests / "sql" / f"{name}.sql").read_text(errors="replace"), self.tests)
        theirs, _ = self._psql(self.reference, text, 300)
        mine, ended = self._psql(self.server, text, self.seconds)
        (reference, _), (ours, reached) = _blocks(theirs, echoed), _blocks(mine, echoed)
        counts: collections.Counter[str] = collections.Counter()
        details = []
        for at, line in _statements(echoed, reference):
            kind = _judge(reference[at], ours[at], at <= reached and (ended or at < reached))
            counts[kind] += 1
            if kind != "equal":
                details.append(Statement(line[:200], kind, reference[at][:12], ours[at][:12]))
        return FileScore(name, counts, details)

    def _psql(self, dsn: str, text: str, seconds: float) -> tuple[str, bool]:
        """What psql prints, and whether it came to its end."""
        command = ["psql", "-X", "-a", "-q", "-v", "VERBOSITY=verbose", "-v", "HIDE_TABLEAM=on"]
        command += ["-v", "HIDE_TOAST_COMPRESSION=on", "-d", dsn]
        try:
            done = subprocess.run(
                command,
                input=text.encode(),
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                env=self._environment,
                timeout=seconds,
            )
        except subprocess.TimeoutExpired as late:
            return (late.stdout or b"").decode("utf-8", "replace"), False
        return done.stdout.decode("utf-8", "replace"), True


def _prepare(text: str, tests: Path) -> tuple[str, list[str]]:
    """A file's lines as psql is to read them, and those of them that it echoes."""
    lines: list[str] = []
    echoed: list[str] = []
    filename, data = "", False
    for line in text.split("\n"):
        if data:
            lines.append(line)
            data = line != "\\."
            continue
        if found := re.match(r"\\set filename :abs_srcdir '(.*)'", line):
            filename = f"{tests}{found[1]}"
        if filename and (found := re.match(r"(?i)copy\s+(.*?)\s+from\s+:'filename'(.*);\s*$", line)):
            line = f"\\copy {found[1]} FROM '{filename}'{found[2]}"
        lines.append(line)
        if line.strip():  # psql does not echo empty lines
            echoed.append(line)
        data = bool(re.match(r"(?i)\s*\\?copy\b.*\bfrom\s+stdin\b.*", line))
    return "\n".join(lines), echoed


def _blocks(output: str, echoed: list[str]) -> tuple[list[list[str]], int]:
    """The printed lines behind each echoed line, and how many of those were reached."""
    blocks: list[list[str]] = [[] for _ in range(len(echoed) + 1)]
    at = 0
    for line in output.split("\n"):
        if line.startswith("LOCATION:"):
            continue
        if at < len(echoed) and line == echoed[at]:
            at += 1
        else:
            blocks[at].append(line.rstrip())
    return blocks, at


def _statements(echoed: list[str], reference: list[list[str]]) -> Iterator[tuple[int, str]]:
    """Where each statement ends, and its first line."""
    first = ""
    for at, line in enumerate((line.strip() for line in echoed), 1):
        if line.startswith("--"):
            continue
        first = first or line
        if not (reference[at] or line.endswith(";")):
            continue
        begun, first = first, ""
        if not re.match(r"(?i)explain\b", begun):
            yield at, begun


def _judge(reference: list[str], ours: list[str], reached: bool) -> str:
    if reference == ours:
        return "equal"
    if not reached:
        return "lost"
    if sorted(reference) == sorted(ours):
        return "reordered"
    fails, failed = (re.search(r"(?:ERROR|FATAL):  (\w{5})", "\n".join(lines)) for lines in (ours, reference))
    if fails and fails[1] == "0A000":
        return "refused"
    if fails and not failed:
        return "undefined" if fails[1] in _UNDEFINED else "error"
    if failed and not fails:
        return "accepted"
    return "message" if fails else "wrong"
