//! Commands that are no statements.

use rowferry_engine::{Error, Outcome};
use rowferry_wire_mysql::messages::asked::Asked;
use rowferry_wire_mysql::messages::command::Command;
use rowferry_wire_mysql::messages::handshake::capability;
use rowferry_wire_mysql::messages::status::Ok as OkPacket;

use super::{Failure, MysqlSession, Obeyed};
use crate::Ending;
use crate::mysql::values::RowWriter;
use crate::mysql::{report, told};

impl MysqlSession<'_> {
    /// Answers a command.
    pub(super) fn answer(&mut self, asked: Asked<'_>) -> Obeyed {
        match asked {
            Asked::Quit => return Err(Failure::End(Ending::Goodbye)),
            Asked::InitDb(name) => {
                let name = self.text(name)?;
                let change = told::use_database(&mut self.session, &name)?;
                self.changed.push(change);
                self.send_ok(OkPacket::default());
            }
            Asked::Query(sql) => self.query(sql)?,
            Asked::FieldList { table, pattern } => self.field_list(table, pattern)?,
            Asked::Statistics => self.statistics(),
            Asked::Kill(number) => {
                if !self.session.end_other(number)? {
                    return Err(told::unknown_thread(number).into());
                }
                self.send_ok(OkPacket::default());
            }
            Asked::Ping => self.send_ok(OkPacket::default()),
            Asked::MultiStatements(on) => {
                self.wire.server.set_capability(capability::MULTI_STATEMENTS, on);
                let ok = self.ok(OkPacket::default());
                self.wire.server.end_of_rows(&ok);
            }
            Asked::Prepare(sql) => self.prepare(sql)?,
            Asked::Execute(execution) => self.execute(&execution)?,
            Asked::LongData { statement, param, data } => self.long_data(statement, param, data),
            Asked::Close(statement) => self.statements.remove(statement),
            Asked::ResetStatement(statement) => {
                self.statements.reset(statement)?;
                self.send_ok(OkPacket::default());
            }
            Asked::Fetch { statement, rows } => self.fetch(statement, rows)?,
            Asked::ResetConnection => {
                self.statements.clear();
                told::reset(&mut self.session)?;
                self.send_ok(OkPacket::default());
            }
            Asked::Other(command) => return Err(refused(command).into()),
            _ => return Err(unknown_command().into()),
        }
        Ok(())
    }

    fn statistics(&mut self) {
        let uptime = self.door.started.elapsed().as_secs();
        let (threads, questions) = (self.session.database().sessions(), self.questions);
        let average = questions as f64 / uptime.max(1) as f64;
        let line = format!(
            "Uptime: {uptime}  Threads: {threads}  Questions: {questions}  Slow queries: 0  Opens: 0  Flush tables: 0  Open \
             tables: 0  Queries per second avg: {average:.3}"
        );
        self.wire.server.line(line.as_bytes());
    }

    /// The columns of a table whose names are like a pattern.
    fn field_list(&mut self, table: &[u8], pattern: &[u8]) -> Obeyed {
        let (table, pattern) = (self.text(table)?, self.text(pattern)?);
        let sql = format!("SELECT * FROM {} LIMIT 0", told::quoted(&table));
        let Some(prepared) = self.session.prepare(&sql, &[])? else {
            return Err(Error::internal("a query of our own is none").into());
        };
        // Who may not read it may not know of its columns.
        let outcome = self.session.execute(&prepared, &[])?;
        drop::<Outcome>(outcome);
        let writer = RowWriter::of(&mut self.session, &prepared, &prepared.bound.columns, false);
        self.session.end_implicit()?;
        let mut columns = writer.definitions.clone();
        columns.retain(|column| pattern.is_empty() || is_like(&column.name, &pattern));
        let ok = self.ok(OkPacket::default());
        self.wire.server.field_list(&columns, &ok);
        Ok(())
    }
}

/// LIKE, without regard to case.
fn is_like(text: &str, pattern: &str) -> bool {
    let lower = |text: &str| text.chars().flat_map(char::to_lowercase).collect::<Vec<_>>();
    let (text, pattern) = (lower(text), lower(pattern));
    // Where the last `%` stands, and how much of the text it has taken.
    let (mut at, mut with, mut retry) = (0, 0, None);
    while at < text.len() {
        match pattern.get(with) {
            Some('%') => {
                retry = Some((with, at));
                with += 1;
            }
            Some(letter) if *letter == '_' || *letter == text[at] => {
                at += 1;
                with += 1;
            }
            _ => match retry {
                Some((percent, taken)) => {
                    retry = Some((percent, taken + 1));
                    at = taken + 1;
                    with = percent + 1;
                }
                None => return false,
            },
        }
    }
    pattern[with..].iter().all(|letter| *letter == '%')
}

fn unknown_command() -> Error {
    report::own(1047, "08S01", "Unknown command")
}

/// Why a command is not obeyed.
fn refused(command: Command) -> Error {
    let what = match command {
        Command::CREATE_DB | Command::DROP_DB => "COM_CREATE_DB and COM_DROP_DB (use SQL)",
        Command::REFRESH => "COM_REFRESH",
        Command::SHUTDOWN => "COM_SHUTDOWN",
        Command::PROCESS_INFO => "COM_PROCESS_INFO (use SHOW PROCESSLIST)",
        Command::DEBUG => "COM_DEBUG",
        Command::STMT_BULK_EXECUTE => "COM_STMT_BULK_EXECUTE",
        Command(0x12 | 0x15 | 0x1e) => "replication (COM_BINLOG_DUMP)",
        _ => return unknown_command(),
    };
    Error::unsupported(what)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_fit_as_in_sql() {
        for (pattern, text) in
            [("a%", "Abc"), ("%", ""), ("_b_", "abc"), ("%c", "abcc"), ("a%b%c", "axbxbxc"), ("a", "A")]
        {
            assert!(is_like(text, pattern), "{pattern} {text}");
        }
        for (pattern, text) in [("a", "ab"), ("_", ""), ("%b", "abc"), ("a%d", "abc"), ("", "a")] {
            assert!(!is_like(text, pattern), "{pattern} {text}");
        }
    }

    #[test]
    fn commands_that_are_not_obeyed_are_refused_by_name() {
        assert_eq!(refused(Command(0x77)).mysql_code(), 1047);
        let debug = refused(Command::DEBUG);
        assert_eq!(debug.mysql_code(), 1235);
        assert!(debug.message.contains("COM_DEBUG"));
    }
}
