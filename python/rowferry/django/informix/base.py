"""The connection."""

from __future__ import annotations

from typing import Any

from django.core.exceptions import ImproperlyConfigured
from django.db.backends.base.base import BaseDatabaseWrapper
from django.utils.asyncio import async_unsafe
from django.utils.functional import cached_property

from rowferry import informix as Database

from .client import DatabaseClient
from .creation import DatabaseCreation
from .features import DatabaseFeatures
from .functions import register
from .introspection import DatabaseIntrospection
from .operations import DatabaseOperations
from .schema import DatabaseSchemaEditor

register()

#: What a VARCHAR holds.
VARCHAR_MAX = 255


def _varchar(data: Any) -> str:
    length = data["max_length"] or VARCHAR_MAX
    return f"VARCHAR({length})" if length <= VARCHAR_MAX else f"LVARCHAR({length})"


class DatabaseWrapper(BaseDatabaseWrapper):
    """A connection of `rowferry.informix`."""

    vendor = "informix"
    display_name = "Informix"
    data_types = {  # noqa: RUF012
        "AutoField": "SERIAL",
        "BigAutoField": "BIGSERIAL",
        "SmallAutoField": "SERIAL",
        "BinaryField": "BYTE",
        "BooleanField": "BOOLEAN",
        "CharField": _varchar,
        "DateField": "DATE",
        "DateTimeField": "DATETIME YEAR TO FRACTION(5)",
        "DecimalField": "DECIMAL(%(max_digits)s, %(decimal_places)s)",
        "DurationField": "INTERVAL DAY(9) TO FRACTION(5)",
        "FileField": _varchar,
        "FilePathField": _varchar,
        "FloatField": "FLOAT",
        "IntegerField": "INTEGER",
        "BigIntegerField": "BIGINT",
        "IPAddressField": "VARCHAR(15)",
        "GenericIPAddressField": "VARCHAR(39)",
        "JSONField": "JSON",
        "OneToOneField": "INTEGER",
        "PositiveBigIntegerField": "BIGINT",
        "PositiveIntegerField": "INTEGER",
        "PositiveSmallIntegerField": "SMALLINT",
        "SlugField": _varchar,
        "SmallIntegerField": "SMALLINT",
        "TextField": "TEXT",
        "TimeField": "DATETIME HOUR TO FRACTION(5)",
        "URLField": _varchar,
        "UUIDField": "CHAR(32)",
    }
    data_type_check_constraints = {  # noqa: RUF012
        "PositiveBigIntegerField": '"%(column)s" >= 0',
        "PositiveIntegerField": '"%(column)s" >= 0',
        "PositiveSmallIntegerField": '"%(column)s" >= 0',
    }
    operators = {  # noqa: RUF012
        "exact": "= %s",
        "iexact": "= UPPER(%s)",
        "contains": "LIKE %s ESCAPE '\\'",
        "icontains": "LIKE UPPER(%s) ESCAPE '\\'",
        "gt": "> %s",
        "gte": ">= %s",
        "lt": "< %s",
        "lte": "<= %s",
        "startswith": "LIKE %s ESCAPE '\\'",
        "endswith": "LIKE %s ESCAPE '\\'",
        "istartswith": "LIKE UPPER(%s) ESCAPE '\\'",
        "iendswith": "LIKE UPPER(%s) ESCAPE '\\'",
    }
    pattern_esc = r"REPLACE(REPLACE(REPLACE({}, '\', '\\'), '%%', '\%%'), '_', '\_')"
    pattern_ops = {  # noqa: RUF012
        "contains": r"LIKE '%%' || {} || '%%' ESCAPE '\'",
        "icontains": r"LIKE '%%' || UPPER({}) || '%%' ESCAPE '\'",
        "startswith": r"LIKE {} || '%%' ESCAPE '\'",
        "istartswith": r"LIKE UPPER({}) || '%%' ESCAPE '\'",
        "endswith": r"LIKE '%%' || {} ESCAPE '\'",
        "iendswith": r"LIKE '%%' || UPPER({}) ESCAPE '\'",
    }

    Database = Database
    SchemaEditorClass = DatabaseSchemaEditor
    client_class = DatabaseClient
    creation_class = DatabaseCreation
    features_class = DatabaseFeatures
    introspection_class = DatabaseIntrospection
    ops_class = DatabaseOperations

    def get_connection_params(self) -> dict[str, Any]:
        """What `rowferry.informix.connect` is called with."""
        settings = self.settings_dict
        if settings["NAME"] == "":
            raise ImproperlyConfigured("settings.DATABASES is improperly configured: supply the NAME of the database")
        options = dict(settings["OPTIONS"])
        given = {
            "host": settings["HOST"] or None,
            "port": int(settings["PORT"]) if settings["PORT"] else None,
            "user": settings["USER"] or None,
            "password": settings["PASSWORD"] or None,
            # Without one, that which is on every server.
            "database": settings["NAME"] or "sysmaster",
        }
        # Names are quoted, and text is whatever Unicode has.
        options["env"] = {**options.get("env", {}), "DELIMIDENT": "y"}
        options.setdefault("client_locale", "en_US.utf8")
        return {name: value for name, value in given.items() if value is not None} | options

    @async_unsafe
    def get_new_connection(self, conn_params: dict[str, Any]) -> Any:
        """Connect."""
        return Database.connect(**conn_params)

    @async_unsafe
    def create_cursor(self, name: str | None = None) -> Any:
        """A cursor that takes Django's placeholders."""
        return _Cursor(self.connection.cursor())

    def _set_autocommit(self, autocommit: bool) -> None:
        with self.wrap_database_errors:
            self.connection.autocommit = autocommit

    def is_usable(self) -> bool:
        """Whether the server is still there."""
        try:
            self.connection.ping()
        except Database.Error:
            return False
        return True

    def check_constraints(self, table_names: Any = None) -> None:
        """Look at what was deferred."""
        with self.cursor() as cursor:
            cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")

    @cached_property
    def informix_version(self) -> tuple[int, ...]:
        """The version of the server's release."""
        with self.temporary_connection():
            words = str(self.connection.server_version).split()
        found = next((word for word in words if word[0].isdigit() and "." in word), "0")
        return tuple(int(part) for part in found.split(".") if part.isdigit())

    def get_database_version(self) -> tuple[int, ...]:
        """The version of the server's release."""
        return self.informix_version


class _Cursor:
    """`%s` becomes `?`, `%%` becomes `%`."""

    def __init__(self, cursor: Any) -> None:
        self._cursor = cursor

    def execute(self, query: str, params: Any = None) -> Any:
        if params is None:
            return self._cursor.execute(query)
        if isinstance(params, dict):
            query = query % {name: f":{name}" for name in params}
            return self._cursor.execute(query, params)
        return self._cursor.execute(_marked(query, len(params)), tuple(params) or None)

    def executemany(self, query: str, param_list: Any) -> Any:
        rows = [tuple(row) for row in param_list]
        if not rows:
            return None
        return self._cursor.executemany(_marked(query, len(rows[0])), rows)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._cursor, name)

    def __iter__(self) -> Any:
        return iter(self._cursor)

    def __enter__(self) -> _Cursor:
        return self

    def __exit__(self, *failure: Any) -> None:
        self._cursor.close()


def _marked(query: str, count: int) -> str:
    return query % (("?",) * count)
