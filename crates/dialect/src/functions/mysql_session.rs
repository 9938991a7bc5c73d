//! What MySQL's SET means: the front end puts these calls in.

use super::spec::*;
use crate::Language;

/// The rows.
pub(super) static ROWS: &[Function] = rows! { &[Language::Mysql];
    // (scope, name, value)
    Scalar "mysql_set_variable" (TEXT, TEXT, TEXT) -> TEXT, T("rf_set_config('mysql.' || {1}, {2}, 0)"), volatile, lenient;
    Scalar "mysql_set_setting" (TEXT, TEXT) -> TEXT, T("rf_set_config({0}, {1}, 0)"), volatile, lenient;
    // (name, value)
    Scalar "mysql_set_user_variable" (TEXT, TEXT) -> TEXT, T("rf_set_config('mysql_user.' || {0}, {1}, 0)"), volatile, lenient;
    Scalar "mysql_user_variable" (TEXT) -> TEXT, T("nullif(rf_current_setting('mysql_user.' || {0}, 1), '')"), volatile;
    // (character set, collation)
    Scalar "mysql_set_names" (TEXT, TEXT) -> TEXT, T("rf_set_config('mysql.character_set_client', {0}, 0)"), optional(1), volatile;
};
