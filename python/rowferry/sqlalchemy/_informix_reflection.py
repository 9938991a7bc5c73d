"""What there is in a database, from Informix's system catalog."""

from __future__ import annotations

from typing import Any

from sqlalchemy import exc
from sqlalchemy import types as sqltypes
from sqlalchemy.engine import reflection

from . import _informix_types as types

__all__ = ["Reflection"]

#: Set in `syscolumns.coltype` of a column that refuses NULL.
NOT_NULL = 0x100
#: The numbers of serial types.
SERIALS = (6, 18, 53)
#: `sysconstraints.constrtype`.
PRIMARY, UNIQUE, FOREIGN, CHECK = "P", "U", "R", "C"
#: Texts stand in pieces of so many characters, whose blanks at the end rows do not have.
VIEW_PART, CHECK_PART = 64, 32
#: How many columns an index has at most.
PARTS = 16

_FIELDS = {0: "YEAR", 2: "MONTH", 4: "DAY", 6: "HOUR", 8: "MINUTE", 10: "SECOND"}

#: Types that are no more than their number, by it.
_PLAIN: dict[int, Any] = {
    1: sqltypes.SMALLINT,
    2: sqltypes.INTEGER,
    3: sqltypes.FLOAT,
    4: types.SMALLFLOAT,
    6: sqltypes.INTEGER,
    7: sqltypes.DATE,
    11: types.BYTE,
    12: sqltypes.TEXT,
    17: types.INT8,
    18: types.INT8,
    52: sqltypes.BIGINT,
    53: sqltypes.BIGINT,
}

#: Types that have a name in `sysxtdtypes`, by it.
_NAMED: dict[str, Any] = {
    "boolean": sqltypes.BOOLEAN,
    "blob": sqltypes.BLOB,
    "clob": sqltypes.CLOB,
    "json": types.JSON,
    "bson": types.BSON,
}


def _field(code: int) -> str:
    """A field of a DATETIME or an INTERVAL by its number."""
    return _FIELDS.get(code, f"FRACTION({code - 10})")


def _qualified(kind: int, length: int) -> Any:
    """The type of a DATETIME (10) or an INTERVAL (14), whose length has its digits and its fields."""
    digits, start, end = length >> 8, (length >> 4) & 0xF, length & 0xF
    if kind == 10:
        first = "FRACTION" if start == 12 else _field(start)
        return (types.TIME if start >= 6 else types.DATETIME)(first, _field(end))
    # Digits of the first field are what the others leave; a fraction's last field counts its digits.
    first = "FRACTION" if start == 12 else _field(start)
    leading = digits - (end - start)
    return types.INTERVAL(f"{first}({leading})" if leading > 0 and first != "FRACTION" else first, _field(end))


def _type(kind: int, length: int, name: str | None) -> Any:
    """SQLAlchemy's type of a column; `kind` without flags."""
    if kind in _PLAIN:
        return _PLAIN[kind]()
    if kind in (0, 15):
        return (sqltypes.CHAR if kind == 0 else sqltypes.NCHAR)(length)
    if kind in (13, 16):
        # A VARCHAR's length has its minimum in the upper byte.
        return (sqltypes.VARCHAR if kind == 13 else sqltypes.NVARCHAR)(length & 0xFF)
    if kind in (5, 8):
        precision, scale = length >> 8, length & 0xFF
        if kind == 8:
            return types.MONEY(precision, scale)
        # 255 is the scale of a floating DECIMAL.
        return sqltypes.DECIMAL(precision) if scale == 0xFF else sqltypes.DECIMAL(precision, scale)
    if kind in (10, 14):
        return _qualified(kind, length)
    if name in _NAMED:
        return _NAMED[name]()
    if kind == 43 or name == "lvarchar":
        return types.LVARCHAR(length)
    return sqltypes.NullType()


def _default(kind: int, length: int, class_: str, text: str | None) -> str | None:
    """The words of a default, from `sysdefaults`."""
    if class_ == "N":
        return None
    if class_ == "C":
        return f"CURRENT {_qualified(10, length).start} TO {_qualified(10, length).end}" if kind == 10 else "CURRENT"
    if class_ in ("T", "U", "S"):
        return {"T": "TODAY", "U": "USER", "S": "DBSERVERNAME"}[class_]
    if text is None:
        return None
    if kind in (0, 13, 15, 16, 40, 43) or (kind == 41 and not text.startswith("AAAAAA")):
        return "'" + text.rstrip().replace("'", "''") + "'"
    # Values of other types stand behind their bytes, which are written with six bits to a letter.
    _, blank, words = text.strip().partition(" ")
    words = words if blank else text.strip()
    return f"'{words}'" if kind == 41 else words


class Reflection:
    """Part of the dialects."""

    default_schema_name: Any

    # -- what there is -----------------------------------------------------------------------------------------------

    def _tabid(self, connection: Any, name: str, schema: str | None, **kw: Any) -> int:
        tabid = self._find(connection, name, schema, info_cache=kw.get("info_cache"))
        if tabid is None:
            raise exc.NoSuchTableError(f"{schema}.{name}" if schema else name)
        return int(tabid)

    @reflection.cache
    def _find(self, connection: Any, name: str, schema: str | None = None, **kw: Any) -> int | None:
        sql = "SELECT tabid, owner FROM systables WHERE tabname = ? AND tabtype IN ('T', 'V', 'E')"
        rows = connection.exec_driver_sql(sql, (name,)).all()
        # In an ANSI database each owner may have one of this name.
        fitting = [tabid for tabid, owner in rows if owner.strip() == (schema or self.default_schema_name)]
        if not fitting and schema is None:
            fitting = [tabid for tabid, _ in rows]
        return fitting[0] if fitting else None

    @reflection.cache
    def has_table(self, connection: Any, table_name: str, schema: str | None = None, **kw: Any) -> bool:
        self._ensure_has_table_connection(connection)  # type: ignore[attr-defined]
        return self._find(connection, table_name, schema, info_cache=kw.get("info_cache")) is not None

    def _names(self, connection: Any, kind: str, schema: str | None) -> list[str]:
        sql = "SELECT tabname, owner FROM systables WHERE tabtype = ? AND tabid >= 100 ORDER BY tabname"
        rows = connection.exec_driver_sql(sql, (kind,))
        return [name for name, owner in rows if owner.strip() == (schema or self.default_schema_name)]

    @reflection.cache
    def get_table_names(self, connection: Any, schema: str | None = None, **kw: Any) -> list[str]:
        return self._names(connection, "T", schema)

    @reflection.cache
    def get_view_names(self, connection: Any, schema: str | None = None, **kw: Any) -> list[str]:
        return self._names(connection, "V", schema)

    @reflection.cache
    def get_sequence_names(self, connection: Any, schema: str | None = None, **kw: Any) -> list[str]:
        return self._names(connection, "Q", schema)

    @reflection.cache
    def has_sequence(self, connection: Any, sequence_name: str, schema: str | None = None, **kw: Any) -> bool:
        return sequence_name in self._names(connection, "Q", schema)

    @reflection.cache
    def has_index(
        self, connection: Any, table_name: str, index_name: str, schema: str | None = None, **kw: Any
    ) -> bool:
        if not self.has_table(connection, table_name, schema, **kw):
            return False
        return any(index["name"] == index_name for index in self.get_indexes(connection, table_name, schema, **kw))

    @reflection.cache
    def get_schema_names(self, connection: Any, **kw: Any) -> list[str]:
        rows = connection.exec_driver_sql("SELECT UNIQUE owner FROM systables WHERE owner <> '' ORDER BY 1")
        return [owner.strip() for (owner,) in rows]

    @reflection.cache
    def get_view_definition(self, connection: Any, view_name: str, schema: str | None = None, **kw: Any) -> str:
        tabid = self._tabid(connection, view_name, schema, **kw)
        rows = connection.exec_driver_sql("SELECT viewtext FROM sysviews WHERE tabid = ? ORDER BY seqno", (tabid,))
        text = "".join(part.ljust(VIEW_PART) for (part,) in rows).strip()
        if not text:
            raise exc.NoSuchTableError(view_name)
        return text

    # -- columns -----------------------------------------------------------------------------------------------------

    @reflection.cache
    def get_columns(self, connection: Any, table_name: str, schema: str | None = None, **kw: Any) -> list[Any]:
        tabid = self._tabid(connection, table_name, schema, **kw)
        names = self._type_names(connection, info_cache=kw.get("info_cache"))
        sql = "SELECT d.colno, d.type, d.default FROM sysdefaults d WHERE d.tabid = ? AND d.class = 'T'"
        defaults = {number: (class_, text) for number, class_, text in connection.exec_driver_sql(sql, (tabid,))}
        sql = "SELECT colno, colname, coltype, collength, extended_id FROM syscolumns WHERE tabid = ? ORDER BY colno"
        columns = []
        for number, name, flagged, length, extended in connection.exec_driver_sql(sql, (tabid,)):
            kind = flagged & 0xFF
            column = {
                "name": name,
                "type": _type(kind, length, names.get(extended)),
                "nullable": not flagged & NOT_NULL,
                "default": _default(kind, length, *defaults[number]) if number in defaults else None,
            }
            if kind in SERIALS:
                column["autoincrement"] = True
            columns.append(column)
        return columns

    @reflection.cache
    def _type_names(self, connection: Any, **kw: Any) -> dict[int, str]:
        sql = "SELECT extended_id, name, mode, source FROM sysxtdtypes WHERE name IS NOT NULL"
        rows = connection.exec_driver_sql(sql)
        types = {number: (name.strip(), source if mode == "D" else 0) for number, name, mode, source in rows}
        names = {}
        for number, (name, source) in types.items():
            # A column of a DISTINCT type has its source's values.
            while source:
                name, source = types[source]
            names[number] = name
        return names

    # The cache tells calls apart by texts and by keywords, so that numbers are keywords here.

    # -- constraints and indexes -------------------------------------------------------------------------------------

    @reflection.cache
    def _column_names(self, connection: Any, *, tabid: int, **kw: Any) -> dict[int, str]:
        rows = connection.exec_driver_sql("SELECT colno, colname FROM syscolumns WHERE tabid = ?", (tabid,))
        return {number: name for number, name in rows}

    @reflection.cache
    def _indexes(self, connection: Any, *, tabid: int, **kw: Any) -> dict[str, tuple[bool, list[int]]]:
        """By its name, whether an index is unique, and the numbers of its columns, below zero where it descends."""
        parts = ", ".join(f"part{number}" for number in range(1, PARTS + 1))
        sql = f"SELECT idxname, idxtype, {parts} FROM sysindexes WHERE tabid = ? ORDER BY idxname"
        return {
            name: (kind in ("U", "u"), [part for part in columns if part])
            for name, kind, *columns in connection.exec_driver_sql(sql, (tabid,))
        }

    @reflection.cache
    def _constraints(self, connection: Any, *, tabid: int, **kw: Any) -> list[Any]:
        sql = (
            "SELECT constrid, constrname, constrtype, idxname FROM sysconstraints WHERE tabid = ? "
            "AND constrtype IN ('P', 'U', 'R', 'C') ORDER BY constrname"
        )
        return list(connection.exec_driver_sql(sql, (tabid,)).all())

    def _keys(self, connection: Any, tabid: int, index: str, cache: Any) -> list[str]:
        """The columns of a constraint, from its index."""
        names = self._column_names(connection, tabid=tabid, info_cache=cache)
        _, columns = self._indexes(connection, tabid=tabid, info_cache=cache).get(index, (False, []))
        return [names[abs(number)] for number in columns]

    @reflection.cache
    def get_pk_constraint(self, connection: Any, table_name: str, schema: str | None = None, **kw: Any) -> Any:
        tabid, cache = self._tabid(connection, table_name, schema, **kw), kw.get("info_cache")
        for _, name, kind, index in self._constraints(connection, tabid=tabid, info_cache=cache):
            if kind == PRIMARY:
                return {"name": name, "constrained_columns": self._keys(connection, tabid, index, cache)}
        return reflection.ReflectionDefaults.pk_constraint()

    @reflection.cache
    def get_unique_constraints(
        self, connection: Any, table_name: str, schema: str | None = None, **kw: Any
    ) -> list[Any]:
        tabid, cache = self._tabid(connection, table_name, schema, **kw), kw.get("info_cache")
        return [
            {"name": name, "column_names": self._keys(connection, tabid, index, cache)}
            for _, name, kind, index in self._constraints(connection, tabid=tabid, info_cache=cache)
            if kind == UNIQUE
        ]

    @reflection.cache
    def get_check_constraints(
        self, connection: Any, table_name: str, schema: str | None = None, **kw: Any
    ) -> list[Any]:
        tabid, cache = self._tabid(connection, table_name, schema, **kw), kw.get("info_cache")
        found = []
        for number, name, kind, _ in self._constraints(connection, tabid=tabid, info_cache=cache):
            if kind == CHECK:
                sql = "SELECT checktext FROM syschecks WHERE constrid = ? AND type = 'T' ORDER BY seqno"
                text = "".join(part.ljust(CHECK_PART) for (part,) in connection.exec_driver_sql(sql, (number,)))
                found.append({"name": name, "sqltext": text.strip()})
        return found

    @reflection.cache
    def get_foreign_keys(self, connection: Any, table_name: str, schema: str | None = None, **kw: Any) -> list[Any]:
        tabid, cache = self._tabid(connection, table_name, schema, **kw), kw.get("info_cache")
        sql = (
            "SELECT r.constrid, r.delrule, t.tabid, t.tabname, t.owner, p.idxname "
            "FROM sysreferences r, sysconstraints c, sysconstraints p, systables t "
            "WHERE c.tabid = ? AND r.constrid = c.constrid AND r.primary = p.constrid AND r.ptabid = t.tabid"
        )
        referred = {number: rest for number, *rest in connection.exec_driver_sql(sql, (tabid,))}
        found = []
        for number, name, kind, index in self._constraints(connection, tabid=tabid, info_cache=cache):
            if kind != FOREIGN or number not in referred:
                continue
            rule, target, target_name, owner, target_index = referred[number]
            found.append(
                {
                    "name": name,
                    "constrained_columns": self._keys(connection, tabid, index, cache),
                    "referred_schema": schema if owner.strip() in (schema, self.default_schema_name) else owner.strip(),
                    "referred_table": target_name,
                    "referred_columns": self._keys(connection, target, target_index, cache),
                    "options": {"ondelete": "CASCADE"} if rule == "C" else {},
                }
            )
        return found

    @reflection.cache
    def get_indexes(self, connection: Any, table_name: str, schema: str | None = None, **kw: Any) -> list[Any]:
        tabid, cache = self._tabid(connection, table_name, schema, **kw), kw.get("info_cache")
        names = self._column_names(connection, tabid=tabid, info_cache=cache)
        # Indexes that a constraint has made have a blank in front, or the constraint's own name.
        made = {
            index
            for _, name, _, index in self._constraints(connection, tabid=tabid, info_cache=cache)
            if index == name or index.startswith(" ")
        }
        found = []
        for name, (unique, columns) in self._indexes(connection, tabid=tabid, info_cache=cache).items():
            if name in made or name.startswith(" ") or not columns:
                continue
            index: dict[str, Any] = {
                "name": name,
                "unique": unique,
                "column_names": [names.get(abs(number)) for number in columns],
            }
            descending = {names[-number]: ("desc",) for number in columns if number < 0}
            if descending:
                index["column_sorting"] = descending
            found.append(index)
        return found
