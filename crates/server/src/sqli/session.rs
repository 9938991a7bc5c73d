//! The conversation after the login: groups of messages, each answered by one group.

use std::io::ErrorKind;
use std::sync::Arc;

use rowferry_dialect::informix::codes::type_code;
use rowferry_dialect::informix::{self, Control};
use rowferry_dialect::ir::{TransactionModes, Value};
use rowferry_engine::{
    Condition, Database, Error, Interrupter, Language, Outcome, Prepared, Session, SessionOptions, TransactionStatus,
    Type, smart_objects,
};
use rowferry_wire_sqli::messages::{
    ClientMessage, Describe, Done, FetchKind, FileRequest, InputDescribe, InsertDone, LoAction, LoReply, LoRequest,
    Param, ParamValue, RetType, Routine, SFetch, ServerMessage, SqlText, StatementId, Tuple, XactStat, warning,
};
use rowferry_wire_sqli::server::Decoder;
use rowferry_wire_sqli::values::CellFormat;
use rowferry_wire_sqli::{Capabilities, StatementType, TypeCode, Widths};

use super::cursor::{Layout, OpenCursor, Statement, Statements};
use super::objects::{self, Argument, Objects};
use super::report::server_error;
use super::text::CodeSet;
use super::urgent::{self, Registration};
use super::values::{Bound, RowContext, WireColumn, bound, description};
use crate::{Connection, Ending};

/// How much is read at once.
const READ: usize = 16 * 1024;
/// Answers beyond this many bytes go out even when more input waits.
const FLUSH_AT: usize = 4 * 1024 * 1024;
/// A buffer that has grown beyond this is given back after it was written.
const KEEP: usize = 256 * 1024;
/// The largest fetch buffer that is honoured.
const MAX_FETCH: usize = 8 * 1024 * 1024;
/// Bytes of a chunk of BYTE and TEXT data.
const BLOB_CHUNK: usize = 1_024;
/// Bytes of a chunk of a client's file, and of a smart large object.
const FILE_CHUNK: usize = 4_096;
const LO_CHUNK: usize = 32_000;
/// The largest value that arrives in chunks.
const MAX_OBJECT: usize = 1 << 30;
/// The database without transactions that is always there.
const SYSMASTER: &str = "sysmaster";
/// How often a statement is run again because it wants another file of the client's.
const MAX_FILES: usize = 64;

/// Why a message was not obeyed.
#[derive(Debug)]
enum Failure {
    /// The client is told, and the rest of the group is skipped.
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

type Obeyed<T = ()> = Result<T, Failure>;

/// A client that has come in.
pub(super) struct SqliSession<'c> {
    connection: &'c mut Connection,
    decoder: Decoder,
    commands: Commands,
    _urgent: Option<Registration>,
}

/// All but the socket and the inbox, so that a message can be read in place while it is obeyed.
struct Commands {
    database: Database,
    user: String,
    server: String,
    code_set: CodeSet,
    widths: Widths,
    out: Vec<u8>,
    /// The open database, if any: its session and its name.
    open: Option<Open>,
    peer: String,
    interrupt: Arc<parking_lot::Mutex<Option<Interrupter>>>,
    statements: Statements,
    objects: Objects,
    /// The statement that the rest of the group is about.
    current: usize,
    /// An error has ended the group: messages up to EOT are not obeyed.
    skipping: bool,
    /// The statement of an `SQ_COMMAND`, which lives no longer than its group.
    command: Option<usize>,
    /// Values that arrive in chunks: which bound parameters still wait, and the chunks so far.
    awaited: Vec<usize>,
    chunks: Vec<u8>,
    /// A write to a smart large object whose chunks arrive: the object and how many bytes were announced.
    writing: Option<(i16, i32)>,
    written: i32,
    /// A call whose arguments arrive in the next message.
    calling: Option<i32>,
}

struct Open {
    session: Session,
    name: String,
    logged: bool,
}

/// What has to happen with the socket before the next message is obeyed.
enum Next {
    Go,
    /// The client's files are involved: the rest of a statement waits for them.
    Files(Pending),
}

/// A statement that stopped at a file of the client's.
enum Pending {
    /// Fetch this file, then run the statement again.
    Read(String, Resume),
    /// Write these files, then send this reply.
    Write(Vec<(String, Vec<u8>)>, Vec<u8>),
}

#[derive(Clone, Copy)]
enum Resume {
    Execute,
    Open,
}

impl<'c> SqliSession<'c> {
    pub(super) fn new(
        database: Database,
        connection: &'c mut Connection,
        decoder: Decoder,
        user: String,
        server: String,
        code_set: CodeSet,
    ) -> Self {
        smart_objects::with(|objects| objects.reset(code_set == CodeSet::Latin1));
        let interrupt: Arc<parking_lot::Mutex<Option<Interrupter>>> = Arc::default();
        let target = interrupt.clone();
        let interrupt_statement = move || {
            if let Some(interrupter) = &*target.lock() {
                interrupter.interrupt();
            }
        };
        let urgent = connection.socket_fd().and_then(|fd| urgent::watch(fd, interrupt_statement.clone()));
        connection.on_interrupt(interrupt_statement);
        let commands = Commands {
            database,
            user,
            server,
            code_set,
            widths: decoder.widths(),
            out: Vec::new(),
            open: None,
            peer: connection.peer().to_string(),
            interrupt,
            statements: Statements::default(),
            objects: Objects::default(),
            current: 0,
            skipping: false,
            command: None,
            awaited: Vec::new(),
            chunks: Vec::new(),
            writing: None,
            written: 0,
            calling: None,
        };
        Self { connection, decoder, commands, _urgent: urgent }
    }

    /// Obeys the client until the end.
    pub(super) fn run(mut self) -> Ending {
        match self.serve() {
            Ok(never) => match never {},
            Err(ending) => ending,
        }
    }

    fn serve(&mut self) -> Result<std::convert::Infallible, Ending> {
        loop {
            let message = match self.decoder.next() {
                Ok(Some(message)) => message,
                Ok(None) => {
                    self.fill()?;
                    continue;
                }
                Err(error) => {
                    let text = error.to_string();
                    let told = Error::new(Condition::ProtocolViolation, text.clone());
                    self.commands.failed(&told);
                    self.commands.send(&ServerMessage::Eot);
                    // Whether or not it can still be told, nothing after this can be read.
                    let _ = self.flush();
                    return Err(Ending::Protocol(text));
                }
            };
            if let ClientMessage::Protocols(offer) = &message {
                let ours = Capabilities::server_15();
                let active = offer.and(&ours);
                self.commands.send(&ServerMessage::Protocols(ours));
                self.decoder.activate(&active);
                self.commands.widths = self.decoder.widths();
                continue;
            }
            let exiting = matches!(message, ClientMessage::Exit);
            let next = self.commands.obey(message);
            match next {
                Ok(Next::Go) => {}
                Ok(Next::Files(pending)) => self.files(pending)?,
                Err(ending) => {
                    let _ = self.flush();
                    return Err(ending);
                }
            }
            if exiting {
                self.flush()?;
                return Err(Ending::Goodbye);
            }
            if self.commands.out.len() >= FLUSH_AT {
                self.flush()?;
            }
        }
    }

    /// Writes what waits, then waits for more bytes.
    fn fill(&mut self) -> Result<(), Ending> {
        // While more input waits the answers wait too: a client may write much before it reads.
        if !self.commands.out.is_empty() && !self.connection.input_waits() {
            self.flush()?;
        }
        let in_transaction = self.commands.in_transaction();
        self.connection.expect_command(in_transaction);
        match self.connection.read(self.decoder.space(READ)) {
            Ok(0) if self.connection.stopping() => Err(Ending::Stopped),
            Ok(0) if self.decoder.is_empty() => Err(Ending::Gone),
            Ok(0) => Err(Ending::Protocol("connection closed in the middle of a message".into())),
            Ok(count) => {
                self.decoder.filled(count);
                Ok(())
            }
            Err(error) if error.kind() == ErrorKind::TimedOut => {
                Err(Ending::TimedOut(if in_transaction { "idle in a transaction" } else { "idle session" }))
            }
            Err(error) => Err(Ending::Broken(error)),
        }
    }

    fn flush(&mut self) -> Result<(), Ending> {
        if self.commands.out.is_empty() {
            return Ok(());
        }
        let result = self.connection.write_all(&self.commands.out);
        self.commands.out.clear();
        self.commands.out.shrink_to(KEEP);
        result.map_err(|error| match error.kind() {
            ErrorKind::TimedOut => Ending::TimedOut("the client takes no bytes"),
            ErrorKind::BrokenPipe | ErrorKind::ConnectionReset => Ending::Gone,
            _ => Ending::Broken(error),
        })
    }

    /// Does what the client's files have to do with a statement, then ends its group.
    fn files(&mut self, pending: Pending) -> Result<(), Ending> {
        // The dialogue begins when the client has had its turn: what is left of the group is a RELEASE at most.
        let mut release = false;
        loop {
            match self.decoder.next() {
                Ok(Some(ClientMessage::Eot)) => break,
                Ok(Some(ClientMessage::Release)) => release = true,
                Ok(Some(_)) => {
                    return Err(Ending::Protocol("more statements in a group that transfers a file".into()));
                }
                Ok(None) => self.fill()?,
                Err(error) => return Err(Ending::Protocol(error.to_string())),
            }
        }
        self.transfer(pending)?;
        if release {
            self.commands.release();
        }
        self.commands.end_group();
        Ok(())
    }

    /// Fetches the client's files that a statement wants, and runs it again; or writes the files that it has made.
    fn transfer(&mut self, pending: Pending) -> Result<(), Ending> {
        let (mut name, resume) = match pending {
            Pending::Read(name, resume) => (name, resume),
            Pending::Write(files, reply) => {
                for (name, bytes) in files {
                    self.write_file(&name, &bytes)?;
                }
                self.commands.out.extend_from_slice(&reply);
                return Ok(());
            }
        };
        for _ in 0..MAX_FILES {
            let bytes = self.read_file(&name)?;
            smart_objects::with(|objects| objects.provide(name, bytes));
            match self.commands.resume(resume) {
                Ok(Next::Go) => break,
                Ok(Next::Files(Pending::Read(next, _))) => name = next,
                Ok(Next::Files(Pending::Write(..))) => break,
                Err(ending) => return Err(ending),
            }
        }
        smart_objects::with(smart_objects::SmartObjects::forget_files);
        Ok(())
    }

    /// Sends one turn of the file dialogue and waits for the answer's EOT; yields the file's bytes, if any came.
    fn file_turn(&mut self, messages: &[ServerMessage<'_>]) -> Result<Vec<u8>, Ending> {
        for message in messages {
            self.commands.send(message);
        }
        self.commands.send(&ServerMessage::Eot);
        self.flush()?;
        let mut bytes = Vec::new();
        loop {
            match self.decoder.next() {
                Ok(Some(ClientMessage::Eot)) => return Ok(bytes),
                Ok(Some(ClientMessage::FileChunk(chunk))) => bytes.extend_from_slice(chunk),
                Ok(Some(ClientMessage::FileTotal(_) | ClientMessage::FileWritten(_))) => {}
                Ok(Some(_)) => return Err(Ending::Protocol("another message in the middle of a file".into())),
                Ok(None) => self.fill()?,
                Err(error) => return Err(Ending::Protocol(error.to_string())),
            }
            if bytes.len() > MAX_OBJECT {
                return Err(Ending::Protocol("the client's file is too large".into()));
            }
        }
    }

    fn read_file(&mut self, name: &str) -> Result<Vec<u8>, Ending> {
        self.file_turn(&[open_file(name)])?;
        let bytes =
            self.file_turn(&[ServerMessage::File(FileRequest::Read { buffer: FILE_CHUNK as i16, amount: -1 })])?;
        self.file_turn(&[ServerMessage::File(FileRequest::Close)])?;
        Ok(bytes)
    }

    fn write_file(&mut self, name: &str, bytes: &[u8]) -> Result<(), Ending> {
        self.file_turn(&[open_file(name)])?;
        let mut messages = vec![ServerMessage::File(FileRequest::Write)];
        messages.extend(bytes.chunks(FILE_CHUNK).map(ServerMessage::FileChunk));
        self.file_turn(&messages)?;
        self.file_turn(&[ServerMessage::File(FileRequest::Close)])?;
        Ok(())
    }
}

fn open_file(name: &str) -> ServerMessage<'_> {
    ServerMessage::File(FileRequest::Open { name: name.as_bytes(), mode: 0, flags: 0, offset: 0 })
}

impl Commands {
    /// Obeys one message.
    fn obey(&mut self, message: ClientMessage<'_>) -> Result<Next, Ending> {
        if let ClientMessage::Eot = message {
            self.end_group();
            return Ok(Next::Go);
        }
        if let ClientMessage::Exit = message {
            if self.in_transaction() {
                self.send(&ServerMessage::XactStat(XactStat::ROLLBACK));
            }
            self.close_database();
            self.send(&ServerMessage::Exit);
            return Ok(Next::Go);
        }
        if self.skipping {
            return Ok(Next::Go);
        }
        match self.handle(message) {
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
                if self.command.is_none() {
                    self.describe()?;
                }
            }
            ClientMessage::WantDone => self.send(&ServerMessage::Done(Done::default())),
            ClientMessage::CursorName(_) | ClientMessage::GeneratedKeys(_) | ClientMessage::Hold => {}
            ClientMessage::Bind(params) => self.bind(&params)?,
            ClientMessage::BBind(_) => self.chunks.clear(),
            ClientMessage::Blob(chunk) => self.blob_chunk(chunk)?,
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
                let bytes = self.objects.by_descriptor(descriptor)?.to_vec();
                for chunk in bytes.chunks(BLOB_CHUNK) {
                    self.send(&ServerMessage::Blob(chunk));
                }
                self.send(&ServerMessage::Blob(b""));
            }
            ClientMessage::Begin => self.begin()?,
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
            ClientMessage::DbClose => {
                self.close_database();
                self.send(&ServerMessage::Done(Done::default()));
            }
            ClientMessage::DbList => {
                let name = self.database.name().to_owned();
                self.send(&ServerMessage::DbList(vec![name.as_bytes(), SYSMASTER.as_bytes()]));
            }
            ClientMessage::Version => self.send(&ServerMessage::Version(informix::VERSION.as_bytes())),
            ClientMessage::Environment(_) => {}
            ClientMessage::GetRoutine(routine) => {
                let signature = self.code_set.decode_sql(routine.signature);
                let handle = objects::routine(&signature)?;
                let database = self.open.as_ref().map(|open| open.name.clone()).unwrap_or_default();
                self.send(&ServerMessage::Routine(Routine { database: database.as_bytes(), handle }));
            }
            ClientMessage::CallRoutine(call) => {
                self.calling = Some(call.handle);
                if call.params == 0 {
                    self.call(&[])?;
                }
            }
            ClientMessage::LoData(request) => self.lo_data(&request)?,
            ClientMessage::LoChunk(chunk) => self.lo_chunk(chunk)?,
            ClientMessage::PutInsert(_) => return Err(Error::unsupported("an insert cursor (IFX_USEPUT)").into()),
            ClientMessage::PamAck | ClientMessage::PamResponse(_) => {
                return Err(Error::unsupported("authentication by PAM").into());
            }
            ClientMessage::FileTotal(_) | ClientMessage::FileChunk(_) | ClientMessage::FileWritten(_) => {
                let message = "a part of a file that nobody asked for";
                return Err(Failure::End(Ending::Protocol(message.into())));
            }
            // The caller has seen to these.
            ClientMessage::Protocols(_) | ClientMessage::Eot | ClientMessage::Exit => {}
            _ => return Err(Error::unsupported("this message").into()),
        }
        Ok(Next::Go)
    }

    fn end_group(&mut self) {
        if let Some((_, _)) = self.writing.take() {
            self.send(&ServerMessage::LoData(LoReply::Written(self.written)));
        }
        if let Some(command) = self.command.take() {
            self.free(command);
        }
        self.skipping = false;
        self.awaited.clear();
        self.chunks = Vec::new();
        self.calling = None;
        self.send(&ServerMessage::Eot);
    }

    fn send(&mut self, message: &ServerMessage<'_>) {
        let before = self.out.len();
        if let Err(error) = message.encode(&mut self.out, self.widths) {
            // Nothing that is sent is longer than its length can say, but for names; say so rather than send half of it.
            self.out.truncate(before);
            tracing::error!(%error, "a message could not be encoded");
            let told = Error::internal(error.to_string());
            let _ = ServerMessage::Error(server_error(&told, self.code_set)).encode(&mut self.out, self.widths);
        }
    }

    /// Tells the client of an error, which ends the group.
    fn failed(&mut self, error: &Error) {
        tracing::debug!(code = error.condition().informix_code(), error = error.message, "statement failed");
        self.skipping = true;
        self.send(&ServerMessage::Error(server_error(error, self.code_set)));
    }

    // The database.

    fn session(&mut self) -> Obeyed<&mut Session> {
        match &mut self.open {
            Some(open) => Ok(&mut open.session),
            None => Err(Error::new(Condition::NoDatabase, "no database has been selected").into()),
        }
    }

    fn in_transaction(&self) -> bool {
        self.open.as_ref().is_some_and(|open| open.session.transaction_status() != TransactionStatus::Idle)
    }

    fn open_database(&mut self, name: &str) -> Obeyed {
        let name = name.split('@').next().unwrap_or_default().trim();
        if name != self.database.name() && name != SYSMASTER {
            return Err(Error::new(Condition::InvalidCatalogName, format!("database {name} is not served here"))
                .table("", name)
                .into());
        }
        self.close_database();
        let logged = true;
        let mut session = self.database.session(SessionOptions {
            user: self.user.clone(),
            application_name: String::new(),
            language: Language::Informix,
            client_address: self.peer.clone(),
        });
        session.set_variable("informix.database", name)?;
        session.set_variable("informix.server", &self.server)?;
        *self.interrupt.lock() = Some(session.interrupter());
        self.open = Some(Open { session, name: name.to_owned(), logged });
        let logging = if logged { warning::LOGGED } else { 0 };
        self.send(&ServerMessage::Done(Done {
            warnings: logging | warning::DYNAMIC_SERVER | warning::UNKNOWN_10,
            ..Done::default()
        }));
        Ok(())
    }

    fn close_database(&mut self) {
        self.statements.clear();
        self.objects = Objects::default();
        *self.interrupt.lock() = None;
        self.open = None;
    }

    fn control(&mut self, control: &Control) -> Obeyed {
        match control {
            Control::Database(name) => return self.open_database(name),
            Control::CloseDatabase => self.close_database(),
            Control::CreateDatabase { name, if_not_exists, .. } => {
                let exists = name == self.database.name() || name == SYSMASTER;
                if !exists {
                    return Err(Error::unsupported("CREATE DATABASE: one file is served, and").into());
                }
                if !if_not_exists {
                    return Err(Error::new(Condition::DuplicateDatabase, format!("database {name} exists"))
                        .table("", name.clone())
                        .into());
                }
            }
            Control::DropDatabase { name, if_exists } => {
                let exists = name == self.database.name() || name == SYSMASTER;
                if exists {
                    return Err(Error::new(Condition::ObjectInUse, format!("database {name} is being served")).into());
                }
                if !if_exists {
                    return Err(Error::new(Condition::InvalidCatalogName, format!("database {name} is not there"))
                        .table("", name.clone())
                        .into());
                }
            }
        }
        self.send(&ServerMessage::Done(Done::default()));
        Ok(())
    }

    // Transactions.

    fn begin(&mut self) -> Obeyed {
        let Some(open) = &mut self.open else {
            return Err(Error::new(Condition::NoDatabase, "no database has been selected").into());
        };
        if !open.logged {
            // What a database without transactions says; informix-driver goes on without them.
            return Err(Error::new(Condition::SyntaxError, "this database has no transactions").into());
        }
        open.session.begin(TransactionModes::default())?;
        self.send(&ServerMessage::XactStat(XactStat::BEGIN));
        self.send(&ServerMessage::Done(Done::default()));
        Ok(())
    }

    fn commit(&mut self) -> Obeyed {
        self.in_progress()?;
        self.session()?.commit()?;
        self.send(&ServerMessage::XactStat(XactStat::COMMIT));
        self.send(&ServerMessage::Done(Done::default()));
        Ok(())
    }

    fn rollback(&mut self) -> Obeyed {
        self.in_progress()?;
        self.session()?.rollback()?;
        self.send(&ServerMessage::XactStat(XactStat::ROLLBACK));
        self.send(&ServerMessage::Done(Done::default()));
        Ok(())
    }

    fn in_progress(&mut self) -> Obeyed {
        if self.session()?.transaction_status() == TransactionStatus::Idle {
            return Err(Error::new(Condition::NoActiveSqlTransaction, "not in a transaction").into());
        }
        Ok(())
    }

    // Statements.

    fn statement(&mut self) -> Obeyed<&mut Statement> {
        let current = self.current;
        self.statements.get(current).ok_or_else(|| {
            Error::new(Condition::InvalidSqlStatementName, format!("there is no statement {current}")).into()
        })
    }

    /// Prepares a text; yields the statement's number, which is the current one from then on.
    fn prepare(&mut self, text: SqlText<'_>) -> Obeyed<usize> {
        let sql = self.code_set.decode_sql(text.sql);
        tracing::debug!(sql, "prepare");
        let mut parsed = informix::parse(&sql)?;
        let Some(statement) = parsed.pop() else {
            return Err(Error::new(Condition::SyntaxError, "the statement is empty").at(1).into());
        };
        if !parsed.is_empty() {
            return Err(Error::unsupported("more than one statement at once").into());
        }
        let control = statement.control();
        let (code_set, widths) = (self.code_set, self.widths);
        let prepared = match &control {
            Some(_) => None,
            None => self.session()?.prepare(&sql, &[])?,
        };
        let described = prepared.as_ref().map(|prepared| informix::described(&prepared.bound)).unwrap_or_default();
        let columns = described
            .iter()
            .map(|column| WireColumn::new(column, code_set, widths))
            .collect::<Result<Arc<[_]>, Error>>()?;
        let id = self.statements.insert(Statement {
            kind: statement.statement_type(),
            control,
            prepared,
            columns,
            for_update: statement.for_update(),
            requested: None,
            bound: Vec::new(),
            scroll: false,
            cursor: None,
            auto_free: false,
        });
        let Some(id) = id else {
            return Err(Error::new(Condition::InsufficientResources, "too many prepared statements").into());
        };
        self.current = id;
        Ok(id)
    }

    fn describe(&mut self) -> Obeyed {
        let id = StatementId(i16::try_from(self.current).unwrap_or(i16::MAX));
        let statement = self.statement()?;
        let kind = StatementType(statement.kind as u16);
        let columns = statement.columns.clone();
        let described = columns.iter().map(|column| (&column.name[..], column.description(), column.declared_width()));
        let message = ServerMessage::Describe(Describe::of_columns(kind, id, described));
        self.send(&message);
        Ok(())
    }

    fn describe_input(&mut self) -> Obeyed {
        let statement = self.statement()?;
        let types: Vec<Type> =
            statement.prepared.as_ref().map(|prepared| prepared.bound.params.clone()).unwrap_or_default();
        let codes: Vec<_> = types.iter().map(|ty| type_code(ty, false)).collect();
        let params = codes.iter().map(|code| description(code, false)).collect();
        self.send(&ServerMessage::InputDescribe(InputDescribe { params }));
        Ok(())
    }

    fn bind(&mut self, params: &[Param<'_>]) -> Obeyed {
        if self.calling.is_some() {
            return self.call(params);
        }
        let code_set = self.code_set;
        let values =
            params.iter().map(|param| bound(param, code_set, &self.objects)).collect::<Result<Vec<Bound>, Error>>()?;
        self.awaited =
            values.iter().enumerate().filter(|(_, value)| value.awaits_data).map(|(at, _)| at).rev().collect();
        self.statement()?.bound = values;
        Ok(())
    }

    /// A part of a BYTE or TEXT value; an empty one ends the value.
    fn blob_chunk(&mut self, chunk: &[u8]) -> Obeyed {
        if !chunk.is_empty() {
            if self.chunks.len() + chunk.len() > MAX_OBJECT {
                return Err(Error::new(Condition::ProgramLimitExceeded, "a BYTE or TEXT value is too large").into());
            }
            self.chunks.extend_from_slice(chunk);
            return Ok(());
        }
        let bytes = std::mem::take(&mut self.chunks);
        let Some(at) = self.awaited.pop() else {
            return Err(Error::new(Condition::ProtocolViolation, "more data than bound values").into());
        };
        let code_set = self.code_set;
        let Some(value) = self.statement()?.bound.get_mut(at) else { return Ok(()) };
        value.value =
            if value.ty == Type::TextBlob { Value::Text(code_set.decode(&bytes)?) } else { Value::Blob(bytes) };
        value.awaits_data = false;
        Ok(())
    }

    /// The bound values in the forms that the statement's parameters have.
    fn arguments(&mut self) -> Obeyed<(Arc<Prepared>, Vec<Value>)> {
        let code_set = self.code_set;
        let statement = self.statement()?;
        let Some(prepared) = statement.prepared.clone() else {
            return Err(Error::internal("a statement of the door's own has no plan").into());
        };
        let wanted = &prepared.bound.params;
        if wanted.len() != statement.bound.len() {
            let (needed, given) = (wanted.len(), statement.bound.len());
            let message = format!("the statement has {needed} parameters, but {given} values are bound");
            return Err(Error::new(Condition::TooFewParameters, message).into());
        }
        let values = statement
            .bound
            .iter()
            .zip(wanted)
            .map(|(value, ty)| value.stored(ty, code_set))
            .collect::<Result<_, Error>>()?;
        Ok((prepared, values))
    }

    fn resume(&mut self, resume: Resume) -> Result<Next, Ending> {
        let result = match resume {
            Resume::Execute => self.execute(),
            Resume::Open => self.open_cursor(),
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

    fn execute(&mut self) -> Obeyed<Next> {
        let statement = self.statement()?;
        if statement.is_query() {
            return Err(Error::new(Condition::DuplicateCursor, "a SELECT statement cannot be executed; open it").into());
        }
        if let Some(control) = statement.control.clone() {
            self.control(&control)?;
            return Ok(Next::Go);
        }
        let kind = statement.kind;
        match kind {
            34 => {
                self.begin()?;
                return Ok(Next::Go);
            }
            35 => {
                self.commit()?;
                return Ok(Next::Go);
            }
            36 => {
                self.rollback()?;
                return Ok(Next::Go);
            }
            _ => {}
        }
        let (prepared, values) = self.arguments()?;
        let outcome = match self.session()?.execute(&prepared, &values) {
            Ok(outcome) => outcome,
            Err(error) => return wanted_file(error, Resume::Execute),
        };
        let rows = match outcome {
            Outcome::Done { rows, .. } => rows,
            // A routine without described columns still returns something, which nobody wants.
            Outcome::Rows(cursor) => cursor.rows_affected(),
        };
        let mut done = Done { rows: i64::try_from(rows).unwrap_or(i64::MAX), ..Done::default() };
        if kind == 6 {
            let serial = if rows > 0 { self.session()?.last_serial().unwrap_or(0) } else { 0 };
            let mut inserted = InsertDone::default();
            match self.identity_type() {
                Some(Type::IfxInt8) => inserted.serial8 = Some(serial),
                Some(Type::Int8) => inserted.bigserial = serial,
                Some(_) => done.serial = i32::try_from(serial).unwrap_or(0),
                None => {}
            }
            inserted.serial8.get_or_insert(0);
            self.send(&ServerMessage::InsertDone(inserted));
        }
        self.send(&ServerMessage::Done(done));
        Ok(Next::Go)
    }

    /// The type of the column of an INSERT's table that numbers itself.
    fn identity_type(&mut self) -> Option<Type> {
        let current = self.current;
        let prepared = self.statements.get(current)?.prepared.clone()?;
        let rowferry_dialect::ir::Statement::Dml(dml) = &prepared.bound.statement else { return None };
        dml.target.columns.iter().find(|column| column.identity.is_some()).map(|column| column.ty.clone())
    }

    // Cursors.

    fn open_cursor(&mut self) -> Obeyed<Next> {
        let current = self.current;
        let statement = self.statement()?;
        if !statement.is_query() {
            return Err(Error::new(Condition::DuplicateCursor, "only a query can be opened").into());
        }
        let scroll = std::mem::take(&mut statement.scroll);
        if scroll && statement.for_update {
            return Err(Error::new(
                Condition::InvalidCursorDefinition,
                "a scroll cursor cannot be declared for an updatable query",
            )
            .into());
        }
        statement.cursor = None;
        self.objects.forget(current);
        let (prepared, values) = self.arguments()?;
        let cursor = match self.session()?.execute(&prepared, &values) {
            Ok(Outcome::Rows(cursor)) => cursor,
            Ok(Outcome::Done { .. }) => return Err(Error::internal("a query without rows").into()),
            Err(error) => {
                if scroll {
                    self.statement()?.scroll = true;
                }
                return wanted_file(error, Resume::Open);
            }
        };
        self.statement()?.cursor = Some(OpenCursor::new(cursor, scroll));
        Ok(Next::Go)
    }

    fn not_open() -> Failure {
        Error::new(Condition::InvalidCursorState, "the cursor is not open").into()
    }

    /// Sends as many rows as fit, at least one.
    fn fetch(&mut self, budget: usize) -> Obeyed<Next> {
        let current = self.current;
        let (code_set, widths) = (self.code_set, self.widths);
        let budget = budget.min(MAX_FETCH);
        let Some(statement) = self.statements.get(current) else {
            return Err(
                Error::new(Condition::InvalidSqlStatementName, format!("there is no statement {current}")).into()
            );
        };
        let layout = Layout::of(statement);
        let auto_free = statement.auto_free;
        let Some(cursor) = &mut statement.cursor else { return Err(Self::not_open()) };
        let mut context = RowContext { code_set, widths, objects: &mut self.objects, statement: current };
        let mut reply = Vec::new();
        let mut used = 0;
        let mut ended = false;
        loop {
            let Some(payload) = cursor.next(&layout, &mut context)? else {
                ended = true;
                break;
            };
            if used > 0 && used + payload.len() > budget {
                cursor.push_back(payload);
                break;
            }
            used += payload.len();
            encode_tuple(&payload, widths, &mut reply)?;
            if used >= budget {
                break;
            }
        }
        if ended {
            let done = Done { rows: cursor.delivered, ..Done::default() };
            let _ = ServerMessage::Done(done).encode(&mut reply, widths);
            if auto_free {
                self.free(current);
            }
        }
        Ok(self.reply(reply))
    }

    /// Sends a fetch's reply, after the files that its rows have made.
    fn reply(&mut self, reply: Vec<u8>) -> Next {
        let files = smart_objects::with(smart_objects::SmartObjects::take_written);
        if files.is_empty() {
            self.out.extend_from_slice(&reply);
            return Next::Go;
        }
        Next::Files(Pending::Write(files, reply))
    }

    fn scroll_fetch(&mut self, fetch: SFetch) -> Obeyed<Next> {
        let current = self.current;
        let (code_set, widths) = (self.code_set, self.widths);
        let Some(statement) = self.statements.get(current) else {
            return Err(
                Error::new(Condition::InvalidSqlStatementName, format!("there is no statement {current}")).into()
            );
        };
        let layout = Layout::of(statement);
        let Some(cursor) = &mut statement.cursor else { return Err(Self::not_open()) };
        let mut context = RowContext { code_set, widths, objects: &mut self.objects, statement: current };
        let row = i64::from(fetch.row);
        let wanted = match fetch.kind {
            FetchKind::NEXT => cursor.delivered + 1,
            FetchKind::PREVIOUS => cursor.delivered - 1,
            FetchKind::FIRST => 1,
            FetchKind::LAST => cursor.last(&layout, &mut context)?,
            FetchKind::RELATIVE => cursor.delivered + row,
            FetchKind::ABSOLUTE if row < 0 => cursor.last(&layout, &mut context)? + row + 1,
            _ => row,
        };
        let mut reply = Vec::new();
        let mut done = Done::default();
        if let Some(payload) = cursor.at(wanted, &layout, &mut context)? {
            encode_tuple(&payload, widths, &mut reply)?;
            let number = i32::try_from(wanted).unwrap_or(i32::MAX);
            let _ = ServerMessage::TupId(number).encode(&mut reply, widths);
            done.rows = 1;
        }
        let _ = ServerMessage::Done(done).encode(&mut reply, widths);
        Ok(self.reply(reply))
    }

    fn requested(&mut self, types: &RetType<'_>) -> Obeyed {
        if !types.fetch {
            return Err(Error::unsupported("an insert cursor (IFX_USEPUT)").into());
        }
        let widths = self.widths;
        let statement = self.statement()?;
        if types.types.len() != statement.columns.len() {
            return Err(Error::new(Condition::ProtocolViolation, "RET_TYPE has another number of columns").into());
        }
        let mut formats = Vec::with_capacity(types.types.len());
        for (asked, column) in types.types.iter().zip(statement.columns.iter()) {
            // A row's or collection's binary form is not known; its text is sent whatever is asked.
            let format = if matches!(column.shown, Type::Composite(_)) {
                Ok(CellFormat::LongText)
            } else {
                CellFormat::requested(asked, widths)
            };
            formats.push(format.map_err(|error| Error::unsupported(error.to_string()))?);
        }
        statement.requested = Some(formats.into());
        Ok(())
    }

    fn close_cursor(&mut self) {
        let current = self.current;
        self.objects.forget(current);
        if let Some(statement) = self.statements.get(current) {
            statement.cursor = None;
            if statement.auto_free {
                self.free(current);
            }
        }
    }

    fn release(&mut self) {
        self.free(self.current);
        self.command = None;
    }

    fn free(&mut self, id: usize) {
        self.objects.forget(id);
        self.statements.remove(id);
    }

    // Routines and smart large objects.

    fn call(&mut self, params: &[Param<'_>]) -> Obeyed {
        let Some(handle) = self.calling.take() else { return Ok(()) };
        let code_set = self.code_set;
        let mut arguments = Vec::new();
        for param in params {
            arguments.push(match param.value {
                ParamValue::Opaque(bytes) if param.code != TypeCode::LVARCHAR => Argument::Opaque(bytes.to_vec()),
                _ => Argument::Value(bound(param, code_set, &self.objects)?),
            });
        }
        let returned = self.objects.call(handle, &arguments)?;
        let params = returned.iter().map(objects::Returned::param).collect();
        self.send(&ServerMessage::Results(params));
        Ok(())
    }

    fn lo_data(&mut self, request: &LoRequest) -> Obeyed {
        if request.action == LoAction::Write {
            self.writing = Some((request.lofd, request.bytes));
            self.written = 0;
            return Ok(());
        }
        let bytes = objects::read(request)?;
        let total = i32::try_from(bytes.len()).unwrap_or(i32::MAX);
        self.send(&ServerMessage::LoData(LoReply::Read(total)));
        for chunk in bytes.chunks(LO_CHUNK) {
            self.send(&ServerMessage::LoChunk(chunk));
        }
        Ok(())
    }

    fn lo_chunk(&mut self, chunk: &[u8]) -> Obeyed {
        let Some((lofd, _)) = self.writing else { return Ok(()) };
        let result = objects::write(lofd, chunk);
        if result.is_err() {
            self.writing = None;
        }
        result?;
        self.written += i32::try_from(chunk.len()).unwrap_or(0);
        Ok(())
    }
}

/// A statement that failed because it wants a file of the client's is run again once the file is there.
fn wanted_file(error: Error, resume: Resume) -> Obeyed<Next> {
    match smart_objects::with(smart_objects::SmartObjects::take_wanted) {
        Some(name) => Ok(Next::Files(Pending::Read(name, resume))),
        None => Err(error.into()),
    }
}

fn encode_tuple(payload: &[u8], widths: Widths, out: &mut Vec<u8>) -> Obeyed {
    ServerMessage::Tuple(Tuple { warnings: 0, payload })
        .encode(out, widths)
        .map_err(|error| Failure::Error(Error::new(Condition::ProgramLimitExceeded, error.to_string())))
}
