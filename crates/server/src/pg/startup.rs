//! From the first byte to the first `ReadyForQuery`.

use std::io::ErrorKind;

use rowferry_engine::{Condition, Database, Error, Language, SessionOptions};
use rowferry_wire_pg::messages::{PROTOCOL_3_2, ProtocolVersion, StartupMessage};
use rowferry_wire_pg::scram::ScramError;
use rowferry_wire_pg::server::{Inbox, Request};

use super::session::PgSession;
use super::wire::{ClientTexts, Wire};
use super::{PgDoor, report};
use crate::auth::hba::{Demand, Method};
use crate::auth::{Attempt, Client, Gate, Users, random};
use crate::{Connection, Ending};

/// The inbox of a session grows in steps of this many bytes.
const INBOX_STEP: usize = 8 * 1024;

/// Bytes of randomness in the server's part of a SCRAM nonce; each becomes two characters.
const NONCE_BYTES: usize = 18;

/// The first byte of a TLS handshake, for clients that begin with it at once.
const TLS_HANDSHAKE: u8 = 0x16;

/// Settings of the start-up packet that are not variables of the session.
const NOT_VARIABLES: &[&str] = &["user", "database", "options", "replication"];

/// What the start-up packet says.
#[derive(Debug)]
struct StartUp {
    version: ProtocolVersion,
    user: String,
    database: String,
    /// Variables to set, from the packet and from its `options`.
    variables: Vec<(String, String)>,
    /// `_pq_.` options that nobody knows.
    unrecognized: Vec<String>,
}

/// Lets a client in. On failure the client has been told.
pub(super) fn open<'c>(door: &'c PgDoor, connection: &'c mut Connection) -> Result<PgSession<'c>, Ending> {
    let mut wire = Wire::new(connection);
    let mut inbox = Inbox::with_step(INBOX_STEP);
    let request = first_packet(door, &mut wire, &mut inbox)?;
    if wire.connection.lacks_encryption() {
        return Err(refuse(&mut wire, &encryption_required()));
    }
    wire.server.negotiate(request.version, request.unrecognized.iter().map(String::as_str).collect());
    let asked = database(door, &request);
    let main = door.databases.main();
    let login = asked.as_ref().unwrap_or(main).login(&request.user);
    // The roles of the file that the server was started for say who may come in to any of them.
    let keeper = if main.has_roles() { main.login(&request.user) } else { login.clone() };
    let users = door.gate.users().with_role(&request.user, &keeper).map_err(|error| {
        let error = Error::new(Condition::DataCorrupted, format!("the password of role \"{}\": {error}", request.user));
        refuse(&mut wire, &error)
    })?;
    let name = asked.as_ref().map_or(request.database.as_str(), Database::name);
    let client = Client::of(wire.connection);
    let roles_of = if main.has_roles() { main } else { asked.as_ref().unwrap_or(main) };
    let demand = door.gate.demand(&client, &users, &request.user, name, roles_of);
    let demand = demand.map_err(|error| refuse(&mut wire, &error))?;
    demand.check_certificate(&client).map_err(|error| refuse(&mut wire, &error))?;
    match demand.method {
        Method::Trust => tracing::debug!(connection = wire.connection.number(), "trusted"),
        Method::Scram => authenticate(&door.gate, &users, &mut wire, &mut inbox, &request.user)?,
        Method::Password => clear_password(&door.gate, &users, &mut wire, &mut inbox, &request.user)?,
        Method::Peer => same_user(&mut wire, &demand, &request.user)?,
        // Its name is looked at below.
        Method::Cert => {}
        // Turned away above.
        Method::Reject => return Err(refuse(&mut wire, &Error::internal("a rule that rejects lets somebody in"))),
    }
    demand.check_certificate_name(&client, &request.user).map_err(|error| refuse(&mut wire, &error))?;
    if wire.connection.stopping() {
        return Err(refuse(
            &mut wire,
            &Error::new(Condition::CannotConnectNow, "the database system is shutting down"),
        ));
    }
    if let Err(full) = wire.connection.admit() {
        let error = Error::new(Condition::TooManyConnections, "sorry, too many clients already")
            .detail(format!("The limit is {} connections.", full.limit));
        return Err(refuse(&mut wire, &error));
    }
    let database = asked.map_err(|error| refuse(&mut wire, &error))?;
    keeper.check().and_then(|()| login.check()).map_err(|error| refuse(&mut wire, &error))?;
    let mut session = database.session(SessionOptions {
        user: request.user.clone(),
        application_name: String::new(),
        language: Language::Postgres,
        client_address: wire.connection.peer().to_string(),
        server_address: wire.connection.local().map_or_else(String::new, |address| address.to_string()),
    });
    for (name, value) in login.settings.iter().chain(&request.variables) {
        session.set_variable(name, value).map_err(|error| refuse(&mut wire, &error))?;
    }
    wire.server.set_texts(ClientTexts(session.client_encoding()));
    wire.server.accept();
    for (name, value) in session.drain_reports() {
        wire.server.parameter_status(&name, &value);
    }
    let process = session.pid();
    let key = if request.version >= PROTOCOL_3_2 { random::<32>().to_vec() } else { random::<4>().to_vec() };
    wire.server.key(process, &key);
    let interrupter = session.interrupter();
    let registration = door.cancel_keys.register(process, key, interrupter.clone());
    wire.connection.look_after(&interrupter);
    session.on_end(wire.connection.waker());
    wire.connection.on_interrupt(move || interrupter.interrupt());
    tracing::info!(
        connection = wire.connection.number(),
        peer = %wire.connection.peer(),
        user = request.user,
        tls = wire.connection.is_encrypted(),
        "session opened"
    );
    Ok(PgSession::new(session, wire, inbox, registration))
}

/// Tells the client why it is not let in.
fn refuse(wire: &mut Wire<'_>, error: &Error) -> Ending {
    wire.goodbye(error);
    Ending::Refused(error.message.clone())
}

/// Reads until there are more bytes.
fn fill(wire: &mut Wire<'_>, inbox: &mut Inbox) -> Result<(), Ending> {
    wire.flush()?;
    let least = wire.server.missing(inbox).min(INBOX_STEP);
    match wire.connection.read(inbox.space(least)) {
        Ok(0) if wire.connection.stopping() => {
            Err(refuse(wire, &Error::new(Condition::CannotConnectNow, "the database system is shutting down")))
        }
        Ok(0) if !inbox.is_amid_message() => Err(Ending::Brief("closed before it said who it is")),
        Ok(0) => Err(Ending::Protocol("connection closed in the middle of the start-up".into())),
        Ok(count) => {
            inbox.filled(count);
            Ok(())
        }
        Err(error) if error.kind() == ErrorKind::TimedOut => {
            wire.goodbye(&Error::new(Condition::QueryCanceled, "canceling authentication due to timeout"));
            Err(Ending::TimedOut("the start-up was not completed"))
        }
        Err(error) => Err(Ending::Broken(error)),
    }
}

/// The next request, which `then` answers.
fn next<R>(
    wire: &mut Wire<'_>,
    inbox: &mut Inbox,
    then: impl FnOnce(&mut Wire<'_>, Request<'_>) -> Result<R, Ending>,
) -> Result<R, Ending> {
    loop {
        match wire.server.poll(inbox) {
            Ok(Some(request)) => return then(wire, request),
            Ok(None) => fill(wire, inbox)?,
            Err(violation) => {
                wire.goodbye(&report::violation(&violation));
                return Err(Ending::Protocol(violation.to_string()));
            }
        }
    }
}

/// The packets before the authentication: encryption requests, cancel requests, and at last a start-up message.
fn first_packet(door: &PgDoor, wire: &mut Wire<'_>, inbox: &mut Inbox) -> Result<StartUp, Ending> {
    // Whatever else is wrong with the connection, the first read will say.
    if let Ok(Some(TLS_HANDSHAKE)) = wire.connection.peek() {
        start_tls(wire)?;
    }
    loop {
        let request = next(wire, inbox, |wire, request| match request {
            Request::StartTls if wire.connection.can_encrypt() => {
                wire.server.begin_tls();
                wire.flush()?;
                start_tls(wire)?;
                wire.server.tls_started();
                Ok(None)
            }
            Request::StartTls => {
                wire.server.refuse_tls();
                Ok(None)
            }
            Request::Startup(message) => read_request(&message).map(Some).map_err(|error| refuse(wire, &error)),
            Request::Cancel(request) => Err(match door.cancel_keys.cancel(request.process, request.key) {
                // The protocol has no answer for it, so that secrets cannot be probed.
                true => Ending::Brief("cancel request"),
                false => Ending::Refused("cancel request for a session or secret that is not there".into()),
            }),
            other => Err(unasked(&other)),
        })?;
        if let Some(request) = request {
            return Ok(request);
        }
    }
}

/// What the machine makes no request of here.
fn unasked(request: &Request<'_>) -> Ending {
    match request {
        Request::Terminate => Ending::Brief("closed before it proved its password"),
        _ => Ending::Protocol("a message that nobody asked for".into()),
    }
}

fn start_tls(wire: &mut Wire<'_>) -> Result<(), Ending> {
    wire.connection.start_tls().map_err(|error| match error.kind() {
        ErrorKind::TimedOut => Ending::TimedOut("the TLS handshake was not completed"),
        ErrorKind::Unsupported => Ending::Protocol("TLS was begun without asking".into()),
        _ => Ending::Protocol(format!("TLS handshake failed: {error}")),
    })
}

fn read_request(message: &StartupMessage<'_>) -> Result<StartUp, Error> {
    let version = message.version;
    if version.major != 3 {
        return Err(Error::new(
            Condition::FeatureNotSupported,
            format!("unsupported frontend protocol {}.{}: server supports 3.0 to 3.2", version.major, version.minor),
        ));
    }
    let text = |bytes| report::utf8(bytes).map(str::to_owned);
    let user = match message.parameter("user") {
        Some(user) if !user.is_empty() => text(user)?,
        _ => {
            return Err(Error::new(
                Condition::InvalidAuthorizationSpecification,
                "no PostgreSQL user name specified in startup packet",
            ));
        }
    };
    let database = match message.parameter("database") {
        Some(database) if !database.is_empty() => text(database)?,
        _ => user.clone(),
    };
    match message.parameter("replication") {
        None | Some(b"" | b"0" | b"off" | b"false" | b"no") => {}
        // What `pg_basebackup`, `pg_receivewal` and logical replication begin with.
        Some(b"1" | b"on" | b"true" | b"yes" | b"database") => return Err(replication_unsupported()),
        Some(other) => {
            let message = format!("invalid value for parameter \"replication\": \"{}\"", report::utf8(other)?);
            return Err(Error::new(Condition::InvalidParameterValue, message)
                .hint("Valid values are: \"false\", 0, \"true\", 1, \"database\"."));
        }
    }
    let mut variables = Vec::new();
    let mut unrecognized = Vec::new();
    if let Some(options) = message.parameter("options") {
        variables.extend(read_options(report::utf8(options)?)?);
    }
    for (name, value) in &message.parameters {
        let name = text(name)?;
        if name.starts_with("_pq_.") {
            unrecognized.push(name);
        } else if !NOT_VARIABLES.contains(&name.as_str()) {
            variables.push((name, text(value)?));
        }
    }
    Ok(StartUp { version, user, database, variables, unrecognized })
}

/// Reads the command line that clients may send as `options`: `-c name=value`, `-cname=value`, `--name=value`.
///
/// Words are separated by blanks; a backslash keeps the character behind it.
fn read_options(text: &str) -> Result<Vec<(String, String)>, Error> {
    let mut words: Vec<String> = Vec::new();
    let mut word: Option<String> = None;
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        match character {
            ' ' | '\t' | '\n' | '\r' => words.extend(word.take()),
            '\\' => word.get_or_insert_default().extend(characters.next()),
            other => word.get_or_insert_default().push(other),
        }
    }
    words.extend(word);

    let mut variables = Vec::new();
    let mut words = words.into_iter();
    while let Some(word) = words.next() {
        let setting = match word.as_str() {
            "-c" => words.next(),
            _ => word.strip_prefix("-c").or_else(|| word.strip_prefix("--")).map(str::to_owned),
        };
        let pair = setting.as_deref().and_then(|setting| setting.split_once('='));
        let Some((name, value)) = pair.filter(|(name, _)| !name.is_empty()) else {
            return Err(Error::new(
                Condition::SyntaxError,
                format!("invalid command-line argument for server process: {word}"),
            )
            .hint("Settings are written -c name=value."));
        };
        // On a command line PostgreSQL takes a dash for an underscore in long options.
        let name = if word.starts_with("--") { name.replace('-', "_") } else { name.to_owned() };
        variables.push((name, value.to_owned()));
    }
    Ok(variables)
}

/// The database that a client asks for: that of the name; the one that the server was started for also by its file's name,
/// by no name at all (which clients fill with the user's) and as `postgres`, where tools go that make databases.
fn database(door: &PgDoor, request: &StartUp) -> Result<Database, Error> {
    let main = door.databases.main();
    let asked = request.database.as_str();
    let error = match door.databases.open(asked) {
        Err(error) if error.condition() == Condition::InvalidCatalogName => error,
        other => return other,
    };
    let is_file_name = asked.strip_prefix(main.name()).is_some_and(|rest| rest.starts_with('.') && !rest.contains('/'));
    if is_file_name || asked == request.user || asked == "postgres" {
        return Ok(main.clone());
    }
    Err(error.hint(format!("The database served here is \"{}\".", main.name())))
}

fn replication_unsupported() -> Error {
    Error::unsupported("replication (pg_basebackup, pg_receivewal, logical replication)").hint(
        "A copy of the database while it is served: rowferry backup SOURCE DEST. Committed changes, row by row: \
         rowferry changes SOURCE.",
    )
}

fn encryption_required() -> Error {
    Error::new(Condition::InvalidAuthorizationSpecification, "the server requires an encrypted connection")
        .hint("Connect with sslmode=require, or sslmode=verify-full to verify the server's certificate, too.")
}

/// SCRAM-SHA-256, bound to the TLS connection where there is one and the client can.
fn authenticate(gate: &Gate, users: &Users, wire: &mut Wire<'_>, inbox: &mut Inbox, user: &str) -> Result<(), Ending> {
    wire.server.ask_scram(wire.connection.end_point().map(<[u8]>::to_vec));
    let nonce: String = random::<NONCE_BYTES>().iter().map(|byte| format!("{byte:02x}")).collect();
    let attempt = next(wire, inbox, |wire, request| match request {
        Request::Scram(first) => {
            let attempt = attempt(gate, wire, user)?;
            let challenged = wire.server.challenge(first, users.verifier(user.as_bytes()), nonce);
            challenged.map_err(|error| scram_failed(wire, user, error)).map(|()| attempt)
        }
        other => Err(unasked(&other)),
    })?;
    next(wire, inbox, |wire, request| match request {
        Request::Proof(proof) => {
            if !matches!(proof, Err(ScramError::Malformed(_) | ScramError::Unsupported(_))) {
                attempt.ended(proof.is_ok());
            }
            proof.map_err(|error| scram_failed(wire, user, error))
        }
        other => Err(unasked(&other)),
    })
}

/// The password as it is, for rules that say so.
fn clear_password(
    gate: &Gate,
    users: &Users,
    wire: &mut Wire<'_>,
    inbox: &mut Inbox,
    user: &str,
) -> Result<(), Ending> {
    wire.server.ask_password();
    next(wire, inbox, |wire, request| match request {
        Request::Password(password) => {
            let attempt = attempt(gate, wire, user)?;
            let right = std::str::from_utf8(password).is_ok_and(|password| users.accepts(user, password));
            attempt.ended(right);
            if right { Ok(()) } else { Err(wrong_password(wire, user)) }
        }
        other => Err(unasked(&other)),
    })
}

/// An attempt to prove a password, unless there have been too many.
fn attempt<'g>(gate: &'g Gate, wire: &mut Wire<'_>, user: &str) -> Result<Attempt<'g>, Ending> {
    gate.attempt(wire.connection, user)
        .map_err(|error| refuse(wire, &Error::new(Condition::InvalidPassword, format!("{error} (user \"{user}\")"))))
}

/// The user of this machine whose program the client is.
fn same_user(wire: &mut Wire<'_>, demand: &Demand, user: &str) -> Result<(), Ending> {
    match wire.connection.peer_user() {
        Ok(name) if demand.admits(&name, user) => Ok(()),
        found => {
            tracing::warn!(connection = wire.connection.number(), ?found, user, "another user of this machine");
            let message = format!("Peer authentication failed for user \"{user}\"");
            Err(refuse(wire, &Error::new(Condition::InvalidAuthorizationSpecification, message)))
        }
    }
}

fn wrong_password(wire: &mut Wire<'_>, user: &str) -> Ending {
    let message = format!("password authentication failed for user \"{user}\"");
    refuse(wire, &Error::new(Condition::InvalidPassword, message))
}

fn scram_failed(wire: &mut Wire<'_>, user: &str, error: ScramError) -> Ending {
    match error {
        ScramError::WrongPassword | ScramError::ServerNotAuthentic => wrong_password(wire, user),
        ScramError::Malformed("channel binding") => {
            refuse(wire, &Error::new(Condition::InvalidPassword, "SCRAM channel binding check failed"))
        }
        ScramError::Downgraded | ScramError::Malformed(_) => {
            wire.goodbye(&Error::new(Condition::ProtocolViolation, error.to_string()));
            Ending::Protocol(error.to_string())
        }
        ScramError::Unsupported(what) => refuse(wire, &Error::unsupported(format!("SCRAM: {what}"))),
    }
}

#[cfg(test)]
mod tests {
    use rowferry_wire_pg::messages::PROTOCOL_3_0;

    use super::*;

    fn request(parameters: &[(&str, &str)]) -> Result<StartUp, Error> {
        let parameters = parameters.iter().map(|(name, value)| (name.as_bytes(), value.as_bytes())).collect();
        read_request(&StartupMessage { version: PROTOCOL_3_0, parameters })
    }

    #[test]
    fn reads_options_as_a_command_line() {
        let read = |text| read_options(text).unwrap();
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        assert_eq!(read(""), []);
        assert_eq!(
            read("-c geqo=off  -csearch_path=a,b --statement-timeout=5s"),
            [pair("geqo", "off"), pair("search_path", "a,b"), pair("statement_timeout", "5s")]
        );
        assert_eq!(read(r"-c application_name=my\ app\\x"), [pair("application_name", r"my app\x")]);
        for text in ["-c", "-c geqo", "--", "-x", "geqo=off", "-c =off"] {
            assert_eq!(read_options(text).unwrap_err().condition(), Condition::SyntaxError, "{text:?}");
        }
    }

    #[test]
    fn sorts_the_parameters_of_a_start_up() {
        let read = request(&[("user", "ada"), ("_pq_.x", "1"), ("TimeZone", "UTC"), ("options", "-c a=b")]).unwrap();
        assert_eq!((read.user.as_str(), read.database.as_str()), ("ada", "ada"));
        assert_eq!(read.unrecognized, ["_pq_.x"]);
        assert_eq!(read.variables, [("a".into(), "b".into()), ("TimeZone".into(), "UTC".into())]);
    }

    #[test]
    fn refuses_start_ups_that_cannot_be_served() {
        let condition = |parameters: &[(&str, &str)]| request(parameters).unwrap_err().condition();
        assert_eq!(condition(&[]), Condition::InvalidAuthorizationSpecification);
        assert_eq!(condition(&[("user", "")]), Condition::InvalidAuthorizationSpecification);
        assert_eq!(condition(&[("user", "a"), ("replication", "database")]), Condition::FeatureNotSupported);
        let old = ProtocolVersion { major: 2, minor: 0 };
        let error = read_request(&StartupMessage { version: old, parameters: Vec::new() }).unwrap_err();
        assert_eq!(error.condition(), Condition::FeatureNotSupported);
    }
}
