"""Classes of named fields, for what every program makes that imports a driver.

`dataclasses` compiles the text of methods for each class and brings `inspect` along: half of what importing a driver
took. Here the methods are written once. Type checkers see the real ones.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

__all__ = ["field", "record", "replace"]

if TYPE_CHECKING:
    from dataclasses import dataclass as record
    from dataclasses import field, replace
else:
    C = TypeVar("C", bound=type)

    class field:
        """What a field has beside a plain default: a function that makes it, and where the field is left out."""

        __slots__ = ("compare", "default", "default_factory", "init", "repr")

        def __init__(
            self,
            *,
            default: Any = None,
            default_factory: Callable[[], Any] | None = None,
            init: bool = True,
            repr: bool = True,
            compare: bool = True,
        ) -> None:
            self.default = default
            self.default_factory = default_factory
            self.init = init
            self.repr = repr
            self.compare = compare

    def record(cls: C | None = None, *, frozen: bool = False) -> Any:
        """A class whose annotated names are its fields, in this order: made by them, shown by them, equal by them."""
        if cls is None:
            return lambda cls: record(cls, frozen=frozen)
        fields: dict[str, field] = {}
        for name in cls.__annotations__:
            given = vars(cls).get(name)
            fields[name] = given if isinstance(given, field) else field()
            if isinstance(given, field):
                # Where there is no value of its own an instance has that of the class.
                setattr(cls, name, given.default)
        cls._fields = fields
        cls._made = {name: told.default_factory for name, told in fields.items() if told.default_factory is not None}
        cls._needed = frozenset(name for name in fields if name not in vars(cls))
        cls._taken = {name: None for name, told in fields.items() if told.init}
        cls.__init__, cls.__repr__, cls.__eq__ = _init, _repr, _eq
        cls.__hash__ = _hash if frozen else None
        if frozen:
            cls.__setattr__, cls.__delattr__ = _refuse, _refuse
        return cls

    def replace(value: Any, **changes: Any) -> Any:
        """A copy with other values of some fields; of those that are not given when it is made nothing is copied."""
        known = vars(value)
        return type(value)(**{**{name: known[name] for name in type(value)._taken if name in known}, **changes})

    def _init(self: Any, *args: Any, **values: Any) -> None:
        cls = type(self)
        if args:
            if len(args) > len(cls._taken):
                raise TypeError(f"{cls.__name__} has {len(cls._taken)} fields, not {len(args)}")
            values = {**dict(zip(cls._taken, args, strict=False)), **values}
        if not values.keys() <= cls._taken.keys() or not cls._needed <= values.keys():
            wrong = [*(values.keys() - cls._taken.keys()), *(cls._needed - values.keys())]
            raise TypeError(f"{cls.__name__} has no field, or must be given: {', '.join(sorted(wrong))}")
        for name, make in cls._made.items():
            if name not in values:
                values[name] = make()
        vars(self).update(values)

    def _values(self: Any) -> tuple[Any, ...]:
        return tuple(getattr(self, name) for name, told in self._fields.items() if told.compare)

    def _repr(self: Any) -> str:
        shown = [f"{name}={getattr(self, name)!r}" for name, told in self._fields.items() if told.repr]
        return f"{type(self).__qualname__}({', '.join(shown)})"

    def _eq(self: Any, other: object) -> bool:
        return _values(self) == _values(other) if other.__class__ is self.__class__ else NotImplemented

    def _hash(self: Any) -> int:
        return hash(_values(self))

    def _refuse(self: Any, name: str, *_: Any) -> None:
        # What frozen dataclasses raise.
        from dataclasses import FrozenInstanceError

        raise FrozenInstanceError(f"cannot assign to field {name!r}")
