"""SQL and DDL in Informix's words."""

from __future__ import annotations

from typing import Any

from sqlalchemy import exc
from sqlalchemy import types as sqltypes
from sqlalchemy.sql import compiler, elements, schema, selectable

__all__ = ["InformixCompiler", "InformixDDLCompiler", "InformixIdentifierPreparer"]

#: One row of nothing, for queries that name no table: every Informix has it.
ONE_ROW = "TABLE(SET{1})"

#: Words that cannot be names everywhere. Informix reserves none; these it would read as something else.
RESERVED_WORDS = frozenset(
    """
    add all alter and any as asc avg begin between boolean by byte call case cast char character check close cluster
    column commit connect constraint count create cross current current_date current_time current_timestamp cursor
    database date datetime day dba dec decimal declare default delete desc distinct double drop else end escape
    exception execute exists external extend false fetch first float for foreign fraction from full function global
    grant group having hour if in index inner insert int integer interval into is join key last left level like limit
    lock matches max min minute mode modify money month multiset natural nchar new not null numeric of off old on only
    open option or order outer partition precision prepare primary privileges procedure public raise real references
    rename resource return returning returns revoke right rollback row rowid savepoint second select sequence serial
    set sitename skip smallfloat smallint some start sum synonym sysdate table temp text then to today trigger trim
    true truncate union unique unload update user using values varchar varying view when where while with work year
    """.split()
)

#: Fields of `EXTRACT` that have a function.
_FIELDS = {"year": "YEAR", "month": "MONTH", "day": "DAY", "dow": "WEEKDAY"}


class InformixIdentifierPreparer(compiler.IdentifierPreparer):
    """Names are quoted where they must be; the dialect connects with DELIMIDENT."""

    reserved_words = RESERVED_WORDS  # type: ignore[assignment]

    def format_savepoint(self, savepoint: Any, name: Any = None) -> str:
        # SAVEPOINT takes no quoted name.
        return str(super().format_savepoint(savepoint, name)).replace('"', "")  # type: ignore[no-untyped-call]


class InformixCompiler(compiler.SQLCompiler):
    """Queries and changes."""

    compound_keywords = {  # noqa: RUF012
        **compiler.SQLCompiler.compound_keywords,
        selectable._CompoundSelectKeyword.EXCEPT: "MINUS",
    }

    # -- rows --------------------------------------------------------------------------------------------------------

    def default_from(self) -> str:
        return f" FROM {ONE_ROW}"

    def get_select_precolumns(self, select: Any, **kw: Any) -> str:
        return self._pages(select, **kw) + super().get_select_precolumns(select, **kw)

    def _pages(self, select: Any, **kw: Any) -> str:
        """SKIP and FIRST, which stand in front of the columns."""
        most = select._limit_clause
        if select._fetch_clause is not None:
            options = select._fetch_clause_options
            if options["percent"] or options["with_ties"]:
                raise exc.CompileError("Informix's FIRST knows neither PERCENT nor WITH TIES")
            most = select._fetch_clause
        text = ""
        for word, clause in (("SKIP", select._offset_clause), ("FIRST", most)):
            if clause is not None:
                if not isinstance(clause, elements.BindParameter):
                    raise exc.CompileError(f"{word} takes a number or a parameter, no expression")
                text += f"{word} {self.process(clause, **self._plain(kw))} "
        return text

    @staticmethod
    def _plain(kw: dict[str, Any]) -> dict[str, Any]:
        return {name: value for name, value in kw.items() if name in ("literal_binds", "literal_execute")}

    def limit_clause(self, select: Any, **kw: Any) -> str:
        return ""

    def fetch_clause(self, select: Any, *arguments: Any, **kw: Any) -> str:
        return ""

    def visit_compound_select(self, cs: Any, asfrom: Any = False, compound_index: Any = None, **kw: Any) -> Any:
        compound: Any = super().visit_compound_select
        text = compound(cs, asfrom=asfrom, compound_index=compound_index, **kw)
        if not cs._has_row_limiting_clause:
            return text
        # FIRST belongs to one SELECT: to the rows of all, when they are the rows of a derived table.
        return f"SELECT {self._pages(cs, **kw)}* FROM ({text})"

    def for_update_clause(self, select: Any, **kw: Any) -> str:
        wanted = select._for_update_arg
        if len(self.stack) > 1 or wanted.read:
            # Committed reads lock what they read, and FOR READ ONLY would be less than what was asked for.
            return ""
        if wanted.nowait or wanted.skip_locked:
            raise exc.CompileError("Informix's FOR UPDATE knows neither NOWAIT nor SKIP LOCKED: see SET LOCK MODE")
        if not wanted.of:
            return " FOR UPDATE"
        columns = [name for of in wanted.of for name in getattr(of, "columns", [of])]
        return " FOR UPDATE OF " + ", ".join(self.process(name, include_table=False, **kw) for name in columns)

    def get_cte_preamble(self, recursive: Any) -> str:
        return "WITH"

    def visit_empty_set_expr(self, element_types: Any, **kw: Any) -> str:
        columns = ", ".join(self._null_of(type_) for type_ in element_types or [sqltypes.INTEGER()])
        return f"SELECT {columns} FROM {ONE_ROW} WHERE 1 != 1"

    def visit_empty_set_op_expr(self, type_: Any, expand_op: Any, **kw: Any) -> str:
        return self.visit_empty_set_expr(type_)

    def _null_of(self, type_: Any) -> str:
        kind = type_.dialect_impl(self.dialect)
        untyped = isinstance(kind, (sqltypes.NullType, sqltypes.LargeBinary, sqltypes.Text))
        words = "INTEGER" if untyped else self.dialect.type_compiler_instance.process(type_)
        return f"CAST(NULL AS {words})"

    # -- values ------------------------------------------------------------------------------------------------------

    def visit_true(self, expr: Any, **kw: Any) -> str:
        return "CAST('t' AS BOOLEAN)"

    def visit_false(self, expr: Any, **kw: Any) -> str:
        return "CAST('f' AS BOOLEAN)"

    # A column of booleans is no condition by itself.

    def visit_is_true_unary_operator(self, element: Any, operator: Any, **kw: Any) -> str:
        return self._asked(element, "'t'", "{}", **kw)

    def visit_is_false_unary_operator(self, element: Any, operator: Any, **kw: Any) -> str:
        return self._asked(element, "'f'", "NOT {}", **kw)

    def _asked(self, element: Any, value: str, condition: str, **kw: Any) -> str:
        of = element.element
        text = self.process(of, **kw)
        constant = isinstance(of, (elements.True_, elements.False_))
        if element._is_implicitly_boolean and not constant:
            return condition.format(text)
        return f"{text} = {value}"

    def visit_mod_binary(self, binary: Any, operator: Any, **kw: Any) -> str:
        return f"MOD({self.process(binary.left, **kw)}, {self.process(binary.right, **kw)})"

    def visit_is_distinct_from_binary(self, binary: Any, operator: Any, **kw: Any) -> str:
        # DECODE finds NULL equal to NULL.
        return f"DECODE({self.process(binary.left, **kw)}, {self.process(binary.right, **kw)}, 0, 1) = 1"

    def visit_is_not_distinct_from_binary(self, binary: Any, operator: Any, **kw: Any) -> str:
        return f"DECODE({self.process(binary.left, **kw)}, {self.process(binary.right, **kw)}, 0, 1) = 0"

    def _bits(self, function: str, binary: Any, **kw: Any) -> str:
        return f"{function}({self.process(binary.left, **kw)}, {self.process(binary.right, **kw)})"

    def visit_bitwise_and_op_binary(self, binary: Any, operator: Any, **kw: Any) -> str:
        return self._bits("BITAND", binary, **kw)

    def visit_bitwise_or_op_binary(self, binary: Any, operator: Any, **kw: Any) -> str:
        return self._bits("BITOR", binary, **kw)

    def visit_bitwise_xor_op_binary(self, binary: Any, operator: Any, **kw: Any) -> str:
        return self._bits("BITXOR", binary, **kw)

    def visit_bitwise_not_op_unary_operator(self, element: Any, operator: Any, **kw: Any) -> str:
        return f"BITNOT({self.process(element.element, **kw)})"

    def visit_bindparam(self, bindparam: Any, within_columns_clause: bool = False, **kw: Any) -> Any:  # type: ignore[override]
        usual: Any = super().visit_bindparam
        text = usual(bindparam, within_columns_clause=within_columns_clause, **kw)
        # A parameter among the columns has no type but the one it is given.
        rendered = kw.get("literal_binds") or kw.get("literal_execute") or bindparam.literal_execute
        if not within_columns_clause or rendered or bindparam.expanding or kw.get("skip_bind_expression"):
            return text
        kind = bindparam.type.dialect_impl(self.dialect)
        if isinstance(kind, (sqltypes.NullType, sqltypes.LargeBinary, sqltypes.Text)):
            return text
        unbounded = isinstance(kind, sqltypes.String) and kind.length is None
        words = "LVARCHAR(32739)" if unbounded else self.dialect.type_compiler_instance.process(bindparam.type)
        return f"CAST({text} AS {words})"

    def visit_extract(self, extract: Any, **kw: Any) -> str:
        field = extract.field.lower()
        value = self.process(extract.expr, **kw)
        if field in _FIELDS:
            return f"{_FIELDS[field]}({value})"
        if field in ("hour", "minute", "second"):
            word = field.upper()
            return f"CAST(CAST(EXTEND({value}, {word} TO {word}) AS CHAR(2)) AS INTEGER)"
        raise exc.CompileError(f"Informix extracts no {extract.field!r}")

    # -- functions ---------------------------------------------------------------------------------------------------

    def visit_now_func(self, fn: Any, **kw: Any) -> str:
        return "CURRENT YEAR TO FRACTION(5)"

    visit_current_timestamp_func = visit_localtimestamp_func = visit_now_func

    def visit_current_date_func(self, fn: Any, **kw: Any) -> str:
        return "TODAY"

    def visit_current_time_func(self, fn: Any, **kw: Any) -> str:
        return "CURRENT HOUR TO FRACTION(5)"

    visit_localtime_func = visit_current_time_func

    def visit_current_user_func(self, fn: Any, **kw: Any) -> str:
        return "USER"

    visit_user_func = visit_session_user_func = visit_current_user_func

    def visit_char_length_func(self, fn: Any, **kw: Any) -> str:
        return f"CHAR_LENGTH{self.function_argspec(fn, **kw)}"

    def visit_aggregate_strings_func(self, fn: Any, **kw: Any) -> str:
        raise exc.CompileError("Informix has no aggregate of strings")

    def visit_sequence(self, sequence: Any, **kw: Any) -> str:
        return f"{self.preparer.format_sequence(sequence)}.NEXTVAL"

    # -- changes -----------------------------------------------------------------------------------------------------

    def visit_insert(self, insert_stmt: Any, visited_bindparam: Any = None, visiting_cte: Any = None, **kw: Any) -> Any:
        usual: Any = super().visit_insert
        text = usual(insert_stmt, visited_bindparam, visiting_cte, **kw)
        head, empty, rest = text.partition(" DEFAULT VALUES")
        if not empty or rest:
            return text
        serial = insert_stmt.table._autoincrement_column
        if serial is None:
            raise exc.CompileError("Informix inserts no row without values into a table without a serial column")
        # To a serial column, 0 means the next number.
        return f"{head} ({self.preparer.format_column(serial)}) VALUES (0)"

    def update_from_clause(self, *arguments: Any, **kw: Any) -> str:
        raise exc.CompileError("Informix's UPDATE takes no further tables: use a subquery")

    def delete_extra_from_clause(self, *arguments: Any, **kw: Any) -> str:
        raise exc.CompileError("Informix's DELETE takes no further tables: use a subquery")


class InformixDDLCompiler(compiler.DDLCompiler):
    """Definitions. A constraint's name stands behind it."""

    def get_column_specification(self, column: Any, **kwargs: Any) -> str:
        text = self.preparer.format_column(column) + " "
        identity = column.identity
        numbered = column.table is not None and column is column.table._autoincrement_column
        if identity is not None or (numbered and column.server_default is None and self._is_serial(column)):
            text += self._serial(column, identity)
        else:
            text += self.dialect.type_compiler_instance.process(column.type, type_expression=column)
            default = self.get_column_default_string(column)
            if default is not None:
                text += f" DEFAULT {default}"
        if column.computed is not None:
            raise exc.CompileError(f"column {column.name}: Informix has no computed columns")
        return text if column.nullable else text + " NOT NULL"

    @staticmethod
    def _is_serial(column: Any) -> bool:
        # With a sequence, the sequence has the numbers.
        return column.default is None or (column.default.is_sequence and column.default.optional)

    def _serial(self, column: Any, identity: Any) -> str:
        kind = column.type.dialect_impl(self.dialect)
        word = "BIGSERIAL" if isinstance(kind, sqltypes.BigInteger) else "SERIAL"
        if identity is None:
            return word
        if identity.increment not in (None, 1) or identity.minvalue is not None or identity.maxvalue is not None:
            raise exc.CompileError(f"column {column.name}: a serial column knows its first number, and no more")
        return word if identity.start is None else f"{word}({identity.start})"

    def get_column_default_string(self, column: Any) -> str | None:
        default = column.server_default
        if isinstance(default, schema.DefaultClause) and isinstance(default.arg, (elements.True_, elements.False_)):
            # A default is a literal, not a cast.
            return "'t'" if isinstance(default.arg, elements.True_) else "'f'"
        return super().get_column_default_string(column)

    # -- constraints -------------------------------------------------------------------------------------------------

    def define_constraint_preamble(self, constraint: Any, **kw: Any) -> str:
        return ""

    def define_constraint_deferrability(self, constraint: Any) -> str:
        """What stands behind a constraint."""
        if constraint.deferrable or constraint.initially:
            raise exc.CompileError("Informix defers constraints by SET CONSTRAINTS, not where they are defined")
        if constraint.name is None:
            return ""
        name = self.preparer.format_constraint(constraint)
        return "" if name is None else f" CONSTRAINT {name}"

    def define_constraint_match(self, constraint: Any) -> str:
        if constraint.match is not None:
            raise exc.CompileError("Informix's foreign keys have no MATCH")
        return ""

    def define_constraint_ondelete_cascade(self, constraint: Any) -> str:
        words = constraint.ondelete.upper()
        if words in ("NO ACTION", "RESTRICT"):
            # What happens without a word.
            return ""
        if words != "CASCADE":
            raise exc.CompileError(f"Informix's foreign keys have no ON DELETE {words}")
        return " ON DELETE CASCADE"

    def define_constraint_onupdate_cascade(self, constraint: Any) -> str:
        words = constraint.onupdate.upper()
        if words not in ("NO ACTION", "RESTRICT"):
            raise exc.CompileError(f"Informix's foreign keys have no ON UPDATE {words}")
        return ""

    def visit_add_constraint(self, create: Any, **kw: Any) -> str:
        table = self.preparer.format_table(create.element.table)
        return f"ALTER TABLE {table} ADD CONSTRAINT {self.process(create.element)}"

    # -- tables, indexes ---------------------------------------------------------------------------------------------

    def post_create_table(self, table: Any) -> str:
        options = table.dialect_options["informix"]
        text = ""
        if options["with_no_log"]:
            text += " WITH NO LOG"
        if options["in"]:
            text += f" IN {self.preparer.quote(options['in'])}"
        if options["lock_mode"]:
            if options["lock_mode"].upper() not in ("PAGE", "ROW"):
                raise exc.CompileError("informix_lock_mode is PAGE or ROW")
            text += f" LOCK MODE {options['lock_mode']}"
        return text

    def _generate_table_select(self, element: Any, type_: str, if_not_exists: bool | None = None, **kw: Any) -> str:
        if type_ == "create_table_as" or getattr(element, "materialized", False) or element.temporary:
            if type_ == "create_table_as" and not element.temporary:
                return super()._generate_table_select(element, type_, if_not_exists, **kw)
            raise exc.CompileError("Informix has neither materialized nor temporary views; SELECT … INTO TEMP copies")
        if getattr(element, "or_replace", False):
            raise exc.CompileError("Informix has no CREATE OR REPLACE VIEW")
        return super()._generate_table_select(element, type_, if_not_exists, **kw)

    def get_identity_options(self, identity_options: Any) -> str:
        given = identity_options
        parts = [
            f"{words} {value}"
            for words, value in (
                ("INCREMENT BY", given.increment),
                ("START WITH", given.start),
                ("MINVALUE", given.minvalue),
                ("MAXVALUE", given.maxvalue),
                ("CACHE", given.cache),
            )
            if value is not None
        ]
        parts += ["NOMINVALUE"] if given.nominvalue else []
        parts += ["NOMAXVALUE"] if given.nomaxvalue else []
        if given.cycle is not None:
            parts.append("CYCLE" if given.cycle else "NOCYCLE")
        return " ".join(parts)
