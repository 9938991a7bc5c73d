"""Rows and collections, intervals of months, locators: what their values are, without and with a server."""

from __future__ import annotations

import copy
import datetime as dt
import pickle
from decimal import Decimal
from typing import Any

import pytest
from rowferry import informix
from rowferry.informix import BlobLocator, ClobLocator, CollectionValue, IntervalYM, RowValue
from rowferry.informix._composites import literal

ROW = RowValue(b"ROW('Alice',30         )", "ROW(name varchar(50), age integer)")
LIST = CollectionValue(b"LIST{10,20,30}", "list", "LIST(integer not null)")


def test_a_row_is_found_by_place_and_by_name() -> None:
    """Fields are typed, and named as the type says."""
    assert (ROW[0], ROW["age"], ROW.name, ROW[-1]) == ("Alice", 30, "Alice", 30)
    assert len(ROW) == 2
    assert list(ROW) == ["Alice", 30]
    assert ROW.asdict() == {"name": "Alice", "age": 30}
    assert ROW.fields == ("name", "age")
    assert "Alice" in ROW
    with pytest.raises(AttributeError, match="no field 'nosuch'"):
        _ = ROW.nosuch
    with pytest.raises(KeyError, match="name, age"):
        _ = ROW["nosuch"]


def test_a_row_keeps_what_the_server_sent() -> None:
    """The names of informix-driver's attributes."""
    assert ROW.raw == b"ROW('Alice',30         )"
    assert ROW.schema == "ROW(name varchar(50), age integer)"
    assert (LIST.raw, LIST.kind) == (b"LIST{10,20,30}", "list")
    assert LIST.element_schema == "LIST(integer not null)"


def test_equality_is_that_of_informix() -> None:
    """Rows by their values in order; sets in any order; multisets by how often; lists in order."""
    assert RowValue.of("Alice", 30) == ROW == ("Alice", 30)
    assert hash(ROW) == hash(("Alice", 30))
    assert RowValue.of("Alice", 31) != ROW
    assert LIST == [10, 20, 30]
    assert CollectionValue.of("list", [20, 10, 30]) != LIST
    red = CollectionValue.of("set", ["red", "green"])
    assert red == CollectionValue.of("set", ["green", "red", "red"]) == {"red", "green"}
    assert hash(red) == hash(frozenset({"red", "green"}))
    many = CollectionValue.of("multiset", [1, 2, 2])
    assert many == CollectionValue.of("multiset", [2, 1, 2])
    assert many != CollectionValue.of("multiset", [1, 2])
    assert many != CollectionValue.of("list", [1, 2, 2])
    with pytest.raises(TypeError):
        _ = ROW < RowValue.of("Bob", 1)  # type: ignore[operator]


@pytest.mark.parametrize(
    "value",
    [
        ROW,
        LIST,
        RowValue.of(a=1, b=CollectionValue.of("set", ["x"])),
        CollectionValue.of("multiset", []),
        IntervalYM(-14),
        BlobLocator(bytes(72)),
        ClobLocator(bytes(72)),
    ],
    ids=lambda value: type(value).__name__,
)
def test_values_are_immutable_hashable_and_pickle(value: Any) -> None:
    """Values can be keys, be copied, cross processes, and not be changed."""
    for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
        back = pickle.loads(pickle.dumps(value, protocol))
        assert (back, hash(back), repr(back)) == (value, hash(value), repr(value))
    assert copy.copy(value) == copy.deepcopy(value) == value
    name = "months" if isinstance(value, IntervalYM) else "raw"
    with pytest.raises(AttributeError):
        setattr(value, name, None)
    with pytest.raises(AttributeError):
        delattr(value, name)


def test_text_is_the_literal_of_informix() -> None:
    """What `str` says can stand in SQL."""
    assert str(ROW) == "ROW('Alice',30)"
    assert str(LIST) == "LIST{10,20,30}"
    assert str(CollectionValue.of("set", [])) == "SET{}"
    assert str(RowValue.of("O'Neil", None, True, Decimal("-1.50"), 2.5)) == "ROW('O''Neil',NULL,'t',-1.50,2.5)"
    assert literal(dt.date(2026, 1, 2)) == "'2026-01-02'"
    assert literal(dt.datetime(2026, 1, 2, 3, 4, 5, 123450)) == (
        "DATETIME(2026-01-02 03:04:05.12345) YEAR TO FRACTION(5)"
    )
    assert literal(dt.datetime(2026, 1, 2)) == "DATETIME(2026-01-02 00:00:00) YEAR TO SECOND"
    assert literal(dt.time(3, 4, 5)) == "DATETIME(03:04:05) HOUR TO SECOND"
    assert literal(-dt.timedelta(days=1, microseconds=10)) == ("INTERVAL(-1 00:00:00.00001) DAY(9) TO FRACTION(5)")
    assert literal(IntervalYM(-14)) == "INTERVAL(-1-02) YEAR(9) TO MONTH"
    assert literal([1, {2}]) == "LIST{1,SET{2}}"
    for value in (b"x", float("nan"), Decimal("Infinity"), object(), dt.datetime(2026, 1, 1, tzinfo=dt.timezone.utc)):
        with pytest.raises(TypeError, match="cannot hold"):
            literal(value)


def test_reads_members_by_their_types() -> None:
    """Decimals, dates, moments, intervals, booleans, nested values, NULL."""
    schema = (
        "ROW(a decimal(8,2), b date, c datetime year to minute, d interval day(3) to second, "
        "e interval year to month, f boolean, g smallfloat, h char(5), i set(varchar(9) not null), j bigint)"
    )
    raw = b"ROW(12.5    ,'2026-02-28','2026-01-02 03:04','  3 01:01:01',' 1-02','f',1.5,'a    ',SET{'x','y'},NULL)"
    row = RowValue(raw, schema)
    assert list(row) == [
        Decimal("12.50"),
        dt.date(2026, 2, 28),
        dt.datetime(2026, 1, 2, 3, 4),
        dt.timedelta(days=3, seconds=3661),
        IntervalYM(14),
        False,
        1.5,
        "a",
        {"x", "y"},
        None,
    ]
    assert str(row.a) == "12.50"
    assert isinstance(row.i, CollectionValue)
    named = RowValue("ROW('é',30    ,1.50)".encode(), "person_t")
    assert list(named) == ["é", 30, Decimal("1.5")]
    assert named.fields == ()
    with pytest.raises(informix.DataError, match="person_t"):
        named.asdict()


def test_text_that_is_no_such_value_is_an_error() -> None:
    """Nothing is guessed."""
    for raw in (b"ROW(1)", b"LIST{1}", b"", b"ROW('a',b)", b"ROW('a',1"):
        with pytest.raises(informix.DataError, match="text of a row or collection"):
            RowValue(raw, ROW.schema)
    with pytest.raises(ValueError, match="'bag'"):
        CollectionValue.of("bag", [])
    with pytest.raises(TypeError, match="not mixed"):
        RowValue.of(1, a=2)


def test_intervals_of_months_count() -> None:
    """They add, scale, sort, and come back from their text."""
    assert IntervalYM(14) + IntervalYM(-2) == IntervalYM(12)
    assert IntervalYM(14) - IntervalYM(15) == IntervalYM(-1)
    assert 3 * IntervalYM(5) == IntervalYM(5) * 3 == IntervalYM(15)
    assert abs(-IntervalYM(3)) == IntervalYM(3)
    assert sorted([IntervalYM(2), IntervalYM(-1)]) == [IntervalYM(-1), IntervalYM(2)]
    assert not IntervalYM(0)
    for months in (0, 1, -1, 11, 12, -14, 999_999_999 * 12 + 11):
        assert IntervalYM.parse(str(IntervalYM(months))) == IntervalYM(months)
    for text in ("", "1", "1-12", "x-01", "1-"):
        with pytest.raises(ValueError, match="no interval"):
            IntervalYM.parse(text)
