"""`python -m demo`: make a store, serve it, and let real clients read and write it.

Ends with 0 when every client that can be run here saw the same rows and could write; with 1 otherwise.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import signal
import sqlite3
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.servers.mariadb import MariaDB, find_mariadbd
from tests.servers.rowferry import Rowferry, find_rowferry

from . import compare, questions

#: In the order of appearance. `sqlite` comes first: it says what the others must see.
_CLIENTS = {
    "sqlite": "sqlite3, straight from the file",
    "psycopg3": "psycopg 3, PostgreSQL's wire",
    "psql": "psql, PostgreSQL's wire",
    "rowferry_informix": "rowferry.informix, Informix's wire",
    "informix_driver": "informix-driver, Informix's wire",
    "jdbc": "IBM JDBC, Informix's wire",
    "rowferry_mysql_door": "rowferry.mysql, MySQL's wire",
    "pymysql": "PyMySQL, MySQL's wire",
    "rowferry_mysql": "rowferry.mysql, MariaDB",
}
#: Customers from this number on are written by the clients, two numbers each.
_FIRST_CUSTOMER = 9_000
#: A client that takes longer hangs, in seconds. Maven may have to fetch its plugins in it.
_PATIENCE = 300


@dataclass
class Outcome:
    """What became of a client."""

    title: str
    customer: int
    version: str = ""
    microseconds: float | None = None
    skipped: str | None = None
    failed: str | None = None


def main() -> int:
    """Run the demo."""
    parser = argparse.ArgumentParser(prog="python -m demo", description=__doc__)
    parser.add_argument("--stay", action="store_true", help="keep serving afterwards, until Ctrl-C")
    arguments = parser.parse_args()
    with contextlib.ExitStack() as stack:
        directory = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="rowferry-demo-", dir="/tmp")))
        store = directory / "store.db"
        made = subprocess.run(
            [find_rowferry(), "demo", "--create", store], check=True, capture_output=True, text=True, timeout=60
        )
        print(f"made    {made.stdout.strip()}")
        server = stack.enter_context(Rowferry.start(store, informix=True, mysql=True, unix_dir=directory))
        address = _address(server)
        print(f"serving {server.postgres_dsn}, informix://{_place(address['informix'])} and")
        print(f"        mysql://{_place(address['mysql'])}")
        if find_mariadbd() is not None:
            mariadb = stack.enter_context(MariaDB.start())
            address["mariadb"] = mariadb.dsn
            print(f"started MariaDB {mariadb.version} on port {mariadb.port}")
        outcomes = _run_clients(address)
        if not any(outcome.failed for outcome in outcomes):
            _check_together(store, address, outcomes)
        _show(outcomes)
        _where_next(server, arguments.stay)
        if arguments.stay:
            _wait()
    return 1 if any(outcome.failed for outcome in outcomes) else 0


def _address(server: Rowferry) -> dict[str, Any]:
    assert server.informix is not None
    host, port = server.informix
    informix = {
        "host": host,
        "port": port,
        "user": "informix",
        "password": "in4mix",
        "database": server.dbname,
        "server": "informix",
    }
    assert server.mysql is not None
    host, port = server.mysql
    mysql = {"host": host, "port": port, "user": "root", "password": "", "database": server.dbname}
    return {"path": str(server.database), "postgres": server.postgres_dsn, "informix": informix, "mysql": mysql}


def _place(of: dict[str, Any]) -> str:
    return f"{of['host']}:{of['port']}/{of['database']}"


def _run_clients(address: dict[str, Any]) -> list[Outcome]:
    outcomes = []
    expected: list[tuple[Any, ...]] | None = None
    for position, (name, title) in enumerate(_CLIENTS.items()):
        outcome = Outcome(title, _FIRST_CUSTOMER + 2 * position)
        outcomes.append(outcome)
        if name == "rowferry_mysql" and "mariadb" not in address:
            outcome.skipped = "mariadbd is not installed (Debian package mariadb-server)"
            continue
        answer = _ask(name, address, outcome)
        if answer is None:
            continue
        try:
            report = compare.values(answer["report"], compare.REPORT)
            written = compare.values(answer["written"], compare.WRITTEN)
        except (ValueError, ArithmeticError, TypeError) as error:
            outcome.failed = f"a cell is not what its column holds: {error}"
            continue
        if expected is None:
            expected = report
            _print_report(report)
        outcome.version = answer["version"]
        outcome.microseconds = answer["microseconds"]
        if report != expected:
            outcome.failed = f"the report differs: {_first_difference(report, expected)}"
        elif [row[0] for row in written] != [outcome.customer] or not _is_customer(written[0]):
            outcome.failed = f"wrote customer {outcome.customer} and read back {written}"
    return outcomes


def _ask(name: str, address: dict[str, Any], outcome: Outcome) -> dict[str, Any] | None:
    """Run one client in a process of its own; note in `outcome` why there is no answer."""
    command = [sys.executable, "-m", "demo.client", name, json.dumps(address), str(outcome.customer)]
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=_PATIENCE, cwd=Path.cwd()
        )
    except subprocess.TimeoutExpired:
        outcome.failed = f"no answer within {_PATIENCE} s"
        return None
    if done.returncode != 0:
        lines = done.stderr.strip().splitlines() or [f"ended with {done.returncode}"]
        outcome.failed = lines[-1]
        print(done.stderr, file=sys.stderr)
        return None
    answer: dict[str, Any] = json.loads(done.stdout)
    if "skipped" in answer:
        outcome.skipped = answer["skipped"]
        return None
    return answer


def _is_customer(row: tuple[Any, ...]) -> bool:
    _, name, city, active, credit, since = row
    return name.startswith("Written by ") and (city, active, str(credit), since) in [
        ("Zürich", True, "1234.50", "2026-02-28"),
        ("Zürich", True, "1234.5", "2026-02-28"),
    ]


def _first_difference(rows: list[tuple[Any, ...]], expected: list[tuple[Any, ...]]) -> str:
    if len(rows) != len(expected):
        return f"{len(rows)} rows instead of {len(expected)}"
    for row, wanted in zip(rows, expected, strict=True):
        if row != wanted:
            return f"{row} instead of {wanted}"
    return "nowhere"


def _check_together(store: Path, address: dict[str, Any], outcomes: list[Outcome]) -> None:
    """The file must hold what each client has committed, and nothing that was rolled back."""
    with contextlib.closing(sqlite3.connect(f"file:{store}?mode=ro", uri=True)) as connection:
        found = {row[0] for row in connection.execute("SELECT customer_id FROM customers WHERE customer_id >= 9000")}
        sound = connection.execute("PRAGMA integrity_check").fetchone()[0]
    served = [outcome for outcome in outcomes if outcome.skipped is None and "MariaDB" not in outcome.title]
    wanted = {outcome.customer for outcome in served}
    for outcome in served:
        if outcome.customer not in found:
            outcome.failed = f"customer {outcome.customer} was committed and is not in the file"
        elif outcome.customer + 1 in found:
            outcome.failed = f"customer {outcome.customer + 1} was rolled back and is in the file"
    if sound != "ok":
        outcomes[0].failed = f"the file is damaged: {sound}"
    elif found == wanted:
        print(
            f"\nThe file holds the {len(found)} customers that its clients committed, and none that they rolled back."
        )


def _print_report(report: list[tuple[Any, ...]]) -> None:
    print(f"\nEvery client is asked for this report ({len(report)} rows):\n")
    for line in questions.REPORT.splitlines():
        print(f"    {line}")
    print()
    for order, name, placed, status, items, total in report[:3]:
        print(f"    {order:>3}  {name:20} {placed}  {status:10} {items} {total:>10}")
    print("    ...")


def _show(outcomes: list[Outcome]) -> None:
    base = outcomes[0].microseconds
    print(f"\n{'client':38} {'rows equal, written':20} {'per question':>13} {'sqlite3 =':>9}")
    print(f"{'':38} {'and rolled back':20} {'':>13} {'1':>9}")
    for outcome in outcomes:
        if outcome.skipped is not None:
            print(f"{outcome.title:38} skipped: {outcome.skipped}")
        elif outcome.failed is not None:
            print(f"{outcome.title:38} FAILED: {outcome.failed}")
        else:
            took = outcome.microseconds
            shown = "lost in noise" if took is None else f"{took:.1f} µs"
            times = f"{took / base:.0f}" if base and took is not None else "-"
            print(f"{outcome.title:38} {'yes':20} {shown:>13} {times:>9}   {outcome.version}")
    print(
        f"\nA question is one SELECT by key, asked {questions.OPERATIONS} times over TCP; sqlite3 has no wire, no "
        "server and\nno other process to wake. `make bench` measures properly."
    )


def _where_next(server: Rowferry, staying: bool) -> None:
    print("\nWhere to go next:\n")
    if staying:
        print(f"    psql '{server.postgres_dsn}'")
        print(f"    rowferry query {server.postgres_dsn} 'SELECT * FROM stock LIMIT 5'")
        print("\nServing until Ctrl-C.")
        return
    program = find_rowferry()
    try:
        program = program.relative_to(Path.cwd())
    except ValueError:
        pass
    print(f"    {program} demo --create store.db")
    print(f"    {program} serve store.db --postgres 127.0.0.1:5432 --informix 127.0.0.1:9088 --mysql 127.0.0.1:3306")
    print("    psql postgresql://127.0.0.1:5432/store -c '\\d orders'")
    print("    jdbc:informix-sqli://127.0.0.1:9088/store:INFORMIXSERVER=informix")
    print("    mariadb --host 127.0.0.1 store -e 'SELECT * FROM orders LIMIT 5'")


def _wait() -> None:
    with contextlib.suppress(KeyboardInterrupt):
        signal.pause()


if __name__ == "__main__":
    sys.exit(main())
