use super::operation::{Awaited, Operation, Reply};
use super::{Client, Event, Failure, Misuse, SqlError, Step, failure};
use crate::login::{ApplicationInfo, CAPABILITY_LEVEL, LoginRequest, PacketType, ProcessInfo, RequestBlock};
use crate::messages::{ClientMessage, DbOpen, Environment, warning};
use crate::{Capabilities, Capability, TooLong, Widths};

/// The code of a refusal that gives none: user or password.
pub(super) const LOGIN_REFUSED: i16 = -951;

/// How to introduce ourselves.
#[derive(Clone, Debug)]
pub struct Options {
    /// The first packet: user, password, server, environment.
    pub login: LoginRequest,
    /// The database to open; none to open none.
    pub database: Option<Vec<u8>>,
    /// What we offer.
    pub offer: Capabilities,
    /// Variables of the session, sent after the login: `DBTEMP`, `SUBQCACHESZ` and the like.
    pub environment: Vec<(Vec<u8>, Vec<u8>)>,
    /// Bytes of rows that one fetch asks for.
    pub fetch_bytes: i32,
    /// How many statements to keep prepared for another execution; 0 for none.
    pub kept_statements: usize,
    /// The server is known to [take groups ahead](Session::takes_groups_ahead): all that sets the session up goes with the
    /// login, and is answered with it.
    pub ahead: bool,
}

impl Options {
    /// Options for a user of a server, with the variables that the server's other clients send.
    pub fn new(user: &[u8], password: &[u8], server: &[u8]) -> Self {
        Self {
            login: LoginRequest::new(user, password, server),
            database: None,
            offer: Capabilities::client_offer(),
            environment: vec![(b"DBTEMP".to_vec(), b"/tmp".to_vec()), (b"SUBQCACHESZ".to_vec(), b"10".to_vec())],
            fetch_bytes: 256 * 1024,
            kept_statements: 64,
            ahead: false,
        }
    }

    /// Sets the environment of the login packet: the variables that the server's other clients send, the code set of
    /// the client, and `more`, which win.
    pub fn with_environment(mut self, client_locale: &[u8], more: &[(Vec<u8>, Vec<u8>)]) -> Self {
        let mut entries: Vec<(Vec<u8>, Vec<u8>)> = [
            (&b"DBPATH"[..], &b"."[..]),
            (b"CLIENT_LOCALE", client_locale),
            (b"CLNT_PAM_CAPABLE", b"1"),
            (b"DBDATE", b"Y4MD-"),
            (b"IFX_UPDDESC", b"1"),
            (b"NODEFDAC", b"no"),
        ]
        .into_iter()
        .map(|(name, value)| (name.to_vec(), value.to_vec()))
        .collect();
        for (name, value) in more {
            match entries.iter_mut().find(|(known, _)| known == name) {
                Some(entry) => entry.1.clone_from(value),
                None => entries.push((name.clone(), value.clone())),
            }
        }
        self.login.blocks.insert(0, RequestBlock::Environment(entries));
        self
    }

    /// Sets what the login packet says of the process and the program.
    pub fn with_process(mut self, process: ProcessInfo, application: ApplicationInfo) -> Self {
        self.login.blocks.push(RequestBlock::Process(process));
        self.login.blocks.push(RequestBlock::Application(application));
        self
    }
}

/// What the server has said about itself and the session.
#[derive(Clone, Debug)]
pub struct Session {
    /// The version with its product name. Not the release: 12.10 says 9.56.
    pub server_version: Vec<u8>,
    /// DBSERVERNAME.
    pub server_name: Vec<u8>,
    /// What the server can do.
    pub server_capabilities: Capabilities,
    /// What both sides can do.
    pub capabilities: Capabilities,
    /// Bits of [`warning`](crate::messages::warning) about the database.
    pub database_warnings: u16,
    /// The database has transactions.
    pub logged: bool,
    /// A transaction is under way that this client began.
    pub in_transaction: bool,
    /// The server answers groups that it was sent before it has said what it can do.
    pub takes_groups_ahead: bool,
}

impl Session {
    /// True when the database is in ANSI mode, where every statement is in a transaction.
    pub const fn is_ansi(&self) -> bool {
        self.database_warnings & crate::messages::warning::ANSI != 0
    }
}

impl Default for Session {
    fn default() -> Self {
        Self {
            server_version: Vec::new(),
            server_name: Vec::new(),
            server_capabilities: Capabilities::new([]),
            capabilities: Capabilities::new([]),
            database_warnings: 0,
            // Without a database it is not known; a refused `SQ_BEGIN` tells.
            logged: true,
            in_transaction: false,
            takes_groups_ahead: false,
        }
    }
}

/// What is awaited while connecting.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Phase {
    /// The answer to the login packet.
    Accept,
    /// The server's capabilities.
    Protocols,
    /// A question of PAM, or its end.
    Pam,
    /// The caller's answer to it.
    Answer,
    /// The answer to the environment.
    Environment,
    /// The answer to the opening of the database.
    Database,
}

#[derive(Debug)]
pub(super) struct Connect {
    pub options: Options,
    pub phase: Phase,
    /// What sets the session up was sent with our capabilities.
    pub ahead: bool,
    /// That was sent with the login; how many replies it has.
    early: Option<usize>,
}

impl Connect {
    pub const fn new(options: Options) -> Self {
        Self { options, phase: Phase::Accept, ahead: false, early: None }
    }

    /// Appends to the login what follows it, when the server is known to take it.
    pub fn send_early(&mut self, out: &mut Vec<u8>) -> Result<(), TooLong> {
        if self.options.ahead {
            // Nothing in it is as wide as the capabilities say.
            let widths = Widths::default();
            ClientMessage::Protocols(self.options.offer.clone()).encode(out, widths)?;
            ClientMessage::Eot.encode(out, widths)?;
            self.early = Some(1 + self.setup(out, widths)?);
        }
        Ok(())
    }

    /// Appends the groups that set the session up. The number is how many replies they have.
    pub fn setup(&self, out: &mut Vec<u8>, widths: Widths) -> Result<usize, TooLong> {
        let entries = self.options.environment.iter().map(|(name, value)| (&name[..], &value[..])).collect();
        ClientMessage::Environment(Environment { entries }).encode(out, widths)?;
        ClientMessage::Eot.encode(out, widths)?;
        let Some(database) = &self.options.database else { return Ok(1) };
        ClientMessage::DbOpen(DbOpen { database, mode: 0 }).encode(out, widths)?;
        ClientMessage::Eot.encode(out, widths)?;
        Ok(2)
    }
}

impl Client {
    /// Answers [`Event::Challenge`].
    pub fn answer(&mut self, text: &[u8]) -> Result<(), Misuse> {
        match &mut self.operation {
            Operation::Connect(connect) if connect.phase == Phase::Answer => connect.phase = Phase::Pam,
            _ => return Err(self.not_now()),
        }
        Ok(self.ask(&[ClientMessage::PamResponse(text)])?)
    }

    /// Takes note of an [`Event::Challenge`] that asks nothing (styles 3 and 4), and waits for what follows it.
    ///
    /// The server goes on by itself, in a group of its own: IBM's JDBC driver sends nothing here.
    pub fn acknowledge(&mut self) -> Result<(), Misuse> {
        match &mut self.operation {
            Operation::Connect(connect) if connect.phase == Phase::Answer => connect.phase = Phase::Pam,
            _ => return Err(self.not_now()),
        }
        self.awaited.push_back(Awaited::Operation);
        Ok(())
    }

    /// True while a login is under way with which all that sets the session up was sent.
    pub fn sent_all_with_login(&self) -> bool {
        matches!(&self.operation, Operation::Connect(connect) if connect.early.is_some())
    }

    /// What it means when the server closes the connection now, where more can be told than that.
    pub fn means_closed(&self) -> Option<Failure> {
        let awaited = matches!(&self.operation, Operation::Connect(connect) if connect.phase == Phase::Accept);
        (awaited && self.decoder.unread().is_empty()).then_some(failure::UNANSWERED)
    }

    pub(super) fn step_login(&mut self) -> Result<Step, Failure> {
        if let Some(stranger) = failure::stranger(self.decoder.unread()) {
            return Err(stranger);
        }
        let Some(reply) = self.decoder.login_reply()? else {
            return match self.eof {
                true if self.decoder.unread().is_empty() => Err(failure::UNANSWERED),
                true => Err(Failure::Closed),
                false => Ok(Step::Event(Event::Pending)),
            };
        };
        self.awaited.clear();
        let result = reply.result().cloned().unwrap_or_default();
        if let Some(detail) = reply.redirect() {
            self.closed = true;
            return Ok(Step::Event(Event::Redirect(detail.to_vec())));
        }
        if reply.kind != PacketType::ACCEPT || result.service_error != 0 {
            self.closed = true;
            let token = result.messages.into_iter().map(|(_, text)| text).next().unwrap_or_default();
            return Ok(Step::Event(Event::Error(SqlError {
                sqlcode: if result.service_error == 0 { LOGIN_REFUSED } else { result.service_error },
                token,
                ..SqlError::default()
            })));
        }
        if reply.levels[0] != CAPABILITY_LEVEL {
            return Err(Failure::Unsupported("servers without capability negotiation"));
        }
        let ahead = reply.takes_groups_ahead();
        self.session.server_version = reply.version;
        self.session.server_name = reply.server;
        self.session.takes_groups_ahead = ahead;
        let Operation::Connect(connect) = std::mem::replace(&mut self.operation, Operation::None) else {
            return Ok(Step::Again);
        };
        let (offer, early) = (connect.options.offer.clone(), connect.early);
        let connect = Box::new(Connect { phase: Phase::Protocols, ahead, ..*connect });
        if let Some(replies) = early {
            if !ahead {
                let got = "the answer of another server than was there before";
                return Err(Failure::Unexpected { state: "logging in", got });
            }
            self.awaited.extend(std::iter::repeat_n(Awaited::Operation, replies));
            return self.await_in(connect);
        }
        self.must(|client| client.ask(&[ClientMessage::Protocols(offer)]))?;
        // Nothing in it is as wide as the capabilities say.
        if ahead { self.send_setup(connect) } else { self.await_in(connect) }
    }

    /// The next thing to do after a group of the server while connecting.
    pub(super) fn connected_further(
        &mut self,
        mut connect: Box<Connect>,
        reply: Reply,
        error: Option<SqlError>,
    ) -> Result<Step, Failure> {
        if let Some(error) = error {
            self.closed = true;
            return Ok(Step::Event(Event::Error(error)));
        }
        match connect.phase {
            Phase::Protocols => {
                let mask = reply
                    .protocols
                    .ok_or(Failure::Unexpected { state: "negotiating capabilities", got: "the end without any" })?;
                let pam = mask.has(Capability::PAM);
                self.session.capabilities = connect.options.offer.and(&mask);
                self.session.server_capabilities = mask;
                self.decoder.activate(&self.session.capabilities);
                if !self.session.capabilities.has(Capability::LARGE_FETCH_BUFFER) {
                    self.fetch_bytes = self.fetch_bytes.min(i32::from(i16::MAX));
                }
                if pam && connect.ahead {
                    return Err(Failure::Unexpected { state: "setting the session up", got: "questions of PAM" });
                }
                if connect.ahead {
                    connect.phase = Phase::Environment;
                    return self.await_in(connect);
                }
                if pam {
                    connect.phase = Phase::Pam;
                    self.must(|client| client.ask(&[ClientMessage::PamAck]))?;
                    self.operation = Operation::Connect(connect);
                    return Ok(Step::Again);
                }
                self.set_up(connect)
            }
            Phase::Pam => {
                if reply.admitted {
                    return self.set_up(connect);
                }
                let Some((style, text)) = reply.challenge else {
                    return Err(Failure::Unexpected { state: "authenticating", got: "the end without a question" });
                };
                connect.phase = Phase::Answer;
                self.operation = Operation::Connect(connect);
                Ok(Step::Event(Event::Challenge { style, text }))
            }
            Phase::Environment if connect.options.database.is_some() => {
                connect.phase = Phase::Database;
                self.operation = Operation::Connect(connect);
                Ok(Step::Again)
            }
            Phase::Database | Phase::Environment => {
                if let Some(done) = reply.done {
                    self.session.database_warnings = done.warnings;
                    self.session.logged = done.warnings & warning::LOGGED != 0;
                }
                Ok(Step::Event(Event::Connected))
            }
            Phase::Accept | Phase::Answer => {
                Err(Failure::Unexpected { state: "connecting", got: "the end of a group" })
            }
        }
    }

    pub(super) fn set_up(&mut self, mut connect: Box<Connect>) -> Result<Step, Failure> {
        connect.phase = Phase::Environment;
        self.send_setup(connect)
    }

    fn send_setup(&mut self, connect: Box<Connect>) -> Result<Step, Failure> {
        let widths = self.decoder.widths();
        let replies = connect.setup(&mut self.output, widths);
        let replies = replies.map_err(|_| Failure::Unsupported("an environment of this size"))?;
        self.awaited.extend(std::iter::repeat_n(Awaited::Operation, replies));
        self.await_in(connect)
    }

    fn await_in(&mut self, connect: Box<Connect>) -> Result<Step, Failure> {
        self.operation = Operation::Connect(connect);
        Ok(Step::Again)
    }
}

#[cfg(test)]
mod tests {
    use rowferry_wire::Core;

    use super::*;
    use crate::login::LoginReply;
    use crate::messages::{Done, ServerMessage};

    fn options() -> Options {
        Options { database: Some(b"shop".to_vec()), ..Options::new(b"me", b"pw", b"s") }
    }

    fn receive(client: &mut Client, bytes: &[u8]) {
        client.receive_space(bytes.len())[..bytes.len()].copy_from_slice(bytes);
        client.received(bytes.len());
    }

    /// What the client sends after the answer to its login.
    fn sent_after(reply: &LoginReply) -> (Client, Vec<u8>) {
        let mut client = Client::new(options()).unwrap();
        let login = client.output().len();
        client.sent(login);
        let mut bytes = Vec::new();
        reply.encode(&mut bytes).unwrap();
        receive(&mut client, &bytes);
        assert!(matches!(client.poll(), Ok(Event::Pending)));
        let output = client.output().to_vec();
        client.sent(output.len());
        (client, output)
    }

    #[test]
    fn groups_are_sent_ahead_to_a_server_that_takes_them() {
        let plain = LoginReply::accept(b"Version 1", b"serial", b"s", 0);
        let (mut client, first) = sent_after(&plain);
        let (mut ahead, all) = sent_after(&plain.taking_groups_ahead());
        assert!(all.len() > first.len() && all.starts_with(&first));

        let (mut protocols, mut setup) = (Vec::new(), Vec::new());
        let widths = crate::Widths::default();
        ServerMessage::Protocols(Capabilities::server_15()).encode(&mut protocols, widths).unwrap();
        ServerMessage::Eot.encode(&mut protocols, widths).unwrap();
        let active = crate::Widths::of(&options().offer.and(&Capabilities::server_15()));
        for message in [ServerMessage::Eot, ServerMessage::Done(Done::default()), ServerMessage::Eot] {
            message.encode(&mut setup, active).unwrap();
        }
        // The others send the rest when they know what the server can do.
        receive(&mut client, &protocols);
        assert!(matches!(client.poll(), Ok(Event::Pending)));
        assert_eq!([&first[..], client.output()].concat(), all);
        receive(&mut client, &setup);
        assert!(matches!(client.poll(), Ok(Event::Connected)));

        receive(&mut ahead, &[protocols, setup].concat());
        assert!(matches!(ahead.poll(), Ok(Event::Connected)));
        assert_eq!(ahead.output(), b"");
        assert_eq!(ahead.session().capabilities, client.session().capabilities);
    }

    #[test]
    fn all_goes_with_the_login_to_a_server_that_is_known_to_take_it() {
        let known = LoginReply::accept(b"Version 1", b"serial", b"s", 0).taking_groups_ahead();
        let (_, after) = sent_after(&known);
        let login = Client::new(options()).unwrap().output().to_vec();
        let early = || Client::new(Options { ahead: true, ..options() }).unwrap();
        let mut client = early();
        assert_eq!(client.output(), [login, after].concat());
        client.sent(client.output().len());
        let mut bytes = Vec::new();
        known.encode(&mut bytes).unwrap();
        ServerMessage::Protocols(Capabilities::server_15()).encode(&mut bytes, crate::Widths::default()).unwrap();
        let active = crate::Widths::of(&options().offer.and(&Capabilities::server_15()));
        for message in
            [ServerMessage::Eot, ServerMessage::Eot, ServerMessage::Done(Done::default()), ServerMessage::Eot]
        {
            message.encode(&mut bytes, active).unwrap();
        }
        receive(&mut client, &bytes);
        assert!(matches!(client.poll(), Ok(Event::Connected)));
        assert_eq!(client.output(), b"");
        assert!(client.session().takes_groups_ahead);
        // Another server has taken its place.
        let mut client = early();
        let mut bytes = Vec::new();
        LoginReply::accept(b"Version 1", b"serial", b"s", 0).encode(&mut bytes).unwrap();
        receive(&mut client, &bytes);
        assert!(client.poll().unwrap_err().to_string().contains("another server"));
    }

    #[test]
    fn strangers_are_told_from_servers_that_say_nothing_yet() {
        for (answer, who) in
            [(&b"HTTP/1.1"[..], "HTTP"), (b"\x4a\0\0\0\x0a8.0", "MySQL"), (b"\x15\x03\x01\0\x02", "TLS")]
        {
            let mut client = Client::new(options()).unwrap();
            receive(&mut client, answer);
            assert!(client.poll().unwrap_err().to_string().contains(who));
        }
        let mut client = Client::new(options()).unwrap();
        receive(&mut client, b"\0\xe8\x02");
        assert!(matches!(client.poll(), Ok(Event::Pending)));
        client.received_eof();
        assert!(matches!(client.poll(), Err(Failure::Closed)));
        let mut client = Client::new(options()).unwrap();
        client.received_eof();
        assert!(client.poll().unwrap_err().to_string().contains("another protocol"));
    }
}
