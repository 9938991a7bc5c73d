"""Alembic's words for Informix. Imported with the dialects where Alembic is installed."""

from __future__ import annotations

from typing import Any

from alembic.ddl.base import AddColumn, AlterColumn, ColumnName, DropColumn, RenameTable
from alembic.ddl.impl import DefaultImpl
from sqlalchemy import exc
from sqlalchemy.ext.compiler import compiles

__all__ = ["InformixImpl"]


class InformixImpl(DefaultImpl):
    """Informix's `ALTER TABLE … MODIFY` says a whole column anew."""

    __dialect__ = "informix"
    transactional_ddl = True

    def alter_column(
        self,
        table_name: str,
        column_name: str,
        *,
        nullable: bool | None = None,
        server_default: Any = False,
        name: str | None = None,
        type_: Any = None,
        schema: str | None = None,
        existing_type: Any = None,
        existing_server_default: Any = None,
        existing_nullable: bool | None = None,
        autoincrement: Any = None,
        comment: Any = False,
        **kw: Any,
    ) -> None:
        """What `op.alter_column` asks for."""
        if comment not in (False, None):
            raise exc.CompileError("Informix has no comments")
        if nullable is not None or server_default is not False or type_ is not None:
            kind = type_ if type_ is not None else existing_type
            if kind is None:
                raise exc.CompileError(f"to modify the column {column_name}, Informix has to be told its existing_type")
            stays = existing_nullable if nullable is None else nullable
            default = existing_server_default if server_default is False else server_default
            self._exec(_ModifyColumn(table_name, column_name, schema, kind, stays is not False, default))
        if name is not None:
            self._exec(ColumnName(table_name, column_name, name, schema=schema))

    def compare_server_default(
        self,
        inspector_column: Any,
        metadata_column: Any,
        rendered_metadata_default: Any,
        rendered_inspector_default: Any,
    ) -> bool:
        """True when they differ. A text of a table's definition comes without its quotes, one of the catalog with."""

        def bare(text: str | None) -> str | None:
            return text[1:-1].replace("''", "'") if text and text[0] == text[-1] == "'" and len(text) > 1 else text

        return bare(rendered_inspector_default) != bare(rendered_metadata_default)


class _ModifyColumn(AlterColumn):
    def __init__(self, table: str, column: str, schema: str | None, type_: Any, nullable: bool, default: Any) -> None:
        super().__init__(table, column, schema=schema)
        self.type_ = type_
        self.nullable = nullable
        self.default = default


def _table(element: Any, compiler: Any, name: str | None = None) -> str:
    quote = compiler.preparer.quote
    table = quote(name or element.table_name)
    return f"{quote(element.schema)}.{table}" if element.schema else str(table)


@compiles(_ModifyColumn, "informix")
def _modify_column(element: Any, compiler: Any, **kw: Any) -> str:
    words = compiler.dialect.type_compiler_instance.process(element.type_)
    text = f"ALTER TABLE {_table(element, compiler)} MODIFY ({compiler.preparer.quote(element.column_name)} {words}"
    if element.default is not None and element.default is not False:
        default = element.default.arg if hasattr(element.default, "arg") else element.default
        text += f" DEFAULT {compiler.render_default_string(default)}"
    return text + ("" if element.nullable else " NOT NULL") + ")"


@compiles(AddColumn, "informix")
def _add_column(element: Any, compiler: Any, **kw: Any) -> str:
    return f"ALTER TABLE {_table(element, compiler)} ADD ({compiler.get_column_specification(element.column, **kw)})"


@compiles(DropColumn, "informix")
def _drop_column(element: Any, compiler: Any, **kw: Any) -> str:
    return f"ALTER TABLE {_table(element, compiler)} DROP ({compiler.preparer.format_column(element.column)})"


@compiles(ColumnName, "informix")
def _rename_column(element: Any, compiler: Any, **kw: Any) -> str:
    quote = compiler.preparer.quote
    return f"RENAME COLUMN {_table(element, compiler)}.{quote(element.column_name)} TO {quote(element.newname)}"


@compiles(RenameTable, "informix")
def _rename_table(element: Any, compiler: Any, **kw: Any) -> str:
    return f"RENAME TABLE {_table(element, compiler)} TO {compiler.preparer.quote(element.new_table_name)}"
