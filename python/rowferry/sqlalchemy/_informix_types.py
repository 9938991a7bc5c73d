"""Informix's types for SQLAlchemy: those that it has no name for, and how its own are read, bound and written."""

from __future__ import annotations

import datetime
from decimal import Decimal
from typing import Any

from sqlalchemy import types as sqltypes
from sqlalchemy.sql import compiler, type_api
from sqlalchemy.sql.sqltypes import _AbstractInterval

__all__ = [
    "BSON",
    "BYTE",
    "COLSPECS",
    "DATETIME",
    "INT8",
    "INTERVAL",
    "JSON",
    "LVARCHAR",
    "MONEY",
    "SMALLFLOAT",
    "TIME",
    "InformixTypeCompiler",
]

#: What a VARCHAR holds, and an LVARCHAR.
VARCHAR_MAX, LVARCHAR_MAX = 255, 32_739
#: What an LVARCHAR holds that says nothing of it.
LVARCHAR_DEFAULT = 2048
#: The number by which a result's description says DECIMAL.
DECIMAL_CODE = 5


class LVARCHAR(sqltypes.VARCHAR):
    """Text of up to 32739 bytes; without a length, of up to 2048."""

    __visit_name__ = "LVARCHAR"


class SMALLFLOAT(sqltypes.REAL[Any]):
    """A floating number of four bytes."""

    __visit_name__ = "SMALLFLOAT"


class MONEY(sqltypes.Numeric[Decimal]):
    """Amounts; `MONEY(16, 2)` without numbers."""

    __visit_name__ = "MONEY"

    def __init__(self, precision: int = 16, scale: int = 2) -> None:
        super().__init__(precision, scale)


class INT8(sqltypes.BigInteger):
    """An integer of eight bytes, as it was before BIGINT."""

    __visit_name__ = "INT8"


class BYTE(sqltypes.LargeBinary):
    """A simple large object; its values are `bytes`."""

    __visit_name__ = "BYTE"


class BSON(sqltypes.LargeBinary):
    """A document; its values are the `bytes` of it."""

    __visit_name__ = "BSON"


class DATETIME(sqltypes.DATETIME):
    """`DATETIME start TO end`, such as `DATETIME("YEAR", "SECOND")`."""

    __visit_name__ = "DATETIME"

    def __init__(self, start: str = "YEAR", end: str = "FRACTION(5)", timezone: bool = False) -> None:
        super().__init__(timezone=timezone)
        self.start = start
        self.end = end


class TIME(sqltypes.TIME):
    """A `DATETIME` of the hour and what is below it: `TIME("HOUR", "SECOND")`."""

    __visit_name__ = "TIME"

    def __init__(self, start: str = "HOUR", end: str = "FRACTION(5)", timezone: bool = False) -> None:
        super().__init__(timezone=timezone)
        self.start = start
        self.end = end


class INTERVAL(type_api.NativeForEmulated, _AbstractInterval):
    """`INTERVAL start TO end`. Its values are `timedelta`, or `IntervalYM` for years and months."""

    __visit_name__ = "INTERVAL"
    native = True

    def __init__(self, start: str = "DAY(9)", end: str = "FRACTION(5)") -> None:
        self.start = start
        self.end = end

    @classmethod
    def adapt_emulated_to_native(cls, impl: Any, **kw: Any) -> INTERVAL:
        """What `sqlalchemy.Interval` is here."""
        return INTERVAL()

    @property
    def python_type(self) -> type[datetime.timedelta]:
        """What rows have."""
        return datetime.timedelta

    def literal_processor(self, dialect: Any) -> Any:
        """How a value stands in SQL."""

        def process(value: datetime.timedelta) -> str:
            sign, span = ("-", -value) if value < datetime.timedelta(0) else ("", value)
            hours, seconds = divmod(span.seconds, 3600)
            fraction = span.microseconds // 10
            clock = f"{hours:02d}:{seconds // 60:02d}:{seconds % 60:02d}.{fraction:05d}"
            return f"INTERVAL({sign}{span.days} {clock}) DAY(9) TO FRACTION(5)"

        return process


class JSON(sqltypes.JSON):
    """The type JSON: documents as a whole. What is in them is no business of SQL's."""


class _WholeNumber:
    """Counts and sums of integers come as DECIMAL."""

    def result_processor(self, dialect: Any, coltype: Any) -> Any:
        if coltype != DECIMAL_CODE:
            return None

        def process(value: Any) -> Any:
            return int(value) if isinstance(value, Decimal) and value == value.to_integral_value() else value

        return process


class _Integer(_WholeNumber, sqltypes.Integer):
    pass


class _BigInteger(_WholeNumber, sqltypes.BigInteger):
    pass


class _SmallInteger(_WholeNumber, sqltypes.SmallInteger):
    pass


class _Date(sqltypes.Date):
    def bind_processor(self, dialect: Any) -> Any:
        def process(value: Any) -> Any:
            return value.date() if isinstance(value, datetime.datetime) else value

        return process

    def literal_processor(self, dialect: Any) -> Any:
        # What text a DATE is read from depends on DBDATE.
        return lambda value: f"MDY({value.month}, {value.day}, {value.year})"


class _DateTime(sqltypes.DateTime):
    def literal_processor(self, dialect: Any) -> Any:
        def process(value: datetime.datetime) -> str:
            words = value.replace(tzinfo=None).isoformat(" ", "microseconds")[:-1]
            return f"DATETIME({words}) YEAR TO FRACTION(5)"

        return process


class _Time(sqltypes.Time):
    def literal_processor(self, dialect: Any) -> Any:
        def process(value: datetime.time) -> str:
            return f"DATETIME({value.replace(tzinfo=None).isoformat('microseconds')[:-1]}) HOUR TO FRACTION(5)"

        return process


class _Boolean(sqltypes.Boolean):
    def literal_processor(self, dialect: Any) -> Any:
        return lambda value: "'t'" if value else "'f'"


#: SQLAlchemy's types that are something of their own here.
COLSPECS: dict[Any, Any] = {
    sqltypes.Integer: _Integer,
    sqltypes.BigInteger: _BigInteger,
    sqltypes.SmallInteger: _SmallInteger,
    sqltypes.Date: _Date,
    sqltypes.DateTime: _DateTime,
    sqltypes.Time: _Time,
    sqltypes.Boolean: _Boolean,
    sqltypes.Interval: INTERVAL,
    sqltypes.JSON: JSON,
}


class InformixTypeCompiler(compiler.GenericTypeCompiler):
    """The words of types."""

    def visit_DATETIME(self, type_: Any, **kw: Any) -> str:
        return f"DATETIME {getattr(type_, 'start', 'YEAR')} TO {getattr(type_, 'end', 'FRACTION(5)')}"

    def visit_TIMESTAMP(self, type_: Any, **kw: Any) -> str:
        return "DATETIME YEAR TO FRACTION(5)"

    def visit_TIME(self, type_: Any, **kw: Any) -> str:
        return f"DATETIME {getattr(type_, 'start', 'HOUR')} TO {getattr(type_, 'end', 'FRACTION(5)')}"

    def visit_INTERVAL(self, type_: Any, **kw: Any) -> str:
        return f"INTERVAL {type_.start} TO {type_.end}"

    def visit_BOOLEAN(self, type_: Any, **kw: Any) -> str:
        return "BOOLEAN"

    def visit_FLOAT(self, type_: Any, **kw: Any) -> str:
        return "FLOAT"

    def visit_DOUBLE(self, type_: Any, **kw: Any) -> str:
        return "FLOAT"

    def visit_DOUBLE_PRECISION(self, type_: Any, **kw: Any) -> str:
        return "FLOAT"

    def visit_REAL(self, type_: Any, **kw: Any) -> str:
        return "SMALLFLOAT"

    def visit_SMALLFLOAT(self, type_: Any, **kw: Any) -> str:
        return "SMALLFLOAT"

    def visit_NUMERIC(self, type_: Any, **kw: Any) -> str:
        return self.visit_DECIMAL(type_, **kw)

    def visit_MONEY(self, type_: Any, **kw: Any) -> str:
        return f"MONEY({type_.precision}, {type_.scale})"

    def visit_INT8(self, type_: Any, **kw: Any) -> str:
        return "INT8"

    def visit_CHAR(self, type_: Any, **kw: Any) -> str:
        return f"CHAR({type_.length or 1})"

    def visit_NCHAR(self, type_: Any, **kw: Any) -> str:
        return f"NCHAR({type_.length or 1})"

    def visit_VARCHAR(self, type_: Any, **kw: Any) -> str:
        if type_.length is None or type_.length > VARCHAR_MAX:
            return self.visit_LVARCHAR(type_, **kw)
        return f"VARCHAR({type_.length})"

    def visit_NVARCHAR(self, type_: Any, **kw: Any) -> str:
        if type_.length is None or type_.length > VARCHAR_MAX:
            return self.visit_LVARCHAR(type_, **kw)
        return f"NVARCHAR({type_.length})"

    def visit_LVARCHAR(self, type_: Any, **kw: Any) -> str:
        length = type_.length or LVARCHAR_DEFAULT
        return f"LVARCHAR({length})" if length <= LVARCHAR_MAX else "TEXT"

    def visit_TEXT(self, type_: Any, **kw: Any) -> str:
        return "TEXT"

    def visit_unicode(self, type_: Any, **kw: Any) -> str:
        return self.visit_VARCHAR(type_, **kw)

    def visit_unicode_text(self, type_: Any, **kw: Any) -> str:
        return "TEXT"

    def visit_large_binary(self, type_: Any, **kw: Any) -> str:
        return "BYTE"

    def visit_BINARY(self, type_: Any, **kw: Any) -> str:
        return "BYTE"

    def visit_VARBINARY(self, type_: Any, **kw: Any) -> str:
        return "BYTE"

    def visit_BYTE(self, type_: Any, **kw: Any) -> str:
        return "BYTE"

    def visit_BSON(self, type_: Any, **kw: Any) -> str:
        return "BSON"

    def visit_JSON(self, type_: Any, **kw: Any) -> str:
        return "JSON"

    def visit_UUID(self, type_: Any, **kw: Any) -> str:
        # As sqlalchemy.Uuid is: its digits.
        return "CHAR(32)"
