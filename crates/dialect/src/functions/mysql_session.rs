//! What MySQL's SET means: the front end puts these calls in.

use super::spec::*;
use crate::Language;

/// The rows.
pub(super) static ROWS: &[Function] = rows! { &[Language::Mysql];
    Scalar "mysql_set_setting" (TEXT, TEXT) -> TEXT, T("rf_set_config({0}, {1}, 0)"), volatile, lenient;
};
