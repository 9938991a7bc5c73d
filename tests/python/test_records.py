"""Classes of named fields as the drivers make them: what dataclasses do, as far as the drivers need it."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from collections.abc import Callable
from typing import Any

import pytest
from rowferry._base import records


def _both(frozen: bool) -> list[Any]:
    """The same class by our own means and by Python's."""
    made = []
    for record, field in ((records.record, records.field), (dataclasses.dataclass, dataclasses.field)):

        class Place:
            host: str
            port: int = 9088
            names: list[str] = field(default_factory=list)
            secret: str = field(default="", repr=False)
            kept: Any = field(default=None, init=False, repr=False, compare=False)

        Place.__qualname__ = "Place"
        made.append(record(frozen=frozen)(Place))
    return made


@pytest.mark.parametrize("frozen", [False, True])
def test_records_behave_as_dataclasses_do(frozen: bool) -> None:
    ours, theirs = _both(frozen)

    def outcome(of: Any, do: Callable[[Any], Any]) -> Any:
        try:
            return do(of)
        except Exception as error:
            return type(error)

    for do in (
        lambda of: repr(of("here")),
        lambda of: repr(of("here", 1, ["a"], "hidden")),
        lambda of: of("here") == of("here", 9088, []),
        lambda of: of("here") == of("there"),
        lambda of: of("here") == "here",
        lambda of: of("here").names is of("here").names,
        lambda of: of(),
        lambda of: of("here", nosuch=1),
        lambda of: of("here", 1, [], "", None),
        lambda of: of("here", kept=1),
        lambda of: setattr(of("here"), "port", 1),
        lambda of: delattr(of("here", 7), "port"),
        lambda of: isinstance(hash(of("here", names=())), int),
        lambda of: hash(of("here", names=())) == hash(of("here", 9088, ())),
        lambda of: copy.copy(of("here", 7)) == of("here", 7),
    ):
        assert outcome(ours, do) == outcome(theirs, do)


def test_a_copy_has_other_values_of_some_fields() -> None:
    ours, _ = _both(frozen=False)
    first = ours("here", secret="s")
    first.kept = 1
    other = records.replace(first, port=7)
    assert (other.host, other.port, other.secret, other.kept, first.port) == ("here", 7, "s", None, 9088)
    with pytest.raises(TypeError):
        records.replace(first, nosuch=1)


def test_settings_and_places_are_records() -> None:
    from rowferry.informix._places import Place
    from rowferry.informix._settings import settings_from as informix
    from rowferry.mysql._settings import settings_from as mysql

    assert pickle.loads(pickle.dumps(Place("here", 1))) == Place("here", 1)
    with pytest.raises(dataclasses.FrozenInstanceError):
        Place("here").port = 1  # type: ignore[misc]
    assert "secret" not in repr(mysql(host="here", password="secret"))
    assert "secret" not in repr(informix(host="here", user="ada", password="secret"))
