"""Queries in Informix's order of words."""

from __future__ import annotations

import datetime
from decimal import Decimal
from typing import Any

from django.db import NotSupportedError
from django.db.models.expressions import Value
from django.db.models.sql import compiler

#: The type of a parameter that stands where nothing gives it one.
_TYPES: dict[type, str] = {
    bool: "BOOLEAN",
    int: "BIGINT",
    float: "FLOAT",
    Decimal: "DECIMAL(32)",
    str: "LVARCHAR(32739)",
    datetime.datetime: "DATETIME YEAR TO FRACTION(5)",
    datetime.date: "DATE",
    datetime.time: "DATETIME HOUR TO FRACTION(5)",
    datetime.timedelta: "INTERVAL DAY(9) TO FRACTION(5)",
}


class SQLCompiler(compiler.SQLCompiler):
    """SKIP and FIRST stand in front of the columns; a parameter among them has the type that it is cast to."""

    def compile(self, node: Any) -> Any:
        """The SQL of a part of the query."""
        sql, params = super().compile(node)
        if isinstance(node, Value) and sql == "%s":
            (value,) = params
            if type(value) in _TYPES:
                return f"CAST(%s AS {_TYPES[type(value)]})", params
        return sql, params

    def as_sql(self, with_limits: bool = True, with_col_aliases: bool = False) -> Any:
        """The whole query."""
        if with_limits and self.query.is_sliced and self.query.select_for_update:
            raise NotSupportedError("LIMIT/OFFSET is not supported with select_for_update on this database backend.")
        if not (with_limits and self.query.is_sliced):
            return super().as_sql(with_limits=False, with_col_aliases=with_col_aliases)
        sql, params = super().as_sql(with_limits=False, with_col_aliases=with_col_aliases)
        low, high = self.query.low_mark, self.query.high_mark
        page = (f"SKIP {low} " if low else "") + (f"FIRST {high - low} " if high is not None else "")
        if self.query.combinator or not sql.startswith("SELECT "):
            # FIRST belongs to one SELECT: to the rows of all, when they are the rows of a derived table.
            return f"SELECT {page}* FROM ({sql})", params
        return f"SELECT {page}{sql.removeprefix('SELECT ')}", params


class SQLInsertCompiler(compiler.SQLInsertCompiler, SQLCompiler):
    """INSERT."""

    def as_sql(self) -> Any:
        """The statements."""
        return compiler.SQLInsertCompiler.as_sql(self)


class SQLDeleteCompiler(compiler.SQLDeleteCompiler, SQLCompiler):
    """DELETE."""

    def as_sql(self) -> Any:
        """The statement."""
        return compiler.SQLDeleteCompiler.as_sql(self)


class SQLUpdateCompiler(compiler.SQLUpdateCompiler, SQLCompiler):
    """UPDATE."""

    def as_sql(self) -> Any:
        """The statement."""
        return compiler.SQLUpdateCompiler.as_sql(self)


class SQLAggregateCompiler(compiler.SQLAggregateCompiler, SQLCompiler):
    """Aggregates over a query."""

    def as_sql(self) -> Any:
        """The query."""
        return compiler.SQLAggregateCompiler.as_sql(self)
