//! The command loop of a session.

mod copy;

use std::io::ErrorKind;
use std::rc::Rc;
use std::sync::Arc;

use rowferry_dialect::ir::{Discard, Statement as Ir, Transaction, Value};
use rowferry_dialect::postgres::types as pg_types;
use rowferry_engine::{
    Command, Condition, Cursor, Error, Outcome, Prepared, ResultColumn, Session, TransactionStatus, Type,
};
use rowferry_wire::ReceiveBuffer;
use rowferry_wire_pg::frame::{Frame, FrameLimits, cut_frontend, missing};
use rowferry_wire_pg::messages::{
    Bind, Execute, FieldDescription, Frontend, Oids, ParameterStatus, Parse, RowDescription, RowEncoder, Severity,
    Target,
};
use rowferry_wire_pg::{Backend, Format};

use self::copy::Copying;
use super::cancel::Registration;
use super::output::Output;
use super::portal::{Kind, Named, Portal, PortalState, Statement};
use super::report;
use super::values::{self, RowWriter};
use crate::Ending;

/// The most that is asked of the kernel at once for a long message, in bytes.
const READ_AT_MOST: usize = 1024 * 1024;

/// Why a command was not completed.
#[derive(Debug)]
enum Failure {
    /// The client is told, and the session goes on.
    Error(Error),
    /// The session is over.
    End(Ending),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Error(error)
    }
}

impl From<Ending> for Failure {
    fn from(ending: Ending) -> Self {
        Self::End(ending)
    }
}

/// A client that has come in.
pub(super) struct PgSession<'c> {
    inbox: ReceiveBuffer,
    limits: FrameLimits,
    commands: Commands<'c>,
}

/// All but the inbox, so that a message can be read in place while it is obeyed.
struct Commands<'c> {
    output: Output<'c>,
    session: Session,
    statements: Named<Rc<Statement>>,
    portals: Named<Portal>,
    /// An error has ended the pipeline: messages up to `Sync` are not obeyed.
    skipping: bool,
    /// The data of a COPY FROM are coming.
    copying: Option<Copying>,
    _registration: Registration<'c>,
}

impl<'c> PgSession<'c> {
    pub(super) fn new(
        session: Session,
        output: Output<'c>,
        inbox: ReceiveBuffer,
        registration: Registration<'c>,
    ) -> Self {
        let limits = FrameLimits::session(output.connection.limits().max_message);
        let commands = Commands {
            output,
            session,
            statements: Named::new(Kind::Statement),
            portals: Named::new(Kind::Portal),
            skipping: false,
            copying: None,
            _registration: registration,
        };
        Self { inbox, limits, commands }
    }

    /// Obeys the client until the end.
    pub(super) fn run(mut self) -> Ending {
        match self.serve() {
            Ok(never) => match never {},
            Err(ending) => ending,
        }
    }

    fn serve(&mut self) -> Result<std::convert::Infallible, Ending> {
        self.commands.ready()?;
        loop {
            let frame = match cut_frontend(self.inbox.unread(), self.limits) {
                Ok(Some(frame)) => frame,
                Ok(None) => {
                    self.fill()?;
                    continue;
                }
                Err(error) => {
                    let text = error.to_string();
                    self.commands.goodbye(&report::frame_error(error));
                    return Err(Ending::Protocol(text));
                }
            };
            if self.commands.output.connection.stopping() {
                return Err(self.commands.stop());
            }
            let len = frame.len;
            let next = self.inbox.unread().get(len).copied();
            self.commands.obey(frame, next)?;
            self.inbox.consume(len);
            self.inbox.shrink();
        }
    }

    /// Waits for more bytes.
    fn fill(&mut self) -> Result<(), Ending> {
        let commands = &mut self.commands;
        let in_transaction = commands.session.transaction_status() != TransactionStatus::Idle;
        commands.output.connection.expect_command(in_transaction);
        let least = missing(self.inbox.unread()).min(READ_AT_MOST);
        match commands.output.connection.read(self.inbox.space(least)) {
            Ok(0) if commands.output.connection.stopping() => Err(commands.stop()),
            Ok(0) if self.inbox.unread().is_empty() => Err(Ending::Gone),
            Ok(0) => Err(Ending::Protocol("connection closed in the middle of a message".into())),
            Ok(count) => {
                self.inbox.filled(count);
                Ok(())
            }
            Err(error) if error.kind() == ErrorKind::TimedOut => {
                let (condition, message, ending) = if in_transaction {
                    (
                        Condition::IdleInTransactionSessionTimeout,
                        "terminating connection due to idle-in-transaction timeout",
                        "idle in a transaction",
                    )
                } else {
                    (
                        Condition::IdleSessionTimeout,
                        "terminating connection due to idle-session timeout",
                        "idle session",
                    )
                };
                commands.goodbye(&Error::new(condition, message));
                Err(Ending::TimedOut(ending))
            }
            Err(error) => Err(Ending::Broken(error)),
        }
    }
}

impl Commands<'_> {
    /// Obeys one message. `next` is the tag of the one behind it, if that has come.
    fn obey(&mut self, frame: Frame<'_>, next: Option<u8>) -> Result<(), Ending> {
        let message = match Frontend::decode(frame.tag, frame.body) {
            Ok(message) => message,
            Err(error) => {
                if self.skipping {
                    return Ok(());
                }
                self.failed(&report::malformed(&error));
                // The simple query and the function call end by themselves; the others wait for Sync.
                match frame.tag {
                    b'Q' | b'F' => return self.end_query(),
                    b'S' => return self.sync(),
                    b'H' | b'X' | b'c' | b'd' | b'f' => {}
                    _ => self.skipping = true,
                }
                return self.output.flush();
            }
        };
        if let Some(copying) = self.copying.take() {
            return self.obey_copying(&message, copying);
        }
        if self.skipping && !matches!(message, Frontend::Sync | Frontend::Flush | Frontend::Terminate) {
            return Ok(());
        }
        let result = match message {
            Frontend::Query(sql) => return self.query(sql),
            Frontend::Sync => return self.sync(),
            Frontend::Flush => return self.output.flush(),
            Frontend::Terminate => return Err(Ending::Goodbye),
            // After a COPY that failed the client may still be sending its data.
            Frontend::CopyData(_) | Frontend::CopyDone | Frontend::CopyFail(_) => return Ok(()),
            Frontend::FunctionCall(_) => {
                self.failed(&Error::unsupported("the function call protocol"));
                return self.end_query();
            }
            Frontend::Password(_) => {
                let message = "invalid frontend message type 112";
                self.goodbye(&Error::new(Condition::ProtocolViolation, message));
                return Err(Ending::Protocol(message.into()));
            }
            Frontend::Parse(parse) => self.parse(&parse),
            Frontend::Bind(bind) => self.bind(&bind),
            Frontend::Describe(target) => self.describe(target),
            Frontend::Execute(execute) => self.execute(execute, next),
            Frontend::Close(target) => {
                match target {
                    Target::Statement(name) => self.statements.remove(name),
                    Target::Portal(name) => self.portals.remove(name),
                };
                self.output.send(&Backend::CloseComplete);
                Ok(())
            }
        };
        match result {
            // A pipeline without end must not gather its answers without end.
            Ok(()) => self.output.relieve(),
            Err(Failure::Error(error)) => {
                self.skipping = true;
                self.failed(&error);
                // A client may wait for it before it sends its Sync.
                self.output.flush()
            }
            Err(Failure::End(ending)) => Err(ending),
        }
    }

    // The simple query.

    fn query(&mut self, sql: &[u8]) -> Result<(), Ending> {
        // It takes the place of the unnamed ones.
        self.statements.remove(b"");
        self.portals.remove(b"");
        match self.run_query(sql) {
            // It ends with the data that are coming.
            Ok(()) if self.copying.is_some() => return Ok(()),
            Ok(()) => {}
            Err(Failure::Error(error)) => self.failed(&error),
            Err(Failure::End(ending)) => return Err(ending),
        }
        self.end_query()
    }

    fn run_query(&mut self, sql: &[u8]) -> Result<(), Failure> {
        let sql = report::utf8(sql)?;
        tracing::debug!(connection = self.output.connection.number(), sql, "query");
        let parsed = self.session.parse(sql)?;
        if parsed.is_empty() {
            self.output.send(&Backend::EmptyQueryResponse);
            return Ok(());
        }
        for (index, statement) in parsed.iter().enumerate() {
            let is_last = index + 1 == parsed.len();
            // Several statements are one transaction; behind a COMMIT or ROLLBACK among them the next begins.
            if parsed.len() > 1 {
                self.session.begin_implicit();
            }
            let prepared = self.session.prepare_parsed(statement, &[]);
            let prepared = self.unless_aborted(prepared)?;
            if !client_params(&prepared).is_empty() {
                return Err(Error::new(Condition::UndefinedParameter, "there is no parameter $1").into());
            }
            if let Ir::Copy(copy) = &prepared.bound.statement {
                if copy.from.is_some() && !is_last {
                    return Err(Error::unsupported("COPY FROM STDIN in front of other statements of a query").into());
                }
                if copy.from.is_some() {
                    return self.begin_copy_in(&prepared, copy, true);
                }
                let rows = self.copy_out(&prepared, copy)?;
                if is_last {
                    self.end_implicit()?;
                }
                self.complete(Command::Copy, rows);
                continue;
            }
            match self.start(&prepared, &[])? {
                Outcome::Rows(mut cursor) => {
                    let writer = RowWriter::new(cursor.columns(), &[Format::TEXT])?;
                    self.describe_rows(cursor.columns(), &writer);
                    let rows = self.send_rows(&mut cursor, &writer, None)?.unwrap_or_default();
                    let (command, affected) = (cursor.command(), cursor.rows_affected());
                    drop(cursor);
                    if is_last {
                        self.end_implicit()?;
                    }
                    self.complete(command, rows.max(affected));
                }
                Outcome::Done { command, rows } => {
                    if is_last {
                        self.end_implicit()?;
                    }
                    self.complete(command, rows);
                }
            }
            self.output.relieve()?;
        }
        Ok(())
    }

    fn end_query(&mut self) -> Result<(), Ending> {
        if let Err(error) = self.end_implicit() {
            self.failed(&error);
        }
        self.ready()
    }

    // The extended query.

    fn parse(&mut self, parse: &Parse<'_>) -> Result<(), Failure> {
        self.statements.check_free(parse.statement)?;
        let sql = report::utf8(parse.sql)?;
        tracing::debug!(connection = self.output.connection.number(), sql, "parse");
        let types = parse.types.iter().map(declared_type).collect::<Result<Vec<_>, Error>>()?;
        let prepared = match self.session.prepare(sql, &types) {
            Ok(None) => None,
            Ok(Some(prepared)) => Some(self.unless_aborted(Ok(prepared))?),
            Err(error) => Some(self.unless_aborted(Err(error))?),
        };
        self.statements.insert(parse.statement, Rc::new(Statement { prepared }));
        self.output.send(&Backend::ParseComplete);
        Ok(())
    }

    fn bind(&mut self, bind: &Bind<'_>) -> Result<(), Failure> {
        let statement = self.statement(bind.statement)?;
        self.portals.check_free(bind.portal)?;
        let count = bind.parameters.len();
        let formats = bind.parameter_formats.len();
        if formats > 1 && formats != count {
            let message = format!("bind message has {formats} parameter formats but {count} parameters");
            return Err(Error::new(Condition::ProtocolViolation, message).into());
        }
        let types = statement.prepared.as_deref().map_or(&[][..], client_params);
        if types.len() != count {
            return Err(Error::new(
                Condition::ProtocolViolation,
                format!(
                    "bind message supplies {count} parameters, but prepared statement \"{}\" requires {}",
                    String::from_utf8_lossy(bind.statement),
                    types.len()
                ),
            )
            .into());
        }
        let prepared = match &statement.prepared {
            Some(prepared) => {
                self.check_not_aborted(prepared)?;
                Some(self.session.revalidate(prepared)?)
            }
            None => None,
        };
        let settings = self.session.settings();
        let mut params = Vec::with_capacity(count);
        for (index, (ty, value)) in types.iter().zip(bind.parameters.iter()).enumerate() {
            let format = bind.parameter_formats.of(index).unwrap_or(Format::TEXT);
            params.push(match value {
                None => Value::Null,
                Some(bytes) => values::read(bytes, ty, format, &settings, index + 1)?,
            });
        }
        let columns = prepared.as_ref().map_or(&[][..], |prepared| &prepared.bound.columns);
        let formats = bind.result_formats.len();
        if formats > 1 && formats != columns.len() && !columns.is_empty() {
            let message = format!("bind message has {formats} result formats but query has {} columns", columns.len());
            return Err(Error::new(Condition::ProtocolViolation, message).into());
        }
        let formats: Vec<Format> = bind.result_formats.iter().collect();
        let writer = Rc::new(RowWriter::new(columns, &formats)?);
        self.portals.insert(bind.portal, Portal { prepared, params, writer, state: PortalState::Ready });
        self.output.send(&Backend::BindComplete);
        Ok(())
    }

    fn describe(&mut self, target: Target<'_>) -> Result<(), Failure> {
        let (prepared, writer) = match target {
            Target::Statement(name) => {
                let statement = self.statement(name)?;
                let params = statement.prepared.as_deref().map_or(&[][..], client_params);
                let oids: Vec<u8> = params.iter().flat_map(|ty| pg_types::oid(ty).to_be_bytes()).collect();
                self.output.send(&Backend::ParameterDescription(Oids::from_wire(&oids)));
                (statement.prepared.clone(), None)
            }
            Target::Portal(name) => match self.portals.get_mut(name) {
                Ok(portal) => (portal.prepared.clone(), Some(Rc::clone(&portal.writer))),
                // A cursor that SQL has declared is a portal, too.
                Err(error) => {
                    let columns = std::str::from_utf8(name).ok().and_then(|name| self.session.cursor_columns(name));
                    let Some(columns) = columns.map(<[_]>::to_vec) else { return Err(error.into()) };
                    let writer = RowWriter::new(&columns, &[])?;
                    self.describe_rows(&columns, &writer);
                    return Ok(());
                }
            },
        };
        match prepared {
            Some(prepared) if !prepared.bound.columns.is_empty() => {
                let writer = match writer {
                    Some(writer) => writer,
                    None => Rc::new(RowWriter::new(&prepared.bound.columns, &[])?),
                };
                self.describe_rows(&prepared.bound.columns, &writer);
            }
            _ => self.output.send(&Backend::NoData),
        }
        Ok(())
    }

    fn execute(&mut self, execute: Execute<'_>, next: Option<u8>) -> Result<(), Failure> {
        let portal = self.portals.get_mut(execute.portal)?;
        let Some(prepared) = portal.prepared.clone() else {
            self.output.send(&Backend::EmptyQueryResponse);
            return Ok(());
        };
        let writer = Rc::clone(&portal.writer);
        let limit = u64::try_from(execute.max_rows).ok().filter(|limit| *limit > 0);
        let mut cursor = match std::mem::replace(&mut portal.state, PortalState::Done) {
            PortalState::Suspended(cursor) => cursor,
            PortalState::Done if prepared.bound.columns.is_empty() => {
                let shown = String::from_utf8_lossy(execute.portal);
                let message = format!("portal \"{shown}\" cannot be run");
                return Err(Error::new(Condition::ObjectNotInPrerequisiteState, message).into());
            }
            PortalState::Done => {
                self.complete(prepared.command, 0);
                return Ok(());
            }
            PortalState::Ready => {
                let params = std::mem::take(&mut portal.params);
                if let Ir::Copy(copy) = &prepared.bound.statement {
                    if copy.from.is_some() {
                        return self.begin_copy_in(&prepared, copy, false);
                    }
                    let rows = self.copy_out(&prepared, copy)?;
                    self.complete(Command::Copy, rows);
                    return Ok(());
                }
                // A lone statement needs no transaction around it.
                if next != Some(b'S') {
                    self.session.begin_pipeline();
                }
                match self.start(&prepared, &params)? {
                    Outcome::Rows(cursor) => cursor,
                    Outcome::Done { command, rows } => {
                        self.complete(command, rows);
                        return Ok(());
                    }
                }
            }
        };
        match self.send_rows(&mut cursor, &writer, limit)? {
            Some(rows) => {
                let (command, affected) = (cursor.command(), cursor.rows_affected());
                drop(cursor);
                self.complete(command, rows.max(affected));
            }
            None => {
                // The statement may have closed its own portal: COMMIT does. Rows then are at their end.
                if let Ok(portal) = self.portals.get_mut(execute.portal) {
                    portal.state = PortalState::Suspended(cursor);
                }
                self.output.send(&Backend::PortalSuspended);
            }
        }
        Ok(())
    }

    fn sync(&mut self) -> Result<(), Ending> {
        self.skipping = false;
        self.end_query()
    }

    /// The prepared statement `name`, whether the protocol or SQL has prepared it.
    fn statement(&mut self, name: &[u8]) -> Result<Rc<Statement>, Error> {
        self.statements.get_mut(name).map(|statement| Rc::clone(statement)).or_else(|error| {
            let prepared = std::str::from_utf8(name).ok().and_then(|name| self.session.named_statement(name));
            prepared.map(|prepared| Rc::new(Statement { prepared: Some(prepared) })).ok_or(error)
        })
    }

    // What both have in common.

    /// Runs a statement, after what a door has to do for it.
    fn start(&mut self, prepared: &Arc<Prepared>, params: &[Value]) -> Result<Outcome, Failure> {
        match &prepared.bound.statement {
            // Clients name protocol-level statements in SQL, too: both are one namespace.
            Ir::Deallocate(Some(name)) if self.statements.remove(name.as_bytes()) => {
                return Ok(Outcome::Done { command: prepared.command, rows: 0 });
            }
            Ir::Deallocate(None) => self.statements.clear(),
            Ir::Discard(Discard::All) => {
                self.statements.clear();
                self.portals.clear();
            }
            // Portals end with their transaction, and their cursors must not stand in its way.
            Ir::Transaction(Transaction::Commit { .. } | Transaction::Rollback { .. }) => self.portals.clear(),
            _ => {}
        }
        Ok(self.session.execute(prepared, params)?)
    }

    /// Sends rows: `Some` with their number when the cursor is at its end, `None` when `limit` was reached before.
    fn send_rows(
        &mut self,
        cursor: &mut Cursor,
        writer: &RowWriter,
        limit: Option<u64>,
    ) -> Result<Option<u64>, Failure> {
        if cursor.columns().len() != usize::from(writer.len()) {
            // The client was told of other columns.
            return Err(Error::stale_plan().into());
        }
        let settings = self.session.settings();
        let mut rows = 0;
        loop {
            if limit == Some(rows) {
                return Ok(None);
            }
            let Some(row) = cursor.next()? else { return Ok(Some(rows)) };
            rows += 1;
            let mut encoder = RowEncoder::begin(&mut self.output.pending, writer.len());
            if let Err(error) = writer.write(&mut encoder, &row, &settings, rows) {
                encoder.abandon();
                return Err(error.into());
            }
            if !encoder.finish() {
                let message = format!("row {rows} is longer than a message can be");
                return Err(Error::new(Condition::ProgramLimitExceeded, message).into());
            }
            self.output.relieve()?;
        }
    }

    fn describe_rows(&mut self, columns: &[ResultColumn], writer: &RowWriter) {
        let fields = columns.iter().enumerate().map(|(index, column)| {
            let (table, position) = column.origin.unwrap_or_default();
            FieldDescription {
                name: &column.name,
                table,
                // Counted from 1; 0 says "no column".
                column: if table == 0 { 0 } else { i16::try_from(position + 1).unwrap_or(0) },
                type_oid: pg_types::oid(&column.ty),
                type_size: pg_types::typlen(&column.ty),
                type_modifier: pg_types::typmod(&column.ty),
                format: writer.format(index),
            }
        });
        let description = RowDescription { fields: fields.collect() };
        self.output.send(&Backend::RowDescription(description));
    }

    fn complete(&mut self, command: Command, rows: u64) {
        self.send_notices();
        self.output.send(&Backend::CommandComplete(&report::tag(command, rows)));
    }

    fn send_notices(&mut self) {
        for error in self.session.drain_notices() {
            let severity =
                if error.condition().sqlstate().starts_with("01") { Severity::Warning } else { Severity::Notice };
            self.output.send(&Backend::NoticeResponse(report::notice(&error, severity)));
        }
    }

    /// Tells the client of an error, and the session that there was one.
    fn failed(&mut self, error: &Error) {
        self.session.fail();
        self.send_notices();
        tracing::info!(
            connection = self.output.connection.number(),
            sqlstate = error.condition().sqlstate(),
            message = error.message.as_str(),
            "error"
        );
        self.output.send(&Backend::ErrorResponse(report::notice(error, Severity::Error)));
    }

    /// Ends what the statements since the last `Sync` were, if they were in no transaction block.
    fn end_implicit(&mut self) -> Result<(), Error> {
        if self.session.transaction_status() == TransactionStatus::Idle {
            // Portals end with their transaction; a cursor that is open would hold its snapshot.
            self.portals.clear();
        }
        self.session.end_implicit()
    }

    /// The awaited `ReadyForQuery`, and everything before it, goes out.
    fn ready(&mut self) -> Result<(), Ending> {
        for (name, value) in self.session.drain_reports() {
            self.output.send(&Backend::ParameterStatus(ParameterStatus { name: &name, value: &value }));
        }
        let status = report::status(self.session.transaction_status());
        self.output.send(&Backend::ReadyForQuery(status));
        self.output.flush()
    }

    /// In an aborted transaction only what ends it is prepared.
    fn unless_aborted(&mut self, prepared: Result<Arc<Prepared>, Error>) -> Result<Arc<Prepared>, Error> {
        match prepared {
            Ok(prepared) => self.check_not_aborted(&prepared).map(|()| prepared),
            // A statement that cannot even be parsed is told so; any other finds its transaction aborted.
            Err(error) if error.condition() == Condition::SyntaxError || !self.is_aborted() => Err(error),
            Err(_) => Err(aborted()),
        }
    }

    fn check_not_aborted(&self, prepared: &Prepared) -> Result<(), Error> {
        let ends_it = matches!(
            &prepared.bound.statement,
            Ir::Transaction(Transaction::Commit { .. } | Transaction::Rollback { .. } | Transaction::RollbackTo(_))
        );
        if self.is_aborted() && !ends_it { Err(aborted()) } else { Ok(()) }
    }

    fn is_aborted(&self) -> bool {
        self.session.transaction_status() == TransactionStatus::Failed
    }

    /// The server stops.
    fn stop(&mut self) -> Ending {
        let message = "terminating connection due to administrator command";
        self.goodbye(&Error::new(Condition::AdminShutdown, message));
        Ending::Stopped
    }

    /// Tells the client why the session is over.
    fn goodbye(&mut self, error: &Error) {
        self.output.send(&Backend::ErrorResponse(report::notice(error, Severity::Fatal)));
        // The session is over whether or not the client can still be told.
        let _ = self.output.flush();
    }
}

/// The parameters that a client has to give. Those of a COPY FROM are its columns, which come as data.
fn client_params(prepared: &Prepared) -> &[Type] {
    if matches!(prepared.bound.statement, Ir::Copy(_)) { &[] } else { &prepared.bound.params }
}

fn aborted() -> Error {
    Error::new(
        Condition::InFailedSqlTransaction,
        "current transaction is aborted, commands ignored until end of transaction block",
    )
}

/// What a client declares for a parameter: nothing, `unknown` (which is nothing, too), or a type.
fn declared_type(oid: u32) -> Result<Option<Type>, Error> {
    match pg_types::from_oid(oid) {
        None if oid == 0 => Ok(None),
        None => Err(Error::new(Condition::UndefinedObject, format!("type with OID {oid} does not exist"))),
        Some(Type::Unknown) => Ok(None),
        Some(ty) => Ok(Some(ty)),
    }
}
