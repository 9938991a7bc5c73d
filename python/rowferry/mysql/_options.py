"""What `connect` and `create_pool` take, for type checkers and editors. `_settings` says what it means."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypedDict

if TYPE_CHECKING:
    import datetime
    import os
    import socket

    from .._base.rows import RowFactory
    from ._tls import PassPhrase

__all__ = ["ConnectOptions", "PoolOptions", "PoolSizes"]


class ConnectOptions(TypedDict, total=False):
    """The keyword parameters of `connect`, but for those that may stand without their names."""

    unix_socket: str | None
    charset: str | None
    collation: str | None
    sql_mode: str | None
    read_default_file: str | None
    read_default_group: str | Sequence[str] | None
    conv: Mapping[Any, Any] | None
    use_unicode: bool | None
    client_flag: int
    init_command: str | None
    connect_timeout: float | None
    read_timeout: float | None
    write_timeout: float | None
    query_timeout: float | None
    autocommit: bool | None
    local_infile: bool | str | os.PathLike[str] | Sequence[str | os.PathLike[str]]
    local_infile_dir: str | os.PathLike[str] | None
    max_allowed_packet: int
    auth_plugin_map: Mapping[str, Any] | None
    bind_address: str | None
    binary_prefix: bool
    program_name: str | None
    server_public_key: str | bytes | None
    ssl: Any
    ssl_mode: str | None
    ssl_ca: str | None
    ssl_cert: str | None
    ssl_key: str | None
    ssl_key_password: PassPhrase | None
    ssl_capath: str | None
    ssl_cipher: str | Sequence[str] | None
    tls_version: str | Sequence[str] | None
    tls_fp: str | Sequence[str] | None
    ssl_disabled: bool | None
    ssl_verify_cert: bool | None
    ssl_verify_identity: bool | None
    compress: bool | str | Sequence[str] | None
    zstd_compression_level: int
    named_pipe: Any
    zero_dates: str
    json: Any
    bit: str
    set: str
    uuid: str
    vector: str
    tz: str | datetime.tzinfo | None
    time_zone: str | None
    stmt_cache_size: int
    row_factory: RowFactory
    password_creator: Callable[[], str | bytes] | None
    password1: str | bytes | None
    password2: str | bytes | None
    password3: str | bytes | None
    db: str | None
    passwd: str | bytes | None
    echo: bool
    query_callback: Callable[..., Any] | None
    loop: Any
    auth_plugin: str | None
    server_public_key_path: str | os.PathLike[str] | None
    multi_statements: bool
    executemany_fallback: str
    read_only: bool
    isolation_level: str | None
    target_session_attrs: str
    load_balance_hosts: bool
    cursorclass: type[Any] | None
    cursor_cls: type[Any] | None
    defer_connect: bool
    sock: socket.socket | None


class PoolSizes(TypedDict, total=False):
    """The keyword parameters of `create_pool` that `connect` does not have."""

    pool_recycle: float
    acquire_timeout: float | None
    idle_timeout: float | None
    pre_ping: bool | float
    reset_on_release: bool
    on_connect: Callable[[Any], Any] | None
    on_acquire: Callable[[Any], Any] | None
    on_release: Callable[[Any], Any] | None


class PoolOptions(ConnectOptions, PoolSizes, total=False):
    """The keyword parameters of `create_pool`."""

    host: str | Sequence[str] | None
    user: str | None
    password: str | bytes | None
    database: str | None
    port: int
