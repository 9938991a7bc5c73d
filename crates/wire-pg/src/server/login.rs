//! From the first byte to the client's being let in: encryption, who it is, and how it proves it.

use super::violation::Encryption;
use super::{Inbox, Request, Server, State, Texts, Violation};
use crate::frame::{FrameLimits, cut_frontend, cut_startup};
use crate::messages::{
    Authentication, Backend, Frontend, NegotiateProtocolVersion, PROTOCOL_3_0, PROTOCOL_3_2, ProtocolVersion,
    SaslInitialResponse, StartupPacket,
};
use crate::scram::{
    AwaitClientFinal, AwaitClientFirst, ChannelBinding, SCRAM_SHA_256, SCRAM_SHA_256_PLUS, ScramError, Verifier,
};

/// What a client that is not in yet is to send next.
#[derive(Debug)]
pub(super) enum Login {
    /// A packet without a tag; which encryptions it has asked for already.
    Opening(Asked),
    /// Nothing: its wish for TLS is being answered.
    Tls(Asked),
    /// Nothing: who it is, or its proof, is being judged.
    Deciding,
    /// Nothing: the first message of its proof is being answered.
    Begun(ChannelBinding),
    /// A proof.
    Proving(Proof),
}

/// How a client proves who it is.
#[derive(Debug)]
pub(super) enum Proof {
    /// By its password, as it is.
    Password,
    /// By SCRAM, whose first message is next; what binds the channel, if something does.
    Scram(Option<Vec<u8>>),
    /// By SCRAM, whose last message is next.
    Challenged(Box<AwaitClientFinal>),
}

/// Each encryption is asked for once.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Asked {
    tls: bool,
    gss: bool,
}

impl Default for Login {
    fn default() -> Self {
        Self::Opening(Asked::default())
    }
}

impl Login {
    pub(super) const fn is_opening(&self) -> bool {
        matches!(self, Self::Opening(_))
    }

    pub(super) fn poll<'i>(
        &mut self,
        inbox: &'i mut Inbox,
        output: &mut Vec<u8>,
    ) -> Result<Option<Request<'i>>, Violation> {
        match std::mem::replace(self, Self::Deciding) {
            Self::Opening(asked) => self.open(asked, inbox, output),
            Self::Proving(proof) => self.prove(proof, inbox, output),
            waiting @ (Self::Tls(_) | Self::Deciding | Self::Begun(_)) => {
                *self = waiting;
                Ok(None)
            }
        }
    }

    /// Takes the next message, which must be a proof.
    fn prove<'i>(
        &mut self,
        proof: Proof,
        inbox: &'i mut Inbox,
        output: &mut Vec<u8>,
    ) -> Result<Option<Request<'i>>, Violation> {
        let cut = cut_frontend(inbox.unread(), FrameLimits::HANDSHAKE).map_err(Violation::Frame)?;
        let Some((tag, len)) = cut.map(|frame| (frame.tag, frame.len)) else {
            *self = Self::Proving(proof);
            return Ok(None);
        };
        let body = match Frontend::decode(tag, inbox.lend(len)) {
            Ok(Frontend::Password(body)) => body,
            // What psql does before it asks its user for the password.
            Ok(Frontend::Terminate) => return Ok(Some(Request::Terminate)),
            _ => return Err(Violation::Unproved { tag }),
        };
        Ok(Some(match proof {
            Proof::Password => match body.strip_suffix(b"\0").filter(|password| !password.contains(&0)) {
                Some(password) => Request::Password(password),
                None => return Err(Violation::Password),
            },
            Proof::Scram(end_point) => {
                let initial = SaslInitialResponse::decode(body).map_err(Violation::Sasl)?;
                *self = Self::Begun(binding(initial.mechanism, end_point).ok_or(Violation::Mechanism)?);
                Request::Scram(initial.data.unwrap_or_default())
            }
            Proof::Challenged(state) => Request::Proof(state.handle(body).map(|own| {
                Backend::Authentication(Authentication::SaslFinal(own.as_bytes())).encode(output);
            })),
        }))
    }

    /// The packets before the authentication: encryption requests, cancel requests, and at last a start-up message.
    fn open<'i>(
        &mut self,
        mut asked: Asked,
        inbox: &'i mut Inbox,
        output: &mut Vec<u8>,
    ) -> Result<Option<Request<'i>>, Violation> {
        loop {
            let Some((body, len)) = cut_startup(inbox.unread()).map_err(Violation::Frame)? else {
                *self = Self::Opening(asked);
                return Ok(None);
            };
            let is_alone = inbox.unread().len() == len;
            match StartupPacket::decode(body).map_err(Violation::Startup)? {
                StartupPacket::SslRequest if !asked.tls => {
                    inbox.consume(len);
                    if !is_alone {
                        return Err(Violation::Clear(Encryption::Tls));
                    }
                    *self = Self::Tls(Asked { tls: true, ..asked });
                    return Ok(Some(Request::StartTls));
                }
                StartupPacket::GssEncRequest if !asked.gss => {
                    inbox.consume(len);
                    if !is_alone {
                        return Err(Violation::Clear(Encryption::Gss));
                    }
                    asked.gss = true;
                    output.push(b'N');
                }
                StartupPacket::SslRequest | StartupPacket::GssEncRequest => return Err(Violation::EncryptedTwice),
                StartupPacket::Cancel(_) | StartupPacket::Startup(_) => break self.opened(len, inbox),
            }
        }
    }

    /// The packet of so many bytes says what the client wants.
    fn opened<'i>(&mut self, len: usize, inbox: &'i mut Inbox) -> Result<Option<Request<'i>>, Violation> {
        *self = Self::Deciding;
        Ok(match StartupPacket::decode(inbox.lend_packet(len)).map_err(Violation::Startup)? {
            StartupPacket::Cancel(request) => Some(Request::Cancel(request)),
            StartupPacket::Startup(message) => Some(Request::Startup(message)),
            StartupPacket::SslRequest | StartupPacket::GssEncRequest => None,
        })
    }
}

/// What a client has chosen among the mechanisms that it was offered.
fn binding(mechanism: &[u8], end_point: Option<Vec<u8>>) -> Option<ChannelBinding> {
    match (mechanism, end_point) {
        (mechanism, Some(data)) if mechanism == SCRAM_SHA_256_PLUS.as_bytes() => Some(ChannelBinding::Chosen(data)),
        (mechanism, Some(_)) if mechanism == SCRAM_SHA_256.as_bytes() => Some(ChannelBinding::Offered),
        (mechanism, None) if mechanism == SCRAM_SHA_256.as_bytes() => Some(ChannelBinding::None),
        _ => None,
    }
}

impl<T: Texts> Server<T> {
    /// Agrees to TLS, which begins once this was written; [`tls_started`](Self::tls_started) then.
    pub fn begin_tls(&mut self) {
        self.output.push(b'S');
    }

    /// There is no TLS; the client may go on without.
    pub fn refuse_tls(&mut self) {
        self.output.push(b'N');
        self.tls_started();
    }

    /// TLS stands, or will not be.
    pub fn tls_started(&mut self) {
        if let State::Login(login) = &mut self.state
            && let Login::Tls(asked) = **login
        {
            **login = Login::Opening(asked);
        }
    }

    /// Tells the client which version is spoken, when it is not the one that it asked for, and which options nobody knows.
    pub fn negotiate(&mut self, asked: ProtocolVersion, unrecognized: Vec<&str>) {
        let spoken = if asked.minor < PROTOCOL_3_2.minor { PROTOCOL_3_0 } else { PROTOCOL_3_2 };
        if spoken != asked || !unrecognized.is_empty() {
            let version = u32::from(spoken.major) << 16 | u32::from(spoken.minor);
            Backend::NegotiateProtocolVersion(NegotiateProtocolVersion { version, unrecognized })
                .encode(&mut self.output);
        }
    }

    /// Asks for the password as it is. [`Request::Password`] brings it.
    pub fn ask_password(&mut self) {
        self.ask(Authentication::CleartextPassword, Login::Proving(Proof::Password));
    }

    /// Asks for a proof by SCRAM-SHA-256, bound to the TLS connection whose `tls-server-end-point` this is, if the client can.
    /// [`Request::Scram`] begins it.
    pub fn ask_scram(&mut self, end_point: Option<Vec<u8>>) {
        let plus = end_point.is_some().then_some(SCRAM_SHA_256_PLUS);
        let mechanisms = plus.into_iter().chain([SCRAM_SHA_256]).collect();
        self.ask(Authentication::Sasl(mechanisms), Login::Proving(Proof::Scram(end_point)));
    }

    fn ask(&mut self, question: Authentication<'_>, awaited: Login) {
        if let State::Login(login) = &mut self.state {
            Backend::Authentication(question).encode(&mut self.output);
            **login = awaited;
        }
    }

    /// Answers SCRAM's `first` message. `nonce` is printable ASCII without commas, from at least 16 random bytes, never
    /// used twice. [`Request::Proof`] says what the answer is worth.
    ///
    /// # Errors
    /// When the message makes no sense; the client is to be [refused](Self::fatal).
    pub fn challenge(&mut self, first: &[u8], verifier: Verifier, nonce: String) -> Result<(), ScramError> {
        let State::Login(login) = &mut self.state else { return Ok(()) };
        let Login::Begun(binding) = std::mem::replace(&mut **login, Login::Deciding) else { return Ok(()) };
        let state = AwaitClientFirst::new(verifier, nonce).with_binding(binding);
        let (challenge, state) = state.handle(first)?;
        Backend::Authentication(Authentication::SaslContinue(challenge.as_bytes())).encode(&mut self.output);
        **login = Login::Proving(Proof::Challenged(Box::new(state)));
        Ok(())
    }

    /// The client is in: settings and its key follow, then [`ready`](Self::ready).
    pub fn accept(&mut self) {
        Backend::Authentication(Authentication::Ok).encode(&mut self.output);
        self.state = State::Command;
    }
}
