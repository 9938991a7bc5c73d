//! Errors as the wire has them: SQL code, ISAM code, offset, and the name that the client puts into its own message.

use std::borrow::Cow;

use rowferry_engine::{Condition, Error};
use rowferry_wire_sqli::messages::ServerError;

use super::text::CodeSet;

/// What a client makes of the texts that come with errors.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Texts {
    /// It shows them, or puts them into its own message.
    Shown,
    /// It has a message of its own for -999, "Not implemented yet.", with nothing in it. Of all codes it shows the text of -746
    /// alone, and of the range -25600 to -25699, which means something else.
    OfUsersAlone,
}

/// The code of messages of users.
const OF_USERS: i16 = -746;

impl Texts {
    /// By the name of its program: IBM's JDBC driver calls itself by the thread that connects.
    pub(super) fn of_program(name: Option<&[u8]>) -> Self {
        if name.is_some_and(|name| name.starts_with(b"Thread[")) { Self::OfUsersAlone } else { Self::Shown }
    }
}

/// An error for the client.
pub(super) fn server_error(error: &Error, code_set: CodeSet, texts: Texts) -> ServerError<'static> {
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
        // The reason of a server behind stands in the detail alone.
        Condition::FeatureNotSupported => match &error.detail {
            Some(detail) => format!("{}: {detail}", error.message),
            None => error.message.clone(),
        },
        _ => [&error.column, &error.table, &error.constraint].into_iter().flatten().next().cloned().unwrap_or_default(),
    };
    let token = match code_set.encode(token.as_bytes()) {
        Ok(token) => token.into_owned(),
        Err(_) => Vec::new(),
    };
    let sqlcode = match condition {
        Condition::FeatureNotSupported if texts == Texts::OfUsersAlone => OF_USERS,
        _ => error.informix_code(),
    };
    ServerError {
        sqlcode,
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn why_something_is_refused_is_told_too() {
        let refused = Error::unsupported("time travel").detail("The clock has one direction.");
        let told = server_error(&refused, CodeSet::of_locale("en_US.utf8").unwrap(), Texts::Shown);
        assert!(
            String::from_utf8_lossy(&told.token)
                .ends_with("time travel is not supported: The clock has one direction.")
        );
    }

    #[test]
    fn what_is_refused_is_told_in_our_words_to_those_who_have_none() {
        let refused = Error::unsupported("time travel");
        let code = |name: &[u8]| {
            let told = server_error(&refused, CodeSet::of_locale("en_US.utf8").unwrap(), Texts::of_program(Some(name)));
            assert!(String::from_utf8_lossy(&told.token).contains("time travel"));
            told.sqlcode
        };
        assert_eq!(code(b"Thread[id:1, name:main, path:/]"), -746);
        assert_eq!(code(b"informix-db@pid1"), -999);
    }
}
