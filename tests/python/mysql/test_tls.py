"""TLS against a real server: every mode, both colours, blocking and asyncio."""

from __future__ import annotations

import asyncio
import ssl
from typing import Any

import pytest
from rowferry import mysql
from rowferry.mysql import aio

from tests.servers.mariadb import MariaDB


def cipher(options: dict[str, Any]) -> str:
    """Connect in both colours, compare, and answer what the server calls the cipher."""

    async def main() -> tuple[Any, str | None]:
        async with aio.connect(**options) as connection, connection.cursor() as cursor:
            await cursor.execute("SHOW STATUS LIKE 'Ssl_cipher'")
            row = await cursor.fetchone()
            await cursor.execute("SELECT REPEAT('x', 100) FROM seq_1_to_20000")
            assert await cursor.fetchall() == (("x" * 100,),) * 20000
            return row[1], connection.tls_description

    with mysql.connect(**options) as connection, connection.cursor() as cursor:
        cursor.execute("SHOW STATUS LIKE 'Ssl_cipher'")
        row = cursor.fetchone()
        assert row is not None
        cursor.execute("SELECT REPEAT('x', 100) FROM seq_1_to_20000")
        assert cursor.fetchall() == (("x" * 100,),) * 20000
        cursor.execute("SELECT LENGTH(%s)", ("y" * 1_000_000,))
        assert cursor.fetchone() == (1_000_000,)
        description = connection.tls_description
    assert (row[1], description) == asyncio.run(main())
    assert (row[1] == "") == (description is None)
    return str(row[1])


def test_modes(tls_server: MariaDB, certificates: dict[str, str]) -> None:
    options = tls_server.dsn
    ca = certificates["ca"]
    assert cipher({**options, "ssl_mode": "DISABLED"}) == ""
    assert cipher({**options, "ssl": False}) == ""
    for secure in (
        {},
        {"ssl": True},
        {"ssl_mode": "PREFERRED"},
        {"ssl_mode": "REQUIRED"},
        {"ssl_ca": ca},
        {"ssl_mode": "VERIFY_CA", "ssl_ca": ca},
        {"ssl": {"ca": ca, "check_hostname": False}},
        {"ssl": ssl._create_unverified_context()},
    ):
        assert cipher({**options, **secure}) != "", secure


def test_names_are_checked_when_asked(tls_server: MariaDB, certificates: dict[str, str]) -> None:
    options = {**tls_server.dsn, "ssl_ca": certificates["ca"]}
    context = ssl.create_default_context(cafile=certificates["ca"])
    checks: list[dict[str, Any]] = [
        {"ssl_mode": "VERIFY_IDENTITY"},
        {"ssl_verify_identity": True},
        {"ssl": {"ca": certificates["ca"]}},
        {"ssl": context, "ssl_ca": None},
    ]
    for check in checks:
        # The certificate is for `localhost`, not for the address.
        with pytest.raises(mysql.OperationalError, match=r"2026.*(not valid for name|NotValidForName)"):
            mysql.connect(**{**options, **check})
        with mysql.connect(**{**options, **check, "host": "localhost"}) as connection:
            assert connection.tls_description is not None


def test_strangers_are_refused(tls_server: MariaDB, certificates: dict[str, str]) -> None:
    for mode in ("VERIFY_CA", "VERIFY_IDENTITY"):
        for ca in (certificates["stranger"], None):
            options = {**tls_server.dsn, "host": "localhost", "ssl_mode": mode, "ssl_ca": ca}
            with pytest.raises(mysql.OperationalError, match="2026"):
                mysql.connect(**options)

            async def main(options: dict[str, Any] = options) -> None:
                with pytest.raises(aio.OperationalError, match="2026"):
                    await aio.connect(**options)

            asyncio.run(main())


def test_a_server_without_tls_is_refused_when_tls_is_required(mariadb: MariaDB) -> None:
    for secure in ({"ssl": True}, {"ssl_mode": "REQUIRED"}):
        with pytest.raises(mysql.NotSupportedError, match="TLS"):
            mysql.connect(**mariadb.dsn, **secure)
    with mysql.connect(**mariadb.dsn) as connection:
        assert connection.tls_description is None


def test_files_that_are_no_certificates(mariadb: MariaDB, tls_server: MariaDB, certificates: dict[str, str]) -> None:
    for ca in ("/nowhere.pem", certificates["key"]):
        with pytest.raises(mysql.OperationalError, match=r"2026.*certificate"):
            mysql.connect(**tls_server.dsn, ssl_ca=ca)
