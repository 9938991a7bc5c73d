use crate::login::{ApplicationInfo, LoginRequest, ProcessInfo, RequestBlock};
use crate::messages::{ClientMessage, DbOpen, Environment};
use crate::{Capabilities, TooLong, Widths};

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
}

impl Connect {
    pub const fn new(options: Options) -> Self {
        Self { options, phase: Phase::Accept }
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
