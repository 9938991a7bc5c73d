"""Users, roles, owners and privileges in Informix's words, at a door that is alone."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from rowferry import informix

from tests.python.informix import server as servers
from tests.servers.rowferry import Rowferry

#: Tables of ours in the catalogs.
OURS = 100


@pytest.fixture(scope="module")
def door(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rowferry]:
    """A file in which `ada` has made tables, and then users and a role."""
    with servers.serve(tmp_path_factory.mktemp("users") / "shop.db") as server:
        run(
            server,
            "CREATE TABLE orders (id INT PRIMARY KEY, status CHAR(4), total DECIMAL(8,2))",
            "INSERT INTO orders VALUES (1, 'open', 9.5)",
            "CREATE VIEW open_orders AS SELECT id FROM informix.orders WHERE status = 'open'",
            "CREATE USER ann WITH PASSWORD 'secret1' PROPERTIES USER guest GROUP (100, staff) HOME '/home/ann'",
            "CREATE USER bob WITH PASSWORD 'secret2' ACCOUNT LOCK",
            "CREATE USER cid WITH PASSWORD 'secret3'",
            "CREATE ROLE clerk",
            "GRANT SELECT, UPDATE (status) ON orders TO clerk",
            "GRANT clerk TO ann WITH GRANT OPTION",
            "GRANT DEFAULT ROLE clerk TO ann",
            "GRANT RESOURCE TO cid",
            "GRANT DELETE ON orders TO cid WITH GRANT OPTION",
            "ALTER USER ada ADD PASSWORD 'bootstrap'",
        )
        yield server


def run(server: Rowferry, *statements: str, user: str = "ada", password: str = "bootstrap") -> list[tuple[Any, ...]]:
    """The rows of the last statement."""
    assert server.informix is not None
    host, port = server.informix
    rows: list[tuple[Any, ...]] = []
    where = {"host": host, "port": port, "database": server.dbname, "server": "informix"}
    with closing(informix.connect(**where, user=user, password=password, autocommit=True)) as connection:
        for statement in statements:
            cursor = connection.execute(statement)
            rows = cursor.fetchall() if cursor.description else []
    return rows


def refusal(server: Rowferry, statement: str, user: str, password: str) -> int | None:
    with pytest.raises(informix.Error) as refused:
        run(server, statement, user=user, password=password)
    return refused.value.sqlcode


def test_passwords_and_locked_accounts(door: Rowferry) -> None:
    one = "SELECT tabid FROM systables WHERE tabid = 1"
    assert run(door, one, user="ann", password="secret1") == [(1,)]
    for user, password in [("ann", "secret2"), ("bob", "secret2"), ("eve", "")]:
        assert refusal(door, one, user, password) in (-951, -952)
    run(door, "ALTER USER bob ACCOUNT UNLOCK", "ALTER USER bob MODIFY PASSWORD 'secret9'")
    assert run(door, one, user="bob", password="secret9") == [(1,)]
    run(door, "RENAME USER bob TO rob")
    assert refusal(door, one, "bob", "secret9") in (-951, -952)
    run(door, "ALTER USER rob ADD PASSWORD 'secret8'")
    assert run(door, one, user="rob", password="secret8") == [(1,)]
    run(door, "DROP USER rob")
    assert refusal(door, one, "rob", "secret8") in (-951, -952)


def test_what_users_may_do(door: Rowferry) -> None:
    ann, cid = {"user": "ann", "password": "secret1"}, {"user": "cid", "password": "secret3"}
    assert run(door, "SELECT CURRENT_ROLE FROM orders", **ann) == [("clerk",)]
    run(door, "UPDATE orders SET status = 'paid'", "UPDATE orders SET status = 'open'", **ann)
    assert refusal(door, "UPDATE orders SET total = 0", **ann) == -273
    assert refusal(door, "INSERT INTO orders (id) VALUES (2)", **ann) == -275
    assert refusal(door, "DELETE FROM orders", **ann) == -274
    assert refusal(door, "CREATE TABLE mine (a INT)", **ann) == -388
    assert refusal(door, "SELECT * FROM orders", **cid) == -272
    run(door, "CREATE TABLE mine (a INT)", "INSERT INTO mine VALUES (1)", "DROP TABLE mine", **cid)
    assert refusal(door, "CREATE USER eve WITH PASSWORD 'secret5'", **cid) is not None
    run(door, "REVOKE UPDATE ON orders FROM clerk")
    try:
        assert refusal(door, "UPDATE orders SET status = 'paid'", **ann) == -273
    finally:
        run(door, "GRANT UPDATE (status) ON orders TO clerk")


def test_owners_are_told_and_looked_at(door: Rowferry) -> None:
    cid = {"user": "cid", "password": "secret3"}
    owners = f"SELECT owner FROM systables WHERE tabid >= {OURS} AND tabname = "
    run(door, "CREATE TABLE notes (a INT PRIMARY KEY)", "CREATE TABLE joe.old (a INT)", **cid)
    try:
        assert run(door, owners + "'orders'") == [("ada",)]
        assert run(door, owners + "'notes'") == [("cid",)]
        assert run(door, owners + "'old'") == [("joe",)]
        assert run(door, "SELECT UNIQUE owner FROM sysconstraints WHERE constrname MATCHES '*notes*'") == [("cid",)]
        run(door, "GRANT SELECT ON notes TO PUBLIC", "GRANT SELECT ON joe.old TO PUBLIC", **cid)
        for name in ("orders", "ada.orders", '"ada".orders', "informix.orders", "cid.notes", "CID.notes", "joe.old"):
            run(door, f"SELECT * FROM {name}")
        for name in ("cid.orders", "ada.notes", "informix.notes", "cid.old"):
            assert refusal(door, f"SELECT * FROM {name}", "ada", "bootstrap") == -206
        # A view that was made before there were roles.
        assert run(door, "SELECT id FROM open_orders") == [(1,)]
    finally:
        run(door, "DROP TABLE notes", "DROP TABLE joe.old", **cid)


def test_catalogs_tell_what_is_granted(door: Rowferry) -> None:
    users = run(door, "SELECT username, usertype, defrole FROM sysusers ORDER BY username")
    assert [row for row in users if row[0] in ("ada", "ann", "cid", "clerk", "public")] == [
        ("ada", "D", ""),
        ("ann", "C", "clerk"),
        ("cid", "R", ""),
        ("clerk", "G", ""),
        ("public", "C", ""),
    ]
    of_tables = (
        "SELECT grantor, grantee, tabauth FROM systabauth a, systables t "
        "WHERE a.tabid = t.tabid AND tabname = 'orders' ORDER BY grantee"
    )
    assert run(door, of_tables) == [("ada", "cid", "----D----"), ("ada", "clerk", "s-*------")]
    of_columns = "SELECT grantee, colno, colauth FROM syscolauth"
    assert run(door, of_columns) == [("clerk", 2, "-u-")]
    assert run(door, "SELECT rolename, grantee, is_grantable FROM sysroleauth") == [("clerk", "ann", "y")]


def test_who_is_an_administrator_is_said_by_grant(door: Rowferry) -> None:
    for statement in (
        "CREATE USER eve WITH PASSWORD 'secret5' PROPERTIES USER guest AUTHORIZATION (DBSA)",
        "CREATE DEFAULT USER WITH PROPERTIES USER guest",
        "SET USER PASSWORD OLD 'bootstrap' NEW 'bootstrap2'",
    ):
        assert refusal(door, statement, "ada", "bootstrap") == -999
    assert refusal(door, "CREATE USER", "ada", "bootstrap") == -201


def test_an_owner_is_known_where_the_statement_named_one(tmp_path: Path) -> None:
    """In a file without roles tables are everybody's, but for those of which CREATE TABLE said whose they are."""
    with servers.serve(tmp_path / "plain.db") as server:
        run(server, 'CREATE TABLE "joe".t (a INT)', "CREATE TABLE u (a INT)", user="ann", password="")
        run(server, "SELECT * FROM t, joe.t x, u, ann.u y, informix.u z", user="ann", password="")
        assert refusal(server, "SELECT * FROM ann.t", "ann", "") == -206
        tables = run(
            server, f"SELECT tabname, owner FROM systables WHERE tabid >= {OURS} ORDER BY 1", user="ann", password=""
        )
        assert tables == [("t", "joe"), ("u", "informix")]
        assert run(server, "SELECT username, usertype FROM sysusers", user="ann", password="") == [("public", "D")]
