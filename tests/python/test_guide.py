"""The guide's Python blocks are run, so that what it says is so.

The blocks of a page run in order and share their names. A block whose fence says more than `python` (`not-run`, with
what it would need) is only compiled, as are those of pages that are neither about Informix nor about MySQL. A `text`
block right behind a Python block is what that block must print. The current directory is an empty one for each page.

- Pages `informix*`: `localhost:9088/store` is the sample store of `rowferry demo` behind the Informix door.
- Pages `mysql*`: host `localhost`, user `app`, password `secret`, database `shop` is a MariaDB 10.11 with the tables of
  docs/guide/mysql-shop.sql, anew for each page; see `shop.py` for what else is there.
- The page `testing` starts what it needs.
"""

from __future__ import annotations

import ast
import asyncio
import contextlib
import inspect
import io
import re
import shutil
import subprocess
import sys
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.servers.rowferry import Rowferry, find_rowferry

from .shop import Shop

GUIDE = Path(__file__).resolve().parents[2] / "docs" / "guide"
PAGES = sorted(path for path in GUIDE.glob("*.md") if "```python" in path.read_text())
PLACE = "localhost:9088/store"


@dataclass
class Block:
    """A fenced Python block of a page."""

    line: int
    source: str
    #: It needs what no test has.
    is_run: bool
    #: What it prints, when the page says so.
    prints: str | None


def blocks_of(page: Path) -> list[Block]:
    """The Python blocks of a page, in order."""
    found: list[Block] = []
    lines = page.read_text().splitlines()
    at = 0
    #: Where the last block ended, if it was one of Python.
    closed: int | None = None
    while at < len(lines):
        opened = re.fullmatch(r"```(\w*) ?(.*)", lines[at])
        if opened is None:
            at += 1
            continue
        end = lines.index("```", at + 1)
        body = "\n".join(lines[at + 1 : end]) + "\n"
        if opened[1] == "python":
            found.append(Block(at + 2, body, opened[2] == "", None))
        elif opened[1] == "text" and closed is not None and not "".join(lines[closed + 1 : at]).strip():
            found[-1].prints = body
        closed = end if opened[1] == "python" else None
        at = end + 1
    return found


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample store."""
    file = tmp_path_factory.mktemp("guide") / "store.db"
    subprocess.run([find_rowferry(), "demo", "--create", file], check=True, capture_output=True, timeout=60)
    return file


@pytest.fixture
def server(store: Path, tmp_path: Path) -> Iterator[Rowferry]:
    """A copy of it, served for one page."""
    file = shutil.copy(store, tmp_path / "store.db")
    with Rowferry.start(file, postgres=False, informix=True) as server:
        yield server


@pytest.fixture(scope="module")
def shop_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shop]:
    """The server of the pages about MySQL."""
    with Shop.start(tmp_path_factory.mktemp("shop")) as shop:
        yield shop


def where_it_runs(page: Path, request: pytest.FixtureRequest) -> Callable[[str], str] | None:
    """What puts the test's own server into the source of a block; None when the page's blocks are not run."""
    if page.stem.startswith("informix"):
        server: Rowferry = request.getfixturevalue("server")
        assert server.informix is not None
        host, port = server.informix
        return lambda source: source.replace(PLACE, f"{host}:{port}/store")
    if page.stem.startswith("mysql"):
        shop: Shop = request.getfixturevalue("shop_server")
        shop.open(Path.cwd())
        return shop.placed
    if page.stem == "testing":
        # It starts its own server.
        return lambda source: source
    return None


@pytest.fixture
def drivers_have_their_names_again() -> Iterator[None]:
    """Pages give our driver the names of others, and frameworks keep what they found under them."""

    def drivers() -> list[str]:
        given = ("MySQLdb", "pymysql", "asyncmy", "aiomysql", "peewee", "tortoise")
        return [name for name in sys.modules if name.partition(".")[0] in given]

    before = {name: sys.modules.pop(name) for name in drivers()}
    yield
    for name in drivers():
        del sys.modules[name]
    sys.modules.update(before)


@pytest.mark.usefixtures("drivers_have_their_names_again")
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_python_of_the_guide_does_what_it_says(
    page: Path, request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    placed = where_it_runs(page, request)
    names: dict[str, Any] = {"__name__": "__guide__"}
    with asyncio.Runner() as runner:
        for block in blocks_of(page):
            place = f"docs/guide/{page.name}"
            # Line numbers are those of the page.
            source = "\n" * (block.line - 1) + (placed(block.source) if placed else block.source)
            code = compile(source, place, "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
            if not block.is_run or placed is None:
                continue
            printed = io.StringIO()
            try:
                with contextlib.redirect_stdout(printed):
                    outcome = eval(code, names)
                    if inspect.iscoroutine(outcome):
                        runner.run(outcome)
            except Exception:
                pytest.fail(f"{place}, block at line {block.line}:\n{block.source}\n{traceback.format_exc(limit=-4)}")
            if block.prints is not None:
                assert printed.getvalue() == block.prints, f"{place}, block at line {block.line}"


def test_the_table_of_errors_is_the_one_in_the_source() -> None:
    done = subprocess.run([GUIDE.parents[1] / "tools/informix_errors.py", "--check"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("subject", ["informix", "mysql"])
def test_pages_are_linked_from_the_index(subject: str) -> None:
    index = (GUIDE / f"{subject}.md").read_text()
    missing = [page.name for page in GUIDE.glob(f"{subject}-*.md") if f"({page.name})" not in index]
    assert not missing, "pages that nobody finds"


def test_links_between_pages_lead_somewhere() -> None:
    broken = []
    for page in GUIDE.glob("*.md"):
        for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", page.read_text()):
            if "://" not in target and not (page.parent / target).exists():
                broken.append(f"{page.name}: {target}")
    assert not broken
