use rowferry_wire::Malformed;

use super::{Event, Failure, Options, Session};
use crate::compression::Algorithm;
use crate::messages::auth::{
    AuthMoreData, AuthNextFactor, AuthSwitchRequest, DialogQuestion, ParsecSalt, encrypt_password, plugin,
    scramble_native, scramble_sha256, sign_ed25519, sign_parsec,
};
use crate::messages::command::Command;
use crate::messages::handshake::{ChangeUser, Handshake, HandshakeResponse, SslRequest, capability};
use crate::messages::status::{Ok as OkPacket, ServerError};
use crate::packet;

/// Whether the client asks for TLS.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum TlsPolicy {
    /// Never.
    #[default]
    Never,
    /// When the server offers it.
    IfOffered,
    /// Always; a server without TLS is refused.
    Always,
}

/// Whether packets are compressed. The default is not.
#[derive(Clone, Debug, Default)]
pub struct Compression {
    /// What to use, the first that the server offers; empty for none.
    pub algorithms: Vec<Algorithm>,
    /// A server that offers none of them is refused.
    pub required: bool,
}

/// Asked for whenever the server has them, too.
const WANTED: u64 = capability::LONG_PASSWORD
    | capability::LONG_FLAG
    | capability::TRANSACTIONS
    | capability::MULTI_RESULTS
    | capability::PS_MULTI_RESULTS
    | capability::PLUGIN_AUTH
    | capability::CONNECT_ATTRS
    | capability::SESSION_TRACK
    | capability::PLUGIN_AUTH_LENENC
    | capability::DEPRECATE_EOF
    | capability::QUERY_ATTRIBUTES
    | capability::MULTI_FACTOR
    | capability::MARIADB_BULK
    | capability::MARIADB_EXTENDED_METADATA
    | capability::MARIADB_CACHE_METADATA;

/// A server without these is none that we can talk to.
const NEEDED: u64 = capability::PROTOCOL_41 | capability::SECURE_CONNECTION;

const SUPPORTED: &str = "mysql_native_password, caching_sha2_password, sha256_password, client_ed25519, parsec, and over \
                         TLS or a unix socket mysql_clear_password and dialog";

#[derive(Debug)]
enum State {
    Greeting,
    Tls {
        sequence: u8,
    },
    Auth,
    /// The server's RSA key was asked for.
    Key,
    /// `parsec`: the salt was asked for.
    Salt,
}

/// The conversation from the server's greeting to its OK.
#[derive(Debug)]
pub(super) struct Connect {
    options: Options,
    state: State,
    capabilities: u64,
    plugin: String,
    nonce: Vec<u8>,
    /// The nonce of the greeting; a plugin that is switched to has one of its own.
    greeting_nonce: Vec<u8>,
    /// The password may travel as it is.
    protected: bool,
    /// TLS is up.
    encrypted: bool,
    /// Which of the factors is being asked for, from 0.
    factor: usize,
    /// How many passwords `dialog` has been told.
    answered: usize,
    /// The connection stands already.
    again: bool,
    /// How many messages the server has sent.
    messages: usize,
}

/// A login with three factors, each of which asks for a key, takes about a dozen messages.
const MESSAGES: usize = 64;

/// What a later login on the same connection must know of the first.
#[derive(Clone, Debug, Default)]
pub(super) struct Greeted {
    /// What the server gave to scramble with.
    nonce: Vec<u8>,
    /// TLS is up.
    encrypted: bool,
}

impl Connect {
    pub(super) fn new(options: Options) -> Self {
        let protected = options.secure_transport;
        let (plugin, nonce) = (String::new(), Vec::new());
        Self {
            options,
            state: State::Greeting,
            capabilities: 0,
            plugin,
            nonce,
            greeting_nonce: Vec::new(),
            protected,
            encrypted: false,
            factor: 0,
            answered: 0,
            again: false,
            messages: 0,
        }
    }

    /// A login on a connection that stands; also answers the request's payload.
    pub(super) fn again(options: Options, greeted: &Greeted, session: &Session) -> (Self, Vec<u8>) {
        let mut connect = Self::new(options);
        connect.again = true;
        connect.state = State::Auth;
        connect.capabilities = session.capabilities;
        connect.nonce.clone_from(&greeted.nonce);
        connect.encrypted = greeted.encrypted;
        connect.protected |= greeted.encrypted;
        session.auth_plugin.clone_into(&mut connect.plugin);
        if !matches!(connect.plugin.as_str(), plugin::NATIVE_PASSWORD | plugin::CACHING_SHA2_PASSWORD) {
            connect.plugin = plugin::NATIVE_PASSWORD.into();
        }
        let request = ChangeUser {
            user: connect.options.login.user.clone(),
            scramble: connect.first_scramble(),
            database: connect.options.login.database.clone(),
            collation: u16::from(connect.options.collation),
            plugin: connect.plugin.clone(),
            attributes: connect.options.attributes.clone(),
        };
        let mut payload = vec![Command::CHANGE_USER.0];
        request.encode(connect.capabilities, &mut payload);
        (connect, payload)
    }

    /// True when the connection stood before this login.
    pub(super) const fn is_again(&self) -> bool {
        self.again
    }

    /// What a later login must know.
    pub(super) fn greeted_with(&mut self) -> Greeted {
        Greeted { nonce: std::mem::take(&mut self.greeting_nonce), encrypted: self.encrypted }
    }

    pub(super) const fn awaits_tls(&self) -> bool {
        matches!(self.state, State::Tls { .. })
    }

    /// `Event::Pending` means that the next message may be handled.
    pub(super) fn handle(
        &mut self,
        payload: &[u8],
        sequence: &mut u8,
        output: &mut Vec<u8>,
        session: &mut Session,
    ) -> Result<Event<'static>, Failure> {
        let first = *payload.first().ok_or(Malformed::new("empty message"))?;
        self.messages += 1;
        if self.messages > MESSAGES {
            return Err(Failure::Unexpected { state: "the end of a login that takes too many messages", got: first });
        }
        if first == ServerError::HEADER {
            return Ok(Event::Error(ServerError::decode(payload)?));
        }
        let answer = match (&self.state, first) {
            (State::Greeting, _) => {
                let handshake = Handshake::decode(payload)?;
                return self.greeted(&handshake, sequence, output, session);
            }
            (State::Auth | State::Key | State::Salt, OkPacket::HEADER) => {
                let ok = OkPacket::decode(payload, session.has(capability::SESSION_TRACK))?;
                session.status = ok.status;
                if !ok.state.is_empty() {
                    session.state.apply(&ok.state)?;
                }
                session.auth_plugin = std::mem::take(&mut self.plugin);
                return Ok(Event::Connected);
            }
            (State::Auth, AuthSwitchRequest::HEADER) => {
                if payload.len() == 1 {
                    return Err(unsupported_plugin("mysql_old_password"));
                }
                let request = AuthSwitchRequest::decode(payload)?;
                self.plugin = request.plugin;
                self.nonce = plugin::nonce(&self.plugin, &request.data).to_vec();
                Some(self.scramble()?)
            }
            (State::Auth, AuthNextFactor::HEADER) if session.has(capability::MULTI_FACTOR) => {
                let request = AuthNextFactor::decode(payload)?;
                self.factor += 1;
                self.plugin = request.plugin;
                self.nonce = plugin::nonce(&self.plugin, &request.data).to_vec();
                Some(self.scramble()?)
            }
            (State::Auth, 2..=5) if self.plugin == plugin::DIALOG => Some(self.answered(payload)?),
            (State::Auth, AuthMoreData::HEADER) => self.more_data(&AuthMoreData::decode(payload)?.data)?,
            (State::Key, AuthMoreData::HEADER) => {
                self.state = State::Auth;
                let key = AuthMoreData::decode(payload)?.data;
                Some(self.under_key(&key)?)
            }
            (State::Salt, AuthMoreData::HEADER) => {
                self.state = State::Auth;
                let data = AuthMoreData::decode(payload)?.data;
                let salt = ParsecSalt::decode(&data)?;
                Some(sign_parsec(self.password(), salt, &self.nonce, self.options.seed))
            }
            (_, got) => return Err(Failure::Unexpected { state: "the outcome of the login", got }),
        };
        if let Some(answer) = answer {
            *sequence = packet::put(output, *sequence, &answer);
        }
        Ok(Event::Pending)
    }

    fn greeted(
        &mut self,
        handshake: &Handshake,
        sequence: &mut u8,
        output: &mut Vec<u8>,
        session: &mut Session,
    ) -> Result<Event<'static>, Failure> {
        if handshake.capabilities & NEEDED != NEEDED {
            return Err(Failure::Unsupported(format!(
                "the server ({}) is too old: it does not speak the protocol of MySQL 4.1",
                handshake.server_version
            )));
        }
        let offers_tls = handshake.capabilities & capability::SSL != 0;
        if self.options.tls == TlsPolicy::Always && !offers_tls {
            return Err(Failure::Unsupported(
                "TLS is required, but the server does not offer it; allow plain text or enable TLS on the server"
                    .into(),
            ));
        }
        let mut wanted = WANTED | NEEDED | self.options.capabilities;
        if !self.options.login.database.is_empty() {
            wanted |= capability::CONNECT_WITH_DB;
        }
        if offers_tls && self.options.tls != TlsPolicy::Never {
            wanted |= capability::SSL;
        }
        wanted |= self.compression(handshake.capabilities)?;
        self.capabilities = wanted & handshake.capabilities;
        if self.capabilities & capability::DEPRECATE_EOF == 0 {
            self.capabilities &= !capability::MARIADB_CACHE_METADATA;
        }
        // MariaDB leaves this flag out to announce its own; setting it means that we want none of those.
        if self.capabilities & capability::MARIADB == 0 {
            self.capabilities |= capability::LONG_PASSWORD;
        }
        session.greeted(handshake);
        session.capabilities = self.capabilities;
        self.nonce.clone_from(&handshake.nonce);
        self.greeting_nonce.clone_from(&handshake.nonce);
        self.plugin = match handshake.plugin.as_str() {
            known @ (plugin::NATIVE_PASSWORD | plugin::CACHING_SHA2_PASSWORD) => known.into(),
            // The server asks for the account's own plugin after this.
            _ => plugin::NATIVE_PASSWORD.into(),
        };
        if self.capabilities & capability::SSL != 0 {
            let mut payload = Vec::new();
            self.head().encode(&mut payload);
            *sequence = packet::put(output, *sequence, &payload);
            self.state = State::Tls { sequence: *sequence };
            return Ok(Event::StartTls);
        }
        *sequence = self.respond(*sequence, output);
        Ok(Event::Pending)
    }

    /// The flag of the first algorithm that is wanted and offered.
    fn compression(&self, offered: u64) -> Result<u64, Failure> {
        let flag = |algorithm: &Algorithm| match algorithm {
            Algorithm::Zlib => capability::COMPRESS,
            Algorithm::Zstd { .. } => capability::ZSTD,
        };
        let Compression { algorithms, required } = &self.options.compression;
        match algorithms.iter().map(flag).find(|flag| offered & flag != 0) {
            Some(flag) => Ok(flag),
            None if *required && !algorithms.is_empty() => Err(Failure::Unsupported(
                "compression is required, but the server does not offer the algorithm that is asked for".into(),
            )),
            None => Ok(0),
        }
    }

    /// What was agreed.
    pub(super) fn algorithm(&self) -> Option<Algorithm> {
        self.options.compression.algorithms.iter().copied().find(|algorithm| match algorithm {
            Algorithm::Zlib => self.capabilities & capability::COMPRESS != 0,
            Algorithm::Zstd { .. } => self.capabilities & capability::ZSTD != 0,
        })
    }

    pub(super) fn tls_started(&mut self, output: &mut Vec<u8>, sequence: &mut u8) {
        if let State::Tls { sequence: next } = self.state {
            self.protected = true;
            self.encrypted = true;
            *sequence = self.respond(next, output);
        }
    }

    const fn head(&self) -> SslRequest {
        SslRequest {
            capabilities: self.capabilities,
            max_packet: self.options.max_packet,
            collation: self.options.collation,
        }
    }

    fn respond(&mut self, sequence: u8, output: &mut Vec<u8>) -> u8 {
        let response = HandshakeResponse {
            head: self.head(),
            user: self.options.login.user.clone(),
            scramble: self.first_scramble(),
            database: self.options.login.database.clone(),
            plugin: self.plugin.clone(),
            attributes: self.options.attributes.clone(),
            zstd_level: match self.algorithm() {
                Some(Algorithm::Zstd { level }) => level,
                _ => 0,
            },
        };
        let mut payload = Vec::new();
        response.encode(&mut payload);
        self.state = State::Auth;
        packet::put(output, sequence, &payload)
    }

    /// What goes with the login itself.
    fn first_scramble(&self) -> Vec<u8> {
        match self.plugin.as_str() {
            plugin::CACHING_SHA2_PASSWORD => scramble_sha256(self.password(), &self.nonce),
            _ => scramble_native(self.password(), &self.nonce),
        }
    }

    /// The password of the factor that the server asks for; a missing one is empty.
    fn password(&self) -> &[u8] {
        let password = match self.factor {
            0 => Some(&self.options.login.password),
            further => self.options.more_passwords.get(further - 1),
        };
        password.map_or(&[], |password| password.expose().as_bytes())
    }

    /// The first answer to the plugin that the server asked for.
    fn scramble(&mut self) -> Result<Vec<u8>, Failure> {
        match self.plugin.as_str() {
            plugin::NATIVE_PASSWORD => Ok(scramble_native(self.password(), &self.nonce)),
            plugin::CACHING_SHA2_PASSWORD => Ok(scramble_sha256(self.password(), &self.nonce)),
            // To this plugin's server side, only TLS protects.
            plugin::SHA256_PASSWORD => self.full(AuthMoreData::SHA256_REQUEST_KEY, self.encrypted),
            plugin::ED25519 => Ok(sign_ed25519(self.password(), &self.nonce)),
            plugin::PARSEC => {
                self.state = State::Salt;
                Ok(Vec::new())
            }
            plugin::CLEAR_PASSWORD | plugin::DIALOG if !self.protected => Err(Failure::Unsupported(format!(
                "the server asks for the password in clear text ({}), which is only sent over TLS or a unix socket",
                self.plugin
            ))),
            plugin::CLEAR_PASSWORD => Ok(self.clear()),
            // The first question comes with the request.
            plugin::DIALOG => {
                let question = std::mem::take(&mut self.nonce);
                self.answered(&question)
            }
            other => Err(unsupported_plugin(other)),
        }
    }

    /// Answers a question of `dialog` by the passwords, in their order: what a question means, nobody here can know.
    fn answered(&mut self, question: &[u8]) -> Result<Vec<u8>, Failure> {
        let question = DialogQuestion::decode(question)?;
        let place = self.factor + self.answered;
        self.answered += 1;
        let answer = match place.checked_sub(1) {
            None => Some(&self.options.login.password),
            Some(further) => self.options.more_passwords.get(further),
        };
        let Some(answer) = answer else {
            return Err(Failure::Unsupported(format!(
                "the server asks `{}` after {place} answers; give the next as `password{}`",
                String::from_utf8_lossy(question.text),
                place + 1
            )));
        };
        let mut answer = answer.expose().as_bytes().to_vec();
        answer.push(0);
        Ok(answer)
    }

    fn more_data(&mut self, data: &[u8]) -> Result<Option<Vec<u8>>, Failure> {
        match (self.plugin.as_str(), data) {
            (plugin::CACHING_SHA2_PASSWORD, [AuthMoreData::FAST_AUTH_OK]) => Ok(None),
            (plugin::CACHING_SHA2_PASSWORD, [AuthMoreData::FULL_AUTH]) => {
                self.full(AuthMoreData::REQUEST_KEY, self.protected).map(Some)
            }
            (plugin::DIALOG, question) => self.answered(question).map(Some),
            _ => Err(Failure::Unexpected { state: "the outcome of the login", got: AuthMoreData::HEADER }),
        }
    }

    /// The password itself where the transport protects it, else under the server's key, which may have to be asked for.
    fn full(&mut self, request_key: u8, protected: bool) -> Result<Vec<u8>, Failure> {
        if protected || self.password().is_empty() {
            return Ok(self.clear());
        }
        match &self.options.server_public_key {
            Some(key) => self.under_key(key),
            None => {
                self.state = State::Key;
                Ok(vec![request_key])
            }
        }
    }

    fn clear(&self) -> Vec<u8> {
        let mut clear = self.password().to_vec();
        clear.push(0);
        clear
    }

    fn under_key(&self, key: &[u8]) -> Result<Vec<u8>, Failure> {
        Ok(encrypt_password(self.password(), &self.nonce, key, self.options.seed)?)
    }
}

fn unsupported_plugin(name: &str) -> Failure {
    Failure::Unsupported(format!(
        "the account uses the authentication plugin `{name}`, which is not supported; supported are {SUPPORTED}"
    ))
}
