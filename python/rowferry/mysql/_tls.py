"""From the many ways to ask for TLS to settings that say one thing once."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeGuard

from ..exceptions import InterfaceError, NotSupportedError

if TYPE_CHECKING:
    import ssl as _ssl

    from ._settings import Settings

__all__ = ["PassPhrase", "is_context", "set_tls"]

#: What opens a private key: text, bytes, or what answers one of them, as `ssl.SSLContext.load_cert_chain` takes it.
PassPhrase = str | bytes | Callable[[], str | bytes]

_OF_MAPPING = {"ca", "cert", "key", "capath", "cipher", "password", "check_hostname", "verify_mode"}


def set_tls(
    settings: Settings,
    ssl: Any,
    mode: str | None,
    ca: str | None,
    capath: str | None,
    cert: str | None,
    key: str | None,
    key_password: PassPhrase | None,
    disabled: bool | None,
    verify_cert: bool | None,
    verify_identity: bool | None,
    cipher: str | Sequence[str] | None,
    version: str | Sequence[str] | None,
    fingerprint: str | Sequence[str] | None,
) -> None:
    """Put what `connect` was told about TLS into `settings`.

    `ssl` is a dict of PyMySQL's and MySQLdb's, an `ssl.SSLContext`, a mode, or a bool. Of a context its authorities,
    checks and versions are taken; its own certificate cannot be read out of it and is given by `cert` and `key`.
    """
    if isinstance(ssl, Mapping):
        # MySQLdb and PyMySQL: a dict of files, with the checks among them.
        unknown = sorted(set(ssl) - _OF_MAPPING)
        if unknown:
            raise NotSupportedError(f"`ssl` has parameters that are not supported: {', '.join(unknown)}")
        ca, cert, key = ca or ssl.get("ca"), cert or ssl.get("cert"), key or ssl.get("key")
        capath, cipher = capath or ssl.get("capath"), cipher or ssl.get("cipher")
        key_password = key_password if key_password is not None else ssl.get("password")
        verify_mode = ssl.get("verify_mode", ca is not None or capath is not None)
        if isinstance(verify_mode, str):
            verify_mode = verify_mode.lower() in ("required", "cert_required", "true", "1", "yes")
        verify_cert = verify_cert if verify_cert is not None else bool(verify_mode)
        check = ssl.get("check_hostname", (ca is not None or capath is not None) and verify_cert)
        verify_identity = verify_identity if verify_identity is not None else bool(check)
        mode = mode or "REQUIRED"
    elif is_context(ssl):
        settings.tls_authorities = ssl.get_ca_certs(binary_form=True)
        version = version or _versions_of(ssl)
        verify_cert = ssl.verify_mode.name != "CERT_NONE"
        verify_identity = ssl.check_hostname
        mode = mode or "REQUIRED"
    elif isinstance(ssl, str):
        mode = mode or ssl
    elif ssl is not None:
        mode = mode or ("REQUIRED" if ssl else "DISABLED")
    settings.tls_fingerprints = [_fingerprint(text) for text in _list_of(fingerprint)]
    if disabled:
        mode = "DISABLED"
    elif mode is None and (ca or capath or cert or verify_cert or verify_identity):
        mode = "REQUIRED"
        # An authority is given to be asked.
        verify_cert = verify_cert if verify_cert is not None else bool(ca or capath)
        # These authorities sign for everybody: without the name, any of their certificates would do.
        if ca in ("system", "bundled") and verify_identity is None:
            verify_identity = verify_cert
    elif settings.tls_fingerprints and (mode is None or mode.upper() == "PREFERRED"):
        # Who names the certificate does not want to go on without one.
        mode = "REQUIRED"
    if mode is not None and mode.upper() == "REQUIRED":
        mode = "VERIFY_IDENTITY" if verify_identity else "VERIFY_CA" if verify_cert else "REQUIRED"
    settings.tls_mode = (mode or ("DISABLED" if settings.unix_socket else "PREFERRED")).upper()
    settings.tls_ca, settings.tls_ca_directory = ca or None, capath or None
    settings.tls_cert, settings.tls_key = cert, key
    if callable(key_password):
        key_password = key_password()
    settings.tls_key_password = key_password.encode() if isinstance(key_password, str) else key_password
    settings.tls_ciphers, settings.tls_versions = _list_of(cipher), _list_of(version)


def is_context(given: object) -> TypeGuard[_ssl.SSLContext]:
    """True for an `ssl.SSLContext`; whoever has none need not wait for that module."""
    module = sys.modules.get("ssl")
    return module is not None and isinstance(given, module.SSLContext)


def _list_of(given: str | Sequence[str] | None) -> list[str]:
    """Names out of a sequence, or out of text with commas, colons or blanks between them."""
    if isinstance(given, str):
        # Fingerprints are written with colons between their bytes.
        separators = " ," if _is_fingerprint(given) else " ,:"
        for separator in separators:
            given = given.replace(separator, "\n")
        return given.split()
    return [os.fspath(name) for name in given or ()]


def _is_fingerprint(text: str) -> bool:
    return all(part.isalnum() and len(part) == 2 for part in text.partition(",")[0].strip().split(":"))


def _fingerprint(text: str) -> bytes:
    """The 32 bytes of a SHA-256, from hexadecimal text with or without colons."""
    try:
        digest = bytes.fromhex(text.replace(":", ""))
    except ValueError:
        raise InterfaceError(f"`tls_fp`: `{text}` is not hexadecimal") from None
    if len(digest) != 32:
        raise NotSupportedError(f"`tls_fp` is a SHA-256, 64 hexadecimal digits; `{text}` has {len(digest) * 2}")
    return digest


def _versions_of(context: _ssl.SSLContext) -> list[str]:
    """The versions that a context allows; `NotSupportedError` when it allows none that we have."""
    import ssl as _ssl

    lowest, highest = context.minimum_version, context.maximum_version
    allowed = [
        name
        for name, version, off in (
            ("TLSv1.2", _ssl.TLSVersion.TLSv1_2, _ssl.OP_NO_TLSv1_2),
            ("TLSv1.3", _ssl.TLSVersion.TLSv1_3, _ssl.OP_NO_TLSv1_3),
        )
        if (lowest < 0 or lowest <= version) and (highest < 0 or version <= highest) and not context.options & off
    ]
    if not allowed:
        raise NotSupportedError("the SSLContext allows neither TLS 1.2 nor TLS 1.3")
    return allowed
