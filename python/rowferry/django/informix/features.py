"""What Informix has of what Django asks."""

from __future__ import annotations

from django.db import InterfaceError
from django.db.backends.base.features import BaseDatabaseFeatures
from django.utils.functional import cached_property

from ._skips import SKIPS


class DatabaseFeatures(BaseDatabaseFeatures):
    """Each line that closes something says what Informix lacks."""

    minimum_database_version = (12, 10)
    # TEXT and BYTE are neither compared nor grouped nor sorted.
    allows_group_by_lob = False
    supports_index_on_text_field = False
    # A unique index holds one NULL.
    supports_nullable_unique_constraints = False
    supports_partially_nullable_unique_constraints = False
    # A VALUES has one row.
    has_bulk_insert = False
    can_release_savepoints = True
    has_select_for_update = True
    # FOR UPDATE is for the rows of one table, in the order in which they are found.
    supports_select_for_update_with_limit = False
    # A key must be there when it is referred to.
    supports_forward_references = False
    has_native_duration_field = True
    supports_temporal_subtraction = True
    # Regular expressions are POSIX's.
    supports_regex_backreferencing = False
    supports_timezones = False
    has_zoneinfo_database = False
    order_by_nulls_first = True
    supports_sequence_reset = False
    can_rollback_ddl = True
    can_rename_index = True
    allows_multiple_constraints_on_same_fields = False
    # Defaults are literals, CURRENT, TODAY, USER.
    requires_literal_defaults = True
    supports_expression_defaults = False
    supports_default_keyword_in_insert = False
    supports_default_keyword_in_bulk_insert = False
    closed_cursor_error_class = InterfaceError
    bare_select_suffix = " FROM TABLE(SET{1})"
    supports_slicing_ordering_in_compound = False
    supports_parentheses_in_compound = False
    requires_compound_order_by_subquery = True
    supports_over_clause = True
    supports_cast_with_precision = True
    time_cast_precision = 5
    # No ON CONFLICT, no partial, covering or expression indexes.
    supports_ignore_conflicts = False
    supports_partial_indexes = False
    supports_functions_in_partial_indexes = False
    supports_expression_indexes = False
    # A condition is no value, and no value is a condition.
    supports_boolean_expr_in_select_clause = False
    supports_comparing_boolean_expr = False
    greatest_least_ignores_nulls = True
    # What is in a document is read by functions of its own.
    supports_json_field = False
    supports_primitives_in_json_field = False
    has_json_object_function = False
    can_introspect_json_field = False
    supports_collation_on_charfield = False
    supports_collation_on_textfield = False
    supports_non_deterministic_collations = False
    # Rows are no values.
    supports_tuple_lookups = False
    supports_default_in_lead_lag = True
    supports_callproc_kwargs = False
    test_now_utc_template = "CURRENT YEAR TO FRACTION(5)"
    django_test_skips = SKIPS

    @cached_property
    def introspected_field_types(self) -> dict[str, str]:
        """What `inspectdb` finds for Django's fields."""
        return {
            **super().introspected_field_types,
            "GenericIPAddressField": "CharField",
            "PositiveBigIntegerField": "BigIntegerField",
            "PositiveIntegerField": "IntegerField",
            "PositiveSmallIntegerField": "SmallIntegerField",
            "SmallAutoField": "AutoField",
        }
