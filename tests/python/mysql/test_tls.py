"""TLS against a real server: every mode, both colours, blocking and asyncio."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import os
import shutil
import ssl
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives import serialization
from rowferry import mysql
from rowferry.mysql import aio

from tests.servers.mariadb import MariaDB
from tests.servers.mysql import MySQLServer


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


def test_modes(each_tls_server: MySQLServer, certificates: dict[str, str]) -> None:
    options = each_tls_server.dsn
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


def test_names_are_checked_when_asked(each_tls_server: MySQLServer, certificates: dict[str, str]) -> None:
    options = {**each_tls_server.dsn, "ssl_ca": certificates["ca"]}
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


def test_strangers_are_refused(each_tls_server: MySQLServer, certificates: dict[str, str]) -> None:
    for mode in ("VERIFY_CA", "VERIFY_IDENTITY"):
        for ca in (certificates["stranger"], None):
            options = {**each_tls_server.dsn, "host": "localhost", "ssl_mode": mode, "ssl_ca": ca}
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


def test_files_that_are_no_certificates(tls_server: MariaDB, certificates: dict[str, str]) -> None:
    for ca in ("/nowhere.pem", certificates["key"]):
        with pytest.raises(mysql.OperationalError, match=r"2026.*certificate"):
            mysql.connect(**tls_server.dsn, ssl_ca=ca)


@contextlib.contextmanager
def account(server: MySQLServer, requirement: str) -> Iterator[dict[str, Any]]:
    """What connects as a new account that must show a certificate."""
    with mysql.connect(**server.dsn) as admin, admin.cursor() as cursor:
        cursor.execute("DROP USER IF EXISTS 'shown'@'%'")
        cursor.execute(f"CREATE USER 'shown'@'%' IDENTIFIED BY 'pass' REQUIRE {requirement}")
        cursor.execute("GRANT ALL ON rowferry.* TO 'shown'@'%'")
        try:
            yield {**server.dsn, "user": "shown", "password": "pass"}
        finally:
            cursor.execute("DROP USER 'shown'@'%'")


def encrypted(key: str, path: Path, form: serialization.PrivateFormat) -> str:
    """A copy of a private key under the pass phrase `open sésame`."""
    private = serialization.load_pem_private_key(Path(key).read_bytes(), None)
    encryption = serialization.BestAvailableEncryption("open sésame".encode())
    path.write_bytes(private.private_bytes(serialization.Encoding.PEM, form, encryption))
    return str(path)


def test_certificates_of_clients(each_tls_server: MySQLServer, certificates: dict[str, str], tmp_path: Path) -> None:
    cert, key = certificates["client_cert"], certificates["client_key"]
    locked = encrypted(key, tmp_path / "locked.key", serialization.PrivateFormat.PKCS8)
    together = tmp_path / "together.pem"
    together.write_text(Path(cert).read_text() + Path(locked).read_text())
    phrase = "open sésame"
    context = ssl.create_default_context(cafile=certificates["ca"])
    with account(each_tls_server, "SUBJECT '/CN=client'") as options:
        for shown in (
            {"ssl_cert": cert, "ssl_key": key},
            {"ssl_cert": cert, "ssl_key": locked, "ssl_key_password": phrase},
            {"ssl_cert": cert, "ssl_key": locked, "ssl_key_password": phrase.encode()},
            {"ssl_cert": cert, "ssl_key": locked, "ssl_key_password": lambda: phrase},
            {"ssl_cert": str(together), "ssl_key_password": phrase},
            {"ssl": {"ca": certificates["ca"], "cert": cert, "key": locked, "password": phrase}, "host": "localhost"},
            # What a context has loaded itself cannot be read out of it.
            {"ssl": context, "ssl_cert": cert, "ssl_key": key, "host": "localhost"},
        ):
            assert cipher({**options, **shown}) != "", shown
        for hidden in ({}, {"ssl": True}, {"ssl_cert": certificates["cert"], "ssl_key": certificates["key"]}):
            with pytest.raises(mysql.OperationalError, match="1045"):
                mysql.connect(**{**options, **hidden})


def test_keys_that_do_not_open(tls_server: MariaDB, certificates: dict[str, str], tmp_path: Path) -> None:
    key = certificates["client_key"]
    locked = encrypted(key, tmp_path / "locked.key", serialization.PrivateFormat.PKCS8)
    old = encrypted(key, tmp_path / "old.key", serialization.PrivateFormat.TraditionalOpenSSL)
    for file, phrase, reason in (
        (locked, None, "ssl_key_password"),
        (locked, "wrong", "does not open"),
        (old, "open sésame", "openssl pkcs8 -topk8"),
        (certificates["client_cert"], None, "private key"),
        ("/nowhere.key", None, "private key"),
    ):
        options = {"ssl_cert": certificates["client_cert"], "ssl_key": file, "ssl_key_password": phrase}
        with pytest.raises(mysql.OperationalError, match=f"2026.*{reason}"):
            mysql.connect(**tls_server.dsn, **options)


def test_directories_of_authorities(each_tls_server: MySQLServer, certificates: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "README").write_text("no certificate")
    (tmp_path / "empty").mkdir()
    options = {**each_tls_server.dsn, "host": "localhost"}
    for wrong in (tmp_path, tmp_path / "empty", tmp_path / "nowhere"):
        with pytest.raises(mysql.OperationalError, match="2026"):
            mysql.connect(**options, ssl_capath=str(wrong))
    shutil.copy(certificates["stranger"], tmp_path / "stranger.pem")
    with pytest.raises(mysql.OperationalError, match=r"2026.*UnknownIssuer"):
        mysql.connect(**options, ssl_capath=str(tmp_path))
    shutil.copy(certificates["ca"], tmp_path / "0a1b2c3d.0")
    mysql.connect(**options, ssl_capath=str(tmp_path), ssl_verify_identity=True).close()
    mysql.connect(**options, ssl={"capath": str(tmp_path)}).close()


#: Runs where nobody has asked for the machine's authorities yet: they are read once.
CONNECT = """
import sys
from rowferry import mysql
where, *ways = (eval(argument) for argument in sys.argv[1:])
for way in ways:
    try:
        mysql.connect(**where, **way).close()
        print("connected")
    except mysql.OperationalError as error:
        print(error.args[1])
"""


def test_authorities_of_the_machine(each_tls_server: MySQLServer, certificates: dict[str, str]) -> None:
    def told(host: str, *ways: dict[str, Any]) -> list[str]:
        where = {**each_tls_server.dsn, "host": host}
        command = [sys.executable, "-c", CONNECT, repr(where), *map(repr, ways)]
        env = {**os.environ, "SSL_CERT_FILE": certificates["ca"], "SSL_CERT_DIR": str(Path(certificates["ca"]).parent)}
        done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done.stderr
        return done.stdout.splitlines()

    ways: list[dict[str, Any]] = [{"ssl_mode": "verify_identity"}, {"ssl_ca": "system"}, {"ssl_verify_cert": True}]
    assert told("localhost", *ways) == ["connected"] * 3
    # Of authorities that sign for everybody the name is asked for, too.
    *named, unnamed = told("127.0.0.1", *ways)
    assert unnamed == "connected" and all("not valid for name" in message for message in named), named
    (bundled,) = told("localhost", {"ssl_ca": "bundled"})
    assert "UnknownIssuer" in bundled


def test_versions_and_ciphers(each_tls_server: MySQLServer, certificates: dict[str, str]) -> None:
    def described(**choice: Any) -> str:
        with mysql.connect(**{**each_tls_server.dsn, "ssl": True, **choice}) as connection:
            return str(connection.tls_description)

    assert described(tls_version="TLSv1.2").startswith("TLSv1_2 ")
    assert described(tls_version=["TLSv1.2", "TLSv1.3"]).startswith("TLSv1_3 ")
    one = "ECDHE-ECDSA-AES128-GCM-SHA256"
    assert described(tls_version="TLSv1.2", ssl_cipher=one) == "TLSv1_2 TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256"
    assert described(ssl_cipher=f"{one}:TLS_CHACHA20_POLY1305_SHA256") == "TLSv1_3 TLS13_CHACHA20_POLY1305_SHA256"
    assert described(ssl={"cipher": one}).startswith("TLSv1_3 ")
    context = ssl.create_default_context(cafile=certificates["ca"])
    context.maximum_version = ssl.TLSVersion.TLSv1_2
    assert described(ssl=context, host="localhost").startswith("TLSv1_2 ")
    for choice, reason in (({"tls_version": "TLSv1.1,TLSv1.2"}, "TLSv1.1"), ({"ssl_cipher": "HIGH"}, "HIGH")):
        with pytest.raises(mysql.OperationalError, match=f"2026.*`{reason}`"):
            described(**choice)


def test_fingerprints(each_tls_server: MySQLServer, certificates: dict[str, str]) -> None:
    def fingerprint(name: str) -> str:
        return hashlib.sha256(ssl.PEM_cert_to_DER_cert(Path(certificates[name]).read_text())).hexdigest()

    ours, other = fingerprint("cert"), fingerprint("other_cert")
    with_colons = ":".join(ours[at : at + 2] for at in range(0, 64, 2)).upper()
    for known in (ours, with_colons, f"{other},{ours}", [other, ours]):
        assert cipher({**each_tls_server.dsn, "tls_fp": known}) != ""
    with pytest.raises(mysql.OperationalError, match=f"2026.*{ours}"):
        mysql.connect(**each_tls_server.dsn, tls_fp=other)
    with pytest.raises(mysql.OperationalError, match="2026"):
        mysql.connect(**each_tls_server.dsn, tls_fp=ours, ssl_ca=certificates["stranger"])
    with pytest.raises(mysql.NotSupportedError, match="SHA-256"):
        mysql.connect(**each_tls_server.dsn, tls_fp="ab" * 20)
    with pytest.raises(mysql.InterfaceError, match="hexadecimal"):
        mysql.connect(**each_tls_server.dsn, tls_fp="what?")


@pytest.mark.on("mysql9")
def test_sessions_are_resumed(server: MySQLServer) -> None:
    # MariaDB gives out no tickets.
    def reused(**choice: Any) -> int:
        with mysql.connect(**server.dsn, ssl=True, **choice) as connection, connection.cursor() as cursor:
            cursor.execute("SHOW SESSION STATUS LIKE 'Ssl_sessions_reused'")
            row = cursor.fetchone()
            assert row is not None
            return int(row[1])

    for version in ("TLSv1.3", "TLSv1.2"):
        reused(tls_version=version)
        assert reused(tls_version=version) == 1
