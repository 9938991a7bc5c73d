"""Words for what Django's expressions mean."""

from __future__ import annotations

import datetime
import uuid
from decimal import Decimal
from typing import Any

from django.conf import settings
from django.db import NotSupportedError, OperationalError
from django.db.backends.base.operations import BaseDatabaseOperations
from django.db.models import Exists, ExpressionWrapper, Lookup
from django.db.models.expressions import RawSQL
from django.db.models.sql.where import WhereNode
from django.utils import timezone

#: How a date is cut off: at the beginning of what.
_FIELDS = {"year": "YEAR", "month": "MONTH", "day": "DAY", "hour": "HOUR", "minute": "MINUTE", "second": "SECOND"}


class DatabaseOperations(BaseDatabaseOperations):
    """SQL that differs between databases."""

    compiler_module = "rowferry.django.informix.compiler"
    cast_char_field_without_max_length = "LVARCHAR(32739)"
    cast_data_types = {  # noqa: RUF012
        "AutoField": "INTEGER",
        "BigAutoField": "BIGINT",
        "SmallAutoField": "INTEGER",
        "TextField": "LVARCHAR(32739)",
    }
    integer_field_ranges = {  # noqa: RUF012
        # The least of each width is NULL.
        **BaseDatabaseOperations.integer_field_ranges,
        "SmallIntegerField": (-32767, 32767),
        "IntegerField": (-2147483647, 2147483647),
        "BigIntegerField": (-9223372036854775807, 9223372036854775807),
        "SmallAutoField": (-32767, 32767),
        "AutoField": (-2147483647, 2147483647),
        "BigAutoField": (-9223372036854775807, 9223372036854775807),
    }
    set_operators = {**BaseDatabaseOperations.set_operators, "difference": "MINUS"}  # noqa: RUF012
    explain_prefix = None

    # -- names, rows -------------------------------------------------------------------------------------------------

    def quote_name(self, name: str) -> str:
        """A name between quotes; the connection has DELIMIDENT."""
        return name if name.startswith('"') and name.endswith('"') else f'"{name}"'

    def last_executed_query(self, cursor: Any, sql: str, params: Any) -> str:
        """The statement with its values, for people: what is sent has them beside it."""
        if not params:
            return sql
        values = (
            {name: self._shown(value) for name, value in params.items()}
            if isinstance(params, dict)
            else tuple(map(self._shown, params))
        )
        return sql % values

    def _shown(self, value: Any) -> str:
        if value is None:
            return "NULL"
        if isinstance(value, (int, float, Decimal)) and not isinstance(value, bool):
            return str(value)
        return "'" + str(value).replace("'", "''") + "'"

    def max_name_length(self) -> int:
        """Bytes of a name."""
        return 128

    def no_limit_value(self) -> None:
        """FIRST is left out."""
        return None

    def last_insert_id(self, cursor: Any, table_name: str, pk_name: str) -> Any:
        """The number that a serial column was given."""
        return cursor.lastrowid

    def pk_default_value(self) -> str:
        """To a serial column, 0 means the next number."""
        return "0"

    def bulk_insert_sql(self, fields: Any, placeholder_rows: Any) -> str:
        """The one row of a VALUES."""
        (row,) = placeholder_rows
        return f"VALUES ({', '.join(row)})"

    def for_update_sql(
        self, nowait: bool = False, skip_locked: bool = False, of: Any = (), no_key: bool = False
    ) -> str:
        """FOR UPDATE."""
        return "FOR UPDATE"

    def savepoint_create_sql(self, sid: str) -> str:
        """Names of savepoints are not quoted."""
        return f"SAVEPOINT {sid}"

    def savepoint_commit_sql(self, sid: str) -> str:
        """Forget a savepoint."""
        return f"RELEASE SAVEPOINT {sid}"

    def savepoint_rollback_sql(self, sid: str) -> str:
        """Undo what was done since."""
        return f"ROLLBACK TO SAVEPOINT {sid}"

    def sql_flush(
        self, style: Any, tables: Any, *, reset_sequences: bool = False, allow_cascade: bool = False
    ) -> list[str]:
        """Empty tables, whatever refers to what."""
        if not tables:
            return []
        statements = ["SET CONSTRAINTS ALL DEFERRED", *(f"DELETE FROM {self.quote_name(table)}" for table in tables)]
        return statements

    def prep_for_iexact_query(self, x: Any) -> Any:
        """It is compared, not matched."""
        return x

    # -- values ------------------------------------------------------------------------------------------------------

    def adapt_datetimefield_value(self, value: Any) -> Any:
        """Informix has no time zones."""
        if value is None or hasattr(value, "resolve_expression"):
            return value
        if timezone.is_aware(value):
            if not settings.USE_TZ:
                raise ValueError("Informix backend does not support timezone-aware datetimes when USE_TZ is False.")
            value = timezone.make_naive(value, self.connection.timezone)
        return value

    def adapt_timefield_value(self, value: Any) -> Any:
        """Nor have times."""
        if value is None or hasattr(value, "resolve_expression"):
            return value
        if timezone.is_aware(value):
            raise ValueError("Informix backend does not support timezone-aware times.")
        return value

    def adapt_datefield_value(self, value: Any) -> Any:
        """The driver takes dates as they are."""
        return value

    def adapt_decimalfield_value(
        self, value: Any, max_digits: int | None = None, decimal_places: int | None = None
    ) -> Any:
        """And decimals."""
        return value

    def get_db_converters(self, expression: Any) -> list[Any]:
        """What becomes of values of a type."""
        converters = super().get_db_converters(expression)
        kind = expression.output_field.get_internal_type()
        if kind == "DateTimeField" and settings.USE_TZ:
            converters.append(self._aware)
        elif kind == "UUIDField":
            converters.append(self._uuid)
        elif kind in ("BooleanField", "NullBooleanField"):
            converters.append(self._bool)
        elif kind.endswith("IntegerField") or kind.endswith("AutoField"):
            converters.append(self._int)
        elif kind == "FloatField":
            converters.append(self._float)
        elif kind == "DateField":
            converters.append(self._date)
        return converters

    def _aware(self, value: Any, expression: Any, connection: Any) -> Any:
        return value if value is None or timezone.is_aware(value) else timezone.make_aware(value, connection.timezone)

    def _uuid(self, value: Any, expression: Any, connection: Any) -> Any:
        return value if value is None else uuid.UUID(value)

    def _bool(self, value: Any, expression: Any, connection: Any) -> Any:
        return bool(value) if value in (0, 1) else value

    def _int(self, value: Any, expression: Any, connection: Any) -> Any:
        # Counts and sums are DECIMAL.
        return value if value is None or type(value) is int or value != int(value) else int(value)

    def _float(self, value: Any, expression: Any, connection: Any) -> Any:
        return value if value is None else float(value)

    def _date(self, value: Any, expression: Any, connection: Any) -> Any:
        return value.date() if isinstance(value, datetime.datetime) else value

    def lookup_cast(self, lookup_type: str, internal_type: str | None = None) -> str:
        """What a column is looked at as."""
        if lookup_type in ("iexact", "icontains", "istartswith", "iendswith"):
            return "UPPER(%s)"
        if lookup_type in ("regex", "iregex") and internal_type not in ("CharField", "TextField", "SlugField"):
            return f"CAST(%s AS {self.cast_char_field_without_max_length})"
        return "%s"

    def regex_lookup(self, lookup_type: str) -> str:
        """A function of the extension for regular expressions, which servers register when it is called first."""
        # 1 is for extended expressions, 2 for letters of any case.
        return f"regex_match(%s, %s, {'3' if lookup_type == 'iregex' else '1'})"

    def conditional_expression_supported_in_where_clause(self, expression: Any) -> bool:
        """A column of booleans is no condition by itself."""
        if isinstance(expression, (Exists, Lookup, WhereNode)):
            return True
        if isinstance(expression, ExpressionWrapper) and expression.conditional:
            return self.conditional_expression_supported_in_where_clause(expression.expression)
        return bool(isinstance(expression, RawSQL) and expression.conditional)

    def combine_expression(self, connector: str, sub_expressions: Any) -> str:
        """Operators that are functions here."""
        functions = {"%%": "MOD", "&": "BITAND", "|": "BITOR", "#": "BITXOR", "^": "POWER"}
        if connector in functions:
            return f"{functions[connector]}({', '.join(sub_expressions)})"
        if connector in ("<<", ">>"):
            lhs, rhs = sub_expressions
            return f"({lhs} * POWER(2, {rhs}))" if connector == "<<" else f"FLOOR({lhs} / POWER(2, {rhs}))"
        return str(super().combine_expression(connector, sub_expressions))

    def subtract_temporals(self, internal_type: str, lhs: Any, rhs: Any) -> Any:
        """The span between two moments."""
        (lhs_sql, lhs_params), (rhs_sql, rhs_params) = lhs, rhs
        if internal_type == "DateField":
            lhs_sql, rhs_sql = (f"EXTEND({sql}, YEAR TO FRACTION(5))" for sql in (lhs_sql, rhs_sql))
        sql = f"CAST({lhs_sql} - {rhs_sql} AS INTERVAL DAY(9) TO FRACTION(5))"
        return sql, (*lhs_params, *rhs_params)

    # -- dates -------------------------------------------------------------------------------------------------------

    def date_extract_sql(self, lookup_type: str, sql: str, params: Any) -> Any:
        """A number of a date."""
        if lookup_type in ("year", "month", "day"):
            return f"{lookup_type.upper()}({sql})", params
        if lookup_type == "week_day":
            return f"(WEEKDAY({sql}) + 1)", params
        if lookup_type == "iso_week_day":
            return f"(MOD(WEEKDAY({sql}) + 6, 7) + 1)", params
        if lookup_type == "quarter":
            return f"QUARTER({sql})", params
        if lookup_type in ("hour", "minute", "second"):
            word = lookup_type.upper()
            return f"CAST(CAST(EXTEND({sql}, {word} TO {word}) AS CHAR(2)) AS INTEGER)", params
        if lookup_type in ("week", "iso_year"):
            # Both are those of the week's Thursday.
            thursday = f"(DATE({sql}) - MOD(WEEKDAY({sql}) + 6, 7) + 3)"
            params = (*params, *params)
            if lookup_type == "iso_year":
                return f"YEAR({thursday})", params
            return f"(TRUNC(({thursday} - MDY(1, 1, YEAR({thursday}))) / 7) + 1)", (*params, *params)
        raise OperationalError(f"Informix has no {lookup_type!r} of a date.")

    def datetime_extract_sql(self, lookup_type: str, sql: str, params: Any, tzname: str | None) -> Any:
        """A number of a moment."""
        return self.date_extract_sql(lookup_type, self._here(sql, tzname), params)

    def time_extract_sql(self, lookup_type: str, sql: str, params: Any) -> Any:
        """A number of a time of day."""
        return self.date_extract_sql(lookup_type, sql, params)

    def _here(self, sql: str, tzname: str | None) -> str:
        if settings.USE_TZ and tzname and tzname != self.connection.timezone_name:
            raise NotSupportedError("Informix has no time zones: compute with datetimes of the connection's zone.")
        return sql

    def _cut(self, lookup_type: str, sql: str, params: Any, kind: str) -> Any:
        if lookup_type in _FIELDS:
            field = _FIELDS[lookup_type]
            first = "HOUR" if kind == "time" else "YEAR"
            cut = f"EXTEND({sql}, {first} TO {field})"
        elif lookup_type == "quarter":
            months = f"MOD(MONTH({sql}) - 1, 3)"
            cut, params = f"EXTEND(ADD_MONTHS({sql}, -{months}), YEAR TO MONTH)", (*params, *params)
        elif lookup_type == "week":
            cut = f"EXTEND({sql}, YEAR TO DAY) - MOD(WEEKDAY({sql}) + 6, 7) UNITS DAY"
            params = (*params, *params)
        else:
            raise OperationalError(f"Informix has no {lookup_type!r} of a date.")
        if kind == "date":
            return f"CAST(EXTEND({cut}, YEAR TO DAY) AS DATE)", params
        return f"EXTEND({cut}, {'HOUR' if kind == 'time' else 'YEAR'} TO FRACTION(5))", params

    def date_trunc_sql(self, lookup_type: str, sql: str, params: Any, tzname: str | None = None) -> Any:
        """The beginning of a year, a month, …"""
        return self._cut(lookup_type, self._here(sql, tzname), params, "date")

    def datetime_trunc_sql(self, lookup_type: str, sql: str, params: Any, tzname: str | None) -> Any:
        """The same of a moment."""
        return self._cut(lookup_type, self._here(sql, tzname), params, "datetime")

    def time_trunc_sql(self, lookup_type: str, sql: str, params: Any, tzname: str | None = None) -> Any:
        """The same of a time of day."""
        return self._cut(lookup_type, self._here(sql, tzname), params, "time")

    def datetime_cast_date_sql(self, sql: str, params: Any, tzname: str | None) -> Any:
        """A moment's day."""
        return f"DATE({self._here(sql, tzname)})", params

    def datetime_cast_time_sql(self, sql: str, params: Any, tzname: str | None) -> Any:
        """A moment's time of day."""
        return f"EXTEND({self._here(sql, tzname)}, HOUR TO FRACTION(5))", params
