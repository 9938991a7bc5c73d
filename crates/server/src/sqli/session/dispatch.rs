//! One message of the client's after the other: who obeys it, and how its group ends.

use rowferry_dialect::informix;
use rowferry_engine::{Condition, Error};
use rowferry_wire_sqli::TooLong;
use rowferry_wire_sqli::messages::{ClientMessage, Done, Routine, ServerMessage, StatementId};
use rowferry_wire_sqli::server::{Request, Violation};

use super::{BLOB_CHUNK, Commands, Failure, Next, Obeyed, SYSMASTER};
use crate::Ending;
use crate::sqli::objects;
use crate::sqli::report::server_error;

impl Commands {
    /// Obeys a request, or tells the client what is wrong with it.
    pub(super) fn obey(&mut self, request: Result<Request<'_>, Violation>) -> Result<Next, Ending> {
        let result = match request {
            Ok(Request::EndOfGroup) => {
                self.end_group();
                return Ok(Next::Go);
            }
            Ok(Request::Exit) => {
                let undone = self.in_transaction();
                self.close_database();
                self.server.exit(undone);
                return Ok(Next::Go);
            }
            Ok(Request::Message(message)) => self.handle(message),
            Ok(Request::Call { handle, params }) => self.call(handle, &params).map(|()| Next::Go),
            Ok(Request::Value(bytes)) => self.value(bytes).map(|()| Next::Go),
            Ok(Request::Write { lofd, chunk }) => objects::write(lofd, chunk).map(|()| Next::Go).map_err(Into::into),
            Ok(
                Request::Answer(_)
                | Request::File(_)
                | Request::Protocols(_)
                | Request::Question
                | Request::Turn { .. },
            ) => return Err(Ending::Protocol("a message that nobody asked for".into())),
            Err(violation) => Err(Error::new(Condition::ProgramLimitExceeded, violation.to_string()).into()),
        };
        match result {
            Ok(next) => Ok(next),
            Err(Failure::Error(error)) => {
                self.failed(&error);
                Ok(Next::Go)
            }
            Err(Failure::End(ending)) => Err(ending),
        }
    }

    fn handle(&mut self, message: ClientMessage<'_>) -> Obeyed<Next> {
        match message {
            ClientMessage::Id(StatementId(id)) => {
                self.current = usize::try_from(id).unwrap_or(usize::MAX);
            }
            ClientMessage::Command(text) => {
                let id = self.prepare(text)?;
                self.command = Some(id);
            }
            ClientMessage::Prepare(text) => {
                self.prepare(text)?;
            }
            ClientMessage::NDescribe => {
                // A command is not described: neither driver looks at it.
                match self.command {
                    None => self.describe()?,
                    Some(_) => self.describe_keys()?,
                }
            }
            ClientMessage::WantDone => self.send(&ServerMessage::Done(Done::default())),
            ClientMessage::GeneratedKeys(wanted) => self.want_keys(&wanted)?,
            ClientMessage::CursorName(name) => {
                let name = self.code_set.decode(name)?;
                self.statement()?.cursor_name = Some(name);
            }
            ClientMessage::Hold => self.statement()?.hold = true,
            ClientMessage::Bind(params) => self.bind(&params)?,
            ClientMessage::Execute => return self.execute(),
            ClientMessage::Scroll => self.statement()?.scroll = true,
            ClientMessage::AutoFree => self.statement()?.auto_free = true,
            ClientMessage::Open => return self.open_cursor(),
            ClientMessage::NFetch(fetch) => return self.fetch(usize::try_from(fetch.buffer).unwrap_or(0)),
            ClientMessage::SFetch(fetch) => return self.scroll_fetch(fetch),
            ClientMessage::RetType(types) => self.requested(&types)?,
            ClientMessage::Close => self.close_cursor(),
            ClientMessage::Release => self.release(),
            ClientMessage::DescribeInput => self.describe_input()?,
            ClientMessage::FetchBlob(descriptor) => {
                let bytes = self.objects.by_descriptor(descriptor)?;
                for chunk in bytes.chunks(BLOB_CHUNK) {
                    self.send(&ServerMessage::Blob(chunk));
                }
                self.send(&ServerMessage::Blob(b""));
            }
            ClientMessage::Begin => self.begin(false)?,
            ClientMessage::Commit => self.commit()?,
            ClientMessage::Rollback(_) => self.rollback()?,
            ClientMessage::SetSavepoint(savepoint) => {
                let name = self.code_set.decode(savepoint.name)?;
                self.session()?.savepoint(&name)?;
                self.send(&ServerMessage::Done(Done::default()));
            }
            ClientMessage::ReleaseSavepoint(name) => {
                let name = self.code_set.decode(name)?;
                self.session()?.release(&name)?;
                self.send(&ServerMessage::Done(Done::default()));
            }
            ClientMessage::RollbackToSavepoint(name) => {
                let name = self.code_set.decode(name)?;
                self.session()?.rollback_to(&name)?;
                self.send(&ServerMessage::Done(Done::default()));
            }
            ClientMessage::DbOpen(open) => {
                let name = self.code_set.decode(open.database)?;
                self.open_database(&name)?;
            }
            ClientMessage::XaOpen(_) => {
                let message = "distributed transactions (XA) are not supported: a file's transaction cannot be prepared by one \
                               session and committed by another; use a DataSource without XA";
                return Err(Error::new(Condition::FeatureNotSupported, message).into());
            }
            ClientMessage::DbClose => {
                self.close_database();
                self.send(&ServerMessage::Done(Done::default()));
            }
            ClientMessage::DbList => {
                let databases = self.databases.list();
                let mut names: Vec<&[u8]> = databases.iter().map(|(name, _)| name.as_bytes()).collect();
                names.push(SYSMASTER.as_bytes());
                self.send(&ServerMessage::DbList(names));
            }
            ClientMessage::Version => self.send(&ServerMessage::Version(informix::VERSION.as_bytes())),
            ClientMessage::Environment(_) => {}
            ClientMessage::GetRoutine(routine) => {
                let signature = self.code_set.decode_sql(routine.signature);
                let handle = match objects::routine(&signature) {
                    Ok(handle) => handle,
                    Err(error) => match &mut self.open {
                        Some(open) => self.routines.find(&mut open.session, &signature).ok_or(error)?,
                        None => return Err(error.into()),
                    },
                };
                let database = self.open.as_ref().map(|open| open.name.clone()).unwrap_or_default();
                self.send(&ServerMessage::Routine(Routine { database: database.as_bytes(), handle }));
            }
            ClientMessage::LoData(request) => self.lo_data(&request)?,
            ClientMessage::PutInsert(put) => self.put(&put)?,
            ClientMessage::PamAck | ClientMessage::PamResponse(_) => {
                return Err(Error::unsupported("authentication by PAM").into());
            }
            _ => return Err(Error::unsupported("this message").into()),
        }
        Ok(Next::Go)
    }

    pub(super) fn end_group(&mut self) {
        if let Some(command) = self.command.take() {
            self.free(command);
        }
        self.flush_puts();
        self.server.end_group();
    }

    pub(super) fn send(&mut self, message: &ServerMessage<'_>) {
        if let Err(error) = self.server.put(message) {
            self.unsaid(&error);
        }
    }

    /// Nothing that is sent is longer than its length can say, but for names; says so.
    fn unsaid(&mut self, error: &TooLong) {
        tracing::error!(%error, "a message could not be encoded");
        let told = Error::internal(error.to_string());
        let _ = self.server.put(&ServerMessage::Error(server_error(&told, self.code_set, self.texts)));
    }

    /// Tells the client of an error, which ends the group.
    pub(super) fn failed(&mut self, error: &Error) {
        // What a syntax error stands next to may be a password.
        let message = if error.condition() == Condition::SyntaxError { "syntax error" } else { &error.message };
        tracing::debug!(code = error.condition().informix_code(), error = message, "statement failed");
        if let Some(open) = &self.open {
            open.session.count_error(error);
        }
        if let Err(error) = self.server.error(server_error(error, self.code_set, self.texts)) {
            self.unsaid(&error);
        }
    }

    /// Tells the client of an error as the last thing that it is told.
    pub(super) fn last_words(&mut self, error: &Error) {
        self.failed(error);
        self.server.end_group();
    }
}
