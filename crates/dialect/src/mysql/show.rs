//! SHOW and DESCRIBE, as queries over MySQL's catalogs.

use sqlparser::parser::Parser;

use crate::Result;

/// The query that answers a statement of these; `None`, and nothing taken, where it is another statement.
pub(super) fn query(_: &mut Parser<'_>) -> Result<Option<String>> {
    Ok(None)
}
