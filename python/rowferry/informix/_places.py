"""Where servers listen: lists of hosts, and the `sqlhosts` file of Informix's own clients."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from .. import exceptions as err
from .._base.records import record

if TYPE_CHECKING:
    from pathlib import Path

__all__ = [
    "DEFAULT_PORT",
    "GBASEDBT",
    "INFORMIX",
    "Place",
    "hosts_of",
    "is_elsewhere",
    "redirection",
    "sqlhosts_file",
    "sqlhosts_places",
]

DEFAULT_PORT = 9088

#: What the names of settings begin with: Informix's, and those of GBase 8s, which is derived from it.
INFORMIX = "INFORMIX"
GBASEDBT = "GBASEDBT"

#: Codes by which a server says that another one may serve: it cannot be reached, it is full, it is not open yet.
_ELSEWHERE = frozenset({-908, -930, -931, -1829, -25596, -27001, -27002})


@record(frozen=True)
class Place:
    """A server: where it listens, and the DBSERVERNAME by which it knows itself (None: the one asked for)."""

    host: str
    port: int = DEFAULT_PORT
    server: str | None = None
    #: By the `sqlhosts` file the port speaks TLS; None when nobody said.
    tls: bool | None = None

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


def _port(text: str, where: str) -> int:
    # int() takes blanks, signs and underscores, too.
    if text.isascii() and text.isdigit() and 0 < int(text) < 65536:
        return int(text)
    raise err.InterfaceError(f"{where}: {text!r} is no port number")


def hosts_of(text: str, default_port: int = DEFAULT_PORT) -> list[Place]:
    """The places in `host1:port,host2,[::1]:port`."""
    places = []
    for part in text.split(","):
        part = part.strip()
        if part.startswith("["):
            host, closed, rest = part[1:].partition("]")
            if not closed or (rest and not rest.startswith(":")):
                raise err.InterfaceError(f"{part!r}: expected [address]:port")
            port = rest[1:]
        else:
            host, _, port = part.partition(":")
        if not host and len(text) > len(part):
            raise err.InterfaceError(f"{text!r}: a host is missing between the commas")
        places.append(Place(host or "localhost", _port(port, part) if port else default_port))
    return places


def places_of(hosts: str | Iterable[str | tuple[str, int]], default_port: int = DEFAULT_PORT) -> list[Place]:
    """The places of the parameter `hosts`: one text, or texts and pairs of host and port."""
    if isinstance(hosts, str):
        return hosts_of(hosts, default_port)
    places: list[Place] = []
    for item in hosts:
        if isinstance(item, str):
            places += hosts_of(item, default_port)
        else:
            host, port = item
            places.append(Place(host, _port(str(port), host)))
    if not places:
        raise err.InterfaceError("`hosts` names no host")
    return places


def redirection(detail: str) -> Place:
    """The place to which a server redirects, by its words `server=host|port`."""
    server, _, address = detail.partition("=")
    host, _, port = address.strip("\0").partition("|")
    if not host or not (port.isascii() and port.isdigit() and 0 < int(port) < 65536):
        raise err.OperationalError(f"the server redirects to {detail!r}, which is no address")
    return Place(host, int(port), server or None)


def is_elsewhere(error: err.Error) -> bool:
    """True when another server of the list may do better: this one did not answer, or sends its clients away.

    A wrong password or an unknown database is as wrong everywhere.
    """
    if not isinstance(error, err.OperationalError):
        return False
    return error.sqlcode is None or error.sqlcode in _ELSEWHERE


def sqlhosts_file(
    named: str | os.PathLike[str] | bool,
    environment: Mapping[str, str] = os.environ,
    families: Iterable[str] = (INFORMIX, GBASEDBT),
) -> Path:
    """The file that the parameter `sqlhosts` means; True is the one that the server's own clients would read."""
    from pathlib import Path

    if not isinstance(named, bool):
        return Path(named)
    families = tuple(families)
    for family in families:
        if given := environment.get(f"{family}SQLHOSTS"):
            return Path(given)
        if directory := environment.get(f"{family}DIR"):
            return Path(directory, "etc", "sqlhosts")
    raise err.InterfaceError(f"sqlhosts=True: neither {families[0]}SQLHOSTS nor {families[0]}DIR is set")


@record
class _Line:
    name: str
    nettype: str
    host: str
    service: str
    options: dict[str, str]


def _lines(text: str, where: str) -> list[_Line]:
    lines = []
    for number, raw in enumerate(text.splitlines(), 1):
        fields = raw.partition("#")[0].split()
        if not fields:
            continue
        if len(fields) < 4:
            raise err.InterfaceError(f"{where}, line {number}: expected name, type, host and service")
        name, nettype, host, service, *rest = fields
        options = dict(option.partition("=")[::2] for option in ",".join(rest).split(",") if option)
        lines.append(_Line(name, nettype.lower(), host, service, options))
    return lines


def sqlhosts_places(path: Path, server: str) -> tuple[list[Place], bool]:
    """The places of a server or a group in a `sqlhosts` file, and whether the group wants a random one first.

    Lines are `name nettype host service [options]`. A group's own line has the type `group`; its members name it by
    `g=`, or follow it up to the one that its `e=` names. Members of other types than TCP and TLS are passed over.
    """
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise err.InterfaceError(f"cannot read the sqlhosts file {path}: {error.strerror}") from error
    lines = _lines(text, str(path))
    at = next((at for at, line in enumerate(lines) if line.name == server), None)
    if at is None:
        raise err.InterfaceError(f"-25596: the server {server!r} is not listed in the sqlhosts file {path}")
    head = lines[at]
    if head.nettype != "group":
        return [_place(head, path)], False
    members = [line for line in lines if line.options.get("g") == server]
    if not members and (last := head.options.get("e")):
        end = next((end for end, line in enumerate(lines) if end > at and line.name == last), None)
        if end is None:
            raise err.InterfaceError(f"{path}: the group {server!r} ends with {last!r}, which is not listed behind it")
        members = lines[at + 1 : end + 1]
    usable = [line for line in members if _is_tcp(line)]
    if not usable:
        raise err.InterfaceError(f"{path}: the group {server!r} has no member that is reached by TCP")
    return [_place(line, path) for line in usable], head.options.get("c") == "1"


def _is_tcp(line: _Line) -> bool:
    # on, ol or dr; then soc or tli; then tcp, ssl or imc.
    return line.nettype[2:] in ("soctcp", "tlitcp", "socssl")


def _place(line: _Line, path: Path) -> Place:
    if not _is_tcp(line):
        raise err.NotSupportedError(f"{path}: the server {line.name!r} is reached by {line.nettype}, not by TCP")
    if line.service.isascii() and line.service.isdigit():
        port = _port(line.service, f"{path}: {line.name}")
    else:
        try:
            import socket

            port = socket.getservbyname(line.service, "tcp")
        except OSError:
            message = f"-931: {path}: {line.name}: the service {line.service!r} is not known on this machine"
            raise err.InterfaceError(message) from None
    # `*host` means every interface of a server; clients take the name.
    host = line.host.removeprefix("*") or "localhost"
    return Place(host, port, line.name, tls=line.nettype.endswith("ssl"))
