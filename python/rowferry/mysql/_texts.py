"""Names in SQL, and the pattern that programs take from PyMySQL's and MySQLdb's cursors."""

from __future__ import annotations

import re

__all__ = ["RE_INSERT_VALUES", "called_name", "quoted_name", "variable_name"]

_VALUE = r"\s*(?:%s|%\([^)]+\)s)\s*"
#: An INSERT or REPLACE up to its values, the list of values, and what stands behind it. Only for programs that take it
#: from here: `executemany` understands statements by a lexer.
RE_INSERT_VALUES = re.compile(
    rf"\s*((?:INSERT|REPLACE)\b.+?\bVALUES?\s*)(\({_VALUE}(?:,{_VALUE})*\))"
    r"(\s*(?:AS\s[^()]+(?:\([^()]*\)\s*)?)?(?:ON\s+DUPLICATE\b.*)?);?\s*\Z",
    re.IGNORECASE | re.DOTALL,
)


def called_name(name: str) -> str:
    """`database.procedure` as two quoted names."""
    return ".".join(quoted_name(part) for part in name.split("."))


def quoted_name(name: str) -> str:
    """A name in backquotes; one that is quoted already stays as it is."""
    return name if name.startswith("`") and name.endswith("`") else "`" + name.replace("`", "``") + "`"


def variable_name(procedure: str, at: int) -> str:
    """The session variable of an argument of `callproc`."""
    name = procedure.replace("`", "``")
    return f"@`_{name}_{at}`"
