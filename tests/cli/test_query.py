"""`rowferry query`: what people and programs see, and the exit codes."""

from __future__ import annotations

import contextlib
import csv
import io
import json
import shutil
import sqlite3
import subprocess
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path

import pytest

from tests.cli.conftest import sqlite
from tests.servers.mariadb import MariaDB
from tests.servers.rowferry import Rowferry, find_rowferry


def rowferry(*arguments: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [find_rowferry(), *arguments], input=stdin, capture_output=True, text=True, encoding="utf-8", timeout=60
    )


@pytest.fixture
def url(mariadb: MariaDB) -> str:
    return f"mysql://{mariadb.user}:{mariadb.password}@{mariadb.host}:{mariadb.port}/{mariadb.database}"


def test_table_for_people(url: str) -> None:
    done = rowferry("query", url, "SELECT 7 AS id, 'Søren' AS name, NULL AS note UNION SELECT 1234, 'Zoë', ''")
    assert done.returncode == 0, done.stderr
    assert done.stdout == (
        "┌──────┬───────┬──────┐\n"
        "│   id ┆ name  ┆ note │\n"
        "╞══════╪═══════╪══════╡\n"
        "│    7 ┆ Søren ┆ NULL │\n"
        "│ 1234 ┆ Zoë   ┆      │\n"
        "└──────┴───────┴──────┘\n"
        "2 rows\n"
    )


def test_json_for_programs(url: str) -> None:
    done = rowferry("query", url, "SELECT 1 AS a, 12345678901234567890.10 AS b, 'x' AS c, NULL AS d", "--json")
    assert done.returncode == 0, done.stderr
    (row,) = json.loads(done.stdout, parse_float=Decimal)
    assert row == {"a": 1, "b": Decimal("12345678901234567890.10"), "c": "x", "d": None}


def test_csv_for_programs(url: str) -> None:
    done = rowferry("query", url, "SELECT 1 AS a, 'x,\"y\"\n' AS b", "--csv")
    assert done.returncode == 0, done.stderr
    assert list(csv.reader(io.StringIO(done.stdout, newline=""))) == [["a", "b"], ["1", 'x,"y"\n']]


def test_sql_from_standard_input_may_be_several_statements(url: str) -> None:
    sql = "CREATE TABLE cli_query (n int); INSERT INTO cli_query VALUES (1), (2); SELECT sum(n) AS total FROM cli_query"
    done = rowferry("query", url, "-", stdin=sql)
    assert done.returncode == 0, done.stderr
    assert "2 rows changed" in done.stdout
    assert "total" in done.stdout


def test_server_error_is_on_standard_error_with_its_code(url: str) -> None:
    done = rowferry("query", url, "SELECT * FROM nosuch", "--json")
    assert done.returncode == 1
    assert done.stdout == ""
    assert "1146" in done.stderr and "42S02" in done.stderr


def test_wrong_password_does_not_show_it(mariadb: MariaDB) -> None:
    done = rowferry("query", f"mysql://{mariadb.user}:s3cret@{mariadb.host}:{mariadb.port}/", "SELECT 1")
    assert done.returncode == 1
    assert "Access denied" in done.stderr
    assert "s3cret" not in done.stderr


def test_unknown_kind_of_database_says_what_there_is() -> None:
    done = rowferry("query", "oracle://scott@tiger/db", "SELECT 1")
    assert done.returncode == 1
    assert "`oracle://`" in done.stderr and "hint: " in done.stderr


def test_an_unknown_database_is_told_with_what_there_is(store: Rowferry) -> None:
    assert store.postgres is not None
    host, port = store.postgres
    done = rowferry("query", f"postgresql://{host}:{port}/nosuch", "SELECT 1")
    assert done.returncode == 1
    assert 'database "nosuch" does not exist' in done.stderr and "hint: The database served here is" in done.stderr


def test_missing_file_is_not_created(tmp_path: Path) -> None:
    path = tmp_path / "nosuch.db"
    done = rowferry("query", str(path), "SELECT 1")
    assert done.returncode == 1
    assert "nosuch.db" in done.stderr
    assert not path.exists()


def test_a_file_keeps_its_journal_mode(tmp_path: Path) -> None:
    path = tmp_path / "app.db"
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE t (a INTEGER)")
    before = path.read_bytes()
    done = rowferry("query", str(path), "SELECT count(*) FROM t", "--csv")
    assert (done.returncode, done.stdout) == (0, "count\n0\n"), done.stderr
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("arguments", [[], ["query"], ["query", "x.db"], ["query", "x.db", "SELECT 1", "--nosuch"]])
def test_arguments_that_make_no_sense(arguments: list[str]) -> None:
    done = rowferry(*arguments)
    assert done.returncode == 2
    assert "Usage: rowferry" in done.stderr


def test_a_database_without_a_command_is_told_what_there_is(store_file: Path) -> None:
    done = rowferry(str(store_file))
    assert done.returncode == 2 and f"hint: `rowferry shell {store_file}` talks with it" in done.stderr
    assert "serve" in done.stderr
    done = rowferry("postgresql://127.0.0.1/store")
    assert done.returncode == 2 and "`rowferry query postgresql://127.0.0.1/store SQL` asks it\n" in done.stderr
    done = rowferry("query", str(store_file))
    assert done.returncode == 2 and "hint: give the question" in done.stderr
    assert "hint" not in rowferry("nosuch").stderr


def test_help_teaches() -> None:
    done = rowferry("query", "--help")
    assert done.returncode == 0
    for word in ("app.db", "mysql://", "--json", "--csv", "exit code"):
        assert word in done.stdout


SAME_ANSWER = "SELECT sku, quantity, unit_price FROM stock WHERE sku = 'LAM-0001'"


def test_one_file_through_every_door(store_file: Path) -> None:
    with Rowferry.start(store_file, informix=True) as server:
        assert server.informix is not None
        host, port = server.informix
        places = [
            str(store_file),
            f"sqlite://{store_file}",
            server.postgres_dsn,
            f"informix://informix:in4mix@{host}:{port}/{server.dbname}",
        ]
        answers = []
        for place in places:
            done = rowferry("query", place, SAME_ANSWER, "--json")
            assert done.returncode == 0, done.stderr
            answers.append(json.loads(done.stdout, parse_float=Decimal))
    assert answers[0][0]["sku"] == "LAM-0001"
    assert all(answer == answers[0] for answer in answers)


def test_error_shows_the_place_in_the_statement(store: Rowferry, store_file: Path) -> None:
    for place in (str(store_file), store.postgres_dsn):
        done = rowferry("query", place, "SELECT order_id,\n       nosuch FROM orders")
        assert done.returncode == 1
        lines = done.stderr.splitlines()
        assert "42703" in lines[0]
        assert lines[1] == "line 2:        nosuch FROM orders"
        assert lines[2].index("^") == lines[1].index("nosuch")


#: Nothing in it means anything: it would end a text, begin a comment, be a marker, or end the statement.
NASTY = 'it\'s "q" \\ -- /* ? $1 %s ; ü\n€'


@pytest.fixture(params=["file", "postgresql", "informix", "mysql"])
def place(request: pytest.FixtureRequest, store_file: Path, tmp_path: Path) -> Iterator[str]:
    """Databases of each kind, with a table `told`."""
    file = shutil.copy(store_file, tmp_path / "store.db")
    if request.param == "mysql":
        server: MariaDB = request.getfixturevalue("mariadb")
        made = f"mysql://{server.user}:{server.password}@{server.host}:{server.port}/{server.database}"
        rowferry("query", made, "DROP TABLE IF EXISTS told")
    elif request.param == "file":
        made = str(file)
    else:
        served = request.getfixturevalue("serve")(file, informix=True)
        host, port = served.informix
        informix = f"informix://informix:in4mix@{host}:{port}/store?client_locale=en_US.utf8"
        made = served.postgres_dsn if request.param == "postgresql" else informix
    done = rowferry("query", made, "CREATE TABLE told (id integer, price decimal(8,2), name varchar(80))")
    assert done.returncode == 0, done.stderr
    yield made


def marked(place: str, sql: str) -> str:
    """The statement with the markers of its SQL."""
    if place.startswith(("mysql:", "informix:")):
        return sql
    parts = sql.split("?")
    return parts[0] + "".join(f"${number}{part}" for number, part in enumerate(parts[1:], 1))


def test_values_of_parameters_travel_beside_the_statement(place: str) -> None:
    insert = marked(place, "INSERT INTO told VALUES (?, ?, ?)")
    for values in (["7", "12.50", NASTY], ["-8", "NULL", "NULL"], ["9", "0.01", ""]):
        arguments = [argument for value in values for argument in ("--param", value)]
        done = rowferry("query", place, insert, *arguments, "--param-null", "NULL")
        assert done.returncode == 0, done.stderr
    done = rowferry("query", place, "SELECT id, price, name FROM told ORDER BY id", "--json")
    rows = json.loads(done.stdout, parse_float=Decimal)
    assert rows == [
        {"id": -8, "price": None, "name": None},
        {"id": 7, "price": Decimal("12.50"), "name": NASTY},
        # Informix's VARCHAR of no letters is one.
        {"id": 9, "price": Decimal("0.01"), "name": ""},
    ]
    select = marked(place, "SELECT id FROM told WHERE name = ? AND price > ?")
    done = rowferry("query", place, select, "-p", NASTY, "-p", "3", "--csv")
    assert (done.stdout, done.stderr) == ("id\n7\n", "")


def test_more_or_fewer_values_than_parameters_are_refused(place: str) -> None:
    select = marked(place, "SELECT id FROM told WHERE id = ?")
    for values in (["-p", "1", "-p", "2"], ["-p", "1", "-p", "2", "-p", "3"]):
        done = rowferry("query", place, select, *values)
        assert done.returncode == 1 and not done.stdout, done.stdout
        assert done.stderr.startswith("rowferry: "), done.stderr
    two = marked(place, "SELECT id FROM told WHERE id = ? AND price = ?")
    done = rowferry("query", place, two, "-p", "1")
    assert done.returncode == 1 and not done.stdout, done.stdout
    several = f"{select}; {marked(place, 'DELETE FROM told WHERE id = ?')}"
    done = rowferry("query", place, several, "-p", "1", "-p", "1")
    assert done.returncode == 1 and not done.stdout


def test_a_value_that_is_none_of_its_type_is_refused(place: str) -> None:
    done = rowferry("query", place, marked(place, "INSERT INTO told (price) VALUES (?)"), "-p", "twelve")
    assert done.returncode == 1 and "rowferry: " in done.stderr
    done = rowferry("query", place, "SELECT count(*) FROM told", "--csv")
    assert done.stdout.splitlines()[1] == "0"


def test_bytes_that_are_no_text_can_be_told_from_each_other(tmp_path: Path) -> None:
    path = tmp_path / "notes.db"
    sqlite(path, "CREATE TABLE note (id INTEGER PRIMARY KEY, text TEXT)")
    sqlite(path, "INSERT INTO note VALUES (1, CAST(x'4be4' AS TEXT)), (2, CAST(x'4be5' AS TEXT)), (3, 'Käse')")
    question = "SELECT text FROM note ORDER BY id"
    done = rowferry("query", str(path), question, "--json")
    assert done.returncode == 0, done.stderr
    assert [row["text"] for row in json.loads(done.stdout)] == ["K\\xE4", "K\\xE5", "Käse"]
    assert "2 values are not in UTF-8" in done.stderr
    done = rowferry("query", str(path), question + " LIMIT 1", "--csv")
    assert done.stdout == "text\n" + "K\\xE4\n" and "a value is not in UTF-8" in done.stderr
    done = rowferry("query", str(path), "SELECT text FROM note WHERE id = 3", "--csv")
    assert (done.stdout, done.stderr) == ("text\nKäse\n", "")
