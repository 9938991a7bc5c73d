//! The client role: log in, run statements the simple way or one with parameters, take the rows as they come.
//!
//! Commands put bytes into the output; [`Client::poll`] says what has come back. The order is: `poll` until
//! [`Event::Ready`], [`Client::query`] or [`Client::execute`], `poll` until `Ready` again. [`Event::Pending`] asks for more bytes.
//! Several steps at once go as a pipeline: [`Client::prepare`], [`Client::bind`], [`Client::run`] and their kin, then
//! [`Client::sync`], which ends it.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use rowferry_wire::{Core, Malformed, ReceiveBuffer, Secret};

use crate::frame::{DEFAULT_MESSAGE_LIMIT, FrameError, cut_backend, missing};
use crate::messages::{
    Authentication, Backend, Bind, Execute, FieldDescription, Formats, Frontend, Notice, Oids, PROTOCOL_3_0, Parse,
    SaslInitialResponse, Severity, StartupMessage, StartupPacket, Target, TransactionStatus, Values,
};
use crate::scram::{self, ClientAwaitFinal, ClientAwaitFirst, ScramError};

/// The only SASL mechanism that this client speaks.
const SCRAM_SHA_256: &str = "SCRAM-SHA-256";

/// When the client asks for TLS.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum TlsPolicy {
    /// It goes on in plain text when the server has none.
    IfOffered,
    /// It stops when the server has none.
    Always,
    /// Never.
    Never,
}

/// What a client logs in with.
#[derive(Clone, Debug)]
pub struct Options {
    /// The user.
    pub user: String,
    /// The password, for servers that ask for one.
    pub password: Option<Secret>,
    /// The database; empty for the server's choice, which is the user's name.
    pub database: String,
    /// What the server shows of us in its lists of sessions.
    pub application_name: String,
    /// When to ask for TLS.
    pub tls: TlsPolicy,
    /// Nobody but the server can read along even without TLS: a unix socket.
    pub secure_transport: bool,
    /// Printable ASCII without commas, from at least 16 random bytes, never used twice.
    pub nonce: String,
}

/// What has come from the server.
#[derive(Debug)]
pub enum Event<'a> {
    /// The rows to come have these columns.
    Columns(Vec<FieldDescription<'a>>),
    /// A statement has ended; its tag, for example `INSERT 0 1`.
    Complete(&'a str),
    /// Data of a `COPY … TO STDOUT`.
    CopyData(&'a [u8]),
    /// The server awaits the data of a [`copy_in`](Client::copy_in): [`Client::put_copy_data`], then [`Client::end_copy`].
    CopyIn,
    /// The statement failed; `Ready` follows.
    Error(Box<Notice<'a>>),
    /// A remark.
    Notice(Box<Notice<'a>>),
    /// Nothing more has come: write the output, read, poll again.
    Pending,
    /// The server awaits a command.
    Ready(TransactionStatus),
    /// A row; `None` is NULL, other values are in text form.
    Row(Values<'a>),
    /// Begin TLS, then call [`Client::tls_started`].
    StartTls,
    /// As many rows as [`Client::execute`] asked for have come; there may be more.
    Suspended,
}

/// Why the conversation cannot go on. The connection must be closed.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Failure {
    /// The server closed the connection.
    Closed,
    /// Message boundaries were lost.
    Frame(FrameError),
    /// A message makes no sense in itself.
    Malformed(Malformed),
    /// The server's words at the login, or before it closed the connection.
    Refused(Box<Notice<'static>>),
    /// The server did not prove that it knows the password, or its proof makes no sense.
    Scram(ScramError),
    /// A message makes no sense at this point.
    Unexpected {
        /// What was awaited.
        state: &'static str,
        /// The type byte of what came.
        tag: u8,
    },
    /// The login needs something that we do not have or do not do.
    Login(Cow<'static, str>),
    /// The server asks for a password, and there is none.
    NoPassword,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Closed => f.write_str("the server closed the connection"),
            Self::Frame(error) => error.fmt(f),
            Self::Malformed(error) => error.fmt(f),
            Self::Refused(notice) => write!(f, "{} (SQLSTATE {})", notice.message, notice.sqlstate),
            Self::Scram(error) => error.fmt(f),
            Self::Unexpected { state, tag } => {
                write!(f, "the server sent message type \"{}\" while we awaited {state}", tag.escape_ascii())
            }
            Self::Login(what) => f.write_str(what),
            Self::NoPassword => f.write_str("the server asks for a password"),
        }
    }
}

impl std::error::Error for Failure {}

impl From<FrameError> for Failure {
    fn from(error: FrameError) -> Self {
        Self::Frame(error)
    }
}

impl From<Malformed> for Failure {
    fn from(error: Malformed) -> Self {
        Self::Malformed(error)
    }
}

impl From<ScramError> for Failure {
    fn from(error: ScramError) -> Self {
        Self::Scram(error)
    }
}

/// What the conversation awaits.
#[derive(Debug)]
enum State {
    /// The single byte that answers a request for TLS.
    TlsAnswer,
    /// The end of the TLS handshake, which is not ours.
    TlsHandshake,
    /// A request to authenticate, or that it is not needed.
    Authentication,
    /// The server's challenge.
    ScramChallenge(ClientAwaitFirst),
    /// The server's proof.
    ScramProof(ClientAwaitFinal),
    /// `AuthenticationOk` behind the password or the proof.
    Admission,
    /// The first `ReadyForQuery`.
    Settings,
    /// A command of ours.
    Command,
    /// Results, up to `ReadyForQuery`.
    Results,
    /// Nothing more: the conversation has failed.
    Over,
}

impl State {
    const fn name(&self) -> &'static str {
        match self {
            Self::TlsAnswer => "an answer to the request for TLS",
            Self::TlsHandshake => "the TLS handshake",
            Self::Authentication => "an authentication request",
            Self::ScramChallenge(_) => "a SCRAM challenge",
            Self::ScramProof(_) => "a SCRAM proof",
            Self::Admission => "the end of the authentication",
            Self::Settings => "the end of the login",
            Self::Command => "a command of ours",
            Self::Results => "results",
            Self::Over => "nothing more",
        }
    }
}

/// A client's half of a conversation.
#[derive(Debug)]
pub struct Client {
    options: Options,
    state: State,
    receive: ReceiveBuffer,
    output: Vec<u8>,
    /// Bytes of the frame that the last event borrows from; they go at the next poll.
    lent: usize,
    closed: bool,
    /// The caller has data for a `COPY … FROM STDIN`.
    uploads: bool,
    /// A statement with parameters is under way: it has been followed by a Sync.
    synced: bool,
    server: Server,
}

/// What a server has said of itself and of the session.
#[derive(Clone, Debug)]
pub struct Server {
    /// The session's number and the proof by which [`StartupPacket::Cancel`] stops its statement.
    pub key: Option<(u32, Vec<u8>)>,
    /// Settings that it reports, by their names, as they are now.
    pub parameters: BTreeMap<String, String>,
    /// Where the session stands, as of the last [`Event::Ready`].
    pub transaction: TransactionStatus,
}

impl Default for Server {
    fn default() -> Self {
        Self { key: None, parameters: BTreeMap::new(), transaction: TransactionStatus::IDLE }
    }
}

impl Client {
    /// Begins a conversation: the first bytes wait in the output.
    pub fn new(options: Options) -> Self {
        let mut client = Self {
            options,
            state: State::TlsAnswer,
            receive: ReceiveBuffer::default(),
            output: Vec::new(),
            lent: 0,
            closed: false,
            uploads: false,
            synced: false,
            server: Server::default(),
        };
        if client.options.tls == TlsPolicy::Never {
            client.start_up();
        } else {
            StartupPacket::SslRequest.encode(&mut client.output);
        }
        client
    }

    /// The TLS handshake that [`Event::StartTls`] asked for is under way: what is sent from here on is encrypted.
    pub fn tls_started(&mut self) {
        debug_assert!(matches!(self.state, State::TlsHandshake));
        self.options.secure_transport = true;
        self.start_up();
    }

    /// Runs one or several statements, as one transaction unless they say otherwise.
    ///
    /// # Panics
    ///
    /// When the client is not at [`Event::Ready`]: that is a mistake of the caller, who would read another's rows.
    pub fn query(&mut self, sql: &str) {
        assert!(matches!(self.state, State::Command), "a query while awaiting {}", self.state.name());
        Frontend::Query(sql.as_bytes()).encode(&mut self.output);
        self.state = State::Results;
        self.uploads = false;
        self.synced = false;
    }

    /// Runs one statement with parameters in text form, whose types the server finds out. `most` is how many rows may come,
    /// 0 for all; what there is beyond is given up, and told by [`Event::Suspended`] in the place of [`Event::Complete`].
    ///
    /// # Panics
    ///
    /// As [`query`](Self::query).
    pub fn execute(&mut self, sql: &str, parameters: &[Option<&str>], most: u32) {
        assert!(matches!(self.state, State::Command), "a statement while awaiting {}", self.state.name());
        let mut storage = Vec::new();
        let parameters = Values::build(&mut storage, parameters.iter().map(|value| value.map(str::as_bytes)));
        let (parameter_formats, result_formats) = (Formats::default(), Formats::default());
        for message in [
            Frontend::Parse(Parse { statement: b"", sql: sql.as_bytes(), types: Oids::default() }),
            Frontend::Bind(Bind { portal: b"", statement: b"", parameter_formats, parameters, result_formats }),
            Frontend::Describe(Target::Portal(b"")),
            Frontend::Execute(Execute { portal: b"", max_rows: i32::try_from(most).unwrap_or(i32::MAX) }),
            Frontend::Sync,
        ] {
            message.encode(&mut self.output);
        }
        self.state = State::Results;
        self.uploads = false;
        self.synced = true;
    }

    /// Part of a pipeline: prepares a statement under a name. The server finds out what types are not said.
    pub fn prepare(&mut self, name: &str, sql: &str) {
        let parse = Parse { statement: name.as_bytes(), sql: sql.as_bytes(), types: Oids::default() };
        Frontend::Parse(parse).encode(&mut self.output);
    }

    /// Part of a pipeline: asks what a prepared statement is. Event: [`Event::Columns`], where it returns rows.
    pub fn describe(&mut self, name: &str) {
        Frontend::Describe(Target::Statement(name.as_bytes())).encode(&mut self.output);
    }

    /// Part of a pipeline: makes a portal of a prepared statement, with parameters in text form. `formats` are the codes of
    /// the columns' formats, two bytes each; none is text.
    pub fn bind(&mut self, portal: &str, name: &str, parameters: &[Option<&[u8]>], formats: &[u8]) {
        let mut storage = Vec::new();
        Frontend::Bind(Bind {
            portal: portal.as_bytes(),
            statement: name.as_bytes(),
            parameter_formats: Formats::default(),
            parameters: Values::build(&mut storage, parameters.iter().copied()),
            result_formats: Formats::from_wire(formats),
        })
        .encode(&mut self.output);
    }

    /// Part of a pipeline: runs a portal, or goes on with it, for `most` rows; 0 is all. Events: [`Event::Row`]s, then
    /// [`Event::Complete`] or [`Event::Suspended`].
    pub fn run(&mut self, portal: &str, most: u32) {
        let max_rows = i32::try_from(most).unwrap_or(i32::MAX);
        Frontend::Execute(Execute { portal: portal.as_bytes(), max_rows }).encode(&mut self.output);
    }

    /// Part of a pipeline: forgets a portal.
    pub fn close_portal(&mut self, portal: &str) {
        Frontend::Close(Target::Portal(portal.as_bytes())).encode(&mut self.output);
    }

    /// Part of a pipeline: forgets a prepared statement.
    pub fn close_statement(&mut self, name: &str) {
        Frontend::Close(Target::Statement(name.as_bytes())).encode(&mut self.output);
    }

    /// Ends a pipeline: what fails in it takes the rest along, up to here. [`Event::Ready`] comes in the end.
    ///
    /// # Panics
    ///
    /// As [`query`](Self::query).
    pub fn sync(&mut self) {
        assert!(matches!(self.state, State::Command), "a pipeline while awaiting {}", self.state.name());
        Frontend::Sync.encode(&mut self.output);
        self.state = State::Results;
        self.uploads = false;
        self.synced = true;
    }

    /// Runs a `COPY … FROM STDIN` whose data the caller has: [`Event::CopyIn`] asks for them. A COPY in what
    /// [`query`](Self::query) runs is told that there are none.
    ///
    /// # Panics
    ///
    /// As [`query`](Self::query).
    pub fn copy_in(&mut self, sql: &str) {
        self.query(sql);
        self.uploads = true;
    }

    /// Sends data of a COPY; pieces may end anywhere.
    pub fn put_copy_data(&mut self, data: &[u8]) {
        Frontend::CopyData(data).encode(&mut self.output);
    }

    /// The data of a COPY are over. Events: [`Event::Complete`] or [`Event::Error`], then [`Event::Ready`].
    pub fn end_copy(&mut self) {
        Frontend::CopyDone.encode(&mut self.output);
    }

    /// What the server has said of itself and of the session.
    pub const fn server(&self) -> &Server {
        &self.server
    }

    /// Says goodbye.
    pub fn terminate(&mut self) {
        Frontend::Terminate.encode(&mut self.output);
        self.state = State::Over;
    }

    /// What has come from the server since the last call.
    ///
    /// # Errors
    ///
    /// After a failure every further call fails.
    pub fn poll(&mut self) -> Result<Event<'_>, Failure> {
        self.receive.consume(std::mem::take(&mut self.lent));
        match self.state {
            State::TlsAnswer => return self.tls_answer(),
            State::TlsHandshake => return Ok(Event::StartTls),
            State::Over => return Err(Failure::Closed),
            _ => {}
        }
        loop {
            let Some(frame) = cut_backend(self.receive.unread(), DEFAULT_MESSAGE_LIMIT).inspect_err(|_| {
                self.state = State::Over;
            })?
            else {
                if self.closed {
                    self.state = State::Over;
                    return Err(Failure::Closed);
                }
                return Ok(Event::Pending);
            };
            let (tag, len) = (frame.tag, frame.len);
            if self.handles_itself(tag)? {
                self.receive.consume(len);
                continue;
            }
            self.lent = len;
            // Cut again: the borrow of the first cut ended when the state was changed.
            let body = &self.receive.unread()[5..len];
            let message = Backend::decode(tag, body).inspect_err(|_| self.state = State::Over)?;
            let event = event(message, &mut self.state, tag)?;
            if let Event::Ready(status) = event {
                self.server.transaction = status;
            }
            return Ok(event);
        }
    }

    /// The next row, if that is what comes next and it has come whole: [`poll`](Self::poll)'s short way. `None` leaves
    /// everything as it is.
    ///
    /// # Errors
    ///
    /// As [`poll`](Self::poll).
    pub fn next_row(&mut self) -> Result<Option<Values<'_>>, Failure> {
        self.receive.consume(std::mem::take(&mut self.lent));
        if !matches!(self.state, State::Results) {
            return Ok(None);
        }
        let frame = cut_backend(self.receive.unread(), DEFAULT_MESSAGE_LIMIT).inspect_err(|_| {
            self.state = State::Over;
        })?;
        let Some(len) = frame.filter(|frame| frame.tag == b'D').map(|frame| frame.len) else { return Ok(None) };
        self.lent = len;
        match Backend::decode(b'D', &self.receive.unread()[5..len])? {
            Backend::DataRow(row) => Ok(Some(row.values)),
            _ => Ok(None),
        }
    }

    /// Whether [`poll`](Self::poll) has something else to say than [`Event::Pending`]. What the last event borrowed is gone.
    ///
    /// # Errors
    ///
    /// As [`poll`](Self::poll).
    pub fn has_event(&mut self) -> Result<bool, Failure> {
        self.receive.consume(std::mem::take(&mut self.lent));
        if matches!(self.state, State::TlsAnswer | State::TlsHandshake | State::Over) {
            return Ok(true);
        }
        loop {
            let frame = cut_backend(self.receive.unread(), DEFAULT_MESSAGE_LIMIT).inspect_err(|_| {
                self.state = State::Over;
            })?;
            let Some((tag, len)) = frame.map(|frame| (frame.tag, frame.len)) else { return Ok(self.closed) };
            if !self.handles_itself(tag)? {
                return Ok(true);
            }
            self.receive.consume(len);
        }
    }

    /// Handles a message of which the caller need not hear. False for all others.
    fn handles_itself(&mut self, tag: u8) -> Result<bool, Failure> {
        // Most messages are those of results: rows, their descriptions and their ends.
        if matches!(self.state, State::Results) && matches!(tag, b'D' | b'C' | b'Z' | b'T' | b's') {
            return Ok(false);
        }
        let state = std::mem::replace(&mut self.state, State::Over);
        let unread = self.receive.unread();
        let Some(frame) = cut_backend(unread, DEFAULT_MESSAGE_LIMIT)? else { return Ok(false) };
        let next = match (state, Backend::decode(tag, frame.body)?) {
            (state, Backend::ParameterStatus(parameter)) => {
                self.server.parameters.insert(parameter.name.to_owned(), parameter.value.to_owned());
                state
            }
            (state, Backend::NotificationResponse(_)) => state,
            (State::Authentication | State::Admission, Backend::Authentication(Authentication::Ok)) => State::Settings,
            (State::Authentication, Backend::Authentication(request)) => {
                answer(&self.options, &request, &mut self.output)?
            }
            (State::ScramChallenge(scram), Backend::Authentication(Authentication::SaslContinue(challenge))) => {
                let (proof, scram) = scram.handle(challenge)?;
                Frontend::Password(proof.as_bytes()).encode(&mut self.output);
                State::ScramProof(scram)
            }
            (State::ScramProof(scram), Backend::Authentication(Authentication::SaslFinal(proof))) => {
                scram.handle(proof)?;
                State::Admission
            }
            (State::Settings, Backend::BackendKeyData(data)) => {
                self.server.key = Some((data.process, data.key.to_vec()));
                State::Settings
            }
            (State::Settings, Backend::NegotiateProtocolVersion(_)) => State::Settings,
            (State::Authentication, Backend::NegotiateProtocolVersion(_)) => State::Authentication,
            (State::Results, Backend::CopyInResponse(_)) if self.uploads => {
                self.state = State::Results;
                return Ok(false);
            }
            (State::Results, Backend::CopyInResponse(_)) => {
                Frontend::CopyFail(b"this client has no data to send").encode(&mut self.output);
                if self.synced {
                    // A server that awaits a COPY's data passes the one over that was sent.
                    Frontend::Sync.encode(&mut self.output);
                }
                State::Results
            }
            (State::Results, Backend::CopyOutResponse(_) | Backend::CopyDone) => State::Results,
            (
                State::Results,
                Backend::ParseComplete
                | Backend::BindComplete
                | Backend::CloseComplete
                | Backend::NoData
                | Backend::ParameterDescription(_),
            ) => State::Results,
            (state @ (State::Command | State::Results | State::Settings), _) => {
                self.state = state;
                return Ok(false);
            }
            (_, Backend::ErrorResponse(notice)) => return Err(Failure::Refused(Box::new(notice.into_owned()))),
            (state, Backend::NoticeResponse(_)) => state,
            (state, _) => return Err(Failure::Unexpected { state: state.name(), tag }),
        };
        self.state = next;
        Ok(true)
    }

    fn tls_answer(&mut self) -> Result<Event<'_>, Failure> {
        let unread = self.receive.unread();
        let (answer, alone) = match unread {
            [] if self.closed => {
                self.state = State::Over;
                return Err(Failure::Closed);
            }
            [] => return Ok(Event::Pending),
            [answer, rest @ ..] => (*answer, rest.is_empty()),
        };
        match answer {
            // Bytes behind the answer were sent before the encryption began, by anybody.
            b'S' if alone => {
                self.receive.consume(1);
                self.state = State::TlsHandshake;
                Ok(Event::StartTls)
            }
            b'N' if self.options.tls == TlsPolicy::IfOffered => {
                self.receive.consume(1);
                self.start_up();
                self.poll()
            }
            b'N' => {
                self.state = State::Over;
                Err(Failure::Login("the server does not offer TLS".into()))
            }
            tag => {
                self.state = State::Over;
                Err(Failure::Unexpected { state: State::TlsAnswer.name(), tag })
            }
        }
    }

    fn start_up(&mut self) {
        let mut parameters: Vec<(&[u8], &[u8])> = vec![(b"user", self.options.user.as_bytes())];
        if !self.options.database.is_empty() {
            parameters.push((b"database", self.options.database.as_bytes()));
        }
        parameters.push((b"application_name", self.options.application_name.as_bytes()));
        parameters.push((b"client_encoding", b"UTF8"));
        StartupPacket::Startup(StartupMessage { version: PROTOCOL_3_0, parameters }).encode(&mut self.output);
        self.state = State::Authentication;
    }
}

impl Core for Client {
    fn receive_space(&mut self, least: usize) -> &mut [u8] {
        let least = least.max(missing(self.receive.unread()).min(1 << 20));
        self.receive.space(least)
    }

    fn received(&mut self, count: usize) {
        self.receive.filled(count);
    }

    fn received_eof(&mut self) {
        self.closed = true;
    }

    fn output(&self) -> &[u8] {
        &self.output
    }

    fn sent(&mut self, count: usize) {
        self.output.drain(..count);
    }
}

/// Answers a request to authenticate; the state that awaits the server's next word.
fn answer(options: &Options, request: &Authentication<'_>, output: &mut Vec<u8>) -> Result<State, Failure> {
    let password = || options.password.as_ref().ok_or(Failure::NoPassword);
    match request {
        Authentication::CleartextPassword if options.secure_transport => {
            let mut terminated = password()?.expose().as_bytes().to_vec();
            terminated.push(0);
            Frontend::Password(&terminated).encode(output);
            Ok(State::Admission)
        }
        Authentication::CleartextPassword => Err(Failure::Login(
            "the server asks for the password in clear text, and the connection is not encrypted".into(),
        )),
        Authentication::Sasl(mechanisms) if mechanisms.contains(&SCRAM_SHA_256) => {
            let (first, scram) = scram::start(password()?, &options.nonce);
            let mut body = Vec::new();
            SaslInitialResponse { mechanism: SCRAM_SHA_256.as_bytes(), data: Some(first.as_bytes()) }.encode(&mut body);
            Frontend::Password(&body).encode(output);
            Ok(State::ScramChallenge(scram))
        }
        Authentication::Sasl(mechanisms) => {
            Err(Failure::Login(format!("the server asks for authentication by {}", mechanisms.join(" or ")).into()))
        }
        Authentication::Md5Password(_) => {
            Err(Failure::Login("the server asks for authentication by md5, which is not safe".into()))
        }
        other => {
            Err(Failure::Login(format!("the server asks for an authentication that we do not know: {other:?}").into()))
        }
    }
}

/// What a message means to the caller, and what is awaited behind it.
fn event<'a>(message: Backend<'a>, state: &mut State, tag: u8) -> Result<Event<'a>, Failure> {
    Ok(match (message, &state) {
        (Backend::ReadyForQuery(status), State::Settings | State::Results) => {
            *state = State::Command;
            Event::Ready(status)
        }
        (Backend::NoticeResponse(notice), _) => Event::Notice(notice),
        (Backend::ErrorResponse(notice), State::Results) if notice.severity == Severity::Error => Event::Error(notice),
        (Backend::ErrorResponse(notice), _) => {
            *state = State::Over;
            return Err(Failure::Refused(Box::new(notice.into_owned())));
        }
        (Backend::RowDescription(rows), State::Results) => Event::Columns(rows.fields),
        (Backend::DataRow(row), State::Results) => Event::Row(row.values),
        (Backend::CommandComplete(words), State::Results) => Event::Complete(words),
        (Backend::EmptyQueryResponse, State::Results) => Event::Complete(""),
        (Backend::PortalSuspended, State::Results) => Event::Suspended,
        (Backend::CopyData(data), State::Results) => Event::CopyData(data),
        (Backend::CopyInResponse(_), State::Results) => Event::CopyIn,
        _ => {
            let failure = Failure::Unexpected { state: state.name(), tag };
            *state = State::Over;
            return Err(failure);
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Format;
    use crate::messages::{BackendKeyData, CopyFormats, CopyResponse, DataRow, ParameterStatus, RowDescription};
    use crate::scram::{AwaitClientFirst, Verifier};

    fn options(tls: TlsPolicy) -> Options {
        Options {
            user: "ada".into(),
            password: Some(Secret::new("pencil")),
            database: "store".into(),
            application_name: "test".into(),
            tls,
            secure_transport: false,
            nonce: "rOprNGfwEbeRWgbNEkqO".into(),
        }
    }

    fn feed(client: &mut Client, messages: &[Backend<'_>]) {
        let mut bytes = Vec::new();
        messages.iter().for_each(|message| message.encode(&mut bytes));
        feed_bytes(client, &bytes);
    }

    fn feed_bytes(client: &mut Client, bytes: &[u8]) {
        client.receive_space(bytes.len())[..bytes.len()].copy_from_slice(bytes);
        client.received(bytes.len());
    }

    /// Takes the output: the tag and body of the one message in it.
    fn sent(client: &mut Client) -> (u8, Vec<u8>) {
        let output = client.output().to_vec();
        client.sent(output.len());
        let frame = cut_backend(&output, usize::MAX).unwrap().unwrap();
        assert_eq!(frame.len, output.len(), "one message");
        (frame.tag, frame.body.to_vec())
    }

    fn ready(client: &mut Client) {
        feed(client, &[Backend::Authentication(Authentication::Ok), Backend::ReadyForQuery(TransactionStatus::IDLE)]);
        assert!(matches!(client.poll(), Ok(Event::Ready(_))));
        let output = client.output().len();
        client.sent(output);
    }

    #[test]
    fn logs_in_by_scram_and_reads_rows() {
        let mut client = Client::new(options(TlsPolicy::Never));
        let length = client.output().len();
        client.sent(length);
        feed(&mut client, &[Backend::Authentication(Authentication::Sasl(vec!["SCRAM-SHA-256-PLUS", SCRAM_SHA_256]))]);
        assert!(matches!(client.poll(), Ok(Event::Pending)));
        let (tag, body) = sent(&mut client);
        assert_eq!(tag, b'p');
        let first = SaslInitialResponse::decode(&body).unwrap();
        let server = AwaitClientFirst::new(Verifier::from_password("pencil", b"salt", 4096), "3rfcNHYJY1ZVvWVs7j");
        let (challenge, server) = server.handle(first.data.unwrap()).unwrap();
        feed(&mut client, &[Backend::Authentication(Authentication::SaslContinue(challenge.as_bytes()))]);
        assert!(matches!(client.poll(), Ok(Event::Pending)));
        let (_, proof) = sent(&mut client);
        let proof = server.handle(&proof).unwrap();
        feed(
            &mut client,
            &[
                Backend::Authentication(Authentication::SaslFinal(proof.as_bytes())),
                Backend::Authentication(Authentication::Ok),
                Backend::ParameterStatus(ParameterStatus { name: "TimeZone", value: "UTC" }),
                Backend::BackendKeyData(BackendKeyData { process: 1, key: &[1, 2, 3, 4] }),
                Backend::ReadyForQuery(TransactionStatus::IDLE),
            ],
        );
        assert!(matches!(client.poll(), Ok(Event::Ready(TransactionStatus::IDLE))));

        client.query("SELECT 1");
        assert_eq!(sent(&mut client), (b'Q', b"SELECT 1\0".to_vec()));
        let field = FieldDescription {
            name: "?column?",
            table: 0,
            column: 0,
            type_oid: 23,
            type_size: 4,
            type_modifier: -1,
            format: Format::TEXT,
        };
        let mut storage = Vec::new();
        let values = Values::build(&mut storage, [Some(b"1".as_slice()), None]);
        let answers = [
            Backend::RowDescription(RowDescription { fields: vec![field] }),
            Backend::DataRow(DataRow { values }),
            Backend::CommandComplete("SELECT 1"),
            Backend::ReadyForQuery(TransactionStatus::IDLE),
        ];
        // Byte by byte: no event comes early, none is lost.
        let mut bytes = Vec::new();
        answers.iter().for_each(|message| message.encode(&mut bytes));
        let mut seen = Vec::new();
        for byte in bytes {
            feed_bytes(&mut client, &[byte]);
            match client.poll().unwrap() {
                Event::Pending => {}
                Event::Columns(columns) => seen.push(columns[0].name.to_owned()),
                Event::Row(values) => seen.push(format!("{:?}", values.iter().collect::<Vec<_>>())),
                Event::Complete(words) => seen.push(words.to_owned()),
                Event::Ready(_) => seen.push("ready".to_owned()),
                other => panic!("{other:?}"),
            }
        }
        assert_eq!(seen, ["?column?", "[Some([49]), None]", "SELECT 1", "ready"]);
    }

    #[test]
    fn a_server_that_cannot_prove_itself_is_left() {
        let mut client = Client::new(options(TlsPolicy::Never));
        let length = client.output().len();
        client.sent(length);
        feed(&mut client, &[Backend::Authentication(Authentication::Sasl(vec![SCRAM_SHA_256]))]);
        client.poll().unwrap();
        let (_, body) = sent(&mut client);
        let first = SaslInitialResponse::decode(&body).unwrap();
        let server = AwaitClientFirst::new(Verifier::from_password("other", b"salt", 4096), "3rfcNHYJY1ZVvWVs7j");
        let (challenge, _) = server.handle(first.data.unwrap()).unwrap();
        feed(
            &mut client,
            &[
                Backend::Authentication(Authentication::SaslContinue(challenge.as_bytes())),
                Backend::Authentication(Authentication::SaslFinal(b"v=rmF9pqV8S7suAoZWja4dJRkFsKQ=")),
            ],
        );
        assert!(matches!(client.poll(), Err(Failure::Scram(_))));
        assert!(matches!(client.poll(), Err(Failure::Closed)));
    }

    #[test]
    fn passwords_do_not_go_in_clear_text_over_an_open_wire() {
        let mut client = Client::new(options(TlsPolicy::Never));
        let length = client.output().len();
        client.sent(length);
        feed(&mut client, &[Backend::Authentication(Authentication::CleartextPassword)]);
        assert!(matches!(client.poll(), Err(Failure::Login(_))));
        assert!(client.output().is_empty());
    }

    #[test]
    fn tls_is_asked_for_first_and_nothing_may_follow_its_answer() {
        let mut client = Client::new(options(TlsPolicy::Always));
        assert_eq!(client.output(), [0, 0, 0, 8, 4, 210, 22, 47]);
        client.sent(8);
        feed_bytes(&mut client, b"S");
        assert!(matches!(client.poll(), Ok(Event::StartTls)));
        client.tls_started();
        assert!(client.output().ends_with(b"\0\0"));

        let mut client = Client::new(options(TlsPolicy::Always));
        feed_bytes(&mut client, b"SE");
        assert!(matches!(client.poll(), Err(Failure::Unexpected { .. })), "bytes that were slipped in");

        let mut client = Client::new(options(TlsPolicy::Always));
        feed_bytes(&mut client, b"N");
        assert!(matches!(client.poll(), Err(Failure::Login(_))));

        let mut client = Client::new(options(TlsPolicy::IfOffered));
        client.sent(8);
        feed_bytes(&mut client, b"N");
        assert!(matches!(client.poll(), Ok(Event::Pending)));
        assert!(!client.output().is_empty());
    }

    #[test]
    fn an_error_leaves_the_conversation_usable_and_a_fatal_one_does_not() {
        let mut client = Client::new(options(TlsPolicy::Never));
        ready(&mut client);
        client.query("SELEC");
        feed(
            &mut client,
            &[
                Backend::ErrorResponse(Notice::new(Severity::Error, "42601", "syntax error").into()),
                Backend::ReadyForQuery(TransactionStatus::IDLE),
            ],
        );
        assert!(matches!(client.poll(), Ok(Event::Error(notice)) if notice.sqlstate == "42601"));
        assert!(matches!(client.poll(), Ok(Event::Ready(_))));
        client.query("SELECT 1");
        feed(&mut client, &[Backend::ErrorResponse(Notice::new(Severity::Fatal, "57P01", "going down").into())]);
        assert!(matches!(client.poll(), Err(Failure::Refused(_))));
        assert!(matches!(client.poll(), Err(Failure::Closed)));
    }

    #[test]
    fn random_bytes_end_in_a_failure_or_a_wait() {
        proptest::proptest!(|(bytes: Vec<u8>)| {
            let mut client = Client::new(options(TlsPolicy::Never));
            ready(&mut client);
            client.query("SELECT 1");
            feed_bytes(&mut client, &bytes);
            client.received_eof();
            for _ in 0..=bytes.len() {
                if client.poll().is_err() {
                    return Ok(());
                }
            }
            proptest::prop_assert!(false, "neither ends nor fails");
        });
    }

    #[test]
    fn a_statement_with_parameters_is_one_piece_and_its_rows_may_end_early() {
        let mut client = Client::new(options(TlsPolicy::Never));
        ready(&mut client);
        client.execute("select $1", &[Some("x"), None], 2);
        let mut output = client.output().to_vec();
        client.sent(output.len());
        let mut tags = Vec::new();
        while let Some(frame) = cut_backend(&output, usize::MAX).unwrap() {
            tags.push(frame.tag);
            let len = frame.len;
            output.drain(..len);
        }
        assert_eq!(tags, b"PBDES");
        feed(&mut client, &[Backend::ParseComplete, Backend::BindComplete, Backend::PortalSuspended]);
        assert!(matches!(client.poll(), Ok(Event::Suspended)));
        // Who asks for the data of a COPY passes a Sync over.
        client.state = State::Command;
        client.execute("copy t from stdin", &[], 0);
        let sent_before = client.output().len();
        client.sent(sent_before);
        let copy = CopyResponse { overall: Format::TEXT, columns: CopyFormats::from_wire(&[0, 0]) };
        feed(&mut client, &[Backend::CopyInResponse(copy)]);
        assert!(matches!(client.poll(), Ok(Event::Pending)));
        assert_eq!((client.output()[0], client.output()[client.output().len() - 5]), (b'f', b'S'));
    }
}
