"""Every authentication plugin that the servers have, blocking and asyncio, without any package beside ours."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterator
from typing import Any

import pytest
from rowferry import mysql
from rowferry.mysql import aio

from tests.servers.mariadb import MariaDB, MariaDB11
from tests.servers.mysql import MySQL, MySQLServer

PASSWORD = "p\u00e4ss w0rd'\"\\"


@contextlib.contextmanager
def account(server: MySQLServer, identified: str) -> Iterator[dict[str, Any]]:
    """What connects as a new account that is `IDENTIFIED …` that way."""
    with mysql.connect(**server.dsn) as admin, admin.cursor() as cursor:
        cursor.execute("DROP USER IF EXISTS 'auth'@'%', 'auth'@'localhost'")
        for host in ("%", "localhost"):
            cursor.execute(f"CREATE USER 'auth'@'{host}' IDENTIFIED {identified}")
            cursor.execute(f"GRANT ALL ON rowferry.* TO 'auth'@'{host}'")
        try:
            yield {**server.dsn, "user": "auth", "password": PASSWORD}
        finally:
            cursor.execute("DROP USER 'auth'@'%', 'auth'@'localhost'")


def install(server: MariaDB11, library: str) -> None:
    """Load a plugin of MariaDB's."""
    with mysql.connect(**server.dsn) as admin, contextlib.suppress(mysql.OperationalError):
        admin.cursor().execute(f"INSTALL SONAME '{library}'")


def plugin(options: dict[str, Any]) -> str:
    """Log in in both colours, and answer which plugin let us in."""

    async def main() -> str:
        async with aio.connect(**options) as connection, connection.cursor() as cursor:
            await cursor.execute("SELECT 42")
            assert await cursor.fetchone() == (42,)
            return connection.auth_plugin

    with mysql.connect(**options) as connection, connection.cursor() as cursor:
        cursor.execute("SELECT 42")
        assert cursor.fetchone() == (42,)
        used = connection.auth_plugin
    assert asyncio.run(main()) == used
    return used


def refused(options: dict[str, Any]) -> None:
    """A wrong password is refused with the server's code, in both colours."""
    for password in ("wrong", ""):
        wrong = {**options, "password": password}
        with pytest.raises(mysql.OperationalError) as refusal:
            mysql.connect(**wrong)
        assert refusal.value.args[0] == 1045, password

        async def main(wrong: dict[str, Any] = wrong) -> None:
            await aio.connect(**wrong)

        with pytest.raises(mysql.OperationalError) as refusal:
            asyncio.run(main())
        assert refusal.value.args[0] == 1045


QUOTED = "'" + PASSWORD.replace("\\", "\\\\").replace("'", "''") + "'"


def test_native_password(mariadb: MariaDB) -> None:
    with account(mariadb, f"BY {QUOTED}") as options:
        assert plugin(options) == "mysql_native_password"
        refused(options)


@pytest.mark.parametrize("transport", ["plain", "tls", "unix"])
@pytest.mark.parametrize("name", ["caching_sha2_password", "sha256_password"])
def test_sha2_on_mysql(mysql9: MySQL, name: str, transport: str) -> None:
    with account(mysql9, f"WITH {name} BY {QUOTED}") as options:
        if transport == "unix":
            options["unix_socket"] = mysql9.unix_socket
        else:
            options["ssl_mode"] = "REQUIRED" if transport == "tls" else "DISABLED"
        # In full the first time; by the server's cache afterwards, where the plugin has one.
        assert plugin(options) == name
        assert plugin(options) == name
        refused(options)


def test_the_servers_public_key_may_be_known_beforehand(mysql9: MySQL) -> None:
    key = (mysql9.directory / "data" / "public_key.pem").read_text()
    with account(mysql9, f"WITH caching_sha2_password BY {QUOTED}") as options:
        assert plugin({**options, "ssl_mode": "DISABLED", "server_public_key": key}) == "caching_sha2_password"


def test_empty_passwords(mysql9: MySQL, mariadb: MariaDB) -> None:
    for server in (mysql9, mariadb):
        with account(server, "BY ''") as options:
            plugin({**options, "password": ""})
            with pytest.raises(mysql.OperationalError):
                mysql.connect(**options)


@pytest.mark.parametrize("name", ["ed25519", "parsec"])
def test_mariadbs_signatures(mariadb11: MariaDB11, name: str) -> None:
    install(mariadb11, f"auth_{name}")
    with account(mariadb11, f"VIA {name} USING PASSWORD({QUOTED})") as options:
        for transport in ({"ssl_mode": "DISABLED"}, {}, {"unix_socket": mariadb11.unix_socket}):
            assert plugin({**options, **transport}) == {"ed25519": "client_ed25519"}.get(name, name)
        refused(options)


def test_caching_sha2_on_mariadb(mariadb11: MariaDB11) -> None:
    # Without an RSA key of its own, and only for passwords in ASCII; that is how its plugin is.
    install(mariadb11, "auth_mysql_sha2")
    with account(mariadb11, "VIA caching_sha2_password USING PASSWORD('secret')") as options:
        options["password"] = "secret"
        assert plugin({**options, "ssl_mode": "REQUIRED"}) == "caching_sha2_password"
        assert plugin({**options, "unix_socket": mariadb11.unix_socket}) == "caching_sha2_password"


def test_questions_are_answered_in_order(mariadb11: MariaDB11) -> None:
    install(mariadb11, "dialog_examples")
    with account(mariadb11, f"VIA two_questions USING {QUOTED}") as options:
        local = {**options, "unix_socket": mariadb11.unix_socket}
        assert plugin({**local, "password2": "yes, of course"}) == "dialog"
        with pytest.raises(mysql.NotSupportedError, match="Are you sure"):
            mysql.connect(**local)
        with pytest.raises(mysql.NotSupportedError, match="clear text"):
            mysql.connect(**options, password2="yes, of course", ssl_mode="DISABLED")
        with pytest.raises(mysql.OperationalError):
            mysql.connect(**local, password2="no")


def test_two_factors(mysql9: MySQL) -> None:
    import getpass

    with mysql.connect(**mysql9.dsn) as admin, admin.cursor() as cursor:
        cursor.execute("INSTALL PLUGIN auth_socket SONAME 'auth_socket.so'")
        cursor.execute("SET GLOBAL authentication_policy = '*,,'")
    second = f"AND IDENTIFIED WITH auth_socket AS '{getpass.getuser()}'"
    with account(mysql9, f"WITH caching_sha2_password BY {QUOTED} {second}") as options:
        options["unix_socket"] = mysql9.unix_socket
        assert plugin(options)
        refused(options)
