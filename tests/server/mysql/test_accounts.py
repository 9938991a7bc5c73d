"""Users and rights in MySQL's words: who comes in by which plugin, and who is refused what."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pymysql
import pytest
from rowferry import mysql

from tests.servers.rowferry import Rowferry


@pytest.fixture(scope="module")
def door(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rowferry]:
    """A server at whose file `root` has made some tables."""
    file = tmp_path_factory.mktemp("accounts") / "app.db"
    with Rowferry.start(file, mysql=True) as server:
        run(
            server,
            "CREATE USER IF NOT EXISTS keeper",
            "CREATE TABLE t (a INT PRIMARY KEY, b INT UNSIGNED)",
            "INSERT INTO t VALUES (1, 2)",
            "CREATE DATABASE shop",
            "CREATE TABLE shop.goods (id INT)",
        )
        yield server


def connect(server: Rowferry, user: str = "root", password: str = "", database: str = "app") -> pymysql.Connection:
    assert server.mysql is not None
    host, port = server.mysql
    return pymysql.connect(host=host, port=port, user=user, password=password, database=database, autocommit=True)


def run(server: Rowferry, *statements: str, user: str = "root", password: str = "") -> list[tuple[object, ...]]:
    """The rows of the last statement."""
    rows: list[tuple[object, ...]] = []
    with connect(server, user, password) as connection, connection.cursor() as cursor:
        for statement in statements:
            cursor.execute(statement)
            rows = list(cursor.fetchall())
    return rows


def refusal(server: Rowferry, statement: str, *, user: str = "root", password: str = "") -> tuple[int, str]:
    with pytest.raises(pymysql.err.MySQLError) as refused:
        run(server, statement, user=user, password=password)
    code, message = refused.value.args
    return code, message


@pytest.fixture
def user(door: Rowferry) -> Iterator[str]:
    """A user `u` with the password `pw`, and without rights."""
    run(door, "DROP USER IF EXISTS u", "CREATE USER u IDENTIFIED BY 'pw'")
    yield "u"
    run(door, "DROP USER IF EXISTS u")


@pytest.mark.parametrize("plugin", ["mysql_native_password", "caching_sha2_password", "sha256_password"])
def test_a_password_is_proved_by_the_accounts_plugin(door: Rowferry, plugin: str) -> None:
    run(door, "DROP USER IF EXISTS p", f"CREATE USER p IDENTIFIED WITH {plugin} BY 'secret'")
    try:
        # The second time the server remembers.
        for _ in range(2):
            assert run(door, "SELECT CURRENT_USER()", user="p", password="secret") == [("p@%",)]
        assert door.mysql is not None
        host, port = door.mysql
        with mysql.connect(host=host, port=port, user="p", password="secret", database="app") as connection:
            cursor = connection.cursor()
            cursor.execute("SELECT CURRENT_USER()")
            assert list(cursor.fetchall()) == [("p@%",)]
        for wrong in ("Secret", ""):
            with pytest.raises(pymysql.err.OperationalError) as refused:
                connect(door, "p", wrong)
            assert refused.value.args[0] == 1045
        ((definition,),) = run(door, "SHOW CREATE USER p")
        assert f"IDENTIFIED WITH '{plugin}' AS " in str(definition)
        # Another password counts at once, also where the old one is remembered; and what is kept can be given back.
        run(door, "ALTER USER p IDENTIFIED BY 'other'")
        with pytest.raises(pymysql.err.OperationalError):
            connect(door, "p", "secret")
        run(door, "DROP USER p", str(definition))
        assert run(door, "SELECT 1", user="p", password="secret") == [(1,)]
    finally:
        run(door, "DROP USER IF EXISTS p")


def test_the_usual_plugin_is_fast_once_the_password_has_been_proved(
    door: Rowferry, user: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    connect(door, user, "pw").close()

    def refuse(*_: object) -> bytes:
        raise AssertionError("the password itself was asked for")

    monkeypatch.setattr("pymysql._auth.sha2_rsa_encrypt", refuse)
    connect(door, user, "pw").close()
    run(door, "ALTER USER u IDENTIFIED BY 'new'")
    with pytest.raises(AssertionError):
        connect(door, user, "new")


def test_one_password_counts_at_both_doors(door: Rowferry, user: str) -> None:
    psycopg = pytest.importorskip("psycopg")
    assert door.postgres is not None
    host, port = door.postgres
    place = {"host": host, "port": port, "dbname": "app", "user": user}
    with psycopg.connect(**place, password="pw", autocommit=True) as connection:
        assert connection.execute("SELECT current_user").fetchone() == ("u",)
        run(door, "ALTER USER u IDENTIFIED WITH mysql_native_password BY 'first'")
        connection.execute("ALTER ROLE u PASSWORD 'second'")
    assert run(door, "SELECT 1", user=user, password="second") == [(1,)]
    with pytest.raises(pymysql.err.OperationalError):
        connect(door, user, "first")
    # A verifier tells nothing of the password: what was kept for the older plugin is gone, and not the old one's.
    with psycopg.connect(**place, password="second", autocommit=True) as connection:
        (kept,) = run(door, "SELECT authentication_string FROM mysql.user WHERE user = 'keeper'")
        run(door, "ALTER USER keeper IDENTIFIED BY 'third'")
        connection.execute("SELECT 1")
    assert kept == ("",)


def test_who_is_refused_is_told_so_in_mysqls_words(door: Rowferry, user: str) -> None:
    def told(statement: str) -> tuple[int, str]:
        return refusal(door, statement, user=user, password="pw")

    def table(command: str, name: str = "t") -> tuple[int, str]:
        return 1142, f"{command} command denied to user 'u'@'localhost' for table '{name}'"

    assert told("SELECT * FROM t") == table("SELECT")
    assert told("SELECT * FROM shop.goods") == table("SELECT", "goods")
    assert told("INSERT INTO t VALUES (2, 3)") == table("INSERT")
    assert told("UPDATE t SET b = 1") == table("UPDATE")
    assert told("DELETE FROM t") == table("DELETE")
    assert told("DROP TABLE t") == table("DROP")
    assert told("TRUNCATE TABLE t") == table("DROP")
    assert told("ALTER TABLE t ADD c INT") == table("ALTER")
    assert told("CREATE INDEX i ON t (b)") == table("INDEX")
    assert told("CREATE TABLE made (a INT)") == table("CREATE", "made")
    assert told("CREATE VIEW made AS SELECT 1") == table("CREATE VIEW", "made")
    assert told("GRANT SELECT ON t TO u") == table("GRANT")
    database = "Access denied for user 'u'@'localhost' to database"
    assert told("USE shop") == (1044, f"{database} 'shop'")
    assert told("CREATE DATABASE mine") == (1044, f"{database} 'mine'")
    assert told("GRANT SELECT ON shop.* TO u") == (1044, f"{database} 'shop'")
    assert told("SHOW GRANTS FOR root") == (1044, f"{database} 'mysql'")
    need = "Access denied; you need (at least one of) the CREATE USER privilege(s) for this operation"
    for statement in ("CREATE USER v", "DROP USER root", "ALTER USER root IDENTIFIED BY 'x'", "CREATE ROLE r"):
        assert told(statement) == (1227, need)
    with pytest.raises(pymysql.err.OperationalError) as refused:
        connect(door, user, "pw", "shop")
    assert refused.value.args[0] == 1044
    # One's own password is one's own.
    run(door, "SET PASSWORD = 'new'", user=user, password="pw")
    assert run(door, "SHOW GRANTS", user=user, password="new") == [("GRANT USAGE ON *.* TO `u`@`%`",)]


def test_rights_on_a_database_hold_for_tables_made_later(door: Rowferry, user: str) -> None:
    def as_user(*statements: str) -> list[tuple[object, ...]]:
        return run(door, *statements, user=user, password="pw")

    run(door, "GRANT ALL PRIVILEGES ON shop.* TO u", "CREATE TABLE shop.later (a INT UNSIGNED)")
    try:
        as_user("INSERT INTO shop.later VALUES (1)", "ALTER TABLE shop.later ADD b INT")
        as_user("CREATE INDEX i ON shop.later (b)")
        assert as_user("USE shop", "SELECT * FROM later") == [(1, None)]
        as_user("CREATE TABLE shop.own (a INT)", "CREATE VIEW shop.v AS SELECT a FROM shop.later", "DROP VIEW shop.v")
        as_user("TRUNCATE TABLE shop.later", "DROP TABLE shop.later")
        # Elsewhere nothing.
        assert refusal(door, "SELECT * FROM t", user=user, password="pw")[0] == 1142
        run(door, "REVOKE DROP, INSERT ON shop.* FROM u")
        assert refusal(door, "DROP TABLE shop.goods", user=user, password="pw")[0] == 1142
        assert refusal(door, "INSERT INTO shop.goods VALUES (1)", user=user, password="pw")[0] == 1142
        assert as_user("SELECT * FROM shop.goods") == []
    finally:
        run(door, "DROP TABLE IF EXISTS shop.later, shop.own")


def test_rights_on_tables_columns_and_through_roles(door: Rowferry, user: str) -> None:
    def as_user(*statements: str) -> list[tuple[object, ...]]:
        return run(door, *statements, user=user, password="pw")

    run(door, "GRANT SELECT (a) ON t TO u", "GRANT SELECT ON shop.goods TO u", "CREATE ROLE staff")
    try:
        assert as_user("SELECT a FROM t") == [(1,)]
        assert refusal(door, "SELECT b FROM t", user=user, password="pw")[0] == 1142
        assert as_user("USE shop", "SELECT * FROM goods") == []
        run(door, "GRANT UPDATE ON app.* TO staff", "GRANT SELECT ON t TO staff", "GRANT staff TO u")
        as_user("SET ROLE staff", "UPDATE t SET b = 3 WHERE a = 1")
        assert as_user("SELECT b FROM t") == [(3,)]
        run(door, "REVOKE staff FROM u")
        assert refusal(door, "UPDATE t SET b = 4", user=user, password="pw")[0] == 1142
        # Whoever may give on what it has on a database.
        run(door, "GRANT SELECT ON app.* TO u WITH GRANT OPTION")
        as_user("GRANT SELECT ON t TO keeper")
        assert refusal(door, "GRANT UPDATE ON app.* TO keeper", user=user, password="pw")[0] == 1044
    finally:
        run(door, "DROP ROLE staff")


def test_errors_of_account_statements_have_their_numbers(door: Rowferry, user: str) -> None:
    for statement, code in (
        ("CREATE USER u", 1396),
        ("DROP USER nobody", 1396),
        ("ALTER USER nobody IDENTIFIED BY 'x'", 1396),
        ("RENAME USER nobody TO somebody", 1396),
        ("SET PASSWORD FOR nobody = 'x'", 1133),
        ("GRANT SELECT ON app.* TO nobody", 1410),
        ("REVOKE SELECT ON app.* FROM nobody", 1141),
        ("REVOKE SELECT ON app.* FROM u", 1141),
        ("REVOKE SELECT ON app.t FROM u", 1147),
        ("SHOW GRANTS FOR nobody", 1141),
        ("SHOW CREATE USER nobody", 1396),
        ("GRANT nobody TO u", 3523),
        ("SET DEFAULT ROLE keeper TO u", 3530),
        ("CREATE USER u@'10.0.0.%'", 1235),
        ("GRANT FILE ON *.* TO u", 1235),
        ("CREATE USER x IDENTIFIED WITH mysql_native_password AS 'x'", 1827),
        ("REVOKE ALL PRIVILEGES, GRANT OPTION FROM nobody", 1269),
    ):
        assert refusal(door, statement)[0] == code, statement


def test_what_does_not_matter_is_noted(door: Rowferry, user: str) -> None:
    for statement, code in (("CREATE USER IF NOT EXISTS u", 3163), ("DROP USER IF EXISTS nobody", 3162)):
        ((level, number, _),) = run(door, statement, "SHOW WARNINGS")
        assert (level, number) == ("Note", code)


def test_a_locked_account_stays_out(door: Rowferry, user: str) -> None:
    run(door, "ALTER USER u ACCOUNT LOCK")
    with pytest.raises(pymysql.err.OperationalError) as refused:
        connect(door, user, "pw")
    assert refused.value.args == (3118, "Access denied for user 'u'@'127.0.0.1'. Account is locked.")
    run(door, "ALTER USER u ACCOUNT UNLOCK")
    connect(door, user, "pw").close()


def test_what_a_user_has_made_stays_when_it_goes(door: Rowferry, user: str) -> None:
    run(door, "GRANT ALL ON app.* TO u")
    run(door, "CREATE TABLE mine (a INT UNSIGNED)", "INSERT INTO mine VALUES (1)", user=user, password="pw")
    run(door, "GRANT SELECT ON mine TO u", "DROP USER u")
    assert run(door, "SELECT * FROM mine") == [(1,)]
    run(door, "DROP TABLE mine", "CREATE USER u IDENTIFIED BY 'pw'")
    # It begins with nothing.
    assert run(door, "SHOW GRANTS FOR u") == [("GRANT USAGE ON *.* TO `u`@`%`",)]
    assert refusal(door, "SELECT * FROM t", user=user, password="pw")[0] == 1142


def test_what_somebody_may_not_use_is_not_shown(door: Rowferry, user: str) -> None:
    def as_user(*statements: str) -> list[tuple[object, ...]]:
        return run(door, *statements, user=user, password="pw")

    assert as_user("SHOW TABLES") == [] and ("shop",) not in as_user("SHOW DATABASES")
    run(door, "GRANT SELECT (a) ON t TO u", "GRANT INSERT ON shop.* TO u")
    assert as_user("SHOW TABLES") == [("t",)]
    assert as_user("SELECT TABLE_NAME FROM information_schema.tables WHERE TABLE_SCHEMA = 'shop'") == [("goods",)]
    with connect(door) as keeper, keeper.cursor() as cursor:
        cursor.execute("SELECT CONNECTION_ID()")
        ((number,),) = cursor.fetchall()
        assert refusal(door, f"KILL {number}", user=user, password="pw") == (
            1095,
            f"You are not owner of thread {number}",
        )
    assert refusal(door, "SET GLOBAL max_connections = 5", user=user, password="pw")[0] == 1227


def test_a_superuser_alone_can_have_a_password(tmp_path: Path) -> None:
    with Rowferry.start(tmp_path / "app.db", mysql=True) as server:
        run(server, "SET PASSWORD = 'secret'")
        assert run(server, "SELECT CURRENT_USER()", password="secret") == [("root@%",)]
        for user, password in (("root", ""), ("root", "wrong"), ("eve", ""), ("eve", "secret")):
            with pytest.raises(pymysql.err.OperationalError) as refused:
                connect(server, user, password)
            assert refused.value.args[0] == 1045
        run(server, "SET PASSWORD = ''", password="secret")
        assert run(server, "SELECT CURRENT_USER()", user="eve") == [("eve@%",)]


def test_routines_change_accounts_as_statements_do(door: Rowferry) -> None:
    run(door, "CREATE PROCEDURE makes() BEGIN CREATE USER made IDENTIFIED BY 'x'; GRANT SELECT ON app.* TO made; END")
    try:
        run(door, "CALL makes()")
        assert len(run(door, "SHOW GRANTS FOR made")) == 2
    finally:
        run(door, "DROP PROCEDURE makes", "DROP USER IF EXISTS made")
