"""Certificates for tests, made anew each time: an authority, who it vouches for, and a stranger."""

from __future__ import annotations

import datetime
import ipaddress
from pathlib import Path
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID


def make_certificates(folder: Path) -> dict[str, str]:
    """PEM files by name.

    `ca` is an authority, `cert` and `key` are its server's for `localhost`, `address_…` for 127.0.0.1, `other_…` for
    another host, `client_…` are a client's; `stranger` is another authority.
    """
    now = datetime.datetime.now(datetime.timezone.utc)

    def issue(name: str, issuer: Any = None, *, authority: bool = False, host: str = "localhost") -> Any:
        key = ec.generate_private_key(ec.SECP256R1())
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        issuer_name, issuer_key = (subject, key) if issuer is None else issuer
        names: list[x509.GeneralName] = [x509.DNSName(host)]
        if name == "address":
            names = [x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]
        certificate = (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(issuer_name)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - datetime.timedelta(days=1))
            .not_valid_after(now + datetime.timedelta(days=1))
            .add_extension(x509.BasicConstraints(ca=authority, path_length=None), critical=True)
            .add_extension(x509.SubjectAlternativeName(names), critical=False)
            .sign(issuer_key, hashes.SHA256())
        )
        (folder / f"{name}.pem").write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
        private = key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
        (folder / f"{name}.key").write_bytes(private)
        return subject, key

    authority = issue("authority", authority=True)
    issue("stranger", authority=True)
    issue("server", authority)
    issue("address", authority)
    issue("other", authority, host="db.example.org")
    issue("client", authority, host="client")
    return {
        "ca": str(folder / "authority.pem"),
        "cert": str(folder / "server.pem"),
        "key": str(folder / "server.key"),
        "address_cert": str(folder / "address.pem"),
        "address_key": str(folder / "address.key"),
        "other_cert": str(folder / "other.pem"),
        "other_key": str(folder / "other.key"),
        "client_cert": str(folder / "client.pem"),
        "client_key": str(folder / "client.key"),
        "stranger": str(folder / "stranger.pem"),
    }
