"""From the parameters of `connect` to settings that say one thing once."""

from __future__ import annotations

import codecs
import os
import sys
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from .._base.options import parameter_names, refuse_unknown
from .._base.records import field, record, replace
from .._core.informix import codec_of_code_set
from ..exceptions import InterfaceError
from ._isolation import AS_THE_SERVER, IsolationLevel, lock_wait_sql
from ._places import DEFAULT_PORT, GBASEDBT, INFORMIX, Place, places_of, sqlhosts_file, sqlhosts_places
from ._urls import parameters_of, server_name
from .rows import RowFactory

if TYPE_CHECKING:
    import ssl

__all__ = ["DEFAULT_PORT", "PARAMETERS", "Settings", "codec_of_locale", "settings_for", "settings_from"]

#: Code sets of several bytes for a character, by Informix's names and numbers; the core has the others.
CODE_SETS = {
    "57350": "shift_jis",
    "sjis-s": "shift_jis",
    "57351": "euc_jp",
    "ujis": "euc_jp",
    "57352": "big5",
    "57356": "euc_kr",
    "ksc": "euc_kr",
    "57357": "gb2312",
    "gb": "gb2312",
    "gb18030-2000": "gb18030",
    "5488": "gb18030",
}


def codec_of_locale(locale: str) -> str:
    """Python's codec for the code set of a locale such as `en_US.8859-1`, which is also what no code set means."""
    _, _, code_set = locale.partition(".")
    code_set = code_set.partition("@")[0].lower()
    known = codec_of_code_set(code_set or "8859-1")
    if known is not None:
        return known
    name = CODE_SETS.get(code_set, code_set)
    try:
        # Refuses codecs that are none of text, such as base64.
        "".encode(name)
        return codecs.lookup(name).name
    except (LookupError, ValueError):
        pass
    raise InterfaceError(f"client_locale {locale!r}: the code set {code_set!r} is not known")


Challenge = Callable[[int, str], str | Awaitable[str]]


@record
class Settings:
    """How to connect. The Rust core reads the attributes by these names; the parameters are those of `connect`.

    Connections by the same parameters share them: they are not to be changed once they are made.
    """

    host: str = "localhost"
    port: int = DEFAULT_PORT
    user: bytes = b""
    password: bytes = field(default=b"", repr=False)
    database: bytes | None = None
    server: bytes = b"informix"
    client_locale: bytes = b"en_US.8859-1"
    encoding: str = "iso-8859-1"
    env: list[tuple[bytes, bytes]] = field(default_factory=list)
    tls_mode: str | None = None
    tls_ca: str | None = None
    tls_certificate: str | None = None
    tls_key: str | None = None
    tls_authorities: list[bytes] = field(default_factory=list, repr=False)
    tls_name: str | None = None
    connect_timeout: float | None = None
    read_timeout: float | None = None
    write_timeout: float | None = None
    keepalive: bool = False
    fetch_bytes: int = 256 * 1024
    statement_cache_size: int = 64
    #: A server that is known to take it is sent all that sets the session up with the login.
    early: bool = True
    # What the Python shells use.
    challenge: Challenge | None = field(default=None, repr=False)
    #: Where to try, one after the other; the first is `host` and `port`.
    places: list[Place] = field(default_factory=list)
    random_order: bool = False
    autocommit: bool = False
    row_factory: RowFactory = None
    isolation_level: IsolationLevel | None = None
    lock_wait: float | str | None = AS_THE_SERVER
    #: Made by the parameters alone, and by no file.
    lasting: bool = True
    #: What the core has read, when it has.
    core: Any = field(default=None, init=False, repr=False, compare=False)

    @property
    def place(self) -> str:
        """The server's address, for messages."""
        return str(Place(self.host, self.port))

    def at(self, place: Place) -> Settings:
        """The same for another server."""
        if place.server is None and place.host == self.host and place.port == self.port:
            return self
        server = self.server if place.server is None else place.server.encode(self.encoding)
        return replace(self, host=place.host, port=place.port, server=server)

    def in_turn(self) -> list[Place]:
        """Where to try, in this order."""
        places = self.places or [Place(self.host, self.port)]
        if not self.random_order:
            return places
        import random

        return random.sample(places, len(places))


def _flag(name: str, value: Any) -> bool:
    if isinstance(value, str):
        if value.lower() in ("1", "true", "yes", "on"):
            return True
        if value.lower() in ("0", "false", "no", "off"):
            return False
        raise InterfaceError(f"`{name}={value}`: expected true or false")
    return bool(value)


def _encoded(name: str, text: str, encoding: str) -> bytes:
    try:
        return text.encode(encoding)
    except UnicodeEncodeError:
        # Not repeated: it may be the password.
        raise InterfaceError(f"`{name}` has a character that {encoding} lacks; see `client_locale`") from None


def _seconds(name: str, value: Any) -> float | None:
    if value is None:
        return None
    try:
        seconds = float(value)
    except (TypeError, ValueError):
        raise InterfaceError(f"`{name}={value}`: expected seconds") from None
    if not 0 <= seconds < 1e9:
        raise InterfaceError(f"`{name}={value}`: expected seconds")
    return seconds or None


def _lock_wait(value: float | str | None) -> float | str | None:
    if isinstance(value, str):
        words = value.strip().lower()
        if words == AS_THE_SERVER:
            return AS_THE_SERVER
        if words in ("none", "forever"):
            return None
        try:
            value = float(words)
        except ValueError:
            raise InterfaceError(f"`lock_wait={value}`: expected seconds, `none` or `{AS_THE_SERVER}`") from None
    # Wrong numbers are refused here, not in the middle of connecting.
    lock_wait_sql(value)
    return value


def settings_from(
    host: str = "localhost",
    port: int = DEFAULT_PORT,
    *,
    user: str = "",
    password: str | None = None,
    database: str | None = None,
    server: str | None = None,
    connect_timeout: float | str | None = None,
    read_timeout: float | str | None = None,
    write_timeout: float | str | None = None,
    keepalive: bool | str = False,
    client_locale: str = "en_US.8859-1",
    env: Mapping[str, str] | None = None,
    autocommit: bool | str = False,
    row_factory: RowFactory = None,
    isolation_level: IsolationLevel | str | None = None,
    lock_wait: float | str | None = AS_THE_SERVER,
    tls: bool | str | ssl.SSLContext = False,
    tls_ca: str | os.PathLike[str] | None = None,
    tls_certificate: str | os.PathLike[str] | None = None,
    tls_key: str | os.PathLike[str] | None = None,
    tls_server_hostname: str | None = None,
    hosts: str | Iterable[str | tuple[str, int]] | None = None,
    sqlhosts: str | os.PathLike[str] | bool = False,
    load_balance_hosts: bool | str = False,
    fetch_bytes: int | str = 256 * 1024,
    statement_cache_size: int | str = 64,
    challenge: Challenge | None = None,
) -> Settings:
    """See `connect`."""
    encoding = codec_of_locale(client_locale)
    server = server or server_name() or "informix"
    try:
        bytes_of_fetch, cached = int(fetch_bytes), int(statement_cache_size)
    except ValueError as error:
        raise InterfaceError(str(error)) from None
    if not 1 <= bytes_of_fetch < 2**31 or cached < 0:
        raise InterfaceError("fetch_bytes is 1 to 2**31 - 1, statement_cache_size 0 or more")
    settings = Settings(
        host=host,
        port=port,
        user=_encoded("user", user, encoding),
        password=_encoded("password", password or "", encoding),
        database=_encoded("database", database, encoding) if database else None,
        server=_encoded("server", server, encoding),
        client_locale=_encoded("client_locale", client_locale, "ascii"),
        encoding=encoding,
        env=[(_encoded("env", name, encoding), _encoded(name, value, encoding)) for name, value in (env or {}).items()],
        tls_ca=None if tls_ca is None else os.fspath(tls_ca),
        tls_certificate=None if tls_certificate is None else os.fspath(tls_certificate),
        tls_key=None if tls_key is None else os.fspath(tls_key),
        tls_name=tls_server_hostname,
        connect_timeout=_seconds("connect_timeout", connect_timeout),
        read_timeout=_seconds("read_timeout", read_timeout),
        write_timeout=_seconds("write_timeout", write_timeout),
        keepalive=_flag("keepalive", keepalive),
        fetch_bytes=bytes_of_fetch,
        statement_cache_size=cached,
        challenge=challenge,
        autocommit=_flag("autocommit", autocommit),
        row_factory=row_factory,
        isolation_level=None if isolation_level is None else IsolationLevel(isolation_level),
        lock_wait=_lock_wait(lock_wait),
    )
    _set_tls(settings, tls)
    settings.random_order = _flag("load_balance_hosts", load_balance_hosts)
    places = places_of(hosts, port) if hosts is not None else [Place(host, port)]
    if sqlhosts:
        path = sqlhosts_file(sqlhosts)
        places, at_random = sqlhosts_places(path, server)
        settings.random_order |= at_random
        settings.lasting = False
        for place in places:
            if place.tls and settings.tls_mode is None:
                raise InterfaceError(f"{path}: the server {place.server!r} speaks TLS: connect with `tls=`")
    settings.places = places
    settings.host, settings.port = places[0].host, places[0].port
    return settings


def _set_tls(settings: Settings, tls: bool | str | ssl.SSLContext) -> None:
    # Who has a context has imported the module; others need not wait for it.
    module = sys.modules.get("ssl")
    if module is not None and isinstance(tls, module.SSLContext):
        settings.tls_authorities = tls.get_ca_certs(binary_form=True)
        if tls.verify_mode == module.CERT_NONE:
            settings.tls_mode = "REQUIRED"
        else:
            settings.tls_mode = "VERIFY_IDENTITY" if tls.check_hostname else "VERIFY_CA"
        return
    name = tls.lower() if isinstance(tls, str) else tls
    modes = {"required": "REQUIRED", "verify_ca": "VERIFY_CA", "verify_identity": "VERIFY_IDENTITY"}
    if isinstance(name, str) and name in modes:
        settings.tls_mode = modes[name]
    elif _flag("tls", tls):
        settings.tls_mode = "VERIFY_IDENTITY" if settings.tls_ca else "REQUIRED"


#: What `connect` takes.
PARAMETERS = frozenset(parameter_names(settings_from))


#: Parameters of these types are what they look like, and can be compared.
_PLAIN = frozenset({str, int, float, bool, type(None)})
#: Settings by the parameters that they were made of: programs connect to the same few places again and again.
_KEPT: dict[tuple[Any, ...], Settings] = {}
_MOST_KEPT = 16


def settings_for(host: str | None = None, port: int | None = None, **parameters: Any) -> Settings:
    """As `settings_from`; the host may be a URL, over which the other parameters win."""
    values = parameters.values()
    types = (type(host), type(port), *map(type, values))
    if not _PLAIN.issuperset(types):
        return _made(host, port, parameters)
    # What the environment says counts where no server is named, which a URL does in its own way.
    named = parameters.get("server") and not (host and "://" in host)
    environment = () if named else (server_name((INFORMIX,)), server_name((GBASEDBT,)))
    key = (host, port, *parameters, *values, *types, *environment)
    settings = _KEPT.get(key)
    if settings is None:
        settings = _made(host, port, parameters)
        if settings.lasting:
            if len(_KEPT) >= _MOST_KEPT:
                _KEPT.clear()
            _KEPT[key] = settings
    return settings


def _made(host: str | None, port: int | None, parameters: dict[str, Any]) -> Settings:
    refuse_unknown("connect", parameters, PARAMETERS)
    if host is not None and "://" in host:
        if port is not None:
            raise InterfaceError("a URL has the port already")
        return settings_from(**parameters_of(host, parameters))
    place: dict[str, Any] = {"host": host, "port": port}
    return settings_from(**{name: value for name, value in place.items() if value is not None}, **parameters)
