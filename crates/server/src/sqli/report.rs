//! Errors as the wire has them: SQL code, ISAM code, offset, and the name that the client puts into its own message.

use std::borrow::Cow;

use rowferry_engine::{Condition, Error};
use rowferry_wire_sqli::messages::ServerError;

use super::text::CodeSet;

/// An error for the client.
pub(super) fn server_error(error: &Error, code_set: CodeSet) -> ServerError<'static> {
    let condition = error.condition();
    let token = match condition {
        // Free text is for -746 only; with other codes the token is a name.
        Condition::RaiseException => error.message.clone(),
        Condition::UniqueViolation
        | Condition::CheckViolation
        | Condition::ForeignKeyViolation
        | Condition::ForeignKeyViolationByParent => match (&error.constraint, &error.table) {
            (Some(constraint), _) => format!("informix.{constraint}"),
            (None, Some(table)) => table.clone(),
            _ => String::new(),
        },
        Condition::FeatureNotSupported => error.message.clone(),
        _ => [&error.column, &error.table, &error.constraint].into_iter().flatten().next().cloned().unwrap_or_default(),
    };
    let token = match code_set.encode(token.as_bytes()) {
        Ok(token) => token.into_owned(),
        Err(_) => Vec::new(),
    };
    ServerError {
        sqlcode: error.informix_code(),
        isam: error.isam_code(),
        offset: error.position.and_then(|position| i32::try_from(position).ok()).unwrap_or(0),
        token: Cow::Owned(cut(token)),
    }
}

/// The longest token; clients have buffers for names.
const MAX_TOKEN: usize = 255;

fn cut(mut token: Vec<u8>) -> Vec<u8> {
    token.truncate(MAX_TOKEN);
    token
}
