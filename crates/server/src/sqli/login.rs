//! From the first byte to a session.

use std::io::ErrorKind;

use rowferry_dialect::informix::values::DateFormat;
use rowferry_wire_sqli::login::LoginReply;
use rowferry_wire_sqli::messages::warning;
use rowferry_wire_sqli::server::{Decoder, Request, Server};
use rowferry_wire_sqli::{Capabilities, DecodeError};

use super::report::Texts;
use super::session::{Admission, SqliSession};
use super::text::CodeSet;
use super::{SERVER_NAME, SqliDoor, pam};
use crate::auth::hba::{Demand, Method};
use crate::auth::{Client, Users};
use crate::{Connection, Ending, kit};

/// The first byte of a TLS handshake.
const TLS_HANDSHAKE: u8 = 0x16;
/// What the login packet is answered with.
const SERIAL: &[u8] = b"Software Serial Number AAA#B000000";
/// The version's first words, in which drivers look for a number. Version 4.50 of IBM's driver reads two digits behind the
/// first point, and fails on others. What stands before "Version" is the product's name that IBM's driver tells, by which
/// Flyway, Liquibase and Hibernate know the database.
const VERSION: &[u8] = b"Informix Dynamic Server Version 15.00.1.0.3";
/// The login packet has a length of two bytes.
const READ: usize = 4 * 1024;

/// User or password is wrong.
const BAD_PASSWORD: i16 = -951;
/// The client's locale is not known.
const BAD_LOCALE: i16 = -23101;
/// The server is full.
const TOO_MANY: i16 = -27001;
/// The request cannot be read.
const BAD_REQUEST: i16 = -408;
/// The request is of a kind that is not served.
const NOT_SERVED: i16 = -908;

/// The form of the client's dates in text: that of GL_DATE before that of DBDATE. The usual one is none of its own.
fn date_format(dbdate: Option<&[u8]>, gl_date: Option<&[u8]>) -> Result<Option<DateFormat>, String> {
    let said = |value: Option<&[u8]>| {
        value.map(|value| String::from_utf8_lossy(value).into_owned()).filter(|value| !value.is_empty())
    };
    let known = match (said(gl_date), said(dbdate)) {
        (Some(words), _) => DateFormat::of_gl_date(&words).ok_or_else(|| {
            format!("GL_DATE {words}: here it has %d, %m and %Y or %y with one of / - . between, as %d.%m.%Y")
        })?,
        (None, Some(words)) => DateFormat::of_dbdate(&words).ok_or_else(|| {
            format!("DBDATE {words}: here it has D, M and Y4 or Y2 with one of / - . 0 behind, as DMY4/")
        })?,
        (None, None) => return Ok(None),
    };
    Ok(Some(known).filter(|known| !known.is_usual()))
}

/// A client that is not in yet.
pub(super) struct Login<'c> {
    pub(super) connection: &'c mut Connection,
    decoder: Decoder,
    pub(super) server: Server,
}

pub(super) fn open<'c>(door: &SqliDoor, connection: &'c mut Connection) -> Result<SqliSession<'c>, Ending> {
    let mut first = [0; READ];
    let count = read(connection, &mut first, true)?;
    let first = &first[..count];
    let mut login = Login { connection, decoder: Decoder::new(), server: Server::new(Capabilities::server_15()) };
    // TLS is a plain wrapper, begun before the first byte.
    if first.first() == Some(&TLS_HANDSHAKE) {
        login.connection.start_tls_after(first).map_err(|error| match error.kind() {
            ErrorKind::TimedOut => Ending::TimedOut("the TLS handshake was not completed"),
            ErrorKind::Unsupported => Ending::Protocol("TLS was begun, but the server has no certificate".into()),
            _ => Ending::Protocol(format!("TLS handshake failed: {error}")),
        })?;
    } else {
        login.decoder.push(first);
    }
    let request = loop {
        match login.decoder.login_request() {
            Ok(Some(request)) => break request,
            Ok(None) => login.fill()?,
            Err(DecodeError::Unsupported(what)) => {
                login.reject(
                    NOT_SERVED,
                    "Native clients (ESQL/C, ODBC, dbaccess) are not served: use JDBC or a SQLI driver",
                );
                return Err(Ending::Refused(what.into()));
            }
            Err(error) => {
                login.reject(BAD_REQUEST, "The login packet cannot be read");
                return Err(Ending::Protocol(error.to_string()));
            }
        }
    };
    let user = String::from_utf8_lossy(&request.user).into_owned();
    let password = String::from_utf8_lossy(&request.password.0).into_owned();
    if login.connection.lacks_encryption() {
        login.reject(NOT_SERVED, "The server takes encrypted connections only (JDBC: SSLCONNECTION=true)");
        return Err(Ending::Refused("not encrypted, and --tls-required".into()));
    }
    let role = door.databases.main().login(&user);
    let users = door.gate.users().with_role(&user, &role).map_err(|error| {
        login.reject(BAD_PASSWORD, "The password that is kept of the user is damaged");
        Ending::Refused(format!("the password of role {user}: {error}"))
    })?;
    let client = Client::of(login.connection);
    let (demand, machine_user) = demand(door, &mut login, &client, &users, &user)?;
    // This protocol has no other way to prove a password than to show it.
    let needs_password = matches!(demand.method, Method::Scram | Method::Password);
    // With PAM the password of the packet is none: the one that counts is asked for.
    let asks = door.pam && needs_password;
    if !asks && needs_password {
        let attempt = door.gate.attempt(login.connection, &user).map_err(|error| {
            login.reject(BAD_PASSWORD, "Too many wrong passwords: try again later");
            Ending::Refused(format!("{error} (user {user})"))
        })?;
        let right = users.accepts(&user, &password);
        attempt.ended(right);
        if !right {
            login.reject(BAD_PASSWORD, "Incorrect password or user is not known on the database server");
            return Err(Ending::Refused(format!("wrong password for user {user}")));
        }
    }
    if let Err(error) = role.check() {
        match error.informix_code() {
            BAD_PASSWORD => {
                login.reject(BAD_PASSWORD, "Incorrect password or user is not known on the database server");
            }
            // It is known who asks.
            code => login.reject(code, &error.message),
        }
        return Err(Ending::Refused(error.message.clone()));
    }
    let locale = request.variable("CLIENT_LOCALE").map(|locale| String::from_utf8_lossy(locale).into_owned());
    let locale = locale.as_deref().unwrap_or("en_US.8859-1");
    let Some(code_set) = CodeSet::of_locale(locale) else {
        let message =
            format!("CLIENT_LOCALE {locale}: the code set is not known here; en_US.utf8 holds every character");
        login.reject(BAD_LOCALE, &message);
        return Err(Ending::Refused(message));
    };
    let dates = match date_format(request.variable("DBDATE"), request.variable("GL_DATE")) {
        Ok(dates) => dates,
        Err(message) => {
            login.reject(BAD_LOCALE, &message);
            return Err(Ending::Refused(message));
        }
    };
    // By any value but `n`, as esql's own clients have it.
    let delimited = request.variable("DELIMIDENT").is_some_and(|value| !value.eq_ignore_ascii_case(b"n"));
    let server = if request.server.is_empty() { SERVER_NAME.as_bytes() } else { &request.server };
    let flags = warning::DYNAMIC_SERVER | warning::UNKNOWN_10;
    let accepted = LoginReply::accept(VERSION, SERIAL, server, flags);
    // With PAM there are questions first.
    if asks {
        login.server.accept_and_ask(&accepted).map_err(|error| Ending::Failed(error.to_string()))?;
        pam::authenticate(&door.gate, &users, &mut login, &user)?;
    }
    if let Err(full) = login.connection.admit() {
        match asks {
            true => login.refuse(),
            false => login.reject(TOO_MANY, "The server has as many sessions as it may have"),
        }
        return Err(Ending::Refused(format!("too many sessions: the limit is {}", full.limit)));
    }
    match asks {
        true => login.server.accept_answer(),
        false => {
            let accepted = accepted.taking_groups_ahead();
            login.server.accept(&accepted).map_err(|error| Ending::Failed(error.to_string()))?;
        }
    }
    // Who has sent more with the login is told all at once.
    if asks || login.decoder.is_empty() {
        login.flush()?;
    }
    tracing::info!(
        connection = login.connection.number(),
        peer = %login.connection.peer(),
        user,
        tls = login.connection.is_encrypted(),
        "session opened"
    );
    let server = String::from_utf8_lossy(server).into_owned();
    let texts = Texts::of_program(request.application().map(|application| &application.name[..]));
    let admission = Admission { gate: door.gate.clone(), client, users, proved: demand.method, machine_user };
    Ok(SqliSession::new(
        door.databases.clone(),
        login.connection,
        (login.decoder, login.server),
        user,
        server,
        (code_set, delimited, dates, texts),
        admission,
    ))
}

/// What the client is to prove at the database that is served, and which user of this machine it is where that was asked; what
/// needs no password has been looked at.
fn demand(
    door: &SqliDoor,
    login: &mut Login<'_>,
    client: &Client,
    users: &Users,
    user: &str,
) -> Result<(Demand, Option<String>), Ending> {
    let main = door.databases.main();
    let looked = door.gate.demand(client, users, user, main.name(), main).and_then(|demand| {
        demand.check_certificate(client)?;
        demand.check_certificate_name(client, user)?;
        Ok(demand)
    });
    let refused = match looked {
        Ok(demand) if demand.method == Method::Peer => match login.connection.peer_user() {
            Ok(name) if demand.admits(&name, user) => return Ok((demand, Some(name))),
            _ => format!("Peer authentication failed for user \"{user}\""),
        },
        Ok(demand) => return Ok((demand, None)),
        Err(error) => error.message.clone(),
    };
    login.reject(BAD_PASSWORD, &refused);
    Err(Ending::Refused(refused))
}

/// Reads what the client says before it is in; `is_first` when it has said nothing yet.
fn read(connection: &mut Connection, buffer: &mut [u8], is_first: bool) -> Result<usize, Ending> {
    match connection.read(buffer) {
        Ok(0) if connection.stopping() => Err(Ending::Stopped),
        Ok(0) if is_first => Err(Ending::Brief("closed before it said who it is")),
        Ok(0) => Err(Ending::Protocol("connection closed in the middle of the login".into())),
        Ok(count) => Ok(count),
        Err(error) if error.kind() == ErrorKind::TimedOut => Err(Ending::TimedOut("the login was not completed")),
        Err(error) => Err(Ending::Broken(error)),
    }
}

impl Login<'_> {
    /// Writes what waits, then waits for more bytes.
    fn fill(&mut self) -> Result<(), Ending> {
        self.flush()?;
        let is_first = self.decoder.is_empty();
        let count = read(self.connection, self.decoder.space(READ), is_first)?;
        self.decoder.filled(count);
        Ok(())
    }

    /// The next request of a client that is asked who it is.
    pub(super) fn request(&mut self) -> Result<Request<'static>, Ending> {
        loop {
            let message = match self.decoder.next() {
                Ok(Some(message)) => message,
                Ok(None) => {
                    self.fill()?;
                    continue;
                }
                Err(error) => return Err(Ending::Protocol(error.to_string())),
            };
            match self.server.handle(message) {
                Ok(None) => {}
                Ok(Some(Request::Protocols(active))) => self.decoder.activate(&active),
                Ok(Some(Request::Answer(answer))) => return Ok(Request::Answer(answer)),
                Ok(Some(Request::Question)) => return Ok(Request::Question),
                Ok(Some(Request::Exit)) => return Ok(Request::Exit),
                Ok(Some(_)) => return Err(Ending::Protocol("a message that nobody asked for".into())),
                Err(violation) => return Err(Ending::Protocol(violation.to_string())),
            }
        }
    }

    fn flush(&mut self) -> Result<(), Ending> {
        kit::flush(self.connection, &mut self.server)
    }

    /// Tells the client why it is not let in; whether or not it can still be told, it is out.
    fn reject(&mut self, code: i16, message: &str) {
        let reply = LoginReply::reject(code, message.as_bytes(), SERVER_NAME.as_bytes());
        let _ = self.server.reject(&reply);
        let _ = self.flush();
    }

    /// The client that was asked who it is is out, whether or not it can still be told.
    pub(super) fn refuse(&mut self) {
        self.server.refuse();
        let _ = self.flush();
    }
}
