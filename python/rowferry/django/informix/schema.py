"""Definitions and their changes."""

from __future__ import annotations

import datetime
from decimal import Decimal
from typing import Any

from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.models.expressions import Value


class DatabaseSchemaEditor(BaseDatabaseSchemaEditor):
    """A constraint's name stands behind it; MODIFY says a whole column anew."""

    sql_rename_table = "RENAME TABLE %(old_table)s TO %(new_table)s"
    sql_delete_table = "DROP TABLE %(table)s CASCADE"
    sql_create_column = "ALTER TABLE %(table)s ADD (%(column)s %(definition)s)"
    sql_delete_column = "ALTER TABLE %(table)s DROP (%(column)s)"
    sql_rename_column = "RENAME COLUMN %(table)s.%(old_column)s TO %(new_column)s"
    sql_alter_column_type = "MODIFY (%(column)s %(type)s)"
    sql_alter_column_null = "MODIFY (%(column)s %(type)s)"
    sql_alter_column_not_null = "MODIFY (%(column)s %(type)s NOT NULL)"
    sql_alter_column_default = "MODIFY (%(column)s %(type)s DEFAULT %(default)s)"
    sql_alter_column_no_default = "MODIFY (%(column)s %(type)s)"
    sql_alter_column_no_default_null = sql_alter_column_no_default

    sql_constraint = "%(constraint)s CONSTRAINT %(name)s"
    sql_create_check = "ALTER TABLE %(table)s ADD CONSTRAINT CHECK (%(check)s) CONSTRAINT %(name)s"
    sql_create_unique = "ALTER TABLE %(table)s ADD CONSTRAINT UNIQUE (%(columns)s) CONSTRAINT %(name)s"
    sql_create_pk = "ALTER TABLE %(table)s ADD CONSTRAINT PRIMARY KEY (%(columns)s) CONSTRAINT %(name)s"
    sql_create_fk = (
        "ALTER TABLE %(table)s ADD CONSTRAINT FOREIGN KEY (%(column)s) "
        "REFERENCES %(to_table)s (%(to_column)s) CONSTRAINT %(name)s"
    )
    sql_create_index = "CREATE INDEX %(name)s ON %(table)s (%(columns)s)%(extra)s"
    sql_create_unique_index = "CREATE UNIQUE INDEX %(name)s ON %(table)s (%(columns)s)"
    sql_rename_index = "RENAME INDEX %(old_name)s TO %(new_name)s"

    def quote_value(self, value: Any) -> str:
        """A literal."""
        if isinstance(value, bool):
            return "'t'" if value else "'f'"
        if isinstance(value, (int, float, Decimal)):
            return str(value)
        if value is None:
            return "NULL"
        if isinstance(value, datetime.datetime):
            return f"DATETIME({value.isoformat(' ', 'microseconds')[:-1]}) YEAR TO FRACTION(5)"
        if isinstance(value, datetime.date):
            return f"'{value:%Y-%m-%d}'"
        if isinstance(value, datetime.time):
            return f"DATETIME({value.isoformat('microseconds')[:-1]}) HOUR TO FRACTION(5)"
        if isinstance(value, datetime.timedelta):
            hours, seconds = divmod(value.seconds, 3600)
            clock = f"{hours:02d}:{seconds // 60:02d}:{seconds % 60:02d}.{value.microseconds // 10:05d}"
            return f"INTERVAL({value.days} {clock}) DAY(9) TO FRACTION(5)"
        if isinstance(value, (bytes, bytearray, memoryview)):
            raise ValueError("Informix has no literal of a BYTE")
        return "'" + str(value).replace("'", "''") + "'"

    def prepare_default(self, value: Any) -> str:
        """A default is a literal."""
        return self.quote_value(value)

    def db_default_sql(self, field: Any) -> Any:
        """A literal as it is: a default takes no cast."""
        expression = field._db_default_expression
        if isinstance(expression, Value):
            return self.prepare_default(expression.value), []
        return super().db_default_sql(field)

    def skip_default(self, field: Any) -> bool:
        """A TEXT or BYTE has no default."""
        return (field.db_type(self.connection) or "") in ("TEXT", "BYTE")

    skip_default_on_alter = skip_default

    def add_field(self, model: Any, field: Any) -> None:
        """What has no default is added without values, which it gets before it has to have them."""
        default = self.effective_default(field)
        if field.many_to_many or field.null or default is None or not self.skip_default(field):
            super().add_field(model, field)
            return
        field.null = True
        try:
            super().add_field(model, field)
        finally:
            field.null = False
        table, column = self.quote_name(model._meta.db_table), self.quote_name(field.column)
        self.execute(f"UPDATE {table} SET {column} = %s", [default])
        changes = self.sql_alter_column_not_null % {"column": column, "type": field.db_type(self.connection)}
        self.execute(self.sql_alter_column % {"table": table, "changes": changes})

    def _with_default(self, field: Any, new_type: str) -> str:
        return f"{new_type} DEFAULT {self.db_default_sql(field)[0]}" if field.has_db_default() else new_type

    def _whole(self, field: Any, new_type: str) -> str:
        return self._with_default(field, new_type) + ("" if field.null else " NOT NULL")

    def _alter_column_null_sql(self, model: Any, old_field: Any, new_field: Any) -> Any:
        template = self.sql_alter_column_null if new_field.null else self.sql_alter_column_not_null
        whole = self._with_default(new_field, new_field.db_parameters(connection=self.connection)["type"])
        return template % {"column": self.quote_name(new_field.column), "type": whole}, []

    def _alter_column_type_sql(
        self, model: Any, old_field: Any, new_field: Any, new_type: str, old_collation: Any, new_collation: Any
    ) -> Any:
        whole = self._whole(old_field, new_type)
        return super()._alter_column_type_sql(model, old_field, new_field, whole, old_collation, new_collation)

    def _alter_column_default_sql(self, model: Any, old_field: Any, new_field: Any, drop: bool = False) -> Any:
        sql, params = super()._alter_column_default_sql(model, old_field, new_field, drop)
        # Where values are to come first, the column refuses NULL afterwards.
        stays = drop or (old_field is not None and not old_field.null)
        if stays and not new_field.null and sql.endswith(")"):
            sql = f"{sql.removesuffix(')')} NOT NULL)"
        return sql, params

    def _field_should_be_indexed(self, model: Any, field: Any) -> bool:
        # A foreign key has an index of its own.
        if not super()._field_should_be_indexed(model, field):
            return False
        if field.remote_field and field.db_constraint:
            return False
        return (field.db_type(self.connection) or "") not in ("TEXT", "BYTE")
