//! A page to look at a served database: tables and their rows, a box for questions, sessions and locks, slow statements, figures.
//!
//! It is a client of the PostgreSQL door, introduced from within the process: who may come in, from where, with which password,
//! and what they may see, is decided there and nowhere else. The server's side of the page knows four things: log in, log
//! out, run one statement, cancel it. Everything that is shown is asked in SQL by the page itself, as the user.

// As the server: sockets, clocks and threads live here.
#![allow(clippy::disallowed_types, clippy::disallowed_methods)]

mod answers;
mod sessions;

use std::borrow::Cow;
use std::io;
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use rowferry_client::postgres::Error;
use rowferry_server::Introducer;
use rowferry_server::aside::{Answering, Aside, Listening};
use rowferry_server::http::{self, Answer, Bounds, Request, Stream};
use rowferry_server::tls::Tls;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::sessions::{Refused, Session, Sessions};

/// A statement is sent in a body.
const BOUNDS: Bounds = Bounds { patience: Duration::from_secs(10), head: 16 * 1024, body: 1024 * 1024 };

/// How often those who are away too long are looked for.
const TIDY: Duration = Duration::from_secs(30);

/// The most rows of one answer.
const MOST_ROWS: u32 = 1000;

/// How long a question waits for the one before it.
const PATIENCE: Duration = Duration::from_secs(2);

/// The name of the cookie.
const COOKIE: &str = "rowferry";

/// How the page is.
#[derive(Clone, Debug)]
pub struct Options {
    /// The database that is shown.
    pub database: String,
    /// Users may change what they may change; otherwise every transaction reads only.
    pub writes: bool,
    /// What stops a statement.
    pub statement_timeout: Duration,
    /// Nobody proves a password: the page asks for a name alone.
    pub trusts: bool,
    /// Further names by which browsers know the server, as a proxy in front of it has them.
    pub names: Vec<String>,
}

/// Begins to show the page, until what is returned is dropped; with `tls` in TLS alone.
///
/// # Errors
/// What the system says.
pub fn show(
    listening: Listening,
    introducer: Introducer,
    tls: Option<Arc<Tls>>,
    options: Options,
) -> io::Result<Aside> {
    let address = listening.address();
    let sessions = Sessions::new(introducer, options.database.clone(), tls.is_some());
    listening.answer(Host { sessions, tls, options, address, tidied: Mutex::new(Instant::now()) })
}

/// What every answer has: nothing of others is loaded, nobody frames the page, nothing is guessed.
const HEADERS: [(&str, &str); 6] = [
    (
        "Content-Security-Policy",
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'none'; \
         base-uri 'none'; frame-ancestors 'none'",
    ),
    ("X-Content-Type-Options", "nosniff"),
    ("X-Frame-Options", "DENY"),
    ("Referrer-Policy", "no-referrer"),
    ("Cross-Origin-Resource-Policy", "same-origin"),
    ("Cross-Origin-Opener-Policy", "same-origin"),
];

/// A file of the page.
struct Asset {
    path: &'static str,
    form: &'static str,
    body: &'static [u8],
}

const ASSETS: [Asset; 4] = [
    Asset { path: "/", form: "text/html; charset=utf-8", body: include_bytes!("../page/index.html") },
    Asset { path: "/app.js", form: "text/javascript; charset=utf-8", body: include_bytes!("../page/app.js") },
    Asset { path: "/app.css", form: "text/css; charset=utf-8", body: include_bytes!("../page/app.css") },
    Asset { path: "/icon.svg", form: "image/svg+xml", body: include_bytes!("../page/icon.svg") },
];

struct Host {
    sessions: Sessions,
    tls: Option<Arc<Tls>>,
    options: Options,
    address: SocketAddr,
    tidied: Mutex<Instant>,
}

impl Answering for Host {
    const NAME: &'static str = "web";
    const MOST: usize = 64;
    const MOST_OF_ONE: usize = 24;

    fn answer(&self, stream: TcpStream, peer: SocketAddr) -> io::Result<()> {
        let mut stream = Stream::new(stream, self.tls.as_ref().map(|tls| tls.handshakes("http/1.1")), &BOUNDS)?;
        let (mut answer, with_body) = match http::read(&mut stream, &BOUNDS)? {
            Some(Ok(request)) => (self.told(&request, peer), request.method != "HEAD"),
            Some(Err(status)) => (refusal(status, "this request cannot be read"), true),
            None => return Ok(()),
        };
        answer.headers.extend(HEADERS.map(|(name, value)| (name, value.into())));
        stream.answer(&answer, with_body)
    }

    fn look(&self) {
        let mut tidied = self.tidied.lock();
        if tidied.elapsed() > TIDY {
            *tidied = Instant::now();
            self.sessions.tidy();
        }
    }
}

fn json_answer(status: u16, value: &Value) -> Answer {
    let headers = vec![("Cache-Control", "no-store".into())];
    Answer { status, form: "application/json", headers, body: value.to_string().into_bytes() }
}

/// What was wrong, in words.
fn refusal(status: u16, message: &str) -> Answer {
    json_answer(status, &json!({ "error": { "message": message } }))
}

fn with(mut answer: Answer, name: &'static str, value: impl Into<Cow<'static, str>>) -> Answer {
    answer.headers.push((name, value.into()));
    answer
}

impl Host {
    fn told(&self, request: &Request, peer: SocketAddr) -> Answer {
        let Some(host) = request.header("host") else {
            return refusal(400, "a request names its host, once");
        };
        if !self.is_meant(host) {
            return refusal(421, "this server has another name; open the page by its address");
        }
        if let Some(asset) = ASSETS.iter().find(|asset| asset.path == request.path) {
            return match request.method.as_str() {
                "GET" | "HEAD" => static_answer(asset, request),
                _ => with(refusal(405, "only GET is answered here"), "Allow", "GET, HEAD"),
            };
        }
        let known = ["/api/login", "/api/logout", "/api/query", "/api/cancel", "/api/about"];
        if !known.contains(&request.path.as_str()) {
            return refusal(404, "there is nothing here");
        }
        if request.method != "POST" {
            return with(refusal(405, "only POST is answered here"), "Allow", "POST");
        }
        if !self.is_ours(request) {
            return refusal(403, "another site's page has no say here");
        }
        let is_json =
            request.header("content-type").is_some_and(|form| form.split(';').next() == Some("application/json"));
        if !is_json {
            return refusal(415, "what is asked is JSON");
        }
        let Ok(body) = serde_json::from_slice::<Value>(&request.body) else {
            return refusal(400, "what is asked is not JSON");
        };
        match request.path.as_str() {
            "/api/about" => json_answer(200, &self.about(request)),
            "/api/login" => {
                // Whoever logs in again is who has logged in before.
                if let Some((token, _)) = self.session(request) {
                    self.sessions.close(token);
                }
                self.login(&body, peer)
            }
            path => {
                let Some((token, session)) = self.session(request) else { return refusal(401, "log in first") };
                match path {
                    "/api/logout" => {
                        self.sessions.close(token);
                        with(json_answer(200, &json!({})), "Set-Cookie", self.cookie("", "; Max-Age=0"))
                    }
                    "/api/cancel" => {
                        self.sessions.cancel(&session, peer, body["on"] == "look");
                        json_answer(200, &json!({}))
                    }
                    _ => self.query(&body, token, &session),
                }
            }
        }
    }

    /// A name by which a browser may know this server. Where it listens for this machine alone, a name that somebody has made
    /// lead here is none: his pages would be let in where nobody is asked for a password.
    fn is_meant(&self, host: &str) -> bool {
        if !self.address.ip().is_loopback() {
            return !host.is_empty();
        }
        // At any port: a tunnel has its own.
        let name = match host.rsplit_once(':') {
            Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
            _ => host,
        };
        let own = self.address.ip().to_string();
        let known = ["localhost", "127.0.0.1", "[::1]", &own].into_iter();
        known.chain(self.options.names.iter().map(String::as_str)).any(|known| known.eq_ignore_ascii_case(name))
    }

    /// A request that our own page has made. A header that no form can send makes a browser ask us first, whom we do not answer.
    fn is_ours(&self, request: &Request) -> bool {
        let host = request.header("host").unwrap_or_default();
        // A browser's own word; one that is too old for it is asked for the page's origin. A proxy may have another scheme.
        let is_same = match request.header("sec-fetch-site") {
            Some(site) => site == "same-origin",
            None => {
                request.header("origin").is_none_or(|origin| origin.split_once("://").is_some_and(|of| of.1 == host))
            }
        };
        request.header("x-rowferry").is_some() && is_same
    }

    /// Who has sent a request, if somebody who has logged in.
    fn session<'r>(&self, request: &'r Request) -> Option<(&'r str, Arc<Session>)> {
        let token = request.cookie(COOKIE)?;
        Some((token, self.sessions.of(token, request.header("x-rowferry")?)?))
    }

    fn cookie(&self, token: &str, more: &str) -> String {
        let secure = if self.tls.is_some() { "; Secure" } else { "" };
        format!("{COOKIE}={token}; Path=/; HttpOnly; SameSite=Strict{secure}{more}")
    }

    fn about(&self, request: &Request) -> Value {
        let session = self.session(request);
        json!({
            "database": self.options.database, "writes": self.options.writes, "trusts": self.options.trusts,
            "version": env!("CARGO_PKG_VERSION"), "user": session.map(|(_, session)| session.user.clone()),
        })
    }

    fn login(&self, body: &Value, peer: SocketAddr) -> Answer {
        let Some(user) = body["user"].as_str().filter(|user| !user.is_empty() && !user.contains('\0')) else {
            return refusal(400, "who are you? give a name");
        };
        let password = body["password"].as_str().filter(|password| !password.is_empty());
        match self.sessions.open(peer, user, password) {
            Ok((token, key)) => {
                with(json_answer(200, &json!({ "user": user, "key": key })), "Set-Cookie", self.cookie(&token, ""))
            }
            Err(Refused::Full) => refusal(429, "too many are logged in; try again later"),
            Err(Refused::Door(error)) => match (&error, error.sqlstate()) {
                (Error::Protocol(rowferry_wire_pg::client::Failure::NoPassword), _) => {
                    refusal(401, "a password is asked for")
                }
                (Error::Protocol(rowferry_wire_pg::client::Failure::Refused(notice)), Some(state)) => {
                    let status = if state.starts_with("28") { 401 } else { 503 };
                    json_answer(status, &answers::error(notice))
                }
                _ => refusal(503, &error.to_string()),
            },
        }
    }

    fn query(&self, body: &Value, token: &str, session: &Session) -> Answer {
        let Some(sql) = body["sql"].as_str().filter(|sql| !sql.contains('\0')) else {
            return refusal(400, "there is no `sql`");
        };
        let parameters: Option<Vec<Option<&str>>> = match &body["parameters"] {
            Value::Null => Some(Vec::new()),
            Value::Array(values) if values.len() <= 1000 => {
                values.iter().map(|value| if value.is_null() { Some(None) } else { value.as_str().map(Some) }).collect()
            }
            _ => None,
        };
        let Some(parameters) = parameters else {
            return refusal(400, "`parameters` are texts or null, a thousand at most");
        };
        let writes = body["changes"].as_bool().unwrap_or(false);
        if writes && !self.options.writes {
            return refusal(403, "changes are off: the server was started without --web-writes");
        }
        let most = body["rows"].as_u64().and_then(|rows| u32::try_from(rows).ok()).unwrap_or(100).clamp(1, MOST_ROWS);
        let connection = if body["on"] == "look" { &session.look } else { &session.work };
        let Some(mut connection) = connection.try_lock_for(PATIENCE) else {
            return refusal(409, "another statement of yours is running: wait for it, or cancel it");
        };
        match answers::run(&mut connection, sql, &parameters, most, writes, self.options.statement_timeout) {
            Ok(answer) => json_answer(200, &answer),
            Err(Error::Server(notice)) => json_answer(422, &answers::error(&notice)),
            Err(error) => {
                drop(connection);
                // The session at the door has ended: the server stops, or somebody has terminated it.
                self.sessions.close(token);
                refusal(401, &format!("your session has ended: {error}"))
            }
        }
    }
}

fn static_answer(asset: &Asset, request: &Request) -> Answer {
    let tag: String = Sha256::digest(asset.body).iter().take(8).map(|byte| format!("{byte:02x}")).collect();
    let tag = format!("\"{tag}\"");
    let is_known = request.header("if-none-match") == Some(tag.as_str());
    let body = if is_known { Vec::new() } else { asset.body.to_vec() };
    let headers = vec![("Cache-Control", "no-cache".into()), ("ETag", tag.into())];
    Answer { status: if is_known { 304 } else { 200 }, form: asset.form, headers, body }
}
