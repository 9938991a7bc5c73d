"""Where servers are: URLs and lists of hosts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..exceptions import InterfaceError

__all__ = ["parameter_of_text", "parameters_of_url", "places_of"]

_SCHEMES = ("mysql", "mariadb")
_BOOLS = {"true": True, "1": True, "yes": True, "on": True, "false": False, "0": False, "no": False, "off": False}
#: Parameters that are no text, by what a URL's query must be turned into.
_TYPES: dict[str, type] = {
    "autocommit": bool,
    "binary_prefix": bool,
    "client_flag": int,
    "connect_timeout": float,
    "load_balance_hosts": bool,
    "local_infile": bool,
    "max_allowed_packet": int,
    "read_timeout": float,
    "ssl_disabled": bool,
    "ssl_verify_cert": bool,
    "ssl_verify_identity": bool,
    "stmt_cache_size": int,
    "use_unicode": bool,
    "write_timeout": float,
    "zstd_compression_level": int,
}


def parameters_of_url(url: str) -> dict[str, Any]:
    """What `mysql://user:password@host:3306,other/database?name=value` says, as parameters of `connect`.

    Never shows the password in an error.
    """
    from urllib.parse import parse_qsl, unquote, urlsplit

    parts = urlsplit(url)
    if parts.scheme not in _SCHEMES:
        raise InterfaceError(f"a URL begins with `mysql://` or `mariadb://`, not with `{parts.scheme}://`")
    found: dict[str, Any] = {}
    account, _, hosts = parts.netloc.rpartition("@")
    if account:
        user, colon, password = account.partition(":")
        found["user"] = unquote(user)
        if colon:
            found["password"] = unquote(password)
    if hosts:
        found["host"] = unquote(hosts)
    if len(parts.path) > 1:
        found["database"] = unquote(parts.path[1:])
    for name, text in parse_qsl(parts.query, keep_blank_values=True):
        found[name] = parameter_of_text(name, text)
    return found


def parameter_of_text(name: str, text: str) -> Any:
    """The value of the parameter `name` of `connect` that is written as `text`."""
    kind = _TYPES.get(name)
    try:
        if kind is bool:
            return _BOOLS[text.lower()]
        if name == "compress":
            return _BOOLS.get(text.lower(), text)
        return kind(text) if kind is not None else text
    except (KeyError, ValueError):
        raise InterfaceError(f"`{name}` in the URL cannot be `{text}`") from None


def places_of(host: str | Sequence[str], port: int) -> list[tuple[str, int]]:
    """Hosts with their ports, in the order in which they are tried: `h1,h2:3307,[::1]:3308`, or a list of those."""
    places = []
    for place in host.split(",") if isinstance(host, str) else host:
        name, own_port = place.strip(), ""
        if name.startswith("["):
            name, _, rest = name[1:].partition("]")
            own_port = rest.removeprefix(":")
        elif name.count(":") == 1:
            name, _, own_port = name.partition(":")
        if own_port and not (own_port.isascii() and own_port.isdigit() and 0 < int(own_port) < 65536):
            raise InterfaceError(f"`{place}`: a port is a number from 1 to 65535")
        places.append((name or "localhost", int(own_port) if own_port else port))
    return places or [("localhost", port)]
