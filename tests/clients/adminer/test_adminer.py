"""Adminer itself, on MySQL and on the MySQL door: its pages are asked for, its forms sent, and both answer the same."""

from __future__ import annotations

import os
import re
import shutil
import urllib.error
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.servers import debian_sid
from tests.servers.availability import not_tested, start_or_skip
from tests.servers.mysql import MySQL
from tests.servers.mysql_door import MySQLDoor
from tests.servers.process import Process, free_port

from .browser import Browser, Page

_INDEX = Path(__file__).with_name("index.php")

TABLES = """\
DROP TABLE IF EXISTS child, parent;
CREATE TABLE parent (id INT AUTO_INCREMENT PRIMARY KEY, name VARCHAR(40) NOT NULL COMMENT 'its name',
  price DECIMAL(8,2) DEFAULT 1.5, kind ENUM('a','b') DEFAULT 'a', made TIMESTAMP NULL, note TEXT, bits SET('x','y','z'),
  UNIQUE KEY by_name (name), KEY (price, kind)) COMMENT 'parents';
CREATE TABLE child (id INT AUTO_INCREMENT PRIMARY KEY, parent_id INT, data BLOB,
  CONSTRAINT fk1 FOREIGN KEY (parent_id) REFERENCES parent (id) ON DELETE CASCADE);
INSERT INTO parent (name, note) VALUES ('one', 'x'), ('two', NULL), ('drei''s "quotes" <b>', 'ünï');
INSERT INTO child (parent_id, data) VALUES (1, 'blob'), (2, NULL);
-- nothing but words
SELECT * FROM parent"""


@pytest.fixture(scope="module")
def adminer(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of Adminer, as Debian 12 packs it."""
    if shutil.which("php") is None:
        not_tested("Adminer", "`php` is not installed (Debian packages php-cli and php-mysql)")
    try:
        root = debian_sid.unpack("adminer", suite="bookworm", dependencies=False)
    except debian_sid.Unavailable as reason:
        not_tested("Adminer", reason)
    port = free_port()
    sessions = tmp_path_factory.mktemp("sessions")
    command = ["php", "-d", f"session.save_path={sessions}", "-S", f"127.0.0.1:{port}", str(_INDEX)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(os.environ, "ADMINER", str(root / "usr/share/adminer/adminer.php"))
        server = Process(command, lambda line: "started" in line)
    try:
        server.wait_ready(30)
        yield f"http://127.0.0.1:{port}/"
    finally:
        server.stop()


class Tour:
    """What each step shows: its title, errors and messages, and the rows of its tables where they are told."""

    def __init__(self, browser: Browser) -> None:
        self.browser = browser
        self.seen: dict[str, list[str]] = {}

    def step(self, name: str, page: Page, *, rows: bool = False) -> Page:
        lines = [page.title.split(" - ")[0]]
        lines += [f"error: {error}" for error in page.errors] + [f"message: {message}" for message in page.messages]
        if rows:
            shown = ["|".join(row) for row in page.rows]
            # What a server explains is its own; MySQL 9 warns of what goes away.
            end = next((at for at, row in enumerate(shown) if row.startswith(("EXPLAIN", "id?"))), len(shown))
            lines += [row for row in shown[:end] if not row.startswith(("Level|", "Warning|1287", "Note|1051"))]
        self.seen[name] = [plain(line) for line in lines]
        return page

    def sql(self, name: str, query: str, *, rows: bool = False) -> Page:
        return self.step(name, self.browser.send(self.browser.get(sql=""), {"query": query}, "Execute"), rows=rows)


def plain(line: str) -> str:
    """A line without times."""
    line = re.sub(r"\d\d:\d\d:\d\d", "TIME", line)
    line = re.sub(r"\(\d+\.\d+ s\)", "", line)
    return re.sub(r", Warnings( .*)?$", "", line).replace(" SQL command", "")


def select(tour: Tour) -> None:
    """Browse, search, sort and group rows."""
    get = tour.browser.get
    tour.sql("sql command", TABLES, rows=True)
    tour.step("select", get(select="parent"), rows=True)
    ordered = {"where[0][col]": "price", "where[0][op]": ">", "where[0][val]": "1", "order[0]": "name", "desc[0]": "1"}
    tour.step("search", get(select="parent", limit="2", **ordered), rows=True)
    grouped = {"columns[0][fun]": "count", "columns[0][col]": "id", "columns[1][col]": "kind"}
    tour.step("group", get(select="parent", **grouped), rows=True)
    anywhere = {"where[0][col]": "", "where[0][op]": "LIKE %%", "where[0][val]": "uni"}
    tour.step("search anywhere", get(select="parent", **anywhere), rows=True)
    pattern = {"where[0][col]": "name", "where[0][op]": "REGEXP", "where[0][val]": "^t"}
    tour.step("pattern", get(select="parent", **pattern), rows=True)
    tour.step("blobs", get(select="child"), rows=True)


def edit(tour: Tour) -> None:
    """Insert, change and delete rows."""
    get, send = tour.browser.get, tour.browser.send
    form = tour.step("edit", get(edit="parent", **{"where[id]": "1"}))
    changed = {"fields[name]": "first", "fields[note]": "changed", "fields[kind]": "2", "function[bits]": ""}
    tour.step("save", send(form, {**changed, "fields[bits][]": ["1", "4"]}, "Save"))
    tour.step("insert", send(get(edit="parent"), {"fields[name]": "four", "fields[price]": "9.99"}, "Save"))
    tour.step("delete", send(get(edit="parent", **{"where[id]": "2"}), {}, "Delete"))
    tour.step("inline", send(get(select="parent"), {"val[&where%5Bid%5D=3][name]": "inline"}, "Save"))
    clone = send(get(select="parent"), {"check[]": ["where%5Bid%5D=4"]}, "Clone")
    tour.step("clone", send(clone, {"fields[name]": "five"}, "Save"))
    tour.step("twice", send(get(edit="parent"), {"fields[name]": "FOUR"}, "Save"))
    tour.step("delete chosen", send(get(select="parent"), {"check[]": ["where%5Bid%5D=3"]}, "Delete"))
    tour.step("rows after all", get(select="parent"), rows=True)


def structure(tour: Tour) -> None:
    """Make and alter tables, keys and foreign keys."""
    get, send = tour.browser.get, tour.browser.send
    nothing = {"length": "", "collation": "", "unsigned": "", "on_update": "", "on_delete": "", "comment": ""}

    def column(key: str, **said: str) -> dict[str, str | list[str]]:
        return {f"fields[{key}][{name}]": value for name, value in {**nothing, **said}.items()}

    title = column("2", field="title", type="varchar", length="80", collation="utf8mb4_bin", comment="a title")
    title |= {"fields[2][has_default]": "1", "fields[2][default]": "none"}
    first: dict[str, str | list[str]] = {"name": "made_here", "Engine": "InnoDB", "Comment": "by Adminer"}
    first |= {"auto_increment_col": "1", **column("1", field="id", type="int", unsigned="unsigned"), **title}
    tour.step("create table", send(get(create=""), first, "Save"))
    tour.step("a table", get(table="made_here"), rows=True)
    amount = column("2.1", field="amount", orig="", type="decimal", length="10,2", null="1")
    amount |= {"fields[2.1][has_default]": "1", "fields[2.1][default]": "0", "Auto_increment": "100"}
    tour.step("add column", send(get(create="made_here"), {**amount, "fields[1][comment]": "number"}, "Save"))
    renamed: dict[str, str | list[str]] = {"name": "renamed", "fields[2][field]": "headline", "fields[2][null]": "1"}
    tour.step("rename", send(get(create="made_here"), {**renamed, "Comment": "other"}, "Save"))
    tour.step("collation", send(get(create="renamed"), {"Collation": "utf8mb4_unicode_ci"}, "Save"))
    more = column("3.1", field="later", orig="", type="varchar", length="10", null="1")
    tour.step("one more column", send(get(create="renamed"), more, "Save"))
    tour.step("altered table", get(table="renamed"), rows=True)

    def key(name: str) -> str:
        """The number of a key in its form; that of the empty line for no name."""
        fields = dict(get(indexes="parent").form("Save").fields)
        numbers = [
            field[8:].split("]")[0] for field, value in fields.items() if field.endswith("[name]") and value == name
        ]
        return f"indexes[{numbers[-1]}]"

    at = key("")
    added: dict[str, str | list[str]] = {f"{at}[type]": "INDEX", f"{at}[columns][1]": "made", f"{at}[name]": "by_made"}
    tour.step("add key", send(get(indexes="parent"), {**added, f"{at}[descs][1]": "1"}, "Save"))
    tour.step("alter key", send(get(indexes="parent"), {f"{key('by_made')}[type]": "UNIQUE"}, "Save"))
    tour.step("keys", get(table="parent"), rows=True)
    tour.step("drop key", send(get(indexes="parent"), {f"{key('by_made')}[type]": ""}, "Save"))
    actions: dict[str, str | list[str]] = {"on_delete": "SET NULL", "on_update": "CASCADE"}
    tour.step("alter foreign key", send(get(foreign="child", name="fk1"), actions, "Save"))
    tour.step("foreign keys", get(table="child"), rows=True)
    pair: dict[str, str | list[str]] = {"table": "parent", "source[0]": "parent_id", "target[0]": "id"}
    tour.step("add foreign key", send(get(foreign="child"), {**pair, "on_delete": "CASCADE"}, "Save"))
    tour.step("two foreign keys", get(table="child"), rows=True)


def routines(tour: Tour) -> None:
    """Views, triggers, procedures and functions."""
    get, send = tour.browser.get, tour.browser.send
    tour.sql("tables anew", TABLES)
    made: dict[str, str | list[str]] = {"name": "names", "select": "SELECT id, UPPER(name) AS name FROM parent"}
    tour.step("create view", send(get(view=""), made, "Save"))
    tour.step("alter view", send(get(view="names"), {"select": "SELECT id, LOWER(name) AS name FROM parent"}, "Save"))
    tour.step("rows of a view", get(select="names", **{"order[0]": "id"}), rows=True)
    body = "SET NEW.data = CONCAT('t:', NEW.data)"
    trigger: dict[str, str | list[str]] = {"Trigger": "child_bi", "Timing": "BEFORE", "Event": "INSERT"}
    tour.step("create trigger", send(get(trigger="child"), {**trigger, "Statement": body}, "Save"))
    body = "BEGIN SET NEW.data = UPPER(NEW.data); END"
    tour.step("alter trigger", send(get(trigger="child", name="child_bi"), {"Statement": body}, "Save"))
    tour.step("triggers", get(table="child"), rows=True)
    nothing = {"length": "", "collation": "", "unsigned": ""}
    params = [{"inout": "IN", "field": "n", "type": "int"}, {"inout": "OUT", "field": "m", "type": "int"}]
    of_both: dict[str, str | list[str]] = {
        f"fields[{at + 1}][{name}]": value
        for at, param in enumerate(params)
        for name, value in {**nothing, **param}.items()
    }
    twice: dict[str, str | list[str]] = {"name": "twice", "definition": "BEGIN SET m = n * 2; SELECT n, m; END"}
    tour.step("create procedure", send(get(procedure=""), {**of_both, **twice}, "Save"))
    tour.step("call", send(get(call="twice"), {"fields[n]": "21"}, "Call"), rows=True)
    tour.step("alter procedure", send(get(procedure="twice"), {"definition": "BEGIN SET m = n * 3; END"}, "Save"))
    one: dict[str, str | list[str]] = {"name": "plus_one", "fields[1][field]": "n", "fields[1][type]": "int"}
    one |= {"returns[type]": "int", "definition": "RETURN n + 1"}
    tour.step("create function", send(get(function=""), one, "Save"))
    tour.step("call of a function", send(get(callf="plus_one"), {"fields[n]": "41"}, "Call"), rows=True)


def whole(tour: Tour) -> None:
    """Maintenance, export, import, and the server's pages."""
    get, send = tour.browser.get, tour.browser.send
    both: dict[str, str | list[str]] = {"tables[]": ["parent", "child"]}
    for work in ("Analyze", "Optimize", "Check", "Repair"):
        tour.step(work, send(get(), both, work))
    copied: dict[str, str | list[str]] = {"tables[]": ["child"], "target": tour.browser.place["db"]}
    tour.step("copy", send(get(), copied, "Copy"))
    tour.step("truncate", send(get(), {"tables[]": ["copy_child"]}, "Truncate"))
    tour.step("drop", send(get(), {"tables[]": ["copy_child", "renamed"]}, "Drop"))
    form = get(dump="").form("Export")
    dump = tour.browser.raw([(name, "text" if name == "output" else value) for name, value in form.fields], dump="")
    told = re.sub(r"CREATE ALGORITHM.*|CREATE TABLE `names`.*|^-- .*", "", dump, flags=re.M)
    tour.seen["export"] = [line for line in told.splitlines() if line]
    tour.step("drop procedure", send(get(procedure="twice"), {}, "Drop"))
    tour.step("drop function", send(get(function="plus_one"), {}, "Drop"))
    tour.step("drop trigger", send(get(trigger="child", name="child_bi"), {}, "Drop"))
    tour.step("drop view", send(get(view="names"), {}, "Drop"))
    restored = tour.sql("import", dump)
    assert restored.messages
    tour.step("imported", get(select="names", **{"order[0]": "id"}), rows=True)
    assert any("SHOW FULL PROCESSLIST" in cell for row in get(processlist="").rows for cell in row)
    for page in ("processlist", "privileges", "variables", "status", "schema", "user", "database", "dump", "import"):
        tour.step(page, get(**{page: ""}))


def take(adminer: str, dsn: dict[str, Any]) -> dict[str, list[str]]:
    """All steps."""
    tour = Tour(Browser(adminer, dsn))
    tour.step("log in", tour.browser.log_in())
    parts: list[Callable[[Tour], None]] = [select, edit, structure, routines, whole]
    for part in parts:
        try:
            part(tour)
        except urllib.error.HTTPError as error:
            raise AssertionError(f"{error.url}: {error.read().decode()[:1000]}") from error
    return tour.seen


@pytest.mark.timeout(400)
def test_its_pages_are_the_same_on_both(adminer: str) -> None:
    with start_or_skip(MySQL, "MySQL 9.7", ["--log-bin-trust-function-creators=1"]) as server:
        theirs = take(adminer, server.dsn)
    with MySQLDoor.start() as door:
        ours = take(adminer, door.dsn)
    assert len(theirs) > 60
    differs = {name: (said, ours.get(name)) for name, said in theirs.items() if ours.get(name) != said}
    assert not differs, "\n".join(f"{name}\n  theirs {said}\n  ours   {own}" for name, (said, own) in differs.items())
