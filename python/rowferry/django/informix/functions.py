"""Django's functions that Informix has by another name, or says otherwise."""

from __future__ import annotations

from typing import Any

from django.db.models.expressions import NegatedExpression
from django.db.models.functions import Cast, Ceil, Cot, Log, Now, Pi, Repeat
from django.db.models.functions.text import ConcatPair
from django.db.models.lookups import Regex

__all__ = ["register"]


def _ceil(self: Any, compiler: Any, connection: Any, **context: Any) -> Any:
    return self.as_sql(compiler, connection, function="CEIL", **context)


def _cot(self: Any, compiler: Any, connection: Any, **context: Any) -> Any:
    return self.as_sql(compiler, connection, template="(1 / TAN(%(expressions)s))", **context)


def _log(self: Any, compiler: Any, connection: Any, **context: Any) -> Any:
    base, value = self.get_source_expressions()
    (base_sql, base_params), (sql, params) = compiler.compile(base), compiler.compile(value)
    return f"(LN({sql}) / LN({base_sql}))", (*params, *base_params)


def _pi(self: Any, compiler: Any, connection: Any, **context: Any) -> Any:
    return "CAST(3.141592653589793 AS FLOAT)", ()


def _now(self: Any, compiler: Any, connection: Any, **context: Any) -> Any:
    return "CURRENT YEAR TO FRACTION(5)", ()


def _repeat(self: Any, compiler: Any, connection: Any, **context: Any) -> Any:
    text, number = self.get_source_expressions()
    (sql, params), (count, count_params) = compiler.compile(text), compiler.compile(number)
    return f"RPAD({sql}, LENGTH({sql}) * {count}, {sql})", (*params, *params, *count_params, *params)


def _concat(self: Any, compiler: Any, connection: Any, **context: Any) -> Any:
    # NULL makes a whole text NULL.
    coalesced = self.coalesce()
    return super(ConcatPair, coalesced).as_sql(
        compiler, connection, template="(%(expressions)s)", arg_joiner=" || ", **context
    )


def _negated(self: Any, compiler: Any, connection: Any, **context: Any) -> Any:
    if connection.ops.conditional_expression_supported_in_where_clause(self.expression):
        return self.as_sql(compiler, connection, **context)
    sql, params = compiler.compile(self.expression)
    return f"CASE WHEN {sql} = 'f' THEN CAST('t' AS BOOLEAN) ELSE CAST('f' AS BOOLEAN) END", params


def _cast(self: Any, compiler: Any, connection: Any, **context: Any) -> Any:
    (source,) = self.get_source_expressions()
    kinds = (getattr(source, "_output_field_or_none", None), self.output_field)
    from_kind, to_kind = (kind.get_internal_type() if kind is not None else "" for kind in kinds)
    if from_kind == "BooleanField" and to_kind.endswith("IntegerField"):
        # There is no cast from the one to the other.
        sql, params = compiler.compile(source)
        return f"CASE {sql} WHEN CAST('t' AS BOOLEAN) THEN 1 WHEN CAST('f' AS BOOLEAN) THEN 0 END", params
    return self.as_sql(compiler, connection, **context)


def _regex(self: Any, compiler: Any, connection: Any, **context: Any) -> Any:
    # The function takes NULL for an empty text.
    sql, params = self.as_sql(compiler, connection, **context)
    lhs, lhs_params = self.process_lhs(compiler, connection)
    return f"({lhs} IS NOT NULL AND {sql})", (*lhs_params, *params)


def register() -> None:
    """Django asks an expression for its words by the vendor's name."""
    for expression, words in (
        (Cast, _cast),
        (Ceil, _ceil),
        (Cot, _cot),
        (Log, _log),
        (Pi, _pi),
        (Now, _now),
        (Repeat, _repeat),
        (ConcatPair, _concat),
        (NegatedExpression, _negated),
        (Regex, _regex),
    ):
        expression.as_informix = words  # type: ignore[attr-defined]
