"""Parameters of rarer types, and what the options of `connect` make of values both ways. Called by the Rust core."""

from __future__ import annotations

import datetime
import enum
import sys
import warnings
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from ..exceptions import InterfaceError

if TYPE_CHECKING:
    import array

__all__ = ["Presentation", "in_zone", "plain", "presentation", "zone_named"]


def plain(value: Any) -> Any:
    """A value of a type that the core knows, in place of `value`; NotImplemented when there is none.

    Members of enumerations count as their values, scalars of numpy as Python's, addresses as their text, arrays of
    floats as the bytes of a VECTOR.
    """
    if isinstance(value, enum.Enum):
        return value.value
    # Who has a value of theirs has imported them; others need not wait for these modules.
    modules = sys.modules
    if (known := modules.get("ipaddress")) is not None and isinstance(value, (known.IPv4Address, known.IPv6Address)):
        return str(value)
    if (known := modules.get("array")) is not None and isinstance(value, known.array):
        return _singles(value) if value.typecode in "fd" else NotImplemented
    dtype = getattr(value, "dtype", None)
    if dtype is not None and hasattr(value, "item"):
        if getattr(value, "ndim", 0) == 0:
            if dtype.kind in "mM":
                # As it is, an item of nanoseconds would be a number.
                value = value.astype(f"{dtype.name.partition('[')[0]}[us]")
            return value.item()
        if value.ndim == 1 and dtype.kind == "f":
            return value.astype("<f4").tobytes()
        return NotImplemented
    if hasattr(value, "__index__"):
        return value.__index__()
    return NotImplemented


def _singles(values: array.array[float]) -> bytes:
    import array

    singles = array.array("f", values)
    if sys.byteorder != "little":
        singles.byteswap()
    return singles.tobytes()


def in_zone(value: datetime.datetime, zone: datetime.tzinfo | None) -> datetime.datetime:
    """An aware datetime as the session's clock shows it, without its zone.

    Where the session's zone is not known it is cut off, as PyMySQL and its kin do, but with a `RuntimeWarning`.
    """
    if zone is None:
        warnings.warn(
            "the time zone of a datetime was cut off, because that of the session is not known: connect with `tz` (for "
            "instance tz='UTC') or with `time_zone`, and it is converted",
            RuntimeWarning,
            stacklevel=2,
        )
        return value.replace(tzinfo=None)
    return value.astimezone(zone).replace(tzinfo=None)


def zone_named(name: str) -> datetime.tzinfo | None:
    """The time zone that a server calls `name`: `+02:00`, `UTC` or `Europe/Berlin`; None for `SYSTEM`."""
    if name.upper() in ("UTC", "GMT"):
        return datetime.timezone.utc
    if name.upper() == "SYSTEM":
        return None
    if name[:1] in ("+", "-"):
        hours, colon, minutes = name[1:].partition(":")
        if colon and hours.isdecimal() and minutes.isdecimal():
            offset = datetime.timedelta(hours=int(hours), minutes=int(minutes))
            if offset < datetime.timedelta(days=1):
                return datetime.timezone(-offset if name[0] == "-" else offset)
        return None
    import zoneinfo

    try:
        return zoneinfo.ZoneInfo(name)
    except (zoneinfo.ZoneInfoNotFoundError, ValueError):
        return None


class Presentation:
    """What values of some types look like. The core reads the attributes by these names."""

    #: Functions by kind of column, from text (`json`, `set`, `uuid`) or bytes (`bit`, `bool`, `vector`).
    decoders: dict[str, Callable[[Any], Any]]
    #: From dicts and lists to JSON; None: they are refused, or parenthesised lists.
    dumps: Callable[[Any], str] | None
    #: Sets are values of SET columns; otherwise parenthesised lists.
    sets: bool
    #: TIMESTAMP columns are aware, in this zone.
    zone: datetime.tzinfo | None
    #: What Arrow calls `zone`.
    zone_name: str | None
    #: The session's zone, for parameters that are aware; None when it is not known.
    session_zone: datetime.tzinfo | None

    def __init__(self) -> None:
        self.decoders = {}
        self.dumps = None
        self.sets = False
        self.zone = None
        self.zone_name = None
        self.session_zone = None


def presentation(
    json: Any = None,
    bit: str = "bytes",
    set: str = "str",
    uuid: str = "str",
    vector: str = "bytes",
    tz: str | datetime.tzinfo | None = None,
    time_zone: str | None = None,
) -> tuple[Presentation, str | None]:
    """What the options of `connect` of these names mean; and the time zone that the session needs, if any."""
    shown = Presentation()
    loads, shown.dumps = _json(json)
    chosen = {
        **({"json": loads} if loads is not None else {}),
        **_choice("bit", bit, _BITS),
        **_choice("set", set, _SETS),
        **_choice("uuid", uuid, _UUIDS),
        **_choice("vector", vector, _VECTORS),
    }
    shown.decoders = chosen
    shown.sets = set == "set"
    if time_zone is not None:
        shown.session_zone = zone_named(time_zone)
    if tz is not None:
        shown.zone, shown.zone_name = _zone(tz)
        utc = datetime.timedelta(0)
        if time_zone is not None and (
            shown.session_zone is None or shown.session_zone.utcoffset(datetime.datetime(2000, 1, 1)) != utc
        ):
            raise InterfaceError("with `tz` the session's time zone is UTC: leave `time_zone` out")
        shown.session_zone = datetime.timezone.utc
        # As an offset, because servers know names only where somebody has loaded them.
        time_zone = "+00:00"
    return shown, time_zone


def _zone(tz: str | datetime.tzinfo) -> tuple[datetime.tzinfo, str]:
    if isinstance(tz, str):
        zone = zone_named(tz)
        if zone is None:
            raise InterfaceError(f"`tz` is no time zone that Python knows: {tz!r}")
    else:
        zone = tz
    if zone is datetime.timezone.utc:
        return zone, "UTC"
    name = getattr(zone, "key", None) or zone.tzname(None)
    if name is None:
        raise InterfaceError(f"`tz` is a time zone without a name: {tz!r}")
    return zone, name.removeprefix("UTC") if name.startswith(("UTC+", "UTC-")) else name


def _json(option: Any) -> tuple[Callable[[Any], Any] | None, Callable[[Any], str] | None]:
    if option is None or option is False:
        return None, None
    if option is True:
        import json

        return json.loads, _dumps
    if hasattr(option, "loads") and hasattr(option, "dumps"):
        return option.loads, lambda value: _as_text(option.dumps(value))
    if callable(option):
        return option, _dumps
    raise InterfaceError("`json` takes True, a function from text, or a module with `loads` and `dumps`")


def _dumps(value: Any) -> str:
    import json

    return json.dumps(value, ensure_ascii=False)


def _as_text(spelled: str | bytes) -> str:
    # Some libraries write bytes.
    return spelled.decode() if isinstance(spelled, bytes) else spelled


def _choice(name: str, chosen: str, known: Mapping[str, dict[str, Callable[[Any], Any]]]) -> dict[str, Any]:
    if chosen not in known:
        raise InterfaceError(f"`{name}` is one of {', '.join(map(repr, known))}, not {chosen!r}")
    return known[chosen]


def _bits(value: bytes) -> int:
    return int.from_bytes(value, "big")


def _truth(value: bytes) -> bool:
    return value != b"\0"


def _members(value: str) -> set[str]:
    return set(value.split(",")) if value else set()


def _uuid(value: str) -> Any:
    import uuid

    return uuid.UUID(value)


def _array(value: bytes) -> array.array[float]:
    import array

    singles = array.array("f")
    singles.frombytes(value)
    if sys.byteorder != "little":
        singles.byteswap()
    return singles


def _list(value: bytes) -> list[float]:
    return _array(value).tolist()


_BITS: dict[str, dict[str, Callable[[Any], Any]]] = {
    "bytes": {},
    "int": {"bit": _bits, "bool": _bits},
    # A single bit is a truth value; more are a number.
    "bool": {"bit": _bits, "bool": _truth},
}
_SETS: dict[str, dict[str, Callable[[Any], Any]]] = {"str": {}, "set": {"set": _members}}
_UUIDS: dict[str, dict[str, Callable[[Any], Any]]] = {"str": {}, "uuid": {"uuid": _uuid}}
_VECTORS: dict[str, dict[str, Callable[[Any], Any]]] = {
    "bytes": {},
    "list": {"vector": _list},
    "array": {"vector": _array},
}
