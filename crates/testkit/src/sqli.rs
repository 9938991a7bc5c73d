//! A SQLI server that answers from a script.
//!
//! It plays the server's half of the protocol as `docs/protocol/` has it, but knows no SQL: what a text means was told
//! before. It counts what a client leaves behind, so that tests can see leaks.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use rowferry_wire_sqli::login::LoginReply;
use rowferry_wire_sqli::messages::{
    ClientMessage, Cost, Describe, Done, InsertDone, Param, ParamValue, ServerError, ServerMessage, StatementId, Tuple,
    TypeDescription, XactStat,
};
use rowferry_wire_sqli::server::{self, Decoder, Request};
use rowferry_wire_sqli::values::{Cell, CellFormat, encode_row};
use rowferry_wire_sqli::{Capabilities, StatementType, TypeCode};

use crate::Peer;

/// A column of a scripted answer.
#[derive(Clone, Debug)]
pub struct Column {
    /// Its name.
    pub name: String,
    /// Its type.
    pub ty: TypeDescription<'static>,
}

impl Column {
    /// A column of a built-in type.
    pub fn new(name: &str, code: TypeCode, encoded_length: i32) -> Self {
        let ty = TypeDescription { type_word: u16::from(code.0), encoded_length, ..TypeDescription::default() };
        Self { name: name.into(), ty }
    }

    /// A column of an extended type of the server's own.
    pub fn extended(name: &str, code: TypeCode, type_name: &'static str, encoded_length: i32) -> Self {
        let mut column = Self::new(name, code, encoded_length);
        column.ty.owner = b"informix";
        column.ty.type_name = type_name.as_bytes();
        column
    }
}

/// What a statement does.
#[derive(Clone)]
pub enum Answer {
    /// Returns rows, each already encoded.
    Rows {
        /// The columns.
        columns: Vec<Column>,
        /// The payloads.
        rows: Vec<Vec<u8>>,
    },
    /// Changes so many rows.
    Affected(StatementType, i64),
    /// Changes one row, unless a parameter is this number: then it is a duplicate.
    UniqueExcept(i64),
    /// Fails when prepared.
    FailPrepare(ServerError<'static>),
    /// Fails when opened or executed.
    FailRun(ServerError<'static>),
    /// Returns a row, then fails in the second fetch.
    FailFetch(ServerError<'static>),
    /// Sends these bytes in place of the answer to its execution.
    Raw(Vec<u8>),
}

/// Encodes the rows of [`Answer::Rows`].
///
/// # Panics
/// When a cell does not fit its column: the script is wrong.
pub fn rows(columns: &[Column], rows: &[Vec<Cell<'_>>]) -> Answer {
    let formats: Vec<CellFormat> = columns
        .iter()
        .map(|column| CellFormat::described(&column.ty, Default::default()).expect("type of a column"))
        .collect();
    let rows = rows
        .iter()
        .map(|cells| {
            let mut payload = Vec::new();
            encode_row(&formats, cells, &mut payload).expect("cell of a row");
            payload
        })
        .collect();
    Answer::Rows { columns: columns.to_vec(), rows }
}

/// What the server does, and what it has seen.
#[derive(Clone)]
pub struct Script {
    /// By SQL text.
    pub answers: HashMap<String, Answer>,
    /// The server's mask.
    pub capabilities: Capabilities,
    /// Whether databases have transactions.
    pub logged: bool,
    /// The one password that is accepted; any when `None`.
    pub password: Option<String>,
    /// The question of PAM and its answer.
    pub challenge: Option<(String, String)>,
    /// Databases that can be opened; any when empty.
    pub databases: Vec<String>,
}

impl Default for Script {
    fn default() -> Self {
        Self {
            answers: HashMap::new(),
            capabilities: Capabilities::server_15(),
            logged: true,
            password: None,
            challenge: None,
            databases: Vec::new(),
        }
    }
}

impl Script {
    /// Adds an answer.
    pub fn on(mut self, sql: &str, answer: Answer) -> Self {
        self.answers.insert(sql.into(), answer);
        self
    }
}

/// What a client has done.
#[derive(Clone, Debug, Default)]
pub struct Seen {
    /// Texts prepared, in their order.
    pub prepared: Vec<String>,
    /// Parameters of each execution, rendered.
    pub executed: Vec<Vec<String>>,
    /// `begin`, `commit`, `rollback`.
    pub transactions: Vec<&'static str>,
    /// Statements that are prepared now.
    pub statements: usize,
    /// Cursors that are open now.
    pub cursors: usize,
    /// Fetches asked for.
    pub fetches: usize,
    /// Groups received.
    pub groups: usize,
    /// The client said good bye.
    pub exited: bool,
}

#[derive(Debug)]
struct Statement {
    sql: String,
    bound: Vec<String>,
    numbers: Vec<i64>,
    /// The next row, when the cursor is open.
    position: Option<usize>,
}

/// The server's half of one connection.
pub struct Server {
    script: Arc<Script>,
    seen: Arc<Mutex<Seen>>,
    decoder: Decoder,
    conversation: server::Server,
    statements: BTreeMap<i16, Statement>,
    current: i16,
    logged_in: bool,
    in_transaction: bool,
}

impl Server {
    /// A server that waits for a login.
    pub fn new(script: Arc<Script>) -> Self {
        Self::with(script, Arc::default())
    }

    fn with(script: Arc<Script>, seen: Arc<Mutex<Seen>>) -> Self {
        let conversation = server::Server::new(script.capabilities.clone());
        Self {
            script,
            seen,
            decoder: Decoder::new(),
            conversation,
            statements: BTreeMap::new(),
            current: 0,
            logged_in: false,
            in_transaction: false,
        }
    }

    /// What the client has done so far.
    pub fn seen(&self) -> Seen {
        let mut seen = lock(&self.seen).clone();
        seen.statements = self.statements.len();
        seen.cursors = self.statements.values().filter(|statement| statement.position.is_some()).count();
        seen
    }

    fn login(&mut self) -> bool {
        let request = match self.decoder.login_request() {
            Ok(Some(request)) => request,
            Ok(None) => return false,
            Err(error) => panic!("login request: {error}"),
        };
        let wanted = self.script.password.as_ref();
        let accepted = LoginReply::accept(b"Informix script", b"AAA#B000000", &request.server, 0x0014);
        let said = if wanted.is_some_and(|password| password.as_bytes() != request.password.0) {
            let message = b"Incorrect password or user is not known";
            self.conversation.reject(&LoginReply::reject(-951, message, &request.server))
        } else {
            self.logged_in = true;
            match self.script.challenge {
                Some(_) => self.conversation.accept_and_ask(&accepted),
                None => self.conversation.accept(&accepted),
            }
        };
        said.expect("a login reply fits");
        true
    }

    fn answer(&mut self) {
        if !self.logged_in && !self.login() {
            return;
        }
        // The decoder lends its messages, so it is put aside while they are acted on.
        let mut decoder = std::mem::take(&mut self.decoder);
        loop {
            let message = match decoder.next() {
                Ok(None) => break,
                Ok(Some(message)) => message,
                Err(error) => panic!("client's message: {error}"),
            };
            match self.conversation.handle(message) {
                Ok(Some(Request::Protocols(active))) => decoder.activate(&active),
                Ok(Some(request)) => self.obey(&request),
                Ok(None) => {}
                Err(violation) => panic!("client's message: {violation}"),
            }
        }
        self.decoder = decoder;
    }

    fn obey(&mut self, request: &Request<'_>) {
        match request {
            Request::EndOfGroup => {
                lock(&self.seen).groups += 1;
                self.conversation.end_group();
            }
            Request::Question => {
                let (question, _) = self.script.challenge.as_ref().expect("it is asked");
                self.conversation.ask(question.as_bytes());
            }
            Request::Answer(answer) => {
                let (_, wanted) = self.script.challenge.as_ref().expect("it was asked");
                if wanted.as_bytes() == answer {
                    self.conversation.accept_answer();
                } else {
                    self.conversation.refuse();
                }
            }
            Request::Exit => {
                lock(&self.seen).exited = true;
                self.conversation.exit(false);
            }
            Request::Message(message) => {
                let mut replies = Vec::new();
                self.handle(own(message), &mut replies);
                for reply in replies {
                    match reply {
                        Reply::Message(ServerMessage::Error(error)) => {
                            self.conversation.error(error).expect("an error fits");
                        }
                        Reply::Message(message) => self.conversation.put(&message).expect("an answer fits"),
                        Reply::Raw(bytes) => self.conversation.put_encoded(&bytes),
                    }
                }
            }
            _ => {}
        }
    }

    fn handle(&mut self, message: Owned, replies: &mut Vec<Reply>) {
        match message {
            Owned::Ignored => {}
            Owned::DbOpen(name) => {
                if self.script.databases.is_empty() || self.script.databases.contains(&name) {
                    let warnings = if self.script.logged { 0x0015 } else { 0x0014 };
                    replies.push(Reply::Message(ServerMessage::Done(Done { warnings, ..Done::default() })));
                } else {
                    self.fail(-329, -111, name.into_bytes(), replies);
                }
            }
            Owned::Prepare(sql) => self.prepare(sql, replies),
            Owned::Id(id) => self.current = id,
            Owned::Bind(bound, numbers) => {
                if let Some(statement) = self.statements.get_mut(&self.current) {
                    statement.bound = bound;
                    statement.numbers = numbers;
                }
            }
            Owned::Open | Owned::Execute => self.run(replies),
            Owned::Fetch(budget) => self.fetch(budget, replies),
            Owned::Close => {
                if let Some(statement) = self.statements.get_mut(&self.current) {
                    statement.position = None;
                }
            }
            Owned::Release => {
                self.statements.remove(&self.current);
            }
            Owned::Transaction(what) => self.transaction(what, replies),
            Owned::Version => replies.push(Reply::Message(ServerMessage::Version(b"Informix script"))),
        }
    }

    fn prepare(&mut self, sql: String, replies: &mut Vec<Reply>) {
        lock(&self.seen).prepared.push(sql.clone());
        let id = (0..).find(|id| !self.statements.contains_key(id)).expect("a free number");
        let columns: Vec<Column> = match self.script.answers.get(&sql) {
            None => return self.fail(-201, 0, sql.into_bytes(), replies),
            Some(Answer::FailPrepare(error)) => {
                let error = error.clone();
                replies.push(Reply::Message(ServerMessage::Error(error)));
                return;
            }
            Some(Answer::Rows { columns, .. }) => columns.clone(),
            Some(Answer::FailFetch(_)) => vec![Column::new("a", TypeCode::INTEGER, 4)],
            Some(_) => Vec::new(),
        };
        let statement_type = match &self.script.answers[&sql] {
            Answer::Rows { .. } | Answer::FailFetch(_) => StatementType::SELECT,
            Answer::Affected(statement_type, _) => *statement_type,
            _ => StatementType::INSERT,
        };
        let statement = Statement { sql, bound: Vec::new(), numbers: Vec::new(), position: None };
        self.statements.insert(id, statement);
        self.current = id;
        let described: Vec<(&[u8], TypeDescription<'static>, i32)> =
            columns.iter().map(|column| (column.name.as_bytes(), column.ty, column.ty.encoded_length)).collect();
        let describe = Describe::of_columns(statement_type, StatementId(id), described);
        replies.push(Reply::Message(ServerMessage::Describe(describe)));
        replies.push(Reply::Message(ServerMessage::Done(Done::default())));
        replies.push(Reply::Message(ServerMessage::Cost(Cost { rows: 1, cost: 1 })));
    }

    fn run(&mut self, replies: &mut Vec<Reply>) {
        let script = Arc::clone(&self.script);
        let Some(statement) = self.statements.get_mut(&self.current) else {
            return self.fail(-258, 0, Vec::new(), replies);
        };
        match &script.answers[&statement.sql] {
            Answer::Rows { .. } | Answer::FailFetch(_) => statement.position = Some(0),
            Answer::FailRun(error) => {
                let error = error.clone();
                replies.push(Reply::Message(ServerMessage::Error(error)));
                return;
            }
            Answer::UniqueExcept(taken) if statement.numbers.contains(taken) => {
                return self.fail(-268, -100, b"informix.u100_1".to_vec(), replies);
            }
            Answer::Raw(bytes) => {
                replies.push(Reply::Raw(bytes.clone()));
                return;
            }
            Answer::Affected(statement_type, rows) => {
                match *statement_type {
                    StatementType::BEGIN_WORK => self.in_transaction = true,
                    StatementType::COMMIT_WORK | StatementType::ROLLBACK_WORK => self.in_transaction = false,
                    _ => {}
                }
                let done = Done { rows: *rows, ..Done::default() };
                replies.push(Reply::Message(ServerMessage::Done(done)));
            }
            _ => {
                let done = Done { rows: 1, rowid: 257, serial: 7, ..Done::default() };
                replies.push(Reply::Message(ServerMessage::InsertDone(InsertDone { serial8: Some(0), bigserial: 0 })));
                replies.push(Reply::Message(ServerMessage::Done(done)));
            }
        }
        lock(&self.seen).executed.push(statement.bound.clone());
    }

    fn fetch(&mut self, budget: usize, replies: &mut Vec<Reply>) {
        lock(&self.seen).fetches += 1;
        let script = Arc::clone(&self.script);
        let Some((statement, position)) = self
            .statements
            .get_mut(&self.current)
            .and_then(|statement| statement.position.map(|position| (statement, position)))
        else {
            return self.fail(-259, 0, Vec::new(), replies);
        };
        let one = [vec![0, 0, 0, 1]];
        let rows: &[Vec<u8>] = match &script.answers[&statement.sql] {
            Answer::Rows { rows, .. } => rows,
            Answer::FailFetch(error) if position > 0 => {
                let error = error.clone();
                replies.push(Reply::Message(ServerMessage::Error(error)));
                return;
            }
            _ => &one,
        };
        let fails = matches!(&script.answers[&statement.sql], Answer::FailFetch(_));
        let (mut at, mut used) = (position, 0);
        while at < rows.len() && (used == 0 || used + rows[at].len() <= budget) {
            used += rows[at].len();
            let payload: &'static [u8] = Vec::leak(rows[at].clone());
            replies.push(Reply::Message(ServerMessage::Tuple(Tuple { warnings: 0, payload })));
            at += 1;
        }
        statement.position = Some(at);
        if at == rows.len() && !fails {
            let done = Done { rows: at as i64, ..Done::default() };
            replies.push(Reply::Message(ServerMessage::Done(done)));
        }
    }

    fn transaction(&mut self, what: &'static str, replies: &mut Vec<Reply>) {
        if !self.script.logged {
            return self.fail(if what == "begin" { -201 } else { -255 }, 0, Vec::new(), replies);
        }
        let status = match what {
            "begin" if self.in_transaction => return self.fail(-535, 0, Vec::new(), replies),
            "begin" => XactStat::BEGIN,
            _ if !self.in_transaction => return self.fail(-255, 0, Vec::new(), replies),
            "commit" => XactStat::COMMIT,
            _ => XactStat::ROLLBACK,
        };
        self.in_transaction = what == "begin";
        lock(&self.seen).transactions.push(what);
        replies.push(Reply::Message(ServerMessage::XactStat(status)));
        replies.push(Reply::Message(ServerMessage::Done(Done::default())));
    }

    fn fail(&mut self, sqlcode: i16, isam: i16, token: Vec<u8>, replies: &mut Vec<Reply>) {
        let error = ServerError { sqlcode, isam, offset: 0, token: Cow::Owned(token) };
        replies.push(Reply::Message(ServerMessage::Error(error)));
    }
}

impl Peer for Server {
    fn feed(&mut self, bytes: &[u8]) {
        self.decoder.push(bytes);
        self.answer();
    }

    fn take_output(&mut self) -> Vec<u8> {
        let output = self.conversation.output().to_vec();
        self.conversation.sent(output.len());
        output
    }
}

enum Reply {
    Message(ServerMessage<'static>),
    Raw(Vec<u8>),
}

/// A client's message in its own memory, as far as the script needs it.
enum Owned {
    DbOpen(String),
    Prepare(String),
    Id(i16),
    Bind(Vec<String>, Vec<i64>),
    Open,
    Execute,
    Fetch(usize),
    Close,
    Release,
    Transaction(&'static str),
    Version,
    Ignored,
}

fn own(message: &ClientMessage<'_>) -> Owned {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    match message {
        ClientMessage::DbOpen(open) => Owned::DbOpen(text(open.database)),
        ClientMessage::Prepare(prepare) => Owned::Prepare(text(prepare.sql)),
        ClientMessage::Id(id) => Owned::Id(id.0),
        ClientMessage::Bind(params) => {
            let numbers = params.iter().filter_map(number).collect();
            Owned::Bind(params.iter().map(render).collect(), numbers)
        }
        ClientMessage::Open => Owned::Open,
        ClientMessage::Execute => Owned::Execute,
        ClientMessage::NFetch(fetch) => Owned::Fetch(fetch.buffer.max(0) as usize),
        ClientMessage::Close => Owned::Close,
        ClientMessage::Release => Owned::Release,
        ClientMessage::Begin => Owned::Transaction("begin"),
        ClientMessage::Commit => Owned::Transaction("commit"),
        ClientMessage::Rollback(_) => Owned::Transaction("rollback"),
        ClientMessage::Version => Owned::Version,
        _ => Owned::Ignored,
    }
}

fn number(param: &Param<'_>) -> Option<i64> {
    match param.value {
        ParamValue::Integer(value) => Some(i64::from(value)),
        ParamValue::BigInt(value) => Some(value),
        _ => None,
    }
}

fn render(param: &Param<'_>) -> String {
    match param.value {
        ParamValue::Text(text) => String::from_utf8_lossy(text).into_owned(),
        ref other => number(param).map_or_else(|| format!("{other:?}"), |value| value.to_string()),
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// A [`Server`] on a socket of the loopback, one thread per connection. It ends with the process.
pub fn listen(script: Script) -> std::io::Result<(SocketAddr, Arc<Mutex<Seen>>)> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let address = listener.local_addr()?;
    let (script, seen) = (Arc::new(script), Arc::new(Mutex::new(Seen::default())));
    let shared = Arc::clone(&seen);
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let server = Server::with(Arc::clone(&script), Arc::clone(&shared));
            std::thread::spawn(move || serve(server, stream));
        }
    });
    Ok((address, seen))
}

fn serve(mut server: Server, mut stream: TcpStream) {
    let mut buffer = vec![0; 64 * 1024];
    while let Ok(count @ 1..) = stream.read(&mut buffer) {
        server.feed(&buffer[..count]);
        if stream.write_all(&server.take_output()).is_err() {
            return;
        }
    }
}
