from __future__ import annotations

import datetime
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from rowferry import mysql

from tests.servers.mariadb import MariaDB


@pytest.fixture
def connect(mariadb: MariaDB) -> Iterator[Callable[..., mysql.Connection]]:
    """Connect to the session's server, with further parameters; closed at the end of the test."""
    opened: list[mysql.Connection] = []

    def connect(**options: Any) -> mysql.Connection:
        connection = mysql.connect(**{**mariadb.dsn, **options})
        opened.append(connection)
        return connection

    yield connect
    for connection in opened:
        connection.close()


@pytest.fixture
def connection(connect: Callable[..., mysql.Connection]) -> mysql.Connection:
    return connect()


@pytest.fixture
def cursor(connection: mysql.Connection) -> mysql.cursors.Cursor:
    return connection.cursor()


@pytest.fixture(scope="session")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """PEM files: an authority (`ca`), a server's certificate for `localhost` (`cert`, `key`), another authority."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.x509.oid import NameOID

    folder = tmp_path_factory.mktemp("certificates")
    now = datetime.datetime.now(datetime.timezone.utc)

    def issue(name: str, issuer: Any = None, *, authority: bool = False) -> Any:
        key = ec.generate_private_key(ec.SECP256R1())
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        issuer_name, issuer_key = (subject, key) if issuer is None else issuer
        names = x509.SubjectAlternativeName([x509.DNSName("localhost")])
        certificate = (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(issuer_name)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - datetime.timedelta(days=1))
            .not_valid_after(now + datetime.timedelta(days=1))
            .add_extension(x509.BasicConstraints(ca=authority, path_length=None), critical=True)
            .add_extension(names, critical=False)
            .sign(issuer_key, hashes.SHA256())
        )
        path = folder / f"{name}.pem"
        path.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
        private = key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
        (folder / f"{name}.key").write_bytes(private)
        return subject, key

    authority = issue("authority", authority=True)
    issue("stranger", authority=True)
    issue("server", authority)
    return {
        "ca": str(folder / "authority.pem"),
        "cert": str(folder / "server.pem"),
        "key": str(folder / "server.key"),
        "stranger": str(folder / "stranger.pem"),
    }


@pytest.fixture(scope="session")
def tls_server(certificates: dict[str, str]) -> Iterator[MariaDB]:
    """A server that offers TLS."""
    files = [f"--ssl-{name}={certificates[name]}" for name in ("ca", "cert", "key")]
    with MariaDB.start(files) as server:
        yield server
