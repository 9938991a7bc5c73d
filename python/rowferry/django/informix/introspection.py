"""What there is in a database, from the system catalog."""

from __future__ import annotations

from collections import namedtuple
from typing import Any, cast

from django.db.backends.base.introspection import BaseDatabaseIntrospection, TableInfo
from django.db.backends.base.introspection import FieldInfo as BaseFieldInfo
from django.db.models import Index

FieldInfo = cast(Any, namedtuple("FieldInfo", [*BaseFieldInfo._fields, "is_serial"]))

#: Set in `syscolumns.coltype` of a column that refuses NULL.
NOT_NULL = 0x100
SERIALS = (6, 18, 53)
PARTS = ", ".join(f"i.part{number}" for number in range(1, 17))


class DatabaseIntrospection(BaseDatabaseIntrospection):
    """Tables, columns, constraints."""

    #: By the number of a type, or by its name where it has one.
    data_types_reverse = {  # noqa: RUF012
        0: "CharField",
        1: "SmallIntegerField",
        2: "IntegerField",
        3: "FloatField",
        4: "FloatField",
        5: "DecimalField",
        6: "IntegerField",
        7: "DateField",
        8: "DecimalField",
        10: "DateTimeField",
        11: "BinaryField",
        12: "TextField",
        13: "CharField",
        14: "DurationField",
        15: "CharField",
        16: "CharField",
        17: "BigIntegerField",
        18: "BigIntegerField",
        40: "CharField",
        43: "CharField",
        45: "BooleanField",
        52: "BigIntegerField",
        53: "BigIntegerField",
        "boolean": "BooleanField",
        "lvarchar": "CharField",
        "json": "JSONField",
        "blob": "BinaryField",
        "clob": "TextField",
    }

    def get_field_type(self, data_type: Any, description: Any) -> Any:
        """Django's field for a column."""
        kind = super().get_field_type(data_type, description)
        if description.is_serial:
            return {"IntegerField": "AutoField", "BigIntegerField": "BigAutoField"}.get(kind, kind)
        # From HOUR on a DATETIME is a time of day.
        if data_type == 10 and (description.internal_size >> 4) & 0xF >= 6:
            return "TimeField"
        return kind

    def get_table_list(self, cursor: Any) -> list[TableInfo]:
        """Tables and views of users."""
        cursor.execute(
            "SELECT tabname, tabtype FROM systables WHERE tabid >= 100 AND tabtype IN ('T', 'V') ORDER BY tabname"
        )
        return [TableInfo(name, "t" if kind == "T" else "v") for name, kind in cursor.fetchall()]

    def get_table_description(self, cursor: Any, table_name: str) -> list[Any]:
        """The columns of a table."""
        cursor.execute("SELECT extended_id, name, mode, source FROM sysxtdtypes WHERE name IS NOT NULL")
        types = {
            number: (name.strip(), source if mode == "D" else 0) for number, name, mode, source in cursor.fetchall()
        }
        names = {}
        for number, (name, source) in types.items():
            # A column of a DISTINCT type has its source's values.
            while source:
                name, source = types[source]
            names[number] = name
        cursor.execute(
            "SELECT d.colno, d.type, d.default FROM sysdefaults d, systables t "
            "WHERE t.tabid = d.tabid AND d.class = 'T' AND t.tabname = %s",
            (table_name,),
        )
        defaults = {number: (kind, text) for number, kind, text in cursor.fetchall()}
        cursor.execute(
            "SELECT c.colno, c.colname, c.coltype, c.collength, c.extended_id FROM syscolumns c, systables t "
            "WHERE t.tabid = c.tabid AND t.tabname = %s ORDER BY c.colno",
            (table_name,),
        )
        rows = cursor.fetchall()
        if not rows:
            # Which is an error, with the server's own words.
            cursor.execute(f"SELECT FIRST 1 * FROM {self.connection.ops.quote_name(table_name)}")
        found = []
        for number, name, flagged, length, extended in rows:
            kind = flagged & 0xFF
            precision = scale = None
            if kind in (5, 8):
                precision, scale = length >> 8, length & 0xFF
            shown = length & 0xFF if kind in (13, 16) else length
            code = names.get(extended, kind) if kind in (40, 41) else kind
            default = _default(kind, *defaults[number]) if number in defaults else None
            nullable = not flagged & NOT_NULL
            # A serial column is one of integers, which its keys are, too.
            code = {6: 2, 18: 17, 53: 52}.get(code, code)
            found.append(
                FieldInfo(name, code, shown, shown, precision, scale, nullable, default, None, kind in SERIALS)
            )
        return found

    def get_sequences(self, cursor: Any, table_name: str, table_fields: Any = ()) -> list[Any]:
        """Its serial column."""
        columns = self.get_table_description(cursor, table_name)
        return [{"table": table_name, "column": column.name} for column in columns if column.is_serial]

    def _columns(self, cursor: Any, table_name: str) -> dict[int, str]:
        cursor.execute(
            "SELECT c.colno, c.colname FROM syscolumns c, systables t WHERE t.tabid = c.tabid AND t.tabname = %s",
            (table_name,),
        )
        return {number: name for number, name in cursor.fetchall()}

    def _indexes(self, cursor: Any, table_name: str) -> dict[str, tuple[bool, list[int]]]:
        cursor.execute(
            f"SELECT i.idxname, i.idxtype, {PARTS} FROM sysindexes i, systables t "
            "WHERE t.tabid = i.tabid AND t.tabname = %s ORDER BY i.idxname",
            (table_name,),
        )
        return {
            name: (kind in ("U", "u"), [part for part in parts if part]) for name, kind, *parts in cursor.fetchall()
        }

    def _references(self, cursor: Any, table_name: str) -> list[Any]:
        cursor.execute(
            "SELECT c.constrname, c.idxname, o.tabname, p.idxname "
            "FROM sysconstraints c, sysreferences r, sysconstraints p, systables t, systables o "
            "WHERE c.tabid = t.tabid AND r.constrid = c.constrid AND p.constrid = r.primary AND o.tabid = r.ptabid "
            "AND t.tabname = %s",
            (table_name,),
        )
        found = []
        for name, index, other, other_index in cursor.fetchall():
            own, theirs = self._columns(cursor, table_name), self._columns(cursor, other)
            columns = [own[abs(part)] for part in self._indexes(cursor, table_name)[index][1]]
            others = [theirs[abs(part)] for part in self._indexes(cursor, other)[other_index][1]]
            found.append((name, columns, other, others))
        return found

    def get_relations(self, cursor: Any, table_name: str) -> dict[str, tuple[str, str]]:
        """Foreign keys of one column."""
        return {columns[0]: (others[0], other) for _, columns, other, others in self._references(cursor, table_name)}

    def get_constraints(self, cursor: Any, table_name: str) -> dict[str, Any]:
        """Constraints and indexes by their names."""
        columns = self._columns(cursor, table_name)
        indexes = self._indexes(cursor, table_name)
        cursor.execute(
            "SELECT c.constrid, c.constrname, c.constrtype, c.idxname FROM sysconstraints c, systables t "
            "WHERE c.tabid = t.tabid AND t.tabname = %s AND c.constrtype IN ('P', 'U', 'R', 'C')",
            (table_name,),
        )
        rows = cursor.fetchall()
        references = {name: (other, others[0]) for name, _, other, others in self._references(cursor, table_name)}
        found: dict[str, Any] = {}
        made = set()
        for number, name, kind, index in rows:
            names = [columns[abs(part)] for part in indexes.get(index, (False, []))[1]]
            if kind == "C":
                cursor.execute("SELECT UNIQUE colno FROM syscoldepend WHERE constrid = %s", (number,))
                names = [columns[colno] for (colno,) in cursor.fetchall()]
            if index == name or (index or "").startswith(" "):
                made.add(index)
            found[name] = {
                "columns": names,
                "primary_key": kind == "P",
                "unique": kind in ("P", "U"),
                "foreign_key": references.get(name),
                "check": kind == "C",
                "index": False,
                "definition": None,
                "options": None,
            }
        for name, (unique, parts) in indexes.items():
            if name in made:
                continue
            found[name] = {
                "columns": [columns[abs(part)] for part in parts],
                "orders": ["DESC" if part < 0 else "ASC" for part in parts],
                "primary_key": False,
                "unique": unique,
                "foreign_key": None,
                "check": False,
                "index": True,
                "type": Index.suffix,
                "definition": None,
                "options": None,
            }
        return found


def _default(kind: int, class_: str, text: str) -> str | None:
    if class_ == "N":
        return None
    if class_ in ("C", "T", "U"):
        return {"C": "CURRENT", "T": "TODAY", "U": "USER"}[class_]
    if kind in (0, 13, 15, 16, 40, 43):
        return "'" + text.rstrip().replace("'", "''") + "'"
    return text.strip().partition(" ")[2] or text.strip()
