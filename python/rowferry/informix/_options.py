"""What `connect` and `create_pool` take, for type checkers and editors. `_settings` says what it means."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, TypedDict

if TYPE_CHECKING:
    import os
    import ssl

    from ._isolation import IsolationLevel
    from ._settings import Challenge
    from .rows import RowFactory

__all__ = ["ConnectOptions", "PoolOptions", "PoolSizes"]


class ConnectOptions(TypedDict, total=False):
    """The keyword parameters of `connect`."""

    user: str
    password: str | None
    database: str | None
    server: str | None
    connect_timeout: float | str | None
    read_timeout: float | str | None
    write_timeout: float | str | None
    keepalive: bool | str
    client_locale: str
    env: Mapping[str, str] | None
    autocommit: bool | str
    row_factory: RowFactory
    isolation_level: IsolationLevel | str | None
    lock_wait: float | str | None
    tls: bool | str | ssl.SSLContext
    tls_ca: str | os.PathLike[str] | None
    tls_certificate: str | os.PathLike[str] | None
    tls_key: str | os.PathLike[str] | None
    tls_server_hostname: str | None
    hosts: str | Iterable[str | tuple[str, int]] | None
    sqlhosts: str | os.PathLike[str] | bool
    load_balance_hosts: bool | str
    fetch_bytes: int | str
    statement_cache_size: int | str
    challenge: Challenge | None


class PoolSizes(TypedDict, total=False):
    """The keyword parameters of `create_pool` that `connect` does not have."""

    min_size: int
    max_size: int
    acquire_timeout: float | None
    max_lifetime: float | None
    idle_timeout: float | None
    check_after: float | None


class PoolOptions(ConnectOptions, PoolSizes, total=False):
    """The keyword parameters of `create_pool`."""
