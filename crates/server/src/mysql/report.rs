//! Errors in the wire's words: a number, an SQLSTATE, and the texts that clients look into.

use rowferry_dialect::mysql::told::{Told, told};
use rowferry_engine::{Condition, Error};
use rowferry_wire_mysql::client::Failure;
use rowferry_wire_mysql::messages::status::ServerError;

/// The longest text of an error, in bytes: clients have buffers.
const MAX_MESSAGE: usize = 510;

/// An engine's failure as an ERR.
pub(super) fn server_error(error: &Error) -> ServerError {
    let Told { code, sqlstate, mut message } = told(error);
    if message.len() > MAX_MESSAGE {
        let cut = (0..=MAX_MESSAGE).rev().find(|at| message.is_char_boundary(*at)).unwrap_or(0);
        message.truncate(cut);
    }
    // What is worked out, and stands in no column.
    let beyond = match error.condition() {
        _ if error.mysql.is_some() || error.column.is_some() || error.data_type.is_some() => None,
        Condition::BigintOutOfRange => Some("BIGINT"),
        Condition::NumericValueOutOfRange if error.message.contains("overflow") && !error.message.contains("field") => {
            Some("DOUBLE")
        }
        _ => None,
    };
    if let Some(kind) = beyond {
        return ServerError { code: 1690, sqlstate: "22003".into(), message: format!("{kind} value is out of range") };
    }
    ServerError { code, sqlstate, message }
}

/// An error of MySQL's own.
pub(super) fn own(code: u16, sqlstate: &'static str, message: impl Into<String>) -> Error {
    Error::new(Condition::InternalError, message).with_mysql(code, sqlstate)
}

/// A failure of the protocol, for the client.
pub(super) fn broken(failure: &Failure) -> ServerError {
    let (code, message) = match failure {
        Failure::OutOfSequence { .. } => (1156, "Got packets out of order"),
        Failure::TooLarge { .. } => (1153, "Got a packet bigger than 'max_allowed_packet' bytes"),
        _ => (1835, "Malformed communication packet."),
    };
    let sqlstate = if code == 1835 { "HY000" } else { "08S01" };
    ServerError { code, sqlstate: sqlstate.into(), message: message.into() }
}

/// The same for the log.
pub(super) fn protocol(failure: &Failure) -> String {
    match failure {
        Failure::TooLarge { limit } => format!("a message of more than {limit} bytes"),
        other => other.to_string(),
    }
}

/// An error's message for the log. What a syntax error stands next to may be a password that was not quoted.
pub(super) fn logged(error: &Error) -> &str {
    if error.condition() == Condition::SyntaxError { "syntax error" } else { &error.message }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_text_is_cut_between_characters() {
        assert_eq!(server_error(&Error::internal("é".repeat(600))).message, "é".repeat(255));
        assert_eq!(server_error(&own(1094, "HY000", "Unknown thread id: 7")).code, 1094);
    }
}
