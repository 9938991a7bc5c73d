use rowferry_wire::Malformed;

use super::{Event, Failure, Options, Session};
use crate::messages::auth::{
    AuthMoreData, AuthSwitchRequest, encrypt_password, plugin, scramble_native, scramble_sha256,
};
use crate::messages::handshake::{Handshake, HandshakeResponse, SslRequest, capability};
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

/// Asked for whenever the server has them, too.
const WANTED: u64 = capability::LONG_PASSWORD
    | capability::LONG_FLAG
    | capability::TRANSACTIONS
    | capability::MULTI_RESULTS
    | capability::PS_MULTI_RESULTS
    | capability::PLUGIN_AUTH
    | capability::CONNECT_ATTRS
    | capability::PLUGIN_AUTH_LENENC
    | capability::DEPRECATE_EOF;

/// A server without these is none that we can talk to.
const NEEDED: u64 = capability::PROTOCOL_41 | capability::SECURE_CONNECTION;

const SUPPORTED: &str = "mysql_native_password, caching_sha2_password, sha256_password, mysql_clear_password over TLS";

#[derive(Debug)]
enum State {
    Greeting,
    Tls {
        sequence: u8,
    },
    Auth,
    /// The server's RSA key was asked for.
    Key,
}

/// The conversation from the server's greeting to its OK.
#[derive(Debug)]
pub(super) struct Connect {
    options: Options,
    state: State,
    capabilities: u64,
    plugin: String,
    nonce: Vec<u8>,
    /// The password may travel as it is.
    protected: bool,
}

impl Connect {
    pub(super) fn new(options: Options) -> Self {
        let protected = options.secure_transport;
        let (plugin, nonce) = (String::new(), Vec::new());
        Self { options, state: State::Greeting, capabilities: 0, plugin, nonce, protected }
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
        if first == ServerError::HEADER {
            return Ok(Event::Error(ServerError::decode(payload)?));
        }
        let answer = match (&self.state, first) {
            (State::Greeting, _) => {
                let handshake = Handshake::decode(payload)?;
                return self.greeted(&handshake, sequence, output, session);
            }
            (State::Auth | State::Key, OkPacket::HEADER) => {
                session.status = OkPacket::decode(payload, session.has(capability::SESSION_TRACK))?.status;
                session.auth_plugin = std::mem::take(&mut self.plugin);
                return Ok(Event::Connected);
            }
            (State::Auth, AuthSwitchRequest::HEADER) => {
                if payload.len() == 1 {
                    return Err(unsupported_plugin("mysql_old_password"));
                }
                let request = AuthSwitchRequest::decode(payload)?;
                self.plugin = request.plugin;
                self.nonce = request.nonce;
                Some(self.scramble()?)
            }
            (State::Auth, AuthMoreData::HEADER) => self.more_data(&AuthMoreData::decode(payload)?.data)?,
            (State::Key, AuthMoreData::HEADER) => {
                self.state = State::Auth;
                let key = AuthMoreData::decode(payload)?.data;
                Some(self.encrypted(&key)?)
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
        self.capabilities = wanted & handshake.capabilities;
        // MariaDB leaves this flag out to announce its own; asking for it then means that we want none of those.
        self.capabilities |= capability::LONG_PASSWORD;
        session.greeted(handshake);
        session.capabilities = self.capabilities;
        self.nonce.clone_from(&handshake.nonce);
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

    pub(super) fn tls_started(&mut self, output: &mut Vec<u8>, sequence: &mut u8) {
        if let State::Tls { sequence: next } = self.state {
            self.protected = true;
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
        let password = self.options.login.password.expose().as_bytes();
        let scramble = match self.plugin.as_str() {
            plugin::CACHING_SHA2_PASSWORD => scramble_sha256(password, &self.nonce),
            _ => scramble_native(password, &self.nonce),
        };
        let response = HandshakeResponse {
            head: self.head(),
            user: self.options.login.user.clone(),
            scramble,
            database: self.options.login.database.clone(),
            plugin: self.plugin.clone(),
            attributes: self.options.attributes.clone(),
        };
        let mut payload = Vec::new();
        response.encode(&mut payload);
        self.state = State::Auth;
        packet::put(output, sequence, &payload)
    }

    /// The first answer to the plugin that the server asked for.
    fn scramble(&mut self) -> Result<Vec<u8>, Failure> {
        let password = self.options.login.password.expose().as_bytes();
        match self.plugin.as_str() {
            plugin::NATIVE_PASSWORD => Ok(scramble_native(password, &self.nonce)),
            plugin::CACHING_SHA2_PASSWORD => Ok(scramble_sha256(password, &self.nonce)),
            plugin::SHA256_PASSWORD => self.full(AuthMoreData::SHA256_REQUEST_KEY),
            plugin::CLEAR_PASSWORD if self.protected => Ok(self.clear()),
            plugin::CLEAR_PASSWORD => Err(Failure::Unsupported(
                "the server asks for the password in clear text (mysql_clear_password), which is only sent over TLS \
                 or a unix socket"
                    .into(),
            )),
            other => Err(unsupported_plugin(other)),
        }
    }

    fn more_data(&mut self, data: &[u8]) -> Result<Option<Vec<u8>>, Failure> {
        match (self.plugin.as_str(), data) {
            (plugin::CACHING_SHA2_PASSWORD, [AuthMoreData::FAST_AUTH_OK]) => Ok(None),
            (plugin::CACHING_SHA2_PASSWORD, [AuthMoreData::FULL_AUTH]) => {
                self.full(AuthMoreData::REQUEST_KEY).map(Some)
            }
            _ => Err(Failure::Unexpected { state: "the outcome of the login", got: AuthMoreData::HEADER }),
        }
    }

    /// The password itself where the transport protects it, else under the server's key, which may have to be asked for.
    fn full(&mut self, request_key: u8) -> Result<Vec<u8>, Failure> {
        if self.protected || self.options.login.password.expose().is_empty() {
            return Ok(self.clear());
        }
        match &self.options.server_public_key {
            Some(key) => self.encrypted(key),
            None => {
                self.state = State::Key;
                Ok(vec![request_key])
            }
        }
    }

    fn clear(&self) -> Vec<u8> {
        let mut clear = self.options.login.password.expose().as_bytes().to_vec();
        clear.push(0);
        clear
    }

    fn encrypted(&self, key: &[u8]) -> Result<Vec<u8>, Failure> {
        let password = self.options.login.password.expose().as_bytes();
        Ok(encrypt_password(password, &self.nonce, key, self.options.seed)?)
    }
}

fn unsupported_plugin(name: &str) -> Failure {
    Failure::Unsupported(format!(
        "the account uses the authentication plugin `{name}`, which is not supported; supported are {SUPPORTED}"
    ))
}
