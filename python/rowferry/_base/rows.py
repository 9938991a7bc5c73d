"""What rows look like. By default they are tuples; `row_factory=Row` or `dict` changes that."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from typing_extensions import TypeVar

    #: What rows of a cursor are.
    R = TypeVar("R", default=Any)
else:
    from typing import TypeVar

    # The default is for type checkers; Python knows it from 3.13 on.
    R = TypeVar("R")

__all__ = ["R", "Row", "RowFactory", "make_row_class", "row_builder"]

#: Something that makes rows: `Row`, `dict`, or a function from the names of the columns to a function from a tuple.
RowFactory = Any


class Row(tuple[Any, ...]):
    """A row whose values are found by place, by `row["name"]` and by `row.name`.

    Of columns with the same name the first is found. A column named like one of the methods here wins over it.
    """

    __slots__ = ()

    _columns: ClassVar[tuple[str, ...]] = ()
    _places: ClassVar[dict[str, int]] = {}

    def __getitem__(self, key: Any) -> Any:
        if key.__class__ is str:
            try:
                return tuple.__getitem__(self, self._places[key])
            except KeyError:
                raise KeyError(f"no column {key!r}; the row has {', '.join(self._columns)}") from None
        return tuple.__getitem__(self, key)

    def __getattr__(self, name: str) -> Any:
        try:
            return tuple.__getitem__(self, self._places[name])
        except KeyError:
            raise AttributeError(f"no column {name!r}; the row has {', '.join(self._columns)}") from None

    @property
    def _fields(self) -> tuple[str, ...]:
        """The names of the columns."""
        return self._columns

    def keys(self) -> tuple[str, ...]:
        """The names of the columns."""
        return self._columns

    def _asdict(self) -> dict[str, Any]:
        """The row as a dict; of columns with the same name the last stays."""
        return dict(zip(self._columns, self, strict=True))

    def __repr__(self) -> str:
        return f"Row({', '.join(f'{name}={value!r}' for name, value in zip(self._columns, self, strict=False))})"

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (self._columns, tuple(self))


_OURS = frozenset(name for name in dir(Row) if not name.startswith("__")) - {"_columns", "_places"}


def _rebuild(names: tuple[str, ...], values: tuple[Any, ...]) -> Row:
    return make_row_class(names)(values)


def _column(place: int) -> Any:
    return property(lambda row: tuple.__getitem__(row, place))


@lru_cache(maxsize=256)
def make_row_class(names: tuple[str, ...]) -> type[Row]:
    """The class of rows with these columns."""
    places: dict[str, int] = {}
    for place, name in enumerate(names):
        places.setdefault(name, place)
    body: dict[str, Any] = {"__slots__": (), "_columns": names, "_places": places}
    body.update({name: _column(place) for name, place in places.items() if name in _OURS})
    return type("Row", (Row,), body)


def row_builder(factory: RowFactory, names: Sequence[str]) -> Callable[[tuple[Any, ...]], Any] | None:
    """A function from tuples to rows of `factory`; None when tuples are fine as they are."""
    if factory is None or factory is tuple:
        return None
    if factory is Row:
        return make_row_class(tuple(names))
    if factory is dict:
        return lambda row: dict(zip(names, row, strict=True))
    builder: Callable[[tuple[Any, ...]], Any] = factory(tuple(names))
    return builder
