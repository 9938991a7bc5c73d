"""Lists as parameters: `WHERE id IN ?`."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, Final

from ..exceptions import ProgrammingError

__all__ = ["In"]

#: Values that a statement can have.
MOST_VALUES = 32_767

#: A name of a type, perhaps with numbers: `INTEGER`, `VARCHAR(20)`, `DATETIME YEAR TO DAY`.
_TYPE = re.compile(r"[A-Za-z][A-Za-z0-9_]*(?: [A-Za-z0-9_]+)*(?:\(\d+(?:, ?\d+)?\))?(?: [A-Za-z0-9_]+)*")


class In:
    """The values of an IN, as one parameter of `execute`: `("SELECT … WHERE id IN ?", (In([1, 2, 3]),))`.

    The placeholder stands alone behind IN, with or without parentheses, and becomes as many as there are values.
    Nothing is in a list without values: `IN` is false then, and `NOT IN` true, of NULL, too. `None` among the values
    is SQL's NULL, beside which `NOT IN` is never true.

    `type` is the type of a list without values, for columns of a type that no VARCHAR is compared with. Short lists are
    filled up with their last value to 2, 4, 8, … of them, so that few statements are prepared.
    """

    __slots__ = ("type", "values")

    values: Final[tuple[Any, ...]]
    type: Final[str]

    def __init__(self, values: Iterable[Any], type: str = "VARCHAR(255)") -> None:
        if isinstance(values, (str, bytes, bytearray, memoryview)):
            raise ProgrammingError("In takes several values, such as a list, not one text")
        self.values = tuple(values)
        self.type = type
        if len(self.values) > MOST_VALUES:
            raise ProgrammingError(f"In has {len(self.values)} values; a statement can have {MOST_VALUES}")
        if any(isinstance(value, In) for value in self.values):
            raise ProgrammingError("a list for IN holds values, not lists")
        if not _TYPE.fullmatch(type):
            raise ProgrammingError(f"{type!r} is no type such as 'INTEGER'")

    def __len__(self) -> int:
        return len(self.values)

    def __repr__(self) -> str:
        return f"In({list(self.values)!r})"
