//! A server that plays its part by a script, for tests, simulation and fuzzing: the login is its own, commands are the
//! test's to answer. It is a user of [`crate::server`].

use std::sync::Arc;

use rowferry_wire::Core;
use rsa::RsaPrivateKey;

use crate::client::{Failure, MESSAGE_LIMIT};
use crate::messages::auth::{AuthMoreData, plugin, scramble_native, scramble_sha256, sign_ed25519};
use crate::messages::command::Command;
use crate::messages::handshake::{Handshake, HandshakeResponse, capability};
use crate::messages::resultset::ColumnDefinition;
use crate::messages::statement::PrepareOk;
use crate::messages::status::{Ok as OkPacket, ServerError, status_flag};
use crate::server::{self, Key};

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

    fn key(&self) -> Option<Key> {
        self.key.clone().and_then(|key| Key::of(key).ok())
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

/// The server's half of a connection.
#[derive(Debug)]
pub struct Server {
    script: Script,
    inner: server::Server,
    /// Who logs in.
    response: Option<HandshakeResponse>,
    tls: bool,
    /// The client has asked for the key of `sha256_password`.
    key_sent: bool,
}

impl Server {
    /// A server that has just accepted a client, and greets it.
    pub fn new(script: Script) -> Self {
        let inner = server::Server::new(script.greeting.clone(), MESSAGE_LIMIT);
        Self { script, inner, response: None, tls: false, key_sent: false }
    }

    /// TLS stands.
    pub fn tls_started(&mut self) {
        self.tls = true;
        self.inner.tls_started();
    }

    /// The next request; `None` until more bytes have come.
    pub fn poll(&mut self) -> Result<Option<Request>, Failure> {
        loop {
            let Some(request) = self.inner.poll()? else { return Ok(None) };
            let told = match request {
                server::Request::StartTls => Some(Request::StartTls),
                server::Request::Command(command, argument) => Some(Request::Command(command, argument)),
                server::Request::Login(login) => self.login(login.response),
                server::Request::Proof(proof) => self.judge_proof(proof),
                server::Request::Password(password) => Some(self.judge(password.expose() == self.script.password)),
                server::Request::File(_) => None,
            };
            if told.is_some() {
                return Ok(told);
            }
        }
    }

    /// The public half of the script's key, in PEM; empty without a key.
    pub fn public_key(&self) -> String {
        self.script.key().map(|key| key.public().to_owned()).unwrap_or_default()
    }

    fn login(&mut self, response: HandshakeResponse) -> Option<Request> {
        let scramble = response.scramble.clone();
        let switch = response.plugin != self.script.plugin;
        self.response = Some(response);
        if !switch {
            return self.judge_scramble(&scramble);
        }
        let data = match self.script.plugin.as_str() {
            plugin::ED25519 => TO_SIGN.to_vec(),
            _ => [&self.script.greeting.nonce[..], &[0]].concat(),
        };
        self.inner.ask_proof(&self.script.plugin, data);
        None
    }

    /// What a plugin that the client was asked to use has made of it.
    fn judge_proof(&mut self, proof: Vec<u8>) -> Option<Request> {
        match self.script.plugin.as_str() {
            // Of a server without a key its client is to see that nothing can be made of it.
            plugin::CACHING_SHA2_PASSWORD if !self.script.cached && proof == [AuthMoreData::REQUEST_KEY] => {
                self.inner.ask_more(&[]);
                None
            }
            plugin::CLEAR_PASSWORD | plugin::CACHING_SHA2_PASSWORD => {
                Some(self.judge(proof.strip_suffix(&[0]) == Some(self.script.password.as_bytes())))
            }
            plugin::SHA256_PASSWORD if !self.tls && proof == [AuthMoreData::SHA256_REQUEST_KEY] => {
                self.key_sent = true;
                self.inner.ask_more(self.public_key().as_bytes());
                None
            }
            plugin::SHA256_PASSWORD => {
                let clear = match self.key_sent {
                    true => self.decrypted(&proof),
                    false => proof.strip_suffix(&[0]).map(<[u8]>::to_vec),
                };
                Some(self.judge(clear.as_deref() == Some(self.script.password.as_bytes())))
            }
            _ => self.judge_scramble(&proof),
        }
    }

    fn decrypted(&self, packed: &[u8]) -> Option<Vec<u8>> {
        self.script.key()?.password(packed, &self.script.greeting.nonce, [1; 32])
    }

    fn judge_scramble(&mut self, scramble: &[u8]) -> Option<Request> {
        let (password, nonce) = (self.script.password.as_bytes(), &self.script.greeting.nonce);
        let sha256 = self.script.plugin == plugin::CACHING_SHA2_PASSWORD;
        if sha256 && !self.script.cached {
            let key = self.script.key().map(Arc::new);
            if key.is_none() && !scramble.is_empty() {
                self.inner.ask_more(&[AuthMoreData::FULL_AUTH]);
                return None;
            }
            assert!(self.inner.ask_password(self.tls, key, [1; 32]), "clients of tests know plugins");
            return None;
        }
        let expected = match self.script.plugin.as_str() {
            plugin::ED25519 => sign_ed25519(password, &TO_SIGN),
            _ if sha256 => scramble_sha256(password, nonce),
            _ => scramble_native(password, nonce),
        };
        Some(self.judge(scramble == expected))
    }

    fn judge(&mut self, right: bool) -> Request {
        if right && let Some(response) = self.response.take() {
            let ok = OkPacket { status: self.script.greeting.status, ..OkPacket::default() };
            self.inner.accept(&ok, self.script.cached);
            return Request::LoggedIn(response);
        }
        self.inner.refuse(&ServerError { code: 1045, sqlstate: "28000".into(), message: "Access denied".into() });
        Request::Refused
    }

    /// Starts an answer: its first packet has number 1.
    pub fn begin_reply(&mut self) {
        self.inner.begin_answer();
    }

    /// Sends a payload as it is.
    pub fn raw(&mut self, payload: &[u8]) {
        self.inner.put(payload);
        self.inner.seal();
    }

    /// Sends OK.
    pub fn ok(&mut self, ok: &OkPacket) {
        self.inner.ok(ok);
    }

    /// Sends ERR.
    pub fn error(&mut self, code: u16, sqlstate: &str, text: &str) {
        self.inner.error(&ServerError { code, sqlstate: sqlstate.into(), message: text.into() });
    }

    /// Sends column definitions, with their number in front when `count` is set.
    pub fn columns(&mut self, columns: &[ColumnDefinition], count: bool) {
        if count {
            self.inner.columns(columns, 0, false);
        } else if !columns.is_empty() {
            self.inner.definitions(columns);
            self.inner.end_of_definitions(0);
        }
        self.inner.seal();
    }

    /// Sends a row of text.
    pub fn text_row(&mut self, cells: &[Option<&[u8]>]) {
        let mut row = self.inner.row();
        cells.iter().for_each(|cell| row.text(*cell));
        row.finish();
        self.inner.seal();
    }

    /// Sends the end of rows.
    pub fn end_of_rows(&mut self, status: u16) {
        self.inner.end_of_rows(&OkPacket { status, ..OkPacket::default() });
    }

    /// Sends the head of a prepared statement's description.
    pub fn prepare_ok(&mut self, ok: PrepareOk) {
        self.inner.prepared(ok, &[], &[], 0);
    }
}

impl Core for Server {
    fn receive_space(&mut self, least: usize) -> &mut [u8] {
        self.inner.receive_space(least)
    }

    fn received(&mut self, count: usize) {
        self.inner.received(count);
    }

    fn received_eof(&mut self) {
        self.inner.received_eof();
    }

    fn output(&self) -> &[u8] {
        self.inner.output()
    }

    fn sent(&mut self, count: usize) {
        self.inner.sent(count);
    }
}
