"""Rows and collections as values: ROW, SET, MULTISET, LIST.

The server sends them as text, such as `ROW('Alice',30)`, together with the text of their type. The Rust core reads both
and hands over Python values; `raw` and the type's text stay available, under the names that informix-driver has.
"""

from __future__ import annotations

import datetime
import decimal
import math
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from ..exceptions import DataError
from ._values import IntervalYM

__all__ = ["CollectionValue", "RowValue", "literal"]

_KINDS = ("set", "multiset", "list", "collection")


class _Composite(Sequence[Any]):
    """What rows and collections have in common: members, in a tuple that was built once."""

    __slots__ = ("_members", "_problem", "raw")

    #: The value as the server sent it, in the code set of the client; for values made here, in UTF-8.
    raw: bytes
    _members: tuple[Any, ...]
    _problem: str | None

    def _set(self, **slots: Any) -> None:
        for name, value in slots.items():
            object.__setattr__(self, name, value)

    @property
    def _values(self) -> tuple[Any, ...]:
        if self._problem is not None:
            raise DataError(f"{self._problem}; `raw` has the text of the server")
        return self._members

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a {type(self).__name__} cannot be changed")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"a {type(self).__name__} cannot be changed")

    def __len__(self) -> int:
        return len(self._values)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._values)

    def __copy__(self) -> Any:
        return self

    def __deepcopy__(self, memo: object) -> Any:
        return self


class RowValue(_Composite):
    """The value of a ROW: fields in their order, found by place, by `value["name"]` and by `value.name`.

    Two rows are equal when their values are, in order; as in Informix, names of fields and of types do not matter. A
    row is also equal to the tuple of its values, and hashes like it. Rows have no order.
    `str(value)` is the literal: `ROW('Alice',30)`.

    A row for a parameter is made with `RowValue.of("Alice", 30)` or `RowValue.of(name="Alice", age=30)`. The values
    travel in their order, and the server casts them to the fields of the column.
    """

    __slots__ = ("fields", "schema")

    #: The text of the type, such as `ROW(name varchar(50), age integer)`, or the name of a named type.
    schema: str
    #: The names of the fields; empty where the type does not tell them.
    fields: tuple[str, ...]

    def __init__(self, raw: bytes, schema: str) -> None:
        """A row from its text and the text of its type. `DataError` when the text is no such row."""
        fields, members = _parse(raw, schema)
        self._set(raw=raw, schema=schema, fields=fields, _members=members, _problem=None)

    @classmethod
    def of(cls, *values: Any, **fields: Any) -> RowValue:
        """A row of these values; with names when they are given by name."""
        if values and fields:
            raise TypeError("the values of a row come with names or without, not mixed")
        members = values or tuple(fields.values())
        return _row(_text("ROW(", members, ")").encode(), "", tuple(fields), members, None)

    def asdict(self) -> dict[str, Any]:
        """The values by the names of their fields."""
        if len(self.fields) != len(self):
            raise DataError(f"the type {self.schema or 'of this row'} does not tell the names of its fields")
        return dict(zip(self.fields, self._values, strict=True))

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, str):
            try:
                return self._values[self.fields.index(key)]
            except ValueError:
                raise KeyError(f"no field {key!r}; the row has {', '.join(self.fields) or 'no names'}") from None
        return self._values[key]

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name not in self.fields:
            raise AttributeError(f"no field {name!r}; the row has {', '.join(self.fields) or 'no names'}")
        return self[name]

    def __eq__(self, other: object) -> bool:
        if isinstance(other, RowValue):
            return self._values == other._values
        return self._values == other if isinstance(other, tuple) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._values)

    def __str__(self) -> str:
        return _text("ROW(", self._values, ")")

    def __repr__(self) -> str:
        if self._problem is not None:
            return f"RowValue(<{len(self.raw)} bytes>, schema={self.schema!r})"
        if len(self.fields) == len(self):
            return f"RowValue({', '.join(f'{name}={value!r}' for name, value in zip(self.fields, self, strict=True))})"
        return f"RowValue({', '.join(map(repr, self))})"

    def __reduce__(self) -> tuple[Any, ...]:
        return _row, (self.raw, self.schema, self.fields, self._members, self._problem)


class CollectionValue(_Composite):
    """The value of a SET, MULTISET or LIST, as a sequence of its elements in the order of the server.

    `kind` is `"set"`, `"multiset"` or `"list"`. Collections of the same kind are equal when their elements are: those
    of a list in order, those of a set in any order, those of a multiset in any order and equally often. A list is also
    equal to a Python list or tuple of its elements, a set to a Python set. Equal values hash alike. Collections have
    no order. `str(value)` is the literal: `SET{'red','green'}`.

    A collection for a parameter is made with `CollectionValue.of("multiset", [1, 2, 2])`; Python lists and sets are
    taken as LIST and SET.
    """

    __slots__ = ("element_schema", "kind")

    #: `"set"`, `"multiset"` or `"list"`.
    kind: str
    #: The text of the type, such as `LIST(integer not null)`.
    element_schema: str

    def __init__(self, raw: bytes, kind: str, element_schema: str) -> None:
        """A collection from its text and type. `DataError` when the text is no such collection."""
        whole = element_schema.lower().replace(" ", "").startswith(f"{_known(kind)}(")
        _, members = _parse(raw, element_schema if whole else f"{kind}({element_schema})")
        self._set(raw=raw, kind=kind, element_schema=element_schema, _members=members, _problem=None)

    @classmethod
    def of(cls, kind: str, elements: Iterable[Any]) -> CollectionValue:
        """A collection of these elements. Duplicates of a set are dropped."""
        members = tuple(dict.fromkeys(elements) if _known(kind) == "set" else elements)
        return _collection(_text(kind.upper() + "{", members, "}").encode(), kind, "", members, None)

    def __getitem__(self, place: Any) -> Any:
        return self._values[place]

    def _key(self) -> Any:
        if self.kind == "set":
            return frozenset(self._values)
        return self._values if self.kind == "list" else frozenset(Counter(self._values).items())

    def __eq__(self, other: object) -> bool:
        if isinstance(other, CollectionValue):
            return self.kind == other.kind and bool(self._key() == other._key())
        if self.kind == "list" and isinstance(other, list | tuple):
            return self._values == tuple(other)
        if self.kind == "set" and isinstance(other, set | frozenset):
            return bool(self._key() == other)
        return NotImplemented

    def __hash__(self) -> int:
        return hash(self._key())

    def __str__(self) -> str:
        return _text(self.kind.upper() + "{", self._values, "}")

    def __repr__(self) -> str:
        if self._problem is not None:
            return f"CollectionValue(<{len(self.raw)} bytes>, kind={self.kind!r}, schema={self.element_schema!r})"
        return f"CollectionValue.of({self.kind!r}, [{', '.join(map(repr, self))}])"

    def __reduce__(self) -> tuple[Any, ...]:
        return _collection, (self.raw, self.kind, self.element_schema, self._members, self._problem)


def literal(value: Any) -> str:
    """How a value is written inside of a row or collection. `TypeError` for what cannot be written there."""
    if value is None:
        return "NULL"
    if isinstance(value, _Composite):
        return str(value)
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    if isinstance(value, bool):
        return "'t'" if value else "'f'"
    if isinstance(value, float) and math.isfinite(value):
        return repr(float(value))
    if isinstance(value, int):
        return str(int(value))
    if isinstance(value, decimal.Decimal) and value.is_finite():
        return str(value)
    if isinstance(value, datetime.datetime) and value.tzinfo is None:
        last = "FRACTION(5)" if value.microsecond else "SECOND"
        return f"DATETIME({_moment(value)}) YEAR TO {last}"
    if isinstance(value, datetime.date) and not isinstance(value, datetime.datetime):
        return f"'{value.isoformat()}'"
    if isinstance(value, datetime.time) and value.tzinfo is None:
        last = "FRACTION(5)" if value.microsecond else "SECOND"
        return f"DATETIME({_moment(value)}) HOUR TO {last}"
    if isinstance(value, datetime.timedelta):
        return f"INTERVAL({_span(value)}) DAY(9) TO FRACTION(5)"
    if isinstance(value, IntervalYM):
        return f"INTERVAL({value}) YEAR(9) TO MONTH"
    if isinstance(value, list):
        return _text("LIST{", value, "}")
    if isinstance(value, set | frozenset):
        return _text("SET{", value, "}")
    raise TypeError(f"a row or collection cannot hold this {type(value).__name__}: {value!r}")


def _moment(value: datetime.datetime | datetime.time) -> str:
    """As Informix writes it, with five digits of the fraction when there is one."""
    text = value.isoformat(" ") if isinstance(value, datetime.datetime) else value.isoformat()
    return text[:-1] if value.microsecond else text


def _span(value: datetime.timedelta) -> str:
    sign, value = ("-", -value) if value < datetime.timedelta(0) else ("", value)
    minutes, seconds = divmod(value.seconds, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{sign}{value.days} {hours:02d}:{minutes:02d}:{seconds:02d}.{value.microseconds // 10:05d}"


def _text(opening: str, members: Iterable[Any], closing: str) -> str:
    return opening + ",".join(map(literal, members)) + closing


def _known(kind: str) -> str:
    if kind not in _KINDS:
        raise ValueError(f"a collection is a 'set', a 'multiset' or a 'list', not a {kind!r}")
    return kind


def _parse(raw: bytes, schema: str) -> tuple[tuple[str, ...], tuple[Any, ...]]:
    from .._core import informix as core

    fields, members, problem = core.parse_composite(raw, schema)
    if problem is not None:
        raise DataError(problem)
    return fields, members


def _row(raw: bytes, schema: str, fields: tuple[str, ...], members: tuple[Any, ...], problem: str | None) -> RowValue:
    """A row that was read already. Called by the core."""
    row = RowValue.__new__(RowValue)
    row._set(raw=raw, schema=schema, fields=fields, _members=members, _problem=problem)
    return row


def _collection(
    raw: bytes, kind: str, element_schema: str, members: tuple[Any, ...], problem: str | None
) -> CollectionValue:
    """A collection that was read already. Called by the core."""
    collection = CollectionValue.__new__(CollectionValue)
    collection._set(raw=raw, kind=kind, element_schema=element_schema, _members=members, _problem=problem)
    return collection


def parameter(value: Any) -> str | None:
    """What goes as text: a UUID, the literal of a row, collection, list or set; None for anything else."""
    # Who has a UUID has imported the module; others need not wait for it.
    if (module := sys.modules.get("uuid")) is not None and isinstance(value, module.UUID):
        return str(value)
    if isinstance(value, _Composite | list | set | frozenset):
        return literal(value)
    return None
