"""Databases beside the one that is served: made, copied, renamed, dropped, and who may do that."""

from __future__ import annotations

import subprocess
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
import pytest
from psycopg import errors, sql

from tests.servers.rowferry import Rowferry

from .conftest import wait_until


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Rowferry]:
    (tmp_path / "more").mkdir()
    with Rowferry.start(tmp_path / "app.db", args=["--databases", str(tmp_path / "more")]) as server:
        yield server


def connect(server: Rowferry, database: str = "app", user: str = "ada", **more: str) -> psycopg.Connection:
    host, port = server.postgres or ("", 0)
    return psycopg.connect(host=host, port=port, dbname=database, user=user, autocommit=True, **more)  # type: ignore[arg-type]


def names(connection: psycopg.Connection) -> list[str]:
    return [name for (name,) in connection.execute("select datname from pg_database order by 1")]


def test_a_database_is_made_entered_copied_renamed_and_dropped(served: Rowferry, tmp_path: Path) -> None:
    with connect(served, "postgres") as connection:
        connection.execute("create database shop")
        with connect(served, "shop") as inside:
            inside.execute("create table item (id int primary key, name text); insert into item values (1, 'tea')")
        connection.execute("create database shop_test template shop")
        connection.execute("alter database shop_test rename to trial")
        with connect(served, "trial") as inside:
            assert inside.execute("select current_database(), name from item").fetchall() == [("trial", "tea")]
            inside.execute("insert into item values (2, 'ink')")
        with connect(served, "shop") as inside:
            assert inside.execute("select count(*) from item").fetchone() == (1,)
        assert names(connection) == ["app", "shop", "trial"]
        connection.execute("drop database trial")
        assert names(connection) == ["app", "shop"]
    assert sorted(path.suffix for path in (tmp_path / "more").iterdir() if "trial" in path.name) == []


def test_any_name_is_a_file_of_the_directory(served: Rowferry, tmp_path: Path) -> None:
    odd = ["My-App", "my-app", "../out", "a/b", "ünï", "with space", "%41"]
    with connect(served) as connection:
        for name in odd:
            connection.execute(sql.SQL("create database {}").format(sql.Identifier(name)))
            with connect(served, name) as inside:
                assert inside.execute("select current_database()").fetchone() == (name,)
        assert sorted(names(connection)) == sorted([*odd, "app"])
    assert not (tmp_path / "out.db").exists()
    assert {path.parent for path in tmp_path.rglob("*.db")} == {tmp_path, tmp_path / "more"}


def test_oids_are_the_same_from_every_database(served: Rowferry) -> None:
    query = "select oid, datname from pg_database order by 1"
    with connect(served) as outside:
        outside.execute("create database shop")
        with connect(served, "shop") as inside:
            assert inside.execute(query).fetchall() == outside.execute(query).fetchall()
            own = "select d.datname from pg_stat_activity a join pg_database d on d.oid = a.datid"
            assert inside.execute(f"{own} where pid = pg_backend_pid()").fetchone() == ("shop",)


def test_mistakes_are_told_in_postgresqls_words(served: Rowferry) -> None:
    with connect(served) as connection:
        connection.execute("create database shop")
        for statement, error, message in [
            ("create database shop", errors.DuplicateDatabase, 'database "shop" already exists'),
            ("drop database none", errors.InvalidCatalogName, 'database "none" does not exist'),
            ("drop database app", errors.ObjectInUse, "cannot drop the currently open database"),
            ("alter database app rename to x", errors.FeatureNotSupported, "current database cannot be renamed"),
            ("alter database shop rename to app", errors.DuplicateDatabase, 'database "app" already exists'),
            ("create database x template none", errors.InvalidCatalogName, 'template database "none" does not exist'),
            ("create database x encoding latin1", errors.FeatureNotSupported, "encoding latin1 is not supported"),
            ("create database x encoding klingon", errors.UndefinedObject, "klingon is not a valid encoding name"),
            ("create database x owner nobody", errors.UndefinedObject, 'role "nobody" does not exist'),
            ("create database x oid 3", errors.FeatureNotSupported, "OID"),
            ("create database x locale_provider icu", errors.FeatureNotSupported, "LOCALE_PROVIDER icu"),
            ("create database x strategy odd", errors.InvalidParameterValue, "invalid create database strategy"),
        ]:
            with pytest.raises(error, match=message):
                connection.execute(statement)  # type: ignore[arg-type]
        connection.execute("begin")
        with pytest.raises(errors.ActiveSqlTransaction, match="CREATE DATABASE cannot run inside a transaction block"):
            connection.execute("create database x")
        connection.execute("rollback")
        told: list[str] = []
        connection.add_notice_handler(lambda notice: told.append(notice.message_primary or ""))
        connection.execute("drop database if exists none")
        connection.execute("create database x locale 'de_DE.UTF-8' template template0 encoding 'UTF8'")
        connection.execute("create database y strategy file_copy")
        assert told == [
            'database "none" does not exist, skipping',
            'text is ordered by its code points, not as in the locale "de_DE.UTF-8"',
            "STRATEGY has no effect: the file is copied",
        ]
    with pytest.raises(psycopg.OperationalError, match='database "none" does not exist'):
        connect(served, "none")


def test_a_database_in_use_stays_unless_its_sessions_are_ended(served: Rowferry) -> None:
    with connect(served) as connection:
        connection.execute("create database shop")
        visitor = connect(served, "shop", user="bob")
        assert connection.execute("select usename from pg_stat_activity where datname = 'shop'").fetchall() == [
            ("bob",)
        ]
        with pytest.raises(errors.ObjectInUse) as raised:
            connection.execute("drop database shop")
        assert raised.value.diag.message_detail == "There is 1 other session using the database."
        visitor.execute("select 1")
        connection.execute("drop database shop with (force)")
        with pytest.raises(psycopg.OperationalError):
            visitor.execute("select 1")
        assert names(connection) == ["app"]


def test_a_session_that_is_about_to_end_is_waited_for(served: Rowferry) -> None:
    with connect(served) as connection:
        connection.execute("create database shop")
        visitor = connect(served, "shop")
        dropped = threading.Thread(target=connection.execute, args=("drop database shop",))
        dropped.start()
        with connect(served) as other:
            active = "select state from pg_stat_activity where query = 'drop database shop'"
            wait_until(lambda: other.execute(active).fetchone() == ("active",), "it waits")
        visitor.close()
        dropped.join(timeout=20)
        assert names(connection) == ["app"]


def test_a_backend_of_another_database_can_be_ended(served: Rowferry) -> None:
    with connect(served) as connection:
        connection.execute("create database shop")
        visitor = connect(served, "shop")
        ended = "select pg_terminate_backend(pid, 5000) from pg_stat_activity where datname = 'shop'"
        assert connection.execute(ended).fetchall() == [(True,)]
        connection.execute("drop database shop")
        with pytest.raises(psycopg.OperationalError):
            visitor.execute("select 1")


def test_roles_say_who_may_make_databases(served: Rowferry) -> None:
    with connect(served) as ada:
        ada.execute("create role maker login createdb; create role guest login")
        with connect(served, user="maker") as maker, connect(served, user="guest") as guest:
            with pytest.raises(errors.InsufficientPrivilege, match="permission denied to create database"):
                guest.execute("create database mine")
            maker.execute("create database mine")
            with pytest.raises(errors.InsufficientPrivilege, match="must be owner of database mine"):
                guest.execute("drop database mine")
            with pytest.raises(errors.InsufficientPrivilege, match='must be member of role "ada"'):
                maker.execute("create database hers owner ada")
            may = "has_database_privilege('mine', 'create'), has_database_privilege(oid, 'connect')"
            may = f"select {may} from pg_database"
            assert maker.execute(f"{may} where datname = 'mine'").fetchone() == (True, True)
            assert guest.execute(f"{may} where datname = 'mine'").fetchone() == (False, True)
            owners = "select datname, pg_get_userbyid(datdba) from pg_database order by 1"
            assert guest.execute(owners).fetchall() == [("app", "ada"), ("mine", "maker")]
        # The roles went with it, and what they may do.
        with connect(served, "mine", user="guest") as guest:
            with pytest.raises(errors.InsufficientPrivilege):
                guest.execute("create table public.t (a int)")
            with pytest.raises(errors.InsufficientPrivilege):
                guest.execute("create database more")
        with connect(served, "mine", user="maker") as maker:
            maker.execute("create schema s; create table s.t (a int)")
        with pytest.raises(psycopg.OperationalError, match='role "eve" does not exist'):
            connect(served, "mine", user="eve")


def test_the_served_files_roles_guard_every_database(served: Rowferry) -> None:
    with connect(served) as ada:
        # Made while there were no roles: the file itself lets everybody in.
        ada.execute("create database open")
        ada.execute("create role bob login password 'pencil'; alter role ada password 'secret'")
        for user, password in [("bob", "wrong"), ("eve", "x")]:
            with pytest.raises(psycopg.OperationalError):
                connect(served, "open", user=user, password=password)
        with connect(served, "open", user="bob", password="pencil") as bob:
            # Nobody is told apart there; what concerns the server is decided by its roles.
            with pytest.raises(errors.InsufficientPrivilege):
                bob.execute("create database more")


def test_without_a_directory_it_is_refused_with_the_way_out(start: Callable[..., Rowferry]) -> None:
    with connect(start()) as connection, pytest.raises(errors.FeatureNotSupported, match="--databases DIRECTORY"):
        connection.execute("create database shop")


def test_they_are_there_after_a_restart(start: Callable[..., Rowferry], tmp_path: Path) -> None:
    (tmp_path / "more").mkdir()
    first = start("--databases", str(tmp_path / "more"))
    with connect(first) as connection:
        connection.execute("create database shop")
        with connect(first, "shop") as inside:
            inside.execute("create table t (a int); insert into t values (1)")
        oids = connection.execute("select oid from pg_database order by 1").fetchall()
    first.process.kill()
    second = start("--databases", str(tmp_path / "more"))
    with connect(second, "shop") as inside:
        assert inside.execute("select a from t").fetchall() == [(1,)]
        assert inside.execute("select oid from pg_database order by 1").fetchall() == oids


def test_postgresqls_own_tools_make_and_drop_them(served: Rowferry) -> None:
    host, port = served.postgres or ("", 0)
    place = ["-h", host, "-p", str(port), "-U", "bob"]
    for command in (
        ["createdb", *place, "shop"],
        ["dropdb", *place, "shop"],
        ["dropdb", *place, "--if-exists", "shop"],
    ):
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode == 0, done.stderr
    with connect(served) as connection:
        assert names(connection) == ["app"]


def settings(server: Rowferry, user: str = "ada", database: str = "app") -> tuple[str, str]:
    """`work_mem` and `application_name` as a session begins with them."""
    with connect(server, database, user) as connection:
        row = connection.execute("select current_setting('work_mem'), current_setting('application_name')").fetchone()
        assert row is not None
        return row


def test_sessions_begin_with_what_the_database_and_the_role_are_set_to(served: Rowferry) -> None:
    with connect(served) as connection:
        connection.execute("alter database app set work_mem = '5MB'")
        assert settings(served) == ("5MB", "")
        connection.execute("create role bob superuser login")
        connection.execute("alter role bob set work_mem = '6MB'; alter role bob set application_name = 'all'")
        assert settings(served, "bob") == ("6MB", "all")
        connection.execute("alter role bob in database app set work_mem to '7MB'")
        assert settings(served, "bob") == ("7MB", "all")
        assert settings(served) == ("5MB", "")
        connection.execute("set application_name = 'mine'; alter database app set application_name from current")
        assert settings(served) == ("5MB", "mine")
        kept = connection.execute(
            "select d.datname, r.rolname, setconfig from pg_db_role_setting left join pg_roles r on r.oid = setrole "
            "left join pg_database d on d.oid = setdatabase order by 1 nulls first, 2 nulls first"
        ).fetchall()
        assert kept == [
            (None, "bob", ["application_name=all", "work_mem=6MB"]),
            ("app", None, ["application_name=mine", "work_mem=5MB"]),
            ("app", "bob", ["work_mem=7MB"]),
        ]
        connection.execute("alter role bob in database app reset all; alter database app reset work_mem")
        assert settings(served, "bob") == ("6MB", "all")
        assert settings(served) == ("4MB", "mine")
        connection.execute("alter database app reset all; drop role bob")
        assert connection.execute("select count(*) from pg_db_role_setting").fetchone() == (0,)
        with pytest.raises(errors.UndefinedObject, match="unrecognized configuration parameter"):
            connection.execute("alter database app set nothing_at_all from current")
        with pytest.raises(errors.InvalidCatalogName, match='database "none" does not exist'):
            connection.execute("alter database none set work_mem = '5MB'")


def test_what_is_set_of_a_database_outlives_the_server_and_rolls_back(tmp_path: Path) -> None:
    with Rowferry.start(tmp_path / "app.db") as server, connect(server) as connection:
        connection.execute("alter database app set work_mem = '5MB'; comment on database app is 'ours'")
        connection.execute("begin; alter database app set work_mem = '6MB'; rollback")
    with Rowferry.start(tmp_path / "app.db") as server, connect(server) as connection:
        assert settings(server) == ("5MB", "")
        comment = "select shobj_description(oid, 'pg_database') from pg_database where datname = 'app'"
        assert connection.execute(comment).fetchone() == ("ours",)
        connection.execute("comment on database app is null")
        assert connection.execute(comment).fetchone() == (None,)


def test_only_its_owner_sets_a_database(served: Rowferry) -> None:
    with connect(served) as connection:
        connection.execute("create role bob login; grant connect on database app to bob")
        with connect(served, user="bob") as bob:
            for statement in ["alter database app set work_mem = '5MB'", "comment on database app is 'x'"]:
                with pytest.raises(errors.InsufficientPrivilege, match="must be owner of database app"):
                    bob.execute(statement)


def test_a_database_is_made_as_a_template_with_a_limit_or_closed(served: Rowferry) -> None:
    facts = "select datistemplate, datallowconn, datconnlimit from pg_database where datname = %s"
    with connect(served) as connection:
        connection.execute("create role bob login createdb; create role eve login")
        connection.execute("create database shut allow_connections false")
        connection.execute("create database few connection limit 1")
        connection.execute("create database form is_template true")
        assert connection.execute(facts, ["shut"]).fetchone() == (False, False, -1)
        assert connection.execute(facts, ["few"]).fetchone() == (False, True, 1)
        assert connection.execute(facts, ["form"]).fetchone() == (True, True, -1)
        with pytest.raises(psycopg.OperationalError, match='database "shut" is not currently accepting connections'):
            connect(served, "shut")
        with (
            connect(served, "few", "eve"),
            pytest.raises(psycopg.OperationalError, match='too many connections for database "few"'),
        ):
            connect(served, "few", "eve")
        with pytest.raises(errors.WrongObjectType, match="cannot drop a template database"):
            connection.execute("drop database form")
        with connect(served, user="bob") as bob:
            bob.execute("create database copied template form")
            with pytest.raises(errors.InsufficientPrivilege, match='permission denied to copy database "few"'):
                bob.execute("create database other template few")
        assert connection.execute(facts, ["copied"]).fetchone() == (False, True, -1)
        with connect(served, "form") as form:
            form.execute("alter database form is_template false connection limit 5")
            with pytest.raises(errors.InvalidParameterValue, match="cannot disallow connections for current database"):
                form.execute("alter database form allow_connections false")
        assert connection.execute(facts, ["form"]).fetchone() == (False, True, 5)
        connection.execute("drop database form")
        connection.execute("drop database shut")
        with pytest.raises(errors.FeatureNotSupported, match="another database than the session's"):
            connection.execute("alter database few connection limit 5")
        with pytest.raises(errors.InvalidParameterValue, match="invalid connection limit: -2"):
            connection.execute("create database bad connection limit -2")
