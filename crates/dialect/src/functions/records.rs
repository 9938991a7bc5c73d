//! Operators of rows by how their fields lie. The comparisons by value are kinds of expression of their own.

use super::spec::*;

/// The rows.
pub(super) static ROWS: &[Function] = rows! { PG;
    Operator "*=" (RECORD, RECORD) -> BOOL, T("(rf_record_image({0}, {1}) = 0)");
    Operator "*<>" (RECORD, RECORD) -> BOOL, T("(rf_record_image({0}, {1}) <> 0)");
    Operator "*<" (RECORD, RECORD) -> BOOL, T("(rf_record_image({0}, {1}) < 0)");
    Operator "*<=" (RECORD, RECORD) -> BOOL, T("(rf_record_image({0}, {1}) <= 0)");
    Operator "*>" (RECORD, RECORD) -> BOOL, T("(rf_record_image({0}, {1}) > 0)");
    Operator "*>=" (RECORD, RECORD) -> BOOL, T("(rf_record_image({0}, {1}) >= 0)");
};
