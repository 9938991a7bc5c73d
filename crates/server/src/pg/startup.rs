//! From the first byte to the first `ReadyForQuery`.

use std::io::ErrorKind;

use rowferry_engine::{Condition, Database, Error, Language, SessionOptions};
use rowferry_wire::ReceiveBuffer;
use rowferry_wire_pg::frame::{cut_frontend, cut_startup, missing};
use rowferry_wire_pg::messages::{
    Authentication, BackendKeyData, Frontend, NegotiateProtocolVersion, PROTOCOL_3_0, PROTOCOL_3_2, ParameterStatus,
    ProtocolVersion, SaslInitialResponse, Severity, StartupMessage, StartupPacket,
};
use rowferry_wire_pg::scram::{AwaitClientFirst, ChannelBinding, SCRAM_SHA_256, SCRAM_SHA_256_PLUS, ScramError};
use rowferry_wire_pg::{Backend, FrameLimits};

use super::output::Output;
use super::session::PgSession;
use super::{PgDoor, report};
use crate::auth::hba::{Demand, Method};
use crate::auth::{Client, Gate, Users, random};
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
struct Request {
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
    let mut output = Output::new(connection);
    let mut inbox = ReceiveBuffer::with_step(INBOX_STEP);
    let request = first_packet(door, &mut output, &mut inbox)?;
    if output.connection.lacks_encryption() {
        return Err(refuse(&mut output, &encryption_required()));
    }
    negotiate(&mut output, &request);
    let asked = database(door, &request);
    let main = door.databases.main();
    let login = asked.as_ref().unwrap_or(main).login(&request.user);
    // The roles of the file that the server was started for say who may come in to any of them.
    let keeper = if main.has_roles() { main.login(&request.user) } else { login.clone() };
    let users = door.gate.users().with_role(&request.user, &keeper).map_err(|error| {
        let error = Error::new(Condition::DataCorrupted, format!("the password of role \"{}\": {error}", request.user));
        refuse(&mut output, &error)
    })?;
    let name = asked.as_ref().map_or(request.database.as_str(), Database::name);
    let client = Client::of(output.connection);
    let roles_of = if main.has_roles() { main } else { asked.as_ref().unwrap_or(main) };
    let demand = door.gate.demand(&client, &users, &request.user, name, roles_of);
    let demand = demand.map_err(|error| refuse(&mut output, &error))?;
    demand.check_certificate(&client).map_err(|error| refuse(&mut output, &error))?;
    match demand.method {
        Method::Trust => tracing::debug!(connection = output.connection.number(), "trusted"),
        Method::Scram => authenticate(&door.gate, &users, &mut output, &mut inbox, &request.user)?,
        Method::Password => clear_password(&door.gate, &users, &mut output, &mut inbox, &request.user)?,
        Method::Peer => same_user(&mut output, &demand, &request.user)?,
        // Its name is looked at below.
        Method::Cert => {}
        // Turned away above.
        Method::Reject => return Err(refuse(&mut output, &Error::internal("a rule that rejects lets somebody in"))),
    }
    demand.check_certificate_name(&client, &request.user).map_err(|error| refuse(&mut output, &error))?;
    if output.connection.stopping() {
        return Err(refuse(
            &mut output,
            &Error::new(Condition::CannotConnectNow, "the database system is shutting down"),
        ));
    }
    if let Err(full) = output.connection.admit() {
        let error = Error::new(Condition::TooManyConnections, "sorry, too many clients already")
            .detail(format!("The limit is {} connections.", full.limit));
        return Err(refuse(&mut output, &error));
    }
    let database = asked.map_err(|error| refuse(&mut output, &error))?;
    keeper.check().and_then(|()| login.check()).map_err(|error| refuse(&mut output, &error))?;
    let mut session = database.session(SessionOptions {
        user: request.user.clone(),
        application_name: String::new(),
        language: Language::Postgres,
        client_address: output.connection.peer().to_string(),
        server_address: output.connection.local().map_or_else(String::new, |address| address.to_string()),
    });
    for (name, value) in login.settings.iter().chain(&request.variables) {
        session.set_variable(name, value).map_err(|error| refuse(&mut output, &error))?;
    }
    output.encoding = session.client_encoding();
    output.send(&Backend::Authentication(Authentication::Ok));
    for (name, value) in session.drain_reports() {
        output.send(&Backend::ParameterStatus(ParameterStatus { name: &name, value: &value }));
    }
    let process = session.pid();
    let key = if request.version >= PROTOCOL_3_2 { random::<32>().to_vec() } else { random::<4>().to_vec() };
    output.send(&Backend::BackendKeyData(BackendKeyData { process, key: &key }));
    let interrupter = session.interrupter();
    let registration = door.cancel_keys.register(process, key, interrupter.clone());
    output.connection.look_after(&interrupter);
    session.on_end(output.connection.waker());
    output.connection.on_interrupt(move || interrupter.interrupt());
    tracing::info!(
        connection = output.connection.number(),
        peer = %output.connection.peer(),
        user = request.user,
        tls = output.connection.is_encrypted(),
        "session opened"
    );
    Ok(PgSession::new(session, output, inbox, registration))
}

/// Tells the client why it is not let in.
fn refuse(output: &mut Output<'_>, error: &Error) -> Ending {
    output.send(&Backend::ErrorResponse(report::notice(error, Severity::Fatal)));
    // Whether or not it can still be told, it is out.
    let _ = output.flush();
    Ending::Refused(error.message.clone())
}

fn protocol(output: &mut Output<'_>, message: String) -> Ending {
    let _ = refuse(output, &Error::new(Condition::ProtocolViolation, message.clone()));
    Ending::Protocol(message)
}

/// Reads until there are more bytes.
fn fill(output: &mut Output<'_>, inbox: &mut ReceiveBuffer, least: usize) -> Result<(), Ending> {
    match output.connection.read(inbox.space(least)) {
        Ok(0) if output.connection.stopping() => {
            Err(refuse(output, &Error::new(Condition::CannotConnectNow, "the database system is shutting down")))
        }
        Ok(0) if inbox.unread().is_empty() => Err(Ending::Brief("closed before it said who it is")),
        Ok(0) => Err(Ending::Protocol("connection closed in the middle of the start-up".into())),
        Ok(count) => {
            inbox.filled(count);
            Ok(())
        }
        Err(error) if error.kind() == ErrorKind::TimedOut => {
            let told = Error::new(Condition::QueryCanceled, "canceling authentication due to timeout");
            let _ = refuse(output, &told);
            Err(Ending::TimedOut("the start-up was not completed"))
        }
        Err(error) => Err(Ending::Broken(error)),
    }
}

/// The packets before the authentication: encryption requests, cancel requests, and at last a start-up message.
fn first_packet(door: &PgDoor, output: &mut Output<'_>, inbox: &mut ReceiveBuffer) -> Result<Request, Ending> {
    // Whatever else is wrong with the connection, the first read will say.
    if let Ok(Some(TLS_HANDSHAKE)) = output.connection.peek() {
        start_tls(output, inbox)?;
    }
    let (mut asked_tls, mut asked_gss) = (false, false);
    loop {
        let len = loop {
            match cut_startup(inbox.unread()) {
                Ok(Some((_, len))) => break len,
                Ok(None) => fill(output, inbox, 1)?,
                Err(error) => return Err(protocol(output, error.to_string())),
            }
        };
        let bytes = &inbox.unread()[4..len];
        match StartupPacket::decode(bytes) {
            Err(error) => {
                return Err(protocol(output, format!("invalid startup packet: {}", error.what)));
            }
            Ok(StartupPacket::Cancel(request)) => {
                let found = door.cancel_keys.cancel(request.process, request.key);
                // The protocol has no answer for it, so that secrets cannot be probed.
                return Err(if found {
                    Ending::Brief("cancel request")
                } else {
                    Ending::Refused("cancel request for a session or secret that is not there".into())
                });
            }
            Ok(StartupPacket::SslRequest) if !asked_tls => {
                asked_tls = true;
                inbox.consume(len);
                if !inbox.unread().is_empty() {
                    // Bytes behind the request were sent in the clear, perhaps by somebody in between.
                    return Err(protocol(output, "received unencrypted data after SSL request".into()));
                }
                if output.connection.can_encrypt() {
                    answer(output, b"S")?;
                    start_tls(output, inbox)?;
                } else {
                    answer(output, b"N")?;
                }
            }
            Ok(StartupPacket::GssEncRequest) if !asked_gss => {
                asked_gss = true;
                inbox.consume(len);
                if !inbox.unread().is_empty() {
                    return Err(protocol(output, "received unencrypted data after GSSAPI encryption request".into()));
                }
                answer(output, b"N")?;
            }
            Ok(StartupPacket::SslRequest | StartupPacket::GssEncRequest) => {
                return Err(protocol(output, "encryption was asked for twice".into()));
            }
            Ok(StartupPacket::Startup(message)) => {
                let request = read_request(&message).map_err(|error| refuse(output, &error))?;
                inbox.consume(len);
                return Ok(request);
            }
        }
    }
}

fn answer(output: &mut Output<'_>, byte: &[u8]) -> Result<(), Ending> {
    output.connection.write_all(byte).map_err(Ending::Broken)
}

fn start_tls(output: &mut Output<'_>, inbox: &ReceiveBuffer) -> Result<(), Ending> {
    debug_assert!(inbox.unread().is_empty(), "bytes in the clear before TLS");
    output.connection.start_tls().map_err(|error| match error.kind() {
        ErrorKind::TimedOut => Ending::TimedOut("the TLS handshake was not completed"),
        ErrorKind::Unsupported => Ending::Protocol("TLS was begun without asking".into()),
        _ => Ending::Protocol(format!("TLS handshake failed: {error}")),
    })
}

fn read_request(message: &StartupMessage<'_>) -> Result<Request, Error> {
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
    Ok(Request { version, user, database, variables, unrecognized })
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

/// Says which version we speak, when it is not the one asked for.
fn negotiate(output: &mut Output<'_>, request: &Request) {
    let spoken = match request.version.minor {
        0 | 1 => PROTOCOL_3_0,
        _ => PROTOCOL_3_2,
    };
    if spoken != request.version || !request.unrecognized.is_empty() {
        output.send(&Backend::NegotiateProtocolVersion(NegotiateProtocolVersion {
            version: u32::from(spoken.major) << 16 | u32::from(spoken.minor),
            unrecognized: request.unrecognized.iter().map(String::as_str).collect(),
        }));
    }
}

/// The database that a client asks for: that of the name; the one that the server was started for also by its file's name,
/// by no name at all (which clients fill with the user's) and as `postgres`, where tools go that make databases.
fn database(door: &PgDoor, request: &Request) -> Result<Database, Error> {
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
fn authenticate(
    gate: &Gate,
    users: &Users,
    output: &mut Output<'_>,
    inbox: &mut ReceiveBuffer,
    user: &str,
) -> Result<(), Ending> {
    let end_point = output.connection.end_point().map(<[u8]>::to_vec);
    let plus = end_point.is_some().then_some(SCRAM_SHA_256_PLUS);
    output.send(&Backend::Authentication(Authentication::Sasl(plus.into_iter().chain([SCRAM_SHA_256]).collect())));
    output.flush()?;
    let nonce: String = random::<NONCE_BYTES>().iter().map(|byte| format!("{byte:02x}")).collect();

    let message = password_message(output, inbox)?;
    let initial = match SaslInitialResponse::decode(&message) {
        Ok(initial) => initial,
        Err(error) => return Err(protocol(output, format!("invalid SASL message: {}", error.what))),
    };
    let binding = match (initial.mechanism, end_point) {
        (mechanism, Some(data)) if mechanism == SCRAM_SHA_256_PLUS.as_bytes() => ChannelBinding::Chosen(data),
        (mechanism, Some(_)) if mechanism == SCRAM_SHA_256.as_bytes() => ChannelBinding::Offered,
        (mechanism, None) if mechanism == SCRAM_SHA_256.as_bytes() => ChannelBinding::None,
        _ => return Err(protocol(output, "client selected an invalid SASL authentication mechanism".into())),
    };
    let attempt = gate.attempt(output.connection, user).map_err(|error| {
        refuse(output, &Error::new(Condition::InvalidPassword, format!("{error} (user \"{user}\")")))
    })?;
    let state = AwaitClientFirst::new(users.verifier(user.as_bytes()), nonce).with_binding(binding);
    let (challenge, state) =
        state.handle(initial.data.unwrap_or_default()).map_err(|error| scram_failed(output, user, error))?;
    output.send(&Backend::Authentication(Authentication::SaslContinue(challenge.as_bytes())));
    output.flush()?;

    let message = password_message(output, inbox)?;
    let proof = state.handle(&message);
    if !matches!(proof, Err(ScramError::Malformed(_) | ScramError::Unsupported(_))) {
        attempt.ended(proof.is_ok());
    }
    let proof = proof.map_err(|error| scram_failed(output, user, error))?;
    output.send(&Backend::Authentication(Authentication::SaslFinal(proof.as_bytes())));
    Ok(())
}

/// The password as it is, for rules that say so.
fn clear_password(
    gate: &Gate,
    users: &Users,
    output: &mut Output<'_>,
    inbox: &mut ReceiveBuffer,
    user: &str,
) -> Result<(), Ending> {
    output.send(&Backend::Authentication(Authentication::CleartextPassword));
    output.flush()?;
    let message = password_message(output, inbox)?;
    let Some(password) = message.strip_suffix(b"\0").filter(|password| !password.contains(&0)) else {
        return Err(protocol(output, "invalid password packet size".into()));
    };
    let attempt = gate.attempt(output.connection, user).map_err(|error| {
        refuse(output, &Error::new(Condition::InvalidPassword, format!("{error} (user \"{user}\")")))
    })?;
    let right = std::str::from_utf8(password).is_ok_and(|password| users.accepts(user, password));
    attempt.ended(right);
    match right {
        true => Ok(()),
        false => Err(wrong_password(output, user)),
    }
}

/// The user of this machine whose program the client is.
fn same_user(output: &mut Output<'_>, demand: &Demand, user: &str) -> Result<(), Ending> {
    match output.connection.peer_user() {
        Ok(name) if demand.admits(&name, user) => Ok(()),
        found => {
            tracing::warn!(connection = output.connection.number(), ?found, user, "another user of this machine");
            let message = format!("Peer authentication failed for user \"{user}\"");
            Err(refuse(output, &Error::new(Condition::InvalidAuthorizationSpecification, message)))
        }
    }
}

fn wrong_password(output: &mut Output<'_>, user: &str) -> Ending {
    let message = format!("password authentication failed for user \"{user}\"");
    refuse(output, &Error::new(Condition::InvalidPassword, message))
}

fn scram_failed(output: &mut Output<'_>, user: &str, error: ScramError) -> Ending {
    match error {
        ScramError::WrongPassword | ScramError::ServerNotAuthentic => wrong_password(output, user),
        ScramError::Malformed("channel binding") => {
            refuse(output, &Error::new(Condition::InvalidPassword, "SCRAM channel binding check failed"))
        }
        ScramError::Downgraded | ScramError::Malformed(_) => protocol(output, error.to_string()),
        ScramError::Unsupported(what) => refuse(output, &Error::unsupported(format!("SCRAM: {what}"))),
    }
}

/// The body of the next message, which must be a password message.
fn password_message(output: &mut Output<'_>, inbox: &mut ReceiveBuffer) -> Result<Vec<u8>, Ending> {
    loop {
        match cut_frontend(inbox.unread(), FrameLimits::HANDSHAKE) {
            Ok(None) => {
                let least = missing(inbox.unread()).min(INBOX_STEP);
                fill(output, inbox, least)?;
            }
            Ok(Some(frame)) => {
                let (tag, len) = (frame.tag, frame.len);
                let body = match Frontend::decode(tag, frame.body) {
                    Ok(Frontend::Password(body)) => body.to_vec(),
                    // What psql does before it asks its user for the password.
                    Ok(Frontend::Terminate) => return Err(Ending::Brief("closed before it proved its password")),
                    _ => {
                        let message = format!("expected SASL response, got message type {tag}");
                        return Err(protocol(output, message));
                    }
                };
                inbox.consume(len);
                return Ok(body);
            }
            Err(error) => return Err(protocol(output, error.to_string())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(parameters: &[(&str, &str)]) -> Result<Request, Error> {
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
