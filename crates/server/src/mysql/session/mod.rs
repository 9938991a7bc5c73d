//! The conversation after the login: a command, its answer, the next command.

mod commands;
mod load_data;
mod local_file;
mod prepared;
mod query;

use std::sync::Arc;

use rowferry_engine::{Condition, Error, Session};
use rowferry_wire::Malformed;
use rowferry_wire_mysql::client::Failure as Broken;
use rowferry_wire_mysql::messages::asked::Asked;
use rowferry_wire_mysql::messages::command::Command;
use rowferry_wire_mysql::messages::handshake::capability;
use rowferry_wire_mysql::messages::session_state::StateChange;
use rowferry_wire_mysql::messages::status::Ok as OkPacket;
use rowferry_wire_mysql::server::{Login, Request};

use self::prepared::Statements;
use super::wire::Wire;
use super::{MysqlDoor, literals, login, report, told};
use crate::kit::{Failure, Obeyed, Silence, Wait};
use crate::{Ending, kit};

/// A client that has come in.
pub(super) struct MysqlSession<'c> {
    door: &'c MysqlDoor,
    wire: Wire<'c>,
    session: Session,
    statements: Statements,
    /// What has changed and was not told yet.
    changed: Vec<told::Change>,
    tracked: told::Tracked,
    /// How many statements it has sent.
    questions: u64,
}

impl<'c> MysqlSession<'c> {
    pub(super) fn new(door: &'c MysqlDoor, wire: Wire<'c>, session: Session) -> Self {
        let tracked = told::Tracked::of(&session);
        let (statements, changed) = Default::default();
        let mut new = Self { door, wire, session, statements, changed, tracked, questions: 0 };
        new.watch();
        new
    }

    /// The session may be ended from outside, and its statements stopped.
    fn watch(&mut self) {
        let interrupter = self.session.interrupter();
        self.wire.connection.look_after(&interrupter);
        self.session.on_end(self.wire.connection.waker());
        self.wire.connection.on_interrupt(move || interrupter.interrupt());
    }

    /// Obeys the client until the end.
    pub(super) fn run(mut self) -> Ending {
        loop {
            let again = match self.serve() {
                Ok(again) => again,
                Err(ending) => return ending,
            };
            let Self { door, mut wire, session, .. } = self;
            let number = session.pid();
            // Before the next one is called the same. What the last user has begun is over, whoever comes.
            drop(session);
            match login::enter(door, &mut wire, &again, number) {
                Ok(session) => self = Self::new(door, wire, session),
                Err(ending) => return ending,
            }
        }
    }

    /// Obeys the client until it logs in as somebody else.
    fn serve(&mut self) -> Result<Box<Login>, Ending> {
        self.session.rest();
        self.wire.flush()?;
        loop {
            let Some(request) = self.wire.poll()? else {
                self.wire.flush()?;
                self.wait()?;
                continue;
            };
            if self.wire.connection.stopping() {
                return Err(self.stop());
            }
            match request {
                Request::Command(command, argument) => self.obey(command, &argument)?,
                Request::Login(again) => return Ok(again),
                // Files are read by who has asked for them.
                _ => return Err(Ending::Protocol("a message that nobody asked for".into())),
            }
            self.end_if_over()?;
            self.session.rest();
            self.wire.flush()?;
        }
    }

    /// Waits for more bytes.
    fn wait(&mut self) -> Result<(), Ending> {
        let wait = Wait::begin(self.wire.connection, Some(&self.session));
        let read = self.wire.read();
        let is_amid_message = self.wire.server.is_amid_message();
        let silence = match wait.end(read, self.wire.connection, Some(&self.session), is_amid_message) {
            Ok(_) => return Ok(()),
            Err(silence) => silence,
        };
        let ending = match silence {
            Silence::Stopping => return Err(self.stop()),
            Silence::Ended => return self.end_if_over(),
            Silence::Over(ending) => return Err(ending),
            Silence::Limited(error) => Ending::Ended(error.message.clone()),
            Silence::Idle { in_transaction } => kit::idle(in_transaction),
        };
        let message = "The client was disconnected by the server because of inactivity.";
        self.goodbye(&report::own(4031, "HY000", message));
        Err(ending)
    }

    fn obey(&mut self, command: Command, argument: &[u8]) -> Result<(), Ending> {
        let result = match Asked::decode(command, argument) {
            Ok(asked) => self.answer(asked),
            Err(malformed) if is_answered(command) => Err(Failure::Error(misread(&malformed))),
            // Who sends such waits for no answer.
            Err(_) => Ok(()),
        };
        match result {
            Ok(()) => Ok(()),
            Err(Failure::Error(error)) => {
                self.failed(&error);
                Ok(())
            }
            Err(Failure::End(ending)) => Err(ending),
        }
    }

    /// Tells the client of an error, and the session that there was one.
    fn failed(&mut self, error: &Error) {
        let told = self.session.in_mysqls_words(error);
        let error = told.as_ref().unwrap_or(error);
        self.session.count_error(error);
        self.session.fail();
        self.session.keep_failure(error);
        if self.session.ended().is_some() {
            // It is told so at the end, once: see `end_if_over`.
            return;
        }
        tracing::info!(
            connection = self.wire.connection.number(),
            code = error.mysql_code(),
            message = report::logged(error),
            "error"
        );
        self.wire.server.error(&report::server_error(error));
    }

    /// What an OK says, with what has changed of the session.
    fn ok(&mut self, ok: OkPacket) -> OkPacket {
        let mut state = Vec::new();
        self.changed.extend(self.tracked.changes(&mut self.session));
        for change in self.changed.drain(..) {
            let change = match &change {
                told::Change::Schema(name) => StateChange::Schema(name.as_bytes()),
                told::Change::Variable(name, value) => {
                    StateChange::Variable { name: name.as_bytes(), value: value.as_bytes() }
                }
            };
            change.encode(&mut state);
        }
        if !self.wire.server.has(capability::SESSION_TRACK) {
            state.clear();
        }
        OkPacket { status: ok.status | told::status(&self.session), state, ..ok }
    }

    fn send_ok(&mut self, ok: OkPacket) {
        let ok = self.ok(ok);
        self.wire.server.ok(&ok);
    }

    /// The server stops.
    fn stop(&mut self) -> Ending {
        self.goodbye(&report::own(1053, "08S01", "Server shutdown in progress"));
        Ending::Stopped
    }

    /// The session may have been ended by a limit of its own: the client is told as the last thing. Who was killed finds
    /// its connection closed, as MySQL has it.
    fn end_if_over(&mut self) -> Result<(), Ending> {
        let Some(error) = self.session.ended() else { return Ok(()) };
        if error.condition() != Condition::AdminShutdown {
            self.goodbye(&error);
        }
        Err(Ending::Ended(error.message.clone()))
    }

    /// Tells the client why the session is over, in the place of its next answer where it awaits none.
    fn goodbye(&mut self, error: &Error) {
        if self.wire.server.waiting() == 0 {
            self.wire.server.begin_answer();
        }
        self.wire.server.error(&report::server_error(error));
        // The session is over whether or not the client can still be told.
        let _ = self.wire.flush();
    }

    /// The text of a statement: strings in it may be bytes.
    fn statement(&self, sql: &[u8]) -> Result<Arc<str>, Error> {
        self.text(sql).or_else(|error| {
            let respelled = self.session.client_encoding().is_none().then(|| literals::respelled(sql)).flatten();
            respelled.map(Arc::from).ok_or(error)
        })
    }

    /// A text that the client has sent.
    fn text(&self, bytes: &[u8]) -> Result<Arc<str>, Error> {
        let text = crate::texts::text_with_nul(bytes, self.session.client_encoding()).map_err(|error| {
            report::own(1300, "HY000", format!("Invalid utf8mb4 character string: {}", error.message))
        })?;
        Ok(text.into())
    }
}

/// Commands that no answer comes to.
fn is_answered(command: Command) -> bool {
    !matches!(command, Command::QUIT | Command::STMT_CLOSE | Command::STMT_SEND_LONG_DATA)
}

fn misread(malformed: &Malformed) -> Error {
    let broken = report::broken(&Broken::Malformed(malformed.clone()));
    report::own(broken.code, "HY000", format!("{} ({})", broken.message, malformed.what))
}
