"""From the many parameters of `connect` to settings that say one thing once."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from .._base.options import parameter_names, refuse_unknown
from .._base.records import field, record, replace
from .._base.rows import RowFactory
from ..exceptions import InterfaceError, NotSupportedError
from ._charsets import Charset, charset_by_name
from ._checks import check_parameters
from ._isolation import isolation_words
from ._option_files import read_option_files
from ._parameters import Presentation, presentation
from ._places import parameters_of_url, places_of
from ._tls import PassPhrase, set_tls
from .constants import CLIENT
from .converters import overrides

if TYPE_CHECKING:
    import socket

    from ._options import ConnectOptions

__all__ = ["PARAMETERS", "Settings", "given", "over_socket", "settings_from"]

DEFAULT_CONNECT_TIMEOUT = 10.0
#: What `target_session_attrs` can be, as in libpq: whether the server may read only.
TARGETS: dict[str, list[bool | None]] = {
    "any": [None],
    "read-write": [False],
    "read-only": [True],
    "prefer-standby": [True, None],
}
UTF8MB4 = charset_by_name("utf8mb4")
#: What `auth_plugin` may name. Which one it is, the server says: a wrong guess costs nothing.
_PLUGINS = frozenset(
    (
        "caching_sha2_password",
        "client_ed25519",
        "dialog",
        "mysql_clear_password",
        "mysql_native_password",
        "parsec",
        "sha256_password",
    )
)


@record
class Settings:
    """How to connect. The Rust core reads the attributes by these names; the parameters are those of `connect`."""

    host: str = "localhost"
    port: int = 3306
    places: list[tuple[str, int]] = field(default_factory=list)
    unix_socket: str | None = None
    bind_address: str | None = None
    user: str = ""
    password: bytes = field(default=b"", repr=False)
    more_passwords: list[bytes] = field(default_factory=list, repr=False)
    database: str = ""
    charset: Charset = UTF8MB4
    collation_name: str | None = None
    client_flag: int = 0
    max_allowed_packet: int = 16 * 1024 * 1024
    attributes: list[tuple[str, str]] = field(default_factory=list)
    server_public_key: bytes | None = None
    compression: list[str] = field(default_factory=list)
    compression_required: bool = False
    zstd_level: int = 3
    tls_mode: str = "PREFERRED"
    tls_ca: str | None = None
    tls_cert: str | None = None
    tls_key: str | None = None
    tls_key_password: bytes | None = field(default=None, repr=False)
    tls_ca_directory: str | None = None
    tls_authorities: list[bytes] = field(default_factory=list, repr=False)
    tls_fingerprints: list[bytes] = field(default_factory=list)
    tls_versions: list[str] = field(default_factory=list)
    tls_ciphers: list[str] = field(default_factory=list)
    tls_name: str | None = None
    connect_timeout: float | None = DEFAULT_CONNECT_TIMEOUT
    read_timeout: float | None = None
    write_timeout: float | None = None
    query_timeout: float | None = None
    # A blocking operation that takes longer costs the connection: for those that end others.
    give_up_after: float | None = None
    decoders: dict[int, Any] | None = None
    encoders: dict[type, Any] | None = None
    raw: bool = False
    zero_dates: str = "text"
    presentation: Presentation = field(default_factory=Presentation)
    binary_prefix: bool = True
    #: Where files of LOAD DATA LOCAL may lie, anywhere when empty; None for nowhere.
    local_files: list[str] | None = None
    # What the Python shells use.
    password_creator: Callable[[], str | bytes] | None = field(default=None, repr=False)
    autocommit: bool | None = False
    init_command: str | None = None
    sql_mode: str | None = None
    time_zone: str | None = None
    statement_cache_size: int = 0
    conv: Mapping[Any, Any] | None = field(default=None, repr=False)
    row_factory: RowFactory = None
    multi_statements: bool = True
    read_only: bool = False
    isolation_level: str | None = None
    target_session_attrs: str = "any"
    load_balance_hosts: bool = False
    executemany_fallback: str = "loop"
    echo: bool = False
    query_callback: Callable[..., Any] | None = field(default=None, repr=False)

    @property
    def collation(self) -> int:
        """The number of the collation that the handshake names."""
        return self.charset.collation

    @property
    def encoding(self) -> str | None:
        """Python's codec for the character set; None for UTF-8."""
        return self.charset.codec

    @property
    def capabilities(self) -> int:
        """Capability flags beyond those that are always asked for."""
        if self.multi_statements:
            return self.client_flag | CLIENT.MULTI_STATEMENTS
        return self.client_flag & ~CLIENT.MULTI_STATEMENTS

    @property
    def place(self) -> str:
        """The server's address, for messages."""
        return self.unix_socket or self.host

    def each_place(self) -> list[Settings]:
        """These settings for each of the servers that may be tried."""
        if self.unix_socket or len(self.places) < 2:
            return [self]
        return [replace(self, host=host, port=port) for host, port in self.places]

    @property
    def targets(self) -> list[bool | None]:
        """Whether the server reads only, as it is wanted first and, if there is none, then; None for either."""
        return TARGETS[self.target_session_attrs]

    def without_tls(self) -> Settings:
        """The same in plain text."""
        return replace(self, tls_mode="DISABLED")


def given(
    host: str | Sequence[str] | None,
    user: str | None,
    password: str | bytes | None,
    database: str | None,
    port: int,
    options: ConnectOptions,
) -> dict[str, Any]:
    """All parameters of `connect` that were given, by name."""
    found: dict[str, Any] = {**options}
    for name, value in (("host", host), ("user", user), ("password", password), ("database", database)):
        if value is not None:
            found[name] = value
    if port != 0:
        found["port"] = port
    return found


def over_socket(settings: Settings, sock: socket.socket) -> Settings:
    """These settings for a socket that is connected already: where it leads to, another connection finds the server."""
    try:
        peer = sock.getpeername()
    except OSError as error:
        raise InterfaceError(0, f"the socket is not connected: {error.strerror}") from error
    if isinstance(peer, tuple):
        name = settings.tls_name or settings.host
        return replace(settings, unix_socket=None, host=peer[0], port=peer[1], tls_name=name)
    path = os.fsdecode(peer) or settings.unix_socket or "(given)"
    return replace(settings, unix_socket=path)


#: Settings that were made before, without their passwords, by what they were made from.
_MADE: dict[tuple[Any, ...], Settings] = {}
#: Programs connect in a few ways, again and again.
_MOST_MADE = 16
_PLAIN = frozenset({str, int, float, bool, type(None)})
#: What is not remembered: secrets, and what is looked up in files, which may change.
_FRESH = frozenset(
    {
        "local_infile",
        "local_infile_dir",
        "passwd",
        "password1",
        "password2",
        "password3",
        "read_default_file",
        "read_default_group",
        "ssl_capath",
        "ssl_key_password",
    }
)


def _known(host: Any, parameters: dict[str, Any]) -> Settings | None:
    """Settings as they were made before from the same plain parameters; None for parameters of any other kind."""
    password = parameters.get("password")
    if password.__class__ is not str or not parameters.get("user") or not _FRESH.isdisjoint(parameters):
        return None
    others = {name: value for name, value in parameters.items() if name != "password"}
    kinds = tuple(value.__class__ for value in others.values())
    if not _PLAIN.issuperset(kinds) or host.__class__ not in _PLAIN:
        return None
    # 1 and True are equal, but do not mean the same everywhere.
    key = (host, os.getpid(), sys.argv[:1] and sys.argv[0], *others.items(), kinds)
    template = _MADE.get(key)
    if template is None:
        if not _PARAMETERS.issuperset(parameters):
            return None
        template = _settings(host, **others)
        if len(_MADE) >= _MOST_MADE:
            _MADE.clear()
        _MADE[key] = template
    made = object.__new__(Settings)
    made.__dict__.update(template.__dict__)
    made.password = password.encode()
    # The module's own converters may have been changed meanwhile.
    made.decoders, made.encoders = overrides(None)
    return made


def settings_from(host: str | Sequence[str] | None = None, *arguments: Any, **parameters: Any) -> Settings:
    """Settings from the parameters that PyMySQL, mysqlclient, aiomysql and asyncmy take, or from a URL and those."""
    if isinstance(host, str) and "://" in host:
        parameters = {**parameters_of_url(host), **parameters}
        host = parameters.pop("host", None)
    if not arguments and (known := _known(host, parameters)) is not None:
        return known
    if not _PARAMETERS.issuperset(parameters):
        # What `connect` keeps for itself has been taken out.
        refuse_unknown("connect", parameters, PARAMETERS)
    return _settings(host, *arguments, **parameters)


def _settings(
    host: str | Sequence[str] | None = None,
    user: str | None = None,
    password: str | bytes | None = None,
    database: str | None = None,
    port: int = 0,
    *,
    unix_socket: str | None = None,
    charset: str | None = None,
    collation: str | None = None,
    sql_mode: str | None = None,
    read_default_file: str | None = None,
    read_default_group: str | Sequence[str] | None = None,
    conv: Mapping[Any, Any] | None = None,
    use_unicode: bool | None = True,
    client_flag: int = 0,
    init_command: str | None = None,
    connect_timeout: float | None = DEFAULT_CONNECT_TIMEOUT,
    read_timeout: float | None = None,
    write_timeout: float | None = None,
    query_timeout: float | None = None,
    autocommit: bool | None = False,
    local_infile: bool | str | os.PathLike[str] | Sequence[str | os.PathLike[str]] = False,
    local_infile_dir: str | os.PathLike[str] | None = None,
    max_allowed_packet: int = 16 * 1024 * 1024,
    auth_plugin_map: Mapping[str, Any] | None = None,
    bind_address: str | None = None,
    binary_prefix: bool = True,
    program_name: str | None = None,
    server_public_key: str | bytes | None = None,
    ssl: Any = None,
    ssl_mode: str | None = None,
    ssl_ca: str | None = None,
    ssl_cert: str | None = None,
    ssl_key: str | None = None,
    ssl_key_password: PassPhrase | None = None,
    ssl_capath: str | None = None,
    ssl_cipher: str | Sequence[str] | None = None,
    tls_version: str | Sequence[str] | None = None,
    tls_fp: str | Sequence[str] | None = None,
    ssl_disabled: bool | None = None,
    ssl_verify_cert: bool | None = None,
    ssl_verify_identity: bool | None = None,
    compress: bool | str | Sequence[str] | None = None,
    zstd_compression_level: int = 3,
    named_pipe: Any = None,
    zero_dates: str = "text",
    json: Any = None,
    bit: str = "bytes",
    set: str = "str",
    uuid: str = "str",
    vector: str = "bytes",
    tz: Any = None,
    time_zone: str | None = None,
    stmt_cache_size: int = 0,
    row_factory: RowFactory = None,
    password_creator: Callable[[], str | bytes] | None = None,
    password1: str | bytes | None = None,
    password2: str | bytes | None = None,
    password3: str | bytes | None = None,
    db: str | None = None,
    passwd: str | bytes | None = None,
    echo: bool = False,
    query_callback: Callable[..., Any] | None = None,
    loop: Any = None,
    auth_plugin: str | None = None,
    server_public_key_path: str | os.PathLike[str] | None = None,
    multi_statements: bool = True,
    executemany_fallback: str = "loop",
    read_only: bool = False,
    isolation_level: str | None = None,
    target_session_attrs: str = "any",
    load_balance_hosts: bool = False,
) -> Settings:
    check_parameters(locals())
    for name, wanted, reason in (
        ("auth_plugin_map", auth_plugin_map, "every plugin is built in; `password2` and `password3` answer `dialog`"),
        ("named_pipe", named_pipe, "give `host` or `unix_socket`"),
    ):
        if wanted:
            raise NotSupportedError(f"`{name}` is not supported: {reason}")
    if auth_plugin and auth_plugin not in _PLUGINS:
        raise NotSupportedError(f"`auth_plugin`: `{auth_plugin}` is none of {', '.join(sorted(_PLUGINS))}")
    if executemany_fallback not in ("loop", "multi"):
        raise InterfaceError(f"`executemany_fallback` is `loop` or `multi`, not `{executemany_fallback}`")
    if target_session_attrs not in TARGETS:
        raise InterfaceError(f"`target_session_attrs` is one of {', '.join(TARGETS)}, not `{target_session_attrs}`")
    if loop is not None:
        _check_loop(loop)
    if server_public_key_path is not None and server_public_key is None:
        server_public_key = _read_key(server_public_key_path)
    if read_default_file or read_default_group:
        # As MySQL's programs do it: the group of all clients first, then the program's own.
        further = [read_default_group] if isinstance(read_default_group, str) else list(read_default_group or ())
        file = read_option_files(read_default_file, ["client", *further])
        host, user, password = host or file.get("host"), user or file.get("user"), password or file.get("password")
        database, port = database or file.get("database"), port or int(file.get("port", 0))
        unix_socket, charset = unix_socket or file.get("socket"), charset or file.get("default-character-set")
        ssl_ca, ssl_cert = ssl_ca or file.get("ssl-ca"), ssl_cert or file.get("ssl-cert")
        ssl_key, ssl_mode = ssl_key or file.get("ssl-key"), ssl_mode or file.get("ssl-mode")
        ssl_capath, ssl_cipher = ssl_capath or file.get("ssl-capath"), ssl_cipher or file.get("ssl-cipher")
        tls_version, tls_fp = tls_version or file.get("tls-version"), tls_fp or file.get("ssl-fp")
    password = next((given for given in (password, passwd, password1) if given is not None), None)
    if isinstance(server_public_key, str):
        server_public_key = server_public_key.encode()
    by_code, by_type = overrides(conv)
    shown, time_zone = presentation(json, bit, set, uuid, vector, tz, time_zone)
    try:
        known_charset = charset_by_name(charset or "utf8mb4")
    except ValueError as unknown:
        raise InterfaceError(str(unknown)) from None
    places = places_of(host or "localhost", int(port) or 3306)
    local_files = _local_files(local_infile, local_infile_dir)
    settings = Settings(
        host=places[0][0],
        port=places[0][1],
        places=places,
        unix_socket=unix_socket or None,
        bind_address=bind_address,
        user=user or _login_name(),
        password=_as_bytes(password),
        more_passwords=[_as_bytes(further) for further in (password2, password3) if further is not None],
        database=database or db or "",
        charset=known_charset,
        collation_name=collation,
        client_flag=client_flag | (CLIENT.LOCAL_FILES if local_files is not None else 0),
        local_files=local_files,
        max_allowed_packet=max_allowed_packet,
        attributes=_attributes(program_name),
        server_public_key=server_public_key,
        connect_timeout=connect_timeout or None,
        read_timeout=read_timeout,
        write_timeout=write_timeout,
        query_timeout=query_timeout,
        decoders=by_code,
        encoders=by_type,
        raw=use_unicode is False,
        zero_dates=zero_dates,
        presentation=shown,
        binary_prefix=binary_prefix,
        password_creator=password_creator,
        autocommit=autocommit,
        init_command=init_command,
        sql_mode=sql_mode,
        time_zone=time_zone,
        statement_cache_size=stmt_cache_size,
        row_factory=row_factory,
        conv=conv,
        multi_statements=multi_statements,
        read_only=read_only,
        isolation_level=None if isolation_level is None else isolation_words(isolation_level),
        target_session_attrs=target_session_attrs,
        load_balance_hosts=load_balance_hosts,
        executemany_fallback=executemany_fallback,
        echo=echo,
        query_callback=query_callback,
    )
    _set_compression(settings, compress, zstd_compression_level)
    set_tls(
        settings,
        ssl,
        mode=ssl_mode,
        ca=ssl_ca,
        capath=ssl_capath,
        cert=ssl_cert,
        key=ssl_key,
        key_password=ssl_key_password,
        disabled=ssl_disabled,
        verify_cert=ssl_verify_cert,
        verify_identity=ssl_verify_identity,
        cipher=ssl_cipher,
        version=tls_version,
        fingerprint=tls_fp,
    )
    return settings


#: What `connect` takes; and what it keeps for itself.
_PARAMETERS = frozenset(parameter_names(_settings))
PARAMETERS = _PARAMETERS.union(("cursorclass", "cursor_cls", "defer_connect", "sock"))


def _check_loop(loop: Any) -> None:
    # Imported here: whoever connects without asyncio need not wait for it.
    import asyncio

    try:
        running = asyncio.get_running_loop()
    except RuntimeError:
        running = None
    if loop is not running:
        raise InterfaceError("`loop` is not the running event loop, which connections use; leave it out")


def _read_key(path: str | os.PathLike[str]) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError as error:
        raise InterfaceError(f"`server_public_key_path`: cannot read `{path}`: {error.strerror}") from error


def _set_compression(settings: Settings, compress: bool | str | Sequence[str] | None, level: int) -> None:
    if not compress:
        return
    names = ["zstd", "zlib"] if compress is True else [compress] if isinstance(compress, str) else list(compress)
    unknown = set(names) - {"zstd", "zlib", "uncompressed"}
    if unknown:
        raise InterfaceError(f"`compress` takes True, `zlib` and `zstd`, not `{sorted(unknown)[0]}`")
    if not 1 <= level <= 22:
        raise InterfaceError(f"`zstd_compression_level` is 1 to 22, not {level}")
    settings.compression = [name for name in names if name != "uncompressed"]
    # Who names an algorithm wants it; who says True, or lists `uncompressed`, goes without where there is none.
    settings.compression_required = compress is not True and "uncompressed" not in names
    settings.zstd_level = level


def _local_files(allowed: Any, directory: Any) -> list[str] | None:
    """The places that files of LOAD DATA LOCAL may come from, for `Settings.local_files`."""
    if isinstance(allowed, (str, os.PathLike)):
        places = [allowed]
    elif isinstance(allowed, Sequence):
        places = list(allowed)
        if not places and directory is None:
            return None
    elif not allowed and directory is None:
        return None
    else:
        places = []
    if directory is not None:
        places.append(directory)
    # A relative place is what it is now, wherever the program goes later.
    return [os.path.abspath(place) for place in places]


def _as_bytes(password: str | bytes | None) -> bytes:
    return password.encode() if isinstance(password, str) else password or b""


def _login_name() -> str:
    import getpass

    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return ""


def _attributes(program_name: str | None) -> list[tuple[str, str]]:
    from .. import _core

    attributes = [
        ("_client_name", "rowferry"),
        ("_client_version", _core.__version__),
        ("_pid", str(os.getpid())),
        ("program_name", program_name or os.path.basename(sys.argv[0] if sys.argv else "")),
    ]
    return [(name, value) for name, value in attributes if value]
