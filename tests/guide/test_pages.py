"""What README and the guide say is so: their blocks are run.

`blocks.py` says which are run, and how. The current directory is an empty one for each page, but for what `FILES` puts
there. What a page serves with `rowferry serve` is served on free ports: `5432`, `9088` and `9187`, which the pages
name, are put right in everything that is run behind it, as PGPORT is, which clients of PostgreSQL read. A page has one
server at a time.

- On pages `informix*`, `localhost:9088/store` is the sample store from the beginning.
- On pages `mysql*` and in README, host `localhost`, user `app`, password `secret`, database `shop` is a MariaDB 10.11
  with the tables of docs/guide/mysql-shop.sql, anew for each page; see `shop.py` for what else is there.
- Pages in `SERVED` find a file served from the beginning.
"""

from __future__ import annotations

import ast
import asyncio
import contextlib
import inspect
import io
import os
import re
import shlex
import shutil
import subprocess
import sys
import traceback
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from rowferry.opentelemetry import RowferryInstrumentor

from tests.servers.certificates import make_certificates
from tests.servers.rowferry import Rowferry, find_rowferry, socket_directory

from .blocks import ROOT, Block, blocks_of, commands_of, is_printed, statements_of
from .shop import Shop

DOCS = ROOT / "docs"
GUIDE = DOCS / "guide"
PAGES = sorted(
    page
    for page in [
        ROOT / "README.md",
        *DOCS.glob("*.md"),
        *(DOCS / "guide").glob("*.md"),
        *(DOCS / "howto").glob("*.md"),
        *(DOCS / "tutorials").glob("*.md"),
    ]
    if "```" in page.read_text()
)


def empty(_store: Path) -> None:
    """Nothing but what the page makes."""


def app(store: Path) -> None:
    """`app.db`, with the sample store's tables."""
    shutil.copy(store, "app.db")


def asked(store: Path) -> None:
    """`store.db`, and a question."""
    shutil.copy(store, "store.db")
    Path("report.sql").write_text("SELECT count(*) FROM orders;\n")


def a_home(_store: Path) -> None:
    """The directories that a user has."""
    Path(".local/share/bash-completion/completions").mkdir(parents=True)
    Path(".local/share/man/man1").mkdir(parents=True)


def with_users(store: Path) -> None:
    """`app.db`, users, rules, a server's certificate and the authority of its clients."""
    app(store)
    Path("users").write_text("ada:secret\n")
    Path("users").chmod(0o600)
    Path("rules").write_text("host all all all scram-sha-256\n")
    Path("more").mkdir()
    Path("pem").mkdir()
    pem = make_certificates(Path("pem").resolve())
    for name, file in (("cert", "server.crt"), ("key", "server.key"), ("ca", "clients.crt")):
        shutil.copy(pem[name], file)


def with_page(store: Path) -> None:
    """`store.db` and users."""
    shutil.copy(store, "store.db")
    Path("users").write_text("ada:secret\n")
    Path("users").chmod(0o600)


#: What is in the current directory of a page.
FILES: dict[str, Callable[[Path], None]] = {
    "backup": app,
    "changes": app,
    "deploy": with_users,
    "doctor": asked,
    "index": app,
    "install": a_home,
    "postgres-dumps": app,
    "postgres-notifications": app,
    "postgres-roles": app,
    "query": asked,
    "serve": with_users,
    "shell": asked,
    "upgrade": app,
    "web": with_page,
}

#: The file that is served from the beginning, with the doors.
SERVED: dict[str, str] = {
    "extensions": "app.db",
    "postgres-dumps": "app.db",
    "postgres-isolation": "app.db",
    "postgres-monitoring": "app.db",
    "postgres-notifications": "app.db",
    "postgres-roles": "app.db",
    "postgres-statements": "app.db",
    "postgres-triggers": "app.db",
    "postgres-types": "app.db",
    "query": "store.db",
    "shell": "store.db",
    "doctor": "store.db",
}

#: Pages, beside those about MySQL, that ask a MariaDB, too.
WITH_SHOP = {"README", "adbc", "query", "shell", "spark"}

#: Pages whose commands come before what their files hold is shown.
SHOWN_LATER = {"deploy"}

#: What the commands of a page are told when they ask.
TOLD = {"deploy": "secret\n", "a-sqlite-file-for-everybody": "secret\n"}


class Page:
    """A page that is being run."""

    def __init__(self, place: Path, stack: contextlib.ExitStack, monkeypatch: pytest.MonkeyPatch) -> None:
        self.place = place
        self._stack = stack
        self._monkeypatch = monkeypatch
        # A module, as what a page declares may be looked up by its module's name.
        module = types.ModuleType("__guide__")
        monkeypatch.setitem(sys.modules, module.__name__, module)
        self._names: dict[str, Any] = module.__dict__
        self._runner: asyncio.Runner | None = None
        self._server: Rowferry | None = None
        self._ports: dict[str, str] = {}
        self.shop: Shop | None = None
        self.connection: psycopg.Connection | None = None
        self._state = Path.cwd().with_name("state")
        self._state.write_text("")

    def serve(self, words: list[str]) -> None:
        """Serves a file, in the place of the one before."""
        self.connection = None
        if self._server is not None:
            self._server.stop()
        doors = {"--postgres", "--unix-dir"} & set(words)
        server = Rowferry.start(words[0], postgres=not doors, args=words[1:])
        self._stack.callback(lambda: server.process.kill() if server is self._server else None)
        self._server = server
        doors_of = {"5432": server.postgres, "9088": server.informix, "9187": server.metrics}
        self._ports = {named: str(door[1]) for named, door in doors_of.items() if door}
        self._monkeypatch.setenv("PGPORT", self._ports.get("5432", "1"))

    def stop(self) -> None:
        """Ends the server in order."""
        if self._server is not None:
            self._server.stop()
            self._server = None
        if self._runner is not None:
            self._runner.close()

    def placed(self, source: str) -> str:
        """With the ports that are this test's."""
        if self.shop is not None:
            source = self.shop.placed(source)
        for named, port in self._ports.items():
            source = re.sub(rf"(?<![\w.]){named}\b", port, source)
        if "5432" in self._ports:
            source = re.sub(
                r"(postgres\w*(?:\+\w+)?://(?:[^/@\s]*@)?(?:localhost|127\.0\.0\.1))/",
                rf"\1:{self._ports['5432']}/",
                source,
            )
        return source

    def write(self, block: Block) -> None:
        """Makes the file that a block is."""
        assert block.title is not None
        path = Path(block.title)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(self.placed(block.source))

    def run(self, block: Block) -> None:
        """Does with a block what is to be done with it."""
        where = f"{self.place.relative_to(ROOT)}, block at line {block.line}"
        if block.kind == "python" and block.title is None:
            self._python(block, where)
        if block.is_output or block.not_run is not None:
            return
        if block.title is not None:
            self.write(block)
        elif block.kind == "console":
            for command, shown in commands_of(block):
                self._command(command, shown, where)
        elif block.kind == "sql":
            self._sql(block, where)
        elif block.kind != "python":
            pytest.fail(f"{where}: `{block.kind}` is neither run nor a file (title=…), and no comment says why")

    def _python(self, block: Block, where: str) -> None:
        # Line numbers are those of the page.
        source = "\n" * (block.line - 1) + self.placed(block.source)
        code = compile(source, str(self.place), "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
        if block.not_run is not None:
            return
        if self._runner is None:
            self._runner = asyncio.Runner()
        printed = io.StringIO()
        try:
            with contextlib.redirect_stdout(printed):
                # A page may run a loop of its own, and may await at its top.
                outcome = eval(code, self._names)
                if inspect.iscoroutine(outcome):
                    self._runner.run(outcome)
        except Exception:
            pytest.fail(f"{where}:\n{block.source}\n{traceback.format_exc(limit=-4)}")
        if block.prints is not None:
            assert is_printed(block.prints, printed.getvalue()), f"{where} prints:\n{printed.getvalue()}"

    def _command(self, command: str, shown: str, where: str) -> None:
        if command.startswith("rowferry serve "):
            unix_dir = self._stack.enter_context(socket_directory())
            places = {"0.0.0.0": "0.0.0.0:0", "/run/app": unix_dir}
            words = [places.get(word, word) for word in shlex.split(command, comments=True)[2:]]
            words = [re.sub(r"^([\w.]*):(5432|8080|9088|9187)$", r"\1:0", word) for word in words if word != "--json"]
            self.serve(words)
            return
        path = f"{Path(find_rowferry()).parent}:{Path(sys.executable).parent}:{os.environ['PATH']}"
        # What `cd` and `export` of one command did is so for the next one.
        script = f"source {self._state}\n{self.placed(command)}\nended=$?\n"
        script += f'{{ echo "cd ${{PWD@Q}}"; export -p; }} >{self._state}\nexit $ended'
        done = subprocess.run(
            ["bash", "-c", script],
            input=TOLD.get(self.place.stem, ""),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            encoding="utf-8",
            timeout=600,
            env={**os.environ, "PATH": path, "COLUMNS": "120", "HOME": os.getcwd()},
        )
        # A command that fails is one whose words the page shows.
        assert done.returncode == 0 or shown.strip("…\n"), f"{where}: {command}\n{done.stdout}"
        if shown:
            assert is_printed(self.placed(shown), done.stdout), f"{where}: {command}\nprints:\n{done.stdout}"

    @staticmethod
    def _rows(cursor: psycopg.Cursor) -> list[str]:
        """The rows as the server writes them."""
        result = cursor.pgresult
        if result is None or cursor.description is None:
            return []
        values = ((result.get_value(row, column) for column in range(result.nfields)) for row in range(result.ntuples))
        return [" | ".join("NULL" if value is None else value.decode() for value in row) for row in values]

    def _sql(self, block: Block, where: str) -> None:
        assert self._server is not None, f"{where}: nothing is served"
        if self.connection is None:
            self.connection = self._stack.enter_context(psycopg.connect(self._server.postgres_dsn, autocommit=True))
        for statement, said in statements_of(block):
            try:
                cursor = self.connection.execute(statement)  # type: ignore[arg-type]
                answers = self._rows(cursor)
            except psycopg.Error as error:
                answers = [f"{error.sqlstate}: {error.diag.message_primary}"]
                assert said, f"{where}: {statement}\n{answers[0]}"
            if said:
                assert is_printed("\n".join(said), "\n".join(answers)), f"{where}: {statement}\nanswers:\n{answers}"


@pytest.fixture(scope="session")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample store."""
    file = tmp_path_factory.mktemp("guide") / "store.db"
    subprocess.run([find_rowferry(), "demo", "--create", file], check=True, capture_output=True, timeout=60)
    return file


@pytest.fixture(scope="session")
def shop_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shop]:
    """The server of the pages about MySQL."""
    with Shop.start(tmp_path_factory.mktemp("shop")) as shop:
        yield shop


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


@pytest.mark.timeout(900)
@pytest.mark.usefixtures("drivers_have_their_names_again")
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_what_a_page_says_is_so(
    page: Path, store: Path, request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    directory = tmp_path / "page"
    directory.mkdir()
    monkeypatch.chdir(directory)
    FILES.get(page.stem, empty)(store)
    with contextlib.ExitStack() as stack:
        if page.stem == "tracing":
            # What it begins would go on in the tests behind it.
            stack.callback(RowferryInstrumentor().uninstrument)
        running = Page(page, stack, monkeypatch)
        if page.stem.startswith("mysql") or page.stem in WITH_SHOP:
            running.shop = request.getfixturevalue("shop_server")
            running.shop.open(directory)
        if page.stem.startswith("informix"):
            shutil.copy(store, tmp_path / "store.db")
            running.serve([str(tmp_path / "store.db"), "--postgres", ":0", "--informix", ":0"])
        elif page.stem in SERVED:
            running.serve([SERVED[page.stem], "--postgres", ":0", "--informix", ":0"])
        blocks = blocks_of(page)
        for block in blocks:
            if block.title is not None and page.stem in SHOWN_LATER:
                running.write(block)
        for block in blocks:
            running.run(block)
        running.stop()


def test_the_table_of_errors_is_the_one_in_the_source() -> None:
    done = subprocess.run([ROOT / "tools/informix_errors.py", "--check"], capture_output=True, text=True)
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
