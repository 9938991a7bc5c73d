//! Commands, as a server reads them.

use rowferry_wire::{Malformed, Reader};

use super::command::Command;
use super::execute::Execution;
use super::statement::StatementId;

/// What a client asks for.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Asked<'a> {
    /// Good bye.
    Quit,
    /// Change the default database.
    InitDb(&'a [u8]),
    /// Run SQL.
    Query(&'a [u8]),
    /// The columns of a table whose names are like a pattern.
    FieldList {
        /// The table.
        table: &'a [u8],
        /// The pattern; empty for all.
        pattern: &'a [u8],
    },
    /// A line of text about the server.
    Statistics,
    /// End the session of this number.
    Kill(u32),
    /// Are you there?
    Ping,
    /// Turn several statements in one query on or off.
    MultiStatements(bool),
    /// Prepare SQL.
    Prepare(&'a [u8]),
    /// Run a prepared statement.
    Execute(Execution<'a>),
    /// A piece of a value.
    LongData {
        /// The statement.
        statement: StatementId,
        /// Its parameter, from 0.
        param: u16,
        /// What is added to the value.
        data: &'a [u8],
    },
    /// Forget a prepared statement.
    Close(StatementId),
    /// Give up a statement's open cursor and long data.
    ResetStatement(StatementId),
    /// The next rows of an open cursor.
    Fetch {
        /// The statement.
        statement: StatementId,
        /// At most so many.
        rows: u32,
    },
    /// Forget all session state but the login.
    ResetConnection,
    /// Any other command.
    Other(Command),
}

impl<'a> Asked<'a> {
    /// Decodes what follows a command's code. `CHANGE_USER` is no command here but a login.
    pub fn decode(command: Command, argument: &'a [u8]) -> Result<Self, Malformed> {
        let mut reader = Reader::new(argument);
        let asked = match command {
            Command::QUIT => Self::Quit,
            Command::INIT_DB => return Ok(Self::InitDb(argument)),
            Command::QUERY => return Ok(Self::Query(argument)),
            Command::STMT_PREPARE => return Ok(Self::Prepare(argument)),
            Command::FIELD_LIST => Self::FieldList { table: reader.until_nul("table")?, pattern: reader.rest() },
            Command::STATISTICS => Self::Statistics,
            Command::PROCESS_KILL => Self::Kill(reader.u32_le("session to kill")?),
            Command::PING => Self::Ping,
            Command::SET_OPTION => match reader.u16_le("option")? {
                0 => Self::MultiStatements(true),
                1 => Self::MultiStatements(false),
                _ => return Err(Malformed::new("option")),
            },
            Command::STMT_EXECUTE => Self::Execute(Execution::read(&mut reader)?),
            Command::STMT_SEND_LONG_DATA => Self::LongData {
                statement: StatementId(reader.u32_le("statement id")?),
                param: reader.u16_le("parameter")?,
                data: reader.rest(),
            },
            Command::STMT_CLOSE => Self::Close(StatementId(reader.u32_le("statement id")?)),
            Command::STMT_RESET => Self::ResetStatement(StatementId(reader.u32_le("statement id")?)),
            Command::STMT_FETCH => Self::Fetch {
                statement: StatementId(reader.u32_le("statement id")?),
                rows: reader.u32_le("number of rows")?,
            },
            Command::RESET_CONNECTION => Self::ResetConnection,
            other => return Ok(Self::Other(other)),
        };
        reader.finish("bytes behind a command")?;
        Ok(asked)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_commands_and_refuses_what_is_cut_or_too_long() {
        let decode = |code: Command, bytes: &'static [u8]| Asked::decode(code, bytes);
        assert!(matches!(decode(Command::QUERY, b"SELECT 1"), Ok(Asked::Query(b"SELECT 1"))));
        assert!(matches!(decode(Command::PROCESS_KILL, &[7, 0, 0, 0]), Ok(Asked::Kill(7))));
        assert!(matches!(decode(Command::SET_OPTION, &[1, 0]), Ok(Asked::MultiStatements(false))));
        assert!(matches!(
            decode(Command::STMT_FETCH, &[1, 0, 0, 0, 2, 0, 0, 0]),
            Ok(Asked::Fetch { statement: StatementId(1), rows: 2 })
        ));
        assert!(matches!(
            decode(Command::STMT_SEND_LONG_DATA, &[1, 0, 0, 0, 2, 0, b'x']),
            Ok(Asked::LongData { statement: StatementId(1), param: 2, data: b"x" })
        ));
        assert!(matches!(decode(Command::FIELD_LIST, b"t\0a%"), Ok(Asked::FieldList { table: b"t", pattern: b"a%" })));
        assert!(matches!(decode(Command(0x55), b""), Ok(Asked::Other(Command(0x55)))));
        for (code, bytes) in [
            (Command::PROCESS_KILL, &b"abc"[..]),
            (Command::PROCESS_KILL, b"abcde"),
            (Command::SET_OPTION, &[2, 0]),
            (Command::STMT_FETCH, &[1, 0, 0, 0]),
            (Command::STMT_CLOSE, b""),
            (Command::STMT_EXECUTE, &[1, 0, 0, 0, 0]),
            (Command::FIELD_LIST, b"t"),
            (Command::PING, b"x"),
        ] {
            assert!(decode(code, bytes).is_err(), "{code:?} {bytes:?}");
        }
    }
}
