//! The command loop of a session.

mod copy;
mod function_call;

use std::borrow::Cow;
use std::io::{self, ErrorKind};
use std::sync::Arc;

use rowferry_dialect::ir::{Statement as Ir, Transaction, Value};
use rowferry_dialect::postgres::types as pg_types;
use rowferry_engine::{
    Command, Condition, Cursor, DoorPart, Error, MessageLevel, Outcome, Prepared, ResultColumn, Resume, Session,
    TransactionStatus, Type, mask_secrets, message_level,
};
use rowferry_wire::ReceiveBuffer;
use rowferry_wire_pg::frame::{Frame, FrameLimits, cut_frontend, missing};
use rowferry_wire_pg::messages::{
    Bind, Execute, FieldDescription, Frontend, Notification, Oids, ParameterStatus, Parse, RowDescription, RowEncoder,
    Severity, Target,
};
use rowferry_wire_pg::{Backend, Format};

use self::copy::Copying;
use super::cancel::Registration;
use super::output::Output;
use super::report;
use super::values::{self, RowWriter};
use crate::Ending;
use crate::bell::Doorbell;

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

/// A statement of a simple query.
struct Asked {
    prepared: Arc<Prepared>,
    /// Its parameters: literals of its text.
    values: Vec<Value>,
    /// The text, where other texts share the plan.
    text: Option<Arc<str>>,
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
    /// The client has had its `ReadyForQuery`, and no command has begun since.
    at_rest: bool,
    /// Rings when other sessions notify this one.
    bell: Arc<Doorbell>,
    /// An error has ended the pipeline: messages up to `Sync` are not obeyed.
    skipping: bool,
    /// The data of a COPY FROM are coming.
    copying: Option<Copying>,
    _registration: Registration<'c>,
}

impl<'c> PgSession<'c> {
    pub(super) fn new(
        mut session: Session,
        output: Output<'c>,
        inbox: ReceiveBuffer,
        registration: Registration<'c>,
    ) -> Self {
        let limits = FrameLimits::session(output.connection.limits().max_message);
        let bell = Arc::new(Doorbell::default());
        session.set_bell(bell.clone());
        let commands = Commands {
            output,
            session,
            at_rest: false,
            bell,
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
            self.commands.end_if_over()?;
            self.inbox.consume(len);
            self.inbox.shrink();
        }
    }

    /// Waits for more bytes.
    fn fill(&mut self) -> Result<(), Ending> {
        let commands = &mut self.commands;
        let in_transaction = commands.session.transaction_status() != TransactionStatus::Idle;
        let limit = commands.session.idle_limit();
        let own = commands.output.connection.expect_command(in_transaction, limit.as_ref().map(|limit| limit.0));
        let least = missing(self.inbox.unread()).min(READ_AT_MOST);
        let read = commands.wait()?.and_then(|()| commands.output.connection.read(self.inbox.space(least)));
        match read {
            Ok(0) if commands.output.connection.stopping() => Err(commands.stop()),
            Ok(0) if commands.session.ended().is_some() => commands.end_if_over(),
            Ok(0) if self.inbox.unread().is_empty() => Err(Ending::Gone),
            Ok(0) => Err(Ending::Protocol("connection closed in the middle of a message".into())),
            Ok(count) => {
                self.inbox.filled(count);
                Ok(())
            }
            Err(error) if error.kind() == ErrorKind::TimedOut && own => {
                let Some((_, error)) = limit else { return Err(Ending::TimedOut("idle session")) };
                commands.goodbye(&error);
                Err(Ending::Ended(error.message.clone()))
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
    /// Waits for the client, if it can be told meanwhile what other sessions notify it of: outside transactions, and not
    /// amid the messages of a command. Otherwise the read that follows does the waiting.
    fn wait(&mut self) -> Result<io::Result<()>, Ending> {
        if !self.at_rest || !self.session.is_listening() {
            return Ok(Ok(()));
        }
        let bell = self.bell.clone();
        let Some(bell_fd) = bell.as_fd() else { return Ok(Ok(())) };
        let deadline = self.output.connection.deadline();
        loop {
            match self.output.connection.wait_or_bell(bell_fd, deadline) {
                Ok(true) => return Ok(Ok(())),
                Ok(false) => {
                    bell.heard();
                    self.send_notifications()?;
                    self.output.flush()?;
                }
                Err(error) => return Ok(Err(error)),
            }
        }
    }

    /// What other sessions have told this one, unless it is in a transaction.
    fn send_notifications(&mut self) -> Result<(), Ending> {
        for told in self.session.take_notifications() {
            self.output.send(&Backend::NotificationResponse(Notification {
                process: told.pid,
                channel: &told.channel,
                payload: &told.payload,
            }));
            self.output.relieve()?;
        }
        Ok(())
    }

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
        self.at_rest &= leaves_at_rest(&message);
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
            Frontend::FunctionCall(call) => return self.call_function(&call),
            Frontend::Password(_) => {
                let message = "invalid frontend message type 112";
                self.goodbye(&Error::new(Condition::ProtocolViolation, message));
                return Err(Ending::Protocol(message.into()));
            }
            Frontend::Parse(parse) => self.parse(&parse),
            Frontend::Bind(bind) => self.bind(&bind),
            Frontend::Describe(target) => self.describe(target),
            Frontend::Execute(execute) => self.execute(execute, next),
            Frontend::Close(target) => self.close(target),
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
        self.session.forget_statement("");
        self.session.close_portal("");
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
        let sql = self.text(sql)?;
        tracing::debug!(connection = self.output.connection.number(), sql = &*mask_secrets(&sql), "query");
        if let Some((prepared, values)) = self.session.recall(&sql) {
            let text = (!values.is_empty()).then(|| sql.as_ref().into());
            let asked = Asked { prepared, values, text };
            return self.run_statement(&asked, true);
        }
        let parsed = self.session.parse(&sql)?;
        if parsed.is_empty() {
            self.output.send(&Backend::EmptyQueryResponse);
            return Ok(());
        }
        for (index, statement) in parsed.iter().enumerate() {
            // Several statements are one transaction; behind a COMMIT or ROLLBACK among them the next begins.
            if parsed.len() > 1 {
                self.session.begin_implicit();
            }
            let prepared = self.session.prepare_parsed(statement, &[]);
            let prepared = self.unless_aborted(prepared)?;
            if !client_params(&prepared).is_empty() {
                return Err(Error::new(Condition::UndefinedParameter, "there is no parameter $1").into());
            }
            let asked = Asked { prepared, values: Vec::new(), text: None };
            self.run_statement(&asked, index + 1 == parsed.len())?;
        }
        Ok(())
    }

    /// Runs a statement of a simple query and sends its answer.
    fn run_statement(&mut self, asked: &Asked, is_last: bool) -> Result<(), Failure> {
        let prepared = &asked.prepared;
        if let Ir::Copy(copy) = &prepared.bound.statement {
            if copy.from.is_some() && !is_last {
                return Err(Error::unsupported("COPY FROM STDIN in front of other statements of a query").into());
            }
            if copy.from.is_some() {
                return self.begin_copy_in(prepared, copy, true);
            }
            let rows = self.copy_out(prepared, copy)?;
            if is_last {
                self.end_implicit()?;
            }
            self.complete(Command::Copy, rows);
            return Ok(());
        }
        match self.session.execute_as(prepared, &asked.values, asked.text.as_ref())? {
            Outcome::Rows(mut cursor) => {
                let writer = RowWriter::of(cursor.plan(), cursor.columns(), &[self.simple_format(prepared)])?;
                self.describe_rows(cursor.columns(), &writer)?;
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
        Ok(self.output.relieve()?)
    }

    /// A simple query's rows are text, but for those that FETCH brings of a BINARY cursor.
    fn simple_format(&self, prepared: &Prepared) -> Format {
        match &prepared.bound.statement {
            Ir::Fetch { cursor, .. } if self.session.is_binary_cursor(cursor) => Format::BINARY,
            _ => Format::TEXT,
        }
    }

    fn end_query(&mut self) -> Result<(), Ending> {
        if let Err(error) = self.end_implicit() {
            self.failed(&error);
        }
        self.ready()
    }

    // The extended query.

    /// What a client declares for a parameter: nothing, `unknown` (which is nothing, too), or a type.
    fn declared_type(&mut self, oid: u32) -> Result<Option<Type>, Error> {
        if oid == 0 {
            return Ok(None);
        }
        // Types of users are looked up in the schema, which others need not look at.
        let known = pg_types::from_oid(oid).or_else(|| pg_types::of_oid(oid, &self.session.schema()));
        match known {
            None => Err(Error::new(Condition::UndefinedObject, format!("type with OID {oid} does not exist"))),
            Some(Type::Unknown) => Ok(None),
            Some(ty) => Ok(Some(ty)),
        }
    }

    fn parse(&mut self, parse: &Parse<'_>) -> Result<(), Failure> {
        let name = &*self.text(parse.statement)?;
        self.session.check_statement_name(name)?;
        let sql = &*self.text(parse.sql)?;
        tracing::debug!(connection = self.output.connection.number(), sql = &*mask_secrets(sql), "parse");
        let types = parse.types.iter().map(|oid| self.declared_type(oid)).collect::<Result<Vec<_>, Error>>()?;
        let prepared = match self.session.prepare(sql, &types) {
            Ok(None) => None,
            Ok(Some(prepared)) => Some(self.unless_aborted(Ok(prepared))?),
            Err(error) => Some(self.unless_aborted(Err(error))?),
        };
        self.session.keep_statement(name, sql, prepared)?;
        self.output.send(&Backend::ParseComplete);
        Ok(())
    }

    fn bind(&mut self, bind: &Bind<'_>) -> Result<(), Failure> {
        let statement = &*self.text(bind.statement)?;
        let prepared = self.session.named_statement(statement)?;
        let portal = &*self.text(bind.portal)?;
        self.session.check_portal_name(portal)?;
        let prepared = match prepared {
            Some(prepared) => {
                self.check_not_aborted(&prepared)?;
                Some(self.session.revalidate(&prepared)?)
            }
            None => None,
        };
        let types = prepared.as_deref().map_or(&[][..], client_params);
        let columns = prepared.as_ref().map_or(&[][..], |prepared| &prepared.bound.columns);
        check_counts(bind, statement, types.len(), columns.len())?;
        let settings = self.session.settings();
        let mut params = Vec::with_capacity(types.len());
        for (index, (ty, value)) in types.iter().zip(bind.parameters.iter()).enumerate() {
            let format = bind.parameter_formats.of(index).unwrap_or(Format::TEXT);
            params.push(match value {
                None => Value::Null,
                Some(bytes) => values::read(bytes, ty, format, &settings, index + 1)
                    .map_err(|error| error.context(parameter_context(portal, index + 1, format)))?,
            });
        }
        let formats: Vec<Format> = bind.result_formats.iter().collect();
        let writer = match &prepared {
            Some(prepared) => RowWriter::of(prepared, columns, &formats)?,
            None => Arc::new(RowWriter::new(columns, &formats)?),
        };
        self.session.keep_portal(portal, prepared, params, writer, statement)?;
        self.output.send(&Backend::BindComplete);
        Ok(())
    }

    fn describe(&mut self, target: Target<'_>) -> Result<(), Failure> {
        let (prepared, writer) = match target {
            Target::Statement(name) => {
                let prepared = self.session.named_statement(&self.text(name)?)?;
                let params = prepared.as_deref().map_or(&[][..], client_params);
                let oids: Vec<u8> = params.iter().flat_map(|ty| pg_types::oid(ty).to_be_bytes()).collect();
                self.output.send(&Backend::ParameterDescription(Oids::from_wire(&oids)));
                (prepared, None)
            }
            Target::Portal(name) => {
                let (prepared, door) = self.session.portal(&self.text(name)?)?;
                (prepared.cloned(), door.and_then(writer_of))
            }
        };
        match prepared {
            Some(prepared) if prepared.returns_rows() => {
                let writer = match writer {
                    Some(writer) => writer,
                    None => RowWriter::of(&prepared, &prepared.bound.columns, &[])?,
                };
                self.describe_rows(&prepared.bound.columns, &writer)?;
            }
            _ => self.output.send(&Backend::NoData),
        }
        Ok(())
    }

    fn execute(&mut self, execute: Execute<'_>, next: Option<u8>) -> Result<(), Failure> {
        let name = &*self.text(execute.portal)?;
        let (prepared, door) = self.session.portal(name)?;
        let writer = door.and_then(writer_of);
        if let Some(prepared) = prepared.cloned() {
            self.check_not_aborted(&prepared)?;
        }
        let limit = u64::try_from(execute.max_rows).ok().filter(|limit| *limit > 0);
        let (cursor, at) = match self.session.resume_portal(name, limit)? {
            Resume::Empty => {
                self.output.send(&Backend::EmptyQueryResponse);
                return Ok(());
            }
            Resume::Done(command) => {
                self.complete(command, 0);
                return Ok(());
            }
            Resume::Fetched { rows: mut cursor, more } => {
                let writer = self.writer_for(&cursor, writer)?;
                let rows = self.send_rows(&mut cursor, &writer, None)?.unwrap_or_default();
                if more {
                    self.output.send(&Backend::PortalSuspended);
                } else {
                    self.complete(cursor.command(), rows);
                }
                return Ok(());
            }
            Resume::Rows { cursor, at } => (cursor, at),
            Resume::Start(prepared, params) => match self.start_portal(name, &prepared, &params, next)? {
                Some(cursor) => (cursor, 0),
                None => return Ok(()),
            },
        };
        self.send_portal(name, cursor, at, writer, limit)
    }

    /// Runs a portal's statement for the first time: its rows, or nothing when the client has had its answer.
    fn start_portal(
        &mut self,
        name: &str,
        prepared: &Arc<Prepared>,
        params: &[Value],
        next: Option<u8>,
    ) -> Result<Option<Cursor>, Failure> {
        if let Ir::Copy(copy) = &prepared.bound.statement {
            if copy.from.is_some() {
                self.begin_copy_in(prepared, copy, false)?;
                return Ok(None);
            }
            let rows = self.copy_out(prepared, copy)?;
            self.session.finish_portal(name);
            self.complete(Command::Copy, rows);
            return Ok(None);
        }
        // A lone statement needs no transaction around it.
        if next != Some(b'S') {
            self.session.begin_pipeline();
        }
        match self.session.execute(prepared, params)? {
            Outcome::Rows(cursor) => Ok(Some(cursor)),
            Outcome::Done { command, rows } => {
                self.session.finish_portal(name);
                self.complete(command, rows);
                Ok(None)
            }
        }
    }

    /// Sends a portal's rows up to the limit; `at` of them have been sent before.
    fn send_portal(
        &mut self,
        name: &str,
        mut cursor: Cursor,
        at: u64,
        writer: Option<Arc<RowWriter>>,
        limit: Option<u64>,
    ) -> Result<(), Failure> {
        let writer = self.writer_for(&cursor, writer)?;
        match self.send_rows(&mut cursor, &writer, limit)? {
            Some(rows) => {
                let (command, affected) = (cursor.command(), cursor.rows_affected());
                drop(cursor);
                self.session.finish_portal(name);
                self.complete(command, rows.max(affected));
            }
            None => {
                self.session.suspend_portal(name, cursor, at.saturating_add(limit.unwrap_or_default()));
                self.output.send(&Backend::PortalSuspended);
            }
        }
        Ok(())
    }

    /// What Bind has chosen; a cursor of DECLARE is sent as text.
    fn writer_for(&self, cursor: &Cursor, chosen: Option<Arc<RowWriter>>) -> Result<Arc<RowWriter>, Error> {
        match chosen {
            Some(writer) => Ok(writer),
            None => RowWriter::of(cursor.plan(), cursor.columns(), &[]),
        }
    }

    fn close(&mut self, target: Target<'_>) -> Result<(), Failure> {
        match target {
            Target::Statement(name) => self.session.forget_statement(&self.text(name)?),
            Target::Portal(name) => self.session.close_portal(&self.text(name)?),
        };
        self.output.send(&Backend::CloseComplete);
        Ok(())
    }

    fn sync(&mut self) -> Result<(), Ending> {
        self.skipping = false;
        self.end_query()
    }

    // What both have in common.

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
        let settings = cursor.shown().unwrap_or_else(|| self.session.settings());
        let mut rows = 0;
        loop {
            if limit == Some(rows) {
                return Ok(None);
            }
            let Some(row) = cursor.next()? else { return Ok(Some(rows)) };
            rows += 1;
            let mut encoder = RowEncoder::begin(&mut self.output.pending, writer.len());
            if let Err((index, error)) = writer.write(&mut encoder, &row, &settings) {
                encoder.abandon();
                drop(row);
                let (column, format) = (&cursor.columns()[index], writer.format(index));
                return Err(values::place(error, &self.session, rows, column, format, &settings).into());
            }
            if !encoder.finish() {
                let message = format!("row {rows} is longer than a message can be");
                return Err(Error::new(Condition::ProgramLimitExceeded, message).into());
            }
            self.output.relieve()?;
        }
    }

    fn describe_rows(&mut self, columns: &[ResultColumn], writer: &RowWriter) -> Result<(), Error> {
        let description = || {
            let fields = columns.iter().enumerate().map(|(index, column)| {
                let (table, position) = column.origin.unwrap_or_default();
                // Clients are told of a domain's values as what they are.
                let ty = column.ty.through_domains();
                FieldDescription {
                    name: &column.name,
                    table,
                    // Counted from 1; 0 says "no column".
                    column: if table == 0 { 0 } else { i16::try_from(position + 1).unwrap_or(0) },
                    type_oid: pg_types::oid(ty),
                    type_size: pg_types::typlen(ty),
                    type_modifier: pg_types::typmod(ty),
                    format: writer.format(index),
                }
            });
            Backend::RowDescription(RowDescription { fields: fields.collect() })
        };
        if self.output.encoding.is_some() {
            return self.output.try_send(&description());
        }
        let message = writer.described(|| {
            let mut message = Vec::new();
            description().encode(&mut message);
            message
        });
        self.output.pending.extend_from_slice(message);
        Ok(())
    }

    fn complete(&mut self, command: Command, rows: u64) {
        self.follow_encoding();
        self.send_notices();
        self.output.send(&Backend::CommandComplete(&report::tag(command, rows)));
    }

    /// A text that the client has sent.
    fn text<'b>(&self, bytes: &'b [u8]) -> Result<Cow<'b, str>, Error> {
        report::text(bytes, self.output.encoding)
    }

    /// A command, or the end of a transaction, may have changed what the client wants texts in.
    fn follow_encoding(&mut self) {
        self.output.encoding = self.session.client_encoding();
    }

    fn send_notices(&mut self) {
        for error in self.session.drain_notices() {
            let severity = match message_level(&error) {
                MessageLevel::Debug => Severity::Debug,
                MessageLevel::Log => Severity::Log,
                MessageLevel::Notice => Severity::Notice,
                MessageLevel::Info => Severity::Info,
                MessageLevel::Warning | MessageLevel::Error => Severity::Warning,
            };
            self.output.send(&Backend::NoticeResponse(report::notice(&error, severity)));
        }
    }

    /// Tells the client of an error, and the session that there was one.
    fn failed(&mut self, error: &Error) {
        self.session.count_error(error);
        self.session.fail();
        if self.session.ended().is_some() {
            // It is told so at the end, once: see `end_if_over`.
            return;
        }
        self.follow_encoding();
        self.send_notices();
        tracing::info!(
            connection = self.output.connection.number(),
            sqlstate = error.sqlstate(),
            message = report::logged(error),
            "error"
        );
        self.output.send(&Backend::ErrorResponse(report::notice(error, Severity::Error)));
    }

    /// Ends what the statements since the last `Sync` were, if they were in no transaction block.
    fn end_implicit(&mut self) -> Result<(), Error> {
        self.session.end_implicit()
    }

    /// The awaited `ReadyForQuery`, and everything before it, goes out.
    fn ready(&mut self) -> Result<(), Ending> {
        self.end_if_over()?;
        self.follow_encoding();
        for (name, value) in self.session.drain_reports() {
            self.output.send(&Backend::ParameterStatus(ParameterStatus { name: &name, value: &value }));
        }
        self.session.rest();
        self.send_notifications()?;
        self.at_rest = self.session.transaction_status() == TransactionStatus::Idle;
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

    /// The session may have been ended by somebody else, or by a limit of its own: the client is told as the last thing.
    fn end_if_over(&mut self) -> Result<(), Ending> {
        let Some(error) = self.session.ended() else { return Ok(()) };
        self.goodbye(&error);
        Err(Ending::Ended(error.message.clone()))
    }

    /// Tells the client why the session is over.
    fn goodbye(&mut self, error: &Error) {
        self.output.send(&Backend::ErrorResponse(report::notice(error, Severity::Fatal)));
        // The session is over whether or not the client can still be told.
        let _ = self.output.flush();
    }
}

/// True for a message that is no part of a command, behind which no `ReadyForQuery` comes: a Flush for good measure, the
/// close of a statement that waits for the next command, the rest of a COPY that failed.
fn leaves_at_rest(message: &Frontend<'_>) -> bool {
    matches!(
        message,
        Frontend::Flush
            | Frontend::Close(_)
            | Frontend::CopyData(_)
            | Frontend::CopyDone
            | Frontend::CopyFail(_)
            | Frontend::Terminate
    )
}

/// The parameters that a client has to give. Those of a COPY FROM are its columns, which come as data.
fn client_params(prepared: &Prepared) -> &[Type] {
    if matches!(prepared.bound.statement, Ir::Copy(_)) { &[] } else { &prepared.bound.params }
}

/// Where a parameter that cannot be read stood. A text is told as `'...'`: PostgreSQL quotes as many of its bytes as
/// `log_parameter_max_length_on_error` says, and that is none.
fn parameter_context(portal: &str, number: usize, format: Format) -> String {
    let portal = if portal.is_empty() { "unnamed portal".to_owned() } else { format!("portal \"{portal}\"") };
    let value = if format == Format::TEXT { " = '...'" } else { "" };
    format!("{portal} parameter ${number}{value}")
}

/// Bind gives as many parameters as the statement has, and as many formats as there are things to give one.
fn check_counts(bind: &Bind<'_>, statement: &str, params: usize, columns: usize) -> Result<(), Error> {
    let violation = |message: String| Err(Error::new(Condition::ProtocolViolation, message));
    let (count, formats) = (bind.parameters.len(), bind.parameter_formats.len());
    if formats > 1 && formats != count {
        return violation(format!("bind message has {formats} parameter formats but {count} parameters"));
    }
    if params != count {
        return violation(format!(
            "bind message supplies {count} parameters, but prepared statement \"{statement}\" requires {params}"
        ));
    }
    let formats = bind.result_formats.len();
    if formats > 1 && formats != columns && columns > 0 {
        return violation(format!("bind message has {formats} result formats but query has {columns} columns"));
    }
    Ok(())
}

/// How a portal's rows are sent, as Bind has chosen it.
fn writer_of(door: &DoorPart) -> Option<Arc<RowWriter>> {
    door.clone().downcast::<RowWriter>().ok()
}

fn aborted() -> Error {
    Error::new(
        Condition::InFailedSqlTransaction,
        "current transaction is aborted, commands ignored until end of transaction block",
    )
}
