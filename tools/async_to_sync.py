"""Make the blocking shells from the asyncio ones.

    python tools/async_to_sync.py            write the blocking files
    python tools/async_to_sync.py --check    fail when a file is not what it would be

The source is read token by token, so that comments and layout stay: `async` and `await` go, names change by the table
below, of `if True:  # ASYNC` ... `else:` only the second branch stays. `ruff format` then settles the line breaks. The
condition is a literal because every type checker skips the other branch then, also in the editors of our users.
"""

from __future__ import annotations

import argparse
import io
import re
import subprocess
import sys
import tokenize
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

# From, to: relative to python/rowferry.
FILES = {
    "informix/aio/arrow.py": "informix/arrow.py",
    "_base/aio/partitions.py": "_base/partitions.py",
    "_base/aio/pool.py": "_base/pool.py",
    "_base/aio/transactions.py": "_base/transactions.py",
    "informix/aio/connection.py": "informix/connections.py",
    "informix/aio/cursors.py": "informix/cursors.py",
    "informix/aio/partitions.py": "informix/partitions.py",
    "informix/aio/pool.py": "informix/pool.py",
    "informix/aio/transactions.py": "informix/transactions.py",
    "informix/aio/lobs.py": "informix/lobs.py",
    "mysql/aio/_cancel.py": "mysql/_cancel.py",
    "mysql/aio/arrow.py": "mysql/arrow.py",
    "mysql/aio/connection.py": "mysql/connections.py",
    "mysql/aio/cursors.py": "mysql/cursors.py",
    "mysql/aio/echo.py": "mysql/echo.py",
    "mysql/aio/local_files.py": "mysql/local_files.py",
    "mysql/aio/partitions.py": "mysql/partitions.py",
    "mysql/aio/pool.py": "mysql/pool.py",
    "mysql/aio/replication.py": "mysql/replication.py",
    "mysql/aio/session.py": "mysql/session.py",
    "mysql/aio/statements.py": "mysql/statements.py",
    "mysql/aio/transactions.py": "mysql/transactions.py",
}

NAMES = {
    "AsyncArrowRows": "ArrowRows",
    "AsyncArrowStream": "ArrowStream",
    "AbstractAsyncContextManager": "AbstractContextManager",
    "AsyncAlarm": "Alarm",
    "AsyncBasePool": "BasePool",
    "AsyncBinLogStream": "BinLogStream",
    "AsyncBinlogStream": "BinlogStream",
    "AsyncConnection": "Connection",
    "AsyncErrand": "Errand",
    "AsyncConnectionPool": "ConnectionPool",
    "AsyncCursor": "Cursor",
    "AsyncDictCursor": "DictCursor",
    "AsyncExitStack": "ExitStack",
    "AsyncHolder": "Holder",
    "AsyncIterator": "Iterator",
    "AsyncLargeObject": "LargeObject",
    "AsyncLocalFiles": "LocalFiles",
    "AsyncReaders": "Readers",
    "AsyncPreparedStatement": "PreparedStatement",
    "AsyncSSCursor": "SSCursor",
    "AsyncNamedCursor": "NamedCursor",
    "AsyncSSDictCursor": "SSDictCursor",
    "AsyncSSNamedCursor": "SSNamedCursor",
    "AsyncSavepoint": "Savepoint",
    "AsyncTransaction": "Transaction",
    "AsyncWaiter": "Waiter",
    "AsyncWire": "Wire",
    "StopAsyncIteration": "StopIteration",
    "aclosing": "closing",
    "enter_async_context": "enter_context",
    "__aenter__": "__enter__",
    "__aexit__": "__exit__",
    "__aiter__": "__iter__",
    "__anext__": "__next__",
}

HEADER = "# Made from {source} by tools/async_to_sync.py: change that file instead.\n"


def cut_branches(source: str) -> str:
    """Of every `if True:  # ASYNC` statement only the `else` branch, one level out."""
    lines = source.splitlines(keepends=True)
    out: list[str] = []
    at = 0
    while at < len(lines):
        line = lines[at]
        found = re.match(r"( *)if True:  # ASYNC\s*$", line)
        if not found:
            out.append(line)
            at += 1
            continue
        indent = found.group(1)
        at += 1

        def block(at: int, indent: str = indent) -> int:
            while at < len(lines) and (not lines[at].strip() or lines[at].startswith(indent + " ")):
                at += 1
            return at

        at = block(at)
        if at < len(lines) and lines[at].rstrip() == f"{indent}else:":
            end = block(at + 1)
            # What the other branch had defined before is gone.
            body = [line.removeprefix("    ").replace("  # type: ignore[no-redef]", "") for line in lines[at + 1 : end]]
            out.extend(cut_branches("".join(body)).splitlines(keepends=True))
            at = end
    return "".join(out)


def drop_colour(source: str) -> str:
    """Without `async` and `await`, and with the names of the table."""
    tokens = list(tokenize.generate_tokens(io.StringIO(source).readline))
    lines = source.splitlines(keepends=True)
    edits: list[tuple[int, int, int, str]] = []
    for at, token in enumerate(tokens):
        row, start = token.start
        end = token.end[1]
        if token.type == tokenize.NAME or token.type in (
            getattr(tokenize, "ASYNC", -1),
            getattr(tokenize, "AWAIT", -1),
        ):
            if token.string in ("async", "await"):
                following = tokens[at + 1]
                edits.append((row, start, following.start[1] if following.start[0] == row else end, ""))
            elif token.string in NAMES:
                edits.append((row, start, end, NAMES[token.string]))
        elif token.type in (tokenize.STRING, tokenize.COMMENT) and token.start[0] == token.end[0]:
            edits.append((row, start, end, reword(token.string)))
        elif token.type == tokenize.STRING:
            text = reword(token.string).splitlines(keepends=True)
            for offset, line in enumerate(text):
                begin = start if offset == 0 else 0
                stop = token.end[1] if offset == len(text) - 1 else len(lines[row - 1 + offset])
                edits.append((row + offset, begin, stop, line))
    for row, start, end, text in sorted(edits, reverse=True):
        line = lines[row - 1]
        lines[row - 1] = line[:start] + text + line[end:]
    return "".join(lines)


def reword(text: str) -> str:
    """Names inside strings and comments."""
    text = re.sub(r"\basync with ", "with ", text)
    text = re.sub(r"\bawait ", "", text)
    return re.sub(r"\bAsync(?=[A-Z])", "", text)


def imports(source: str) -> str:
    """The blocking files lie one folder up, and do not need asyncio."""
    source = re.sub(r"^import asyncio\n", "", source, flags=re.M)
    source = re.sub(r"^from \.\.\._base\.awaitable import .*\n", "", source, flags=re.M)
    source = re.sub(r"^(from) \.cursors import", r"\1 <here>cursors import", source, flags=re.M)
    source = re.sub(r"^(\s*from) \.connection import", r"\1 <here>connections import", source, flags=re.M)
    source = source.replace("_base.aio.", "_base.")
    source = re.sub(r"^(\s*from) \.\.(?=[\w.]| import)", r"\1 .", source, flags=re.M)
    source = source.replace("<here>", ".")
    # What only the asyncio half used is found and removed by ruff (F401).
    return source


def ruff(arguments: list[str], source: str, name: str) -> str:
    command = [sys.executable, "-m", "ruff", *arguments, "--stdin-filename", name, "-"]
    done = subprocess.run(command, input=source, capture_output=True, text=True, cwd=ROOT, check=False)
    if done.returncode not in (0, 1) or (not done.stdout and source):
        raise SystemExit(f"ruff failed on {name}:\n{done.stderr}")
    return done.stdout


def convert(source: str, name: str, target: str) -> str:
    """The blocking half of `source`."""
    text = HEADER.format(source=f"python/rowferry/{name}") + drop_colour(imports(cut_branches(source)))
    path = str(ROOT / "python/rowferry" / target)
    text = ruff(["check", "--fix", "--quiet", "--select", "F401,I,RUF022,RUF100,UP", "--exit-zero"], text, path)
    return ruff(["format", "--quiet"], text, path)


def main() -> int:
    parser = argparse.ArgumentParser(description="Make the blocking shells from the asyncio ones.")
    parser.add_argument("--check", action="store_true", help="only compare; exit 1 when a file differs")
    check = parser.parse_args().check
    stale = []
    for name, target in FILES.items():
        path = ROOT / "python/rowferry" / target
        text = convert((ROOT / "python/rowferry" / name).read_text(encoding="utf-8"), name, target)
        if path.exists() and path.read_text(encoding="utf-8") == text:
            continue
        if check:
            stale.append(target)
        else:
            path.write_text(text, encoding="utf-8")
            print(f"wrote python/rowferry/{target}")
    if stale:
        print(f"not made from their source: {', '.join(stale)}; run `python tools/async_to_sync.py`", file=sys.stderr)
    return 1 if stale else 0


if __name__ == "__main__":
    raise SystemExit(main())
