//! Errors and notices in the wire's words.

use std::borrow::Cow;

use rowferry_encodings::{Encoding, Failure};
use rowferry_engine::{Command, Condition, Error, TransactionStatus};
use rowferry_wire_pg::messages::{self, Notice, Severity};
use rowferry_wire_pg::{FrameError, Malformed};

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

/// A frame that breaks the protocol: the connection cannot go on.
pub(super) fn frame_error(error: FrameError) -> Error {
    Error::new(Condition::ProtocolViolation, error.to_string())
}

/// A message that says something impossible inside a sound frame: the connection goes on at the next `Sync`.
pub(super) fn malformed(error: &Malformed) -> Error {
    Error::new(Condition::ProtocolViolation, "invalid message format").detail(format!("Cannot read: {}.", error.what))
}

/// `bytes` as text, or the error that PostgreSQL has for bytes that are none.
pub(super) fn utf8(bytes: &[u8]) -> Result<&str, Error> {
    let fail = |bytes: &[u8]| conversion(&rowferry_encodings::utf8_failure(bytes));
    let text = std::str::from_utf8(bytes).map_err(|error| fail(&bytes[error.valid_up_to()..]))?;
    match text.bytes().position(|byte| byte == 0) {
        Some(at) => Err(fail(&bytes[at..])),
        None => Ok(text),
    }
}

/// `bytes` in the client's encoding (`None` is UTF-8) as text.
pub(super) fn text<'b>(bytes: &'b [u8], encoding: Option<&'static Encoding>) -> Result<Cow<'b, str>, Error> {
    match encoding {
        None => utf8(bytes).map(Cow::Borrowed),
        Some(encoding) => encoding.decode(bytes).map(Cow::Owned).map_err(|failure| conversion(&failure)),
    }
}

/// Puts what was written to `out` since `start`, which is UTF-8, into the client's encoding.
pub(super) fn recode(out: &mut Vec<u8>, start: usize, encoding: &'static Encoding) -> Result<(), Error> {
    if out[start..].is_ascii() {
        return Ok(());
    }
    let plain = out.split_off(start);
    encoding.encode(utf8(&plain)?, out).map_err(|failure| conversion(&failure))
}

/// A text that one of the encodings does not have.
pub(super) fn conversion(failure: &Failure) -> Error {
    let condition = match failure {
        Failure::Invalid { .. } => Condition::CharacterNotInRepertoire,
        Failure::Untranslatable { .. } => Condition::UntranslatableCharacter,
    };
    Error::new(condition, failure.to_string())
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
pub(super) fn tag(command: Command, rows: u64) -> String {
    match command {
        Command::Select => format!("SELECT {rows}"),
        // The zero was once the oid of the row.
        Command::Insert => format!("INSERT 0 {rows}"),
        Command::Update => format!("UPDATE {rows}"),
        Command::Delete => format!("DELETE {rows}"),
        Command::Fetch => format!("FETCH {rows}"),
        Command::Merge => format!("MERGE {rows}"),
        Command::Move => format!("MOVE {rows}"),
        Command::Copy => format!("COPY {rows}"),
        Command::Utility(words) => words.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn says_which_bytes_are_no_text() {
        assert_eq!(utf8(b"abc"), Ok("abc"));
        let message = |bytes: &[u8]| utf8(bytes).unwrap_err().message.clone();
        assert_eq!(message(b"ab\xffcd"), "invalid byte sequence for encoding \"UTF8\": 0xff");
        assert_eq!(message(b"\xe2\x82"), "invalid byte sequence for encoding \"UTF8\": 0xe2 0x82");
        assert_eq!(message(b"\xe2\x28\xa1"), "invalid byte sequence for encoding \"UTF8\": 0xe2 0x28 0xa1");
        assert_eq!(message(b"a\0b"), "invalid byte sequence for encoding \"UTF8\": 0x00");
    }

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
