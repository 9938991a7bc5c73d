"""What a URL says of a connection: our own, and those of the JDBC drivers of Informix and of GBase 8s."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from typing import Any

from ..exceptions import InterfaceError
from ._places import GBASEDBT, INFORMIX, sqlhosts_file

__all__ = ["parameters_of", "server_name"]

#: Whose settings count first, by the scheme of the URL. GBase 8s is derived from Informix, with other names for them.
_FAMILIES = {"informix": (INFORMIX, GBASEDBT), "gbase8s": (GBASEDBT, INFORMIX)}

#: Parameters of `connect` that a URL can give.
_OPTIONS = frozenset(
    {
        "server",
        "autocommit",
        "connect_timeout",
        "read_timeout",
        "write_timeout",
        "keepalive",
        "client_locale",
        "tls",
        "tls_ca",
        "tls_certificate",
        "tls_key",
        "tls_server_hostname",
        "sqlhosts",
        "load_balance_hosts",
        "isolation_level",
        "lock_wait",
        "fetch_bytes",
        "statement_cache_size",
    }
)

#: Variables of the session that a URL can give by their own names, in any case.
_ENVIRONMENT = frozenset(
    {"DB_LOCALE", "DBCENTURY", "DBDATE", "DBMONEY", "DELIMIDENT", "GL_DATE", "GL_DATETIME", "NODEFDAC", "USEV5SERVER"}
)

#: `jdbc:informix-sqli://host:port/database:NAME=value;NAME=value`
_JDBC = re.compile(
    r"jdbc:(?P<product>informix|gbasedbt)-sqli://(?P<host>\[[^\]]*\]|[^:/;]*)(:(?P<port>\d+))?(/(?P<database>[^:;]*))?"
    r"(:(?P<properties>.*))?",
    re.IGNORECASE | re.DOTALL,
)


def server_name(families: Iterable[str] = (INFORMIX, GBASEDBT), environment: Mapping[str, str] = os.environ) -> str:
    """The server that INFORMIXSERVER or GBASEDBTSERVER names; empty when neither does."""
    return next((name for family in families if (name := environment.get(f"{family}SERVER"))), "")


def parameters_of(url: str, given: Mapping[str, Any], environment: Mapping[str, str] = os.environ) -> dict[str, Any]:
    """The parameters of `connect`: those of the URL, over which the `given` ones win."""
    if url[:5].lower() == "jdbc:":
        scheme, told = _jdbc(url)
    else:
        scheme, told = _own(url)
    env = {**told.pop("env"), **(given.get("env") or {})}
    parameters = told | dict(given)
    if env:
        parameters["env"] = env
    families = _FAMILIES[scheme]
    if str(parameters.get("sqlhosts", "")).lower() in ("1", "true", "yes", "on"):
        parameters["sqlhosts"] = sqlhosts_file(True, environment, families)
    if not parameters.get("server"):
        parameters["server"] = server_name(families, environment)
        if not parameters["server"] and scheme == "gbase8s":
            # There is no name that most of these servers have.
            raise InterfaceError("the server has no name: add ?server=NAME to the URL, or set GBASEDBTSERVER")
    return parameters


def _own(url: str) -> tuple[str, dict[str, Any]]:
    """`informix://user:password@host:port/database?server=NAME&option=value`."""
    from urllib.parse import parse_qsl, unquote, urlsplit

    try:
        parts = urlsplit(url)
    except ValueError as error:
        raise InterfaceError(f"the URL cannot be read: {error}") from None
    if parts.scheme not in _FAMILIES:
        # The URL is not repeated: there may be a password in it.
        form = "informix://user:password@host:port/database"
        raise InterfaceError(f"expected a URL of the form {form}, not one that begins with {parts.scheme!r}")
    told: dict[str, Any] = {"env": {}}
    unknown = []
    for name, value in parse_qsl(parts.query, keep_blank_values=True):
        if name in _OPTIONS:
            told[name] = value
        elif not _servers_own(name, value, told):
            unknown.append(name)
    _refuse(unknown, "option")
    # Not `hostname` and `port`, which know one host only.
    login, _, hosts = parts.netloc.rpartition("@")
    user, colon, password = login.partition(":")
    parameters = {
        "hosts": unquote(hosts) or None,
        "user": unquote(user) or None,
        "password": unquote(password) if colon else None,
        "database": unquote(parts.path.lstrip("/")) or None,
    }
    return parts.scheme, told | {name: value for name, value in parameters.items() if value is not None}


def _jdbc(url: str) -> tuple[str, dict[str, Any]]:
    found = _JDBC.fullmatch(url)
    if found is None:
        form = "jdbc:informix-sqli://host:port/database:INFORMIXSERVER=NAME"
        raise InterfaceError(f"the URL cannot be read: expected one of the form {form}")
    place = found["host"] + (f":{found['port']}" if found["port"] else "")
    told: dict[str, Any] = {"env": {}}
    if place:
        told["hosts"] = place
    if found["database"]:
        told["database"] = found["database"]
    unknown = []
    for text in (found["properties"] or "").split(";"):
        name, _, value = text.strip().partition("=")
        if name and not _servers_own(name, value, told) and not _drivers_own(name, value, told):
            unknown.append(name)
    _refuse(unknown, "property")
    return "gbase8s" if found["product"].lower() == "gbasedbt" else "informix", told


def _servers_own(name: str, value: str, told: dict[str, Any]) -> bool:
    """Takes a setting by the name that the server's own clients know it by; false when it is none."""
    name = name.upper()
    if name in ("INFORMIXSERVER", "GBASEDBTSERVER"):
        told["server"] = value
    elif name == "CLIENT_LOCALE":
        told["client_locale"] = value
    elif name in ("INFORMIXSQLHOSTS", "GBASEDBTSQLHOSTS"):
        told["sqlhosts"] = value
    elif name in ("INFORMIXDIR", "GBASEDBTDIR"):
        told.setdefault("sqlhosts", os.path.join(value, "etc", "sqlhosts"))
    elif name in _ENVIRONMENT:
        told["env"][name] = value
    else:
        return False
    return True


def _drivers_own(name: str, value: str, told: dict[str, Any]) -> bool:
    """Takes a property of the JDBC drivers; false when it has no counterpart here."""
    name = name.upper()
    if name in ("USER", "PASSWORD"):
        told[name.lower()] = value
    elif name == "SSLCONNECTION":
        # That driver looks at the server's certificate, too.
        told["tls"] = "verify_identity" if value.strip().lower() == "true" else False
    elif name == "SQLH_FILE":
        told["sqlhosts"] = value
    elif name == "SQLH_TYPE":
        return value.upper() == "FILE"
    elif name == "IFX_LOCK_MODE_WAIT":
        # -1 waits for ever.
        told["lock_wait"] = "none" if value.strip() == "-1" else value
    else:
        return False
    return True


def _refuse(unknown: Iterable[str], what: str) -> None:
    if names := ", ".join(sorted(unknown)):
        raise InterfaceError(f"unknown {what} in the URL: {names}")
