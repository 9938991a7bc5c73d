//! From the greeting to a session, and again when the client changes its user.

use std::io::ErrorKind;

use rowferry_dialect::access::Plugin;
use rowferry_engine::{Condition, Error, Session, SessionOptions, session_number};
use rowferry_wire_mysql::messages::auth::{Verifier, plugin};
use rowferry_wire_mysql::messages::handshake::{Handshake, capability};
use rowferry_wire_mysql::messages::status::{Ok as OkPacket, ServerError, status_flag};
use rowferry_wire_mysql::server::{Login, Request, Server};

use super::session::MysqlSession;
use super::wire::Wire;
use super::{MysqlDoor, report, told};
use crate::auth::hba::Method;
use crate::auth::{Client, Users, random};
use crate::{Connection, Ending, Peer};

/// What is offered to everybody. TLS comes with a certificate.
const OFFERED: u64 = capability::LONG_PASSWORD
    | capability::FOUND_ROWS
    | capability::LONG_FLAG
    | capability::CONNECT_WITH_DB
    | capability::COMPRESS
    | capability::LOCAL_FILES
    | capability::IGNORE_SPACE
    | capability::PROTOCOL_41
    | capability::INTERACTIVE
    | capability::TRANSACTIONS
    | capability::SECURE_CONNECTION
    | capability::MULTI_STATEMENTS
    | capability::MULTI_RESULTS
    | capability::PS_MULTI_RESULTS
    | capability::PLUGIN_AUTH
    | capability::CONNECT_ATTRS
    | capability::PLUGIN_AUTH_LENENC
    | capability::SESSION_TRACK
    | capability::DEPRECATE_EOF
    | capability::ZSTD;

/// `utf8mb4_0900_ai_ci`.
const COLLATION: u8 = 255;

/// Bytes of the nonce.
const NONCE: usize = 20;

pub(super) fn open<'c>(door: &'c MysqlDoor, connection: &'c mut Connection) -> Result<MysqlSession<'c>, Ending> {
    let number = session_number();
    let tls = if connection.can_encrypt() { capability::SSL } else { 0 };
    let greeting = Handshake {
        server_version: door.version.clone(),
        connection_id: number,
        nonce: nonce(),
        capabilities: OFFERED | tls,
        collation: COLLATION,
        status: status_flag::AUTOCOMMIT,
        plugin: plugin::CACHING_SHA2_PASSWORD.into(),
    };
    let server = Server::new(greeting, connection.limits().max_message);
    let mut wire = Wire { connection, server };
    let login = loop {
        match next(&mut wire)? {
            Request::StartTls => {
                let begun = wire.server.take_rest();
                wire.connection.start_tls_after(&begun).map_err(|error| match error.kind() {
                    ErrorKind::TimedOut => Ending::TimedOut("the TLS handshake was not completed"),
                    _ => Ending::Protocol(format!("TLS handshake failed: {error}")),
                })?;
                wire.server.tls_started();
            }
            Request::Login(login) => break login,
            _ => return Err(Ending::Protocol("something else than a login".into())),
        }
    };
    let session = enter(door, &mut wire, &login, number)?;
    Ok(MysqlSession::new(door, wire, session))
}

/// Lets a client in who has said who it is. On failure it has been told.
pub(super) fn enter(door: &MysqlDoor, wire: &mut Wire<'_>, login: &Login, number: u32) -> Result<Session, Ending> {
    let user = login.response.user.as_str();
    let main = door.databases.main();
    if wire.connection.lacks_encryption() {
        let message = "Connections using insecure transport are prohibited while --require_secure_transport=ON.";
        return Err(refuse(wire, &report::own(3159, "HY000", message)));
    }
    let kept = main.login(user);
    let users = door.gate.users().with_role(user, &kept).map_err(|error| {
        let message = format!("the password of role \"{user}\": {error}");
        refuse(wire, &Error::new(Condition::DataCorrupted, message))
    })?;
    let client = Client::of(wire.connection);
    let demand = door.gate.demand(&client, &users, user, main.name(), main);
    let demand = demand.map_err(|error| refuse_access(wire, user, true, &error.message))?;
    demand.check_certificate(&client).map_err(|error| refuse_access(wire, user, false, &error.message))?;
    let is_cached = match demand.method {
        Method::Trust | Method::Cert => wave_through(wire, login, kept.plugin)?,
        Method::Scram | Method::Password => {
            let of_file = door.gate.users().knows(user);
            let kept = Kept {
                users: &users,
                // Where the password file knows the name, that password counts.
                mysql: kept.mysql_verifier.as_deref().filter(|_| !of_file && !kept.expired),
                scram: of_file || kept.verifier.is_some(),
                plugin: kept.plugin.filter(|_| !of_file).unwrap_or(Plugin::Caching),
            };
            prove(door, wire, login, &kept)?
        }
        Method::Peer => {
            match wire.connection.peer_user() {
                Ok(name) if demand.admits(&name, user) => {}
                _ => return Err(refuse_access(wire, user, false, "another user of this machine")),
            }
            wave_through(wire, login, kept.plugin)?
        }
        // Turned away above.
        Method::Reject => return Err(refuse(wire, &Error::internal("a rule that rejects lets somebody in"))),
    };
    let named = demand.check_certificate_name(&client, user);
    named.map_err(|error| refuse_access(wire, user, false, &error.message))?;
    if kept.local && !client.is_near() {
        return Err(refuse_access(wire, user, true, "its host is localhost"));
    }
    if kept.locked {
        let message = format!("Access denied for user '{user}'@'{}'. Account is locked.", host(wire));
        return Err(refuse(wire, &report::own(3118, "HY000", message)));
    }
    kept.check().map_err(|error| refuse_access(wire, user, true, &error.message))?;
    if wire.connection.stopping() {
        return Err(refuse(wire, &report::own(1053, "08S01", "Server shutdown in progress")));
    }
    if !login.is_again && wire.connection.admit().is_err() {
        return Err(refuse(wire, &Error::new(Condition::TooManyConnections, "Too many connections")));
    }
    let session = begin(door, wire, login, number).map_err(|error| refuse(wire, &error))?;
    let ok = OkPacket { status: told::status(&session), ..OkPacket::default() };
    wire.server.accept(&ok, is_cached);
    tracing::info!(
        connection = wire.connection.number(),
        peer = %wire.connection.peer(),
        user,
        tls = wire.connection.is_encrypted(),
        "session opened"
    );
    Ok(session)
}

fn begin(door: &MysqlDoor, wire: &Wire<'_>, login: &Login, number: u32) -> Result<Session, Error> {
    let response = &login.response;
    let program = response.attributes.iter().find(|(name, _)| name == "program_name");
    let options = SessionOptions {
        user: response.user.clone(),
        application_name: program.map(|(_, program)| program.clone()).unwrap_or_default(),
        language: told::LANGUAGE,
        client_address: wire.connection.peer().to_string(),
        server_address: wire.connection.local().map_or_else(String::new, |address| address.to_string()),
    };
    let mut session = door.databases.main().session_numbered(options, number);
    if let Some(encoding) = encoding_of(response.head.collation)? {
        session.set_variable("client_encoding", encoding)?;
    }
    if let Some((version, cipher)) = wire.connection.encryption() {
        session.begin_with("mysql_status.ssl_version", version);
        session.begin_with("mysql_status.ssl_cipher", &cipher);
    }
    let counts_found = wire.server.has(capability::FOUND_ROWS);
    let ignores_space = wire.server.has(capability::IGNORE_SPACE);
    told::begin(&mut session, &told::Beginning { database: &response.database, counts_found, ignores_space })?;
    Ok(session)
}

/// What a client's texts are in, by the number of its collation, where that is not UTF-8.
fn encoding_of(collation: u8) -> Result<Option<&'static str>, Error> {
    match collation {
        // The server's own; ascii; utf8mb3; utf8mb4; bytes, which are taken as they are.
        0 | 11 | 65 | 33 | 76 | 83 | 192..=215 | 223 | 45 | 46 | 224..=255 | 63 => Ok(None),
        // latin1 is what Windows calls 1252.
        5 | 8 | 15 | 31 | 47 | 48 | 49 | 94 => Ok(Some("WIN1252")),
        2 | 9 | 21 | 27 | 77 => Ok(Some("LATIN2")),
        14 | 23 | 50 | 51 | 52 => Ok(Some("WIN1251")),
        7 | 74 => Ok(Some("KOI8R")),
        other => {
            let message = format!("the character set of collation {other} is not known here: use utf8mb4");
            Err(Error::unsupported(message).with_mysql(1115, "42000"))
        }
    }
}

/// Who need prove nothing is let in by whatever plugin it uses; true when its scramble is what it is told to have proved.
fn wave_through(wire: &mut Wire<'_>, login: &Login, wanted: Option<Plugin>) -> Result<bool, Ending> {
    let used = login.response.plugin.as_str();
    if wanted == Some(Plugin::Sha256) && used != plugin::SHA256_PASSWORD && wire.server.has(capability::PLUGIN_AUTH) {
        let data = [wire.server.nonce(), &[0]].concat();
        wire.server.ask_proof(plugin::SHA256_PASSWORD, data);
        return match next(wire)? {
            Request::Proof(_) => Ok(false),
            _ => Err(Ending::Protocol("something else than a proof".into())),
        };
    }
    match used {
        plugin::CACHING_SHA2_PASSWORD => Ok(true),
        "" | plugin::NATIVE_PASSWORD => Ok(false),
        _ => {
            // Other plugins wait for more than an OK.
            let data = [wire.server.nonce(), &[0]].concat();
            wire.server.ask_proof(plugin::NATIVE_PASSWORD, data);
            match next(wire)? {
                Request::Proof(_) => Ok(false),
                _ => Err(Ending::Protocol("something else than a proof".into())),
            }
        }
    }
}

/// What is kept of a user's password.
struct Kept<'k> {
    users: &'k Users,
    /// In MySQL's form.
    mysql: Option<&'k str>,
    /// In PostgreSQL's.
    scram: bool,
    plugin: Plugin,
}

impl Kept<'_> {
    /// What another password of the user's has not: all that is kept of it.
    fn identity(&self, user: &str) -> String {
        let scram = if self.scram { self.users.verifier(user.as_bytes()).to_string() } else { String::new() };
        format!("{scram} {}", self.mysql.unwrap_or_default())
    }
}

/// Lets in who proves the password, by the account's plugin; true when the scramble of the usual one was enough.
fn prove(door: &MysqlDoor, wire: &mut Wire<'_>, login: &Login, kept: &Kept<'_>) -> Result<bool, Ending> {
    let user = login.response.user.as_str();
    let verifier = kept.mysql.and_then(Verifier::read);
    if let Some(verifier @ Verifier::Native(_)) = &verifier {
        let proof = match login.response.plugin.as_str() {
            "" | plugin::NATIVE_PASSWORD => login.response.scramble.clone(),
            _ => {
                let data = [wire.server.nonce(), &[0]].concat();
                wire.server.ask_proof(plugin::NATIVE_PASSWORD, data);
                match next(wire)? {
                    Request::Proof(proof) => proof,
                    _ => return Err(Ending::Protocol("something else than a proof".into())),
                }
            }
        };
        let attempt = door.gate.attempt(wire.connection, user);
        let Ok(attempt) = attempt else { return Err(refuse_access(wire, user, true, "too many wrong passwords")) };
        let right = verifier.accepts_scramble(wire.server.nonce(), &proof);
        attempt.ended(right);
        return match right {
            true => Ok(false),
            false => Err(refuse_access(wire, user, !proof.is_empty(), "wrong password")),
        };
    }
    let identity = kept.identity(user);
    let scramble = &login.response.scramble;
    if kept.plugin == Plugin::Caching
        && login.response.plugin == plugin::CACHING_SHA2_PASSWORD
        // An empty password has no scramble.
        && !matches!(scramble.as_slice(), [] | [0])
        && let Some(right) = door.proved.accepts(user, &identity, wire.server.nonce(), scramble)
    {
        // Nobody tries out scrambles for nothing.
        let Ok(attempt) = door.gate.attempt(wire.connection, user) else {
            return Err(refuse_access(wire, user, true, "too many wrong passwords"));
        };
        attempt.ended(right);
        return match right {
            true => Ok(true),
            false => Err(refuse_access(wire, user, true, "wrong password")),
        };
    }
    let password = password(door, wire, kept.plugin)?;
    let attempt = door.gate.attempt(wire.connection, user).map_err(|error| {
        let message = format!("{error} (user \"{user}\")");
        refuse_access(wire, user, true, &message)
    })?;
    let right = match &verifier {
        Some(verifier) if !kept.scram => verifier.accepts(password.as_bytes()),
        _ => kept.users.accepts(user, &password),
    };
    attempt.ended(right);
    if !right {
        return Err(refuse_access(wire, user, !password.is_empty(), "wrong password"));
    }
    door.proved.keep(user, identity, &password);
    Ok(false)
}

/// The client's password.
fn password(door: &MysqlDoor, wire: &mut Wire<'_>, plugin: Plugin) -> Result<String, Ending> {
    let is_protected = wire.connection.is_encrypted() || *wire.connection.peer() == Peer::Unix;
    let key = if is_protected { None } else { door.key() };
    let asked = match plugin {
        Plugin::Sha256 => wire.server.ask_password_by_sha256(is_protected, key, random()),
        _ => wire.server.ask_password(is_protected, key, random()),
    };
    if !asked {
        let message =
            "Client does not support authentication protocol requested by server; consider upgrading MySQL client";
        return Err(refuse(wire, &report::own(1251, "08004", message)));
    }
    match next(wire)? {
        Request::Password(password) => Ok(password.expose().to_owned()),
        _ => Err(Ending::Protocol("something else than a password".into())),
    }
}

/// The next thing that a client says before it is in.
fn next(wire: &mut Wire<'_>) -> Result<Request, Ending> {
    wire.flush()?;
    loop {
        if let Some(request) = wire.poll()? {
            return Ok(request);
        }
        wire.flush()?;
        match wire.read() {
            Ok(0) if wire.connection.stopping() => return Err(Ending::Stopped),
            Ok(0) if !wire.server.is_amid_message() => return Err(Ending::Brief("closed before it was let in")),
            Ok(0) => return Err(Ending::Protocol("connection closed in the middle of the login".into())),
            Ok(_) => {}
            Err(error) if error.kind() == ErrorKind::TimedOut => {
                return Err(Ending::TimedOut("the login was not completed"));
            }
            Err(error) => return Err(Ending::Broken(error)),
        }
    }
}

/// Tells the client why it is not let in.
fn refuse(wire: &mut Wire<'_>, error: &Error) -> Ending {
    refuse_as(wire, &report::server_error(error), error.message.clone())
}

/// Where the client is, as refusals tell it.
fn host(wire: &Wire<'_>) -> String {
    match wire.connection.peer() {
        Peer::Tcp(address) => address.ip().to_canonical().to_string(),
        Peer::Unix => "localhost".to_owned(),
    }
}

/// Tells the client no more than that it is not let in.
fn refuse_access(wire: &mut Wire<'_>, user: &str, with_password: bool, why: &str) -> Ending {
    let host = host(wire);
    let using = if with_password { "YES" } else { "NO" };
    let message = format!("Access denied for user '{user}'@'{host}' (using password: {using})");
    let error = ServerError { code: 1045, sqlstate: "28000".into(), message };
    refuse_as(wire, &error, format!("{why} (user {user})"))
}

fn refuse_as(wire: &mut Wire<'_>, error: &ServerError, why: String) -> Ending {
    wire.server.refuse(error);
    // Whether or not it can still be told, it is out.
    let _ = wire.flush();
    Ending::Refused(why)
}

/// Random bytes for a nonce: of seven bits, none NUL, as clients take it for text.
fn nonce() -> Vec<u8> {
    random::<NONCE>()
        .iter()
        .map(|byte| 1 + (byte % 126))
        .filter(|byte| *byte != b'$')
        .chain([b'#'; NONCE])
        .take(NONCE)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_nonce_is_text_of_its_length() {
        for _ in 0..1_000 {
            let nonce = nonce();
            assert_eq!(nonce.len(), NONCE);
            assert!(nonce.iter().all(|byte| (1..0x7f).contains(byte) && *byte != b'$'), "{nonce:?}");
        }
    }

    #[test]
    fn character_sets_that_are_not_known_are_refused() {
        assert_eq!(encoding_of(45), Ok(None));
        assert_eq!(encoding_of(8), Ok(Some("WIN1252")));
        assert_eq!(encoding_of(28).unwrap_err().mysql_code(), 1115);
    }
}
