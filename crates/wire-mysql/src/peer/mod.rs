//! The server's half, for tests, simulation and fuzzing: as much of a server as shows every path of the client.

use rowferry_wire::{Core, Malformed};
use rsa::pkcs8::{EncodePublicKey, LineEnding};
use rsa::{Oaep, RsaPrivateKey};
use sha1::Sha1;

use crate::client::{Failure, MESSAGE_LIMIT};
use crate::messages::auth::{AuthMoreData, AuthSwitchRequest, plugin, scramble_native, scramble_sha256, sign_ed25519};
use crate::messages::command::Command;
use crate::messages::handshake::{Handshake, HandshakeResponse, SslRequest, capability};
use crate::messages::resultset::{ColumnDefinition, TextRow};
use crate::messages::statement::PrepareOk;
use crate::messages::status::{Eof, Ok as OkPacket, ServerError, status_flag};
use crate::packet::{self, Inbox};

/// What `client_ed25519` signs here: it ends as one nonce in 256 does.
const TO_SIGN: [u8; 32] = {
    let mut nonce = [7; 32];
    nonce[31] = 0;
    nonce
};

/// What the peer pretends to be.
#[derive(Clone, Debug)]
pub struct Script {
    /// The greeting; its capabilities decide what is offered.
    pub greeting: Handshake,
    /// The account's plugin. When it is not the greeting's, the client is asked to switch.
    pub plugin: String,
    /// The account's password.
    pub password: String,
    /// `caching_sha2_password`: the scramble is enough.
    pub cached: bool,
    /// The key for passwords in plain text.
    pub key: Option<RsaPrivateKey>,
}

impl Script {
    /// MySQL 8 as it is installed.
    pub fn mysql8(password: &str) -> Self {
        Self {
            greeting: Handshake {
                server_version: "8.4.3".into(),
                connection_id: 7,
                nonce: (1..=20).collect(),
                capabilities: 0xffff_ffff
                    & !(capability::SSL | capability::SESSION_TRACK | capability::QUERY_ATTRIBUTES),
                collation: 255,
                status: status_flag::AUTOCOMMIT,
                plugin: plugin::CACHING_SHA2_PASSWORD.into(),
            },
            plugin: plugin::CACHING_SHA2_PASSWORD.into(),
            password: password.into(),
            cached: true,
            key: None,
        }
    }
}

/// What the client asks for.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Request {
    /// TLS follows; call [`Server::tls_started`].
    StartTls,
    /// The login succeeded; OK was sent.
    LoggedIn(HandshakeResponse),
    /// The login failed; ERR was sent.
    Refused,
    /// A command and what follows it.
    Command(Command, Vec<u8>),
}

#[derive(Debug)]
enum State {
    Response { tls: bool },
    Scramble,
    Password { tls: bool, sha256: bool },
    Encrypted,
    Commands,
}

/// The server's half of a connection.
#[derive(Debug)]
pub struct Server {
    script: Script,
    inbox: Inbox,
    output: Vec<u8>,
    state: State,
    response: Option<HandshakeResponse>,
    tls: bool,
}

impl Server {
    /// A server that has just accepted a client, and greets it.
    pub fn new(script: Script) -> Self {
        let mut output = Vec::new();
        let mut greeting = Vec::new();
        script.greeting.encode(&mut greeting);
        packet::put(&mut output, 0, &greeting);
        let mut inbox = Inbox::new(MESSAGE_LIMIT);
        inbox.sequence = 1;
        Self { script, inbox, output, state: State::Response { tls: false }, response: None, tls: false }
    }

    /// TLS stands.
    pub fn tls_started(&mut self) {
        self.tls = true;
    }

    /// The next request; `None` until more bytes have come.
    pub fn poll(&mut self) -> Result<Option<Request>, Failure> {
        loop {
            let Some(place) = self.inbox.next()? else { return Ok(None) };
            let payload = self.inbox.payload(place).to_vec();
            match self.state {
                State::Commands => {
                    let (&code, argument) = payload.split_first().ok_or(Malformed::new("empty command"))?;
                    // `reply` goes on from here; the next command begins again.
                    self.inbox.sequence = 0;
                    return Ok(Some(Request::Command(Command(code), argument.to_vec())));
                }
                State::Response { tls } => {
                    if payload.len() == 32 && !tls && SslRequest::decode(&payload)?.capabilities & capability::SSL != 0
                    {
                        self.state = State::Response { tls: true };
                        return Ok(Some(Request::StartTls));
                    }
                    let response = HandshakeResponse::decode(&payload)?;
                    let scramble = response.scramble.clone();
                    let switch = response.plugin != self.script.plugin;
                    self.response = Some(response);
                    if switch {
                        let data = if self.script.plugin == plugin::ED25519 {
                            TO_SIGN.to_vec()
                        } else {
                            [&self.script.greeting.nonce[..], &[0]].concat()
                        };
                        let request = AuthSwitchRequest { plugin: self.script.plugin.clone(), data };
                        let mut message = Vec::new();
                        request.encode(&mut message);
                        self.send(&message);
                        self.state = match self.script.plugin.as_str() {
                            plugin::SHA256_PASSWORD => State::Password { tls, sha256: true },
                            plugin::CLEAR_PASSWORD => State::Password { tls: true, sha256: false },
                            _ => State::Scramble,
                        };
                    } else if let Some(outcome) = self.judge_scramble(&scramble) {
                        return Ok(Some(outcome));
                    }
                }
                State::Scramble => {
                    if let Some(outcome) = self.judge_scramble(&payload) {
                        return Ok(Some(outcome));
                    }
                }
                State::Password { tls, sha256 } => {
                    let request = if sha256 { AuthMoreData::SHA256_REQUEST_KEY } else { AuthMoreData::REQUEST_KEY };
                    if !tls && payload == [request] {
                        let pem = self.public_key();
                        self.more(pem.into_bytes());
                        self.state = State::Encrypted;
                        continue;
                    }
                    return Ok(Some(self.judge_password(&payload)));
                }
                State::Encrypted => {
                    let clear = self
                        .script
                        .key
                        .as_ref()
                        .and_then(|key| key.decrypt(Oaep::new::<Sha1>(), &payload).ok())
                        .unwrap_or_default();
                    let nonce = &self.script.greeting.nonce;
                    let clear: Vec<u8> =
                        clear.iter().enumerate().map(|(at, byte)| byte ^ nonce[at % nonce.len()]).collect();
                    return Ok(Some(self.judge_password(&clear)));
                }
            }
        }
    }

    /// The public half of the script's key, in PEM; empty without a key.
    pub fn public_key(&self) -> String {
        let key = self.script.key.as_ref().map(RsaPrivateKey::to_public_key);
        key.and_then(|key| key.to_public_key_pem(LineEnding::LF).ok()).unwrap_or_default()
    }

    fn judge_scramble(&mut self, scramble: &[u8]) -> Option<Request> {
        let (password, nonce) = (self.script.password.as_bytes(), &self.script.greeting.nonce);
        let sha256 = self.script.plugin == plugin::CACHING_SHA2_PASSWORD;
        let expected = match self.script.plugin.as_str() {
            plugin::ED25519 => sign_ed25519(password, &TO_SIGN),
            _ if sha256 => scramble_sha256(password, nonce),
            _ => scramble_native(password, nonce),
        };
        if sha256 && !self.script.cached && !scramble.is_empty() {
            self.more(vec![AuthMoreData::FULL_AUTH]);
            self.state = State::Password { tls: self.tls, sha256: false };
            return None;
        }
        let right = scramble == expected;
        if right && sha256 && !scramble.is_empty() {
            self.more(vec![AuthMoreData::FAST_AUTH_OK]);
        }
        Some(self.judge(right))
    }

    fn judge_password(&mut self, clear: &[u8]) -> Request {
        let right = clear.strip_suffix(&[0]) == Some(self.script.password.as_bytes());
        self.judge(right)
    }

    fn judge(&mut self, right: bool) -> Request {
        if right {
            self.ok(&OkPacket { status: self.script.greeting.status, ..OkPacket::default() });
            self.state = State::Commands;
            self.inbox.sequence = 0;
            if let Some(response) = self.response.take() {
                return Request::LoggedIn(response);
            }
        }
        self.error(1045, "28000", "Access denied");
        Request::Refused
    }

    fn more(&mut self, data: Vec<u8>) {
        let mut message = Vec::new();
        AuthMoreData { data }.encode(&mut message);
        self.send(&message);
    }

    fn send(&mut self, payload: &[u8]) {
        self.inbox.sequence = packet::put(&mut self.output, self.inbox.sequence, payload);
    }

    /// Starts an answer: its first packet has number 1.
    pub fn begin_reply(&mut self) {
        self.inbox.sequence = 1;
    }

    /// Ends an answer: the next command has number 0.
    pub fn end_reply(&mut self) {
        self.inbox.sequence = 0;
    }

    /// Sends a payload as it is.
    pub fn raw(&mut self, payload: &[u8]) {
        self.send(payload);
    }

    /// Sends OK.
    pub fn ok(&mut self, ok: &OkPacket) {
        let mut message = Vec::new();
        ok.encode(OkPacket::HEADER, &mut message);
        self.send(&message);
    }

    /// Sends ERR.
    pub fn error(&mut self, code: u16, sqlstate: &str, text: &str) {
        let mut message = Vec::new();
        ServerError { code, sqlstate: sqlstate.into(), message: text.into() }.encode(&mut message);
        self.send(&message);
    }

    /// Sends column definitions, with their number in front when `count` is set.
    pub fn columns(&mut self, columns: &[ColumnDefinition], count: bool, deprecate_eof: bool) {
        if count {
            self.send(&[columns.len() as u8]);
        }
        for column in columns {
            let mut message = Vec::new();
            column.encode(&mut message);
            self.send(&message);
        }
        if !deprecate_eof && !columns.is_empty() {
            self.eof(0);
        }
    }

    /// Sends a row of text.
    pub fn text_row(&mut self, cells: &[Option<&[u8]>]) {
        let mut message = Vec::new();
        for cell in cells {
            TextRow::encode_cell(*cell, &mut message);
        }
        self.send(&message);
    }

    /// Sends the end of rows.
    pub fn end_of_rows(&mut self, status: u16, deprecate_eof: bool) {
        if deprecate_eof {
            let mut message = Vec::new();
            OkPacket { status, ..OkPacket::default() }.encode(OkPacket::END_HEADER, &mut message);
            self.send(&message);
        } else {
            self.eof(status);
        }
    }

    /// Sends the head of a prepared statement's description.
    pub fn prepare_ok(&mut self, ok: PrepareOk) {
        let mut message = Vec::new();
        ok.encode(&mut message);
        self.send(&message);
    }

    fn eof(&mut self, status: u16) {
        let mut message = Vec::new();
        Eof { warnings: 0, status }.encode(&mut message);
        self.send(&message);
    }
}

impl Core for Server {
    fn receive_space(&mut self, least: usize) -> &mut [u8] {
        self.inbox.settle();
        self.inbox.buffer.space(least)
    }

    fn received(&mut self, count: usize) {
        self.inbox.buffer.filled(count);
    }

    fn received_eof(&mut self) {}

    fn output(&self) -> &[u8] {
        &self.output
    }

    fn sent(&mut self, count: usize) {
        self.output.drain(..count.min(self.output.len()));
    }
}
