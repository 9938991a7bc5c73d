"""What SQLAlchemy's suite of all dialects has to know of ours: what Informix can do, and what not, and why."""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy.testing import config, exclusions
from sqlalchemy.testing.provision import generate_driver_url, temp_table_keyword_args
from sqlalchemy.testing.requirements import SuiteRequirements


@generate_driver_url.for_db("informix")
def _driver_url(url: Any, driver: str, query_str: str) -> Any:
    return url.set(drivername=f"informix+{driver}")


@pytest.fixture(autouse=True)
def no_schemas(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    # Some tests ask for a schema whatever the requirements say.
    if "use_schema_fixture" in request.fixturenames:
        monkeypatch.setattr(config, "test_schema", None)


@temp_table_keyword_args.for_db("informix")
def _temp_table(cfg: Any, eng: Any) -> Any:
    return {"prefixes": ["TEMP"]}


#: What Informix has beyond what the suite takes for granted.
HAS = """
    async_dialect autocommit boolean_col_expressions check_constraint_reflection create_table_as ctes
    date_historic datetime_historic datetime_interval datetime_literals dbapi_lastrowid
    emulated_lastrowid_even_with_sequences
    except_ fetch_first fetch_no_order_by fetch_offset_with_options float_or_double_precision_behaves_generically
    foreign_key_constraint_name_reflection foreign_key_constraint_option_reflection_ondelete
    index_ddl_if_exists inline_check_constraint_reflection intersect isolation_level
    named_constraints nullsordering nvarchar_types order_by_label_with_expression percent_schema_names
    precision_numerics_enotation_small
    precision_numerics_retains_significant_digits
    reflects_pk_names savepoints server_defaults expression_server_defaults supports_bitwise_and supports_bitwise_not
    supports_bitwise_or supports_bitwise_xor
    table_ddl_if_exists temporary_tables unicode_ddl unusual_column_name_characters uuid_data_type views
    window_functions window_range
""".split()

#: What it lacks, by the reason.
LACKS: dict[str, str] = {
    "a key of another table follows no change of it": "on_update_cascade non_updating_cascade",
    "constraints are deferred for a transaction, by SET CONSTRAINTS": "deferrable_fks on_update_or_deferrable_fks",
    "SKIP and FIRST take numbers and parameters": "sql_expression_limit_offset fetch_expression",
    "no parentheses around members of a UNION": "parens_in_union_contained_select_w_limit_offset "
    "parens_in_union_contained_select_wo_limit_offset",
    "FIRST knows neither PERCENT nor WITH TIES": "fetch_percent fetch_ties",
    "a row without values needs a serial column": "empty_inserts_executemany",
    "COMMIT closes cursors, unless they are held": "fetch_rows_post_commit",
    "a VALUES has one row": "multivalues_inserts table_value_constructor ctes_with_values",
    "no RETURNING": "delete_returning insert_returning update_returning insert_executemany_returning "
    "insertmanyvalues sane_rowcount_w_returning",
    "rows are no values": "tuple_in tuple_in_w_empty",
    "UPDATE and DELETE take one table": "update_from delete_from",
    "an INSERT takes no WITH": "ctes_on_dml ctes_with_update_delete",
    "owners divide no names, outside of ANSI databases": "schemas schema_reflection cross_schema_fk_reflection",
    "temporary tables are not in the catalog": "temp_table_reflection temp_table_reflect_indexes temp_table_names "
    "has_temp_table temp_table_comment_reflection",
    "no temporary and no materialized views, nothing is replaced": "temporary_views materialized_views "
    "create_or_replace_view create_temp_table_as",
    "no comments": "comment_reflection comment_reflection_full_unicode constraint_comment_reflection",
    "a table has columns": "reflect_tables_no_columns",
    "five digits of a second's fraction": "datetime_microseconds time_microseconds timestamp_microseconds "
    "timestamp_microseconds_implicit_bound",
    "no time zones": "datetime_timezone time_timezone datetime_timezone_historic",
    "a BYTE is compared with nothing, and has no literal": "binary_comparisons binary_literals",
    "what is in a document is read by functions of its own": "json_type json_array_indexes "
    "json_index_supplementary_unicode_element legacy_unconditional_json_extract",
    "floating numbers have no infinity": "infinity_floats",
    "no two-phase commit without XA": "two_phase_transactions",
    "no collations of a column": "column_collation_reflection",
    "no DISTINCT ON, no computed columns": "supports_distinct_on computed_columns computed_columns_stored "
    "computed_columns_virtual",
    "no regular expressions without an extension": "regexp_match regexp_replace",
    "a serial column knows its first number, and no other option of IDENTITY": "identity_columns",
    "a DECIMAL has 32 digits": "precision_numerics_many_significant_digits",
    "a parameter by itself has no type": "standalone_null_binds_whereclause",
    "a frame's bounds are literals": "window_range_numeric",
    "the suite knows those of SQLAlchemy's own drivers only; ours are in test_dialect.py": "server_side_cursors",
    "MOD is a function": "mod_operator_as_percent_sign",
    "no shifts of bits": "supports_bitwise_shift",
    "catalogs tell no expressions of an index": "indexes_with_expressions reflect_indexes_with_expressions "
    "reflect_indexes_with_ascdesc_as_expression",
}


class Requirements(SuiteRequirements):
    """Each requirement of the suite is one of `HAS` or of `LACKS`, or as the suite has it."""

    def get_isolation_levels(self, config: Any) -> Any:
        """The levels, and which one connections begin in."""
        levels = [*config.db.dialect.get_isolation_level_values(None)]
        return {"default": "READ COMMITTED", "supported": levels}


for _name in HAS:
    setattr(Requirements, _name, property(lambda self: exclusions.open()))
for _reason, _names in LACKS.items():
    for _name in _names.split():
        setattr(Requirements, _name, property(lambda self, reason=_reason: exclusions.closed(reason)))
