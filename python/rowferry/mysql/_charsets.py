"""Character sets of a connection: the collation that the handshake names, and Python's codec."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from . import err

__all__ = ["Charset", "all_charsets", "charset_by_name", "followed_codec"]


class Charset(NamedTuple):
    """`collation` is the number of the default collation; `codec` is None for UTF-8, which needs no codec."""

    name: str
    collation: int
    codec: str | None


_CHARSETS = {
    charset.name: charset
    for charset in (
        Charset("utf8mb4", 45, None),
        Charset("utf8mb3", 33, None),
        Charset("utf8", 33, None),
        Charset("ascii", 11, "ascii"),
        Charset("big5", 1, "big5"),
        Charset("binary", 63, "latin-1"),
        Charset("cp1250", 26, "cp1250"),
        Charset("cp1251", 51, "cp1251"),
        Charset("cp1256", 57, "cp1256"),
        Charset("cp1257", 59, "cp1257"),
        Charset("cp850", 4, "cp850"),
        Charset("cp852", 40, "cp852"),
        Charset("cp866", 36, "cp866"),
        Charset("cp932", 95, "cp932"),
        Charset("eucjpms", 97, "euc_jp"),
        Charset("euckr", 19, "euc_kr"),
        Charset("gb18030", 248, "gb18030"),
        Charset("gb2312", 24, "gb2312"),
        Charset("gbk", 28, "gbk"),
        Charset("greek", 25, "iso8859_7"),
        Charset("hebrew", 16, "iso8859_8"),
        Charset("koi8r", 7, "koi8_r"),
        Charset("koi8u", 22, "koi8_u"),
        Charset("latin1", 8, "cp1252"),
        Charset("latin2", 9, "iso8859_2"),
        Charset("latin5", 30, "iso8859_9"),
        Charset("latin7", 41, "iso8859_13"),
        Charset("sjis", 13, "shift_jis"),
        Charset("tis620", 18, "tis_620"),
        Charset("ujis", 12, "euc_jp"),
    )
}


def charset_by_name(name: str) -> Charset:
    """The character set that MySQL calls `name`; `ValueError` when no codec of Python's reads it."""
    try:
        return _CHARSETS[name.lower()]
    except KeyError:
        known = ", ".join(_CHARSETS)
        raise ValueError(f"unknown character set {name!r}; known are {known}") from None


def followed_codec(name: str, variable: str) -> str | None:
    """Python's codec, None for UTF-8, after the server has told that `variable` is now `name`."""
    if not name or name.upper() == "NULL":
        message = f"{variable} is NULL: text would come in each column's own character set; use SET NAMES"
        raise err.NotSupportedError(message)
    try:
        return charset_by_name(name).codec
    except ValueError:
        message = f"{variable} is now {name!r}, which Python cannot read; use SET NAMES utf8mb4"
        raise err.NotSupportedError(message) from None


def all_charsets() -> Iterable[Charset]:
    """Every character set that Python has a codec for."""
    return _CHARSETS.values()
