"""Character sets by name and number, as PyMySQL's module of this name has them."""

from __future__ import annotations

from . import _charsets

__all__ = ["Charset", "charset_by_id", "charset_by_name"]

#: Default collations that are not named `…_general_ci`.
_COLLATIONS = {
    "big5": "big5_chinese_ci",
    "binary": "binary",
    "cp932": "cp932_japanese_ci",
    "eucjpms": "eucjpms_japanese_ci",
    "euckr": "euckr_korean_ci",
    "gb18030": "gb18030_chinese_ci",
    "gb2312": "gb2312_chinese_ci",
    "gbk": "gbk_chinese_ci",
    "latin1": "latin1_swedish_ci",
    "latin5": "latin5_turkish_ci",
    "sjis": "sjis_japanese_ci",
    "tis620": "tis620_thai_ci",
    "ujis": "ujis_japanese_ci",
}


class Charset:
    """A character set of MySQL with its default collation, whose number is `id`."""

    def __init__(self, id: int, name: str, collation: str, is_default: bool = False) -> None:
        self.id = id
        self.name = name
        self.collation = collation
        self.is_default = is_default

    def __repr__(self) -> str:
        return f"Charset(id={self.id}, name={self.name!r}, collation={self.collation!r})"

    @property
    def encoding(self) -> str:
        """Python's codec."""
        return _charsets.charset_by_name(self.name).codec or "utf8"

    @property
    def is_binary(self) -> bool:
        """True for the set of bytes without a meaning."""
        return self.name == "binary"


_BY_NAME = {
    known.name: Charset(known.collation, known.name, _COLLATIONS.get(known.name, f"{known.name}_general_ci"), True)
    for known in _charsets.all_charsets()
    if known.name != "utf8"
}
_BY_ID = {charset.id: charset for charset in _BY_NAME.values()}


def charset_by_name(name: str) -> Charset | None:
    """The character set that MySQL calls so, None when there is none; `utf8` is `utf8mb4`."""
    name = name.lower()
    return _BY_NAME.get("utf8mb4" if name == "utf8" else name)


def charset_by_id(id: int) -> Charset:
    """The character set whose default collation has this number; `KeyError` when there is none."""
    return _BY_ID[id]
