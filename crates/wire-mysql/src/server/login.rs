//! Who the client is, and how it proves it.

use rowferry_wire::Secret;

use super::{Login, Request, Server, SharedKey, State};
use crate::client::Failure;
use crate::messages::auth::{AuthMoreData, AuthSwitchRequest, plugin};
use crate::messages::handshake::capability;
use crate::messages::status::{Ok as OkPacket, ServerError};

/// Random bytes for blinding come with each question.
type Seed = [u8; 32];

/// What asks for the key in `sha256_password`.
const SHA256_REQUEST_KEY: u8 = 1;

/// What a client that was asked is to send next.
#[derive(Debug)]
pub(super) enum Awaited {
    /// Whatever its plugin makes of the question.
    Proof,
    /// The scramble of a plugin that it was asked to use, behind which it is asked for the password itself.
    Switched(Exchange),
    /// The password itself, or the wish for the key.
    Password(Exchange),
    /// The password under the key.
    Encrypted(Exchange),
    /// Nothing: the password is known.
    Known(Option<Secret>),
}

/// How a password may travel.
#[derive(Debug)]
pub(super) struct Exchange {
    /// What asks for the key.
    request: u8,
    /// Nobody can read along.
    is_protected: bool,
    key: Option<SharedKey>,
    seed: Seed,
}

impl Awaited {
    pub(super) fn take_known(&mut self) -> Option<Secret> {
        match self {
            Self::Known(known) => known.take(),
            _ => None,
        }
    }
}

impl Server {
    /// Asks for the password itself, by `caching_sha2_password`, in clear where the transport `is_protected`, under the
    /// key otherwise. [`Request::Password`] brings it. `seed` must be fresh random bytes. False when the client cannot be
    /// asked: it knows no plugins.
    #[must_use]
    pub fn ask_password(&mut self, is_protected: bool, key: Option<SharedKey>, seed: Seed) -> bool {
        let State::Deciding(login) = &self.state else { return false };
        let login = login.clone();
        let exchange = Exchange { request: AuthMoreData::REQUEST_KEY, is_protected, key, seed };
        let scramble = &login.response.scramble;
        let awaited = match login.response.plugin.as_str() {
            plugin::CACHING_SHA2_PASSWORD if is_empty(scramble) => Awaited::Known(Some(Secret::default())),
            plugin::CACHING_SHA2_PASSWORD => {
                self.more(&[AuthMoreData::FULL_AUTH]);
                Awaited::Password(exchange)
            }
            plugin::CLEAR_PASSWORD if is_protected => Awaited::Known(Some(secret(scramble))),
            _ if !self.has(capability::PLUGIN_AUTH) => return false,
            _ => {
                let data = [self.nonce(), &[0]].concat();
                self.switch(plugin::CACHING_SHA2_PASSWORD, data);
                Awaited::Switched(exchange)
            }
        };
        self.expect(login, awaited);
        true
    }

    /// The same by `sha256_password`, for accounts that are to use it.
    #[must_use]
    pub fn ask_password_by_sha256(&mut self, is_protected: bool, key: Option<SharedKey>, seed: Seed) -> bool {
        let State::Deciding(login) = &self.state else { return false };
        if !self.has(capability::PLUGIN_AUTH) {
            return false;
        }
        let mut login = login.clone();
        login.response.plugin = plugin::SHA256_PASSWORD.into();
        let data = [self.nonce(), &[0]].concat();
        self.switch(plugin::SHA256_PASSWORD, data);
        self.expect(login, Awaited::Password(Exchange { request: SHA256_REQUEST_KEY, is_protected, key, seed }));
        true
    }

    /// Asks the client to use a plugin, by that plugin's own data; [`Request::Proof`] brings what it makes of them.
    pub fn ask_proof(&mut self, plugin: &str, data: Vec<u8>) {
        if let State::Deciding(login) = &self.state {
            let mut login = login.clone();
            login.response.plugin = plugin.into();
            self.switch(plugin, data);
            self.expect(login, Awaited::Proof);
        }
    }

    /// Sends a plugin's own message and expects an answer, which [`Request::Proof`] brings.
    pub fn ask_more(&mut self, data: &[u8]) {
        if let State::Deciding(login) = &self.state {
            let login = login.clone();
            self.more(data);
            self.expect(login, Awaited::Proof);
        }
    }

    /// The client is in. With `is_cached` its scramble was enough, and it is told so.
    pub fn accept(&mut self, ok: &OkPacket, is_cached: bool) {
        let State::Deciding(login) = std::mem::replace(&mut self.state, State::Ready) else { return };
        let expects_word = login.response.plugin == plugin::CACHING_SHA2_PASSWORD;
        if is_cached && expects_word && !is_empty(&login.response.scramble) {
            self.more(&[AuthMoreData::FAST_AUTH_OK]);
        }
        self.ok(ok);
        self.inbox.sequence = 0;
        if !login.is_again {
            self.sealed = self.output.len();
            self.compress(&login);
        }
    }

    /// The client is not let in; nothing more is read of it.
    pub fn refuse(&mut self, error: &ServerError) {
        self.error(error);
        self.state = State::Over;
    }

    fn more(&mut self, data: &[u8]) {
        let mut message = Vec::new();
        AuthMoreData { data: data.to_vec() }.encode(&mut message);
        self.put(&message);
        self.seal();
    }

    fn switch(&mut self, plugin: &str, data: Vec<u8>) {
        let mut message = Vec::new();
        AuthSwitchRequest { plugin: plugin.into(), data }.encode(&mut message);
        self.put(&message);
        self.seal();
    }

    /// The client goes on in the numbering of packets.
    fn expect(&mut self, login: Login, awaited: Awaited) {
        self.inbox.sequence = self.sequence;
        self.state = State::Proving(login, awaited);
    }

    /// The caller decides again.
    pub(super) fn decide(&mut self) {
        self.state = match std::mem::replace(&mut self.state, State::Over) {
            State::Proving(login, _) => State::Deciding(login),
            other => other,
        };
    }

    /// The client has answered.
    pub(super) fn proved(
        &mut self,
        mut login: Login,
        awaited: Awaited,
        payload: Vec<u8>,
    ) -> Result<Option<Request>, Failure> {
        let password = match awaited {
            Awaited::Proof => {
                login.response.scramble.clone_from(&payload);
                self.state = State::Deciding(login);
                return Ok(Some(Request::Proof(payload)));
            }
            Awaited::Switched(_) if is_empty(&payload) => Secret::default(),
            Awaited::Switched(exchange) => {
                self.more(&[AuthMoreData::FULL_AUTH]);
                self.expect(login, Awaited::Password(exchange));
                return Ok(None);
            }
            Awaited::Password(_) if is_empty(&payload) => Secret::default(),
            Awaited::Password(exchange) if exchange.is_protected => secret(&payload),
            Awaited::Password(exchange) if payload == [exchange.request] => {
                let Some(key) = exchange.key.clone() else {
                    return Err(Failure::Unsupported("there is no key for a password without TLS".into()));
                };
                self.more(key.public().as_bytes());
                self.expect(login, Awaited::Encrypted(exchange));
                return Ok(None);
            }
            // It has the key already.
            Awaited::Password(exchange) | Awaited::Encrypted(exchange) => self.decrypted(&exchange, &payload),
            Awaited::Known(known) => known.unwrap_or_default(),
        };
        self.state = State::Deciding(login);
        Ok(Some(Request::Password(password)))
    }

    /// What stands under the key; a text that is no password where nothing does, as nobody is told why.
    fn decrypted(&self, exchange: &Exchange, payload: &[u8]) -> Secret {
        let clear = exchange.key.as_ref().and_then(|key| key.password(payload, self.nonce(), exchange.seed));
        Secret::new(clear.map_or_else(|| "\0".to_owned(), |clear| String::from_utf8_lossy(&clear).into_owned()))
    }
}

/// True for what plugins make of an empty password.
fn is_empty(scramble: &[u8]) -> bool {
    matches!(scramble, [] | [0])
}

/// A password with a NUL behind it.
fn secret(payload: &[u8]) -> Secret {
    Secret::new(String::from_utf8_lossy(payload.strip_suffix(&[0]).unwrap_or(payload)))
}
