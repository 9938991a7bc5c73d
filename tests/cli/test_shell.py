"""`rowferry shell`: typed at a terminal, and fed by programs, with every kind of database."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.cli.conftest import rowferry, sqlite
from tests.cli.terminal import Terminal
from tests.servers.mariadb import MariaDB
from tests.servers.postgres import PostgreSQL
from tests.servers.rowferry import Rowferry, find_rowferry


@pytest.fixture
def shell(tmp_path: Path) -> Iterator[Callable[..., Terminal]]:
    """Opens shells at terminals, with a history of their own."""
    opened: list[Terminal] = []

    def start(url: str | Path, *arguments: str, rows: int = 40, columns: int = 100, **env: str) -> Terminal:
        env = {"ROWFERRY_HISTORY": str(tmp_path / "history"), "ROWFERRY_PAGER": "", **env}
        command: list[str | Path] = [find_rowferry(), "shell", url, *arguments]
        terminal = Terminal(command, rows=rows, columns=columns, env=env)
        opened.append(terminal)
        return terminal

    yield start
    for terminal in opened:
        terminal.__exit__(None, None, None)


@pytest.fixture
def database(tmp_path: Path) -> Path:
    path = tmp_path / "shop.db"
    sqlite(
        path,
        "CREATE TABLE item (id INTEGER PRIMARY KEY, label TEXT NOT NULL, price REAL)",
        "CREATE TABLE line (item INTEGER REFERENCES item (id), amount INTEGER)",
        "CREATE INDEX line_item ON line (item)",
        "CREATE VIEW cheap AS SELECT id, label FROM item WHERE price < 1",
        "INSERT INTO item VALUES (1, 'bolt', 1.5), (2, 'nut', 0.25)",
    )
    return path


def test_statements_have_several_lines_and_the_prompt_tells_of_transactions(
    shell: Callable[..., Terminal], database: Path
) -> None:
    terminal = shell(database)
    assert "SQLite file" in terminal.until("shop=> ")
    terminal.type("select label,\n")
    terminal.type("  ';' as sign from item order by id;\n")
    seen = terminal.until("2 rows\n")
    assert "│ bolt  ┆ ;    │" in seen
    terminal.until("shop=> ")
    terminal.type("begin;\n")
    terminal.until("shop=*> ")
    terminal.type("select nosuch;\n")
    assert 'error: column "nosuch" does not exist' in terminal.until("shop=!> ")
    terminal.type("rollback;\n")
    terminal.until("shop=> ")
    # Ctrl-C gives up what is typed, Ctrl-D leaves.
    terminal.type("select 1\x03")
    terminal.until("shop=> ")
    terminal.type("\x04")
    terminal.until("\\q\n")
    assert terminal.process.wait(10) == 0


def test_names_are_completed(shell: Callable[..., Terminal], database: Path) -> None:
    terminal = shell(database)
    terminal.until("shop=> ")
    terminal.type("select i.id, 'x' from it\t i where i.pri\t > 1;\n")
    assert "│  1 ┆ x" in terminal.until("1 row\n")
    terminal.type("\\d ch\t\n")
    assert "label" in terminal.until("View\n")


def test_what_was_typed_is_there_the_next_time(shell: Callable[..., Terminal], database: Path, tmp_path: Path) -> None:
    terminal = shell(database)
    terminal.until("shop=> ")
    terminal.type("select 41 + 1 as sum;\n")
    terminal.until("1 row\n")
    terminal.type("\\q\n")
    assert terminal.process.wait(10) == 0
    assert "select 41 + 1 as sum;" in (tmp_path / "history").read_text()
    terminal = shell(database)
    terminal.until("shop=> ")
    terminal.type("\x1b[A\x1b[A\n")
    assert "42" in terminal.until("1 row\n")


def test_long_answers_go_through_the_pager(shell: Callable[..., Terminal], database: Path, tmp_path: Path) -> None:
    paged = tmp_path / "paged"
    terminal = shell(database, rows=10, ROWFERRY_PAGER=f"cat > {paged}")
    terminal.until("shop=> ")
    terminal.type("select * from generate_series(1, 5000);\n")
    terminal.until("shop=> ")
    text = paged.read_text()
    assert text.endswith("5000 rows\n") and text.count("generate_series") == 1
    # One that ends early is no error.
    terminal.type("\\pager off\n")
    terminal.until("off.")
    terminal = shell(database, rows=10, ROWFERRY_PAGER="head -2")
    terminal.until("shop=> ")
    terminal.type("select * from generate_series(1, 200000);\n")
    seen = terminal.until("shop=> ")
    assert "error" not in seen and "│ 1000" not in seen


def test_wide_rows_become_records(shell: Callable[..., Terminal], database: Path) -> None:
    terminal = shell(database, columns=60)
    terminal.until("shop=> ")
    columns = ", ".join(f"{at} as column_{at}" for at in range(18))
    terminal.type(f"select {columns};\n")
    seen = terminal.until("1 row\n")
    assert "─[ 1 ]" in seen and "column_17 │ 17" in seen
    terminal.type("\\x off\n")
    terminal.until("off.\n")
    terminal.until("shop=> ")
    terminal.type("\\g\n")
    seen = terminal.until("1 row\n")
    assert "of 18 columns" in seen and max(len(line) for line in seen.splitlines()[1:]) <= 60


SLOW = {
    "file": "select count(*) from generate_series(1, 1000000000);",
    "mariadb": "select sleep(60);",
    "postgres": "select pg_sleep(60);",
    "informix": "select count(*) from systables a, systables b, systables c, systables d, systables e, systables f;",
}


@pytest.mark.parametrize("kind", SLOW)
def test_ctrl_c_stops_a_statement_not_the_shell(
    shell: Callable[..., Terminal], database: Path, mariadb: MariaDB, kind: str
) -> None:
    if kind == "file":
        _stopped(shell(database), SLOW[kind])
    elif kind == "mariadb":
        place = f"{mariadb.host}:{mariadb.port}/{mariadb.database}"
        _stopped(shell(f"mysql://{mariadb.user}:{mariadb.password}@{place}"), SLOW[kind])
    elif kind == "postgres":
        with PostgreSQL.start(tcp=True) as server:
            _stopped(shell(server.dsn), SLOW[kind])
    else:
        with Rowferry.start(database, informix=True) as server:
            assert server.informix is not None
            host, port = server.informix
            _stopped(shell(f"informix://informix:in4mix@{host}:{port}/shop"), SLOW[kind])


def _stopped(terminal: Terminal, sql: str) -> None:
    terminal.until("=> ")
    terminal.type(sql + "\n")
    time.sleep(1.5)
    terminal.type("\x03")
    terminal.until("=> ")
    terminal.type("select 6 * 7 as answer from (select 1 as one) t;\n")
    assert "42" in terminal.until("1 row\n")


def test_what_is_typed_while_a_statement_runs_is_there_afterwards(
    shell: Callable[..., Terminal], database: Path
) -> None:
    terminal = shell(database)
    terminal.until("shop=> ")
    terminal.type("SELECT 1 FROM pg_sleep(1);\n")
    # Whole lines, and half of one.
    terminal.type("SELECT 40 + 2 AS a;\nSELECT 50 -")
    assert "│ 42 │" in terminal.until("1 row\nshop=> SELECT 50 -")
    terminal.type(" 7 AS b;\n")
    assert "│ 43 │" in terminal.until("1 row\n")


def test_an_editor_changes_the_last_statement(shell: Callable[..., Terminal], database: Path, tmp_path: Path) -> None:
    editor = tmp_path / "editor"
    editor.write_text('#!/bin/sh\nsed -i s/bolt/nut/ "$1"\n')
    editor.chmod(0o755)
    terminal = shell(database, EDITOR=str(editor), VISUAL="")
    terminal.until("shop=> ")
    terminal.type("select id from item where label = 'bolt';\n")
    terminal.until("1 row\n")
    terminal.type("\\e\n")
    assert "2" in terminal.until("1 row\n")


@pytest.mark.parametrize("kind", ["file", "door", "informix", "mariadb"])
def test_tables_are_described(database: Path, mariadb: MariaDB, kind: str) -> None:
    commands = "\\d\n\\dt it*\n\\d item\n\\d cheap\n\\di\n\\dv\n\\ds\n\\df\n\\dn\n\\du\n\\l\n\\d nosuch\n"
    with Rowferry.start(database, informix=True) as server:
        assert server.postgres is not None and server.informix is not None
        urls = {
            "file": str(database),
            "door": "postgresql://ada@{}:{}/shop".format(*server.postgres),
            "informix": "informix://informix:in4mix@{}:{}/shop".format(*server.informix),
            "mariadb": f"mysql://{mariadb.user}:{mariadb.password}@{mariadb.host}:{mariadb.port}/{mariadb.database}",
        }
        if kind == "mariadb":
            made = rowferry(
                "shell",
                urls[kind],
                stdin="create table item (id int primary key, label varchar(20) not null, price double);\n"
                "create table line (item int references item (id), amount int);\n"
                "create index line_item on line (item);\n"
                "create view cheap as select id, label from item where price < 1;\n",
            )
            assert made.returncode == 0, made.stderr
        try:
            done = rowferry("shell", urls[kind], "--keep-going", stdin=commands)
        finally:
            if kind == "mariadb":
                rowferry("shell", urls[kind], stdin="drop view cheap; drop table line; drop table item;")
    assert done.returncode == 1
    assert done.stderr == 'error: there is no table or view "nosuch"\nhint: \\d lists what there is\n', done.stderr
    assert "item" in done.stdout and "line_item" in done.stdout and "cheap" in done.stdout
    assert "not null" in done.stdout
    for column in ("label", "price"):
        assert column in done.stdout


def test_a_program_gets_rows_alone(database: Path) -> None:
    done = rowferry("shell", str(database), "--format", "csv", stdin="select id,\n label from item;\nselect 1 as one")
    assert done.returncode == 0
    assert done.stdout.splitlines() == ["id,label", "1,bolt", "2,nut", "one", "1"]
    assert done.stderr == ""


def test_the_first_failure_ends_a_script(database: Path) -> None:
    script = "insert into item values (3, 'x', 1);\nselect nosuch;\ninsert into item values (4, 'y', 1);\n"
    done = rowferry("shell", str(database), stdin=script)
    assert done.returncode == 1 and 'column "nosuch"' in done.stderr
    assert sqlite(database, "SELECT max(id) FROM item") == [(3,)]
    done = rowferry("shell", str(database), "--keep-going", stdin=script.replace("3,", "5,").replace("4,", "6,"))
    assert done.returncode == 1
    assert sqlite(database, "SELECT max(id) FROM item") == [(6,)]


def test_routines_are_whole_statements(database: Path, mariadb: MariaDB) -> None:
    url = f"mysql://{mariadb.user}:{mariadb.password}@{mariadb.host}:{mariadb.port}/{mariadb.database}"
    script = (
        "DELIMITER //\ncreate procedure shell_p() begin select 1 as a; select 2 as b; end//\n"
        "DELIMITER ;\ncall shell_p();\n"
    )
    done = rowferry("shell", url, "--csv", stdin=script + "drop procedure shell_p;")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["a", "1", "b", "2"]
    with Rowferry.start(database, informix=True) as server:
        assert server.informix is not None
        script = (
            "create function twice(a int) returning int;\n define b int;\n let b = a * 2;\n return b;\n"
            "end function;\nexecute function twice(21);\n"
        )
        url = "informix://informix:in4mix@{}:{}/shop".format(*server.informix)
        done = rowferry("shell", url, "--csv", stdin=script)
    assert done.returncode == 0, done.stderr
    assert "42" in done.stdout


def test_files_are_run_and_written(database: Path, tmp_path: Path) -> None:
    (tmp_path / "some.sql").write_text("select count(*) as n from item;\n\\echo from a file\n")
    out = tmp_path / "out.csv"
    script = (
        f"\\format csv\n\\o {out}\n\\i {tmp_path / 'some.sql'}\n\\o\nselect 7 as seven;\n\\i {tmp_path / 'none.sql'}\n"
    )
    done = rowferry("shell", str(database), "--keep-going", stdin=script)
    assert out.read_text().splitlines() == ["n", "2", "from a file"]
    assert done.stdout.splitlines() == ["seven", "7"]
    assert "none.sql" in done.stderr and done.returncode == 1


def test_passwords_are_found_where_psql_finds_them(database: Path, tmp_path: Path) -> None:
    users = tmp_path / "users"
    made = rowferry("password", "ada", "--file", str(users), stdin="s3cret\n")
    assert made.returncode == 0, made.stderr
    with Rowferry.start(database, args=["--password-file", str(users)]) as server:
        assert server.postgres is not None
        host, port = server.postgres
        url = f"postgresql://ada@{host}:{port}/shop"
        kept = tmp_path / "pgpass"
        kept.write_text(f"{host}:{port}:*:ada:s3cret\n")
        kept.chmod(0o644)
        home = {"HOME": str(tmp_path), "PGPASSFILE": str(kept)}
        done = rowferry("query", url, "select 1 as one", "--csv", env=home)
        assert done.returncode == 1 and "chmod 600" in done.stderr
        kept.chmod(0o600)
        assert rowferry("query", url, "select 1 as one", "--csv", env=home).stdout.splitlines() == ["one", "1"]
        done = rowferry("query", url, "select 1 as one", "--csv", env={"HOME": str(tmp_path), "PGPASSWORD": "s3cret"})
        assert done.returncode == 0, done.stderr
        # At a terminal it is asked for, and not shown.
        command: list[str | Path] = [find_rowferry(), "query", url, "select 'in' as who"]
        env = {"HOME": str(tmp_path), "PGPASSFILE": os.devnull}
        with Terminal(command, env=env) as terminal:
            terminal.until("Password of ada at 127.0.0.1: ")
            time.sleep(0.5)  # until nothing is shown any more of what is typed
            terminal.type("s3cret\n")
            assert "s3cret" not in terminal.until("1 row\n")
