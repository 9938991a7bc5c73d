//! Errors and notices in the wire's words.

use rowferry_engine::{Command, Condition, Error, TransactionStatus};
use rowferry_wire_pg::messages::{self, Notice, Severity};
use rowferry_wire_pg::server::Violation;

pub(super) use crate::texts::{conversion, recode, text, utf8};

/// An engine's failure as an `ErrorResponse` or `NoticeResponse`.
pub(super) fn notice(error: &Error, severity: Severity) -> Notice<'_> {
    let mut notice = Notice::new(severity, error.sqlstate(), error.message.as_str());
    let field = |text: &'_ Option<String>| text.clone().map(Into::into);
    notice.detail = field(&error.detail);
    notice.hint = field(&error.hint);
    notice.context = field(&error.context);
    notice.position = error.position.map(|position| position.to_string().into());
    notice.internal_query = field(&error.internal_query);
    notice.internal_position =
        error.internal_position.filter(|_| error.internal_query.is_some()).map(|position| position.to_string().into());
    // What lies in no schema is no table of a client of ours: the other door's messages name it so.
    if error.schema.as_deref() != Some("") {
        notice.schema = field(&error.schema);
        notice.table = field(&error.table);
    }
    notice.column = field(&error.column);
    notice.data_type = field(&error.data_type);
    notice.constraint = field(&error.constraint);
    notice.routine = routine(error).map(Into::into);
    notice
}

/// An error's message for the log. What a syntax error stands next to may be a password that was not quoted.
pub(super) fn logged(error: &Error) -> &str {
    match error.message.split_once(" at or near ") {
        Some((message, _)) if error.condition() == Condition::SyntaxError => message,
        _ => &error.message,
    }
}

/// The routine of PostgreSQL's source that clients look for: asyncpg prepares again when it sees this one.
fn routine(error: &Error) -> Option<&'static str> {
    (error.condition() == Condition::StalePlan).then_some("RevalidateCachedQuery")
}

/// What the client has broken of the protocol.
pub(super) fn violation(violation: &Violation) -> Error {
    let error = Error::new(Condition::ProtocolViolation, violation.to_string());
    match violation.detail() {
        Some(detail) => error.detail(detail),
        None => error,
    }
}

/// The byte of `ReadyForQuery`.
pub(super) fn status(status: TransactionStatus) -> messages::TransactionStatus {
    match status {
        TransactionStatus::Idle => messages::TransactionStatus::IDLE,
        TransactionStatus::Active => messages::TransactionStatus::IN_TRANSACTION,
        TransactionStatus::Failed => messages::TransactionStatus::FAILED,
    }
}

/// The text of `CommandComplete`.
pub(super) const fn tag(command: Command) -> Tag {
    Tag::Counted(match command {
        Command::Select => "SELECT",
        // The zero was once the oid of the row.
        Command::Insert => "INSERT 0",
        Command::Update => "UPDATE",
        Command::Delete => "DELETE",
        Command::Fetch => "FETCH",
        Command::Merge => "MERGE",
        Command::Move => "MOVE",
        Command::Copy => "COPY",
        Command::Utility(words) => return Tag::Words(words),
    })
}

/// What the client is told of a command that is done.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Tag {
    /// These words.
    Words(&'static str),
    /// These, and the number of rows.
    Counted(&'static str),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fills_every_field_that_the_error_has() {
        let error = Error::new(Condition::UniqueViolation, "duplicate key")
            .detail("d")
            .hint("h")
            .at(7)
            .table("public", "t")
            .column("c")
            .constraint("t_pkey")
            .data_type("integer");
        let notice = notice(&error, Severity::Error);
        assert_eq!((&*notice.sqlstate, &*notice.message), ("23505", "duplicate key"));
        assert_eq!(notice.position.as_deref(), Some("7"));
        assert_eq!(
            [&notice.detail, &notice.hint, &notice.schema, &notice.table, &notice.column, &notice.constraint]
                .map(|field| field.as_deref().unwrap()),
            ["d", "h", "public", "t", "c", "t_pkey"]
        );
    }
}
