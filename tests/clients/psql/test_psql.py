"""psql, PostgreSQL's own shell: its backslash commands and carets. Its Ctrl-C: tests/python/postgres/test_cancel.py."""

from __future__ import annotations

import re
import subprocess

from tests.servers.rowferry import Rowferry


def psql(server: Rowferry, *commands: str, check: bool = True) -> subprocess.CompletedProcess[str]:
    arguments = ["psql", "--no-psqlrc", "--set=ON_ERROR_STOP=1", server.postgres_dsn]
    for command in commands:
        arguments += ["--command", command]
    done = subprocess.run(arguments, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)
    if check:
        assert done.returncode == 0, done.stderr
    return done


def cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.split("|")]


def test_lists_tables(store: Rowferry) -> None:
    lines = psql(store, r"\dt").stdout.splitlines()
    names = [cells(line)[1] for line in lines if "| table |" in line]
    assert names == ["customers", "items", "orders", "stock"]


def test_lists_relations(store: Rowferry) -> None:
    assert "orders" in psql(store, r"\d").stdout


def test_describes_a_table_with_types_indexes_and_keys(store: Rowferry) -> None:
    text = psql(store, r"\d orders").stdout
    assert 'Table "public.orders"' in text
    columns = {cells(line)[0]: cells(line)[1:4] for line in text.splitlines() if line.count("|") == 4}
    # INTEGER of a file that somebody else made is SQLite's: 64 bits.
    assert columns["order_id"][0] == "bigint"
    assert columns["placed_at"] == ["timestamp without time zone", "", "not null"]
    assert columns["status"][0] == "character varying(12)"
    assert columns["gift"][0] == "boolean"
    assert columns["note"] == ["text", "", ""]
    assert "PRIMARY KEY" in text
    assert '"orders_customer" btree (customer_id, placed_at)' in text
    assert re.search(r"FOREIGN KEY \(customer_id\) REFERENCES customers\(customer_id\)", text)
    assert re.search(r'TABLE "items" CONSTRAINT .* FOREIGN KEY \(order_id\) REFERENCES orders\(order_id\)', text)


def test_unknown_table_is_said_so(store: Rowferry) -> None:
    done = psql(store, r"\d nosuch", check=False)
    assert 'Did not find any relation named "nosuch"' in done.stderr


def test_join_with_aggregate(store: Rowferry) -> None:
    sql = """
        SELECT c.city, count(*) AS orders, sum(i.quantity * i.unit_price) AS total
        FROM orders o JOIN customers c USING (customer_id) JOIN items i USING (order_id)
        WHERE o.status <> 'cancelled' GROUP BY c.city HAVING count(*) > 10 ORDER BY total DESC LIMIT 3
    """
    lines = psql(store, sql).stdout.splitlines()
    assert [cell.strip() for cell in lines[0].split("|")] == ["city", "orders", "total"]
    assert lines[-1] == "" or lines[-2] == "(3 rows)" or lines[-1] == "(3 rows)"
    for line in lines[2:5]:
        assert re.fullmatch(r"\d+\.\d\d", cells(line)[2]), line


def test_error_has_its_caret_under_the_culprit(store: Rowferry) -> None:
    done = psql(store, "SELECT order_id,\n       nosuch\nFROM orders", check=False)
    lines = done.stderr.splitlines()
    assert lines[0] == 'ERROR:  column "nosuch" does not exist'
    assert lines[1] == "LINE 2:        nosuch"
    assert lines[2].index("^") == lines[1].index("nosuch")


def test_syntax_error_has_its_caret(store: Rowferry) -> None:
    done = psql(store, "SELECT 1 FORM orders", check=False)
    lines = done.stderr.splitlines()
    assert lines[0].startswith('ERROR:  syntax error at or near "orders"')
    assert lines[2].index("^") == lines[1].index("orders")


def test_several_statements_and_a_transaction(served: Rowferry) -> None:
    psql(served, "CREATE TABLE t (id integer PRIMARY KEY, name varchar(20) NOT NULL)")
    psql(served, "BEGIN; INSERT INTO t VALUES (1, 'one'); INSERT INTO t VALUES (2, 'two'); COMMIT")
    psql(served, "BEGIN; INSERT INTO t VALUES (3, 'three'); ROLLBACK")
    done = psql(served, "INSERT INTO t VALUES (4, 'four'); INSERT INTO t VALUES (1, 'again')", check=False)
    assert "duplicate key value violates unique constraint" in done.stderr
    assert psql(served, "SELECT count(*), max(name) FROM t").stdout.splitlines()[2].split() == ["2", "|", "two"]
