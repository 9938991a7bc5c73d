"""What each parameter of `connect` and `create_pool` may be, so that a wrong one is named before anything is done."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from ..exceptions import InterfaceError

__all__ = ["check_class", "check_parameters"]


def _is_flag(value: Any) -> bool:
    return isinstance(value, int) and value in (0, 1)


def _is_count(value: Any) -> bool:
    return hasattr(value, "__index__") and not isinstance(value, bool) and value.__index__() >= 0


def _is_port(value: Any) -> bool:
    if isinstance(value, str):
        return value.isascii() and value.isdigit() and int(value) < 65536
    return _is_count(value) and value.__index__() < 65536


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and not math.isnan(value)


def _is_time(value: Any) -> bool:
    return _is_number(value) and 0 <= value < 1e9


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


Check = tuple[Callable[[Any], bool], str]
_FLAG: Check = (_is_flag, "True or False")
_COUNT: Check = (_is_count, "a number from 0 on")
_TIME: Check = (_is_time, "seconds from 0 on")
_TEXT: Check = (_is_text, "a text")
_CALLABLE: Check = (callable, "something to call")
_CHECKS: dict[str, Check] = {
    **dict.fromkeys(("binary_prefix", "echo", "multi_statements", "read_only", "reset_on_release"), _FLAG),
    "load_balance_hosts": _FLAG,
    **dict.fromkeys(("autocommit", "ssl_disabled", "ssl_verify_cert", "ssl_verify_identity", "use_unicode"), _FLAG),
    **dict.fromkeys(("client_flag", "max_allowed_packet", "stmt_cache_size", "minsize"), _COUNT),
    **dict.fromkeys(("connect_timeout", "query_timeout", "read_timeout", "write_timeout"), _TIME),
    **dict.fromkeys(("acquire_timeout", "idle_timeout"), _TIME),
    **dict.fromkeys(("auth_plugin", "bind_address", "charset", "collation", "database", "db", "init_command"), _TEXT),
    **dict.fromkeys(("program_name", "sql_mode", "time_zone", "unix_socket", "user"), _TEXT),
    **dict.fromkeys(("on_acquire", "on_connect", "on_release", "password_creator", "query_callback"), _CALLABLE),
    "maxsize": (lambda value: _is_count(value) and value > 0, "a number from 1 on, or None for any"),
    "port": (_is_port, "a number from 0 to 65535"),
    "pool_recycle": (_is_number, "seconds, or -1 for never"),
    "pre_ping": (lambda value: isinstance(value, bool) or _is_time(value), "True, False or seconds from 0 on"),
}
#: None means something only where it is the default.
_NEVER_NONE = frozenset(("client_flag", "max_allowed_packet", "minsize", "pool_recycle", "pre_ping", "stmt_cache_size"))


def check_parameters(parameters: Mapping[str, Any]) -> None:
    """`InterfaceError` for the first value that its parameter cannot have."""
    for name, value in parameters.items():
        check = _CHECKS.get(name)
        if check is None or (value is None and name not in _NEVER_NONE):
            continue
        fits, wanted = check
        if not fits(value):
            raise InterfaceError(f"`{name}` is {wanted}, not {value!r}")


def check_class(name: str, value: Any) -> None:
    """`InterfaceError` when the value is no class of cursors."""
    if not (isinstance(value, type) and hasattr(value, "execute") and hasattr(value, "fetchone")):
        raise InterfaceError(f"`{name}` is a class of cursors, such as DictCursor, not {value!r}")
