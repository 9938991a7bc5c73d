//! The command loop of a session.

mod copy;
mod function_call;

use std::borrow::Cow;
use std::io;
use std::sync::Arc;

use rowferry_dialect::ir::{Statement as Ir, Transaction, Value};
use rowferry_dialect::postgres::types as pg_types;
use rowferry_engine::{
    Command, Condition, Cursor, DoorPart, Error, MessageLevel, Outcome, Prepared, ResultColumn, Resume, Session,
    TransactionStatus, Type, mask_secrets, message_level,
};
use rowferry_wire_pg::messages::{
    Bind, Execute, FieldDescription, Notification, Oids, Parse, RowDescription, Severity, Target,
};
use rowferry_wire_pg::server::{Inbox, Request, Texts as _, Violation};
use rowferry_wire_pg::{Backend, Format};

use self::copy::Copying;
use super::cancel::Registration;
use super::report::{self, Tag};
use super::values::{self, RowWriter};
use super::wire::{ClientTexts, Wire};
use crate::bell::Doorbell;
use crate::kit::{Failure, READ_AT_MOST, Silence, Wait};
use crate::{Ending, kit};

/// A statement of a simple query.
struct Asked {
    prepared: Arc<Prepared>,
    /// Its parameters: literals of its text.
    values: Vec<Value>,
    /// The text, where other texts share the plan.
    text: Option<Arc<str>>,
}

/// What has become of a portal that was run for the first time.
enum Started {
    /// Its rows are to be sent.
    Rows(Cursor),
    /// The client has had its answer.
    Done,
    /// Its data are to come.
    Copy(Box<Copying>),
}

/// The COPY FROM that a command has begun, if it has: the requests to come bring its data.
type Began = Option<Box<Copying>>;

/// A client that has come in.
pub(super) struct PgSession<'c> {
    inbox: Inbox,
    commands: Commands<'c>,
}

/// All but the inbox, so that a request can be read in place while it is obeyed.
struct Commands<'c> {
    wire: Wire<'c>,
    session: Session,
    /// Rings when other sessions notify this one.
    bell: Arc<Doorbell>,
    _registration: Registration<'c>,
}

impl<'c> PgSession<'c> {
    pub(super) fn new(mut session: Session, wire: Wire<'c>, inbox: Inbox, registration: Registration<'c>) -> Self {
        let bell = Arc::new(Doorbell::default());
        session.set_bell(bell.clone());
        Self { inbox, commands: Commands { wire, session, bell, _registration: registration } }
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
        let mut began = None;
        loop {
            let polled = self.commands.wire.server.poll(&mut self.inbox);
            // Requests are long values: they stay where they are.
            let request = match &polled {
                Ok(Some(request)) => Ok(request),
                Ok(None) => {
                    drop(polled);
                    self.fill()?;
                    continue;
                }
                Err(violation) if violation.is_fatal() => {
                    self.commands.wire.goodbye(&report::violation(violation));
                    return Err(Ending::Protocol(violation.to_string()));
                }
                Err(violation) => Err(violation),
            };
            if self.commands.wire.connection.stopping() {
                return Err(self.commands.stop());
            }
            began = match began {
                None => self.commands.obey(request)?,
                Some(copying) => self.commands.obey_copying(request, copying)?,
            };
            self.commands.end_if_over()?;
        }
    }

    /// Waits for more bytes.
    fn fill(&mut self) -> Result<(), Ending> {
        let commands = &mut self.commands;
        let wait = Wait::begin(commands.wire.connection, Some(&commands.session));
        let least = commands.wire.server.missing(&self.inbox).min(READ_AT_MOST);
        let read = commands.wait()?.and_then(|()| commands.wire.connection.read(self.inbox.space(least)));
        match wait.end(read, commands.wire.connection, Some(&commands.session), self.inbox.is_amid_message()) {
            Ok(count) => {
                self.inbox.filled(count);
                Ok(())
            }
            Err(Silence::Stopping) => Err(commands.stop()),
            Err(Silence::Ended) => commands.end_if_over(),
            Err(Silence::Limited(error)) => {
                commands.wire.goodbye(&error);
                Err(Ending::Ended(error.message.clone()))
            }
            Err(Silence::Idle { in_transaction }) => {
                let (condition, message) = if in_transaction {
                    (
                        Condition::IdleInTransactionSessionTimeout,
                        "terminating connection due to idle-in-transaction timeout",
                    )
                } else {
                    (Condition::IdleSessionTimeout, "terminating connection due to idle-session timeout")
                };
                commands.wire.goodbye(&Error::new(condition, message));
                Err(kit::idle(in_transaction))
            }
            Err(Silence::Over(ending)) => Err(ending),
        }
    }
}

impl Commands<'_> {
    /// Waits for the client, if it can be told meanwhile what other sessions notify it of: outside transactions, and not
    /// amid the messages of a command. Otherwise the read that follows does the waiting.
    fn wait(&mut self) -> Result<io::Result<()>, Ending> {
        if !self.wire.server.is_at_rest() || !self.session.is_listening() {
            return Ok(Ok(()));
        }
        let bell = self.bell.clone();
        let Some(bell_fd) = bell.as_fd() else { return Ok(Ok(())) };
        let deadline = self.wire.connection.deadline();
        loop {
            match self.wire.connection.wait_or_bell(bell_fd, deadline) {
                Ok(true) => return Ok(Ok(())),
                Ok(false) => {
                    bell.heard();
                    self.send_notifications()?;
                    self.wire.flush()?;
                }
                Err(error) => return Ok(Err(error)),
            }
        }
    }

    /// What other sessions have told this one, unless it is in a transaction.
    fn send_notifications(&mut self) -> Result<(), Ending> {
        for told in self.session.take_notifications() {
            self.wire.server.notification(Notification {
                process: told.pid,
                channel: &told.channel,
                payload: &told.payload,
            });
            self.wire.relieve()?;
        }
        Ok(())
    }

    /// Obeys a request, or tells the client what is wrong with it.
    fn obey(&mut self, request: Result<&Request<'_>, &Violation>) -> Result<Began, Ending> {
        let result = match request {
            Ok(Request::Query(sql)) => return self.query(sql),
            Ok(Request::FunctionCall(call)) => return self.call_function(call),
            Ok(Request::Sync) => return self.end_query(),
            Ok(Request::Flush) => return self.wire.flush().map(|()| None),
            Ok(Request::Terminate) => return Err(Ending::Goodbye),
            Ok(Request::Parse(parse)) => self.parse(parse),
            Ok(Request::Bind(bind)) => self.bind(bind),
            Ok(Request::Describe(target)) => self.describe(*target),
            Ok(Request::Execute { execute, is_last }) => self.execute(*execute, *is_last),
            Ok(Request::Close(target)) => self.close(*target),
            Ok(_) => return Err(Ending::Protocol("a message that nobody asked for".into())),
            Err(violation) => Err(report::violation(violation).into()),
        };
        match result {
            // A pipeline without end must not gather its answers without end.
            Ok(began) => self.wire.relieve().map(|()| began),
            Err(Failure::Error(error)) => {
                self.failed(&error);
                self.end_failed()
            }
            Err(Failure::End(ending)) => Err(ending),
        }
    }

    /// The client has been told what has failed, and may wait for it before it sends its Sync.
    fn end_failed(&mut self) -> Result<Began, Ending> {
        if self.wire.server.awaits_ready() { self.end_query() } else { self.wire.flush().map(|()| None) }
    }

    // The simple query.

    fn query(&mut self, sql: &[u8]) -> Result<Began, Ending> {
        // It takes the place of the unnamed ones.
        self.session.forget_statement("");
        self.session.close_portal("");
        match self.run_query(sql) {
            // It ends with the data that are coming.
            Ok(Some(copying)) => return Ok(Some(copying)),
            Ok(None) => {}
            Err(Failure::Error(error)) => self.failed(&error),
            Err(Failure::End(ending)) => return Err(ending),
        }
        self.end_query()
    }

    fn run_query(&mut self, sql: &[u8]) -> Result<Began, Failure> {
        let sql = self.text(sql)?;
        tracing::debug!(connection = self.wire.connection.number(), sql = &*mask_secrets(&sql), "query");
        if let Some((prepared, values)) = self.session.recall(&sql) {
            let text = (!values.is_empty()).then(|| sql.as_ref().into());
            let asked = Asked { prepared, values, text };
            return self.run_statement(&asked, true);
        }
        let parsed = self.session.parse(&sql)?;
        if parsed.is_empty() {
            self.wire.server.empty_query();
            return Ok(None);
        }
        let mut began = None;
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
            began = self.run_statement(&asked, index + 1 == parsed.len())?;
        }
        Ok(began)
    }

    /// Runs a statement of a simple query and sends its answer.
    fn run_statement(&mut self, asked: &Asked, is_last: bool) -> Result<Began, Failure> {
        let prepared = &asked.prepared;
        if let Ir::Copy(copy) = &prepared.bound.statement {
            if copy.from.is_some() && !is_last {
                return Err(Error::unsupported("COPY FROM STDIN in front of other statements of a query").into());
            }
            if copy.from.is_some() {
                return self.begin_copy_in(prepared, copy, true).map(Some);
            }
            let rows = self.copy_out(prepared, copy)?;
            if is_last {
                self.end_implicit()?;
            }
            self.complete(Command::Copy, rows);
            return Ok(None);
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
        self.wire.relieve()?;
        Ok(None)
    }

    /// A simple query's rows are text, but for those that FETCH brings of a BINARY cursor.
    fn simple_format(&self, prepared: &Prepared) -> Format {
        match &prepared.bound.statement {
            Ir::Fetch { cursor, .. } if self.session.is_binary_cursor(cursor) => Format::BINARY,
            _ => Format::TEXT,
        }
    }

    fn end_query(&mut self) -> Result<Began, Ending> {
        if let Err(error) = self.end_implicit() {
            self.failed(&error);
        }
        self.ready().map(|()| None)
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

    fn parse(&mut self, parse: &Parse<'_>) -> Result<Began, Failure> {
        let name = &*self.text(parse.statement)?;
        self.session.check_statement_name(name)?;
        let sql = &*self.text(parse.sql)?;
        tracing::debug!(connection = self.wire.connection.number(), sql = &*mask_secrets(sql), "parse");
        let types = parse.types.iter().map(|oid| self.declared_type(oid)).collect::<Result<Vec<_>, Error>>()?;
        let prepared = match self.session.prepare(sql, &types) {
            Ok(None) => None,
            Ok(Some(prepared)) => Some(self.unless_aborted(Ok(prepared))?),
            Err(error) => Some(self.unless_aborted(Err(error))?),
        };
        self.session.keep_statement(name, sql, prepared)?;
        self.wire.server.parse_complete();
        Ok(None)
    }

    fn bind(&mut self, bind: &Bind<'_>) -> Result<Began, Failure> {
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
                Some(bytes) => values::read(bytes, ty, format, &settings, index + 1).map_err(|error| {
                    // Where it stood in the value comes first.
                    let inner = error.context.as_ref().map_or_else(String::new, |inner| format!("{inner}\n"));
                    error.context(inner + &parameter_context(portal, index + 1, format))
                })?,
            });
        }
        let (mut one, mut many) = ([Format::TEXT], Vec::new());
        let formats = match bind.result_formats.len() {
            0 => &[][..],
            1 => {
                one[0] = bind.result_formats.of(0).unwrap_or(Format::TEXT);
                &one[..]
            }
            _ => {
                many.extend(bind.result_formats.iter());
                &many[..]
            }
        };
        let writer = match &prepared {
            Some(prepared) => RowWriter::of(prepared, columns, formats)?,
            None => Arc::new(RowWriter::new(columns, formats)?),
        };
        self.session.keep_portal(portal, prepared, params, writer, statement)?;
        self.wire.server.bind_complete();
        Ok(None)
    }

    fn describe(&mut self, target: Target<'_>) -> Result<Began, Failure> {
        let (prepared, writer) = match target {
            Target::Statement(name) => {
                let prepared = self.session.named_statement(&self.text(name)?)?;
                let params = prepared.as_deref().map_or(&[][..], client_params);
                let oids: Vec<u8> = params.iter().flat_map(|ty| pg_types::oid(ty).to_be_bytes()).collect();
                self.wire.server.parameter_description(Oids::from_wire(&oids));
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
            _ => self.wire.server.no_data(),
        }
        Ok(None)
    }

    fn execute(&mut self, execute: Execute<'_>, is_last: bool) -> Result<Began, Failure> {
        let name = &*self.text(execute.portal)?;
        let (prepared, door) = self.session.portal(name)?;
        let writer = door.and_then(writer_of);
        if let Some(prepared) = prepared.cloned() {
            self.check_not_aborted(&prepared)?;
        }
        let limit = u64::try_from(execute.max_rows).ok().filter(|limit| *limit > 0);
        let (cursor, at) = match self.session.resume_portal(name, limit)? {
            Resume::Empty => {
                self.wire.server.empty_query();
                return Ok(None);
            }
            Resume::Done(command) => {
                self.complete(command, 0);
                return Ok(None);
            }
            Resume::Fetched { rows: mut cursor, more } => {
                let writer = self.writer_for(&cursor, writer)?;
                let rows = self.send_rows(&mut cursor, &writer, None)?.unwrap_or_default();
                if more {
                    self.wire.server.portal_suspended();
                } else {
                    self.complete(cursor.command(), rows);
                }
                return Ok(None);
            }
            Resume::Rows { cursor, at } => (cursor, at),
            Resume::Start(prepared, params) => match self.start_portal(name, &prepared, &params, is_last)? {
                Started::Rows(cursor) => (cursor, 0),
                Started::Done => return Ok(None),
                Started::Copy(copying) => return Ok(Some(copying)),
            },
        };
        self.send_portal(name, cursor, at, writer, limit)?;
        Ok(None)
    }

    /// Runs a portal's statement for the first time.
    fn start_portal(
        &mut self,
        name: &str,
        prepared: &Arc<Prepared>,
        params: &[Value],
        is_last: bool,
    ) -> Result<Started, Failure> {
        if let Ir::Copy(copy) = &prepared.bound.statement {
            if copy.from.is_some() {
                return self.begin_copy_in(prepared, copy, false).map(Started::Copy);
            }
            let rows = self.copy_out(prepared, copy)?;
            self.session.finish_portal(name);
            self.complete(Command::Copy, rows);
            return Ok(Started::Done);
        }
        // A lone statement needs no transaction around it.
        if !is_last {
            self.session.begin_pipeline();
        }
        match self.session.execute(prepared, params)? {
            Outcome::Rows(cursor) => Ok(Started::Rows(cursor)),
            Outcome::Done { command, rows } => {
                self.session.finish_portal(name);
                self.complete(command, rows);
                Ok(Started::Done)
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
                self.wire.server.portal_suspended();
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

    fn close(&mut self, target: Target<'_>) -> Result<Began, Failure> {
        match target {
            Target::Statement(name) => self.session.forget_statement(&self.text(name)?),
            Target::Portal(name) => self.session.close_portal(&self.text(name)?),
        };
        self.wire.server.close_complete();
        Ok(None)
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
            let mut encoder = self.wire.server.row(writer.len());
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
            self.wire.relieve()?;
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
            RowDescription { fields: fields.collect() }
        };
        if !self.wire.server.texts().are_utf8() {
            return self.wire.server.row_description(description());
        }
        let message = writer.described(|| {
            let mut message = Vec::new();
            Backend::RowDescription(description()).encode(&mut message);
            message
        });
        self.wire.server.encoded_row_description(message);
        Ok(())
    }

    fn complete(&mut self, command: Command, rows: u64) {
        self.follow_encoding();
        self.send_notices();
        match report::tag(command) {
            Tag::Words(words) => self.wire.server.command_complete(words),
            Tag::Counted(words) => self.wire.server.counted_complete(words, rows),
        }
    }

    /// A text that the client has sent.
    fn text<'b>(&self, bytes: &'b [u8]) -> Result<Cow<'b, str>, Error> {
        report::text(bytes, self.wire.server.texts().0)
    }

    /// A command, or the end of a transaction, may have changed what the client wants texts in.
    fn follow_encoding(&mut self) {
        self.wire.server.set_texts(ClientTexts(self.session.client_encoding()));
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
            self.wire.server.notice(report::notice(&error, severity));
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
            connection = self.wire.connection.number(),
            sqlstate = error.sqlstate(),
            message = report::logged(error),
            "error"
        );
        self.wire.server.error(report::notice(error, Severity::Error));
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
            self.wire.server.parameter_status(&name, &value);
        }
        self.session.rest();
        self.send_notifications()?;
        self.wire.server.ready(report::status(self.session.transaction_status()));
        self.wire.flush()
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
        self.wire.goodbye(&Error::new(Condition::AdminShutdown, message));
        Ending::Stopped
    }

    /// The session may have been ended by somebody else, or by a limit of its own: the client is told as the last thing.
    fn end_if_over(&mut self) -> Result<(), Ending> {
        let Some(error) = self.session.ended() else { return Ok(()) };
        self.wire.goodbye(&error);
        Err(Ending::Ended(error.message.clone()))
    }
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
